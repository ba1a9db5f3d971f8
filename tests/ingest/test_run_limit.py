"""One run that does not fit into the memory is rejected with the way out; others are read."""

import json
import tracemalloc

import pytest

from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph
from ingest.pipeline import read
from ingest.readers import otlp
from ingest.run_limit import RUN_BYTES, VARIABLE, run_bytes

WORDS = "A line that says something. " * 40


def claude(path, sessions):
    with path.open("w") as file:
        for session, count in sessions.items():
            for number in range(count):
                kind = "assistant" if number % 2 else "user"
                file.write(json.dumps({
                    "type": kind, "sessionId": session, "isSidechain": False,
                    "uuid": f"{session}{number}", "parentUuid": None, "timestamp":
                    f"2026-03-01T10:{number // 60 % 60:02}:{number % 60:02}Z",
                    "message": {"id": f"m{number}", "role": kind, "content": WORDS},
                }) + "\n")  # fmt: skip


def spans(path, sessions):
    with path.open("w") as file:
        for place, (session, count) in enumerate(sessions.items()):
            for number in range(count):
                texts = {"openinference.span.kind": "LLM", "output.value": WORDS,
                         "session.id": session, "agent.name": "a"}  # fmt: skip
                span = {
                    "traceId": f"{place * 1000 + number % 3 + 1:032x}", "name": "llm",
                    "spanId": f"{place * 100_000 + number + 1:016x}",
                    "startTimeUnixNano": str(1_700_000_000_000_000_000 + 1_000 * number),
                    "endTimeUnixNano": str(1_700_000_000_000_000_500 + 1_000 * number),
                    "attributes": [{"key": key, "value": {"stringValue": text}}
                                   for key, text in texts.items()],
                }  # fmt: skip
                scopes = [{"scope": {"name": "x"}, "spans": [span]}]
                file.write(json.dumps({"resourceSpans": [{"scopeSpans": scopes}]}) + "\n")


def codex(path, thread, count, parent=None):
    source = {"subagent": {"thread_spawn": {"parent_thread_id": parent}}} if parent else "cli"
    with path.open("w") as file:
        meta = {"id": thread, "timestamp": "2026-03-01T10:00:00Z", "source": source}
        file.write(json.dumps({"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta",
                               "payload": meta}) + "\n")  # fmt: skip
        for number in range(count):
            text = {"type": "output_text", "text": f"{number} {WORDS}"}
            payload = {"type": "message", "role": "assistant", "content": [text]}
            time = f"2026-03-01T10:{number // 60:02}:{number % 60:02}Z"
            file.write(json.dumps({"timestamp": time, "type": "response_item",
                                   "payload": payload}) + "\n")  # fmt: skip


@pytest.fixture
def one_mebibyte(monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(otlp, "_HELD_TIMES", 0)


@pytest.mark.parametrize(("write", "name"), [(claude, "s.jsonl"), (spans, "s.ndjson")])
@pytest.mark.usefixtures("one_mebibyte")
def test_a_run_that_is_too_large_is_rejected_and_the_next_one_is_read(tmp_path, write, name):
    path = tmp_path / name
    write(path, {"huge": 2_000, "small": 100})
    found = list(read(path))
    (graph,) = [item for item in found if isinstance(item, CollaborationGraph)]
    (rejection,) = [item for item in found if not isinstance(item, CollaborationGraph)]
    assert len(graph.nodes) == 100
    assert rejection.file == str(path)
    assert rejection.record
    assert "more than 1 MiB" in rejection.reason
    assert VARIABLE in rejection.reason


@pytest.mark.parametrize(("write", "name"), [(claude, "s.jsonl"), (spans, "s.ndjson")])
@pytest.mark.usefixtures("one_mebibyte")
def test_what_is_left_out_is_not_kept_in_memory(tmp_path, write, name, monkeypatch):
    path = tmp_path / name
    write(path, {"huge": 4_000})
    peaks = []
    for limit in ("1", "1000"):
        monkeypatch.setenv(VARIABLE, limit)
        tracemalloc.start()
        try:
            (item,) = read(path)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert isinstance(item, CollaborationGraph) == (limit == "1000")
    assert peaks[0] < 0.8 * peaks[1]


@pytest.mark.usefixtures("one_mebibyte")
def test_threads_of_one_session_are_too_large_together(tmp_path):
    codex(tmp_path / "alone.jsonl", "alone", 500)
    codex(tmp_path / "first.jsonl", "first", 500)
    codex(tmp_path / "second.jsonl", "second", 500, parent="first")
    found = list(read(tmp_path))
    (graph,) = [item for item in found if isinstance(item, CollaborationGraph)]
    assert graph.source.uri.endswith("alone.jsonl")
    rejected = [item for item in found if not isinstance(item, CollaborationGraph)]
    assert {item.file.rsplit("/")[-1] for item in rejected} == {"first.jsonl", "second.jsonl"}
    assert all("more than 1 MiB" in item.reason for item in rejected)


def test_the_limit_of_this_machine(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert run_bytes() == RUN_BYTES
    monkeypatch.setenv(VARIABLE, "2048")
    assert run_bytes() == 2048 << 20
    for wrong in ("much", "-1", "0", "1.5"):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(UsageError, match=VARIABLE):
            run_bytes()
