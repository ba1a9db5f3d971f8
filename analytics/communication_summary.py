"""What the runs of one method, or of one setting, have in common; round by round.

Source: MASBench, sections C.4 (tasks count alike, repetitions are averaged first) and 4.3
(efficiency is the ratio of mean score to mean tokens).
"""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from analytics.averages import mean
from analytics.communication import RunCommunication, score_per_thousand_tokens
from analytics.paired_scores import mean_by_task

Measure = Literal[
    "score",
    "transmitted_tokens",
    "message_phase_tokens",
    "score_per_thousand",
    "score_per_thousand_phase",
    "contribution_entropy",
]
MEASURES: tuple[str, ...] = get_args(Measure)


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """One round over many runs.

    Attributes:
        round: As the traces count.
        runs: Number of runs that the score rests on.
        carried: Those of them that had ended or proposed nothing new: their last score is
            carried on, so that a curve does not rise because weak runs drop out.
        score: Mean over runs of the standing score.
        messages: Number of messages.
        mean_tokens: Of a message; None without counts.
        deviation_tokens: Sample standard deviation; None for fewer than two.
        mean_characters: Of a message; None without contents.
        deviation_characters: Sample standard deviation; None for fewer than two.
    """

    round: int
    runs: int
    carried: int
    score: float | None
    messages: int
    mean_tokens: float | None
    deviation_tokens: float | None
    mean_characters: float | None
    deviation_characters: float | None


@dataclass(frozen=True, slots=True)
class CommunicationSummary:
    """What the runs of one method, or of one setting, have in common.

    Attributes:
        group: The values of what was grouped by; None where a run does not record it.
        runs: Number of runs.
        tasks: Number of tasks.
        means: Mean over tasks of each measure of :data:`MEASURES`, None where none has it;
            the two scores per 1,000 tokens are ratios of means over the tasks that have both.
        known: Number of tasks that each rests on.
        rounds: Round by round.
    """

    group: tuple[str | None, ...]
    runs: int
    tasks: int
    means: dict[str, float | None]
    known: dict[str, int]
    rounds: tuple[RoundSummary, ...]


def value_of(row: RunCommunication, measure: str) -> float | None:
    """A measure of one run, by its name in :data:`MEASURES`."""
    if measure == "transmitted_tokens":
        return None if row.transmitted is None else row.transmitted.total
    if measure == "message_phase_tokens":
        return row.message_phase.total
    value: float | None = getattr(row, measure)
    return value


def summarize(
    group: tuple[str | None, ...], rows: list[RunCommunication]
) -> CommunicationSummary:
    """Sums up runs that belong together.

    Args:
        group: The values of what was grouped by.
        rows: The runs, at least one.
    """
    means: dict[str, float | None] = {}
    known: dict[str, int] = {}
    for name in MEASURES:
        if name.startswith("score_per_thousand"):
            continue
        by_task = mean_by_task((row.task_id, value_of(row, name)) for row in rows)
        values = [value for value in by_task.values() if value is not None]
        means[name], known[name] = mean(values), len(values)
    for name, tokens in (
        ("score_per_thousand", "transmitted_tokens"),
        ("score_per_thousand_phase", "message_phase_tokens"),
    ):
        both = [
            (row.task_id, row.score, used)
            for row in rows
            if row.score is not None and (used := value_of(row, tokens)) is not None
        ]
        scores = mean_by_task((task, score) for task, score, _ in both)
        uses = mean_by_task((task, used) for task, _, used in both)
        means[name] = score_per_thousand_tokens(
            mean([one for one in scores.values() if one is not None]),
            mean([one for one in uses.values() if one is not None]),
        )
        known[name] = len(scores)
    return CommunicationSummary(
        group=group,
        runs=len(rows),
        tasks=len({row.task_id for row in rows}),
        means={name: means[name] for name in MEASURES},
        known={name: known[name] for name in MEASURES},
        rounds=tuple(_rounds(rows)),
    )


def _rounds(rows: list[RunCommunication]) -> Iterable[RoundSummary]:
    scores = [{one.round: one for one in row.scores} for row in rows]
    lengths = [{one.round: one for one in row.lengths} for row in rows]
    numbers = {number for found in scores for number in found}
    numbers |= {number for found in lengths for number in found}
    standing: dict[int, float] = {}
    for number in sorted(numbers):
        fresh = 0
        tokens: list[int] = []
        characters: list[int] = []
        messages = 0
        for place in range(len(rows)):
            scored, sent = scores[place].get(number), lengths[place].get(number)
            if scored is not None and scored.standing is not None:
                standing[place] = scored.standing
                fresh += scored.proposals > 0
            if sent is not None:
                messages += sent.messages
                tokens += sent.tokens
                characters += sent.characters
        yield RoundSummary(
            round=number,
            runs=len(standing),
            carried=len(standing) - fresh,
            score=mean(list(standing.values())),
            messages=messages,
            mean_tokens=mean(tokens),
            deviation_tokens=statistics.stdev(tokens) if len(tokens) > 1 else None,
            mean_characters=mean(characters),
            deviation_characters=statistics.stdev(characters) if len(characters) > 1 else None,
        )
