"""Codex: what stands in a record's payload."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphstore.model import Attributes, Status
from ingest.readers.codex_records import SPAWNED, Record, Rollout
from ingest.readers.decoding import text_of

SPAWN = frozenset({"spawn_agent"})
"""Calls that start another thread."""

PROMPTS = ("message", "prompt", "items", "text")
"""Where a call that speaks to another thread keeps what it says."""

ITEMS = {
    "UserMessage": "user_message",
    "AgentMessage": "agent_message",
    "Reasoning": "agent_reasoning",
}
"""Events of items, as the events that say the same."""

CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "web_search_call": "action",
    "tool_search_call": "arguments",
    "image_generation_call": "revised_prompt",
    "mcp_tool_call": "arguments",
}
"""Response items that are calls, and where each keeps its arguments."""

_EXIT = re.compile(r"\A(?:Exit code: |Process exited with code )(-?\d+)")
_KNOWN = frozenset(
    {"type", "name", "call_id", "id", "arguments", "input", "action", "status", "role"}
    | {"content", "output", "result", "text", "message", "timestamp", "prompt"}
    | {"revised_prompt"}
)


def prompt_of(arguments: dict[str, Any]) -> str | None:
    """What a call tells another agent."""
    for name in PROMPTS:
        value = arguments.get(name)
        if isinstance(value, list):
            return "\n".join(texts_of(value)) or None
        if isinstance(value, str):
            return value
    return None


def openers_of(rollouts: list[Rollout], by_id: dict[str, Rollout]) -> dict[int, Record]:
    """The record of the call that started each thread's file."""
    calls: dict[tuple[int, str], Record] = {}
    spawned: dict[str, tuple[int, str]] = {}
    for rollout in rollouts:
        for record in rollout.records:
            payload = record.payload
            call = text_of(payload.get("call_id")) or ""
            if record.kind == "response_item" and text_of(payload.get("name")) in SPAWN:
                calls.setdefault((record.file, call), record)
            for new, by in _started(payload) if record.kind == "event_msg" else ():
                spawned.setdefault(new, (record.file, by))
                begun = by_id.get(new)
                if begun is not None:
                    begun.name = begun.name or text_of(payload.get("new_agent_nickname"))
                    begun.role = begun.role or text_of(payload.get("new_agent_role"))
            output = payload.get("output")
            if isinstance(output, str) and (record.file, call) in calls:
                for child in by_id:
                    if child in output:
                        spawned.setdefault(child, (record.file, call))
    found: dict[int, Record] = {}
    for rollout in rollouts:
        if rollout.id is None:
            continue
        place = spawned.get(rollout.id)
        parent = by_id.get(rollout.parent or "")
        if place is None and parent is not None and rollout.call is not None:
            place = (parent.file, rollout.call)
        opener = calls.get(place) if place is not None else None
        if opener is not None and opener.file != rollout.file:
            found[rollout.file] = opener
    for rollout in rollouts:
        parent = by_id.get(rollout.parent or "")
        if parent is None or parent is rollout or rollout.file in found:
            continue
        heard = _heard(rollout)
        taken = {id(record) for record in found.values()}
        for record in calls.values():
            prompt = prompt_of(arguments_of(record.payload.get("arguments")))
            if (
                record.file == parent.file
                and id(record) not in taken
                and prompt is not None
                and prompt.strip() in heard
            ):
                found[rollout.file] = record
                break
    return found


def _started(payload: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The threads that an event says a call has started, and the call."""
    item = payload.get("item")
    for about in (payload, item if isinstance(item, dict) else {}):
        call = text_of(about.get("call_id")) or text_of(about.get("id")) or ""
        for key in SPAWNED:
            named = about.get(key)
            if (
                key != "new_thread_id"
                and "spawn" not in f"{about.get('type')} {about.get('tool')}"
            ):
                continue
            for new in named if isinstance(named, list) else [named]:
                if isinstance(new, str):
                    yield new, call


def _heard(rollout: Rollout) -> set[str]:
    """What a thread's agent was told, each text once."""
    found: set[str] = set()
    for record in rollout.records:
        payload = record.payload
        if payload.get("type") == "user_message" and isinstance(payload.get("message"), str):
            found.add(payload["message"].strip())
        elif payload.get("role") == "user" and (text := content_of(payload)) is not None:
            found.add(text.strip())
    return found


def said_in(rollout: Rollout) -> Counter[tuple[str, str]]:
    """The words of a thread's response items, which events repeat."""
    said: Counter[tuple[str, str]] = Counter()
    for record in rollout.records:
        payload = record.payload
        if record.kind != "response_item":
            continue
        if payload.get("type") == "reasoning":
            said.update(("thought", text.strip()) for text in texts_of(payload.get("summary")))
            said.update(("thought", text.strip()) for text in texts_of(payload.get("content")))
        elif "role" in payload and (text := content_of(payload)) is not None:
            said[text_of(payload.get("role")) or "", text.strip()] += 1
    return said


def content_of(payload: dict[str, Any]) -> str | None:
    """A message's text; an image is named, not kept."""
    content = payload.get("content")
    if not isinstance(content, list):
        return text_of(content)
    texts = []
    for part in content:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict) and part.get("type") in ("input_image", "image"):
            texts.append("[image]")
        elif (text := text_of(part)) is not None:
            texts.append(text)
    return "\n".join(texts)


def texts_of(parts: Any) -> list[str]:
    """The texts of a list of parts."""
    if isinstance(parts, str):
        return [parts]
    if not isinstance(parts, list):
        return []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return [text for text in texts if isinstance(text, str) and text]


def arguments_of(value: Any) -> dict[str, Any]:
    """Arguments as an object; empty where they are none."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return dict(value) if isinstance(value, dict) else {}


def result_of(value: Any) -> tuple[str | None, Status | None]:
    """A result's text, and whether it says that the call failed."""
    if isinstance(value, dict):
        success = value.get("success")
        status: Status | None = None
        if isinstance(success, bool):
            status = "ok" if success else "error"
        inner = value.get("content")
        return (text_of(inner) if inner is not None else text_of(value)), status
    text = text_of(value) if not isinstance(value, list) else "\n".join(texts_of(value))
    if text is None:
        return None, None
    code: Any = None
    if found := _EXIT.search(text[:500]):
        code = int(found[1][:6])
    elif text.startswith("{"):
        about = arguments_of(text)
        metadata = about.get("metadata")
        if isinstance(metadata, dict) and isinstance(about.get("output"), str):
            code, text = metadata.get("exit_code"), about["output"]
    if isinstance(code, bool) or not isinstance(code, int):
        return text, None
    return text, "ok" if code == 0 else "error"


def status_named(value: Any) -> Status | None:
    """What a named status says of failure."""
    return "error" if value in ("failed", "error") else None


def rest_of(payload: dict[str, Any]) -> Attributes:
    """What else a payload says."""
    return {k: v for k, v in payload.items() if k not in _KNOWN and v not in (None, "", [], {})}


def plus(known: int | None, value: Any) -> int | None:
    """A sum to which only counts are added."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**62:
        return known
    return (known or 0) + value


def less_by(whole: Any, before: Any) -> Any:
    """What a running total has grown by; None where it is no count."""
    if not isinstance(whole, int):
        return None
    return whole - before if isinstance(before, int) else whole
