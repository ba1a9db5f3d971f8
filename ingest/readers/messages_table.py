"""A table of messages: a CSV or Parquet file with a message in each row.

Columns say who sent a message to whom, when, and what it said; see
:mod:`ingest.readers.table_mapping` for their names and for the mapping file that tells others.
Rows of one ``run`` make one run, in the order of the file; without such a column the file is
one run. Every other column stays with its message as an attribute.

A table says nothing that no column says. A message without a receiver reaches nobody, unless
the mapping says that it reaches everybody; a number that does not look like a time since 1970
and a time without a zone are no times.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json
from graphstore.model import (
    Attributes,
    CollaborationGraph,
    Delivery,
    GraphKind,
    NodeKind,
    Status,
)
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import text_of
from ingest.readers.exports import is_export_table
from ingest.readers.naming import set_task_from_text
from ingest.readers.table_mapping import Mapping, beside, check_once, places
from ingest.readers.table_rows import PARQUET, header_of, read_rows
from ingest.readers.table_values import instant, names_in_json, plain

_KINDS: dict[str, NodeKind] = {
    "message": "agent_message",
    "agent_message": "agent_message",
    "text": "agent_message",
    "tool": "tool_call",
    "tool_call": "tool_call",
    "decision": "decision",
    "handoff": "decision",
    "thought": "decision",
}
_STATUSES: dict[str, Status] = {
    "ok": "ok", "success": "ok", "succeeded": "ok",
    "error": "error", "failed": "error", "failure": "error",
}  # fmt: skip
_NO_RECEIVERS = (
    "no column names receivers, so messages reach nobody: say missing_receiver in a mapping "
    "file where they reach everybody"
)


class MessagesTableReader:
    """A table of messages: one run for each value of the run column."""

    format = "messages-table"
    title = "Table of messages (CSV or Parquet)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="partly",
        tokens="partly",
        recipients="partly",
        outcome="no",
        notes=(
            "Only what the columns say; a file beside the table, <table>.mapping.toml, tells "
            "columns of other names.",
            "A message without a receiver reaches nobody, unless the mapping says everybody.",
            "A time without a zone is kept as text, unless the mapping names its zone.",
            "A table whose columns have names of its own is read with --format messages-table; "
            "without it, the rejection says so where a mapping file lies beside the table.",
            "docs/tables.md shows a mapping file.",
        ),
    )

    def sniff(self, sample: bytes) -> bool:
        """Whether the first line names senders, contents, and receivers, times or runs."""
        if sample.startswith(PARQUET):
            return not is_export_table(sample)
        line = sample.lstrip(b"\r\n").split(b"\n", 1)[0]
        if line[:1] in (b"{", b"[", b"<") or len(line) > 10_000:
            return False
        _, header = header_of(line.decode(errors="replace").strip())
        if len(header) < 3:
            return False
        found = places(header, Mapping())
        return {"sender", "content"} <= found.keys() and bool(
            {"receiver", "time", "run"} & found.keys()
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each value of the run column, in the order of the file.

        Raises:
            InputError: It is no table, its mapping cannot be used, or no column names the
                senders.
        """
        if is_export_table(file.sample):
            raise InputError(
                "it is a table of masgraph's own export: read its folder with --format "
                "masgraph-parquet",
                file=file.uri,
            )
        try:
            mapping = beside(file.uri)
        except InputError as error:
            # The file that cannot be used is not the one that is read: both are named.
            reason = f"its mapping file {error.file} cannot be used: {error.reason}"
            raise InputError(reason, file=file.uri) from error
        header, rows = read_rows(file)
        try:
            columns = places(header, mapping)
            check_once(header, columns)
        except InputError as error:
            raise InputError(error.reason, file=file.uri) from error
        missing = [name for name in ("sender", "content") if name not in columns]
        if missing:
            raise InputError(
                f"no column is known to hold the {missing[0]} among "
                f"{', '.join(header) or 'none'}: name it in {file.uri}.mapping.toml",
                file=file.uri,
            )
        table = _Table(header, columns, mapping)
        runs: dict[str | None, list[_Row]] = {}
        for place, cells in rows:
            run = table.text(cells, "run")
            runs.setdefault(run, []).append(_Row(place, cells))
        if not runs:
            raise InputError("the table has no rows", file=file.uri)
        for run, members in runs.items():
            record = run if "run" in columns and run is not None else None
            try:
                yield self._run(file, context, table, members, record, len(runs) > 1)
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)

    def _run(
        self,
        file: TraceFile,
        context: ReadContext,
        table: "_Table",
        rows: list["_Row"],
        record: str | None,
        is_one_of_many: bool,
    ) -> CollaborationGraph:
        if is_one_of_many or table.mapping.text:
            cells = [
                [cell if type(cell) is str else plain(cell) for cell in row.cells]
                for row in rows
            ]
            content = canonical_json([table.header, table.mapping.text, cells])
        else:
            content = file.sha256
        builder = context.builder(self, file, content, record=record)
        if record is None and "run" in table.columns:
            builder.warn("rows without a run were put into one run")
        _Run(builder, table, rows).add()
        return builder.build()


MESSAGES_TABLE = MessagesTableReader()


@dataclass(frozen=True, slots=True)
class _Row:
    place: str
    cells: list[Any]


@dataclass(frozen=True)
class _Table:
    """The table's columns, and how to look into a row."""

    header: list[str]
    columns: dict[str, int]
    mapping: Mapping

    def cell(self, cells: list[Any], field: str) -> Any:
        """What stands in a field's column, None where it is empty or the row is short."""
        place = self.columns.get(field)
        if place is None or place >= len(cells):
            return None
        value = cells[place]
        return None if isinstance(value, str) and not value.strip() else value

    def text(self, cells: list[Any], field: str) -> str | None:
        """The same as text, without the white space around it."""
        place = self.columns.get(field)
        if place is None or place >= len(cells):
            return None
        value = cells[place]
        if type(value) is str:  # what CSV holds
            return value.strip() or None
        return None if value is None else (text_of(plain(value)) or "").strip()

    @cached_property
    def others(self) -> list[tuple[int, str]]:
        """Place and name of the columns that no field takes."""
        used = set(self.columns.values())
        return [
            (place, name or f"column {place + 1}")
            for place, name in enumerate(self.header)
            if place not in used
        ]


class _Run:
    """Adds the rows of one run."""

    def __init__(self, builder: GraphBuilder, table: _Table, rows: list[_Row]) -> None:
        self._builder = builder
        self._table = table
        self._mapping = table.mapping
        self._rows = self._once(rows)
        self._flow = FlowTracker(builder)
        self._nodes: dict[str, int] = {}
        self._agents: dict[str, int] = {}
        self._receivers: list[list[str] | None] = []

    def add(self) -> None:
        table = self._table
        roles: dict[str, str] = {}
        for row in self._rows:
            sender = table.text(row.cells, "sender")
            role = table.text(row.cells, "role")
            if sender is not None and role is not None:
                roles.setdefault(sender, role)
        for row in self._rows:
            sender = table.text(row.cells, "sender")
            receivers = self._named(row)
            self._receivers.append(receivers)
            for name in [*([sender] if sender else []), *(receivers or [])]:
                if name not in self._agents:
                    self._add_agent(name, roles.get(name))
        self._warn_of_short_rows()
        if "receiver" not in table.columns and self._mapping.missing_receiver == "nobody":
            self._builder.warn(_NO_RECEIVERS)
        for row, receivers in zip(self._rows, self._receivers, strict=True):
            self._add(row, receivers)
        self._set_task()

    def _warn_of_short_rows(self) -> None:
        width = len(self._table.header)
        short = [row.place for row in self._rows if len(row.cells) < width]
        if short:
            self._builder.warn(
                f"a row has fewer cells than the table has columns ({len(short):,} such rows, "
                f"the first in {short[0]}): what it lacks is unknown"
            )

    def _once(self, rows: list[_Row]) -> list[_Row]:
        """A row that stands again, with the same id and the same words, is no new message."""
        if "id" not in self._table.columns:
            return rows
        known: dict[str, _Row] = {}
        kept: list[_Row] = []
        for row in rows:
            id = self._table.text(row.cells, "id")
            first = None if id is None else known.setdefault(id, row)
            if first is not None and first is not row:
                if first.cells == row.cells:
                    self._builder.warn("rows that stand more than once were counted once")
                    continue
                self._builder.warn(f"two different messages have the id {id}: both were kept")
            kept.append(row)
        return kept

    def _add_agent(self, name: str, role_name: str | None) -> None:
        role = self._builder.role_of(role_name) if role_name else "unknown"
        if role == "unknown":
            role = self._builder.role_of(name)
        self._agents[name] = self._builder.new_agent(
            name,
            role=role,
            role_name=role_name,
            kind="human" if role == "human" else "agent",
        )

    def _named(self, row: _Row) -> list[str] | None:
        """The receivers that a row names; None for everybody, an empty list for nobody."""
        value = self._table.cell(row.cells, "receiver")
        names: list[str] = []
        if isinstance(value, list):
            names = [text for item in value if (text := (text_of(plain(item)) or "").strip())]
        elif value is not None:
            text = (text_of(plain(value)) or "").strip()
            names = names_in_json(text) or [
                name
                for part in text.split(self._mapping.receiver_separator)
                if (name := part.strip())
            ]
        if not names:
            return None if self._mapping.missing_receiver == "everybody" else []
        if any(name.casefold() in self._mapping.everybody for name in names):
            return None
        return list(dict.fromkeys(names))

    def _add(self, row: _Row, receivers: list[str] | None) -> None:
        table, builder = self._table, self._builder
        sender = table.text(row.cells, "sender")
        agent = None if sender is None else self._agents[sender]
        if agent is None:
            builder.warn("a message names no sender")
        delivery: Delivery
        if receivers is None:
            recipients = [other for other in self._agents.values() if other != agent]
            delivery = "broadcast"
        else:
            recipients = [self._agents[name] for name in receivers]
            delivery = "explicit"
        attributes = self._others(row)
        started_at = self._time(row, attributes)
        id = table.text(row.cells, "id")
        if id is not None:
            attributes["id"] = id
        content = table.cell(row.cells, "content")
        node = builder.add(
            self._kind(row, attributes),
            sender or "unknown sender",
            agent=agent,
            recipients=recipients,
            delivery=delivery,
            content=text_of(plain(content)),
            round=self._count(row, "round"),
            started_at=started_at,
            tokens_in=self._count(row, "tokens_in"),
            tokens_out=self._count(row, "tokens_out"),
            status=self._status(row, attributes),
            attributes=attributes,
        )
        self._flow.act(node, agent, recipients=recipients, explicit=self._answered(row))
        if id is not None:
            self._nodes.setdefault(id, node)

    def _answered(self, row: _Row) -> list[int]:
        reply = self._table.text(row.cells, "reply_to")
        if reply is None:
            return []
        node = self._nodes.get(reply)
        if node is None:
            self._builder.warn("a message answers one that does not stand before it")
            return []
        return [node]

    def _others(self, row: _Row) -> Attributes:
        cells = row.cells
        kept: Attributes = {}
        for place, name in self._table.others:
            if place < len(cells) and (value := cells[place]) is not None and value != "":
                kept[name] = plain(value)
        if extra := [
            plain(value)
            for value in cells[len(self._table.header) :]
            if value is not None and value != ""
        ]:
            self._builder.warn("a row has more cells than the table has columns")
            kept.setdefault("extra_cells", []).extend(extra)
        return kept

    def _kind(self, row: _Row, attributes: Attributes) -> NodeKind:
        word = self._table.text(row.cells, "kind")
        if word is None:
            return "agent_message"
        kind = _KINDS.get(word.casefold().replace(" ", "_"))
        if kind is None:
            attributes["kind"] = word
        return kind or "agent_message"

    def _status(self, row: _Row, attributes: Attributes) -> Status | None:
        word = self._table.text(row.cells, "status")
        if word is None:
            return None
        status = _STATUSES.get(word.casefold())
        if status is None:
            attributes["status"] = word
        return status

    def _count(self, row: _Row, field: str) -> int | None:
        text = self._table.text(row.cells, field)
        if text is None:
            return None
        found = re.fullmatch(r"(\d{1,15})(?:\.0*)?", text)
        if found is None:
            self._builder.warn(f"a value of {field} that is no whole number was left out")
            return None
        return int(found[1])

    def _time(self, row: _Row, attributes: Attributes) -> int | None:
        value = self._table.cell(row.cells, "time")
        if value is None:
            return None
        time = instant(value, self._mapping)
        if time is None:
            self._builder.warn("a time that cannot be placed without doubt was kept as text")
            attributes["time"] = plain(value)
        return time

    def _set_task(self) -> None:
        builder, mapping = self._builder, self._mapping
        cells = self._rows[0].cells
        dataset = self._table.text(cells, "dataset") or mapping.dataset
        task = self._table.text(cells, "task") or mapping.task
        if task is not None:
            set_task_from_text(builder, task, dataset=dataset)
        method = self._table.text(cells, "method") or mapping.method
        if method is not None:
            builder.set_method(method)
