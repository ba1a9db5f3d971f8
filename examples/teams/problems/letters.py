"""Puzzles of letters."""

from collections.abc import Callable
from typing import Any

from teams.task import Slip, Step, Task, Values, text_check

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def shifted(text: str, by: int) -> str:
    """Each letter moved along the alphabet, round its end (Caesar's cipher)."""
    return "".join(
        _ALPHABET[(_ALPHABET.index(letter) + by) % 26] if letter in _ALPHABET else letter
        for letter in text
    )


def consonants(text: str) -> str:
    """The letters that are no vowels."""
    return "".join(letter for letter in text if letter not in "AEIOU")


def _letters(
    key: str,
    title: str,
    needs: tuple[str, ...],
    compute: Callable[[Values], Any],
    sentence: str,
    *slips: Slip,
    group: str,
    difficulty: float = 1.0,
) -> Step:
    return Step(
        key=key,
        title=title,
        skill="letters",
        needs=needs,
        compute=compute,
        say=lambda values, result: sentence.format(result=result, **values),
        slips=slips,
        group=group,
        makes="text",
        difficulty=difficulty,
        writes=("scratch pad",),
    )


CAESAR = Task(
    name="caesar-note",
    family="letters",
    question=(
        "The note ODQWHUQ was made by moving each letter three places forward in the alphabet. "
        "Read it, strike the vowels, and write what is left backwards."
    ),
    givens={"note": "ODQWHUQ"},
    steps=(
        _letters(
            "plain",
            "Decode the note",
            ("note",),
            lambda v: shifted(v["note"], -3),
            "The note {note} reads {result}.",
            Slip("moves the letters the wrong way", lambda v: shifted(v["note"], 3)),
            Slip("moves the letters two places only", lambda v: shifted(v["note"], -2)),
            group="Decode",
            difficulty=1.3,
        ),
        _letters(
            "bare",
            "Strike the vowels",
            ("plain",),
            lambda v: consonants(v["plain"]),
            "Without vowels, {plain} becomes {result}.",
            Slip("strikes each vowel but E", lambda v: v["plain"].replace("A", "")),
            group="Rewrite",
        ),
        _letters(
            "backwards",
            "Write it backwards",
            ("bare",),
            lambda v: v["bare"][::-1],
            "{bare} backwards is {result}.",
            Slip("swaps the last two letters", lambda v: v["bare"][::-1][:-2] + v["bare"][:2]),
            group="Rewrite",
        ),
    ),
    answer=lambda values: str(values["backwards"]),
    check=text_check("NRTNL"),
)

_LINES = ("Rivers rise", "Over old stones", "Silver in spring", "Even at night")

ACROSTIC = Task(
    name="acrostic-key",
    family="letters",
    question=(
        f"Take the first letter of each line: {' / '.join(_LINES)}. Move each letter two "
        "places forward in the alphabet. Then put the letters in alphabetical order. "
        "What is the key?"
    ),
    givens={"lines": _LINES},
    steps=(
        _letters(
            "initials",
            "Take the first letters",
            ("lines",),
            lambda v: "".join(line[0] for line in v["lines"]),
            "The first letters spell {result}.",
            Slip(
                "takes the last letter of the last line",
                lambda v: (
                    "".join(line[0] for line in v["lines"][:-1]) + v["lines"][-1][-1].upper()
                ),
            ),
            group="Read",
        ),
        _letters(
            "moved",
            "Move the letters forward by two",
            ("initials",),
            lambda v: shifted(v["initials"], 2),
            "Two places on, {initials} becomes {result}.",
            Slip("moves them back by two", lambda v: shifted(v["initials"], -2)),
            Slip("moves them by three", lambda v: shifted(v["initials"], 3)),
            group="Rewrite",
            difficulty=1.3,
        ),
        _letters(
            "key",
            "Put them in alphabetical order",
            ("moved",),
            lambda v: "".join(sorted(v["moved"])),
            "In order, {moved} is {result}.",
            Slip("leaves the order as it is", lambda v: v["moved"]),
            group="Rewrite",
        ),
    ),
    answer=lambda values: str(values["key"]),
    check=text_check("GQTU"),
)

BADGE = Task(
    name="badge-code",
    family="letters",
    question=(
        "A badge code is the first three consonants of the name, a dash, the number of vowels "
        "(A, E, I, O, U), a dash, and the number of letters. What is the code of "
        "MARGUERITE OLDHAM?"
    ),
    givens={"name": "MARGUERITE OLDHAM"},
    steps=(
        _letters(
            "first",
            "Take the first three consonants",
            ("name",),
            lambda v: consonants(v["name"].replace(" ", ""))[:3],
            "The first three consonants are {result}.",
            Slip("takes the first three letters", lambda v: v["name"][:3]),
            group="Count",
        ),
        _letters(
            "vowels",
            "Count the vowels",
            ("name",),
            lambda v: sum(letter in "AEIOU" for letter in v["name"]),
            "There are {result} vowels.",
            Slip("counts each vowel once only", lambda v: len(set("AEIOU") & set(v["name"]))),
            group="Count",
            difficulty=1.3,
        ),
        _letters(
            "letters",
            "Count the letters",
            ("name",),
            lambda v: len(v["name"].replace(" ", "")),
            "There are {result} letters.",
            Slip("counts the space", lambda v: len(v["name"])),
            group="Count",
        ),
        _letters(
            "code",
            "Put the code together",
            ("first", "vowels", "letters"),
            lambda v: f"{v['first']}-{v['vowels']}-{v['letters']}",
            "So the code is {result}.",
            Slip(
                "swaps the two numbers",
                lambda v: f"{v['first']}-{v['letters']}-{v['vowels']}",
            ),
            group="Write",
        ),
    ),
    answer=lambda values: str(values["code"]),
    check=text_check("MRG-7-16"),
)

TASKS = (CAESAR, ACROSTIC, BADGE)
