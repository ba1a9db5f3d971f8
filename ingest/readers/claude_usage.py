"""Claude Code: how many tokens a response took."""

from typing import Any

from ingest.readers.thread_items import Step

_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_TOO_MANY = 2**62


def add_usage(step: Step, usage: Any) -> None:
    """Counts a response's tokens once: the records of one response repeat the count."""
    if not isinstance(usage, dict):
        return
    read: int | None = None
    for name in _READ:
        count = _number(usage.get(name))
        if count is not None:
            read = count if read is None else read + count
    if read is not None:
        step.tokens_in = max(read, step.tokens_in or 0)
    written = _number(usage.get("output_tokens"))
    if written is not None:
        step.tokens_out = max(written, step.tokens_out or 0)


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < _TOO_MANY else None
