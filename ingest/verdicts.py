"""What comes of a file: which exceptions and graphs of a reader are rejections, and why."""

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec

from graphstore.attribute_texts import MAX_DEPTH
from graphstore.errors import InputError, MissingExtraError
from graphstore.model import CollaborationGraph
from ingest import json_text
from ingest.files import LocalFile
from ingest.reader import Reader, Rejection

_ATTRIBUTES_OF = attrgetter("attributes")
_FLAT = frozenset({str, int, float, bool, type(None)})


def rejections(
    error: Exception, reader: Reader, files: Sequence[LocalFile]
) -> Iterator[Rejection]:
    """What a reader's exception means for the files that it was reading."""
    record = None
    if isinstance(error, InputError):
        reason, record = error.reason, error.record
        if error.file is not None and len(files) > 1:
            files = [file for file in files if file.uri == error.file] or files
    elif isinstance(error, MissingExtraError):
        reason = str(error)
    elif isinstance(error, RecursionError):
        reason = "it is nested too deeply"
    elif isinstance(error, msgspec.MsgspecError | UnicodeDecodeError):
        reason = _decoding_reason(error, files)
    else:
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        reason = f"internal error in the reader {reader.format}: {what}"
    for file in files:
        yield Rejection(file.uri, record, reason)


def _decoding_reason(error: Exception, files: Sequence[LocalFile]) -> str:
    if len(files) != 1:
        return str(error)
    try:
        return json_text.explain(files[0].data(), error)
    except InputError as problem:
        return problem.reason


def checked(
    item: CollaborationGraph | Rejection,
) -> CollaborationGraph | Rejection:
    """A graph as it is, or a rejection where its attributes are nested too deeply."""
    if isinstance(item, Rejection):
        return item
    units = item.organization.units if item.organization is not None else ()
    holders = chain((item,), item.agents, item.nodes, units)
    attributes = list(filter(None, map(_ATTRIBUTES_OF, holders)))
    if item.organization is not None:
        attributes += [item.organization.state, item.organization.policy]
    if attributes and _too_deep(attributes):
        return Rejection(
            item.source.uri,
            item.source.record,
            f"its attributes are nested more than {MAX_DEPTH} levels deep",
        )
    return item


def _too_deep(attributes: Sequence[dict[str, Any]]) -> bool:
    """Whether any of them is; looks at one level of all of them at a time."""
    level: Sequence[dict[str, Any] | list[Any]] = attributes
    for _ in range(MAX_DEPTH):
        deeper: list[Any] = []
        for holder in level:
            for part in holder.values() if isinstance(holder, dict) else holder:
                if type(part) not in _FLAT:
                    deeper.append(part)  # noqa: PERF401 - a comprehension in both loops is slower
        level = [part for part in deeper if isinstance(part, dict | list)]
        if not level:
            return False
    return True
