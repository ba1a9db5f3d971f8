"""docs/trajectories.md: its commands are run, and print what the page shows."""

import re
import shlex
from pathlib import Path

import pytest

from analytics.claims import claim_signals
from ingest import pipeline
from tests.app.conftest import Done

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "trajectories.md").read_text("utf-8")
COMMANDS = re.search(r"<!-- run -->\n```sh\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()
OUTPUTS = re.findall(r"<!-- output -->\n```text\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.fixture
def last(masgraph, tmp_path) -> Done:
    """What the page's last command prints, in a folder with the examples."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        assert program == "masgraph"
        done = masgraph(*arguments)
        assert done.code == 0, done.err
    return done


def test_the_page_shows_what_the_commands_print(last):
    printed = "\n".join(line.rstrip() for line in f"{last.out}\n{last.err}".splitlines())
    assert len(OUTPUTS) == 4
    *others, claims = OUTPUTS
    for output in others:
        assert output in printed
    # Of the claims the page shows the first rows.
    *rows, end = claims.splitlines()
    assert "\n".join(rows) in printed
    assert end in printed.splitlines()


def test_what_the_page_says_of_the_numbers(masgraph, last):
    document = masgraph(*shlex.split(COMMANDS[-1])[1:], "--json").json()
    by_name = {one["method"]: one for one in document["methods"]}
    debate, claims = by_name["plan debate"], by_name["claims"]
    assert document["runs"] == 108
    assert debate["gain_against_best"]["labels"]["Improve"]["count"] == 0
    assert debate["gain_against_best"]["labels"]["Regress"]["count"] > 0
    assert debate["refinement_of_weak"]["labels"]["Reach"]["share"] > 0.8
    assert round(debate["token_multiple"]["value"]) == 15
    assert claims["gain_against_best"]["labels"]["Improve"]["count"] == 1
    assert claims["runs"] == 36
    intervals = [one["collaboration_gain"] for one in (claims, debate)]
    assert [one["low"] > 0 for one in intervals] == [False, True]


def test_massgen_has_no_claims():
    found = list(pipeline.read([str(ROOT / "examples" / "formats" / "massgen")]))
    assert found
    assert all(claim_signals(graph).units == () for graph in found)
