"""Queries of a read-only embedded store, in a process that can be ended.

The engine looks at its deadline between rows only and knows no limit of memory: one row that
is long in the making, or large, would hold up or bring down the process that asked. So a
reader's queries run in a worker process (:mod:`graphstore.embedded_worker`). It is ended
when a query is over its time, when the store closes, or on Ctrl-C, and the next query starts
another one. What the engine prints stays with the worker.
"""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from graphstore import errors
from graphstore.embedded_worker import GRACE, LONGEST, OUT_OF_MEMORY, bad_parameter, over_time
from graphstore.errors import MasgraphError, QueryError, StoreError, StoreUnreachableError
from graphstore.rows import QueryResult

QUERY_MEMORY_BYTES = 2 * 1024**3
"""What one query may take beside the store itself, on Linux: elsewhere the system keeps no
such limit."""

# The parent's path, so that both sides import the same code; -P keeps the folder out.
_COMMAND = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from graphstore.embedded_worker import serve; serve()"
)


class QueryWorker:
    """The asking side: at most one worker process, and one query at a time.

    Attributes:
        notices: What a person should know about the file as the worker read it last.

    Args:
        path: The store's file.

    Raises:
        StoreDamagedError: The file fails its checks, or its log was quarantined.
        StoreUnreachableError: There is no file, or it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._folder = None if path.is_absolute() else Path.cwd()
        except OSError as error:
            raise StoreUnreachableError(
                f"the store {path} cannot be opened: the current folder is gone"
            ) from error
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._errors: IO[bytes] | None = None
        self._end: weakref.finalize[..., Any] | None = None
        self._is_closed = False
        self.notices: tuple[str, ...] = ()
        with self._lock:
            self._start()

    @property
    def is_closed(self) -> bool:
        """Whether it answers no more."""
        return self._is_closed

    @property
    def process_id(self) -> int | None:
        """The worker's process, None while there is none."""
        process = self._process
        return None if process is None else process.pid

    def ask(
        self, text: str, parameters: Mapping[str, Any], timeout: float, row_limit: int
    ) -> QueryResult:
        """Lets the worker answer; see :func:`graphstore.embedded_worker.answer`.

        Loading the store does not count against the time limit. Threads wait for each
        other.

        Raises:
            QueryError: It cannot be run, or took more than ``QUERY_MEMORY_BYTES``.
            QueryTimeoutError: It ran into its time limit.
            StoreError: The store is closed, or its file cannot be read any more.
        """
        try:
            # Apart from the rest: what the worker cannot read must not end it.
            packed = pickle.dumps(dict(parameters))
        except Exception as error:
            raise bad_parameter(error) from error
        request = (text, packed, timeout, row_limit, QUERY_MEMORY_BYTES)
        with self._lock:
            if self._is_closed:
                raise self._closed()
            if self._process is not None and self._owner != os.getpid():
                # A fork's copy of the pipes: they belong to the process that made them.
                self._process = None
            if self._process is not None and self._process.poll() is not None:
                self._stop()
            if self._process is None:
                self._start()
            try:
                try:
                    return self._exchange(request, timeout)
                except _DiedIdleError:
                    # It died between two queries, which its pipes show before the system does.
                    self._stop()
                    self._start()
                try:
                    return self._exchange(request, timeout)
                except _DiedIdleError as error:
                    raise self._ended_loading() from error
            except MasgraphError:
                raise
            except BaseException:
                # Ctrl-C, for one: what is still to come would answer the next query.
                self._stop()
                raise

    def close(self) -> None:
        """Ends the worker, in the middle of a query as well. Closing twice is fine."""
        self._is_closed = True
        process = self._process
        if process is not None and self._owner == os.getpid():
            process.kill()
        with self._lock:
            self._stop()

    def _start(self) -> None:
        self._owner = os.getpid()
        try:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=self._folder,
            )
        except OSError as error:
            raise StoreError(
                f"no process could be started to read the store {self._path}: {error}"
            ) from error
        self._process = process
        self._end = weakref.finalize(self, _end, process, self._errors, self._owner)
        if self._is_closed:  # By another thread, which did not see this process.
            process.kill()
        try:
            self._send([str(Path(entry).absolute()) for entry in sys.path])
            self._send(str(self._path))
            self._receive()
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise self._ended_loading() from error
        except BaseException:
            self._stop()
            raise

    def _exchange(self, request: tuple[Any, ...], timeout: float) -> QueryResult:
        is_over = threading.Event()
        is_running = False
        timer: threading.Timer | None = None
        process = self._process
        assert process is not None

        def end_it() -> None:
            is_over.set()
            process.kill()

        try:
            self._send(request)
            self._receive()
            is_running = True
            timer = threading.Timer(min(timeout + GRACE, LONGEST), end_it)
            timer.daemon = True
            timer.start()
            result: QueryResult = self._receive()
            return result
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            if is_running:
                raise self._ended_asking(is_over.is_set(), timeout) from error
            raise _DiedIdleError from error
        finally:
            if timer is not None:
                timer.cancel()

    def _send(self, message: Any) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()

    def _receive(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        kind, content, notices = pickle.load(self._process.stdout)
        if kind == "error":
            name, sentence = content
            raise getattr(errors, name)(sentence)
        self.notices = notices
        return content

    def _stop(self) -> None:
        if self._end is not None:
            self._end()
        self._process = self._errors = self._end = None

    def _last_words(self) -> tuple[int, str]:
        """The ended worker's exit status and the end of what it printed."""
        assert self._process is not None
        assert self._errors is not None
        self._process.kill()
        status = self._process.wait()
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - 20_000))
        said = self._errors.read().decode(errors="replace")
        self._stop()
        return status, said

    def _ended_asking(self, is_over: bool, timeout: float) -> MasgraphError:
        status, said = self._last_words()
        if self._is_closed:
            return self._closed()
        if is_over or status == -getattr(signal, "SIGALRM", 0):
            return over_time(timeout)
        if status == OUT_OF_MEMORY or "memory allocation of" in said:
            return QueryError(
                f"the query needed more than {QUERY_MEMORY_BYTES / 1024**3:g} GiB of memory: "
                "let it match or collect less"
            )
        return QueryError(f"the engine broke down over the query ({_way_out(status)})")

    def _ended_loading(self) -> StoreError:
        status, said = self._last_words()
        if self._is_closed:
            return self._closed()
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        last = f": {lines[-1][:300]}" if lines else ""
        return StoreError(
            f"the process that reads the store {self._path} ended ({_way_out(status)}){last}"
        )

    def _closed(self) -> StoreError:
        return StoreError(f"the store {self._path} is closed")


class _DiedIdleError(Exception):
    """The worker ended before it took a query up."""


def _end(process: "subprocess.Popen[bytes]", printed: IO[bytes], owner: int) -> None:
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, printed):
        try:
            if pipe is not None:
                pipe.close()
        except OSError:
            pass  # What was not sent when it ended.


def _way_out(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"
