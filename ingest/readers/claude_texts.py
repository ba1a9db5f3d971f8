"""Claude Code: texts out of results and attachments."""

from typing import Any

from ingest.readers.claude_records import blocks_of
from ingest.readers.decoding import text_of

_NOTE = "agentId:"


def result_text(content: Any) -> str | None:
    """A result as text; what a call's harness adds for its own use is left out."""
    if not isinstance(content, list):
        return text_of(content)
    texts: list[str] = []
    for block in content:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            if not block["text"].startswith(_NOTE):
                texts.append(block["text"])
        elif isinstance(block, dict) and block.get("type") == "image":
            texts.append("[image]")
        elif (text := text_of(block)) is not None:
            texts.append(text)
    return "\n".join(texts)


def queued_text(attachment: Any) -> str | None:
    """What the user said while the agent was at work."""
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return None
    blocks = blocks_of(attachment.get("prompt"))
    return "\n".join(t for b in blocks if isinstance(t := b.get("text"), str)) or None
