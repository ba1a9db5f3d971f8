#!/usr/bin/env python3
"""Reads a folder of traces and writes what came out of each format.

    python scripts/measure_formats.py FOLDER

The numbers go to docs/measured/formats.json, which docs/formats.md takes its table from.
Names of files, and anything else that stands in them, are left out: the table is about the
formats.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from graphstore.errors import InputError  # noqa: E402
from ingest.finding import find_files  # noqa: E402
from ingest.pipeline import ReadOptions, read  # noqa: E402
from ingest.reader import Rejection  # noqa: E402
from ingest.registry import default_registry  # noqa: E402

OUT = ROOT / "docs" / "measured" / "formats.json"


@dataclass
class Measured:
    """What came out of the files of one format.

    Attributes:
        files: Files in the format.
        graphs: Runs and decompositions, among them organizations without a run.
        agents: Agents of all graphs.
        actions: Actions, subtasks and groups of all graphs.
        edges: Edges of all graphs.
        inferred_edges: Those of them that a reader guessed.
        warnings: Warnings of all graphs, one for each graph that has it.
        rejected: Files and records that were rejected.
    """

    files: int = 0
    graphs: int = 0
    agents: int = 0
    actions: int = 0
    edges: int = 0
    inferred_edges: int = 0
    warnings: int = 0
    rejected: int = 0


def measure(paths: Sequence[str]) -> tuple[dict[str, Measured], int]:
    """Reads files and counts what comes out.

    Args:
        paths: Files and folders.

    Returns:
        The counts by format, in the order of the readers, and how many files are in none.
    """
    registry = default_registry()
    found = {format: Measured() for format in registry.formats}
    formats: dict[str, str] = {}
    unknown = 0
    for file in find_files(paths):
        try:
            reader = registry.sniff(file.sample)
        except InputError:
            reader = None
        finally:
            file.release()
        if reader is None:
            unknown += 1
            continue
        formats[file.uri] = reader.format
        found[reader.format].files += 1
    for item in read(paths, options=ReadOptions(content="drop")):
        if isinstance(item, Rejection):
            if item.file in formats:
                found[formats[item.file]].rejected += 1
            continue
        counts = found[item.source.format]
        counts.graphs += 1
        counts.agents += len(item.agents)
        counts.actions += len(item.nodes)
        counts.edges += len(item.edges)
        counts.inferred_edges += item.inferred_edges
        counts.warnings += len(item.source.warnings)
    return {format: counts for format, counts in found.items() if counts.files}, unknown


def main() -> int:
    """Writes the counts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders to read")
    parser.add_argument("--out", type=Path, default=OUT, help="the JSON file")
    options = parser.parse_args()
    try:
        found, unknown = measure(options.paths)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    document = {format: asdict(counts) for format, counts in found.items()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    files = sum(counts.files for counts in found.values())
    sys.stdout.write(
        f"{files} files of {len(found)} formats in {options.out}; {unknown} files of none\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
