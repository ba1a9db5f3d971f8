"""Columns that a command prints and a page of the dashboard shows."""

EFFECT_HEADINGS = {
    "changed": "changed",
    "output_reachability": "reach output",
    "output_reachability_change": "(change)",
    "output_path_length": "path to it",
    "output_path_length_change": "(change)",
    "reachable_pair_fraction": "pairs",
    "reachable_pair_fraction_change": "(change)",
    "articulation_points": "cut points",
    "critical_units": "critical",
    "cut_off": "cut off",
    "reached": "reached",
    "output_reached": "output reached",
}
"""What a predicted intervention does to a team's structure, with headings."""

ROUND_COLUMNS = (
    "runs",
    "carried",
    "score",
    "messages",
    "mean_tokens",
    "deviation_tokens",
    "mean_characters",
)
"""What is told of a round of messages."""
