"""Whether any of many texts may hold a secret: one look at all of them together.

Almost every trace holds none, and looking for one text by text costs more than reading the
file. :func:`may_hold_secret` goes over the bytes of joined texts a few times with searches
that run at memory speed. It never overlooks what :func:`ingest.secrets.redacted` would take
out; where it says yes, each text is looked at by itself.
"""

import re
from collections.abc import Iterator

from ingest.secrets import (
    BEARER,
    NAMES,
    QUALIFIER_LENGTH,
    RUN_CHARACTERS,
    RUN_LENGTH,
    TOKENS,
    Rule,
)

# Kinds whose tokens have a dot, a slash, a colon or the like in their first characters, with
# what to look for instead of a run; the others are one run of at least ``RUN_LENGTH`` letters.
_APART = {
    "google-token": "ya29.",
    "sendgrid-key": "SG.",
    "telegram-token": ":AA",
    "jwt": ".eyJ",
    "slack-webhook": "hooks.slack.com/",
    "stripe-key": "whsec_",
}
# So many bytes on both sides of such a mark hold the least that makes a token; what stands
# before it in a JWT may be of any length.
_AROUND_MARK = 128
_ENDLESS = "jwt"
_LETTERS = "".join(letter for letter in RUN_CHARACTERS if letter.isalnum()) + "_-"
# In the order of a byte's code: what such runs are made of, and everything else.
_RUN_TABLE = bytes(
    ord("a") if code < 128 and chr(code) in _LETTERS else ord(" ") for code in range(256)
)
_LONG_RUN = b"a" * RUN_LENGTH


def _encoded(rule: Rule) -> re.Pattern[bytes]:
    return re.compile(rule.pattern.pattern.encode())


_RULES = tuple(
    (
        sign.encode(),
        [([one.encode() for one in rule.literals], _encoded(rule)) for rule in rules],
    )
    for sign, rules in TOKENS
)
_MARKS = tuple(
    (
        _APART[rule.kind].encode(),
        None if rule.kind == _ENDLESS else _AROUND_MARK,
        _encoded(rule),
    )
    for _, rules in TOKENS
    for rule in rules
    if rule.kind in _APART
)
_NAMES = tuple((literal.encode(), pattern, qualifier) for literal, pattern, qualifier in NAMES)
# The longest name, the quotes and the spaces that may stand between it and its sign.
_BEFORE_SIGN = 40
# What qualifies a name; the name, its sign and the longest value: characters take up to four
# bytes.
_AROUND_BEFORE = 4 * QUALIFIER_LENGTH
_AROUND_AFTER = _BEFORE_SIGN + 4 * (512 + 8)
_KELVIN = "\u212a"
# As in ``ingest.secrets``, over bytes, where a character takes up to four.
_URL_PASSWORD = re.compile(rb"://[^\s/:@\"'<>\[\]]{0,1024}+:[^\s/@\"'<>]{1,1024}+@")
_EMAIL = re.compile(
    rb"@(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9\-])"
)


def may_hold_secret(text: str, data: bytes | None = None) -> bool:
    """Whether a text may hold something that has to be taken out.

    Args:
        text: One text, or several joined by :data:`graphstore.policies.SEPARATOR`, over
            which no secret can reach.
        data: The text in UTF-8, where that is known already.

    Returns:
        False only where :func:`ingest.secrets.redacted` would change none of the texts.
    """
    if data is None:
        data = text.encode("utf-8", "surrogatepass")
    runs = _long_runs(data)
    if (runs and _holds_token(runs)) or _holds_mark(data):
        return True
    if b"-----BEGIN " in data:
        return True
    if b"@" in data and (_EMAIL.search(data) or _URL_PASSWORD.search(data)):
        return True
    return _may_name_secret(text, data)


def _long_runs(data: bytes) -> list[bytes]:
    """The stretches that are long enough for a token."""
    flat = data.translate(_RUN_TABLE)
    runs: list[bytes] = []
    start = flat.find(_LONG_RUN)
    while start >= 0:
        end = flat.find(b" ", start + RUN_LENGTH)
        if end < 0:
            end = len(flat)
        runs.append(data[start:end])
        start = flat.find(_LONG_RUN, end)
    return runs


def _holds_token(runs: list[bytes]) -> bool:
    different = set(runs)
    for sign, rules in _RULES:
        signed = [run for run in different if sign in run]
        joined = b"\n".join(signed)
        for literals, pattern in rules:
            for literal in literals:
                # The pattern is slow where it finds nothing: it gets those runs alone.
                if literal in joined and pattern.search(
                    b"\n".join([run for run in signed if literal in run])
                ):
                    return True
    return False


def _holds_mark(data: bytes) -> bool:
    for mark, around, pattern in _MARKS:
        place = data.find(mark)
        if around is None:
            if place >= 0 and pattern.search(data):
                return True
            continue
        while place >= 0:
            if pattern.search(data, max(0, place - around), place + around):
                return True
            place = data.find(mark, place + 1)
    return False


def _may_name_secret(text: str, data: bytes) -> bool:
    """Whether a password, key or token stands beside its name."""
    if len(data) != len(text) and _KELVIN in text:
        # Its lower case is the letter k.
        return True
    lower = data.lower()
    if b"authorization" in lower and b"basic" in lower:
        return True
    if b"bearer" in lower and BEARER.search(text.lower()):
        return True
    return any(
        _beside_value(around, pattern, qualifier)
        for literal, pattern, qualifier in _NAMES
        for around in _signed(lower, literal)
    )


def _signed(lower: bytes, literal: bytes) -> Iterator[str]:
    """What stands around each place of a name that a sign follows soon."""
    place = lower.find(literal)
    while place >= 0:
        following = lower[place : place + _BEFORE_SIGN]
        if b":" in following or b"=" in following:
            around = lower[max(0, place - _AROUND_BEFORE) : place + _AROUND_AFTER]
            yield around.decode("utf-8", "ignore")
        place = lower.find(literal, place + len(literal))


def _beside_value(
    around: str, pattern: re.Pattern[str], qualifier: re.Pattern[str] | None
) -> bool:
    low = around.lower()
    if len(low) != len(around):
        # A few letters grow in lower case, and lengths count below.
        return True
    return any(
        qualifier is None
        or qualifier.search(low[max(0, found.start() - QUALIFIER_LENGTH) : found.start()])
        for found in pattern.finditer(low)
    )
