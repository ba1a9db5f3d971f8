"""What the platforms that keep spans (Langfuse, LangSmith) have in common."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from graphstore.model import Attributes, Outcome
from ingest.readers.chat_payload import TOOL as TOOL_ROLE
from ingest.readers.chat_payload import (
    USER,
    Call,
    ChatMessage,
    answer_in,
    as_message,
    asked_in,
    decoded,
    messages_of,
    request_in,
    said_in,
    text_in,
)
from ingest.readers.decoding import text_of
from ingest.readers.otlp_attributes import (
    AGENT,
    KEPT_CHARACTERS,
    LLM,
    TOOL,
    TOOL_KINDS,
    Facts,
)
from ingest.readers.otlp_wire import whole_number

CHAIN = "CHAIN"

_ASKED = TOOL_KINDS | {AGENT, LLM}
_TOOL_PREFIXES = ("running tool: ", "execute_tool ")
_GOTO = re.compile(r"\bgoto='([^']*)'\)$")
_CALL_ID = re.compile(r"\btool_call_id='([^']+)'")
_UPDATE = re.compile(r"^Command\((?:(?!update=).)*\)$", re.DOTALL)
_VERDICTS = frozenset(
    {
        "accuracy",
        "correct",
        "correctness",
        "exact_match",
        "pass",
        "passed",
        "reward",
        "success",
        "task_completion",
        "task_success",
    }
)


def empty_facts(
    trace: str,
    id: str,
    *,
    parent: str | None,
    name: str,
    start: int | None,
    end: int | None,
    category: str,
) -> Facts:
    """A span of which nothing but its place is known yet; see :class:`Facts`."""
    return Facts(trace, id, parent, name, start, end, category)


class CallBook:
    """Which tool calls of a run have a span of their own."""

    def __init__(self) -> None:
        self._asked: list[tuple[Facts, list[Call]]] = []
        self._ids: set[str] = set()
        self._names: set[str] = set()

    def note(self, facts: Facts, calls: list[Call]) -> None:
        """Notes a span, and the calls that it asks for."""
        if calls:
            self._asked.append((facts, calls))
        if facts.call is not None:
            self._ids.add(facts.call)
        elif facts.tool is not None:
            self._names.add(facts.tool)

    def settle(self) -> None:
        """Keeps the arguments of calls without a span in the messages that asked for them.

        A message without words that ends in such calls says what their arguments say: this
        is how answers of a fixed form are given.
        """
        for facts, asked in self._asked:
            calls = [
                call
                for call in asked
                if call.id not in self._ids and call.name not in self._names
            ]
            if not calls:
                continue
            facts.extra["calls_without_span"] = [
                {"name": call.name, "arguments": short(call.arguments)} for call in calls
            ]
            if facts.text is None:
                said = [text_of(call.arguments) for call in calls]
                facts.text = "\n".join(text for text in said if text) or None


def reads_input(facts: Facts) -> bool:
    """Whether :func:`read_payload` looks at a span's input.

    Args:
        facts: With the category and the parent.
    """
    return facts.parent is None or facts.category in _ASKED


def read_payload(
    facts: Facts,
    given: Any,
    put_out: Any,
    *,
    messages: list[ChatMessage] | None = None,
) -> list[Call]:
    """Fills in what a span's input and output say.

    Args:
        facts: With the category and the parent.
        given: The input, decoded.
        put_out: The output, decoded.
        messages: Those of a model call's output, where they have been looked for.

    Returns:
        The tool calls that the output asks for.
    """
    root = facts.parent is None
    calls: list[Call] = []
    if facts.category == LLM:
        written = messages_of(put_out) if messages is None else messages
        for message in written or ():
            calls.extend(message.calls)
        facts.calls = [call.id for call in calls if call.id] or facts.calls
        if names := [call.name for call in calls if call.name]:
            facts.extra["tool_calls"] = names
        read = messages_of(given)
        facts.answers = [
            answered for message in read or () for answered in message.answers
        ] or facts.answers
        facts.asked = request_in(given, read)
        said = said_in(put_out, written)
        if said is not None or written is not None:
            facts.text = said
    elif facts.category in TOOL_KINDS:
        facts.asked = (text_of(given) if given else None) or facts.asked
        facts.tool = _tool_name(facts)
        command = _command(put_out)
        if command is not None:
            answer = _answer_of(facts, command)
            facts.text = answer.text if answer is not None else None
        else:
            answer = tool_answer(put_out)
            facts.text = text_in(put_out) or facts.text
        if answer is not None:
            if answer.answers:
                facts.call = facts.call or answer.answers[0]
            said = answer.raw.get("status")
            if facts.status is None and said in ("success", "error"):
                facts.status = "ok" if said == "success" else "error"
    else:
        facts.asked = asked_in(given) if reads_input(facts) else None
        command = _command(put_out)
        if command is not None:
            put_out = command.get("update")
            if isinstance(target := command.get("goto"), str) and target:
                facts.extra["goto"] = target
        facts.text = (answer_in(put_out) if root else text_in(put_out)) or facts.text
    return calls


def _command(put_out: Any) -> dict[str, Any] | None:
    """LangGraph's order to go to another node, None where the output is something else."""
    if isinstance(put_out, dict) and len(put_out) == 1 and "output" in put_out:
        put_out = put_out["output"]
    if isinstance(put_out, dict) and {"goto", "update"} <= put_out.keys():
        return put_out
    if isinstance(put_out, str) and put_out.startswith("Command("):
        goto = _GOTO.search(put_out)
        return {"goto": goto[1] if goto else None, "update": _UPDATE.sub("", put_out)}
    return None


def _answer_of(facts: Facts, command: dict[str, Any]) -> ChatMessage | None:
    """The tool message that an order brings along; of its text, only the call's id."""
    update = command.get("update")
    if isinstance(update, str):
        if found := _CALL_ID.findall(update):
            facts.call = facts.call or found[-1]
        return None
    messages = messages_of(update) or ()
    return next((one for one in reversed(messages) if one.role == TOOL_ROLE), None)


def slim_input(value: Any) -> Any:
    """A model's input without what :func:`read_payload` leaves out of it.

    Traces repeat the whole conversation with each call; kept as they are, they fill the memory.
    """
    messages = messages_of(decoded(value))
    if messages is None:
        return value
    kept: list[dict[str, Any]] = []
    if (
        asked := next((m.text for m in messages if m.role == USER and m.text), None)
    ) is not None:
        kept.append({"role": USER, "content": asked})
    kept.extend(
        {"role": TOOL_ROLE, "tool_call_id": answered}
        for message in messages
        for answered in message.answers
    )
    return kept


def tool_answer(put_out: Any) -> ChatMessage | None:
    """The one tool message that an output is, None where it is something else."""
    if isinstance(put_out, dict) and len(put_out) == 1 and "output" in put_out:
        put_out = put_out["output"]
    message = as_message(put_out)
    return message if message is not None and message.role == TOOL_ROLE else None


def settle_agents(found: dict[str, Facts], undecided: set[str], workflow: Any) -> None:
    """Decides which spans without a type are an agent's turn.

    A span that carries another agent's name than the span around it, and that puts something
    out, is. One that only sends the run on to another agent is a handoff. A root that is
    called like the workflow and holds agents is no agent, whatever the instrumentation says.

    Args:
        found: The spans by id; changed in place.
        undecided: Ids of spans whose type says nothing.
        workflow: The trace's name.
    """
    names = {facts.agent for facts in found.values()}
    parents = {facts.parent for facts in found.values()}
    for key in undecided:
        facts = found[key]
        if facts.agent is None:
            continue
        outer = found.get(facts.parent) if facts.parent is not None else None
        if outer is not None and outer.agent == facts.agent:
            continue
        if facts.text is not None:
            facts.category = AGENT
        elif "goto" in facts.extra and facts.extra["goto"] in names and key not in parents:
            facts.category, facts.tool = TOOL, f"transfer_to_{facts.extra['goto']}"
    holders = {facts.parent for facts in found.values() if facts.category == AGENT}
    for key, facts in found.items():
        if (
            facts.category == AGENT
            and facts.agent is None
            and facts.node is None
            and facts.parent not in found
            and facts.name == workflow
            and key in holders
        ):
            facts.category = CHAIN


def with_verdict(outcome: Outcome, evaluations: Sequence[Attributes]) -> Outcome:
    """The outcome with the one judgement of the whole that is about success.

    Args:
        outcome: What the spans say.
        evaluations: With ``name``, and ``score``, ``label`` and ``of`` where known. A label
            is ``pass`` or ``fail`` where the platform holds a truth value.
    """
    verdicts = [
        one
        for one in evaluations
        if "of" not in one
        and re.sub(r"\W+", "_", str(one.get("name", "")).casefold()) in _VERDICTS
    ]
    if len(verdicts) != 1:
        return outcome
    label = verdicts[0].get("label")
    return msgspec.structs.replace(
        outcome,
        score=verdicts[0].get("score"),
        success=True if label == "pass" else False if label == "fail" else outcome.success,
    )


def total_cost(costs: Iterable[float | None]) -> float | None:
    """The sum of costs in US dollars; platforms write 0 for unknown ones."""
    known = [cost for cost in costs if cost]
    return math.fsum(known) if known else None


def count_at(usage: Any, *keys: str) -> int | None:
    """The first count of tokens under one of the keys."""
    if isinstance(usage, dict):
        for key in keys:
            number = whole_number(usage.get(key))
            if number is not None and number >= 0:
                return number
    return None


def first(value: dict[str, Any], *keys: str) -> Any:
    """The first value under one of the keys that is not missing, empty or zero."""
    for key in keys:
        if found := value.get(key):
            return found
    return None


def text_at(value: Any, *keys: str) -> str | None:
    """The first such value of an object, where it is a text."""
    if isinstance(value, dict):
        for key in keys:
            if found := value.get(key):
                return found if isinstance(found, str) else None
    return None


def short(value: Any) -> str | None:
    """A value as text, cut to what attributes may hold."""
    text = text_of(value)
    return None if text is None else text[:KEPT_CHARACTERS]


def _tool_name(facts: Facts) -> str:
    name = facts.tool or facts.name
    for prefix in _TOOL_PREFIXES:
        name = name.removeprefix(prefix)
    return name or "tool"
