"""Results show themselves in a line, and as a table in a notebook, however much they hold."""

import json

import pytest

import masgraph as mg
from analytics.mistakes import mistake_report
from tests.app.test_interventions_command import RECORDS

EXPECTED = {
    "evaluate": "<ForestEvaluation: 6 runs of 1 method, 0 beside a forest>",
    "communication": "<CommunicationResult: 6 runs in 1 group>",
    "communication report": "<CommunicationReport: 6 runs of 1 method>",
    "execution": "<ExecutionReport: 6 runs of 1 method>",
    "measure": "<ResponseReport: 2 settings, 1 of 4 modified runs left out>",
    "predict": "<PredictionReport: 1 team>",
    "prediction": "<InterventionPrediction: 18 settings on 5 units and 6 links>",
    "relations": "<RelationResult: 0 runs, 0 rejected>",
    "relations report": "<RelationReport: 0 runs of 0 methods>",
    "suitability": "<Suitability: 0 of 2 tasks suitable, from 6 runs>",
    "study": "<PerturbationStudy: 54 responses of 2 graphs on 1 task>",
    "diff": "<RunDiff: 5 rows, similarity 1.000>",
    "mistakes": "<MistakeReport: 0 lines>",
    "forests": "<ForestSet: 0 forests of 0 references>",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("in") / "trio.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    graphs = mg.read(path)
    traced = [graph for graph in graphs if graph.nodes]
    talk, told = mg.communication(graphs), mg.predict_interventions(graphs)
    found = mg.relations(graphs)
    return {
        "evaluate": mg.evaluate(graphs),
        "communication": talk,
        "communication report": talk.report,
        "execution": mg.execution(graphs),
        "measure": mg.measure_interventions(graphs),
        "predict": told,
        "prediction": told.predictions[0],
        "relations": found,
        "relations report": found.report,
        "suitability": mg.suitability(graphs),
        "study": mg.study_perturbations(traced, ["wl"]),
        "diff": mg.run_diff(*traced),
        "mistakes": mistake_report([]),
        "forests": mg.build_forests(graphs),
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_a_result_in_a_line_and_as_a_table(results, name):
    result = results[name]
    assert repr(result) == str(result) == EXPECTED[name]
    table = result._repr_html_()
    assert table.startswith("<p>")
    assert ("<table" in table) == (len(result.to_pandas()) > 0)


def test_every_result_with_a_table_is_shown_in_a_line(results):
    for result in results.values():
        assert len(repr(result)) < 200
        assert "\n" not in repr(result)
