"""Messages as programs hand them to language models and get them back, in all usual shapes.

One kind of message for OpenAI's chat completions and responses, Anthropic's content blocks,
LangChain's messages (as objects, as constructors and as streamed), and the parts of the GenAI
conventions and of Gemini. Platforms that keep spans store such values as input and output,
often as JSON in a text.
"""

from typing import Any

import msgspec

from ingest.readers.decoding import text_of

USER, ASSISTANT, SYSTEM, TOOL = "user", "assistant", "system", "tool"

_ROLES = {
    "human": USER,
    "ai": ASSISTANT,
    "model": ASSISTANT,
    "developer": SYSTEM,
    "function": TOOL,
    "user": USER,
    "assistant": ASSISTANT,
    "system": SYSTEM,
    "tool": TOOL,
}
_CLASSES = {
    "HumanMessage": USER,
    "HumanMessageChunk": USER,
    "AIMessage": ASSISTANT,
    "AIMessageChunk": ASSISTANT,
    "SystemMessage": SYSTEM,
    "ToolMessage": TOOL,
    "FunctionMessage": TOOL,
}
_HOLDERS = ("messages", "choices", "generations", "output", "input", "message", "outputs")
_TEXT_PARTS = frozenset({"text", "output_text", "input_text", "refusal", "summary_text"})
_CALL_PARTS = frozenset({"tool_call", "tool_use", "function_call", "custom_tool_call"})
_ANSWER_PARTS = frozenset(
    {"tool_call_response", "tool_result", "function_call_output", "custom_tool_call_output"}
)
_DEEPEST = 6
_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()


class Call(msgspec.Struct):
    """A tool call that a message asks for."""

    id: str | None
    name: str | None
    arguments: Any = None


class ChatMessage(msgspec.Struct):
    """One message.

    Attributes:
        role: ``user``, ``assistant``, ``system``, ``tool``, or the trace's own word.
        text: Its words, None where it has none.
        calls: The tool calls that it asks for.
        answers: Ids of the tool calls whose results it holds.
        name: Of the sender, or of the tool.
        id: Of the message.
        raw: What it was read from.
    """

    role: str
    text: str | None = None
    calls: list[Call] = []
    answers: list[str] = []
    name: str | None = None
    id: str | None = None
    raw: dict[str, Any] = {}


def decoded(value: Any) -> Any:
    """A value whose JSON may stand in a text, even twice; texts that are none stay."""
    if not isinstance(value, str):
        return value
    for _ in range(3):
        if not isinstance(value, str) or not value.startswith(("{", "[", '"')):
            break
        try:
            value = _DECODER.decode(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            break
    return value


def messages_of(value: Any) -> list[ChatMessage] | None:
    """The messages that an input or output holds.

    Args:
        value: Any JSON value, see :func:`decoded`.

    Returns:
        The messages in order; None where the value holds something else.
    """
    found: list[ChatMessage] = []
    _gather(value, 0, found)
    return found or None


def text_in(value: Any) -> str | None:
    """What an output says: the words of its messages, else the value itself as text.

    None for messages without words, such as those that only call tools.
    """
    value = decoded(value)
    return said_in(value, messages_of(value))


def said_in(value: Any, messages: list[ChatMessage] | None) -> str | None:
    """:func:`text_in` of a decoded value whose messages are known."""
    if messages is None:
        return _as_text(value)
    return _joined([message.text for message in messages])


def answer_in(value: Any) -> str | None:
    """The answer that a run's output holds: the last words of an assistant, else as text."""
    value = decoded(value)
    messages = messages_of(value)
    if messages is None:
        return _as_text(value)
    return next((m.text for m in reversed(messages) if m.role == ASSISTANT and m.text), None)


def asked_in(value: Any) -> str | None:
    """What an input asks for: the first words of a user, else the value itself as text."""
    value = decoded(value)
    return request_in(value, messages_of(value))


def request_in(value: Any, messages: list[ChatMessage] | None) -> str | None:
    """:func:`asked_in` of a decoded value whose messages are known."""
    if messages is None:
        return _as_text(value)
    return next((m.text for m in messages if m.role == USER and m.text), None)


def _as_text(value: Any) -> str | None:
    """A value that holds no messages; an object with one text in it is that text.

    An empty list of messages says nothing.
    """
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, dict) and len(value) == 1:
        if value.get("messages") == []:
            return None
        (only,) = value.values()
        if isinstance(only, str):
            return only or None
    return text_of(value) if value or value == 0 else None


def _gather(value: Any, depth: int, found: list[ChatMessage]) -> None:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            _gather(item, depth + 1, found)
    elif isinstance(value, dict):
        message = as_message(value)
        if message is not None:
            found.append(message)
            return
        for key in _HOLDERS:
            held = value.get(key)
            if held and isinstance(held, list | dict):
                _gather(held, depth + 1, found)
                return


def as_message(value: Any) -> ChatMessage | None:
    """One message, None where the value is none."""
    if not isinstance(value, dict):
        return None
    role = value.get("role")
    kind = value.get("type")
    if isinstance(role, str) and role:
        return _plain(value, _ROLES.get(role.casefold(), role))
    if kind == "constructor" and isinstance(kwargs := value.get("kwargs"), dict):
        name = value.get("id")
        label = name[-1] if isinstance(name, list) and name else None
        known = _CLASSES.get(label) if isinstance(label, str) else None
        return _plain(kwargs, known) if known is not None else None
    if isinstance(kind, str):
        if kind in _CALL_PARTS or kind in _ANSWER_PARTS:
            return _item(value, kind)
        known = _ROLES.get(kind) or _CLASSES.get(kind)
        if known is not None and "content" in value:
            return _plain(value, known)
        if known is not None and isinstance(data := value.get("data"), dict):
            return _plain(data, known)
    return None


def _item(value: dict[str, Any], kind: str) -> ChatMessage:
    message = ChatMessage(TOOL if kind in _ANSWER_PARTS else ASSISTANT, raw=value)
    _read_part(message, value, [])
    if kind in _ANSWER_PARTS:
        message.text = text_of(_first(value, "output", "content", "result", "response"))
    return message


def _plain(value: dict[str, Any], role: str) -> ChatMessage:
    message = ChatMessage(role, name=_id(value.get("name")), id=_id(value.get("id")), raw=value)
    content = value.get("content")
    if content is None:
        content = value.get("parts")
    if isinstance(content, str):
        message.text = content or None
    elif isinstance(content, list):
        texts: list[str | None] = []
        for part in content:
            if isinstance(part, str):
                texts.append(part)
            elif isinstance(part, dict):
                _read_part(message, part, texts)
        message.text = _joined(texts)
    elif content is not None:
        message.text = text_of(content) or None
    if asked := tool_calls_in(value):
        known = {call.id for call in message.calls} - {None}
        message.calls += [call for call in asked if call.id not in known]
    if role == TOOL and (answered := _id(value.get("tool_call_id"))) is not None:
        message.answers.append(answered)
    return message


def _read_part(message: ChatMessage, part: dict[str, Any], texts: list[str | None]) -> None:
    said = part.get("type")
    kind = said if isinstance(said, str) else None
    if kind in _CALL_PARTS:
        name = part.get("name")
        message.calls.append(
            Call(
                _id(_first(part, "call_id", "id")),
                name if isinstance(name, str) else None,
                _first(part, "arguments", "input", "args"),
            )
        )
    elif kind in _ANSWER_PARTS:
        answered = _id(_first(part, "call_id", "tool_use_id", "id"))
        if answered is not None:
            message.answers.append(answered)
        texts.append(text_of(_first(part, "output", "content", "result", "response")))
    elif kind in _TEXT_PARTS or kind is None:
        text = _first(part, "text", "content", "refusal")
        if isinstance(text, str):
            texts.append(text)
        elif isinstance(called := part.get("functionCall"), dict):
            name = called.get("name")
            message.calls.append(
                Call(_id(called.get("id")), name if isinstance(name, str) else None)
            )


def tool_calls_in(value: dict[str, Any]) -> list[Call]:
    """The calls that a message lists beside its content.

    Args:
        value: The message as it was written, with ``tool_calls``.
    """
    calls = value.get("tool_calls")
    if not calls and isinstance(more := value.get("additional_kwargs"), dict):
        calls = more.get("tool_calls")
    found: list[Call] = []
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            continue
        function = call.get("function")
        said = function if isinstance(function, dict) else call
        name = said.get("name")
        found.append(
            Call(
                _id(call.get("id")),
                name if isinstance(name, str) else None,
                _first(said, "arguments", "args"),
            )
        )
    return found


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _first(value: dict[str, Any], *keys: str) -> Any:
    for key in keys:
        if (found := value.get(key)) is not None:
            return found
    return None


def _joined(texts: list[str | None]) -> str | None:
    said = [text for text in texts if text]
    return "\n".join(said) if said else None
