"""Why a file is in no known format, as one sentence that helps to mend it."""

import re
from collections.abc import Sequence

import msgspec

from graphstore.errors import InputError
from ingest import json_text
from ingest.files import LocalFile
from ingest.readers.table_mapping import SIDECAR, candidates
from ingest.readers.table_rows import header_of

LOOKED_INTO_BYTES = 64 << 20
"""A file on disk that is larger is judged by its beginning alone."""

_ARCHIVES = (
    (b"PK\x03\x04", "it is a zip archive: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "it is compressed with zstd: unpack it first"),
    (b"\xfd7zXZ\x00", "it is compressed with xz: unpack it first"),
    (b"BZh", "it is compressed with bzip2: unpack it first"),
    (b"\xff\xfe", "it is UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "it is UTF-16 text: save it as UTF-8"),
)
_LIKE_JSON = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]]|\{\Z|\[\Z)")
_CONTROL = frozenset(range(32)) - frozenset(b"\t\n\r\f\b\x1b")


def unknown_format(file: LocalFile, formats: Sequence[str]) -> str:
    """Says what a file is that no reader took for its own.

    Args:
        file: The file.
        formats: The names of the known formats.

    Raises:
        InputError: The file cannot be read to its end.
    """
    sample = file.sample
    if not sample:
        return "the file is empty"
    if not sample.strip():
        return "the file holds only white space"
    for magic, reason in _ARCHIVES:
        if sample.startswith(magic):
            return reason
    if any(byte in _CONTROL for byte in sample[:4096]):
        return "it is a binary file, not a trace"
    count = len(formats)
    known = f"{count} format{' is' if count == 1 else 's are'} known: see  masgraph formats"
    if not _is_text(sample, whole=file.sample_is_all):
        return f"{json_text.not_utf8(sample)}; {known}"
    if not _LIKE_JSON.match(sample):
        if (hint := _table_hint(file.uri, sample)) is not None:
            return hint
        return f"it is text, but in no known format ({known})"
    problem = _json_problem(file)
    if problem is not None:
        return f"{problem}; {known}"
    return f"it is JSON, but in no known format ({known})"


def _table_hint(uri: str, sample: bytes) -> str | None:
    """What to do with a table whose columns no reader knows, None where it is no table."""
    line = sample.lstrip(b"\r\n").split(b"\n", 1)[0].decode(errors="replace").strip()
    if len(header_of(line)[1]) < 2:
        return None
    if mapping := next((path for path in candidates(uri) if path.is_file()), None):
        return (
            "the names of its columns alone do not make it a table of messages; the mapping "
            f"file {mapping} lies beside it: read it with --format messages-table"
        )
    if not uri.removesuffix(".gz").endswith((".csv", ".tsv")):
        return None
    return (
        "it is a table whose columns no format knows: if its rows are messages, name its "
        f"columns in {uri}{SIDECAR} and read it with --format messages-table"
    )


def _is_text(sample: bytes, *, whole: bool) -> bool:
    try:
        sample.decode()
    except UnicodeDecodeError as error:
        return not whole and error.start >= len(sample) - 3
    return True


def _json_problem(file: LocalFile) -> str | None:
    """Where JSON or lines of JSON break, None where they do not."""
    if (file.size or 0) > LOOKED_INTO_BYTES:
        return None
    anything = msgspec.json.Decoder(msgspec.Raw)
    try:
        lines = file.lines()
        number, line = next(lines)
        json_text.decode(line, anything, first_line=number)
        for number, line in lines:
            json_text.decode(line, anything, first_line=number)
    except InputError as error:
        problem = error.reason
        if number > 1:
            return problem
    else:
        return None
    try:
        json_text.decode(file.data(), anything)
    except InputError as error:
        return error.reason
    return None
