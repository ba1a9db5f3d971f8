"""What most measures ask first: that somebody has acted."""

from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph


def require_run(graph: CollaborationGraph) -> None:
    """Refuses what is no run.

    Raises:
        UsageError: The graph is a decomposition.
    """
    if graph.kind != "run":
        raise UsageError(
            f"{graph.id} is a {graph.kind}, in which nobody has acted yet: this needs a run"
        )
