"""Agno: the parts of a run."""

import json
from typing import Any

from ingest.readers.decoding import text_of
from ingest.readers.instants import from_seconds
from ingest.readers.openai_calls import text_of_content

Record = dict[str, Any]


def is_run(value: Any) -> bool:
    """Whether a JSON value is a run."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("run_id"), str)
        and any(key in value for key in ("messages", "content", "member_responses", "input"))
        and any(
            value.get(f"{kind}_{part}") is not None
            for kind in ("agent", "team", "workflow")
            for part in ("id", "name")
        )
    )


def messages_of(run: Record) -> list[Any]:
    """A run's messages; where it keeps none, those that its tools and its content stand for."""
    messages = run.get("messages")
    if isinstance(messages, list) and messages:
        return messages
    tools = run.get("tools")
    found: list[Any] = []
    for number, tool in enumerate(tools if isinstance(tools, list) else []):
        if not isinstance(tool, dict):
            continue
        id = text_of(tool.get("tool_call_id")) or f"tool {number}"
        name, arguments = tool.get("tool_name"), tool.get("tool_args")
        call = {"id": id, "name": name, "arguments": arguments}
        found.append({"role": "assistant", "tool_calls": [call]})
        if tool.get("result") is not None:
            found.append(
                {
                    "role": "tool",
                    "tool_call_id": id,
                    "tool_call_error": tool.get("tool_call_error"),
                    "content": tool["result"],
                }
            )
    if found and run.get("content"):
        found.append(
            {
                "role": "assistant",
                "content": text_of(run["content"]),
                "created_at": run.get("created_at"),
            }
        )
    return found


def asked_of(run: Record) -> str | None:
    """What a run was given to do."""
    given = run.get("input")
    if isinstance(given, str) and given.startswith("{"):
        given = arguments_of(given) or given
    if isinstance(given, dict) and "input_content" in given:
        given = given["input_content"]
    return text_of_content(given)


def names_of(run: Record) -> set[str]:
    """An agent's or team's id and name, and the name as an id."""
    found = {text_of(run.get(f"{k}_{p}")) for k in ("agent", "team") for p in ("id", "name")}
    names = {name for name in found if name}
    return names | {name.lower().replace(" ", "-") for name in names}


def executions_of(run: Record) -> dict[str, Record]:
    """What a run says of its calls, by their ids; the first counts of those with one id."""
    found: dict[str, Record] = {}
    tools = run.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        id = tool.get("tool_call_id") if isinstance(tool, dict) else None
        if isinstance(id, str):
            found.setdefault(id, tool)
    return found


def arguments_of(value: Any) -> Record:
    """Arguments as an object; empty where they are none."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def time_of(record: Record) -> int | None:
    """When a run or message was made."""
    return from_seconds(record.get("created_at"))


def count_of(value: Any) -> int | None:
    """A count, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**60 else None
