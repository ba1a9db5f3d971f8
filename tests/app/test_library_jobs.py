"""Libraries in both stores, and from a notebook."""

import pytest

import masgraph as mg
from app import library_jobs
from graphstore.errors import InputError
from graphstore.rows import Rows
from mining.library import dump_library
from tests.mining.test_motifs import make_graph
from tests.mining.test_structures import builder, paper_task

PLANS = [paper_task("one", "t1"), paper_task("two", "t2")]
RUNS = [make_graph("r1", ["planner", "solver", "critic"], [(0, 1), (1, 2)])]


def libraries(store):
    return store.query("MATCH (l:Library) RETURN l.id AS id ORDER BY id").rows


def test_a_library_comes_back_from_the_store_as_it_was(fresh_store):
    fresh_store.write([*PLANS, *RUNS])
    for kind in ("run", "decomposition"):
        options = library_jobs.library_configuration(kind)
        mined = library_jobs.mine_library(fresh_store, options, kind=kind)
        name = library_jobs.library_id_of(options, kind, library_jobs.Selection())
        stored = library_jobs.read_library(fresh_store, name)
        assert stored == mined.library
        assert dump_library(stored) == dump_library(mined.library)
    assert len(libraries(fresh_store)) == 2


def test_mining_again_with_more_graphs_replaces_all_parts(fresh_store):
    fresh_store.write(PLANS)
    options = library_jobs.library_configuration("decomposition")
    library_jobs.mine_library(fresh_store, options)
    made = builder("three", "t3")
    one, other = made.add("subtask", "Plan"), made.add("subtask", "Act")
    made.edge(one, other, "explicit")
    fresh_store.write([made.build()])
    mined = library_jobs.mine_library(fresh_store, options)
    ((name,),) = libraries(fresh_store)
    assert library_jobs.read_library(fresh_store, name) == mined.library
    counts = fresh_store.counts()
    local, structures = mined.library.local, mined.library.structures
    assert counts["Motif"] == len(local.patterns)
    assert counts["CompositionRule"] == len(local.rules)
    assert counts["SubtaskType"] == len(local.types)
    assert counts["CoarseGraph"] == len(structures.coarse_graphs) + len(structures.refinements)
    templates = len(structures.integrations) + len(structures.couplings)
    assert counts["Template"] == templates > 0
    assert counts["OF_TYPE"] == len(mined.leaf_types) == 12
    # Foundation A, capability B, deliver report; read, parse, draft, style; Plan and Act.
    assert counts["IN_CATEGORY"] == 2 * 7 + 2


def test_templates_are_answered_from_the_store(fresh_store):
    roles = ["planner", "solver", "critic", "executor"]
    joining = [
        make_graph(name, roles, [(0, 2), (1, 2), (2, 3)], task=name) for name in ("t1", "t2")
    ]
    fresh_store.write([*PLANS, *joining])
    for kind in ("run", "decomposition"):
        options = library_jobs.library_configuration(kind)
        library_jobs.mine_library(fresh_store, options, kind=kind)
    rows = mg.query(fresh_store, "templates-by-support").records()
    assert {(row["kind"], row["name"], row["crossing"]) for row in rows} == {
        (
            "integration",
            "critic/agent_message joins planner/agent_message + solver/agent_message, "
            "feeds executor/agent_message",
            False,
        ),
        ("coupling", "T1 (read, write) and T5 (write) share file", False),
        ("coupling", "T4 (write) and T5 (write) share file", True),
    }
    assert {(row["task_support"], row["occurrences"]) for row in rows} == {(2, 2)}


def test_a_stored_library_without_a_part_is_damaged(fresh_store):
    fresh_store.write(RUNS)
    options = library_jobs.library_configuration("run")
    library_jobs.mine_library(fresh_store, options, kind="run")
    ((name,),) = libraries(fresh_store)
    (rule,) = fresh_store.query(
        "MATCH (r:CompositionRule) WHERE r.position = 1 RETURN r.id AS id"
    ).rows
    doomed = Rows()
    doomed.node("CompositionRule", {"id": rule[0]})
    fresh_store.write_results(Rows(), replace=doomed)
    with pytest.raises(InputError, match="damaged"):
        library_jobs.read_library(fresh_store, name)


def test_from_a_notebook(tmp_path):
    path = tmp_path / "store.db"
    with mg.open_store(str(path)) as store:
        store.write([*PLANS, *RUNS])
    stored = mg.mine_library(path)
    assert stored == mg.mine_library(PLANS)
    assert mg.mine_library(path, kind="run") == mg.mine_library(RUNS)
    with mg.open_store(str(path), read_only=True) as store:
        assert mg.mine_library(store) == stored
        assert "Library" not in store.counts()
    mg.save_library(stored, tmp_path / "k.json.gz")
    assert mg.load_library(tmp_path / "k.json.gz") == stored
    assert mg.mine_library([]).scope is None
    # Over processes the same to the byte.
    assert dump_library(mg.mine_library(path, jobs=2)) == dump_library(stored)
    assert dump_library(mg.mine_library(PLANS, jobs=None)) == dump_library(stored)


def test_motifs_alone_are_found_and_not_kept(tmp_path):
    path = tmp_path / "store.db"
    with mg.open_store(str(path)) as store:
        store.write(RUNS)
        before = store.counts()
        motifs = mg.mine(store)
        assert store.counts() == before
    assert motifs.hash == mg.mine(RUNS).hash == mg.mine(path).hash
    assert len(motifs.motifs) == 3
