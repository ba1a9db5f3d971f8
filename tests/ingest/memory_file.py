"""A trace file that stands in memory: what readers are given in their tests."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.reader import SAMPLE_BYTES


@dataclass(frozen=True)
class MemoryFile:
    content: bytes
    uri: str = "memory.json"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def sample(self) -> bytes:
        return self.content[:SAMPLE_BYTES]

    def data(self) -> bytes:
        return self.content

    def lines(self) -> Iterator[tuple[int, bytes]]:
        for number, line in enumerate(self.content.split(b"\n"), 1):
            if text := line.strip():
                yield number, text

    def blocks(self) -> Iterator[bytes]:
        for start in range(0, len(self.content), 1 << 16):
            yield self.content[start : start + (1 << 16)]
