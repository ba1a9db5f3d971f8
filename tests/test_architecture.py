"""The shape of the house: who may import whom, and where Cypher may stand."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("graphstore", "ingest", "mining", "analytics", "app")
MAY_IMPORT = {
    "graphstore": {"graphstore"},
    "ingest": {"ingest", "graphstore"},
    "mining": {"mining", "graphstore"},
    "analytics": {"analytics", "graphstore"},
    "app": {"app", "ingest", "mining", "analytics", "graphstore"},
}
STORES = {
    "graphstore.embedded",
    "graphstore.embedded_bulk",
    "graphstore.embedded_load",
    "graphstore.neo4j",
    "graphstore.statements",
    "graphstore.operations",
    "graphstore.store_base",
    "graphstore.queries",
}
CYPHER = re.compile(r"\b(MATCH|MERGE|UNWIND|DETACH DELETE)\s*\(|\bUNWIND \$|\bRETURN \w+\.")
MAY_HOLD_CYPHER = {
    "embedded.py",
    "embedded_bulk.py",
    "embedded_files.py",
    "embedded_load.py",
    "neo4j.py",
    "statements.py",
    "differences.py",  # examples of what only one engine takes
}


def modules(room):
    return sorted(
        path for path in (ROOT / room).rglob("*.py") if "__pycache__" not in path.parts
    )


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


@pytest.mark.parametrize("room", ROOMS)
def test_imports_run_one_way(room):
    for path in modules(room):
        for name in imports_of(path):
            top = name.partition(".")[0]
            assert top not in ROOMS or top in MAY_IMPORT[room], f"{path} imports {name}"
            assert top not in ("tests", "examples", "benchmarks", "masgraph"), f"{path}: {name}"


@pytest.mark.parametrize("room", ["mining", "analytics"])
def test_computation_knows_no_store_and_no_file(room):
    for path in modules(room):
        for name in imports_of(path):
            assert name not in STORES, f"{path} imports the store {name}"
            assert name.partition(".")[0] not in (
                "pathlib",
                "io",
                "sqlite3",
                "rich",
                "typer",
            ), f"{path} imports {name}"


@pytest.mark.parametrize("room", ROOMS)
def test_cypher_stands_in_the_stores_only(room):
    for path in modules(room):
        if path.name in MAY_HOLD_CYPHER:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in docstrings
            ):
                assert not CYPHER.search(node.value), f"{path}:{node.lineno} holds Cypher"


def test_help_is_light():
    """``masgraph --help`` must not wait for what only the work itself needs."""
    heavy = ("numpy", "pandas", "numba", "neo4j", "kglite", "streamlit", "networkx", "sklearn")
    script = (
        "import sys\n"
        "sys.argv = ['masgraph', '--help']\n"
        "import app.cli\n"
        "try:\n    app.cli.main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"loaded = [name for name in {heavy!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout


def test_torch_stays_in_one_module():
    allowed = ROOT / "analytics" / "similarity" / "embedding_network.py"
    for room in ROOMS:
        for path in modules(room):
            tops = {name.partition(".")[0] for name in imports_of(path)}
            found = tops & {"torch", "torch_geometric"}
            assert bool(found) == (path == allowed), path
