"""The dashboard: a Streamlit app over a store, for people who would rather look than read."""
