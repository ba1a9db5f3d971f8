import itertools
import sys

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator

from graphstore.errors import UsageError
from mining.k_medoids import KMedoids, check_distances, solve

SOLVERS = ["fasterpam", "alternate"]


def slow_loss(distances, weights, medoids):
    return sum(
        weight * min(float(distances[place, medoid]) for medoid in medoids)
        for place, weight in enumerate(weights)
    )


def random_instance(seed: int, points: int | None = None, columns: int = 2):
    generator = numpy.random.default_rng(seed)
    count = points or int(generator.integers(2, 13))
    rows = generator.normal(size=(count, columns))
    weights = generator.exponential(size=count)
    return cdist(rows, rows, "cityblock"), weights, generator


@pytest.mark.parametrize("kind", ["float64", "float32", "ties", "no metric"])
def test_the_optimum_of_small_weighted_instances_is_found(kind):
    for seed in range(200):
        distances, weights, generator = random_instance(seed)
        if kind == "float32":
            distances = distances.astype(numpy.float32)
        elif kind == "ties":
            distances = numpy.ceil(distances)
        elif kind == "no metric":
            free = generator.random(distances.shape)
            distances = numpy.triu(free, 1) + numpy.triu(free, 1).T
        k = int(generator.integers(1, min(len(weights), 5) + 1))
        best = min(
            slow_loss(distances, weights, medoids)
            for medoids in itertools.combinations(range(len(weights)), k)
        )
        found = solve(distances, k, weights, seed=seed)
        assert found.loss == pytest.approx(best, rel=1e-6 if kind == "float32" else 1e-12)
        assert found.loss == pytest.approx(slow_loss(distances, weights, found.medoids))


@pytest.mark.parametrize("start", ["k-medoids++", "random", "build"])
def test_no_single_swap_lowers_the_loss(start):
    for seed in range(20):
        distances, weights, _ = random_instance(seed, points=60)
        weights[::7] = 0
        found = solve(distances, 6, weights, seed=seed, starts=1, start=start)
        for place, point in itertools.product(range(6), numpy.flatnonzero(weights)):
            other = found.medoids.copy()
            other[place] = point
            loss = slow_loss(distances, weights, other)
            assert loss >= found.loss * (1 - 1e-9)


def test_the_alternating_solver_ends_where_no_centre_and_no_assignment_is_better():
    for seed in range(20):
        distances, weights, _ = random_instance(seed, points=60)
        found = solve(distances, 6, weights, seed=seed, starts=1, solver="alternate")
        for place, medoid in enumerate(found.medoids):
            members = numpy.flatnonzero(found.labels == place)
            costs = [float(weights[members] @ distances[members, one]) for one in members]
            assert min(costs) == pytest.approx(costs[list(members).index(medoid)])
        assert (
            distances[numpy.arange(60), found.medoids[found.labels]]
            == distances[:, found.medoids].min(axis=1)
        ).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_weight_counts_like_so_many_equal_points(solver):
    for seed in range(20):
        distances, _, generator = random_instance(seed, points=9)
        weights = generator.integers(0, 4, 9)
        weights[:3] += 1
        copies = numpy.repeat(numpy.arange(9), weights)
        weighted = solve(distances, 3, weights, starts=40, solver=solver)
        repeated = solve(distances[numpy.ix_(copies, copies)], 3, starts=40, solver=solver)
        assert weighted.loss == pytest.approx(repeated.loss)
        assert adjusted_rand_score(weighted.labels[copies], repeated.labels) == 1


def test_points_without_weight_are_labelled_and_never_medoids():
    values = numpy.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])[:, None]
    distances = cdist(values, values)
    found = solve(distances, 2, [1, 0, 1, 1, 0, 1])
    assert set(found.medoids) <= {0, 2, 3, 5}
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.loss == 4


def test_one_medoid_is_the_weighted_median():
    values = numpy.array([0.0, 1.0, 5.0, 6.0, 100.0])[:, None]
    distances = cdist(values, values)
    assert solve(distances, 1).medoids.tolist() == [2]
    assert solve(distances, 1, [1, 1, 1, 1, 10]).medoids.tolist() == [4]


def test_as_many_medoids_as_points():
    distances, weights, _ = random_instance(3, points=7)
    for solver in SOLVERS:
        found = solve(distances, 7, weights, solver=solver)
        assert found.medoids.tolist() == found.labels.tolist() == list(range(7))
        assert found.loss == 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_equal_points_all_get_a_label_and_medoids_keep_their_own(solver):
    found = solve(numpy.zeros((6, 6)), 3, solver=solver)
    assert found.loss == 0
    assert len(set(found.medoids.tolist())) == 3
    assert found.labels[found.medoids].tolist() == [0, 1, 2]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("starts", ["auto", 6])
def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(solver, starts):
    distances, weights, _ = random_instance(5, points=150, columns=5)
    one = solve(distances, 8, weights, seed=4, starts=starts, solver=solver)
    for threads in (2, 4, 9):
        many = solve(
            distances, 8, weights, seed=4, starts=starts, solver=solver, threads=threads
        )
        assert one.medoids.tobytes() == many.medoids.tobytes()
        assert one.labels.tobytes() == many.labels.tobytes()
        assert (one.loss, one.starts) == (many.loss, many.starts)
    others = {solve(distances, 8, weights, seed=seed, starts=1).loss for seed in range(9)}
    assert len(others) > 1


@pytest.mark.parametrize("form", [numpy.float32, numpy.float64])
def test_equal_points_do_not_send_the_search_round_in_circles(form):
    generator = numpy.random.default_rng(8)
    rows = generator.normal(size=(60, 3))
    rows = rows[generator.integers(0, 60, 400)]
    distances = (cdist(rows, rows) / 7).astype(form)
    weights = 1 / generator.integers(2, 15, 400)
    rounds = [
        solve(distances, k, weights, seed=seed, starts=1).iterations
        for k in (5, 10, 20)
        for seed in range(10)
    ]
    assert max(rounds) < 15


@pytest.mark.parametrize("solver", SOLVERS)
def test_by_default_starts_go_on_until_nothing_better_is_found(solver):
    rows, _ = make_blobs(200, centers=5, cluster_std=0.2, random_state=2)
    plain = cdist(rows, rows)
    easy = solve(plain, 5, solver=solver)
    # Four of their own, and ten that find nothing better.
    assert easy.starts == 14
    counts = []
    for seed in range(6):
        hard, weights, _ = random_instance(seed, points=200, columns=5)
        found = solve(hard, 20, weights, solver=solver)
        counts.append(found.starts)
        if solver == "fasterpam":
            many = solve(hard, 20, weights, starts=200, seed=1)
            assert found.loss <= many.loss * 1.002
    assert max(counts) > 14
    assert all(14 <= count <= 100 for count in counts)


def test_a_search_of_its_own_accord_never_ends_above_its_first_starts():
    for seed in range(30):
        distances, weights, _ = random_instance(seed, points=80, columns=4)
        first = solve(distances, 9, weights, seed=seed, starts=4)
        assert solve(distances, 9, weights, seed=seed).loss <= first.loss


def test_a_start_that_arrives_at_the_known_solution_ends_there_as_a_whole():
    for seed in range(20):
        distances, weights, _ = random_instance(seed, points=100, columns=3)
        found = solve(distances, 7, weights, seed=seed)
        again = solve(distances, 7, weights, start=found.medoids, starts=1)
        assert again.medoids.tolist() == found.medoids.tolist()
        assert again.labels.tolist() == found.labels.tolist()
        assert found.loss == pytest.approx(slow_loss(distances, weights, found.medoids))


def test_more_starts_never_do_worse():
    distances, weights, _ = random_instance(6, points=150, columns=5)
    losses = [solve(distances, 12, weights, starts=starts).loss for starts in (1, 2, 5, 20)]
    assert losses == sorted(losses, reverse=True)


def test_swaps_do_at_least_as_well_as_alternating_from_the_same_start():
    worse = 0
    for seed in range(10):
        distances, weights, generator = random_instance(seed, points=120, columns=4)
        given_start = generator.choice(120, 10, replace=False)
        losses = [
            solve(distances, 10, weights, start=given_start, solver=solver).loss
            for solver in SOLVERS
        ]
        worse += losses[0] > losses[1]
    assert worse == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"k": 0}, "cannot be chosen"),
        ({"k": 6}, "cannot be chosen"),
        ({"k": 2, "weights": [1, 0, 0, 0, 0]}, "from 1 points"),
        ({"k": 2, "solver": "best"}, "no solver"),
        ({"k": 2, "start": "worst"}, "no start"),
        ({"k": 2, "start": [1, 1]}, "different positions"),
        ({"k": 2, "start": [1, 9]}, "different positions"),
        ({"k": 2, "starts": 0}, "at least one start"),
        ({"k": 2, "starts": "many"}, "'auto' or a number"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, reason):
    distances, _, _ = random_instance(1, points=5)
    with pytest.raises(UsageError, match=reason):
        solve(distances, **arguments)


def test_scikit_learn_extra_is_asked_for_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn_extra.cluster", None)
    with pytest.raises(UsageError, match="pip install"):
        solve(random_instance(1, points=5)[0], 2, solver="scikit-learn-extra")


def test_scikit_learn_extra_gives_a_solution_of_its_own():
    pytest.importorskip("sklearn_extra.cluster", exc_type=ImportError)
    distances, weights, _ = random_instance(1, points=80)
    theirs = solve(distances, 5, solver="scikit-learn-extra")
    assert theirs.loss == pytest.approx(slow_loss(distances, [1] * 80, theirs.medoids))
    assert solve(distances, 5).loss <= theirs.loss * (1 + 1e-9)
    with pytest.raises(UsageError, match="no weights"):
        solve(distances, 5, weights, solver="scikit-learn-extra")


# --- the estimator ----------------------------------------------------------------------------


def test_the_estimator_keeps_scikit_learns_promises():
    # Equal partitions with equal loss are tested above; the numbers of the clusters follow the
    # order of the rows, which that check shuffles.
    renumbered = {
        f"check_sample_weight_equivalence_on_{form}_data": "clusters are numbered by position"
        for form in ("dense", "sparse")
    }
    results = check_estimator(
        KMedoids(n_clusters=3, random_state=0),
        expected_failed_checks=renumbered,
        on_skip=None,
    )
    assert {result["status"] for result in results} <= {"passed", "skipped", "xfail"}
    no_distances = {"check_clustering": "hands over rows of features as distances"}
    check_estimator(
        KMedoids(n_clusters=3, metric="precomputed", random_state=0),
        expected_failed_checks=renumbered | no_distances,
        on_skip=None,
    )


def test_the_estimator_is_the_solver_on_features_and_on_distances():
    rows, truth = make_blobs(300, centers=4, cluster_std=0.5, random_state=3)
    weights = numpy.random.default_rng(0).exponential(size=300)
    distances = cdist(rows, rows, "cityblock")
    by_rows = KMedoids(4, metric="manhattan", random_state=1).fit(rows, sample_weight=weights)
    by_distances = KMedoids(4, metric="precomputed", random_state=1)
    by_distances.fit(distances, sample_weight=weights)
    assert by_rows.medoid_indices_.tolist() == by_distances.medoid_indices_.tolist()
    assert by_rows.inertia_ == pytest.approx(
        slow_loss(distances, weights, by_rows.medoid_indices_)
    )
    assert adjusted_rand_score(truth, by_rows.labels_) == 1
    assert (by_rows.predict(rows) == by_rows.labels_).all()
    assert (by_distances.predict(distances[:50]) == by_rows.labels_[:50]).all()
    assert (by_rows.cluster_centers_ == rows[by_rows.medoid_indices_]).all()
    assert by_distances.cluster_centers_ is None
    assert by_rows.n_iter_ >= 1

    def chebyshev(one, other):
        return abs(one - other).max()

    own = KMedoids(4, metric=chebyshev, random_state=1).fit(rows)
    named = KMedoids(4, metric="chebyshev", random_state=1).fit(rows)
    assert own.inertia_ == pytest.approx(named.inertia_)


def test_the_estimator_is_near_k_means_where_groups_are_plain():
    rows, _ = make_blobs(500, centers=6, cluster_std=0.3, random_state=5)
    medoids = KMedoids(6, random_state=0).fit_predict(rows)
    means = KMeans(6, n_init=10, random_state=0).fit_predict(rows)
    assert adjusted_rand_score(medoids, means) > 0.99


@pytest.mark.parametrize(
    ("flaw", "reason"),
    [
        ((2, 100, 5.0), "points 2 and 100 is not symmetric"),
        ((3, 4, -1.0), "points 3 and 4 is negative"),
        ((100, 3, numpy.nan), "points 3 and 100 is no finite number"),
        ((3, 3, 0.5), "points 3 and 3 is not zero"),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(flaw, reason):
    distances, _, _ = random_instance(2, points=130)
    check_distances(distances)
    row, column, value = flaw
    distances[row, column] = value
    with pytest.raises(ValueError, match=reason):
        check_distances(distances)


def test_more_clusters_than_rows_are_refused():
    with pytest.raises(ValueError, match="4 medoids cannot be chosen from 3 points"):
        KMedoids(4).fit([[0.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match="not square"):
        KMedoids(2, metric="precomputed").fit(numpy.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        KMedoids(2).fit([[0.0], [1.0], [2.0]], sample_weight=[1, -1, 1])


@settings(max_examples=40, deadline=None)
@given(
    arrays.arrays(
        numpy.float64, st.tuples(st.integers(1, 25), st.just(2)), elements=st.integers(0, 5)
    ),
    st.data(),
)
def test_a_solution_always_fits_together(rows, data):
    distances = cdist(rows, rows)
    k = data.draw(st.integers(1, len(rows)))
    solver = data.draw(st.sampled_from(SOLVERS))
    found = solve(distances, k, starts=2, solver=solver)
    assert sorted(set(found.medoids.tolist())) == found.medoids.tolist()
    assert len(found.medoids) == k
    assert found.labels[found.medoids].tolist() == list(range(k))
    to_own = distances[numpy.arange(len(rows)), found.medoids[found.labels]]
    assert to_own == pytest.approx(distances[:, found.medoids].min(axis=1))
    assert found.loss == pytest.approx(to_own.sum())


@pytest.mark.parametrize("seed", range(60))
def test_small_instances_get_the_optimum_whatever_the_distances(seed):
    generator = numpy.random.default_rng([7, seed])
    points, k = int(generator.integers(4, 13)), int(generator.integers(1, 5))
    shape = (points, points)
    distances = (
        generator.integers(0, 3, shape).astype(float),
        generator.random(shape),
        numpy.exp(generator.normal(0, 4, shape)),
    )[seed % 3]
    distances = numpy.maximum(distances, distances.T)
    numpy.fill_diagonal(distances, 0)
    weights = numpy.exp(generator.normal(0, 3, points))
    best = min(
        slow_loss(distances, weights, medoids)
        for medoids in itertools.combinations(range(points), k)
    )
    assert solve(distances, k, weights, seed=seed).loss == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"distances": numpy.full((5, 5), numpy.nan)}, "negative or not finite"),
        ({"distances": numpy.full((5, 5), numpy.inf)}, "negative or not finite"),
        ({"distances": -numpy.ones((5, 5))}, "negative or not finite"),
        ({"distances": numpy.ones((3, 4))}, "are not square"),
        ({"distances": numpy.ones(3)}, "are not square"),
        ({"distances": [["a", "b"], ["b", "a"]]}, "no matrix of numbers"),
        ({"weights": [-1, 1, 1, 1, 1]}, "a weight is negative or not finite"),
        ({"weights": [numpy.nan, 1, 1, 1, 1]}, "a weight is negative or not finite"),
        ({"weights": [numpy.inf, 1, 1, 1, 1]}, "a weight is negative or not finite"),
        ({"weights": [1, 1]}, "do not fit 5 points"),
        ({"weights": ["a"] * 5}, "the weights are no numbers"),
        ({"k": 2.0}, "k must be a whole number, not 2.0"),
        ({"k": None}, "k must be a whole number"),
        ({"starts": 0, "k": 1}, "at least one start"),
        ({"starts": "many"}, "starts is 'auto' or a number"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"max_iterations": 0}, "max_iterations must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"seed": [0, 1.5]}, "seed must be a whole number"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, reason):
    whole = {"distances": numpy.ones((5, 5)) - numpy.eye(5), "k": 2} | arguments
    with pytest.raises(UsageError, match=reason):
        solve(**whole)


def test_distances_of_other_types_of_numbers_are_converted():
    distances, weights, _ = random_instance(3, points=9)
    for dtype in (numpy.float16, numpy.int64, object):
        given = (distances * 8).round().astype(dtype)
        found = solve(given, 3, weights)
        assert found.loss == solve(given.astype(numpy.float64), 3, weights).loss


def test_a_row_given_twice_is_exactly_a_weight_of_two():
    generator = numpy.random.default_rng(4)
    for _ in range(20):
        rows = generator.random((12, 2)) + 1000
        weights = generator.integers(1, 4, 12)
        one = KMedoids(3, random_state=0).fit(rows, sample_weight=weights)
        other = KMedoids(3, random_state=0).fit(rows.repeat(weights, axis=0))
        assert one.inertia_ == pytest.approx(other.inertia_, rel=1e-13)
        again = KMedoids(3, random_state=0).fit(csr_array(rows), sample_weight=weights)
        assert again.inertia_ == one.inertia_
