"""A small, fixed part of ``python -m benchmarks.fuzz_readers``, for every reader."""

import pytest

from graphstore.errors import InputError
from ingest.reader import Capabilities
from ingest.registry import BUILT_IN
from tests.ingest import fuzzing
from tests.ingest.fuzzing import Outcome, damaged, fuzz, store_damaged, try_one


@pytest.mark.parametrize("format", BUILT_IN)
def test_a_damaged_file_gives_valid_graphs_or_a_reason(format):
    found = fuzz(format, 120)
    assert found.broken == {}
    assert found.tried >= 120
    # A table of a Parquet export holds no graph alone: tests of its reader damage a folder.
    assert found.graphs > 0 or format == "masgraph-parquet"
    assert found.graphs + found.rejected + found.refused >= found.tried / 2


@pytest.mark.parametrize("format", BUILT_IN)
def test_nothing_of_a_damaged_file_is_stored_in_part(format):
    written, whole = store_damaged(format, 10, seed=7)
    assert written == whole


def test_damage_is_the_same_for_one_seed():
    first = list(damaged("massgen", 20, 3))
    assert list(damaged("massgen", 20, 3)) == first
    assert list(damaged("massgen", 20, 4)) != first


class Wrong:
    """A reader that does what no reader may do."""

    format = "wrong"
    title = "Wrong"
    kind = "run"
    version = "1"
    capabilities = Capabilities("no", "no", "no", "no")

    def sniff(self, sample):
        return True

    def read(self, file, context):
        match file.content:
            case b"raise":
                raise KeyError("key")
            case b"nothing":
                raise InputError("")
            case b"text":
                yield "a graph"


@pytest.mark.parametrize(
    ("content", "mistake"),
    [
        (b"raise", "KeyError at "),
        (b"nothing", "it refused without a reason"),
        (b"text", "it yielded 'a graph'"),
    ],
)
def test_mistakes_are_told(content, mistake):
    outcome = Outcome()
    try_one(Wrong(), content, fuzzing.ReadContext(), outcome)
    ((told, count),) = outcome.broken.items()
    assert told.startswith(mistake)
    assert count == 1
    assert outcome.first[told] == content
