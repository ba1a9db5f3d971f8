"""Pipes: one that is named is waited for; what comes out of it is kept on disk."""

import os
import select
import tempfile
from typing import IO, BinaryIO

from graphstore.errors import InputError

PIPE_BYTES = 16 << 30
"""The most that is taken from a pipe or from standard input: it is kept on disk meanwhile."""

PIPE_SECONDS = 5.0
"""How long a named pipe is waited for that nobody writes to. A writer may take its time."""

_BLOCK = 1 << 20


def open_pipe(path: str, uri: str) -> tuple[BinaryIO, bytes]:
    """A named pipe that somebody writes to, and what was read of it already.

    To open one in the ordinary way waits without end where nobody does.

    Args:
        path: Where it lies.
        uri: How the caller named it.

    Raises:
        InputError: Nobody writes to it.
        OSError: It cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    stream = open(descriptor, "rb", buffering=0)  # noqa: PTH123, SIM115 - the caller closes
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    first = b""
    if not poll.poll(PIPE_SECONDS * 1_000):
        try:
            first = os.read(descriptor, 1)
        except BlockingIOError:
            pass  # there is a writer, and it has not written yet
        else:
            if not first:
                stream.close()
                raise InputError("it is a pipe that nobody writes to", file=uri)
    os.set_blocking(descriptor, True)
    return stream, first


def spooled(stream: BinaryIO | IO[bytes], first: bytes, uri: str) -> IO[bytes]:
    """A temporary file with the content of a pipe, which can be read once.

    Args:
        stream: The pipe, read to its end.
        first: What was read of it already.
        uri: How the caller named it.

    Raises:
        InputError: It gives more than :data:`PIPE_BYTES`.
        OSError: It cannot be read, or the disk is full.
    """
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes
    total = spool.write(first)
    while block := stream.read(_BLOCK):
        total += len(block)
        if total > PIPE_BYTES:
            spool.close()
            raise InputError(
                f"the pipe gives more than {PIPE_BYTES >> 30} GiB: write it to a file first",
                file=uri,
            )
        spool.write(block)
    spool.seek(0)
    return spool
