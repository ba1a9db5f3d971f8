"""All interventions of OpenMAS-GCom on a team at hand: what their structure lets one expect.

Source: OpenMAS-GCom, Table 9 (the settings), appendix B.6 (repeated draws record seeds,
accepted swaps and actual ratios; whether the output can still be reached). Nothing is run
again: these are effects on structure, and say nothing of scores.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from analytics.averages import mean
from analytics.interventions import (
    Family,
    Team,
    fail_workers,
    keep_roles,
    remove_roles,
    workers_of,
)
from analytics.interventions_configuration import InterventionConfiguration
from analytics.interventions_corruption import Exposure, expose_run, expose_team
from analytics.interventions_effects import (
    StructuralEffects,
    distances_to,
    structural_effects,
)
from analytics.interventions_rewiring import Rewiring, rewire_team
from graphstore.model import CollaborationGraph, Role
from graphstore.short_view import TableView, counted

if TYPE_CHECKING:
    import pandas

EFFECTS = (
    "units",
    "links",
    "output_kept",
    "output_reachability",
    "output_path_length",
    "reachable_pair_fraction",
    "average_path_length",
    "parts",
    "articulation_points",
    "critical_units",
)
"""The effects that a setting is summed up by; of names, their number."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A value over several draws.

    Attributes:
        mean: Over the draws that have one.
        lowest: The smallest.
        highest: The largest.
    """

    mean: float
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class SettingEffects:
    """One setting of one intervention on one team.

    Attributes:
        family: ``structure``, ``node``, ``information`` or ``execution``; None for the team
            as it is.
        setting: For people: ``rewiring 10%``.
        level: The ratio, rate or number; None for the node interventions.
        reason: Why it cannot be made on this team; None where it can.
        effects: By name (:data:`EFFECTS`); None where no draw has a value.
        cut_off: Units that could reach the output and are left, but cannot any more.
        changed: Share of links replaced (structure), of sending units or used actions
            (information); number of units removed (node, execution).
        reached: Information: share of the other units or actions that wrong contents can
            reach.
        output_reached: Information: share of draws in which they can reach the output.
        removed: Node: names of the removed units.
        draws: What was drawn: seed, with accepted swaps, rejections and achieved ratio, or
            with the names of the units that failed or were wrong.
    """

    family: Family | None
    setting: str
    level: float | None = None
    reason: str | None = None
    effects: dict[str, Spread | None] | None = None
    cut_off: Spread | None = None
    changed: Spread | None = None
    reached: Spread | None = None
    output_reached: float | None = None
    removed: tuple[str, ...] = ()
    draws: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, repr=False)
class InterventionPrediction(TableView):
    """What all interventions do to the structure of one team.

    Attributes:
        configuration: What was tried.
        subject: Id of the organization or run.
        name: Its name.
        team: The team as it is.
        reference: Its structure.
        settings: One for each setting, the team as it is first.
    """

    configuration: InterventionConfiguration
    subject: str
    name: str
    team: Team
    reference: StructuralEffects
    settings: tuple[SettingEffects, ...]

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "subject": self.subject,
            "name": self.name,
            "units": [
                {"name": name, "role": role, "output": place in self.team.outputs}
                for place, (name, role) in enumerate(
                    zip(self.team.names, self.team.roles, strict=True)
                )
            ],
            "links": len(self.team.links),
            "output_basis": self.team.output_basis,
            "reference": asdict(self.reference),
            "settings": [asdict(one) for one in self.settings],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a setting; effects as means over the draws."""
        import pandas

        columns: dict[str, tuple[str, list[Any]]] = {
            "family": ("string", [one.family for one in self.settings]),
            "setting": ("string", [one.setting for one in self.settings]),
            "level": ("Float64", [one.level for one in self.settings]),
            "reason": ("string", [one.reason for one in self.settings]),
            "changed": ("Float64", [_mean(one.changed) for one in self.settings]),
        }
        for name in EFFECTS:
            cells = [_mean((one.effects or {}).get(name)) for one in self.settings]
            columns[name] = ("Float64", cells)
        for name in ("cut_off", "reached"):
            columns[name] = ("Float64", [_mean(getattr(one, name)) for one in self.settings])
        columns["output_reached"] = ("Float64", [one.output_reached for one in self.settings])
        return pandas.DataFrame(
            {name: pandas.Series(cells, dtype=kind) for name, (kind, cells) in columns.items()}
        )

    def _in_short(self) -> str:
        return (
            f"{counted(len(self.settings), 'setting')} on "
            f"{counted(len(self.team.ids), 'unit')} and {counted(len(self.team.links), 'link')}"
        )


def predict_interventions(
    team: Team,
    subject: str,
    name: str,
    configuration: InterventionConfiguration | None = None,
    *,
    graph: CollaborationGraph | None = None,
) -> InterventionPrediction:
    """Tries every setting on a team.

    Args:
        team: The team.
        subject: Id of what it was made of.
        name: Its name.
        configuration: Options; the defaults where None.
        graph: The run that it was made of: its actions, not its units, are then what wrong
            contents replace.
    """
    options = configuration or InterventionConfiguration()
    reference = structural_effects(team)
    settings = [
        SettingEffects(None, "as it is", effects=_summary([reference])),
        *(_rewired(team, ratio, options) for ratio in options.rewiring),
        *_nodes(team, options),
        *information_settings(team, options, graph),
        *(_failed(team, count, options) for count in options.failures),
    ]
    return InterventionPrediction(options, subject, name, team, reference, tuple(settings))


def _rewired(team: Team, ratio: float, options: InterventionConfiguration) -> SettingEffects:
    setting = f"rewiring {ratio:.0%}"
    if not team.links:
        return SettingEffects("structure", setting, ratio, "the team has no links")
    teams: list[Team] = []
    made: list[Rewiring] = []
    for draw in range(options.draws):
        new, rewiring = rewire_team(team, ratio, options.seed + draw, options.role_rule)
        teams.append(new)
        made.append(rewiring)
    return SettingEffects(
        "structure",
        setting,
        ratio,
        None if any(one.accepted for one in made) or not ratio else _no_swap(made[0]),
        _summary([structural_effects(one) for one in teams]),
        _spread([_cut_off(team, one) for one in teams]),
        _spread([one.achieved for one in made]),
        draws=tuple(
            {
                "seed": one.seed,
                "achieved_ratio": one.achieved,
                "accepted_swaps": one.accepted,
                "proposed_swaps": one.proposals,
                "rejected": one.rejected,
                "complete": one.complete,
            }
            for one in made
        ),
    )


def _no_swap(made: Rewiring) -> str:
    if made.complete:
        return "the ratio is less than half a link"
    return f"none of {made.proposals:,} proposed swaps is valid"


def _nodes(team: Team, options: InterventionConfiguration) -> Iterable[SettingEffects]:
    variants: tuple[tuple[str, Callable[..., Any], tuple[Role, ...]], ...] = (
        ("no critic", remove_roles, options.critic_roles),
        ("no specialist", remove_roles, options.specialist_roles),
        ("expert only", keep_roles, options.expert_roles),
    )
    for setting, change, roles in variants:
        if not set(team.roles) & set(roles):
            reason = f"no unit is a {' or '.join(roles)}"
            yield SettingEffects("node", setting, reason=reason)
            continue
        made = change(team, roles)
        yield SettingEffects(
            "node",
            setting,
            effects=_summary([structural_effects(made.team)]),
            cut_off=_spread([_cut_off(team, made.team)]),
            changed=_spread([float(len(made.removed))]),
            removed=tuple(team.names[place] for place in made.removed),
        )


def information_settings(
    team: Team, options: InterventionConfiguration, graph: CollaborationGraph | None = None
) -> tuple[SettingEffects, ...]:
    """The information interventions alone; arguments as :func:`predict_interventions`."""
    return tuple(_corrupted(team, rate, options, graph) for rate in options.corruption)


def _corrupted(
    team: Team,
    rate: float,
    options: InterventionConfiguration,
    graph: CollaborationGraph | None,
) -> SettingEffects:
    setting = f"wrong contents {rate:.0%}"
    seeds = range(options.seed, options.seed + (options.draws if rate else 1))
    found: list[Exposure] = [
        expose_team(team, rate, seed) if graph is None else expose_run(graph, rate, seed)
        for seed in seeds
    ]
    if not found[0].eligible:
        reason = "nothing is sent on from one unit to another"
        return SettingEffects("information", setting, rate, reason)
    outputs = [float(one.output_reached) for one in found if one.output_reached is not None]
    replaced = "units" if graph is None else "actions"
    return SettingEffects(
        "information",
        setting,
        rate,
        changed=_spread([one.achieved for one in found]),
        reached=_spread([one.share_reached for one in found]),
        output_reached=mean(outputs),
        draws=tuple(
            {
                "seed": one.seed,
                replaced: [
                    team.names[place] if graph is None else place for place in one.selected
                ],
            }
            for one in found
        ),
    )


def _failed(team: Team, count: int, options: InterventionConfiguration) -> SettingEffects:
    setting = "1 worker fails" if count == 1 else f"{count} workers fail"
    workers = len(workers_of(team, options.worker_roles))
    if count > workers:
        only = "the team has no worker" if not workers else f"the team has {workers} of them"
        return SettingEffects("execution", setting, count, only)
    made = [
        fail_workers(team, count, options.seed + draw, options.worker_roles)
        for draw in range(options.draws if 0 < count < workers else 1)
    ]
    return SettingEffects(
        "execution",
        setting,
        count,
        None,
        _summary([structural_effects(one.team) for one in made]),
        _spread([_cut_off(team, one.team) for one in made]),
        _spread([float(len(one.removed)) for one in made]),
        draws=tuple(
            {"seed": one.seed, "units": [team.names[place] for place in one.removed]}
            for one in made
        ),
    )


def _cut_off(before: Team, after: Team) -> float | None:
    """Number of units that are left, reached the output before, and do not any more."""
    if before.output_basis is None:
        return None
    left = set(after.ids)
    return float(len((_reaching(before) & left) - _reaching(after) - _outputs(after)))


def _reaching(team: Team) -> set[str]:
    entering: list[list[int]] = [[] for _ in team.ids]
    for source, target in team.links:
        entering[target].append(source)
    lengths = distances_to(entering, team.outputs)
    return {name for name, length in zip(team.ids, lengths, strict=True) if length}


def _outputs(team: Team) -> set[str]:
    return {team.ids[place] for place in team.outputs}


def _summary(found: Sequence[StructuralEffects]) -> dict[str, Spread | None]:
    return {name: _spread([_number(getattr(one, name)) for one in found]) for name in EFFECTS}


def _number(value: Any) -> float | None:
    if value is None:
        return None
    return float(len(value) if isinstance(value, tuple) else value)


def _spread(values: Sequence[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    centre = mean(known)
    return None if centre is None else Spread(centre, min(known), max(known))


def _mean(spread: Spread | None) -> float | None:
    return None if spread is None else spread.mean
