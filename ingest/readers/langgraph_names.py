"""Who acts in LangGraph: the agent that a checkpoint namespace names.

LangGraph runs each node in a namespace ``node:id``, and nodes of a subgraph in
``outer:id|inner:id``. A prebuilt agent is a subgraph with the nodes ``agent`` or ``model`` and
``tools``: there the agent is the node outside.
"""

from typing import Any

_INNER = frozenset(
    {
        "agent",
        "model",
        "call_model",
        "tools",
        "tool_node",
        "pre_model_hook",
        "post_model_hook",
        "generate_structured_response",
        "model_request",
    }
)
_TOOLS = frozenset({"tools", "tool_node"})
_MARKS = frozenset({"__start__", "__end__", ""})


def nodes_of(namespace: str) -> list[str]:
    """The names of the nodes in a namespace, from outside to inside, without ids."""
    return [name for part in namespace.split("|") if (name := part.split(":")[0])]


def agent_path(nodes: list[str]) -> tuple[str, ...] | None:
    """The nodes that lead to an agent; None for the tools of an agent without a name.

    Args:
        nodes: From outside to inside, see :func:`nodes_of`.
    """
    names = [name for name in nodes if name not in _MARKS and not name.isdigit()]
    # A middleware's node is called "Class.hook" and belongs to the agent around it.
    while len(names) > 1 and (names[-1] in _INNER or "." in names[-1]):
        names.pop()
    if not names or names[-1] in _TOOLS:
        return None
    return tuple(names)


def agent_of(nodes: list[str]) -> str | None:
    """The agent's name; see :func:`agent_path`."""
    path = agent_path(nodes)
    return None if path is None else path[-1]


def agent_in(metadata: dict[str, Any]) -> str | None:
    """The agent that a run's metadata name.

    Args:
        metadata: With LangGraph's keys ``langgraph_checkpoint_ns``, ``langgraph_node`` and
            ``lc_agent_name``, where it has them.
    """
    named = metadata.get("lc_agent_name")
    if isinstance(named, str) and named:
        return named
    namespace = metadata.get("langgraph_checkpoint_ns") or metadata.get("checkpoint_ns")
    if isinstance(namespace, str) and namespace:
        return agent_of(nodes_of(namespace))
    node = metadata.get("langgraph_node")
    return agent_of([node]) if isinstance(node, str) else None
