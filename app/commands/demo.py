"""``masgraph demo``: the example data in a store, with everything that is computed of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.data import print_report, say_problems, shown_progress
from app.commands.options import QuietOption, StoreOption, opened
from app.output import progress, say
from graphstore.errors import MasgraphError

if TYPE_CHECKING:
    from app.output import Reporter
    from graphstore.store import GraphStore

BASELINE = "single"
PERTURBED_RUNS = 24
"""Runs of the example data that the study of perturbations edits."""


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    cli.command("demo")(demo)


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the demo goes.")
    ] = Path("demo"),
    store: StoreOption = None,
    quiet: QuietOption = False,
) -> None:
    """Put the example data into a store, mine it, measure it and write a report."""
    from app import evaluation_jobs
    from app.commands.evaluation import print_by_method
    from app.commands.measure import print_mined
    from app.report import write_report
    from ingest import pipeline

    url = store or str(out / "masgraph.db")
    out.mkdir(parents=True, exist_ok=True)
    data = example_data()
    with (
        opened(url, quiet=quiet) as graph_store,
        progress("example data", quiet=quiet) as reporter,
    ):
        report = pipeline.ingest(data, graph_store, progress=shown_progress(reporter))
        libraries = _mined(graph_store)
        _forests(graph_store, reporter)
        evaluation = evaluation_jobs.evaluate(graph_store)
        _reports(graph_store, reporter)
        page = out / "report.html"
        write_report(graph_store, page, title="Four kinds of team on twenty small tasks")
    if not quiet:
        print_report(report, dry_run=False)
    say_problems(report, quiet=quiet)
    for mined, summary in libraries:
        print_mined(mined, summary, 8, quiet=quiet)
    print_by_method(evaluation)
    if quiet:
        return
    say(f"Store: {url}   Report: {page}")
    say(f"Next: masgraph app --store {url}")
    say(f"      masgraph query --list   or   masgraph query who-talks-to-whom --store {url}")
    say(f"      masgraph compare debate single --store {url}")
    say(f"      masgraph trajectories --baseline {BASELINE} --maximum-score 1 --store {url}")


def _mined(store: "GraphStore") -> list[tuple[Any, dict[str, Any]]]:
    from app import library_jobs
    from app.commands.measure import KINDS
    from app.jobs import Selection

    found = []
    for kind in KINDS:
        options = library_jobs.library_configuration(kind)
        mined = library_jobs.mine_library(store, options, kind=kind)
        found.append((mined, library_jobs.library_summary(mined, kind, Selection())))
    return found


def _forests(store: "GraphStore", reporter: "Reporter") -> None:
    from app.diagnosis_jobs import diagnose
    from app.forest_jobs import build_forests

    forests = build_forests(store, progress=reporter)
    diagnose(store, forests=forests.id, progress=reporter)


def _reports(store: "GraphStore", reporter: "Reporter") -> None:
    """What the dashboard shows of many runs."""
    from analytics.perturbation_study import PerturbationConfiguration
    from analytics.similarity.measure import measure_named
    from analytics.trajectories import TrajectoryConfiguration
    from analytics.trajectory_results import AnalysisConfiguration
    from app import (
        communication_jobs,
        compare_jobs,
        intervention_jobs,
        overview_jobs,
        perturbation_jobs,
        trajectory_jobs,
    )

    compare_jobs.compare_methods(store, progress=reporter)
    trajectory_jobs.analyse(
        store,
        AnalysisConfiguration(
            trajectory=TrajectoryConfiguration(maximum_score=1.0), baseline=BASELINE
        ),
        progress=reporter,
    )
    communication_jobs.communication(store, progress=reporter)
    intervention_jobs.execution(store, progress=reporter)
    intervention_jobs.predict(store, progress=reporter)
    perturbation_jobs.assess_suitability(store, progress=reporter)
    perturbation_jobs.perturb_graphs(
        store,
        [measure_named(name) for name in ("forest", "wl", "motif")],
        PerturbationConfiguration(),
        limit=PERTURBED_RUNS,
        progress=reporter,
    )
    overview_jobs.make_overview(store, progress=reporter)


def example_data() -> list[str]:
    """The folders with the example data: of the installed package, or of the checkout.

    Raises:
        MasgraphError: It is in neither place.
    """
    import app

    package = Path(next(iter(app.__path__)))
    for folder in (package / "example_data", package.parent / "examples"):
        if (folder / "traces").is_dir():
            return [str(folder / "traces"), str(folder / "decompositions")]
    raise MasgraphError("the example data is not installed: take masgraph from its repository")
