import json

import pytest

from ingest.readers.chat_payload import answer_in, asked_in, decoded, messages_of, text_in

CHAT = {
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "function": {"name": "add", "arguments": "{}"}}],
            }
        }
    ]
}
RESPONSES = {
    "object": "response",
    "output": [
        {"type": "reasoning", "summary": []},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Three."}],
        },
        {"type": "function_call", "call_id": "c2", "name": "add", "arguments": "{}"},
    ],
}
ANTHROPIC = [
    {"role": "user", "content": "Add."},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I add."},
            {"type": "tool_use", "id": "c3", "name": "add", "input": {"a": 1}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c3", "content": "3"}]},
]
LANGCHAIN = {
    "messages": [
        [
            {"type": "human", "content": "Add.", "id": "h"},
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "messages", "AIMessage"],
                "kwargs": {"content": "Done.", "tool_calls": [{"id": "c4", "name": "add"}]},
            },
            {"type": "tool", "content": "3", "tool_call_id": "c4", "name": "add"},
        ]
    ]
}
PARTS = [
    {"role": "user", "parts": [{"type": "text", "content": "Add."}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c5", "name": "add"}]},
    {"role": "user", "parts": [{"type": "tool_call_response", "id": "c5", "result": 3}]},
]
GEMINI = {"role": "model", "parts": [{"text": "Three."}, {"functionCall": {"name": "add"}}]}


@pytest.mark.parametrize(
    ("value", "said", "calls", "answers"),
    [
        (CHAT, [None], ["c1"], []),
        (RESPONSES, ["Three.", None], ["c2"], []),
        (ANTHROPIC, ["Add.", "I add.", "3"], ["c3"], ["c3"]),
        (LANGCHAIN, ["Add.", "Done.", "3"], ["c4"], ["c4"]),
        (PARTS, ["Add.", None, "3"], ["c5"], ["c5"]),
        (GEMINI, ["Three."], [None], []),
    ],
)
def test_messages_in_all_shapes(value, said, calls, answers):
    messages = messages_of(value)
    assert [message.text for message in messages] == said
    assert [call.id for message in messages for call in message.calls] == calls
    assert {call.name for message in messages for call in message.calls} == {"add"}
    assert [one for message in messages for one in message.answers] == answers
    assert [m.text for m in messages_of(decoded(json.dumps(json.dumps(value))))] == said


def test_texts():
    assert text_in(CHAT) is None
    assert text_in("plain") == text_in({"output": "plain"}) == "plain"
    assert text_in({"a": 1, "b": 2}) == '{"a":1,"b":2}'
    assert text_in(None) is None
    assert text_in("[not json") == "[not json"
    assert asked_in(ANTHROPIC) == asked_in(LANGCHAIN) == "Add."
    assert asked_in({"question": "Why?"}) == "Why?"
    assert answer_in(LANGCHAIN) == "Done."
    assert answer_in(7) == "7"


@pytest.mark.parametrize(
    "value",
    [
        {"type": {"a": 1}, "content": 1},
        {"role": "assistant", "content": [{"type": ["x"]}, 3, None]},
        {"role": "assistant", "tool_calls": [1, {"function": 2}], "content": {"x": 1}},
        {"type": "constructor", "id": [{}], "kwargs": {}},
        [[[[[[[[[{"role": "user", "content": "deep"}]]]]]]]]],
        10**30,
    ],
)
def test_strange_values_are_no_trouble(value):
    messages_of(value)
    text_in(value)
    asked_in(value)
    answer_in(value)
