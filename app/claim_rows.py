"""Claims as nodes of the store: who made them, who endorses and who challenges them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphstore.identity import digest
from graphstore.rows import Rows
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from analytics.claims import Claim, ClaimSignals, UnitClaims

CLAIM_BATCH = 5_000
"""Claims that share a transaction, and some more: those of one run stay together."""


def save_claims(store: GraphStore, claims: Iterable["ClaimSignals"]) -> int:
    """Writes ``Claim`` nodes; they take the place of those of the same runs.

    Args:
        store: Where the runs are.
        claims: One for each run.

    Returns:
        Number of claims.
    """
    total = waiting = 0
    rows = Rows()
    for signals in claims:
        for unit in signals.units:
            for position, claim in enumerate(unit.claims):
                _claim_rows(rows, signals.run, unit, position, claim)
            waiting += len(unit.claims)
        if waiting >= CLAIM_BATCH:
            store.write_results(rows)
            total, waiting, rows = total + waiting, 0, Rows()
    if waiting:
        store.write_results(rows)
    return total + waiting


def _claim_rows(
    rows: Rows, run: str, unit: "UnitClaims", position: int, claim: "Claim"
) -> None:
    identity = f"claim-{digest(run, claim.id)}"
    rows.node(
        "Claim",
        {
            "id": identity,
            "name": claim.id,
            "text": claim.text,
            "unit": claim.unit,
            "position": position,
            "endorsements": len(claim.endorsed_by),
            "challenges": len(claim.challenged_by),
            "top_endorsed": claim.id in unit.top_endorsed,
            "top_challenged": claim.id in unit.top_challenged,
        },
    )
    rows.relate("OF", "Claim", "Run", {"source": identity, "target": run})
    rows.relate("CLAIMS", "Action", "Claim", {"source": claim.node, "target": identity})
    for type_, speakers in (
        ("ENDORSES", claim.endorsed_by),
        ("CHALLENGES", claim.challenged_by),
    ):
        for speaker in speakers:
            # A voice without an agent is an action: it counts, and has no relation.
            if "/agent/" in speaker:
                rows.relate(type_, "Agent", "Claim", {"source": speaker, "target": identity})
