"""Puts records of several files into one order."""

import heapq
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

_Entry = tuple[int, int, int]


def merged(
    streams: Sequence[Sequence[T]],
    time_of: Callable[[T], int | None],
    follows: Callable[[T], T | None],
) -> list[T]:
    """Merges files by time; each keeps its own order, whatever its times say.

    Args:
        streams: The records of each file. Where times are equal, earlier files come first.
        time_of: A record's time; where there is none, that of the one before it counts.
        follows: A record of any file that must come earlier, None where there is none.
    """
    if len(streams) == 1:
        return list(streams[0])
    heap: list[_Entry] = []
    clock = [0] * len(streams)
    held: dict[int, list[_Entry]] = {}
    done: set[int] = set()
    ordered: list[T] = []

    def push(stream: int, position: int) -> None:
        if position == len(streams[stream]):
            return
        record = streams[stream][position]
        clock[stream] = max(clock[stream], time_of(record) or 0)
        entry = (clock[stream], stream, position)
        earlier = follows(record)
        if earlier is not None and earlier is not record and id(earlier) not in done:
            held.setdefault(id(earlier), []).append(entry)
        else:
            heapq.heappush(heap, entry)

    for stream in range(len(streams)):
        push(stream, 0)
    while heap or held:
        if not heap:
            # Files that wait for each other: then their own order counts.
            for entry in held.pop(next(iter(held))):
                heapq.heappush(heap, entry)
        _, stream, position = heapq.heappop(heap)
        record = streams[stream][position]
        ordered.append(record)
        done.add(id(record))
        for entry in held.pop(id(record), ()):
            heapq.heappush(heap, entry)
        push(stream, position + 1)
    return ordered
