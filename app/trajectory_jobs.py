"""Store -> proposal trajectories -> store: what collaboration gained, and at what cost."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.jobs import Progress, Selection, no_progress, runs_of
from app.notebook import need_source
from graphstore.errors import InputError, UsageError
from graphstore.model import CollaborationGraph
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from analytics.scorers.base import Scorer
    from analytics.scorers.judge import Judge, RecordedJudge
    from analytics.trajectory_results import AnalysisConfiguration, TrajectoryResult
    from analytics.trajectory_scoring import InstanceTable

KIND = "trajectories"
"""The kind of the reports that are saved."""
MOST_REASONS = 10
"""How many reasons for missing scores the notes name, the most frequent ones."""


@dataclass(frozen=True)
class Scoring:
    """How proposals are scored.

    Attributes:
        scorer: With its judge, where it needs one.
        instances: From a tasks file; None where the runs themselves hold them.
        tasks: Hash of the tasks file.
        judge: Name of the judge.
    """

    scorer: "Scorer"
    instances: "InstanceTable | None" = None
    tasks: str | None = None
    judge: str | None = None


def make_scoring(
    scorer: "str | Scorer",
    *,
    tasks: Path | None = None,
    judge: "Judge | None" = None,
) -> Scoring:
    """A scorer with what it needs.

    Args:
        scorer: Its name, or itself.
        tasks: A JSONL file with instances (``docs/scorers.md``).
        judge: Who is asked, for scorers that ask.

    Raises:
        NotFoundError: There is no such scorer.
        UsageError: It cannot be imported, is no scorer, or lacks its judge.
        InputError: The file cannot be read, or a record of it makes no instance.
    """
    from analytics.scorers.base import Scorer
    from analytics.scorers.registry import default_scorers

    chosen = default_scorers().scorer(scorer) if isinstance(scorer, str) else scorer
    if isinstance(chosen, type):
        raise UsageError(f"a scorer is an instance, not the class: {chosen.__name__}()")
    if not isinstance(chosen, Scorer):
        raise UsageError(f"a scorer is a name or a Scorer, not {type(chosen).__name__}")
    if chosen.needs_judge and judge is None:
        raise UsageError(
            f"the scorer {chosen.name} asks a judge: name one with --judge recorded:FILE or "
            "--judge openai:MODEL@URL"
        )
    used = judge if chosen.needs_judge else None
    if used is not None:
        chosen = chosen.with_judge(used)
    instances, digest = (None, None) if tasks is None else read_tasks(tasks, chosen)
    return Scoring(chosen, instances, digest, None if used is None else used.name)


def read_tasks(path: Path, scorer: "Scorer") -> "tuple[InstanceTable, str]":
    """The instances of a tasks file, and the hash of the file.

    Raises:
        InputError: The file cannot be read, or a record of it makes no instance.
    """
    import msgspec

    from analytics.trajectory_scoring import InstanceTable
    from graphstore.identity import digest

    data = _bytes_of(path)

    def records() -> Iterator[dict[str, Any] | None]:
        for number, line in enumerate(data.splitlines(), start=1):
            try:
                yield msgspec.json.decode(line, type=dict[str, Any]) if line.strip() else None
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise InputError(str(error), file=str(path), record=str(number)) from None

    table = InstanceTable.from_records(records(), scorer, file=str(path))
    if not table.instances:
        raise InputError(f"it holds no instance for the scorer {scorer.name}", file=str(path))
    return table, digest(data, size=8)


def make_judge(name: str, key: str | None = None) -> "Judge":
    """The judge with a name.

    Args:
        name: ``recorded:FILE`` or ``openai:MODEL@URL``.
        key: Sent to a server as a bearer token, kept nowhere.

    Raises:
        UsageError: There is none.
        InputError: The file cannot be read.
    """
    from analytics.scorers.judge import EndpointJudge

    kind, _, rest = name.partition(":")
    if kind == "recorded" and rest:
        return read_recorded_judge(Path(rest))
    if kind == "openai":
        model, _, url = rest.rpartition("@")
        if model and url:
            return EndpointJudge(url, model, key)
    raise UsageError(f"there is no judge {name!r}; choose recorded:FILE or openai:MODEL@URL")


def read_recorded_judge(path: Path) -> "RecordedJudge":
    """The answers of a judge that were recorded in a JSONL file.

    Raises:
        InputError: The file cannot be read.
    """
    from analytics.scorers.judge import RecordedJudge

    return RecordedJudge.from_lines(_bytes_of(path).splitlines(), file=str(path))


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def analyse(
    source: GraphStore | Iterable[CollaborationGraph],
    configuration: "AnalysisConfiguration | None" = None,
    *,
    scoring: Scoring | None = None,
    selection: Selection | None = None,
    save: bool = True,
    progress: Progress = no_progress,
) -> "TrajectoryResult":
    """The measures of proposal trajectories by method, kept in the store as a report.

    Claims are kept beside it, as nodes of their own.

    Args:
        source: A store, or graphs; decompositions among the graphs are left out.
        configuration: Options. What it says of scorer, judge and tasks is filled in from
            ``scoring``, and so is its ``task_score``: with a scorer the answer's, or for
            dynamic tasks the episode's.
        scoring: Scores proposals anew; without it they keep the scores of the trace.
        selection: Which runs of a store. The baseline's runs of the same tasks come with
            those of another method.
        save: Whether a report is written, where the source is a store.
        progress: Receives the number of runs done.

    Raises:
        NotFoundError: No run was made by the baseline.
        UsageError: A score is above the maximum score.
    """
    from analytics.claims import claim_signals
    from analytics.trajectories import trajectory_of
    from analytics.trajectory_results import AnalysisConfiguration, analyse_trajectories
    from analytics.trajectory_scoring import score_run

    options = _filled(configuration or AnalysisConfiguration(), scoring)
    chosen = selection or Selection()
    trajectories, claims = [], []
    scored = unscored_runs = 0
    reasons: Counter[str] = Counter()
    store = None if isinstance(source, Iterable) else source
    total = None if store is None else store.counts().get("Run", 0)
    graphs = (
        (graph for graph in source if graph.kind == "run")
        if isinstance(source, Iterable)
        else _selected(source, chosen, options.baseline)
    )
    for graph in graphs:
        maximum_scores = None
        claims.append(claim_signals(graph))
        if scoring is not None:
            run = score_run(graph, scoring.scorer, scoring.instances)
            graph, maximum_scores = run.graph, run.maximum_scores
            scored += run.scored
            unscored_runs += bool(graph.proposals) and not run.scored
            reasons.update(run.reasons)
        trajectories.append(
            trajectory_of(graph, options.trajectory, maximum_scores=maximum_scores)
        )
        progress(len(trajectories), total, "")
    result = analyse_trajectories(
        trajectories,
        options,
        claims=claims,
        notes=list(_notes(options, scoring, scored, unscored_runs, reasons)),
    )
    if store is not None and save and trajectories:
        _save(store, result, chosen)
    return result


def _filled(
    options: "AnalysisConfiguration", scoring: Scoring | None
) -> "AnalysisConfiguration":
    if scoring is None:
        return options
    return replace(
        options,
        trajectory=replace(
            options.trajectory, task_score="episode" if scoring.scorer.dynamic else "answer"
        ),
        scorer=f"{scoring.scorer.name} {scoring.scorer.version}",
        judge=scoring.judge,
        tasks=scoring.tasks,
    )


def _selected(
    store: GraphStore, selection: Selection, baseline: str | None
) -> Iterator[CollaborationGraph]:
    yield from runs_of(store, selection)
    if selection.method is None or baseline in (None, selection.method):
        return
    for graph in runs_of(store, replace(selection, method=baseline)):
        method = graph.method
        # The selected method may be the baseline under its other name.
        if method is None or selection.method not in (method.name, method.id):
            yield graph


def _notes(
    options: "AnalysisConfiguration",
    scoring: Scoring | None,
    scored: int,
    unscored_runs: int,
    reasons: Counter[str],
) -> Iterator[str]:
    if options.baseline is None:
        yield "No baseline is named: there is no collaboration gain and no multiple of tokens."
    if scoring is None:
        return
    name = scoring.scorer.name
    yield f"{scored:,} proposals were scored by {name}."
    if scoring.scorer.dynamic:
        yield (
            "The task is dynamic: task scores are the runs' own, in their own unit, and the "
            f"scores of proposals and answers are those of {name}."
        )
    if unscored_runs:
        yield f"{unscored_runs:,} runs with proposals have none that was scored."
    ordered = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    for reason, count in ordered[:MOST_REASONS]:
        yield f"{count:,} proposals have no score: {reason}."
    more = sum(count for _, count in ordered[MOST_REASONS:])
    if more:
        yield f"{more:,} more proposals have no score, for other reasons."


def _save(store: GraphStore, result: "TrajectoryResult", selection: Selection) -> str:
    from app.claim_rows import save_claims
    from app.stored_reports import save_report

    save_claims(store, result.claims)
    options = result.configuration
    against = "" if options.baseline is None else f" against {options.baseline}"
    by = "" if options.scorer is None else f", scored by {options.scorer.partition(' ')[0]}"
    return save_report(
        store,
        KIND,
        f"Proposal trajectories{against}{by}",
        options,
        result.to_dict(),
        selection=selection,
        runs=len(result.report.trajectories),
    )


def trajectories(
    source: str | Path | GraphStore | Iterable[CollaborationGraph],
    *,
    baseline: str | None = None,
    scorer: "str | Scorer | None" = None,
    tasks: str | Path | None = None,
    judge: "Judge | None" = None,
    configuration: "AnalysisConfiguration | None" = None,
) -> "TrajectoryResult":
    """What each method's collaboration gained. A store is left as it is.

    Args:
        source: A store (open, or its path or URL), or graphs.
        baseline: Name or id of the method that is the single agent.
        scorer: Scores the proposals anew: its name, or one of your own.
        tasks: A JSONL file with the instances of the tasks, for the scorer.
        judge: Who is asked, for scorers that ask.
        configuration: Further options.
    """
    from analytics.trajectory_results import AnalysisConfiguration
    from graphstore.store import open_store

    need_source(source)
    if isinstance(source, (str, Path)):
        with open_store(str(source), read_only=True) as store:
            return trajectories(
                store,
                baseline=baseline,
                scorer=scorer,
                tasks=tasks,
                judge=judge,
                configuration=configuration,
            )
    options = configuration or AnalysisConfiguration()
    if baseline is not None:
        options = replace(options, baseline=baseline)
    scoring = None
    if scorer is not None:
        path = None if tasks is None else Path(tasks)
        scoring = make_scoring(scorer, tasks=path, judge=judge)
    elif tasks is not None or judge is not None:
        raise UsageError("tasks and judges are for a scorer: name one")
    return analyse(source, options, scoring=scoring, save=False)
