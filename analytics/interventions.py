"""A team as units and links, and the interventions that take units away from it.

Source: OpenMAS-GCom, sections 2.2 and 3.3, appendices A.4 and A.7 (Table 9), B.3, B.6. Four
families of interventions: structure (links rewired), node (units removed), information
(contents replaced), execution (workers failed). This module holds the team, the removal of
units and the failure of workers; rewiring and corruption have modules of their own.

The paper gives no list of roles for its variants. Here *critic* and *specialist* are the
shared roles of these names, and *expert only* keeps the specialists; each can be set.
"""

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from analytics.projection import ProjectionName, SimpleDigraph, permitted, project
from analytics.runs import require_run
from graphstore.builder import make_organization
from graphstore.errors import NotFoundError, UsageError
from graphstore.model import CollaborationGraph, Organization, Role

Family = Literal["structure", "node", "information", "execution"]
FAMILIES: tuple[str, ...] = get_args(Family)
OutputBasis = Literal["named", "policy", "answer", "last action", "aggregator", "sinks"]

REWIRING_RATIOS = (0.1, 0.3, 0.5, 0.7)
"""Shares of links that structure interventions replace (OpenMAS-GCom, Table 9)."""
CORRUPTION_RATES = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Shares of eligible items that information interventions replace (Table 9)."""
FAILURE_COUNTS = (0, 1, 2, 3, 4)
"""Numbers of workers that execution interventions disable (Table 9)."""
WORKER_ROLES: tuple[Role, ...] = (
    "proposer",
    "solver",
    "specialist",
    "executor",
    "critic",
    "verifier",
    "unknown",
)
"""Roles that can fail as workers: not those that plan, lead, conclude or surround the team."""


@dataclass(frozen=True, slots=True)
class Team:
    """Units with roles, the directed links between them, and who gives the output.

    Attributes:
        ids: Of the units (of agents, for a run), n of them.
        names: Of the units.
        roles: Of the units.
        links: Pairs of positions, sorted, without loops and repetitions.
        outputs: Positions of the units whose output is the team's; empty where not known.
        output_basis: How these are known; None where they are not.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    roles: tuple[Role, ...]
    links: tuple[tuple[int, int], ...]
    outputs: tuple[int, ...] = ()
    output_basis: OutputBasis | None = None

    @property
    def digraph(self) -> SimpleDigraph:
        """The links as a simple directed graph."""
        return SimpleDigraph.of(self.ids, self.links)

    def relinked(self, links: Iterable[tuple[int, int]]) -> "Team":
        """The same units with other links."""
        return Team(
            self.ids,
            self.names,
            self.roles,
            tuple(sorted(links)),
            self.outputs,
            self.output_basis,
        )


@dataclass(frozen=True, slots=True)
class Removal:
    """A team without some of its units.

    Attributes:
        team: What is left: the other units and the links among them.
        removed: Positions of the removed units in the team as it was, ascending.
        seed: Where units were drawn; else None.
    """

    team: Team
    removed: tuple[int, ...]
    seed: int | None = None


def team_of_organization(organization: Organization, output: Collection[str] = ()) -> Team:
    """The units and permitted links of an organization.

    The output is given by the units that are named; else by those that the policy's entry
    ``output`` names; else by the aggregators; else by the units that may receive and may not
    send. Without any of these it is not known.

    Args:
        organization: The organization.
        output: Names of the units that give the output.

    Raises:
        NotFoundError: No unit has such a name.
    """
    graph = permitted(organization)
    names = tuple(unit.name for unit in organization.units)
    roles = tuple(unit.role for unit in organization.units)
    links = _links_of(graph)
    said = organization.policy.get("output")
    listed = said if isinstance(said, list) else [said]
    by_policy = [place for place, name in enumerate(names) if name in listed]
    outputs: tuple[int, ...]
    basis: OutputBasis | None
    if output:
        outputs, basis = _named(names, output), "named"
    elif by_policy:
        outputs, basis = tuple(by_policy), "policy"
    elif found := [place for place, role in enumerate(roles) if role == "aggregator"]:
        outputs, basis = tuple(found), "aggregator"
    else:
        receiving = {target for _, target in links}
        outputs = tuple(
            place
            for place in range(len(names))
            if place in receiving and not graph.successors[place]
        )
        basis = "sinks" if outputs else None
    return Team(graph.vertices, names, roles, links, outputs, basis)


def team_of_run(
    graph: CollaborationGraph,
    projection: ProjectionName = "exchange",
    output: Collection[str] = (),
) -> Team:
    """The agents of a run, and who reached whom.

    Units of the organization that nobody played stand beside the agents. The output is given
    by the agents that are named; else by the one that put the last answer forward; else by
    the one that acted last.

    Args:
        graph: A run.
        projection: What makes a link (:mod:`analytics.projection`), not ``action``.
        output: Names of the agents that give the output.

    Raises:
        NotFoundError: No agent has such a name.
        UsageError: The graph is a decomposition, or the projection has no agents.
    """
    require_run(graph)
    if projection == "action":
        raise UsageError(
            "actions are no team: read the links as exchange, message or consumption"
        )
    digraph = project(graph, projection).graph
    known = {agent.id: (agent.name, agent.role) for agent in graph.agents}
    if graph.organization is not None:
        known |= {unit.id: (unit.name, unit.role) for unit in graph.organization.units}
    names = tuple(known[vertex][0] for vertex in digraph.vertices)
    roles: tuple[Role, ...] = tuple(known[vertex][1] for vertex in digraph.vertices)
    outputs: tuple[int, ...] = ()
    basis: OutputBasis | None = None
    if output:
        outputs, basis = _named(names, output), "named"
    else:
        agent, basis = _answering(graph)
        if agent is not None:
            outputs = (digraph.vertices.index(agent),)
    return Team(digraph.vertices, names, roles, _links_of(digraph), outputs, basis)


def without_units(team: Team, removed: Collection[int]) -> Team:
    """The team without some units and all links of theirs."""
    kept = [place for place in range(len(team.ids)) if place not in removed]
    new = {place: position for position, place in enumerate(kept)}
    return Team(
        tuple(team.ids[place] for place in kept),
        tuple(team.names[place] for place in kept),
        tuple(team.roles[place] for place in kept),
        tuple(
            (new[source], new[target])
            for source, target in team.links
            if source in new and target in new
        ),
        tuple(new[place] for place in team.outputs if place in new),
        team.output_basis,
    )


def remove_roles(team: Team, roles: Collection[str]) -> Removal:
    """Node intervention: no critic, no specialist (OpenMAS-GCom, A.4)."""
    return _removal(team, lambda role: role in roles)


def keep_roles(team: Team, roles: Collection[str]) -> Removal:
    """Node intervention: expert only, with the links among experts (OpenMAS-GCom, A.4)."""
    return _removal(team, lambda role: role not in roles)


def workers_of(team: Team, roles: Collection[str] = WORKER_ROLES) -> tuple[int, ...]:
    """The units that can fail: those of a worker's role that do not give the output."""
    return tuple(
        place
        for place, role in enumerate(team.roles)
        if role in roles and place not in team.outputs
    )


def fail_workers(
    team: Team, count: int, seed: int = 0, roles: Collection[str] = WORKER_ROLES
) -> Removal:
    """Execution intervention: ``count`` workers are unavailable (OpenMAS-GCom, A.4).

    The paper leaves the choice of workers open: they are drawn here, and with one seed the
    workers of a smaller count are among those of a larger one. All are unavailable at once
    and stay so; a recovery policy is no part of the structure.

    Raises:
        UsageError: The count or the seed is negative, or there are fewer workers.
    """
    workers = workers_of(team, roles)
    if not 0 <= count <= len(workers):
        raise UsageError(f"{count} workers cannot fail: the team has {len(workers)}")
    failed = tuple(sorted(drawn(workers, count, seed)))
    return Removal(without_units(team, failed), failed, seed)


def intervened_organization(
    organization: Organization,
    *,
    removed: Collection[int] = (),
    links: Sequence[tuple[int, int]] | None = None,
) -> Organization:
    """An organization after an intervention, with a hash of its own: to run it again.

    Args:
        organization: As it was.
        removed: Positions of units to remove, with their links.
        links: New ends for the permitted links without loops, in their order (as
            :func:`analytics.interventions_rewiring.rewire` gives them): each keeps its
            kinds. Links of a unit to itself stay. None leaves all links.

    Raises:
        UsageError: A removed position or an end is of no unit, or there is not one pair for
            each link.
    """
    n = len(organization.units)
    for position in removed:
        if type(position) is not int or not 0 <= position < n:
            raise UsageError(f"there is no unit {position!r}: positions are 0 to {n - 1}")
    place = {unit.id: position for position, unit in enumerate(organization.units)}
    joined = [link for link in organization.links if link.source != link.target]
    loops = [link for link in organization.links if link.source == link.target]
    pairs = [(place[link.source], place[link.target]) for link in joined]
    if links is not None and len(links) != len(pairs):
        raise UsageError(f"{len(links)} pairs for {len(pairs)} links")
    pairs = pairs if links is None else list(links)
    wrong = [end for pair in pairs for end in pair if not 0 <= end < n]
    if wrong:
        raise UsageError(f"there is no unit {wrong[0]}: positions are 0 to {n - 1}")
    kept = [position for position in range(n) if position not in removed]
    new = {position: rank for rank, position in enumerate(kept)}
    members = [organization.units[position] for position in kept]
    ends = [
        (link.kinds, source, target)
        for link, (source, target) in (
            *zip(joined, pairs, strict=True),
            *((loop, (place[loop.source], place[loop.target])) for loop in loops),
        )
    ]
    return make_organization(
        organization.name,
        [(unit.name, unit.role, unit.attributes) for unit in members],
        [
            (new[source], new[target], kind)
            for kinds, source, target in ends
            if source in new and target in new
            for kind in kinds or ("",)
        ],
        state=organization.state,
        policy=organization.policy,
    )


def drawn(places: Sequence[int], count: int, seed: int) -> list[int]:
    """The first ``count`` of a seeded order: the same in every version of Python.

    Raises:
        UsageError: The seed is negative: it would draw as its absolute value does.
    """
    need_seed(seed)
    # Only random() is promised to repeat; shuffle() and sample() are not.
    chance = random.Random(seed)
    order = sorted((chance.random(), place) for place in places)
    return [place for _, place in order[:count]]


def need_seed(seed: int) -> None:
    """Refuses a negative seed, which Python takes for its absolute value.

    Raises:
        UsageError: It is negative.
    """
    if seed < 0:
        raise UsageError(f"a seed is 0 or more, not {seed}")


def share_count(share: float, total: int) -> int:
    """A share of a number of items as a number of items, halves rounded up.

    Raises:
        UsageError: The share is not between 0 and 1.
    """
    if not 0.0 <= share <= 1.0:
        raise UsageError(f"a share lies between 0 and 1, not at {share}")
    # 0.7 * 45 is a little under 31.5 in binary.
    return int(share * total + 0.5 + 1e-9)


def _links_of(graph: SimpleDigraph) -> tuple[tuple[int, int], ...]:
    return tuple(
        (source, target) for source, found in enumerate(graph.successors) for target in found
    )


def _named(names: Sequence[str], wanted: Collection[str]) -> tuple[int, ...]:
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        raise NotFoundError(f"no unit is called {unknown[0]!r}: there are {', '.join(names)}")
    return tuple(place for place, name in enumerate(names) if name in wanted)


def _answering(graph: CollaborationGraph) -> tuple[str | None, OutputBasis | None]:
    owner = {node.id: node.agent for node in graph.nodes}
    for proposal in reversed(graph.proposals):
        if proposal.phase == "answer":
            agent = proposal.agent or (owner[proposal.node] if proposal.node else None)
            if agent is not None:
                return agent, "answer"
    for node in reversed(graph.nodes):
        if node.agent is not None:
            return node.agent, "last action"
    return None, None


def _removal(team: Team, leaves: Callable[[Role], bool]) -> Removal:
    removed = tuple(place for place, role in enumerate(team.roles) if leaves(role))
    return Removal(without_units(team, removed), removed)
