"""Controlled edits of a graph: what a measure should notice, at a stated rate, with a seed.

Source: ForestBench's perturbation studies. Its edits and constants are not public; those here
are ours. For one graph, edit and seed the edits of a smaller rate are the first of those of a
larger one, so that a response curve compares like with like.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, get_args

import msgspec
import numpy

from graphstore.errors import UsageError
from graphstore.identity import content_hash, digest
from graphstore.model import CollaborationGraph, Edge, Node, Outcome

EditName = Literal["drop", "insert", "swap-roles", "rewire", "duplicate-content", "truncate"]
EDITS: tuple[EditName, ...] = get_args(EditName)
DESCRIPTIONS: dict[str, str] = {
    "drop": "actions vanish, with their edges",
    "insert": "actions are added that an agent of the run could have made",
    "swap-roles": "pairs of actions of different roles change their actors",
    "rewire": "actions consume other outputs than they did",
    "duplicate-content": "actions repeat the content of another",
    "truncate": "the last actions are cut off",
}


@dataclass(frozen=True)
class PerturbedGraph:
    """A graph after an edit.

    Attributes:
        graph: The result: valid, with an id of its own, and with ``attributes["perturbation"]``
            that says how it was made. The graph that was given where nothing was changed.
        edit: Name of the edit.
        rate: Share of nodes (of edges for ``rewire``) that was to be edited, 0 to 1.
        seed: Of the choice.
        changed: Number of nodes or edges edited. Less than asked for where no more can be:
            a run of one role has no roles to swap.
    """

    graph: CollaborationGraph
    edit: EditName
    rate: float
    seed: int
    changed: int


def perturb(
    graph: CollaborationGraph, edit: EditName, rate: float, *, seed: int = 0
) -> PerturbedGraph:
    """Edits a share of a graph, chosen at random.

    With n nodes, m edges and rate r, rounded to the nearest whole number, halves up:

    - ``drop``: r n nodes are removed, each with its edges and couplings. What a removed node
      contained stands in the node that contained it.
    - ``insert``: r n nodes are added, each like a random node of the graph (kind, role, agent,
      recipients) with a new content where that one has a known content. It consumes one
      random earlier node and is consumed by one random later node, where there are such.
    - ``swap-roles``: r n nodes, in pairs of different roles, exchange role and agent. How
      often each role acts does not change.
    - ``rewire``: r m edges get another source, drawn from the nodes before the target that
      it does not consume yet. The number of edges does not change.
    - ``duplicate-content``: of the nodes of known content the share r gets the content of a
      node whose content was another. Nothing else changes.
    - ``truncate``: the last r n nodes are removed.

    Args:
        graph: A run or a decomposition.
        edit: One of :data:`EDITS`.
        rate: Between 0 and 1.
        seed: Not negative.

    Returns:
        The edited graph. The same arguments give an equal one.

    Raises:
        UsageError: The edit is unknown, or rate or seed are out of range.
    """
    checked_edit(edit)
    check_rate(rate)
    if seed < 0:
        raise UsageError(f"a seed cannot be negative: {seed}")
    generator = numpy.random.default_rng(int(digest(graph.id, edit, str(seed), size=8), 16))
    edited, changed = _EDITORS[edit](graph, rate, generator)
    if not changed:
        return PerturbedGraph(graph, edit, rate, seed, 0)
    made = {"edit": edit, "rate": rate, "seed": seed, "changed": changed, "of": graph.id}
    name = f"{graph.kind}-{digest(graph.id, edit, repr(float(rate)), str(seed))}"
    marked = msgspec.structs.replace(
        edited, attributes={**graph.attributes, "perturbation": made}
    )
    return PerturbedGraph(_renamed(marked, name), edit, rate, seed, changed)


def checked_edit(edit: str) -> EditName:
    """The edit with a name.

    Raises:
        UsageError: There is none.
    """
    for known in EDITS:
        if known == edit:
            return known
    raise UsageError(f"there is no edit {edit!r}; choose one of {', '.join(EDITS)}")


def check_rate(rate: float) -> None:
    """Raises a UsageError where a rate does not lie between 0 and 1."""
    if not 0.0 <= rate <= 1.0:
        raise UsageError(f"a rate lies between 0 and 1, not at {rate}")


def _count(rate: float, of: int) -> int:
    return int(rate * of + 0.5)


def _drop(
    graph: CollaborationGraph, rate: float, generator: numpy.random.Generator
) -> tuple[CollaborationGraph, int]:
    order = generator.permutation(len(graph.nodes)).tolist()
    return _without(graph, order[: _count(rate, len(graph.nodes))])


def _truncate(
    graph: CollaborationGraph,
    rate: float,
    generator: numpy.random.Generator,  # noqa: ARG001 - nothing is left to chance
) -> tuple[CollaborationGraph, int]:
    size = len(graph.nodes)
    return _without(graph, range(size - _count(rate, size), size))


def _without(
    graph: CollaborationGraph, places: Sequence[int]
) -> tuple[CollaborationGraph, int]:
    gone = {graph.nodes[place].id for place in places}
    parents = {node.id: node.parent for node in graph.nodes}

    def surviving(parent: str | None) -> str | None:
        while parent in gone:
            parent = parents[parent]
        return parent

    kept = [
        node
        if node.parent not in gone
        else msgspec.structs.replace(node, parent=surviving(node.parent))
        for node in graph.nodes
        if node.id not in gone
    ]
    moved = {node.index: place for place, node in enumerate(kept)}
    proposals = [
        one if one.node not in gone else msgspec.structs.replace(one, node=None)
        for one in graph.proposals
    ]
    edited = msgspec.structs.replace(
        graph,
        nodes=tuple(kept),
        edges=tuple(
            edge for edge in graph.edges if edge.source not in gone and edge.target not in gone
        ),
        couplings=tuple(
            one for one in graph.couplings if one.source not in gone and one.target not in gone
        ),
        proposals=tuple(proposals),
        outcome=_moved_mistake(graph, moved),
    )
    return edited, len(gone)


def _moved_mistake(graph: CollaborationGraph, moved: dict[int, int]) -> Outcome:
    step = graph.outcome.mistake_step
    if step is None:
        return graph.outcome
    return msgspec.structs.replace(graph.outcome, mistake_step=moved.get(step))


def _insert(
    graph: CollaborationGraph, rate: float, generator: numpy.random.Generator
) -> tuple[CollaborationGraph, int]:
    size = len(graph.nodes)
    nodes: list[list[Node]] = [[] for _ in range(size + 1)]
    edges = list(graph.edges)
    count = _count(rate, size)
    for number in range(count):
        template = graph.nodes[int(generator.integers(size))]
        place = int(generator.integers(size + 1))
        source = int(generator.integers(place)) if place else None
        target = int(generator.integers(place, size)) if place < size else None
        made = _like(template, number)
        nodes[place].append(made)
        if source is not None:
            edges.append(Edge(graph.nodes[source].id, made.id, "explicit"))
        if target is not None:
            edges.append(Edge(made.id, graph.nodes[target].id, "explicit"))
    starts = list(accumulate(len(added) + 1 for added in nodes))
    moved = {place: start - 1 for place, start in enumerate(starts[:size])}
    together = [
        node
        for place, added in enumerate(nodes)
        for node in (*added, *graph.nodes[place : place + 1])
    ]
    edited = msgspec.structs.replace(
        graph,
        nodes=tuple(together),
        edges=tuple(edges),
        outcome=_moved_mistake(graph, moved),
    )
    return edited, count


def _like(template: Node, number: int) -> Node:
    """An action of the same actor that says something new. Its id is final only later."""
    text = f"inserted action {number + 1}"
    known = template.content_hash is not None
    return Node(
        id=f"{template.id}/inserted/{number}",
        index=0,
        kind=template.kind,
        name=template.name,
        role=template.role,
        agent=template.agent,
        recipients=template.recipients,
        delivery=template.delivery,
        content=None if template.content is None else text,
        content_hash=content_hash(text) if known else None,
        parent=template.parent,
    )


def _swap_roles(
    graph: CollaborationGraph, rate: float, generator: numpy.random.Generator
) -> tuple[CollaborationGraph, int]:
    size = len(graph.nodes)
    waiting: list[int] = []
    pairs: list[tuple[int, int]] = []
    wanted = _count(rate, size) // 2
    for place in generator.permutation(size).tolist():
        if len(pairs) == wanted:
            break
        # All that wait have one role, or they would have been paired.
        if waiting and graph.nodes[waiting[-1]].role != graph.nodes[place].role:
            pairs.append((waiting.pop(), place))
        else:
            waiting.append(place)
    nodes = list(graph.nodes)
    for one, other in pairs:
        nodes[one], nodes[other] = (
            _acted_by(graph.nodes[one], graph.nodes[other]),
            _acted_by(graph.nodes[other], graph.nodes[one]),
        )
    return msgspec.structs.replace(graph, nodes=tuple(nodes)), 2 * len(pairs)


def _acted_by(node: Node, other: Node) -> Node:
    return msgspec.structs.replace(node, role=other.role, agent=other.agent)


def _rewire(
    graph: CollaborationGraph, rate: float, generator: numpy.random.Generator
) -> tuple[CollaborationGraph, int]:
    index = {node.id: node.index for node in graph.nodes}
    consumed: dict[int, set[int]] = {}
    for edge in graph.edges:
        consumed.setdefault(index[edge.target], set()).add(index[edge.source])
    edges = list(graph.edges)
    order = generator.permutation(len(edges)).tolist()
    changed = 0
    wanted = _count(rate, len(edges))
    for place in order:
        if changed == wanted:
            break
        source, target = index[edges[place].source], index[edges[place].target]
        sources = consumed[target]
        free = target - len(sources)
        if not free:
            continue
        # The chosen one of the nodes that are not consumed yet, without listing them all.
        chosen = int(generator.integers(free))
        for taken in sorted(sources):
            if taken <= chosen:
                chosen += 1
        sources.remove(source)
        sources.add(chosen)
        edges[place] = msgspec.structs.replace(edges[place], source=graph.nodes[chosen].id)
        changed += 1
    return msgspec.structs.replace(graph, edges=tuple(edges)), changed


def _duplicate_content(
    graph: CollaborationGraph, rate: float, generator: numpy.random.Generator
) -> tuple[CollaborationGraph, int]:
    known = sorted(
        [node for node in graph.nodes if node.content_hash is not None],
        key=lambda node: (node.content_hash, node.index),
    )
    alike = Counter(node.content_hash for node in known)
    if len(alike) < 2:
        return graph, 0
    first = {node.content_hash: place for place, node in reversed(list(enumerate(known)))}
    nodes = list(graph.nodes)
    count = _count(rate, len(known))
    for place in generator.permutation(len(known)).tolist()[:count]:
        node = known[place]
        # Of the nodes in order of content, all but the block that says the same.
        chosen = int(generator.integers(len(known) - alike[node.content_hash]))
        if chosen >= first[node.content_hash]:
            chosen += alike[node.content_hash]
        donor = known[chosen]
        nodes[node.index] = msgspec.structs.replace(
            node, content=donor.content, content_hash=donor.content_hash
        )
    return msgspec.structs.replace(graph, nodes=tuple(nodes)), count


def _renamed(graph: CollaborationGraph, name: str) -> CollaborationGraph:
    """The graph under another id, its nodes counted anew, in canonical order."""
    index = {node.id: place for place, node in enumerate(graph.nodes)}
    ids = {node: f"{name}/{place}" for node, place in index.items()}
    prefix = f"{graph.id}/"

    def moved(old: str) -> str:
        return f"{name}/{old[len(prefix) :]}" if old.startswith(prefix) else old

    def agent(old: str | None) -> str | None:
        return None if old is None else moved(old)

    replace = msgspec.structs.replace
    nodes = [
        replace(
            node,
            id=ids[node.id],
            index=place,
            agent=agent(node.agent),
            recipients=tuple(map(moved, node.recipients)),
            accesses=tuple(replace(one, resource=moved(one.resource)) for one in node.accesses),
            parent=None if node.parent is None else ids[node.parent],
        )
        for place, node in enumerate(graph.nodes)
    ]
    edges = sorted(graph.edges, key=lambda edge: (index[edge.source], index[edge.target]))
    return replace(
        graph,
        id=name,
        agents=tuple(replace(one, id=moved(one.id)) for one in graph.agents),
        resources=tuple(replace(one, id=moved(one.id)) for one in graph.resources),
        nodes=tuple(nodes),
        edges=tuple(
            replace(edge, source=ids[edge.source], target=ids[edge.target]) for edge in edges
        ),
        couplings=tuple(
            replace(
                one,
                source=ids[one.source],
                target=ids[one.target],
                resources=tuple(map(moved, one.resources)),
            )
            for one in graph.couplings
        ),
        proposals=tuple(
            replace(
                one,
                id=moved(one.id),
                agent=agent(one.agent),
                node=None if one.node is None else ids[one.node],
            )
            for one in graph.proposals
        ),
    )


_EDITORS: dict[
    str,
    Callable[
        [CollaborationGraph, float, numpy.random.Generator], tuple[CollaborationGraph, int]
    ],
] = {
    "drop": _drop,
    "insert": _insert,
    "swap-roles": _swap_roles,
    "rewire": _rewire,
    "duplicate-content": _duplicate_content,
    "truncate": _truncate,
}
