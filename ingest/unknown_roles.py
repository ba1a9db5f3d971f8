"""The names that no role stands for: what a user may want to add to the alias table."""

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from graphstore.model import CollaborationGraph
from ingest.pipeline import AUTO, ReadOptions, read
from ingest.reader import Rejection
from ingest.roles import RoleTable


@dataclass(frozen=True)
class UnknownName:
    """A name of agents or units whose role is ``unknown``.

    Attributes:
        name: As the trace has it: the role's name where there is one, else the agent's.
        count: How many agents and units go by it.
        formats: Where they were read from, sorted.
        asked: Whether the table was asked for it; False where a reader gives such names no
            role, since they say nothing of what their bearer does.
    """

    name: str
    count: int
    formats: tuple[str, ...]
    asked: bool


@dataclass(frozen=True)
class FormatShare:
    """How many agents and units of one format have no role.

    Attributes:
        format: The reader's name.
        named: All agents and units.
        unknown: Those without a role.
    """

    format: str
    named: int
    unknown: int

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.unknown / self.named if self.named else 0.0


@dataclass
class RoleTally:
    """Counts names without a role, graph by graph.

    Args:
        table: The table that the graphs were read with.
    """

    table: RoleTable
    _named: Counter[str] = field(default_factory=Counter)
    _unknown: Counter[str] = field(default_factory=Counter)
    _names: Counter[str] = field(default_factory=Counter)
    _formats: dict[str, set[str]] = field(default_factory=dict)

    def add(self, graph: CollaborationGraph) -> None:
        """Counts the agents of a graph, and the units that no agent of it plays."""
        played = {agent.unit for agent in graph.agents}
        bearers = [(agent.role, agent.role_name or agent.name) for agent in graph.agents]
        if graph.organization is not None:
            bearers += [
                (unit.role, unit.name)
                for unit in graph.organization.units
                if unit.id not in played
            ]
        format = graph.source.format
        self._named[format] += len(bearers)
        for role, name in bearers:
            if role == "unknown":
                self._unknown[format] += 1
                self._names[name] += 1
                self._formats.setdefault(name, set()).add(format)

    def names(self) -> tuple[UnknownName, ...]:
        """The names without a role, the most frequent first, then by name."""
        return tuple(
            UnknownName(
                name, count, tuple(sorted(self._formats[name])), name in self.table.unknown
            )
            for name, count in sorted(self._names.items(), key=lambda item: (-item[1], item[0]))
        )

    def shares(self) -> tuple[FormatShare, ...]:
        """What each format has, by its name; formats without agents and units are left out."""
        return tuple(
            FormatShare(format, named, self._unknown[format])
            for format, named in sorted(self._named.items())
            if named
        )


@dataclass(frozen=True)
class UnknownRoles:
    """What reading some files told of the alias table.

    Attributes:
        names: The names without a role.
        shares: How many there are in each format.
        rejected: Files and records that could not be read.
    """

    names: tuple[UnknownName, ...]
    shares: tuple[FormatShare, ...]
    rejected: tuple[Rejection, ...]


def unknown_roles(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    format: str = AUTO,
    table: RoleTable | None = None,
) -> UnknownRoles:
    """Reads files, stores nothing, and lists the names that the alias table does not know.

    Args:
        paths: Files, folders, globs or ``-``.
        format: A reader's name; ``auto`` looks at each file's content.
        table: The alias table; by default the one that comes with masgraph.

    Raises:
        InputError: A path stands for no file.
    """
    table = table or RoleTable.default()
    tally = RoleTally(table)
    rejected: list[Rejection] = []
    for result in read(paths, format=format, options=ReadOptions(roles=table)):
        if isinstance(result, Rejection):
            rejected.append(result)
        else:
            tally.add(result)
    return UnknownRoles(tally.names(), tally.shares(), tuple(rejected))
