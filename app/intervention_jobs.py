"""Interventions over a store: predicted for teams, measured where both runs are there."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from app.jobs import Progress, Selection, no_progress, runs_of
from app.stored_reports import save_report
from graphstore.errors import NotFoundError, UsageError
from graphstore.listed import listed
from graphstore.model import CollaborationGraph
from graphstore.short_view import TableView, counted
from graphstore.store import GraphStore

if TYPE_CHECKING:
    import pandas

    from analytics.execution import ExecutionConfiguration
    from analytics.execution_report import ExecutionReport
    from analytics.interventions import Team
    from analytics.interventions_configuration import InterventionConfiguration
    from analytics.interventions_controls import ControlledRun
    from analytics.interventions_pairs import ResponseConfiguration
    from analytics.interventions_prediction import InterventionPrediction
    from analytics.interventions_response import ResponseReport

SHOWN_TEAMS = 40
"""Teams that a stored report holds one by one; all are in its means."""
SHOWN_LEFT_OUT = 500
"""Runs that a stored report names with the reasons why they take no part; all are counted."""
SHOWN_LINKS = 2_000
"""Links that a stored report holds for each method."""


@dataclass(frozen=True, repr=False)
class PredictionReport(TableView):
    """What interventions do to the structure of the selected teams.

    Attributes:
        configuration: What was tried.
        predictions: One for each organization or run.
        without: Number of selected graphs without a team of the kind that was asked for.
    """

    configuration: "InterventionConfiguration"
    predictions: "tuple[InterventionPrediction, ...]"
    without: int

    def settings(self) -> list[dict[str, Any]]:
        """Each setting over all teams: on how many it can be made, and means over them.

        Each effect is the mean over the teams on which the setting can be made and that have
        the effect before and after: ``_before``, the value itself and ``_change`` (after less
        before) are over the same teams, ``_teams`` of them. Other teams' structure is no part.
        """
        from analytics.averages import mean
        from analytics.interventions_prediction import EFFECTS

        rows = []
        for place in range(len(self.predictions[0].settings) if self.predictions else 0):
            found = [one.settings[place] for one in self.predictions]
            made = [one for one in found if one.reason is None]
            row: dict[str, Any] = {
                "family": found[0].family,
                "setting": found[0].setting,
                "level": found[0].level,
                "teams": len(made),
                "not_possible": len(found) - len(made),
                "changed": mean([one.changed.mean for one in made if one.changed]),
            }
            for name in EFFECTS:
                both = self._before_and_after(place, name)
                row[name] = mean([after for _, after in both])
                row[f"{name}_before"] = mean([before for before, _ in both])
                row[f"{name}_change"] = mean([after - before for before, after in both])
                row[f"{name}_teams"] = len(both)
            row["cut_off"] = mean([one.cut_off.mean for one in made if one.cut_off])
            row["reached"] = mean([one.reached.mean for one in made if one.reached])
            row["output_reached"] = mean(
                [one.output_reached for one in made if one.output_reached is not None]
            )
            rows.append(row)
        return rows

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a setting: means over all teams, as :meth:`settings`."""
        import pandas

        return pandas.DataFrame(self.settings()).convert_dtypes()

    def _before_and_after(self, place: int, effect: str) -> list[tuple[float, float]]:
        """An effect in each team on which the setting can be made and that has it twice."""
        found = []
        for one in self.predictions:
            before = (one.settings[0].effects or {}).get(effect)
            after = (one.settings[place].effects or {}).get(effect)
            if before is not None and after is not None and one.settings[place].reason is None:
                found.append((before.mean, after.mean))
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON values; the single draws only where there is one team."""
        shown = [one.to_dict() for one in self.predictions[:SHOWN_TEAMS]]
        if len(self.predictions) > 1:
            for team in shown:
                for setting in team["settings"]:
                    del setting["draws"]
        return {
            "report": "predict",
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration.hash,
            "teams": len(self.predictions),
            "teams_shown": len(shown),
            "without_team": self.without,
            "settings": self.settings(),
            "predictions": shown,
        }

    def _in_short(self) -> str:
        return counted(len(self.predictions), "team")


def predict(
    store: GraphStore,
    configuration: "InterventionConfiguration | None" = None,
    *,
    selection: Selection | None = None,
    subject: str | None = None,
    output: Sequence[str] | str = (),
    save: bool = True,
    progress: Progress = no_progress,
) -> PredictionReport:
    """Tries all interventions on the structure of organizations, or of runs.

    Args:
        store: Where the graphs are.
        configuration: What is tried.
        selection: Which graphs.
        subject: Id or name of one organization, or id of one run.
        output: Names of the units that give the output.
        save: Whether a report is stored.
        progress: Receives the number of graphs done.

    Raises:
        NotFoundError: The subject is not among them, or a named unit is in none of them.
    """
    from analytics.interventions_configuration import InterventionConfiguration
    from analytics.interventions_prediction import information_settings, predict_interventions

    options = configuration or InterventionConfiguration()
    output = listed(output)
    chosen = selection or Selection()
    made: dict[Any, InterventionPrediction] = {}
    predictions: list[InterventionPrediction] = []
    without = 0
    for graph_id, name, team, run in _teams(store, options, chosen, subject, output, progress):
        if team is None:
            without += 1
            continue
        # Many runs are the same team: what its structure lets one expect is the same, too.
        key = (team.names, team.roles, team.links, team.outputs, team.output_basis)
        if key not in made:
            made[key] = predict_interventions(team, graph_id, name, options)
        prediction = replace(made[key], subject=graph_id, name=name, team=team)
        if run is not None:
            # Contents are those of this run's own actions.
            own = iter(information_settings(team, options, run))
            if len(predictions) >= SHOWN_TEAMS:
                own = (replace(one, draws=()) for one in own)
            settings = tuple(
                next(own) if one.family == "information" else one for one in prediction.settings
            )
            prediction = replace(prediction, settings=settings)
        predictions.append(prediction)
    if subject is not None and not predictions:
        raise NotFoundError(_not_there(options.subject, subject, without))
    report = PredictionReport(options, tuple(predictions), without)
    if save and predictions:
        save_report(
            store,
            "interventions",
            f"interventions predicted on {len(predictions):,} {options.subject} "
            + ("team" if len(predictions) == 1 else "teams"),
            {
                "report": "predict",
                **asdict(options),
                "subject_id": subject,
                "output": list(output),
            },
            report.to_dict(),
            selection=chosen,
            runs=len(predictions),
        )
    return report


def _not_there(kind: str, subject: str, without: int) -> str:
    if kind == "executed":
        return f"there is no run {subject!r} among the selected ones"
    told = f" ({without:,} graphs name no organization)" if without else ""
    return f"there is no organization {subject!r} among those of the selected graphs{told}"


def _teams(
    store: GraphStore,
    options: "InterventionConfiguration",
    selection: Selection,
    subject: str | None,
    output: Sequence[str],
    progress: Progress,
) -> "Iterator[tuple[str, str, Team | None, CollaborationGraph | None]]":
    from analytics.interventions import team_of_organization, team_of_run

    if options.subject == "executed":
        ids = None if subject is None else [subject]
        for done, graph in enumerate(
            store.graphs(kind="run", ids=ids, **asdict(selection)), start=1
        ):
            progress(done, None, "")
            team = team_of_run(graph, options.projection, output) if graph.agents else None
            yield graph.id, graph.name, team, graph
        return
    seen = set()
    for done, graph in enumerate(store.graphs(**asdict(selection)), start=1):
        progress(done, None, "")
        organization = graph.organization
        if organization is None:
            yield graph.id, graph.name, None, None
        elif organization.id not in seen and subject in (
            None,
            organization.id,
            organization.name,
            graph.id,
        ):
            seen.add(organization.id)
            team = team_of_organization(organization, output)
            yield organization.id, organization.name, team, None


def measure(
    store: GraphStore,
    configuration: "ResponseConfiguration | None" = None,
    *,
    reference: str | None = None,
    modified: str | None = None,
    selection: Selection | None = None,
    save: bool = True,
    progress: Progress = no_progress,
) -> "ResponseReport":
    """Response and retention of scores, from runs with and without an intervention.

    Args:
        store: Where the runs are.
        configuration: What counts.
        reference: Name of the method whose runs are the reference, those that record no
            intervention. With None, every such run is one, for modified runs of its method or
            of its organization.
        modified: Name of the method whose runs are modified; with None, every run that
            records an intervention.
        selection: Which runs.
        save: Whether a report is stored.
        progress: Receives the number of runs done.

    Raises:
        UsageError: One method is named without the other, or both are the same.
        NotFoundError: A named method has no run.
    """
    from analytics.interventions_controls import controlled_run
    from analytics.interventions_pairs import ResponseConfiguration
    from analytics.interventions_response import measure_responses

    if (reference is None) != (modified is None) or (reference and reference == modified):
        raise UsageError("name two methods, the reference and the modified one, or none")
    options = configuration or ResponseConfiguration()
    chosen = selection or Selection()
    before: list[ControlledRun] = []
    after: list[ControlledRun] = []
    for done, graph in enumerate(runs_of(store, chosen), start=1):
        progress(done, None, "")
        run = controlled_run(graph, options.value)
        if reference is None:
            (before if run.intervention is None else after).append(run)
        elif run.method == reference and run.intervention is None:
            before.append(run)
        elif run.method == modified:
            after.append(run)
    for name, found in ((reference, before), (modified, after)):
        if name is not None and not found:
            raise NotFoundError(f"no selected run is of a method {name!r}")
    report = measure_responses(before, after, options, by_method=reference is None)
    if save and after:
        save_report(
            store,
            "interventions",
            f"responses to {len(report.settings):,} interventions"
            if reference is None
            else f"response of {modified} against {reference}",
            {
                "report": "measure",
                **asdict(options),
                "reference": reference,
                "modified": modified,
            },
            response_document(report),
            selection=chosen,
            runs=len(before) + len(after),
        )
    return report


def response_document(report: "ResponseReport") -> dict[str, Any]:
    """A report as JSON values, with the first of the runs that were left out."""
    document = report.to_dict()
    return {
        "report": "measure",
        **document,
        "left_out_runs": len(report.left_out),
        "left_out": document["left_out"][:SHOWN_LEFT_OUT],
    }


def execution(
    store: GraphStore,
    configuration: "ExecutionConfiguration | None" = None,
    *,
    selection: Selection | None = None,
    save: bool = True,
    progress: Progress = no_progress,
) -> "ExecutionReport":
    """Links and roles of the selected runs, as permitted and as executed.

    Args:
        store: Where the runs are.
        configuration: What counts as a message.
        selection: Which runs.
        save: Whether a report is stored.
        progress: Receives the number of runs done.
    """
    from analytics.execution import ExecutionConfiguration, measure_execution
    from analytics.execution_report import ExecutionReport

    options = configuration or ExecutionConfiguration()
    chosen = selection or Selection()
    rows = []
    total = store.counts().get("Run", 0)
    for graph in runs_of(store, chosen):
        rows.append(measure_execution(graph, options))
        progress(len(rows), total, "")
    report = ExecutionReport(options, tuple(rows))
    if save and rows:
        save_report(
            store,
            "execution",
            f"links and roles of {len(rows):,} runs",
            options,
            execution_document(report),
            selection=chosen,
            runs=len(rows),
        )
    return report


def execution_document(report: "ExecutionReport") -> dict[str, Any]:
    """A report as JSON values: methods with their links and roles, without single runs."""
    document = report.to_dict()
    del document["rows"]
    for method in document["methods"]:
        method["links_shown"] = min(len(method["links"]), SHOWN_LINKS)
        method["links"] = method["links"][:SHOWN_LINKS]
    return {"report": "links", "runs": len(report.rows), **document}
