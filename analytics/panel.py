"""The structural panel: one row of metrics for each run, and their means for each method."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_type_hints

from analytics.flow_metrics import digraph_metrics
from analytics.positions import Positions
from analytics.projection import (
    ALL_AGENT_KINDS,
    PROJECTIONS,
    ProjectionName,
    permitted,
    project,
    route_use,
)
from analytics.redundancy import TERMINALS, TerminalName, content_redundancy, node_validity
from analytics.runs import require_run
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash
from graphstore.model import AgentKind, CollaborationGraph
from graphstore.short_view import TableView, runs_in_short

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class PanelConfiguration:
    """What a panel depends on besides the run.

    Attributes:
        projection: What makes an executed edge (:mod:`analytics.projection`).
        agent_kinds: Which agents are vertices; put into the model's order.
        terminal: Which nodes need no consumer (:func:`analytics.redundancy.terminal_nodes`).
        definitions: Raised whenever a metric of the panel changes its meaning.
    """

    projection: ProjectionName = "exchange"
    agent_kinds: tuple[AgentKind, ...] = ALL_AGENT_KINDS
    terminal: TerminalName = "answers"
    definitions: str = "1"

    def __post_init__(self) -> None:
        if self.projection not in PROJECTIONS:
            raise UsageError(
                f"there is no projection {self.projection!r}; "
                f"choose one of {', '.join(PROJECTIONS)}"
            )
        if self.terminal not in TERMINALS:
            raise UsageError(
                f"there is no reading {self.terminal!r} of terminal nodes; "
                f"choose one of {', '.join(TERMINALS)}"
            )
        unknown = sorted(set(self.agent_kinds) - set(get_args(AgentKind)))
        if unknown or not self.agent_kinds:
            raise UsageError(
                f"unknown kinds of agents: {', '.join(unknown)}"
                if unknown
                else "at least one kind of agent must be a vertex"
            )
        ordered = tuple(kind for kind in ALL_AGENT_KINDS if kind in self.agent_kinds)
        object.__setattr__(self, "agent_kinds", ordered)

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class PanelRow:
    """The metrics of one run. None is "not known" or "not defined", never 0.

    Attributes:
        run: Id of the run.
        name: The run's short label.
        task: Name of the task.
        task_id: Id of the task.
        method: Name of the method.
        method_id: Id of the method.
        success: Whether the run succeeded.
        score: In the task's own unit.
        density: Of the executed graph (:mod:`analytics.flow_metrics`), 0 to 1.
        reachable_pair_fraction: Of the executed graph, 0 to 1.
        average_path_length: Of the executed graph, in edges.
        normalized_source_entropy: Of the executed messages, 0 to 1.
        permitted_density: Of the organization's links.
        permitted_reachable_pair_fraction: Of the organization's links.
        permitted_average_path_length: Of the organization's links.
        permitted_links_used: Share of the permitted links that carried a message.
        unpermitted_links: Number of executed edges between units that no link permits.
        node_validity: Share of non-terminal actions whose output was consumed.
        content_redundancy: 1 - distinct contents / contents.
        actions: Number of actions.
        agents: Number of agents that the run lists, of every kind.
        active_agents: Number of agents that performed at least one action.
        vertices: Vertices of the executed graph.
        links: Edges of the executed graph.
        messages: Actions that made at least one edge of the executed graph.
        edges: Number of edges between actions.
        inferred_edges: Number of those that a reader guessed.
        share_of_inferred_edges: Their share; None without edges.
        known_contents: Number of actions whose content is known: what redundancy rests on.
        tokens_in: Tokens read: the run's own total, else the sum over its actions.
        tokens_out: Tokens written, likewise.
    """

    run: str
    name: str
    task: str
    task_id: str
    method: str | None
    method_id: str | None
    success: bool | None
    score: float | None
    density: float | None
    reachable_pair_fraction: float | None
    average_path_length: float | None
    normalized_source_entropy: float | None
    permitted_density: float | None
    permitted_reachable_pair_fraction: float | None
    permitted_average_path_length: float | None
    permitted_links_used: float | None
    unpermitted_links: int | None
    node_validity: float | None
    content_redundancy: float | None
    actions: int
    agents: int
    active_agents: int
    vertices: int
    links: int
    messages: int | None
    edges: int
    inferred_edges: int
    share_of_inferred_edges: float | None
    known_contents: int
    tokens_in: int | None
    tokens_out: int | None


SHARED_FIELDS = ("run", "name", "task", "task_id", "method", "method_id")
"""The fields of a row that are no number."""
METRICS: tuple[str, ...] = tuple(
    field.name for field in fields(PanelRow) if field.name not in SHARED_FIELDS
)
"""The fields of a row that a method's mean is taken of."""


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """What the runs of one method have in common.

    Attributes:
        method: The method's name; None for runs whose method is not known.
        method_id: Its id.
        runs: Number of runs.
        tasks: Number of distinct tasks.
        means: Mean of each metric over the runs that have it; None where none has.
            ``success`` gives the success rate.
        known: Number of runs that each mean rests on.
    """

    method: str | None
    method_id: str | None
    runs: int
    tasks: int
    means: dict[str, float | None]
    known: dict[str, int]


@dataclass(frozen=True, repr=False)
class Evaluation(TableView):
    """The panel of many runs under one configuration.

    Attributes:
        configuration: What it was made with.
        rows: One for each run, in the order in which the runs came.
    """

    row_type: ClassVar[type[PanelRow]] = PanelRow
    metrics: ClassVar[tuple[str, ...]] = METRICS

    configuration: PanelConfiguration
    rows: tuple[PanelRow, ...]

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def to_dict(self) -> dict[str, Any]:
        """JSON values: ``configuration``, ``configuration_hash`` and ``rows``."""
        return {
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "rows": [asdict(row) for row in self.rows],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a run; columns as in the rows, nullable types."""
        import pandas

        return pandas.DataFrame(
            {
                name: pandas.Series([getattr(row, name) for row in self.rows], dtype=type_)
                for name, type_ in _column_types(self.row_type).items()
            }
        )

    def by_method(self) -> tuple[MethodSummary, ...]:
        """Means for each method, by name; runs without a known method come last."""
        groups: dict[tuple[bool, str, str], list[PanelRow]] = {}
        for row in self.rows:
            key = (row.method_id is None, row.method or "", row.method_id or "")
            groups.setdefault(key, []).append(row)
        return tuple(_summary(rows, self.metrics) for _, rows in sorted(groups.items()))

    def _in_short(self) -> str:
        return runs_in_short(self.rows)


_DEFAULTS = PanelConfiguration()


def evaluate_graph(
    graph: CollaborationGraph, configuration: PanelConfiguration | None = None
) -> PanelRow:
    """The metrics of one run.

    Args:
        graph: A run.
        configuration: Options; the defaults where None.

    Raises:
        UsageError: The graph is a decomposition: nobody has acted in it yet.
    """
    return PanelRow(**panel_values(graph, configuration))


def panel_values(
    graph: CollaborationGraph,
    configuration: PanelConfiguration | None = None,
    *,
    positions: Positions | None = None,
) -> dict[str, Any]:
    """The metrics of one run by name: the fields of :class:`PanelRow`.

    Args:
        graph: A run.
        configuration: Options; the defaults where None.
        positions: Of this graph, where they have been read; read here where None.

    Raises:
        UsageError: The graph is a decomposition: nobody has acted in it yet.
    """
    options = configuration or _DEFAULTS
    require_run(graph)
    read = positions or Positions(graph)
    projected = project(
        graph, options.projection, agent_kinds=options.agent_kinds, positions=read
    )
    executed = digraph_metrics(projected.graph, projected.sent)
    allowed = None
    if graph.organization is not None:
        allowed = digraph_metrics(permitted(graph.organization))
    use = None if options.projection == "action" else route_use(graph, projected.graph)
    redundancy = content_redundancy(graph)
    task, method, outcome = graph.task, graph.method, graph.outcome
    edges, inferred = len(graph.edges), graph.inferred_edges
    tokens_in, tokens_out = outcome.tokens_in, outcome.tokens_out
    if tokens_in is None:
        read_by = [found for node in graph.nodes if (found := node.tokens_in) is not None]
        tokens_in = sum(read_by) if read_by else None
    if tokens_out is None:
        written = [found for node in graph.nodes if (found := node.tokens_out) is not None]
        tokens_out = sum(written) if written else None
    return {
        "run": graph.id,
        "name": graph.name,
        "task": task.name,
        "task_id": task.id,
        "method": None if method is None else method.name,
        "method_id": None if method is None else method.id,
        "success": outcome.success,
        "score": outcome.score,
        "density": executed.density,
        "reachable_pair_fraction": executed.reachable_pair_fraction,
        "average_path_length": executed.average_path_length,
        "normalized_source_entropy": executed.normalized_source_entropy,
        "permitted_density": None if allowed is None else allowed.density,
        "permitted_reachable_pair_fraction": (
            None if allowed is None else allowed.reachable_pair_fraction
        ),
        "permitted_average_path_length": (
            None if allowed is None else allowed.average_path_length
        ),
        "permitted_links_used": None if use is None else use.share_used,
        "unpermitted_links": None if use is None else use.unpermitted,
        "node_validity": node_validity(graph, options.terminal, positions=read).value,
        "content_redundancy": redundancy.value,
        "actions": len(graph.nodes),
        "agents": len(graph.agents),
        "active_agents": read.active_agents,
        "vertices": executed.vertices,
        "links": executed.edges,
        "messages": executed.messages,
        "edges": edges,
        "inferred_edges": inferred,
        "share_of_inferred_edges": inferred / edges if edges else None,
        "known_contents": redundancy.known,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
    }


def evaluate(
    graphs: Iterable[CollaborationGraph], configuration: PanelConfiguration | None = None
) -> Evaluation:
    """The metrics of many runs; the runs are taken one by one and not kept.

    Args:
        graphs: Runs.
        configuration: Options; the defaults where None.

    Raises:
        UsageError: One of the graphs is a decomposition.
    """
    options = configuration or _DEFAULTS
    return Evaluation(options, tuple([evaluate_graph(graph, options) for graph in graphs]))


def _summary(rows: list[PanelRow], metrics: tuple[str, ...]) -> MethodSummary:
    means: dict[str, float | None] = {}
    known: dict[str, int] = {}
    for name in metrics:
        values = [float(value) for row in rows if (value := getattr(row, name)) is not None]
        known[name] = len(values)
        means[name] = math.fsum(values) / len(values) if values else None
    return MethodSummary(
        method=rows[0].method,
        method_id=rows[0].method_id,
        runs=len(rows),
        tasks=len({row.task_id for row in rows}),
        means=means,
        known=known,
    )


def _column_types(row_type: type[PanelRow]) -> dict[str, Any]:
    columns = {str: "string", float: "Float64", int: "Int64", bool: "boolean"}
    return {
        name: columns[(get_args(hint) or (hint,))[0]]
        for name, hint in get_type_hints(row_type).items()
    }
