"""A trained embedding in use: neither its file nor its similarities need torch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.perturbation_notebook import study_perturbations
from app.similarity_options import load_embedding, measures_from, save_embedding
from graphstore.store import open_store
from tests.teams import team_runs

MODEL = Path(__file__).parents[1] / "analytics" / "small-embedding.json"
HASH = json.loads(MODEL.read_text())["hash"]


@pytest.fixture
def store(masgraph, tmp_path):
    path = tmp_path / "masgraph.db"
    with open_store(str(path)) as made:
        made.write(team_runs(3, 4, 2))
    return path


def test_show_says_how_a_model_was_trained(masgraph):
    done = masgraph("embedding", "show", MODEL, "--json")
    assert done.code == 0, done.err
    assert (done.json()["hash"], done.json()["graphs"]) == (HASH, 12)
    assert done.json()["last_loss"] < done.json()["first_loss"]
    assert HASH in masgraph("embedding", "show", MODEL).out


def test_where_a_model_cannot_go_is_said_before_it_is_trained(masgraph, store, tmp_path):
    done = masgraph("embedding", "train", "-o", "no/model.json")
    assert done.code == 2
    assert "no/model.json: cannot be written: there is no folder no" in done.err
    done = masgraph("embedding", "train", "-o", tmp_path)
    assert "cannot be written: it is a folder" in done.err


def test_a_file_is_written_as_it_was_read(tmp_path):
    save_embedding(load_embedding(MODEL), tmp_path / "copy.json")
    assert (tmp_path / "copy.json").read_bytes() == MODEL.read_bytes()


def test_perturb_with_a_model(masgraph, store):
    options = ("--embedding", MODEL, "--metric", "none", "--rates", "0.5", "--json")
    done = masgraph("perturb", *options, "--edit", "drop")
    assert done.code == 0, done.err
    (response,) = done.json()["responses"]
    assert (response["quantity"], response["verdict"]) == ("embedding", "falls")
    measures = done.json()["configuration"]["measures"]
    assert measures == [{"measure": "embedding", "model": HASH}]


def test_forests_by_embedding_are_built_stored_and_used(masgraph, store, monkeypatch):
    built = masgraph("forest", "build", "--embedding", MODEL, "--json")
    assert built.code == 0, built.err
    assert built.json()["configuration"]["measure"] == {"measure": "embedding", "model": HASH}
    done = masgraph("evaluate", "--embedding", MODEL, "--json", "--dry-run")
    assert done.code == 0, done.err
    matches = [row["forest_match"] for row in done.json()["rows"]]
    known = [match for match in matches if match is not None]
    assert len(matches) == 12
    assert known
    assert all(0.0 <= match <= 1.0 for match in known)
    assert masgraph("forest", "diagnose", "--embedding", MODEL, "--dry-run").code == 0
    # Another process knows the hash only.
    monkeypatch.setattr("analytics.similarity.embedding._REMEMBERED", {})
    assert masgraph("forest", "list").code == 0
    refused = masgraph("evaluate", "--dry-run")
    assert refused.code == 2
    assert f"this needs the trained embedding {HASH}: give its file" in refused.err
    other = masgraph("forest", "build", "--measure", "wl", "--embedding", MODEL)
    assert other.code == 2
    assert "--embedding is for the measure embedding, not for wl" in other.err


def test_a_notebook_takes_measures_and_names(store):
    measures = measures_from([], embedding=MODEL)
    study = study_perturbations(store, [*measures, "forest"])
    assert study.response("embedding", "truncate").verdict == "falls"
    assert study.response("forest", "truncate").verdict == "falls"
    assert study_perturbations(team_runs(3, 4, 2), [*measures, "forest"]) == study


def test_use_loads_no_torch(tmp_path):
    script = (
        "import sys\n"
        "sys.modules['torch'] = sys.modules['torch_geometric'] = None\n"
        "import masgraph as mg\n"
        "from tests.teams import team_runs\n"
        f"model = mg.load_embedding({str(MODEL)!r})\n"
        "one, other = team_runs(2, 1, 2)\n"
        "print(mg.similarity(one, other, 'embedding', model=model))\n"
        "try:\n    mg.train_embedding([one, other])\n"
        "except mg.MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    value, sentence = done.stdout.splitlines()
    assert 0.0 < float(value) < 1.0
    assert sentence == (
        "training an embedding of graphs needs the package torch: run  "
        "pip install 'masgraph[gnn]'"
    )
