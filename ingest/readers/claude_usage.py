"""Claude Code: how many tokens a response took."""

from typing import Any

from ingest.readers.thread_items import (
    Step,
)


def add_usage(step: Step, usage: Any) -> None:
    """Counts a response's tokens once: the records of one response repeat the count."""
    if not isinstance(usage, dict):
        return
    parts = [
        _number(usage.get(name))
        for name in (
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
        )
    ]
    known = [part for part in parts if part is not None]
    if known:
        step.tokens_in = max(sum(known), step.tokens_in or 0)
    written = _number(usage.get("output_tokens"))
    if written is not None:
        step.tokens_out = max(written, step.tokens_out or 0)


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**62 else None
