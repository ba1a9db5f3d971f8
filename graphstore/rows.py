"""What goes into a store and comes out of it: rows."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas

DEFAULT_TIMEOUT = 30.0
"""Seconds that a query may run, unless told otherwise."""

DEFAULT_ROW_LIMIT = 10_000
"""Rows that a query may return, unless told otherwise."""

Change = Literal["written", "replaced", "unchanged"]


@dataclass(frozen=True)
class QueryResult:
    """Rows of a query.

    Attributes:
        columns: Names, in order.
        rows: One tuple a row: scalars, lists of scalars, or JSON-like maps where a query
            returns whole nodes.
        truncated: Whether the row limit cut the answer.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False

    def records(self) -> list[dict[str, Any]]:
        """Rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> "pandas.DataFrame":
        """Rows as a table."""
        import pandas

        return pandas.DataFrame(list(self.rows), columns=list(self.columns))


@dataclass(frozen=True)
class WriteReport:
    """What a write did.

    Attributes:
        changes: For each graph id, in order: ``written``, ``replaced`` (an older reader or
            another content policy made the stored one) or ``unchanged``.
        warnings: For example that a task already has another description.
    """

    changes: tuple[tuple[str, Change], ...]
    warnings: tuple[str, ...] = ()

    @property
    def written(self) -> int:
        """Number of graphs written or replaced."""
        return sum(change != "unchanged" for _, change in self.changes)

    @property
    def unchanged(self) -> int:
        """Number of graphs that were there already."""
        return sum(change == "unchanged" for _, change in self.changes)


Row = dict[str, Any]


@dataclass
class Rows:
    """Nodes and relations as a store writes them.

    Attributes:
        nodes: Property maps by label; each has ``id`` and ``name``. Missing values are
            left out.
        relations: By (type, source label, target label): maps with ``source`` and
            ``target`` (ids) and the relation's own properties.
    """

    nodes: dict[str, list[Row]] = field(default_factory=dict)
    relations: dict[tuple[str, str, str], list[Row]] = field(default_factory=dict)

    def node(self, label: str, row: Row) -> None:
        """Adds a node, without its missing values. The map is taken over, not copied."""
        self.nodes.setdefault(label, []).append(_without_missing(row))

    def relate(self, type: str, source_label: str, target_label: str, row: Row) -> None:
        """Adds a relation, without its missing values. The map is taken over, not copied."""
        self.relations.setdefault((type, source_label, target_label), []).append(
            _without_missing(row)
        )

    def relate_all(
        self, type: str, source_label: str, target_label: str, rows: list[Row]
    ) -> None:
        """Adds relations that miss no value."""
        if rows:
            self.relations.setdefault((type, source_label, target_label), []).extend(rows)


def _without_missing(row: Row) -> Row:
    if None not in row.values():
        return row
    return {name: value for name, value in row.items() if value is not None}
