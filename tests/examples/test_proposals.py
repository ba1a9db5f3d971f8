"""The planners of robot routes: made again they are the same, and their plans are real."""

import sys
from pathlib import Path

from analytics.scorers.mapf import MapfScorer
from ingest import pipeline

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import make_proposals  # noqa: E402


def test_made_again_the_files_are_the_same(capsys):
    assert make_proposals.main(["--check"]) == 0
    assert capsys.readouterr().out == "all as made\n"


def test_check_tells_what_differs(tmp_path, capsys):
    assert make_proposals.main(["--out", str(tmp_path)]) == 0
    (tmp_path / "proposals/tasks.jsonl").write_text("other")
    capsys.readouterr()
    assert make_proposals.main(["--check", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "proposals/tasks.jsonl differs or is missing\n"
    assert make_proposals.make_files(12) != make_proposals.make_files()


def test_every_run_is_read():
    graphs = list(pipeline.read([str(EXAMPLES / "proposals" / "runs.jsonl")]))
    assert len(graphs) == 12 * 3 * make_proposals.REPETITIONS
    for graph in graphs:
        assert graph.source.warnings == ()
        assert {one.phase for one in graph.proposals} == {"initial", "final", "answer"}
        # Nobody scored them: that is left to the scorer.
        assert all(one.score is None and one.valid is None for one in graph.proposals)


def test_a_planner_that_forgets_nobody_brings_every_robot_home():
    careful = make_proposals.Planner("Eve", "given", 0.0, 0.0)
    scorer = MapfScorer()
    solved = 0
    for rows in make_proposals.MAPS.values():
        instance = scorer.read_instance(make_proposals.instance_fields(rows))
        plan = make_proposals.propose(instance, careful, make_proposals.random.Random(1))
        solved += all(make_proposals.arrivals(instance, plan).values())
    # Planning one robot after the other solves most maps, not all.
    assert 6 <= solved < len(make_proposals.MAPS)
