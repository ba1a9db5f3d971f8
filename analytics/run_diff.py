"""Two runs as an aligned diff: what they share, what one lacks, where they part."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from analytics.similarity.compare import align
from graphstore.model import CollaborationGraph
from graphstore.short_view import TableView, counted

if TYPE_CHECKING:
    import pandas

    from analytics.similarity.alignment import Alignment

DiffKind = Literal["matched", "relabelled", "rewired", "extra", "missing"]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of a diff.

    Attributes:
        kind: ``matched``: the same label and the same edges; ``relabelled``: a counterpart
            with another label; ``rewired``: a counterpart with other edges; ``extra``: in the
            first run alone; ``missing``: in the second alone.
        one: Index in the first run.
        other: Index in the second run.
        reworded: Whether both contents are known and differ.
    """

    kind: DiffKind
    one: int | None
    other: int | None
    reworded: bool


@dataclass(frozen=True, repr=False)
class RunDiff(TableView):
    """Two runs side by side.

    Attributes:
        one: Id of the first run.
        other: Id of the second run.
        alignment: What the diff is made of.
        rows: In the order of the first run; what the second has more stands where it would
            come.
    """

    one: str
    other: str
    alignment: "Alignment"
    rows: tuple[DiffRow, ...]

    def count(self, kind: DiffKind) -> int:
        """Number of rows of a kind."""
        return sum(row.kind == kind for row in self.rows)

    @property
    def conclusion(self) -> str:
        """Two plain sentences: how alike the runs are, and where they part."""
        found = self.alignment
        if found.similarity is None:
            return "Neither run has an action: there is nothing to compare."
        told = (
            f"Similarity {found.similarity:.3f} (alignment, {found.cost} edits): "
            f"{self.count('matched')} actions agree, {self.count('relabelled')} have another "
            f"label, {self.count('rewired')} other edges, {self.count('extra')} are only in "
            f"the first run and {self.count('missing')} only in the second."
        )
        if found.first_divergence is not None:
            return f"{told} The first run parts from the second at action " + (
                f"{found.first_divergence}."
            )
        if found.missing:
            return f"{told} The first run is a part of the second."
        return f"{told} The runs do not part."

    def to_dict(self) -> dict[str, Any]:
        """JSON values: the ids, the alignment, the rows and the conclusion."""
        return {
            "one": self.one,
            "other": self.other,
            "configuration": self.alignment.configuration,
            "configuration_hash": self.alignment.configuration_hash,
            "similarity": self.alignment.similarity,
            "first_divergence": self.alignment.first_divergence,
            "rows": [
                {
                    "kind": row.kind,
                    "one": row.one,
                    "other": row.other,
                    "reworded": row.reworded,
                }
                for row in self.rows
            ],
            "conclusion": self.conclusion,
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a row: ``kind``, ``one``, ``other`` and ``reworded``."""
        import pandas

        columns = {"kind": "string", "one": "Int64", "other": "Int64", "reworded": "boolean"}
        return pandas.DataFrame(
            {
                name: pandas.Series([getattr(row, name) for row in self.rows], dtype=kind)
                for name, kind in columns.items()
            }
        )

    def _in_short(self) -> str:
        return f"{counted(len(self.rows), 'row')}, similarity {self.alignment.similarity:.3f}"


def run_diff(one: CollaborationGraph, other: CollaborationGraph, **options: Any) -> RunDiff:
    """Aligns two runs and lists them side by side.

    Args:
        one: The run that is looked at.
        other: The run that it is compared with.
        **options: Of the alignment: ``labels`` for example.

    Raises:
        UsageError: An option is not known.
    """
    found = align(one, other, **options)
    relabelled, reworded = set(found.relabelled), set(found.reworded)
    matches = {match.one: match for match in found.matched}
    waiting = list(found.missing)[::-1]
    rows: list[DiffRow] = []

    def flush(until: int) -> None:
        while waiting and waiting[-1] < until:
            rows.append(DiffRow("missing", None, waiting.pop(), False))

    for index in range(len(one.nodes)):
        match = matches.get(index)
        if match is None:
            rows.append(DiffRow("extra", index, None, False))
            continue
        flush(match.other)
        kind: DiffKind = "matched"
        if index in relabelled:
            kind = "relabelled"
        elif match.cost > 0:
            kind = "rewired"
        rows.append(DiffRow(kind, index, match.other, index in reworded))
    flush(len(other.nodes))
    return RunDiff(one.id, other.id, found, tuple(rows))
