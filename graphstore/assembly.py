"""Makes a graph's nodes and edges, and tells quickly whether they are valid.

Texts are looked at together, many nodes at a time; the rest in one pass over the nodes.

Every check here only *suffices*: where something is unusual, :func:`graphstore.model.validate`
has the last word and the sentence for the user.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import filterfalse
from typing import Any

from graphstore import identity
from graphstore.attribute_texts import texts_and_keys
from graphstore.model import (
    ACCESS_MODES,
    ACTION_KINDS,
    BASES,
    DELIVERIES,
    ROLES,
    STATUSES,
    SUBTASK_KINDS,
    Access,
    AccessMode,
    Artifact,
    Attributes,
    Basis,
    Edge,
    GraphKind,
    Node,
)
from graphstore.policies import ContentPolicy

NodeDraft = tuple[Any, ...]
"""The fields of a node from ``kind`` on, in the model's order, with positions for ids."""

_CHUNK = 1_024
_FEW = 8
_PARTS = 8
_NAME, _CONTENT, _HASH, _INPUTS, _OUTPUTS, _ATTRIBUTES = 1, 6, 7, 8, 9, 18
"""Places in a draft of what the words of a trace stand in."""

_INT64 = 2**63
_ROLES = frozenset(ROLES)
_BASES = frozenset(BASES)
_MODES = frozenset(ACCESS_MODES)
_DELIVERIES = frozenset((*DELIVERIES, None))
_STATUSES = frozenset((*STATUSES, None))
_KINDS: dict[str, frozenset[str]] = {
    "run": frozenset(ACTION_KINDS),
    "decomposition": frozenset(SUBTASK_KINDS),
}


class Assembly:
    """The nodes and edges of one graph in the making.

    Args:
        kind: Of the graph.
        policy: What may be stored.
        ids: Of the nodes, by index.
        place: The index of each node by its position as it was added.
        agents: Ids by position.
        resources: Ids by position.

    Attributes:
        valid: Whether all parts so far are known to keep the model's rules; False only says
            that this was not seen at a glance.
        parents_follow: Whether a node comes before one that contains it: only then can one
            contain itself, which is not looked at here.
    """

    def __init__(
        self,
        kind: GraphKind,
        policy: ContentPolicy,
        ids: Sequence[str],
        place: Sequence[int],
        agents: Sequence[str],
        resources: Sequence[str],
    ) -> None:
        self.valid = True
        self.parents_follow = False
        self._policy = policy
        self._kinds = _KINDS.get(kind, frozenset())
        self._ids = ids
        self._place = place
        self._agents = agents
        self._resources = resources
        self._delivered: dict[tuple[int, ...], tuple[str, ...]] = {(): ()}

    def nodes(self, drafts: Sequence[NodeDraft]) -> tuple[Node, ...]:
        """The nodes of a graph.

        Args:
            drafts: In the order of their index.
        """
        if len(drafts) <= _CHUNK:
            return tuple(self._some(drafts, 0))
        made: list[Node] = []
        for start in range(0, len(drafts), _CHUNK):
            made += self._some(drafts[start : start + _CHUNK], start)
        return tuple(made)

    def edges(self, edges: dict[tuple[int, int], Basis]) -> tuple[Edge, ...]:
        """The edges of a graph, in order.

        Args:
            edges: Bases by positions as the nodes were added.
        """
        if not edges:
            return ()
        ids, place = self._ids, self._place
        if not isinstance(place, range):
            if min(map(min, edges)) < 0:
                self.valid = False
            edges = {
                (place[source], place[target]): basis
                for (source, target), basis in edges.items()
            }
        made: list[Edge] = []
        # Pairs alone are sorted in half the time that they take with what belongs to them.
        for pair in sorted(edges):
            source, target = pair
            basis = edges[pair]
            if not 0 <= source < target or basis not in _BASES:
                self.valid = False
            made.append(Edge(ids[source], ids[target], basis))
        return tuple(made)

    def attributes(self, attributes: Attributes) -> Attributes:
        """Attributes of the graph as a whole, as they may be stored."""
        if not attributes or self._keeps([], [attributes]):
            return attributes
        kept = self._policy.attributes(attributes)
        self._look_at([], [kept])
        return kept

    def _some(self, drafts: Sequence[NodeDraft], start: int) -> list[Node]:
        drafts, hashes = self._stored(drafts)
        kinds, ids, agents, delivered = self._kinds, self._ids, self._agents, self._delivered
        valid = self.valid
        made: list[Node] = []
        for index, (draft, digest) in enumerate(zip(drafts, hashes, strict=True), start):
            (
                kind,
                name,
                role,
                owner,
                recipients,
                delivery,
                content,
                _,
                inputs,
                outputs,
                accesses,
                parent,
                round_,
                started_at,
                ended_at,
                tokens_in,
                tokens_out,
                status,
                attributes,
            ) = draft
            if (
                kind not in kinds
                or role not in _ROLES
                or delivery not in _DELIVERIES
                or status not in _STATUSES
                or (round_ is not None and not _counts(round_))
                or (tokens_in is not None and not _counts(tokens_in))
                or (tokens_out is not None and not _counts(tokens_out))
                or (started_at is not None and not _fits(started_at))
                or (ended_at is not None and not _fits(ended_at))
            ):
                valid = False
            received = delivered.get(recipients)
            made.append(
                Node(
                    ids[index],
                    index,
                    kind,
                    name,
                    role,
                    None if owner is None else agents[owner],
                    self._recipients(recipients) if received is None else received,
                    delivery,
                    content,
                    digest,
                    inputs,
                    outputs,
                    self._accesses(accesses) if accesses else (),
                    None if parent is None else self._parent(parent, index),
                    round_,
                    started_at,
                    ended_at,
                    tokens_in,
                    tokens_out,
                    status,
                    attributes,
                )
            )
        self.valid = self.valid and valid
        return made

    def _stored(
        self, drafts: Sequence[NodeDraft]
    ) -> tuple[Sequence[NodeDraft], list[str | None]]:
        """Drafts as they may be stored, and the hashes of their contents."""
        texts: list[str] = []
        attributes: list[Attributes] = []
        artifacts: list[Artifact] = []
        for draft in drafts:
            texts.append(draft[_NAME])
            if draft[_CONTENT] is not None:
                texts.append(draft[_CONTENT])
            if draft[_HASH]:
                texts.append(draft[_HASH])
            if draft[_INPUTS]:
                artifacts += draft[_INPUTS]
            if draft[_OUTPUTS]:
                artifacts += draft[_OUTPUTS]
            if draft[_ATTRIBUTES]:
                attributes.append(draft[_ATTRIBUTES])
        if artifacts:
            texts += _artifact_texts(artifacts)
        if self._keeps(texts, attributes):
            digest = identity.content_hash
            return drafts, [
                draft[_HASH] if draft[_CONTENT] is None else digest(draft[_CONTENT])
                for draft in drafts
            ]
        count = len(drafts)
        if count > _FEW:
            # Mostly it is one node of many that the policy changes: the others are found
            # to be kept part by part, faster than one by one.
            step = max(_FEW, -(-count // _PARTS))
            stored: list[NodeDraft] = []
            hashes: list[str | None] = []
            for first in range(0, count, step):
                some, digests = self._stored(drafts[first : first + step])
                stored += some
                hashes += digests
            return stored, hashes
        changed = [_changed(self._policy, draft) for draft in drafts]
        stored = [draft for draft, _ in changed]
        texts = [text for draft in stored for text in _texts_of(draft)]
        self._look_at(texts, [draft[_ATTRIBUTES] for draft in stored])
        return stored, [digest for _, digest in changed]

    def _keeps(self, texts: list[str], attributes: Sequence[Attributes]) -> bool:
        """Whether the policy leaves all of this as it is; looks at what a store can hold."""
        seen = self._look_at(texts, attributes)
        return seen is not None and self._policy.keeps(*seen)

    def _look_at(
        self, texts: list[str], attributes: Sequence[Attributes]
    ) -> tuple[list[str], set[str]] | None:
        """All texts and all keys; None where one of them is unusual."""
        keys: set[str] = set()
        if attributes:
            found = texts_and_keys(attributes)
            if found is None:
                self.valid = False
                return None
            strings, keys = found
            texts = [*texts, *strings, *keys]
        try:
            for text in filterfalse(str.isascii, texts):
                text.encode()
        except UnicodeEncodeError:
            self.valid = False
            return None
        return texts, keys

    def _recipients(self, positions: tuple[int, ...]) -> tuple[str, ...]:
        """Ids of agents, made once for each set of them."""
        if positions[0] < 0:
            self.valid = False
        agents = self._agents
        found = tuple([agents[position] for position in positions])
        self._delivered[positions] = found
        return found

    def _accesses(self, accesses: tuple[tuple[int, AccessMode], ...]) -> tuple[Access, ...]:
        for position, mode in accesses:
            if position < 0 or mode not in _MODES:
                self.valid = False
        resources = self._resources
        return tuple([Access(resources[position], mode) for position, mode in accesses])

    def _parent(self, parent: int, index: int) -> str:
        outer = self._place[parent]
        if parent < 0:
            self.valid = False
        if outer >= index:
            self.parents_follow = True
        return self._ids[outer]


def labelled(
    artifacts: Iterable[Artifact], label: Callable[[str], str]
) -> tuple[Artifact, ...]:
    """Artifacts with their names and types as they may be stored, each once."""
    return tuple(
        dict.fromkeys(
            Artifact(label(one.name), None if one.type is None else label(one.type))
            for one in artifacts
        )
    )


def _artifact_texts(artifacts: Iterable[Artifact]) -> Iterator[str]:
    for artifact in set(artifacts):
        yield artifact.name
        if artifact.type is not None:
            yield artifact.type


def _texts_of(draft: NodeDraft) -> Iterator[str]:
    """The texts of a draft, those of its attributes left out."""
    yield draft[_NAME]
    if draft[_CONTENT] is not None:
        yield draft[_CONTENT]
    if draft[_HASH]:
        yield draft[_HASH]
    yield from _artifact_texts((*draft[_INPUTS], *draft[_OUTPUTS]))


def _changed(policy: ContentPolicy, draft: NodeDraft) -> tuple[NodeDraft, str | None]:
    """A draft as it may be stored, and the hash of its content."""
    fields = list(draft)
    content, digest = draft[_CONTENT], draft[_HASH]
    if content is not None:
        fields[_CONTENT] = policy.text(content)
        digest = identity.content_hash(policy.hashed(content))
    fields[_NAME] = policy.label(draft[_NAME])
    fields[_HASH] = digest
    fields[_INPUTS] = labelled(draft[_INPUTS], policy.label)
    fields[_OUTPUTS] = labelled(draft[_OUTPUTS], policy.label)
    fields[_ATTRIBUTES] = policy.attributes(draft[_ATTRIBUTES]) if draft[_ATTRIBUTES] else {}
    return tuple(fields), digest


def _counts(value: Any) -> bool:
    """Whether a value is an integer from 0 that fits into 64 bits."""
    return type(value) is int and 0 <= value < _INT64


def _fits(value: Any) -> bool:
    """Whether a value is an integer that fits into 64 bits."""
    return type(value) is int and -_INT64 <= value < _INT64
