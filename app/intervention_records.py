"""Modified organizations, and plans of what to replace, as records to run a team from.

The form is OpenMAS-GCom's (``docs/openmas-gcom-format.md``; the intervention's fields are those
of the paper's Table 8): a runner adds its trace and result to such a record, and ``masgraph
ingest`` reads it back as a modified run of the organization that it names.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph, Organization

if TYPE_CHECKING:
    from analytics.interventions_rewiring import RoleRule


def rewired_record(
    organization: Organization, ratio: float, seed: int, role_rule: "RoleRule"
) -> dict[str, Any]:
    """Structure intervention: the organization with other links.

    Raises:
        UsageError: As in :func:`analytics.interventions_rewiring.rewire`, or two units share
            a name.
    """
    from analytics.interventions_rewiring import rewire_organization

    changed, made = rewire_organization(organization, ratio, seed, role_rule)
    before, after = _links(organization), _links(changed)
    return _record(
        f"{organization.name}, rewiring {ratio:.0%}, seed {seed}",
        changed,
        "structure",
        {
            "ratio": ratio,
            "role_rule": role_rule,
            "seed": seed,
            "achieved_ratio": made.achieved,
        },
        organization.hash,
        {
            "changed_edges": {
                "removed": [list(pair) for pair in before if pair not in after],
                "added": [list(pair) for pair in after if pair not in before],
            },
            "accepted_swaps": made.accepted,
            "proposed_swaps": made.proposals,
            "rejected_swaps": made.rejected,
            "complete": made.complete,
        },
    )


def reduced_record(
    organization: Organization, variant: str, roles: Collection[str], *, keep: bool = False
) -> dict[str, Any]:
    """Node intervention: the organization without some units.

    Args:
        organization: As it is.
        variant: A name for people, ``no critic`` for example.
        roles: Of the units to remove.
        keep: Whether these are kept instead, and all others removed.

    Raises:
        UsageError: No unit has such a role, all have one, or two units share a name.
    """
    from analytics.interventions import intervened_organization

    removed = [
        place
        for place, unit in enumerate(organization.units)
        if (unit.role in roles) is not keep
    ]
    if len(removed) == (len(organization.units) if keep else 0):
        raise UsageError(f"no unit of {organization.name!r} is a {' or '.join(roles)}")
    if len(removed) == (0 if keep else len(organization.units)):
        told = "nobody would leave" if keep else "nobody would be left"
        raise UsageError(
            f"every unit of {organization.name!r} is a {' or '.join(roles)}: {told}"
        )
    return _record(
        f"{organization.name}, {variant}",
        intervened_organization(organization, removed=removed),
        "node",
        {"variant": variant, "roles": sorted(roles)},
        organization.hash,
        {"changed_nodes": [organization.units[place].name for place in removed]},
    )


def failed_record(
    organization: Organization, count: int, seed: int, roles: Collection[str]
) -> dict[str, Any]:
    """Execution intervention: the organization as it is, with the workers that fail.

    Raises:
        UsageError: There are fewer workers, or two units share a name.
    """
    from analytics.interventions import fail_workers, team_of_organization

    team = team_of_organization(organization)
    failed = fail_workers(team, count, seed, roles)
    return _record(
        f"{organization.name}, {count} failed, seed {seed}",
        organization,
        "execution",
        {"failed_workers": count, "seed": seed},
        organization.hash,
        {"failed_workers": [team.names[place] for place in failed.removed]},
    )


def corrupted_record(graph: CollaborationGraph, rate: float, seed: int) -> dict[str, Any]:
    """Information intervention: what to put in place of which contents of a run.

    Raises:
        UsageError: The rate is no share, or two units share a name.
    """
    from analytics.interventions_replacement import plan_replacements

    plan = plan_replacements(graph, rate, seed)
    reference = None if graph.organization is None else graph.organization.hash
    return _record(
        f"{graph.name}, wrong contents {rate:.0%}, seed {seed}",
        graph.organization,
        "information",
        {"rate": rate, "seed": seed, "achieved_ratio": plan.achieved},
        reference,
        {
            "reference_run": graph.id,
            "eligible_records": plan.eligible,
            "impossible_records": plan.impossible,
            "injected_records": [
                {
                    "action": one.index,
                    "agent": one.agent,
                    "original": one.original,
                    "injected": one.injected,
                    "content": one.content,
                }
                for one in plan.replacements
            ],
        },
    )


def shortfall(record: dict[str, Any]) -> str | None:
    """What was asked for and could not be made, for people; None where all was made."""
    from analytics.interventions_made import recorded_extent

    done = record["intervention"]
    extent = recorded_extent(record, done["intervention_parameters"])
    told = ""
    if done.get("proposed_swaps") == 0:
        told = ": the share is less than half a link"
    elif "proposed_swaps" in done:
        told = f" of {done['proposed_swaps']:,} proposed"
    rejected = done.get("rejected_swaps", {})
    reasons = ", ".join(f"{count:,} {name}" for name, count in rejected.items() if count)
    if reasons:
        told += f" (rejected: {reasons})"
    hint = ""
    if rejected.get("roles") and done["intervention_parameters"]["role_rule"] == "observed":
        hint = "; --roles any lets links join other roles"
    if extent.unmade is not None:
        return (
            f"nothing was changed: {extent.unmade}{told}; a run of this team is no "
            f"modified run, and  measure  leaves it out{hint}"
        )
    if not extent.complete:
        return (
            f"less was changed than asked for: a share of {extent.achieved:.4g} instead of "
            f"{extent.requested:.4g}, with {done['accepted_swaps']:,} accepted swaps{told}"
            f"{hint}"
        )
    return None


def _record(
    name: str,
    organization: Organization | None,
    kind: str,
    parameters: dict[str, Any],
    reference: str | None,
    details: dict[str, Any],
) -> dict[str, Any]:
    record: dict[str, Any] = {"openmas_gcom": 1, "id": name}
    if organization is not None:
        record["organization"] = _organization(organization)
    record["intervention"] = {
        "intervention_type": kind,
        "intervention_parameters": parameters,
        **({} if reference is None else {"reference_organization_hash": reference}),
        **details,
    }
    return record


def _organization(organization: Organization) -> dict[str, Any]:
    names = [unit.name for unit in organization.units]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"two units are called {twice[0]!r}, and the form knows one by its name"
        )
    label = {unit.id: unit.name for unit in organization.units}
    return {
        "name": organization.name,
        "organization_hash": organization.hash,
        "V": [
            {
                "id": unit.name,
                **({} if unit.role == "unknown" else {"role": unit.role}),
                **unit.attributes,
            }
            for unit in organization.units
        ],
        "E": [
            [label[link.source], label[link.target], kind]
            for link in organization.links
            for kind in link.kinds or ("",)
        ],
        "S": organization.state,
        "pi": organization.policy,
    }


def _links(organization: Organization) -> list[tuple[str, str]]:
    label = {unit.id: unit.name for unit in organization.units}
    return [(label[link.source], label[link.target]) for link in organization.links]
