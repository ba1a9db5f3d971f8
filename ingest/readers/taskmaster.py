"""Task Master: a project's tasks and subtasks with their dependencies.

Source: the ``tasks.json`` of the command line tool Task Master AI. A file holds tags, and
each tag a list of tasks: ``{tag: {"tasks": [...]}}``; an older file is one list,
``{"tasks": [...]}``, and stands for the tag ``master``. Each tag is one decomposition: a task
with subtasks is a group, its subtasks are the nodes inside.

Ids are numbers or texts, and a subtask's id counts inside its task, or repeats the task's
(``2`` or ``"29.2"``, both ``29.2``). A number with a point is read digit by digit, so that
``30.10`` is not ``30.1``. What a dependency means follows the tool: with a point it is a full
id; without one, a subtask's dependency is a sibling, else a task. A dependency on a task with
subtasks is an edge from its group.

A tag with a duplicate id, a cycle or a dependency that does not exist is rejected.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import GraphError, InputError
from graphstore.identity import canonical_bytes, digest
from graphstore.model import Attributes, CollaborationGraph, GraphKind
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_file,
    first_character,
    has_key,
    short_name,
    text_of,
)

DATASET = "Task Master"
DEFAULT_TAG = "master"

_STRUCTURE = frozenset({"id", "title", "description", "dependencies", "subtasks"})
_MARKS = frozenset({"title", "dependencies", "subtasks"})
# A literal that comes first is found at memory speed; that no backslash stands before it, so
# that it is no part of a text, is looked at behind it.
_TASKS = re.compile(rb'"tasks"(?<!\\"tasks")\s*:\s*\[\s*\{')
_TASK_KEYS = re.compile(rb'"(?<!\\")(title|description|status|dependencies|subtasks)"\s*:')
_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder(float_hook=str)


class _Place(msgspec.Struct):
    """A task or subtask in the tag: its node, its full id and what encloses it."""

    node: int
    id: str
    parent: "_Place | None"
    task: dict[str, Any]


class TaskMasterReader:
    """Task Master: one decomposition a tag."""

    format = "taskmaster"
    title = "Task Master"
    kind: GraphKind = "decomposition"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="no",
        outcome="no",
        notes=(
            "A task's status, priority, details and test strategy stand in its attributes.",
            "A dependency on a task with subtasks is an edge from the group, not from each "
            "subtask.",
        ),
    )
    telling_keys = frozenset({"tasks"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds a list of tasks with titles and dependencies."""
        if first_character(sample) != b"{" or not (
            has_key(sample, "tasks")
            and has_key(sample, "title")
            and (has_key(sample, "dependencies") or has_key(sample, "subtasks"))
        ):
            return False  # told by what all readers share, before a search of its own
        found = _TASKS.search(sample)
        if found is None:
            return False
        keys = set(_TASK_KEYS.findall(sample, found.end()))
        return b"title" in keys and bool(keys & {b"dependencies", b"subtasks"})

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a decomposition or a rejection for each tag with tasks.

        Raises:
            InputError: The file is not JSON, or no tag holds tasks.
        """
        value, repaired = decode_file(file, _DECODER)
        tags = _tags(value)
        if not tags:
            raise InputError("no tag holds a list of tasks", file=file.uri)
        if not any(_is_task(task) for content in tags.values() for task in content["tasks"]):
            raise InputError(
                "none of its tasks has a title, dependencies or subtasks", file=file.uri
            )
        for tag, content in tags.items():
            try:
                canonical = canonical_bytes(content)
                builder = context.builder(self, file, canonical, record=tag)
                if repaired:
                    builder.warn(REPAIRED)
                _fill(builder, tag, content, canonical)
                yield builder.build()
            except InputError as error:
                yield Rejection(file.uri, tag, error.reason)


TASK_MASTER = TaskMasterReader()


def _tags(value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict):
        return {}
    if isinstance(value.get("tasks"), list):
        return {DEFAULT_TAG: value} if value["tasks"] else {}
    return {
        tag: content
        for tag, content in value.items()
        if isinstance(content, dict)
        and isinstance(content.get("tasks"), list)
        and content["tasks"]
    }


def _is_task(task: Any) -> bool:
    """Whether a task has fields of the tool, or no fields but an id."""
    return isinstance(task, dict) and (bool(task.keys() & _MARKS) or task.keys() <= {"id"})


def _fill(builder: GraphBuilder, tag: str, content: dict[str, Any], canonical: bytes) -> None:
    places: dict[str, _Place] = {}
    _add(builder, content["tasks"], None, places)
    for place in places.values():
        for dependency in _listed(place.task, "dependencies", place.id):
            wanted = _id_text(dependency)
            source = _resolve(wanted, place, places)
            if source is None:
                missing = wanted or text_of(dependency)
                raise GraphError(
                    f"{place.id} depends on {missing}, which does not exist"
                    if missing
                    else f"{place.id} depends on nothing"
                )
            builder.edge(source.node, place.node, "explicit")
    metadata = content.get("metadata")
    description = metadata.get("description") if isinstance(metadata, dict) else None
    label = f"{tag}: {_label(content['tasks'][0])}"
    # Most projects have a tag "master" and many begin alike: the content tells them apart.
    builder.set_task(
        f"{label} ({digest(canonical, size=4)})",
        description=text_of(description),
        dataset=DATASET,
    )
    builder.name = label


def _add(
    builder: GraphBuilder, tasks: list[Any], parent: _Place | None, places: dict[str, _Place]
) -> None:
    for position, task in enumerate(tasks):
        own = _id_text(task.get("id")) if isinstance(task, dict) else None
        if own is None:
            inside = f" of {parent.id}" if parent else ""
            raise GraphError(f"the task at position {position}{inside} has no id")
        if parent is None or own.startswith(parent.id + "."):
            full = own
        else:
            full = f"{parent.id}.{own}"
        if full in places:
            raise GraphError(f"the id {full} stands twice")
        subtasks = _listed(task, "subtasks", full)
        title, description = text_of(task.get("title")), text_of(task.get("description"))
        rest = {k: v for k, v in task.items() if k not in _STRUCTURE}
        attributes: Attributes = {"id": full, **rest}
        place = _Place(
            builder.add(
                "group" if subtasks else "subtask",
                short_name(title or description or "") or full,
                content=description or title,
                parent=parent.node if parent else None,
                attributes=attributes,
            ),
            full,
            parent,
            task,
        )
        places[full] = place
        if subtasks:
            _add(builder, subtasks, place, places)


def _resolve(dependency: str | None, place: _Place, places: dict[str, _Place]) -> _Place | None:
    """The place that a dependency names: a full id, a sibling, or a task."""
    if dependency is None:
        return None
    if "." not in dependency and place.parent is not None:
        sibling = places.get(f"{place.parent.id}.{dependency}")
        if sibling is not None:
            return sibling
    return places.get(dependency)


def _listed(task: dict[str, Any], field: str, id: str) -> list[Any]:
    value = task.get(field)
    if isinstance(value, list):
        return value
    if value is not None:
        raise GraphError(f"the {field} of {id} are no list")
    return []


def _id_text(value: Any) -> str | None:
    """An id as text: ``1``, ``"1.1"``, and floats that the decoder kept as text."""
    if type(value) is int:
        return str(value)
    return (value.strip() or None) if isinstance(value, str) else None


def _label(task: Any) -> str:
    if not isinstance(task, dict):
        return ""
    return short_name(text_of(task.get("title")) or text_of(task.get("description")) or "")
