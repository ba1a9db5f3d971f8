"""Subtask types: leaves of all tasks that do the same kind of work.

Source: MAC-Bench, section 3.2.1 and appendix F.1, "subtask types". Leaves are pooled, and
each weighs 1 / |leaves of its task|, so that every task has the same say. Runs are typed
likewise by their actions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from graphstore.errors import UsageError
from graphstore.identity import configuration_hash, digest
from graphstore.model import AccessMode, CollaborationGraph, GraphKind, Node
from mining.distances import (
    DistanceWeights,
    PositionWeights,
    distances_to,
    leaf_distances,
)
from mining.embedders import Embedder, make_embedder
from mining.leaves import DESCRIPTORS, Descriptors, Leaf, leaves_of
from mining.type_selection import Progress, SelectionOptions, TypeChoice, select_types

if TYPE_CHECKING:
    import pandas

__all__ = [
    "SubtaskType",
    "SubtaskTypeConfiguration",
    "SubtaskTypes",
    "TypeChoice",
    "TypedLeaf",
    "mine_subtask_types",
]


@dataclass(frozen=True)
class SubtaskTypeConfiguration:
    """What the types depend on besides the graphs.

    The paper's text names its Table 16 for weights, candidates, penalties and refits and does
    not print the values; these are ours.

    Attributes:
        weights: Of the four distances (omega in Eq. 6).
        position: Of the parts of the distance of positions.
        embedder: A name that :func:`mining.embedders.make_embedder` knows, or that of the
            embedder that is handed to :func:`mine_subtask_types`.
        descriptors: How inputs, outputs and resources are described
            (:func:`mining.leaves.leaves_of`).
        candidates: Numbers of types to try; those above the number of leaves are passed over.
            With one task only cohesion can choose, and the largest wins: name one then.
        instability_weight: lambda 1: what a full instability costs.
        low_support_weight: lambda 2: what it costs if no type has support.
        min_task_support: Tasks that a type must have leaves in.
        refits: How many tasks are left out in turn, drawn by the seed; None for all.
        starts: Of each fit.
        refit_starts: Of each refit.
        solver: ``fasterpam``, or ``alternate`` as in the paper.
        seed: For everything that is drawn.
        max_leaves: More are refused: distances take ``4 * leaves ** 2`` bytes.
        definitions: Raised whenever the same graphs would give other types.
    """

    weights: DistanceWeights = field(default_factory=DistanceWeights)
    position: PositionWeights = field(default_factory=PositionWeights)
    embedder: str = "tfidf"
    descriptors: Descriptors = "type"
    candidates: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 40)
    instability_weight: float = 1.0
    low_support_weight: float = 1.0
    min_task_support: int = 2
    refits: int | None = 10
    starts: int = 10
    refit_starts: int = 5
    solver: Literal["fasterpam", "alternate"] = "fasterpam"
    seed: int = 0
    max_leaves: int = 20_000
    definitions: str = "1"

    def __post_init__(self) -> None:
        if not self.candidates or min(self.candidates) < 1:
            raise UsageError("the numbers of types to try must be 1 or more")
        object.__setattr__(self, "candidates", tuple(sorted(set(self.candidates))))
        if self.descriptors not in DESCRIPTORS:
            raise UsageError(f"the descriptors are one of {', '.join(DESCRIPTORS)}")
        if self.solver not in ("fasterpam", "alternate"):
            raise UsageError("the solver is fasterpam or alternate")
        for name in ("min_task_support", "starts", "refit_starts", "max_leaves"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")
        for name in ("instability_weight", "low_support_weight", "seed"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise UsageError(f"{name} must not be negative")
        if self.refits is not None and self.refits < 0:
            raise UsageError("refits must not be negative")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class SubtaskType:
    """A kind of work.

    Attributes:
        id: Made from the configuration, the leaves and the medoid.
        label: ``T1``, ``T2``, ...: by tasks, then by weight, the largest first.
        medoid: The leaf that stands for it; its name is the type's name for people.
        leaves: Number of leaves.
        weight: Sum of their weights: in tasks.
        tasks: Ids of the tasks that have such leaves, sorted.
        inputs: Descriptors of all inputs that its leaves have, sorted.
        outputs: Of all outputs.
        reads: Of all resources that are read.
        writes: Of all resources that are changed.
        radius: Weighted mean distance of its leaves to the medoid, 0 to 1.
    """

    id: str
    label: str
    medoid: Leaf
    leaves: int
    weight: float
    tasks: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    radius: float

    @property
    def name(self) -> str:
        """The medoid's short label."""
        return self.medoid.name

    @property
    def task_support(self) -> int:
        """Number of distinct tasks."""
        return len(self.tasks)

    @property
    def access_modes(self) -> tuple[AccessMode, ...]:
        """Whether resources are read, changed, both or neither."""
        modes: list[AccessMode] = []
        if self.reads:
            modes.append("read")
        if self.writes:
            modes.append("write")
        return tuple(modes)


@dataclass(frozen=True, slots=True)
class TypedLeaf:
    """A leaf and its type.

    Attributes:
        node: Id of the node.
        graph: Id of the graph.
        task: Id of the task.
        type: Position in :attr:`SubtaskTypes.types`.
        distance: To the medoid, 0 to 1.
    """

    node: str
    graph: str
    task: str
    type: int
    distance: float


@dataclass(frozen=True, eq=False)
class SubtaskTypes:
    """The types of a corpus.

    Attributes:
        configuration: What they were made with.
        scope: ``run`` or ``decomposition``; None without graphs.
        types: By number of tasks, then weight, the largest first.
        choices: What each candidate number of types is worth, ascending.
        leaves: All leaves by graph, then index, with their types.
        tasks: Number of tasks that have leaves.
        hash: Of the configuration, the leaves and their types.
        embedder: As it was fitted: what :meth:`assign` needs.
    """

    configuration: SubtaskTypeConfiguration
    scope: GraphKind | None
    types: tuple[SubtaskType, ...]
    choices: tuple[TypeChoice, ...]
    leaves: tuple[TypedLeaf, ...]
    tasks: int
    hash: str
    embedder: Embedder = field(repr=False)
    _labels: dict[str, str] = field(repr=False)

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    @property
    def name(self) -> str:
        """Names these types and no others: for ``labels`` of a motif configuration."""
        return f"subtask-types:{self.hash}"

    @property
    def chosen(self) -> TypeChoice | None:
        """What the chosen number of types is worth; None without leaves."""
        return next((one for one in self.choices if one.k == len(self.types)), None)

    def type_of(self, node: Node) -> str | None:
        """The label of a node's type; None for a node that was no leaf of these graphs."""
        return self._labels.get(node.id)

    def assign(self, graphs: Iterable[CollaborationGraph]) -> dict[str, str]:
        """Gives the leaves of any graphs the type of the nearest medoid.

        For tasks that were not mined; those that were get the types they have.

        Returns:
            Labels by node id; empty where there are no types.
        """
        leaves = [
            leaf
            for graph in graphs
            for leaf in leaves_of(graph, self.configuration.descriptors)
        ]
        if not leaves or not self.types:
            return {}
        place = {leaf.node: number for number, leaf in enumerate(self.leaves)}
        # The order in which ties were decided when the types were made.
        types = sorted(self.types, key=lambda one: place[one.medoid.id])
        pool = [*[one.medoid for one in types], *leaves]
        distances = distances_to(
            pool,
            self.embedder.embed([leaf.text for leaf in pool]),
            len(types),
            self.configuration.weights,
            self.configuration.position,
        )
        nearest = distances[len(types) :].argmin(axis=1).tolist()
        return {
            leaf.id: self._labels.get(leaf.id, types[column].label)
            for leaf, column in zip(leaves, nearest, strict=True)
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a type, in order."""
        import pandas

        names = (
            "id",
            "label",
            "name",
            "leaves",
            "weight",
            "task_support",
            "inputs",
            "outputs",
            "reads",
            "writes",
            "access_modes",
            "radius",
            "tasks",
        )
        return pandas.DataFrame(
            {
                **{name: [getattr(one, name) for one in self.types] for name in names},
                "medoid": [one.medoid.id for one in self.types],
                "text": [one.medoid.text for one in self.types],
            }
        )

    def choices_to_pandas(self) -> "pandas.DataFrame":
        """One line a candidate number of types."""
        import pandas

        names = TypeChoice.__dataclass_fields__
        return pandas.DataFrame(
            {name: [getattr(one, name) for one in self.choices] for name in names}
        )

    def leaves_to_pandas(self) -> "pandas.DataFrame":
        """One line a leaf, with the label of its type."""
        import pandas

        return pandas.DataFrame(
            {
                "node": [leaf.node for leaf in self.leaves],
                "graph": [leaf.graph for leaf in self.leaves],
                "task": [leaf.task for leaf in self.leaves],
                "type": [self.types[leaf.type].label for leaf in self.leaves],
                "distance": [leaf.distance for leaf in self.leaves],
            }
        )


def mine_subtask_types(
    graphs: Iterable[CollaborationGraph],
    configuration: SubtaskTypeConfiguration | None = None,
    *,
    embedder: Embedder | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> SubtaskTypes:
    """Finds the types of all leaves of decompositions, or of all actions of runs.

    The order of the graphs does not matter. Several graphs of one task share its weight.
    Without graphs, or without leaves, there are no types.

    Args:
        graphs: Decompositions, or runs.
        configuration: Options; the defaults where None.
        embedder: Makes vectors of texts; by default the one that the configuration names.
        threads: How many starts run at once; the result does not depend on it.
        progress: Told how many fits are done, and of how many.

    Raises:
        UsageError: Runs and decompositions are mixed, a graph comes twice, there are more
            leaves than ``max_leaves`` or fewer than any candidate asks for, or the embedder
            is not the configuration's.
        MissingExtraError: The embedder's package is not installed.
    """
    options = configuration or SubtaskTypeConfiguration()
    if embedder is not None and configuration is None:
        options = replace(options, embedder=embedder.name)
    chosen = make_embedder(options.embedder) if embedder is None else embedder
    if chosen.name != options.embedder:
        raise UsageError(
            f"the configuration names the embedder {options.embedder!r}, not {chosen.name!r}"
        )
    scope, leaves = _pool(graphs, options)
    texts = [leaf.text for leaf in leaves]
    fitted = chosen.fit(texts)
    if not leaves:
        return SubtaskTypes(
            configuration=options,
            scope=scope,
            types=(),
            choices=(),
            leaves=(),
            tasks=0,
            hash=digest(options.hash, scope or "", size=8),
            embedder=fitted,
            _labels={},
        )
    import numpy

    names = sorted({leaf.task for leaf in leaves})
    number = {name: place for place, name in enumerate(names)}
    tasks = numpy.array([number[leaf.task] for leaf in leaves])
    weights = 1 / numpy.bincount(tasks)[tasks]
    vectors = fitted.embed(texts) if options.weights.semantic else None
    distances = leaf_distances(leaves, vectors, options.weights, options.position)
    fit, choices = select_types(
        distances,
        weights,
        tasks,
        SelectionOptions(
            candidates=options.candidates,
            instability_weight=options.instability_weight,
            low_support_weight=options.low_support_weight,
            min_task_support=options.min_task_support,
            refits=options.refits,
            starts=options.starts,
            refit_starts=options.refit_starts,
            solver=options.solver,
            seed=options.seed,
        ),
        threads=threads,
        progress=progress,
    )
    own = distances[numpy.arange(len(leaves)), fit.medoids[fit.labels]]
    return _result(options, scope, leaves, weights, fit, own, choices, fitted)


def _pool(
    graphs: Iterable[CollaborationGraph], options: SubtaskTypeConfiguration
) -> tuple[GraphKind | None, list[Leaf]]:
    scope: GraphKind | None = None
    found: dict[str, tuple[Leaf, ...]] = {}
    total = 0
    for graph in graphs:
        if scope is None:
            scope = graph.kind
        elif graph.kind != scope:
            raise UsageError("runs and decompositions cannot be typed together")
        if graph.id in found:
            raise UsageError(f"the graph {graph.id} was given twice")
        found[graph.id] = leaves_of(graph, options.descriptors)
        total += len(found[graph.id])
        if total > options.max_leaves:
            raise UsageError(
                f"there are more leaves than max_leaves = {options.max_leaves}: their "
                f"distances would take more than {4 * options.max_leaves**2 / 1e9:.1f} GB"
            )
    return scope, [leaf for graph in sorted(found) for leaf in found[graph]]


def _result(
    options: SubtaskTypeConfiguration,
    scope: GraphKind | None,
    leaves: Sequence[Leaf],
    weights: Any,
    fit: Any,
    own: Any,
    choices: tuple[TypeChoice, ...],
    embedder: Embedder,
) -> SubtaskTypes:
    configured = options.hash
    corpus = digest(*[leaf.id for leaf in leaves])
    members: list[list[int]] = [[] for _ in fit.medoids]
    for place, label in enumerate(fit.labels.tolist()):
        members[label].append(place)
    types: list[SubtaskType] = []
    for medoid, places in zip(fit.medoids.tolist(), members, strict=True):
        inside = [leaves[place] for place in places]
        weight = float(weights[places].sum())
        types.append(
            SubtaskType(
                id=f"type-{digest(configured, corpus, leaves[medoid].id)}",
                label="",
                medoid=leaves[medoid],
                leaves=len(places),
                weight=weight,
                tasks=tuple(sorted({leaf.task for leaf in inside})),
                inputs=_union(leaf.inputs for leaf in inside),
                outputs=_union(leaf.outputs for leaf in inside),
                reads=_union(leaf.reads for leaf in inside),
                writes=_union(leaf.writes for leaf in inside),
                radius=float((weights[places] * own[places]).sum()) / weight,
            )
        )
    order = sorted(
        range(len(types)),
        key=lambda place: (
            -types[place].task_support,
            -round(types[place].weight, 9),
            place,
        ),
    )
    rank = {old: new for new, old in enumerate(order)}
    named = tuple([replace(types[old], label=f"T{new + 1}") for new, old in enumerate(order)])
    typed = tuple(
        [
            TypedLeaf(leaf.id, leaf.graph, leaf.task, rank[label], float(distance))
            for leaf, label, distance in zip(leaves, fit.labels.tolist(), own, strict=True)
        ]
    )
    lines = [f"{leaf.node} {leaf.type}" for leaf in typed]
    return SubtaskTypes(
        configuration=options,
        scope=scope,
        types=named,
        choices=choices,
        leaves=typed,
        tasks=len({leaf.task for leaf in leaves}),
        hash=digest(configured, scope or "", *lines, size=8),
        embedder=embedder,
        _labels={leaf.node: named[leaf.type].label for leaf in typed},
    )


def _union(descriptors: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted({name for names in descriptors for name in names}))
