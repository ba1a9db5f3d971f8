"""The organizations of masgraph's own format: who may talk to whom, whatever happened."""

from typing import get_args

import msgspec

from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import InputError
from graphstore.model import Organization, Role
from ingest.readers.native_records import OrganizationRecord, UnitRecord

ROLES: dict[str, Role] = {role: role for role in get_args(Role)}
"""The shared roles, which need no table."""


class Organizations:
    """Makes a file's organizations; one that the record before had too is made once.

    Attributes:
        units: Of the last one: positions by id.
    """

    def __init__(self) -> None:
        self.units: dict[str, int] = {}
        self._text: bytes | None = None
        self._made: Organization | None = None
        self._asked: list[str] = []

    def make(self, builder: GraphBuilder, record: OrganizationRecord) -> Organization:
        """The organization of a record, under the builder's policy.

        Raises:
            InputError: A unit stands twice, or a link names none.
        """
        text = msgspec.json.encode(record)
        if self._made is not None and text == self._text:
            for name in self._asked:
                # The table of roles counts how often it is asked for a name.
                builder.role_of(name)
            return self._made
        self.units, self._asked, self._made = {}, [], None
        self._made = self._new(builder, record)
        self._text = text
        return self._made

    def _new(self, builder: GraphBuilder, organization: OrganizationRecord) -> Organization:
        policy = builder.policy
        members = []
        for position, unit in enumerate(organization.units):
            if isinstance(unit, str):
                unit = UnitRecord(name=unit)
            key = unit.id or unit.name
            if self.units.setdefault(key, position) != position:
                raise InputError(f"organization.units[{position}]: {key!r} stands twice")
            role = ROLES.get(unit.role or "")
            if role is None:
                self._asked.append(unit.role or unit.name)
                role = builder.role_of(self._asked[-1])
            members.append((policy.label(unit.name), role, policy.attributes(unit.attributes)))
        links: list[tuple[int, int, str]] = []
        for position, link in enumerate(organization.links):
            path = f"organization.links[{position}]"
            source = named(self.units, link.source, f"{path}.source", "unit")
            target = named(self.units, link.target, f"{path}.target", "unit")
            links.extend((source, target, kind) for kind in link.kinds or ("",))
        return make_organization(
            policy.label(organization.name),
            members,
            links,
            state=policy.attributes(organization.state),
            policy=policy.attributes(organization.policy),
        )


def named(known: dict[str, int], name: str, path: str, what: str) -> int:
    """The position of what a record names.

    Args:
        known: Positions by name.
        name: As it stands in the record.
        path: Of the field, for a person.
        what: The kind of thing.

    Raises:
        InputError: Nothing is called so.
    """
    found = known.get(name)
    if found is None:
        raise InputError(f"{path}: no {what} is called {name!r}")
    return found
