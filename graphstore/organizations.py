"""Makes organizations: units and permitted links, with ids that follow from their content."""

from collections.abc import Iterable

from graphstore import identity
from graphstore.errors import UsageError
from graphstore.model import Attributes, Link, Organization, Role, Unit


def make_organization(
    name: str,
    units: Iterable[tuple[str, Role, Attributes]],
    links: Iterable[tuple[int, int, str]],
    *,
    state: Attributes | None = None,
    policy: Attributes | None = None,
) -> Organization:
    """Makes an organization with its hash and ids.

    Args:
        name: For people.
        units: Name, role and attributes of each unit.
        links: Permitted links as positions in ``units`` and the relationship's name
            (may be empty). Several kinds between one pair become one link.
        state: Shared state that the units may read or write.
        policy: The rules of the organization.

    Returns:
        The organization; equal ones have equal ids, wherever they were read.

    Raises:
        UsageError: A unit or a link is no triple of this kind, or a position is of no unit.
    """
    members = list(units)
    for place, unit in enumerate(members):
        if not isinstance(unit, (tuple, list)) or len(unit) != 3:
            raise UsageError(
                f"units[{place}] is not (name, role, attributes): for example "
                "('ann', 'critic', {})"
            )
    count = len(members)
    kinds: dict[tuple[int, int], tuple[str, ...]] = {}
    # Mostly there is one kind between a pair, and few kinds in all: they share their tuples.
    alone: dict[str, tuple[str, ...]] = {}
    for place, link in enumerate(links):
        if not isinstance(link, (tuple, list)) or len(link) != 3:
            raise UsageError(
                f"links[{place}] is not (source, target, kind): positions in units and a "
                "text, for example (0, 1, '')"
            )
        source, target, kind = link
        if not (
            type(source) is int
            and type(target) is int
            and 0 <= source < count
            and 0 <= target < count
        ):
            raise _no_unit(place, source, target, count)
        names = alone.get(kind)
        if names is None:
            names = alone[kind] = (kind,) if kind else ()
        known = kinds.setdefault((source, target), names)
        if known is not names and kind and kind not in known:
            kinds[source, target] = tuple(sorted((*known, kind)))
    pairs = [(*pair, kinds[pair]) for pair in sorted(kinds)]
    value = identity.digest(
        identity.canonical_bytes([name, members, pairs, state or {}, policy or {}])
    )
    organization = f"organization-{value}"
    ids = [f"{organization}/unit/{position}" for position in range(len(members))]
    return Organization(
        id=organization,
        name=name,
        hash=value,
        units=tuple(
            [
                Unit(unit, label, role, attributes)
                for unit, (label, role, attributes) in zip(ids, members, strict=True)
            ]
        ),
        links=tuple([Link(ids[source], ids[target], names) for source, target, names in pairs]),
        state=state or {},
        policy=policy or {},
    )


def _no_unit(place: int, source: object, target: object, count: int) -> UsageError:
    """What is wrong with a link of which one end is no unit's position."""
    sound = type(source) is int and 0 <= source < count
    return UsageError(
        f"links[{place}] joins {(target if sound else source)!r}: an end is a unit's position, "
        f"from 0 to {count - 1}"
    )
