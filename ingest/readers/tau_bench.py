r"""tau-bench: one assistant, a simulated user, and the tools of a shop or an airline.

Source: Yao et al. 2024, "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World
Domains", and its successor tau2-bench. Three shapes:

- results, a list of ``{task_id, trial, reward, info, traj}``, each with the whole chat;
- tau2 results, ``{info, tasks, simulations}``, each simulation with ``messages``, a verdict,
  costs and why it ended;
- few-shot examples, a line each: ``{"messages_display": "user: ...\nassistant: ..."}``.
  The text has no calls: an assistant's ``None`` before a tool's line stands for one, and a
  line of a message that begins like a role begins a new message.

A run succeeded where its reward is 1 (the paper's section 3, where a reward is 0 or 1).
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_bytes, canonical_json
from graphstore.model import CollaborationGraph, GraphKind, Outcome, Status
from ingest.big_json import streamed_items
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.chat_run import add_chat
from ingest.readers.decoding import REPAIRED, decode_bytes, decode_file, text_of
from ingest.readers.sample_json import first_value

DATASET = "tau-bench"

Record = dict[str, Any]

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_SPEAKER = re.compile(r"\n(system|user|assistant|tool): ?")


class TauBenchReader:
    """tau-bench: one run a trial."""

    format = "tau-bench"
    title = "tau-bench and tau2-bench"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="partly",
        tokens="partly",
        recipients="partly",
        outcome="partly",
        notes=(
            "One assistant and one user: what one says goes to the other.",
            "The user is played by a model; its cost is the only cost that results name, and "
            "stands in the attributes.",
            "Times and tokens stand in tau2 results only.",
            "Few-shot examples have no calls, no arguments and no outcome: an assistant's "
            "None before a tool's line is one call of an unknown tool.",
        ),
    )
    telling_keys = frozenset({"messages_display", "task_id", "simulations", "user_scenario"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a result, a tau2 file or a few-shot example."""
        value = first_value(sample)
        if isinstance(value, list):
            return bool(value) and _is_result(value[0])
        if not isinstance(value, dict):
            return False
        return _is_example(value) or _is_result(value) or _is_tau2(value)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run or a rejection for each trial, simulation or example.

        Raises:
            InputError: The file is not JSON, or holds no trials.
        """
        if (items := streamed_items(file)) is not None:
            yield from self._streamed(file, context, items)
            return
        if _begins_with_record(file):
            yield from self._lines(file, context)
            return
        value, repaired = decode_file(file, _DECODER)
        tasks: dict[str, Record] = {}
        if isinstance(value, dict) and isinstance(value.get("simulations"), list):
            listed = value["tasks"] if isinstance(value.get("tasks"), list) else []
            tasks = {text_of(t.get("id")) or "": t for t in listed if isinstance(t, dict)}
            trials = value["simulations"]
        elif isinstance(value, dict) and (_is_result(value) or _is_example(value)):
            trials = [value]
        else:
            trials = value
        if not isinstance(trials, list) or not trials:
            raise InputError("it holds no trials", file=file.uri)
        known: set[str] = set()
        for position, trial in enumerate(trials):
            record = _record_name(trial, position, known)
            try:
                yield self._run(file, context, trial, record, tasks, repaired)
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)

    def _streamed(
        self, file: TraceFile, context: ReadContext, items: Iterator[bytes]
    ) -> Iterator[CollaborationGraph | Rejection]:
        """The trials of a large array."""
        known: set[str] = set()
        for position, item in enumerate(items):
            record = f"#{position}"
            try:
                trial, repaired = decode_bytes(item, _DECODER, file.uri)
                record = _record_name(trial, position, known)
                yield self._run(file, context, trial, record, {}, repaired)
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)

    def _lines(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        for number, line in file.lines():
            record = f"line {number}"
            try:
                value, repaired = decode_bytes(line, _DECODER, file.uri, first_line=number)
                yield self._run(file, context, value, record, {}, repaired)
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)

    def _run(
        self,
        file: TraceFile,
        context: ReadContext,
        trial: Any,
        record: str,
        tasks: dict[str, Record],
        repaired: bool,
    ) -> CollaborationGraph:
        if not isinstance(trial, dict):
            raise InputError("the trial is no object")
        builder = context.builder(self, file, canonical_bytes(trial), record=record)
        if repaired:
            builder.warn(REPAIRED)
        shown = trial.get("messages_display")
        if isinstance(shown, str):
            messages: Any = _shown_messages(shown)
        else:
            messages = trial.get("traj", trial.get("messages"))
        if not isinstance(messages, list) or not messages:
            raise InputError("the trial holds no messages")
        add_chat(builder, messages, status_of=_status)
        if not builder.node_count:
            raise InputError("the trial holds no messages but the system's")
        _set_task(builder, trial, record, tasks)
        _set_outcome(builder, trial)
        builder.set_method("tool-calling assistant", framework=DATASET)
        return builder.build()


TAU_BENCH = TauBenchReader()


def _shown_messages(text: str) -> list[Record]:
    """The messages of a few-shot example; an assistant's words before a result made a call."""
    # The line end before a speaker belongs to the mark: a search for it is quick.
    before, *parts = _SPEAKER.split("\n" + text)
    messages: list[Record] = []
    if not parts:
        return messages
    if before.strip():
        messages.append({"content": before[1:] + "\n"})
    roles, contents = parts[::2], parts[1::2]
    contents[-1] = contents[-1].removesuffix("\n")
    for role, content, following in zip(roles, contents, [*roles[1:], None], strict=True):
        message: Record = {"role": role, "content": content}
        if role == "assistant":
            if following == "tool":
                message["tool_calls"] = [{}]
            if content == "None":
                message["content"] = None
        messages.append(message)
    return messages


def _status(result: Record) -> Status | None:
    """Tools of this benchmark answer a failed call with a text that begins with Error."""
    if isinstance(result.get("error"), bool):
        return "error" if result["error"] else "ok"
    content = result.get("content")
    if isinstance(content, str) and content.startswith("Error"):
        return "error"
    return None


def _set_task(
    builder: GraphBuilder, trial: Record, record: str, tasks: dict[str, Record]
) -> None:
    info = trial.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    id = text_of(trial.get("task_id"))
    task = task if isinstance(task, dict) else tasks.get(id or "", {})
    instruction = task.get("instruction")
    if instruction is None:
        instruction = task.get("user_scenario")
    if id is None and instruction is None:
        return
    # Two domains number their tasks alike: the user tells them apart.
    user = text_of(task.get("user_id"))
    name = id or record
    builder.set_task(
        f"{name} ({user})" if user else name,
        description=text_of(instruction),
        dataset=DATASET,
    )


def _set_outcome(builder: GraphBuilder, trial: Record) -> None:
    info = trial.get("info")
    info = info if isinstance(info, dict) else {}
    verdict = trial.get("reward_info", info.get("reward_info"))
    reward = trial.get("reward")
    if reward is None and isinstance(verdict, dict):
        reward = verdict.get("reward")
    score = _number(reward)
    if reward is not None and score is None:
        builder.warn("a reward that is no number was left out")
    costs = [_number(trial.get(f"{side}_cost")) for side in ("agent", "user")]
    cost = None
    if costs[0] is not None:
        cost = costs[0] + (costs[1] or 0.0)
    task = info.get("task")
    outputs = task.get("outputs") if isinstance(task, dict) else None
    builder.outcome = Outcome(
        success=None if score is None else abs(score - 1.0) < 1e-6,
        score=score,
        expected=canonical_json(outputs) if outputs else None,
        termination=text_of(trial.get("termination_reason")),
        latency=_number(trial.get("duration")),
        cost=cost,
    )
    if isinstance(task, dict) and task.get("actions"):
        builder.attributes["expected_actions"] = task["actions"]
    for key, value in (
        ("user_cost", info.get("user_cost")),
        ("trial", trial.get("trial")),
        ("reward_info", verdict),
    ):
        if value not in (None, {}, []):
            builder.attributes[key] = value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def _record_name(trial: Any, position: int, known: set[str]) -> str:
    name = f"position {position}"
    if isinstance(trial, dict) and trial.get("task_id") is not None:
        name = f"task {text_of(trial['task_id'])}"
        if trial.get("trial") is not None:
            name += f", trial {text_of(trial['trial'])}"
    if name in known:
        name += f" (position {position})"
    known.add(name)
    return name


def _is_example(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages_display"), str)


def _is_result(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "task_id" in value
        and ("traj" in value or ("reward" in value and "info" in value))
    )


def _is_tau2(value: Record) -> bool:
    if isinstance(value.get("simulations"), list):
        return True
    tasks, info = value.get("tasks"), value.get("info")
    return (
        isinstance(tasks, list)
        and isinstance(info, dict)
        and bool(tasks)
        and isinstance(tasks[0], dict)
        and "user_scenario" in tasks[0]
    )


def _begins_with_record(file: TraceFile) -> bool:
    """Whether the file's first line that is not blank is a result or an example by itself."""
    if file.sample.lstrip()[:1] not in (b"{", b""):
        return False  # before the lines are parted, for most files are one array
    _, line = next(file.lines(), (0, b""))
    try:
        value = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return _is_example(value) or _is_result(value)
