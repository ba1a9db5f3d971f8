"""Goals, relation outcomes, contributors and changes; and what MAC-Bench prints of them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.relations import (
    Change,
    Goal,
    RelationCheck,
    RelationItem,
    agrees,
    all_passed,
    assess,
    handling,
    outcomes,
    progress_score,
    resolved,
    resolved_rate,
    resource_writers,
)
from analytics.relations_history import consistency_history, final_values
from analytics.relations_report import CheckedRun, evaluate_relations, measure_relations
from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError
from tests.analytics.published import MACBENCH_D4, MACBENCH_TABLE_7, MACBENCH_TABLE_9


def goals(*passed):
    return tuple(Goal(f"g{place}", (one,)) for place, one in enumerate(passed))


def test_the_housing_task_of_table_9():
    scores = [progress_score(goals(*passed)) for passed, _ in MACBENCH_TABLE_9.values()]
    assert scores == [printed for _, printed in MACBENCH_TABLE_9.values()]
    assert scores == [100, 75, 100, 25, 50, 50]


def test_the_diagnostics_of_appendix_d4():
    for passed, all_of_them, printed in MACBENCH_D4.values():
        found = progress_score(goals(*[True] * passed, *[False] * (all_of_them - passed)))
        assert round(found, 1) == printed
    # An exception's line number: all goals passed, preservation did not.
    jinja = goals(*[True] * 5)
    assert progress_score(jinja) == 100.0
    assert resolved(jinja, (False,)) is False


def test_three_of_48_tasks():
    assert resolved_rate([True] * 3 + [False] * 45) == 6.25
    assert resolved_rate([]) is None


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_scores_lie_between_0_and_100(passed):
    score = progress_score(goals(*passed))
    assert 0.0 <= score <= 100.0
    assert (score == 100.0) == all(passed)
    assert 0.0 <= resolved_rate(passed) <= 100.0


def test_a_goal_passes_with_all_its_checks():
    for checks in itertools.product((True, False, None), repeat=3):
        expected = False if False in checks else None if None in checks else True
        assert all_passed(checks) is expected
        assert Goal("g", checks).passed is expected
    assert all_passed(()) is None
    assert progress_score(()) is None
    assert progress_score(goals(True, None)) is None
    assert progress_score(goals(False, None)) is None


def test_resolution_needs_goals_and_preservation():
    assert resolved(goals(True), (True,)) is True
    assert resolved(goals(True), (None,)) is None
    assert resolved(goals(True, None)) is None
    # Conditions that only the evaluator knows.
    assert resolved(goals(True), (True,), flag=False) is False
    assert resolved(goals(True, None), flag=True) is True
    with pytest.raises(UsageError, match="said to be resolved"):
        resolved(goals(True, False), flag=True)


A, B = "2026-05-01", "2026-05-02"


@pytest.mark.parametrize(
    ("item", "outcome", "available"),
    [
        (RelationItem("x", A, A), "satisfied", None),
        (RelationItem("x", A, B), "inconsistent", None),
        (RelationItem("x", A, None), "unavailable", "upstream only"),
        (RelationItem("x", None, A), "unavailable", "downstream only"),
        (RelationItem("x", None, None), "unavailable", "neither"),
        (RelationItem("x", A, A, assessable=False), "unassessable", None),
        (RelationItem("x", A, B, consistent=True), "satisfied", None),
        (RelationItem("x", A, None, consistent=True), "unavailable", "upstream only"),
        (RelationItem("x", outcome="inconsistent"), "inconsistent", None),
        (
            RelationItem("x", outcome="unavailable", available="neither"),
            "unavailable",
            "neither",
        ),
        # Nothing, false and an empty list are results.
        (RelationItem("x", 0, False), "inconsistent", None),
        (RelationItem("x", [], []), "satisfied", None),
    ],
)
def test_outcomes(item, outcome, available):
    assert assess("equal", item, item.upstream, item.downstream) == (outcome, available)


@pytest.mark.parametrize(
    ("rule", "one", "other", "expected"),
    [
        ("equal", 1, 1.0, True),
        ("equal", " x", "x", True),
        ("equal", {"a": [1, 2]}, {"a": [1.0, 2]}, True),
        ("equal", True, 1, False),
        ("distinct", "kit 1", "kit 1", False),
        ("distinct", "kit 1", "kit 2", True),
        ("disjoint", [1, 2], [2, 3], True),
        ("disjoint", [1, 2.5], [2, 3], False),
        ("disjoint", ["2026-05-01T09:00", "2026-05-01T10:00"],
         ["2026-05-01T11:30+02:00", "2026-05-01T12:00+02:00"], False),
        ("disjoint", [A, B], [B, "2026-05-03"], True),
        ("disjoint", [2, 1], [2, 3], None),
        ("disjoint", [1, 2], [A, B], None),
        ("disjoint", "noon", [1, 2], None),
        ("disjoint", [A, "soon"], [A, B], None),
    ],
)  # fmt: skip
def test_rules(rule, one, other, expected):
    assert agrees(rule, one, other) is expected
    assert agrees(rule, other, one) is expected
    item = RelationItem("x", one, other)
    if expected is None:
        assert assess(rule, item, one, other) == ("unassessable", None)


def test_handling():
    assert handling(["a"], ["a"]) == "same agent"
    assert handling(["a"], ["b"]) == "across agents"
    assert handling(["a", "b"], ["b"]) == "joint"
    assert handling(["a", "b"], ["a", "b"]) == "joint"
    assert handling([], ["b"]) == handling(["a"], []) == "unknown"


def test_the_object_goes_before_its_changes_and_these_before_the_check():
    check = RelationCheck(
        "c",
        "dependency",
        (
            RelationItem("own", A, A, upstream_agents=("x",)),
            RelationItem("changed", A, A),
            RelationItem("rest", A, A),
        ),
        changes=(
            Change("own", "upstream", A, "w"),
            Change("changed", "upstream", A, "w"),
            Change("changed", "upstream", A, "v"),
            Change("changed", "downstream", A),
        ),
        upstream_agents=("u",),
        downstream_agents=("d",),
    )
    found = {one.item: one for one in outcomes(check)}
    assert found["own"].upstream_agents == ("x",)
    assert found["changed"].upstream_agents == ("v", "w")
    assert found["changed"].handling == "joint"
    assert found["changed"].downstream_agents == ("d",)
    assert found["rest"].handling == "across agents"


def training(items, first, final):
    """Bookings are written, then calendar entries, some wrong; a few bookings move later."""
    changes = [Change(f"v{n}", "upstream", A, "worker-b") for n in range(items)]
    changes += [
        Change(f"v{n}", "downstream", B if n < first else A, "worker-a") for n in range(items)
    ]
    changes += [Change(f"v{n}", "upstream", B, "worker-b") for n in range(first - final)]
    ids = [f"v{n}" for n in range(items)]
    last = final_values(dict.fromkeys(ids, (None, None)), changes)
    return RelationCheck(
        "bookings -> calendar",
        "dependency",
        tuple(RelationItem(name, *last[name]) for name in ids),
        changes=tuple(changes),
    )


def test_the_relations_of_table_7():
    for items, first, final in MACBENCH_TABLE_7.values():
        found = consistency_history(training(items, first, final))
        assert (found.items, found.first_inconsistent, found.final_inconsistent) == (
            items,
            first,
            final,
        )
        assert found.first_comparable == 2 * items
        assert (found.corrected, found.broken) == (first - final, 0)
        assert found.contradicted == ()
    volunteers = measure_relations(
        CheckedRun("r", "t", "t", relations=(training(20, 11, 6),))
    ).checks[0]
    assert volunteers.across
    assert volunteers.outcomes["satisfied"] == 14
    assert volunteers.handling == {"across agents": {"satisfied": 14, "inconsistent": 6}}


def test_the_first_comparable_state_needs_every_object():
    items = (RelationItem("x", A, A, initial=(A, None)), RelationItem("y", A, B))
    changes = (
        Change("x", "downstream", B),
        Change("y", "upstream", A),
        Change("x", "downstream", None),
        Change("y", "downstream", B),
        Change("x", "downstream", A),
    )
    found = consistency_history(RelationCheck("c", "dependency", items, changes=changes))
    assert found.first_comparable == 5
    assert (found.first_inconsistent, found.final_inconsistent) == (1, 1)
    never = RelationCheck("c", "dependency", items, changes=changes[:2])
    found = consistency_history(never)
    assert (found.first_comparable, found.first_inconsistent) == (None, None)
    assert (found.final_inconsistent, found.final_unavailable) == (None, 1)
    assert found.contradicted == ("x", "y")
    before = RelationCheck(
        "c",
        "dependency",
        (RelationItem("x", A, B, initial=(A, A)),),
        changes=(Change("x", "downstream", B),),
    )
    found = consistency_history(before)
    assert (found.first_comparable, found.first_inconsistent, found.broken) == (0, 0, 1)


def test_what_a_checker_alone_knows_has_no_history():
    judged = RelationCheck(
        "c",
        "dependency",
        (RelationItem("x", A, B, consistent=True),),
        changes=(Change("x", "upstream", A),),
    )
    assert consistency_history(judged) is None
    assert consistency_history(RelationCheck("c", "dependency", (RelationItem("x"),))) is None
    lost = RelationCheck(
        "c", "dependency", (RelationItem("x"),), changes=(Change("y", "upstream", A),)
    )
    with pytest.raises(UsageError, match="names 'y'"):
        consistency_history(lost)


values = st.sampled_from([None, 1, 2])
changes_of = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from(["upstream", "downstream"]), values),
    min_size=1,
    max_size=12,
)


@given(st.lists(st.tuples(values, values), min_size=3, max_size=3), changes_of)
def test_histories_agree_with_a_plain_replay(initial, listed):
    changes = tuple(Change(*one) for one in listed)
    states = [dict(zip("xyz", initial, strict=True))]
    for name, side, value in listed:
        state = dict(states[-1])
        above, below = state[name]
        state[name] = (value, below) if side == "upstream" else (above, value)
        states.append(state)
    check = RelationCheck(
        "c",
        "dependency",
        tuple(RelationItem(name, *states[-1][name], initial=states[0][name]) for name in "xyz"),
        changes=changes,
    )
    found = consistency_history(check)
    complete = [
        number
        for number, state in enumerate(states)
        if all(None not in pair for pair in state.values())
    ]
    assert final_values(states[0], changes) == states[-1]
    assert found.first_comparable == (complete[0] if complete else None)
    if complete:
        first = states[complete[0]]
        assert found.first_inconsistent == sum(a != b for a, b in first.values())
        assert found.final_inconsistent == sum(
            None not in pair and pair[0] != pair[1] for pair in states[-1].values()
        )
    assert found.contradicted == ()


def items(**counts):
    """Objects by outcome."""
    found = []
    for outcome, number in counts.items():
        name, _, available = outcome.partition("__")
        found += [
            RelationItem(
                f"{outcome}{place}",
                outcome=name,
                available=available.replace("_", " ") or None,
            )
            for place in range(number)
        ]
    return tuple(found)


def test_shares_are_averaged_over_checks_then_tasks():
    one = CheckedRun(
        "r1",
        "t1",
        "t1",
        "m",
        goals(True, False),
        relations=(
            RelationCheck("a", "dependency", items(satisfied=1, inconsistent=3)),
            RelationCheck("b", "dependency", items(satisfied=2)),
            RelationCheck("s", "shared_resource", items(unassessable=1)),
        ),
    )
    other = CheckedRun(
        "r2",
        "t2",
        "t2",
        "m",
        goals(True),
        (True,),
        relations=(
            RelationCheck(
                "a", "dependency", items(unavailable__upstream_only=1, unavailable=1)
            ),
        ),
    )
    again = CheckedRun("r3", "t2", "t2", "m", goals(False))
    nameless = CheckedRun("r4", "t1", "t1")
    report = evaluate_relations([one, other, again, nameless])
    named, unnamed = report.by_method()
    assert (named.method, named.runs, named.tasks) == ("m", 3, 2)
    assert named.progress_score == pytest.approx((50 + (100 + 0) / 2) / 2)
    assert named.resolved_rate == pytest.approx((0 + 50) / 2)
    shares = named.outcomes["dependency"]
    assert shares["satisfied"] == pytest.approx(((1 / 4 + 1) / 2 + 0) / 2)
    assert shares["inconsistent"] == pytest.approx((3 / 4 / 2 + 0) / 2)
    assert shares["unavailable"] == pytest.approx(0.5)
    assert shares["unavailable: upstream only"] == pytest.approx(0.25)
    assert named.outcomes["shared_resource"]["unassessable"] == 1.0
    assert named.relation_tasks == {"dependency": 2, "shared_resource": 1}
    assert named.relation_items == {"dependency": 8, "shared_resource": 1}
    assert named.handling["dependency"] == {
        "unknown": {"satisfied": 3, "inconsistent": 3, "unavailable": 2}
    }
    assert unnamed.progress_score is None
    assert unnamed.resolved_rate is None
    assert unnamed.outcomes == {"dependency": {}, "shared_resource": {}}
    assert report.rows[3].missing == (
        "No goal is recorded.",
        "It is not known whether the task is resolved.",
        "No relation check is recorded.",
    )
    assert report.rows[1].preserved is True
    frame = report.to_pandas()
    assert list(frame["progress_score"].iloc[:3]) == [50.0, 100.0, 0.0]
    assert frame["progress_score"].isna().iloc[3]
    assert list(report.checks_to_pandas()["items"]) == [4, 2, 1, 2]
    assert report.to_dict()["rows"][0]["checks"][0]["outcomes"]["inconsistent"] == 3
    assert evaluate_relations([]).checks_to_pandas().empty


def test_who_wrote_a_resource():
    builder = GraphBuilder(kind="run", format="test", uri="test", content="x")
    builder.set_task("t")
    calendar, bookings = builder.resource("calendar"), builder.resource("bookings")
    one, two = builder.new_agent("one"), builder.new_agent("two")
    tool = builder.new_agent("api", kind="tool")
    first = builder.add("agent_message", "one", agent=one, accesses=[(bookings, "write")])
    call = builder.add("tool_call", "api", agent=tool, accesses=[(calendar, "write")])
    builder.edge(first, call, "explicit")
    builder.add("decision", "two", agent=two, accesses=[(calendar, "read")])
    builder.add("decision", "two", agent=two, accesses=[(bookings, "write")], status="error")
    graph = builder.build()
    assert resource_writers(graph, "bookings") == ("one",)
    assert resource_writers(graph, "calendar") == ("one",)
    assert resource_writers(graph, "nothing") == ()
