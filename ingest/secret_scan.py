"""Whether any of many texts may hold a secret: one look at all of them together.

Almost every trace holds none, and looking for one text by text costs more than reading the
file. :func:`may_hold_secret` goes over the bytes of joined texts a few times with searches
that run at memory speed. It never overlooks what :func:`ingest.secrets.redacted` would take
out; where it says yes, each text is looked at by itself.
"""

import re

from ingest.secrets import (
    BEARER,
    NAMES,
    QUALIFIER_LENGTH,
    RUN_CHARACTERS,
    RUN_LENGTH,
    TOKENS,
    Rule,
)

# In the order of a byte's code: what tokens are made of, and everything else.
_RUN_TABLE = bytes(
    ord("a") if code < 128 and chr(code) in RUN_CHARACTERS else ord(" ") for code in range(256)
)
_LONG_RUN = b"a" * RUN_LENGTH


def _encoded(rules: tuple[Rule, ...]) -> list[tuple[list[bytes], re.Pattern[bytes]]]:
    return [
        (
            [literal.encode() for literal in rule.literals],
            re.compile(rule.pattern.pattern.encode()),
        )
        for rule in rules
    ]


_RULES = tuple((sign.encode(), _encoded(rules)) for sign, rules in TOKENS)
_SIGN_NAMES = tuple(literal.encode() for literal, _, _ in NAMES)
# The longest name, the quotes and the spaces that may stand between it and its sign.
_BEFORE_SIGN = 40
# Cutting texts at their signs is faster than searching them for names up to this density.
_BYTES_PER_SIGN = 40
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
    if runs and _holds_token(runs):
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


def _may_name_secret(text: str, data: bytes) -> bool:
    """Whether a password, key or token stands beside its name."""
    if len(data) != len(text) and _KELVIN in text:
        # Its lower case is the letter k.
        return True
    lower = data.lower()
    most = len(data) // _BYTES_PER_SIGN
    parts = lower.replace(b"=", b":").split(b":", most + 1)
    if len(parts) <= most + 1:
        del parts[-1]
        before = b"\n".join([part[-_BEFORE_SIGN:] for part in parts])
    else:
        before = lower
    names = [name for name in _SIGN_NAMES if name in before]
    if b"authorization" in before and b"basic" in lower:
        return True
    bearer = b"bearer" in lower
    if not names and not bearer:
        return False
    low = text.lower()
    if len(low) != len(text):
        # A few letters grow in lower case, and lengths count below.
        return True
    if bearer and BEARER.search(low):
        return True
    for literal, pattern, qualifier in NAMES:
        if literal.encode() not in names:
            continue
        for found in pattern.finditer(low):
            if qualifier is None or qualifier.search(
                low[max(0, found.start() - QUALIFIER_LENGTH) : found.start()]
            ):
                return True
    return False
