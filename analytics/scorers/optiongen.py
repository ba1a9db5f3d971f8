"""OptionGen: one right option and three distractors for a text, scored by a judge.

Source: MASTraceBench, appendix "OptionGen" (Eq. 10): a judge at temperature 0 gives the right
option and the set of distractors one score each, between 0 and 100, by a rubric made for the
instance and six anchored intervals; the proposal's score is their mean. The paper does not
print its prompts or the words of its anchors: **prompt and anchors here are our own**, and
part of :attr:`OptionGenScorer.version`. Rubrics come with the instance.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from analytics.scorers.base import SCALE, Scorer, invalid, read_fields
from analytics.scorers.judge import Judge
from analytics.scorers.parsing import find_json, member
from analytics.verdicts import Verdict
from graphstore.errors import UsageError
from graphstore.identity import canonical_json

Part = Literal["correct", "distractors"]
DISTRACTORS = 3

ANCHORS: dict[Part, tuple[tuple[int, int, str], ...]] = {
    "correct": (
        (0, 10, "It is wrong, contradicts the text, or does not answer the question."),
        (11, 30, "It touches the question but misses what the text says of it."),
        (31, 50, "Part of it is right; what matters most is missing or wrong."),
        (51, 70, "It is right in the main, with a gap or an unclear point."),
        (71, 90, "It is right and supported by the text, with a blemish in its wording."),
        (91, 100, "It is right, complete and precise, and the text leaves no doubt of it."),
    ),
    "distractors": (
        (0, 10, "They are right answers, have nothing to do with the text, or are missing."),
        (11, 30, "Most can be ruled out without the text, or say the same thing."),
        (31, 50, "One is tempting; the others are obvious, alike, or partly right."),
        (51, 70, "They are tempting and wrong in the main; one is weak or close to another."),
        (71, 90, "All are tempting and wrong for different reasons, with a small weakness."),
        (91, 100, "All need careful reading to be ruled out, each for a reason of its own."),
    ),
}
"""Six intervals for each part: from, to, what such an output is like."""

_ASKED: dict[Part, str] = {
    "correct": "Judge the option that is meant to be right: is it right, complete and in "
    "agreement with the text? Leave the other options out of account.",
    "distractors": "Judge the three options that are meant to be wrong, as a set: are they "
    "tempting, close to the text, clearly wrong, and different from each other?",
}


class _Fields(msgspec.Struct, forbid_unknown_fields=True):
    article: str
    question: str
    correct_rubric: str
    distractor_rubric: str


@dataclass(frozen=True, slots=True)
class OptionGenInstance:
    """A text with a question, and what to look at in options for it.

    Attributes:
        article: The text.
        question: About it.
        rubrics: For the right option and for the distractors.
    """

    article: str
    question: str
    rubrics: dict[Part, str]


@dataclass(frozen=True, slots=True)
class OptionSet:
    """A proposal: one option that is meant to be right, three that are meant to be wrong."""

    correct: str
    distractors: tuple[str, ...]


def judge_prompt(instance: OptionGenInstance, options: OptionSet, part: Part) -> str:
    """What a judge is asked about one part of a proposal.

    The same instance and options give the same text, to the byte: answers are recorded by it.
    """
    anchors = "\n".join(f"{low}-{high}: {text}" for low, high, text in ANCHORS[part])
    wrong = "\n".join(f"- {option}" for option in options.distractors)
    return (
        "You score options that were written for a reading test.\n\n"
        f"Text:\n{instance.article}\n\n"
        f"Question: {instance.question}\n\n"
        f"Meant to be right:\n- {options.correct}\n\n"
        f"Meant to be wrong:\n{wrong}\n\n"
        f"{_ASKED[part]}\n\n"
        f"What to look at in this case:\n{instance.rubrics[part]}\n\n"
        f"Choose the interval that fits, then a whole number inside it:\n{anchors}\n\n"
        'Answer with one JSON object: {"score": NUMBER}'
    )


def read_score(answer: str) -> float | None:
    """The score in a judge's answer, 0 to 100; None where there is none."""
    found = member(find_json(answer), "score")
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found) if 0 <= found <= SCALE else None


class OptionGenScorer(Scorer):
    """The mean of a judge's two scores.

    Attributes:
        judge: Who is asked; without one nothing can be scored.
    """

    name = "optiongen"
    title = "Option generation: a judge's scores by rubric and anchors"
    needs_judge = True

    def __init__(self, judge: Judge | None = None) -> None:
        self.judge = judge

    def with_judge(self, judge: Judge) -> "OptionGenScorer":
        """The same scorer with somebody to ask."""
        return OptionGenScorer(judge)

    def read_instance(self, fields: Mapping[str, Any]) -> OptionGenInstance:
        """Texts: ``article``, ``question``, ``correct_rubric`` and ``distractor_rubric``."""
        given = read_fields(fields, _Fields)
        return OptionGenInstance(
            given.article,
            given.question,
            {"correct": given.correct_rubric, "distractors": given.distractor_rubric},
        )

    def score(self, instance: OptionGenInstance, value: str) -> Verdict:
        """Options are JSON: ``correct`` with ``distractors``, or ``options`` with a letter.

        Raises:
            UsageError: There is no judge, or it cannot be asked.
            InputError: What comes back from the judge is no answer.
        """
        if self.judge is None:
            raise UsageError("options are scored by a judge: name one with --judge")
        options = _options(find_json(value))
        if isinstance(options, str):
            return invalid(options)
        scores = []
        parts: tuple[Part, ...] = ("correct", "distractors")
        for part in parts:
            answer = self.judge.answer(judge_prompt(instance, options, part))
            if answer is None:
                return Verdict(None, True, f"the judge has no answer on {part}")
            score = read_score(answer)
            if score is None:
                return Verdict(None, True, f"the judge's answer on {part} holds no score")
            scores.append(score)
        return Verdict(sum(scores) / len(scores), True)

    def normal_form(self, instance: OptionGenInstance, value: str) -> str:  # noqa: ARG002
        """The right option, and the others in any order."""
        options = _options(find_json(value))
        if isinstance(options, str):
            return value
        return canonical_json([options.correct, *sorted(options.distractors)])


def _options(found: Any) -> OptionSet | str:
    """The options of a proposal, or what is wrong with it."""
    if not isinstance(found, dict):
        return "it holds no JSON object"
    correct, wrong = found.get("correct"), found.get("distractors")
    options = found.get("options")
    if isinstance(options, dict) and isinstance(correct, str):
        if correct not in options:
            return f"it calls {correct!r} right, which is none of its options"
        wrong = [text for letter, text in options.items() if letter != correct]
        correct = options[correct]
    if not isinstance(correct, str) or not isinstance(wrong, list):
        return "it does not hold a right option and distractors"
    texts = [correct, *wrong]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        return "an option is no text"
    if len(wrong) != DISTRACTORS:
        return f"it holds {len(wrong)} distractors, not {DISTRACTORS}"
    return OptionSet(correct.strip(), tuple(text.strip() for text in wrong))
