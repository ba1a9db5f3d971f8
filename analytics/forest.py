"""Reference forests: graphs that worked, kept so that different ways to succeed stay.

Source: "ForestBench: A Unified Graph Framework for Evaluating Multi-Agent Collaboration": a
reference forest F(q) is a set of verified-success graphs for one query q, picked by clustering
successes. How it clusters, how it weights and what it does for a query without a success is
not public: the choices here are ours, named, and stored with every forest.
"""

import bisect
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from itertools import compress
from operator import mul
from typing import Any, Literal, get_args

from analytics.forest_copies import glance_of
from analytics.forest_keys import LEVELS as LEVELS
from analytics.forest_keys import ForestKey
from analytics.forest_keys import identity_at as identity_at
from analytics.forest_keys import keys_of as keys_of
from analytics.similarity.measure import SimilarityMeasure, measure_named
from graphstore.errors import UsageError
from graphstore.identity import canonical_json, configuration_hash, digest
from graphstore.short_view import TableView, counted

Weighting = Literal["share", "equal"]
WEIGHTINGS: tuple[str, ...] = get_args(Weighting)

SAME = 1e-9
"""Distances and differences of scores below this are rounding."""


@dataclass(frozen=True)
class ForestConfiguration:
    """What a forest depends on besides the graphs.

    Attributes:
        measure: Name of the similarity (:data:`analytics.similarity.measure.MEASURES`).
        options: The measure's options; its defaults for the rest.
        references: How many graphs a forest keeps at most.
        fewest: Distinct successful graphs that a forest needs. A forest of decompositions
            needs one.
        candidates: Distinct graphs that are clustered at most; of more, those with the
            smallest hash of structure and content: as good as drawn, and always the same.
        weights: ``share``: a reference weighs as much as the share of distinct successes
            that it stands for. ``equal``: each way weighs the same.
        quantile: The threshold of a high forest match is this quantile of the matches that
            successes have with the forest without themselves.
        fewest_scores: Such matches that a threshold needs.
        near_copies: Median similarity of two successes from which a forest is flagged.
        seed: Of the clustering's starts.
        starts: How many.
        definitions: Raised whenever any of this changes its meaning.
    """

    measure: str = "forest"
    options: Mapping[str, Any] = field(default_factory=dict)
    references: int = 10
    fewest: int = 2
    candidates: int = 2000
    weights: Weighting = "share"
    quantile: float = 0.1
    fewest_scores: int = 3
    near_copies: float = 0.95
    seed: int = 0
    starts: int = 10
    definitions: str = "2"

    def __post_init__(self) -> None:
        for name in ("references", "fewest", "candidates", "fewest_scores", "starts"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.seed < 0:
            raise UsageError(f"a seed cannot be negative: {self.seed}")
        for name in ("quantile", "near_copies"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name} lies between 0 and 1, not at {getattr(self, name)}")
        if self.weights not in WEIGHTINGS:
            raise UsageError(
                f"there are no weights {self.weights!r}; choose one of {', '.join(WEIGHTINGS)}"
            )

    def make_measure(self) -> SimilarityMeasure:
        """The similarity.

        Raises:
            UsageError: No measure has the name, or it has no such option.
            MissingExtraError: The measure needs a package that is not installed.
        """
        return measure_named(self.measure, **self.options)

    @property
    def configuration(self) -> dict[str, Any]:
        """Every option as JSON values, with those that the measure fills in."""
        rest = {name: value for name, value in asdict(self).items() if name != "options"}
        return {**rest, "measure": self.make_measure().configuration}

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self.configuration)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ForestConfiguration":
        """The configuration that :attr:`configuration` wrote.

        Raises:
            UsageError: An option is unknown, or has no such value.
        """
        measure = dict(values["measure"])
        rest = {name: value for name, value in values.items() if name != "measure"}
        unknown = sorted(set(rest) - {one.name for one in fields(cls)})
        if unknown:
            raise UsageError(f"forests have no option {unknown[0]!r}")
        return cls(measure=measure.pop("measure"), options=measure, **rest)


@dataclass(frozen=True)
class Reference:
    """A graph of a forest, with the cluster of successes that it stands for.

    Attributes:
        graph: Its id.
        signature: Of its structure and content (:func:`analytics.forest_copies.signature`).
        weight: Not negative; those of a forest add up to 1.
        copies: Ids of the graphs with its structure and content, itself included.
        represented: How many successes it stands for, copies counted.
        members: Signatures of the distinct ones among these, its own included.
        weight_without_one: Its cluster's weight where one member is left out, in the same
            unit.
        stand_in: Id of the graph that takes its place where it is the one that is left out;
            None where the cluster has no other.
    """

    graph: str
    signature: str
    weight: float
    copies: tuple[str, ...]
    represented: int
    members: tuple[str, ...]
    weight_without_one: float
    stand_in: str | None = None


@dataclass(frozen=True)
class ReferenceForest:
    """Graphs that worked, different from each other, with weights and a calibration.

    Attributes:
        key: Whose successes these are.
        references: By id.
        successes: Successful graphs, copies counted.
        distinct: Of different structure or content.
        considered: Distinct graphs that were clustered.
        scores: Forest match of each considered graph with the forest without it, ascending;
            graphs for which nothing is left have none.
        threshold: Forest matches from here on are high; None with too few scores.
        median_similarity: Of two considered graphs; None where there is one.
        near_copies: Whether that says that all successes are alike, so that scores say
            little; None where there is one.
    """

    key: ForestKey
    references: tuple[Reference, ...]
    successes: int
    distinct: int
    considered: int
    scores: tuple[float, ...]
    threshold: float | None
    median_similarity: float | None
    near_copies: bool | None

    @property
    def graph_ids(self) -> tuple[str, ...]:
        """Ids of the graphs that scoring needs: references and those that stand in."""
        found = {one.graph for one in self.references}
        found.update(one.stand_in for one in self.references if one.stand_in is not None)
        return tuple(sorted(found))

    @cached_property
    def _places(self) -> dict[str, int]:
        """The place of the reference whose cluster each signature belongs to."""
        return {
            name: place for place, one in enumerate(self.references) for name in one.members
        }

    @cached_property
    def _places_of_ids(self) -> dict[str, int]:
        """The place of the reference that each id is, or is a copy of."""
        return {name: place for place, one in enumerate(self.references) for name in one.copies}

    @cached_property
    def glances(self) -> frozenset[str]:
        """What all its members show at a glance (:func:`analytics.forest_copies.glance`)."""
        return frozenset(map(glance_of, self._places))

    def names(self, graph: str) -> bool:
        """Whether a graph is a reference, or was a copy of one, by its id."""
        return graph in self._places_of_ids

    def references_for(
        self, graph: str, signature: str | None
    ) -> tuple[tuple[str, float], ...]:
        """The references, with weights, that a graph is compared with: never with itself.

        The forest is taken as if it had been built without a success that is a part of it:
        its cluster loses the graph's share. Where the graph is the reference, the cluster's
        next best takes its place. What clusters there are, and all other references, stay as
        they are: that is the approximation. Copies of a success are that success.

        Args:
            graph: Id of the graph that is scored.
            signature: Of its structure and content
                (:func:`analytics.forest_copies.signature`); None where it is known to be of
                no success of this forest.
        """
        place = None if signature is None else self._places.get(signature)
        is_reference = place is not None and self.references[place].signature == signature
        if place is None:
            # A reference whose file was read again may have become another graph.
            place = self._places_of_ids.get(graph)
            is_reference = place is not None
        found = []
        for here, one in enumerate(self.references):
            if here != place:
                found.append((one.graph, one.weight))
            elif not is_reference:
                found.append((one.graph, one.weight_without_one))
            elif one.stand_in is not None:
                found.append((one.stand_in, one.weight_without_one))
        return tuple([one for one in found if one[0] != graph])

    def percentile(self, score: float | None) -> float | None:
        """Share of the successes whose own match is lower, half of those equal, 0 to 1."""
        if score is None or not self.scores:
            return None
        below = bisect.bisect_left(self.scores, score - SAME)
        upto = bisect.bisect_right(self.scores, score + SAME)
        return (below + upto) / 2 / len(self.scores)


@dataclass(frozen=True)
class Shortage:
    """Why there is no forest.

    Attributes:
        key: Whose.
        runs: Graphs that were seen.
        successes: Successful ones.
        distinct: Of different structure or content.
        needed: How many distinct ones a forest needs.
    """

    key: ForestKey
    runs: int
    successes: int
    distinct: int
    needed: int

    @property
    def reason(self) -> str:
        """A phrase for people."""
        few = f"{self.distinct} distinct" if self.distinct else "no"
        successes = "success" if self.distinct == 1 else "successes"
        return f"{few} {successes} among {self.runs} seen, {self.needed} needed"


@dataclass(frozen=True, repr=False)
class ForestSet(TableView):
    """The forests that were built together.

    Attributes:
        configuration: What they were built with.
        selection: Which graphs were asked for: the options' names and values.
        forests: By level and name.
        short: Where there were too few successes, likewise; not kept in a store.
    """

    configuration: ForestConfiguration
    selection: Mapping[str, str | None]
    forests: tuple[ReferenceForest, ...]
    short: tuple[Shortage, ...] = ()

    @property
    def id(self) -> str:
        """Names the set: made from configuration, selection and all that the forests hold."""
        return self._id

    @cached_property
    def _id(self) -> str:
        return "forests-" + digest(
            self.configuration_hash,
            canonical_json(self.selection),
            canonical_json(
                [asdict(one) for one in sorted(self.forests, key=lambda one: one.key.identity)]
            ),
        )

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def forest_id(self, key: ForestKey) -> str:
        """Id of a forest in the store."""
        return f"forest-{digest(self.id, *key.identity)}"

    def to_dict(self) -> dict[str, Any]:
        """JSON values: the set, its configuration with hash, its forests, what is short."""
        return {
            "set": self.id,
            "configuration": self.configuration.configuration,
            "configuration_hash": self.configuration_hash,
            "forests": [{"id": self.forest_id(one.key), **asdict(one)} for one in self.forests],
            "short": [{**asdict(one), "reason": one.reason} for one in self.short],
        }

    def to_pandas(self) -> Any:
        """One line a forest."""
        import pandas

        return pandas.DataFrame(
            [
                {
                    "forest": self.forest_id(one.key),
                    "level": one.key.level,
                    "name": one.key.name,
                    "references": len(one.references),
                    "successes": one.successes,
                    "distinct": one.distinct,
                    "threshold": one.threshold,
                    "median_similarity": one.median_similarity,
                    "near_copies": one.near_copies,
                }
                for one in self.forests
            ]
        )

    def _in_short(self) -> str:
        return (
            f"{counted(len(self.forests), 'forest')} of "
            f"{counted(sum(len(one.references) for one in self.forests), 'reference')}"
        )


def forest_match(similarities: Sequence[float], weights: Sequence[float]) -> float | None:
    """FM(G, F) = sum_k w_k sim(G, G_k) / sum_k w_k (ForestBench).

    Args:
        similarities: 0 to 1; NaN where the measure is not defined: left out.
        weights: One for each, not negative.

    Returns:
        0 to 1; None where no weight is left.
    """
    if len(similarities) != len(weights):
        raise ValueError(f"{len(weights)} weights for {len(similarities)} similarities")
    found = math.fsum(map(mul, weights, similarities))
    if math.isnan(found):
        known = [not math.isnan(value) for value in similarities]
        weights = list(compress(weights, known))
        found = math.fsum(map(mul, weights, compress(similarities, known)))
    total = math.fsum(weights)
    return found / total if total > 0.0 else None


def quantile(ordered: Sequence[float], level: float) -> float:
    """The quantile of ascending values, linear between neighbours."""
    place = level * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
