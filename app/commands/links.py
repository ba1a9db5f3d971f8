"""``masgraph interventions links``: who may write to whom, and who did."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.commands.options import (
    DatasetOption,
    DryRunOption,
    JsonOption,
    MethodOption,
    QuietOption,
    StoreOption,
    TaskOption,
    opened,
)
from app.jobs import Selection, nothing_matches
from app.output import print_json, print_table, progress, say

if TYPE_CHECKING:
    from analytics.execution_report import ExecutionReport, ExecutionSummary

SHOWN_LINKS = 20
ProjectionOption = Annotated[
    Literal["exchange", "message", "consumption"],
    typer.Option(help="What makes an executed link: a message, its use, or either."),
]


def links(
    store: StoreOption = None,
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    projection: ProjectionOption = "exchange",
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Show which permitted links carried messages, which others did, and who wrote to whom."""
    from analytics.execution import ExecutionConfiguration
    from app import intervention_jobs

    with (
        opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store,
        progress("counting messages", quiet=quiet or json) as reporter,
    ):
        report = intervention_jobs.execution(
            graph_store,
            ExecutionConfiguration(projection=projection),
            selection=Selection(dataset, method, task),
            save=not dry_run,
            progress=reporter,
        )
    if not report.rows:
        raise nothing_matches()
    if json:
        print_json(report.to_dict())
        return
    _print_links(report, quiet=quiet)
    if not quiet:
        without = sum(row.used_links is None for row in report.rows)
        if without:
            say(
                f"{without:,} of {len(report.rows):,} runs name no organization whose units "
                "their agents play."
            )
        say(f"Configuration {report.configuration_hash}.")


def _print_links(report: "ExecutionReport", *, quiet: bool) -> None:
    summaries = report.by_method()
    print_table(
        ("method", "runs", "organizations", "links_used", "not_permitted", "messages"),
        [
            (one.method, one.runs, one.organizations, one.share_used, *_counts(one))
            for one in summaries
        ],
        title="Permitted and executed links; means over runs",
    )
    traffic = [
        (one.method, pair["source"], pair["target"], pair["messages"])
        for one in summaries
        for pair in sorted(one.roles, key=lambda pair: -pair["messages"])
    ]
    if traffic:
        print_table(
            ("method", "from_role", "to_role", "messages_a_run"),
            traffic,
            title="Messages from role to role",
        )
    odd = [
        (one.method, link["source"], link["target"], link["permitted"], link["messages"])
        for one in summaries
        for link in one.links
        if link["permitted"] != (link["messages"] > 0)
    ]
    if odd:
        print_table(
            ("method", "from", "to", "permitted", "messages"),
            odd[:SHOWN_LINKS],
            title="Permitted links without a message, and messages without a permitted link",
        )
        if len(odd) > SHOWN_LINKS and not quiet:
            say(f"{len(odd) - SHOWN_LINKS:,} more: --json names them.")


def _counts(summary: "ExecutionSummary") -> tuple[float | None, float]:
    return summary.unpermitted_links, summary.messages
