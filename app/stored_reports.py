"""Reports: what a job found about many runs, kept in the store so that nobody waits twice."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from app.jobs import MANY, Selection
from graphstore.errors import NotFoundError
from graphstore.identity import canonical_json, configuration_hash, digest
from graphstore.rows import Rows
from graphstore.store import GraphStore

READ_SECONDS = 60.0


@dataclass(frozen=True)
class ReportHead:
    """What a report is about.

    Attributes:
        report: Its id.
        kind: Which job made it, ``trajectories`` for example.
        name: A title for people.
        configuration_hash: Hash of the job's configuration (16 hex digits).
        selection: Which runs were asked for; None in a field means all.
        runs: How many runs it rests on.
    """

    report: str
    kind: str
    name: str
    configuration_hash: str
    selection: Selection
    runs: int


@dataclass(frozen=True)
class StoredReport:
    """A report with all that it says.

    Attributes:
        head: What it is about.
        configuration: The job's configuration, as JSON values.
        document: What was found, as JSON values.
    """

    head: ReportHead
    configuration: Any
    document: dict[str, Any]


def save_report(
    store: GraphStore,
    kind: str,
    name: str,
    configuration: Any,
    document: dict[str, Any],
    *,
    selection: Selection,
    runs: int,
) -> str:
    """Writes a report; it takes the place of one of the same kind, configuration and selection.

    Args:
        store: Where to.
        kind: Which job made it.
        name: A title for people.
        configuration: A dataclass, a struct or JSON values.
        document: JSON values; missing is None.
        selection: Which runs were asked for.
        runs: How many runs it rests on.

    Returns:
        The report's id.
    """
    options = configuration_hash(configuration)
    chosen = canonical_json(asdict(selection))
    report = f"report-{digest(kind, options, chosen)}"
    rows = Rows()
    rows.node(
        "Report",
        {
            "id": report,
            "name": name,
            "kind": kind,
            "configuration": canonical_json(configuration),
            "configuration_hash": options,
            "selection": chosen,
            "runs": runs,
            "document": canonical_json(document),
        },
    )
    store.write_results(rows)
    store.checkpoint()
    return report


def report_heads(store: GraphStore, kind: str | None = None) -> list[ReportHead]:
    """The reports that are stored, by kind, name and id.

    Args:
        store: Where they are.
        kind: Only those of this kind.
    """
    return [_head(row) for row in _asked(store, "reports", {"kind": kind, "limit": MANY})]


def read_report(store: GraphStore, report: str) -> StoredReport:
    """A report with all that it says.

    Args:
        store: Where it is.
        report: Its id.

    Raises:
        NotFoundError: There is no such report.
    """
    for row in _asked(store, "report-document", {"report": report}):
        return StoredReport(
            _head(row), json.loads(row["configuration"]), json.loads(row["document"])
        )
    raise NotFoundError(f"there is no report {report!r}: see  masgraph query reports")


def _asked(store: GraphStore, query: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    from graphstore.queries import bind, saved_query

    saved = saved_query(query)
    found = store.query(
        saved.cypher, bind(saved, parameters), timeout=READ_SECONDS, row_limit=MANY
    )
    return found.records()


def _head(row: dict[str, Any]) -> ReportHead:
    return ReportHead(
        report=row["report"],
        kind=row["kind"],
        name=row["name"],
        configuration_hash=row["configuration_hash"],
        selection=Selection(**json.loads(row["selection"])),
        runs=row["runs"],
    )
