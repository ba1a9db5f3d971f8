"""Templates of single subtasks and pairs: where work comes together, and what is shared.

Source: MAC-Bench, section 3.2.1 and appendix F.1. Subtasks that combine multiple upstream
contributions and feed further work supply integration templates; shared-resource
interactions supply coupling templates. Both keep types of inputs and outputs and modes of
access; equal ones are one template, supported by the tasks that show it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphstore.identity import canonical_json, digest
from graphstore.model import Artifact, Node
from mining.boundaries import Contents


@dataclass(frozen=True, slots=True)
class IntegrationTemplate:
    """A subtask with several suppliers that feeds further work.

    Attributes:
        id: Made from the rest but for counts and support.
        label: The type of the subtask.
        suppliers: For each supplier, its type and the descriptors of what it hands over
            (types of artifacts; names, where they have no type), sorted.
        users: Types of the subtasks that it feeds, sorted.
        outputs: Descriptors of its outputs, sorted.
        accesses: Its accesses as ``mode descriptor``, sorted.
        crossing: Whether at least two of its suppliers stand in different groups, where a
            group is a child of the root.
        count: Number of subtasks that show it.
        tasks: Ids of the tasks that show it, sorted.
    """

    id: str
    label: str
    suppliers: tuple[tuple[str, tuple[str, ...]], ...]
    users: tuple[str, ...]
    outputs: tuple[str, ...]
    accesses: tuple[str, ...]
    crossing: bool
    count: int
    tasks: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The types that it names, sorted."""
        suppliers = [label for label, _ in self.suppliers]
        return tuple(sorted({self.label, *suppliers, *self.users}))

    @property
    def description(self) -> str:
        """The template in words."""
        parts = [_end(label, handed) for label, handed in self.suppliers]
        outputs = f", makes {', '.join(self.outputs)}" if self.outputs else ""
        accesses = f", {', '.join(self.accesses)}" if self.accesses else ""
        return (
            f"{self.label} joins {' + '.join(parts)}{outputs}{accesses}, "
            f"feeds {', '.join(self.users)}"
        )


@dataclass(frozen=True, slots=True)
class CouplingTemplate:
    """Two subtasks that change one shared resource.

    Attributes:
        id: Made from the rest but for counts and support.
        ends: Type and modes of access (to what they share) of both, sorted. Modes are empty
            where the graph does not say.
        resources: Descriptors of what they share, sorted; empty where it is not named.
        crossing: Whether the two stand in different groups, children of the root.
        count: Number of couplings that show it.
        tasks: Ids of the tasks that show it, sorted.
    """

    id: str
    ends: tuple[tuple[str, tuple[str, ...]], tuple[str, tuple[str, ...]]]
    resources: tuple[str, ...]
    crossing: bool
    count: int
    tasks: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The types that it names, sorted."""
        return tuple(sorted({label for label, _ in self.ends}))

    @property
    def description(self) -> str:
        """The template in words."""
        one, other = [_end(label, modes) for label, modes in self.ends]
        shared = f" share {', '.join(self.resources)}" if self.resources else " are coupled"
        return f"{one} and {other}{shared}"


def _end(label: str, details: Sequence[str]) -> str:
    return f"{label} ({', '.join(details)})" if details else label


_Ends = tuple[tuple[str, tuple[str, ...]], ...]
_IntegrationKey = tuple[str, _Ends, tuple[str, ...], tuple[str, ...], tuple[str, ...], bool]
_CouplingKey = tuple[_Ends, tuple[str, ...], bool]


class TemplateCollector:
    """Gathers the templates of one graph after the other."""

    def __init__(self) -> None:
        self._integrations: defaultdict[_IntegrationKey, list[str]] = defaultdict(list)
        self._couplings: defaultdict[_CouplingKey, list[str]] = defaultdict(list)

    def add(self, contents: Contents) -> None:
        """Takes the next graph. Subtasks without a type show no template."""
        task = contents.graph.task.id
        for integration in _integrations(contents):
            self._integrations[integration].append(task)
        for coupling in _couplings(contents):
            self._couplings[coupling].append(task)

    def integrations(self, min_task_support: int) -> tuple[IntegrationTemplate, ...]:
        """By support and count, the largest first; ties by what they say."""
        found = [
            IntegrationTemplate(
                f"integration-{digest(canonical_json(key))}",
                *key,
                count=len(tasks),
                tasks=tuple(sorted(set(tasks))),
            )
            for key, tasks in sorted(self._integrations.items())
            if len(set(tasks)) >= min_task_support
        ]
        return tuple(sorted(found, key=lambda one: (-len(one.tasks), -one.count)))

    def couplings(self, min_task_support: int) -> tuple[CouplingTemplate, ...]:
        """Likewise."""
        found = [
            CouplingTemplate(
                f"coupling-{digest(canonical_json(key))}",
                (ends[0], ends[1]),
                resources,
                crossing,
                count=len(tasks),
                tasks=tuple(sorted(set(tasks))),
            )
            for (ends, resources, crossing), tasks in sorted(self._couplings.items())
            for key in [(ends, resources, crossing)]
            if len(set(tasks)) >= min_task_support
        ]
        return tuple(sorted(found, key=lambda one: (-len(one.tasks), -one.count)))


def _integrations(contents: Contents) -> Iterator[_IntegrationKey]:
    nodes, labels, paths = contents.graph.nodes, contents.labels, contents.tree.paths
    suppliers: list[list[int]] = [[] for _ in nodes]
    users: list[list[int]] = [[] for _ in nodes]
    for source, target in contents.dependencies:
        suppliers[target].append(source)
        users[source].append(target)
    for leaf in contents.tree.leaves:
        label = labels[leaf]
        # A slice, since a root that supplies what it contains stands in no group.
        gets = [
            (supplier_label, _handed(nodes[supplier], nodes[leaf]), paths[supplier][:1])
            for supplier in suppliers[leaf]
            if (supplier_label := labels[supplier]) is not None
        ]
        gives = [user_label for user in users[leaf] if (user_label := labels[user]) is not None]
        if label is None or len(gets) < 2 or not gives:
            continue
        yield (
            label,
            tuple(sorted([(one, items) for one, items, _ in gets])),
            tuple(sorted(gives)),
            _descriptors(nodes[leaf].outputs),
            tuple(sorted({
                f"{access.mode} {_named(contents, access.resource)}"
                for access in nodes[leaf].accesses
            })),
            len({group for _, _, group in gets}) > 1 and not contents.tree.flat,
        )  # fmt: skip


def _couplings(contents: Contents) -> Iterator[_CouplingKey]:
    nodes, labels, paths = contents.graph.nodes, contents.labels, contents.tree.paths
    for (one, other), resources in contents.couplings.items():
        first, second = labels[one], labels[other]
        if first is None or second is None:
            continue
        ends = tuple(
            sorted(
                [
                    (label, tuple(sorted({
                        access.mode
                        for access in nodes[node].accesses
                        if access.resource in resources
                    })))
                    for label, node in ((first, one), (second, other))
                ]
            )
        )  # fmt: skip
        shared = tuple(sorted({_named(contents, resource) for resource in resources}))
        apart = not contents.tree.flat and paths[one][:1] != paths[other][:1]
        yield ends, shared, apart


def _handed(source: Node, target: Node) -> tuple[str, ...]:
    required = set(target.inputs)
    return _descriptors([item for item in source.outputs if item in required])


def _descriptors(artifacts: Sequence[Artifact]) -> tuple[str, ...]:
    return tuple(sorted({item.type or item.name for item in artifacts}))


def _named(contents: Contents, resource: str) -> str:
    found = contents.resources[resource]
    return found.type or found.name
