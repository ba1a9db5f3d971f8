"""Trajectories and interventions: what reports on many runs found, part by part."""

from app.dashboard.page import Page
from app.dashboard.pages import (
    communication,
    interventions,
    perturbation,
    proposals,
    relations,
    suitability,
)

PARTS = {
    "Proposals": proposals.show,
    "Interventions": interventions.show,
    "Perturbation": perturbation.show,
    "Communication": communication.show,
    "Relations": relations.show,
    "Suitability": suitability.show,
}


def show(page: Page) -> None:
    """Shows one part."""
    PARTS[page.tabs("What to show", list(PARTS), "part")](page)
