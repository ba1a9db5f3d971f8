"""The items of an OpenAI Agents run, put together: calls with outputs, messages by response."""

from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.identity import canonical_json
from graphstore.model import Attributes, Status
from ingest.readers.chat_payload import as_message
from ingest.readers.decoding import text_of
from ingest.readers.platform_spans import count_at

VERSION = "$schemaVersion"

AgentKey = tuple[str | None, str | None]
"""An agent's name and, where the SDK tells agents of one name apart, its identity."""

_CALL_TYPES = frozenset({"tool_call_item", "tool_search_call_item"})
_OUTPUT_TYPES = frozenset(
    {"tool_call_output_item", "tool_search_output_item", "computer_call_output_item"}
)
_KEPT = ("arguments", "code", "input", "action", "queries")
_OWN_OUTPUTS = ("output", "results", "outputs", "result", "action")


class Said(msgspec.Struct, eq=False):
    """Something that a person, or the program around the run, said."""

    text: str | None
    node: int = -1


class Message(msgspec.Struct, eq=False):
    """A model response as a message of its agent."""

    agent: AgentKey
    response: int | None = None
    response_id: str | None = None
    texts: list[str] = []
    reasoning: list[str] = []
    tools: "list[Tool]" = []
    tokens_in: int | None = None
    tokens_out: int | None = None
    closed: bool = False
    node: int = -1


class Tool(msgspec.Struct, eq=False):
    """A tool call with its output; ``caller`` is the program that made the call, if any."""

    name: str
    agent: AgentKey
    message: Message | None
    output: str | None = None
    answered: bool = False
    status: Status | None = None
    caller: "Tool | None" = None
    attributes: Attributes = {}
    node: int = -1


class Handoff(msgspec.Struct, eq=False):
    """A handoff with its result."""

    agent: AgentKey
    message: Message | None
    target: AgentKey | None = None
    arguments: str | None = None
    attributes: Attributes = {}
    node: int = -1


class Plan(msgspec.Struct, eq=False):
    """The steps of a run in order.

    Attributes:
        order: What happened.
        unknown: Items of other types.
        repeated: Items that stood twice.
        silent: Model responses that no item belongs to.
    """

    order: list[Said | Message | Tool | Handoff] = []
    unknown: list[Any] = []
    repeated: int = 0
    silent: int = 0


def field_of(value: Any, name: str) -> Any:
    """A field in snake case or camel case, None where it is missing."""
    if not isinstance(value, dict):
        return None
    found = value.get(name)
    return value.get(_CAMEL[name]) if found is None else found


class _CamelCase(dict[str, str]):
    """The names that are asked for, in camel case; each is made once."""

    def __missing__(self, name: str) -> str:
        first, *others = name.split("_")
        made = self[name] = first + "".join(other.capitalize() for other in others)
        return made


_CAMEL = _CamelCase()


def key_of(agent: Any) -> AgentKey | None:
    """What tells an agent from others; None where there is none."""
    if not isinstance(agent, dict):
        return None
    name = agent.get("name")
    if not isinstance(name, str) or not name:
        return None
    identity = agent.get("identity")
    return name, identity if isinstance(identity, str) else None


def plan(state: dict[str, Any]) -> Plan:
    """Puts the items of a run state together.

    Args:
        state: The decoded state.
    """
    return _Planner(state).run()


class _Planner:
    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self.plan = Plan()
        self.current: Message | None = None
        self.calls: dict[str, Tool | Handoff] = {}
        self.first: dict[tuple[str, str], dict[str, Any]] = {}
        self.seen: dict[tuple[str, str], set[str]] = {}
        responses = field_of(state, "model_responses")
        self.responses = [one for one in _list(responses) if isinstance(one, dict)]
        self.response_of: dict[str, int] = {}
        for number, response in enumerate(self.responses):
            for output in _list(response.get("output")):
                if (key := _key(output)) is not None:
                    self.response_of.setdefault(key, number)

    def run(self) -> Plan:
        items = _items(self.state)
        owned = {key for item in items if (key := _key(field_of(item, "raw_item")))}
        for entry in self._input(owned):
            self._entry(entry)
        for item in items:
            if isinstance(item, dict):
                self._item(item)
            else:
                self.plan.unknown.append(item)
        for entry in _list(field_of(self.state, "pending_input")):
            self._entry(entry)
        used: set[int] = set()
        for step in self.plan.order:
            if isinstance(step, Message) and step.response is not None:
                self._count(step, used)
        self.plan.silent = len(self.responses) - len(used)
        return self.plan

    def _count(self, step: Message, used: set[int]) -> None:
        number = step.response
        if number is None or number in used:
            return
        used.add(number)
        response = self.responses[number]
        identity = field_of(response, "response_id")
        step.response_id = identity if isinstance(identity, str) else None
        usage = response.get("usage")
        read = count_at(usage, "input_tokens", "inputTokens")
        written = count_at(usage, "output_tokens", "outputTokens")
        if read or written:
            step.tokens_in, step.tokens_out = read, written

    def _input(self, owned: set[str]) -> Iterator[Any]:
        """The entries of the input that are not among the run's own items."""
        given = field_of(self.state, "original_input")
        if isinstance(given, str):
            yield {"role": "user", "content": given}
            return
        references = field_of(self.state, "nested_history_owned_session_item_refs")
        places = [field_of(one, "input_index") for one in _list(references)]
        for place, entry in enumerate(_list(given)):
            key = _key(entry)
            if place not in places and (key is None or key not in owned):
                yield entry

    def _entry(self, entry: Any) -> None:
        """An entry of the input: what a user said, or what happened before the run."""
        if isinstance(entry, str):
            entry = {"role": "user", "content": entry}
        message = as_message(entry)
        if message is None:
            self.plan.unknown.append(entry)
        elif message.role == "user":
            self.current = None
            self.plan.order.append(Said(message.text))
        elif message.role == "system":
            self.plan.unknown.append(entry)
        else:
            kind = "message_output_item"
            if message.calls:
                kind = "tool_call_item"
            elif message.role == "tool":
                kind = "tool_call_output_item"
            self._item({"type": kind, "raw_item": entry})

    def _item(self, item: dict[str, Any]) -> None:
        said_kind = item.get("type")
        kind = said_kind if isinstance(said_kind, str) else ""
        raw = field_of(item, "raw_item")
        raw = raw if isinstance(raw, dict) else {}
        key = _key(raw)
        if key is not None and self._stood_before((kind, key), raw):
            self.plan.repeated += 1
            return
        agent = key_of(item.get("agent")) or (None, None)
        if kind == "message_output_item":
            said = as_message(raw)
            text = said.text if said is not None else text_of(raw.get("content"))
            message = self._message(agent, key)
            if text:
                message.texts.append(text)
        elif kind == "reasoning_item":
            parts = [*_list(raw.get("content")), *_list(raw.get("summary"))]
            words = [part.get("text") for part in parts if isinstance(part, dict)]
            message = self._message(agent, key)
            message.reasoning.extend(word for word in words if isinstance(word, str))
        elif kind in _CALL_TYPES:
            self._call(item, raw, agent, key)
        elif kind == "handoff_call_item":
            arguments = text_of(raw.get("arguments"))
            handoff = Handoff(agent, self._message(agent, key))
            handoff.arguments = arguments if arguments not in ("", "{}") else None
            handoff.attributes = _attributes(raw)
            self.plan.order.append(handoff)
            if key is not None:
                self.calls[key] = handoff
        elif kind == "handoff_output_item":
            self._close()
            known = self.calls.get(key) if key is not None else None
            if not isinstance(known, Handoff):
                source = key_of(field_of(item, "source_agent")) or agent
                known = Handoff(source, None)
                self.plan.order.append(known)
            known.target = key_of(field_of(item, "target_agent"))
        elif kind in _OUTPUT_TYPES:
            self._output(item, raw, agent, key)
        elif kind == "tool_approval_item":
            tool = self.calls.get(key) if key is not None else None
            if not isinstance(tool, Tool):
                tool = self._call(item, raw, agent, key)
            tool.attributes["approval"] = "asked for"
        elif kind == "input_item":
            self._entry(raw)
        else:
            self.plan.unknown.append(item)

    def _stood_before(self, place: tuple[str, str], raw: dict[str, Any]) -> bool:
        """Whether an item is exactly one before; they are compared where kind and id agree."""
        first = self.first.setdefault(place, raw)
        if first is raw:
            return False
        seen = self.seen.get(place)
        if seen is None:
            seen = self.seen[place] = {canonical_json(first)}
        exact = canonical_json(raw)
        if exact in seen:
            return True
        seen.add(exact)
        return False

    def _message(self, agent: AgentKey, key: str | None) -> Message:
        """The message that an item of a model response belongs to."""
        number = self.response_of.get(key) if key is not None else None
        current = self.current
        if (
            current is None
            or current.agent != agent
            or (number is not None and current.response not in (None, number))
            or (current.closed and number is None)
            or (current.closed and current.response != number)
        ):
            current = self.current = Message(agent)
            self.plan.order.append(current)
        if current.response is None:
            current.response = number
        return current

    def _close(self) -> None:
        if self.current is not None:
            self.current.closed = True

    def _call(
        self, item: dict[str, Any], raw: dict[str, Any], agent: AgentKey, key: str | None
    ) -> Tool:
        message = self._message(agent, key)
        name = field_of(item, "tool_name") or raw.get("name") or raw.get("type")
        tool = Tool(name if isinstance(name, str) and name else "tool", agent, message)
        tool.attributes = _attributes(raw)
        if (origin := field_of(item, "tool_origin")) is not None:
            tool.attributes["origin"] = origin
        caller = raw.get("caller")
        outer = field_of(caller, "caller_id")
        known = self.calls.get(outer) if isinstance(outer, str) else None
        if isinstance(known, Tool):
            tool.caller = known
        if raw.get("type") not in ("function_call", "program"):
            own = next((raw[name] for name in _OWN_OUTPUTS if raw.get(name) is not None), None)
            if own is not None:
                tool.output, tool.answered = _words(own), True
        message.tools.append(tool)
        self.plan.order.append(tool)
        if key is not None:
            self.calls[key] = tool
        return tool

    def _output(
        self, item: dict[str, Any], raw: dict[str, Any], agent: AgentKey, key: str | None
    ) -> None:
        self._close()
        known = self.calls.get(key) if key is not None else None
        if not isinstance(known, Tool):
            name = field_of(item, "tool_name") or raw.get("name") or "tool"
            known = Tool(name if isinstance(name, str) else "tool", agent, None)
            self.plan.order.append(known)
        output = raw.get("output")
        output = raw.get("result") if output is None else output
        known.output = _words(item.get("output") if output is None else output)
        known.answered = True
        if raw.get("status") == "incomplete":
            known.status = "error"


def _items(state: dict[str, Any]) -> list[Any]:
    """The run's items: the session's, unless it holds fewer."""
    session = _list(field_of(state, "session_items"))
    generated = _list(field_of(state, "generated_items"))
    return session if session and len(session) >= len(generated) else generated


def _key(raw: Any) -> str | None:
    """What joins an item to its output and its response."""
    if not isinstance(raw, dict):
        return None
    found = field_of(raw, "call_id") or raw.get("id")
    return found if isinstance(found, str) and found else None


def _attributes(raw: dict[str, Any]) -> Attributes:
    found = {name: value for name in _KEPT if (value := raw.get(name)) is not None}
    if (call := field_of(raw, "call_id")) is not None:
        found["call_id"] = call
    if (status := raw.get("status")) is not None:
        found["status"] = status
    if raw.get("type") not in (None, "function_call"):
        found["type"] = raw["type"]
    return found


def _words(output: Any) -> str | None:
    """An output as text, the parts of a list joined."""
    parts = output if isinstance(output, list) else [output]
    texts = [
        part["text"]
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    return "\n".join(texts) if texts and len(texts) == len(parts) else text_of(output)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
