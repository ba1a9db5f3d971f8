"""What a reader is: the contract between the pipeline and one trace format."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from graphstore.builder import ContentPolicy, GraphBuilder, KeepEverything, unknown_role
from graphstore.model import CollaborationGraph, GraphKind, Role

Known = Literal["yes", "partly", "no"]

SAMPLE_BYTES = 65_536
"""How much of a file a reader sees when it is asked whether the file is one of its own."""


@dataclass(frozen=True)
class Capabilities:
    """What a format can say of a run or decomposition.

    Attributes:
        time: When things happened.
        tokens: What the model read and wrote.
        recipients: Who received a message.
        outcome: Whether it succeeded.
        notes: What a person should know before trusting a number, one sentence each.
    """

    time: Known
    tokens: Known
    recipients: Known
    outcome: Known
    notes: tuple[str, ...] = ()


class TraceFile(Protocol):
    """A file's content, decompressed. Made by :mod:`ingest.files`.

    Attributes:
        uri: The file as it was named; ``-`` for standard input.
        sha256: Of the decompressed bytes.
        sample: The first :data:`SAMPLE_BYTES` bytes, for sniffing.
    """

    @property
    def uri(self) -> str: ...

    @property
    def sha256(self) -> str: ...

    @property
    def sample(self) -> bytes: ...

    def data(self) -> bytes:
        """All bytes, at once."""

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Lines with their numbers from 1, without line ends; blank lines are left out.

        The file is streamed: it may be larger than memory.
        """

    def blocks(self) -> Iterator[bytes]:
        """All bytes from the start, in pieces of any size, for files larger than memory."""


@dataclass(frozen=True)
class Rejection:
    """A record, or a whole file, that was not read.

    Attributes:
        file: The file as it was named.
        record: The record in the file's own terms; None for the whole file.
        reason: What is wrong, for a person.
    """

    file: str
    record: str | None
    reason: str


@dataclass(frozen=True)
class ReadContext:
    """What a reader is given beside the file.

    Attributes:
        policy: What may be stored of contents.
        role_of: Maps raw role and agent names to the shared vocabulary.
    """

    policy: ContentPolicy = field(default_factory=KeepEverything)
    role_of: Callable[[str], Role] = unknown_role

    def builder(
        self,
        reader: "Reader",
        file: TraceFile,
        content: str | bytes,
        *,
        record: str | None = None,
    ) -> GraphBuilder:
        """A builder for one graph of a file.

        Args:
            reader: The reader at work.
            file: The file.
            content: The record's own bytes or canonical text: the graph's identity.
            record: The record inside the file, None for the whole file.
        """
        return GraphBuilder(
            kind=reader.kind,
            format=reader.format,
            uri=file.uri,
            content=content,
            record=record,
            sha256=file.sha256,
            reader_version=reader.version,
            policy=self.policy,
            role_of=self.role_of,
        )


class Reader(Protocol):
    """Reads one format.

    Attributes:
        format: A short, stable name: ``whowhen-handcrafted``.
        title: For people: ``Who&When, hand-crafted (Magentic-One)``.
        kind: What its graphs are.
        version: Raised whenever the same file gives another graph.
        capabilities: What the format can say.
    """

    format: str
    title: str
    kind: GraphKind
    version: str
    capabilities: Capabilities

    def sniff(self, sample: bytes) -> bool:
        """Whether a file that begins like this is in the reader's format.

        Args:
            sample: At most :data:`SAMPLE_BYTES` bytes, possibly cut in the middle. Decided
                by content, never by a name. Must not raise.
        """

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields each graph of the file, and each record that cannot be one.

        Args:
            file: The file.
            context: Policy and roles.

        Raises:
            InputError: The whole file cannot be read. Graphs that were yielded before stay
                valid.
        """


class KeyedReader(Reader, Protocol):
    """A reader that says by which keys of JSON its files are told, to be asked about fewer.

    Attributes:
        telling_keys: :meth:`sniff` is false for a sample in which none of these stands as a
            key, at whatever depth. Keys of at most 60 ASCII letters, digits and signs.
    """

    telling_keys: frozenset[str]


class PartlyKeyedReader(Reader, Protocol):
    """A reader of logs, tables or arrays that says which JSON objects may be its files too.

    Attributes:
        telling_keys_of_objects: :meth:`sniff` is false for a sample whose first byte is ``{``
            and in which none of these stands as a key, at whatever depth. Keys as in
            :class:`KeyedReader`; none where no file of the format begins so.
    """

    telling_keys_of_objects: frozenset[str]


class JoiningReader(Reader, Protocol):
    """A reader whose graphs can be spread over several files, such as spans of one trace."""

    def join_keys(self, file: TraceFile) -> frozenset[str]:
        """What ties files together: files that share a key are read as one."""

    def read_joined(
        self, files: list[TraceFile], context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Reads files that belong together, as :meth:`read` reads one."""
