"""Tool calls in the messages of chat completions: several frameworks keep them as they are."""

from dataclasses import dataclass
from typing import Any

from ingest.readers.decoding import text_of

UNKNOWN_TOOL = "unknown tool"


@dataclass(slots=True)
class ChatCall:
    """One tool call of an assistant's message.

    Attributes:
        arguments: JSON text, as the model wrote it.
    """

    name: str
    id: str | None
    arguments: str | None


def calls_of(message: dict[str, Any]) -> list[ChatCall]:
    """The calls of a message, also the single one of the older ``function_call``.

    Args:
        message: An assistant's message: ``tool_calls[{id, function{name, arguments}}]``, or
            the same without the inner ``function``.
    """
    listed = message.get("tool_calls")
    found = [_call(item) for item in listed] if listed and isinstance(listed, list) else []
    if not found and isinstance(message.get("function_call"), dict):
        found = [_call(message["function_call"])]
    return found


def _call(item: Any) -> ChatCall:
    if not isinstance(item, dict):
        return ChatCall(UNKNOWN_TOOL, None, text_of(item))
    function = item.get("function")
    inner = function if isinstance(function, dict) else item
    return ChatCall(
        text_of(inner.get("name")) or UNKNOWN_TOOL,
        text_of(item.get("id")),
        text_of(inner.get("arguments")),
    )


def text_of_content(content: Any) -> str | None:
    """A message's content as text: a list of parts becomes the text of its parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        texts = [part["text"] for part in content if isinstance(part.get("text"), str)]
        if len(texts) == len(content):
            return "\n".join(texts)
    return text_of(content)
