"""The examples on the pages about interventions, communication and relations, run again."""

import re
import shlex
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", ["interventions", "communication", "relations"])
def test_the_example_gives_what_the_page_shows(masgraph, tmp_path, page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    name = re.search(r"`(\w+\.jsonl?)`", text)[1]
    (data, *_) = blocks(text, "jsonl?")
    (tmp_path / name).write_text(data, encoding="utf-8")
    (console,) = blocks(text, "console")
    steps = re.findall(r"^\$ masgraph (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE)
    assert len(steps) == console.count("$ masgraph")
    for command, shown in steps:
        done = masgraph(*shlex.split(command))
        assert done.code == 0, done.err
        assert [line.rstrip() for line in done.out.splitlines()] == shown.splitlines()
        assert done.err == ""


def test_the_python_of_the_page_on_interventions_runs(monkeypatch, tmp_path):
    text = (DOCS / "interventions.md").read_text(encoding="utf-8")
    (tmp_path / "trio.jsonl").write_text(blocks(text, "jsonl?")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    values = {}
    for code in blocks(text, "python"):
        exec(code, values)
    before = values["organization"]
    assert values["made"].complete
    assert values["made"].achieved >= 0.5
    assert len(values["changed"].links) == len(before.links)
    assert [unit.name for unit in values["smaller"].units] == ["lead", "law", "maths", "end"]
    assert [link.kinds for link in values["own"].links] == [("asks",), ()]


def test_the_pages_name_what_there_is():
    text = (DOCS / "interventions.md").read_text(encoding="utf-8")
    from analytics.interventions_controls import CONTROL_PATHS
    from analytics.interventions_corruption import FATES

    for name, paths in CONTROL_PATHS.items():
        assert f"| {name} | {', '.join(f'`{path}`' for path in paths)} |" in text
    for fate in FATES:
        assert f"| {fate} |" in text
    text = (DOCS / "relations.md").read_text(encoding="utf-8")
    from analytics.relations import HANDLINGS, RELATION_OUTCOMES, RULES

    for name in (*HANDLINGS, *RELATION_OUTCOMES):
        assert f"| {name} |" in text
    for rule in RULES:
        assert f"`{rule}`" in text
