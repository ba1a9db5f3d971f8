"""Damages a file in seeded ways: whatever comes of it, a reader may only reject.

Text files are cut, and lose, repeat and swap lines and bytes. JSON values (whole files, and
the lines of JSON lines) lose keys, change types, and lose, repeat and swap items too.
"""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from graphstore.validation import validate
from ingest.reader import ReadContext, Reader, Rejection
from tests.ingest.memory_file import MemoryFile

_STRANGE: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 1.5, 1e308, "", "x", "\ud800", "\x00", "🙂",
    [], [[]], {}, {"a": 1},
)  # fmt: skip


def mutations(content: bytes, count: int, seed: int = 1) -> Iterator[bytes]:
    """Damaged copies of a file.

    Args:
        content: The file.
        count: How many.
        seed: Equal seeds give equal copies.
    """
    chance = random.Random(seed)
    values = _json_values(content)
    for number in range(count):
        if values is not None and number % 2:
            yield _damaged_json(values, chance)
        else:
            yield _damaged_bytes(content, chance)


def assert_survives(reader: Reader, content: bytes, count: int = 200, seed: int = 1) -> int:
    """Reads damaged copies: only graphs, rejections and input errors may come out.

    Returns:
        How many graphs came out, each of them valid.
    """
    graphs = 0
    reasons = []
    for damaged in mutations(content, count, seed):
        file = MemoryFile(damaged, "damaged")
        reader.sniff(file.sample)
        try:
            for result in reader.read(file, ReadContext()):
                assert isinstance(result, CollaborationGraph | Rejection), type(result)
                if isinstance(result, CollaborationGraph):
                    validate(result)
                    graphs += 1
                else:
                    assert result.reason
        except InputError as error:
            reasons.append(error.reason)
    assert all(reasons)
    return graphs


def cuts(content: bytes, count: int = 60) -> Iterator[bytes]:
    """The file cut at evenly spread places, from nothing to all but one byte."""
    for number in range(count):
        yield content[: number * len(content) // count]


def _json_values(content: bytes) -> list[Any] | None:
    try:
        return [json.loads(content)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in content.splitlines() if line.strip()]
    except ValueError:
        return None


def _damaged_bytes(content: bytes, chance: random.Random) -> bytes:
    data = bytearray(content)
    match chance.randrange(5):
        case 0:
            return bytes(data[: chance.randrange(len(data) + 1)])
        case 1:
            for _ in range(chance.randint(1, 8)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            return bytes(data)
        case 2:
            start = chance.randrange(len(data))
            del data[start : start + chance.randint(1, 200)]
            return bytes(data)
        case 3:
            start = chance.randrange(len(data))
            data[start:start] = data[start : start + chance.randint(1, 200)]
            return bytes(data)
        case _:
            lines = content.splitlines(keepends=True)
            one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines[one], lines[other] = lines[other], lines[one]
            if chance.random() < 0.5:
                del lines[chance.randrange(len(lines))]
            return b"".join(lines)


def _damaged_json(values: list[Any], chance: random.Random) -> bytes:
    copies = json.loads(json.dumps(values))
    for _ in range(chance.randint(1, 3)):
        places = list(_places(copies))
        if not places:
            break
        holder, key = places[chance.randrange(len(places))]
        match chance.randrange(4):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, list):
                holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
            case 2 if isinstance(holder, list):
                other = chance.randrange(len(holder))
                holder[key], holder[other] = holder[other], holder[key]
            case _:
                holder[key] = copy.deepcopy(chance.choice(_STRANGE))
    return b"\n".join(json.dumps(value).encode() for value in copies)


def _places(values: list[Any]) -> Iterator[tuple[Any, Any]]:
    waiting: list[Any] = [values]
    while waiting:
        holder = waiting.pop()
        keys = holder.keys() if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
