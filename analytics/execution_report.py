"""Links and roles over many runs, by method.

Source: OpenMAS-GCom, appendix B.4, as :mod:`analytics.execution`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from analytics.averages import mean
from analytics.execution import ExecutionConfiguration, RunExecution, measure_execution
from graphstore.model import CollaborationGraph
from graphstore.short_view import TableView, runs_in_short

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class ExecutionSummary:
    """What the runs of one method have in common.

    Attributes:
        method: Name of the method; None where it is not known.
        method_id: Its id.
        runs: Number of runs.
        tasks: Number of tasks.
        organizations: Number of distinct organizations that its runs name.
        share_used: Mean share of permitted links that carried a message.
        unpermitted_links: Mean number of executed links that are not permitted.
        known: Number of runs that these two rest on: those with an organization.
        messages: Mean number of messages.
        sent: Mean number of messages by the sender's role, over all runs.
        roles: Mean number of messages from role to role, over all runs.
        links: By organization, source and target: whether permitted, in how many runs it
            carried a message, and how many in all.
    """

    method: str | None
    method_id: str | None
    runs: int
    tasks: int
    organizations: int
    share_used: float | None
    unpermitted_links: float | None
    known: int
    messages: float
    sent: dict[str, float]
    roles: tuple[dict[str, Any], ...]
    links: tuple[dict[str, Any], ...]


@dataclass(frozen=True, repr=False)
class ExecutionReport(TableView):
    """Many runs under one configuration.

    Attributes:
        configuration: What the counts were made with.
        rows: One for each run, in the order in which the runs came.
    """

    configuration: ExecutionConfiguration
    rows: tuple[RunExecution, ...]

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def by_method(self) -> tuple[ExecutionSummary, ...]:
        """Means for each method, by name; runs without a known method come last."""
        groups: dict[tuple[bool, str, str], list[RunExecution]] = {}
        for row in self.rows:
            key = (row.method_id is None, row.method or "", row.method_id or "")
            groups.setdefault(key, []).append(row)
        return tuple(_summary(rows) for _, rows in sorted(groups.items()))

    def to_dict(self) -> dict[str, Any]:
        """JSON values: ``configuration``, ``configuration_hash``, ``methods`` and ``rows``."""
        return {
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "methods": [asdict(one) for one in self.by_method()],
            "rows": [
                {**asdict(row), "share_used": row.share_used}  # a property is no field
                for row in self.rows
            ],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a run: what it is of, links and messages."""
        import pandas

        texts = ("run", "name", "task", "method", "organization")
        counts = (
            "units",
            "executed_units",
            "permitted_links",
            "used_links",
            "unpermitted_links",
            "messages",
            "calls",
            "retries",
        )
        columns = {
            name: pandas.Series([getattr(row, name) for row in self.rows], dtype=kind)
            for names, kind in ((texts, "string"), (counts, "Int64"))
            for name in names
        }
        columns["share_used"] = pandas.Series(
            [row.share_used for row in self.rows], dtype="Float64"
        )
        return pandas.DataFrame(columns)

    def _in_short(self) -> str:
        return runs_in_short(self.rows)


def evaluate_execution(
    graphs: Iterable[CollaborationGraph], configuration: ExecutionConfiguration | None = None
) -> ExecutionReport:
    """The counts of many runs; the runs are taken one by one and not kept.

    Raises:
        UsageError: One of the graphs is a decomposition.
    """
    options = configuration or ExecutionConfiguration()
    return ExecutionReport(options, tuple([measure_execution(one, options) for one in graphs]))


def _summary(rows: list[RunExecution]) -> ExecutionSummary:
    sent: Counter[str] = Counter()
    roles: Counter[tuple[str, str]] = Counter()
    links: dict[tuple[str, str, str, bool], list[int]] = {}
    for row in rows:
        sent.update(row.sent)
        roles.update({(one.source, one.target): one.messages for one in row.roles})
        for link in row.links:
            key = (row.organization or "", link.source, link.target, link.permitted)
            counts = links.setdefault(key, [0, 0])
            counts[0] += link.messages > 0
            counts[1] += link.messages
    known = [row for row in rows if row.used_links is not None]
    return ExecutionSummary(
        method=rows[0].method,
        method_id=rows[0].method_id,
        runs=len(rows),
        tasks=len({row.task_id for row in rows}),
        organizations=len({row.organization_id for row in rows if row.organization_id}),
        share_used=mean([row.share_used for row in known if row.share_used is not None]),
        unpermitted_links=mean([float(row.unpermitted_links or 0) for row in known]),
        known=len(known),
        messages=sum(row.messages for row in rows) / len(rows),
        sent={role: count / len(rows) for role, count in sorted(sent.items())},
        roles=tuple(
            {"source": one, "target": other, "messages": count / len(rows)}
            for (one, other), count in sorted(roles.items())
        ),
        links=tuple(
            {
                "organization": organization,
                "source": source,
                "target": target,
                "permitted": allowed,
                "runs": counts[0],
                "messages": counts[1],
            }
            for (organization, source, target, allowed), counts in sorted(links.items())
        ),
    )
