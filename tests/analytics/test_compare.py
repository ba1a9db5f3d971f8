"""Methods side by side: counted by hand, and what is said about what cannot be compared."""

from dataclasses import replace

import pytest

from analytics.comparability import ComparedRun, cautions_of
from analytics.compare import (
    ComparisonConfiguration,
    compare_methods,
    compared_run,
)
from analytics.statistics import BootstrapConfiguration
from graphstore.builder import GraphBuilder
from graphstore.errors import NotFoundError, UsageError
from graphstore.model import Outcome

QUICK = BootstrapConfiguration(draws=500)
SCORES = ComparisonConfiguration(metrics=("success", "score", "tokens"), bootstrap=QUICK)


def run(method, task, score, tokens=None, *, number=0, expected=None, **rest):
    return ComparedRun(
        **{
            "run": f"run-{method}-{task}-{number}",
            "method": method,
            "task": task,
            "task_name": task,
            "group": None,
            "dataset": "d",
            "expected": expected,
            "format": "native",
            "controls": {},
            "seed": None,
            "values": {
                "success": None if score is None else float(score >= 0.5),
                "score": score,
                "tokens": tokens,
            },
        }
        | rest
    )


def pair(result, metric):
    return next(one for one in result.pairs if one.metric == metric)


def test_two_methods_by_hand():
    runs = [
        run("a", "t1", 1.0, 10),
        run("a", "t2", 0.5, 30),
        run("a", "t3", 0.0, 20),
        run("b", "t1", 0.0, 5),
        run("b", "t2", 0.5, 5),
        run("b", "t4", 1.0, 5),
    ]
    result = compare_methods(runs, ["a", "b"], SCORES)
    score = pair(result, "score").comparison
    assert score.tasks == ("t1", "t2")
    assert score.differences == (1.0, 0.0)
    assert (score.signs.better, score.signs.tied, score.signs.worse) == (1, 1, 0)
    tokens = pair(result, "tokens").comparison
    assert (tokens.signs.better, tokens.signs.worse) == (0, 2)
    entry = result.methods[0]
    assert (entry.runs, entry.tasks, entry.means["score"]) == (3, 3, 0.5)
    # Over the two common tasks: a scores 0.75 with 20 tokens, b 0.25 with 5: both on the front.
    assert result.pareto_score == "score"
    assert [(p.score, p.tokens) for p in result.pareto.points] == [(0.75, 20.0), (0.25, 5.0)]
    assert result.pareto.front == ("b", "a")
    said = " ".join(caution.reason for caution in result.cautions)
    assert "2 of 4 tasks are common" in said
    assert "2 tasks in common: too few" in said


def test_a_metric_named_three_times_counts_once():
    runs = [run(name, f"t{i}", float(i), 10 * i) for name in "ab" for i in range(1, 5)]
    once = replace(SCORES, metrics=("tokens",))
    thrice = replace(SCORES, metrics=("tokens", "tokens", "tokens"))
    assert thrice.metrics == ("tokens",)
    assert thrice.hash == once.hash
    assert len(compare_methods(runs, ["a", "b"], thrice).pairs) == 1


def test_missing_scores_are_said_where_they_are():
    runs = [
        run(name, f"t{i}", value if i < 6 or name == "b" else None, 10, number=number)
        for i in range(8)
        for number in (1, 2)
        for name, value in (("a", 0.5 + i / 10), ("b", i / 100))
    ]
    runs.append(run("a", "alone", None))
    result = compare_methods(runs, ["a", "b"], SCORES)
    entry = result.methods[0]
    assert (entry.runs, entry.known["score"], entry.known_runs["score"]) == (17, 6, 12)
    assert result.to_dict()["methods"][0]["known_runs"]["score"] == 12
    told = "4 of 16 runs of a have no score: the comparison rests on the others"
    assert sum(told in caution.reason for caution in result.cautions) == 1
    by_metric = dict(zip([p.metric for p in result.pairs], result.conclusions(), strict=True))
    assert "speak for a" in by_metric["score"]
    assert told in by_metric["score"]
    assert "have no" not in by_metric["tokens"]
    # A method without any value is not compared at all, which is said already.
    silent = [run("a", "t", 1.0), run("b", "t", None)]
    result = compare_methods(silent, ["a", "b"], SCORES)
    assert not any("misleads" in caution.reason for caution in result.cautions)


def test_an_interval_without_width_says_so():
    runs = [run(name, f"t{i}", value) for i in range(6) for name, value in (("a", 1), ("b", 0))]
    (conclusion, *_) = compare_methods(runs, ["a", "b"], SCORES).conclusions()
    assert "1 to 1, without width: the units agree" in conclusion


def test_numbers_that_nobody_can_average_name_the_run():
    builder = GraphBuilder(kind="run", format="test", uri="t", content="x", name="big")
    builder.set_task("t")
    builder.set_method("m")
    builder.outcome = Outcome(score=-1e308)
    with pytest.raises(UsageError, match=r"the score of the run big is -1e\+308"):
        compared_run(builder.build())
    with pytest.raises(UsageError, match="value of a on t is 1e"):
        compare_methods([run("a", "t", 1e308), run("b", "t", -1e308)], ["a", "b"], SCORES)
    with pytest.raises(UsageError, match="width of a tie"):
        ComparisonConfiguration(tie=float("inf"))


def test_repetitions_count_as_one_task():
    runs = [
        run("a", "t1", 1.0, number=1),
        run("a", "t1", 0.0, number=2),
        run("b", "t1", 0.25),
        run("a", "t2", None),
        run("b", "t2", 1.0),
    ]
    score = pair(compare_methods(runs, None, SCORES), "score").comparison
    assert score.differences == (0.25,)
    assert score.unscored == ("t2",)
    half = [*runs, run("a", "t1", None, number=3)]
    strict = replace(SCORES, require_all=True)
    assert pair(compare_methods(half, None, strict), "score").comparison.tasks == ()


def test_the_code_of_an_uncertainty_says_what_the_runs_allow():
    once = [run("a", f"t{place}", float(place < 3)) for place in range(4)]
    other = [run("b", "t0", 1.0)]
    entry = compare_methods([*once, *other], None, SCORES).methods[0]
    assert (entry.success_rate.score, entry.success_rate.code) == (75.0, "b")
    assert entry.success_rate.value == pytest.approx(100 * (0.75 * 0.25 / 4) ** 0.5)
    seeded = [
        run("a", f"t{place}", float(place < good), number=seed, seed=str(seed))
        for seed, good in ((1, 1), (2, 2))
        for place in range(2)
    ]
    entry = compare_methods([*seeded, *other], None, SCORES).methods[0]
    assert entry.success_rate.code == "m"
    assert entry.success_rate.value == pytest.approx(50 / 2**0.5)
    assert entry.success_rate.repetitions == 2
    twice = [run("a", "t0", 1.0, number=number) for number in range(2)]
    entry = compare_methods([*twice, *other], None, SCORES).methods[0]
    assert (entry.success_rate.score, entry.success_rate.value) == (100.0, None)


def test_methods_without_a_common_task_are_not_compared():
    result = compare_methods([run("a", "t1", 1.0), run("b", "t2", 0.0)], None, SCORES)
    assert result.pairs == ()
    (caution,) = result.cautions
    assert not caution.comparable
    assert "no task in common" in caution.reason
    assert [point.score for point in result.pareto.points] == [None, None]


def test_a_task_with_two_expected_answers_is_left_out():
    runs = [
        run("a", "t1", 1.0, expected="4"),
        run("b", "t1", 0.0, expected="5"),
        run("a", "t2", 1.0, expected="6"),
        run("b", "t2", 0.0),
    ]
    result = compare_methods(runs, None, SCORES)
    assert pair(result, "score").comparison.tasks == ("t2",)
    ((reason, left_out),) = result.left_out.items()
    assert "expected answers" in reason
    assert left_out == ("run-a-t1-0", "run-b-t1-0")


def test_conditions_that_differ_are_named():
    first = [run("a", f"t{place}", 1.0, controls={"backend": "small"}) for place in range(5)]
    second = [
        run("b", f"t{place}", 80.0, controls={"backend": "large"}, format="otlp")
        for place in range(5)
    ]
    reasons = [caution.reason for caution in cautions_of("a", "b", first, second)]
    assert len(reasons) == 3
    assert "differ in backend (small against large)" in reasons[0]
    assert "different formats" in reasons[1]
    assert "different units" in reasons[2]
    same = [replace(one, method="b") for one in first]
    assert cautions_of("a", "b", first, same) == []


def test_p_values_are_corrected_over_all_pairs_and_metrics():
    runs = [
        run(method, f"t{place}", start + place / 10, start * 100)
        for method, start in (("a", 0.0), ("b", 0.3), ("c", 0.6))
        for place in range(6)
    ]
    result = compare_methods(runs, None, SCORES)
    tested = [one for one in result.pairs if one.comparison.randomization_test is not None]
    raw = sorted(one.comparison.randomization_test for one in tested)
    assert min(one.adjusted for one in tested) == pytest.approx(min(1.0, raw[0] * len(tested)))
    referred = compare_methods(runs, None, replace(SCORES, reference="b"))
    assert {(p.comparison.first, p.comparison.second) for p in referred.pairs} == {
        ("a", "b"),
        ("c", "b"),
    }


def test_a_structural_metric_has_no_better_end():
    options = ComparisonConfiguration(metrics=("density",), bootstrap=QUICK)
    runs = [
        replace(
            run(method, f"t{place}", 1.0),
            values={"density": value, "success": None, "score": None, "tokens": None},
        )
        for method, value in (("a", 0.75), ("b", 0.25))
        for place in range(30)
    ]
    (sentence,) = compare_methods(runs, None, options).conclusions()
    assert "30 higher, 0 tied, 0 lower" in sentence
    assert "neither end of this measure is better" in sentence


def test_sources_are_resampled_whole():
    runs = [
        run(method, f"t{place}", score + place % 2, group=f"g{place % 3}")
        for method, score in (("a", 1.0), ("b", 0.0))
        for place in range(12)
    ]
    options = replace(SCORES, grouping="source")
    interval = pair(compare_methods(runs, None, options), "score").comparison.interval
    assert (interval.unit, interval.units) == ("source", 3)


def test_the_order_of_runs_does_not_matter():
    runs = [
        run(method, f"t{place}", (place * 7 % 5) / 5 + shift, place)
        for method, shift in (("a", 0.1), ("b", 0.0))
        for place in range(9)
    ]
    forward = compare_methods(runs, ["a", "b"], SCORES)
    assert forward.to_dict() == compare_methods(runs[::-1], ["a", "b"], SCORES).to_dict()
    assert forward.configuration_hash == SCORES.hash
    assert repr(forward) == "<MethodComparison: 2 methods, 3 comparisons>"
    assert len(forward.to_pandas()) == 3


def test_what_cannot_be_compared_is_an_error():
    runs = [run("a", "t1", 1.0)]
    with pytest.raises(UsageError, match="needs two methods"):
        compare_methods(runs, None, SCORES)
    with pytest.raises(NotFoundError, match="'b'"):
        compare_methods(runs, ["a", "b"], SCORES)
    with pytest.raises(NotFoundError, match="'z'"):
        compare_methods(runs, None, replace(SCORES, reference="z"))
    with pytest.raises(UsageError, match="no metric 'speed'"):
        ComparisonConfiguration(metrics=("speed",))
    with pytest.raises(UsageError, match="not grouped by"):
        ComparisonConfiguration(grouping="moon")


def test_a_decomposition_is_refused_also_without_a_method():
    made = GraphBuilder(kind="decomposition", format="t", uri="u", content="c")
    made.add("subtask", "a")
    with pytest.raises(UsageError, match="is a decomposition"):
        compared_run(made.build())


def test_a_run_as_a_comparison_sees_it():
    made = GraphBuilder(kind="run", format="toy", uri="x", content="x")
    made.set_task("t", dataset="d")
    one = made.new_agent("one", role="solver")
    made.add("agent_message", "one", agent=one, content="4", tokens_in=3, tokens_out=2)
    made.attributes["model"] = "small"
    made.outcome = Outcome(success=True, latency=1.5, expected="4")
    assert compared_run(made.build()) is None
    made.set_method("solo")
    options = ComparisonConfiguration(metrics=("tokens", "latency", "cost", "actions"))
    found = compared_run(made.build(), options)
    assert found.controls["backend"] == '"small"'
    assert (found.controls["prompt"], found.seed) == (None, None)
    assert found.values == {
        "tokens": 5.0,
        "latency": 1.5,
        "cost": None,
        "actions": 1.0,
        "success": 1.0,
        "score": None,
    }
