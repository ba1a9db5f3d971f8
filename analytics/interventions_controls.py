"""What a run records of an intervention, and of what must stay the same beside it.

Source: OpenMAS-GCom, Eq. 4 and 11, Tables 6 and 8, appendix A.6: a reference and a modified
run form a pair only if task, backend, prompt template, parser and stopping budget agree.
Where these stand in a run is written in :data:`CONTROL_PATHS`; ``docs/interventions.md`` tells
people.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal, get_args

from analytics.execution import ExecutionConfiguration, messages_of
from analytics.interventions import Family
from analytics.interventions_corruption import recorded_injections, trace_injection
from analytics.interventions_made import Extent, recorded_extent
from analytics.interventions_rewiring import degree_sequences
from graphstore.identity import canonical_json
from graphstore.model import CollaborationGraph, Organization

Value = Literal["score", "success"]
VALUES: tuple[str, ...] = get_args(Value)

CONTROL_PATHS: dict[str, tuple[str, ...]] = {
    "backend": (
        "backend.backend_configuration_id",
        "backend.backend_configuration",
        "backend_configuration_id",
        "backend_configuration",
        "backend",
        "model",
    ),
    "prompt": (
        "backend.prompt_template_hash",
        "prompt_template_hash",
        "prompt_template",
        "prompt",
    ),
    "parser": ("task.parser_version", "parser_version", "parser"),
    "budget": ("backend.runtime_limits", "runtime_limits", "budget"),
}
"""Where each control stands among a run's attributes: the first path that has a value."""
METRIC_PATHS = ("prediction.metric", "prediction.metric_name", "metric")
SEED_PATHS = ("backend.random_seed", "backend.seed", "random_seed", "seed")
HASH_PATHS = ("organization.organization_hash", "organization_hash")
REFERENCE_PATHS = (
    "intervention.reference_organization_hash",
    "reference_organization_hash",
)
TYPE_PATHS = ("intervention.intervention_type", "intervention.type", "intervention_type")
PARAMETER_PATHS = (
    "intervention.intervention_parameters",
    "intervention.parameters",
    "intervention_parameters",
)

_FAMILIES: dict[str, Family] = {
    "structure": "structure",
    "str": "structure",
    "rewiring": "structure",
    "node": "node",
    "removal": "node",
    "information": "information",
    "info": "information",
    "injection": "information",
    "execution": "execution",
    "exec": "execution",
    "failure": "execution",
}
_NO_INTERVENTION = frozenset({"", "none", "reference", "original", "base"})
_OF_ONE_DRAW = frozenset({"seed", "random_seed", "achieved_ratio", "actual_ratio"})


@dataclass(frozen=True, slots=True)
class ControlledRun:
    """A run as the audit sees it. None is "not recorded".

    Attributes:
        run: Its id.
        name: Its short label.
        task: Name of the task.
        task_id: Id of the task.
        source: What its task shares with others: they are resampled together.
        method: Name of the method.
        method_id: Id of the method.
        value: Its score, or 1 and 0 for success and failure.
        controls: The controls of :data:`CONTROL_PATHS`, as JSON text.
        metric: Name of the metric.
        seed: As JSON text.
        intervention: The type of its intervention, as the run says; None for none.
        family: The family that the type stands for; None where it is of none.
        setting: Type and parameters, without what differs from draw to draw.
        extent: How far the intervention was made.
        organization: Its organization.
        hashes: The organization's hash here, and the one that the run records.
        reference_hash: Of the organization that was modified.
        fates: Number of injected candidates by what became of them.
        tokens: Read and written.
        calls: Model calls.
        messages: Actions that reached another agent; None where no action is recorded.
        sent: Number of those by the sender's role; empty likewise.
    """

    run: str
    name: str
    task: str
    task_id: str
    source: str | None
    method: str | None
    method_id: str | None
    value: float | None
    controls: dict[str, str | None]
    metric: str | None
    seed: str | None
    intervention: str | None
    family: Family | None
    setting: str | None
    extent: Extent
    organization: Organization | None
    hashes: frozenset[str]
    reference_hash: str | None
    fates: dict[str, int]
    tokens: int | None
    calls: int | None
    messages: int | None
    sent: dict[str, int]


@dataclass(frozen=True, slots=True)
class OrganizationChange:
    """What differs between two organizations; units are known by their names.

    Attributes:
        removed_units: Names of units that only the first has, sorted.
        added_units: Names of units that only the second has, sorted.
        roles_kept: Whether the units that both have keep their roles.
        links: Number of links of the first, without loops.
        replaced_links: Number of those that the second lacks.
        added_links: Number of links that only the second has.
        degrees_kept: Whether every unit keeps its in- and out-degree.
    """

    removed_units: tuple[str, ...]
    added_units: tuple[str, ...]
    roles_kept: bool
    links: int
    replaced_links: int
    added_links: int
    degrees_kept: bool

    @property
    def replaced_share(self) -> float | None:
        """Replaced links over all links of the first; None without links."""
        return self.replaced_links / self.links if self.links else None


def controlled_run(graph: CollaborationGraph, value: Value = "score") -> ControlledRun:
    """Looks up what a run records.

    Args:
        graph: A run.
        value: What counts: ``score`` as it is, or ``success`` as 1 and 0.
    """
    attributes = graph.attributes
    kind = _text(_look(attributes, TYPE_PATHS))
    if kind is not None and kind.strip().casefold() in _NO_INTERVENTION:
        kind = None
    outcome = graph.outcome
    result = outcome.score
    if value == "success":
        result = None if outcome.success is None else float(outcome.success)
    role = {agent.id: agent.role for agent in graph.agents}
    sent = Counter(role[sender] for sender, _ in messages_of(graph, ExecutionConfiguration()))
    own = None if graph.organization is None else graph.organization.hash
    recorded = _text(_look(attributes, HASH_PATHS))
    parameters = _look(attributes, PARAMETER_PATHS)
    return ControlledRun(
        run=graph.id,
        name=graph.name,
        task=graph.task.name,
        task_id=graph.task.id,
        source=graph.task.source_group,
        method=None if graph.method is None else graph.method.name,
        method_id=None if graph.method is None else graph.method.id,
        value=result,
        controls=recorded_controls(graph),
        metric=_recorded(_look(attributes, METRIC_PATHS)),
        seed=recorded_seed(graph),
        intervention=kind,
        family=None if kind is None else _FAMILIES.get(kind.strip().casefold()),
        setting=None if kind is None else _setting(kind, parameters),
        extent=Extent() if kind is None else recorded_extent(attributes, parameters),
        organization=graph.organization,
        hashes=frozenset(one for one in (own, recorded) if one is not None),
        reference_hash=_text(_look(attributes, REFERENCE_PATHS)),
        fates=dict(
            Counter(trace_injection(graph, one).fate for one in recorded_injections(graph))
        ),
        tokens=_tokens(graph),
        calls=outcome.calls,
        messages=sent.total() if graph.nodes else None,
        sent={name: sent[name] for name in sorted(sent)},
    )


def recorded_controls(graph: CollaborationGraph) -> dict[str, str | None]:
    """The controls of :data:`CONTROL_PATHS` as JSON text; None where one is not recorded."""
    return {
        name: _recorded(_look(graph.attributes, paths)) for name, paths in CONTROL_PATHS.items()
    }


def recorded_seed(graph: CollaborationGraph) -> str | None:
    """The seed that a run records, as JSON text; None where there is none."""
    return _recorded(_look(graph.attributes, SEED_PATHS))


def disagreements(
    reference: ControlledRun, modified: ControlledRun, *, accept_unrecorded: bool = False
) -> tuple[str, ...]:
    """Why two runs of one task are no pair; empty where they are.

    Args:
        reference: The run of the original organization.
        modified: The run of the modified one.
        accept_unrecorded: Whether a control that neither run records is taken to agree.
    """
    found = []
    for name, one in reference.controls.items():
        other = modified.controls[name]
        if one is None and other is None:
            if not accept_unrecorded:
                found.append(f"neither run records its {name}")
        elif one is None or other is None:
            found.append(f"only one of the runs records its {name}")
        elif one != other:
            found.append(f"the {name} differs")
    if None not in (reference.metric, modified.metric) and reference.metric != modified.metric:
        found.append("the metric differs")
    if (
        modified.reference_hash is not None
        and reference.hashes
        and modified.reference_hash not in reference.hashes
    ):
        found.append("the modified run names another organization as its reference")
    return (*found, *_unkept(reference, modified))


def organization_change(first: Organization, second: Organization) -> OrganizationChange:
    """Compares two organizations by the names of their units.

    Units of one name are taken together.
    """
    one, other = _roles(first), _roles(second)
    before, after = _links(first), _links(second)
    return OrganizationChange(
        removed_units=tuple(sorted(one.keys() - other.keys())),
        added_units=tuple(sorted(other.keys() - one.keys())),
        roles_kept=all(one[name] == other[name] for name in one.keys() & other.keys()),
        links=len(before),
        replaced_links=len(before - after),
        added_links=len(after - before),
        degrees_kept=degree_sequences(first) == degree_sequences(second),
    )


def _unkept(reference: ControlledRun, modified: ControlledRun) -> list[str]:
    """What Table 6 of OpenMAS-GCom keeps for the family, and these organizations do not."""
    if reference.organization is None or modified.organization is None:
        return []
    asked = modified.extent.requested != 0.0
    if modified.family is None:
        return []
    change = organization_change(reference.organization, modified.organization)
    if modified.family == "node":
        same = not (change.removed_units or change.added_units or change.replaced_links)
        return ["no unit was removed: both organizations are the same"] if same else []
    found = []
    if change.removed_units or change.added_units:
        found.append(f"the units differ, which a {modified.family} intervention keeps")
    elif not change.roles_kept:
        found.append(f"the roles differ, which a {modified.family} intervention keeps")
    elif modified.family == "structure" and not change.degrees_kept:
        found.append("a unit's number of links differs, which rewiring keeps")
    elif modified.family == "structure" and asked and not change.replaced_links:
        found.append("no link was rewired: both organizations have the same links")
    elif modified.family != "structure" and (change.replaced_links or change.added_links):
        found.append(f"the links differ, which an {modified.family} intervention keeps")
    return found


def _roles(organization: Organization) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for unit in organization.units:
        found.setdefault(unit.name, []).append(unit.role)
    return {name: sorted(roles) for name, roles in found.items()}


def _links(organization: Organization) -> set[tuple[str, str]]:
    label = {unit.id: unit.name for unit in organization.units}
    return {
        (label[link.source], label[link.target])
        for link in organization.links
        if link.source != link.target
    }


def _setting(kind: str, parameters: Any) -> str:
    if isinstance(parameters, dict):
        parameters = {
            name: value for name, value in parameters.items() if name not in _OF_ONE_DRAW
        }
        told = ", ".join(
            f"{name} {value if isinstance(value, str) else canonical_json(value)}"
            for name, value in sorted(parameters.items())
        )
        return f"{kind}: {told}" if told else kind
    return kind if parameters is None else f"{kind}: {_recorded(parameters)}"


def _look(attributes: dict[str, Any], paths: tuple[str, ...]) -> Any:
    for path in paths:
        value: Any = attributes
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        # A group of this name holds other fields too: it is no control itself.
        if value is not None and not (path == "backend" and isinstance(value, dict)):
            return value
    return None


def _recorded(value: Any) -> str | None:
    return None if value is None else canonical_json(value)


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _tokens(graph: CollaborationGraph) -> int | None:
    totals = (graph.outcome.tokens_in, graph.outcome.tokens_out)
    found = []
    for total, field in zip(totals, ("tokens_in", "tokens_out"), strict=True):
        if total is None:
            parts = [getattr(node, field) for node in graph.nodes]
            known = [part for part in parts if part is not None]
            total = sum(known) if known and len(known) == len(parts) else None
        if total is None:
            return None
        found.append(total)
    return sum(found)
