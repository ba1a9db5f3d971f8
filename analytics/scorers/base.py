"""What a graded scorer is: a task's instance and a proposal's text in, a verdict out.

Source: MASTraceBench, appendix "Benchmark Details": each task has a proposal scoring function
S(y), and scores are reported between 0 and 100. A scorer is pure: the same instance and
text give the same verdict, whoever asks.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import msgspec

from analytics.scorers.judge import Judge
from analytics.scorers.parsing import NOTHING, find_json
from analytics.verdicts import Verdict
from graphstore.errors import UsageError
from graphstore.identity import canonical_json

Fields = TypeVar("Fields")

SCALE = 100.0
"""Scores are reported between 0 and this (MASTraceBench, "For reporting")."""


class Scorer(ABC):
    """Scores the proposals of one kind of task. Subclass it to add a task of your own.

    Attributes:
        name: What ``--scorer`` takes.
        title: A few words for people.
        version: Raised whenever a score changes: it is part of the configuration of results.
        dynamic: A unit is a state of an episode, so that the score of an answer is not the
            score of the run.
        maximum: The largest possible score over all instances; None where there is none.
        needs_judge: Somebody has to be asked (:class:`analytics.scorers.judge.Judge`).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str] = "1"
    dynamic: ClassVar[bool] = False
    maximum: ClassVar[float | None] = SCALE
    needs_judge: ClassVar[bool] = False

    @abstractmethod
    def read_instance(self, fields: Mapping[str, Any]) -> Any:
        """An instance of the task from JSON values.

        Args:
            fields: As they stand in a tasks file or in the attributes of a run.

        Raises:
            UsageError: The fields make no instance; the sentence says why.
        """

    @abstractmethod
    def score(self, instance: Any, value: str) -> Verdict:
        """The verdict on a proposal.

        Args:
            instance: What :meth:`read_instance` gave.
            value: The proposal as the agent wrote it.

        Returns:
            A text that is no proposal is not valid and has no score.
        """

    def best_score(self, instance: Any) -> float | None:  # noqa: ARG002
        """S*, the largest score that a proposal for this instance can have; None: not known."""
        return self.maximum

    def normal_form(self, instance: Any, value: str) -> str:  # noqa: ARG002
        """A valid proposal in one form: agents agree whose proposals have the same.

        By default its JSON without the words around it, with sorted keys.
        """
        found = find_json(value)
        return value if found is NOTHING else canonical_json(found)

    def instance_of_expected(self, expected: str) -> Any:  # noqa: ARG002
        """An instance made of a run's expected answer alone; None where that is not enough."""
        return None

    def with_judge(self, judge: Judge) -> "Scorer":  # noqa: ARG002
        """The same scorer with somebody to ask; itself where it asks nobody."""
        return self


def read_fields(fields: Mapping[str, Any], kind: type[Fields]) -> Fields:
    """JSON values as a struct, or one sentence that names the field.

    Raises:
        UsageError: A field is missing, unknown or of another type.
    """
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from None


def invalid(reason: str) -> Verdict:
    """The verdict on a text that cannot be scored: no proposal, no score."""
    return Verdict(None, False, reason)
