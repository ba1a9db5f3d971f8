"""A graph's actions by position: read once, and shared by all metrics of one run."""

from analytics.similarity.outline import levels
from graphstore.model import CollaborationGraph


class Positions:
    """Who acted, and where edges lead, without ids.

    Every metric of a run asks for some of this. Whoever wants several of them makes it once
    and hands it to each.

    Args:
        graph: A run or a decomposition, in canonical order as every graph is.

    Attributes:
        index: The position of each node, by id.
        agents: For each node, the id of the agent that acted; None where nobody owns it.
        sources: For each edge, the position of the node whose output was consumed.
        targets: For each edge, the position of the node that consumed it.
    """

    __slots__ = ("_fullness", "agents", "index", "sources", "targets")

    def __init__(self, graph: CollaborationGraph) -> None:
        nodes, edges = graph.nodes, graph.edges
        self.index = index = {node.id: place for place, node in enumerate(nodes)}
        self.agents = [node.agent for node in nodes]
        self.sources = [index[edge.source] for edge in edges]
        self.targets = [index[edge.target] for edge in edges]
        self._fullness: list[int] | None = None

    @property
    def fullness(self) -> list[int]:
        """Number of nodes on each level (:func:`analytics.similarity.outline.levels`)."""
        if self._fullness is None:
            found = levels(len(self.agents), zip(self.sources, self.targets, strict=True))
            self._fullness = [0] * (max(found, default=-1) + 1)
            for level in found:
                self._fullness[level] += 1
        return self._fullness

    @property
    def depth(self) -> int:
        """Nodes on the longest path; 0 without nodes."""
        return len(self.fullness)

    @property
    def width(self) -> int:
        """Nodes on the fullest level; 0 without nodes."""
        return max(self.fullness, default=0)

    @property
    def active_agents(self) -> int:
        """Number of agents that performed at least one action."""
        active = set(self.agents)
        active.discard(None)
        return len(active)
