"""Finds secrets in text: a table of patterns, each behind literals that are cheap to look for.

Almost every content holds no secret, so the way to "nothing here" is short: every token is
a long run without spaces, and a pattern runs only where one of its literals stands in such
a run. All patterns take linear time: each begins at a boundary and consumes what it tries
without giving it back (possessive repetition).
"""

import re
import string
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Rule:
    """One kind of secret.

    Attributes:
        kind: The name that stands in its place.
        literals: At least one of these stands in every such secret.
        pattern: The secret.
    """

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]


def mark(kind: str) -> str:
    """What stands where a secret was: ``[redacted:kind]``."""
    return f"[redacted:{kind}]"


START = r"(?<![A-Za-z0-9])(?<![A-Za-z0-9]_)"
"""Where a token begins: behind no letter or digit; an underscore may stand there alone."""
_TOKEN_END = r"(?![A-Za-z0-9])"


def _token(kind: str, literals: tuple[str, ...], pattern: str) -> Rule:
    return Rule(kind, literals, re.compile(START + pattern + _TOKEN_END))


# The formats of keys as their issuers document them, and as secret scanners look for them.
_HYPHENED = (
    _token("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_\-]{16,}+"),
    _token("langfuse-key", ("-lf-",), r"[sp]k-lf-[0-9a-fA-F\-]{32,36}+"),
    _token("openrouter-key", ("sk-or-",), r"sk-or-(?:v1-)?[A-Za-z0-9]{32,}+"),
    _token(
        "openai-key",
        ("sk-",),
        r"sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_\-]{16,}+|[A-Za-z0-9]{40,}+)",
    ),
    _token("api-key", ("sk-",), r"sk-(?=[A-Za-z\-_]{0,40}+[0-9])[A-Za-z0-9_\-]{20,}+"),
    _token("slack-token", ("xox", "xapp-"), r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9\-]{15,}+"),
    _token("gitlab-token", ("glpat-",), r"glpat-[A-Za-z0-9_\-]{20,}+"),
    _token("tavily-key", ("tvly-",), r"tvly-[A-Za-z0-9_\-]{16,}+"),
    _token("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{32,}+"),
    _token("xai-key", ("xai-",), r"xai-[A-Za-z0-9]{40,}+"),
    _token("nvidia-key", ("nvapi-",), r"nvapi-[A-Za-z0-9_\-]{40,}+"),
    _token("pypi-token", ("pypi-",), r"pypi-[A-Za-z0-9_\-]{50,}+"),
    _token("google-secret", ("GOCSPX-",), r"GOCSPX-[A-Za-z0-9_\-]{24,}+"),
    _token("firecrawl-key", ("fc-",), r"fc-[0-9a-f]{32}"),
)
_UNDERSCORED = (
    _token(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"(?:gh[pousr]_[A-Za-z0-9]{30,}+|github_pat_[A-Za-z0-9_]{22,}+)",
    ),
    _token("huggingface-token", ("hf_",), r"hf_[A-Za-z0-9]{30,}+"),
    _token("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{40,}+"),
    _token(
        "stripe-key",
        ("_live_", "_test_", "whsec_"),
        r"(?:[spr]k_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/=]{20,}+)",
    ),
    _token("langsmith-key", ("lsv2_",), r"lsv2_(?:pt|sk)_[0-9a-fA-F]{32}_[0-9a-fA-F]{10}"),
    _token("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{37}"),
    _token("pinecone-key", ("pcsk_",), r"pcsk_[A-Za-z0-9_]{40,}+"),
    _token("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    _token("digitalocean-token", ("_v1_",), r"do[opr]_v1_[0-9a-f]{64}"),
    _token("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{40,}+"),
    _token("linear-key", ("lin_api_",), r"lin_api_[A-Za-z0-9]{32,}+"),
    _token("shopify-token", ("shpat_", "shpss_"), r"shp(?:at|ss)_[0-9a-fA-F]{32}"),
    _token("together-key", ("tgp_v",), r"tgp_v[0-9]_[A-Za-z0-9_\-]{30,}+"),
    _token("fireworks-key", ("fw_",), r"fw_(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{20,}+"),
)
_PLAIN = (
    _token("google-key", ("AIza",), r"AIza[A-Za-z0-9_\-]{35}"),
    _token("google-token", ("ya29.",), r"ya29\.[A-Za-z0-9_\-]{20,}+"),
    _token("aws-key-id", ("AKIA", "ASIA"), r"A[KS]IA[A-Z0-9]{16}"),
    _token("sendgrid-key", ("SG.",), r"SG\.[A-Za-z0-9_\-]{22}\.[A-Za-z0-9_\-]{43}"),
    _token("databricks-token", ("dapi",), r"dapi[0-9a-f]{32}"),
    _token("telegram-token", (":AA",), r"[0-9]{8,10}:AA[A-Za-z0-9_\-]{33}"),
    _token(
        "jwt",
        ("eyJ",),
        r"(?<!-)eyJ[A-Za-z0-9_\-]{8,}+\.eyJ[A-Za-z0-9_\-]{8,}+\.[A-Za-z0-9_\-]*+",
    ),
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_\-]{10,}+"),
    ),
)
TOKENS: tuple[tuple[str, tuple[Rule, ...]], ...] = (
    ("-", _HYPHENED),
    ("_", _UNDERSCORED),
    ("", _PLAIN),
)
"""Rules by what stands in every token of them, in the order in which they are tried."""

# Every token above is a run of at least so many of these characters; prose has few.
RUN_LENGTH = 20
RUN_CHARACTERS = string.ascii_letters + string.digits + "_-.:/+="


def run_table(characters: str) -> bytes:
    """For :func:`long_runs`: the letter a for some characters, a space for all others."""
    members = characters.encode()
    return bytes(ord("a") if code in members else ord(" ") for code in range(256))


_RUN_TABLE = run_table(RUN_CHARACTERS)
_LONG_RUN = b"a" * RUN_LENGTH
# A user's name may be an address.
_URL_PASSWORD = re.compile(
    r"(://[^\s/:\"'<>\[\]]{0,256}+:)(?!\[redacted:)([^\s/@\"'<>]{1,2048}+)(?=@)"
)
BEARER = re.compile(r"bearer\s++(?P<value>[a-z0-9._~+/=\-]{16,}+)")
_BASIC = re.compile(
    r"authorization[\"'\\]{0,3}\s{0,4}[:=]\s{0,4}[\"'\\]{0,3}basic\s++(?P<value>[a-z0-9+/=]{8,}+)"
)
_EMAIL_DOMAIN = re.compile(
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9\-])"
)
_EMAIL_NAME = re.compile(r"[A-Za-z0-9._%+\-]{1,64}$")
_KEY_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{16,}+)*+")
_KEY_LENGTH = 16_384

# What follows the name in  password = "x",  "api_key": "x",  TOKEN=x.  The name's own
# beginning (``api_`` in ``api_key``) is looked at behind the match.
_SIGN = r"(?P<close>\\{0,3}[\"']?)\s{0,4}(?P<sign>:|=>|=)\s{0,4}"
_VALUE = (
    _SIGN + r"(?:\\{0,3}(?P<quote>[\"'])(?P<quoted>[^\"'\r\n\\]{4,2048}+)\\{0,3}(?P=quote)"
    r"|(?P<bare>[^\s\"'\\,;&|<>()\[\]{}`]{4,2048}+)(?![(\[\w]))"
)
_BEGIN_OF_VALUE = _SIGN + r"(?:\\{0,3}[\"'][^\"'\r\n\\]{4}|[^\s\"'\\,;&|<>()\[\]{}`]{4})"
_NAMES: tuple[tuple[str, str, re.Pattern[str] | None], ...] = (
    ("pass", r"pass(?:word|wd|phrase)", None),
    ("pwd", r"pwd", None),
    ("secret", r"secret", None),
    (
        "token",
        r"token",
        re.compile(r"(?:access|auth|refresh|bearer|api|id|session|bot|security|secret)[_\-]?$"),
    ),
    (
        "key",
        r"key",
        re.compile(
            r"(?:api|secret|private|account|access|auth|encryption|subscription|signing|"
            r"storage|master|service)[_\-]?$"
        ),
    ),
)
NAMES = tuple(
    (literal, re.compile(name + _VALUE), qualifier) for literal, name, qualifier in _NAMES
)
"""What a value's name holds, the name with its value, and what has to stand before the name."""
NAMES_BEFORE_VALUES = tuple(
    (literal, re.compile(name + _BEGIN_OF_VALUE), qualifier)
    for literal, name, qualifier in _NAMES
)
"""The same with the first characters of the value alone."""
QUALIFIER_LENGTH = 16
_PLACEHOLDER = re.compile(
    r"[<$%{\[*].*|x{3,}.*|\.{3,}.*|(?:your|my|the|some|example|dummy|fake|insert)[_\-].*"
    r"|none|null|true|false|undefined|string|str|required|optional|changeme|redacted"
    r"|(?:os|self|process|env|environ|settings|config|args|params|request|ctx)[.\[].*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]+")
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")

_LEAST_PIN = 1_000
_SENSITIVE_KEYS = re.compile(
    # These say it behind any other word: dbPassword, openaiApiKey, awsSecretAccessKey.
    r".*(?:passwords?|passwd|passphrase|api[_\-]?keys?|client[_\-]?secret|"
    r"secret[_\-]?(?:access[_\-]?)?key|private[_\-]?key|"
    r"(?:access|auth|refresh|bearer)[_\-]?tokens?)"
    r"|(?:.*[_\-.])?(?:pwd|secret|authorization|credentials?|cookie|set-cookie|"
    r"(?:session|id|bot|security|hf|huggingface|github|gitlab|slack|npm|discord)[_\-]?token|"
    r"(?:account|access|auth|encryption|subscription|signing|storage|master)"
    r"(?:[_\-]access)?[_\-]?key)",
    re.IGNORECASE,
)


def long_runs(data: bytes, table: bytes) -> list[tuple[int, int]]:
    """Where runs of at least :data:`RUN_LENGTH` bytes begin and end.

    Args:
        data: Any bytes.
        table: What a run is made of, from :func:`run_table`.
    """
    flat = data.translate(table)
    places: list[tuple[int, int]] = []
    start = flat.find(_LONG_RUN)
    while start >= 0:
        end = flat.find(b" ", start + RUN_LENGTH)
        if end < 0:
            end = len(flat)
        places.append((start, end))
        start = flat.find(_LONG_RUN, end)
    return places


def redacted(text: str) -> str:
    """A text without its secrets.

    Args:
        text: Any text.

    Returns:
        The text itself where nothing was found. Redacting a result again gives the same.
    """
    found = _redacted_once(text)
    # What one secret's mark takes the place of may have hidden the start or end of another.
    while found != text:
        text, found = found, _redacted_once(found)
    return text


def _redacted_once(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    if places := long_runs(data, _RUN_TABLE):
        runs = b"\n".join([data[start:end] for start, end in places])
        text = _without_tokens(text, runs.decode())
    if "-----BEGIN " in text:
        text = _without_private_keys(text)
    signed = "=" in text or ":" in text
    if signed and "://" in text and "@" in text:
        text = _URL_PASSWORD.sub(rf"\1{mark('password')}", text)
    if signed or "earer" in text or "EARER" in text:
        text = _without_assigned(text)
    if "@" in text:
        text = _without_addresses(text)
    return text


def sensitive_key(key: str, value: str | float) -> str | None:
    """What takes the place of a value whose key says that it is a secret.

    Args:
        key: The name in a map.
        value: What stands under it: a text or a number.

    Returns:
        The mark, None where the key says nothing or the value is empty or a mark already.
    """
    if isinstance(value, str):
        is_nothing = not value or value.startswith("[redacted:")
    else:
        # A small number counts something: passwords that were found, tokens.
        is_nothing = abs(value) < _LEAST_PIN
    if is_nothing or not names_secret(key):
        return None
    return mark("password" if "pass" in key.lower() or "pwd" in key.lower() else "secret")


@lru_cache(maxsize=4_096)
def names_secret(key: str) -> bool:
    """Whether what stands under a key is a secret, whatever it says."""
    return _SENSITIVE_KEYS.fullmatch(key) is not None


def _without_tokens(text: str, runs: str) -> str:
    """Tokens of known forms. Their literals are looked for in the long runs alone."""
    for sign, rules in TOKENS:
        if sign not in runs:
            continue
        for rule in rules:
            for literal in rule.literals:
                if literal in runs:
                    text = rule.pattern.sub(mark(rule.kind), text)
                    break
    return text


def _without_assigned(text: str) -> str:
    """Bearer tokens, passwords and keys that are named beside their value."""
    lower = text.lower()
    if len(lower) != len(text):
        # A few letters grow in lower case; positions have to stay.
        lower = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    spans: list[tuple[int, int, str]] = []
    if "bearer" in lower:
        spans += [
            (*found.span("value"), "bearer-token")
            for found in BEARER.finditer(lower)
            if any(letter.isdigit() for letter in found["value"])
        ]
    if "basic" in lower and "authorization" in lower:
        spans += [
            (*found.span("value"), "basic-credentials") for found in _BASIC.finditer(lower)
        ]
    for literal, pattern, qualifier in NAMES:
        if literal not in lower:
            continue
        password = literal in ("pass", "pwd")
        place = 0
        while found := pattern.search(lower, place):
            # Where this is no secret, its value may still name one.
            place = found.start("close")
            before = lower[max(0, found.start() - QUALIFIER_LENGTH) : found.start()]
            if qualifier is not None and not qualifier.search(before):
                continue
            group = "quoted" if found["quoted"] is not None else "bare"
            start, end = found.span(group)
            value = text[start:end]
            if _is_secret(value, password=password, quoted=group == "quoted", found=found):
                spans.append((start, end, "password" if password else "secret"))
                place = found.end()
    if not spans:
        return text
    parts: list[str] = []
    position = 0
    for start, end, kind in sorted(spans):
        if start < position:
            continue
        parts += [text[position:start], mark(kind)]
        position = end
    return "".join((*parts, text[position:]))


def _is_secret(value: str, *, password: bool, quoted: bool, found: re.Match[str]) -> bool:
    """Code and prose name passwords all the time: a value has to look like one."""
    if value.startswith("[redacted:") or _PLACEHOLDER.fullmatch(value):
        return False
    if _CONSTANT.fullmatch(value):
        return False
    digits = sum(letter.isdigit() for letter in value)
    if password:
        if quoted:
            return True
        if found["sign"] == ":" and not found["close"]:
            return len(value) >= 6 and digits > 0
        tight = found[0].find(found["sign"]) + 1 == found.start("bare") - found.start()
        return tight and not _CODE.fullmatch(value)
    if any(letter.isspace() for letter in value):
        return False
    if quoted:
        return (len(value) >= 8 and digits > 0) or len(value) >= 24
    return len(value) >= 16 and digits > 1 and not _CODE.fullmatch(value)


def _without_addresses(text: str) -> str:
    parts: list[str] = []
    position = 0
    for found in _EMAIL_DOMAIN.finditer(text):
        at = found.start()
        name = _EMAIL_NAME.search(text, max(position, at - 64), at)
        if name is None or name[0] == "git":
            continue
        parts += [text[position : name.start()], mark("email")]
        position = found.end()
    return "".join((*parts, text[position:])) if parts else text


def _without_private_keys(text: str) -> str:
    parts: list[str] = []
    position = 0
    for found in _KEY_BEGIN.finditer(text):
        if found.start() < position:
            continue
        limit = found.end() + _KEY_LENGTH
        end = text.find("-----END ", found.end(), limit)
        close = text.find("-----", end + len("-----END "), end + 64) if end >= 0 else -1
        if close >= 0:
            stop = close + len("-----")
        else:
            body = _KEY_BODY.match(text, found.end())
            stop = body.end() if body else found.end()
        parts += [text[position : found.start()], mark("private-key")]
        position = stop
    return "".join((*parts, text[position:])) if parts else text
