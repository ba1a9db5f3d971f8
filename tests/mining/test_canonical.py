import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mining.canonical import PAIRS, Pattern, canonical, order_table


def slow_encoding(names, labels, precedence, coupled):
    """All k! encodings of a pattern that is given by its node names, written out plainly."""
    for order in itertools.permutations(names):
        relations = []
        for a, b in itertools.combinations(order, 2):
            code = 0
            if (a, b) in precedence:
                code = {"direct": 1, "indirect": 2}[precedence[a, b]]
            elif (b, a) in precedence:
                code = {"direct": 3, "indirect": 4}[precedence[b, a]]
            if frozenset((a, b)) in coupled:
                code += 5
            relations.append(code)
        yield tuple(labels[name] for name in order), tuple(relations), order


@st.composite
def patterns(draw):
    size = draw(st.sampled_from([2, 3]))
    labels = draw(st.lists(st.sampled_from("aab\u00e9"), min_size=size, max_size=size))
    relations = draw(
        st.lists(st.integers(0, 9), min_size=len(PAIRS[size]), max_size=len(PAIRS[size]))
    )
    return Pattern(tuple(labels), tuple(relations))


def parts(pattern):
    precedence, coupled = {}, set()
    for (a, b), code in zip(PAIRS[pattern.size], pattern.relations, strict=True):
        kind = code % 5
        if kind in (1, 2):
            precedence[a, b] = {1: "direct", 2: "indirect"}[kind]
        elif kind in (3, 4):
            precedence[b, a] = {3: "direct", 4: "indirect"}[kind]
        if code >= 5:
            coupled.add(frozenset((a, b)))
    return dict(enumerate(pattern.labels)), precedence, coupled


@given(patterns())
def test_the_canonical_form_is_the_least_of_all_encodings(pattern):
    labels, precedence, coupled = parts(pattern)
    encodings = sorted(slow_encoding(range(pattern.size), labels, precedence, coupled))
    best, order = canonical(pattern)
    assert (best.labels, best.relations, order) == encodings[0]


@given(patterns(), st.randoms())
def test_the_order_of_the_nodes_does_not_matter(pattern, random):
    order = list(range(pattern.size))
    random.shuffle(order)
    other = pattern.reordered(order)
    assert canonical(other)[0] == canonical(pattern)[0]
    assert canonical(other)[0].text == canonical(pattern)[0].text
    assert canonical(other)[0].shape == canonical(pattern)[0].shape


def test_different_patterns_have_different_texts():
    seen = {}
    for labels in itertools.product(("a", 'b","c'), repeat=2):
        for relation in range(10):
            pattern, _ = canonical(Pattern(labels, (relation,)))
            assert seen.setdefault(pattern.text, pattern) == pattern
    # Four label pairs and ten relations: 10 mirror images for a != b; for a == b each of
    # the four directed relations coincides with its mirror image.
    assert len(seen) == 10 + 2 * 6


def test_the_table_gives_the_first_best_order_for_every_case():
    orders, relations = order_table()
    permutations = list(itertools.permutations(range(3)))
    cases = 0
    for ranks in itertools.product(range(3), repeat=3):
        comparisons = [(ranks[a] > ranks[b]) - (ranks[a] < ranks[b]) + 1 for a, b in PAIRS[3]]
        for digits in itertools.product(range(6), repeat=3):
            row = 0
            for comparison in comparisons:
                row = row * 3 + comparison
            for digit in digits:
                row = row * 6 + digit
            pattern = Pattern(
                tuple("abc"[rank] for rank in ranks),
                tuple(digit if digit < 3 else digit + 2 for digit in digits),
            )
            labels, precedence, coupled = parts(pattern)
            _, best, order = min(slow_encoding(range(3), labels, precedence, coupled))
            assert permutations[orders[row]] == order
            assert relations[row] == best[0] * 256 + best[1] * 16 + best[2]
            cases += 1
    assert cases == 27 * 216
    # Of 27 triples of comparisons, 13 are weak orders of three labels.
    assert (orders >= 0).sum() == 13 * 216


@pytest.mark.parametrize(
    ("labels", "relations", "shape", "words"),
    [
        ("ab", (1,), "pair", "pair: a -> b"),
        ("ab", (3,), "pair", "pair: b -> a"),
        ("ab", (5,), "coupled pair", "coupled pair: a -- b"),
        ("ab", (7,), "coupled pair in sequence", "coupled pair in sequence: a ~> b, a -- b"),
        ("ab", (6,), "pair with a coupling", "pair with a coupling: a -> b, a -- b"),
        ("abc", (1, 2, 1), "chain", "chain: a -> b -> c"),
        ("aab", (1, 2, 1), "chain", "chain: a #1 -> a #2 -> b"),
        ("aab", (2, 1, 3), "chain", "chain: a #1 -> b -> a #2"),
        ("abc", (1, 1, 0), "fork", "fork: a -> b, a -> c"),
        ("aab", (0, 1, 1), "join", "join: a #1 -> b, a #2 -> b"),
        (
            "abc",
            (1, 1, 2),
            "fork, one branch before the other",
            "fork, one branch before the other: a -> b, a -> c, b ~> c",
        ),
        (
            "abc",
            (1, 1, 1),
            "feed-forward triangle",
            "feed-forward triangle: a -> b, a -> c, b -> c",
        ),
        (
            "abc",
            (1, 0, 5),
            "pair and third node with a coupling",
            "pair and third node with a coupling: a -> b, b -- c",
        ),
        ("abc", (5, 5, 0), "trio with 2 couplings", "trio with 2 couplings: a -- b, a -- c"),
    ],
)
def test_names_and_words(labels, relations, shape, words):
    pattern = Pattern(tuple(labels), relations)
    assert pattern.shape == shape
    assert pattern.description == words
