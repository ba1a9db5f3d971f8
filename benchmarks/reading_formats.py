"""How fast each format is read, beside what decoding its bytes alone costs.

Every format's example is made larger (:mod:`benchmarks.format_inputs`) and read. With
``--files FOLDER``, the files of a folder are read instead, by format.

The yardsticks are ``json.loads`` of the standard library and :mod:`msgspec` on the same bytes,
line by line or at once as the file is made, all of it kept; for logs, ``str.splitlines``; for
CSV, :mod:`csv`; for the ``repr`` of Python objects, :mod:`ast`; for XML, ElementTree. Parquet,
which pyarrow reads in columns, and OTLP in protobuf have no such yardstick and are left out.

What a reader cannot save is measured too: the same graphs, made by :mod:`msgspec` in compiled
code out of their own JSON, each content hashed. Where that and a decode take three times as
long as a bare decode of the file, no reader can be within three times.

Times are processor time of this one process: others on the machine hardly change them.
"""

import argparse
import ast
import csv
import gc
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import numpy  # noqa: F401 - loaded, as it is wherever a store is open

from benchmarks.format_inputs import INPUTS, made_input
from benchmarks.page import Table
from graphstore.errors import InputError
from graphstore.identity import content_hash
from graphstore.model import CollaborationGraph
from ingest.finding import find_files
from ingest.pipeline import ContentChoice, ReadOptions, read
from ingest.registry import default_registry

SAVED = Path(__file__).resolve().parents[1] / "docs" / "measured" / "reading.json"
"""What was measured on files that are not part of the repository."""

MOST_TIMES = 3.0
MOST_TIMES_LOG = 10.0
SMALLEST_FILE = 8_192
"""Bytes below which a file says more about opening files than about reading them."""

_WAYS = {
    "log": "log",
    "csv": "CSV",
    "repr": "repr",
    "xml": "XML, several files",
    "folder": "several files",
}
_WAY_OF_FORMAT = {
    name: "xml" if source.way == "xml" else source.way
    for name, source in INPUTS.items()
    if source.way in ("log", "csv", "repr", "xml")
}


@dataclass(frozen=True)
class Found:
    """Files of one format, measured.

    Attributes:
        format: Its name.
        way: As in :class:`benchmarks.format_inputs.Input`.
        bytes: Size of the files.
        graphs: Graphs read from them.
        nodes: Nodes of those graphs.
        standard: Seconds that a bare decode of the standard library takes.
        msgspec: Seconds that :mod:`msgspec` takes; None where it is no JSON.
        finished: Seconds for the finished graphs alone, made by compiled code and hashed.
        kept: Seconds from the files to validated graphs, contents kept as they are.
        redacted: The same with secrets taken out.
    """

    format: str
    way: str
    bytes: int
    graphs: int
    nodes: int
    standard: float
    msgspec: float | None
    finished: float
    kept: float
    redacted: float

    @property
    def times(self) -> float:
        """How often the bare decode fits into reading."""
        return self.kept / self.standard

    @property
    def most(self) -> float:
        """How often it may fit in."""
        return MOST_TIMES_LOG if self.way == "log" else MOST_TIMES

    @property
    def least(self) -> float:
        """How often it fits into a decode and the finished graphs alone."""
        return (min(self.msgspec or self.standard, self.standard) + self.finished) / (
            self.standard
        )


def measured(format: str, folder: Path, size: int, repeats: int = 5) -> Found:
    """Makes a format's input and reads it.

    Args:
        format: One of :data:`benchmarks.format_inputs.INPUTS`.
        folder: An empty one, for the input.
        size: Bytes of the input, about.
        repeats: How often each time is taken; the shortest counts.
    """
    source = INPUTS[format]
    paths = made_input(source, folder, size)
    return _timed(format, source.way, paths, repeats)


def measured_files(folder: Path, repeats: int = 5) -> Iterator[Found]:
    """Reads the files of a folder, those of each format together.

    Args:
        folder: Searched with all its folders. Files under :data:`SMALLEST_FILE`, and those
            of formats without a yardstick, are left out.
        repeats: How often each time is taken; the shortest counts.
    """
    of_format: dict[str, list[Path]] = {}
    for file in find_files([folder]):
        try:
            reader = default_registry().sniff(file.sample)
        except InputError:
            reader = None
        path = Path(file.uri)
        if reader and path.stat().st_size >= SMALLEST_FILE:
            of_format.setdefault(reader.format, []).append(path)
        file.release()
    for format, paths in sorted(of_format.items()):
        try:
            found = _timed(format, _WAY_OF_FORMAT.get(format, "json"), paths, repeats)
        except (ValueError, SystemExit):
            continue
        yield found


def _timed(format: str, way: str, paths: Sequence[Path], repeats: int) -> Found:
    yardsticks: dict[str, Callable[[], object]] = {
        "log": lambda: [path.read_text().splitlines() for path in paths],
        "csv": lambda: [list(csv.reader(io.StringIO(path.read_text()))) for path in paths],
        "repr": lambda: [ast.parse(path.read_text(), mode="eval") for path in paths],
        "xml": lambda: [ElementTree.fromstring(path.read_bytes()) for path in paths],
    }
    standard = yardsticks.get(way, lambda: _decoded(paths, json.loads))
    graphs, nodes = _read(paths, "keep")
    return Found(
        format,
        way,
        sum(path.stat().st_size for path in paths),
        graphs,
        nodes,
        _best(standard, repeats),
        None
        if way in yardsticks
        else _best(lambda: _decoded(paths, msgspec.json.decode), repeats),
        _finished(paths, repeats),
        _best(lambda: _read(paths, "keep"), repeats),
        _best(lambda: _read(paths, "redact"), repeats),
    )


def _decoded(paths: Sequence[Path], decode: Callable[[bytes], object]) -> list[object]:
    values = []
    for path in paths:
        data = path.read_bytes()
        try:
            values.append(decode(data))
        except ValueError:
            values += [decode(line) for line in data.splitlines() if line.strip()]
    return values


def _best(work: Callable[[], object], repeats: int) -> float:
    """The shortest of some times, in seconds: the one that others disturbed least."""
    times = []
    for _ in range(repeats):
        gc.collect()
        before = time.process_time()
        result = work()
        times.append(time.process_time() - before)
        del result
    return min(times)


def _read(paths: Sequence[Path], content: ContentChoice) -> tuple[int, int]:
    """Counts graphs and nodes; as in an ingest, each graph is let go once it is there."""
    graphs = nodes = 0
    for item in read(paths, options=ReadOptions(content=content)):
        if isinstance(item, CollaborationGraph):
            graphs += 1
            nodes += len(item.nodes)
    if not graphs:
        raise SystemExit(f"{paths[0]}: it gives no graph")
    return graphs, nodes


def _finished(paths: Sequence[Path], repeats: int) -> float:
    """Seconds in which compiled code makes the graphs of files, and contents are hashed."""
    graphs = [
        item
        for item in read(paths, options=ReadOptions(content="keep"))
        if isinstance(item, CollaborationGraph)
    ]
    texts = [node.content for graph in graphs for node in graph.nodes if node.content]
    written = [msgspec.json.encode(graph) for graph in graphs]
    del graphs
    decoder = msgspec.json.Decoder(CollaborationGraph)

    def work() -> None:
        for graph in written:
            decoder.decode(graph)
        for text in texts:
            content_hash(text)

    return _best(work, repeats)


_COLUMNS = (
    "format",
    "MB",
    "graphs",
    "nodes",
    "bare decode, ms",
    "msgspec, ms",
    "finished graphs, ms",
    "read, ms",
    "x bare decode",
    "x at least",
    "redacted too, ms",
    "x bare decode",
    "microseconds a node",
)


def _table(title: str, found: Sequence[Found]) -> Table:
    table = Table(title, _COLUMNS)
    for one in sorted(found, key=lambda one: -one.times / one.most):
        table.add(
            f"{one.format} ({_WAYS[one.way]})" if one.way in _WAYS else one.format,
            one.bytes / 1e6,
            one.graphs,
            one.nodes,
            one.standard * 1e3,
            "" if one.msgspec is None else one.msgspec * 1e3,
            one.finished * 1e3,
            one.kept * 1e3,
            one.times,
            one.least,
            one.redacted * 1e3,
            one.redacted / one.standard,
            one.kept / one.nodes * 1e6 if one.nodes else "",
        )
    within = [one.format for one in found if one.times <= one.most]
    near = [one.format for one in found if one.most < one.times <= 2 * one.most]
    beyond = [one.format for one in found if one.times > 2 * one.most]
    table.notes += [
        f"Within {MOST_TIMES:g} times a bare decode ({MOST_TIMES_LOG:g} times for logs): "
        f"{', '.join(within) or 'none'}. Within twice that: {', '.join(near) or 'none'}. "
        f"Beyond: {', '.join(beyond) or 'none'}.",
        "",
    ]
    return table


def measure(scale: float = 1.0) -> Iterator[Table]:
    """Reads each format's input.

    Args:
        scale: Size of the inputs: 1 stands for a megabyte each.
    """
    found: list[Found] = []
    for format in INPUTS:
        with tempfile.TemporaryDirectory() as folder:
            found.append(measured(format, Path(folder), int(1_000_000 * scale)))
    table = _table(
        "Reading: every format beside a bare decode of its file, slowest first", found
    )
    out_of_reach = [one.format for one in found if one.least > one.most]
    table.notes += [
        "Milliseconds of processor time. The bare decode is `json.loads` of the standard "
        "library; for logs `str.splitlines`, for CSV `csv`, for the repr of Python objects "
        "`ast`, for XML ElementTree. Reading is from the closed file on: it is opened, its "
        "format is told among all, and graphs are parsed, mapped, hashed and validated, "
        "contents kept; then the same with secrets taken out, as `ingest` does by default. "
        "The inputs are the examples of this repository, repeated with fresh ids: short "
        "texts in many small records, which is the dense end of what traces hold.",
        "",
        "Finished graphs: the same graphs, made by msgspec's compiled decoder out of their own "
        "JSON, and each content hashed. With the fastest decode of the file this is what a "
        'reader takes at least ("x at least", in bare decodes); it is past the bound for '
        f"{', '.join(out_of_reach) or 'none'}. The rest is Python: the ratio is highest where "
        "graphs or nodes are smallest, and falls as texts get longer.",
        "",
        "`python -m benchmarks.reading_formats --files FOLDER` measures your own files.",
    ]
    yield table
    if SAVED.exists():
        yield _table(
            "Reading: public files of these formats, 8 kB and larger",
            msgspec.json.decode(SAVED.read_bytes(), type=list[Found]),
        )


def main() -> None:
    """Prints the table; ``--scale`` makes the inputs smaller or larger."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading_formats")
    parser.add_argument("--scale", type=float, default=1.0, help="1: a megabyte each")
    parser.add_argument("--files", type=Path, help="read the files of this folder instead")
    parser.add_argument("--save", action="store_true", help="keep them for the page")
    options = parser.parse_args()
    if options.files:
        found = list(measured_files(options.files))
        if options.save:
            SAVED.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
        tables: Iterator[Table] = iter([_table(f"Reading: files of {options.files}", found)])
    else:
        tables = measure(options.scale)
    for table in tables:
        print(table.markdown())


if __name__ == "__main__":
    main()
