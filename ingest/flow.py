"""Who consumed what: the rules that make edges.

Source: the unified collaboration graph of ForestBench (an edge says that the target
consumed the source's output). Rules 4 and 5 of the model: a message is delivered to its
explicit recipients, else, in a group chat, to everybody else, else to nobody; an action
consumes what was delivered to its agent since that agent's last action, else it continues
that last action; a parent or reply that the trace names beats both.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from graphstore.builder import GraphBuilder
from graphstore.model import Basis


class EverybodyElse(dict[int | None, tuple[int, ...]]):
    """Who gets a message in a group chat, by the position of its speaker, None for nobody.

    Args:
        agents: Positions of all who are in the chat.
    """

    def __init__(self, agents: Iterable[int]) -> None:
        super().__init__()
        self._agents = tuple(agents)

    def __missing__(self, speaker: int | None) -> tuple[int, ...]:
        others = self[speaker] = tuple([one for one in self._agents if one != speaker])
        return others


class FlowTracker:
    """Makes the edges of a run, action by action, in the order of the trace.

    Args:
        builder: Receives the edges.
    """

    def __init__(self, builder: GraphBuilder) -> None:
        self._edge = builder.edge
        self._inbox: defaultdict[int, list[tuple[int, Basis]]] = defaultdict(list)
        self._last: dict[int, int] = {}

    def act(
        self,
        node: int,
        agent: int | None,
        *,
        recipients: Iterable[int] = (),
        explicit: Sequence[int] = (),
        basis: Basis = "delivered",
        derive: bool = True,
    ) -> None:
        """Records that an agent acted: makes its edges, then delivers its message.

        Args:
            node: The action's position.
            agent: The agent's position; None for an action that nobody owns, which gets
                only explicit edges.
            recipients: Positions of the agents that it was delivered to.
            explicit: Positions of the actions that the trace names as its sources.
            basis: What an edge made by this delivery is worth: ``inferred`` where the
                reader guessed the recipients.
            derive: False where the trace names all sources, even if there are none: what
                waits for the agent is then settled without an edge.
        """
        edge = self._edge
        inbox = self._inbox
        for source in explicit:
            edge(source, node, "explicit")
        if agent is not None:
            waiting = inbox.pop(agent, None)
            if explicit or not derive:
                pass  # the trace names the sources: what was waiting is settled
            elif waiting:
                for source, waiting_basis in waiting:
                    edge(source, node, waiting_basis)
            elif agent in self._last:
                edge(self._last[agent], node, "continued")
            self._last[agent] = node
        if recipients:
            delivered = (node, basis)
            for recipient in recipients:
                if recipient != agent:
                    inbox[recipient].append(delivered)

    def deliver(self, node: int, recipients: Iterable[int], basis: Basis = "delivered") -> None:
        """Lets further agents consume an action with their next one.

        Args:
            node: The action's position.
            recipients: Positions of the agents.
            basis: What an edge made by this delivery is worth.
        """
        delivered = (node, basis)
        for recipient in recipients:
            self._inbox[recipient].append(delivered)

    def act_together(self, nodes: Sequence[int], agent: int) -> None:
        """Records that an agent made several calls at once, such as parallel tool calls.

        Each consumes what was waiting for the agent, else continues its last action; the
        agent's next action consumes the results of all of them, beside what was delivered
        meanwhile.

        Args:
            nodes: The positions of the calls, in order; at least one.
            agent: The agent's position.
        """
        sources = self._inbox.pop(agent, None)
        if not sources:
            sources = [(self._last[agent], "continued")] if agent in self._last else []
        for node in nodes:
            for source, basis in sources:
                self._edge(source, node, basis)
        self._last[agent] = nodes[-1]
        self._inbox[agent] = [(node, "continued") for node in nodes]

    def last_action(self, agent: int) -> int | None:
        """The position of an agent's last action, None before its first."""
        return self._last.get(agent)

    def waiting(self, agent: int) -> tuple[int, ...]:
        """The actions delivered to an agent that it has not consumed yet."""
        return tuple(source for source, _ in self._inbox.get(agent, ()))
