"""Scorers by name. Others add theirs by the entry point ``masgraph.scorers``.

An entry point's name is the scorer's name; its value is a scorer, or a class or function
that makes one without arguments. Scorers are imported when they are first needed, and one
that cannot be imported costs a warning, not the program.
"""

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import cast

from analytics.scorers.base import Scorer
from graphstore.errors import NotFoundError, UsageError

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

_NEEDED = (
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


@dataclass
class ScorerRegistry:
    """Scorers, imported as they are needed.

    Args:
        places: ``module:attribute`` by name.

    Attributes:
        warnings: One sentence for each scorer that could not be used.
    """

    places: dict[str, str]
    warnings: list[str] = field(default_factory=list)
    _loaded: dict[str, Scorer | None] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All known names, the built-in ones first. Imports nothing."""
        others = sorted(self.places.keys() - BUILT_IN.keys())
        return (*(name for name in BUILT_IN if name in self.places), *others)

    def scorer(self, name: str) -> Scorer:
        """The scorer with a name.

        Raises:
            NotFoundError: There is none.
            UsageError: It cannot be imported.
        """
        if name not in self.places:
            raise NotFoundError(
                f"there is no scorer {name!r}: use one of {', '.join(self.names)}"
            )
        found = self._load(name)
        if found is None:
            raise UsageError(next(w for w in self.warnings if f"scorer {name} " in w))
        return found

    def scorers(self) -> dict[str, Scorer]:
        """Every scorer that can be imported, by name, in the order of :attr:`names`."""
        return {name: scorer for name in self.names if (scorer := self._load(name))}

    def _load(self, name: str) -> Scorer | None:
        if name not in self._loaded:
            try:
                self._loaded[name] = _made(self.places[name])
            except Exception as error:
                self._loaded[name] = None
                self.warnings.append(
                    f"the scorer {name} cannot be used: {type(error).__name__}: {error}"
                )
        return self._loaded[name]


def _made(place: str) -> Scorer:
    module, _, attributes = place.partition(":")
    found: object = import_module(module)
    for name in attributes.split(".") if attributes else ():
        found = getattr(found, name)
    made = found() if isinstance(found, type) or not hasattr(found, "score") else found  # type: ignore[operator]
    missing = [name for name in _NEEDED if not hasattr(made, name)]
    if missing:
        raise TypeError(f"{place} has no {', '.join(missing)}")
    return cast("Scorer", made)


@cache
def default_scorers() -> ScorerRegistry:
    """The built-in scorers and those of installed packages."""
    places = dict(BUILT_IN)
    registry = ScorerRegistry(places)
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda p: (p.name, p.value)):
        if places.setdefault(point.name, point.value) != point.value:
            registry.warnings.append(
                f"the scorer {point.value} is left out: {point.name} is {places[point.name]}"
            )
    return registry


def scorer(name: str) -> Scorer:
    """The scorer with a name; see :meth:`ScorerRegistry.scorer`."""
    return default_scorers().scorer(name)
