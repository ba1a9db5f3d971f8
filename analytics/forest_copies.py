"""Which graphs are copies of each other: the same structure with the same contents."""

from typing import Any

from graphstore.identity import canonical_json, digest
from graphstore.model import SUBTASK_KINDS, CollaborationGraph, Node

HASH_DIGITS = 32


GLANCED_NODES = 8


def glance(graph: CollaborationGraph) -> str:
    """What is read of a graph before its signature: copies never differ in it.

    Sizes, the last content, and initials of the roles of a few nodes: a hundredth of the
    time that a signature takes, and enough to tell nearly all graphs from all members.
    """
    nodes = graph.nodes
    if not nodes:
        return "0"
    some = "".join([node.role[0] for node in nodes[:: len(nodes) // GLANCED_NODES + 1]])
    last = nodes[-1].content_hash
    return (
        f"{len(nodes)}.{len(graph.edges)}.{len(graph.couplings)}."
        f"{'-' if last is None else last[:8]}.{some}"
    )


def signature(graph: CollaborationGraph) -> str:
    """Hash of a graph's structure and content: two graphs with one signature are copies.

    What counts: kind, role and content of each node in its order; who acted and who received,
    by the order of first appearance; containment, edges and couplings; artifacts and accesses;
    the titles of subtasks and groups. What does not: ids, names of agents, times, tokens,
    outcomes, how an edge is known.

    Returns:
        32 hexadecimal digits, a dot, and :func:`glance`.
    """
    index = {node.id: place for place, node in enumerate(graph.nodes)}
    agents: dict[str, int] = {}
    resources: dict[str, int] = {}

    def number(seen: dict[str, int], name: str) -> int:
        return seen.setdefault(name, len(seen))

    def described(node: Node) -> list[Any]:
        return [
            node.kind,
            node.role,
            node.name if node.kind in SUBTASK_KINDS else None,
            node.content_hash,
            None if node.agent is None else number(agents, node.agent),
            sorted([number(agents, one) for one in node.recipients]),
            None if node.parent is None else index[node.parent],
            [[one.name, one.type] for one in node.inputs],
            [[one.name, one.type] for one in node.outputs],
            [[number(resources, one.resource), one.mode] for one in node.accesses],
        ]

    nodes = [described(node) for node in graph.nodes]
    edges = sorted([index[edge.source], index[edge.target]] for edge in graph.edges)
    pairs = sorted([index[one.source], index[one.target]] for one in graph.couplings)
    whole = digest(canonical_json([graph.kind, nodes, edges, pairs]), size=HASH_DIGITS // 2)
    return f"{whole}.{glance(graph)}"


def glance_of(signature: str) -> str:
    """The :func:`glance` that a signature ends with."""
    return signature[HASH_DIGITS + 1 :]
