"""WfFormat: executed scientific workflows, with the files that their tasks take and make.

Source: Coleman et al. 2022, "WfCommons: A Framework for Enabling Scientific Workflow Research
and Development", and its schema. Version 1.5 keeps tasks and files in
``workflow.specification`` and what was measured in ``workflow.execution``; versions 1.3 and
1.4 keep all in ``workflow.tasks``, with ``files[{link, name}]`` in each task. All read the
same. A file is one decomposition: each task is a subtask.

Two things say that a task needs another. ``parents`` and ``children`` name it: an explicit
edge. A file that one writes and the other reads: an edge too, ``delivered`` where no name says
so. Where the two disagree, both are kept, and a warning counts them; a link by file that would
make a cycle is left out.

A file is an artifact; its type is its extension (``vcf``, ``fastq.gz``), without part numbers.
A task of one process is named after the process. In Nextflow's names the workflows that
contain a process stand before it (``HIC.INPUT_CHECK.SAMPLESHEET_CHECK``): they become groups.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import Artifact, Attributes, CollaborationGraph, GraphKind
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_file,
    first_character,
    has_key,
)
from ingest.readers.instants import from_iso
from ingest.readers.wfformat_records import Workflow, WorkflowTask, parse

DATASET = "WfCommons"

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_SECOND = 1_000_000_000
_COMPRESSED = frozenset({"gz", "bz2", "xz", "zst", "z", "lz4"})
_EXTENSION = re.compile(
    r"[A-Za-z][A-Za-z0-9_+-]{0,15}|[A-Za-z0-9]{1,4}[A-Za-z][A-Za-z0-9]{0,8}"
)
_INSTANCE = re.compile(r"[_-](?:ID)?\d+$")
_TAG = re.compile(r"\s*\(.*\)\s*$", re.DOTALL)


class WfFormatReader:
    """WfFormat: one decomposition a file."""

    format = "wfformat"
    title = "WfFormat (WfCommons workflows)"
    kind: GraphKind = "decomposition"
    version = "2"
    capabilities = Capabilities(
        time="partly",
        tokens="no",
        recipients="no",
        outcome="no",
        notes=(
            "No language model made these workflows; their artifacts and hierarchy are real.",
            "Edges are explicit where parents or children name them, delivered where only a "
            "file links the two.",
            "A parent or child that the file does not hold is left out with a warning: the "
            "file is a part of its workflow.",
            "How long a task ran is an attribute; most engines do not say when it began.",
        ),
    )
    telling_keys = frozenset({"schemaVersion"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds a workflow with tasks and the schema's version."""
        return (
            first_character(sample) == b"{"
            and has_key(sample, "workflow")
            and has_key(sample, "schemaVersion")
            and (has_key(sample, "tasks") or has_key(sample, "jobs"))
            and has_key(sample, "parents")
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the decomposition, or a rejection with the reason.

        Raises:
            InputError: The file is not JSON, or holds no workflow.
        """
        value, repaired = decode_file(file, _DECODER)
        workflow = parse(value, file.uri)
        builder = context.builder(self, file, file.data())
        if repaired:
            builder.warn(REPAIRED)
        try:
            _fill(builder, workflow)
            yield builder.build()
        except InputError as error:
            yield Rejection(file.uri, None, error.reason)


WFFORMAT = WfFormatReader()


def extension(name: str) -> str | None:
    """A file's type: its extension in lower case, with the one before a compression's.

    Numbers at the end count parts and are passed over: ``small.fasta.0`` is ``fasta``.

    Args:
        name: A name or path.

    Returns:
        None where the name has no extension.
    """
    _, dot, ending = name.rpartition("/")[2].partition(".")
    return _type(ending) if dot else None


@lru_cache(maxsize=4_096)
def _type(ending: str) -> str | None:
    parts = ending.split(".")
    while parts and parts[-1].isdigit():
        parts.pop()
    if not parts or not _EXTENSION.fullmatch(parts[-1]):
        return None
    last = parts[-1].lower()
    if last in _COMPRESSED and len(parts) > 1 and _EXTENSION.fullmatch(parts[-2]):
        return f"{parts[-2].lower()}.{last}"
    return last


def _fill(builder: GraphBuilder, workflow: Workflow) -> None:
    builder.set_task(
        workflow.name,
        description=workflow.description,
        dataset=DATASET,
        category=workflow.engine,
        source_group=workflow.repository,
    )
    builder.name = workflow.name
    builder.attributes.update(workflow.attributes)
    places: dict[str, int] = {}
    nested = (workflow.engine or "").casefold() == "nextflow"
    groups: dict[tuple[str, ...], int] = {}
    written = set(chain.from_iterable([task.outputs for task in workflow.tasks]))
    read = set(chain.from_iterable([task.inputs for task in workflow.tasks]))
    artifacts = {name: Artifact(name, extension(name)) for name in written | read}
    artifact_of = artifacts.__getitem__
    size_of = workflow.sizes.get
    for task in workflow.tasks:
        path = _path(task.name) if nested else ()
        begin = from_iso(task.measured.get("executedAt"))
        label = path[-1] if path else _process(task)
        attributes: Attributes = {"id": task.id}
        if task.name not in (task.id, label):
            attributes["name"] = task.name
        attributes.update(task.measured)
        sizes = {name: size for name in task.outputs if (size := size_of(name)) is not None}
        if sizes:
            attributes["outputSizes"] = sizes
        places[task.id] = builder.add(
            "subtask",
            label,
            content=task.command,
            inputs=map(artifact_of, task.inputs),
            outputs=map(artifact_of, task.outputs),
            parent=_group(builder, groups, path[:-1]) if path else None,
            started_at=begin,
            ended_at=_end(begin, task.measured.get("runtimeInSeconds")),
            attributes=attributes,
        )
    given = {name: size for name, size in workflow.sizes.items() if name not in written}
    if given:
        builder.attributes["inputSizes"] = given
    _link(builder, workflow.tasks, places)
    for warning in workflow.warnings:
        builder.warn(warning)


def _path(name: str) -> tuple[str, ...]:
    """The parts of a Nextflow process's name, empty where it stands in no workflow."""
    parts = tuple(_without_tag(name).replace(":", ".").split("."))
    return parts if len(parts) > 1 and all(parts) else ()


def _process(task: WorkflowTask) -> str:
    """What a task is an instance of: its category or program, else its name without number."""
    category = task.measured.get("category")
    if isinstance(category, str) and category:
        return category
    if task.program and (task.name == task.program or task.name.startswith(task.program + "_")):
        return task.program
    return _INSTANCE.sub("", _without_tag(task.name)) or task.name


def _without_tag(name: str) -> str:
    """A name without the remark in brackets at its end."""
    return _TAG.sub("", name) if "(" in name else name


def _group(
    builder: GraphBuilder, groups: dict[tuple[str, ...], int], path: tuple[str, ...]
) -> int | None:
    if not path:
        return None
    if path not in groups:
        outer = _group(builder, groups, path[:-1])
        groups[path] = builder.add(
            "group", path[-1], parent=outer, attributes={"name": ".".join(path)}
        )
    return groups[path]


def _end(begin: int | None, seconds: Any) -> int | None:
    if begin is None or isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    return begin + round(seconds * _SECOND) if 0 <= seconds < _SECOND else None


def _link(builder: GraphBuilder, tasks: list[WorkflowTask], places: dict[str, int]) -> None:
    named: dict[tuple[int, int], None] = {}
    writers: dict[str, list[int]] = {}
    for task in tasks:
        own = places[task.id]
        for other in task.parents:
            named[places[other], own] = None
        for other in task.children:
            named[own, places[other]] = None
        for name in task.outputs:
            writers.setdefault(name, []).append(own)
    by_file: dict[tuple[int, int], None] = {}
    for task in tasks:
        own = places[task.id]
        for name in task.inputs:
            if name in writers:
                for writer in writers[name]:
                    if writer != own:
                        by_file[writer, own] = None
    for source, target in named:
        builder.edge(source, target, "explicit")
    added = [pair for pair in by_file if pair not in named]
    kept = _without_cycles(named, added)
    for source, target in kept:
        builder.edge(source, target, "delivered")
    without = len(named.keys() - by_file.keys())
    if by_file and without:
        builder.warn(f"{without} of {len(named)} named links have no file behind them")
    if named and added:
        builder.warn(f"{len(added)} of {len(by_file)} links by file have no name beside them")
    if len(kept) < len(added):
        builder.warn(f"{len(added) - len(kept)} links by file would form a cycle: left out")


def _without_cycles(
    named: Iterable[tuple[int, int]], added: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The added links, without those in a cycle that point against the named ones' order.

    A cycle among the named links is left to the builder.
    """
    together = [*named, *added]
    # Links that all follow the order of the tasks cannot form a cycle.
    if all(source < target for source, target in together) or _order(together) is not None:
        return added
    order = _order(list(named))
    if order is None:
        return added
    import networkx as nx

    component: dict[int, int] = {}
    for number, nodes in enumerate(nx.strongly_connected_components(nx.DiGraph(together))):
        component.update(dict.fromkeys(nodes, number))
    last = len(order)
    return [
        (source, target)
        for source, target in added
        if component[source] != component[target]
        or (order.get(source, last), source) < (order.get(target, last), target)
    ]


def _order(links: list[tuple[int, int]]) -> dict[int, int] | None:
    """A topological position of every node with a link, None where there is a cycle."""
    waiting: dict[int, int] = {}
    following: dict[int, list[int]] = {}
    for source, target in links:
        waiting.setdefault(source, 0)
        waiting[target] = waiting.get(target, 0) + 1
        following.setdefault(source, []).append(target)
    ready = [node for node, count in waiting.items() if count == 0]
    for node in ready:
        for target in following.get(node, ()):
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    if len(ready) < len(waiting):
        return None
    return {node: position for position, node in enumerate(ready)}
