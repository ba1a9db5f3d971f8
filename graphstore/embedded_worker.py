"""The worker that runs a read-only embedded store's queries.

It loads the last checkpoint by itself, answers one query after the other, and ends when its
standard input does; the system ends it when a query takes too much memory. The other side is
:mod:`graphstore.embedded_client`. Both talk in pickles through standard input and output.
"""

import math
import os
import pickle
import queue
import re
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NoReturn

import kglite

from graphstore import embedded_files
from graphstore.embedded_values import column_names, plain
from graphstore.errors import MasgraphError, QueryError, QueryTimeoutError
from graphstore.rows import QueryResult

DISABLED_PASSES = ["fold_aliasing_with", "fuse_optional_match_aggregate"]
"""Steps of the engine's optimizer that give wrong rows: the first under ORDER BY, the second
where an OPTIONAL MATCH's own variable is the grouping key beside a count."""

GRACE = 0.5
"""Seconds past its time limit after which a query's process is ended: the engine mostly
keeps the limit by itself, and then the loaded store is kept."""

OUT_OF_MEMORY = 77
"""The exit status of a worker that needed more than it may."""

LONGEST = 1e8
"""Seconds, three years: what timers of every system take."""

_CEILING = re.compile(
    r"Query \w+ \d+ (?P<kind>.+?) while executing (?P<step>.+?), "
    r"exceeding .+? of (?P<most>\d+)"
)
_LONG_LIST = re.compile(
    r"range\(\) would materialize (?P<length>\d+) items .*exceeding the (?P<most>\d+ \w+)"
)

_NO_VALUE = re.compile(r"Missing parameter: \$(?P<name>\w+)")
_REGEX = re.compile(
    r"Invalid regular expression '(?P<text>.*)': .*\berror: (?P<why>[^\n]+)", re.DOTALL
)
_NEEDS_MODEL = "requires a registered embedding model"

# The hints about unknown labels belong to a console; a query's answer is the same.
kglite.set_query_warning_policy("silent")


def answer(
    graph: Any, text: str, parameters: Mapping[str, Any], timeout: float, row_limit: int
) -> QueryResult:
    """Runs a query that the guard let through.

    Args:
        graph: The engine's handle, read-only.
        text: The query.
        parameters: Values for its parameters.
        timeout: Seconds; looked at between rows only.
        row_limit: Rows that are returned at most.

    Raises:
        QueryError: It cannot be run.
        QueryTimeoutError: It ran into its time limit.
    """
    try:
        view = graph.cypher(
            text,
            params=dict(parameters),
            timeout_ms=max(1, math.ceil(timeout * 1000)),
            row_limit=row_limit,
            disabled_passes=DISABLED_PASSES,
            write_scope=[],
            hide_structural_keys=True,
        )
        if not isinstance(view, kglite.ResultView):
            raise QueryError("the query asks for a format of its own: leave it out")
        names = view.columns
        rows = tuple(tuple([plain(row[name]) for name in names]) for row in view.to_list())
        diagnostics = view.diagnostics or {}
    except kglite.CypherTimeoutError as error:
        raise _in_own_words(error) or over_time(timeout) from error
    except (OverflowError, RecursionError, TypeError) as error:
        raise bad_parameter(error) from error
    except (kglite.KgError, ValueError) as error:
        raise _in_own_words(error) or QueryError(
            f"the query cannot be run: {embedded_files.one_line(error)}"
        ) from error
    columns = column_names(text, names)
    return QueryResult(columns, rows, diagnostics.get("total_rows") is not None)


def over_time(timeout: float) -> QueryTimeoutError:
    """The error of a query that ran longer than ``timeout`` seconds."""
    return QueryTimeoutError(f"the query ran into its time limit of {timeout:g} s")


def _in_own_words(error: BaseException) -> QueryError | None:
    """The error of a query where the engine's own sentence does not help who asks here.

    It goes on with options of Python functions that nobody can set, or breaks off early.
    """
    said = str(error)
    if found := _CEILING.search(said):
        return QueryError(
            f"the query makes more than {int(found['most']):,} {found['kind']} on its way (in "
            f"{found['step']}), where the embedded engine stops: let it match or collect less, "
            "by labels, WHERE, bounded paths or an early LIMIT"
        )
    if found := _LONG_LIST.search(said):
        return QueryError(
            f"a list of {int(found['length']):,} numbers is longer than the embedded engine "
            f"makes one ({found['most']}): write a shorter range()"
        )
    if found := _NO_VALUE.search(said):
        return QueryError(f"the query needs a value for its parameter {found['name']}")
    if found := _REGEX.search(said):
        return QueryError(f"the regular expression {found['text']!r} is wrong: {found['why']}")
    if _NEEDS_MODEL in said:
        return QueryError(
            "text_score compares texts by a model's vectors, and a store holds none: look for "
            "words with CONTAINS or =~"
        )
    return None


def bad_parameter(error: BaseException) -> QueryError:
    """The error of a parameter that cannot be sent, or that the engine refused."""
    return QueryError(f"a parameter cannot be used: {embedded_files.one_line(error)}")


def serve() -> NoReturn:
    """The worker: loads the store, then answers queries until its standard input ends."""
    # The asking side decides what Ctrl-C means; both get it from a terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        import resource

        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    path = Path(pickle.load(sys.stdin.buffer))
    requests: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    reader = _Reader(path)
    try:
        reader.follow()
        _reply(replies, ("ready", None, reader.notices))
        while True:
            text, packed, timeout, row_limit, memory = requests.get()
            try:
                reader.follow()
                _reply(replies, ("running", None, reader.notices))
                with _Limits(timeout, memory):
                    result = reader.run(text, packed, timeout, row_limit)
                    _reply(replies, ("done", result, reader.notices))
            except MasgraphError as error:
                _reply(replies, _failure(error, reader))
    except MasgraphError as error:
        _reply(replies, _failure(error, reader))
        os._exit(0)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BrokenPipeError:
        os._exit(0)


class _Reader:
    """The worker's copy of the store: the newest checkpoint."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._graph: Any = None
        self._stamp: embedded_files.Stamp | None = None
        self.notices: tuple[str, ...] = ()

    def follow(self) -> None:
        """Loads the file if another one took its place."""
        if self._graph is not None and embedded_files.stamp(self._path) == self._stamp:
            return
        self._graph = None
        # Taken before the file is read: a checkpoint in between is read twice, never missed.
        found = embedded_files.stamp(self._path) if self._path.exists() else None
        self._graph = embedded_files.load_for_reading(self._path)
        self._stamp = found
        unread = embedded_files.unread_log(self._path)
        self.notices = (unread,) if unread else ()

    def run(self, text: str, packed: bytes, timeout: float, row_limit: int) -> QueryResult:
        try:
            parameters = pickle.loads(packed)
        except MemoryError:
            raise
        except Exception as error:
            raise bad_parameter(error) from error
        return answer(self._graph, text, parameters, timeout, row_limit)


class _Limits:
    """What the system itself keeps a query to, whatever the engine does.

    The alarm is for the day that the asking side has died in the middle of a query.
    """

    def __init__(self, timeout: float, memory: int) -> None:
        self._timeout = min(timeout + 2 * GRACE, LONGEST)
        self._memory = memory

    def __enter__(self) -> None:
        if sys.platform == "win32":
            return
        import resource

        # Data, not address space: the engine and threads reserve much and use little.
        self._usual = resource.getrlimit(resource.RLIMIT_DATA)
        used = _resident_bytes()
        if used is not None:
            wanted = used + self._memory
            set_already = [limit for limit in self._usual if limit != resource.RLIM_INFINITY]
            resource.setrlimit(
                resource.RLIMIT_DATA, (min([wanted, *set_already]), self._usual[1])
            )
        signal.setitimer(signal.ITIMER_REAL, self._timeout)

    def __exit__(self, *exception: object) -> None:
        if sys.platform == "win32":
            return
        import resource

        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_DATA, self._usual)


def _resident_bytes() -> int | None:
    """What the process holds in memory, or None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _listen(requests: "queue.SimpleQueue[tuple[Any, ...]]") -> None:
    """Takes requests off the pipe, so that its end is seen while a query runs."""
    while True:
        try:
            requests.put(pickle.load(sys.stdin.buffer))
        except BaseException:
            os._exit(0)


def _failure(error: MasgraphError, reader: _Reader) -> tuple[str, Any, tuple[str, ...]]:
    return ("error", (type(error).__name__, str(error)), reader.notices)


def _reply(replies: IO[bytes], message: tuple[str, Any, tuple[str, ...]]) -> None:
    try:
        packed = pickle.dumps(message)
    except (RecursionError, TypeError, AttributeError, pickle.PicklingError) as error:
        raise QueryError(
            f"the answer cannot be given: {embedded_files.one_line(error)}"
        ) from error
    replies.write(packed)
    replies.flush()
