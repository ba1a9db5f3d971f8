"""Inputs in the shape of every format: the examples of this repository, made larger.

Each example is repeated, with fresh ids and later times, until it makes a file of the wanted
size: lines, the items of an array, the members of an object, or the list inside the one
document that holds the messages. What cannot be repeated inside one file is copied into a
folder, and what a file costs by itself (opening it, telling its format) then counts as often
as there are copies.
"""

import json
import re
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

_ID_KEY = re.compile(r'"(\w*?(?:[iI]d|ID|uuid|Uuid|guid))": ?"([^"\\]+)"')
_ID_OF_REPR = re.compile(r"\b(id)='([^'\\]+)'")
_NAMES_NOBODY = re.compile(r"agent|user|thread_id|app|assistant|team", re.IGNORECASE)
_DAY = re.compile(r'"(\d{4}-\d\d-\d\d)T')
_LONG_ID = 16


@dataclass(frozen=True)
class Input:
    """How a format's example is made larger.

    Attributes:
        example: The file.
        lists: Where in the document the lists stand that are repeated, keys with dots
            between them and ``*`` for each; empty for lines, or the items of an array.
        way: ``json`` repeats records or lists, ``members`` the members of an object,
            ``log``, ``csv`` and ``repr`` the text, ``xml`` and ``folder`` the file.
    """

    example: str
    lists: tuple[str, ...] = ()
    way: str = "json"


INPUTS: dict[str, Input] = {
    "native": Input("traces/debate.jsonl"),
    "otlp": Input("formats/otlp/newsroom-1.ndjson"),
    "whowhen-handcrafted": Input(
        "formats/whowhen-handcrafted/library-hours.json", ("history",)
    ),
    "whowhen-ag2": Input("formats/whowhen-ag2/bridge-length.json", ("history",)),
    "worfbench": Input("formats/worfbench/home.json"),
    "taskmaster": Input("formats/taskmaster/tasks.json", way="members"),
    "langsmith": Input("formats/langsmith/harbour.json", ("post", "patch")),
    "openai-agents-spans": Input("formats/openai-agents-spans/garden.jsonl"),
    "openai-agents-runstate": Input(
        "formats/openai-agents-runstate/garden.json", ("generated_items", "model_responses")
    ),
    "langgraph-events": Input("formats/langgraph-events/harbour.jsonl"),
    "langgraph-debug": Input("formats/langgraph-debug/harbour.jsonl"),
    "langgraph-checkpoints": Input("formats/langgraph-checkpoints/harbour.jsonl"),
    "pydantic-ai": Input("formats/pydantic-ai/lamps.json"),
    "smolagents": Input("formats/smolagents/shelves.json", ("*",)),
    "langfuse": Input("formats/langfuse/bench-finder.trace.json", ("observations",)),
    "chatdev-log": Input("formats/chatdev-log/timetable.log", way="log"),
    "chatdev-puppeteer": Input("formats/chatdev-puppeteer/path_1.jsonl"),
    "massgen": Input("formats/massgen/tower.json", ("agent_outputs.*", "orchestrator_events")),
    "metagpt-team": Input(
        "formats/metagpt-team/garden.json",
        ("env.history.storage", "env.roles.*.rc.memory.storage"),
    ),
    "dylan": Input("formats/dylan/jugs_test_2.json"),
    "agentverse": Input("formats/agentverse/results.jsonl"),
    "chatdev-config": Input("formats/chatdev-config/ChatChainConfig.json", way="folder"),
    "marble": Input("formats/marble/market.jsonl"),
    "autogen-messages": Input("formats/autogen-messages/garden.stream.jsonl"),
    "autogen-taskresult": Input("formats/autogen-taskresult/garden.txt", way="repr"),
    "autogen-console": Input("formats/autogen-console/bakery.txt", way="log"),
    "adk-session": Input("formats/adk-session/harbour.session.json", ("events",)),
    "tau-bench": Input("formats/tau-bench/passes.json"),
    "swe-agent": Input("formats/swe-agent/lamp.traj", ("trajectory", "history")),
    "ag2-channel": Input("formats/ag2-channel/tea.wal.jsonl"),
    "ag2-chat": Input("formats/ag2-chat/trail.json", ("chat_history",)),
    "messages-table": Input("formats/messages-table/stage.csv", way="csv"),
    "claude-code": Input("formats/claude-code/bakery.jsonl"),
    "codex": Input("formats/codex/birds.jsonl"),
    "taskbench": Input("formats/taskbench/requests.jsonl"),
    "hugginggpt": Input("formats/hugginggpt/answers.json"),
    "beads": Input("formats/beads/issues.jsonl"),
    "inspect-ai": Input("formats/inspect-ai/rain.json", ("samples",)),
    "wfformat": Input(
        "formats/wfformat/honey.json",
        (
            "workflow.specification.tasks",
            "workflow.specification.files",
            "workflow.execution.tasks",
        ),
    ),
    "mac-bench": Input("formats/mac-bench/library.jsonl"),
    "agno": Input("formats/agno/harbour.json", ("messages", "member_responses")),
    "crewai-events": Input("formats/crewai-events/harbour.jsonl"),
    "openmas-gcom": Input("formats/openmas-gcom/runs.jsonl"),
    "camel-memory": Input("formats/camel-memory/reader.json"),
    "llamaindex-events": Input("formats/llamaindex-events/harbour.jsonl"),
    "a2a": Input("formats/a2a/lantern.jsonl"),
    "masgraph-json": Input("formats/masgraph-json/evening.json", way="folder"),
    "masgraph-graphml": Input("formats/masgraph-graphml/evening.graphml", way="xml"),
    "masgraph-gexf": Input("formats/masgraph-gexf/evening.gexf", way="xml"),
}


def ids_in(text: str) -> list[str]:
    """What stands under keys such as ``id``, ``run_id`` or ``parentUuid``, but for agents.

    Args:
        text: JSON, or the ``repr`` of Python objects.
    """
    found = {*_ID_KEY.findall(text), *_ID_OF_REPR.findall(text)}
    return sorted({known for key, known in found if not _NAMES_NOBODY.search(key)})


def fresh(text: str, ids: list[str], number: int) -> str:
    """A text in which each of some ids is another one: the same for the same number."""
    for known in ids:
        if len(known) >= _LONG_ID:
            text = text.replace(known, f"{number:08x}{known[8:]}")
        else:
            text = text.replace(f'"{known}"', f'"{known}-{number}"')
    return text


def enlarged(source: Input, size: int) -> bytes:
    """The content of a file of about that many bytes, in the shape of an example."""
    text = (EXAMPLES / source.example).read_text()
    numbers = range(max(1, size // len(text.encode())))
    if source.way in ("log", "csv", "repr"):
        return _repeated_text(source.way, text, numbers).encode()
    ids = ids_in(text)
    try:
        document = json.loads(text)
    except ValueError:
        return "".join(fresh(text.strip(), ids, number) + "\n" for number in numbers).encode()
    if source.way == "members":
        members = {
            f"{key} {number}": value for number in numbers for key, value in document.items()
        }
        return json.dumps(members).encode()
    if not source.lists:
        items = document if isinstance(document, list) else [document]
        listed = json.dumps(items)[1:-1]
        return f"[{', '.join(fresh(listed, ids, number) for number in numbers)}]".encode()
    for path in source.lists:
        _repeat(document, path.split("."), ids, numbers)
    return json.dumps(document).encode()


def made_input(source: Input, folder: Path, size: int) -> list[Path]:
    """Writes an example, made larger, as the files of a folder.

    Args:
        source: The example.
        folder: An empty one.
        size: Bytes of all files, about.
    """
    name = Path(source.example).name
    if source.way not in ("folder", "xml"):
        (folder / name).write_bytes(enlarged(source, size))
        return [folder / name]
    content = (EXAMPLES / source.example).read_bytes()
    paths = [folder / str(number) / name for number in range(max(1, size // len(content)))]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(content)
    return paths


def _repeat(holder: Any, path: list[str], ids: list[str], numbers: range) -> None:
    """Repeats the lists at a path of a document, with fresh ids."""
    for key in list(holder) if path[0] == "*" else [path[0]]:
        if len(path) > 1:
            _repeat(holder[key], path[1:], ids, numbers)
        elif isinstance(holder.get(key), list):
            text = json.dumps(holder[key])
            holder[key] = [
                item
                for number in numbers
                for item in json.loads(_later(fresh(text, ids, number), number))
            ]


def _later(text: str, days: int) -> str:
    """JSON with its ISO times so many days later: what is repeated does not overlap."""

    def later(found: re.Match[str]) -> str:
        day = date.fromisoformat(found[1]) + timedelta(days=days)
        return f'"{day.isoformat()}T'

    return _DAY.sub(later, text)


def _repeated_text(way: str, text: str, numbers: range) -> str:
    if way == "csv":
        # The first column names the run.
        head, rows = text.split("\n", 1)
        numbered = (
            re.sub("^(one|two),", rf"\1 {number},", rows, flags=re.M) for number in numbers
        )
        return "\n".join([head, "".join(numbered)])
    if way == "repr":
        start, end = text.index("[") + 1, text.rindex("]")
        ids = ids_in(text)
        messages = ", ".join(fresh(text[start:end], ids, number) for number in numbers)
        return text[:start] + messages + text[end:]
    return text * len(numbers)
