import io
import struct
import zipfile

import pyarrow as pa
import pytest

from graphstore.errors import InputError
from ingest.readers import zip_archive
from ingest.readers.zip_archive import ZipArchive, first_name


def packed(entries, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def as_zstandard(data):
    """The same archive with its one stored entry packed by Zstandard."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        (info,) = archive.infolist()
        content = archive.read(info)
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as out:
        out.write(content)
    body = stream.getvalue().to_pybytes()
    name = info.filename.encode()
    sizes = (info.CRC, len(body), info.file_size)
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 93, 0, 33, *sizes, len(name), 0) + name
    central = struct.pack(
        "<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 93, 0, 33, *sizes, len(name), 0, 0, 0, 0, 0, 0
    )
    central += name
    end = struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local) + len(body), 0
    )
    return local + body + central + end


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_entries_come_back(compression):
    archive = ZipArchive(packed({"a.json": b"{}", "b/c.json": b"x" * 9000}, compression), "f")
    assert archive.names == ("a.json", "b/c.json")
    assert archive.read("b/c.json") == b"x" * 9000


def test_zstandard_entries_come_back():
    content = bytes(range(256)) * 9000
    archive = ZipArchive(as_zstandard(packed({"a": content}, zipfile.ZIP_STORED)), "f")
    assert archive.read("a") == content


@pytest.mark.parametrize("name", ["../a", "b/../../a", "/etc/a", "c:\\a", "..\\a", "\\a"])
def test_a_name_that_leads_out_is_refused(name):
    with pytest.raises(InputError, match="leads out of the archive"):
        ZipArchive(packed({"ok": b"", name: b"x"}), "f")


def test_a_bomb_is_refused_before_it_grows(monkeypatch):
    monkeypatch.setattr(zip_archive, "BOMB_BYTES", 100_000)
    data = packed({"a": b"\0" * 3_000_000})
    with pytest.raises(InputError, match=r"would grow to 3,000,000 bytes, \d+ times its size"):
        ZipArchive(data, "f")


@pytest.mark.parametrize(
    "pack", [packed, lambda e: as_zstandard(packed(e, zipfile.ZIP_STORED))]
)
def test_an_entry_that_lies_about_its_size_stops_growing(pack):
    data = pack({"a": b"\0" * 5_000_000})
    lie = data.replace((5_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    assert lie != data
    with pytest.raises(InputError, match=r"damaged|larger than"):
        ZipArchive(lie, "f").read("a")


def test_a_damaged_or_encrypted_entry_is_refused():
    data = bytearray(as_zstandard(packed({"a": b"some words" * 50}, zipfile.ZIP_STORED)))
    data[45] ^= 0xFF
    with pytest.raises(InputError, match="damaged"):
        ZipArchive(bytes(data), "f").read("a")
    plain = bytearray(packed({"a": b"words"}))
    plain[plain.index(b"PK\1\2") + 8] |= 1
    with pytest.raises(InputError, match="encrypted"):
        ZipArchive(bytes(plain), "f").read("a")


def test_an_unknown_compression_is_refused():
    data = bytearray(packed({"a": b"words"}, zipfile.ZIP_STORED))
    data[8] = data[data.index(b"PK\1\2") + 10] = 97
    with pytest.raises(InputError, match=r"in an unknown way \(97\)"):
        ZipArchive(bytes(data), "f").read("a")


def test_what_is_no_archive():
    data = packed({"a": b"words" * 100})
    for cut in (b"", b"PK\3\4", data[:50], data[:-10]):
        with pytest.raises(InputError, match="cannot be read"):
            ZipArchive(cut, "f")
    assert first_name(data) == "a"
    assert first_name(data[:20]) is None
    assert first_name(b"{}") is None
