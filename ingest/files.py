"""Opens trace files: on disk, from standard input or a pipe, packed with gzip.

A file is looked into only when somebody asks. What stands in a small file is kept until
:meth:`LocalFile.release`; a large one is read again from disk each time, so that formats
with one record a line can be larger than memory.
"""

import errno
import gzip
import hashlib
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO

from graphstore.errors import InputError
from ingest.pipes import open_pipe, spooled
from ingest.reader import SAMPLE_BYTES

STDIN = "-"

KEPT_BYTES = 8 << 20
"""A file of at most this size is read once and kept while it is worked on."""

WHOLE_BYTES = 2 << 30
"""The largest content that :meth:`LocalFile.data` returns at once."""

LINE_BYTES = 512 << 20
"""The longest line that :meth:`LocalFile.lines` returns."""

BOMB_BYTES = 256 << 20
BOMB_RATIO = 400
"""A gzip file that grows past both, ``BOMB_BYTES`` and ``BOMB_RATIO`` times its own size, is
refused: no trace compresses like that, and a small file could fill the memory."""

_BLOCK = 1 << 20
_READ_AHEAD = 1 << 18
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LocalFile:
    """One file on this machine: a :class:`ingest.reader.TraceFile`.

    Args:
        path: Where it lies, or ``-`` for standard input.
        uri: How the caller named it; by default the path.
        stdin: The stream that ``-`` stands for; by default the process's own.
    """

    def __init__(self, path: str, *, uri: str | None = None, stdin: BinaryIO | None = None):
        self.path = path
        self._uri = printable(uri or path)
        self._stdin = stdin
        self._spool: IO[bytes] | None = None
        self._head: bytes | None = None
        self._sample = b""
        self._complete = False
        self._end = 0
        self._sha256: str | None = None
        self._position = 0

    def __repr__(self) -> str:
        return f"LocalFile({self._uri!r})"

    @property
    def uri(self) -> str:
        """The file as it was named."""
        return self._uri

    @property
    def size(self) -> int | None:
        """Bytes on disk, compressed where the file is; None for standard input."""
        try:
            return os.stat(self.path).st_size if self._on_disk else None  # noqa: PTH116
        except OSError:
            return None

    @property
    def position(self) -> int:
        """How many of :attr:`size` bytes the current pass over the file has seen."""
        return self._position

    @property
    def sha256(self) -> str:
        """Hash of the decompressed bytes, a byte order mark included.

        Raises:
            InputError: The file cannot be read.
        """
        if self._sha256 is None:
            state = hashlib.sha256()
            with self._open() as stream:
                while block := stream.read(_BLOCK):
                    state.update(block)
            self._sha256 = state.hexdigest()
        return self._sha256

    @property
    def sample(self) -> bytes:
        """The first :data:`ingest.reader.SAMPLE_BYTES` bytes, without a byte order mark.

        Raises:
            InputError: The file cannot be read.
        """
        if self._head is None:
            self._load()
        return self._sample

    @property
    def sample_is_all(self) -> bool:
        """Whether :attr:`sample` holds the whole file."""
        kept = self._kept()
        return kept is not None and len(kept) <= SAMPLE_BYTES

    def data(self) -> bytes:
        """All bytes at once, without a byte order mark.

        Raises:
            InputError: The file cannot be read, or holds more than :data:`WHOLE_BYTES`.
        """
        if (kept := self._kept()) is not None:
            self._position = self._end
            return kept
        blocks: list[bytes] = []
        total = 0
        state = hashlib.sha256()
        with self._open() as stream:
            while block := stream.read(_BLOCK):
                total += len(block)
                if total > WHOLE_BYTES:
                    raise self._error(
                        f"it holds more than {WHOLE_BYTES >> 30} GiB, and its format has to be "
                        "read in one piece"
                    )
                state.update(block)
                blocks.append(block)
        self._sha256 = state.hexdigest()
        return b"".join(blocks).removeprefix(_BYTE_ORDER_MARK)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Lines with their numbers from 1, without line ends; blank lines are left out.

        Raises:
            InputError: The file cannot be read, or a line is longer than
                :data:`LINE_BYTES`.
        """
        if (kept := self._kept()) is not None:
            self._position = self._end
            for number, line in enumerate(kept.split(b"\n"), 1):
                if text := line.strip():
                    yield number, text
            return
        # Who asks for the hash after the lines need not wait for a second pass.
        state = hashlib.sha256() if self._sha256 is None else None
        with self._open() as stream:
            number = 0
            while line := stream.readline(LINE_BYTES + 1):
                if state is not None:
                    state.update(line)
                number += 1
                if len(line) > LINE_BYTES:
                    raise self._error(
                        f"line {number} is longer than {LINE_BYTES >> 20} MiB",
                    )
                if number == 1:
                    line = line.removeprefix(_BYTE_ORDER_MARK)
                if text := line.strip():
                    yield number, text
                    continue
                while blank := stream.blank_lines():
                    number += blank.count(b"\n")
                    if state is not None:
                        state.update(blank)
        if state is not None:
            self._sha256 = state.hexdigest()

    def blocks(self) -> Iterator[bytes]:
        """All bytes from the start in pieces, without a byte order mark.

        Raises:
            InputError: The file cannot be read.
        """
        if (kept := self._kept()) is not None:
            self._position = self._end
            yield kept
            return
        with self._open() as stream:
            yield _read_up_to(stream, _BLOCK).removeprefix(_BYTE_ORDER_MARK)
            while block := stream.read(_BLOCK):
                yield block

    @property
    def kept_bytes(self) -> int:
        """How much of the content is kept in memory."""
        return len(self._head or b"")

    def release(self) -> None:
        """Forgets what was kept of the content; the file can still be read again."""
        self._head = None
        self._sample = b""
        self._complete = False

    def close(self) -> None:
        """Releases the content and the copy of standard input."""
        self.release()
        if self._spool is not None:
            self._spool.close()
            self._spool = None

    def _kept(self) -> bytes | None:
        """The content where it is small enough to be kept, None where it is not."""
        if self._head is None:
            self._load()
        return self._head if self._complete else None

    def _load(self) -> None:
        """Reads a small file whole, and the beginning of a large one."""
        head = self._small()
        if head is None:
            with self._open() as stream:
                head = _read_up_to(stream, KEPT_BYTES + 1)
        self._complete = len(head) <= KEPT_BYTES
        if self._complete:
            self._sha256 = hashlib.sha256(head).hexdigest()
            self._end = self._position if self._on_disk else 0
        else:
            head = head[: SAMPLE_BYTES + len(_BYTE_ORDER_MARK)]
        self._head = head.removeprefix(_BYTE_ORDER_MARK)
        self._sample = self._head[:SAMPLE_BYTES]

    def _small(self) -> bytes | None:
        """All bytes of a small file, read at once; None where it has to be :meth:`_open`."""
        if not self._on_disk:
            return None
        try:
            seen = os.stat(self.path)  # noqa: PTH116 - as in _raw
            if not stat.S_ISREG(seen.st_mode) or seen.st_size > KEPT_BYTES:
                return None
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                content = os.read(descriptor, seen.st_size + 1)
            finally:
                os.close(descriptor)
        except OSError:
            return None  # opening it again says why
        if len(content) != seen.st_size:
            return None  # it changed meanwhile, or does not come in one piece
        if content.startswith(_GZIP):
            return None
        self._position = len(content)
        return content

    @property
    def _on_disk(self) -> bool:
        return self.path != STDIN and self._spool is None

    @contextmanager
    def _open(self) -> "Iterator[_Counted | _Guarded]":
        """The decompressed bytes from the start."""
        self._position = 0
        try:
            raw = self._raw()
            try:
                magic = raw.read(len(_GZIP))
                raw.seek(0)
                counted = _Counted(raw, self)
                if magic == _GZIP:
                    with gzip.GzipFile(mode="rb", fileobj=counted) as plain:
                        yield _Guarded(plain, self)
                else:
                    yield counted
            finally:
                if raw is not self._spool:
                    raw.close()
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            cut = isinstance(error, EOFError)
            raise self._error(
                "the gzip data breaks off" if cut else "the gzip data is damaged"
            ) from error
        except OSError as error:
            raise self._error(reason_of(error)) from error

    def _raw(self) -> IO[bytes]:
        if self._spool is not None:
            self._spool.seek(0)
            return self._spool
        if self.path == STDIN:
            self._spool = spooled(self._stdin or sys.stdin.buffer, b"", self._uri)
            return self._spool
        mode = os.stat(self.path).st_mode  # noqa: PTH116 - Path hides the loop error
        if stat.S_ISFIFO(mode):
            stream, first = open_pipe(self.path, self._uri)
            with stream:
                self._spool = spooled(stream, first, self._uri)
            return self._spool
        if stat.S_ISDIR(mode):
            raise self._error("it is a folder")
        if not stat.S_ISREG(mode):
            raise self._error("it is neither a file nor a pipe")
        return open(self.path, "rb", buffering=_READ_AHEAD)  # noqa: PTH123

    def _error(self, reason: str) -> InputError:
        return InputError(reason, file=self._uri)


def _blank(stream: Any) -> int:
    """How many of the bytes that a stream holds ready are whole lines of white space."""
    if not hasattr(stream, "peek"):
        return 0
    ready: bytes = stream.peek(1)
    return ready.rfind(b"\n", 0, len(ready) - len(ready.lstrip())) + 1


class _Counted:
    """A stream that tells its file how far it was read."""

    def __init__(self, stream: IO[bytes], file: LocalFile) -> None:
        self._stream = stream
        self._file = file

    def seek(self, offset: int) -> object:
        self._file._position = offset
        return self._stream.seek(offset)

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        self._file._position += len(block)
        return block

    def readline(self, size: int = -1) -> bytes:
        line = self._stream.readline(size)
        self._file._position += len(line)
        return line

    def blank_lines(self) -> bytes:
        """Passes whole lines of white space, as far as they are at hand."""
        return self.read(_blank(self._stream))


class _Guarded:
    """A decompressed stream that refuses to grow without end."""

    def __init__(self, stream: gzip.GzipFile, file: LocalFile) -> None:
        self._stream = stream
        self._file = file
        self._total = 0

    def read(self, size: int = -1) -> bytes:
        return self._checked(self._stream.read(size))

    def readline(self, size: int = -1) -> bytes:
        return self._checked(self._stream.readline(size))

    def blank_lines(self) -> bytes:
        """Passes whole lines of white space, as far as they are at hand."""
        return self.read(_blank(self._stream))

    def _checked(self, block: bytes) -> bytes:
        self._total += len(block)
        if self._total > BOMB_BYTES and self._total > BOMB_RATIO * self._file.position:
            raise self._file._error(
                f"the gzip data grows to more than {BOMB_RATIO} times its size, which no "
                "trace does"
            )
        return block


class UnreadableFile(LocalFile):
    """Something that the walk of a folder could not enter: reading it says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path)
        self._reason = reason

    def _raw(self) -> IO[bytes]:
        raise self._error(self._reason)


def printable(name: str) -> str:
    """A file name as valid Unicode: bytes that are none become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def _read_up_to(stream: _Counted | _Guarded, size: int) -> bytes:
    blocks: list[bytes] = []
    while size > 0 and (block := stream.read(min(size, _BLOCK))):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)


_REASONS = {
    errno.ENOENT: "there is no such file or folder",
    errno.EACCES: "you may not read it",
    errno.EPERM: "you may not read it",
    errno.ELOOP: "its links lead in a circle",
    errno.EISDIR: "it is a folder",
}


def reason_of(error: OSError) -> str:
    """Why a file or folder cannot be read, in plain words."""
    known = _REASONS.get(error.errno or 0)
    return known or f"it cannot be read ({error.strerror or error})"
