"""Which column of a table means what: known names, and a mapping file for others.

A table's columns are recognized by their names (:data:`NAMES`), without regard to case, spaces
and underscores. For other names, a TOML file lies beside the table, called like the table with
``.mapping.toml`` after it (``chats.csv.mapping.toml``), or ``messages.mapping.toml`` for every
table of a folder::

    [columns]              # field = "the column's name in the table"
    sender = "von"
    receiver = "an"
    content = "nachricht"
    run = "gespraech"

    [options]
    receiver_separator = ","         # several receivers in one cell; by default ";"
    everybody = ["team"]             # receivers that stand for everybody else, beside *, all
    missing_receiver = "everybody"   # an empty cell; by default "nobody"
    time_unit = "ms"                 # of a number: s, ms, us, ns; by default by its size
    time_zone = "Europe/Berlin"      # of a time that names none; by default unknown
    task = "planning a trip"         # for each run; the columns task, method, dataset win
    method = "debate"
    dataset = "our pilot"

A field that the mapping does not name keeps its known names.
"""

import os
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from graphstore.errors import InputError

NAMES: dict[str, tuple[str, ...]] = {
    "sender": (
        "sender", "from", "speaker", "author", "fromagent", "sendername", "senderid",
        "source", "agent", "agentname", "name",
    ),
    "receiver": (
        "receiver", "recipient", "receivers", "recipients", "to", "toagent", "addressee",
        "receivername", "receiverid", "target", "destination",
    ),
    "content": ("content", "message", "text", "body", "msg", "utterance"),
    "time": (
        "time", "timestamp", "datetime", "createdat", "sentat", "startedat", "date", "ts",
    ),
    "run": (
        "run", "runid", "episode", "episodeid", "conversation", "conversationid", "session",
        "sessionid", "thread", "threadid", "chatid", "dialogueid", "traceid",
    ),
    "task": ("task", "taskid", "taskname"),
    "method": ("method",),
    "dataset": ("dataset",),
    "kind": ("kind", "messagetype", "actiontype"),
    "role": ("role", "senderrole"),
    "round": ("round", "turn"),
    "tokens_in": ("tokensin", "prompttokens", "inputtokens"),
    "tokens_out": ("tokensout", "completiontokens", "outputtokens"),
    "id": ("id", "messageid", "msgid"),
    "reply_to": ("replyto", "inreplyto", "parentid", "parentmessageid"),
    "status": ("status",),
}  # fmt: skip
"""The known names of each field, letters and digits only, the likeliest first."""

EVERYBODY = frozenset({"*", "all", "<all>", "everyone", "everybody", "broadcast"})
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
SIDECAR = ".mapping.toml"
SHARED = "messages.mapping.toml"

_LARGEST = 1 << 20
_LETTERS_AND_DIGITS = b"abcdefghijklmnopqrstuvwxyz0123456789"
_OTHER_BYTES = bytes(range(256)).translate(None, _LETTERS_AND_DIGITS)


@dataclass(frozen=True)
class Mapping:
    """What a mapping file says; without one, nothing.

    Attributes:
        columns: The column's name by field.
        text: The file's text, part of what identifies a run.
        uri: The file as it was named.
    """

    columns: dict[str, str] = field(default_factory=dict)
    receiver_separator: str = ";"
    everybody: frozenset[str] = EVERYBODY
    missing_receiver: str = "nobody"
    time_unit: str | None = None
    time_zone: ZoneInfo | None = None
    task: str | None = None
    method: str | None = None
    dataset: str | None = None
    text: str = ""
    uri: str = ""


def places(header: list[str], mapping: Mapping) -> dict[str, int]:
    """The position of each field's column.

    Args:
        header: The names of the table's columns.
        mapping: What the mapping file says.

    Returns:
        Positions by field; fields without a column are missing.

    Raises:
        InputError: The mapping names a column that the table does not have.
    """
    found: dict[str, int] = {}
    for name, column in mapping.columns.items():
        if column not in header:
            raise InputError(
                f"the mapping file {mapping.uri} names the column {column!r}, which the table "
                f"does not have: its columns are {', '.join(header) or 'none'}"
            )
        found[name] = header.index(column)
    taken = set(found.values())
    first_places: dict[str, int] = {}
    for place, column in enumerate(header):
        first_places.setdefault(_plain(column), place)
    for name, known in NAMES.items():
        if name in found:
            continue
        for candidate in known:
            place = first_places.get(candidate, -1)
            if place >= 0 and place not in taken:
                found[name] = place
                taken.add(place)
                break
    return found


def may_name(line: str, field: str) -> bool:
    """Whether a table whose first line this is may have a column of a field.

    Args:
        line: The first line, before it is parted into names.
        field: One of :data:`NAMES`.

    Returns:
        False only where :func:`places` finds none without a mapping: the name of a column
        is a part of the line, also in the form in which names are compared.
    """
    plain = _plain(line)
    return any(name in plain for name in NAMES[field])


def _plain(name: str) -> str:
    """A column's name in lower case, letters and digits only."""
    return name.casefold().encode("ascii", "ignore").translate(None, _OTHER_BYTES).decode()


def check_once(header: list[str], columns: dict[str, int]) -> None:
    """Refuses a table in which two columns have the name of one field.

    Args:
        header: The names of the table's columns.
        columns: What :func:`places` found in it.

    Raises:
        InputError: There are two such columns.
    """
    plain = [_plain(name) for name in header]
    for name, place in columns.items():
        same = [
            other
            for other, text in enumerate(plain)
            if header[other] == header[place] or (text and text == plain[place])
        ]
        if len(same) > 1:
            called = " and ".join(f"column {one + 1}, {header[one]!r}," for one in same)
            raise InputError(f"{called} could all hold the {name}: rename all but one")


def beside(uri: str) -> Mapping:
    """The mapping that lies beside a table, an empty one where none does.

    Args:
        uri: The table as it was named.

    Raises:
        InputError: The mapping cannot be read, or says something unknown.
    """
    for path in candidates(uri):
        try:
            if not os.path.lexists(path):
                continue
            if not path.is_file():
                raise InputError("the mapping is no file", file=str(path))
            if path.stat().st_size > _LARGEST:
                raise InputError("the mapping is larger than 1 MiB", file=str(path))
            return parse(path.read_text(encoding="utf-8"), str(path))
        except UnicodeDecodeError as error:
            raise InputError("the mapping is not UTF-8 text", file=str(path)) from error
        except (OSError, ValueError) as error:
            reason = f"the mapping cannot be read ({error})"
            raise InputError(reason, file=str(path)) from error
    return Mapping()


def candidates(uri: str) -> list[Path]:
    """The places where a table's mapping file can lie, the first one that is there counts.

    Args:
        uri: The table as it was named.
    """
    table = Path(uri)
    found = [Path(uri + SIDECAR), table.with_name(SHARED) if table.name else Path(SHARED)]
    if uri.endswith(".gz"):
        found.insert(1, Path(uri.removesuffix(".gz") + SIDECAR))
    return found


def parse(text: str, uri: str) -> Mapping:
    """A mapping file's content; see the module for its form.

    Raises:
        InputError: It is no TOML, or says something unknown.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the mapping is no TOML: {error}", file=uri) from error
    columns, options = table.pop("columns", {}), table.pop("options", {})
    if table or not isinstance(columns, dict) or not isinstance(options, dict):
        raise InputError("the mapping has the parts [columns] and [options] only", file=uri)
    for name, column in columns.items():
        if name not in NAMES:
            raise InputError(
                f"[columns] has the unknown field {name!r}: use one of {', '.join(NAMES)}",
                file=uri,
            )
        if not isinstance(column, str):
            raise InputError(f"[columns] {name} must be a column's name", file=uri)
    fields: dict[str, str] = {}
    for name, column in columns.items():
        if column in fields:
            raise InputError(
                f"[columns] gives the column {column!r} to both {fields[column]} and {name}",
                file=uri,
            )
        fields[column] = name
    return Mapping(columns=columns, text=text, uri=uri, **_options(options, uri))


def _options(options: dict[str, Any], uri: str) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in options.items():
        if name == "everybody":
            if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
                raise InputError("[options] everybody must be a list of names", file=uri)
            kept[name] = EVERYBODY | {one.strip().casefold() for one in value}
            continue
        if name not in _TEXTS:
            raise InputError(
                f"[options] has the unknown option {name!r}: use one of everybody, "
                + ", ".join(_TEXTS),
                file=uri,
            )
        allowed = _TEXTS[name]
        if not isinstance(value, str) or not value or (allowed and value not in allowed):
            choice = f"one of {', '.join(allowed)}" if allowed else "a text"
            raise InputError(f"[options] {name} must be {choice}", file=uri)
        kept[name] = _zone(value, uri) if name == "time_zone" else value
    return kept


_TEXTS: dict[str, tuple[str, ...]] = {
    "receiver_separator": (),
    "missing_receiver": ("nobody", "everybody"),
    "time_unit": tuple(UNITS),
    "time_zone": (),
    "task": (),
    "method": (),
    "dataset": (),
}


def _zone(name: str, uri: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        raise InputError(f"[options] time_zone {name!r} is unknown", file=uri) from error
