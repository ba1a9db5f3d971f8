"""One HTML file with the answers to the saved questions. It loads nothing from anywhere."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.files import write_file
from app.output import show
from graphstore.queries import SavedQuery, bind, saved_query
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from graphstore.rows import QueryResult

SECTIONS: tuple[str, ...] = (
    "datasets-overview",
    "outcomes-by-method",
    "evaluations-by-method",
    "motifs-by-support",
    "types-by-support",
    "rules-by-support",
    "templates-by-support",
    "outcomes-by-task",
    "tokens-by-method",
    "tokens-by-role",
    "actions-by-role",
    "who-talks-to-whom",
    "critics-and-their-readers",
    "unconsumed-by-role",
    "tool-failure-rates",
    "subtasks-by-fan-in",
    "couplings-across-groups",
    "unused-links",
    "formats-overview",
    "guessed-edges",
    "unknown-roles",
    "reader-warnings",
)
"""The saved queries that a report answers, in order."""

ROWS = 25
"""Rows that a section shows; the query itself gives more."""

BARRED = ("runs", "actions", "messages", "tokens_out", "success_rate", "task_support")
"""Columns that get a bar, relative to the largest value shown."""

TILES = (
    "Run",
    "Decomposition",
    "Task",
    "Method",
    "Agent",
    "Action",
    "Subtask",
    "SubtaskType",
    "Motif",
    "CompositionRule",
)

EMPTY: dict[str, str] = {
    "evaluations-by-method": "No run has been evaluated yet: run  masgraph evaluate",
    "motifs-by-support": "No motifs have been mined yet: run  masgraph mine",
}
WHERE_FOUND = ("types-by-support", "rules-by-support", "templates-by-support")
"""Sections that are left out where they have no rows."""

HIDDEN = ("method_id", "task_id", "configuration_hash")
"""Columns that a person does not read; the query gives them."""

HIDDEN_HERE: dict[str, tuple[str, ...]] = {
    "types-by-support": ("subtask_type", "library"),
    "rules-by-support": ("alignment", "first", "second", "rule", "library"),
    "templates-by-support": ("template", "library"),
}
"""Likewise, of one section."""

_WIDTH, _HEIGHT = 280, 120


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: For people.
        number: Whether it stands on the right.
        share: Of the column's largest value, in percent, for a bar; None for no bar.
    """

    text: str
    number: bool
    share: int | None


def write_report(store: GraphStore, path: Path, *, title: str) -> None:
    """Writes the report of a store.

    The same store gives the same bytes: the file names no time.

    Args:
        store: What to report on; results of ``evaluate`` and ``mine`` are read, not made.
        path: The file; its folder is made.
        title: The heading.

    Raises:
        InputError: The file cannot be written.
    """
    write_file(path, render(store, title=title), make_folder=True)


def render(store: GraphStore, *, title: str) -> str:
    """The report as HTML."""
    from importlib.metadata import version

    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("app", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    counts = store.counts()
    return environment.get_template("report.html.j2").render(
        title=title,
        subtitle="Answers to the saved questions about one store, as they stand there.",
        tiles=[
            {"name": name, "value": f"{counts[name]:,}"} for name in TILES if counts.get(name)
        ],
        sections=[
            section
            for section in (_section(store, saved_query(name)) for name in SECTIONS)
            if section["rows"] or section["name"] not in WHERE_FOUND
        ],
        footer=f"Made by masgraph {version('masgraph')}. A dash is a missing value, never 0.",
    )


def _section(store: GraphStore, saved: SavedQuery) -> dict[str, Any]:
    result = store.query(saved.cypher, bind(saved, {}), row_limit=ROWS)
    hidden = (*HIDDEN, *HIDDEN_HERE.get(saved.name, ()))
    section = {
        "name": saved.name,
        "title": saved.title,
        "question": saved.question,
        "command": f"masgraph query {saved.name}",
        "columns": [
            column.replace("_", " ") for column in result.columns if column not in hidden
        ],
        "rows": [],
        "motifs": [],
        "truncated": result.truncated,
        "empty": EMPTY.get(saved.name, "Nothing in this store answers it."),
    }
    if saved.name == "motifs-by-support":
        section["motifs"] = [_motif(record) for record in result.records()]
    else:
        section["rows"] = _cells(result, hidden)
    return section


def _cells(result: "QueryResult", hidden: tuple[str, ...]) -> list[list[Cell]]:
    tops = {}
    for position, column in enumerate(result.columns):
        if column in BARRED:
            values = [row[position] for row in result.rows if row[position] is not None]
            tops[position] = max(values, default=0)
    return [
        [
            Cell(
                text=show(value),
                number=isinstance(value, (int, float)) and not isinstance(value, bool),
                share=(
                    round(100 * value / tops[position])
                    if value is not None and tops.get(position)
                    else None
                ),
            )
            for position, value in enumerate(row)
            if result.columns[position] not in hidden
        ]
        for row in result.rows
    ]


def _motif(record: dict[str, Any]) -> dict[str, Any]:
    import msgspec
    from markupsafe import Markup

    from mining.canonical import Pattern

    labels, relations = msgspec.json.decode(record["canonical_form"])
    pattern = Pattern(tuple(labels), tuple(relations))
    return {
        "drawing": Markup(_drawing(pattern)),
        "caption": (
            f"{pattern.shape}: {record['task_support']:,} tasks, {record['graph_support']:,} "
            f"{record['scope']}s, {record['occurrences']:,} occurrences"
        ),
    }


def _drawing(pattern: Any) -> str:
    """A pattern as SVG: solid arrows are edges, dashed ones longer paths, thick couplings."""
    from markupsafe import escape

    from mining.canonical import COUPLED, DIRECT, DIRECT_BACK, INDIRECT_BACK, PAIRS

    spots = _spots(pattern)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(pattern.description)}">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>',
    ]
    for (one, other), relation in zip(PAIRS[pattern.size], pattern.relations, strict=True):
        coupled, precedence = divmod(relation, COUPLED)
        if coupled:
            parts.append(_line(spots[one], spots[other], 'class="coupled"'))
        if precedence in (DIRECT_BACK, INDIRECT_BACK):
            one, other = other, one
        if precedence:
            direct = precedence in (DIRECT, DIRECT_BACK)
            look = "" if direct else 'class="indirect" '
            parts.append(_line(spots[one], spots[other], look + 'marker-end="url(#tip)"'))
    for (x, y), label in zip(spots, pattern.labels, strict=True):
        words = label.split("/")
        first = y - 2 - 11 * len(words) if y < _HEIGHT / 2 else y + 18
        parts.append(f'<circle cx="{x}" cy="{y}" r="6"/>')
        for line, word in enumerate(words):
            spot = f'x="{x}" y="{first + 11 * line}" text-anchor="middle"'
            parts.append(f"<text {spot}>{escape(word)}</text>")
    return "".join([*parts, "</svg>"])


def _spots(pattern: Any) -> list[tuple[int, int]]:
    """Where each node is drawn: what comes first in the pattern stands on the left."""
    from mining.canonical import COUPLED, DIRECT, INDIRECT, PAIRS

    before = [0] * pattern.size
    for (one, other), relation in zip(PAIRS[pattern.size], pattern.relations, strict=True):
        precedence = relation % COUPLED
        if precedence:
            before[other if precedence in (DIRECT, INDIRECT) else one] += 1
    places = [(60, 35), (220, 35)] if pattern.size == 2 else [(60, 35), (140, 85), (220, 35)]
    order = sorted(range(pattern.size), key=lambda node: (before[node], node))
    spot = dict(zip(order, places, strict=True))
    return [spot[node] for node in range(pattern.size)]


def _line(start: tuple[int, int], end: tuple[int, int], extra: str) -> str:
    """A line between two circles that ends at their rims."""
    (x1, y1), (x2, y2) = start, end
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    dx, dy = 9 * (x2 - x1) / length, 9 * (y2 - y1) / length
    return (
        f'<line x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" y2="{y2 - dy:.1f}" '
        f"{extra}/>"
    )
