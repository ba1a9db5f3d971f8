"""Tables of measured numbers, and the page that they stand on."""

import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
PACKAGES = ("kglite", "neo4j", "neo4j-rust-ext", "msgspec", "numba", "numpy")


@dataclass
class Table:
    """A table of results.

    Attributes:
        title: What was measured, on what.
        columns: Names.
        rows: Values; numbers are formatted for people.
        notes: Sentences below the table.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *values: Any) -> None:
        """Adds a row."""
        self.rows.append(values)

    def markdown(self) -> str:
        """The table with its title as a heading."""
        lines = [f"## {self.title}", "", f"| {' | '.join(self.columns)} |"]
        lines.append("|" + "---|" * len(self.columns))
        lines += [f"| {' | '.join(shown(value) for value in row)} |" for row in self.rows]
        return "\n".join([*lines, "", *self.notes, ""])


def shown(value: Any) -> str:
    """A value for people: three significant digits, thousands with a comma."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def write_page(tables: list[Table], path: Path = PAGE) -> None:
    """Writes docs/benchmarks.md."""
    import os

    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    head = [
        "# Benchmarks",
        "",
        "Written by `make benchmarks`. Compare the ratios, which come from one run on one "
        "machine; the absolute numbers say little about yours.",
        "",
        f"Machine: {os.cpu_count()} cores, {platform.machine()}, Python "
        f"{platform.python_version()}. Packages: {versions}.",
        "",
        "",
    ]
    path.write_text("\n".join(head) + "\n".join(table.markdown() for table in tables))


def replace_sections(tables: list[Table], path: Path = PAGE) -> None:
    """Puts tables in the place of those with the same title.

    A table that the page does not have yet goes behind the one before it, or to the end.
    """
    head, *sections = path.read_text().split("\n## ")
    titles = [section.partition("\n")[0] for section in sections]
    place = len(sections)
    for table in tables:
        section = table.markdown().removeprefix("## ").rstrip("\n") + "\n\n"
        if table.title in titles:
            place = titles.index(table.title)
            sections[place] = section
        else:
            titles.insert(place, table.title)
            sections.insert(place, section)
        place += 1
    path.write_text("\n## ".join([head, *sections]).rstrip("\n") + "\n")
