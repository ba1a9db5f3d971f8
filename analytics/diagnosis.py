"""What went wrong, or right by luck: forest match and outcome in one quadrant.

Source: ForestBench: a low forest match of a failed run points to structure, a high one beside
a wrong answer points to content. The two quadrants of successes complete the picture. Where
low ends is the forest's own threshold (:class:`analytics.forest.ReferenceForest`).
"""

from typing import Literal, get_args

from analytics.forest import SAME

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
