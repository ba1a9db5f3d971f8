"""Claims of proposals, and who endorses or challenges them.

Source: MASTraceBench, "CLEARS": proposals are taken apart into claims, the other agents
endorse or challenge each, and the top-endorsed and top-challenged ones steer the synthesis;
appendix "CLEARS and its ablation": the claim with the highest number of endorsements is the
positive signal, the one with the highest number of challenges the negative one, and all that
tie are retained.

A trace says so in the attributes of its actions (``docs/native-format.md``): ``claims`` are
made by the action's agent, ``endorses`` and ``challenges`` name claims. Nothing is read out
of contents.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from graphstore.model import CollaborationGraph, Node

Stance = Literal["endorse", "challenge"]
STANCES: dict[str, Stance] = {"endorses": "endorse", "challenges": "challenge"}
"""The attribute of an action, and what it says."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One verifiable part of a proposal, and what the others say of it.

    Attributes:
        id: As the trace names it; ``<index of the action>.<position>`` where it does not.
        text: What is claimed; None where the trace names the claim only.
        unit: The sample or state; None where the trace does not say.
        node: Id of the action that made it.
        agent: Id of the agent; None where the action names none.
        endorsed_by: Ids of the agents whose last word on it is an endorsement, in the order
            of the run's agents; of the action, where that names no agent.
        challenged_by: Likewise for challenges.
    """

    id: str
    text: str | None
    unit: str | None
    node: str
    agent: str | None
    endorsed_by: tuple[str, ...] = ()
    challenged_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitClaims:
    """The claims of one unit.

    Attributes:
        unit: The sample or state; None where the trace does not say.
        claims: In the order in which they were made.
        top_endorsed: Ids of the claims with the most endorsements, all that tie; empty where
            nobody endorsed any.
        top_challenged: Likewise for challenges.
    """

    unit: str | None
    claims: tuple[Claim, ...]
    top_endorsed: tuple[str, ...]
    top_challenged: tuple[str, ...]

    @property
    def endorsements(self) -> int:
        """Number of endorsements that count."""
        return sum(len(claim.endorsed_by) for claim in self.claims)

    @property
    def challenges(self) -> int:
        """Number of challenges that count."""
        return sum(len(claim.challenged_by) for claim in self.claims)


@dataclass(frozen=True, slots=True)
class ClaimSignals:
    """The claims of one run.

    Attributes:
        run: Id of the run.
        name: Its short label.
        task: Name of the task.
        task_id: Id of the task.
        method: Name of the method.
        method_id: Id of the method.
        units: In the order of their first claims.
        notes: What was left out, one sentence each.
    """

    run: str
    name: str
    task: str
    task_id: str
    method: str | None
    method_id: str | None
    units: tuple[UnitClaims, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON values, named as the attributes."""
        return asdict(self)


def claim_signals(graph: CollaborationGraph) -> ClaimSignals:
    """The claims of a run with the top-endorsed and top-challenged ones.

    An agent's last word on a claim counts, once; what it says of its own claims does not,
    because CLEARS evaluates across agents.

    Args:
        graph: A run or a decomposition; one without claims gives no units.
    """
    claims: dict[str, Claim] = {}
    notes: dict[str, int] = {}
    for node in graph.nodes:
        for position, entry in enumerate(_listed(node, "claims", notes)):
            claim = _claim(node, position, entry)
            if claim is None:
                _count(notes, "entries of 'claims' that are no text and no id with a text")
            elif claim.id in claims:
                _count(notes, "claims with the id of another claim")
            else:
                claims[claim.id] = claim
    words = _last_words(graph, claims, notes)
    places = {agent.id: place for place, agent in enumerate(graph.agents)}
    units: dict[str | None, list[Claim]] = {}
    for claim in claims.values():
        said = words.get(claim.id, {})
        speakers = sorted(said, key=lambda one: (places.get(one, len(places)), one))
        units.setdefault(claim.unit, []).append(
            Claim(
                claim.id,
                claim.text,
                claim.unit,
                claim.node,
                claim.agent,
                tuple(one for one in speakers if said[one] == "endorse"),
                tuple(one for one in speakers if said[one] == "challenge"),
            )
        )
    return ClaimSignals(
        run=graph.id,
        name=graph.name,
        task=graph.task.name,
        task_id=graph.task.id,
        method=None if graph.method is None else graph.method.name,
        method_id=None if graph.method is None else graph.method.id,
        units=tuple(
            UnitClaims(
                unit,
                tuple(found),
                _top(found, "endorsed_by"),
                _top(found, "challenged_by"),
            )
            for unit, found in units.items()
        ),
        notes=tuple(f"Left out: {count} {what}." for what, count in notes.items()),
    )


def _claim(node: Node, position: int, entry: Any) -> Claim | None:
    if isinstance(entry, str):
        entry = {"text": entry}
    if not isinstance(entry, dict):
        return None
    identity = entry.get("id", f"{node.index}.{position}")
    text, unit = entry.get("text"), entry.get("unit")
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if (
        not isinstance(identity, str)
        or not (text is None or isinstance(text, str))
        or not (unit is None or isinstance(unit, str))
        or (text is None and "id" not in entry)
    ):
        return None
    return Claim(identity, text, unit, node.id, node.agent)


def _last_words(
    graph: CollaborationGraph, claims: dict[str, Claim], notes: dict[str, int]
) -> dict[str, dict[str, Stance]]:
    """By claim and speaker what was said last."""
    words: dict[str, dict[str, Stance]] = {}
    for node in graph.nodes:
        speaker = node.agent or node.id
        both = set(_names(node, "endorses", {})) & set(_names(node, "challenges", {}))
        for attribute, stance in STANCES.items():
            for name in _names(node, attribute, notes):
                if name in both:
                    _count(notes, "stances that endorse and challenge one claim at once")
                elif name not in claims:
                    _count(notes, "stances on a claim that nobody made")
                elif node.agent is not None and claims[name].agent == node.agent:
                    _count(notes, "stances on the agent's own claim")
                else:
                    words.setdefault(name, {})[speaker] = stance
    return words


def _names(node: Node, attribute: str, notes: dict[str, int]) -> Iterator[str]:
    for entry in _listed(node, attribute, notes):
        name = entry.get("claim") if isinstance(entry, dict) else entry
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if isinstance(name, str):
            yield name
        else:
            _count(notes, f"entries of {attribute!r} that name no claim")


def _listed(node: Node, attribute: str, notes: dict[str, int]) -> list[Any]:
    found = node.attributes.get(attribute, [])
    if isinstance(found, list):
        return found
    _count(notes, f"values of {attribute!r} that are no list")
    return []


def _count(notes: dict[str, int], what: str) -> None:
    notes[what] = notes.get(what, 0) + 1


def _top(claims: list[Claim], side: Literal["endorsed_by", "challenged_by"]) -> tuple[str, ...]:
    most = max(len(getattr(claim, side)) for claim in claims)
    return tuple(claim.id for claim in claims if most and len(getattr(claim, side)) == most)
