"""The text file beside a DyLAN table: correctness, calls, weights and tokens."""

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from ingest.json_text import DECODE_ERRORS

SUMMARY = re.compile(
    r"\s*(?:\[(?:True|False)(?:, (?:True|False))*\] (?:\d+(?:\.\d+)?|nan)\s*\n)?"
    r"\d+ \d+(?:\.\d+)?(?:e[+-]?\d+)?\s*\n\s*\[\["
)
_CORRECT = re.compile(r"\[((?:True|False)(?:, (?:True|False))*)\] \S+\Z")
_NUMBERS = re.compile(r"\d{1,15}(?:\.\d+)?(?: \d{1,15}(?:\.\d+)?)?\Z")


@dataclass(frozen=True)
class Summary:
    """What the file says of all questions.

    Attributes:
        correct: Whether each answer was right, in order; None where the file does not say.
        weights: For each question, the importance of each reply: round by round, the agents
            of a round in order.
        calls: Of the model.
    """

    correct: tuple[bool, ...] | None
    weights: tuple[tuple[float, ...], ...]
    calls: int | None
    prompt_tokens: int | None
    completion_tokens: int | None

    @property
    def questions(self) -> int:
        """How many questions the file is about."""
        return len(self.weights) if self.correct is None else len(self.correct)


def parse_summary(data: bytes) -> Summary | None:
    """Reads the file, None where it is not one.

    The first line with a list of truths is correctness, the first pair of numbers the calls
    with their mean, the first table the weights, and what numbers follow are tokens, in one
    line or two.
    """
    text = data.decode("utf-8", "replace")
    if not SUMMARY.match(text):
        return None
    correct: tuple[bool, ...] | None = None
    weights: tuple[tuple[float, ...], ...] = ()
    before: list[float] = []
    after: list[float] = []
    for line in text.splitlines():
        line = line.strip()
        if found := _CORRECT.match(line):
            correct = correct or tuple(word == "True" for word in found[1].split(", "))
        elif line.startswith("[["):
            weights = weights or _table(line)
        elif _NUMBERS.match(line):
            (after if weights else before).extend(float(word) for word in line.split())
    return Summary(
        correct,
        weights,
        int(before[0]) if before else None,
        int(after[0]) if len(after) >= 2 else None,
        int(after[1]) if len(after) >= 2 else None,
    )


def _table(line: str) -> tuple[tuple[float, ...], ...]:
    try:
        value: Any = msgspec.json.decode(line.encode())
    except DECODE_ERRORS:
        return ()
    rows = value if isinstance(value, list) else []
    if not all(isinstance(row, list) and all(_is_number(cell) for cell in row) for row in rows):
        return ()
    return tuple(tuple(float(cell) for cell in row) for row in rows)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
