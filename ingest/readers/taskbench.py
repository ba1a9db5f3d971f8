"""TaskBench: requests as graphs of tools, and the graphs of all tools that they are drawn from.

Source: Shen et al. 2023, "TaskBench: Benchmarking Large Language Models for Task Automation".
A record holds ``task_nodes`` (the tools, in order), ``task_links`` (pairs of tool names) and
``task_steps`` (a sentence a tool); older files say ``tool_nodes``, ``tool_links``,
``tool_steps``, some hold them as JSON text, and predictions hold them in ``result``. Records
stand one a line or in an array. Each is a decomposition.

A link names tools, and a tool can stand in a request twice. Where both names stand once, the
link is an explicit edge. Else an argument ``<node-2>`` says which of them is meant; where
none does, the nearest pair that fits, in the order of the nodes, is taken: an inferred edge.
An argument ``<node-2>`` without a link is an edge too, ``delivered``.

A file ``*_graph_desc.json`` holds ``nodes`` and ``links`` only: the tools and which of them
may use another's output. It splits no task and is read as an organization whose units are
tools.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import GraphError, InputError
from graphstore.model import Artifact, Attributes, CollaborationGraph, GraphKind, Role
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_bytes,
    first_character,
    has_key,
    short_name,
    text_of,
)
from ingest.readers.raw_records import raw_records
from ingest.readers.sample_json import first_value

DATASET = "TaskBench"

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_REFERENCE = re.compile(r"<node-(\d+)>")
_PARTS = (
    ("task_nodes", "task_links", "task_steps"),
    ("tool_nodes", "tool_links", "tool_steps"),
)
_LINK_KEYS = {"source", "target", "type"}
_REQUEST = ("user_request", "instruction")


class TaskBenchReader:
    """TaskBench: one decomposition a request; a graph of tools is an organization."""

    format = "taskbench"
    title = "TaskBench (requests, and graphs of tools)"
    kind: GraphKind = "decomposition"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="no",
        outcome="no",
        notes=(
            "Links go by tool name: where a tool stands twice in a request and no argument "
            "says which is meant, the edge is inferred.",
            "A file of tools and links (graph_desc.json) is an organization of tools without "
            "subtasks: a link is a permitted transfer, not a dependency.",
        ),
    )
    telling_keys = frozenset({"task_nodes", "tool_nodes", "nodes", "links"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds a request's nodes and links, or a graph of tools."""
        if first_character(sample) not in (b"[", b"{"):
            return False
        for prefix in ("task", "tool"):
            if has_key(sample, f"{prefix}_nodes") and has_key(sample, f"{prefix}_links"):
                return True
        return _is_tool_graph(first_value(sample), cut=True)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a graph or a rejection for each record.

        Raises:
            InputError: The file is not JSON.
        """
        seen: set[str] = set()
        for raw in raw_records(file):
            record = raw.place
            try:
                value, repaired = decode_bytes(
                    raw.data, _DECODER, file.uri, first_line=raw.line
                )
                tools = _is_tool_graph(value)
                if not tools:
                    record = _record(value) or record
                if record in seen:
                    record = f"{record} ({raw.place})"
                seen.add(record)
                builder = context.builder(
                    self, file, raw.data, record=None if tools else record
                )
                if repaired or raw.repaired:
                    builder.warn(REPAIRED)
                if tools:
                    _fill_tools(builder, value)
                else:
                    _fill(builder, value, record)
                yield builder.build()
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)


TASKBENCH = TaskBenchReader()


def _record(value: Any) -> str | None:
    found = value.get("id") if isinstance(value, dict) else None
    return str(found) if isinstance(found, str | int) and str(found) else None


def _is_tool_graph(value: Any, *, cut: bool = False) -> bool:
    """Whether a value is a graph of tools; ``cut`` where the nodes may be still to come."""
    if not isinstance(value, dict) or not value.keys() <= {"nodes", "links"}:
        return False
    nodes, links = value.get("nodes", []), value.get("links", [])
    if not isinstance(nodes, list) or not isinstance(links, list):
        return False
    if nodes and not (isinstance(nodes[0], dict) and isinstance(nodes[0].get("id"), str)):
        return False
    if nodes and not nodes[0].keys() & {"desc", "input-type", "output-type", "parameters"}:
        return False
    if links and not (isinstance(links[0], dict) and links[0].keys() <= _LINK_KEYS):
        return False
    return bool(nodes) or (cut and bool(links))


def _fill_tools(builder: GraphBuilder, value: dict[str, Any]) -> None:
    label = builder.policy.label
    places: dict[str, int] = {}
    units: list[tuple[str, Role, Attributes]] = []
    for node in value["nodes"]:
        name = node.get("id") if isinstance(node, dict) else None
        if not isinstance(name, str) or not name or name in places:
            builder.warn("tools without a name of their own were left out")
            continue
        places[name] = len(units)
        attributes = dict(node)
        del attributes["id"]
        units.append((label(name), "tool", builder.policy.attributes(attributes)))
    links = _permitted(builder, value.get("links", []), places)
    if not units:
        raise GraphError("it names no tool")
    builder.warn("a graph of tools names no task")
    builder.name = f"TaskBench: {len(units)} tools"
    builder.organization = make_organization(f"TaskBench, {len(units)} tools", units, links)


def _permitted(
    builder: GraphBuilder, listed: list[Any], places: dict[str, int]
) -> list[tuple[int, int, str]]:
    """The links between tools: their positions, and the kind that a link may have."""
    label = builder.policy.label
    try:
        # There are hundreds, and nearly always each joins two of the tools.
        found = [
            (places[link["source"]], places[link["target"]], link.get("type"))
            for link in listed
        ]
    except (KeyError, TypeError):
        found = []
        for link in listed:
            source, target = _ends(link)
            if source not in places or target not in places:
                unknown = source if source not in places else target
                builder.warn(f"links that name no tool were left out, such as {unknown!r}")
                continue
            found.append((places[source], places[target], link.get("type")))
    kinds = {kind for _, _, kind in found if isinstance(kind, str)}
    stored = {kind: label(kind) for kind in kinds}
    return [
        (source, target, stored[kind] if isinstance(kind, str) else "")
        for source, target, kind in found
    ]


def _fill(builder: GraphBuilder, value: Any, record: str) -> None:
    nodes, links, steps = _parts(value)
    outer: dict[str, Any] = value
    request = _request(outer)
    category = outer.get("type")
    builder.set_task(
        f"{record}: {short_name(request, 80)}" if request else record,
        description=request,
        dataset=DATASET,
        category=category if isinstance(category, str) else None,
    )
    builder.name = short_name(request or "") or record
    if not outer.keys() <= _USED:
        kept = {key: other for key, other in outer.items() if key not in _USED}
        builder.attributes.update(kept)
    names = [_tool(node, position) for position, node in enumerate(nodes)]
    if not names:
        raise GraphError("it holds no subtasks")
    aligned = len(steps) == len(names)
    if not aligned and steps:
        builder.attributes["steps"] = steps
        builder.warn(f"{len(steps)} steps and {len(names)} subtasks: no step is told apart")
    uses = [_references(node) for node in nodes]
    used = set(chain.from_iterable(uses))
    if used and max(used) >= len(names):
        missing = min(source for source in used if source >= len(names))
        raise GraphError(f"an argument names <node-{missing}>, which does not exist")
    for position, (node, name) in enumerate(zip(nodes, names, strict=True)):
        extra = {} if isinstance(node, str) else {k: v for k, v in node.items() if k != "task"}
        builder.add(
            "subtask",
            name,
            content=steps[position] if aligned else None,
            inputs=[_output(source) for source in uses[position]],
            outputs=[_output(position)] if position in used else (),
            attributes=extra,
        )
    _link(builder, names, [_ends(link) for link in links], uses)


_USED = frozenset(
    {"id", "type", "result", *_REQUEST} | {field for fields in _PARTS for field in fields}
)


def _request(outer: dict[str, Any]) -> str | None:
    for key in _REQUEST:
        if text := text_of(outer.get(key)):
            return text
    return None


def _parts(value: Any) -> tuple[list[Any], list[Any], list[str]]:
    """Nodes, links and steps of a record, whatever their fields are called."""
    if not isinstance(value, dict):
        raise GraphError("the record is no object")
    for holder in (value.get("result"), value):
        if isinstance(holder, dict):
            for nodes, links, steps in _PARTS:
                if nodes in holder:
                    return (
                        _listed(holder, nodes),
                        _listed(holder, links),
                        [text_of(step) or "" for step in _listed(holder, steps)],
                    )
    raise GraphError("the record has no task_nodes")


def _listed(holder: dict[str, Any], field: str) -> list[Any]:
    value = holder.get(field)
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise GraphError(f"{field} is no list") from error
    if value is None:
        return []
    if not isinstance(value, list):
        raise GraphError(f"{field} is no list")
    return value


def _tool(node: Any, position: int) -> str:
    name = node.get("task") if isinstance(node, dict) else node
    if not isinstance(name, str) or not name:
        raise GraphError(f"the subtask at position {position} names no tool")
    return name


def _ends(link: Any) -> tuple[str, str]:
    if isinstance(link, dict):
        source, target = link.get("source"), link.get("target")
        if isinstance(source, str) and isinstance(target, str):
            return source, target
    raise GraphError("a link names no source and target")


def _references(node: Any) -> list[int]:
    """The nodes whose output an argument uses, each once."""
    arguments = node.get("arguments") if isinstance(node, dict) else None
    if arguments is None:
        return []
    found = _REFERENCE.findall(text_of(arguments) or "")
    return list(dict.fromkeys([int(number[:9]) for number in found]))


def _output(position: int) -> Artifact:
    """What a node makes, as arguments name it."""
    return Artifact(name=f"<node-{position}>")


def _link(
    builder: GraphBuilder,
    names: Sequence[str],
    links: Sequence[tuple[str, str]],
    uses: Sequence[Sequence[int]],
) -> None:
    """Puts links by name onto nodes; see the module's text."""
    places = {name: position for position, name in enumerate(names)}
    once = (
        places.keys()
        if len(places) == len(names)
        else {name for name, count in Counter(names).items() if count == 1}
    )
    stated = [(source, node) for node, sources in enumerate(uses) for source in sources]
    taken: set[tuple[int, int]] = set()
    for source, target in links:
        if source in once and target in once:
            pair = places[source], places[target]
            if pair in taken:
                builder.warn(f"the link {source} -> {target} stands twice")
            taken.add(pair)
            builder.edge(*pair, "explicit")
            continue
        unknown = source if source not in places else target
        if unknown not in places:
            raise GraphError(
                f"the link {source} -> {target} names the unknown subtask {unknown}"
            )
        fitting = [(a, b) for a, b in stated if names[a] == source and names[b] == target]
        if fitting:
            for pair in fitting:
                taken.add(pair)
                builder.edge(*pair, "explicit")
            continue
        nearest = _nearest(_positions(names, source), _positions(names, target), taken)
        if nearest is None:
            builder.warn(f"the link {source} -> {target} fits no pair of subtasks")
            continue
        builder.warn(
            f"the link {source} -> {target} names a tool that stands twice: the nearest "
            "pair was taken"
        )
        taken.add(nearest)
        builder.edge(*nearest, "inferred")
    for pair in stated:
        builder.edge(*pair, "delivered")


def _positions(names: Sequence[str], wanted: str) -> list[int]:
    return [position for position, name in enumerate(names) if name == wanted]


def _nearest(
    sources: Sequence[int], targets: Sequence[int], taken: set[tuple[int, int]]
) -> tuple[int, int] | None:
    """The closest pair that points forward and is free, then the earliest."""
    pairs = (
        (target - source, source, target)
        for source in sources
        for target in targets
        if source < target and (source, target) not in taken
    )
    found = min(pairs, default=None)
    return None if found is None else found[1:]
