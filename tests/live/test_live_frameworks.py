"""Real frameworks run without a network, and what they wrote is read: nothing lost or doubled.

Each team is a script of its own, run by the interpreter that has its framework. Its model is
scripted, so every word that has to come out is known beforehand.
"""

import os
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphstore.model import CollaborationGraph
from graphstore.validation import validate
from ingest.pipeline import read
from tests.live.environments import install_command, python_of

TEAMS = Path(__file__).parent / "teams"


@dataclass(frozen=True)
class Expected:
    """What a team says and does.

    Attributes:
        format: The reader that has to claim its trace.
        said: Each agent's words, and each tool's results, in order.
        kinds: How many actions of each kind.
        tokens: Read and written by all model calls that the trace counts; None where the
            model counts by itself.
    """

    format: str
    said: tuple[tuple[str, str | None], ...]
    kinds: dict[str, int]
    tokens: tuple[int, int] | None


EXPECTED = {
    "langgraph": Expected(
        "langgraph-events",
        (
            ("planner", "Ask for the tide, then write."),
            ("tide", "14:20 at Elm"),
            ("clerk", "The table says 14:20 at Elm."),
            ("editor", "High tide is at 14:20."),
            ("editor", "Edited: leave at two."),
        ),
        {"agent_message": 4, "tool_call": 1},
        (2 * 5, 2 * 2),
    ),
    "autogen": Expected(
        "autogen-messages",
        (
            ("user", "What can we sow?"),
            ("planner", "Gardener, look at the soil."),
            ("soil", "The east bed is sandy."),
            ("gardener", "It is sandy."),
            ("planner", "Sow carrots. DONE"),
        ),
        {"agent_message": 4, "tool_call": 1},
        (4 * 10, 4 * 4),
    ),
    "openai_agents": Expected(
        "openai-agents-spans",
        (
            ("desk", "I hand you over."),
            ("desk", None),
            ("botanist", None),
            ("soil", "The east bed is sandy."),
            ("botanist", "Sow carrots in the east."),
        ),
        {"agent_message": 3, "tool_call": 1, "decision": 1},
        (3 * 10, 3 * 3),
    ),
    "pydantic_ai": Expected(
        "pydantic-ai",
        (
            ("user", "How many lamps has the Quay?"),
            ("agent", "I count them."),
            ("count_lamps", "4"),
            ("agent", "Four lamps."),
        ),
        {"agent_message": 3, "tool_call": 1},
        None,
    ),
    "smolagents": Expected(
        "smolagents",
        (
            ("user", "Where do I find the book on moss?"),
            ("librarian", "I ask the finder."),
            ("finder", "I know it.\nShelf 12."),
            ("librarian", "Done.\nIt is on shelf 12."),
        ),
        {"agent_message": 4, "decision": 1},
        (3 * 12, 3 * 5),
    ),
}


@pytest.mark.live
@pytest.mark.parametrize("name", EXPECTED)
def test_a_real_run_is_read_whole(name, tmp_path):
    python = python_of(name)
    if python is None:
        pytest.skip(f"{name} is not installed: {install_command(name)}")
    trace = tmp_path / "trace"
    # A proxy that nobody listens to: what asks the network fails at once.
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    run = subprocess.run(
        [python, str(TEAMS / f"{name}_team.py"), str(trace)],
        env={**os.environ, **nowhere, "PYTHONPATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    (graph,) = read(trace)
    assert isinstance(graph, CollaborationGraph), graph
    validate(graph)
    expected = EXPECTED[name]
    assert graph.source.format == expected.format
    # A helper's task is the framework's own text around the manager's words.
    said = [(node.name, node.content) for node in graph.nodes]
    if name == "smolagents":
        (told,) = [node for node in graph.nodes if node.kind == "decision"]
        assert "Where is the book on moss?" in told.content
        said.remove((told.name, told.content))
    assert said == list(expected.said)
    assert Counter(node.kind for node in graph.nodes) == expected.kinds
    if expected.tokens is not None:
        read_in = sum(node.tokens_in or 0 for node in graph.nodes)
        written = sum(node.tokens_out or 0 for node in graph.nodes)
        assert (read_in, written) == expected.tokens
