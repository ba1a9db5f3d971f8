"""Measurements. They take minutes, need a quiet machine, and are no tests."""
