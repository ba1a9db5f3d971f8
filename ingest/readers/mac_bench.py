"""MAC-Bench's form: a tree of subtasks, and what joins its leaves.

Source: MAC-Bench, sections 3.2.1 and F.1. The paper prints no file format; this is its
abstraction as JSON, documented in ``docs/mac-bench-format.md``, one record a line (or an
array of records, or one). The tree's root is the task; inner nodes become groups.

The checks are those of section F.1: relations name leaves that exist, linked interfaces are
compatible (an artifact is an output of the source and an input of the target; a resource is
written by the source and accessed by the target; coupled leaves both write), and dependencies
have no cycle. A record that fails one is rejected with the path of the field.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import AccessMode, Artifact, Attributes, CollaborationGraph, GraphKind
from ingest import json_text
from ingest.field_problems import explain_field
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers import mac_bench_records
from ingest.readers.decoding import REPAIRED, first_character, has_key, short_name
from ingest.readers.mac_bench_records import (
    ArtifactRecord,
    DependencyRecord,
    MacBenchRecord,
    SubtaskRecord,
)
from ingest.readers.raw_records import RawRecord, raw_records

_MARK = re.compile(rb'(?<!\\)"mac_bench"\s*:\s*\d')


class MacBenchReader:
    """MAC-Bench's form: one decomposition a record."""

    format = "mac-bench"
    title = "MAC-Bench decompositions"
    kind: GraphKind = "decomposition"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="no",
        outcome="no",
        notes=(
            "The paper prints no file format: docs/mac-bench-format.md defines this one.",
            "Which artifact or resource a dependency rests on, and its evidence, stand in the "
            "graph's attributes.",
        ),
    )
    telling_keys = frozenset({"mac_bench"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample has the field ``mac_bench`` with a version."""
        return (
            first_character(sample) in (b"{", b"[")
            and has_key(sample, "mac_bench")
            and _MARK.search(sample) is not None
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a decomposition or a rejection for each record.

        Raises:
            InputError: The file is neither lines of JSON nor one JSON document.
        """
        seen: dict[str, str] = {}
        for raw in raw_records(file):
            try:
                yield self._graph(file, context, raw, seen)
            except InputError as error:
                yield Rejection(file.uri, raw.place, error.reason)

    def _graph(
        self, file: TraceFile, context: ReadContext, raw: RawRecord, seen: dict[str, str]
    ) -> CollaborationGraph:
        try:
            record, used = json_text.decode(
                raw.data, mac_bench_records.decoder, first_line=raw.line
            )
        except msgspec.ValidationError as error:
            reason = explain_field(error, mac_bench_records.MacBenchRecord)
            raise InputError(reason) from error
        if seen.setdefault(record.id, raw.place) != raw.place:
            raise InputError(
                f"the id {record.id!r} stands twice in the file (first in {seen[record.id]})"
            )
        content = msgspec.json.format(used, indent=-1)
        builder = context.builder(self, file, content, record=record.id)
        if raw.repaired or used is not raw.data:
            builder.warn(REPAIRED)
        _Filler(builder, record).fill()
        return builder.build()


MAC_BENCH = MacBenchReader()


class _Filler:
    """Puts one record into a builder."""

    def __init__(self, builder: GraphBuilder, record: MacBenchRecord) -> None:
        self.builder = builder
        self.record = record
        self.resources: dict[str, int] = {}
        self.places: dict[str, int] = {}
        self.leaves: dict[str, SubtaskRecord] = {}

    def fill(self) -> None:
        record, builder = self.record, self.builder
        task = record.task
        builder.set_task(
            task.name or record.id,
            description=task.objective,
            dataset=task.dataset,
            category=task.category,
            source_group=task.source_group,
        )
        builder.name = short_name(task.name or task.objective) or record.id
        for position, resource in enumerate(record.resources):
            if resource.id in self.resources:
                raise InputError(f"resources[{position}].id: {resource.id!r} stands twice")
            name = resource.name or resource.id
            if builder.resource(name, resource.type) != position:
                raise InputError(f"resources[{position}]: {name!r} of one type stands twice")
            self.resources[resource.id] = position
        self._subtasks()
        for position, dependency in enumerate(record.dependencies):
            self._dependency(f"dependencies[{position}]", dependency)
        for position, coupling in enumerate(record.couplings):
            path = f"couplings[{position}]"
            one, other = coupling.between
            for id in coupling.between:
                self._leaf(f"{path}.between", id)
                for shared in coupling.resources:
                    self._accessed(f"{path}.resources", id, shared, ("write",))
            if one == other:
                raise InputError(f"{path}.between: {one!r} is coupled with itself")
            builder.couple(
                self.places[one],
                self.places[other],
                resources=[self.resources[resource] for resource in coupling.resources],
            )
        builder.attributes = {**record.attributes, **self._kept()}

    def _kept(self) -> Attributes:
        """What the graph itself has no place for: the root's interface, and all evidence."""
        parts: dict[str, list[Any]] = {
            "inputs": [*self.record.task.inputs],
            "outputs": [*self.record.task.outputs],
            "dependencies": [*self.record.dependencies],
            "couplings": [one for one in self.record.couplings if one.evidence],
        }
        kept = {name: part for name, part in parts.items() if part}
        if not kept:
            return {}
        found: Attributes = msgspec.json.decode(msgspec.json.encode(kept))
        return found

    def _subtasks(self) -> None:
        waiting = _children(self.record.subtasks, None, None)
        while waiting:
            subtask, parent, place = waiting.pop()
            if subtask.id in self.places:
                raise InputError(f"{place.path()}.id: {subtask.id!r} stands twice")
            attributes: Attributes = {"id": subtask.id, **subtask.attributes}
            if subtask.category is not None:
                attributes["category"] = subtask.category
            if not subtask.subtasks:
                self.leaves[subtask.id] = subtask
            node = self.builder.add(
                "group" if subtask.subtasks else "subtask",
                short_name(subtask.objective) or subtask.id,
                content=subtask.objective,
                inputs=_artifacts(subtask.inputs),
                outputs=_artifacts(subtask.outputs),
                accesses=self._accesses(subtask, place) if subtask.accesses else (),
                parent=parent,
                attributes=attributes,
            )
            self.places[subtask.id] = node
            if subtask.subtasks:
                waiting += _children(subtask.subtasks, node, place)

    def _accesses(
        self, subtask: SubtaskRecord, place: "_Place"
    ) -> list[tuple[int, AccessMode]]:
        accesses = []
        for position, access in enumerate(subtask.accesses):
            resource = self.resources.get(access.resource)
            if resource is None:
                raise InputError(
                    f"{place.path()}.accesses[{position}].resource: no resource is called "
                    f"{access.resource!r}"
                )
            accesses.append((resource, access.mode))
        return accesses

    def _leaf(self, path: str, id: str) -> SubtaskRecord:
        if id not in self.places:
            raise InputError(f"{path}: no subtask is called {id!r}")
        if id not in self.leaves:
            raise InputError(f"{path}: {id!r} is a group, and relations join leaves")
        return self.leaves[id]

    def _accessed(self, path: str, id: str, resource: str, modes: Iterable[str]) -> None:
        if resource not in self.resources:
            raise InputError(f"{path}: no resource is called {resource!r}")
        for one in self.leaves[id].accesses:
            if one.resource == resource and one.mode in modes:
                return
        verb = "write" if "read" not in modes else "access"
        raise InputError(f"{path}: {id!r} does not {verb} {resource!r}")

    def _typed(
        self, path: str, artifact: str, leaf: SubtaskRecord, side: Literal["input", "output"]
    ) -> str | None:
        for one in leaf.outputs if side == "output" else leaf.inputs:
            if one == artifact:
                return None
            if isinstance(one, ArtifactRecord) and one.name == artifact:
                return one.type
        raise InputError(f"{path}.artifact: {artifact!r} is no {side} of {leaf.id!r}")

    def _dependency(self, path: str, dependency: DependencyRecord) -> None:
        source = self._leaf(f"{path}.source", dependency.source)
        target = self._leaf(f"{path}.target", dependency.target)
        artifact, resource = dependency.artifact, dependency.resource
        if artifact is not None:
            made = self._typed(path, artifact, source, "output")
            used = self._typed(path, artifact, target, "input")
            if None not in (made, used) and made != used:
                raise InputError(
                    f"{path}.artifact: {artifact!r} is made as {made} and needed as {used}"
                )
        if resource is not None:
            self._accessed(f"{path}.resource", source.id, resource, ("write",))
            self._accessed(f"{path}.resource", target.id, resource, ("read", "write"))
        self.builder.edge(self.places[source.id], self.places[target.id], "explicit")


class _Place(msgspec.Struct):
    """Where a subtask stands in the record: a position in what encloses it."""

    position: int
    outer: "_Place | None"

    def path(self) -> str:
        """The path of fields, for errors."""
        steps: list[str] = []
        place: _Place | None = self
        while place is not None:
            steps.append(f"subtasks[{place.position}]")
            place = place.outer
        return ".".join(reversed(steps))


def _children(
    subtasks: list[SubtaskRecord], parent: int | None, outer: _Place | None
) -> list[tuple[SubtaskRecord, int | None, _Place]]:
    """Subtasks with their parent's node and their places, the first one last."""
    listed = [
        (subtask, parent, _Place(position, outer)) for position, subtask in enumerate(subtasks)
    ]
    listed.reverse()
    return listed


def _artifacts(listed: Iterable[ArtifactRecord | str]) -> list[Artifact]:
    return [
        Artifact(name=one) if isinstance(one, str) else Artifact(name=one.name, type=one.type)
        for one in listed
    ]
