"""The pages on many runs: Compare, Forests, Trajectories and interventions."""

import pytest

from app.dashboard import connection, settings
from app.dashboard.pages.stored import title_of
from app.stored_reports import report_heads
from tests.app.dashboard import teams
from tests.app.dashboard.conftest import open_page
from tests.app.dashboard.hostile import CLOSING, IMAGE, MARKDOWN, SCRIPT
from tests.app.dashboard.teams import STATES
from tests.app.dashboard.test_injection import SVG_TAGS, TAGS, check, figures_of, foreign

pytestmark = pytest.mark.xdist_group("dashboard")


@pytest.fixture(scope="module")
def filled(module_store, request):
    """A store in which everything that the pages show was computed."""
    store = module_store
    teams.fill(store)
    store.checkpoint()
    with pytest.MonkeyPatch.context() as patch:
        if "://" in store.url:
            server = request.getfixturevalue("neo4j_server")
            patch.setenv("NEO4J_USER", server.user)
            if server.password:
                patch.setenv("NEO4J_PASSWORD", server.password)
        yield store


@pytest.fixture
def opened(filled):
    settings.configure(settings.Settings(store=filled.url))
    return open_page


@pytest.fixture
def pair(filled):
    """Two runs of one task, which differ, for each name."""
    found = {}
    for name in teams.NAMES:
        rows = filled.query(
            "MATCH (r:Run)-[:OF_TASK]->(t:Task {name: $task}) "
            "MATCH (r)-[:BY_METHOD]->(m:Method {name: $method}) "
            "RETURN r.id AS id ORDER BY r.name, id",
            {"task": f"task {name} 0", "method": f"team {name}"},
        ).rows
        found[name] = (rows[0][0], rows[-1][0])
    return found


def forest_of(filled, name):
    return filled.query(
        "MATCH (f:ReferenceForest {level: 'task', name: $name}) RETURN f.id AS id",
        {"name": f"task {name} 0"},
    ).rows[0][0]


def frames(shown):
    return [one.value for one in shown.test.dataframe]


def frame_with(shown, column):
    return next(frame for frame in frames(shown) if column in frame.columns)


@pytest.mark.parametrize(("page", "state"), STATES)
def test_each_state_opens_and_holds_nothing_but_our_own_elements(opened, page, state):
    shown = opened(page, **state).check()
    check(shown)
    # All methods share no task: two of them are compared in a test of their own.
    assert len(shown.kinds("empty")) == (page == "compare" and not state)
    assert shown.test.dataframe
    assert len(shown.test.get("download_button")) >= 2


# Compare


def test_methods_are_compared_on_what_they_share(opened):
    shown = opened("compare", metric="score").check()
    methods = frames(shown)[0]
    assert set(methods["method"]) == {teams.ALONE, *(f"team {name}" for name in teams.NAMES)}
    pairs = frame_with(shown, "first")
    of_plain = pairs[(pairs["first"] == teams.ALONE) & (pairs["second"] == "team plain")]
    # Over three tasks: alone 1, 0.5, 0.5; the team (1 + 1 + 0.25 + 0.8 + 0.6) / 5 and so on.
    alone = (1 + 0.5 + 0.5) / 3
    team = sum((2.25 + 0.8 + 0.6 - 2 * task / 10) / 5 for task in range(3)) / 3
    assert float(of_plain["difference"].iloc[0]) == pytest.approx(alone - team)
    assert any("alone - team plain" in svg for svg in figures_of(shown))


@pytest.mark.parametrize("name", teams.NAMES)
def test_two_methods_and_their_front(opened, filled, name):
    head = next(
        head
        for head in report_heads(filled, "comparison")
        if head.selection.dataset == f"set {name}"
    )
    shown = opened("compare", report=title_of(head)).check()
    check(shown)
    assert list(frames(shown)[0]["method"]) == [teams.ALONE, f"team {name}"]
    front = frame_with(shown, "dominated by")
    assert front["tokens"].is_monotonic_increasing
    assert len(front) == 2
    svg = next(one for one in figures_of(shown) if "What a method reaches" in one)
    assert svg.count("<circle") >= 2


def test_the_chosen_metric_is_in_the_address_and_decides(opened):
    shown = opened("compare", metric="tokens").check()
    assert any("Mean difference in tokens" in svg for svg in figures_of(shown))
    shown.test.selectbox(key="metric").select("success").run()
    assert any("Mean difference in success" in svg for svg in figures_of(shown.check()))


@pytest.mark.parametrize("name", teams.NAMES)
def test_two_runs_side_by_side(opened, pair, name):
    one, other = pair[name]
    shown = opened("compare", part="Two runs", one=one, other=other).check()
    check(shown)
    rows = frames(shown)[0]
    assert set(rows["kind"]) <= {"matched", "relabelled", "rewired", "extra", "missing"}
    assert rows["first"].notna().sum() + rows["second"].notna().sum() >= 8
    svg = figures_of(shown)[0]
    assert svg.count("<g>") == len(rows)
    links = [one.proto.query_string for one in shown.test.get("page_link")]
    assert any(one in link for link in links)
    assert any(other in link for link in links)


def test_the_same_run_twice_agrees(opened, pair):
    run = pair["plain"][0]
    shown = opened("compare", part="Two runs", one=run, other=run).check()
    assert set(frames(shown)[0]["kind"]) == {"matched"}
    assert "only here" not in figures_of(shown)[0]


def test_two_runs_are_chosen_by_their_task(opened, filled):
    shown = opened("compare", part="Two runs").check()
    tasks = frames(shown)[0]
    assert len(tasks) == len(teams.NAMES) * teams.TASKS
    choice = shown.test.selectbox(key="chosen-task")
    choice.select(next(one for one in choice.options if one.startswith("task plain 1")))
    shown.test.button[0].click().run()
    assert shown.check().test.query_params["task"]
    first, second = (
        shown.test.selectbox(key="chosen-one"),
        shown.test.selectbox(key="chosen-other"),
    )
    assert first.value != second.value
    shown.test.button[0].click().run()
    assert any("beside" in svg for svg in figures_of(shown.check()))


def test_one_run_is_given_and_the_other_is_chosen(opened, pair):
    shown = opened("compare", part="Two runs", one=pair["plain"][0]).check()
    assert shown.test.selectbox(key="chosen-one").options


def test_a_run_that_is_not_there_is_one_sentence(opened, pair):
    shown = opened("compare", part="Two runs", one=pair["plain"][0], other="run-nothing")
    assert not shown.test.exception
    assert len(shown.kinds("error")) == 1
    assert "run-nothing" in shown.kinds("error")[0]


# Forests


def test_forests_are_listed_and_opened(opened, filled):
    shown = opened("forests", level="task").check()
    listed = frames(shown)[0]
    assert set(listed["level"]) == {"task"}
    assert "forest" not in listed.columns
    choice = shown.test.selectbox(key="chosen-forest")
    choice.select("task: task plain 0")
    shown.test.button[0].click().run()
    assert shown.check().test.query_params["forest"] == forest_of(filled, "plain")


@pytest.mark.parametrize("name", teams.NAMES)
def test_a_forest_with_its_references_and_runs(opened, filled, name):
    forest = forest_of(filled, name)
    shown = opened("forests", forest=forest).check()
    check(shown)
    references = frame_with(shown, "weight")
    # Both ways of the team worked, and so did one agent alone.
    assert len(references) == 3
    assert float(references["weight"].sum()) == pytest.approx(1)
    assert len(figures_of(shown)) == len(references) + 1
    beside = frame_with(shown, "forest_match")
    assert len(beside) == 6
    # A reference is not compared with itself: its best is another one.
    assert (beside["best_reference"] != beside["run"]).all()


def test_a_forest_that_more_specific_ones_stand_before(opened, filled):
    wide = filled.query(
        "MATCH (f:ReferenceForest) WHERE NOT EXISTS { "
        "MATCH (e:Evaluation) WHERE e.forest = f.id } RETURN f.id AS id ORDER BY id LIMIT 1"
    ).rows[0][0]
    shown = opened("forests", forest=wide).check()
    (sentence,) = shown.kinds("empty")
    assert "most specific" in sentence
    assert "evaluate" not in sentence


def test_a_forest_that_was_built_again_is_one_sentence(opened):
    shown = opened("forests", forest="forest-nothing")
    assert not shown.test.exception
    assert len(shown.kinds("error")) == 1


def test_diagnosis_counts_each_run_once(opened):
    shown = opened("forests", part="Diagnosis").check()
    methods = frame_with(shown, "sound")
    kinds = ["sound", "lucky", "content", "structural", "undecided"]
    assert (methods[kinds].sum(axis=1) == methods["runs"]).all()
    svg = figures_of(shown)[0]
    for kind in kinds[:4]:
        assert f">{kind}: {int(methods[kind].sum())} (" in svg
    shown = opened("forests", part="Diagnosis", method="team plain").check()
    own = methods[methods["method"] == "team plain"].iloc[0]
    assert f">sound: {own['sound']} (" in figures_of(shown)[0]


def test_failed_runs_lead_to_their_reference(opened):
    shown = opened("forests", part="Diagnosis").check()
    choice = shown.test.selectbox(key="chosen-failed")
    choice.select(choice.options[0])
    shown.test.button[0].click().run()
    links = [one.proto.query_string for one in shown.check().test.get("page_link")]
    assert any("one=run-" in link and "other=" in link for link in links)


def test_labelled_mistakes_are_compared_with_guesses(opened):
    shown = opened("forests", part="Diagnosis").check()
    assert sum("How often a guess names" in svg for svg in figures_of(shown)) == 2
    assert "any action" in set(frame_with(shown, "guess")["guess"])


# Trajectories and interventions


def test_proposals_by_method(opened):
    shown = opened("trajectories", measure="task score").check()
    methods = frame_with(shown, "collaboration gain").set_index("method")
    assert methods.loc[teams.ALONE].isna()["collaboration gain"], "no gain against itself"
    # Variants 0 and 1 reach 1, the third 0.25, the modified ones 1 - rate - task / 10.
    team = sum((2.25 + 0.8 + 0.6 - 2 * task / 10) / 5 for task in range(3)) / 3
    assert methods.loc["team plain", "task score"] == pytest.approx(team)
    assert methods.loc["team plain", "collaboration gain"] == pytest.approx(team - 2 / 3)
    assert any("Task score by method" in svg for svg in figures_of(shown))


def test_gain_against_best_by_hand(opened):
    shown = opened("trajectories").check()
    gain = frame_with(shown, "OptKeep")
    gain = gain[gain["method"] == "team plain"].iloc[0]
    # Best initial score 0.5. Six runs end at 1, three at 0.25. The modified ones end at 0.8,
    # 0.7, 0.6 and at 0.6, 0.5, 0.4.
    expected = {"known": 15, "Improve": 10, "OptKeep": 0, "SubKeep": 1, "Regress": 4}
    assert {name: gain[name] for name in expected} == expected
    svg = next(one for one in figures_of(shown) if "Gain against best" in one)
    assert "team plain (15), Improve: 66.7%" in svg
    assert "OptKeep" in svg


def test_refinement_flows_by_hand(opened):
    shown = opened("trajectories", method="team plain").check()
    svg = next(one for one in figures_of(shown) if "Refinement in team plain" in one)
    assert "Strong proposers, Improve: 10 (67%)" in svg
    assert "Strong proposers, Regress: 4 (27%)" in svg
    assert "Weak proposers, Reach: 15 (100%)" in svg
    flows = frame_with(shown, "proposers")
    weak = flows[(flows["method"] == "team plain") & (flows["proposers"] == "weak")].iloc[0]
    assert weak["Reach"] == 15
    assert weak.isna()["Improve"], "a label of the other group has no count"


def test_claims_lead_to_their_run(opened):
    claims = frame_with(opened("trajectories").check(), "top endorsed")
    assert "claim plain" in set(claims["top endorsed"])
    assert set(claims["by"].dropna()) == {1}


def test_responses_by_setting_and_level(opened):
    shown = opened("trajectories", part="Interventions").check()
    rows = frame_with(shown, "retention").set_index(["method", "setting"])
    low = rows.loc[("team plain", "information: rate 0.2")]
    # Reference (1 + 1 + 0.25) / 3 on each task; modified 0.8, 0.7, 0.6.
    assert low["reference"] == pytest.approx(0.75)
    assert low["response"] == pytest.approx(0.7 - 0.75)
    assert low["retention"] == pytest.approx(100 * 0.7 / 0.75)
    svg = next(one for one in figures_of(shown) if "Response by level" in one)
    assert "information: rate …" in svg
    assert any("Retention" in one for one in figures_of(shown))


def test_predictions_and_links(opened):
    shown = opened("trajectories", part="Interventions", view="Predictions").check()
    assert "as it is" in set(frame_with(shown, "setting")["setting"])
    assert any("failing workers" in one for one in figures_of(shown))
    teams_shown = frame_with(shown, "team")
    assert set(teams_shown["units"]) == {3}
    shown = opened("trajectories", part="Interventions", view="Links and roles").check()
    links = frame_with(shown, "share_used").set_index("method")
    assert links.loc["team plain", "share_used"] == pytest.approx(1)


def test_perturbation_by_measure_and_by_edit(opened):
    shown = opened("trajectories", part="Perturbation").check()
    svg = figures_of(shown)[0]
    assert "Similarity to the unedited graph" in svg
    assert svg.count(">share edited<") == 6
    changes = frame_with(shown, "verdict")
    assert set(changes["kind"]) == {"measure", "metric"}
    shown = opened("trajectories", part="Perturbation", curves="wl").check()
    assert "Wl by edit" in figures_of(shown)[0]


def test_communication_by_method_and_by_factor(opened, filled):
    shown = opened("trajectories", part="Communication").check()
    heads = report_heads(filled, "communication")
    assert len(heads) == 2
    for head in heads:
        shown = opened("trajectories", part="Communication", communication=title_of(head))
        shown.check()
        assert any("Score so far" in one for one in figures_of(shown))
        assert any(
            "memory" in one and "difference in score" in one for one in figures_of(shown)
        )
    shown = opened(
        "trajectories", part="Communication", **{"message-measure": "transmitted tokens"}
    ).check()
    assert "Mean transmitted tokens" in figures_of(shown)[0]


def test_relations_by_hand(opened):
    shown = opened("trajectories", part="Relations").check()
    outcomes = frame_with(shown, "objects").iloc[0]
    for name in ("satisfied", "inconsistent", "unavailable"):
        assert outcomes[name] == pytest.approx(1 / 3)
    goals = frame_with(shown, "resolved, %").set_index("method")
    # On each task two of five runs reach both goals, the others one of two.
    assert goals.loc["team plain", "progress score, %"] == pytest.approx(70)
    assert goals.loc["team plain", "resolved, %"] == pytest.approx(40)
    svg = next(one for one in figures_of(shown) if "Outcomes of relations" in one)
    assert "team plain, dependencies, unavailable: upstream only: 33.3%" in svg


def test_suitability_leads_to_a_comparison(opened):
    shown = opened("trajectories", part="Suitability").check()
    tasks = frame_with(shown, "suitable")
    assert len(tasks) == len(teams.NAMES) * teams.TASKS
    shown.test.selectbox(key="chosen-task").select("task plain 1 (set plain)")
    shown.test.button[0].click().run()
    links = [one.proto.query_string for one in shown.check().test.get("page_link")]
    assert any("task=task-" in link for link in links)


def test_an_older_report_can_be_chosen_and_a_stale_link_is_no_error(opened):
    for page, name in (("compare", "report"), ("trajectories", "proposals")):
        opened(page, **{name: "a report that is gone (abcdef)"}).check()


# No longer there


@pytest.mark.parametrize(("page", "state"), STATES)
def test_a_store_that_goes_away_in_the_middle_and_comes_back(opened, filled, page, state):
    if "://" in filled.url:
        shown = opened(page, **state).check()
        connection.connection().store().close()
        connection.forget()
    else:
        from pathlib import Path

        shown = opened(page, **state).check()
        file = Path(filled.url)
        aside = file.rename(file.with_name("elsewhere.db"))
    shown.test.run()
    assert not shown.test.exception
    assert len(shown.kinds("error")) == 1, shown.notes
    assert "Traceback" not in shown.kinds("error")[0]
    if "://" not in filled.url:
        aside.rename(file)
    shown.test.run()
    shown.check()


# What is stored stays text


@pytest.mark.parametrize("trick", [SCRIPT, IMAGE, MARKDOWN, CLOSING])
def test_the_tricks_are_there_to_be_seen(opened, filled, pair, trick):
    """The checks above would pass on pages that show no stored text at all."""
    start = trick[:4].replace("<", "&lt;")
    one, other = pair[trick]
    by_method = next(
        title_of(head)
        for head in report_heads(filled, "communication")
        if head.name.endswith("by method")
    )
    for page, state in (
        ("compare", {"metric": "score"}),
        ("compare", {"part": "Two runs", "one": one, "other": other}),
        ("forests", {"part": "Diagnosis"}),
        ("forests", {"forest": forest_of(filled, trick)}),
        ("trajectories", {"method": f"team {trick}"}),
        ("trajectories", {"part": "Interventions"}),
        ("trajectories", {"part": "Communication", "communication": by_method}),
        ("trajectories", {"part": "Relations"}),
    ):
        shown = opened(page, **state)
        check(shown)
        assert any(start in svg for svg in figures_of(shown)), (page, state)


@pytest.mark.parametrize("trick", [SCRIPT, IMAGE, MARKDOWN, CLOSING])
@pytest.mark.parametrize("state", [{"one": "", "other": "run-1"}, {"forest": ""}])
def test_an_address_with_tricks_is_shown_as_text(opened, state, trick):
    page = "forests" if "forest" in state else "compare"
    given = {name: value or trick for name, value in state.items()}
    shown = opened(page, part="Two runs" if page == "compare" else "Forests", **given)
    assert not shown.test.exception
    assert len(shown.kinds("error")) == 1
    for body in shown.html:
        assert foreign(body, TAGS) == [], body
    for svg in figures_of(shown):
        assert foreign(svg, SVG_TAGS) == [], svg
