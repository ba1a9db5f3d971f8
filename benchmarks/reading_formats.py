"""How fast each format is read, beside what decoding its bytes alone costs.

Each format's example is repeated, with fresh ids, until it makes a file of a megabyte: lines,
the items of an array, the members of an object, or the list inside the one document that
holds the messages. What cannot be repeated inside one file is copied into a folder, and what
a file costs by itself (opening it, telling its format) then counts as often as there are
copies.

The yardsticks are ``json.loads`` of the standard library and :mod:`msgspec` on the same bytes,
line by line or at once as the file is made, all of it kept; for logs, ``str.splitlines``; for
CSV, :mod:`csv`; for the ``repr`` of Python objects, :mod:`ast`; for XML, ElementTree. Parquet,
which pyarrow reads in columns, and OTLP in protobuf have no such yardstick and are left out.

Times are processor time of this one process: others on the machine hardly change them.
"""

import argparse
import ast
import csv
import gc
import io
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec

from benchmarks.page import Table
from graphstore.model import CollaborationGraph
from ingest.pipeline import ContentChoice, ReadOptions, read

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FORMATS = EXAMPLES / "formats"
MOST_TIMES = 3.0
MOST_TIMES_LOG = 10.0

_ID_KEY = re.compile(r'"(\w*?(?:[iI]d|ID|uuid|Uuid|guid))": ?"([^"\\]+)"')
_ID_OF_REPR = re.compile(r"\b(id)='([^'\\]+)'")
_NAMES_NOBODY = re.compile(r"agent|user|thread_id|app|assistant|team", re.IGNORECASE)
_LONG_ID = 16
_WAYS = {
    "log": "log",
    "csv": "CSV",
    "repr": "repr",
    "xml": "XML, several files",
    "folder": "several files",
}


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


def _repeat(holder: Any, path: list[str], ids: list[str], numbers: range) -> None:
    """Repeats the lists at a path of a document, with fresh ids."""
    for key in list(holder) if path[0] == "*" else [path[0]]:
        if len(path) > 1:
            _repeat(holder[key], path[1:], ids, numbers)
        elif isinstance(holder.get(key), list):
            text = json.dumps(holder[key])
            holder[key] = [
                item for number in numbers for item in json.loads(fresh(text, ids, number))
            ]


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


def _decoded(paths: list[Path], decode: Callable[[bytes], object]) -> list[object]:
    values = []
    for path in paths:
        data = path.read_bytes()
        try:
            values.append(decode(data))
        except ValueError:
            values += [decode(line) for line in data.splitlines() if line.strip()]
    return values


def _best(work: Callable[[], object], repeats: int) -> float:
    """The shortest of some times, in seconds: the one that others disturbed least."""
    times = []
    for _ in range(repeats):
        gc.collect()
        before = time.process_time()
        result = work()
        times.append(time.process_time() - before)
        del result
    return min(times)


def _read(place: Path, content: ContentChoice) -> tuple[int, int]:
    """Counts graphs and nodes; as in an ingest, each graph is let go once it is there."""
    graphs = nodes = 0
    for item in read(place, options=ReadOptions(content=content)):
        if isinstance(item, CollaborationGraph):
            graphs += 1
            nodes += len(item.nodes)
    if not graphs:
        raise SystemExit(f"{place}: it gives no graph")
    return graphs, nodes


@dataclass(frozen=True)
class Found:
    """One format, measured.

    Attributes:
        format: Its name.
        way: As in :class:`Input`.
        bytes: Size of the input.
        graphs: Graphs read from it.
        nodes: Nodes of those graphs.
        standard: Seconds that a bare decode of the standard library takes.
        msgspec: Seconds that :mod:`msgspec` takes; None where it is no JSON.
        kept: Seconds from the file to validated graphs, contents kept as they are.
        redacted: The same with secrets taken out.
    """

    format: str
    way: str
    bytes: int
    graphs: int
    nodes: int
    standard: float
    msgspec: float | None
    kept: float
    redacted: float

    @property
    def times(self) -> float:
        """How often the bare decode fits into reading."""
        return self.kept / self.standard

    @property
    def most(self) -> float:
        """How often it may fit in."""
        return MOST_TIMES_LOG if self.way == "log" else MOST_TIMES


def measured(format: str, folder: Path, size: int, repeats: int = 3) -> Found:
    """Makes a format's input and reads it.

    Args:
        format: One of :data:`INPUTS`.
        folder: An empty one, for the input.
        size: Bytes of the input, about.
        repeats: How often each time is taken; the shortest counts.
    """
    source = INPUTS[format]
    name = Path(source.example).name
    if source.way in ("folder", "xml"):
        content = (EXAMPLES / source.example).read_bytes()
        paths = [folder / str(number) / name for number in range(max(1, size // len(content)))]
        for path in paths:
            path.parent.mkdir()
            path.write_bytes(content)
        place = folder
    else:
        place = folder / name
        place.write_bytes(enlarged(source, size))
        paths = [place]
    yardsticks: dict[str, Callable[[], object]] = {
        "log": lambda: [path.read_text().splitlines() for path in paths],
        "csv": lambda: [list(csv.reader(io.StringIO(path.read_text()))) for path in paths],
        "repr": lambda: [ast.parse(path.read_text(), mode="eval") for path in paths],
        "xml": lambda: [ElementTree.fromstring(path.read_bytes()) for path in paths],
    }
    standard = yardsticks.get(source.way, lambda: _decoded(paths, json.loads))
    graphs, nodes = _read(place, "keep")
    return Found(
        format,
        source.way,
        sum(path.stat().st_size for path in paths),
        graphs,
        nodes,
        _best(standard, repeats),
        None
        if source.way in yardsticks
        else _best(lambda: _decoded(paths, msgspec.json.decode), repeats),
        _best(lambda: _read(place, "keep"), repeats),
        _best(lambda: _read(place, "redact"), repeats),
    )


def measure(scale: float = 1.0) -> Iterator[Table]:
    """Reads each format's input.

    Args:
        scale: Size of the inputs: 1 stands for a megabyte each.
    """
    table = Table(
        "Reading: every format beside a bare decode of its file, slowest first",
        (
            "format",
            "MB",
            "graphs",
            "nodes",
            "bare decode, ms",
            "msgspec, ms",
            "graphs, ms",
            "x bare decode",
            "x msgspec",
            "redacted too, ms",
            "x bare decode",
            "microseconds a node",
        ),
    )
    found: list[Found] = []
    for format in INPUTS:
        with tempfile.TemporaryDirectory() as folder:
            found.append(measured(format, Path(folder), int(1_000_000 * scale)))
    found.sort(key=lambda one: -one.times / one.most)
    for one in found:
        table.add(
            f"{one.format} ({_WAYS[one.way]})" if one.way in _WAYS else one.format,
            one.bytes / 1e6,
            one.graphs,
            one.nodes,
            one.standard * 1e3,
            "" if one.msgspec is None else one.msgspec * 1e3,
            one.kept * 1e3,
            one.times,
            "" if one.msgspec is None else one.kept / one.msgspec,
            one.redacted * 1e3,
            one.redacted / one.standard,
            one.kept / one.nodes * 1e6 if one.nodes else "",
        )
    within = [one.format for one in found if one.times <= one.most]
    beyond = [one.format for one in found if one.times > one.most]
    table.notes += [
        "Milliseconds of processor time. The bare decode is `json.loads` of the standard "
        "library; for logs `str.splitlines`, for CSV `csv`, for the repr of Python objects "
        "`ast`, for XML ElementTree. The time to graphs is from the closed file on: it is "
        "opened, its format is told among all, and graphs are parsed, "
        "mapped, hashed and validated, contents kept; then the same with secrets taken out, "
        "as `ingest` does by default. The inputs are the examples of this repository, repeated "
        "with fresh ids: short texts in many small records, which is the dense end of what "
        "traces hold.",
        "",
        f"Within {MOST_TIMES:g} times a bare decode ({MOST_TIMES_LOG:g} times for logs): "
        f"{', '.join(reversed(within)) or 'none'}.",
        "",
        f"Beyond: {', '.join(beyond) or 'none'}. A graph takes 50 to 100 microseconds, however "
        "small it is, and a node 5 to 10: ids, a hash of its normalized content, a look at "
        "every value, the objects themselves. A decoder written in C goes over the record of "
        "such a graph in 2 to 10. The ratio is highest where graphs or nodes are smallest, and "
        "falls as texts get longer.",
    ]
    yield table


def main() -> None:
    """Prints the table; ``--scale`` makes the inputs smaller or larger."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading_formats")
    parser.add_argument("--scale", type=float, default=1.0, help="1: a megabyte each")
    for table in measure(parser.parse_args().scale):
        print(table.markdown())


if __name__ == "__main__":
    main()
