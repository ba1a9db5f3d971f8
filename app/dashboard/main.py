"""The script that Streamlit runs again for every change."""

from app.dashboard.shell import run

run()
