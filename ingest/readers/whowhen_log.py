"""What the logs of Who&When have in common: the file, its task, its labels and its outcome."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import AgentKind, Outcome, Role, Status
from ingest.reader import ReadContext, Reader, TraceFile
from ingest.readers.decoding import REPAIRED, decode_bytes, text_of

DATASET = "Who&When"

_ROLE = re.compile(r"(?P<name>.*\S)\s*\((?P<note>[^()]*)\)\s*", re.DOTALL)
_ANSWER_MARK = "FINAL ANSWER:"
_ANSWER = re.compile(rf"^{_ANSWER_MARK}[ \t]*", re.MULTILINE)
_AFTER_ANSWER = re.compile(r"^SCENARIO\.PY COMPLETE\b", re.MULTILINE)
_EXIT_CODE = re.compile(r"\s*exitcode: (-?\d+)|[^\n]*\bUnix exit code(?: was)?: (-?\d+)")
_POSITION = re.compile(r"\s*[0-9]{1,9}\s*")


class Entry(msgspec.Struct):
    """A message of the history."""

    content: Any = None
    role: Any = None
    name: Any = None


class Log(msgspec.Struct):
    """A file."""

    history: list[Entry]
    question: Any = None
    question_id: Any = msgspec.field(default=None, name="question_ID")
    level: Any = None
    labels: Any = None
    ground_truth: Any = None
    is_correct: Any = None
    is_corrected: Any = None
    mistake_agent: Any = None
    mistake_step: Any = None
    mistake_reason: Any = None
    system_prompt: Any = None
    dataset: Any = None
    method: Any = None
    framework: Any = None


_DECODER = msgspec.json.Decoder(Log)


def opened(reader: Reader, file: TraceFile, context: ReadContext) -> tuple[Log, GraphBuilder]:
    """The log of a file, and the run of it with its task.

    Raises:
        InputError: The file is not JSON or has no history.
    """
    data = file.data()
    log, repaired = decode_bytes(data, _DECODER, file.uri)
    if not log.history:
        raise InputError("its history is empty", file=file.uri)
    builder = context.builder(reader, file, data)
    if repaired:
        builder.warn(REPAIRED)
    question = text_of(log.question)
    name = text_of(log.question_id)
    if name is None and question is None:
        builder.warn("it names no question")
    else:
        builder.set_task(
            name or question or "",
            description=question,
            dataset=text_of(log.dataset) or DATASET,
            category=text_of(log.level),
        )
    if isinstance(log.labels, str) and log.labels:
        builder.attributes["labels"] = log.labels
    return log, builder


def set_method(log: Log, builder: GraphBuilder, name: str, framework: str) -> None:
    """The method that the file names, else the system that the format is known for."""
    named = text_of(log.method)
    if named:
        builder.set_method(named, framework=text_of(log.framework) or None)
    else:
        builder.set_method(name, framework=framework)


def outcome_of(
    log: Log,
    builder: GraphBuilder,
    find: Callable[[str], str | None],
    answer: str | None = None,
) -> Outcome:
    """What the labels say of a run.

    Args:
        log: The file.
        builder: Of the run; warned of labels that contradict it.
        find: The agent's name that a label means, None where it is no agent of the run.
        answer: The final answer, where the log has one.
    """
    agent = log.mistake_agent.strip() if is_name(log.mistake_agent) else None
    named = None
    if agent is not None:
        named = find(agent)
        if named is None:
            builder.warn(f"mistake_agent {agent!r} is no agent of the run")
        elif named != agent:
            builder.attributes["mistake_agent_label"] = agent
    step = _step(log.mistake_step)
    if log.mistake_step is not None and (step is None or step >= len(log.history)):
        builder.warn(
            f"mistake_step {text_of(log.mistake_step)!r} is no position in a history of "
            f"{len(log.history)} entries and was left out"
        )
        step = None
    if step is not None and named is not None:
        entry = log.history[step]
        speaker = entry.name if entry.name is not None else entry.role
        spoken = split_role(speaker)[0] if is_name(speaker) else ""
        if spoken.casefold() != named.casefold():
            builder.warn(f"mistake_step {step} was made by {spoken}, not by {named}")
    return Outcome(
        success=_success(log, builder),
        answer=answer,
        expected=text_of(log.ground_truth),
        termination=_termination(log),
        mistake_agent=named or agent,
        mistake_step=step,
        mistake_reason=text_of(log.mistake_reason),
    )


def _success(log: Log, builder: GraphBuilder) -> bool | None:
    """``is_correct`` judges the answer; the other folder has ``is_corrected`` instead.

    The data set holds failed runs only, so a false ``is_corrected`` is a failure too. What a
    true one would mean is not documented: nothing is claimed.
    """
    if isinstance(log.is_correct, bool):
        return log.is_correct
    if log.is_corrected is False:
        return False
    if log.is_corrected is True:
        builder.warn("is_corrected is true, which does not tell whether the run succeeded")
    return None


def _termination(log: Log) -> str | None:
    """The first line of the last termination condition, or the word that ends a group chat."""
    last = log.history[-1]
    content = text_of(last.content) or ""
    if last.name is not None:
        return "TERMINATE" if content.rstrip().endswith("TERMINATE") else None
    for entry in reversed(log.history):
        if isinstance(entry.role, str) and split_role(entry.role)[1] == "termination condition":
            lines = (text_of(entry.content) or "").strip().splitlines()
            return lines[0].strip() if lines else None
    return None


def last_answer(log: Log) -> str | None:
    """What follows the last line-initial ``FINAL ANSWER:`` of the last entry."""
    content = text_of(log.history[-1].content) or ""
    if _ANSWER_MARK not in content:
        return None
    starts = list(_ANSWER.finditer(content))
    if not starts:
        return None
    rest = content[starts[-1].end() :]
    end = _AFTER_ANSWER.search(rest)
    answer = rest[: end.start()] if end else rest.partition("\n")[0]
    return answer.strip() or None


def _step(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and _POSITION.fullmatch(value):
        return int(value)
    return value if isinstance(value, int) and value >= 0 else None


# A run has few roles and many entries: each role is looked at once.
@lru_cache(maxsize=1_024)
def split_role(role: str) -> tuple[str, str | None]:
    """``Orchestrator (thought)`` -> ``("Orchestrator", "thought")``."""
    found = _ROLE.fullmatch(role)
    if found is None:
        return role.strip(), None
    return found["name"].strip(), found["note"].strip()


def is_name(value: Any) -> bool:
    """Whether a value can be a speaker's name."""
    return isinstance(value, str) and bool(value.strip())


@lru_cache(maxsize=1_024)
def agent_kind(name: str) -> AgentKind:
    """Terminals are tools; ``human`` and ``user`` are people."""
    plain = name.casefold().replace("_", "").replace(" ", "")
    if plain == "computerterminal":
        return "tool"
    return "human" if plain in ("human", "user") else "agent"


def role_of(name: str, kind: AgentKind, context: ReadContext) -> Role:
    """The shared role of an agent, that of its kind where its name tells none."""
    role = context.role_of(name)
    if role == "unknown" and kind == "human":
        return "human"
    if role == "unknown" and kind == "tool":
        return "tool"
    return role


def exit_status(content: str | None) -> Status | None:
    """What a terminal says of the exit code of a script, if it ran one."""
    found = _EXIT_CODE.match(content) if content else None
    if found is None:
        return None
    return "ok" if int(found[1] or found[2]) == 0 else "error"
