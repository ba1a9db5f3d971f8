"""Contents replaced by wrong ones: what they can reach, and what became of them.

Source: OpenMAS-GCom, appendix A.4: a share of the eligible upstream items is replaced by
wrong candidates of a valid form, and forwarded through the unchanged graph; the trace records
whether a candidate reaches downstream units, and whether it is adopted, corrected or ignored
before the final answer.

The paper leaves open what is eligible and when a candidate counts as adopted. Here an item is
eligible where somebody else uses it: an action whose output another agent consumed, or a unit
that may send and does not give the output. :func:`trace_injection` says how fates are told.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from analytics.interventions import Team, drawn, share_count
from analytics.interventions_effects import distances_to
from graphstore.identity import normalize_content
from graphstore.model import CollaborationGraph, Node

Fate = Literal["not reached", "adopted", "corrected", "ignored", "unclear"]
FATES: tuple[str, ...] = get_args(Fate)


@dataclass(frozen=True, slots=True)
class Exposure:
    """How far replaced items can reach.

    Attributes:
        requested: Share of the eligible items to replace.
        seed: Of the draw. With one seed the items of a smaller share are among those of a
            larger one.
        eligible: Number of items that can be replaced.
        selected: Their chosen ones: positions of units, or indexes of actions, ascending.
        others: Number of units (or actions) that are not selected.
        reached: Number of those that a path leads to from a selected one.
        output_reached: Whether a path leads to a unit that gives the output, or to the last
            answer; None where that is not known.
    """

    requested: float
    seed: int
    eligible: int
    selected: tuple[int, ...]
    others: int
    reached: int
    output_reached: bool | None

    @property
    def achieved(self) -> float | None:
        """Selected over eligible items; None without any."""
        return len(self.selected) / self.eligible if self.eligible else None

    @property
    def share_reached(self) -> float | None:
        """Reached over all others, between 0 and 1; None without others."""
        return self.reached / self.others if self.others else None


@dataclass(frozen=True, slots=True)
class Injection:
    """A content that was replaced in a run.

    Attributes:
        item: As the run records it: the identifier of a message or an action.
        node: Id of the action that carried it; None where no action is known to.
        injected: The wrong candidate; None where it is not recorded.
        original: What it replaced; None where that is not recorded.
        recorded: Its fate, where the run itself says so.
    """

    item: str
    node: str | None
    injected: str | None = None
    original: str | None = None
    recorded: Fate | None = None


@dataclass(frozen=True, slots=True)
class InjectionFate:
    """What became of one injected candidate.

    Attributes:
        injection: The candidate.
        fate: Its fate.
        reached: Names of the agents that consumed it, directly or through others.
        stating: Names of those of them that state it.
        correcting: Names of those of them that state the original and not the candidate.
    """

    injection: Injection
    fate: Fate
    reached: tuple[str, ...]
    stating: tuple[str, ...]
    correcting: tuple[str, ...]


def expose_team(team: Team, rate: float, seed: int = 0) -> Exposure:
    """Information intervention on the units: a share of those that can send is wrong.

    Raises:
        UsageError: The rate is no share.
    """
    sending = {source for source, _ in team.links}
    eligible = [
        place
        for place in range(len(team.ids))
        if place in sending and place not in team.outputs
    ]
    leaving: list[list[int]] = [[] for _ in team.ids]
    for source, target in team.links:
        leaving[source].append(target)
    known = team.outputs if team.output_basis is not None else None
    return _exposure(eligible, leaving, known, rate, seed)


def expose_run(graph: CollaborationGraph, rate: float, seed: int = 0) -> Exposure:
    """Information intervention on the actions of a run: a share of the used ones is wrong.

    Raises:
        UsageError: The rate is no share.
    """
    index = {node.id: node.index for node in graph.nodes}
    leaving: list[list[int]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        leaving[index[edge.source]].append(index[edge.target])
    final = final_action(graph)
    answer = None if final is None else (final.index,)
    return _exposure(list(eligible_actions(graph)), leaving, answer, rate, seed)


def eligible_actions(graph: CollaborationGraph) -> tuple[int, ...]:
    """Indexes of the actions that another agent's action consumed, but for the last answer."""
    owner = {node.id: node.agent for node in graph.nodes}
    final = final_action(graph)
    used = {
        edge.source
        for edge in graph.edges
        if None not in (owner[edge.source], owner[edge.target])
        and owner[edge.source] != owner[edge.target]
    }
    return tuple(
        node.index
        for node in graph.nodes
        if node.id in used and (final is None or node.id != final.id)
    )


def final_action(graph: CollaborationGraph) -> Node | None:
    """The action that put the last answer forward, else the last action of all."""
    by_id = {node.id: node for node in graph.nodes}
    for proposal in reversed(graph.proposals):
        if proposal.phase == "answer" and proposal.node is not None:
            return by_id[proposal.node]
    return graph.nodes[-1] if graph.nodes else None


def recorded_injections(graph: CollaborationGraph) -> tuple[Injection, ...]:
    """The replaced contents that a run records.

    They are listed in the run's attribute ``intervention.injected_records`` (OpenMAS-GCom,
    Table 8): each an identifier, or an object with ``item`` (or ``message``, ``action``,
    ``id``), ``injected``, ``original`` and ``fate``. An identifier names an action by the
    attributes ``id``, ``message_id`` or ``outgoing`` (a list), by its id in the store, or by
    its index.
    """
    group = graph.attributes.get("intervention")
    listed = group.get("injected_records") if isinstance(group, dict) else None
    if not isinstance(listed, list):
        return ()
    carrier: dict[str, str] = {}
    for node in graph.nodes:
        for name in _identifiers(node):
            carrier.setdefault(name, node.id)
    found = []
    for record in listed:
        entry = record if isinstance(record, dict) else {"item": record}
        item = next(
            (
                str(entry[field])
                for field in ("item", "message", "action", "id")
                if isinstance(entry.get(field), str | int)
            ),
            "",
        )
        fate = entry.get("fate")
        found.append(
            Injection(
                item,
                carrier.get(item),
                _text(entry.get("injected")),
                _text(entry.get("original")),
                fate if fate in FATES else None,
            )
        )
    return tuple(found)


def trace_injection(graph: CollaborationGraph, injection: Injection) -> InjectionFate:
    """Follows one candidate along the edges of a run to the final answer.

    A text *states* a candidate where the candidate stands in it as a word or number of its
    own, both in normal form. The fate is what the run records, else:

    - ``not reached``: no other agent's action consumed it, directly or through others;
    - ``adopted``: the final answer states the candidate and not the original;
    - ``corrected``: the answer does not state it, and either the answer or an agent that was
      reached states the original in its place, or such an agent stated the candidate before;
    - ``ignored``: the answer does not state it, and nobody who was reached states either;
    - ``unclear``: the run lacks the candidate, the action, the answer or the contents that
      it takes to tell, or the answer states both.
    """
    by_id = {node.id: node for node in graph.nodes}
    if injection.node is None or injection.node not in by_id:
        return InjectionFate(injection, injection.recorded or "unclear", (), (), ())
    start = by_id[injection.node]
    downstream = [
        node for node in _downstream(graph, start) if node.agent not in (None, start.agent)
    ]
    candidate, original = injection.injected, injection.original
    stating = [node for node in downstream if states(node.content, candidate)]
    correcting = [
        node
        for node in downstream
        if states(node.content, original) and not states(node.content, candidate)
    ]
    answer = graph.outcome.answer
    if answer is None and (final := final_action(graph)) is not None:
        answer = final.content
    fate = injection.recorded
    if fate is None:
        silent = any(node.content is None for node in downstream)
        fate = _fate(
            bool(downstream), candidate, original, answer, bool(stating or correcting), silent
        )
    return InjectionFate(
        injection,
        fate,
        _names(graph, downstream),
        _names(graph, stating),
        _names(graph, correcting),
    )


def states(text: str | None, candidate: str | None) -> bool:
    """Whether a candidate stands in a text as a word or number of its own."""
    if text is None or candidate is None:
        return False
    wanted = normalize_content(candidate)
    if not wanted:
        return False
    before = r"(?<!\w)(?<!\d[.,])" if wanted[0].isalnum() else ""
    if wanted[0].isdigit():
        before += r"(?<!\W-)(?<!^-)"
    after = r"(?!\w)(?![.,]\d)" if wanted[-1].isalnum() else ""
    return re.search(before + re.escape(wanted) + after, normalize_content(text)) is not None


def _fate(
    reached: bool,
    candidate: str | None,
    original: str | None,
    answer: str | None,
    taken_up: bool,
    silent: bool,
) -> Fate:
    if not reached:
        return "not reached"
    if candidate is None or answer is None:
        return "unclear"
    follows, keeps = states(answer, candidate), states(answer, original)
    if follows:
        return "unclear" if keeps else "adopted"
    if keeps or taken_up:
        return "corrected"
    return "unclear" if silent else "ignored"


def _exposure(
    eligible: Sequence[int],
    leaving: Sequence[Sequence[int]],
    outputs: Sequence[int] | None,
    rate: float,
    seed: int,
) -> Exposure:
    selected = drawn(eligible, share_count(rate, len(eligible)), seed)
    lengths = distances_to(leaving, selected)
    reached = [place for place, length in enumerate(lengths) if length]
    return Exposure(
        requested=rate,
        seed=seed,
        eligible=len(eligible),
        selected=tuple(sorted(selected)),
        others=len(leaving) - len(selected),
        reached=len(reached),
        output_reached=None if outputs is None else bool(set(reached) & set(outputs)),
    )


def _downstream(graph: CollaborationGraph, start: Node) -> list[Node]:
    reached = {start.id}
    for edge in sorted(graph.edges, key=lambda one: _index(one.source)):
        if edge.source in reached:
            reached.add(edge.target)
    return [node for node in graph.nodes if node.id in reached and node.id != start.id]


def _index(node_id: str) -> int:
    return int(node_id.rpartition("/")[2])


def _identifiers(node: Node) -> list[str]:
    outgoing = node.attributes.get("outgoing")
    listed: list[Any] = [node.attributes.get("id"), node.attributes.get("message_id")]
    listed += outgoing if isinstance(outgoing, list) else [outgoing]
    return [
        *(str(one) for one in listed if isinstance(one, str | int)),
        node.id,
        str(node.index),
    ]


def _names(graph: CollaborationGraph, nodes: Sequence[Node]) -> tuple[str, ...]:
    acting = {node.agent for node in nodes}
    return tuple(agent.name for agent in graph.agents if agent.id in acting)


def _text(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)
