"""Makes a graph's nodes and edges from columns, and tells quickly whether they are valid.

A large trace has a million nodes. Made one by one, with a look at each of twenty fields,
they cost several times what decoding their JSON costs. Here each field is a column: a
column is looked at as a whole, mapped where it has to be, and the nodes are made from all
columns at once.

Every check here only *suffices*: where something is unusual, :func:`graphstore.model.validate`
has the last word and the sentence for the user.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat
from math import isfinite
from operator import lt
from typing import Any

from graphstore import identity
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
from graphstore.policies import SEPARATOR, ContentPolicy

NodeDraft = tuple[Any, ...]
"""The fields of a node from ``kind`` on, in the model's order, with positions for ids."""

MAX_DEPTH = 100
"""How deep attributes may be nested to be taken as they are."""

_CHUNK = 1_024
_FEW = 8
_PARTS = 8
_TextColumns = tuple[tuple[Any, ...], ...]
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
_SCALARS: frozenset[type] = frozenset((str, int, float, bool, type(None)))
_VALUES: frozenset[type] = _SCALARS | {dict, list}


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
        place = self._place
        if isinstance(place, range):
            pairs = ordered = sorted(edges)
        else:
            pairs = sorted(edges, key=lambda pair: (place[pair[0]], place[pair[1]]))
            ordered = [(place[source], place[target]) for source, target in pairs]
        bases = [edges[pair] for pair in pairs]
        sources, targets = zip(*ordered, strict=True)
        if not (
            all(map(lt, sources, targets))
            and min(map(min, pairs)) >= 0
            and _BASES.issuperset(bases)
        ):
            self.valid = False
        id_of = self._ids.__getitem__
        return tuple(map(Edge, map(id_of, sources), map(id_of, targets), bases))

    def attributes(self, attributes: Attributes) -> Attributes:
        """Attributes of the graph as a whole, as they may be stored."""
        if not attributes or self._keeps([], [attributes]):
            return attributes
        kept = self._policy.attributes(attributes)
        self._look_at([], [kept])
        return kept

    def _some(self, drafts: Sequence[NodeDraft], start: int) -> Iterable[Node]:
        (
            kinds,
            names,
            roles,
            owners,
            recipients,
            deliveries,
            contents,
            hashes,
            inputs,
            outputs,
            accesses,
            parents,
            rounds,
            starts,
            ends,
            tokens_in,
            tokens_out,
            statuses,
            attributes,
        ) = zip(*drafts, strict=True)
        stop = start + len(drafts)
        if not (
            self._kinds.issuperset(kinds)
            and _ROLES.issuperset(roles)
            and _DELIVERIES.issuperset(deliveries)
            and _STATUSES.issuperset(statuses)
            and _within(rounds, 0)
            and _within(tokens_in, 0)
            and _within(tokens_out, 0)
            and _within(starts, -_INT64)
            and _within(ends, -_INT64)
        ):
            self.valid = False
        names, contents, hashes, inputs, outputs, attributes = self._stored(
            (names, contents, hashes, inputs, outputs, attributes)
        )
        agents = self._agents
        return map(
            Node,
            self._ids[start:stop],
            range(start, stop),
            kinds,
            names,
            roles,
            [None if owner is None else agents[owner] for owner in owners],
            self._recipients(recipients),
            deliveries,
            contents,
            hashes,
            inputs,
            outputs,
            self._accesses(accesses),
            self._parents(parents, start),
            rounds,
            starts,
            ends,
            tokens_in,
            tokens_out,
            statuses,
            attributes,
        )

    def _stored(self, columns: _TextColumns) -> _TextColumns:
        """Names, contents, hashes, inputs, outputs and attributes as they may be stored."""
        names, contents, hashes, inputs, outputs, attributes = columns
        texts = [content for content in contents if content is not None]
        texts.extend(set(names))
        if any(hashes):
            texts.extend(filter(None, hashes))
        if any(inputs) or any(outputs):
            texts.extend(_artifact_texts((*inputs, *outputs)))
        if self._keeps(texts, [each for each in attributes if each]):
            digest = identity.content_hash
            hashes = tuple(
                [
                    given if content is None else digest(content)
                    for content, given in zip(contents, hashes, strict=True)
                ]
            )
            return names, contents, hashes, inputs, outputs, attributes
        count = len(names)
        if count > _FEW:
            # Mostly it is one node of many that the policy changes: the others are found
            # to be kept part by part, faster than one by one.
            step = max(_FEW, -(-count // _PARTS))
            parts = [
                self._stored(tuple([column[start : start + step] for column in columns]))
                for start in range(0, count, step)
            ]
            return tuple([tuple(chain(*pieces)) for pieces in zip(*parts, strict=True)])
        policy = self._policy
        contents, hashes = _one_by_one(policy, contents, hashes)
        names = tuple([policy.label(name) for name in names])
        inputs = tuple([labelled(listed, policy.label) for listed in inputs])
        outputs = tuple([labelled(listed, policy.label) for listed in outputs])
        attributes = tuple([policy.attributes(each) if each else {} for each in attributes])
        texts = [*filter(None, contents), *names, *filter(None, hashes)]
        texts.extend(_artifact_texts((*inputs, *outputs)))
        self._look_at(texts, attributes)
        return names, contents, hashes, inputs, outputs, attributes

    def _keeps(self, texts: list[str], attributes: Sequence[Attributes]) -> bool:
        """Whether the policy leaves all of this as it is; looks at what a store can hold."""
        seen = self._look_at(texts, attributes)
        return seen is not None and self._policy.keeps(*seen)

    def _look_at(
        self, texts: list[str], attributes: Sequence[Attributes]
    ) -> tuple[str, bytes, set[str]] | None:
        """All texts joined, the same in UTF-8, and the keys; None where one is unusual."""
        keys: set[str] = set()
        if attributes:
            found = _gathered(attributes)
            if found is None:
                self.valid = False
                return None
            strings, keys = found
            texts = [*texts, *strings, *keys]
        joined = SEPARATOR.join(texts)
        try:
            return joined, joined.encode(), keys
        except UnicodeEncodeError:
            self.valid = False
            return None

    def _recipients(self, column: Sequence[tuple[int, ...]]) -> Iterable[tuple[str, ...]]:
        known = self._delivered
        agents = self._agents
        for positions in set(column).difference(known):
            if positions[0] < 0:
                self.valid = False
            known[positions] = tuple([agents[position] for position in positions])
        return [known[positions] for positions in column]

    def _accesses(
        self, column: Sequence[tuple[tuple[int, AccessMode], ...]]
    ) -> Iterable[tuple[Access, ...]]:
        if not any(column):
            return repeat(())
        resources = self._resources
        for accesses in column:
            for position, mode in accesses:
                if position < 0 or mode not in _MODES:
                    self.valid = False
        return [
            tuple([Access(resources[position], mode) for position, mode in accesses])
            for accesses in column
        ]

    def _parents(self, column: Sequence[int | None], start: int) -> Iterable[str | None]:
        if column.count(None) == len(column):
            return repeat(None)
        ids, place = self._ids, self._place
        found: list[str | None] = []
        for index, parent in enumerate(column, start):
            if parent is None:
                found.append(None)
                continue
            outer = place[parent]
            if parent < 0 or outer >= index:
                # What comes after its content can contain itself.
                self.valid = False
            found.append(ids[outer])
        return found


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


def _artifact_texts(columns: Iterable[tuple[Artifact, ...]]) -> Iterable[str]:
    for artifact in {artifact for artifacts in columns for artifact in artifacts}:
        yield artifact.name
        if artifact.type is not None:
            yield artifact.type


def _one_by_one(
    policy: ContentPolicy,
    contents: Sequence[str | None],
    hashes: Sequence[str | None],
) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    kept: list[str | None] = []
    digests: list[str | None] = []
    for content, given in zip(contents, hashes, strict=True):
        kept.append(None if content is None else policy.text(content))
        digests.append(
            given if content is None else identity.content_hash(policy.hashed(content))
        )
    return tuple(kept), tuple(digests)


def _within(column: Sequence[Any], least: int) -> bool:
    """Whether all numbers of a column are integers from ``least`` that fit into 64 bits."""
    if column.count(None):
        column = [number for number in column if number is not None]
        if not column:
            return True
    types = set(map(type, column))
    return types == {int} and min(column) >= least and max(column) < _INT64


def _gathered(attributes: Sequence[Attributes]) -> tuple[list[str], set[str]] | None:
    """The texts and the keys of attributes at any depth.

    Returns:
        None where they hold what a store cannot give back, or are nested too deeply.
    """
    strings: list[str] = []
    keys: set[str] = set()
    maps: Sequence[dict[str, Any]] = attributes
    lists: Sequence[list[Any]] = ()
    for _ in range(MAX_DEPTH):
        keys.update(*maps)
        values = [*chain.from_iterable(map(dict.values, maps)), *chain.from_iterable(lists)]
        types = set(map(type, values))
        if not types <= _VALUES:
            return None
        if str in types:
            strings.extend(
                values if len(types) == 1 else [one for one in values if type(one) is str]
            )
        if int in types:
            whole = [one for one in values if type(one) is int]
            if min(whole) < -_INT64 or max(whole) >= _INT64:
                return None
        if float in types and not all(isfinite(one) for one in values if type(one) is float):
            return None
        maps = [one for one in values if type(one) is dict] if dict in types else ()
        lists = [one for one in values if type(one) is list] if list in types else ()
        if not maps and not lists:
            return (strings, keys) if set(map(type, keys)) <= {str} else None
    return None
