"""What a search for subtask types is told, and what it gives back."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from graphstore.errors import UsageError
from graphstore.identity import configuration_hash
from graphstore.model import AccessMode, CollaborationGraph, GraphKind, Node
from graphstore.short_view import TableView, counted
from mining.distances import DistanceWeights, PositionWeights, distances_to
from mining.embedders import Embedder
from mining.leaves import DESCRIPTORS, Descriptors, Leaf, leaves_of, modes_of
from mining.type_selection import TypeChoice

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class SubtaskTypeConfiguration:
    """What the types depend on besides the graphs.

    The paper's text names its Table 16 for weights, candidates, penalties and refits and does
    not print the values; these are ours.

    Attributes:
        weights: Of the four distances (omega in Eq. 6).
        position: Of the parts of the distance of positions.
        embedder: A name that :func:`mining.embedders.make_embedder` knows, or that of the
            embedder that is handed to
            :func:`mining.subtask_types.mine_subtask_types`.
        descriptors: How inputs, outputs and resources are described
            (:func:`mining.leaves.leaves_of`).
        candidates: Numbers of types to try; those above the number of leaves are passed over.
            With one task only cohesion can choose.
        chance_weight: How much of the cohesion that random medoids have is taken away; ours.
            0 is the paper's rule, which nearly always takes the largest candidate
            (:mod:`mining.type_selection`).
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
    chance_weight: float = 1.0
    instability_weight: float = 0.25
    low_support_weight: float = 0.25
    min_task_support: int = 2
    refits: int | None = 10
    starts: int = 10
    refit_starts: int = 5
    solver: Literal["fasterpam", "alternate"] = "fasterpam"
    seed: int = 0
    max_leaves: int = 20_000
    definitions: str = "2"

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
        for name in ("chance_weight", "instability_weight", "low_support_weight", "seed"):
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
        return modes_of(self.reads, self.writes)


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


@dataclass(frozen=True, eq=False, repr=False)
class SubtaskTypes(TableView):
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

    def _in_short(self) -> str:
        types = counted(len(self.types), "type")
        leaves = counted(len(self.leaves), "leaf", "leaves")
        return f"{types} of {leaves} of {counted(self.tasks, 'task')}"

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

    @property
    def is_at_upper_end(self) -> bool:
        """Whether the largest of several candidates was chosen: more types may fit better."""
        return len(self.choices) > 1 and len(self.types) == self.choices[-1].k

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
