"""Stored texts stay texts: no markup, script, link or image of a trace reaches a page."""

import json
import re
from html.parser import HTMLParser

import pytest

from app.dashboard import drawing
from app.dashboard.text import escaped, one_line, plain
from tests.app.dashboard import hostile
from tests.app.dashboard.hostile import CLOSING, ELSEWHERE, IMAGE, MARKDOWN, SCRIPT

pytestmark = pytest.mark.xdist_group("dashboard")

TAGS = {"div", "span", "b", "br", "code", "style", "mark", "h3"}
SVG_TAGS = {
    *("svg", "title", "style", "rect", "text", "path", "circle", "g", "defs", "marker"),
}
ATTRIBUTES = {
    *("class", "role", "style", "aria-label", "aria-level"),
    *("xmlns", "viewbox", "width", "height", "x", "y", "text-anchor", "d", "fill", "stroke"),
    *("stroke-width", "opacity", "stroke-dasharray", "marker-end", "rx", "fill-opacity", "cx"),
    *("cy", "r", "id", "refx", "refy", "markerwidth", "markerheight", "markerunits", "orient"),
    *("data-pick", "tabindex"),
}


class Strict(HTMLParser):
    """Collects what is no plain element of ours."""

    def __init__(self, tags):
        super().__init__()
        self.tags = tags
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.tags:
            self.found.append(tag)
        for name, value in attrs:
            if name not in ATTRIBUTES or re.search(
                r"url\((?!#tip)|expression|@import", value or ""
            ):
                self.found.append(f"{tag} {name}={value}")


def foreign(text, tags):
    reader = Strict(tags)
    reader.feed(text)
    return reader.found


def figures_of(shown):
    """The SVG texts of a page's figures."""
    protos = [one.proto for one in shown.test.get("bidi_component")]
    return [json.loads(proto.json or proto.mixed.json)["svg"] for proto in protos]


PAGES = [
    ("", {}),
    ("", {"part": "Outcomes"}),
    ("", {"part": "Health"}),
    ("", {"part": "Results"}),
    ("runs", {}),
    ("runs", {"kind": "Decompositions"}),
    ("motifs", {}),
    ("motifs", {"part": "Types"}),
    ("motifs", {"part": "Rules"}),
    ("cypher", {"query": "busiest-agents", "form": "Graph", "from": "agent", "to": "run"}),
    ("cypher", {"query": "busiest-agents", "form": "Chart", "along": "agent"}),
    ("cypher", {"query": "runs", "form": "Table"}),
]


def check(shown):
    assert not shown.test.exception
    assert not shown.kinds("error"), shown.kinds("error")
    for body in shown.html:
        assert foreign(body, TAGS) == [], body
    for svg in figures_of(shown):
        assert foreign(svg, SVG_TAGS) == [], svg
    for words in shown.markdown:
        check_markdown(words)


def check_markdown(words):
    """Every sign of Markdown, and what looks like an address, is disarmed."""
    if ELSEWHERE in words or "script" in words or "bold" in words:
        bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", words)
        assert not re.search(r"[<>\[\]!*_`$~|]", bare), words
        assert "http:" not in words
        assert ":smile:" not in words


@pytest.mark.parametrize(("page", "parameters"), PAGES)
def test_pages_hold_nothing_but_our_own_elements(opened, page, parameters):
    check(opened(page, **parameters))


@pytest.mark.parametrize("trick", [SCRIPT, IMAGE, MARKDOWN, CLOSING])
@pytest.mark.parametrize("part", ["Graph", "Timeline", "Transcript", "Tree"])
def test_a_run_full_of_tricks(opened, trick, part):
    run = hostile.run(1, name=trick).id
    shown = opened("runs", run=run, part=part, action=0, find="add")
    check(shown)
    assert any("omething was guessed" in words for words in shown.kinds("warning"))
    if part == "Graph":
        check(opened("runs", run=run, nodes="agents"))
    check(opened("runs", run=hostile.decomposition(0, name=trick).id, part=part))


def test_the_tricks_are_there_to_be_seen(opened):
    """The tests above would pass on a page that shows no stored text at all."""
    run = hostile.run(1, name=SCRIPT).id
    shown = opened("runs", run=run, part="Graph")
    assert any("&lt;script&gt;" in body for body in shown.html)
    assert any("&lt;script&gt;" in svg for svg in figures_of(shown))
    headings = [body for body in shown.html if body.startswith("<h3>")]
    assert any("&lt;script&gt;" in body for body in headings)


@pytest.mark.parametrize("trick", [SCRIPT, IMAGE, MARKDOWN, CLOSING])
def test_an_error_shows_a_name_as_text(opened, trick):
    shown = opened("runs", run=trick)
    assert len(shown.kinds("error")) == 1
    for body in shown.html:
        assert foreign(body, TAGS) == [], body


def test_the_check_finds_what_it_is_for():
    assert foreign(SCRIPT, TAGS)
    assert foreign(IMAGE, TAGS)
    assert foreign("<div onclick='x'>", TAGS)
    assert foreign("<rect fill='url(http://evil.example)'/>", SVG_TAGS)
    assert foreign("<image href='x'/>", SVG_TAGS)
    with pytest.raises(AssertionError):
        check_markdown(MARKDOWN)
    with pytest.raises(AssertionError):
        check_markdown(IMAGE)


def test_plain_is_markdown_for_just_that_text():
    assert plain("a*b_[c](d)") == r"a\*b\_\[c\]\(d\)"
    assert plain("two\nlines\t here") == "two lines here"
    assert "http:" not in plain("see http://x.example/")
    assert ":smile:" not in plain(":smile:")
    assert plain(None) == r"\-"
    assert len(one_line("x" * 500)) == 80
    assert plain("\u202eabc").startswith("\\\\u202e")


def test_escaped_serves_elements_and_attributes():
    assert escaped("<b a='x' \"y\">&") == "&lt;b a=&#x27;x&#x27; &quot;y&quot;&gt;&amp;"
    assert escaped("a\nb") == "a\nb"
    assert escaped("a\nb", 10) == "a b"
    assert escaped("\x1b[31m") == "\\x1b[31m"


def test_shapes_escape_their_words():
    for made in (
        drawing.text(1, 2, SCRIPT),
        drawing.hint(SCRIPT, [], pick=SCRIPT),
        drawing.Figure(10, 10, SCRIPT, "").inline(),
        drawing.Figure(10, 10, SCRIPT, "").document(),
    ):
        assert foreign(made, SVG_TAGS) == [], made
        assert "&lt;script&gt;" in made
