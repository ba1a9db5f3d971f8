"""Runs that record an intervention which changed nothing take no part."""

import pytest

from analytics.interventions_made import Extent, recorded_extent
from analytics.interventions_pairs import pair_runs
from analytics.interventions_response import measure_responses
from tests.analytics.test_interventions_response import REMOVED, RING, run

FULL = {"ratio": 0.5, "achieved_ratio": 0.5}


@pytest.mark.parametrize(
    ("done", "parameters", "told"),
    [
        ({"accepted_swaps": 0}, {"ratio": 0.3}, "no link was rewired: 0 swaps"),
        ({}, {"ratio": 0.3, "achieved_ratio": 0.0}, "its achieved ratio is 0"),
        ({"actual_ratio": 0}, {"rate": 0.3}, "its achieved ratio is 0"),
        ({"changed_edges": {"removed": [], "added": []}}, {}, "no link was replaced"),
        ({"changed_edges": []}, None, "no link was replaced"),
        ({"changed_nodes": []}, {"variant": "no critic"}, "no unit was removed"),
        ({"injected_records": []}, {"rate": 0.2}, "no content was replaced"),
        ({"failed_workers": []}, {"failed_workers": 2}, "no worker failed"),
    ],
)
def test_nothing_was_changed(done, parameters, told):
    extent = recorded_extent({"intervention": done}, parameters)
    assert told in extent.unmade
    # Nothing was asked for: a control, and what it says of itself is in order.
    none = {**(parameters or {}), "ratio": 0.0}
    assert recorded_extent({"intervention": done}, none).unmade is None


@pytest.mark.parametrize(
    ("attributes", "parameters", "extent"),
    [
        ({}, None, Extent()),
        ({"intervention": "node"}, "no critic", Extent()),
        ({"intervention": {"accepted_swaps": 1}}, FULL, Extent(0.5, 0.5)),
        ({"intervention": {"complete": False}}, FULL, Extent(0.5, 0.5, False)),
        ({"intervention": {"accepted_swaps": False}}, {"ratio": True}, Extent()),
        ({"intervention": {"changed_edges": {"removed": 3, "added": []}}}, {}, Extent()),
        ({"intervention": {"failed_workers": ["a"]}}, {"failed_workers": 1}, Extent(1.0)),
    ],
)
def test_what_was_made_or_is_not_known(attributes, parameters, extent):
    assert recorded_extent(attributes, parameters) == extent


def structure(**done):
    parameters = {"ratio": 0.3, "achieved_ratio": done.pop("achieved", None)}
    return {
        "intervention_type": "structure",
        "intervention_parameters": {k: v for k, v in parameters.items() if v is not None},
        **done,
    }


def test_a_run_without_its_intervention_is_left_out_and_a_partial_one_is_told():
    references = [run("t1", 1.0), run("t2", 1.0)]
    modified = [
        run("t1", 0.5, structure(accepted_swaps=0, complete=False)),
        run("t2", 0.5, structure(accepted_swaps=1, complete=False, achieved=0.25)),
    ]
    report = measure_responses(references, modified)
    (left,) = report.left_out
    assert (left.task, left.reasons) == ("t1", ("no link was rewired: 0 swaps were accepted",))
    (found,) = report.settings
    assert (found.pairs, found.incomplete, found.achieved) == (1, 1, 0.25)
    assert list(report.to_pandas()["incomplete"]) == [1]
    assert report.to_dict()["settings"][0]["achieved"] == 0.25


def test_the_organizations_tell_it_too():
    reference = run("t", 1.0, organization=RING)
    for intervention, told in (
        (structure(), "no link was rewired: both organizations have the same links"),
        (REMOVED, "no unit was removed: both organizations are the same"),
    ):
        _, (left,) = pair_runs([reference], [run("t", 0.5, intervention, organization=RING)])
        assert left.reasons == (told,)
    control = {"intervention_type": "structure", "intervention_parameters": {"ratio": 0}}
    pairs, _ = pair_runs([reference], [run("t", 0.5, control, organization=RING)])
    assert len(pairs) == 1
