"""Rows of a store as a graph again: the inverse of :mod:`graphstore.rows_of_graph`."""

from collections.abc import Iterable

import msgspec

from graphstore.errors import StoreDamagedError
from graphstore.model import (
    Access,
    AccessMode,
    Agent,
    Artifact,
    Attributes,
    CollaborationGraph,
    Coupling,
    Edge,
    Link,
    Method,
    Node,
    Organization,
    Outcome,
    Proposal,
    Resource,
    Source,
    Task,
    Unit,
)
from graphstore.rows import Row, Rows
from graphstore.rows_of_graph import NODE_FIELDS, OUTCOME_FIELDS

_ACCESS_MODES: tuple[tuple[str, AccessMode], ...] = (("READS", "read"), ("WRITES", "write"))


def graph_from_rows(rows: Rows) -> CollaborationGraph:
    """The graph that :func:`graphstore.rows_of_graph.graph_rows` was given.

    Args:
        rows: All rows of exactly one graph, with its task, method and organization, each
            group in any order.

    Raises:
        StoreDamagedError: A part is missing.
    """
    top = "Run" if "Run" in rows.nodes else "Decomposition"
    item = "Action" if top == "Run" else "Subtask"
    try:
        (head,) = rows.nodes[top]
        (task,) = rows.nodes["Task"]
        items = sorted(rows.nodes.get(item, ()), key=lambda row: row["index"])
        index = {row["id"]: row["index"] for row in items}
        agents = _ordered(rows, "Agent")
        resources = _ordered(rows, "Resource")
        plays = _one_target(rows, ("PLAYS", "Agent", "Unit"))
        return CollaborationGraph(
            id=head["id"],
            kind="run" if top == "Run" else "decomposition",
            name=head["name"],
            task=Task(**{name: task[name] for name in Task.__struct_fields__ if name in task}),
            method=_method(rows),
            organization=_organization(rows),
            agents=tuple(
                Agent(
                    id=row["id"],
                    name=row["name"],
                    role=row["role"],
                    role_name=row.get("role_name"),
                    kind=row["kind"],
                    unit=plays.get(row["id"]),
                    attributes=_parsed(row),
                )
                for row in agents
            ),
            nodes=_nodes(rows, item, items, agents, resources),
            edges=tuple(
                Edge(source=row["source"], target=row["target"], basis=row["basis"])
                for row in _by_index(
                    rows, "INFORMS" if item == "Action" else "PRECEDES", item, index
                )
            ),
            couplings=tuple(
                Coupling(
                    source=row["source"],
                    target=row["target"],
                    resources=tuple(row.get("resources", ())),
                    basis=row["basis"],
                )
                for row in _by_index(rows, "COUPLED_WITH", item, index)
            ),
            resources=tuple(
                Resource(id=row["id"], name=row["name"], type=row.get("resource_type"))
                for row in resources
            ),
            proposals=_proposals(rows, item),
            outcome=Outcome(**{name: head[name] for name in OUTCOME_FIELDS if name in head}),
            source=Source(
                format=head["format"],
                uri=head["uri"],
                record=head.get("record"),
                sha256=head.get("sha256"),
                reader_version=head["reader_version"],
                warnings=tuple(head.get("warnings", ())),
            ),
            attributes=_parsed(head),
        )
    except (KeyError, ValueError) as error:
        raise StoreDamagedError(f"a stored graph lacks a part: {error}") from error


def _parsed(row: Row, name: str = "attributes") -> Attributes:
    text = row.get(name)
    return msgspec.json.decode(text) if text else {}


def _ordered(rows: Rows, label: str) -> list[Row]:
    return sorted(rows.nodes.get(label, ()), key=lambda row: row["position"])


def _one_target(rows: Rows, key: tuple[str, str, str]) -> dict[str, str]:
    return {row["source"]: row["target"] for row in rows.relations.get(key, ())}


def _one_source(rows: Rows, key: tuple[str, str, str]) -> dict[str, str]:
    return {row["target"]: row["source"] for row in rows.relations.get(key, ())}


def _by_index(rows: Rows, type: str, item: str, index: dict[str, int]) -> list[Row]:
    return sorted(
        rows.relations.get((type, item, item), ()),
        key=lambda row: (index[row["source"]], index[row["target"]]),
    )


def _grouped(
    relations: Iterable[Row], place: dict[str, int] | None = None
) -> dict[str, list[Row]]:
    """Relations by source, in the order of the target's place or of their own position."""

    def order(row: Row) -> int:
        position: int = row["position"] if place is None else place[row["target"]]
        return position

    found: dict[str, list[Row]] = {}
    for row in sorted(relations, key=order):
        found.setdefault(row["source"], []).append(row)
    return found


def _nodes(
    rows: Rows, item: str, items: list[Row], agents: list[Row], resources: list[Row]
) -> tuple[Node, ...]:
    agent_place = {row["id"]: row["position"] for row in agents}
    resource_place = {row["id"]: row["position"] for row in resources}
    artifacts = {
        row["id"]: Artifact(name=row["name"], type=row.get("artifact_type"))
        for row in rows.nodes.get("Artifact", ())
    }
    performed = _one_source(rows, ("PERFORMED", "Agent", item))
    parents = _one_source(rows, ("PARENT_OF", item, item))
    sent = _grouped(rows.relations.get(("SENT_TO", item, "Agent"), ()), agent_place)
    inputs = _grouped(rows.relations.get(("REQUIRES", item, "Artifact"), ()))
    outputs = _grouped(rows.relations.get(("PRODUCES", item, "Artifact"), ()))
    accesses: dict[str, list[tuple[int, Access]]] = {}
    for type_, mode in _ACCESS_MODES:
        for row in rows.relations.get((type_, item, "Resource"), ()):
            access = Access(resource=row["target"], mode=mode)
            accesses.setdefault(row["source"], []).append(
                (resource_place[row["target"]], access)
            )
    return tuple(
        Node(
            id=row["id"],
            **{name: row[name] for name in NODE_FIELDS if name in row},
            agent=performed.get(row["id"]),
            recipients=tuple([other["target"] for other in sent.get(row["id"], ())]),
            inputs=tuple([artifacts[other["target"]] for other in inputs.get(row["id"], ())]),
            outputs=tuple([artifacts[other["target"]] for other in outputs.get(row["id"], ())]),
            accesses=tuple(
                access
                for _, access in sorted(
                    accesses.get(row["id"], ()), key=lambda pair: (pair[0], pair[1].mode)
                )
            ),
            parent=parents.get(row["id"]),
            attributes=_parsed(row),
        )
        for row in items
    )


def _method(rows: Rows) -> Method | None:
    for row in rows.nodes.get("Method", ()):
        return Method(id=row["id"], name=row["name"], framework=row.get("framework"))
    return None


def _organization(rows: Rows) -> Organization | None:
    for row in rows.nodes.get("Organization", ()):
        units = _ordered(rows, "Unit")
        place = {unit["id"]: unit["position"] for unit in units}
        links = sorted(
            rows.relations.get(("MAY_SEND", "Unit", "Unit"), ()),
            key=lambda link: (place[link["source"]], place[link["target"]]),
        )
        return Organization(
            id=row["id"],
            name=row["name"],
            hash=row["hash"],
            units=tuple(
                Unit(
                    id=unit["id"],
                    name=unit["name"],
                    role=unit["role"],
                    attributes=_parsed(unit),
                )
                for unit in units
            ),
            links=tuple(
                Link(
                    source=link["source"],
                    target=link["target"],
                    kinds=tuple(link.get("kinds", ())),
                )
                for link in links
            ),
            state=_parsed(row, "state"),
            policy=_parsed(row, "policy"),
        )
    return None


def _proposals(rows: Rows, item: str) -> tuple[Proposal, ...]:
    agents = _one_source(rows, ("OFFERED", "Agent", "Proposal"))
    nodes = _one_source(rows, ("PROPOSES", item, "Proposal"))
    return tuple(
        Proposal(
            id=row["id"],
            unit=row["unit"],
            phase=row["phase"],
            agent=agents.get(row["id"]),
            node=nodes.get(row["id"]),
            value=row.get("value"),
            score=row.get("score"),
            valid=row.get("valid"),
        )
        for row in _ordered(rows, "Proposal")
    )
