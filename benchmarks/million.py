"""A million actions through ``masgraph ingest`` into the embedded store: time and memory."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import corpus
from benchmarks.page import Table
from ingest.readers.native_writer import write_native

RUNS = 20_000
ACTIONS = 50
_INGEST = (
    "import sys; from app.cli import main; sys.argv[0] = 'masgraph'\n"
    "try:\n    main()\n"
    "finally:\n"
    "    status = open('/proc/self/status').read()\n"
    "    print(status.split('VmHWM:')[1].split()[0], file=sys.stderr)\n"
)


def measure(scale: float = 1.0) -> list[Table]:
    """``20,000 * scale`` runs of 50 actions, written as native JSONL and ingested."""
    runs = max(1, int(RUNS * scale))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace = folder / "runs.jsonl"
        with trace.open("wb") as file:
            for line in write_native(corpus.runs(runs, ACTIONS)):
                file.write(line + b"\n")
        seconds, peak, report = _ingest(trace, folder / "million.db")
        again, _, second = _ingest(trace, folder / "million.db")
        stored = (folder / "million.db").stat().st_size
        size = trace.stat().st_size
    table = Table(
        f"`masgraph ingest` of {report['actions']:,} actions in {runs:,} runs, embedded",
        ("what", "value"),
    )
    table.add("input, MB", size / 1e6)
    table.add("seconds, wall clock", seconds)
    table.add("actions a second", report["actions"] / seconds)
    table.add("peak memory, GiB", peak / 2**20)
    table.add("store on disk, MB", stored / 1e6)
    table.add("the same again, all unchanged: seconds", again)
    if report["written"] != runs or second["unchanged"] != runs:
        table.notes.append("The counts are not what they should be: do not trust this table.")
    return [table]


def _ingest(trace: Path, store: Path) -> tuple[float, int, dict[str, int]]:
    """Seconds, peak memory in KiB, and the report."""
    command = [sys.executable, "-c", _INGEST, "ingest", str(trace), "--store", str(store)]
    begin = time.perf_counter()
    done = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    return seconds, int(done.stderr.split()[-1]), json.loads(done.stdout)


if __name__ == "__main__":
    for made in measure():
        sys.stdout.write(made.markdown())
