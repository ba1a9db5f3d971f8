"""How much memory files take that are larger than it: lines, one array, one object.

Each input is made from a seed, read in a process of its own as ``masgraph ingest --dry-run``
reads it, and removed again. The peak is what the operating system counts for that process,
the interpreter included.

    python -m benchmarks.large_inputs --size 2000 --folder /tmp
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.memory import peak_of_this_process

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"

_MB = 1_000_000


def _numbered(records: list[bytes], marks: list[tuple[bytes, str]]) -> Iterator[bytes]:
    """The records again and again, with other ids each time."""
    number = 0
    while True:
        for record in records:
            for text, shape in marks:
                record = record.replace(text, shape.format(number).encode())
            yield record
        number += 1


def _example(*names: str) -> list[bytes]:
    lines: list[bytes] = []
    for name in names:
        lines += (EXAMPLES / name).read_bytes().splitlines()
    return [line for line in lines if line.strip()]


def native_records() -> Iterator[bytes]:
    """Runs in masgraph's own format."""
    values = [
        json.loads(line) for line in _example("traces/debate.jsonl", "traces/single.jsonl")
    ]
    for place, value in enumerate(values):
        value["id"] = f"NUMBER-{place}"
    return _numbered([json.dumps(value).encode() for value in values], [(b"NUMBER", "{:08d}")])


def otlp_documents() -> Iterator[bytes]:
    """Export requests, each with the spans of a few traces."""
    lines = _example("traces/chain.otlp.ndjson")
    names: set[str] = set()
    for line in lines:
        for resource_spans in json.loads(line)["resourceSpans"]:
            for scope_spans in resource_spans["scopeSpans"]:
                for span in scope_spans["spans"]:
                    names.add(span["traceId"])
                    names |= {
                        attribute["value"]["stringValue"]
                        for attribute in span["attributes"]
                        if "session" in attribute["key"]
                    }
    marks = [
        (f'"{name}"'.encode(), f'"{{:08x}}{place:04x}{name[12:]:0>20}"')
        for place, name in enumerate(sorted(names))
    ]
    return _numbered(lines, marks)


def otlp_parts() -> Iterator[bytes]:
    """Items of ``resourceSpans``."""
    for document in otlp_documents():
        for part in json.loads(document)["resourceSpans"]:
            yield json.dumps(part).encode()


def worfbench_items() -> Iterator[bytes]:
    """Items of WorfBench."""
    value = json.loads((EXAMPLES / "formats/worfbench/home.json").read_bytes())[0]
    record = json.dumps(value | {"id": "NUMBER"}).encode()
    return _numbered([record], [(b"NUMBER", "{:09d}")])


def write(path: Path, records: Iterator[bytes], size: int, around: tuple[bytes, bytes]) -> int:
    """Writes records until a file has that size.

    Args:
        path: The file.
        records: Its records, without end.
        size: Bytes.
        around: What stands before the first record and after the last; records are lines
            where both are empty.

    Returns:
        How many records were written.
    """
    between = b",\n" if around[0] else b"\n"
    count = written = 0
    with path.open("wb", buffering=1 << 20) as file:
        written += file.write(around[0])
        while written < size:
            if count:
                written += file.write(between)
            written += file.write(next(records))
            count += 1
        file.write(around[1] or b"\n")
    return count


INPUTS: dict[str, tuple[str, Callable[[], Iterator[bytes]], tuple[bytes, bytes]]] = {
    "native lines": ("native", native_records, (b"", b"")),
    "native array": ("native", native_records, (b"[", b"]")),
    "otlp lines": ("otlp", otlp_documents, (b"", b"")),
    "otlp object": ("otlp", otlp_parts, (b'{"resourceSpans":[', b"]}")),
    "worfbench array": ("worfbench", worfbench_items, (b"[\n", b"\n]\n")),
}
"""Format, records, and what stands around them."""


def tell(path: str, format: str) -> None:
    """Reads a file, and prints graphs, nodes, rejections, seconds and MiB at the peak."""
    from ingest.pipeline import ingest

    start = time.perf_counter()
    report = ingest(path, None, format=format, dry_run=True)
    took = time.perf_counter() - start
    graphs = report.runs + report.decompositions
    nodes = report.actions + report.subtasks
    peak = peak_of_this_process()
    print(json.dumps([graphs, nodes, len(report.rejected), took, peak]))


def measure(name: str, folder: Path, size: int) -> tuple[int, int, int, float, float]:
    """Makes an input, reads it in a process of its own, and removes it.

    Args:
        name: One of :data:`INPUTS`.
        folder: Where the input lies while it is read.
        size: Bytes.

    Returns:
        Graphs, nodes, rejections, seconds, and MiB at the peak.
    """
    format, records, around = INPUTS[name]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "large.json"
        write(path, records(), size, around)
        code = "import sys; from benchmarks.large_inputs import tell; tell(*sys.argv[1:])"
        done = subprocess.run(
            [sys.executable, "-c", code, str(path), format],
            check=True,
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
    graphs, nodes, rejected, took, peak = json.loads(done.stdout)
    return graphs, nodes, rejected, took, peak


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--size", type=int, default=2_000, metavar="MB", help="of each input")
    parser.add_argument("--folder", type=Path, help="where the inputs lie")
    parser.add_argument("--input", action="append", choices=INPUTS, help="only this; repeat")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.gettempdir())
    print("| input | MB | graphs | nodes | rejected | s | MB/s | MiB at the peak |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    over = False
    for name in options.input or INPUTS:
        graphs, nodes, rejected, took, peak = measure(name, folder, options.size * _MB)
        print(
            f"| {name} | {options.size:,} | {graphs:,} | {nodes:,} | {rejected:,} | {took:.0f} "
            f"| {options.size / took:.1f} | {peak:.0f} |",
            flush=True,
        )
        over = over or peak > 1024 or rejected > 0
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
