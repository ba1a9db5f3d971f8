import itertools
import os
import random
from dataclasses import replace

import pytest

import mining.workers
from graphstore.errors import InputError, MasgraphError, MissingExtraError, UsageError
from graphstore.identity import canonical_json
from mining.coverage import CoverageConfiguration, measure_coverage
from mining.library import LibraryConfiguration, dump_library
from mining.library_mining import mine_library
from mining.library_significance import library_significance
from mining.motif_library import MotifConfiguration
from mining.null_model import NullModelConfiguration
from mining.subtask_types import SubtaskTypeConfiguration
from mining.workers import Workers, available_cores, environment
from tests.mining.planted import planted
from tests.mining.test_motifs import make_graph


def multiply(factor, number):
    return factor * number


def where(shared, item):
    return os.getpid()


def fail(shared, item):
    if shared == "input":
        raise InputError("the line is bad", file="one.json", record="3")
    if shared == "extra":
        raise MissingExtraError("wordllama", "embed", "this embedder")
    if shared == "own":
        raise OwnError("something of a reader's own")
    raise ZeroDivisionError("not on purpose")


class OwnError(MasgraphError):
    pass


def die(shared, item):
    os._exit(1)


@pytest.fixture(params=["one process", "two processes"])
def workers(request):
    return Workers(1 if request.param == "one process" else 2)


def test_results_stand_in_the_order_of_the_items(workers):
    told = []
    found = workers.map(multiply, 3, range(20), lambda done, total: told.append((done, total)))
    assert found == [3 * number for number in range(20)]
    assert told[0] == (0, 20)
    assert told[-1] == (20, 20)
    assert told == sorted(told)
    assert workers.map(multiply, 3, []) == []


def test_the_work_is_done_elsewhere():
    found = set(Workers(2).map(where, None, range(8)))
    assert os.getpid() not in found
    assert 1 <= len(found) <= 2
    # One item is not worth a process.
    assert Workers(2).map(where, None, [0]) == [os.getpid()]


def test_only_large_work_gets_processes_of_its_own_accord(monkeypatch):
    monkeypatch.setattr(mining.workers, "available_cores", lambda: 2)
    here = {os.getpid()}
    assert set(Workers(None).map(where, None, range(4), large=False)) == here
    assert here.isdisjoint(Workers(None).map(where, None, range(4), large=True))
    # What was asked for is done, however small the work is.
    assert here.isdisjoint(Workers(2).map(where, None, range(4), large=False))
    assert set(Workers(1).map(where, None, range(4), large=True)) == here
    assert [Workers(None).processes(large) for large in (False, True)] == [1, 2]


def crowded(kind):
    """Graphs of a few roles with so many edges that chance has something to vary."""
    draw = random.Random(1)
    roles = ["planner", "solver", "critic"]
    return [
        make_graph(
            f"g{place}",
            [draw.choice(roles) for _ in range(14)],
            sorted({tuple(sorted(draw.sample(range(14), 2))) for _ in range(24)}),
            kind=kind,
        )
        for place in range(9)
    ]


BY_ROLE = LibraryConfiguration(motifs=MotifConfiguration(kept_occurrences=None, labels="role"))
FEW = NullModelConfiguration(samples=30)


def bytes_of(workers, kind="decomposition"):
    """A library with learned types, and one of other graphs with its patterns beside chance."""
    graphs, _ = planted(12, 4, seed=3, kind=kind)
    options = LibraryConfiguration(
        motifs=MotifConfiguration(kept_occurrences=None),
        types=SubtaskTypeConfiguration(candidates=(1, 2, 3, 4, 6), refits=4, starts=3),
    )
    learned = mine_library(graphs, options, workers=workers)
    learned_chance = library_significance(graphs, learned, FEW, workers=workers)
    others = crowded(kind)
    by_role = mine_library(others, BY_ROLE, workers=workers)
    chance = library_significance(others[::-1], by_role, FEW, workers=workers)
    assert sum(row.z is not None for row in chance.rows) > 10
    return dump_library(learned.library), canonical_json([learned_chance, chance])


@pytest.mark.parametrize("kind", ["decomposition", "run"])
def test_processes_mine_the_same_bytes(kind):
    one = bytes_of(None, kind)
    assert bytes_of(Workers(2, batches=3), kind) == one


def test_the_significance_of_a_library_counts_leaves_alone():
    graphs, _ = planted(6, 3, seed=2)
    by_kind = replace(BY_ROLE, motifs=replace(BY_ROLE.motifs, labels="kind"))
    found = mine_library(graphs, by_kind)
    told = []
    chance = library_significance(
        graphs, found, FEW, progress=lambda done, total: told.append((done, total))
    )
    patterns = found.library.local.patterns
    # The groups have children and no part in patterns.
    assert {label for one in patterns for label in one.pattern.labels} == {"subtask"}
    assert [row.motif.pattern for row in chance.rows] == [one.pattern for one in patterns]
    assert [row.observed for row in chance.rows] == [one.occurrences for one in patterns]
    assert told[0] == (0, 6)
    assert told[-1] == (6, 6)


def test_errors_of_masgraph_come_back_as_they_are(workers):
    with pytest.raises(InputError, match=r"^one.json, record 3: the line is bad$"):
        workers.map(fail, "input", [1, 2])
    with pytest.raises(MissingExtraError, match=r"pip install 'masgraph\[embed\]'"):
        workers.map(fail, "extra", [1, 2])
    with pytest.raises(MasgraphError, match=r"^something of a reader's own$"):
        workers.map(fail, "own", [1, 2])
    with pytest.raises(ZeroDivisionError):
        workers.map(fail, "", [1, 2])


def test_a_process_that_dies_is_told():
    with pytest.raises(MasgraphError, match="a worker process ended before its work was done"):
        Workers(2).map(die, None, [1, 2])


def test_bad_numbers_are_refused():
    with pytest.raises(UsageError, match="jobs must be at least 1"):
        Workers(0)
    with pytest.raises(UsageError, match="batches must be at least 1"):
        Workers(1, batches=0)
    assert available_cores() >= 1


@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize("workers", [1, 3])
def test_batches_hold_each_item_once(count, workers):
    batches = mining.workers._batches(count, workers, 4)
    assert sorted(itertools.chain(*batches)) == list(range(count))
    assert len(batches) == min(count, 4 * workers)
    assert max(map(len, batches)) - min(map(len, batches)) <= 1


def test_versions_are_known():
    assert set(environment()) >= {"Python", "masgraph", "numpy", "numba"}
    assert "none" not in environment().values()


# --- Dask: a real scheduler and a real worker on the loopback -------------------------------


def test_a_cluster_does_the_work(cluster):
    told = []
    found = Workers(dask=cluster).map(
        multiply, 3, range(20), lambda done, total: told.append((done, total))
    )
    assert found == [3 * number for number in range(20)]
    assert told[0] == (0, 20)
    assert told[-1] == (20, 20)
    assert os.getpid() not in Workers(dask=cluster).map(where, None, [1, 2])


def test_a_cluster_gives_the_same_bytes(cluster):
    graphs, _ = planted(10, 3, seed=5)
    options = CoverageConfiguration(level="task", sizes=(2, 5), sequences=2)
    one = measure_coverage(graphs, options)
    other = measure_coverage(graphs, options, workers=Workers(dask=cluster))
    assert canonical_json([one.libraries, one.to_dict()]) == canonical_json(
        [other.libraries, other.to_dict()]
    )


def test_a_cluster_mines_the_same_bytes(cluster):
    assert bytes_of(Workers(dask=cluster)) == bytes_of(None)


def test_errors_come_back_from_a_cluster(cluster):
    with pytest.raises(MissingExtraError, match="wordllama"):
        Workers(dask=cluster).map(fail, "extra", [1, 2])


def test_a_cluster_of_other_versions_is_refused(cluster, monkeypatch):
    here = environment()
    monkeypatch.setattr(mining.workers, "environment", Elsewhere(here))
    with pytest.raises(UsageError, match=r"the Dask worker .* has numpy 0\.1 and this process"):
        Workers(dask=cluster).map(multiply, 3, [1])


class Elsewhere:
    """Says one thing here and another where it is sent."""

    def __init__(self, here):
        self.here = here
        self.__name__ = "environment"

    def __call__(self):
        return self.here

    def __reduce__(self):
        return _old_environment, ()


def _old_environment():
    def old():
        return environment() | {"numpy": "0.1"}

    return old


def test_no_scheduler_is_told(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(mining.workers, "_DASK_WAIT", 1)
    with pytest.raises(
        UsageError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1: "
    ):
        Workers(dask="tcp://127.0.0.1:1").map(multiply, 3, [1])
    with pytest.raises(UsageError, match="no Dask scheduler answers at nonsense://"):
        Workers(dask="nonsense://").map(multiply, 3, [1])


def test_without_dask_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'masgraph\[distributed\]'"):
        Workers(dask="tcp://127.0.0.1:1").map(multiply, 3, [1])
