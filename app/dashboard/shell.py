"""The frame of the dashboard: navigation around one page."""

from pathlib import Path
from typing import Any

import streamlit as st

from app.dashboard.catalogue import VIEWS
from app.dashboard.page import View, shown

ICON = Path(__file__).with_name("favicon.svg")


def run(first: str = "") -> None:
    """Runs the app once, as Streamlit does for every change.

    Args:
        first: Name of the page that an address without one shows.
    """
    # An icon by name or emoji would be fetched from another machine.
    st.set_page_config(page_title="masgraph", page_icon=str(ICON), layout="wide", menu_items={})
    targets: dict[str, Any] = {}

    def made(view: View) -> Any:
        def show() -> None:
            shown(view, targets)

        is_first = view.name == first
        return st.Page(
            show,
            title=view.title,
            icon=view.icon,
            url_path=view.name or "overview",
            default=is_first,
        )

    targets.update({view.name: made(view) for view in VIEWS})
    st.navigation(list(targets.values())).run()
