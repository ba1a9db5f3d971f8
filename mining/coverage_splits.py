"""Which tasks are mined and which are held out, so that no source stands on both sides.

Source: MAC-Bench, appendix B.5 and G.3.3: tasks that share a repository or an original case,
or whose specifications are identical once normalized, stay together; mining subsets are
nested and stratified by source.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from graphstore.errors import NotFoundError, UsageError
from graphstore.identity import content_hash, digest
from graphstore.model import CollaborationGraph
from mining.leaves import leaves_of

SourceLevel = Literal["group", "category", "task"]
SOURCE_LEVELS: tuple[str, ...] = get_args(SourceLevel)


@dataclass(frozen=True, slots=True)
class CoverageTask:
    """A task with what decides on which side it may stand.

    Attributes:
        id: Of the task.
        name: Its name.
        graphs: Ids of its graphs, sorted.
        collection: The data set it belongs to, else the format it was read from.
        group: Number of its source group: tasks of one group are never parted.
        sources: The names by which it can be held out.
    """

    id: str
    name: str
    graphs: tuple[str, ...]
    collection: str
    group: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """The two sides.

    Attributes:
        mining: By id.
        held_out: By id.
    """

    mining: tuple[CoverageTask, ...]
    held_out: tuple[CoverageTask, ...]

    @property
    def mining_groups(self) -> int:
        """Number of source groups that are mined."""
        return len({task.group for task in self.mining})

    @property
    def held_out_groups(self) -> int:
        """Number of source groups that are held out."""
        return len({task.group for task in self.held_out})


def coverage_tasks(
    graphs: Iterable[CollaborationGraph],
    level: SourceLevel = "group",
    same_text: bool = True,
) -> tuple[CoverageTask, ...]:
    """Puts graphs together by task, and tasks by source.

    Tasks of one source, and tasks with identical normalized specifications, belong to one
    group, and so do all that are linked through others. The specification is the task's
    description, or the texts of its leaves where it has none.

    Args:
        graphs: Each once.
        level: What a source is. ``group``: the task's source group, else its data set, else
            its format. ``category``: the data set (else the format) with the task's
            category, whatever the source groups. ``task``: the task's source group, else the
            task alone.
        same_text: Whether tasks with identical specifications stay together. Not where
            descriptions say something else, for example which program wrote the trace.

    Returns:
        By id of the task; groups are numbered by the first task in them.

    Raises:
        UsageError: There is no such level.
    """
    if level not in SOURCE_LEVELS:
        raise UsageError(f"what a source is: one of {', '.join(SOURCE_LEVELS)}, not {level!r}")
    members: dict[str, list[CollaborationGraph]] = {}
    for graph in graphs:
        members.setdefault(graph.task.id, []).append(graph)
    for found in members.values():
        found.sort(key=lambda graph: graph.id)
    names = sorted(members)
    groups = _Groups(len(names))
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        for graph in members[name]:
            keys = [f"source {_source(graph, level)}"]
            if same_text:
                keys.append(f"text {_specification(graph)}")
            for key in keys:
                groups.join(place, first.setdefault(key, place))
    numbers: dict[int, int] = {}
    return tuple(
        [
            CoverageTask(
                id=name,
                name=members[name][0].task.name,
                graphs=tuple([graph.id for graph in members[name]]),
                collection=_collection(members[name][0]),
                group=numbers.setdefault(groups.root(place), len(numbers)),
                sources=tuple(
                    sorted({one for graph in members[name] for one in _sources(graph)})
                ),
            )
            for place, name in enumerate(names)
        ]
    )


class _Groups:
    """Union-find over positions; the smallest position is a group's root."""

    def __init__(self, count: int) -> None:
        self._parents = list(range(count))

    def root(self, place: int) -> int:
        while self._parents[place] != place:
            self._parents[place] = self._parents[self._parents[place]]
            place = self._parents[place]
        return place

    def join(self, one: int, other: int) -> None:
        one, other = sorted((self.root(one), self.root(other)))
        self._parents[other] = one


def _collection(graph: CollaborationGraph) -> str:
    return graph.task.dataset or graph.source.format


def _source(graph: CollaborationGraph, level: SourceLevel) -> str:
    task = graph.task
    if level == "category":
        return digest(_collection(graph), task.category or "")
    if level == "task":
        return digest("group", task.source_group) if task.source_group else digest(task.id)
    return (
        digest("group", task.source_group) if task.source_group else digest(_collection(graph))
    )


def _specification(graph: CollaborationGraph) -> str:
    if graph.task.description is not None and graph.task.description.strip():
        return content_hash(graph.task.description)
    texts = sorted([content_hash(leaf.text) for leaf in leaves_of(graph)])
    # Two tasks of which nothing is known are not the same task.
    return digest(*texts) if texts else digest(graph.task.id)


def _sources(graph: CollaborationGraph) -> list[str]:
    task = graph.task
    collection = _collection(graph)
    names = [collection, graph.source.format]
    if task.category:
        names += [task.category, f"{collection}/{task.category}"]
    if task.source_group:
        names.append(task.source_group)
    return names


def split_tasks(
    tasks: Sequence[CoverageTask],
    share: float = 1 / 3,
    seed: int = 0,
    sources: Sequence[str] = (),
) -> Split:
    """Holds out whole source groups.

    Without named sources, each collection gives up about the same share of its tasks: its
    groups are drawn in random order, and one is held out where that brings the collection
    nearer to its share. Then groups are drawn from all that are left, likewise, towards the
    share of all tasks: collections of one group cannot give up a part.

    Args:
        tasks: From :func:`coverage_tasks`.
        share: Of the tasks to hold out, above 0 and below 1.
        seed: For the drawing.
        sources: Hold out these instead: names of data sets, categories (alone or as
            ``data set/category``), source groups or formats. Groups with any such task are
            held out as a whole.

    Raises:
        NotFoundError: No task has a source of that name.
        UsageError: One side would be empty.
    """
    if not 0 < share < 1:
        raise UsageError("the share of tasks to hold out lies between 0 and 1")
    held = _named(tasks, sources) if sources else _drawn(tasks, share, seed)
    split = Split(
        tuple([task for task in tasks if task.group not in held]),
        tuple([task for task in tasks if task.group in held]),
    )
    if not split.mining or not split.held_out:
        groups = len({task.group for task in tasks})
        side = "is left to mine" if split.held_out else "can be held out"
        tasks_come = "1 task comes" if len(tasks) == 1 else f"{len(tasks)} tasks come"
        source = "1 source" if groups == 1 else f"{groups} sources"
        raise UsageError(
            f"no task {side}: the {tasks_come} from {source} that must not be parted"
        )
    return split


def _named(tasks: Sequence[CoverageTask], sources: Sequence[str]) -> set[int]:
    held: set[int] = set()
    for name in sources:
        found = {task.group for task in tasks if name in task.sources}
        if not found:
            known = sorted({task.collection for task in tasks})
            raise NotFoundError(
                f"no task has the source {name!r}; the data sets are {', '.join(known)}"
            )
        held |= found
    return held


def _drawn(tasks: Sequence[CoverageTask], share: float, seed: int) -> set[int]:
    import numpy

    sizes: dict[int, int] = {}
    strata: dict[int, str] = {}
    for task in tasks:
        sizes[task.group] = sizes.get(task.group, 0) + 1
        strata.setdefault(task.group, task.collection)
    generator = numpy.random.default_rng([seed, 0])
    held: set[int] = set()
    for collection in sorted(set(strata.values())):
        groups = [group for group in sizes if strata[group] == collection]
        wanted = share * sum(sizes[group] for group in groups)
        held |= _nearest(generator.permutation(groups).tolist(), sizes, wanted)
    left = [group for group in sizes if group not in held]
    wanted = share * len(tasks) - sum(sizes[group] for group in held)
    return held | _nearest(generator.permutation(left).tolist(), sizes, wanted)


def _nearest(groups: Sequence[int], sizes: dict[int, int], wanted: float) -> set[int]:
    held: set[int] = set()
    total = 0
    for group in groups:
        # The last group that is mined stays there.
        if len(held) + 1 < len(groups) and abs(total + sizes[group] - wanted) < abs(
            total - wanted
        ):
            held.add(group)
            total += sizes[group]
    return held


def nested_subsets(
    tasks: Sequence[CoverageTask], sizes: Sequence[int], sequences: int, seed: int = 0
) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Mining subsets: in each sequence the smaller ones lie in the larger ones.

    Tasks of each collection are put in random order and spread evenly over the sequence, so
    that each of its beginnings holds the collections in proportion.

    Args:
        tasks: The mining side.
        sizes: Numbers of tasks.
        sequences: How many.
        seed: For the orders.

    Returns:
        For each sequence, for each size in order: ids of tasks, sorted.

    Raises:
        UsageError: A size is below 1 or above the number of tasks.
    """
    import numpy

    for size in sizes:
        if not 1 <= size <= len(tasks):
            raise UsageError(
                f"a mining subset of {size} tasks was asked for, and {len(tasks)} can be mined"
            )
    strata: dict[str, list[str]] = {}
    for task in tasks:
        strata.setdefault(task.collection, []).append(task.id)
    found = []
    for sequence in range(sequences):
        generator = numpy.random.default_rng([seed, 1, sequence])
        keyed: list[tuple[float, str]] = []
        for collection in sorted(strata):
            order: list[Any] = generator.permutation(strata[collection]).tolist()
            start = generator.random()
            keyed += [((start + rank) / len(order), one) for rank, one in enumerate(order)]
        names = [name for _, name in sorted(keyed)]
        found.append(tuple([tuple(sorted(names[:size])) for size in sizes]))
    return tuple(found)
