"""What each measure and metric makes of controlled edits, on sizeable runs of known shape."""

from dataclasses import replace
from itertools import pairwise

import pytest

from analytics.panel import evaluate_graph
from analytics.perturbation import EDITS, perturb
from analytics.perturbation_study import (
    PerturbationConfiguration,
    graph_response,
    study_perturbations,
    summarize_responses,
)
from analytics.similarity.measure import measure_named
from analytics.statistics import BootstrapConfiguration, bootstrap_mean
from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError
from tests.teams import team_run, team_runs

MEASURES = ("forest", "wl", "motif", "alignment", "edit")
STRUCTURAL_EDITS = ("drop", "insert", "swap-roles", "rewire", "truncate")
"""Measures see labels and edges. Contents are no part of them, so that runs of other texts
can be alike: repeating a content changes nothing that they see."""

BOOTSTRAP = BootstrapConfiguration(draws=500)
OPTIONS = PerturbationConfiguration(rates=(0.1, 0.3, 0.5), repeats=1, bootstrap=BOOTSTRAP)


@pytest.fixture(scope="module")
def study():
    measures = [measure_named(name) for name in MEASURES]
    return study_perturbations(team_runs(12, 2, 6), measures, OPTIONS)


@pytest.mark.parametrize("edit", STRUCTURAL_EDITS)
@pytest.mark.parametrize("measure", MEASURES)
def test_measures_fall_as_perturbation_grows(study, measure, edit):
    found = study.response(measure, edit)
    means = [point.value.estimate for point in found.points]
    assert means[0] == 1.0
    assert all(later < earlier for earlier, later in pairwise(means))
    assert (found.verdict, found.steady) == ("falls", True)
    assert found.change.high < 0.0
    # Each step alone, too: its whole interval lies below 0.
    assert all(point.step.high < 0.0 for point in found.points[1:])


def test_gromov_falls_too():
    pytest.importorskip("ot", reason="POT is not installed: pip install 'masgraph[ot]'")
    options = replace(OPTIONS, metrics=(), rates=(0.1, 0.5))
    study = study_perturbations(team_runs(8, 1, 4), [measure_named("gromov")], options)
    for edit in STRUCTURAL_EDITS:
        found = study.response("gromov", edit)
        means = [point.value.estimate for point in found.points]
        assert all(later < earlier for earlier, later in pairwise(means)), edit
        assert (found.verdict, found.steady) == ("falls", True), edit
    assert study.response("gromov", "duplicate-content").verdict == "flat"


@pytest.mark.parametrize("measure", MEASURES)
def test_measures_of_structure_do_not_see_repeated_contents(study, measure):
    found = study.response(measure, "duplicate-content")
    assert (found.verdict, found.steady) == ("flat", None)
    assert [point.value.estimate for point in found.points] == [1.0] * 4


@pytest.mark.parametrize(
    ("metric", "edit", "verdict"),
    [
        # Consumers vanish, or look elsewhere.
        ("node_validity", "drop", "falls"),
        ("node_validity", "rewire", "falls"),
        # Edges stay as they are.
        ("node_validity", "swap-roles", "flat"),
        ("node_validity", "duplicate-content", "flat"),
        # The one quantity that is about contents; all others are new or gone.
        ("content_redundancy", "duplicate-content", "rises"),
        ("content_redundancy", "drop", "flat"),
        ("content_redundancy", "insert", "flat"),
        ("content_redundancy", "swap-roles", "flat"),
        ("content_redundancy", "rewire", "flat"),
        ("content_redundancy", "truncate", "flat"),
        # More pairs of agents meet than before.
        ("density", "insert", "rises"),
        ("density", "swap-roles", "rises"),
        ("density", "rewire", "rises"),
        ("average_path_length", "insert", "falls"),
        ("normalized_source_entropy", "drop", "falls"),
        # Who acts and what precedes what stay; only what is said changes.
        ("topology_efficiency", "duplicate-content", "flat"),
        ("information_uptake", "swap-roles", "flat"),
    ],
)
def test_metrics_notice_what_they_are_about(study, metric, edit, verdict):
    assert study.response(metric, edit).verdict == verdict


def test_values_are_those_of_the_graphs():
    graphs = team_runs(3, 1, 3)
    options = replace(OPTIONS, edits=("drop",), rates=(0.4,), repeats=2)
    forest = measure_named("forest")
    study = study_perturbations(graphs, [forest], options)
    similar, valid = [], []
    for graph in graphs:
        made = [perturb(graph, "drop", 0.4, seed=seed).graph for seed in (0, 1)]
        prepared = forest.prepare(graph)
        similar.append(
            sum(forest.similarity(prepared, forest.prepare(one)) for one in made) / 2
        )
        valid.append(sum(evaluate_graph(one).node_validity for one in made) / 2)
    tasks = [graph.task.id for graph in graphs]
    expected = bootstrap_mean(similar, sources=tasks, configuration=BOOTSTRAP)
    found = study.response("forest", "drop").points[1].value
    assert found.estimate == pytest.approx(expected.estimate, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    metric = study.response("node_validity", "drop").points[1].value
    assert metric.estimate == pytest.approx(sum(valid) / 3, abs=1e-12)
    assert study.response("forest", "drop").points[1].changed == pytest.approx(0.4, abs=0.05)
    assert (study.graphs, study.tasks, study.resampled) == (3, 3, "task")


def test_order_and_grouping_do_not_matter():
    graphs = team_runs(3, 2, 2)
    measures = [measure_named("forest"), measure_named("wl")]
    options = replace(OPTIONS, rates=(0.5,), edits=("rewire", "truncate"))
    one = study_perturbations(graphs, measures, options)
    found = [graph_response(graph, measures, options) for graph in reversed(graphs)]
    assert summarize_responses(found, measures, options) == one
    other = study_perturbations(graphs, measures, replace(options, seed=1))
    assert other.configuration_hash != one.configuration_hash
    assert other.response("forest", "rewire") != one.response("forest", "rewire")
    assert (
        other.response("forest", "truncate").points == one.response("forest", "truncate").points
    )


def test_one_task_resamples_its_runs_and_one_run_has_no_interval():
    measures = [measure_named("forest")]
    options = replace(OPTIONS, edits=("drop",), metrics=())
    runs = [team_run(1, repetition, 3) for repetition in range(3)]
    study = study_perturbations(runs, measures, options)
    assert (study.tasks, study.resampled) == (1, "graph")
    assert study.response("forest", "drop").verdict == "falls"
    alone = study_perturbations(runs[:1], measures, options)
    found = alone.response("forest", "drop")
    assert found.change.estimate < 0
    assert (found.change.low, found.verdict) == (None, None)
    assert alone.notes == ("One task gives no interval.",)


def test_what_has_no_value_is_missing():
    builder = GraphBuilder(kind="run", format="f", uri="u", content="c")
    builder.add("agent_message", "x", role="solver")
    alone = builder.build()
    study = study_perturbations([alone, team_run(1, 1, 2)], [], OPTIONS)
    found = study.response("content_redundancy", "duplicate-content")
    assert [point.value.values for point in found.points] == [1, 1, 1, 1]
    assert [point.value.missing for point in found.points] == [1, 1, 1, 1]
    nothing = study_perturbations([], [measure_named("forest")], OPTIONS)
    assert nothing.response("forest", "drop").verdict is None
    assert nothing.response("forest", "drop").change.estimate is None


def test_decompositions_have_no_metrics():
    builder = GraphBuilder(kind="decomposition", format="f", uri="u", content="c")
    nodes = [builder.add("subtask", str(place), role="solver") for place in range(6)]
    for one, other in pairwise(nodes):
        builder.edge(one, other, "explicit")
    study = study_perturbations([builder.build()], [measure_named("forest")], OPTIONS)
    assert {one.kind for one in study.responses} == {"measure"}
    assert study.response("forest", "truncate").points[-1].value.estimate < 1.0


def test_document_and_table(study):
    document = study.to_dict()
    assert len(document["responses"]) == (len(MEASURES) + 8) * len(EDITS)
    first = document["responses"][0]
    assert (first["quantity"], first["edit"], first["verdict"]) == ("forest", "drop", "falls")
    assert first["points"][0]["step"] is None
    assert set(first["change"]) == {"mean", "low", "high", "values", "missing"}
    assert document["configuration"]["measures"][0]["measure"] == "forest"
    frame = study.to_pandas()
    assert len(frame) == len(document["responses"]) * 4
    assert frame["mean"].iloc[1] == first["points"][1]["value"]["mean"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edits": ("melt",)}, "there is no edit 'melt'"),
        ({"edits": ()}, "at least one edit"),
        ({"rates": (0.0, 0.5)}, "rates above 0"),
        ({"rates": (1.2,)}, "a rate lies between 0 and 1"),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"seed": -1}, "a seed cannot be negative"),
        ({"metrics": ("beauty",)}, "the panel has no metric 'beauty'"),
    ],
)
def test_bad_configurations(options, message):
    with pytest.raises(UsageError, match=message):
        PerturbationConfiguration(**options)


def test_a_measure_given_twice():
    with pytest.raises(UsageError, match="the measure wl was given twice"):
        study_perturbations([], [measure_named("wl"), measure_named("wl", iterations=1)])
