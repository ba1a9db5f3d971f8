"""Writing: both stores beside the barest way to write the same rows with the same engine."""

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.page import Table
from graphstore.model import CollaborationGraph
from graphstore.records import graph_rows
from graphstore.rows import Rows
from graphstore.schema import LABELS
from graphstore.store import open_store

ACTIONS = 50
REPEATS = 3
SCRIPT = Path(__file__).parents[1] / "scripts" / "neo4j-local"
BATCH = 10_000


def measure(scale: float = 1.0) -> list[Table]:
    """Both stores, on ``2,000 * scale`` runs of 50 actions."""
    graphs = list(corpus.runs(int(2_000 * scale), ACTIONS))
    return [embedded(graphs), neo4j(graphs)]


def combined(graphs: list[CollaborationGraph]) -> Rows:
    """All rows of the graphs, shared ones once, as plain lists."""
    rows = Rows()
    seen: set[str] = set()
    pairs: set[tuple[str, str, str]] = set()
    for graph in graphs:
        made = graph_rows(graph)
        for label, items in made.nodes.items():
            for row in items:
                if row["id"] not in seen:
                    seen.add(row["id"])
                    rows.nodes.setdefault(label, []).append(row)
        for key, items in made.relations.items():
            for row in items:
                mark = (key[0], row["source"], row["target"])
                if mark not in pairs:
                    pairs.add(mark)
                    rows.relations.setdefault(key, []).append(row)
    return rows


def timed(work: Callable[[], Any]) -> float:
    """Seconds of wall-clock time."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def median(values: list[float]) -> float:
    """The middle value."""
    return sorted(values)[len(values) // 2]


# --- embedded ---------------------------------------------------------------------------------


def embedded(graphs: list[CollaborationGraph]) -> Table:
    """``EmbeddedStore.write`` beside the engine's own bulk loader at the same durability."""
    rows = combined(graphs)
    actions = sum(len(graph.nodes) for graph in graphs)
    ours, bare = [], []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            bare.append(_bare_bulk(rows, Path(folder) / "bare.db"))
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(str(Path(folder) / "ours.db"))
            ours.append(timed(lambda store=store: store.write(iter(graphs))))
            store.close()
    table = Table(
        f"Embedded: {actions:,} actions with all their relations, every commit on the disk",
        ("way", "seconds (median)", "actions a second", "ratio to the bulk loader"),
    )
    base = median(bare)
    for name, seconds in (
        ("the engine's bulk loader, rows ready, data frames included", base),
        ("`store.write(graphs)`: rows made, fingerprints compared, whole graphs", median(ours)),
    ):
        table.add(name, seconds, actions / seconds, base / seconds)
    return table


def _bare_bulk(rows: Rows, path: Path) -> float:
    import kglite
    import pandas

    graph = kglite.open(str(path), durable="full")
    for label in LABELS:
        graph.cypher(f"CREATE CONSTRAINT FOR (n:{label.name}) REQUIRE n.id IS UNIQUE")
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, items in rows.nodes.items():
            graph.add_nodes(pandas.DataFrame(items), label, "id", "name")
        for (type_, source, target), items in rows.relations.items():
            frame = pandas.DataFrame(items)
            others = [name for name in frame.columns if name not in ("source", "target")]
            graph.add_relationships(
                frame, type_, source, "source", target, "target", columns=others
            )
    return time.perf_counter() - begin


# --- Neo4j ------------------------------------------------------------------------------------


@contextmanager
def server() -> Iterator[str]:
    """A server's address: of ``NEO4J_URI``, else of one that is started for this."""
    if uri := os.environ.get("NEO4J_URI"):
        yield uri
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(SCRIPT)]
        data = ["--data", f"{folder}/data"]
        done = subprocess.run(
            [*command, "start", *data, "--no-auth", "--heap", "1g"],
            check=True,
            capture_output=True,
            text=True,
        )
        try:
            yield done.stdout.strip()
        finally:
            subprocess.run([*command, "stop", *data], check=True, capture_output=True)


def neo4j(graphs: list[CollaborationGraph]) -> Table:
    """``Neo4jStore.write`` beside bare statements with the same driver."""
    import neo4j as driver_package

    rows = combined(graphs)
    few = combined(graphs[: max(1, len(graphs) // 100)])
    actions = sum(len(graph.nodes) for graph in graphs)
    few_actions = len(few.nodes["Action"])
    ours, bare, single = [], [], []
    with server() as uri, driver_package.GraphDatabase.driver(uri) as driver:
        with open_store(uri) as store:
            store.write(graphs[:10])
        for _ in range(REPEATS):
            _wipe(driver)
            single.append(timed(lambda: _one_merge_a_statement(driver, few)) / few_actions)
            _wipe(driver)
            bare.append(timed(lambda: _bare_unwind(driver, rows)) / actions)
            _wipe(driver)
            with open_store(uri) as store:
                ours.append(timed(lambda store=store: store.write(iter(graphs))) / actions)
    table = Table(
        f"Neo4j 5.26: {actions:,} actions with all their relations "
        f"(one MERGE a statement: {few_actions:,} of them)",
        ("way", "actions a second (median)", "ratio to UNWIND", "ratio to one MERGE"),
    )
    one, base = 1 / median(single), 1 / median(bare)
    for name, rate in (
        ("one MERGE a statement, one transaction for each run of 50 actions", one),
        (f"`UNWIND ... CREATE` of the same rows, ready, {BATCH:,} a statement", base),
        ("`store.write(graphs)`", 1 / median(ours)),
    ):
        table.add(name, rate, rate / base, rate / one)
    return table


def _wipe(driver: Any) -> None:
    with driver.session() as session:
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS")


def _bare_unwind(driver: Any, rows: Rows) -> None:
    with driver.session() as session:
        for label, items in rows.nodes.items():
            for chunk in _chunks(items):
                text = f"UNWIND $rows AS row CREATE (n:{label}) SET n = row"
                session.run(text, rows=chunk).consume()
        for (type_, source, target), items in rows.relations.items():
            for chunk in _chunks([_relation(row) for row in items]):
                text = (
                    f"UNWIND $rows AS row MATCH (a:{source} {{id: row.source}}) "
                    f"MATCH (b:{target} {{id: row.target}}) "
                    f"CREATE (a)-[r:{type_}]->(b) SET r = row.properties"
                )
                session.run(text, rows=chunk).consume()


def _one_merge_a_statement(driver: Any, rows: Rows) -> None:
    with driver.session() as session:
        transaction = session.begin_transaction()
        done = 0
        for label, items in rows.nodes.items():
            for row in items:
                transaction.run(f"MERGE (n:{label} {{id: $row.id}}) SET n += $row", row=row)
                done += 1
                if done % ACTIONS == 0:
                    transaction.commit()
                    transaction = session.begin_transaction()
        for (type_, source, target), items in rows.relations.items():
            for row in items:
                text = (
                    f"MATCH (a:{source} {{id: $row.source}}) "
                    f"MATCH (b:{target} {{id: $row.target}}) "
                    f"MERGE (a)-[r:{type_}]->(b) SET r += $row.properties"
                )
                transaction.run(text, row=_relation(row))
                done += 1
                if done % ACTIONS == 0:
                    transaction.commit()
                    transaction = session.begin_transaction()
        transaction.commit()


def _relation(row: dict[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in row.items() if name not in ("source", "target")}
    return {"source": row["source"], "target": row["target"], "properties": own}


def _chunks(items: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]
