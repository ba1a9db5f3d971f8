import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.claims import claim_signals
from analytics.statistics import BootstrapConfiguration
from analytics.trajectories import TrajectoryConfiguration, trajectory_of
from analytics.trajectory_intervals import intervals_by_method
from analytics.trajectory_report import evaluate_trajectories
from analytics.trajectory_results import AnalysisConfiguration, analyse_trajectories
from graphstore.errors import NotFoundError
from graphstore.model import Outcome
from tests.analytics.test_claims import THREE
from tests.analytics.test_claims import make_run as make_claims
from tests.analytics.test_trajectories import make_run
from tests.analytics.test_trajectory_report import proposals, runs

FAST = BootstrapConfiguration(draws=200)


def numbers(interval):
    return interval.estimate, interval.low, interval.high


def test_every_central_estimate_is_the_reports():
    report = evaluate_trajectories(runs(), TrajectoryConfiguration(maximum_score=1.0))
    for method, found in zip(
        report.by_method("single"), intervals_by_method(report, "single", FAST), strict=True
    ):
        for value, interval in (
            (method.task_score, found.task_score),
            (method.collaboration_gain, found.against_single.interval),
            (method.aggregation_loss, found.aggregation_loss),
            (method.token_cost, found.token_cost),
            (method.token_multiple, found.token_multiple),
            (method.validity.share, found.validity),
            (method.agreement, found.agreement),
            *((method.gain.share(label), found.gain[label]) for label in method.gain.counts),
            *((method.weak.share(label), found.weak[label]) for label in method.weak.counts),
        ):
            assert interval.estimate == (None if value is None else pytest.approx(value))


scores = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.none()
drawn_runs = st.builds(
    lambda initial, final, answer, tokens, task, method, number: make_run(
        proposals(initial, final[: len(initial)], answer),
        Outcome(score=answer, tokens_in=tokens, tokens_out=1),
        task=task,
        method=method,
        name=f"r{number}",
    ),
    st.lists(scores, max_size=3),
    st.lists(scores, min_size=3, max_size=3),
    scores,
    st.none() | st.integers(0, 50),
    st.sampled_from("stuv"),
    st.sampled_from(["debate", "single"]),
    st.integers(0, 10**9),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(drawn_runs, min_size=1, max_size=8))
def test_intervals_and_report_agree_on_any_runs(graphs):
    report = evaluate_trajectories(graphs, TrajectoryConfiguration(maximum_score=1.0))
    single = "single" if any(g.method.name == "single" for g in graphs) else None
    options = BootstrapConfiguration(draws=50)
    for method, found in zip(
        report.by_method(single), intervals_by_method(report, single, options), strict=True
    ):
        measured = [
            (method.task_score, found.task_score),
            (method.aggregation_loss, found.aggregation_loss),
            (method.token_cost, found.token_cost),
            (method.validity.share, found.validity),
            (method.agreement, found.agreement),
            *((method.strong.share(one), found.strong[one]) for one in method.strong.counts),
        ]
        if single:
            measured += [
                (method.collaboration_gain, found.against_single.interval),
                (method.token_multiple, found.token_multiple),
            ]
        for value, interval in measured:
            assert interval.estimate == (None if value is None else pytest.approx(value))
            if interval.low is not None:
                assert interval.low <= interval.high


def test_the_interval_of_a_multiple_against_a_plain_bootstrap():
    import random

    cost = {f"t{i}": (100 + 37 * i % 90, 40 + 13 * i % 30) for i in range(12)}
    graphs = [
        make_run(
            [], Outcome(tokens_in=tokens, tokens_out=0), task=task, method=m, name=m + task
        )
        for task, pair in cost.items()
        for m, tokens in zip(("debate", "single"), pair, strict=True)
    ]
    report = evaluate_trajectories(graphs)
    options = BootstrapConfiguration(draws=20_000, method="percentile")
    found = intervals_by_method(report, "single", options)[0].token_multiple
    chance = random.Random(1)
    plain = []
    for _ in range(20_000):
        sample = chance.choices(list(cost.values()), k=len(cost))
        plain.append(sum(a for a, _ in sample) / sum(b for _, b in sample))
    plain.sort()
    assert found.low == pytest.approx(plain[500], rel=0.01)
    assert found.high == pytest.approx(plain[19_500], rel=0.01)
    assert (found.units, found.missing) == (12, 0)
    # Whatever the tasks are called.
    assert intervals_by_method(report, "single", options)[0].token_multiple == found


def analyse(graphs, **options):
    graphs = list(graphs)
    configuration = AnalysisConfiguration(bootstrap=FAST, **options)
    return analyse_trajectories(
        [trajectory_of(graph, configuration.trajectory) for graph in graphs],
        configuration,
        claims=[claim_signals(graph) for graph in graphs],
    )


def test_what_is_missing_is_null_and_told():
    lonely = make_run(
        proposals([0.5], [0.5], 0.5), Outcome(tokens_in=0, tokens_out=0), name="s"
    )
    found = analyse([lonely], baseline="debate").to_dict()
    (method,) = found["methods"]
    assert method["token_multiple"]["value"] is None
    assert "The single agent used no token." in method["token_multiple"]["notes"]
    assert method["final_proposal_agreement"]["value"] is None
    assert method["refinement_of_weak"]["known"] == 0
    assert method["refinement_of_weak"]["labels"]["Reach"]["share"] is None
    assert (method["task_score"]["value"], method["task_score"]["low"]) == (0.5, None)
    assert "One task gives no interval." in method["task_score"]["notes"]
    assert method["claims"] is None
    for note in (
        "There is one run: nothing tells how much runs differ.",
        "1 of 1 units have one proposer.",
        "The single agent used no token: there is no multiple.",
    ):
        assert note in method["notes"]
    bare = analyse([make_run([])]).to_dict()["methods"][0]
    assert bare["collaboration_gain"] is None
    assert bare["task_score"]["value"] is None
    assert bare["output_validity"]["value"] is None
    assert "1 of 1 runs record no proposal." in bare["notes"]
    nothing = analyse([]).to_dict()
    assert (nothing["methods"], nothing["runs"]) == ([], 0)


def test_ties_are_counted():
    graphs = [
        make_run([], Outcome(score=score), task=task, method=method, name=method + task)
        for task, pair in {"s": (0.5, 0.5), "t": (0.7, 0.5), "u": (0.5, 0.5 + 1e-12)}.items()
        for method, score in zip(("debate", "single"), pair, strict=True)
    ]
    gain = analyse(graphs, baseline="single").to_dict()["methods"][0]["collaboration_gain"]
    assert (gain["better"], gain["tied"], gain["worse"]) == (1, 2, 0)
    assert gain["conclusion"].startswith("debate differs from single by +0.06667 on 3 common")


def test_an_unknown_baseline_is_told():
    with pytest.raises(NotFoundError, match="'nobody'"):
        analyse(runs(), baseline="nobody")


def test_the_document_is_json_and_the_same_again():
    graphs = [*runs(), make_claims(*THREE, ("b", {"endorses": ["a1"], "challenges": ["7"]}))]
    first, again = (
        json.dumps(analyse(graphs, baseline="single").to_dict(), allow_nan=False)
        for _ in range(2)
    )
    assert first == again
    found = json.loads(first)
    claims = next(one["claims"] for one in found["methods"] if one["method"] == "claims")
    assert (claims["claims"], claims["endorsements"], claims["challenges"]) == (4, 1, 1)
    assert claims["units_with_a_top_endorsed"] == 1
    assert claims["units_with_a_tie_of_top_endorsed"] == 0
    (unit,) = found["claims"]
    assert [one["id"] for one in unit["top_endorsed"]] == ["a1"]
    assert [one["text"] for one in unit["top_challenged"]] == ["w is 5"]
    result = analyse(graphs, baseline="single")
    assert found["configuration_hash"] == result.configuration_hash
    assert len(result.to_pandas()) == len(found["methods"])
    by_run = {one["name"]: one for one in result.by_run()}
    assert by_run["d1"]["gain_against_best"] == {"UnratedKeep": 1}
    assert by_run["d4"]["missing"] == ["The run records no proposal."]


def scored_tasks(values, method):
    return [
        make_run(
            proposals([0.5], [0.5], value), None, task=f"t{place}", name=f"{method}{place}",
            method=method,
        )
        for place, value in enumerate(values)
    ]  # fmt: skip


def documents(graphs, **changes):
    options = AnalysisConfiguration(baseline="solo", bootstrap=FAST, **changes)
    found = analyse_trajectories([trajectory_of(one) for one in graphs], options).to_dict()
    return {one["method"]: one for one in found["methods"]}


def test_an_interval_without_width_is_said_to_have_none():
    found = documents([*scored_tasks([0.75] * 6, "team"), *scored_tasks([0.5] * 6, "solo")])
    gain = found["team"]["collaboration_gain"]
    assert gain["low"] == gain["high"] == 0.25
    assert "without width: the units agree" in gain["conclusion"]
    told = (
        "No width of the interval: task score, collaboration gain, aggregation loss, validity."
    )
    assert any(note.startswith(told) for note in found["team"]["notes"])
    told = "No width of the interval: task score, aggregation loss, validity."
    assert any(note.startswith(told) for note in found["solo"]["notes"])
    varied = [0.1, 0.9, 0.4, 0.3]
    found = documents([*scored_tasks(varied, "team"), *scored_tasks([0.5] * 4, "solo")])
    told = "No width of the interval: validity."
    assert any(note.startswith(told) for note in found["team"]["notes"])


def test_a_conclusion_over_missing_scores_says_so():
    team = [0.9, 0.8, 0.7, None, None, 0.75, 0.85, 0.95]
    found = documents([*scored_tasks(team, "team"), *scored_tasks([0.1] * 9, "solo")])
    conclusion = found["team"]["collaboration_gain"]["conclusion"]
    assert "speak for team" in conclusion
    assert "But 2 of 8 runs of team have no score" in conclusion
    full = documents([*scored_tasks([0.9, 0.8], "team"), *scored_tasks([0.1] * 9, "solo")])
    assert "have no score" not in full["team"]["collaboration_gain"]["conclusion"]
