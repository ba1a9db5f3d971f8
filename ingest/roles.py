"""The shared role behind a name: an alias table, and the names that it does not know.

The table is data (``roles.toml``); users add a file of the same form.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self, get_args

from graphstore.errors import InputError
from graphstore.model import Role

_ROLES: dict[str, Role] = {role: role for role in get_args(Role)}
_TABLES = ("names", "patterns", "fallback")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"['’]")
_LAST = re.compile(r"(?: (?:\d+|[a-z])| ?\d+)$")
_AGENT = " agent"
_LONGEST_KEPT = 200
"""Characters of a name whose role is kept: longer ones are texts, and seldom come twice."""
_NO_AGENT = frozenset({"tool", "human", "environment"})


def words(name: str) -> str:
    """A name's words in lower case: ``WebSurfer`` and ``web_surfer`` are ``web surfer``."""
    plain = _APOSTROPHE.sub("", name)
    split = plain if plain.islower() else _CAMEL.sub(" ", plain)
    return " ".join(_WORD.findall(split)).casefold()


class Patterns:
    """Patterns over a name's words, with their roles.

    Most names match none of a hundred patterns, and nearly every pattern says what the first
    or the last word is: only those whose word the name has are tried.

    Args:
        listed: Each pattern (words with single spaces, ``*`` for one or more) with its role,
            in the order in which they are tried.
    """

    def __init__(self, listed: Iterable[tuple[str, Role]]) -> None:
        self._patterns: list[tuple[re.Pattern[str], Role]] = []
        self._by_first: dict[str, list[int]] = {}
        self._by_last: dict[str, list[int]] = {}
        self._open: list[int] = []
        for place, (text, role) in enumerate(listed):
            self._patterns.append((re.compile(re.escape(text).replace(r"\*", ".+")), role))
            first, last = _ends(text)
            if last != "*":
                self._by_last.setdefault(last, []).append(place)
            elif first != "*":
                self._by_first.setdefault(first, []).append(place)
            else:
                self._open.append(place)

    def possible(self, forms: Iterable[str]) -> Iterator[tuple[re.Pattern[str], Role]]:
        """Patterns that may match one of some forms of a name, and their roles, in order."""
        places = set(self._open)
        for form in forms:
            first, last = _ends(form)
            places.update(self._by_first.get(first, ()), self._by_last.get(last, ()))
        for place in sorted(places):
            yield self._patterns[place]


def _ends(text: str) -> tuple[str, str]:
    """The first and the last word."""
    return text.partition(" ")[0], text.rpartition(" ")[2]


@dataclass(frozen=True, eq=False)
class Aliases:
    """One file's names.

    Attributes:
        names: The role of each name, by its words without spaces.
        patterns: What is tried where no name is known.
    """

    names: Mapping[str, Role]
    patterns: Patterns

    def role_of(self, forms: Iterable[str], bare: str | None = None) -> Role | None:
        """The role of the first form of a name that is known, None if none is.

        Args:
            forms: The name's words, and those without a number at the end.
            bare: The words before ``agent`` at the end: never a tool, human or environment.
        """
        forms = [*forms] if bare is None else [*forms, bare]
        for form in forms:
            role = self.names.get(form.replace(" ", ""))
            if role is not None and (form is not bare or role not in _NO_AGENT):
                return role
        for pattern, role in self.patterns.possible(forms):
            for form in forms:
                if form is bare and role in _NO_AGENT:
                    continue
                if pattern.fullmatch(form):
                    return role
        return None


@dataclass
class RoleTable:
    """Maps names to roles, and remembers those that it does not know.

    Args:
        layers: What is asked, in this order.

    Attributes:
        unknown: How often each unknown name was asked for, as it was written.
    """

    layers: tuple[Aliases, ...]
    unknown: dict[str, int] = field(default_factory=dict)

    @classmethod
    def default(cls) -> Self:
        """The table that comes with masgraph, with nothing remembered."""
        return cls((_shipped(),))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The default table, with a user's file before it.

        Args:
            path: A TOML file of the same form as ``ingest/roles.toml``.

        Raises:
            InputError: It cannot be read, or names a role that does not exist.
        """
        uri = os.fspath(path)
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the role table cannot be read ({error})", file=uri) from error
        return cls((_parsed(text, uri), _shipped()))

    def role_of(self, name: str) -> Role:
        """The shared role behind a name, ``unknown`` where the table has none.

        Args:
            name: A role's or agent's name as the trace has it.
        """
        look_up = _role_in if len(name) <= _LONGEST_KEPT else _role_in.__wrapped__
        found = look_up(self.layers, name)
        if found == "unknown" and name:
            self.unknown[name] = self.unknown.get(name, 0) + 1
        return found


# The same names come up in file after file, each read with a table of its own.
@lru_cache(maxsize=4_096)
def _role_in(layers: tuple[Aliases, ...], name: str) -> Role:
    """The role behind a name in the first layer that has one."""
    text = words(name)
    forms = tuple(dict.fromkeys((text, _LAST.sub("", text))))
    bare = next((f.removesuffix(_AGENT) for f in forms if f.endswith(_AGENT)), None)
    for layer in layers:
        if (role := layer.role_of(forms, bare)) is not None:
            return role
    return "unknown"


@cache
def _shipped() -> Aliases:
    return _parsed(files("ingest").joinpath("roles.toml").read_text("utf-8"), "roles.toml")


def _parsed(text: str, uri: str) -> Aliases:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the role table is no TOML: {error}", file=uri) from error
    if unknown := sorted(table.keys() - set(_TABLES)):
        raise InputError(
            f"the role table has the unknown part [{unknown[0]}]: use [names], [patterns] or "
            "[fallback]",
            file=uri,
        )
    names: dict[str, Role] = {}
    for role, name in _entries(table, ("names",), uri):
        key = words(name).replace(" ", "")
        if names.setdefault(key, role) != role:
            raise InputError(f"the name {name!r} has two roles", file=uri)
    patterns = Patterns(
        (_pattern(name), role) for role, name in _entries(table, ("patterns", "fallback"), uri)
    )
    return Aliases(names, patterns)


def _entries(
    table: dict[str, Any], parts: Iterable[str], uri: str
) -> Iterable[tuple[Role, str]]:
    for part in parts:
        entries = table.get(part, {})
        if not isinstance(entries, dict):
            raise InputError(f"[{part}] must list names by role", file=uri)
        for role, listed in entries.items():
            if role not in _ROLES:
                raise InputError(
                    f"[{part}] has the unknown role {role!r}: use one of {', '.join(_ROLES)}",
                    file=uri,
                )
            if not isinstance(listed, list) or not all(isinstance(n, str) for n in listed):
                raise InputError(f"[{part}] {role} must be a list of names", file=uri)
            yield from ((_ROLES[role], name) for name in listed)


def _pattern(text: str) -> str:
    """A pattern as it was written, its words as :func:`words` has them."""
    parts = text.replace("*", " * ").split()
    return " ".join(part if part == "*" else words(part) for part in parts)
