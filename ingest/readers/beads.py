"""Beads: the issues of a project, as its tracker keeps them beside the code.

Source: the issue tracker Beads (``bd``), whose ``issues.jsonl`` holds an issue a line; a list
of issues (``bd list --json``) reads the same. A file is one decomposition.

An issue's ``dependencies`` are typed links, and not every link is a dependency:

- ``blocks``, ``conditional-blocks`` and ``waits-for`` decide what may begin: explicit edges
  from the issue that is depended on.
- ``parent-child`` is containment: the parent becomes a group.
- All others (``discovered-from``, ``supersedes``, ``duplicates``, ``related``, ``replies-to``
  and so on) say where an issue comes from or what it is like. They stand in the attribute
  ``links`` of the issue, and so do a second parent and links to issues that are not in the
  file.

Deleted issues (status ``tombstone``) are kept, as their status says. A line that is no issue,
or repeats an id, is rejected; the other lines are read. A cycle rejects the file.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import GraphError, InputError
from graphstore.identity import digest
from graphstore.model import Attributes, CollaborationGraph, GraphKind
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_bytes,
    first_character,
    has_key,
    short_name,
    text_of,
)
from ingest.readers.instants import from_iso
from ingest.readers.raw_records import raw_records
from ingest.readers.sample_json import first_value

DATASET = "Beads"

EDGES = frozenset({"blocks", "conditional-blocks", "waits-for"})
"""Links that decide when work may begin."""

PARENT = "parent-child"

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_APART = frozenset({"title", "description", "dependencies"})
_PREFIX = re.compile(r"(.+?)-[^-]*")


class _Issue(msgspec.Struct):
    """An issue with its links, in the order of the file."""

    id: str
    fields: dict[str, Any]
    links: list[tuple[str, str]]
    parent: str | None = None
    others: list[dict[str, str]] = []


class BeadsReader:
    """Beads: one decomposition a file."""

    format = "beads"
    title = "Beads issues"
    kind: GraphKind = "decomposition"
    version = "1"
    capabilities = Capabilities(
        time="partly",
        tokens="no",
        recipients="no",
        outcome="no",
        notes=(
            "blocks, conditional-blocks and waits-for are edges; parent-child is containment; "
            "other links, such as discovered-from and supersedes, are attributes.",
            "An issue ends when it was closed; nothing says when work on it began.",
            "Deleted issues are kept, with the status tombstone among their attributes.",
        ),
    )
    telling_keys = frozenset({"issue_type", "depends_on_id"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with an issue."""
        if first_character(sample) not in (b"{", b"[") or not has_key(sample, "title"):
            return False
        value = first_value(sample)
        if isinstance(value, list):
            value = value[0] if value else None
        if not isinstance(value, dict) or not value.keys() >= {"id", "title"}:
            return False
        if not isinstance(value["id"], str):
            return False
        return "issue_type" in value or has_key(sample, "depends_on_id")

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the decomposition, after a rejection for each line that is no issue.

        Raises:
            InputError: The file is not JSON, or holds no issue.
        """
        issues: dict[str, _Issue] = {}
        parts: list[bytes] = []
        rejected = 0
        repaired_any = False
        for raw in raw_records(file):
            try:
                value, repaired = decode_bytes(
                    raw.data, _DECODER, file.uri, first_line=raw.line
                )
                issue = _issue(value)
                if issue.id in issues:
                    raise GraphError(f"the id {issue.id} stands twice")
            except InputError as error:
                rejected += 1
                yield Rejection(file.uri, raw.place, error.reason)
                continue
            issues[issue.id] = issue
            parts.append(raw.data)
            repaired_any = repaired_any or repaired or raw.repaired
        if not issues:
            raise InputError("it holds no issue", file=file.uri)
        builder = context.builder(self, file, digest(*parts))
        if repaired_any:
            builder.warn(REPAIRED)
        if rejected:
            builder.warn("lines that are no issue were left out")
        _fill(builder, issues)
        try:
            yield builder.build()
        except InputError as error:
            yield Rejection(file.uri, None, error.reason)


BEADS = BeadsReader()


def _issue(value: Any) -> _Issue:
    own = value.get("id") if isinstance(value, dict) else None
    if not isinstance(own, str) or not own:
        raise GraphError("the record is no issue: it has no id")
    if not isinstance(value.get("title"), str):
        raise GraphError(f"the issue {own} has no title")
    listed = value.get("dependencies")
    if listed is not None and not isinstance(listed, list):
        raise GraphError(f"the dependencies of {own} are no list")
    links: list[tuple[str, str]] = []
    for link in listed or ():
        target = link.get("depends_on_id") if isinstance(link, dict) else None
        kind = link.get("type", "blocks") if isinstance(link, dict) else None
        if not isinstance(target, str) or not target or not isinstance(kind, str):
            raise GraphError(f"a dependency of {own} names no issue and type")
        links.append((target, kind))
    return _Issue(own, value, links)


def _fill(builder: GraphBuilder, issues: dict[str, _Issue]) -> None:
    project = _project(issues)
    builder.set_task(project, dataset=DATASET)
    builder.name = f"Beads: {project}"
    edges: list[tuple[str, str]] = []
    groups: set[str] = set()
    missing = 0
    for issue in issues.values():
        for target, kind in issue.links:
            if target not in issues:
                missing += 1
                issue.others.append({"type": kind, "id": target})
            elif kind in EDGES:
                edges.append((target, issue.id))
            elif kind == PARENT and issue.parent in (None, target):
                issue.parent = target
                groups.add(target)
            else:
                if kind == PARENT:
                    builder.warn("an issue has two parents: the first contains it")
                issue.others.append({"type": kind, "id": target})
    if missing:
        builder.warn(f"{missing} links name issues that are not in the file")
    places = {own: position for position, own in enumerate(issues)}
    for issue in issues.values():
        fields = issue.fields
        attributes: Attributes = {k: v for k, v in fields.items() if k not in _APART}
        if issue.others:
            attributes["links"] = issue.others
        builder.add(
            "group" if issue.id in groups else "subtask",
            short_name(fields["title"]) or issue.id,
            content=text_of(fields.get("description")) or fields["title"],
            parent=None if issue.parent is None else places[issue.parent],
            ended_at=from_iso(fields.get("closed_at")),
            attributes=attributes,
        )
    for source, target in edges:
        builder.edge(places[source], places[target], "explicit")


def _project(issues: dict[str, _Issue]) -> str:
    """What every id has before its last hyphen, where that is the same."""
    found = {match[1] if (match := _PREFIX.fullmatch(own)) else own for own in issues}
    return min(found) if len(found) == 1 else "issues"
