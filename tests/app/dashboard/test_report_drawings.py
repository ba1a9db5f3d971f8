"""Drawings of the pages on many runs: true to their numbers, bounded, and always text."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.run_diff import run_diff
from app.dashboard import charts
from app.dashboard.curves import MOST_CURVES, Curve, Panel, Spot, panels
from app.dashboard.diff import DRAWN_ROWS, diff_figure, who
from app.dashboard.drawing import BAD, GOOD, SERIES_COLOURS
from app.dashboard.flow import Stream, flow_figure
from app.dashboard.intervals import MOST_ROWS, Estimate, intervals
from app.dashboard.legend import legend
from app.dashboard.pages.forests import FIELDS, QUADRANTS
from app.dashboard.pages.interventions import level_of
from app.dashboard.pages.relations import share_of_outcomes
from app.dashboard.pages.stored import followed
from app.dashboard.quadrant import quadrant
from app.dashboard.shares import MOST_ROWS as MOST_WHOLES
from app.dashboard.shares import Whole, share_bars
from graphstore.builder import GraphBuilder
from tests.app.dashboard import hostile
from tests.app.dashboard.test_injection import SVG_TAGS, foreign

TRICKS = (hostile.SCRIPT, hostile.IMAGE, hostile.MARKDOWN, hostile.CLOSING)
NUMBERS = st.floats(-1e6, 1e6)


def parsed(figure):
    """The file of a figure, as XML; nothing in it lies outside."""
    root = ElementTree.fromstring(figure.document())
    assert figure.width > 0
    assert figure.height > 0
    return root


def hints(figure):
    return re.findall(r"<g><title>([^<]*)</title>", figure.body)


def boxes(figure, colour):
    """Width and height of the boxes of a colour."""
    found = re.findall(
        r'<rect x="[^"]*" y="[^"]*" width="([^"]*)" height="([^"]*)" rx="[^"]*" '
        rf'fill="{colour}"',
        figure.body,
    )
    return [(float(width), float(height)) for width, height in found]


# Intervals


def circles(figure):
    found = re.findall(r'<circle cx="([^"]*)" cy="[^"]*" r="5" fill="([^"]*)"', figure.body)
    return [(float(x), colour) for x, colour in found]


def test_an_interval_is_coloured_by_what_it_excludes():
    figure = intervals(
        "t",
        [
            Estimate("up", 0.5, 0.1, 0.9, higher_is_better=True),
            Estimate("down", -0.5, -0.9, -0.1, higher_is_better=True),
            Estimate("cost up", 0.5, 0.1, 0.9, higher_is_better=False),
            Estimate("cost down", -0.5, -0.9, -0.1, higher_is_better=False),
            Estimate("both", 0.5, -0.1, 0.9, higher_is_better=True),
            Estimate("touches", 0.5, 0.0, 0.9, higher_is_better=True),
            Estimate("no judgement", 0.5, 0.1, 0.9),
            Estimate("no interval", 0.5, higher_is_better=True),
        ],
    )
    parsed(figure)
    unclear, plain = SERIES_COLOURS[-1], SERIES_COLOURS[0]
    colours = [colour for _, colour in circles(figure)]
    assert colours == [GOOD, BAD, BAD, GOOD, unclear, unclear, plain, plain]


def test_an_interval_says_its_numbers():
    figure = intervals("t", [Estimate("a - b", 0.25, 0.125, 0.5, "More.")], x_title="share")
    assert hints(figure) == ["a - b: 0.25, 0.125 to 0.5. More."]
    assert ">share</text>" in figure.body


@given(st.lists(st.tuples(NUMBERS, st.floats(0, 1e6), st.floats(0, 1e6)), max_size=12))
def test_intervals_lie_on_one_scale(rows):
    found = [
        Estimate(str(place), value, value - below, value + above)
        for place, (value, below, above) in enumerate(rows)
    ]
    figure = intervals("t", found)
    parsed(figure)
    assert "nan" not in figure.body
    places = [x for x, _ in circles(figure)]
    assert len(places) == len(rows)
    assert all(0 <= x <= figure.width for x in places)
    # What is larger lies further right, as far as a tenth of a pixel tells.
    ordered = sorted(zip([row[0] for row in rows], places, strict=True))
    assert all(one[1] <= other[1] for one, other in pairwise(ordered))


def test_more_intervals_than_a_drawing_holds():
    figure = intervals("t", [Estimate(str(n), float(n)) for n in range(MOST_ROWS + 5)])
    assert f"(the first {MOST_ROWS} of {MOST_ROWS + 5})" in figure.title
    assert len(circles(figure)) == MOST_ROWS
    parsed(intervals("none", []))


# The diff


def chain(*steps, content="c"):
    built = GraphBuilder("run", "toy", "x", content=f"{steps}{content}")
    built.set_task("t")
    agents = {}
    for place, (name, role) in enumerate(steps):
        if name not in agents:
            agents[name] = built.new_agent(name, role=role)
        built.add("agent_message", "say", agent=agents[name], content=f"{content} {place}")
        if place:
            built.edge(place - 1, place, "explicit")
    return built.build()


ONE = chain(("ann", "planner"), ("bob", "solver"), ("cleo", "critic"))


def drawn(one, other):
    diff = run_diff(one, other)
    return diff, diff_figure(diff, one, other)


def test_every_row_of_a_diff_is_drawn_with_what_it_means():
    diff, figure = drawn(ONE, chain(("ann", "planner"), ("bob", "solver"), content="d"))
    parsed(figure)
    assert len(hints(figure)) == len(diff.rows) == 3
    assert diff.count("extra") == 1
    assert hints(figure)[-1] == "only in the first run: c 2"
    assert sum("other words" in one for one in hints(figure)) == 2
    assert figure.body.count(">only here<") == 1


def test_a_run_beside_itself_has_whole_lines_only():
    diff, figure = drawn(ONE, ONE)
    assert {row.kind for row in diff.rows} == {"matched"}
    assert ">only here<" not in figure.body
    dashed = figure.body.count("stroke-dasharray")
    assert dashed == 2, "only those of the legend"


def test_a_diff_turned_around_is_its_mirror():
    other = chain(("ann", "planner"), ("cleo", "critic"))
    diff, figure = drawn(ONE, other)
    back, mirrored = drawn(other, ONE)
    assert diff.count("extra") == back.count("missing") == 1
    assert "only in the first run" in "".join(hints(figure))
    assert "only in the second run" in "".join(hints(mirrored))


def test_a_long_diff_is_cut_and_says_so():
    steps = [("ann", "planner"), ("bob", "solver")] * (DRAWN_ROWS // 2 + 5)
    diff, figure = drawn(chain(*steps), chain(*steps, content="d"))
    assert len(hints(figure)) == DRAWN_ROWS
    assert f"the first {DRAWN_ROWS} of {len(diff.rows)}" in figure.title


def test_who_acts_as_what():
    assert who(ONE, 1) == "1 bob (solver agent message)"
    assert who(ONE, None) is None
    nobody = hostile.decomposition(0)
    assert who(nobody, 0).startswith("0 ")


def test_runs_without_actions_have_an_empty_diff():
    empty = GraphBuilder("run", "toy", "x", content="empty")
    empty.set_task("t")
    graph = empty.build()
    diff, figure = drawn(graph, graph)
    assert diff.rows == ()
    assert hints(figure) == []
    parsed(figure)


@pytest.mark.parametrize("trick", TRICKS)
def test_a_diff_of_tricks_is_text(trick):
    _, figure = drawn(hostile.run(1, name=trick), hostile.run(2, name=trick))
    assert foreign(figure.inline(), SVG_TAGS) == []
    parsed(figure)


# Shares, flows, curves, the quadrant


def test_shares_are_as_long_as_they_are_large():
    figure = share_bars(
        "t",
        [Whole("a", {"x": 0.25, "y": 0.75}, {"x": "1 of 4"}), Whole("b", {"y": 1.0}, {})],
        {"x": "#111111", "y": "#222222"},
    )
    parsed(figure)
    ((x_width, _),) = [box for box in boxes(figure, "#111111") if box != (11, 11)]
    y_widths = [
        width for width, height in boxes(figure, "#222222") if (width, height) != (11, 11)
    ]
    assert y_widths == pytest.approx([3 * x_width, 4 * x_width], abs=0.5)
    assert hints(figure) == ["a, x: 25.0% (1 of 4)", "a, y: 75.0%", "b, y: 100.0%"]
    assert ">25%</text>" in figure.body


def test_more_wholes_than_a_drawing_holds():
    rows = [Whole(str(n), {"x": 1.0}, {}) for n in range(MOST_WHOLES + 1)]
    figure = share_bars("t", rows, {"x": "#111"})
    assert f"(the first {MOST_WHOLES} of {MOST_WHOLES + 1})" in figure.title
    parsed(share_bars("none", [], {}))


COUNTS = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 10_000), max_size=4)


@given(st.lists(COUNTS, max_size=3))
def test_a_flow_keeps_what_flows(streams):
    colours = {name: f"#{place}{place}{place}" for place, name in enumerate("abcd", start=1)}
    found = [Stream(f"s{place}", counts) for place, counts in enumerate(streams)]
    figure = flow_figure("t", found, colours)
    parsed(figure)
    for stream in found:
        if not stream.size:
            assert not any(one.startswith(f"{stream.name}:") for one in hints(figure))
            continue
        assert f"{stream.name}: {stream.size:,}" in hints(figure)
        told = [
            int(one.split(": ")[1].split(" (")[0].replace(",", ""))
            for one in hints(figure)
            if one.startswith(f"{stream.name}, ")
        ]
        assert sum(told) == stream.size


def test_bands_are_as_thick_as_they_are_large():
    figure = flow_figure("t", [Stream("s", {"a": 30, "b": 10})], {"a": "#111", "b": "#222"})
    ((_, thick),), ((_, thin),) = boxes(figure, "#111"), boxes(figure, "#222")
    assert thick == pytest.approx(3 * thin, abs=0.2)
    ((_, whole),) = boxes(figure, "currentColor")
    assert whole == pytest.approx(thick + thin, abs=0.2)


@given(
    st.lists(
        st.lists(st.tuples(st.floats(0, 100), NUMBERS, st.floats(0, 10)), max_size=5),
        max_size=4,
    )
)
def test_curves_are_well_formed_whatever_the_values(found):
    shown = [
        Panel(
            str(place),
            (
                Curve(
                    "c", tuple(Spot(x, y, y - half, y + half) for x, y, half in sorted(spots))
                ),
            ),
        )
        for place, spots in enumerate(found)
    ]
    figure = panels("t", shown)
    parsed(figure)
    assert "nan" not in figure.body
    assert len(hints(figure)) == sum(len(spots) for spots in found)


def test_curves_of_one_name_share_a_colour_and_a_scale():
    rising = Curve("rising", (Spot(0, 0), Spot(1, 1, 0.5, 1.0, "all")))
    flat = Curve("flat", (Spot(0, 0.5), Spot(1, 0.5)))
    figure = panels("t", [Panel("one", (rising, flat), "x"), Panel("two", (flat,))], columns=2)
    dots = re.findall(r'<circle cx="[^"]*" cy="([^"]*)" r="3.5" fill="([^"]*)"', figure.body)
    assert [colour for _, colour in dots] == [SERIES_COLOURS[0]] * 2 + [SERIES_COLOURS[1]] * 4
    assert len({y for y, colour in dots if colour == SERIES_COLOURS[1]}) == 1
    assert "rising: all" in hints(figure)
    many = tuple(Curve(str(n), (Spot(0, n),)) for n in range(MOST_CURVES + 3))
    figure = panels("t", [Panel("p", many)])
    assert len(hints(figure)) == MOST_CURVES
    assert figure.title == f"t (the first {MOST_CURVES} of each)"
    assert f">{MOST_CURVES + 1}</text>" not in figure.body, "a legend of what is not drawn"


@pytest.mark.parametrize("trick", TRICKS)
def test_names_full_of_tricks_are_text(trick):
    for figure in (
        intervals(trick, [Estimate(trick, 1.0, 0.5, 2.0, trick)], x_title=trick),
        share_bars(trick, [Whole(trick, {trick: 1.0}, {trick: trick})], {trick: "#111"}),
        flow_figure(trick, [Stream(trick, {trick: 1})], {trick: "#111"}),
        panels(trick, [Panel(trick, (Curve(trick, (Spot(0, 1, words=trick),)),), trick)] * 2),
        charts.points(
            trick, [(trick, [(0.0, 0.0, trick)])], x_title=trick, y_title=trick,
            labels={(0.0, 0.0): trick},
        ),
        quadrant(trick, FIELDS, {}),
    ):  # fmt: skip
        assert foreign(figure.inline(), SVG_TAGS) == []
        parsed(figure)


def test_a_legend_takes_the_lines_that_it_needs():
    entries = [(f"name {place}", "#111", "") for place in range(20)]
    parts, end = legend(entries, 0, 300, 10)
    rights = [float(x) for x in re.findall(r'<rect x="([^"]*)"', "".join(parts))]
    assert len(rights) == 20
    assert max(rights) < 300
    assert end > 10 + 5 * 18
    assert legend([], 0, 300, 10) == ([], 28)


def test_stacked_bars_name_every_part():
    parts = {f"a long name {place}": "#111" for place in range(12)}
    figure = charts.stacked("t", [("bar", dict.fromkeys(parts, 1.0))], parts)
    parsed(figure)
    places = re.findall(r'<text x="([^"]*)" y="[^"]*"[^>]*>a long name', figure.body)
    assert len(places) == 12
    assert max(map(float, places)) < figure.width


def test_the_quadrant_counts():
    figure = quadrant("t", FIELDS, {"sound": 6, "lucky": 2})
    parsed(figure)
    assert ">sound: 6 (75%)<" in figure.body
    assert ">lucky: 2 (25%)<" in figure.body
    assert ">content: 0 (0%)<" in figure.body
    assert {field.name for field in FIELDS} == set(QUADRANTS)
    assert {(field.row, field.column) for field in FIELDS} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert ">sound: 0<" in quadrant("none", FIELDS, {}).body


# Small things that pages work out


@pytest.mark.parametrize(
    ("setting", "level"),
    [
        ("information: rate 0.2", ("information: rate …", 0.2)),
        ("execution: failures 3", ("execution: failures …", 3.0)),
        ("node: variant no critic", None),
        ("structure: ratio 0.3, rounds 2", None),
        ("information: model gpt-4, rate 0.2", ("information: model gpt-4, rate …", 0.2)),
        ("structure: shift -0.5", ("structure: shift …", -0.5)),
        ("x2", None),
        ("", None),
    ],
)
def test_a_level_is_the_one_number_of_a_setting(setting, level):
    assert level_of(setting) == level


def test_outcomes_add_up_to_all():
    found = {
        "satisfied": 0.5, "inconsistent": 0.1, "unavailable": 0.4, "unassessable": 0.0,
        "unavailable: upstream only": 0.1, "unavailable: downstream only": 0.0,
        "unavailable: neither": 0.1,
    }  # fmt: skip
    shares = share_of_outcomes(found)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["unavailable: not told which"] == pytest.approx(0.2)
    assert "unavailable" not in shares
    assert "unavailable: not told which" not in share_of_outcomes({"satisfied": 1.0})


def test_what_follows_a_long_name_stays_whole():
    assert followed("trio", ", rate 0.2") == "trio, rate 0.2"
    cut = followed("x" * 60, ", information: rate 0.2")
    assert cut.endswith("…, information: rate 0.2")
    assert len(cut) == 40
    assert followed("name of a method", "y" * 60).startswith("name of…")


def test_a_difference_that_does_not_hold_after_correction_is_grey():
    def drawn(**options):
        return intervals("t", [Estimate("a", 0.25, 0.125, 0.5, "", True, **options)]).inline()

    assert GOOD in drawn()
    assert GOOD not in drawn(holds=False)
    assert drawn(holds=False).count(SERIES_COLOURS[-1]) == drawn().count(GOOD)
