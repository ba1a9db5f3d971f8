import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from graphstore import plugins
from graphstore.errors import InputError, NotFoundError, UsageError
from ingest.pipeline import ReadOptions, read
from ingest.reader import Capabilities
from ingest.registry import (
    BUILT_IN,
    FIRST_LOOK_BYTES,
    Registry,
    default_registry,
    reader,
    sniff,
)

THIS = __name__


class Everything:
    format = "everything"
    title = "Everything"
    kind = "run"
    version = "1"
    capabilities = Capabilities("no", "no", "no", "no")

    def sniff(self, sample):
        return True

    def read(self, file, context):
        yield from ()


class Beta(Everything):
    format = "beta"


class Failing(Everything):
    format = "failing"

    def sniff(self, sample):
        raise KeyError("oops")


@pytest.fixture
def here(monkeypatch):
    """This module under a name that a registry can import."""
    monkeypatch.setitem(sys.modules, "some_readers", sys.modules[THIS])
    return "some_readers"


def test_built_in_readers_need_no_metadata():
    registry = Registry(dict(BUILT_IN))
    assert registry.formats == tuple(BUILT_IN)
    assert registry.warnings == []
    assert [one.format for one in registry.readers()] == list(BUILT_IN)
    assert registry.warnings == []


def test_a_reader_is_imported_when_it_is_asked_for():
    code = (
        "import sys; from ingest.registry import default_registry as r;"
        "r().formats; assert 'ingest.readers.native' not in sys.modules;"
        "r().reader('native'); assert 'ingest.readers.whowhen' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_format_names_the_known_ones():
    with pytest.raises(NotFoundError, match="'xml': use one of native, whowhen-handcrafted"):
        reader("xml")


@pytest.mark.parametrize(
    "place", ["no_such_module:X", "json:NoSuchName", "json:JSONDecodeError", "json:JSONDecoder"]
)
def test_a_reader_that_cannot_be_used_is_a_warning(place):
    registry = Registry({"bad": place, "native": BUILT_IN["native"]})
    assert [one.format for one in registry.readers()] == ["native"]
    (sentence,) = registry.warnings
    assert sentence.startswith("the reader of the format bad cannot be used: ")
    assert registry.sniff(b'{"masgraph": 1}') is not None
    with pytest.raises(UsageError, match="the reader of the format bad cannot be used"):
        registry.reader("bad")


def test_two_readers_that_claim_a_file_are_an_error_that_names_them(here):
    places = {"beta": f"{here}:Beta", "native": BUILT_IN["native"]}
    assert Registry(places).sniff(b"other").format == "beta"
    for order in (places, dict(reversed(places.items()))):
        with pytest.raises(InputError) as told:
            Registry(order).sniff(b'{"masgraph": 1}')
        assert told.value.reason == (
            "the readers native and beta claim it at once: say which is right with "
            "--format native or --format beta"
        )
    places["everything"] = f"{here}:Everything"
    with pytest.raises(InputError, match="--format native, --format beta or --format every"):
        Registry(places).sniff(b'{"masgraph": 1}')


class Late(Everything):
    """Claims what says so, however late."""

    format = "late"

    def sniff(self, sample):
        return b"late" in sample


def test_what_the_beginning_does_not_tell_the_whole_sample_does(here):
    begins_native = b'{"masgraph": 1, "kind": "run", "actions": ['
    filling = b" " * FIRST_LOOK_BYTES
    places = {"late": f"{here}:Late", "native": BUILT_IN["native"]}
    registry = Registry(places)
    assert registry.sniff(filling + b"late").format == "late"
    # One reader knows its own beginning: what follows is not asked.
    assert registry.sniff(begins_native + filling + b"late").format == "native"
    with pytest.raises(InputError, match="native and late claim it at once"):
        registry.sniff(begins_native + b"late" + filling)


def test_a_file_that_two_readers_claim_is_rejected_unless_a_format_is_named(here, tmp_path):
    path = tmp_path / "claimed.json"
    path.write_text('{"masgraph": 1, "kind": "run", "actions": [{"content": "hello"}]}')
    other = tmp_path / "other.txt"
    other.write_text("hello")
    places = {"beta": f"{here}:Beta", "native": BUILT_IN["native"]}
    options = ReadOptions(registry=Registry(places))
    (rejection,) = read([path, other], options=options)
    assert rejection.file == str(path)
    assert "native and beta claim it at once" in rejection.reason
    (graph,) = read(path, format="native", options=options)
    assert len(graph.nodes) == 1


def test_a_reader_that_fails_to_look_is_passed_over(here):
    registry = Registry({"failing": f"{here}:Failing", "beta": f"{here}:Beta"})
    assert registry.sniff(b"x").format == "beta"
    assert registry.sniff(b"x").format == "beta"
    assert registry.warnings == [
        "the reader of the format failing failed to look at a file: KeyError: 'oops'"
    ]


def test_a_reader_may_be_an_instance_or_a_function(here, monkeypatch):
    module = sys.modules[here]
    monkeypatch.setattr(module, "instance", Beta(), raising=False)
    monkeypatch.setattr(module, "make", lambda: Beta(), raising=False)
    for name in ("instance", "make", "Beta"):
        assert Registry({"beta": f"{here}:{name}"}).reader("beta").format == "beta"


def test_no_reader_takes_what_is_no_trace():
    for sample in (b"", b"hello", b"\x00\x01\x02", b"{}", b"[]", b"<xml/>", b"[" * 70_000):
        assert sniff(sample) is None
    assert default_registry().warnings == []


def test_a_rejection_counts_the_readers_that_can_be_used(tmp_path):
    path = tmp_path / "strange.txt"
    path.write_text("nothing that anybody reads\n")
    registry = Registry({"native": BUILT_IN["native"], "gone": "no.such.module:Reader"})
    options = ReadOptions(registry=registry)
    (rejection,) = read(path, options=options)
    assert "(1 format is known: see" in rejection.reason
    assert registry.formats == ("native", "gone")
    assert registry.usable == ("native",)


def test_why_a_reader_cannot_be_used_is_told_whatever_else_was_left_out(monkeypatch):
    points = [EntryPoint("wall", place, "masgraph.readers") for place in ("a_gone:X", "b:Y")]
    monkeypatch.setattr(plugins, "entry_points", lambda *, group: points)
    registry = Registry.installed()
    assert registry.warnings == [
        "the reader b:Y is left out: the format wall is read by a_gone:X"
    ]
    with pytest.raises(UsageError, match="the reader of the format wall cannot be used: Mod"):
        registry.reader("wall")
