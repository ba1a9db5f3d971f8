"""Codex: the records of threads as steps, calls and messages.

Events repeat what the response items say: an event's words count where no response item of
the thread has them. A response is what the model wrote until something is read again; its
tokens are those of the ``token_count`` that follows, once for each new total.
"""

import re
from collections import Counter
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.model import Attributes, Role, Status
from ingest.readers.codex_payloads import (
    CALLS,
    ITEMS,
    PROMPTS,
    SPAWN,
    arguments_of,
    content_of,
    less_by,
    openers_of,
    plus,
    prompt_of,
    rest_of,
    result_of,
    said_in,
    status_named,
    texts_of,
)
from ingest.readers.codex_records import SPAWNED, Record, Rollout
from ingest.readers.decoding import text_of
from ingest.readers.merging import merged
from ingest.readers.thread_items import (
    Actor,
    Call,
    Heard,
    Item,
    Opened,
    Returned,
    Step,
    Thread,
    Words,
    thread_key,
)

MAIN_AGENT = "Codex"
UNKNOWN_TOOL = "unknown tool"
TELL = frozenset({"send_input", "send_message", "followup_task", "assign_task"})
WAIT = frozenset({"wait", "wait_agent", "close_agent"})

_INJECTED = re.compile(r"\s*(?:<[a-z_]+>|# AGENTS\.md instructions)")
_NOTIFIED = re.compile(
    r"\s*<subagent_notification>\s*(\{.*\})\s*</subagent_notification>", re.S
)
_COUNTS = ("input_tokens", "output_tokens")


class Threads:
    """Reads the threads of one run.

    Attributes:
        items: What happened, in order.
        records: In the order of the run.
        user: The human.
        asked: The user's first words.
        others: How many records of each kind are no message.
        models: The models that answered.
    """

    def __init__(self, rollouts: list[Rollout], builder: GraphBuilder) -> None:
        self.user = Actor("user", role="human", kind="human")
        self.items: list[Item] = []
        self.asked: str | None = None
        self.others: Counter[str] = Counter()
        self.models: dict[str, None] = {}
        self.termination: str | None = None
        self.tokens: tuple[int | None, int | None] = (None, None)
        self._system = Actor("system", role="environment", kind="environment")
        self._builder = builder
        self._rollouts = rollouts
        self._by_id = {r.id: r for r in rollouts if r.id is not None}
        self._threads: dict[int, Thread] = {}
        self._calls: dict[str, tuple[Call, Thread]] = {}
        self._last: dict[int, Step | None] = {}
        self._uncounted: dict[int, Step | None] = {}
        self._totals: dict[int, Any] = {}
        self._sums: dict[int, dict[str, Any]] = {}
        self._said: dict[int, Counter[tuple[str, str]]] = {}
        self._prompts: dict[int, list[Call]] = {}
        self._opener = openers_of(rollouts, self._by_id)
        for rollout in rollouts:
            self._threads[rollout.file] = self._thread(rollout)
            self._said[rollout.file] = said_in(rollout)
        for rollout in rollouts:
            parent = self._by_id.get(rollout.parent or "")
            if parent is not None and parent is not rollout:
                self._threads[rollout.file].parent = self._threads[parent.file]
        first = {r.records[0].digest: r for r in rollouts if r.records}
        # A started thread comes first where times are equal: its caller waits for it.
        ranked = sorted(rollouts, key=lambda r: (r.parent is None, r.begun or 0, r.id or ""))
        streams = [rollout.records for rollout in ranked]
        self.records = merged(
            [stream for stream in streams if stream],
            lambda record: record.time,
            lambda record: self._opener.get(
                first[record.digest].file if record.digest in first else -1
            ),
        )
        for record in self.records:
            self._read(record, self._threads[record.file])

    def _thread(self, rollout: Rollout) -> Thread:
        name = rollout.name or (MAIN_AGENT if rollout.parent is None else None)
        attributes: Attributes = {} if rollout.id is None else {"thread_id": rollout.id}
        record = self._opener.get(rollout.file)
        arguments = {} if record is None else arguments_of(record.payload.get("arguments"))
        role = rollout.role or text_of(arguments.get("agent_type"))
        name = name or text_of(arguments.get("task_name")) or role or "sub-agent"
        shared: Role | None = (
            "orchestrator" if self._opener and rollout.parent is None else None
        )
        actor = Actor(name, role_name=role, role=shared, attributes=attributes)
        return Thread(actor)

    def _read(self, record: Record, thread: Thread) -> None:
        payload = record.payload
        kind = payload.get("type")
        if record.kind == "response_item":
            if kind == "message" or (kind is None and "role" in payload):
                self._message(record, thread, text_of(payload.get("role")), content_of(payload))
            elif kind == "reasoning":
                self._think(record, thread, payload)
            elif isinstance(kind, str) and kind in CALLS:
                self._call(record, thread)
            elif isinstance(kind, str) and kind.endswith("_output"):
                self._output(record, thread)
            else:
                self.others[f"response_item {text_of(kind)}"] += 1
        elif record.kind == "event_msg":
            self._event(record, thread)
        elif record.kind == "turn_context":
            model = payload.get("model")
            if isinstance(model, str) and model:
                self.models.setdefault(model)
        elif record.kind == "compacted" and isinstance(payload.get("message"), str):
            self._message(record, thread, "system", payload["message"])
        elif record.kind == "stream":
            self._stream(record, thread)
        else:
            self.others[record.kind] += 1

    def _event(self, record: Record, thread: Thread) -> None:
        payload = record.payload
        kind = payload.get("type")
        text = text_of(payload.get("message", payload.get("text")))
        if kind == "item_completed" and isinstance(item := payload.get("item"), dict):
            # The same again as an item of its own.
            kind = ITEMS.get(text_of(item.get("type")) or "", kind)
            text = "\n".join(texts_of(item.get("content", item.get("text")))) or None
        if kind in ("user_message", "agent_message", "agent_reasoning") and text is not None:
            role = {"user_message": "user", "agent_message": "assistant"}.get(kind, "thought")
            said = self._said[record.file]
            if said[role, text.strip()]:
                said[role, text.strip()] -= 1
            elif role == "thought":
                self._words(record, thread, Words(text, True, record.time))
            else:
                self._message(record, thread, role, text)
        elif kind == "token_count":
            self._count(record)
        elif kind in ("turn_aborted", "task_complete", "turn_complete"):
            reason = text_of(payload.get("reason"))
            if thread.parent is None:
                self.termination = "completed" if kind != "turn_aborted" else reason or kind
        elif kind == "error" and text is not None:
            self._message(record, thread, "system", text)
        elif isinstance(kind, str) and kind.endswith("_end") and "exit_code" in payload:
            self._exited(payload)
        elif not any(key in payload for key in SPAWNED):
            self.others[f"event_msg {text_of(kind)}"] += 1

    def _message(
        self, record: Record, thread: Thread, role: str | None, text: str | None
    ) -> None:
        if role == "assistant":
            attributes = rest_of(record.payload) if record.kind == "response_item" else {}
            self._words(record, thread, Words(text, False, record.time, attributes))
            return
        self._last[record.file] = None
        sender = self.user if role == "user" else self._system
        attributes = {} if role in ("user", "system") else {"role": role}
        if role == "user" and text is not None:
            if self._is_prompt(thread, text):
                return
            notified = _NOTIFIED.fullmatch(text)
            if notified:
                sender = self._notifier(notified[1]) or sender
            elif _INJECTED.match(text):
                sender = self._system
            elif thread.parent is not None:
                sender = thread.parent.actor
            elif self.asked is None:
                self.asked = text
        elif thread.parent is not None and role == "user":
            sender = thread.parent.actor
        self.items.append(Heard(thread, text, sender, record.time, attributes))

    def _is_prompt(self, thread: Thread, text: str) -> bool:
        """Whether a message is what a call told the thread's agent."""
        for call in self._prompts.get(id(thread), []):
            if call.prompt is not None and call.prompt.strip() == text.strip():
                self._prompts[id(thread)].remove(call)
                self.items.append(Opened(thread, call))
                return True
        return False

    def _notifier(self, text: str) -> Actor | None:
        about = arguments_of(text)
        for name in ("agent_id", "agent_path", "thread_id"):
            rollout = self._by_id.get(text_of(about.get(name)) or "")
            if rollout is not None:
                return self._threads[rollout.file].actor
        return None

    def _words(self, record: Record, thread: Thread, words: Words) -> None:
        self._step(record, thread).parts.append(words)

    def _step(self, record: Record, thread: Thread) -> Step:
        step = self._last.get(record.file)
        if step is None:
            step = Step(thread)
            self.items.append(step)
            self._last[record.file] = step
        self._uncounted[record.file] = step
        return step

    def _think(self, record: Record, thread: Thread, payload: dict[str, Any]) -> None:
        texts = [*texts_of(payload.get("summary")), *texts_of(payload.get("content"))]
        if texts:
            self._words(record, thread, Words("\n".join(texts), True, record.time))
        else:
            self.others["encrypted reasoning"] += 1

    def _call(self, record: Record, thread: Thread) -> None:
        payload = record.payload
        kind = text_of(payload.get("type")) or ""
        name = text_of(payload.get("name")) or kind.removesuffix("_call") or UNKNOWN_TOOL
        id = text_of(payload.get("call_id")) or text_of(payload.get("id"))
        raw = payload.get(CALLS[kind])
        call = Call(
            name,
            id,
            text_of(raw),
            status=status_named(payload.get("status")),
            started_at=record.time,
            attributes=rest_of(payload),
        )
        arguments = arguments_of(raw)
        target = self._target(record, name, arguments)
        if target is not None:
            call.opens, call.detached = target, True
            if name in SPAWN:
                target.parent, target.opened_by = target.parent or thread, call
            call.prompt = prompt_of(arguments)
            call.arguments = text_of(
                {k: v for k, v in arguments.items() if k not in PROMPTS} or None
            )
            self._prompts.setdefault(thread_key(target), []).append(call)
        self._step(record, thread).parts.append(call)
        if id is not None:
            self._calls[id] = (call, thread)

    def _target(self, record: Record, name: str, arguments: dict[str, Any]) -> Thread | None:
        """The thread that a call opens or speaks to."""
        if name in SPAWN:
            for file, opener in self._opener.items():
                if opener is record:
                    return self._threads[file]
            if prompt_of(arguments) is None:
                return None
            kind = text_of(arguments.get("agent_type"))
            name = text_of(arguments.get("task_name")) or kind or "sub-agent"
            return Thread(Actor(name, role_name=kind if name != kind else None))
        if name in TELL:
            for key in ("id", "agent_id", "target", "thread_id"):
                rollout = self._by_id.get(text_of(arguments.get(key)) or "")
                if rollout is not None:
                    return self._threads[rollout.file]
        return None

    def _output(self, record: Record, thread: Thread) -> None:
        payload = record.payload
        id = text_of(payload.get("call_id")) or text_of(payload.get("id"))
        known = self._calls.get(id or "")
        self._last[record.file] = None
        raw = payload.get("output", payload.get("result", payload.get("tools")))
        text, status = result_of(raw)
        if known is None:
            self._builder.warn("a tool's result stands without its call")
            call = Call(UNKNOWN_TOOL, id, started_at=record.time)
            self.items.append(Step(thread, [call]))
            owner = thread
        else:
            call, owner = known
        if call.ended_at is not None or call.result is not None:
            call.attributes["second_result"] = text
            return
        call.ended_at = record.time
        call.status = status or call.status
        if call.detached:
            call.attributes["result"] = text
        else:
            call.result = text
        reports = []
        if call.name in WAIT and text is not None:
            reports = [
                self._threads[rollout.file]
                for id, rollout in self._by_id.items()
                if id in text and self._threads[rollout.file] is not owner
            ]
        self.items.append(Returned(owner, call, reports))

    def _exited(self, payload: dict[str, Any]) -> None:
        known = self._calls.get(text_of(payload.get("call_id")) or "")
        if known is not None and isinstance(payload["exit_code"], int):
            known[0].status = "ok" if payload["exit_code"] == 0 else "error"

    def _count(self, record: Record) -> None:
        info = record.payload.get("info")
        if not isinstance(info, dict):
            return
        total = info.get("total_token_usage")
        if total is not None and self._totals.get(record.file) == total:
            return
        self._totals[record.file] = total
        usage = info.get("last_token_usage")
        whole = info.get("total_token_usage")
        if not isinstance(usage, dict) and isinstance(whole, dict):
            before = self._sums.get(record.file, {})
            usage = {key: less_by(whole.get(key), before.get(key)) for key in _COUNTS}
        if isinstance(whole, dict):
            self._sums[record.file] = whole
        step = self._uncounted.get(record.file)
        if isinstance(usage, dict):
            if step is None:
                self._builder.warn(
                    "tokens of a response that is not in the trace were left out"
                )
                return
            step.tokens_in = plus(step.tokens_in, usage.get("input_tokens"))
            step.tokens_out = plus(step.tokens_out, usage.get("output_tokens"))
        self._uncounted[record.file] = None
        self._last[record.file] = None

    def _stream(self, record: Record, thread: Thread) -> None:
        """A line of ``codex exec --json``."""
        payload = record.payload
        kind = text_of(payload.get("type")) or ""
        item = payload.get("item")
        if kind == "turn.completed" and isinstance(usage := payload.get("usage"), dict):
            self.tokens = (
                plus(self.tokens[0], usage.get("input_tokens")),
                plus(self.tokens[1], usage.get("output_tokens")),
            )
            self.termination, self._last[record.file] = "completed", None
        elif kind in ("turn.failed", "error"):
            self.termination = "failed"
            error = payload.get("error")
            text = error.get("message") if isinstance(error, dict) else payload.get("message")
            self._message(record, thread, "system", text_of(text))
        elif kind == "item.completed" and isinstance(item, dict):
            self._item(record, thread, item)
        elif kind not in ("item.started", "item.updated"):
            self.others[kind] += 1

    def _item(self, record: Record, thread: Thread, item: dict[str, Any]) -> None:
        kind = text_of(item.get("type")) or "item"
        if kind in ("agent_message", "reasoning"):
            words = Words(text_of(item.get("text")), kind == "reasoning", record.time)
            self._words(record, thread, words)
            return
        if kind == "error":
            self._message(record, thread, "system", text_of(item.get("message")))
            return
        code = item.get("exit_code")
        status: Status | None = status_named(item.get("status"))
        if isinstance(code, int):
            status = "ok" if code == 0 else "error"
        name = text_of(item.get("tool")) or kind
        result = item.get("aggregated_output", item.get("result", item.get("error")))
        known = ("id", "type", "tool", "aggregated_output", "result", "error", "status")
        arguments = {k: v for k, v in item.items() if k not in known}
        call = Call(name, text_of(item.get("id")), text_of(arguments), text_of(result), status)
        self._step(record, thread).parts.append(call)
        self.items.append(Returned(thread, call))
        self._last[record.file] = None
