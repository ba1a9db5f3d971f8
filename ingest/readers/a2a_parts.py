"""A2A: the objects of the Agent2Agent protocol, in the spellings of its versions.

Source: the A2A specification 0.2 to 1.0. Until 0.3 an object says what it is by ``kind``,
methods are ``message/send``, states ``completed``; in 1.0 the field around it does, methods
are ``SendMessage``, states ``TASK_STATE_COMPLETED``.
"""

from typing import Any

from graphstore.model import Artifact
from ingest.readers.decoding import text_of

Record = dict[str, Any]

SENDING = frozenset(
    {"message/send", "message/stream", "tasks/send", "tasks/sendSubscribe"}
    | {"SendMessage", "SendStreamingMessage"}
)
METHODS = SENDING | frozenset(
    {"tasks/get", "tasks/cancel", "tasks/resubscribe", "tasks/list", "GetTask", "ListTasks"}
    | {"CancelTask", "SubscribeToTask", "TaskSubscription", "GetExtendedAgentCard"}
    | {"agent/getAuthenticatedExtendedCard", "agent/authenticatedExtendedCard"}
)
_WRAPPED = {
    "task": "task",
    "message": "message",
    "msg": "message",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
}

_MARKS = {
    "task": frozenset({"status", "contextId", "artifacts", "history"}),
    "message": frozenset({"parts", "messageId"}),
    "status-update": frozenset({"status"}),
    "artifact-update": frozenset({"artifact"}),
}
"""One of which an object has to have to be what the field around it says."""


_KINDS = frozenset(_WRAPPED.values())


def kind_of(value: Any) -> tuple[str, Record] | None:
    """What an object is, and the object itself, out of the field around it.

    Returns:
        ``task``, ``message``, ``status-update``, ``artifact-update`` or ``card``, with the
        object; None for anything else.
    """
    if not isinstance(value, dict):
        return None
    kind = value.get("kind")
    if isinstance(kind, str) and kind in _KINDS:
        return kind, value
    for key, name in _WRAPPED.items():
        inner = value.get(key)
        if (
            isinstance(inner, dict)
            and "id" not in value
            and "parts" not in value
            and inner.keys() & _MARKS[name]
        ):
            return name, inner
    status = value.get("status")
    if isinstance(status, dict) and "state" in status:
        return ("task" if "id" in value and "taskId" not in value else "status-update"), value
    if isinstance(value.get("artifact"), dict) and ("taskId" in value or "id" in value):
        return "artifact-update", value
    if "parts" in value and "role" in value:
        return "message", value
    if "skills" in value and "name" in value and "capabilities" in value:
        return "card", value
    return None


def context_of(value: Record) -> str | None:
    """The conversation that an object belongs to; older versions call it a session."""
    return text_of(value.get("contextId")) or text_of(value.get("sessionId")) or None


def task_of(value: Record, kind: str) -> str | None:
    """The task that an object belongs to."""
    if kind == "task":
        return text_of(value.get("id"))
    found = text_of(value.get("taskId"))
    return found or (text_of(value.get("id")) if kind.endswith("update") else None)


def state_of(status: Any) -> str | None:
    """A task's state, as the newer and the older versions both could write it."""
    state = text_of(status.get("state")) if isinstance(status, dict) else None
    if state is None:
        return None
    return state.removeprefix("TASK_STATE_").lower().replace("_", "-")


def is_agents(message: Record) -> bool:
    """Whether a message is the agent's; else it is the client's."""
    return text_of(message.get("role")) in ("agent", "ROLE_AGENT", "assistant", "model")


def content_of(value: Record) -> tuple[str | None, list[Artifact]]:
    """The text of an object's parts, and the files that it carries."""
    parts = value.get("parts")
    texts: list[str] = []
    files: list[Artifact] = []
    for part in parts if isinstance(parts, list) else []:
        if not isinstance(part, dict):
            if (text := text_of(part)) is not None:
                texts.append(text)
            continue
        root = part.get("root")
        inner = root if isinstance(root, dict) else part
        file = _file(inner)
        if file is not None:
            files.append(file)
        elif isinstance(text := inner.get("text"), str):
            texts.append(text)
        elif "data" in inner:
            texts.append(text_of(inner["data"]) or "")
        else:
            texts.append(text_of(inner) or "")
    return ("\n".join(texts) if texts else None), files


def _file(part: Record) -> Artifact | None:
    about = part.get("file")
    if not isinstance(about, dict):
        if "raw" not in part and "url" not in part:
            return None
        about = part
    name = _first_text(about, "name", "filename", "url", "uri") or "file"
    return Artifact(name=name, type=_first_text(about, "mimeType", "mediaType"))


def _first_text(about: Record, *keys: str) -> str | None:
    for key in keys:
        if isinstance(text := about.get(key), str) and text:
            return text
    return None
