"""The dashboard on a large store: how long each page takes to its first answer.

The store holds 100,000 runs and 5 million actions, a sixth of them evaluated, and summed up
once, as ``masgraph evaluate`` and ``masgraph overview`` do it. Each page is opened in a session
of its own, the first time with nothing remembered. Making the store takes a quarter of an hour;
one that is there already is used again:

    python -m benchmarks.dashboard STORE
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.page import Table
from graphstore.store import open_store

RUNS = 100_000
ACTIONS = 50
EVALUATED = "method-1"
"""The method whose runs are evaluated, a sixth of all. Pages look evaluations up by run: their
number changes the time of the job alone."""

LIMIT = 2.0
"""Seconds in which a page's first answer must come."""


def measure(scale: float = 1.0, path: Path | None = None) -> list[Table]:
    """A store of ``100,000 * scale`` runs with 50 actions each, and every page on it."""
    if path is not None:
        return _measure(path, scale)
    with tempfile.TemporaryDirectory() as folder:
        return _measure(Path(folder) / "large.db", scale)


def _measure(path: Path, scale: float) -> list[Table]:
    made = _make(path, max(1, int(RUNS * scale)))
    pages = _pages(path)
    return [made, pages]


def _make(path: Path, runs: int) -> Table:
    from app import evaluation_jobs, jobs
    from app.overview_jobs import make_overview

    table = Table("The large store of the dashboard, made once", ("what", "seconds"))

    def timed(what: str, work: Callable[[], Any]) -> None:
        begin = time.perf_counter()
        work()
        table.add(what, time.perf_counter() - begin)
        sys.stderr.write(f"{what}: {table.rows[-1][1]:.1f} s\n")

    if not path.exists():
        with open_store(str(path)) as store:
            timed(f"write {runs:,} runs", lambda: store.write(corpus.runs(runs, ACTIONS)))
            timed(
                f"evaluate the runs of {EVALUATED}",
                lambda: evaluation_jobs.evaluate(
                    store, selection=jobs.Selection(method=EVALUATED)
                ),
            )
            timed("sum them up (`masgraph overview`)", lambda: make_overview(store))

    def opened() -> None:
        with open_store(str(path), read_only=True) as store:
            store.query("RETURN 1 AS x")

    timed("open it for reading", opened)
    table.notes.append("Opening is done before the dashboard says that it listens.")
    return table


def _pages(path: Path) -> Table:
    """Seconds to the first answer of each page, from a session's begin to its end."""
    from streamlit.testing.v1 import AppTest

    from app.dashboard import connection, settings

    settings.configure(settings.Settings(store=str(path)))
    source = connection.connection()
    counts = source.counts()
    run = source.query(
        "MATCH (e:Evaluation)-[:OF]->(r:Run) RETURN r.id AS id ORDER BY id LIMIT 1"
    ).rows[0][0]
    connection.warm()
    table = Table(
        f"First answers of the dashboard: {counts.get('Run', 0):,} runs, "
        f"{counts.get('Action', 0):,} actions, embedded",
        ("page", "first time, s", "again, s"),
    )
    for name, page, parameters in (
        ("Overview", "", {}),
        ("Overview, outcomes", "", {"part": "Outcomes"}),
        ("Overview, health", "", {"part": "Health"}),
        ("Runs", "runs", {}),
        ("Runs, one method, failed", "runs", {"method": "method-1"}),
        ("Runs, by size", "runs", {"sort": "edges"}),
        ("Runs, task by name", "runs", {"task": "task-42"}),
        ("Runs, page 900", "runs", {"page": "900"}),
        ("A run, graph", "runs", {"run": run}),
        ("A run, timeline", "runs", {"run": run, "part": "Timeline"}),
        ("A run, transcript", "runs", {"run": run, "part": "Transcript"}),
        ("A run, metrics", "runs", {"run": run, "part": "Metrics"}),
        ("Motifs", "motifs", {}),
        ("Cypher", "cypher", {}),
        ("Ingest", "ingest", {}),
    ):
        connection.forget()
        seconds = []
        for _ in range(2):
            test = AppTest.from_string(
                f"from app.dashboard.shell import run\nrun({page!r})", default_timeout=120
            )
            for key, value in parameters.items():
                test.query_params[key] = value
            begin = time.perf_counter()
            test.run()
            seconds.append(time.perf_counter() - begin)
            bad = [
                one.proto.body for one in test.get("html") if "mg-note error" in one.proto.body
            ]
            if test.exception or bad:
                raise RuntimeError(f"{name}: {test.exception or bad}")
        table.add(name, *seconds)
        sys.stderr.write(f"{name}: {seconds[0]:.2f} s, {seconds[1]:.2f} s\n")
    slow = [row[0] for row in table.rows if row[1] > LIMIT]
    table.notes.append(
        f"Slower than {LIMIT:g} s: {', '.join(slow)}." if slow
        else f"Each first answer came within {LIMIT:g} s."
    )  # fmt: skip
    connection.close_all()
    return table


if __name__ == "__main__":
    for made in measure(path=Path(sys.argv[1]) if len(sys.argv) > 1 else None):
        sys.stdout.write(made.markdown())
