"""Every saved query gives the same answer on both stores, on graphs that nobody chose."""

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from graphstore.identity import digest
from graphstore.model import CollaborationGraph
from graphstore.queries import bind, saved_queries
from graphstore.rows import Rows
from graphstore.store import open_store
from tests.graphstore import query_corpus
from tests.strategies import graphs

pytestmark = [pytest.mark.neo4j_server, pytest.mark.slow]

GRAPHS = 300
MANY = 10_000


def with_sane_counts(graph: CollaborationGraph) -> CollaborationGraph:
    """The graph with numbers that can be added up: sums past 64 bits fail on one engine."""

    def less(value):
        return None if value is None else value % 100_000

    return msgspec.structs.replace(
        graph,
        outcome=msgspec.structs.replace(
            graph.outcome,
            tokens_in=less(graph.outcome.tokens_in),
            tokens_out=less(graph.outcome.tokens_out),
        ),
        nodes=tuple(
            msgspec.structs.replace(
                node,
                round=less(node.round),
                tokens_in=less(node.tokens_in),
                tokens_out=less(node.tokens_out),
            )
            for node in graph.nodes
        ),
    )


def generated_graphs() -> list[CollaborationGraph]:
    """A few hundred graphs, the same ones each time."""
    found: list[CollaborationGraph] = []

    @settings(
        max_examples=GRAPHS,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def collect(data):
        # Hypothesis repeats small examples: the record's number makes each a graph of its own.
        graph = data.draw(graphs(max_nodes=8, record=str(len(found))))
        found.append(with_sane_counts(graph))

    collect()
    return found


def results_of(made: list[CollaborationGraph]) -> Rows:
    """Evaluations and motifs with values of every size, made from the graphs' ids."""
    rows = Rows()
    for number, graph in enumerate(made):
        share = int(digest(graph.id, size=6), 16) / 2**48
        if graph.kind == "run":
            name = f"evaluation-{graph.id}"
            row = {"id": name, "name": name, "configuration_hash": f"c{number % 2}"}
            row |= {"density": share, "node_validity": share * 1e-9 if number % 3 else None}
            row |= {"forest_match": share / 3 if number % 2 else None, "tokens_in": number}
            row |= {"diagnosis": ("sound", "lucky", None)[number % 3], "tokens_out": 1}
            row |= {"success": (True, False, None)[number % 3]}
            row |= {"forest": f"forest-{number % 3}"}
            rows.node("Evaluation", row)
            rows.relate("OF", "Evaluation", "Run", {"source": name, "target": graph.id})
            claim = {"id": f"claim-{graph.id}", "name": "c", "top_endorsed": number % 2 == 0}
            claim |= {"endorsements": number % 3, "challenges": number % 2, "text": graph.name}
            rows.node("Claim", claim)
            rows.relate("OF", "Claim", "Run", {"source": claim["id"], "target": graph.id})
            for node in graph.nodes[number % 2 : 1]:
                link = {"source": node.id, "target": claim["id"]}
                rows.relate("CLAIMS", "Action", "Claim", link)
    for number in range(3):
        row = {"id": f"report-{number}", "name": "report", "kind": "integration"}
        rows.node("Report", {**row, "runs": number, "document": "{}", "selection": "{}"})
        row = {"id": f"forest-{number}", "name": "forest", "level": ("task", "all")[number % 2]}
        rows.node("ReferenceForest", {**row, "forest_set": "set", "near_copies": number == 1})
        for graph in made[number::3]:
            label = "Run" if graph.kind == "run" else "Decomposition"
            link = {"source": row["id"], "target": graph.id, "weight": 0.5 + number % 2}
            rows.relate("CONTAINS", "ReferenceForest", label, link)
    rows.node("Library", {"id": "library", "name": "library"})
    for number in range(5):
        name = f"motif-{number}"
        row = {"id": name, "name": "pattern", "scope": "run", "task_support": number % 2}
        rows.node("Motif", row)
        rows.relate("CONTAINS", "Library", "Motif", {"source": "library", "target": name})
        for graph in made[number::5]:
            label = "Run" if graph.kind == "run" else "Decomposition"
            link = {"source": name, "target": graph.id, "count": number % 2, "nodes": "[]"}
            rows.relate("OCCURS_IN", "Motif", label, link)
    parts_of(rows, made)
    return rows


def parts_of(rows: Rows, made: list[CollaborationGraph]) -> None:
    """Types, rules, coarse graphs, categories and templates that are spread over the graphs."""
    for number in range(3):
        common = {"position": number % 2, "task_support": number % 2, "document": "{}"}
        for label, name, title, kind in (
            ("SubtaskType", f"type-{number}", "kind", "type"),
            ("CompositionRule", f"rule-{number}", "rule", "rule"),
            (
                "GroupCategory",
                f"category-{number}",
                ("foundation", "x", "y")[number],
                "category",
            ),
            ("Template", f"template-{number}", "joined", "integration"),
        ):
            rows.node(label, {"id": name, "name": title, "part": kind, **common})
            rows.relate("CONTAINS", "Library", label, {"source": "library", "target": name})
        link = {"source": f"motif-{number}", "target": f"category-{number}", "count": 1}
        rows.relate("INDEXED_UNDER", "Motif", "GroupCategory", {**link, "task_support": number})
        for motif, places in ((number, ["first"]), (number + 1, ["second"])):
            link = {"source": f"rule-{number}", "target": f"motif-{motif}", "places": places}
            rows.relate("JOINS", "CompositionRule", "Motif", link)
        for graph in made[number::3]:
            label = "Run" if graph.kind == "run" else "Decomposition"
            link = {"source": f"rule-{number}", "target": graph.id, "count": number % 2}
            rows.relate("APPLIES_IN", "CompositionRule", label, {**link, "nodes": "[]"})
            node_label = "Action" if graph.kind == "run" else "Subtask"
            rows.relate_all(
                "OF_TYPE",
                node_label,
                "SubtaskType",
                [{"source": node.id, "target": f"type-{number}"} for node in graph.nodes[:2]],
            )
    for number, graph in enumerate(made[:20]):
        row = {"id": f"coarse-{number}", "name": "c", "part": "coarse graph", "graph": graph.id}
        row |= {"groups": number % 3, "leaves": 4, "depth": 0}
        rows.node("CoarseGraph", row | {"category": "foundation" if number % 2 else None})
        rows.relate(
            "CONTAINS", "Library", "CoarseGraph", {"source": "library", "target": row["id"]}
        )


@pytest.fixture(scope="module")
def made():
    return [*generated_graphs(), *query_corpus.GRAPHS]


def choices(query, made):
    """Parameters worth trying: the defaults, each filter, the graphs one by one."""
    runs = sorted((graph for graph in made if graph.kind == "run"), key=lambda g: -len(g.edges))
    plans = sorted(
        (graph for graph in made if graph.kind != "run"), key=lambda g: -len(g.edges)
    )
    values = {
        "run": [*(graph.id for graph in runs[:4]), query_corpus.A.id],
        "decomposition": [graph.id for graph in plans[:4]],
        "graph": [graph.id for graph in (*runs[:2], *plans[:2])],
        "task": ["sum", "t1", "t2", runs[0].task.id],
        "method": ["m1"],
        "dataset": ["d1"],
        "motif": ["pattern", "motif-3"],
        "limit": [1, 7],
        "times": [3],
        "characters": [0, 1],
        "library": ["library"],
        "scope": ["run", "other"],
        "organization": ["other"],
        "subtask_type": ["kind", "type-1"],
        "rule": ["rule-0"],
        "category": ["foundation"],
        "kind": ["integration"],
        "forest": ["forest-0", "forest-1"],
        "forest_set": ["set"],
        "level": ["task"],
        "diagnosis": ["lucky"],
        "skip": [1],
        "sort": ["actions", "score"],
        "direction": [1.0],
        "outcome": ["failed"],
        "holding": ["chain"],
        "shape": ["chain"],
        "report": ["report-0"],
        "configuration_hash": ["c1"],
    }
    names = [parameter.name for parameter in query.parameters]
    base = {"limit": MANY} if "limit" in names else {}
    required = [parameter.name for parameter in query.parameters if parameter.required]
    starts = [base | {name: value} for name in required for value in values[name]] or [base]
    yield from starts
    for name in names:
        if name not in required:
            for value in values[name]:
                yield starts[0] | {name: value}


def test_the_stores_agree(made, neo4j_database, tmp_path):
    """Values, types, and the order of rows."""
    assert len(made) >= GRAPHS
    answered = {}
    with (
        open_store(str(tmp_path / "store.db")) as embedded,
        open_store(neo4j_database.uri, **neo4j_database.options) as server,
    ):
        for store, order in ((embedded, made), (server, made[::-1])):
            store.write(order)
            store.write_results(results_of(made))
        for query in saved_queries():
            answered[query.name] = 0
            for given_values in choices(query, made):
                parameters = bind(query, given_values)
                one, other = (
                    store.query(query.cypher, parameters) for store in (embedded, server)
                )
                assert one.columns == other.columns
                assert len(one.rows) == len(other.rows), (query.name, given_values)
                for left, right in zip(one.rows, other.rows, strict=True):
                    # Texts of values tell 1 from 1.0 and show every digit.
                    assert repr(left) == repr(right), (query.name, given_values)
                answered[query.name] += len(one.rows)
    assert [name for name, rows in answered.items() if not rows] == []
