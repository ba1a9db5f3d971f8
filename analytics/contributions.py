"""Who contributed how much, and how evenly.

Source: MASBench, B.2: the entropy of the agents' final cumulative contributions.
"""

import math
from collections.abc import Sequence
from typing import Literal, get_args

from graphstore.errors import UsageError
from graphstore.model import AgentKind, CollaborationGraph, Node

Contribution = Literal["recorded", "messages", "tokens", "actions"]
CONTRIBUTIONS: tuple[str, ...] = get_args(Contribution)


def normalized_contribution_entropy(contributions: Sequence[float]) -> float | None:
    """How evenly agents contributed: entropy of the shares over ln n (MASBench, B.2).

    Args:
        contributions: One for each of the n agents, with 0 for those that gave nothing: they
            stay in the normalization. Not negative.

    Returns:
        Between 0 (also with a single contributor, and for n = 1) and 1; None where nobody
        contributed: such a run is left out.

    Raises:
        UsageError: A contribution is negative or not finite.
    """
    if not all(math.isfinite(one) and one >= 0.0 for one in contributions):
        raise UsageError("a contribution is a finite number that is not negative")
    largest = max(contributions, default=0.0)
    if largest == 0.0:
        return None
    # Scaled, since the sum of finite numbers may not be finite.
    scaled = [one / largest for one in contributions]
    total = math.fsum(scaled)
    shares = [share for one in scaled if (share := one / total) > 0.0]
    if len(shares) == 1:
        return 0.0
    entropy = -math.fsum([share * math.log(share) for share in shares])
    return min(1.0, max(0.0, entropy / math.log(len(contributions))))


def contributions(
    graph: CollaborationGraph,
    measure: Contribution,
    *,
    messages: Sequence[Node] | None,
    agent_kinds: Sequence[AgentKind] = ("agent",),
    name: str = "contribution",
) -> dict[str, float | None]:
    """What each agent contributed, by agent id; silent agents included.

    Args:
        graph: A run.
        measure: ``recorded`` reads the attribute ``name`` of each agent. The others stand in
            for it: ``messages`` sent, ``tokens`` written, ``actions`` done.
        messages: The transmitted messages; None where they are not known.
        agent_kinds: Whose contributions count.
        name: Of the attribute.

    Returns:
        None for an agent whose contribution is not known.
    """
    agents = [agent for agent in graph.agents if agent.kind in agent_kinds]
    if measure == "recorded":
        return {agent.id: _number(agent.attributes.get(name)) for agent in agents}
    if measure == "messages" and messages is None:
        return dict.fromkeys([agent.id for agent in agents])
    given: dict[str, float | None] = {agent.id: 0.0 for agent in agents}
    for node in graph.nodes if messages is None or measure != "messages" else messages:
        if node.agent is None or node.agent not in given:
            continue
        before = given[node.agent]
        amount = node.tokens_out if measure == "tokens" else 1
        given[node.agent] = None if before is None or amount is None else before + amount
    return given


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
