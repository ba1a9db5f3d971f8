"""All settings on any team: nothing is guessed, and every draw is recorded."""

import pytest
from hypothesis import given, settings

from analytics.interventions import Team, team_of_organization, team_of_run
from analytics.interventions_configuration import InterventionConfiguration
from analytics.interventions_prediction import predict_interventions
from graphstore.errors import UsageError
from graphstore.identity import canonical_json
from tests.strategies import graphs

FEW = InterventionConfiguration(draws=2)


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_every_team_can_be_asked(graph):
    teams = []
    if graph.organization is not None:
        teams.append((team_of_organization(graph.organization), None))
    if graph.kind == "run":
        teams.append((team_of_run(graph), graph))
    for team, run in teams:
        found = predict_interventions(team, graph.id, graph.name, FEW, graph=run)
        assert len(found.settings) == 1 + 4 + 3 + 5 + 5
        for one in found.settings:
            if one.effects is None and one.reason is None:
                assert one.family == "information"
            if one.family == "structure" and one.effects is not None:
                for name in ("units", "links"):
                    before = found.settings[0].effects[name]
                    assert one.effects[name] == before
            if one.output_reached is not None:
                assert 0.0 <= one.output_reached <= 1.0
        assert len(found.to_pandas()) == 18
        again = predict_interventions(team, graph.id, graph.name, FEW, graph=run)
        assert canonical_json(found.to_dict()) == canonical_json(again.to_dict())


def test_a_chain_counted_by_hand():
    names = ("a", "b", "c", "end")
    chain = Team(
        names,
        names,
        ("solver", "critic", "specialist", "aggregator"),
        ((0, 1), (1, 2), (2, 3)),
        (3,),
        "aggregator",
    )
    found = predict_interventions(chain, "id", "chain", FEW)
    settings = {one.setting: one for one in found.settings}
    assert found.reference.articulation_points == ("b", "c")
    assert found.reference.critical_units == ("b", "c")
    assert found.reference.output_path_length == 2.0
    assert settings["no critic"].effects["output_reachability"].mean == 0.5
    assert settings["no critic"].cut_off.mean == 1.0
    assert settings["no specialist"].effects["output_reachability"].mean == 0.0
    assert settings["no specialist"].cut_off.mean == 2.0
    assert settings["expert only"].effects["output_kept"].mean == 0.0
    assert settings["expert only"].removed == ("a", "b", "end")
    assert settings["3 workers fail"].effects["output_reachability"] is None
    assert settings["3 workers fail"].cut_off.mean == 0.0
    assert settings["4 workers fail"].reason == "the team has 3 of them"
    assert settings["wrong contents 80%"].changed.mean == pytest.approx(2 / 3)
    assert settings["wrong contents 80%"].output_reached == 1.0
    assert settings["wrong contents 0%"].reached.mean == 0.0


def test_a_configuration_is_checked():
    for options, told in (
        ({"subject": "planned"}, "no graph 'planned'"),
        ({"projection": "action"}, "cannot be read as 'action'"),
        ({"role_rule": "none"}, "no rule 'none'"),
        ({"critic_roles": ("judge",)}, "no role 'judge'"),
        ({"rewiring": (1.5,)}, "between 0 and 1"),
        ({"failures": (-1,)}, "cannot be negative"),
        ({"draws": 0}, "at least one draw"),
    ):
        with pytest.raises(UsageError, match=told):
            InterventionConfiguration(**options)
    assert InterventionConfiguration(seed=1).hash != InterventionConfiguration().hash
