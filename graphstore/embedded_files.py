"""The embedded store's file: opened, checked, and its failures said in a sentence.

Beside ``store.db`` the engine keeps ``store.db-wal`` (what was committed since the last
checkpoint), ``store.db.lock`` and ``store.db.lock-owner``. A log that is damaged in the
middle is set aside as ``store.db-wal.quarantine-...``; what a killed process had not
finished writing is cut off its end and kept as ``store.db-wal.torn-...``.
"""

import glob
import os
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import kglite

from graphstore.errors import (
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StoreUnreachableError,
)

EMPTY_LOG_BYTES = 16
"""A log of at most this size holds no commit, only its header."""

MAGIC = b"RGF"
"""What a store's file begins with."""

Stamp = tuple[int, int, int]


def log_path(path: Path) -> Path:
    """The log beside a store's file."""
    return path.with_name(path.name + "-wal")


def log_bytes(path: Path) -> int:
    """The size of the log in bytes, 0 where there is none."""
    try:
        return log_path(path).stat().st_size
    except OSError:
        return 0


def stamp(path: Path) -> Stamp:
    """What changes when another file takes this one's place.

    Raises:
        StoreUnreachableError: There is no such file.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise StoreUnreachableError(_cannot_open(path, error)) from error
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def open_for_writing(path: Path) -> Any:
    """The engine's handle, with the writer's lock, made if need be, and verified.

    Raises:
        StoreLockedError: Another handle has the lock.
        StoreDamagedError: The file or its log fails its checks.
        StoreUnreachableError: The path cannot be opened.
        StoreError: The file or its folder is write-protected. Nothing was touched.
    """
    _need_folder(path)
    _refuse_quarantine(path)
    _refuse_foreign(path)
    _refuse_protected(path)
    is_new = not path.exists()
    only_log = StoreDamagedError(
        f"the store {path} is damaged: only its log {log_path(path).name} is there, the file "
        "itself is missing; restore the file, or remove the log to begin anew"
    )
    try:
        with translated(path), without_engine_lines():
            # Checkpoints are made by the store, between batches.
            graph = kglite.open(str(path), durable="full", auto_checkpoint_wal_mib=0)
    except RuntimeError as error:
        # The log says things about nodes that the file does not have.
        if is_new:
            raise only_log from error
        raise StoreDamagedError(
            f"the log of {path} does not fit the file: {one_line(error)}"
        ) from error
    try:
        _refuse_quarantine(path)
        _verify(path, graph)
        if is_new and graph.shape[0]:
            raise only_log
    except BaseException:
        release(graph)
        raise
    return graph


def load_for_reading(path: Path) -> Any:
    """A verified copy of the last checkpoint in memory.

    Nothing stays mapped: a file that is cut or overwritten afterwards cannot hurt.

    Raises:
        StoreDamagedError: The file fails its checks, or its log was quarantined.
        StoreUnreachableError: There is no file, or it cannot be opened.
    """
    _need_folder(path)
    _refuse_quarantine(path)
    _refuse_foreign(path)
    if not path.exists():
        if log_bytes(path):
            raise StoreUnreachableError(
                f"the store {path} has no checkpoint yet, only a log: open it for writing once"
            )
        raise StoreUnreachableError(f"there is no store at {path}")
    with translated(path), without_engine_lines(), warnings.catch_warnings():
        # It warns of a log with newer commits: see unread_log.
        warnings.simplefilter("ignore", UserWarning)
        graph = kglite.load(
            str(path),
            storage="memory",
            columns="memory",
            embeddings="memory",
            topology="memory",
            verify="eager",
        )
        graph.read_only(True)
    _verify(path, graph)
    return graph


def release(graph: Any) -> None:
    """Gives up the lock without a checkpoint: what is committed is in the log."""
    graph.__exit__(StoreError, None, None)


def writer_of(path: Path) -> str | None:
    """Who has the writer's lock, looked up without touching it.

    Args:
        path: The store's file.

    Returns:
        As ``process 12 (since ...)`` or ``this process (since ...)``. None where nobody has
        it, or where the system does not tell: only Linux does, of processes that it shows.
    """
    lock = path.with_name(path.name + ".lock")
    try:
        owner = dict(
            line.partition("=")[::2]
            for line in lock.with_name(lock.name + "-owner").read_text("utf-8").splitlines()
        )
        held = str(lock.stat().st_ino)
        locks = [line.split() for line in Path("/proc/locks").read_text("utf-8").splitlines()]
    except (OSError, ValueError):
        return None
    # Number, kind, mode, access, process, device and file; a waiting one has an arrow more.
    if not any(
        one[1] == "FLOCK" and one[4] == owner.get("pid") and one[5].rpartition(":")[2] == held
        for one in locks
        if len(one) > 5
    ):
        return None
    return _told(int(owner["pid"]) == os.getpid(), owner["pid"], owner.get("since"))


def _told(is_self: bool, process: object, since: object) -> str:
    return f"{'this process' if is_self else f'process {process}'} (since {since})"


def unread_log(path: Path) -> str | None:
    """A sentence on commits that a reader cannot see yet, or None."""
    size = log_bytes(path)
    if size <= EMPTY_LOG_BYTES:
        return None
    return (
        f"{path} is read as of its last checkpoint: {size:,} bytes of its log are newer and "
        "show after the next one"
    )


def unfinished_writes(path: Path) -> tuple[str, ...]:
    """A sentence for each write that was cut off because its process had died."""
    return tuple(
        f"a write that was not finished was cut off the log of {path}; its bytes are kept in "
        f"{torn.name} and can be removed"
        for torn in sorted(path.parent.glob(glob.escape(log_path(path).name) + ".torn-*"))
    )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns the engine's errors about a file into masgraph's own."""
    try:
        yield
    except kglite.WriterLeaseHeldError as error:
        holder = error.holder or {}
        who = _told(bool(holder.get("self")), holder.get("pid"), holder.get("since"))
        raise StoreLockedError(
            f"the store {path} is open for writing by {who}: close it there, or open it "
            "read-only"
        ) from error
    except kglite.FileFormatError as error:
        raise StoreDamagedError(
            f"{path} is no store or is damaged: {one_line(error)}"
        ) from error
    except kglite.FileError as error:
        raise StoreUnreachableError(f"there is no store at {path}") from error
    except (kglite.FileIoError, PermissionError, IsADirectoryError, FileNotFoundError) as error:
        raise StoreUnreachableError(_cannot_open(path, error)) from error
    except OSError as error:
        if error.errno is None:
            # The engine's own words, for example about a log that is none.
            raise StoreDamagedError(
                f"the store {path} is damaged: {one_line(error)}"
            ) from error
        raise StoreUnreachableError(_cannot_open(path, error)) from error
    except kglite.KgError as error:
        raise StoreError(f"the store {path} failed: {one_line(error)}") from error
    except ValueError as error:
        raise StoreError(f"the store {path} refused: {one_line(error)}") from error


_STANDARD_ERROR = threading.Lock()


@contextmanager
def without_engine_lines() -> Iterator[None]:
    """Keeps back what the engine prints while it opens a file: the notices say it.

    It prints past Python, to the standard error output itself. Other lines, of other
    threads for one, are passed on at the end.
    """
    with _STANDARD_ERROR, tempfile.TemporaryFile() as caught:
        try:
            usual = os.dup(2)
        except OSError:  # The process has none.
            yield
            return
        try:
            os.dup2(caught.fileno(), 2)
            try:
                yield
            finally:
                os.dup2(usual, 2)
                caught.seek(0)
                others = [line for line in caught if not line.startswith(b"[kglite]")]
                if others:
                    os.write(2, b"".join(others))
        finally:
            os.close(usual)


def one_line(error: BaseException) -> str:
    """The first line of what an error says."""
    text = str(error).strip() or type(error).__name__
    line = text.splitlines()[0].strip()
    return line if len(line) <= 300 else line[:297] + "..."


def _cannot_open(path: Path, error: BaseException) -> str:
    reason = getattr(error, "strerror", None) or one_line(error)
    return f"the store {path} cannot be opened: {reason}"


def _need_folder(path: Path) -> None:
    try:
        if path.is_dir():
            raise StoreUnreachableError(f"{path} is a folder, not a store")
        if not path.parent.is_dir():
            raise StoreUnreachableError(f"the folder {path.parent} does not exist")
    except OSError as error:
        raise StoreUnreachableError(_cannot_open(path, error)) from error


def _refuse_protected(path: Path) -> None:
    """Refuses to write where the file or its folder says that nothing shall be written.

    The engine puts a new file in the place of the old one, which asks for no permission of
    the old one. A superuser may write anyway: the permission bits still say what is meant.
    """
    what = path.parent
    try:
        if path.exists() and not _may_write(path):
            what = path
        elif _may_write(path.parent):
            return
    except OSError as error:
        raise StoreUnreachableError(_cannot_open(path, error)) from error
    whose = "the store" if what == path else "the folder of the store"
    raise StoreError(
        f"{whose} {path} is write-protected: what stores nothing works (--dry-run, or in "
        "Python read_only=True or save=False); to write, give write permission or use a copy"
    )


def _may_write(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o222) and os.access(path, os.W_OK)


def _refuse_foreign(path: Path) -> None:
    """Refuses a file that is something else, a trace for example."""
    try:
        with path.open("rb") as file:
            first = file.read(len(MAGIC))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreUnreachableError(_cannot_open(path, error)) from error
    if first and first[: len(MAGIC)] != MAGIC:
        raise StoreDamagedError(
            f"{path} is no store or is damaged: it does not begin as a store does; traces are "
            "read into a store with  masgraph ingest  (in Python ingest(), or read() without "
            "a store)"
        )


def _refuse_quarantine(path: Path) -> None:
    pattern = glob.escape(log_path(path).name) + ".quarantine-*"
    for aside in sorted(path.parent.glob(pattern)):
        raise StoreDamagedError(
            f"the log of {path} was damaged, and commits from the damage on are lost: the "
            f"log was set aside as {aside.name}; move that file away to go on with what is left"
        )


def _verify(path: Path, graph: Any) -> None:
    report = graph.verify_integrity()
    if not report["ok"]:
        bad = [part for part in report["sections"] if part["error"]]
        first = f"{bad[0]['name']}: {bad[0]['error']}" if bad else "its checks failed"
        raise StoreDamagedError(f"the store {path} is damaged: {first}")
