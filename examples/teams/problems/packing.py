"""Packing a bag, a room and a printer's queue: answers that a search finds."""

import re
from collections.abc import Callable
from itertools import pairwise, permutations
from typing import Any

from teams.task import Slip, Step, Task, Values, Verdict, listed, show, subsets

ITEMS: dict[str, tuple[int, int]] = {
    "tent": (5, 10),
    "stove": (3, 7),
    "rope": (2, 4),
    "camera": (4, 8),
    "radio": (1, 1),
    "fuel can": (2, 8),
}
_LIMIT = 9


def _total(items: tuple[str, ...], place: int) -> int:
    return sum(ITEMS[item][place] for item in items)


def _best_bag(items: tuple[str, ...], limit: int) -> tuple[str, ...]:
    fitting = [bag for bag in subsets(items) if _total(bag, 0) <= limit]
    return max(fitting, key=lambda bag: (_total(bag, 1), -_total(bag, 0)))


def _greedy_bag(values: Values, key: Callable[[str], float]) -> tuple[str, ...]:
    bag: list[str] = []
    for item in sorted(values["allowed"], key=key, reverse=True):
        if _total((*bag, item), 0) <= _LIMIT:
            bag.append(item)
    return tuple(item for item in values["allowed"] if item in bag)


def _bag_check(text: str) -> Verdict:
    found = re.match(r"^(?P<items>[a-z ,]+); value (?P<value>\d+)$", text.strip())
    items = tuple(found["items"].split(", ")) if found else ()
    if (
        found is None
        or any(item not in ITEMS for item in items)
        or len(set(items)) < len(items)
    ):
        return Verdict(valid=False, score=0.0)
    if _total(items, 0) > _LIMIT or "fuel can" in items:
        return Verdict(valid=True, score=0.0)
    best = _total(_best_bag(tuple(item for item in ITEMS if item != "fuel can"), _LIMIT), 1)
    told = int(found["value"]) == _total(items, 1)
    return Verdict(valid=True, score=round(_total(items, 1) / best * (1.0 if told else 0.5), 3))


BAG = Task(
    name="hiking-bag",
    family="packing",
    question=(
        f"A bag carries {_LIMIT} kg. Choose from: "
        + ", ".join(
            f"{item} ({kilos} kg, value {value})" for item, (kilos, value) in ITEMS.items()
        )
        + ". The fuel can may not fly. Which items give the largest value? Answer like "
        "tent, rope; value 14."
    ),
    givens={"items": tuple(ITEMS), "limit": _LIMIT},
    steps=(
        Step(
            key="allowed",
            title="Leave out what may not fly",
            skill="reading",
            needs=("items",),
            compute=lambda values: tuple(i for i in values["items"] if i != "fuel can"),
            say=lambda _, items: f"Allowed are {listed(items)}.",
            slips=(Slip("overlooks that the fuel can may not fly", lambda v: v["items"]),),
            group="Read",
            makes="items",
            reads=("packing list",),
        ),
        Step(
            key="bag",
            title="Choose the items with the largest value that fit",
            skill="search",
            needs=("allowed", "limit"),
            compute=lambda values: _best_bag(values["allowed"], values["limit"]),
            say=lambda _, bag: f"I pack {listed(bag)}, which weighs {_total(bag, 0)} kg.",
            slips=(
                Slip(
                    "packs the most valuable first",
                    lambda values: _greedy_bag(values, lambda item: ITEMS[item][1]),
                ),
                Slip(
                    "packs the lightest first",
                    lambda values: _greedy_bag(values, lambda item: -ITEMS[item][0]),
                ),
                Slip(
                    "packs one kilogram too much",
                    lambda values: _best_bag(values["allowed"], values["limit"] + 1),
                ),
            ),
            group="Pack",
            makes="items",
            writes=("packing list",),
            difficulty=1.6,
        ),
        Step(
            key="value",
            title="Add up the value of the bag",
            skill="arithmetic",
            needs=("bag",),
            compute=lambda values: _total(values["bag"], 1),
            say=lambda _, value: f"The values in the bag add up to {value}.",
            slips=(
                Slip("leaves out the last item", lambda v: _total(v["bag"][:-1], 1)),
                Slip("adds the weights instead", lambda v: _total(v["bag"], 0)),
            ),
            group="Pack",
            writes=("packing list",),
        ),
    ),
    answer=lambda values: f"{show(values['bag'])}; value {values['value']}",
    check=_bag_check,
)

MEETINGS: dict[str, tuple[int, int]] = {
    "Budget": (9, 13),
    "Design": (9, 10),
    "Hiring": (10, 12),
    "Launch": (11, 12),
    "Press": (12, 13),
    "Sales": (13, 14),
    "Team": (14, 16),
}


def _apart(meetings: tuple[str, ...]) -> bool:
    times = sorted(MEETINGS[meeting] for meeting in meetings)
    return all(one[1] <= other[0] for one, other in pairwise(times))


def _greedy_meetings(
    key: Callable[[str], Any], strict: bool = False
) -> Callable[[Values], Any]:
    def compute(values: Values) -> Any:
        chosen: list[str] = []
        for meeting in sorted(values["wanted"], key=key):
            if _apart((*chosen, meeting)):
                start, end = MEETINGS[meeting]
                touching = any(
                    MEETINGS[other][0] == end or MEETINGS[other][1] == start for other in chosen
                )
                if not (strict and touching):
                    chosen.append(meeting)
        return tuple(sorted(chosen, key=lambda meeting: MEETINGS[meeting]))

    return compute


def _meetings_check(text: str) -> Verdict:
    meetings = tuple(text.strip().split(", "))
    if any(meeting not in MEETINGS for meeting in meetings):
        return Verdict(valid=False, score=0.0)
    wanted = tuple(meeting for meeting in MEETINGS if meeting != "Press")
    best = max(len(chosen) for chosen in subsets(wanted) if _apart(chosen))
    if not _apart(meetings) or "Press" in meetings or len(set(meetings)) < len(meetings):
        return Verdict(valid=True, score=0.0)
    return Verdict(valid=True, score=round(len(meetings) / best, 3))


def _meeting_list() -> str:
    return ", ".join(f"{name} {start}-{end}" for name, (start, end) in MEETINGS.items())


ROOM = Task(
    name="meeting-room",
    family="packing",
    question=(
        f"One room, these meetings with their hours: {_meeting_list()}. One may begin "
        "when another ends. Press is cancelled. Choose as many meetings as fit into the "
        "room, in the order of the day. Answer like Design, Hiring."
    ),
    givens={"meetings": tuple(MEETINGS)},
    steps=(
        Step(
            key="wanted",
            title="Take the cancelled meeting off the list",
            skill="reading",
            needs=("meetings",),
            compute=lambda values: tuple(m for m in values["meetings"] if m != "Press"),
            say=lambda _, left: f"Still wanted are {listed(left)}.",
            slips=(Slip("keeps the cancelled meeting", lambda v: v["meetings"]),),
            group="Read",
            makes="meetings",
            reads=("room calendar",),
            writes=("room calendar",),
        ),
        Step(
            key="chosen",
            title="Choose as many as fit",
            skill="search",
            needs=("wanted",),
            compute=_greedy_meetings(lambda meeting: (MEETINGS[meeting][1], meeting)),
            say=lambda _, chosen: f"{listed(chosen)} fit, {len(chosen)} in all.",
            slips=(
                Slip(
                    "takes the earliest start first",
                    _greedy_meetings(lambda meeting: (MEETINGS[meeting][0], meeting)),
                ),
                Slip(
                    "leaves a gap between meetings",
                    _greedy_meetings(lambda m: (MEETINGS[m][1], m), strict=True),
                ),
            ),
            group="Plan the day",
            makes="meetings",
            writes=("room calendar",),
            difficulty=1.6,
        ),
    ),
    answer=lambda values: show(values["chosen"]),
    check=_meetings_check,
)

JOBS: dict[str, int] = {"poster": 7, "flyer": 2, "manual": 9, "ticket": 1, "menu": 4}


def _waiting(order: tuple[str, ...], count_own: bool = False) -> int:
    total, clock = 0, 0
    for job in order:
        total += clock + (JOBS[job] if count_own else 0)
        clock += JOBS[job]
    return total


def _jobs_check(text: str) -> Verdict:
    found = re.match(r"^(?P<order>[a-z]+(?:, [a-z]+)*); (?P<total>\d+) minutes$", text.strip())
    order = tuple(found["order"].split(", ")) if found else ()
    if found is None or sorted(order) != sorted(JOBS):
        return Verdict(valid=False, score=0.0)
    best = min(_waiting(other) for other in permutations(JOBS))
    told = int(found["total"]) == _waiting(order)
    return Verdict(valid=True, score=round(best / _waiting(order) * (1.0 if told else 0.5), 3))


PRINTER = Task(
    name="print-jobs",
    family="packing",
    question=(
        "A printer gets five jobs at once, with their minutes: "
        + ", ".join(f"{job} {minutes}" for job, minutes in JOBS.items())
        + ". In which order is the waiting time before printing, summed over the jobs, "
        "smallest, and how long is it? Answer like menu, flyer; 12 minutes."
    ),
    givens={"jobs": tuple(JOBS)},
    steps=(
        Step(
            key="order",
            title="Put the jobs into the best order",
            skill="search",
            needs=("jobs",),
            compute=lambda values: tuple(sorted(values["jobs"], key=JOBS.__getitem__)),
            say=lambda _, order: f"The order is {listed(order)}.",
            slips=(
                Slip("keeps the order in which they came", lambda v: v["jobs"]),
                Slip(
                    "prints the longest job first",
                    lambda v: tuple(sorted(v["jobs"], key=JOBS.__getitem__, reverse=True)),
                ),
            ),
            group="Order",
            makes="jobs",
            writes=("print queue",),
            difficulty=1.3,
        ),
        Step(
            key="waits",
            title="Add up the waiting times",
            skill="arithmetic",
            needs=("order",),
            compute=lambda values: _waiting(values["order"]),
            say=lambda _, total: f"The waits add up to {total} minutes.",
            slips=(
                Slip(
                    "counts the printing as waiting",
                    lambda v: _waiting(v["order"], count_own=True),
                ),
                Slip("leaves out the last job", lambda v: _waiting(v["order"][:-1])),
            ),
            group="Result",
            writes=("print queue",),
            difficulty=1.6,
        ),
    ),
    answer=lambda values: f"{show(values['order'])}; {values['waits']} minutes",
    check=_jobs_check,
)

TASKS = (BAG, ROOM, PRINTER)
