"""What went wrong, or right by luck: forest match and outcome in one quadrant.

Source: ForestBench: a low forest match of a failed run points to structure, a high one beside
a wrong answer points to content. The two quadrants of successes complete the picture. Where
low ends is the forest's own threshold (:class:`analytics.forest.ReferenceForest`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from analytics.forest import SAME
from graphstore.model import CollaborationGraph

if TYPE_CHECKING:
    from analytics.similarity.alignment import AlignmentMeasure

Diagnosis = Literal["structural", "content", "lucky", "sound"]
DIAGNOSES: tuple[Diagnosis, ...] = get_args(Diagnosis)


def diagnose(
    success: bool | None, forest_match: float | None, threshold: float | None
) -> Diagnosis | None:
    """The quadrant of a run.

    Args:
        success: Whether it succeeded.
        forest_match: 0 to 1.
        threshold: Matches from here on are high.

    Returns:
        ``structural``: failed, low: the team did not work as those that succeed do.
        ``content``: failed, high: it worked as they do, and what it said was wrong.
        ``lucky``: succeeded, low. ``sound``: succeeded, high. None where anything is not
        known.
    """
    if success is None or forest_match is None or threshold is None:
        return None
    if forest_match >= threshold - SAME:
        return "sound" if success else "content"
    return "lucky" if success else "structural"


@dataclass(frozen=True, slots=True)
class Parting:
    """Where a graph parts from its best reference.

    Attributes:
        reference: Id of the reference.
        index: Of the first action that has no counterpart there, or whose counterpart has
            another label or consumes other outputs; None where the graph is the reference,
            or a part of it that stops early.
        after: Of the action after which it parts: the one before, or the last one of a graph
            that stops early; None where they part at once, or never.
        action: Role and kind of that action.
        agent: Name of the agent that performed it.
        matched: Actions that have a counterpart.
        extra: Actions that have none.
        missing: The reference's actions that have none.
        similarity: Of the alignment, 0 to 1.
    """

    reference: str
    index: int | None
    after: int | None
    action: str | None
    agent: str | None
    matched: int
    extra: int
    missing: int
    similarity: float | None


def parting(
    graph: CollaborationGraph, reference: CollaborationGraph, measure: "AlignmentMeasure"
) -> Parting:
    """Aligns a graph with its best reference and tells where they part.

    Args:
        graph: The graph that is looked at.
        reference: One that worked.
        measure: How graphs are aligned.
    """
    found = measure.align(graph, reference)
    index = found.first_divergence
    node = None if index is None else graph.nodes[index]
    names = {agent.id: agent.name for agent in graph.agents}
    after = len(graph.nodes) - 1 if index is None and found.missing else (index or 0) - 1
    return Parting(
        reference=reference.id,
        index=index,
        after=None if after < 0 else after,
        action=None if node is None else f"{node.role} {node.kind}",
        agent=None if node is None or node.agent is None else names[node.agent],
        matched=len(found.matched),
        extra=len(found.extra),
        missing=len(found.missing),
        similarity=found.similarity,
    )
