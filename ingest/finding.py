"""Finds trace files: by name, in folders, by globs, and standard input."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import translate
from glob import glob, has_magic
from pathlib import Path
from typing import BinaryIO

from graphstore.errors import InputError
from ingest.files import STDIN, LocalFile, UnreadableFile, printable, reason_of

SKIPPED_IN_FOLDERS = (".*", "*.db", "*.db-*", "*.db.*", "*.mapping.toml")
"""Names that a folder's walk leaves out: hidden files, stores with their logs and locks, and
what says how the table beside it is to be read."""

_SKIPPED = re.compile("|".join(map(translate, SKIPPED_IN_FOLDERS)))

_Found = tuple[LocalFile, str | None]
"""A file and its real path, where looking for it found that out."""


def find_files(
    paths: Iterable[str | os.PathLike[str]], *, stdin: BinaryIO | None = None
) -> list[LocalFile]:
    """The files that paths stand for, each once, in a fixed order.

    Args:
        paths: Files, folders (walked through in order of names, without hidden files and
            stores), globs (``**`` goes through folders, but not through links to them), or
            ``-`` for standard input. They keep their order; what one path stands for is
            sorted.
        stdin: The stream that ``-`` stands for; by default the process's own.

    Returns:
        The files. Not one of them has been read; a folder that may not be entered stands
        for itself and says so when it is read.

    Raises:
        InputError: A path does not exist, or stands for no file at all.
    """
    found: dict[str, LocalFile] = {}
    folders: dict[str, str] = {}
    names = [os.fspath(path) for path in paths]
    for name in names:
        if name != STDIN and _is_regular(name):
            # The only path, where it is a file, has nothing to be told apart from.
            key = name if len(names) == 1 else _in_folder(name, folders)
            found.setdefault(key, LocalFile(name))
            continue
        before = len(found)
        known = False
        for file, real in _expand(name, stdin):
            key = name if name == STDIN else real or _real_path(file.path, folders)
            known = known or key in found
            found.setdefault(key, file)
        if len(found) == before and not known:
            raise InputError(_nothing(name), file=printable(name))
    return list(found.values())


def _is_regular(path: str) -> bool:
    """Whether a path is a file itself: no folder, pipe or link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _real_path(path: str, folders: dict[str, str]) -> str:
    """A path without links; ``folders`` remembers those of the folders."""
    if os.path.basename(path) in ("", ".", "..") or os.path.islink(path):  # noqa: PTH114, PTH119
        return os.path.realpath(path)
    return _in_folder(path, folders)


def _in_folder(path: str, folders: dict[str, str]) -> str:
    """The path without links of what is no link itself."""
    folder, name = os.path.split(path)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return os.path.join(folders[folder], name)  # noqa: PTH118


def _expand(name: str, stdin: BinaryIO | None) -> Iterator[_Found]:
    if name == STDIN:
        yield LocalFile(STDIN, stdin=stdin), None
    elif os.path.lexists(name):
        yield from _file_or_folder(name)
    elif has_magic(name):
        for match in sorted(_matches(name)):
            yield from _file_or_folder(match)


def _matches(pattern: str, only_folders: bool = False) -> Iterable[str]:
    """What a pattern stands for, as :func:`glob.glob` says it, each once.

    There ``**`` follows links to folders, without an end where they lead back.
    """
    if "**" not in Path(pattern).parts:
        return glob(pattern)  # noqa: PTH207 - keeps the name as given
    head, last = os.path.split(pattern)
    heads = _matches(head, only_folders=True) if has_magic(head) else [head]
    found: dict[str, None] = {}
    for folder in heads:
        names: Iterable[str]
        if last == "**":
            names = _below(folder, only_folders)
        elif last:
            names = glob(last, root_dir=folder or None)  # noqa: PTH207
        else:
            names = [""] if os.path.isdir(folder) else []  # noqa: PTH112
        found.update((os.path.join(folder, name), None) for name in names)  # noqa: PTH118
    if not only_folders:
        found.pop("", None)
    return found


def _below(top: str, only_folders: bool) -> Iterator[str]:
    """What ``**`` stands for in a folder: itself, and all below without hidden names."""
    if top and not os.path.isdir(top):  # noqa: PTH112
        return
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        yield folder
        try:
            with os.scandir(os.path.join(top, folder) or ".") as entries:  # noqa: PTH118
                listed = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError:
            continue
        for entry in listed:
            path = os.path.join(folder, entry.name)  # noqa: PTH118
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif not only_folders:
                yield path


def _file_or_folder(name: str) -> Iterator[_Found]:
    if os.path.isdir(name):  # noqa: PTH112
        yield from _walk(name, set())
    else:
        yield LocalFile(name), None


def _walk(folder: str, above: set[str]) -> Iterator[_Found]:
    """A folder's files; a link that leads back into a folder above is not followed."""
    real = os.path.realpath(folder)
    if real in above:
        return
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield UnreadableFile(folder, f"the folder cannot be entered ({reason_of(error)})"), real
        return
    for entry in ordered:
        if _SKIPPED.match(entry.name):
            continue
        try:
            is_folder = entry.is_dir()
            is_taken = entry.is_file() or entry.is_symlink()
        except OSError:  # a link in a circle: reading it says so
            is_folder, is_taken = False, True
        if is_folder:
            yield from _walk(entry.path, above | {real})
        elif is_taken:
            place = None if entry.is_symlink() else os.path.join(real, entry.name)  # noqa: PTH118
            yield LocalFile(entry.path), place
        else:
            # Nobody may be at a pipe's other end: only one that is named is waited for.
            reason = "in a folder, pipes and devices are not read"
            yield UnreadableFile(entry.path, reason), None


def _nothing(name: str) -> str:
    if Path(name).is_dir():
        return "the folder holds no files"
    if has_magic(name):
        return "no file matches this pattern"
    return "there is no such file or folder"


def total_size(files: Sequence[LocalFile]) -> int | None:
    """Bytes on disk of all files, None where one is a pipe."""
    sizes = [file.size for file in files]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
