"""A page."""

from app.dashboard.page import Page


def show(page: Page) -> None:
    """Shows the page."""
    page.empty("to come")
