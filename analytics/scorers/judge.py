"""Judges: whoever is asked for a score, recorded so that it can be asked again for nothing.

A judge answers one prompt with one text. :class:`RecordedJudge` knows the answers that
somebody gave before; :class:`EndpointJudge` asks a server that speaks OpenAI's chat
interface, at temperature 0, as MASTraceBench asks its judge (appendix, "OptionGen");
:class:`RecordingJudge` stands between and keeps what was said.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from graphstore.errors import InputError, UsageError
from graphstore.identity import digest


class Judge(Protocol):
    """Answers prompts."""

    @property
    def name(self) -> str:
        """Names the judge: part of the configuration of results. Holds no key."""
        ...

    def answer(self, prompt: str) -> str | None:
        """The judge's text; None where it has no answer.

        Raises:
            UsageError: It cannot be asked.
            InputError: What came back is no answer.
        """
        ...


def prompt_hash(prompt: str) -> str:
    """The hash by which an answer is recorded (32 hex digits): of the exact text."""
    return digest(prompt, size=16)


class _RecordedAnswer(msgspec.Struct, forbid_unknown_fields=True):
    prompt: str
    answer: str


_ANSWERS = msgspec.json.Decoder(_RecordedAnswer)


@dataclass(frozen=True)
class RecordedJudge:
    """Answers that somebody gave before.

    Attributes:
        answers: By :func:`prompt_hash`.
    """

    answers: Mapping[str, str]

    @classmethod
    def from_lines(cls, lines: Iterable[str | bytes], *, file: str = "") -> "RecordedJudge":
        """Reads ``{"prompt": HASH, "answer": TEXT}``, one JSON object a line.

        Raises:
            InputError: A line is none, or two answer one prompt differently.
        """
        found: dict[str, str] = {}
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                one = _ANSWERS.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise InputError(str(error), file=file or None, record=str(number)) from None
            if found.setdefault(one.prompt, one.answer) != one.answer:
                raise InputError(
                    f"a second answer to the prompt {one.prompt}",
                    file=file or None,
                    record=str(number),
                )
        return cls(found)

    @property
    def name(self) -> str:
        """``recorded:HASH`` of all answers."""
        parts = [part for pair in sorted(self.answers.items()) for part in pair]
        return f"recorded:{digest(*parts, size=8)}"

    def answer(self, prompt: str) -> str | None:
        """What was recorded; None where the prompt was never asked."""
        return self.answers.get(prompt_hash(prompt))


@dataclass(frozen=True)
class RecordingJudge:
    """Asks another judge, each prompt once, and keeps the answers.

    Attributes:
        judge: Whom it asks.
        answers: By :func:`prompt_hash`; give those of a record to go on from there.
    """

    judge: Judge
    answers: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The other judge's name."""
        return self.judge.name

    def answer(self, prompt: str) -> str | None:
        """The kept answer, else the other judge's."""
        key = prompt_hash(prompt)
        if key not in self.answers:
            text = self.judge.answer(prompt)
            if text is None:
                return None
            self.answers[key] = text
        return self.answers[key]

    def lines(self) -> Iterable[str]:
        """What :meth:`RecordedJudge.from_lines` reads, by hash."""
        for key in sorted(self.answers):
            yield msgspec.json.encode({"prompt": key, "answer": self.answers[key]}).decode()


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Reply(msgspec.Struct):
    choices: list[_Choice]


@dataclass(frozen=True)
class EndpointJudge:
    """A server that speaks OpenAI's chat interface: ``POST URL/chat/completions``.

    Attributes:
        url: The base, for example ``http://localhost:11434/v1``.
        model: Its name there.
        key: Sent as a bearer token; never part of a name, a result or a message.
        timeout: Seconds to wait for one answer.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 120.0

    def __post_init__(self) -> None:
        address = urlsplit(self.url)
        if address.scheme not in ("http", "https"):
            raise UsageError(f"the address of the judge {self.url!r} is no http address")
        if address.username is not None or address.password is not None:
            # The address is part of results.
            raise UsageError("the address of a judge must not hold a user or a password")

    @property
    def name(self) -> str:
        """``openai:MODEL@URL``."""
        return f"openai:{self.model}@{self.url}"

    def answer(self, prompt: str) -> str | None:
        """The text of the first choice; None where it is empty.

        Raises:
            UsageError: The server does not answer, or refuses.
            InputError: It answers something else.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "temperature": 0,
            "messages": [{"role": "user", "content": prompt}],
        }
        text = self._post(msgspec.json.encode(body))
        try:
            choices = msgspec.json.decode(text, type=_Reply).choices
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(
                f"the judge's reply is no answer: {error}", file=self.url
            ) from None
        return (choices[0].message.content if choices else None) or None

    def _post(self, body: bytes) -> bytes:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request, urlopen

        headers = {"Content-Type": "application/json"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        request = Request(
            f"{self.url.rstrip('/')}/chat/completions", data=body, headers=headers
        )
        try:
            with urlopen(request, timeout=self.timeout) as reply:
                return bytes(reply.read())
        except HTTPError as error:
            raise UsageError(
                f"the judge at {self.url} refused: HTTP {error.code} {error.reason}"
            ) from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error or type(error).__name__
            raise UsageError(f"no answer from the judge at {self.url}: {reason}") from None
