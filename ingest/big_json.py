"""One huge JSON document, an item of its array at a time.

A file with one record a line streams by itself. A file that is one array (or one object
around it) has to be taken apart. Where an item ends is told by :mod:`msgspec`, which goes
over it without making objects. An item that it does not take (too deep, half a surrogate
pair, damaged) is taken apart by its brackets, those in strings left out: whoever decodes it
says what is wrong.

Grammar: RFC 8259, sections 2 to 7.
"""

import re
from collections.abc import Iterator

import msgspec

from graphstore.errors import InputError
from ingest.reader import SAMPLE_BYTES, TraceFile

STREAMED_BYTES = 32 << 20
"""A JSON document that is larger is read item by item, where its format is a list of records:
decoded at once, it would take several times its size in memory."""

ITEM_BYTES = 512 << 20
"""The longest item."""

WINDOW_BYTES = 16 << 20
"""So much of an item is waited for before it is taken apart by its brackets."""

_ANYTHING = msgspec.json.Decoder(msgspec.Raw)
_NEXT = re.compile(r"trailing characters \(byte (\d+)\)")
_SPACE = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb'"((?:[^"\\]++|\\.)*+)"[ \t\r\n]*+:[ \t\r\n]*+(?=[^ \t\r\n])', re.DOTALL)
_SCALAR = re.compile(rb'(?:"(?:[^"\\]++|\\.)*+"|[^"{}\[\],:\s]++)(?=[ \t\r\n,\]}])', re.DOTALL)
_CUT = re.compile(rb'".*|[^"{}\[\],:\s]*+', re.DOTALL)
_BRACKET = re.compile(
    rb'[^"{}\[\]]*+(?:"(?:[^"\\]++|\\.)*+"[^"{}\[\]]*+)*+([{}\[\]])', re.DOTALL
)
_ALONE = re.compile(rb"\s*[{\[][ \t]*\r?\n")
_OPENING = frozenset((b"{", b"["))


def streamed_items(file: TraceFile, key: str | None = None) -> Iterator[bytes] | None:
    """The items of the array in a large file, one at a time.

    Args:
        file: The file.
        key: The member of the outermost object that holds the array, or of several objects
            that follow each other; None where the whole file is the array.

    Returns:
        The items as they stand in the file, for the reader to decode. None where the file
        holds at most :data:`STREAMED_BYTES`, one value a line, or something else than such
        an array: then it is to be read in the ordinary way. The iterator raises
        :class:`graphstore.errors.InputError` where the document is damaged; items before
        that place are good.
    """
    if file.sample.lstrip()[:1] != (b"[" if key is None else b"{"):
        return None
    if len(file.sample) < SAMPLE_BYTES or _is_short_or_lines(file):
        return None
    return _items(_Text(file), key)


def is_large(file: TraceFile, times: int = 1) -> bool:
    """Whether a file holds more than :data:`STREAMED_BYTES`, decompressed.

    Args:
        file: The file.
        times: How many times as many, for a reader that holds less of a file than all.
    """
    bound = times * STREAMED_BYTES
    if len(file.sample) < SAMPLE_BYTES:
        return False
    total = 0
    for block in file.blocks():
        total += len(block)
        if total > bound:
            return True
    return False


def is_indented(file: TraceFile) -> bool:
    """Whether a file begins with a bracket alone on its line.

    Then it is one indented document: its lines are no values, and need not be parted.
    """
    return _ALONE.match(file.sample) is not None


def _is_short_or_lines(file: TraceFile) -> bool:
    """Whether a file is not large, or its first line is a whole JSON value."""
    blocks: list[bytes] = []
    total = 0
    for block in file.blocks():
        blocks.append(block)
        total += len(block)
        if total > STREAMED_BYTES:
            break
    else:
        return True
    line, end, _ = b"".join(blocks).lstrip().partition(b"\n")
    try:
        return bool(end) and bool(_ANYTHING.decode(line))
    except (msgspec.MsgspecError, RecursionError):
        return False


def _items(text: "_Text", key: str | None) -> Iterator[bytes]:
    if key is None:
        text.take(b"[")
        yield from _array(text)
    while key is not None and text.next_byte() == b"{":
        text.take(b"{")
        yield from _member(text, key.encode())
    if text.next_byte():
        raise text.error("there is more after the end of the JSON document")


def _array(text: "_Text") -> Iterator[bytes]:
    """The items up to the closing bracket; the opening one has been taken."""
    if text.next_byte() == b"]":
        text.take(b"]")
        return
    while True:
        yield text.value()
        text.found += 1
        if text.next_byte() == b"]":
            text.take(b"]")
            return
        text.take(b",")


def _member(text: "_Text", wanted: bytes) -> Iterator[bytes]:
    """The items of the arrays under a key; other members are passed over."""
    if text.next_byte() == b"}":
        text.take(b"}")
        return
    while True:
        if text.key() == wanted and text.next_byte() == b"[":
            text.take(b"[")
            yield from _array(text)
        else:
            text.value(kept=False)
        if text.next_byte() == b"}":
            text.take(b"}")
            return
        text.take(b",")


class _Text:
    """What has been read of a file and not been passed yet."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._blocks = file.blocks()
        self._text = b""
        self._position = 0
        self.found = 0

    def error(self, reason: str) -> InputError:
        """An error at the current place."""
        return InputError(f"{reason} (after {self.found:,} items)", file=self._file.uri)

    def next_byte(self) -> bytes:
        """The next byte that is no white space; empty at the end of the file."""
        while True:
            self._position = _SPACE.match(self._text, self._position).end()  # type: ignore[union-attr]
            if self._position < len(self._text):
                return self._text[self._position : self._position + 1]
            if not self._more():
                return b""

    def take(self, byte: bytes) -> None:
        """Passes a byte.

        Raises:
            InputError: Another one comes, or none.
        """
        found = self.next_byte()
        if not found:
            raise self.error("the JSON breaks off")
        if found != byte:
            what = found.decode("ascii", "replace")
            raise self.error(f"the JSON is malformed: {what!r} stands for {byte.decode()!r}")
        self._position += 1

    def key(self) -> bytes:
        """Passes a key and its colon."""
        if self.next_byte() not in (b'"', b""):
            raise self.error("the JSON is malformed: a key is missing")
        return self._match(_KEY)[1]

    def value(self, *, kept: bool = True) -> bytes:
        """Passes one value, and returns it unless it is not to be kept."""
        if self.next_byte() not in _OPENING:
            return self._match(_SCALAR)[0]
        return (self._whole() if kept else None) or self._nested(kept)

    def _whole(self) -> bytes | None:
        """An object or array that is valid JSON; None where that is not certain."""
        while True:
            try:
                _ANYTHING.decode(memoryview(self._text)[self._position :])
            except msgspec.DecodeError as error:
                if found := _NEXT.search(str(error)):
                    start = self._position
                    # The byte is counted from 1, and is the first after the value and space.
                    self._position += int(found[1]) - 1
                    return self._text[start : self._position].rstrip()
                if "truncated" not in str(error):
                    return None
            except RecursionError:
                return None
            if len(self._text) - self._position > WINDOW_BYTES or not self._more():
                return None

    def _match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes]:
        while (found := pattern.match(self._text, self._position)) is None:
            if len(self._text) - self._position > ITEM_BYTES:
                raise self._too_long()
            if not self._more():
                cut = _CUT.fullmatch(self._text, self._position) is not None
                raise self.error(
                    "the JSON breaks off" if cut else "the JSON is malformed: no value"
                )
        self._position = found.end()
        return found

    def _nested(self, kept: bool) -> bytes:
        """An object or array up to its closing bracket."""
        start = self._position
        scan = self._position
        depth = 0
        match = _BRACKET.match
        while True:
            found = match(self._text, scan)
            if found is None:
                if not kept:
                    start = scan
                self._position = start
                if len(self._text) - start > ITEM_BYTES:
                    raise self._too_long()
                if not self._more():
                    raise self.error("the JSON breaks off")
                scan -= start
                start = 0
                continue
            scan = found.end()
            if found[1] in _OPENING:
                depth += 1
                continue
            depth -= 1
            if depth == 0:
                self._position = scan
                return self._text[start:scan] if kept else b""

    def _more(self) -> bool:
        """Reads on: at least as much as is waiting, so that a long item is joined seldom."""
        waiting = self._text[self._position :]
        parts = [waiting]
        wanted = max(len(waiting), 1)
        for block in self._blocks:
            parts.append(block)
            wanted -= len(block)
            if wanted <= 0:
                break
        self._text = b"".join(parts)
        self._position = 0
        return len(parts) > 1

    def _too_long(self) -> InputError:
        return self.error(f"an item of the JSON is longer than {ITEM_BYTES >> 20} MiB")
