"""What stands in the examples, counted without any reader, is what comes out.

Most formats have such a test beside their reader's others; here are those that have not.
Each count is a few lines over the raw file, on purpose not the reader's way of reading.
"""

import json
import re
from collections import Counter

import pytest

from graphstore.model import CollaborationGraph
from ingest.pipeline import ReadOptions, read
from tests.ingest.reading import FORMATS, tokens

TRACES = FORMATS.parent / "traces"
PLANS = FORMATS.parent / "decompositions" / "plans.jsonl"


def graphs(path):
    """The graphs of a file, its contents as they are."""
    found = read(path, options=ReadOptions(content="keep"))
    return [item for item in found if isinstance(item, CollaborationGraph)]


def load(path):
    return json.loads(path.read_bytes())


def documents(path):
    """The JSON values of a file, one after the other, however they are laid out."""
    text = path.read_text("utf-8")
    decoder = json.JSONDecoder()
    place = 0
    while (place := len(text) - len(text[place:].lstrip())) < len(text):
        value, place = decoder.raw_decode(text, place)
        yield value


@pytest.mark.parametrize("path", [*sorted(TRACES.glob("*.jsonl")), PLANS], ids=lambda p: p.name)
def test_native(path):
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(lines) > 10
    found = graphs(path)
    assert len(found) == len(lines)
    for line, graph in zip(lines, found, strict=True):
        listed = line.get("actions", []) + line.get("subtasks", [])
        assert len(graph.nodes) == len(listed)
        # Words may be laid out anew; none is lost, and the order is that of the file.
        said = [(one.get("content") or one.get("description") or "") for one in listed]
        assert [node.content or "" for node in graph.nodes] == said
        assert tokens(graph) == (
            sum(one.get("tokens_in") or 0 for one in listed),
            sum(one.get("tokens_out") or 0 for one in listed),
        )


@pytest.mark.parametrize(
    "path",
    [
        FORMATS / "whowhen-handcrafted" / "library-hours.json",
        FORMATS / "whowhen-ag2" / "bridge-length.json",
        *sorted((TRACES / "orchestrator").glob("*.json")),
    ],
    ids=lambda p: p.name,
)
def test_whowhen(path):
    (graph,) = graphs(path)
    history = load(path)["history"]
    assert [node.content for node in graph.nodes] == [entry["content"] for entry in history]


def test_worfbench():
    path = FORMATS / "worfbench" / "home.json"
    found = graphs(path)
    counted = {}
    for item in load(path):
        (answer,) = [m["content"] for m in item["conversations"] if m["role"] == "assistant"]
        listed = answer.split("Here is how")[0].split("Edge")[0]
        counted[item["id"]] = len(re.findall(r"(?m)^\d+[:.]", listed))
    assert len(found) == 2
    assert {graph.source.record: len(graph.nodes) for graph in found}.items() <= counted.items()


def test_taskmaster():
    path = FORMATS / "taskmaster" / "tasks.json"
    tasks = load(path)["master"]["tasks"]
    titles = [task["title"] for task in tasks]
    titles += [part["title"] for task in tasks for part in task.get("subtasks", [])]
    (graph,) = graphs(path)
    assert Counter(node.name for node in graph.nodes) == Counter(titles)


def test_puppeteer_steps():
    path = FORMATS / "chatdev-puppeteer" / "path_1.jsonl"
    (graph,) = graphs(path)
    assert len(graph.nodes) == len(load(path))


def test_puppeteer_log():
    text = (FORMATS / "chatdev-puppeteer" / "meta.log").read_text("utf-8")
    sequences = [line.split("->") for line in re.findall(r"Agent Sequence: (.*)", text)]
    numbers = re.findall(r"Reasoning Path: (\d+)", text)
    paths = dict(zip(numbers, sequences, strict=True))  # the last sequence of each
    # A path that was split shares its first agents with the one that it came from.
    begins = {
        tuple(sequence[: place + 1])
        for sequence in paths.values()
        for place in range(len(sequence))
    }
    (graph,) = graphs(FORMATS / "chatdev-puppeteer" / "meta.log")
    assert len(graph.nodes) == len(begins)


def test_metagpt():
    path = FORMATS / "metagpt-team" / "garden.json"
    found = re.findall(r'"id"\s*:\s*"([^"]+)",?\s*"content"', path.read_text("utf-8"))
    (graph,) = graphs(path)
    assert len(found) > len(set(found)), "a message stands in many memories"
    assert len(graph.nodes) == len(set(found))


@pytest.mark.parametrize(
    "path",
    [
        FORMATS / "otlp" / "newsroom-1.ndjson",
        FORMATS / "otlp" / "newsroom-2.json",
        TRACES / "chain.otlp.ndjson",
    ],
    ids=lambda p: p.name,
)
def test_otlp(path):
    kinds = Counter()
    used = Counter()
    for document in documents(path):
        for part in document if isinstance(document, list) else [document]:
            for resource in part["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        values = {
                            one["key"]: next(iter(one["value"].values()))
                            for one in span.get("attributes", [])
                        }
                        kind = values.get("openinference.span.kind")
                        kinds[kind] += 1
                        if kind == "LLM":
                            for name in ("llm.token_count.prompt", "gen_ai.usage.input_tokens"):
                                used["in"] += int(values.get(name, 0))
                            for name in (
                                "llm.token_count.completion",
                                "gen_ai.usage.output_tokens",
                            ):
                                used["out"] += int(values.get(name, 0))
    found = graphs(path)
    done = Counter(node.kind for graph in found for node in graph.nodes)
    assert done["tool_call"] == kinds["TOOL"]
    assert sum(done.values()) == kinds["LLM"] + kinds["TOOL"]
    read_, written = zip(*(tokens(graph) for graph in found), strict=True)
    assert (sum(read_), sum(written)) == (used["in"], used["out"])


def test_ag2_chat():
    path = FORMATS / "ag2-chat" / "boat.json"
    (graph,) = graphs(path)
    assert [node.content for node in graph.nodes] == [one["content"] for one in load(path)]


def test_chatdev_config():
    folder = FORMATS / "chatdev-config"
    phases = re.findall(r'"phase"\s*:', (folder / "ChatChainConfig.json").read_text("utf-8"))
    (graph,) = graphs(folder)
    assert len(graph.nodes) == len(phases)
    roles = load(folder / "RoleConfig.json")
    assert len(graph.organization.units) == len(roles)
