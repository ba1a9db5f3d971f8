"""How fast files become graphs, beside what decoding their JSON alone costs.

Three inputs, made from a seed: OTLP with long contents (a model's reports, with the prompts
that led to them), OTLP with many small spans (agents and tools at work), and masgraph's own
JSONL. Each is read as ``masgraph ingest`` reads it, with secrets taken out, up to the
validated graph; nothing is stored. The yardsticks are :mod:`msgspec`'s decoding of the same
bytes line by line, all of it kept: without types (dicts and lists), the same with the garbage
collector off (most of the first is the collector looking at small dicts), and with the
reader's own types, which skip what they do not name.

Times are processor time of this one process: others on the machine hardly change them.
"""

import argparse
import gc
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.memory import peak_of_this_process
from benchmarks.page import Table
from graphstore.model import CollaborationGraph
from ingest.pipeline import ContentChoice, ReadOptions, read
from ingest.readers import native_records, otlp_wire

SEED = 20_260_101
_START = 1_767_225_600_000_000_000
_WORDS = re.findall(
    r"\w+",
    "the a of to and in is that for it with as on be at by this from or which one two plan "
    "step result team report harbour crane ship cargo table list check compare answer value "
    "total price hour route delay weather contract supplier quality risk budget summary first "
    "second because therefore however between after before under over each every open closed "
    "question reason evidence source draft review change version note number percent",
)
_AGENTS = ("Planner", "Researcher", "Analyst", "Writer", "Critic")
_TOOLS = ("search", "calculator", "read_file", "run_tests")


def _text(random_: random.Random, length: int) -> str:
    """Prose of about that many characters, with what JSON has to escape and some accents."""
    parts: list[str] = []
    size = 0
    while size < length:
        words = random_.choices(_WORDS, k=random_.randint(6, 18))
        sentence = " ".join(words).capitalize()
        match random_.randrange(12):
            case 0:
                sentence += f' – "{words[0]}" at {random_.randint(1, 99)}%'
            case 1:
                sentence += f": see https://example.org/{words[1]}/{random_.randint(1, 9999)}"
            case 2:
                sentence += f" (x = {random_.randint(1, 999)})"
        parts.append(sentence + (".\n" if random_.random() < 0.2 else "."))
        size += len(sentence) + 2
    return " ".join(parts)[:length]


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    boxed = []
    for key, value in values.items():
        name = {int: "intValue", float: "doubleValue"}.get(type(value), "stringValue")
        boxed.append({"key": key, "value": {name: str(value) if type(value) is int else value}})
    return boxed


def _span(
    random_: random.Random,
    trace: str,
    parent: str | None,
    name: str,
    start: int,
    values: dict[str, Any],
) -> dict[str, Any]:
    span: dict[str, Any] = {"traceId": trace, "spanId": f"{random_.getrandbits(64):016x}"}
    if parent is not None:
        span["parentSpanId"] = parent
    span |= {
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(_START + start * 1_000_000),
        "endTimeUnixNano": str(_START + (start + random_.randint(1, 900)) * 1_000_000),
        "attributes": _attributes(values),
        "status": {"code": 1},
    }
    return span


def long_spans(random_: random.Random) -> Iterator[list[dict[str, Any]]]:
    """Traces of spans of about ten kilobytes: instructions beside what was written."""
    while True:
        trace = f"{random_.getrandbits(128):032x}"
        goal = _text(random_, 500)
        root = _span(
            random_,
            trace,
            None,
            "pipeline",
            0,
            {"openinference.span.kind": "CHAIN", "user_goal": goal},
        )
        spans = [root]
        for step in range(10):
            said = {
                "openinference.span.kind": "LLM",
                "gen_ai.system": "example",
                "gen_ai.request.model": "example-large",
                "gen_ai.operation.name": "chat",
                "team.step_type": "draft",
                "team.step_name": f"Step {step}: {_text(random_, 60)}",
                "team.instructions": _text(random_, 5_000),
                "team.criteria": _text(random_, 280),
                "team.goal": goal,
                "gen_ai.usage.input_tokens": random_.randint(500, 3_000),
                "gen_ai.usage.output_tokens": random_.randint(100, 900),
                "gen_ai.response.content": _text(random_, 3_200),
            }
            name = f"llm.write.step_{step}"
            start = 1_000 * (step + 1)
            spans.append(_span(random_, trace, root["spanId"], name, start, said))
        yield spans


def short_spans(random_: random.Random) -> Iterator[list[dict[str, Any]]]:
    """Traces of spans with about 200 bytes of content: agents that write and call tools."""
    while True:
        trace = f"{random_.getrandbits(128):032x}"
        root = _span(
            random_,
            trace,
            None,
            "team.run",
            0,
            {"openinference.span.kind": "CHAIN", "input.value": _text(random_, 200)},
        )
        spans = [root]
        moment = 0
        for _ in range(8):
            name = random_.choice(_AGENTS)
            moment += 1_000
            agent = _span(
                random_,
                trace,
                root["spanId"],
                f"invoke_agent {name}",
                moment,
                {"openinference.span.kind": "AGENT", "agent.name": name},
            )
            spans.append(agent)
            for call in range(random_.randint(1, 3)):
                moment += 1_000
                call_id = f"call_{random_.getrandbits(48):012x}"
                tool = random_.choice(_TOOLS)
                said = {
                    "openinference.span.kind": "LLM",
                    "llm.model_name": "example-small",
                    "gen_ai.usage.input_tokens": random_.randint(50, 900),
                    "gen_ai.usage.output_tokens": random_.randint(10, 200),
                    "llm.input_messages.0.message.role": "user",
                    "llm.input_messages.0.message.content": _text(random_, 200),
                    "llm.output_messages.0.message.role": "assistant",
                    "llm.output_messages.0.message.content": _text(random_, 200),
                }
                if call == 0:
                    prefix = "llm.output_messages.0.message.tool_calls.0.tool_call."
                    said[prefix + "id"] = call_id
                    said[prefix + "function.name"] = tool
                parent = agent["spanId"]
                spans.append(_span(random_, trace, parent, "chat", moment, said))
                if call == 0:
                    moment += 1_000
                    said = {
                        "openinference.span.kind": "TOOL",
                        "tool.name": tool,
                        "tool_call.id": call_id,
                        "input.value": f'{{"query": "{_text(random_, 30)}"}}',
                        "output.value": _text(random_, 200),
                    }
                    spans.append(_span(random_, trace, parent, tool, moment, said))
        yield spans


def write_otlp(
    path: Path, traces: Iterator[list[dict[str, Any]]], size: int, per_line: int = 512
) -> int:
    """Writes export requests, one a line, until a file has that many bytes; counts spans."""
    written = count = 0
    with path.open("wb") as file:
        while written < size:
            batch: list[dict[str, Any]] = []
            while len(batch) < per_line:
                batch.extend(next(traces))
            line = msgspec.json.encode(
                {
                    "resourceSpans": [
                        {
                            "resource": {"attributes": _attributes({"service.name": "team"})},
                            "scopeSpans": [
                                {
                                    "scope": {"name": "openinference.instrumentation.example"},
                                    "spans": batch,
                                }
                            ],
                        }
                    ]
                }
            )
            written += file.write(line + b"\n")
            count += len(batch)
    return count


def write_native(path: Path, random_: random.Random, actions: int, per_run: int = 25) -> int:
    """Writes runs of masgraph's own format; counts actions."""
    count = 0
    with path.open("wb") as file:
        while count < actions:
            number = count // per_run
            listed = []
            for position in range(per_run):
                agent = random_.choice(_AGENTS)
                others = [name for name in _AGENTS if name != agent]
                action: dict[str, Any] = {
                    "name": agent,
                    "agent": agent,
                    "content": _text(random_, random_.randint(120, 420)),
                    "round": position // 5,
                    "started_at": _START + position * 1_000_000_000,
                    "ended_at": _START + position * 1_000_000_000 + 900_000_000,
                    "tokens_in": random_.randint(50, 900),
                    "tokens_out": random_.randint(10, 200),
                    "to": random_.sample(others, random_.randint(1, 3)),
                }
                if position % 3 == 0:
                    action["consumes"] = [str(place) for place in range(position)][-3:]
                if position % 7 == 0:
                    action |= {"kind": "tool_call", "attributes": {"exit_code": 0}}
                listed.append(action)
            record = {
                "masgraph": 1,
                "kind": "run",
                "id": f"run-{number}",
                "task": {"name": f"task-{number % 50}", "dataset": "benchmark"},
                "method": {"name": "team"},
                "agents": [{"name": name, "role": name.lower()} for name in _AGENTS],
                "outcome": {"success": number % 2 == 0, "answer": str(number)},
                "actions": listed,
            }
            file.write(msgspec.json.encode(record) + b"\n")
            count += per_run
    return count


def _decoded(path: Path, decode: Callable[[bytes], object]) -> list[object]:
    with path.open("rb") as file:
        return [decode(line) for line in file]


@dataclass(frozen=True)
class Reading:
    """One input, measured.

    Attributes:
        name: Of the input.
        bytes: Its size.
        untyped: Seconds that decoding to dicts and lists takes.
        uncollected: The same without garbage collection.
        typed: Seconds that decoding to the reader's types takes.
        graphs: Seconds from the file to validated graphs, contents kept as they are.
        redacted: The same with secrets taken out, as an ingest does by default.
        nodes: Nodes of those graphs.
        peak: MiB that a process of its own holds at most while it reads the file.
    """

    name: str
    bytes: int
    untyped: float
    uncollected: float
    typed: float
    graphs: float
    redacted: float
    nodes: int
    peak: float


def _best(work: Callable[[], object], repeats: int, *, collect: bool = True) -> float:
    """The shortest of some times, in seconds: the one that others disturbed least."""
    times = []
    for _ in range(repeats):
        gc.collect()
        if not collect:
            gc.disable()
        try:
            before = time.process_time()
            result = work()
            times.append(time.process_time() - before)
        finally:
            gc.enable()
        del result
    return min(times)


def _nodes(path: Path, content: ContentChoice = "redact") -> int:
    """Reads a file as an ingest does: each graph is let go once it is there."""
    count = 0
    for item in read(path, options=ReadOptions(content=content)):
        if not isinstance(item, CollaborationGraph):
            raise SystemExit(f"{path}: {item.reason}")
        count += len(item.nodes)
    return count


def timed(name: str, path: Path, typed: Any, repeats: int = 3) -> Reading:
    """Measures one file.

    Args:
        name: Of the input.
        path: The file: one JSON document a line.
        typed: The reader's decoder.
        repeats: How often each time is taken; the shortest counts.
    """
    untyped = msgspec.json.Decoder()
    return Reading(
        name,
        path.stat().st_size,
        _best(lambda: _decoded(path, untyped.decode), repeats),
        _best(lambda: _decoded(path, untyped.decode), repeats, collect=False),
        _best(lambda: _decoded(path, typed.decode), repeats),
        _best(lambda: _nodes(path, "keep"), repeats),
        _best(lambda: _nodes(path), repeats),
        _nodes(path),
        peak_memory(path),
    )


def peak_memory(path: Path) -> float:
    """MiB that a process holds at most while it reads a file, the interpreter included."""
    code = "import sys; from benchmarks import reading; reading._tell_peak(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def _tell_peak(path: str) -> None:
    _nodes(Path(path))
    print(peak_of_this_process())


def measure(scale: float = 1.0) -> Iterator[Table]:
    """Makes the inputs and reads them.

    Args:
        scale: Size of the inputs: 1 stands for 50, 50 and 100 MB.
    """
    table = Table(
        "Reading: from a file to validated graphs",
        (
            "input",
            "MB",
            "nodes",
            "untyped decode, s",
            "same without gc, s",
            "typed decode, s",
            "graphs, s",
            "x untyped",
            "x without gc",
            "x typed",
            "redacted too, s",
            "x untyped",
            "nodes/s",
            "peak MiB",
        ),
        notes=[
            "Seconds of processor time. `msgspec` decodes line by line and keeps all: to dicts "
            "and lists (the bare decode), the same with the garbage collector off, and to the "
            "reader's types. Graphs are parsed, mapped, hashed and validated, and let go one "
            "by one; then the same with secrets taken out, as `ingest` does by default."
        ],
    )
    with tempfile.TemporaryDirectory() as folder:
        long_, short, native = (Path(folder) / f"{place}.jsonl" for place in range(3))
        size = int(50_000_000 * scale)
        write_otlp(long_, long_spans(random.Random(SEED)), size)
        write_otlp(short, short_spans(random.Random(SEED)), size)
        write_native(native, random.Random(SEED), int(200_000 * scale))
        for name, path, decoder in (
            ("OTLP, long contents", long_, otlp_wire.DECODER),
            ("OTLP, small spans", short, otlp_wire.DECODER),
            ("masgraph JSONL", native, native_records.decoder),
        ):
            found = timed(name, path, decoder)
            table.add(
                name,
                found.bytes / 1e6,
                found.nodes,
                found.untyped,
                found.uncollected,
                found.typed,
                found.graphs,
                found.graphs / found.untyped,
                found.graphs / found.uncollected,
                found.graphs / found.typed,
                found.redacted,
                found.redacted / found.untyped,
                found.nodes / found.redacted,
                found.peak,
            )
    yield table


def main() -> None:
    """Prints the table; ``--scale`` makes the inputs smaller or larger."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="1: 50, 50 and 100 MB")
    for table in measure(parser.parse_args().scale):
        print(table.markdown())


if __name__ == "__main__":
    main()
