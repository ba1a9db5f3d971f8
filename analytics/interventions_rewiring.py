"""Links rewired so that every unit keeps as many as before.

Source: OpenMAS-GCom, section 3.3 and appendix A.4: of two links u -> a and v -> b the ends
are exchanged to u -> b and v -> a. What would make a loop, a link that is there already, or
an invalid connection of roles is rejected. The achieved ratio and the seed are recorded, and
(B.6) the accepted swaps.

The paper leaves two things open. *How many swaps make 10%*: here the ratio is the share of
the original links that are no longer there, so that a swap undone counts nothing. *Which
connections of roles are valid*: here those that the original links make (``observed``), or
all (``any``).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from analytics.interventions import Team, intervened_organization, need_seed, share_count
from analytics.projection import permitted
from graphstore.errors import UsageError
from graphstore.model import Organization

RoleRule = Literal["observed", "any"]
ROLE_RULES: tuple[str, ...] = get_args(RoleRule)
Rejection = Literal["loop", "duplicate", "roles", "undoing"]
REJECTIONS: tuple[str, ...] = get_args(Rejection)

PROPOSALS_PER_LINK = 100
FEWEST_PROPOSALS = 1_000


@dataclass(frozen=True, slots=True)
class Rewiring:
    """What became of a list of links.

    Attributes:
        links: For each original link, in its order, its source with its new target.
        requested: Share of the links to replace.
        seed: Of the draws.
        replaced: Number of original links that are no longer there.
        proposals: Number of swaps that were drawn.
        accepted: Number of those that were made.
        rejected: Number of those that were rejected, by reason: ``loop``, ``duplicate``
            (also where both links share an end: nothing would change), ``roles``, and
            ``undoing``: it would bring original links back.
        complete: Whether as many links were replaced as the ratio asks for. Since a swap
            replaces two links, it can be one more.
    """

    links: tuple[tuple[int, int], ...]
    requested: float
    seed: int
    replaced: int
    proposals: int
    accepted: int
    rejected: dict[str, int] = field(default_factory=dict)
    complete: bool = True

    @property
    def achieved(self) -> float | None:
        """Replaced links over all, between 0 and 1; None without links."""
        return self.replaced / len(self.links) if self.links else None


def rewire(
    links: Sequence[tuple[int, int]],
    ratio: float,
    seed: int = 0,
    *,
    roles: Sequence[str] | None = None,
    role_rule: RoleRule = "observed",
) -> Rewiring:
    """Swaps the targets of random pairs of links until a share of them is replaced.

    In- and out-degrees, the number of links and the units stay. It ends early after 100
    draws a link (1,000 at least): some graphs, a complete one for example, have no swap.

    Args:
        links: Pairs of positions, without loops and repetitions.
        ratio: Between 0 and 1.
        seed: Not negative. The same seed gives the same links in every version of Python.
        roles: Of the units, by position; None where connections of roles do not matter.
        role_rule: Which connections of roles are valid.

    Raises:
        UsageError: The ratio is no share, the seed is negative, the rule is unknown, or a
            link is a loop or stands twice.
    """
    need_seed(seed)
    if role_rule not in ROLE_RULES:
        raise UsageError(f"there is no rule {role_rule!r}; choose {' or '.join(ROLE_RULES)}")
    original = frozenset(links)
    if len(original) < len(links) or any(source == target for source, target in links):
        raise UsageError("links to rewire have no loops and no repetitions")
    goal = share_count(ratio, len(links))
    observed = roles if role_rule == "observed" else None
    valid = set()
    if observed is not None:
        valid = {(observed[source], observed[target]) for source, target in links}
    chance = random.Random(seed)
    current = list(links)
    present = set(original)
    rejected = dict.fromkeys(REJECTIONS, 0)
    replaced = proposals = accepted = 0
    limit = max(FEWEST_PROPOSALS, PROPOSALS_PER_LINK * len(links))
    while replaced < goal and proposals < limit and len(links) > 1:
        proposals += 1
        first = int(chance.random() * len(current))
        second = int(chance.random() * (len(current) - 1))
        second += second >= first
        (u, a), (v, b) = current[first], current[second]
        new = ((u, b), (v, a))
        if u == b or v == a:
            rejected["loop"] += 1
        elif new[0] in present or new[1] in present:
            rejected["duplicate"] += 1
        elif observed is not None and not all(
            (observed[source], observed[target]) in valid for source, target in new
        ):
            rejected["roles"] += 1
        else:
            gain = sum(link not in original for link in new)
            gain -= sum(link not in original for link in ((u, a), (v, b)))
            if gain < 0:
                rejected["undoing"] += 1
                continue
            present -= {(u, a), (v, b)}
            present |= set(new)
            current[first], current[second] = new
            replaced += gain
            accepted += 1
    return Rewiring(
        tuple(current), ratio, seed, replaced, proposals, accepted, rejected, replaced >= goal
    )


def rewire_team(
    team: Team, ratio: float, seed: int = 0, role_rule: RoleRule = "observed"
) -> tuple[Team, Rewiring]:
    """Structure intervention on a team; arguments and errors as in :func:`rewire`."""
    made = rewire(team.links, ratio, seed, roles=team.roles, role_rule=role_rule)
    return team.relinked(made.links), made


def rewire_organization(
    organization: Organization, ratio: float, seed: int = 0, role_rule: RoleRule = "observed"
) -> tuple[Organization, Rewiring]:
    """Structure intervention on the permitted links: an organization to run again.

    A link keeps its source and its kinds and gets another target. Links of a unit to itself
    stay as they are. Arguments and errors as in :func:`rewire`.
    """
    place = {unit.id: position for position, unit in enumerate(organization.units)}
    links = [
        (place[link.source], place[link.target])
        for link in organization.links
        if link.source != link.target
    ]
    roles = [unit.role for unit in organization.units]
    made = rewire(links, ratio, seed, roles=roles, role_rule=role_rule)
    return intervened_organization(organization, links=made.links), made


def degree_sequences(organization: Organization) -> dict[str, tuple[tuple[int, int], ...]]:
    """In- and out-degree of each unit by its name, loops left out.

    Units of one name share an entry, their pairs sorted.
    """
    graph = permitted(organization)
    entering = [0] * graph.vertex_count
    for found in graph.successors:
        for target in found:
            entering[target] += 1
    pairs: dict[str, list[tuple[int, int]]] = {}
    for unit, received, found in zip(
        organization.units, entering, graph.successors, strict=True
    ):
        pairs.setdefault(unit.name, []).append((received, len(found)))
    return {name: tuple(sorted(found)) for name, found in pairs.items()}
