"""What a scorer says of proposals, and a run with it."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from graphstore.model import CollaborationGraph, Proposal


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a scorer says of a proposal.

    Attributes:
        score: In the task's own unit; None where it has none.
        valid: Whether it could be parsed and scored.
        reason: Why it has no score, or why it has this one, as part of a sentence.
    """

    score: float | None
    valid: bool | None = None
    reason: str | None = None


def score_proposals(
    graph: CollaborationGraph,
    scorer: Callable[[Proposal], Verdict | None],
    *,
    replace: bool = False,
) -> CollaborationGraph:
    """A run with scores for its proposals, where the trace has values and no scores.

    Args:
        graph: A run.
        scorer: Gives a verdict on a proposal, or None to leave it as it is.
        replace: Asks the scorer for proposals that have a score too.

    Returns:
        The same graph, but for scores and validity of proposals.
    """
    scored = []
    for proposal in graph.proposals:
        verdict = scorer(proposal) if replace or proposal.score is None else None
        if verdict is not None:
            proposal = msgspec.structs.replace(
                proposal, score=verdict.score, valid=verdict.valid
            )
        scored.append(proposal)
    return msgspec.structs.replace(graph, proposals=tuple(scored))
