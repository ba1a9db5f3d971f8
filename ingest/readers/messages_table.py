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
from ingest.readers.table_columns import Columns
from ingest.readers.table_mapping import Mapping, beside, check_once, may_name, places
from ingest.readers.table_rows import PARQUET, header_of, read_rows
from ingest.readers.table_values import instant, plain

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
_MOST_DIGITS = 15
_COUNT = re.compile(rf"(\d{{1,{_MOST_DIGITS}}})(?:\.0*)?")
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
    telling_keys_of_objects: frozenset[str] = frozenset()

    def sniff(self, sample: bytes) -> bool:
        """Whether the first line names senders, contents, and receivers, times or runs."""
        if sample.startswith(PARQUET):
            return not is_export_table(sample)
        line = sample.lstrip(b"\r\n").split(b"\n", 1)[0]
        if line[:1] in (b"{", b"[", b"<") or len(line) > 10_000:
            return False
        first = line.decode(errors="replace").strip()
        if not may_name(first, "content"):
            return False
        _, header = header_of(first)
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
        table = read_rows(file)
        header = table.header
        try:
            positions = places(header, mapping)
            check_once(header, positions)
        except InputError as error:
            raise InputError(error.reason, file=file.uri) from error
        missing = [name for name in ("sender", "content") if name not in positions]
        if missing:
            raise InputError(
                f"no column is known to hold the {missing[0]} among "
                f"{', '.join(header) or 'none'}: name it in {file.uri}.mapping.toml",
                file=file.uri,
            )
        columns = Columns(table, positions, mapping)
        runs: dict[str | None, list[int]] = {}
        for row, run in enumerate(columns.runs):
            runs.setdefault(run, []).append(row)
        if not runs:
            raise InputError("the table has no rows", file=file.uri)
        for run, rows in runs.items():
            try:
                yield self._run(file, context, columns, rows, run, len(runs) > 1)
            except InputError as error:
                yield Rejection(file.uri, run, error.reason)

    def _run(
        self,
        file: TraceFile,
        context: ReadContext,
        columns: Columns,
        rows: list[int],
        record: str | None,
        is_one_of_many: bool,
    ) -> CollaborationGraph:
        if is_one_of_many or columns.mapping.text:
            cells = [columns.plain_cells(row) for row in rows]
            content = canonical_json([columns.header, columns.mapping.text, cells])
        else:
            content = file.sha256
        builder = context.builder(self, file, content, record=record)
        if record is None and "run" in columns.places:
            builder.warn("rows without a run were put into one run")
        _Run(builder, columns, rows).add()
        return builder.build()


MESSAGES_TABLE = MessagesTableReader()


class _Run:
    """Adds the rows of one run."""

    def __init__(self, builder: GraphBuilder, columns: Columns, rows: list[int]) -> None:
        self._builder = builder
        self._columns = columns
        self._rows = self._once(rows) if "id" in columns.places else rows
        self._flow = FlowTracker(builder)
        self._nodes: dict[str, int] = {}
        self._agents: dict[str, int] = {}

    def add(self) -> None:
        columns, rows = self._columns, self._rows
        self._add_agents()
        if min(columns.widths) < len(columns.header):
            self._warn_of_short_rows()
        if "receiver" not in columns.places and columns.mapping.missing_receiver == "nobody":
            self._builder.warn(_NO_RECEIVERS)
        for row in rows:
            self._add(row)
        self._set_task(rows[0])

    def _warn_of_short_rows(self) -> None:
        columns = self._columns
        width = len(columns.header)
        short = [row for row in self._rows if len(columns.rows[row]) < width]
        if short:
            self._builder.warn(
                f"a row has fewer cells than the table has columns ({len(short):,} such rows, "
                f"the first in {columns.place(short[0])}): what it lacks is unknown"
            )

    def _once(self, rows: list[int]) -> list[int]:
        """A row that stands again, with the same id and the same words, is no new message."""
        columns = self._columns
        ids = [id for row in rows if (id := columns.ids[row]) is not None]
        if len(set(ids)) == len(ids):
            return rows
        known: dict[str, int] = {}
        kept: list[int] = []
        for row in rows:
            id = columns.ids[row]
            first = row if id is None else known.setdefault(id, row)
            if first != row:
                if columns.rows[first] == columns.rows[row]:
                    self._builder.warn("rows that stand more than once were counted once")
                    continue
                self._builder.warn(f"two different messages have the id {id}: both were kept")
            kept.append(row)
        return kept

    def _add_agents(self) -> None:
        """Senders and receivers, in the order in which they are named first."""
        columns, agents = self._columns, self._agents
        roles: dict[str, str] = {}
        if "role" in columns.places:
            for row in self._rows:
                sender, role = columns.senders[row], columns.roles[row]
                if sender is not None and role is not None:
                    roles.setdefault(sender, role)
        for row in self._rows:
            sender = columns.senders[row]
            if sender and sender not in agents:
                self._add_agent(sender, roles.get(sender))
            for name in columns.receivers[row] or ():
                if name not in agents:
                    self._add_agent(name, roles.get(name))

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

    def _add(self, row: int) -> None:
        builder, agents = self._builder, self._agents
        (
            sender,
            receivers,
            content,
            time,
            id,
            reply,
            kind,
            status,
            round,
            tokens_in,
            tokens_out,
        ) = self._columns.messages[row]
        agent = None if sender is None else agents[sender]
        if agent is None:
            builder.warn("a message names no sender")
        delivery: Delivery
        if receivers is None:
            recipients = [other for other in agents.values() if other != agent]
            delivery = "broadcast"
        else:
            recipients = [agents[name] for name in receivers]
            delivery = "explicit"
        attributes = self._others(row)
        started_at = None if time is None else self._time(time, attributes)
        if id is not None:
            attributes["id"] = id
        node = builder.add(
            "agent_message" if kind is None else self._kind(kind, attributes),
            sender or "unknown sender",
            agent=agent,
            recipients=recipients,
            delivery=delivery,
            content=content if type(content) is str else text_of(plain(content)),
            round=None if round is None else self._count("round", round),
            started_at=started_at,
            tokens_in=None if tokens_in is None else self._count("tokens_in", tokens_in),
            tokens_out=None if tokens_out is None else self._count("tokens_out", tokens_out),
            status=None if status is None else self._status(status, attributes),
            attributes=attributes,
        )
        answered = () if reply is None else self._answered(reply)
        self._flow.act(node, agent, recipients=recipients, explicit=answered)
        if id is not None:
            self._nodes.setdefault(id, node)

    def _answered(self, reply: str) -> tuple[int, ...]:
        node = self._nodes.get(reply)
        if node is None:
            self._builder.warn("a message answers one that does not stand before it")
            return ()
        return (node,)

    def _others(self, row: int) -> Attributes:
        columns = self._columns
        kept = columns.others(row)
        if len(columns.rows[row]) > len(columns.header) and (extra := columns.extra(row)):
            self._builder.warn("a row has more cells than the table has columns")
            kept.setdefault("extra_cells", []).extend(extra)
        return kept

    def _kind(self, word: str, attributes: Attributes) -> NodeKind:
        kind = _KINDS.get(word.casefold().replace(" ", "_"))
        if kind is None:
            attributes["kind"] = word
        return kind or "agent_message"

    def _status(self, word: str, attributes: Attributes) -> Status | None:
        status = _STATUSES.get(word.casefold())
        if status is None:
            attributes["status"] = word
        return status

    def _count(self, field: str, text: str) -> int | None:
        if text.isdecimal() and len(text) <= _MOST_DIGITS:
            return int(text)
        found = _COUNT.fullmatch(text)
        if found is None:
            self._builder.warn(f"a value of {field} that is no whole number was left out")
            return None
        return int(found[1])

    def _time(self, value: Any, attributes: Attributes) -> int | None:
        time = instant(value, self._columns.mapping)
        if time is None:
            self._builder.warn("a time that cannot be placed without doubt was kept as text")
            attributes["time"] = plain(value)
        return time

    def _set_task(self, row: int) -> None:
        builder, columns, mapping = self._builder, self._columns, self._columns.mapping
        dataset = columns.datasets[row] or mapping.dataset
        task = columns.tasks[row] or mapping.task
        if task is not None:
            known = columns.named_tasks.get((task, dataset))
            if known is None:
                set_task_from_text(builder, task, dataset=dataset)
                if builder.task is not None:
                    columns.named_tasks[task, dataset] = builder.task
            else:
                builder.task = known
        method = columns.methods[row] or mapping.method
        if method is not None:
            builder.set_method(method)
