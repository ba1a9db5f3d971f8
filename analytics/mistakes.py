"""Does the action at which a run parts from those that work name its deciding mistake?

Measured where somebody labelled the mistake (Who&When does), beside guesses that know nothing:
a random action, always the first, always the last, always the busiest agent.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from analytics.statistics import BootstrapConfiguration, Interval, bootstrap_mean
from graphstore.identity import configuration_hash
from graphstore.model import CollaborationGraph
from graphstore.short_view import TableView, counted

if TYPE_CHECKING:
    import pandas

Strategy = Literal["parts_at", "parts_after", "random", "first", "last", "busiest"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@dataclass(frozen=True, slots=True)
class Hit:
    """How likely a strategy is right about one run; None where the label lacks.

    Attributes:
        step: Probability that it names the labelled action, 0 to 1.
        agent: Probability that the action that it names is the labelled agent's, 0 to 1.
        answered: Whether it names an action at all.
    """

    step: float | None
    agent: float | None
    answered: bool


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """What each strategy makes of a run whose mistake is labelled.

    Attributes:
        run: Id of the run.
        task: Id of the task.
        method: Name of the method.
        hits: One for each of :data:`STRATEGIES`, in that order.
    """

    run: str
    task: str
    method: str | None
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class StrategyAccuracy:
    """How often a strategy is right, over the runs of one method or over all.

    Attributes:
        strategy: Its name.
        method: Name of the method; None for all runs.
        runs: Runs with a label.
        answered: Those for which it names an action; the others count as wrong.
        step: Share of runs in which the action is right.
        agent: Share of runs in which the action's agent is right.
        step_gain: Mean of what ``parts_at`` has beyond this strategy, run by run.
        agent_gain: Likewise.
    """

    strategy: Strategy
    method: str | None
    runs: int
    answered: int
    step: Interval
    agent: Interval
    step_gain: Interval
    agent_gain: Interval


@dataclass(frozen=True, repr=False)
class MistakeReport(TableView):
    """How well mistakes are found.

    Attributes:
        configuration: How intervals are made; tasks are resampled, with all their runs.
        rows: For all runs, then for each method by name, each strategy.
    """

    configuration: BootstrapConfiguration
    rows: tuple[StrategyAccuracy, ...]

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return configuration_hash(self.configuration)

    def to_dict(self) -> dict[str, Any]:
        """JSON values: ``configuration``, ``configuration_hash`` and ``rows``."""
        return {
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "rows": [asdict(row) for row in self.rows],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a strategy and method; an interval gives three columns."""
        import pandas

        lines = []
        for row in self.rows:
            line: dict[str, Any] = {
                "method": row.method,
                "strategy": row.strategy,
                "runs": row.runs,
                "answered": row.answered,
            }
            for name in ("step", "agent", "step_gain", "agent_gain"):
                interval: Interval = getattr(row, name)
                line[name] = interval.estimate
                line[f"{name}_low"] = interval.low
                line[f"{name}_high"] = interval.high
            lines.append(line)
        return pandas.DataFrame(lines)

    def _in_short(self) -> str:
        return counted(len(self.rows), "line")


def labelled_run(
    graph: CollaborationGraph, parts_at: int | None, parts_after: int | None
) -> LabelledRun | None:
    """What each strategy makes of a run.

    The strategies that know nothing choose among the actions of agents, not of tools, humans
    or environments, unless there are none: ``random`` each as likely, ``busiest`` one of
    those of the agent with the most (the first of these agents in a tie), each as likely.
    Their probabilities are exact, nothing is drawn.

    Args:
        graph: A run.
        parts_at: Index of the action at which it parts from its best reference
            (:class:`analytics.diagnosis.Parting`); None where it does not, or has no
            reference.
        parts_after: Index of the action after which it does, likewise.

    Returns:
        None where no mistake is labelled, or nobody acted.
    """
    outcome = graph.outcome
    names = {agent.id: agent.name.casefold() for agent in graph.agents}
    kinds = {agent.id: agent.kind for agent in graph.agents}
    acting = [node.index for node in graph.nodes if node.agent is not None]
    agents = [
        place for place in acting if kinds[graph.nodes[place].agent or ""] == "agent"
    ] or acting
    step, blamed = outcome.mistake_step, outcome.mistake_agent
    if (step is None and blamed is None) or not agents:
        return None

    def hit(chosen: Sequence[int]) -> Hit:
        if not chosen:
            return Hit(None if step is None else 0.0, None if blamed is None else 0.0, False)
        right = sum(
            names.get(graph.nodes[place].agent or "") == (blamed or "").casefold()
            for place in chosen
        )
        return Hit(
            None if step is None else sum(place == step for place in chosen) / len(chosen),
            None if blamed is None else right / len(chosen),
            True,
        )

    counts = Counter(graph.nodes[place].agent for place in agents)
    # Of equal counts, the one that was met first.
    busiest = max(counts, key=lambda one: counts[one])
    chosen: dict[Strategy, Sequence[int]] = {
        "parts_at": [] if parts_at is None else [parts_at],
        "parts_after": [] if parts_after is None else [parts_after],
        "random": agents,
        "first": agents[:1],
        "last": agents[-1:],
        "busiest": [place for place in agents if graph.nodes[place].agent == busiest],
    }
    return LabelledRun(
        run=graph.id,
        task=graph.task.id,
        method=None if graph.method is None else graph.method.name,
        hits=tuple([hit(chosen[strategy]) for strategy in STRATEGIES]),
    )


def mistake_report(
    runs: Iterable[LabelledRun], configuration: BootstrapConfiguration | None = None
) -> MistakeReport:
    """How often each strategy is right, with intervals over tasks.

    Args:
        runs: In any order.
        configuration: Of the intervals; the defaults where None.
    """
    options = configuration or BootstrapConfiguration()
    labelled = sorted(runs, key=lambda one: one.run)
    rows = []
    methods = sorted({one.method for one in labelled if one.method is not None})
    groups: list[str | None] = [None, *methods] if len(methods) > 1 else [None]
    for method in groups:
        chosen = [one for one in labelled if method is None or one.method == method]
        if chosen:
            rows += [
                _accuracy(chosen, place, method, options) for place in range(len(STRATEGIES))
            ]
    return MistakeReport(options, tuple(rows))


def _accuracy(
    runs: Sequence[LabelledRun],
    place: int,
    method: str | None,
    options: BootstrapConfiguration,
) -> StrategyAccuracy:
    sources = [one.task for one in runs]

    def mean(values: list[float | None]) -> Interval:
        return bootstrap_mean(values, sources=sources, configuration=options)

    def gain(own: float | None, other: float | None) -> float | None:
        return None if own is None or other is None else own - other

    return StrategyAccuracy(
        strategy=STRATEGIES[place],
        method=method,
        runs=len(runs),
        answered=sum(one.hits[place].answered for one in runs),
        step=mean([one.hits[place].step for one in runs]),
        agent=mean([one.hits[place].agent for one in runs]),
        step_gain=mean([gain(one.hits[0].step, one.hits[place].step) for one in runs]),
        agent_gain=mean([gain(one.hits[0].agent, one.hits[place].agent) for one in runs]),
    )
