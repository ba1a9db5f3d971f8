"""Files that jobs read and write: whole or not at all, and what fails said in a sentence."""

import gzip
import os
import tempfile
from pathlib import Path

from graphstore.errors import InputError, UsageError


def check_writable(path: Path) -> None:
    """Refuses a file that cannot be written, before the work that it is to hold is done.

    Raises:
        InputError: Its folder is missing, it is a folder, or there is no right to write.
    """
    folder = path.parent
    reason = None
    if not folder.is_dir():
        reason = f"there is no folder {folder}"
    elif path.is_dir():
        reason = "it is a folder"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        reason = "there is no right to write it"
    if reason is not None:
        raise InputError(f"cannot be written: {reason}", file=str(path))


def write_file(path: str | Path, content: str | bytes, *, make_folder: bool = False) -> None:
    """Writes a file.

    Args:
        path: Where.
        content: Texts are written as UTF-8.
        make_folder: Whether a folder that is missing is made.

    Raises:
        InputError: It cannot be written.
    """
    target = Path(path)
    try:
        if make_folder:
            target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error


def write_whole(target: Path, data: bytes) -> None:
    """Writes a file beside its place first, so that it is there whole or not at all.

    Raises:
        UsageError: It cannot be written.
    """
    try:
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(beside).chmod(0o644)
            Path(beside).replace(target)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from None


def read_unpacked(path: str | Path) -> bytes:
    """What a file holds, unpacked where it is compressed by gzip.

    Raises:
        InputError: It cannot be read.
    """
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"it cannot be read: {reason}", file=str(path)) from None
