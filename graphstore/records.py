"""A graph as the rows of a store, and rows as a graph again: two inverse pure functions."""

from graphstore.graph_of_rows import graph_from_rows
from graphstore.rows_of_graph import fingerprint, graph_label, graph_rows

__all__ = ["fingerprint", "graph_from_rows", "graph_label", "graph_rows"]
