"""Spans as a tree, and who acts in it.

Which spans are actions:

- a model call (``LLM``) is a message of its agent. Where one library wraps another and both
  wrote a span, the inner one is the call and the outer one a container: tokens count once;
- a tool call (``TOOL``, ``RETRIEVER``, ``RERANKER``, ``EMBEDDING``) is an action of the tool,
  which is an agent of kind tool. A tool that hands over to an agent of the run
  (``transfer_to_writer``) is a decision of the agent that called it;
- a ``GUARDRAIL`` is a decision of the guardrail;
- an ``AGENT`` span with no action inside is a message of that agent: nothing else shows
  what it did. With actions inside it is a container, like ``CHAIN`` and all other spans.

Who acts: the nearest span outwards that names an agent (``agent.name``, ``gen_ai.agent.name``
or another attribute that ends so) or that is an ``AGENT`` span. An ``AGENT`` span without such
an attribute is called by its graph node, else by its own name, with a warning. Without either,
the nearest ``graph.node.id``; else the service stands for the one agent there seems to be,
with a warning. The name of any other span is no agent. Two agents of one name in two services,
or with two ids, are two.
"""

import re

import msgspec

from graphstore.errors import GraphError
from graphstore.model import NodeKind
from ingest.readers.otlp_attributes import AGENT, GUARDRAIL, LLM, TOOL, TOOL_KINDS, Facts

_HANDOFF = re.compile(
    r"(?:transfer|hand[-_ ]?off|delegate)(?:[-_ ]?(?:back[-_ ])?to)?[-_ :]+(?P<agent>.+)",
    re.IGNORECASE,
)
_NOT_WORD = re.compile(r"[\W_]+")

DEFAULT = -1
"""Stands for the agent of spans that no span names one for."""


class AgentFacts(msgspec.Struct, gc=False):
    """An agent of the run.

    Attributes:
        name: Its name.
        id: Its id in the trace.
        named_by: What gave the name where no attribute does: ``span`` or ``service``.
        tool: Whether it is a tool.
    """

    name: str
    id: str | None = None
    named_by: str | None = None
    tool: bool = False


class SpanTree(msgspec.Struct, eq=False):
    """The spans of one run in order, with what their nesting says.

    All lists run over spans, and all positions are positions in ``spans``, but for agents.

    Attributes:
        spans: In order of start, containers before their content, then by id.
        starts: Nanoseconds; a missing start is the parent's.
        ends: Nanoseconds; a missing end is the start.
        parents: Position of the parent, -1 where it is missing or elsewhere.
        kinds: The action's kind, None for a container.
        owners: Position in ``agents`` of who acted, :data:`DEFAULT` for the nameless one.
        callers: Of a span: the agent whose span encloses it, or itself for its own.
        visits: The outermost span of one stay with an agent; -1 outside of any.
        enclosing: The nearest enclosing action, -1 where there is none.
        handoffs: For a decision that hands over: the agent that takes over.
        agents: The run's agents, in order of appearance.
    """

    spans: list[Facts]
    starts: list[int] = []
    ends: list[int] = []
    parents: list[int] = []
    kinds: list[NodeKind | None] = []
    owners: list[int] = []
    callers: list[int] = []
    visits: list[int] = []
    enclosing: list[int] = []
    handoffs: dict[int, int] = {}
    agents: list[AgentFacts] = []
    dangling: int = 0
    untimed: int = 0


def grow(spans: list[Facts]) -> SpanTree:
    """Puts spans into order and finds actions and agents.

    Args:
        spans: Each span once, in any order.

    Raises:
        GraphError: Spans contain each other.
    """
    tree = _ordered(spans)
    _find_actions(tree)
    _find_agents(tree)
    return tree


def _ordered(spans: list[Facts]) -> SpanTree:
    ordered = sorted(spans, key=_order)
    tree = _linked(ordered)
    if tree.untimed or any(parent >= place for place, parent in enumerate(tree.parents)):
        # Where each parent comes first, no span contains itself, and the order stands.
        depths: dict[int, int] = {}
        for place in range(len(ordered)):
            _depth(tree, place, depths)
        starts, ends = tree.starts, tree.ends
        places = sorted(
            range(len(ordered)),
            key=lambda place: (starts[place], -ends[place], depths[place], place),
        )
        tree = _linked([ordered[place] for place in places])
    return tree


def _order(span: Facts) -> tuple[int, int, str, str]:
    start = span.start if span.start is not None else 0
    return (start, -(span.end or start), span.id, span.trace)


def _linked(ordered: list[Facts]) -> SpanTree:
    tree = SpanTree(ordered)
    traces: dict[str, dict[str, int]] = {}
    for place, span in enumerate(ordered):
        traces.setdefault(span.trace, {})[span.id] = place
    parents, starts, ends = tree.parents, tree.starts, tree.ends
    for span in ordered:
        parent = -1
        if span.parent is not None:
            parent = traces[span.trace].get(span.parent, -1)
            if parent < 0:
                tree.dangling += 1
        parents.append(parent)
    for place, span in enumerate(ordered):
        start, end = span.start, span.end
        if start is None:
            tree.untimed += 1
            start = _outer_start(tree, place)
        starts.append(start)
        ends.append(start if end is None or end < start else end)
    return tree


def _outer_start(tree: SpanTree, place: int) -> int:
    """The start of the nearest enclosing span that has one, else its own end, else 0."""
    seen = {place}
    parent = tree.parents[place]
    while parent >= 0 and parent not in seen:
        start = tree.spans[parent].start
        if start is not None:
            return start
        seen.add(parent)
        parent = tree.parents[parent]
    return tree.spans[place].end or 0


def _depth(tree: SpanTree, place: int, depths: dict[int, int]) -> None:
    path = []
    current = place
    while current >= 0 and current not in depths:
        path.append(current)
        depths[current] = -1
        current = tree.parents[current]
    depth = depths[current] if current >= 0 else 0
    if depth < 0:
        span = tree.spans[current]
        raise GraphError(f"the span {span.id} contains itself")
    for step in reversed(path):
        depth += 1
        depths[step] = depth


def _find_actions(tree: SpanTree) -> None:
    spans, parents, kinds = tree.spans, tree.parents, tree.kinds
    wrappers: set[int] = set()
    for place, span in enumerate(spans):
        kind: NodeKind | None = None
        if span.category == LLM:
            kind = "agent_message"
            outer = parents[place]
            while outer >= 0:
                category = spans[outer].category
                if category == LLM:
                    wrappers.add(outer)
                    break
                if category in TOOL_KINDS or category == AGENT:
                    break
                outer = parents[outer]
        elif span.category in TOOL_KINDS:
            kind = "tool_call"
        elif span.category == GUARDRAIL:
            kind = "decision"
        kinds.append(kind)
    for place in wrappers:
        kinds[place] = None
    busy: set[int] = set()
    for place, action in enumerate(kinds):
        if action is not None:
            _mark(parents, place, busy)
    for place in range(len(spans) - 1, -1, -1):
        span = spans[place]
        if span.category == AGENT and place not in busy and "declares" not in span.extra:
            kinds[place] = "agent_message"
            _mark(parents, place, busy)


def _mark(parents: list[int], place: int, busy: set[int]) -> None:
    outer = parents[place]
    while outer >= 0 and outer not in busy:
        busy.add(outer)
        outer = parents[outer]


class _Agents:
    """Agents by what identifies them."""

    def __init__(self) -> None:
        self.found: list[AgentFacts] = []
        self._by_key: dict[tuple[str | None, ...], int] = {}

    def position(
        self,
        key: tuple[str | None, ...],
        name: str,
        *,
        id: str | None = None,
        named_by: str | None = None,
        tool: bool = False,
    ) -> int:
        found = self._by_key.get(key)
        if found is None:
            found = self._by_key[key] = len(self.found)
            self.found.append(AgentFacts(name, id, named_by, tool))
        return found

    def of(self, span: Facts, default: bool) -> int | None:
        """The agent that a span names, or is; None where it says nothing."""
        name = span.agent
        if span.agent_id is not None:
            label = name or span.node or span.agent_id
            return self.position(("id", span.agent_id), label, id=span.agent_id)
        if name is not None:
            return self.position(("name", span.service, name), name)
        if span.category == AGENT:
            label = span.node or span.name or "agent"
            named_by = None if span.node else "span"
            return self.position(("name", span.service, label), label, named_by=named_by)
        if default and span.node is not None and span.category not in TOOL_KINDS:
            return self.position(("name", span.service, span.node), span.node)
        return None


def _find_agents(tree: SpanTree) -> None:
    agents = _Agents()
    spans, parents, kinds = tree.spans, tree.parents, tree.kinds
    count = len(spans)
    tree.callers = callers = [DEFAULT] * count
    tree.visits = visits = [-1] * count
    tree.enclosing = enclosing = [-1] * count
    tree.owners = owners = [DEFAULT] * count
    # A clock that goes wrong can put a span before its parent: parents go first.
    backwards = any(parent >= place for place, parent in enumerate(parents))
    for place in _parents_first(parents) if backwards else range(count):
        outer = parents[place]
        if outer >= 0:
            callers[place] = callers[outer]
            visits[place] = visits[outer]
            enclosing[place] = outer if kinds[outer] is not None else enclosing[outer]
        named = agents.of(spans[place], callers[place] == DEFAULT)
        if named is not None and named != callers[place]:
            callers[place] = named
            visits[place] = place
        owners[place] = callers[place]
    tree.agents = agents.found
    names = _Names(agents.found)
    for place, kind in enumerate(kinds):
        span = spans[place]
        if kind == "tool_call" and span.tool is not None:
            target = _handoff(tree, place, names)
            if target is not None and target != callers[place]:
                kinds[place] = "decision"
                tree.handoffs[place] = target
            else:
                owners[place] = agents.position(("tool", span.tool), span.tool, tool=True)
        elif kind == "decision":
            owners[place] = agents.position(
                ("tool", span.name), span.name or "guardrail", tool=True
            )


def _parents_first(parents: list[int]) -> list[int]:
    """All places in order, but each after its parent."""
    ordered: list[int] = []
    done: set[int] = set()
    for first in range(len(parents)):
        path = []
        place = first
        while place >= 0 and place not in done:
            done.add(place)
            path.append(place)
            place = parents[place]
        ordered.extend(reversed(path))
    return ordered


class _Names:
    """The agents of each name, however it is written; found when they are first asked for.

    Args:
        agents: The agents; those that are added later, tools, are left out.
    """

    def __init__(self, agents: list[AgentFacts]) -> None:
        self._agents = agents
        self._count = len(agents)
        self._places: dict[str, list[int]] | None = None

    def places(self, name: str) -> list[int]:
        if self._places is None:
            self._places = {}
            for position, agent in enumerate(self._agents[: self._count]):
                self._places.setdefault(_plain(agent.name), []).append(position)
        return self._places.get(_plain(name), [])


def _handoff(tree: SpanTree, place: int, names: _Names) -> int | None:
    """The agent of the run that a tool hands over to, by the tool's name.

    Of several with that name it is the one that is at work next, else the last one.
    """
    span = tree.spans[place]
    if span.category != TOOL or span.tool is None:
        return None
    found = _HANDOFF.fullmatch(span.tool)
    known = names.places(found["agent"]) if found else []
    if len(known) < 2:
        return known[0] if known else None
    callers = tree.callers[place + 1 :]
    return next((agent for agent in callers if agent in known), known[-1])


def _plain(name: str) -> str:
    return _NOT_WORD.sub("", name).casefold()
