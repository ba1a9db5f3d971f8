"""Runs and decompositions as files, in three formats of traces."""
