"""Which tasks are worth a team: deep enough, wide enough, and better done by a team.

Source: ForestBench keeps a query q only when d(q) >= theta_d, w(q) >= theta_w and
delta(q) >= theta_delta. How depth, width and gain are measured, and the thresholds, are not
public: the choices are made here and stored with every result.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, get_args

from analytics.runs import require_run
from analytics.similarity.outline import levels, outline
from graphstore.errors import NotFoundError, UsageError
from graphstore.identity import configuration_hash
from graphstore.listed import listed
from graphstore.model import CollaborationGraph
from graphstore.short_view import TableView, counted

if TYPE_CHECKING:
    import pandas

Criterion = Literal["depth", "width", "gain"]
CRITERIA: tuple[str, ...] = get_args(Criterion)

MINIMUM_DEPTH = 3.0
"""Theta_d, in actions: somebody builds on what somebody built on."""
MINIMUM_WIDTH = 2.0
"""Theta_w, in actions: at least two can be done side by side."""
MINIMUM_GAIN = 0.05
"""Theta_delta, a difference of success rates: five points."""


@dataclass(frozen=True, slots=True)
class GraphShape:
    """How deep and how wide the actions of a run lie.

    Attributes:
        depth: Number of actions on a longest path of edges.
        width: Largest number of actions of one level.
    """

    depth: int
    width: int


@dataclass(frozen=True)
class SuitabilityConfiguration:
    """Thresholds; a criterion whose threshold is None is not asked for.

    Attributes:
        depth: Theta_d, in actions, not negative.
        width: Theta_w, in actions, not negative.
        gain: Theta_delta, a difference of success rates, -1 to 1.
        teams: Names of the methods that are a team; where empty, every run in which not one
            agent alone acted is a team's.
        single: Name of the method that is the single agent; where None, every run in which
            one agent alone acted (:func:`is_single_agent`).
        definitions: Raised whenever depth, width or gain change their meaning.
    """

    depth: float | None = MINIMUM_DEPTH
    width: float | None = MINIMUM_WIDTH
    gain: float | None = MINIMUM_GAIN
    teams: tuple[str, ...] = ()
    single: str | None = None
    definitions: str = "1"

    def __post_init__(self) -> None:
        for name in ("depth", "width"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise UsageError(f"a threshold of {name} cannot be {value}")
        object.__setattr__(self, "teams", tuple(sorted(set(listed(self.teams)))))
        if self.single is not None and self.single in self.teams:
            raise UsageError(f"{self.single} cannot be both a team and the single agent")
        if self.gain is not None and not -1.0 <= self.gain <= 1.0:
            raise UsageError(f"a threshold of gain lies between -1 and 1, not at {self.gain}")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class TaskSuitability:
    """One task beside the thresholds.

    Attributes:
        task: Name of the task.
        task_id: Its id.
        dataset: Its data set.
        category: Its category.
        team_runs: Number of its runs by teams with at least one action.
        single_runs: Number of its runs by the single agent, likewise.
        depth: Median depth of the team runs, in actions; None without such a run.
        width: Median width of the team runs, in actions; likewise.
        team_success: Success rate of the team runs that say how they ended, 0 to 1.
        single_success: Success rate of the single agent's runs that say so, 0 to 1.
        gain: ``team_success - single_success``, -1 to 1; None where one is missing.
        failed: The criteria that were missed.
        unknown: The criteria that were asked for and whose value is missing.
    """

    task: str
    task_id: str
    dataset: str | None
    category: str | None
    team_runs: int
    single_runs: int
    depth: float | None
    width: float | None
    team_success: float | None
    single_success: float | None
    gain: float | None
    failed: tuple[Criterion, ...]
    unknown: tuple[Criterion, ...]

    @property
    def suitable(self) -> bool | None:
        """Whether every criterion is met: False where one fails, else None where one lacks."""
        if self.failed:
            return False
        return None if self.unknown else True


@dataclass(frozen=True, repr=False)
class Suitability(TableView):
    """Tasks beside thresholds.

    Attributes:
        configuration: The thresholds.
        tasks: By data set, name and id.
        runs: Number of runs looked at.
    """

    configuration: SuitabilityConfiguration
    tasks: tuple[TaskSuitability, ...]
    runs: int

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    @property
    def suitable(self) -> tuple[TaskSuitability, ...]:
        """The tasks that meet every criterion."""
        return tuple(task for task in self.tasks if task.suitable)

    def to_dict(self) -> dict[str, Any]:
        """JSON values, with counts: how many tasks pass, miss or lack each criterion."""
        asked = [name for name in CRITERIA if getattr(self.configuration, name) is not None]
        return {
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "runs": self.runs,
            "suitable": len(self.suitable),
            "unsuitable": sum(task.suitable is False for task in self.tasks),
            "not_known": sum(task.suitable is None for task in self.tasks),
            "failed": {name: sum(name in task.failed for task in self.tasks) for name in asked},
            "unknown": {
                name: sum(name in task.unknown for task in self.tasks) for name in asked
            },
            "tasks": [{**asdict(task), "suitable": task.suitable} for task in self.tasks],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a task; nullable types, criteria as text."""
        import pandas

        numbers = ("depth", "width", "team_success", "single_success", "gain")
        columns: dict[str, Any] = {}
        for name in ("task", "task_id", "dataset", "category"):
            columns[name] = pandas.Series(
                [getattr(task, name) for task in self.tasks], dtype="string"
            )
        for name in ("team_runs", "single_runs"):
            columns[name] = pandas.Series(
                [getattr(task, name) for task in self.tasks], dtype="Int64"
            )
        for name in numbers:
            columns[name] = pandas.Series(
                [getattr(task, name) for task in self.tasks], dtype="Float64"
            )
        for name in ("failed", "unknown"):
            columns[name] = pandas.Series(
                [", ".join(getattr(task, name)) for task in self.tasks], dtype="string"
            )
        columns["suitable"] = pandas.Series(
            [task.suitable for task in self.tasks], dtype="boolean"
        )
        return pandas.DataFrame(columns)

    def _in_short(self) -> str:
        return (
            f"{len(self.suitable):,} of {counted(len(self.tasks), 'task')} suitable, from "
            f"{counted(self.runs, 'run')}"
        )


def graph_shape(graph: CollaborationGraph) -> GraphShape:
    """Depth and width of a graph, in time linear in nodes and edges.

    A node's level is the number of edges on the longest path that ends in it. Depth is the
    number of levels. Width is the size of the largest level: nodes of one level cannot reach
    each other, so this many could be done side by side. (The largest antichain of the graph
    can be larger; it takes a matching on the transitive closure, and long runs have many
    actions that nothing joins, which would count as done side by side.)

    Args:
        graph: A run or a decomposition. Couplings do not count.

    Returns:
        Zeros for a graph without nodes.
    """
    level = levels(len(graph.nodes), outline(graph).edges)
    sizes = [0] * (max(level, default=-1) + 1)
    for one in level:
        sizes[one] += 1
    return GraphShape(len(sizes), max(sizes, default=0))


def is_single_agent(graph: CollaborationGraph) -> bool:
    """Whether one agent worked alone: no two agents of kind ``agent`` acted.

    Tools, people and the environment are no members of a team. An agent that is listed and
    never acts does not make a team.

    Args:
        graph: A run.
    """
    kinds = {agent.id: agent.kind for agent in graph.agents}
    acting = {node.agent for node in graph.nodes if node.agent is not None}
    return sum(kinds[agent] == "agent" for agent in acting) == 1


def assess_tasks(
    graphs: Iterable[CollaborationGraph], configuration: SuitabilityConfiguration | None = None
) -> Suitability:
    """Depth, width and gain of each task, beside the thresholds.

    Depth and width are medians over the task's team runs: a single agent's run says nothing
    of what a team can share out. Where the configuration names no methods, runs in which no
    agent of kind ``agent`` is known to act are a team's. Runs without actions are left out.
    The gain is the success rate of the team runs minus that of the single agent's runs; runs
    that do not say how they ended do not count.

    Args:
        graphs: Runs; they are taken one by one and not kept.
        configuration: Thresholds; the defaults where None.

    Raises:
        UsageError: One of the graphs is a decomposition.
        NotFoundError: The configuration names a method that made none of the runs.
    """
    options = configuration or SuitabilityConfiguration()
    found: dict[str, _Runs] = {}
    runs = 0
    methods: set[str] = set()
    for graph in graphs:
        require_run(graph)
        runs += 1
        if graph.method is not None:
            methods.add(graph.method.name)
        found.setdefault(graph.task.id, _Runs(graph)).add(graph, options)
    named = [*options.teams, *([] if options.single is None else [options.single])]
    for name in named if runs else ():
        if name not in methods:
            raise NotFoundError(f"no run here was made by the method {name!r}")
    tasks = [one.assessed(options) for one in found.values()]
    tasks.sort(key=lambda task: (task.dataset or "", task.task, task.task_id))
    return Suitability(options, tuple(tasks), runs)


class _Runs:
    """The runs of one task."""

    def __init__(self, first: CollaborationGraph) -> None:
        self.task = first.task
        self.shapes: list[GraphShape] = []
        self.single_runs = 0
        self.team_success: list[bool] = []
        self.single_success: list[bool] = []

    def add(self, graph: CollaborationGraph, options: SuitabilityConfiguration) -> None:
        if not graph.nodes:
            return
        method = None if graph.method is None else graph.method.name
        alone = is_single_agent(graph)
        if method == options.single if options.single is not None else alone:
            self.single_runs += 1
            ends = self.single_success
        elif method in options.teams if options.teams else not alone:
            self.shapes.append(graph_shape(graph))
            ends = self.team_success
        else:
            return
        if graph.outcome.success is not None:
            ends.append(graph.outcome.success)

    def assessed(self, options: SuitabilityConfiguration) -> TaskSuitability:
        team, single = _rate(self.team_success), _rate(self.single_success)
        values: dict[Criterion, float | None] = {
            "depth": float(median(one.depth for one in self.shapes)) if self.shapes else None,
            "width": float(median(one.width for one in self.shapes)) if self.shapes else None,
            "gain": None if team is None or single is None else team - single,
        }
        failed: list[Criterion] = []
        unknown: list[Criterion] = []
        for name, value in values.items():
            threshold = getattr(options, name)
            if threshold is None:
                continue
            if value is None:
                unknown.append(name)
            elif value < threshold:
                failed.append(name)
        return TaskSuitability(
            task=self.task.name,
            task_id=self.task.id,
            dataset=self.task.dataset,
            category=self.task.category,
            team_runs=len(self.shapes),
            single_runs=self.single_runs,
            depth=values["depth"],
            width=values["width"],
            team_success=team,
            single_success=single,
            gain=values["gain"],
            failed=tuple(failed),
            unknown=tuple(unknown),
        )


def _rate(ends: Sequence[bool]) -> float | None:
    return sum(ends) / len(ends) if ends else None
