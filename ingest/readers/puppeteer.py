"""ChatDev Puppeteer: reasoning paths whose agents a learned policy picks one by one.

Source: Dang et al. 2025, "Multi-Agent Collaboration via Evolving Orchestration". A folder of
results holds several files about one question, and two of them carry structure:

- ``path_<n>.jsonl``: the steps of one path, with agent, action, result, tokens and cost. In
  spite of its name it is often one indented array. One file is one run.
- ``meta.log``: every path as ``Agent Sequence: A->B``, where paths split from others, and the
  answer that each path came to. One log is one run; it holds no text of any step.

A step reads what the path came to so far. ``meta.log`` names the next agent; in a file of
steps it is only the order that tells, so that delivery there is ``inferred``. A path that
splits from another shares the steps before the split.

The other logs of the folder are rejected: the log of a path names only the agent that starts
it, the log of the model's queries no agent at all, and the log of the training no message.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json
from graphstore.model import (
    Attributes,
    CollaborationGraph,
    GraphKind,
    NodeKind,
    Outcome,
    Status,
)
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_bytes,
    first_character,
    has_key,
    text_of,
)
from ingest.readers.puppeteer_meta import RECORD, UNIT, MetaLog, named_agent

_TOOLS = frozenset({"run_python", "search_arxiv", "search_bing", "access_website", "read_file"})
_READ = frozenset({"agent", "action", "result", "success"})
_STATUSES: dict[str, Status] = {"success": "ok", "fail": "error", "failure": "error"}
_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_OTHER_LOGS = (
    (
        re.compile(
            r"\[Reasoning Path ?\d+ Start\]|\[System Prompt\]|^\[Action\] ", re.MULTILINE
        ),
        "the log of a path names only the agent that starts it: read the path_*.jsonl file "
        "beside it, which holds the same steps with their agents",
    ),
    (
        re.compile(r"^\[Model Query", re.MULTILINE),
        "the log of the model's queries names no agents: read the path_*.jsonl files or the "
        "meta.log beside it",
    ),
    (
        re.compile(r"Policy Forward|^Action probs: |^Executed trajectories", re.MULTILINE),
        "the log of the policy's training holds no messages: read the path_*.jsonl files or "
        "the meta.log beside it",
    ),
)
_MARKS = re.compile(
    r"^Agent Sequence: |\[Graph Reasoning |^Split Reasoning Paths: ", re.MULTILINE
)


class PuppeteerReader:
    """ChatDev Puppeteer: the steps of a path, or the sequences of all paths."""

    format = "chatdev-puppeteer"
    title = "ChatDev Puppeteer (path_*.jsonl, meta.log)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="partly",
        tokens="partly",
        recipients="partly",
        outcome="partly",
        notes=(
            "A step has the sum of its tokens only: it stands in the attribute tokens.",
            "cost is tokens times the size of the model, not money.",
            "meta.log has the time of day without a date, and no text of any step.",
            "meta.log and the path files of one folder tell of the same steps: count one.",
        ),
    )
    telling_keys_of_objects = frozenset({"model_size", "step_data"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds steps of a path, or is a log of the framework."""
        first = first_character(sample)
        if first == b"{" or (first == b"[" and not RECORD.match(_text(sample))):
            return all(has_key(sample, key) for key in ("agent", "action", "tokens")) and (
                has_key(sample, "model_size") or has_key(sample, "step_data")
            )
        text = _text(sample)
        return RECORD.match(text) is not None and (
            _MARKS.search(text) is not None
            or any(marks.search(text) for marks, _ in _OTHER_LOGS)
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each path of a file of steps, or the one run of a ``meta.log``.

        Raises:
            InputError: It holds no step, or is a log without structure.
        """
        data = file.data()
        if RECORD.match(_text(data[:1000])):
            yield self._meta(_text(data), data, file, context)
            return
        paths, repaired = _paths(data, file)
        for number, steps in enumerate(paths):
            record = None if len(paths) == 1 else f"path {number}"
            if not isinstance(steps, list) or not steps:
                yield Rejection(file.uri, record, "the path holds no step")
                continue
            content = data if record is None else canonical_json(steps)
            builder = context.builder(self, file, content, record=record)
            if repaired:
                builder.warn(REPAIRED)
            builder.set_method("Puppeteer", framework="ChatDev")
            try:
                _fill_path(steps, builder)
                yield builder.build()
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)

    def _meta(
        self, text: str, data: bytes, file: TraceFile, context: ReadContext
    ) -> CollaborationGraph:
        if not _MARKS.search(text):
            for marks, reason in _OTHER_LOGS:
                if marks.search(text):
                    raise InputError(reason, file=file.uri)
        log = MetaLog(text)
        if not log.steps:
            raise InputError("the log names no sequence of agents", file=file.uri)
        builder = context.builder(self, file, data)
        builder.set_method("Puppeteer", framework="ChatDev")
        log.fill(builder)
        return builder.build()


PUPPETEER = PuppeteerReader()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")


def _paths(data: bytes, file: TraceFile) -> tuple[list[Any], bool]:
    """The paths of a file: one array of steps, an array of such arrays, or lines of either."""
    try:
        value, repaired = decode_bytes(data, _DECODER, file.uri)
    except InputError:
        return _line_paths(file)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not value:
        raise InputError("it holds no step of a path", file=file.uri)
    if all(isinstance(path, list) for path in value):
        return value, repaired
    return [value], repaired


def _line_paths(file: TraceFile) -> tuple[list[Any], bool]:
    values: list[Any] = []
    repaired = False
    for number, line in file.lines():
        value, mended = decode_bytes(line, _DECODER, file.uri, first_line=number)
        values.append(value)
        repaired = repaired or mended
    if not values:
        raise InputError("it is empty", file=file.uri)
    return (values if all(isinstance(value, list) for value in values) else [values]), repaired


def _fill_path(steps: list[Any], builder: GraphBuilder) -> None:
    if not any(_is_step(step) for step in steps):
        raise InputError(
            "none of its entries is a step of a path: a step names its agent and its action"
        )
    agents = _agents(steps, builder)
    flow = FlowTracker(builder)
    answer: str | None = None
    counted = 0
    for position, (step, agent) in enumerate(zip(steps, agents, strict=True)):
        if agent is None:
            builder.warn(f"step {position} names no agent")
        following = agents[position + 1] if position + 1 < len(steps) else None
        recipients = () if following is None or following == agent else (following,)
        said = step if isinstance(step, dict) else {"result": step}
        action, result = said.get("action"), said.get("result")
        found = None
        content = result
        if isinstance(result, dict) and said is step:
            found = text_of(result.get("answer"))
            content = result.get("step_data")
        name = action.get("action") if isinstance(action, dict) else action
        tool = name if isinstance(name, str) and name in _TOOLS else None
        kind: NodeKind = "decision" if name == "terminate" else "agent_message"
        node = builder.add(
            kind if tool is None else "tool_call",
            tool or _label(agent, builder),
            agent=agent,
            recipients=recipients,
            delivery="inferred",
            content=text_of(content),
            status=_status(said.get("success")),
            attributes=_attributes(step) if said is step else None,
        )
        flow.act(node, agent, recipients=recipients, basis="inferred")
        counted += _count(said.get("tokens"))
        if found is not None and found != answer:
            builder.propose(UNIT, "final", agent=agent, node=node, value=found)
            answer = found
    if answer is not None:
        builder.propose(UNIT, "answer", value=answer)
    builder.outcome = Outcome(answer=answer)
    if counted:
        builder.attributes["tokens"] = counted
    builder.warn("the file does not hold the question")


def _is_step(step: Any) -> bool:
    if not isinstance(step, dict) or not isinstance(step.get("agent"), str):
        return False
    return "action" in step or isinstance(step.get("result"), dict)


def _agents(steps: list[Any], builder: GraphBuilder) -> list[int | None]:
    """Who made each step, None where it names nobody."""
    known: dict[str, int] = {}
    found: list[int | None] = []
    for step in steps:
        name = step.get("agent") if isinstance(step, dict) else None
        if not isinstance(name, str) or not name.strip():
            found.append(None)
            continue
        if name not in known:
            known[name] = named_agent(name, builder)
        found.append(known[name])
    return found


def _label(agent: int | None, builder: GraphBuilder) -> str:
    return "unknown agent" if agent is None else builder.agent_name(agent)


def _status(success: Any) -> Status | None:
    if isinstance(success, str):
        return _STATUSES.get(success.casefold())
    if isinstance(success, bool):
        return "ok" if success else "error"
    return None


def _attributes(step: dict[str, Any]) -> Attributes:
    kept: Attributes = {
        name: value for name, value in step.items() if value is not None and name not in _READ
    }
    action = step.get("action")
    if isinstance(action, dict):
        kept["action"] = action.get("action")
        if action.get("parameter") not in (None, ""):
            kept["parameter"] = action["parameter"]
    elif action is not None:
        kept["action"] = action
    result = step.get("result")
    if isinstance(result, dict) and result.get("answer") is not None:
        kept["answer"] = result["answer"]
    return kept


def _count(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    return 0
