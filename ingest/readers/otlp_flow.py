"""Who consumed what in a tree of spans: the flow rules, with times and nesting.

The rules of :mod:`ingest.flow` are for a trace in which one thing happens after the other.
Spans overlap, and their nesting says more. So, going through the actions in order of start,
with an output counting as delivered once its span has ended:

- a tool call that an action's output names by id, or that lies inside an action's span, and
  the first message of an agent whose span lies inside an action's span, consumed that action;
  so did a message whose input names the id of a tool call, and a span with a link:
  ``explicit``;
- the result of a tool goes to the agent whose span encloses it, and the last message of one
  stay with an agent to the agent whose span encloses that stay; the next message of the
  receiver consumed them: ``delivered``;
- an agent to which nothing was delivered continues its own last messages: ``continued``;
- which message of the enclosing agent led to a tool call without an id, or to a stay with an
  agent, the trace does not say. The last one that had ended is taken. An enclosing agent
  that never acts, or a run without one, passes on what was delivered to it: ``inferred``.

An output that was consumed by a message counts as fresh for messages that start before that
one has ended: parallel calls read the same things.
"""

import heapq
from collections import defaultdict

import msgspec

from graphstore.model import Basis, Delivery
from ingest.readers.otlp_tree import DEFAULT, SpanTree


class _Waiting(msgspec.Struct, eq=False, gc=False):
    """An output that an agent has received; ``until`` is when its first reader ended."""

    place: int
    basis: Basis
    until: int | None = None


class _State(msgspec.Struct, eq=False):
    last: list[int] = []
    inbox: list[_Waiting] = []
    acts: bool = False


class Flow(msgspec.Struct, eq=False):
    """What was consumed and who received it.

    Attributes:
        edges: Basis by the positions of source and target span.
        recipients: Positions of agents, by the position of the span.
        deliveries: How the recipients are known.
        backwards: Named sources that start after what consumed them, and were left out.
    """

    edges: dict[tuple[int, int], Basis] = {}
    recipients: dict[int, set[int]] = {}
    deliveries: dict[int, Delivery] = {}
    backwards: int = 0


def follow(tree: SpanTree) -> Flow:
    """Finds the edges of a run.

    Args:
        tree: Its spans in order.
    """
    return _Follower(tree).run()


class _Follower:
    def __init__(self, tree: SpanTree) -> None:
        self.tree = tree
        self.flow = Flow()
        self.states: defaultdict[int, _State] = defaultdict(_State)
        self.seen_visits: set[int] = set()
        self.called_from: set[tuple[int, int]] = set()
        self.answered: set[tuple[int, str]] = set()
        self.returns: dict[int, int] = {}
        self.calls: dict[str, int] = {}
        self.tools_by_call: dict[str, int] = {}
        self.by_id: dict[str, int] = {}

    def run(self) -> Flow:
        tree = self.tree
        actions = [place for place, kind in enumerate(tree.kinds) if kind is not None]
        self._prepare(actions)
        running: list[tuple[int, int]] = []
        for place in actions:
            start = tree.starts[place]
            while running and running[0][0] <= start:
                self._end(heapq.heappop(running)[1])
            if tree.kinds[place] == "agent_message":
                self._message(place)
            else:
                self._call(place)
            heapq.heappush(running, (tree.ends[place], place))
        while running:
            self._end(heapq.heappop(running)[1])
        return self.flow

    def _prepare(self, actions: list[int]) -> None:
        tree = self.tree
        for place in actions:
            span = tree.spans[place]
            if tree.kinds[place] == "agent_message":
                owner = tree.owners[place]
                self.states[owner].acts = True
                visit = tree.visits[place]
                known = self.returns.get(visit)
                if known is None or tree.ends[known] <= tree.ends[place]:
                    self.returns[visit] = place
            elif span.call is not None:
                self.tools_by_call.setdefault(span.call, place)
            for call in span.calls or ():
                self.calls.setdefault(call, place)
            if span.links:
                self.by_id = self.by_id or {s.id: i for i, s in enumerate(tree.spans)}

    def _edge(self, source: int, target: int, basis: Basis) -> bool:
        if source >= target:
            self.flow.backwards += basis == "explicit"
            return False
        self.flow.edges.setdefault((source, target), basis)
        return True

    def _send(self, place: int, agent: int, delivery: Delivery) -> None:
        if agent == DEFAULT and not self.states[DEFAULT].acts:
            return
        if agent == self.tree.owners[place]:
            return
        self.flow.recipients.setdefault(place, set()).add(agent)
        if delivery == "inferred" or place not in self.flow.deliveries:
            self.flow.deliveries[place] = delivery

    def _linked(self, place: int) -> bool:
        """Edges from the spans that the action links to."""
        links = self.tree.spans[place].links
        sources = [self.by_id.get(link, -1) for link in links] if links else []
        actions = [s for s in sources if s >= 0 and self.tree.kinds[s] is not None]
        found = [self._edge(source, place, "explicit") for source in actions]
        return any(found)

    def _message(self, place: int) -> None:
        tree = self.tree
        owner = tree.owners[place]
        state = self.states[owner]
        start = tree.starts[place]
        named = self._linked(place)
        for call in tree.spans[place].answers or ():
            # An input repeats the whole conversation: each result is news once.
            if (owner, call) not in self.answered:
                self.answered.add((owner, call))
                source = self.tools_by_call.get(call)
                if source is not None and self._edge(source, place, "explicit"):
                    named = True
        outer = tree.enclosing[place]
        if outer >= 0 and (outer, owner) not in self.called_from:
            self.called_from.add((outer, owner))
            if self._edge(outer, place, "explicit"):
                named = True
                self._send(outer, owner, "explicit")
        visit = tree.visits[place]
        new_visit = visit >= 0 and visit not in self.seen_visits
        self.seen_visits.add(visit)
        fresh = [w for w in state.inbox if w.until is None or w.until > start]
        edges, end = self.flow.edges, tree.ends[place]
        for waiting in fresh:
            # What was delivered is no source that the trace names: it may be of any time.
            if waiting.place < place:
                edges.setdefault((waiting.place, place), waiting.basis)
                named = True
            if waiting.until is None:
                waiting.until = end
        state.inbox = fresh
        handed = any(waiting.place in tree.handoffs for waiting in fresh)
        if new_visit and outer < 0 and not handed:
            for source in self._view(tree.parents[visit]):
                if tree.owners[source] != owner and self._edge(source, place, "inferred"):
                    named = True
                    self._send(source, owner, "inferred")
        if not named:
            for source in state.last:
                self._edge(source, place, "continued")

    def _call(self, place: int) -> None:
        """A tool call, handoff or guardrail: what led to it."""
        tree = self.tree
        span = tree.spans[place]
        named = self._linked(place)
        receiver = tree.owners[place]
        source = self.calls.get(span.call) if span.call is not None else None
        if source is None:
            source = tree.enclosing[place] if tree.enclosing[place] >= 0 else None
        if source is not None and self._edge(source, place, "explicit"):
            named = True
            self._send(source, receiver, "explicit")
        if not named:
            for last in self._view(place):
                if self._edge(last, place, "inferred"):
                    self._send(last, receiver, "inferred")

    def _view(self, place: int) -> list[int]:
        """What the agent around a span had to hand on.

        Its own last messages, else, where it never acts, what it got, else what the agent
        around it had.

        Args:
            place: The enclosing span, -1 outside of all.
        """
        tree = self.tree
        while True:
            agent = tree.callers[place] if place >= 0 else DEFAULT
            state = self.states[agent]
            if state.last:
                return state.last
            if state.inbox and not state.acts:
                return [waiting.place for waiting in state.inbox]
            if place < 0 or agent == DEFAULT:
                return []
            place = tree.parents[tree.visits[place]]

    def _end(self, place: int) -> None:
        """An action has ended: its output reaches its readers."""
        tree = self.tree
        owner = tree.owners[place]
        if place in tree.handoffs:
            target = tree.handoffs[place]
            self._last(owner, place)
            self._send(place, target, "explicit")
            self._deliver(target, place, "delivered")
        elif tree.kinds[place] == "agent_message":
            self._last(owner, place)
            visit = tree.visits[place]
            if visit >= 0 and self.returns.get(visit) == place:
                self._return(tree.parents[visit], place)
        else:
            self._return(tree.parents[place], place)

    def _last(self, agent: int, place: int) -> None:
        state = self.states[agent]
        start = self.tree.starts[place]
        state.last = [last for last in state.last if self.tree.ends[last] > start]
        state.last.append(place)

    def _return(self, outer: int, place: int) -> None:
        """Delivers outwards: to the enclosing agent, through those that never act."""
        tree = self.tree
        first = True
        while True:
            agent = tree.callers[outer] if outer >= 0 else DEFAULT
            state = self.states[agent]
            if first:
                self._send(place, agent, "explicit")
            first = False
            self._deliver(agent, place, "delivered" if state.acts else "inferred")
            if state.acts or outer < 0 or agent == DEFAULT:
                return
            outer = tree.parents[tree.visits[outer]]

    def _deliver(self, agent: int, place: int, basis: Basis) -> None:
        state = self.states[agent]
        if not state.acts:
            start = self.tree.starts[place]
            state.inbox = [w for w in state.inbox if self.tree.ends[w.place] > start]
        state.inbox.append(_Waiting(place, basis))
