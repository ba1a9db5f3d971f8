"""The script that Streamlit runs again for every change.

It stands alone here: Streamlit takes modules in a folder ``pages`` beside it for scripts.
"""

from app.dashboard.shell import run

run()
