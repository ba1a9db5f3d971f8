"""Was every output used, and was anything said twice: node validity and content redundancy.

Source: ForestBench. It leaves open which nodes are terminal; the choices are named here.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from analytics.positions import Positions
from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph

TerminalName = Literal["answers", "last"]
TERMINALS: tuple[str, ...] = get_args(TerminalName)


@dataclass(frozen=True, slots=True)
class NodeValidity:
    """Whose output was consumed.

    Attributes:
        consumed: Non-terminal nodes with at least one outgoing edge, on any basis.
        non_terminal: Nodes that are not terminal.
    """

    consumed: int
    non_terminal: int

    @property
    def value(self) -> float | None:
        """NV, between 0 and 1; None where every node is terminal, or there is none."""
        return self.consumed / self.non_terminal if self.non_terminal else None


@dataclass(frozen=True, slots=True)
class ContentRedundancy:
    """How much content stands more than once.

    Attributes:
        distinct: Distinct hashes of normalized content.
        known: Nodes that have a content hash: |V|.
    """

    distinct: int
    known: int

    @property
    def value(self) -> float | None:
        """CR, between 0 and 1 (exclusive); None where no node has content."""
        return (self.known - self.distinct) / self.known if self.known else None


def terminal_nodes(
    graph: CollaborationGraph, terminal: TerminalName = "answers"
) -> frozenset[str]:
    """The nodes that need no consumer inside the graph.

    ``last`` is the node with the largest index: nothing could have followed it.
    ``answers`` (the default) adds the nodes that made a final proposal or the team's
    answer: these leave the graph, to a vote or to whoever asked. A node is not terminal
    merely because nobody consumed it, or node validity would always be 1; nor is an
    agent's own last action, or work that was handed in and never read would pass for used.

    Args:
        graph: A run or a decomposition.
        terminal: The reading.

    Returns:
        Ids of nodes.

    Raises:
        UsageError: There is no such reading.
    """
    if terminal not in TERMINALS:
        raise UsageError(
            f"there is no reading {terminal!r} of terminal nodes; "
            f"choose one of {', '.join(TERMINALS)}"
        )
    found = {node.id for node in graph.nodes[-1:]}
    if terminal == "answers":
        found.update(
            proposal.node
            for proposal in graph.proposals
            if proposal.node is not None and proposal.phase in ("final", "answer")
        )
    return frozenset(found)


def node_validity(
    graph: CollaborationGraph,
    terminal: TerminalName = "answers",
    *,
    positions: Positions | None = None,
) -> NodeValidity:
    """Share of non-terminal nodes with at least one outgoing edge (ForestBench, NV).

    Args:
        graph: A run or a decomposition.
        terminal: Which nodes are terminal (:func:`terminal_nodes`).
        positions: Of this graph, where they have been read; read here where None.
    """
    read = positions or Positions(graph)
    place = read.index.get
    ends = {place(node) for node in terminal_nodes(graph, terminal)}
    ends.discard(None)
    return NodeValidity(
        consumed=len(set(read.sources) - ends), non_terminal=len(read.index) - len(ends)
    )


def content_redundancy(graph: CollaborationGraph) -> ContentRedundancy:
    """1 - distinct normalized content hashes / |V| (ForestBench, CR).

    A node without content says nothing about repetition: V holds only the nodes that have
    a content hash. (Dropping contents on the way in keeps their hashes.) An empty text is a
    content like any other.

    Args:
        graph: A run or a decomposition.
    """
    hashes = [node.content_hash for node in graph.nodes if node.content_hash is not None]
    return ContentRedundancy(distinct=len(set(hashes)), known=len(hashes))
