import sys
from importlib.metadata import EntryPoint

import pytest

from graphstore import plugins
from graphstore.errors import NotFoundError, UsageError
from graphstore.plugins import Plugins

THIS = __name__


class Lamp:
    watts = 40

    def shine(self):
        return self.watts


class Bright(Lamp):
    watts = 100


class Dark:
    def shine(self):
        return 0


class Lamps(Plugins[Lamp]):
    group = "tests.lamps"
    built_in = {"desk": "lamps:Lamp", "floor": "lamps:Bright"}
    needed = ("watts", "shine")
    telling = "shine"
    called = "the lamp {name}"
    unknown = "there is no lamp {name!r}"
    left_out = "the lamp {place} is left out: {name} is {taken}"


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """This module under a name that places can hold."""
    monkeypatch.setitem(sys.modules, "lamps", sys.modules[THIS])


def installed(monkeypatch, *points):
    def entry_points(*, group):
        assert group == "tests.lamps"
        return [EntryPoint(name, value, group) for name, value in points]

    monkeypatch.setattr(plugins, "entry_points", entry_points)
    return Lamps.installed()


def test_names_are_known_without_an_import():
    lamps = Lamps({"zeta": "no_such:X", "floor": "no_such:X", "desk": "no_such:X", "b": "x"})
    assert lamps.names == ("desk", "floor", "b", "zeta")
    assert lamps.warnings == []


def test_a_place_holds_a_part_or_what_makes_one(monkeypatch):
    module = sys.modules["lamps"]
    monkeypatch.setattr(module, "made", Bright(), raising=False)
    monkeypatch.setattr(module, "make", lambda: Bright(), raising=False)
    monkeypatch.setattr(module, "shelf", module, raising=False)
    for name in ("made", "make", "Bright", "shelf.shelf.Bright"):
        assert Lamps({"one": f"lamps:{name}"}).part("one").shine() == 100


def test_a_part_is_made_once():
    lamps = Lamps(dict(Lamps.built_in))
    assert lamps.part("desk") is lamps.part("desk") is lamps.parts()["desk"]
    assert list(lamps.parts()) == ["desk", "floor"]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("no_such_module:X", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("lamps:Nowhere", "AttributeError: module "),
        ("lamps:Dark", "TypeError: lamps:Dark has no watts"),
        ("lamps:THIS", "TypeError: 'str' object is not callable"),
        ("lamps", "TypeError: 'module' object is not callable"),
    ],
)
def test_what_cannot_be_used_is_one_warning(place, reason):
    lamps = Lamps({"bad": place, "desk": "lamps:Lamp"})
    assert list(lamps.parts()) == ["desk"]
    assert list(lamps.parts()) == ["desk"]
    (sentence,) = lamps.warnings
    assert sentence.startswith(f"the lamp bad cannot be used: {reason}")
    with pytest.raises(UsageError) as told:
        lamps.part("bad")
    assert str(told.value) == sentence
    assert lamps.warnings == [sentence]


def test_an_unknown_name_tells_the_known_ones():
    with pytest.raises(
        NotFoundError, match=r"^there is no lamp '{x}': use one of desk, floor$"
    ):
        Lamps(dict(Lamps.built_in)).part("{x}")


def test_installed_packages_add_parts_and_replace_none(monkeypatch):
    lamps = installed(
        monkeypatch,
        ("wall", "lamps:Bright"),
        ("wall", "another:Wall"),
        ("desk", "lamps:Bright"),
        ("floor", "lamps:Bright"),
        ("wall", "another:Wall"),
    )
    assert lamps.places == {**Lamps.built_in, "wall": "another:Wall"}
    assert Lamps.built_in.keys() == {"desk", "floor"}
    assert lamps.warnings == [
        "the lamp lamps:Bright is left out: desk is lamps:Lamp",
        "the lamp lamps:Bright is left out: wall is another:Wall",
    ]
    assert list(lamps.parts()) == ["desk", "floor"]
    with pytest.raises(UsageError, match="the lamp wall cannot be used: ModuleNotFoundError"):
        lamps.part("wall")
