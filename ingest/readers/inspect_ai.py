"""Inspect (``inspect_ai``): evaluation logs, as ``.json`` and as ``.eval`` archives.

- :mod:`ingest.readers.zip_archive`: the archive.
- :mod:`ingest.readers.inspect_events`: what a sample's events say.
- :mod:`ingest.readers.threads`: the graph of all that.

Each sample and epoch is a run. Its task is the data set's sample. The verdict is that of the
log's first scorer: ``C``, ``P``, ``I`` and ``N`` are 1, 0.5, 0 and 0, as Inspect's
``value_to_float`` has them.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json
from graphstore.model import CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.chat_run import add_chat
from ingest.readers.decoding import REPAIRED, decode_bytes, text_of
from ingest.readers.inspect_events import Sample
from ingest.readers.inspect_parts import Record, tokens_of
from ingest.readers.sample_json import first_value, may_have_key
from ingest.readers.threads import play
from ingest.readers.zip_archive import MAGIC, ZipArchive, first_name

FRAMEWORK = "Inspect"

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_MISSING: dict[str, None] = {}
_HEADERS = ("header.json", "_journal/start.json")
_SAMPLES = "samples/"
_EVALUATION = frozenset({b"eval"})


class InspectReader:
    """Inspect logs: one run a sample and epoch."""

    format = "inspect-ai"
    title = "Inspect (inspect_ai) evaluation logs"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="yes",
        recipients="yes",
        outcome="yes",
        notes=(
            "An agent is a span of that kind; without one, its solver is.",
            "Tokens read include those from the cache.",
            "A log that was written without events has its messages, and neither times nor "
            "tokens for them.",
            "Success is the verdict of the first scorer; a number alone is a score and no "
            "success.",
        ),
    )
    telling_keys_of_objects = frozenset(map(bytes.decode, _EVALUATION))

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins an archive of samples, or a log."""
        if sample.startswith(MAGIC):
            name = first_name(sample) or ""
            return name in _HEADERS or name.startswith((_SAMPLES, "_journal/"))
        if not may_have_key(sample, _EVALUATION):
            return False
        value = first_value(sample)
        about = value.get("eval") if isinstance(value, dict) else None
        return isinstance(about, dict) and "task" in about and "created" in about

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run or a rejection for each sample.

        Raises:
            InputError: The log or archive cannot be read, or holds no samples.
        """
        if file.sample.startswith(MAGIC):
            yield from self._archive(file, context)
            return
        log, repaired = _decoded(file.data(), file.uri)
        samples = log.get("samples") if isinstance(log, dict) else None
        if not isinstance(samples, list) or not samples:
            raise InputError("the log holds no samples", file=file.uri)
        known: set[str] = set()
        for position, sample in enumerate(samples):
            record = _record(sample, position, known)
            yield self._sample(file, context, log, sample, record, repaired)

    def _archive(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        archive = ZipArchive(file.data(), file.uri)
        header: Any = {}
        for name in _HEADERS:
            if name in archive.names:
                header, _ = _decoded(archive.read(name), file.uri)
                break
        names = [n for n in archive.names if n.startswith(_SAMPLES) and n.endswith(".json")]
        if not names:
            raise InputError("the archive holds no samples", file=file.uri)
        known: set[str] = set()
        for position, name in enumerate(names):
            try:
                sample, repaired = _decoded(archive.read(name), file.uri)
            except InputError as error:
                yield Rejection(file.uri, name, error.reason)
                continue
            record = _record(sample, position, known)
            log = header if isinstance(header, dict) else {}
            yield self._sample(file, context, log, sample, record, repaired)

    def _sample(
        self,
        file: TraceFile,
        context: ReadContext,
        log: Record,
        sample: Any,
        record: str,
        repaired: bool,
    ) -> CollaborationGraph | Rejection:
        try:
            if not isinstance(sample, dict):
                raise InputError("the sample is no object")
            builder = context.builder(self, file, canonical_json(sample), record=record)
            if repaired:
                builder.warn(REPAIRED)
            events = Sample(sample, builder)
            play(builder, events.items, events.user)
            if not builder.node_count:
                self._messages(builder, sample)
            if not builder.node_count:
                raise InputError("the sample holds no message")
            _describe(builder, log, sample, events)
            return builder.build()
        except InputError as error:
            return Rejection(file.uri, record, error.reason)

    @staticmethod
    def _messages(builder: GraphBuilder, sample: Record) -> None:
        messages = sample.get("messages")
        if isinstance(messages, list) and messages:
            builder.warn("the sample has no events: its messages have neither times nor tokens")
            add_chat(builder, [_as_chat(m) for m in messages], status_of=_status)


INSPECT = InspectReader()


def _decoded(data: bytes, uri: str) -> tuple[Any, bool]:
    """A log's JSON. A metric of no samples is written as NaN, which here is missing."""
    try:
        return decode_bytes(data, _DECODER, uri)
    except InputError:
        if b"NaN" not in data and b"Infinity" not in data:
            raise
        try:
            return json.loads(data, parse_constant=_MISSING.get), False
        except (ValueError, RecursionError):
            pass
        raise


def _as_chat(message: Any) -> Any:
    """A message whose calls name their function as chat completions do."""
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(calls, list):
        return message
    return {
        **message,
        "tool_calls": [
            {**call, "name": call.get("function")} if isinstance(call, dict) else call
            for call in calls
        ],
    }


def _status(message: Record) -> Any:
    return "error" if message.get("error") is not None else None


def _record(sample: Any, position: int, known: set[str]) -> str:
    about = sample if isinstance(sample, dict) else {}
    id, epoch = text_of(about.get("id")), text_of(about.get("epoch"))
    record = f"sample {position}" if id is None else id
    if epoch is not None and id is not None:
        record = f"{id} epoch {epoch}"
    if record in known:
        record = f"{record} ({position})"
    known.add(record)
    return record


def _describe(builder: GraphBuilder, log: Record, sample: Record, events: Sample) -> None:
    about = log.get("eval")
    about = about if isinstance(about, dict) else {}
    task = text_of(about.get("task"))
    asked = sample.get("input")
    if isinstance(asked, list):
        texts = [text_of(m.get("content")) for m in asked if isinstance(m, dict)]
        asked = "\n".join(text for text in texts if text)
    id = text_of(sample.get("id"))
    if id is not None:
        builder.set_task(id, description=text_of(asked), dataset=task)
    builder.set_method(_method(log, about), framework=FRAMEWORK)
    for name, value in (
        ("model", about.get("model")),
        ("evaluation", about.get("eval_id") or about.get("run_id")),
        ("epoch", sample.get("epoch")),
        ("metadata", sample.get("metadata")),
        ("scores", sample.get("scores")),
    ):
        if value not in (None, "", {}, []):
            builder.attributes[name] = value
    if events.models:
        builder.attributes["models"] = list(events.models)
    if events.others:
        builder.attributes["other_events"] = dict(sorted(events.others.items()))
        builder.warn(
            "events that are no message were counted only: " + ", ".join(sorted(events.others))
        )
    builder.outcome = _outcome(log, sample)


def _method(log: Record, about: Record) -> str:
    """The solver's name; an agent's own name where the plan has one."""
    plan = log.get("plan")
    steps = plan.get("steps") if isinstance(plan, dict) else None
    names: list[str] = []
    for step in steps if isinstance(steps, list) else []:
        if isinstance(step, dict):
            parameters = step.get("params")
            own = parameters.get("name") if isinstance(parameters, dict) else None
            name = text_of(step.get("solver"))
            if name is not None:
                names.append(f"{name} ({own})" if isinstance(own, str) else name)
    return text_of(about.get("solver")) or " + ".join(names) or "solver"


def _outcome(log: Record, sample: Record) -> Outcome:
    scores = sample.get("scores")
    if not isinstance(scores, dict):
        scores = {"score": sample.get("score")}
    results = log.get("results")
    headline = results.get("headline") if isinstance(results, dict) else None
    first = headline.get("scorer") if isinstance(headline, dict) else None
    chosen = scores.get(first) if isinstance(first, str) else None
    if not isinstance(chosen, dict):
        chosen = next((s for s in scores.values() if isinstance(s, dict)), {})
    value = chosen.get("value")
    success: bool | None = None
    score: float | None = None
    if isinstance(value, bool):
        success, score = value, float(value)
    elif isinstance(value, str) and value in _GRADES:
        score = _GRADES[value]
        success = None if value == "P" else value == "C"
    elif isinstance(value, int | float) and -(2.0**53) < value < 2.0**53:
        score = float(value)
    usage = sample.get("model_usage")
    counts = [tokens_of(part) for part in usage.values()] if isinstance(usage, dict) else []
    read = [one for one, _ in counts if one is not None]
    written = [other for _, other in counts if other is not None]
    seconds = sample.get("total_time")
    expected = sample.get("target")
    if isinstance(expected, list):
        expected = "\n".join(text_of(part) or "" for part in expected)
    retries = sample.get("error_retries")
    return Outcome(
        success=success,
        score=score,
        answer=text_of(chosen.get("answer")) or _completion(sample),
        expected=text_of(expected),
        termination=_termination(log, sample),
        tokens_in=sum(read) if read else None,
        tokens_out=sum(written) if written else None,
        retries=len(retries) if isinstance(retries, list) else None,
        latency=float(seconds)
        if isinstance(seconds, int | float)
        and not isinstance(seconds, bool)
        and 0 <= seconds < 2**53
        else None,
    )


def _completion(sample: Record) -> str | None:
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) and content else None


def _termination(log: Record, sample: Record) -> str | None:
    error, limit = sample.get("error"), sample.get("limit")
    if isinstance(error, dict):
        return f"error: {text_of(error.get('message'))}"
    if isinstance(limit, dict):
        return f"limit: {text_of(limit.get('type'))}"
    return text_of(log.get("status"))
