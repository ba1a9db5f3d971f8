"""What may be stored of the words in a trace: the contract, and the policy that keeps all."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from graphstore.model import Attributes

SEPARATOR = "\n\0\n"
"""Stands between texts that are looked at together: no pattern of words reaches over it."""


class ContentPolicy(Protocol):
    """What may be stored of the words in a trace."""

    def text(self, text: str) -> str | None:
        """A content as it may be stored, or None where contents are dropped."""

    def hashed(self, text: str) -> str:
        """The form of a content that its hash is made of."""

    def label(self, text: str) -> str:
        """A name or title as it may be stored."""

    def attributes(self, attributes: Attributes) -> Attributes:
        """Attributes as they may be stored."""

    def keeps(self, texts: Sequence[str], keys: AbstractSet[str]) -> bool:
        """Whether the methods above would return each of many texts as it is.

        A policy for which that is not cheap to tell returns False: each text is then asked
        for by itself.

        Args:
            texts: Contents, names, and the keys and texts of attributes.
            keys: The keys of attributes at any depth.
        """


class KeepEverything:
    """The policy that changes nothing: for graphs that no trace stands behind."""

    def text(self, text: str) -> str | None:
        """The content."""
        return text

    def hashed(self, text: str) -> str:
        """The content."""
        return text

    def label(self, text: str) -> str:
        """The name."""
        return text

    def attributes(self, attributes: Attributes) -> Attributes:
        """The attributes."""
        return attributes

    def keeps(self, texts: Sequence[str], keys: AbstractSet[str]) -> bool:  # noqa: ARG002
        """Always."""
        return True
