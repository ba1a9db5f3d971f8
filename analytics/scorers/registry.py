"""Scorers by name. Others add theirs by the entry point ``masgraph.scorers``.

An entry point's name is the scorer's name; its value is a scorer, or a class or function
that makes one without arguments. Scorers are imported when they are first needed, and one
that cannot be imported costs a warning, not the program.
"""

from functools import cache

from analytics.scorers.base import Scorer
from graphstore.plugins import Plugins

ENTRY_POINT_GROUP = "masgraph.scorers"

BUILT_IN: dict[str, str] = {
    "mapf": "analytics.scorers.mapf:MapfScorer",
    "optiongen": "analytics.scorers.optiongen:OptionGenScorer",
    "evidencechain": "analytics.scorers.evidencechain:EvidenceChainScorer",
    "gomoku": "analytics.scorers.gomoku:GomokuScorer",
    "negotiation": "analytics.scorers.negotiation:NegotiationScorer",
    "tacticduel": "analytics.scorers.tacticduel:TacticDuelScorer",
}
"""Scorers that come with masgraph, in the paper's order; they need no installed metadata."""


class ScorerRegistry(Plugins[Scorer]):
    """Scorers, imported as they are needed."""

    group = ENTRY_POINT_GROUP
    built_in = BUILT_IN
    needed = (
        "name",
        "title",
        "version",
        "dynamic",
        "maximum",
        "needs_judge",
        "read_instance",
        "score",
        "best_score",
        "normal_form",
        "instance_of_expected",
        "with_judge",
    )
    telling = "score"
    called = "the scorer {name}"
    unknown = "there is no scorer {name!r}"
    left_out = "the scorer {place} is left out: {name} is {taken}"

    def scorer(self, name: str) -> Scorer:
        """The scorer with a name; see :meth:`graphstore.plugins.Plugins.part`."""
        return self.part(name)

    def scorers(self) -> dict[str, Scorer]:
        """Every scorer that can be used, by name; see :meth:`Plugins.parts`."""
        return self.parts()


@cache
def default_scorers() -> ScorerRegistry:
    """The built-in scorers and those of installed packages."""
    return ScorerRegistry.installed()
