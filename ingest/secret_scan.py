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
    NAMES_BEFORE_VALUES,
    QUALIFIER_LENGTH,
    RUN_CHARACTERS,
    RUN_LENGTH,
    START,
    TOKENS,
    Rule,
    long_runs,
    run_table,
)

_LETTERS = "".join(letter for letter in RUN_CHARACTERS if letter.isalnum()) + "_-"
_RUN_TABLE = run_table(_LETTERS)


def _encoded(rule: Rule) -> re.Pattern[bytes]:
    return re.compile(rule.pattern.pattern.encode())


# All rules at once, behind the boundary at which every token begins: few places are looked at.
_ANY_TOKEN = re.compile(
    b"%b(?:%b)"
    % (
        START.encode(),
        b"|".join(
            _encoded(rule).pattern.removeprefix(START.encode())
            for _, rules in TOKENS
            for rule in rules
            if rule.pattern.pattern.startswith(START)
        ),
    )
)
_PATTERNS = {rule.kind: _encoded(rule) for _, rules in TOKENS for rule in rules}
# A dot or a colon stands in the first characters of these, and a long run behind it; so many
# bytes on both sides of the run's ends hold the least that makes a token.
_BEFORE_RUN = frozenset(b".:")
_WITH_MARK = tuple(
    _PATTERNS[kind] for kind in ("google-token", "sendgrid-key", "telegram-token")
)
_AROUND_RUN = 64

# What may be short runs alone is looked for in thinned text: few letters, in lower case, and
# all signs but those that may stand between a name and its value. A word thins to the same
# letters wherever it stands, so that none is missed; few other texts thin to them.
_THIN_LETTERS = b"bcdjkprstwy"
_THIN_TABLE = bytes(range(256)).lower().replace(b"=", b":")
_THIN_DROPPED = bytes(
    code
    for code in range(256)
    if not 32 < code < 128
    or code in b"\"'\\"
    or (chr(code).isalpha() and bytes([code]).lower() not in _THIN_LETTERS)
)


def _thinned(data: bytes) -> bytes:
    return data.translate(_THIN_TABLE, _THIN_DROPPED)


_SPELLINGS = {
    "pass": (b"password:", b"passwd:", b"passphrase:"),
    "pwd": (b"pwd:",),
    "secret": (b"secret:",),
    "token": (b"token:",),
    "key": (b"key:",),
}
# Between a name and its sign stand quotes and spaces at most: nothing that is kept.
_THIN_NAMES: dict[bytes, list[tuple[bytes, re.Pattern[str], re.Pattern[str] | None]]] = {}
for _literal, _pattern, _qualifier in NAMES_BEFORE_VALUES:
    for _spelling in _SPELLINGS[_literal]:
        _THIN_NAMES.setdefault(_thinned(_spelling), []).append(
            (_literal.encode(), _pattern, _qualifier)
        )
_LAST_BUT_ONE, _LAST = (
    b"".join(sorted({name[place : place + 1] for name in _THIN_NAMES})) for place in (-3, -2)
)
# The sign is looked for, and from there backwards: first whether the letters may be an end.
_THIN_NAMED = re.compile(
    b":(?<=[%b][%b]:)(?:%b)"
    % (_LAST_BUT_ONE, _LAST, b"|".join(b"(?<=%b)" % name for name in _THIN_NAMES))
)
_LONGEST_NAME = max(map(len, _THIN_NAMES))
_THIN_BASIC = _thinned(b"authorization:basic")
_THIN_BEARER = _thinned(b"bearer")
_KEY_BEGIN = b"-----BEGIN "
_THIN_KEY_BEGIN = _thinned(_KEY_BEGIN)
_SHORT_RUNS = tuple(
    (_thinned(literal), literal, _PATTERNS[kind])
    for literal, kind in (
        (b".eyJ", "jwt"),
        (b"hooks.slack.com/", "slack-webhook"),
        (b"whsec_", "stripe-key"),
    )
)
"""Tokens with other characters than a run's, by a literal in them."""
# The longest name, the quotes and the spaces that may stand between it and its sign.
_BEFORE_SIGN = 40
# What qualifies a name; the name, its sign and the longest value: characters take up to four
# bytes.
_AROUND_BEFORE = 4 * QUALIFIER_LENGTH
_AROUND_AFTER = _BEFORE_SIGN + 64
_KELVIN = "\u212a"
# As in ``ingest.secrets``, over bytes, where a character takes up to four.
_URL_PASSWORD = re.compile(rb"://[^\s/:\"'<>\[\]]{0,1024}+:[^\s/@\"'<>]{1,8192}+@")
_EMAIL = re.compile(
    rb"@(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9\-])"
)


def may_hold_secret(text: str) -> bool:
    """Whether a text may hold something that has to be taken out.

    Args:
        text: One text, or several joined by :data:`graphstore.policies.SEPARATOR`, over
            which no secret can reach.

    Returns:
        False only where :func:`ingest.secrets.redacted` would change none of the texts.
    """
    data = text.encode("utf-8", "surrogatepass")
    if len(data) < RUN_LENGTH and not (b":" in data or b"=" in data or b"@" in data):
        return False
    # What is found fastest first: a text that holds something is looked at again in parts.
    if b"@" in data and (_EMAIL.search(data) or _URL_PASSWORD.search(data)):
        return True
    if _holds_token(data):
        return True
    thin = _thinned(data)
    if _THIN_KEY_BEGIN in thin and _KEY_BEGIN in data:
        return True
    for thinned, literal, pattern in _SHORT_RUNS:
        if thinned in thin and literal in data and pattern.search(data):
            return True
    if len(data) != len(text) and _KELVIN in text:
        # Its lower case is the letter k.
        return True
    if b":" not in thin and _THIN_BEARER not in thin:
        return False
    return _names_secret(text, data, thin)


def _holds_token(data: bytes) -> bool:
    """Whether one of the stretches that are long enough for a token is one."""
    runs: set[bytes] = set()
    for start, end in long_runs(data, _RUN_TABLE):
        runs.add(data[start:end])
        if start and data[start - 1] in _BEFORE_RUN:
            begin = max(0, start - _AROUND_RUN)
            for pattern in _WITH_MARK:
                if pattern.search(data, begin, end + _AROUND_RUN):
                    return True
    return bool(runs) and _ANY_TOKEN.search(b"\n".join(runs)) is not None


def _names_secret(text: str, data: bytes, thin: bytes) -> bool:
    """Whether a password, key or token stands beside its name."""
    if _THIN_BASIC in thin:
        return True
    named = {
        thin[max(0, found.end() - _LONGEST_NAME) : found.end()]
        for found in _THIN_NAMED.finditer(thin)
    }
    bears = _THIN_BEARER in thin
    if not named and not bears:
        return False
    lower = data.lower()
    if bears and b"bearer" in lower and BEARER.search(text.lower()):
        return True
    return any(
        _beside_value(around, pattern, qualifier)
        for spelling, names in _THIN_NAMES.items()
        if any(one.endswith(spelling) for one in named)
        for literal, pattern, qualifier in names
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
