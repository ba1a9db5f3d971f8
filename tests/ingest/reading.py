"""What tests of readers share: read a content, and look at a graph by positions and names."""

from collections import Counter
from pathlib import Path
from typing import Any

from graphstore.model import CollaborationGraph, Node
from ingest.reader import ReadContext, Reader, Rejection
from ingest.registry import default_registry
from ingest.roles import RoleTable
from tests.ingest.memory_file import MemoryFile

FORMATS = Path(__file__).resolve().parents[2] / "examples" / "formats"


def read_all(
    reader: Reader, content: bytes, uri: str = "memory.json"
) -> list[CollaborationGraph | Rejection]:
    """Everything that comes out of a content, with the default roles."""
    context = ReadContext(role_of=RoleTable.default().role_of)
    return list(reader.read(MemoryFile(content, uri), context))


def read_one(reader: Reader, content: bytes) -> CollaborationGraph:
    """The one graph of a content."""
    (graph,) = read_all(reader, content)
    assert isinstance(graph, CollaborationGraph), graph
    return graph


def agents(graph: CollaborationGraph) -> list[str]:
    return [agent.name for agent in graph.agents]


def edges(graph: CollaborationGraph) -> list[tuple[int, int, str]]:
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def bases(graph: CollaborationGraph) -> dict[str, int]:
    return dict(Counter(edge.basis for edge in graph.edges))


def receivers(graph: CollaborationGraph, node: Node) -> list[str]:
    names = {agent.id: agent.name for agent in graph.agents}
    return [names[one] for one in node.recipients]


def speaker(graph: CollaborationGraph, node: Node) -> str | None:
    names = {agent.id: agent.name for agent in graph.agents}
    return None if node.agent is None else names[node.agent]


def tokens(graph: CollaborationGraph) -> tuple[int, int]:
    return (
        sum(node.tokens_in or 0 for node in graph.nodes),
        sum(node.tokens_out or 0 for node in graph.nodes),
    )


def kinds(graph: CollaborationGraph) -> dict[str, int]:
    return dict(Counter(node.kind for node in graph.nodes))


def contents(graph: CollaborationGraph) -> list[Any]:
    return [node.content for node in graph.nodes]


def claimed_by(content: bytes) -> list[str]:
    """The formats whose readers claim a content: no more than one may."""
    sample = MemoryFile(content).sample
    return [reader.format for reader in default_registry().readers() if reader.sniff(sample)]
