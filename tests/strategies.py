"""Hypothesis strategies for graphs: valid ones, of both kinds, with every field in use."""

from typing import Any

from hypothesis import strategies as st

from graphstore.builder import GraphBuilder, make_organization
from graphstore.model import (
    AGENT_KINDS,
    ROLES,
    STATUSES,
    SUBTASK_KINDS,
    Artifact,
    CollaborationGraph,
    Outcome,
)

ACTION_KINDS = ("agent_message", "tool_call", "decision")

texts = st.one_of(
    st.sampled_from(["", " ", " padded \n", "null", "None", "nan", "1", "1.0", "true", "[1]"]),
    st.sampled_from(["2024-01-01", "Zoë \U0001f9ea", "日本語", "a'b\"c\\d", "{}", "x" * 500]),
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12),
)
names = texts.filter(bool)
integers = st.one_of(
    st.sampled_from([0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63), 2**32]),
    st.integers(-(2**63), 2**63 - 1),
)
counts = integers.map(abs).filter(lambda value: value < 2**63)
numbers = st.floats(allow_nan=False, allow_infinity=False)
moments = st.one_of(
    st.sampled_from([0, -1, 1_700_000_000_123_456_789, -(10**18)]),
    integers,
)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), integers, numbers, texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=5,
)
attributes = st.dictionaries(texts, json_values, max_size=3)
artifacts = st.builds(Artifact, name=names, type=st.none() | texts)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The strategy's values, or a missing one."""
    return st.none() | strategy


outcomes = st.builds(
    Outcome,
    success=maybe(st.booleans()),
    score=maybe(numbers),
    answer=maybe(texts),
    expected=maybe(texts),
    termination=maybe(texts),
    tokens_in=maybe(counts),
    tokens_out=maybe(counts),
    calls=maybe(counts),
    retries=maybe(counts),
    latency=maybe(numbers),
    cost=maybe(numbers),
    mistake_agent=maybe(texts),
    mistake_step=maybe(counts),
    mistake_reason=maybe(texts),
)


@st.composite
def organizations(draw: st.DrawFn) -> Any:
    """An organization with up to three units."""
    units = draw(
        st.lists(st.tuples(names, st.sampled_from(ROLES), attributes), min_size=1, max_size=3)
    )
    places = st.integers(0, len(units) - 1)
    links = draw(st.lists(st.tuples(places, places, texts), max_size=4))
    return make_organization(
        draw(names), units, links, state=draw(attributes), policy=draw(attributes)
    )


@st.composite
def graphs(
    draw: st.DrawFn,
    *,
    kind: str | None = None,
    max_nodes: int = 6,
    record: str | None = None,
) -> CollaborationGraph:
    """A valid graph.

    Args:
        draw: Given by Hypothesis.
        kind: ``run`` or ``decomposition``; by default either.
        max_nodes: The largest number of nodes.
        record: The record's name: graphs of different records have different ids.
    """
    kind = kind or draw(st.sampled_from(["run", "decomposition"]))
    builder = GraphBuilder(
        kind=kind,
        format=draw(names),
        uri=draw(texts),
        content=draw(texts),
        record=record if record is not None else draw(maybe(names)),
        sha256=draw(maybe(texts)),
        reader_version=draw(texts),
    )
    if draw(st.booleans()):
        builder.set_task(
            # A few tasks that graphs share, each always described alike.
            name := draw(st.sampled_from(["t1", "t2", "Ünïcode"])),
            description=f"describes {name}",
            dataset=draw(st.sampled_from([None, "d1", "d2"])),
            category=f"kind of {name}",
        )
    if draw(st.booleans()):
        builder.set_method(draw(st.sampled_from(["m1", "m2"])), framework=draw(maybe(names)))
    if draw(st.booleans()):
        builder.organization = draw(organizations())
    unit_count = len(builder.organization.units) if builder.organization else 0
    agents = [
        builder.new_agent(
            draw(texts),
            role_name=draw(maybe(texts)),
            role=draw(st.sampled_from(ROLES)),
            kind=draw(st.sampled_from(AGENT_KINDS)),
            unit=draw(maybe(st.integers(0, unit_count - 1))) if unit_count else None,
            attributes=draw(attributes),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    resources = [
        builder.resource(draw(texts), draw(maybe(texts)))
        for _ in range(draw(st.integers(0, 2)))
    ]
    some_agents = st.lists(st.sampled_from(agents), max_size=3) if agents else st.just([])
    accesses = st.tuples(st.sampled_from(resources), st.sampled_from(["read", "write"]))
    nodes: list[int] = []
    for _ in range(draw(st.integers(0, max_nodes))):
        nodes.append(
            builder.add(
                draw(st.sampled_from(ACTION_KINDS if kind == "run" else SUBTASK_KINDS)),
                draw(texts),
                agent=draw(maybe(st.sampled_from(agents))) if agents else None,
                role=draw(maybe(st.sampled_from(ROLES))),
                recipients=draw(some_agents),
                delivery=draw(st.sampled_from(["explicit", "broadcast", "inferred"])),
                content=draw(maybe(texts)),
                inputs=draw(st.lists(artifacts, max_size=2)),
                outputs=draw(st.lists(artifacts, max_size=2)),
                accesses=draw(st.lists(accesses, max_size=3)) if resources else [],
                parent=draw(maybe(st.sampled_from(nodes))) if nodes else None,
                round=draw(maybe(counts)),
                started_at=draw(maybe(moments)),
                ended_at=draw(maybe(moments)),
                tokens_in=draw(maybe(counts)),
                tokens_out=draw(maybe(counts)),
                status=draw(maybe(st.sampled_from(STATUSES))),
                attributes=draw(attributes),
            )
        )
    pairs = [(one, other) for other in nodes for one in nodes[:other]]
    if pairs:
        for one, other in draw(st.lists(st.sampled_from(pairs), max_size=6)):
            basis = draw(st.sampled_from(["explicit", "delivered", "continued", "inferred"]))
            builder.edge(one, other, basis)
        for one, other in draw(st.lists(st.sampled_from(pairs), max_size=3)):
            builder.couple(
                one,
                other,
                resources=draw(st.lists(st.sampled_from(resources), max_size=2))
                if resources
                else (),
                basis=draw(st.sampled_from(["explicit", "inferred"])),
            )
    for _ in range(draw(st.integers(0, 2))):
        builder.propose(
            draw(texts),
            draw(st.sampled_from(["initial", "final", "answer"])),
            agent=draw(maybe(st.sampled_from(agents))) if agents else None,
            node=draw(maybe(st.sampled_from(nodes))) if nodes else None,
            value=draw(maybe(texts)),
            score=draw(maybe(numbers)),
            valid=draw(maybe(st.booleans())),
        )
    builder.outcome = draw(outcomes)
    builder.name = draw(maybe(names))
    for sentence in draw(st.lists(texts, max_size=2)):
        builder.warn(sentence)
    builder.attributes = draw(attributes)
    return builder.build()


@st.composite
def graph_lists(
    draw: st.DrawFn, *, min_size: int = 0, max_size: int = 4, max_nodes: int = 5
) -> list[CollaborationGraph]:
    """Graphs of different ids that share tasks and methods."""
    size = draw(st.integers(min_size, max_size))
    return [
        draw(graphs(max_nodes=max_nodes, record=f"record {position}"))
        for position in range(size)
    ]
