"""Entries of a zip archive, read in memory: Zstandard too, and no archive is trusted.

Nothing is written to disk. A name that leads out of the archive, an entry that is encrypted,
damaged or larger than it says, and an archive that grows like a bomb are refused.

Format: PKWARE, "APPNOTE.TXT - .ZIP File Format Specification", sections 4.3 and 4.4.5 (93 is
Zstandard).
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from graphstore.errors import InputError
from ingest.files import BOMB_BYTES, BOMB_RATIO

MAGIC = b"PK\x03\x04"

_ZSTANDARD = 93
_BLOCK = 1 << 20
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")


def first_name(sample: bytes) -> str | None:
    """The name of an archive's first entry; None where the bytes begin no archive."""
    if not sample.startswith(MAGIC) or len(sample) < _LOCAL_HEADER.size:
        return None
    length = _LOCAL_HEADER.unpack_from(sample)[9]
    name = sample[_LOCAL_HEADER.size : _LOCAL_HEADER.size + length]
    return name.decode(errors="replace") if len(name) == length else None


class ZipArchive:
    """A zip archive in memory.

    Args:
        data: The archive.
        uri: The file as it was named.

    Raises:
        InputError: It is no archive, a name leads out of it, or it is a bomb.
    """

    def __init__(self, data: bytes, uri: str) -> None:
        self._data = data
        self._uri = uri
        try:
            with zipfile.ZipFile(BytesIO(data)) as archive:
                self._entries = {info.filename: info for info in archive.infolist()}
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise InputError(f"the zip archive cannot be read ({error})", file=uri) from error
        for name in self._entries:
            if _escapes(name):
                raise InputError(f"the entry {name!r} leads out of the archive", file=uri)
        self._grown = sum(info.file_size for info in self._entries.values())
        self._check_growth(self._grown)

    @property
    def names(self) -> tuple[str, ...]:
        """The entries, in the order of the archive's directory."""
        return tuple(self._entries)

    def read(self, name: str) -> bytes:
        """An entry's content.

        Raises:
            InputError: It is damaged, encrypted, compressed in an unknown way, or larger than
                it says.
        """
        info = self._entries[name]
        if info.flag_bits & 1:
            raise InputError("the entry is encrypted", file=self._uri, record=name)
        content = bytearray()
        try:
            for block in self._blocks(info):
                content += block
                if len(content) > info.file_size:
                    raise InputError(
                        "the entry is larger than the archive says",
                        file=self._uri,
                        record=name,
                    )
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError) as error:
            raise InputError(
                f"the entry is damaged ({error})", file=self._uri, record=name
            ) from error
        except NotImplementedError as error:
            raise InputError(
                f"the entry is compressed in an unknown way ({info.compress_type})",
                file=self._uri,
                record=name,
            ) from error
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise InputError("the entry is damaged", file=self._uri, record=name)
        return bytes(content)

    def _blocks(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        if info.compress_type != _ZSTANDARD:
            with (
                zipfile.ZipFile(BytesIO(self._data)) as archive,
                archive.open(info) as stream,
            ):
                while block := stream.read(_BLOCK):
                    yield block
            return
        import pyarrow as pa

        start = info.header_offset
        if start < 0 or start + _LOCAL_HEADER.size > len(self._data):
            raise zipfile.BadZipFile("it stands past the end")
        header = _LOCAL_HEADER.unpack_from(self._data, start)
        if header[0] != MAGIC:
            raise zipfile.BadZipFile("its header is missing")
        begin = start + _LOCAL_HEADER.size + header[9] + header[10]
        packed = memoryview(self._data)[begin : begin + info.compress_size]
        with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
            while block := stream.read(_BLOCK):
                yield block

    def _check_growth(self, size: int) -> None:
        if size > BOMB_BYTES and size > BOMB_RATIO * max(len(self._data), 1):
            raise InputError(
                f"the archive would grow to {size:,} bytes, {size // max(len(self._data), 1)} "
                "times its size: it is no log",
                file=self._uri,
            )


def _escapes(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\0" in name
