"""OpenMAS-GCom: an organization ``(V, E, S, pi)``, and the record of a run in it.

Source: OpenMAS-GCom, section 2.1 (Eq. 1-2), Tables 8-10, appendices A.6, A.10, B.3, B.4. The
paper names the fields and prints no file; their names here, and what else they may be called,
stand in ``docs/openmas-gcom-format.md``. A record is one organization, perhaps with one run:
a trace, a prediction, costs, an intervention. Records stand one a line, in an array, or alone.

Without a trace, prediction or costs the record is an organization before any run: a graph
without nodes. With them it is a run; its agents are the units that were executed.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import InputError
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Organization, Role
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_bytes,
    first_character,
    has_key,
    short_name,
    text_of,
)
from ingest.readers.openmas_gcom_fields import Fields, is_record, name_of
from ingest.readers.openmas_gcom_run import fill_run
from ingest.readers.raw_records import RawRecord, raw_records
from ingest.readers.sample_json import first_value

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_MARK = re.compile(rb'(?<!\\)"openmas_gcom"\s*:\s*\d')


class OpenMasGcomReader:
    """OpenMAS-GCom: one organization or run a record."""

    format = "openmas-gcom"
    title = "OpenMAS-GCom organizations and run records"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="partly",
        tokens="yes",
        recipients="partly",
        outcome="yes",
        notes=(
            "The paper prints no file format: docs/openmas-gcom-format.md defines this one.",
            "A record without a trace, prediction or costs is an organization before any run.",
            "Only units that were executed are agents; the organization keeps the others.",
            "Success is what the record says; a metric's value is a score.",
        ),
    )
    telling_keys = frozenset({"openmas_gcom", "V"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample has the format's mark, or V and E with S or pi."""
        if first_character(sample) not in (b"{", b"["):
            return False
        if has_key(sample, "openmas_gcom") and _MARK.search(sample) is not None:
            return True
        if not has_key(sample, "V"):
            return False
        value = first_value(sample)
        if isinstance(value, list):
            value = value[0] if value else None
        inner = value.get("organization") if isinstance(value, dict) else None
        return any(
            isinstance(holder, dict)
            and holder.keys() >= {"V", "E"}
            and bool(holder.keys() & {"S", "pi", "\u03c0"})
            for holder in (value, inner)
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a graph or a rejection for each record.

        Raises:
            InputError: The file is neither lines of JSON nor one JSON document.
        """
        seen: set[str] = set()
        for raw in raw_records(file):
            record = raw.place
            try:
                value, repaired = decode_bytes(
                    raw.data, _DECODER, file.uri, first_line=raw.line
                )
                if not isinstance(value, dict):
                    raise InputError("the record is no object")
                record = name_of(value, "id", "run_id") or raw.place
                if record in seen:
                    raise InputError(f"the id {record!r} stands twice in the file")
                seen.add(record)
                if not is_record(value):
                    raise InputError(
                        "the record is none of the format: it has neither units with edges "
                        "(V and E), nor a trace of units, nor the mark openmas_gcom"
                    )
                yield self._graph(file, context, raw, value, record, repaired or raw.repaired)
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)

    def _graph(
        self,
        file: TraceFile,
        context: ReadContext,
        raw: RawRecord,
        value: dict[str, Any],
        record: str,
        repaired: bool,
    ) -> CollaborationGraph:
        builder = context.builder(self, file, raw.data, record=record)
        if repaired:
            builder.warn(REPAIRED)
        fields = Fields(value)
        _task(builder, fields, record)
        units, builder.organization = organization(builder, fields)
        if fields.has_run:
            method = name_of(fields.organization, "method_id", "method")
            if method is not None:
                builder.set_method(method)
            fill_run(builder, fields, units)
        else:
            builder.kind = "decomposition"
            if builder.organization is None:
                raise InputError("the record has neither an organization nor a run")
        builder.attributes = fields.rest()
        return builder.build()


OPENMAS_GCOM = OpenMasGcomReader()


def _task(builder: GraphBuilder, fields: Fields, record: str) -> None:
    task = fields.task
    question = text_of(task.pop("input", task.pop("question", None)))
    sample = name_of(task, "sample_id", "name")
    dataset = name_of(task, "dataset_id", "dataset")
    if question is None and sample is None:
        builder.warn("the record names no task")
    builder.set_task(
        sample or short_name(question or "", 80) or record,
        description=question,
        dataset=dataset,
        category=name_of(task, "tier", "domain", "category"),
    )
    builder.name = record


def organization(
    builder: GraphBuilder, fields: Fields
) -> tuple[dict[str, int], Organization | None]:
    """The organization of a record as it stands there, and the position of each unit by name.

    The builder applies its policy in the end: what a unit is decides what its steps are.

    Raises:
        InputError: A unit has no name or stands twice, or an edge names no unit.
    """
    given = fields.organization
    listed = _listed(fields.take_organization("V"), "V")
    links = _listed(fields.take_organization("E"), "E")
    state = fields.take_organization("S")
    policy = fields.take_organization("pi")
    roles = given.pop("role_configuration", None)
    roles = roles if isinstance(roles, dict) else {}
    units: dict[str, int] = {}
    members: list[tuple[str, Role, Attributes]] = []
    for position, unit in enumerate(listed):
        name = unit if isinstance(unit, str) else name_of(unit, "id", "name")
        if not name:
            raise InputError(f"V[{position}]: the unit has no name")
        if name in units:
            raise InputError(f"V[{position}]: the unit {name!r} stands twice")
        units[name] = position
        members.append((name, *_unit(builder, name, unit, roles.get(name))))
    pairs = []
    for position, link in enumerate(links):
        source, target, kind = _ends(link, position)
        for end in (source, target):
            if end not in units:
                raise InputError(f"E[{position}]: no unit is called {end!r}")
        pairs.append((units[source], units[target], kind))
    if not members and not links and state is None and policy is None:
        return {}, None
    name = name_of(given, "name", "method_id", "method") or "organization"
    return units, make_organization(
        name,
        members,
        pairs,
        state=_object(state, "S"),
        policy=_object(policy, "pi"),
    )


def _unit(
    builder: GraphBuilder, name: str, unit: Any, configured: Any
) -> tuple[Role, Attributes]:
    attributes: Attributes = (
        {key: other for key, other in unit.items() if key not in ("id", "name")}
        if isinstance(unit, dict)
        else {}
    )
    if isinstance(configured, str):
        attributes.setdefault("role", configured)
    elif configured is not None:
        attributes.setdefault("configuration", configured)
    stated = attributes.get("role")
    role: Role = builder.role_of(stated) if stated and isinstance(stated, str) else "unknown"
    if role == "unknown":
        role = builder.role_of(name)
    if role == "unknown" and attributes.get("kind", attributes.get("type")) == "tool":
        role = "tool"
    return role, attributes


def _listed(value: Any, what: str) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, dict):
        return [
            {"id": name, **(unit if isinstance(unit, dict) else {})}
            for name, unit in value.items()
        ]
    if not isinstance(value, list):
        raise InputError(f"{what} is no list")
    return value


def _object(value: Any, what: str) -> Attributes:
    """State and policy as an object; a list of names or a text is kept under its symbol."""
    if value is None:
        return {}
    return dict(value) if isinstance(value, dict) else {what: value}


def _ends(link: Any, position: int) -> tuple[str, str, str]:
    source = target = kind = None
    if isinstance(link, dict):
        source, target = name_of(link, "source", "from"), name_of(link, "target", "to")
        kind = name_of(link, "kind", "type")
    elif isinstance(link, list) and len(link) in (2, 3):
        source, target = text_of(link[0]), text_of(link[1])
        kind = text_of(link[2]) if len(link) == 3 else None
    if not source or not target:
        raise InputError(f"E[{position}]: the edge names no two units")
    return source, target, kind or ""
