"""Routes on small maps: answers that a search finds, and a greedy walk does not."""

import heapq
import re
from collections.abc import Callable
from itertools import pairwise, permutations
from typing import Any

from teams.task import Slip, Step, Task, Values, Verdict, listed

Road = tuple[str, str, int]


def _distances(roads: tuple[Road, ...]) -> dict[frozenset[str], int]:
    return {frozenset((one, other)): length for one, other, length in roads}


def _neighbours(roads: tuple[Road, ...], place: str) -> list[tuple[int, str]]:
    return sorted(
        (length, other if place == one else one)
        for one, other, length in roads
        if place in (one, other)
    )


def shortest(roads: tuple[Road, ...], start: str, goal: str, by_roads: bool = False) -> Any:
    """The shortest path (Dijkstra 1959), or the one with the fewest roads; () where none is."""
    queue: list[tuple[int, tuple[str, ...]]] = [(0, (start,))]
    done: set[str] = set()
    while queue:
        length, path = heapq.heappop(queue)
        if path[-1] == goal:
            return path
        if path[-1] in done:
            continue
        done.add(path[-1])
        for road, place in _neighbours(roads, path[-1]):
            if place not in done:
                heapq.heappush(queue, (length + (1 if by_roads else road), (*path, place)))
    return ()


def nearest_next(roads: tuple[Road, ...], start: str, goal: str) -> Any:
    """Always the shortest road to a place not seen yet, without looking ahead."""
    path = [start]
    while path[-1] != goal:
        fresh = [place for _, place in _neighbours(roads, path[-1]) if place not in path]
        if not fresh:
            return ()
        path.append(fresh[0])
    return tuple(path)


def path_length(roads: tuple[Road, ...], path: tuple[str, ...], skip: int = 0) -> int | None:
    """The length of a path, None where two of its places have no road."""
    known = _distances(roads)
    legs = [known.get(frozenset(leg)) for leg in pairwise(path)]
    if not path or None in legs:
        return None
    return sum(leg for leg in legs[: len(legs) - skip] if leg is not None)


def _path_text(path: tuple[str, ...]) -> str:
    return "-".join(path) or "no path"


_ANSWER = re.compile(r"^(?P<path>[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]*)+) \((?P<length>\d+) km\)$")


def _route_check(
    roads: tuple[Road, ...], allowed: Callable[[tuple[str, ...]], bool], best: int
) -> Callable[[str], Verdict]:
    """Any allowed path of the best length is right; a longer one, or a wrong sum, is less."""

    def check(text: str) -> Verdict:
        found = _ANSWER.match(text.strip())
        if found is None:
            return Verdict(valid=False, score=0.0)
        path = tuple(found["path"].split("-"))
        length = path_length(roads, path)
        if length is None or not allowed(path):
            return Verdict(valid=True, score=0.0)
        told = int(found["length"]) == length
        return Verdict(valid=True, score=round(best / length * (1.0 if told else 0.5), 3))

    return check


def _length_text(roads: tuple[Road, ...], skip: int = 0) -> Callable[[Values], Any]:
    return lambda values: path_length(roads, values["path"], skip) or 0


def _route_answer(values: Values) -> str:
    return f"{_path_text(values['path'])} ({values['length']} km)"


def _route_task(
    name: str,
    start: str,
    goal: str,
    roads: tuple[Road, ...],
    closed: tuple[str, str],
    best: int,
) -> Task:
    usable = tuple(road for road in roads if set(road[:2]) != set(closed))

    def passable(path: tuple[str, ...]) -> bool:
        return path[0] == start and path[-1] == goal

    shown = ", ".join(f"{one}-{other} {length}" for one, other, length in roads)
    return Task(
        name=name,
        family="route",
        question=(
            f"These roads join the places, with lengths in km: {shown}. The road "
            f"{closed[0]}-{closed[1]} is closed. What is the shortest way from {start} to "
            f"{goal}, and how long is it? Answer like A-B-C (9 km)."
        ),
        givens={"roads": roads},
        steps=(
            Step(
                key="usable",
                title="Cross out the closed road",
                skill="reading",
                needs=("roads",),
                compute=lambda values: tuple(
                    road for road in values["roads"] if set(road[:2]) != set(closed)
                ),
                say=lambda _, result: f"{len(result)} of the {len(roads)} roads can be used.",
                slips=(
                    Slip("overlooks that a road is closed", lambda values: values["roads"]),
                ),
                group="Read the map",
                makes="roads",
                reads=("map",),
            ),
            Step(
                key="path",
                title=f"Find the shortest way from {start} to {goal}",
                skill="search",
                needs=("usable",),
                compute=lambda values: shortest(values["usable"], start, goal),
                say=lambda _, path: f"The way I would take is {_path_text(path)}.",
                slips=(
                    Slip(
                        "always takes the nearest next place",
                        lambda values: nearest_next(values["usable"], start, goal),
                    ),
                    Slip(
                        "takes the fewest roads instead of the shortest",
                        lambda values: shortest(values["usable"], start, goal, by_roads=True),
                    ),
                ),
                group="Plan the way",
                makes="path",
                reads=("map",),
                writes=("route sheet",),
                difficulty=1.6,
            ),
            Step(
                key="length",
                title="Add up the legs of the way",
                skill="arithmetic",
                needs=("path", "usable"),
                compute=_length_text(roads),
                say=lambda values, result: (
                    f"The legs of {_path_text(values['path'])} add up to {result} km."
                ),
                slips=(Slip("leaves out the last leg", _length_text(roads, skip=1)),),
                group="Plan the way",
                reads=("map",),
                writes=("route sheet",),
            ),
        ),
        answer=_route_answer,
        check=_route_check(usable, passable, best),
    )


HARBOUR = _route_task(
    "harbour-route",
    "Quay",
    "Mill",
    (
        ("Quay", "Dock", 4),
        ("Quay", "Fort", 2),
        ("Fort", "Dock", 1),
        ("Dock", "Mill", 7),
        ("Fort", "Park", 8),
        ("Dock", "Park", 3),
        ("Dock", "Pier", 1),
        ("Pier", "Mill", 9),
        ("Park", "Mill", 2),
        ("Quay", "Mill", 6),
    ),
    ("Quay", "Mill"),
    8,
)
HUT = _route_task(
    "mountain-hut",
    "Valley",
    "Hut",
    (
        ("Valley", "Bridge", 3),
        ("Valley", "Farm", 5),
        ("Bridge", "Chapel", 6),
        ("Bridge", "Lake", 2),
        ("Lake", "Hut", 12),
        ("Farm", "Chapel", 2),
        ("Chapel", "Hut", 4),
        ("Lake", "Chapel", 1),
    ),
    ("Lake", "Chapel"),
    11,
)

_COURIER_ROADS: tuple[Road, ...] = (
    ("Depot", "Bank", 4),
    ("Depot", "Clinic", 3),
    ("Depot", "School", 7),
    ("Depot", "Theatre", 6),
    ("Bank", "Clinic", 2),
    ("Bank", "School", 8),
    ("Bank", "Theatre", 8),
    ("Clinic", "School", 6),
    ("Clinic", "Theatre", 9),
    ("School", "Theatre", 3),
)
_STOPS = ("Clinic", "Theatre", "Bank", "School")


def _round_of(order: tuple[str, ...]) -> tuple[str, ...]:
    return ("Depot", *order, "Depot")


def _best_round(values: Values) -> Any:
    return min(
        map(_round_of, permutations(values["stops"])),
        key=lambda path: path_length(_COURIER_ROADS, path) or 0,
    )


def _nearest_round(values: Values) -> Any:
    left, order, known = list(values["stops"]), ["Depot"], _distances(_COURIER_ROADS)
    while left:
        here = order[-1]
        left.sort(key=lambda stop: (known[frozenset((here, stop))], stop))
        order.append(left.pop(0))
    return (*order, "Depot")


COURIER = Task(
    name="courier-round",
    family="route",
    question=(
        "A courier starts at the Depot, visits the Clinic, the Theatre, the Bank "
        "and the School once each, and comes back to the Depot. Lengths in km: "
        + ", ".join(f"{one}-{other} {length}" for one, other, length in _COURIER_ROADS)
        + ". What is the shortest round, and how long is it? Answer like "
        "Depot-A-B-Depot (9 km)."
    ),
    givens={"roads": _COURIER_ROADS},
    steps=(
        Step(
            key="stops",
            title="List the places to visit",
            skill="reading",
            needs=("roads",),
            compute=lambda _: _STOPS,
            say=lambda _, stops: f"The round must visit {listed(stops)}.",
            slips=(Slip("forgets the School", lambda _: _STOPS[:-1]),),
            group="Read the map",
            makes="places",
            reads=("map",),
        ),
        Step(
            key="path",
            title="Find the shortest round",
            skill="search",
            needs=("stops", "roads"),
            compute=_best_round,
            say=lambda _, path: f"The round I would drive is {_path_text(path)}.",
            slips=(
                Slip("always drives to the nearest next place", _nearest_round),
                Slip(
                    "keeps the order of the list",
                    lambda values: _round_of(values["stops"]),
                ),
            ),
            group="Plan the way",
            makes="path",
            reads=("map",),
            writes=("route sheet",),
            difficulty=2.0,
        ),
        Step(
            key="length",
            title="Add up the legs of the round",
            skill="arithmetic",
            needs=("path", "roads"),
            compute=_length_text(_COURIER_ROADS),
            say=lambda _, result: f"The legs of the round add up to {result} km.",
            slips=(Slip("forgets the way back", _length_text(_COURIER_ROADS, skip=1)),),
            group="Plan the way",
            reads=("map",),
            writes=("route sheet",),
        ),
    ),
    answer=_route_answer,
    check=_route_check(
        _COURIER_ROADS,
        lambda path: (
            sorted(path) == sorted(_round_of(_STOPS)) and path[0] == path[-1] == "Depot"
        ),
        21,
    ),
)

TASKS = (HARBOUR, HUT, COURIER)
