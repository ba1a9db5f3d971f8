"""Results show themselves in a line, however much they hold."""

from graphstore.short_view import SHOWN_ROWS
from mining.coverage import measure_coverage
from mining.coverage_counts import CoverageConfiguration
from mining.library import LibraryConfiguration, dump_library, load_library
from mining.library_mining import mine_library
from mining.motif_library import MotifConfiguration
from mining.null_model import NullModelConfiguration
from mining.significance import motif_significance
from mining.structures import mine_structures
from mining.subtask_types import mine_subtask_types
from tests.mining.test_motifs import make_graph
from tests.mining.test_structures import paper_task

ROLES = ["planner", "solver", "critic", "verifier", "executor", "aggregator"]
GRAPHS = [
    make_graph(
        f"r{place}",
        ROLES[place % 3 :] + ROLES[: place % 3],
        [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)],
        task=f"t{place}",
    )
    for place in range(4)
]


def test_every_result_of_mining_is_shown_in_a_line():
    mined = mine_library(
        GRAPHS, LibraryConfiguration(motifs=MotifConfiguration(kept_occurrences=None))
    )
    plans = [paper_task("one", "t1"), paper_task("two", "t2")]
    results = [
        mined,
        mined.library,
        mined.library.local,
        mined.library.structures,
        mined.motifs,
        mined.rules,
        motif_significance(GRAPHS, mined.motifs, NullModelConfiguration(samples=5)),
        mine_structures(plans),
        mine_subtask_types(plans),
        measure_coverage(
            GRAPHS, CoverageConfiguration(level="task", same_text=False, sequences=2)
        ),
    ]
    for result in results:
        shown = repr(result)
        assert shown.startswith(f"<{type(result).__name__}: ")
        assert shown.endswith(">")
        assert len(shown) < 200
        assert "\n" not in shown
    assert repr(mined.library.local) == (
        f"<LocalLibrary: 6 types, {len(mined.library.local.patterns)} patterns, "
        f"{len(mined.library.local.rules)} rules>"
    )
    assert repr(mined.motifs) == f"<MotifLibrary: {len(mined.motifs.motifs)} motifs of 4 runs>"


def test_a_library_is_a_table_in_a_notebook():
    library = mine_library(
        GRAPHS, LibraryConfiguration(motifs=MotifConfiguration(kept_occurrences=None))
    ).library
    table = library.to_pandas()
    assert len(table) > SHOWN_ROWS
    html = library._repr_html_()
    assert html.count("<tr") == 1 + SHOWN_ROWS
    assert f"{len(table) - SHOWN_ROWS:,} more rows" in html
    assert "4 runs of 4 tasks" in html
    # What is short for people is whole in a file.
    assert load_library(dump_library(library)) == library


def test_an_empty_result_is_shown_too():
    library = mine_library([]).library
    assert repr(library).startswith("<Library: 0 graphs of 0 tasks; 0 types")
    assert "<table" not in library._repr_html_()
    assert repr(mine_library([GRAPHS[0]]).motifs) == "<MotifLibrary: 0 motifs of 1 run>"
