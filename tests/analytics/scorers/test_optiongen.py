import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from analytics.scorers.judge import (
    EndpointJudge,
    RecordedJudge,
    RecordingJudge,
    prompt_hash,
)
from analytics.scorers.optiongen import (
    ANCHORS,
    OptionGenScorer,
    OptionSet,
    judge_prompt,
    read_score,
)
from graphstore.errors import InputError, UsageError

FIELDS = {
    "article": "The ferry leaves at nine. In winter it does not run on Sundays.",
    "question": "When can nobody take the ferry?",
    "correct_rubric": "Names Sundays and the winter.",
    "distractor_rubric": "Uses other days or seasons that a hasty reader would take.",
}
OPTIONS = OptionSet(
    "On a Sunday in winter", ("On a Sunday in summer", "Before nine on Mondays", "At night")
)
VALUE = json.dumps({"correct": OPTIONS.correct, "distractors": list(OPTIONS.distractors)})
INSTANCE = OptionGenScorer().read_instance(FIELDS)


def record(correct, distractors):
    """The lines that a judge's answers make."""
    return [
        json.dumps(
            {"prompt": prompt_hash(judge_prompt(INSTANCE, OPTIONS, part)), "answer": text}
        )
        for part, text in (("correct", correct), ("distractors", distractors))
    ]


def scorer(correct='{"score": 95}', distractors='Close. {"score": 60}'):
    return OptionGenScorer(RecordedJudge.from_lines(record(correct, distractors)))


def test_the_score_is_the_mean_of_the_judges_two():
    assert scorer().score(INSTANCE, VALUE).score == 77.5
    lettered = {
        "options": {
            "A": OPTIONS.distractors[0],
            "B": OPTIONS.correct,
            "C": OPTIONS.distractors[1],
            "D": OPTIONS.distractors[2],
        },
        "correct": "B",
    }
    assert scorer().score(INSTANCE, json.dumps(lettered)).score == 77.5


def test_what_the_judge_never_saw_has_no_score():
    other = json.dumps({"correct": "Never", "distractors": ["a", "b", "c"]})
    verdict = scorer().score(INSTANCE, other)
    assert (verdict.score, verdict.valid) == (None, True)
    assert "no answer on correct" in verdict.reason


@pytest.mark.parametrize("answer", ["good", '{"score": 101}', '{"score": "90"}', '{"mark": 9}'])
def test_a_judges_answer_without_a_score_is_told(answer):
    verdict = scorer(distractors=answer).score(INSTANCE, VALUE)
    assert (verdict.score, verdict.valid) == (None, True)
    assert "on distractors holds no score" in verdict.reason


def test_scores_in_answers():
    assert read_score("87") == 87.0
    assert read_score('I say:\n```json\n{"score": 12.5}\n```') == 12.5
    assert read_score("true") is None
    assert read_score("-1") is None


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("A: On Sundays", "no JSON object"),
        ({"correct": "x", "distractors": ["a", "b"]}, "2 distractors"),
        ({"correct": "x", "distractors": ["a", "b", ""]}, "no text"),
        ({"correct": "E", "options": {"A": "a"}}, "none of its options"),
        ({"distractors": ["a", "b", "c"]}, "right option"),
    ],
)
def test_what_is_no_set_of_options_has_no_score(value, reason):
    text = value if isinstance(value, str) else json.dumps(value)
    verdict = scorer().score(INSTANCE, text)
    assert (verdict.score, verdict.valid) == (None, False)
    assert reason in verdict.reason


def test_without_a_judge_nothing_is_scored():
    with pytest.raises(UsageError, match="--judge"):
        OptionGenScorer().score(INSTANCE, VALUE)


def test_the_prompt_holds_what_the_judge_needs():
    own = {"correct": "correct_rubric", "distractors": "distractor_rubric"}
    for part, rubric in own.items():
        prompt = judge_prompt(INSTANCE, OPTIONS, part)
        held = [FIELDS[name] in prompt for name in FIELDS]
        assert held == [name in ("article", "question", rubric) for name in FIELDS]
        assert all(option in prompt for option in (OPTIONS.correct, *OPTIONS.distractors))
        assert all(f"{low}-{high}: {text}" in prompt for low, high, text in ANCHORS[part])


def test_six_anchors_cover_0_to_100():
    for anchors in ANCHORS.values():
        numbers = [n for low, high, _ in anchors for n in range(low, high + 1)]
        assert (len(anchors), numbers) == (6, list(range(101)))


def test_an_instance_needs_its_rubrics():
    with pytest.raises(UsageError, match="distractor_rubric"):
        OptionGenScorer().read_instance({k: v for k, v in FIELDS.items() if k[0] != "d"})


# --- Judges


def test_bad_records_are_told_with_their_line():
    with pytest.raises(InputError, match=r"answers\.jsonl, record 2"):
        RecordedJudge.from_lines(["", '{"prompt": 3}'], file="answers.jsonl")
    twice = ['{"prompt": "a", "answer": "1"}', '{"prompt": "a", "answer": "2"}']
    with pytest.raises(InputError, match="record 2: a second answer"):
        RecordedJudge.from_lines(twice)


def test_the_name_of_a_record_is_made_of_its_answers():
    one = RecordedJudge.from_lines(record("1", "2"))
    again = RecordedJudge.from_lines(reversed(record("1", "2")))
    assert one.name == again.name != RecordedJudge.from_lines(record("1", "3")).name


def test_a_recording_asks_once_and_can_be_read_again():
    class Counting:
        name = "counting"
        asked = 0

        def answer(self, prompt):
            self.asked += 1
            return f"{len(prompt)}"

    counting = Counting()
    recording = RecordingJudge(counting)
    answers = [recording.answer(prompt) for prompt in ("a", "bb", "a", "a")]
    assert (answers, counting.asked, recording.name) == (["1", "2", "1", "1"], 2, "counting")
    recorded = RecordedJudge.from_lines(recording.lines())
    assert [recorded.answer(prompt) for prompt in ("a", "bb", "c")] == ["1", "2", None]


@pytest.fixture
def server():
    """A server that speaks OpenAI's chat interface, on the loopback."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        reply = {"choices": [{"message": {"content": '{"score": 70}'}}]}
        status = 200

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, self.headers.get("Authorization"), body))
            data = json.dumps(self.reply).encode()
            self.send_response(self.status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}/v1", Handler, seen
        finally:
            http.shutdown()
            thread.join()


def test_a_server_is_asked_at_temperature_0(server):
    url, _, seen = server
    judge = EndpointJudge(url, "small", key="secret")
    assert OptionGenScorer(judge).score(INSTANCE, VALUE).score == 70.0
    assert [path for path, _, _ in seen] == ["/v1/chat/completions"] * 2
    assert seen[0][1] == "Bearer secret"
    assert (seen[0][2]["model"], seen[0][2]["temperature"]) == ("small", 0)
    assert seen[0][2]["messages"][0]["content"] == judge_prompt(INSTANCE, OPTIONS, "correct")
    assert "secret" not in repr(judge) + judge.name


def test_what_goes_wrong_with_a_server_is_told(server):
    url, handler, _ = server
    judge = EndpointJudge(url, "small")
    handler.reply = {"choices": [{"message": {"content": None}}]}
    assert judge.answer("?") is None
    handler.reply = {"error": "no"}
    with pytest.raises(InputError, match="no answer"):
        judge.answer("?")
    handler.status = 401
    with pytest.raises(UsageError, match="401"):
        judge.answer("?")
    with pytest.raises(UsageError, match="no answer from the judge"):
        EndpointJudge("http://127.0.0.1:1/v1", "small").answer("?")
    for address in ("ftp://x", "http://me:pw@x"):
        with pytest.raises(UsageError):
            EndpointJudge(address, "small")
