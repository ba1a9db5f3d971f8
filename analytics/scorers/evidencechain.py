"""EvidenceChain: the supporting facts of a story, in the order in which they are used.

Source: MASTraceBench, appendix "EvidenceChain" (Eq. 11 to 14): the mean of a set-level F1 and
of the share of pairs of shared facts that stand in the right order. Open in the paper, and
chosen here: **without a pair the order scores 0**, except where the right chain is one fact
and it was found, which leaves nothing to order; a fact that is named twice counts where it
stands first; an empty chain is a chain, and scores 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import msgspec

from analytics.scorers.base import SCALE, Scorer, invalid, read_fields
from analytics.scorers.parsing import NOTHING, find_json, member, whole_number
from analytics.verdicts import Verdict
from graphstore.errors import UsageError

CHAIN_NAMES = ("evidence_chain", "evidencechain", "chain")
"""What an object may call its chain."""
MOST_FACTS = 1_000
"""A longer chain is no chain: its pairs are counted one by one."""


class _Fields(msgspec.Struct, forbid_unknown_fields=True):
    gold: list[int | str]


@dataclass(frozen=True, slots=True)
class EvidenceChainInstance:
    """The right chain: ids of facts in order, at least one, none twice."""

    gold: tuple[str, ...]


def set_f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """F1 of precision and recall over sets of facts (Eq. 11 and 12), between 0 and 1."""
    shared = len(set(predicted) & set(gold))
    if not shared:
        return 0.0
    # 2 P R / (P + R) with P = shared / predicted and R = shared / gold.
    return 2 * shared / (len(set(predicted)) + len(set(gold)))


def order_agreement(predicted: Sequence[str], gold: Sequence[str]) -> float | None:
    """Share of pairs of shared facts in the right order (Eq. 13), between 0 and 1.

    Args:
        predicted: Ids without repetition.
        gold: Ids without repetition.

    Returns:
        None where fewer than two facts are shared: there is no pair.
    """
    place = {fact: position for position, fact in enumerate(gold)}
    shared = [place[fact] for fact in predicted if fact in place]
    if len(shared) < 2:
        return None
    pairs = list(combinations(shared, 2))
    return sum(first < second for first, second in pairs) / len(pairs)


class EvidenceChainScorer(Scorer):
    """The mean of set F1 and order, times 100."""

    name = "evidencechain"
    title = "Evidence chain: right facts in the right order"

    def read_instance(self, fields: Mapping[str, Any]) -> EvidenceChainInstance:
        """``gold``: the ids of the facts, in order."""
        gold = tuple(str(fact).strip() for fact in read_fields(fields, _Fields).gold)
        if not gold or len(gold) > MOST_FACTS:
            raise UsageError(f"the right chain must hold 1 to {MOST_FACTS:,} facts")
        if len(set(gold)) < len(gold):
            raise UsageError("the right chain names a fact twice")
        return EvidenceChainInstance(gold)

    def instance_of_expected(self, expected: str) -> EvidenceChainInstance | None:
        """A run's expected answer is the right chain, where it is one."""
        chain = _chain(find_json(expected))
        return EvidenceChainInstance(chain) if isinstance(chain, tuple) and chain else None

    def score(self, instance: EvidenceChainInstance, value: str) -> Verdict:
        """A chain is JSON: a list of ids, alone or as ``evidence_chain``."""
        chain = _chain(find_json(value))
        if isinstance(chain, str):
            return invalid(chain)
        order = order_agreement(chain, instance.gold)
        if order is None:
            order = float(len(instance.gold) == 1 and instance.gold[0] in chain)
        return Verdict(SCALE * (set_f1(chain, instance.gold) + order) / 2, True)

    def normal_form(self, instance: EvidenceChainInstance, value: str) -> str:  # noqa: ARG002
        """The ids in their order."""
        return str(_chain(find_json(value)))


def _chain(found: Any) -> tuple[str, ...] | str:
    """Ids in order, none twice, or what is wrong with them."""
    if found is NOTHING:
        return "it holds no JSON"
    found = member(found, *CHAIN_NAMES)
    if not isinstance(found, list):
        return "it holds no list of facts"
    if len(found) > MOST_FACTS:
        return f"it holds more than {MOST_FACTS:,} facts"
    facts = []
    for fact in found:
        number = whole_number(fact)
        if number is None and not isinstance(fact, str):
            return "it holds something that is no id of a fact"
        facts.append(str(fact).strip() if number is None else str(number))
    return tuple(dict.fromkeys(facts))
