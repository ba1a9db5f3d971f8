"""The same function over many items: in this process, in several, or on a Dask cluster.

A function of what all items share and of one item is called for each. The results come back
in the order of the items, so that where they were computed does not show in them.
"""

import multiprocessing
import os
import pickle
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from graphstore import errors
from graphstore.errors import MasgraphError, MissingExtraError, UsageError
from graphstore.identity import digest

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
"""Told how many items are done, and of how many."""

_PACKAGES = ("masgraph", "numpy", "scipy", "scikit-learn", "numba", "msgspec")
_DASK_WAIT = 15
"""Seconds to wait for a scheduler and its first worker."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Where a job runs. The result does not depend on it.

    Attributes:
        jobs: Processes on this machine; 1 for this process alone. None means one for each
            core where the job says that it is large enough to pay for starting them, and
            this process alone where not. Not looked at where a Dask cluster is named.
        dask: Address of a Dask scheduler, for example ``tcp://10.0.0.5:8786``.
        batches: Batches for each worker. More balance the load better; each costs a message.
    """

    jobs: int | None = 1
    dask: str | None = None
    batches: int = 4

    def __post_init__(self) -> None:
        for name in ("jobs", "batches"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1")

    def map(
        self,
        function: Callable[[Shared, Item], Result],
        shared: Shared,
        items: Sequence[Item],
        progress: Progress | None = None,
        *,
        large: bool = True,
    ) -> list[Result]:
        """Calls a function for each item.

        Args:
            function: Of a module, so that another process can import it.
            shared: Its first argument, sent once to each worker.
            items: Its second argument. The dearest should come first.
            progress: Told after each batch.
            large: Whether the work is worth the seconds that processes take to start. Heeded
                where ``jobs`` is None.

        Returns:
            The results in the order of the items.

        Raises:
            MasgraphError: What the function raised, or a worker that ended early.
            UsageError: The cluster is not reachable, has no workers, or its workers have
                other versions of what results depend on.
            MissingExtraError: A cluster is named and Dask is not installed.
        """
        tell = progress or _silent
        tell(0, len(items))
        if not items:
            return []
        if self.dask is not None:
            return _over_dask(self.dask, self.batches, function, shared, items, tell)
        jobs = self.processes(large)
        if jobs == 1 or len(items) == 1:
            found = []
            for item in items:
                found.append(function(shared, item))
                tell(len(found), len(items))
            return found
        return _over_processes(jobs, self.batches, function, shared, items, tell)

    def processes(self, large: bool = True) -> int:
        """How many processes of this machine would work, 1 for this process alone.

        Args:
            large: As in :meth:`map`.
        """
        if self.jobs is not None:
            return self.jobs
        return available_cores() if large else 1


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _silent(done: int, total: int) -> None:
    pass


def _batches(count: int, workers: int, each: int) -> list[list[int]]:
    """Positions dealt out like cards: each batch gets dear and cheap items alike."""
    number = min(count, workers * each)
    return [list(range(first, count, number)) for first in range(number)]


@dataclass(frozen=True, slots=True)
class _Failure:
    """An error of masgraph on its way from a worker: not all of these can be pickled."""

    kind: str
    message: str

    def raised(self) -> MasgraphError:
        found = getattr(errors, self.kind, None)
        if not (isinstance(found, type) and issubclass(found, MasgraphError)):
            found = MasgraphError
        return found.__new__(found, self.message)


def _apply(
    function: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any]
) -> "list[Any] | _Failure":
    try:
        return [function(shared, item) for item in items]
    except MasgraphError as error:
        return _Failure(type(error).__name__, str(error))


class _Gatherer:
    """Puts the results of batches where they belong."""

    def __init__(self, count: int, tell: Progress) -> None:
        self.results: list[Any] = [None] * count
        self._tell = tell
        self._done = 0

    def add(self, positions: Sequence[int], found: "list[Any] | _Failure") -> None:
        if isinstance(found, _Failure):
            raise found.raised()
        for position, result in zip(positions, found, strict=True):
            self.results[position] = result
        self._done += len(positions)
        self._tell(self._done, len(self.results))


_received: tuple[Callable[[Any, Any], Any], Any] | None = None
"""What a process of the pool was sent when it began."""


def _receive(payload: bytes) -> None:
    global _received
    _received = pickle.loads(payload)


def _run_received(items: Sequence[Any]) -> "list[Any] | _Failure":
    assert _received is not None
    return _apply(*_received, items)


def _over_processes(
    jobs: int,
    each: int,
    function: Callable[[Shared, Item], Result],
    shared: Shared,
    items: Sequence[Item],
    tell: Progress,
) -> list[Result]:
    batches = _batches(len(items), jobs, each)
    gatherer = _Gatherer(len(items), tell)
    # A fork would copy the locks of numerical libraries' threads in whatever state they are.
    pool = ProcessPoolExecutor(
        max_workers=min(jobs, len(batches)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_receive,
        initargs=(pickle.dumps((function, shared)),),
    )
    try:
        waiting: dict[Future[list[Any] | _Failure], list[int]] = {
            pool.submit(_run_received, [items[place] for place in batch]): batch
            for batch in batches
        }
        for future in _as_done(waiting):
            gatherer.add(waiting[future], future.result())
    except BrokenProcessPool:
        raise MasgraphError(
            "a worker process ended before its work was done, as it does when memory runs "
            "out: try fewer processes with --jobs"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return gatherer.results


def _as_done(waiting: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
    left = set(waiting)
    while left:
        done, left = wait(left, return_when=FIRST_COMPLETED)
        yield from done


_sent: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {}
"""What this process, a worker of a cluster, was sent last."""


def _run_sent(name: str, payload: bytes, items: Sequence[Any]) -> "list[Any] | _Failure":
    found = _sent.get(name)
    if found is None:
        found = pickle.loads(payload)
        _sent.clear()
        _sent[name] = found
    function, shared = found
    return _apply(function, shared, items)


def environment() -> dict[str, str]:
    """The versions that results may depend on."""
    found = {"Python": ".".join(platform.python_version_tuple()[:2])}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found


def _over_dask(
    address: str,
    each: int,
    function: Callable[[Shared, Item], Result],
    shared: Shared,
    items: Sequence[Item],
    tell: Progress,
) -> list[Result]:
    try:
        import distributed as found_package
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise MissingExtraError(
            "dask[distributed]", "distributed", "work on a Dask cluster"
        ) from None
    cluster: Any = found_package  # It has no types of its own.
    try:
        client = cluster.Client(address, timeout=_DASK_WAIT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        workers = _checked_workers(client, address)
        payload = pickle.dumps((function, shared))
        name = digest(payload)
        sent = client.scatter(payload, broadcast=True, hash=True)
        gatherer = _Gatherer(len(items), tell)
        batches = _batches(len(items), workers, each)
        waiting = {
            client.submit(
                _run_sent, name, sent, [items[place] for place in batch], pure=False, retries=2
            ): batch
            for batch in batches
        }
        try:
            for future in cluster.as_completed(list(waiting), loop=client.loop):
                gatherer.add(waiting[future], future.result())
        except KilledWorker:
            raise MasgraphError(
                f"the workers of the Dask cluster at {address} ended before their work was "
                "done, as they do when memory runs out"
            ) from None
        finally:
            with suppress(Exception):
                client.cancel(list(waiting))
    return gatherer.results


def _checked_workers(client: Any, address: str) -> int:
    """Threads of the cluster, once all workers have the versions that this process has."""
    try:
        client.wait_for_workers(1, timeout=_DASK_WAIT)
    except TimeoutError:
        raise UsageError(f"the Dask cluster at {address} has no workers") from None
    try:
        found: dict[str, dict[str, str]] = client.run(environment)
    except ImportError:
        raise UsageError(
            f"the workers of the Dask cluster at {address} cannot import masgraph: install "
            "the same version there"
        ) from None
    here = environment()
    for worker, there in sorted(found.items()):
        for package, wanted in here.items():
            if there[package] != wanted:
                raise UsageError(
                    f"the Dask worker {worker} has {package} {there[package]} and this "
                    f"process {wanted}: results might differ"
                )
    threads: dict[str, int] = client.nthreads()
    return max(1, sum(threads.values()))
