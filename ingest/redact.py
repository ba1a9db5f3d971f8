"""What may be stored of the words in a trace: all but the secrets, everything, or nothing.

Public traces have held live API keys. A secret becomes ``[redacted:openai-key]``: what
it was stays readable, and redacting twice changes nothing. Contents are hashed in their
redacted form, so that no hash can be used to test a guessed password.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from graphstore.attribute_texts import MAX_DEPTH, texts_and_keys
from graphstore.errors import InputError
from graphstore.model import Attributes
from graphstore.policies import SEPARATOR, KeepEverything
from ingest.secret_scan import may_hold_secret
from ingest.secrets import names_secret, redacted, sensitive_key

_LABELS_KEPT = 4_096
_KEYS_KEPT = 50_000


class Redact:
    """Takes secrets and e-mail addresses out of contents, names and attributes: the default."""

    def __init__(self) -> None:
        self._last: tuple[str, str] = ("", "")
        self._labels: dict[str, str] = {}
        self._plain_keys: set[str] = set()

    def text(self, text: str) -> str | None:
        """The content without secrets."""
        return self._redacted(text)

    def hashed(self, text: str) -> str:
        """The content without secrets."""
        return self._redacted(text)

    def label(self, text: str) -> str:
        """A name without secrets."""
        found = self._labels.get(text)
        if found is None:
            if len(self._labels) >= _LABELS_KEPT:
                self._labels.clear()
            found = self._labels[text] = _without_secrets(text)
        return found

    def attributes(self, attributes: Attributes) -> Attributes:
        """Attributes without secrets, in keys and in values at any depth.

        A text under a key such as ``password`` or ``api_key`` is a secret whatever it says.

        Raises:
            InputError: They are nested more than :data:`MAX_DEPTH` levels deep.
        """
        if not attributes:
            return {}
        found = texts_and_keys([attributes]) if type(attributes) is dict else None
        if found is not None:
            texts, keys = found
            if self.keeps([*texts, *keys], keys):
                return attributes
        return {self.label(key): _value(key, value, 1) for key, value in attributes.items()}

    def keeps(self, texts: Sequence[str], keys: AbstractSet[str]) -> bool:
        """Whether none of the keys names a secret and none of the texts may hold one."""
        if not keys <= self._plain_keys:
            if any(map(names_secret, keys)):
                return False
            if len(self._plain_keys) < _KEYS_KEPT:
                self._plain_keys |= keys
        return not may_hold_secret(SEPARATOR.join(texts))

    def _redacted(self, text: str) -> str:
        # A builder asks for the content and for what its hash is made of, one after the other.
        last, result = self._last
        if last is not text:
            result = _without_secrets(text)
            self._last = (text, result)
        return result


class Keep(KeepEverything):
    """Keeps everything as it is (``--keep-content``)."""


class Drop(Redact):
    """Keeps no contents and no attributes, only hashes and redacted names (``--drop-content``).

    The hash is made of the redacted content, so that graphs stored in either way can be
    compared.
    """

    def text(self, text: str) -> str | None:  # noqa: ARG002 - the protocol's argument
        """None."""
        return None

    def attributes(self, attributes: Attributes) -> Attributes:  # noqa: ARG002
        """Nothing."""
        return {}

    def keeps(self, texts: Sequence[str], keys: AbstractSet[str]) -> bool:  # noqa: ARG002
        """Never."""
        return False


def _without_secrets(text: str) -> str:
    return redacted(text) if may_hold_secret(text) else text


def _value(key: str | None, value: Any, depth: int) -> Any:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        if key is not None and (kind := sensitive_key(key, value)) is not None:
            return kind
        return _without_secrets(value) if isinstance(value, str) else value
    if depth >= MAX_DEPTH and isinstance(value, dict | list | tuple):
        raise InputError(f"its attributes are nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        whole = key is not None and names_secret(key)
        return {
            _without_secrets(name): _value(key if whole else name, inside, depth + 1)
            for name, inside in value.items()
        }
    if isinstance(value, list | tuple):
        return [_value(key, inside, depth + 1) for inside in value]
    return value
