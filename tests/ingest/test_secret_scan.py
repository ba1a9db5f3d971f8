"""The look at many texts at once overlooks nothing that the look at each would take out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.policies import SEPARATOR
from ingest.secret_scan import may_hold_secret
from ingest.secrets import TOKENS, redacted

RULES = [rule for _, rules in TOKENS for rule in rules]
LETTERS = "aB3dE5gH7jK9mN2pQ4rS6tU8vW1xY0z"
NAMED = [
    "password=hunter",
    'password = "correct horse"',
    "Password: hunter22",
    '{\\"password\\": \\"hunter\\"}',
    "pwd=x1y2z3;",
    "PASSPHRASE\u00a0:\u3000'let me in'",
    "Authorization: Bearer " + LETTERS,
    "authorization: basic " + LETTERS,
    "bearer \n  0123456789abcdef",
    "OPENAI_API_KEY=" + LETTERS,
    '"apiKey": "' + LETTERS + '"',
    "api_\u212aey: " + LETTERS,
    "client_secret => " + LETTERS,
    "access_token=" + LETTERS,
    "postgres://me:hunter2@db:5432/x",
    "redis://:p4ss@localhost",
    "postgres://me:h\u00fcnter@db",
    "ann.lee+x@mail.example.org",
    "-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 64,
]
pieces = st.one_of(
    st.sampled_from(NAMED),
    st.sampled_from(
        ["", " ", "\n", "=", ":", '"', "'", "\\", "@", "://", "a" * 30, "\u0130", "\u00e9"]
    ),
    st.sampled_from(
        ["token", "key", "api_key", "secret", "pass", "password", "bearer", "basic"]
    ),
    st.sampled_from([literal for rule in RULES for literal in rule.literals]),
    st.sampled_from([LETTERS, LETTERS.lower(), "0123456789abcdef" * 3, "xoxb-123456789012345"]),
    st.text(max_size=5),
)
texts = st.lists(pieces, max_size=6).map("".join)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_every_token_that_a_rule_matches_is_seen(rule):
    @given(st.from_regex(rule.pattern.pattern, fullmatch=False), texts)
    def check(token, beside):
        for text in (token, f"{beside} {token}", SEPARATOR.join([beside, token, beside])):
            if redacted(text) != text:
                assert may_hold_secret(text)

    check()


@pytest.mark.parametrize("text", NAMED)
def test_every_named_secret_is_seen(text):
    for around in ("{}", "x" * 100 + " {} " + "y " * 100, "a: b = c, " * 9 + "{}\u00e9"):
        whole = around.format(text)
        assert redacted(whole) != whole
        assert may_hold_secret(whole)


@given(st.lists(texts, max_size=5))
def test_nothing_is_overlooked_in_texts_that_are_joined(several):
    found = may_hold_secret(SEPARATOR.join(several))
    if any(redacted(text) != text for text in several):
        assert found
    if found:
        # What was seen may be harmless, but it is never nothing.
        assert re.search(
            r"[@:=-]|bearer|\u212a|[A-Za-z0-9_\-.:/+=]{20}", "".join(several), re.I
        )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The plan has 3 steps: read, compare, answer. See https://example.org/a-long-path/x.html",
        "max_tokens=1024, primary_key=id, keys: a, b; passes: 3; tokens per second = 4",
        "def f(x: int) -> int:\n    return x == 1",
        '{"name": "search", "arguments": {"query": "harbour"}}',
        "confidentiality, institutionalization, 0123456789abcdef0123456789abcdef",
    ],
)
def test_ordinary_texts_are_let_through_at_a_glance(text):
    assert not may_hold_secret(text)
    assert not may_hold_secret(SEPARATOR.join([text] * 50))


@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u4e2d", "\U0001f511"])
def test_a_named_value_of_any_length_is_seen_in_the_middle_of_a_text(letter):
    for length in (4, 500, 2_047, 2_048, 2_049, 9_000):
        text = f"{letter * 3_000} password = '{letter * length}' {letter * 3_000}"
        assert may_hold_secret(text)
        # Runs of x stand for a value that somebody left out.
        assert (redacted(text) != text) is (length <= 2_048 and letter != "x")
