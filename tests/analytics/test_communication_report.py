import pytest

from analytics.communication import CommunicationConfiguration
from analytics.communication_report import (
    curves_to_pandas,
    evaluate_communication,
    summaries_to_pandas,
)
from analytics.paired_scores import compare_many
from graphstore.errors import UsageError
from graphstore.model import Outcome
from tests.analytics.test_communication import start


def run(name, task, method, score, tokens, scores=(), **attributes):
    """One message a round to one other agent, and the score of a proposal in each."""
    builder = start(name, task, method, attributes=attributes)
    for number, count in enumerate(tokens):
        builder.add(
            "agent_message",
            "x",
            agent=number % 2,
            recipients=[1 - number % 2],
            tokens_out=count,
            content="z" * (2 * (count or 0)),
            round=number,
        )
    for number, value in enumerate(scores):
        builder.propose("u", "final", agent=0, node=number, score=value)
    builder.outcome = Outcome(score=score)
    return builder.build()


def runs():
    return [
        run("1", "t1", "base", 40.0, [100, 300], [0.1, 0.4]),
        run("2", "t1", "base", 60.0, [100, 500], [0.3, 0.6]),
        run("3", "t2", "base", 90.0, [200], [0.9]),
        run("4", "t3", "base", None, [100]),
        run("5", "t1", "protocol", 80.0, [50]),
        run("6", "t2", "protocol", 80.0, [None]),
    ]


def test_methods_worked_out_by_hand():
    base, protocol = evaluate_communication(runs()).summaries()
    assert (base.group, base.runs, base.tasks) == (("base",), 4, 3)
    # t1: 50, t2: 90.
    assert base.means["score"] == 70.0
    assert base.known["score"] == 2
    # t1: 500, t2: 200, t3: 100.
    assert base.means["transmitted_tokens"] == pytest.approx(800 / 3)
    # t1 and t2 have both: 70 for 350 tokens.
    assert base.means["score_per_thousand"] == pytest.approx(200.0)
    assert base.known["score_per_thousand"] == 2
    assert protocol.means["score_per_thousand"] == 1600.0
    assert protocol.known["score_per_thousand"] == 1
    assert protocol.means["score"] == 80.0


def test_curves_carry_on_the_last_score():
    base = evaluate_communication(runs()).summaries()[0]
    first, second = base.rounds
    assert (first.round, first.runs, first.carried) == (0, 3, 0)
    assert first.score == pytest.approx(1.3 / 3)
    # The third run had ended.
    assert (second.runs, second.carried) == (3, 1)
    assert second.score == pytest.approx(1.9 / 3)
    assert (first.messages, first.mean_tokens, first.deviation_tokens) == (4, 125.0, 50.0)
    assert (second.mean_tokens, second.mean_characters) == (400.0, 800.0)
    assert second.deviation_tokens == pytest.approx(20000**0.5)
    frame = curves_to_pandas(evaluate_communication(runs()).summaries())
    assert frame["group"].tolist() == ["base", "base", "protocol"]
    assert frame["deviation_tokens"].isna().tolist() == [False, False, True]


def factorial():
    return [
        run(
            f"{memory}{protocol}{task}",
            task,
            "m",
            score,
            [10],
            memory=memory,
            protocol=protocol,
        )
        for memory, protocol, score in (
            (True, "free", 2.0),
            (False, "free", 1.0),
            (False, "strict", 5.0),
        )
        for task in ("t1", "t2")
    ] + [run("plain", "t1", "m", 9.0, [10])]


def test_factors_group_runs():
    report = evaluate_communication(factorial())
    groups = report.summaries(("memory", "protocol"))
    assert [(one.group, one.means["score"]) for one in groups] == [
        (("off", "free"), 1.0),
        (("off", "strict"), 5.0),
        (("on", "free"), 2.0),
        ((None, None), 9.0),
    ]
    assert summaries_to_pandas(groups)["group"].tolist()[-1] == "?, ?"
    with pytest.raises(UsageError, match="'weather'"):
        report.summaries(("weather",))


def test_a_factor_is_compared_where_the_others_agree():
    report = evaluate_communication(factorial())
    (found,) = report.matched_levels("memory", "score")
    assert found.others == (("protocol", "free"),)
    assert {level: sorted(v.values()) for level, v in found.levels.items()} == {
        "off": [1.0, 1.0],
        "on": [2.0, 2.0],
    }
    pair = compare_many(found.levels).comparisons[0]
    assert (pair.first, pair.second, pair.interval.estimate) == ("off", "on", -1.0)
    (found,) = report.matched_levels("protocol", "score")
    assert found.others == (("memory", "off"),)
    assert report.matched_levels("routing", "score") == ()
    with pytest.raises(UsageError, match="no measure"):
        report.matched_levels("memory", "luck")


def test_tables():
    report = evaluate_communication(runs())
    frame = report.to_pandas()
    assert frame["transmitted_tokens"].isna().tolist() == [False] * 5 + [True]
    assert frame["score_per_thousand"].tolist()[0] == 100.0
    assert "1 of 1 messages have no token count." in frame["missing"][5]
    rounds = report.rounds_to_pandas()
    assert rounds["round"].tolist() == [0, 1, 0, 1, 0, 0, 0, 0]
    assert rounds["standing"].tolist()[:4] == [0.1, 0.4, 0.3, 0.6]
    empty = evaluate_communication([])
    assert empty.to_pandas().empty
    assert empty.rounds_to_pandas().empty
    assert empty.summaries() == ()
    assert report.configuration_hash == CommunicationConfiguration().hash
