"""The learned embedding, with torch itself: run by  make test-gnn  where it is installed."""

import json
import math
import pickle
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy
import pytest

from analytics.perturbation_study import PerturbationConfiguration, study_perturbations
from analytics.similarity.embedding import (
    EmbeddingConfiguration,
    EmbeddingMeasure,
    EmbeddingModel,
    train_embedding,
)
from analytics.similarity.embedding_features import encode, graph_features
from analytics.similarity.measure import measure_named
from app.similarity_options import load_embedding, measures_from, save_embedding
from graphstore.builder import GraphBuilder
from graphstore.errors import InputError, UsageError
from graphstore.store import open_store
from tests.teams import team_run, team_runs

for package in ("torch", "torch_geometric"):
    pytest.importorskip(package, reason="torch is not installed: pip install 'masgraph[gnn]'")

ROOT = Path(__file__).parents[2]
OPTIONS = EmbeddingConfiguration(epochs=60)


@pytest.fixture(scope="module")
def graphs():
    return team_runs(10, 2, 6)


@pytest.fixture(scope="module")
def model(graphs):
    return train_embedding(graphs, OPTIONS)


@pytest.fixture(scope="module")
def measure(model):
    return EmbeddingMeasure(model)


def small(size, edges=(), role="solver", content="c"):
    builder = GraphBuilder(kind="run", format="f", uri="u", content=content)
    for place in range(size):
        builder.add("agent_message", str(place), role=role)
    for one, other in edges:
        builder.edge(one, other, "explicit")
    return builder.build()


def test_training_learns(model):
    assert model.losses[-1] < 0.5 * model.losses[0]
    assert len(model.losses) == 60


def test_the_same_graphs_in_any_order_give_the_same_bytes(graphs, model):
    again = train_embedding(graphs[::-1], OPTIONS)
    assert json.dumps(again.to_dict()) == json.dumps(model.to_dict())


def test_seed_and_configuration_are_part_of_the_hash(graphs, model):
    few = graphs[:4]
    base = EmbeddingConfiguration(epochs=1)
    hashes = {
        train_embedding(few, options).hash
        for options in (base, replace(base, seed=1), replace(base, labels="role"))
    }
    assert len(hashes) == 3
    assert model.hash not in hashes


def test_what_the_caller_set_up_stays(graphs):
    import torch

    torch.manual_seed(7)
    torch.set_num_threads(2)
    expected = torch.rand(3)
    torch.manual_seed(7)
    train_embedding(graphs[:3], EmbeddingConfiguration(epochs=1))
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == 2
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_model_survives_its_file(model, measure, graphs, tmp_path):
    path = tmp_path / "model.json"
    save_embedding(model, path)
    found = load_embedding(path)
    assert found == model
    assert found.to_dict() == model.to_dict()
    (again,) = measures_from([], embedding=path)
    assert again.configuration == measure.configuration
    assert numpy.array_equal(again.prepare(graphs[0]), measure.prepare(graphs[0]))
    save_embedding(found, tmp_path / "copy.json")
    assert (tmp_path / "copy.json").read_bytes() == path.read_bytes()


def test_a_changed_number_is_noticed(model, tmp_path):
    document = model.to_dict()
    document["graphs"] = 3
    EmbeddingModel.from_dict(document)  # says nothing of any embedding
    document["configuration"] = {**document["configuration"], "layers": 2}
    with pytest.raises(InputError, match="do not fit its hash"):
        EmbeddingModel.from_dict(document)


def test_weights_that_do_not_fit(model):
    for options in ({"width": 16}, {"layers": 4}, {"labels": "role"}):
        odd = replace(model, configuration=replace(model.configuration, **options))
        with pytest.raises(InputError, match="weights do not fit its configuration"):
            EmbeddingModel.from_dict(odd.to_dict())


def test_numpy_gives_what_torch_gives(model, graphs):
    import torch

    from analytics.similarity import embedding_network as network

    modules = network._modules(OPTIONS)
    modules.load_state_dict(
        {name: torch.from_numpy(values.copy()) for name, values in model.weights.items()}
    )
    for graph in (*graphs[:5], small(1), small(3)):
        features = graph_features(graph, OPTIONS)
        with torch.no_grad():
            layers = network._encode(
                modules.eval(),
                torch.from_numpy(features.nodes),
                torch.from_numpy(features.edges),
            )
        expected = torch.cat(layers, dim=1).mean(dim=0).numpy()
        found = encode(model.weights, features, OPTIONS)
        assert found[:-2] == pytest.approx(expected, abs=2e-5)
        assert found[-2:] == pytest.approx(
            [math.log1p(len(graph.nodes)), math.log1p(len(graph.edges))]
        )


def test_similarity_is_one_with_itself_symmetric_and_within_its_range(measure, graphs):
    prepared = [measure.prepare(graph) for graph in graphs]
    matrix = measure.matrix(prepared)
    assert matrix.shape == (len(graphs), len(graphs))
    assert (numpy.diag(matrix) == 1.0).all()
    assert numpy.array_equal(matrix, matrix.T)
    assert ((matrix >= 0.0) & (matrix <= 1.0)).all()
    assert matrix.min() < 0.5 < numpy.median(matrix[matrix < 1.0]) + 0.3
    alone = measure.similarity(prepared[0], prepared[1])
    assert alone == pytest.approx(matrix[0, 1], abs=1e-12)
    assert measure.matrix(prepared[:2], prepared[3:6]) == pytest.approx(matrix[:2, 3:6])


def test_runs_of_teams_alike_are_nearer_than_others(measure):
    # The number of the task decides how wide the team is.
    one, like, other = (
        measure.prepare(team_run(task, repetition, 6))
        for task, repetition in ((3, 7), (3, 8), (4, 7))
    )
    assert measure.similarity(one, like) > measure.similarity(one, other) + 0.2


def test_names_and_ids_do_not_matter(measure):
    one = small(4, [(0, 1), (1, 2)], content="c")
    other = small(4, [(0, 1), (1, 2)], content="another")
    assert one.id != other.id
    assert numpy.array_equal(measure.prepare(one), measure.prepare(other))


def test_similarity_falls_as_perturbation_grows(measure):
    options = PerturbationConfiguration(rates=(0.1, 0.3, 0.5), repeats=1, metrics=())
    study = study_perturbations(team_runs(12, 2, 6), [measure], options)
    for edit in ("drop", "insert", "swap-roles", "rewire", "truncate"):
        found = study.response("embedding", edit)
        means = [point.value.estimate for point in found.points]
        assert means[0] == 1.0
        assert all(later < earlier for earlier, later in pairwise(means)), (edit, means)
        assert (found.verdict, found.steady) == ("falls", True), edit
    # The network sees no contents.
    assert study.response("embedding", "duplicate-content").verdict == "flat"


@pytest.mark.parametrize("size", [1, 2, 5_000])
def test_graphs_of_any_size(measure, size):
    edges = [(place - 1, place) for place in range(1, size)]
    prepared = measure.prepare(small(size, edges))
    assert numpy.linalg.norm(prepared) == pytest.approx(1.0)
    assert measure.similarity(prepared, prepared) == 1.0


def test_no_nodes_no_similarity(measure, graphs):
    nothing, something = measure.prepare(small(0)), measure.prepare(graphs[0])
    assert nothing is None
    assert measure.similarity(nothing, something) is None
    assert measure.similarity(nothing, nothing) is None
    matrix = measure.matrix([nothing, something])
    assert math.isnan(matrix[0, 0])
    assert math.isnan(matrix[0, 1])
    assert matrix[1, 1] == 1.0
    assert measure.matrix([]).shape == (0, 0)


def test_graphs_without_edges_can_be_learned():
    model = train_embedding(
        [small(1), small(2, role="critic"), small(0)], EmbeddingConfiguration(epochs=2)
    )
    assert model.graphs == 2
    assert all(math.isfinite(loss) for loss in model.losses)


def test_nothing_to_tell_apart():
    alike = [small(3, content="1"), small(3, content="2"), small(0)]
    with pytest.raises(UsageError, match="at least 2 different graphs"):
        train_embedding(alike)


def test_a_measure_and_its_values_can_be_pickled(measure, graphs):
    again = pickle.loads(pickle.dumps(measure))
    assert numpy.array_equal(again.prepare(graphs[1]), measure.prepare(graphs[1]))


def test_the_configuration_names_the_model(model, measure):
    configuration = measure.configuration
    assert configuration["measure"] == "embedding"
    assert configuration["model"] == model.hash
    assert json.dumps(configuration)


def test_a_model_is_needed():
    with pytest.raises(UsageError, match="needs a trained model"):
        measure_named("embedding")


@pytest.mark.parametrize(
    "options",
    [
        {"labels": "name"},
        {"width": 0},
        {"epochs": 0},
        {"seed": -1},
        {"masked": 1.0},
        {"learning_rate": 0.0},
    ],
)
def test_bad_configurations(options):
    with pytest.raises(UsageError):
        EmbeddingConfiguration(**options)


def run(script, folder, code=0):
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


def test_nothing_else_imports_torch(tmp_path):
    """Not directly, and not by way of another package: all modules, and work with them."""
    script = (
        "import importlib, pkgutil, sys\n"
        "import masgraph\n"
        "rooms = ('graphstore', 'ingest', 'mining', 'analytics', 'app')\n"
        "for room in rooms:\n"
        "    package = importlib.import_module(room)\n"
        "    for one in pkgutil.walk_packages(package.__path__, room + '.'):\n"
        "        if one.name.startswith('app.dashboard') or one.name.endswith('_network'):\n"
        "            continue\n"
        "        try:\n            importlib.import_module(one.name)\n"
        "        except ImportError as error:\n"
        "            assert not (error.name or '').startswith('torch'), one.name\n"
        "from tests.teams import team_runs\n"
        "from analytics.similarity.measure import measure_named\n"
        "graphs = team_runs(2, 1, 2)\n"
        "for name in ('forest', 'wl', 'motif', 'alignment', 'edit'):\n"
        "    measure = measure_named(name)\n"
        "    measure.matrix([measure.prepare(graph) for graph in graphs])\n"
        "masgraph.evaluate(graphs)\n"
        "loaded = [name for name in sys.modules if name.partition('.')[0] in\n"
        "          ('torch', 'torch_geometric')]\n"
        "assert not loaded, loaded[:5]\n"
    )
    run(script, tmp_path)


def test_importing_the_network_warns_nobody(tmp_path):
    script = (
        "from tests.teams import team_runs\n"
        "from analytics.similarity.embedding import EmbeddingConfiguration, train_embedding\n"
        "train_embedding(team_runs(2, 1, 2), EmbeddingConfiguration(epochs=1))\n"
    )
    assert run(script, tmp_path).stderr == ""


def test_commands_train_show_and_use_a_model(tmp_path):
    with open_store(str(tmp_path / "masgraph.db")) as store:
        store.write(team_runs(4, 2, 2))

    def masgraph(*arguments):
        words = ["masgraph", *arguments]
        return run(
            f"import sys; sys.argv = {words!r}; import app.cli; app.cli.main()", tmp_path
        )

    trained = masgraph("embedding", "train", "-o", "model.json", "--epochs", "3", "--json")
    shown = masgraph("embedding", "show", "model.json", "--json")
    assert json.loads(trained.stdout) == json.loads(shown.stdout)
    assert json.loads(shown.stdout)["graphs"] == 8
    done = masgraph(
        "perturb", "--embedding", "model.json", "--metric", "none", "--rates", "0.5", "--json"
    )
    document = json.loads(done.stdout)
    assert {one["quantity"] for one in document["responses"]} == {"embedding"}
    assert document["configuration"]["measures"][0]["model"] == json.loads(shown.stdout)["hash"]


def test_a_hash_names_a_model_that_was_trained_or_read(model, measure, graphs):
    named = measure_named("embedding", model=model.hash)
    assert named.configuration == measure.configuration
    assert numpy.array_equal(named.prepare(graphs[0]), measure.prepare(graphs[0]))
    unknown = measure_named("embedding", model="0" * 20)
    assert unknown.configuration["model"] == "0" * 20
    with pytest.raises(UsageError, match="give its file as --embedding FILE"):
        unknown.prepare(graphs[0])


def test_what_stands_in_the_way(measure, graphs):
    assert measure.obstacle(measure.prepare(small(0))) == "it has no nodes"
    assert measure.obstacle(measure.prepare(graphs[0])) is None
