"""Claude Code: the records of one run as threads, steps and calls.

One model response is several records, one a block, under one ``message.id``: they are one
step, and its tokens count once (the largest count, since earlier records hold partial ones).
A step follows on the results and messages between it and the step before, along
``parentUuid``; where that chain is broken, on what its agent heard since.
"""

import re
from collections import Counter
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.model import AccessMode, Attributes
from ingest.readers.claude_records import Record, blocks_of, decoded, in_order_of_files, merge
from ingest.readers.claude_spawns import SPAWNING, Spawned, name_threads, with_progress
from ingest.readers.claude_texts import queued_text, result_text
from ingest.readers.claude_usage import add_usage
from ingest.readers.decoding import text_of
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

UNKNOWN_TOOL = "unknown tool"
MAIN_AGENT = "Claude Code"

_FILE_TOOLS: dict[str, AccessMode] = {
    "Read": "read",
    "NotebookRead": "read",
    "Write": "write",
    "Edit": "write",
    "MultiEdit": "write",
    "NotebookEdit": "write",
}
_INJECTED = re.compile(r"\s*<(?:task-notification|local-command-std|bash-std|system-reminder)")
_ASKING = frozenset({"TaskOutput", "AgentOutputTool"})
"""Calls that ask what a sub-agent in the background said."""
_TAGS = re.compile(r"<(task-id|tool-use-id)>([^<]*)</")


class Threads:
    """Reads the records of one run.

    Attributes:
        items: What happened, in order.
        user: The human.
        asked: The first words of the user, None where the trace has none.
        result: The last record of a stream, which sums the run up.
        models: The models that answered, in the order of their first answer.
        others: How many records of each kind are no message.
    """

    def __init__(self, records: list[Record], builder: GraphBuilder) -> None:
        self.user = Actor("user", role="human", kind="human")
        self.items: list[Item] = []
        self.asked: str | None = None
        self.result: Record | None = None
        self.models: dict[str, None] = {}
        self.others: Counter[str] = Counter()
        self._builder = builder
        self._system = Actor("system", role="environment", kind="environment")
        self._main = Thread(Actor(MAIN_AGENT))
        self._threads: dict[str, Thread] = {}
        self._calls: dict[str, tuple[Call, Thread]] = {}
        self._steps: dict[tuple[int, str], Step] = {}
        self._parents: dict[str, str] = {}
        self._refs: dict[str, list[Heard | Call | Words]] = {}
        self._step_of: dict[str, Step] = {}
        self._returned: set[str] = set()
        self._asked_of: dict[str, str] = {}
        records = in_order_of_files(records)
        name_threads(records)
        records = with_progress(records)
        self._spawned = Spawned(records)
        self.records = merge(records, self._spawned.opener, self._spawned.closer)
        for record in self.records:
            self._read(record)
        self._settle()

    def _settle(self) -> None:
        if self._spawned.count:
            self._main.actor.role = "orchestrator"
        if any(isinstance(item, Step) and item.thread is self._main for item in self.items):
            return
        if not any(isinstance(i, Heard) and i.thread is self._main for i in self.items):
            self._builder.warn("only sub-agents' messages are in the trace")

    def _thread(self, record: Record) -> Thread:
        key = record.thread
        if key is None:
            return self._main
        if key not in self._threads:
            call = self._spawned.call_of_thread(key)
            known = self._calls.get(call) if call is not None else None
            if known is not None and known[0].opens is not None:
                self._threads[key] = known[0].opens
            else:
                agent = record.line.agent_id
                attributes: Attributes = {"agent_id": agent} if isinstance(agent, str) else {}
                self._threads[key] = Thread(
                    Actor("sub-agent", attributes=attributes), parent=self._main
                )
        return self._threads[key]

    def _read(self, record: Record) -> None:
        line = record.line
        uuid = record.uuid
        if uuid is not None and record.parent is not None:
            self._parents.setdefault(uuid, record.parent)
        match line.type:
            case "assistant":
                self._answer(record)
            case "user":
                self._user(record)
            case "system" if isinstance(line.content, str) and line.content.strip():
                self._hear(record, line.content, self._system, {"subtype": line.subtype})
            case "attachment" if queued := queued_text(line.attachment):
                self._hear(record, queued, self.user, {"queued": True})
            case "result":
                self.result = record
            case kind:
                self.others[kind if isinstance(kind, str) else "no type"] += 1

    def _user(self, record: Record) -> None:
        thread = self._thread(record)
        texts: list[str] = []
        other: list[str] = []
        returned = False
        for block in blocks_of(record.line.message):
            kind = block.get("type")
            if kind == "tool_result":
                returned = True
                self._return(record, thread, block)
            elif isinstance(block.get("text"), str):
                texts.append(block["text"])
            elif kind in ("image", "document"):
                other.append(kind)
            elif (text := text_of(block.get("text") or block)) is not None:
                texts.append(text)
        if returned and not texts and not other:
            return
        attributes: Attributes = {}
        for name, flag in (
            ("is_meta", record.line.is_meta),
            ("is_summary", record.line.is_summary),
        ):
            if flag is True:
                attributes[name] = True
        if other:
            attributes["not_text"] = other
        if not texts and not other:
            self._builder.warn("a message of the user holds no content")
        text = "\n".join(texts) if texts else None
        if thread is not self._main and self._open(record, thread, text):
            return
        if thread is self._main:
            sender = self._sender(record, text)
            if self.asked is None and text and not attributes and sender is self.user:
                self.asked = text
            self._hear(record, text, sender, attributes)
            return
        self._builder.warn(
            "what a sub-agent was told, without the call that told it, is taken for the main "
            "agent's words"
        )
        self._hear(record, text, self._main.actor, attributes, guessed=True)

    def _sender(self, record: Record, text: str | None) -> Actor:
        """Whose words stand under the user's role: the user's, the harness's, a sub-agent's."""
        if record.line.is_summary is True:
            return self._system
        if text is None or not _INJECTED.match(text):
            return self.user
        names = dict(_TAGS.findall(text))
        thread = self._threads.get(names.get("task-id", ""))
        if thread is None:
            known = self._calls.get(names.get("tool-use-id", ""))
            thread = known[0].opens if known is not None else None
        return thread.actor if thread is not None else self._system

    def _hear(
        self,
        record: Record,
        text: str | None,
        sender: Actor,
        attributes: Attributes,
        *,
        guessed: bool = False,
    ) -> None:
        heard = Heard(
            self._thread(record),
            text,
            sender,
            record.time,
            {key: value for key, value in attributes.items() if value is not None},
            "inferred" if guessed else "explicit",
        )
        self.items.append(heard)
        if record.uuid is not None:
            self._refs.setdefault(record.uuid, []).append(heard)

    def _open(self, record: Record, thread: Thread, text: str | None) -> bool:
        """Whether a sub-agent's message is the prompt of a call, which then is that message."""
        id = self._spawned.claim(record, text)
        known = self._calls.get(id) if id is not None else None
        if known is None:
            return False
        call, parent = known
        thread.parent = parent
        thread.opened_by = thread.opened_by or call
        call.opens = thread
        self.items.append(Opened(thread, call))
        if record.uuid is not None:
            self._refs.setdefault(record.uuid, []).append(call)
        return True

    def _return(self, record: Record, thread: Thread, block: dict[str, Any]) -> None:
        id = block.get("tool_use_id")
        known = self._calls.get(id) if isinstance(id, str) else None
        if known is None:
            self._builder.warn("a tool's result stands without its call")
            call = Call(UNKNOWN_TOOL, text_of(id))
            if isinstance(id, str):
                self._calls[id] = (call, thread)
            self.items.append(Step(thread, [call]))
            owner = thread
        else:
            call, owner = known
        if isinstance(id, str) and id in self._returned:
            self._builder.warn("a call's second result was kept beside the first")
            call.attributes["second_result"] = result_text(block.get("content"))
            return
        if isinstance(id, str):
            self._returned.add(id)
        text = result_text(block.get("content"))
        call.ended_at = record.time
        failed = block.get("is_error")
        call.status = "error" if failed is True else "ok" if failed is False else None
        call.result = text
        if call.opens is not None:
            self._sub_agent_returned(record, call, failed is True)
        asked = self._asked_of.get(call.id or "")
        known_thread = self._threads.get(asked) if asked is not None else None
        self.items.append(Returned(owner, call, [known_thread] if known_thread else []))
        if record.uuid is not None:
            self._refs.setdefault(record.uuid, []).append(call)

    def _sub_agent_returned(self, record: Record, call: Call, failed: bool) -> None:
        about = decoded(record.line.tool_result)
        totals = {
            name: about[name]
            for name in (
                "agentId",
                "totalTokens",
                "totalToolUseCount",
                "totalDurationMs",
                "status",
            )
            if isinstance(about.get(name), str | int | float)
        }
        if totals:
            call.attributes["sub_agent"] = totals
        if isinstance(about.get("status"), str) and about["status"].endswith("launched"):
            call.detached = True
            call.attributes["result"] = call.result
            call.result = None
        elif failed and not self._spawned.has_records(call.id):
            # The sub-agent never began: the call is one that failed.
            call.opens = None

    def _answer(self, record: Record) -> None:
        line = record.line
        thread = self._thread(record)
        message = line.message if isinstance(line.message, dict) else {}
        id = message.get("id")
        step = self._steps.get((thread_key(thread), id)) if isinstance(id, str) else None
        if step is None:
            step = Step(thread, after=self._followed(record))
            self.items.append(step)
            if isinstance(id, str):
                self._steps[thread_key(thread), id] = step
        if record.uuid is not None:
            self._step_of.setdefault(record.uuid, step)
        add_usage(step, message.get("usage"))
        model = message.get("model")
        if isinstance(model, str) and model:
            step.attributes.setdefault("model", model)
            if model != "<synthetic>":
                self.models.setdefault(model)
        blocks = blocks_of(line.message)
        if not blocks:
            self._builder.warn("an answer holds no content")
            blocks = [{"type": "text", "text": None}]
        for block in blocks:
            part = self._part(record, thread, block)
            if part is not None:
                step.parts.append(part)

    def _part(
        self, record: Record, thread: Thread, block: dict[str, Any]
    ) -> Words | Call | None:
        kind = block.get("type")
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            return self._call(record, thread, block)
        words = Words(text_of(block.get("text")), started_at=record.time)
        if record.line.is_error is True:
            words.status = "error"
        if kind in ("thinking", "redacted_thinking"):
            words.thought = True
            words.text = text_of(block.get("thinking")) or None
        elif kind != "text":
            words.text = text_of(block)
            words.attributes["block"] = text_of(kind)
        return words

    def _call(self, record: Record, thread: Thread, block: dict[str, Any]) -> Call | None:
        id = block.get("id")
        if isinstance(id, str) and id in self._calls:
            self._builder.warn("a call that stands twice was counted once")
            return None
        name = text_of(block.get("name")) or UNKNOWN_TOOL
        input = block.get("input")
        arguments = input if isinstance(input, dict) else {}
        call = Call(name, id if isinstance(id, str) else None, started_at=record.time)
        if name in _FILE_TOOLS:
            path = arguments.get("file_path") or arguments.get("notebook_path")
            if isinstance(path, str) and path:
                call.accesses.append((path, _FILE_TOOLS[name]))
        elif name in _ASKING and call.id is not None:
            asked = text_of(arguments.get("task_id")) or text_of(arguments.get("agentId"))
            if asked:
                self._asked_of[call.id] = asked
        if name in SPAWNING and isinstance(prompt := arguments.get("prompt"), str):
            call.opens = self._opened_thread(arguments, call, thread)
            call.prompt = prompt
            others = {key: value for key, value in arguments.items() if key != "prompt"}
            call.arguments = text_of(others) if others else None
        else:
            call.arguments = text_of(input)
        if call.id is not None:
            self._calls[call.id] = (call, thread)
        return call

    def _opened_thread(self, arguments: dict[str, Any], call: Call, parent: Thread) -> Thread:
        resumed = arguments.get("resume")
        if isinstance(resumed, str) and resumed in self._threads:
            return self._threads[resumed]
        kind = text_of(arguments.get("subagent_type")) or "sub-agent"
        name = arguments.get("name")
        attributes: Attributes = {}
        if isinstance(arguments.get("description"), str):
            attributes["description"] = arguments["description"]
        named = isinstance(name, str) and bool(name.strip())
        actor = Actor(
            name if named and isinstance(name, str) else kind,
            role_name=kind if named else None,
            attributes=attributes,
        )
        return Thread(actor, opened_by=call, parent=parent)

    def _followed(self, record: Record) -> list[Heard | Call | Words] | None:
        """What a step follows on: all between it and the step before, along its parents."""
        found: list[Heard | Call | Words] = []
        before: Step | None = None
        uuid = record.parent
        seen: set[str] = set()
        while uuid is not None and uuid not in seen:
            seen.add(uuid)
            if uuid in self._step_of:
                before = self._step_of[uuid]
                break
            found += [ref for ref in reversed(self._refs.get(uuid, ())) if ref not in found]
            uuid = self._parents.get(uuid)
        if before is not None and before.thread is self._thread(record):
            for part in before.parts:
                if isinstance(part, Call) and part.id in self._returned and part not in found:
                    found.append(part)
            if not found:
                return [before.parts[-1]] if before.parts else None
        found = [ref for ref in found if not _speaks_for_itself(ref)]
        return found or None


def _speaks_for_itself(ref: Heard | Call | Words) -> bool:
    """Whether a call's result is another agent's message, which comes by itself."""
    return isinstance(ref, Call) and ref.opens is not None and ref.ended_at is not None
