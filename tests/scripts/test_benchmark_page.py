"""Sections of the page of benchmarks are replaced by their titles."""

from benchmarks.page import Table, replace_sections, write_page


def table(title, value):
    made = Table(title, ("what", "number"))
    made.add("x", value)
    return made


def test_a_section_is_replaced_and_a_new_one_follows_it(tmp_path):
    path = tmp_path / "page.md"
    write_page([table("First", 1), table("Second", 2)], path)
    before = path.read_text()
    replace_sections([table("First", 3), table("New", 4)], path)
    after = path.read_text()
    titles = [line for line in after.splitlines() if line.startswith("## ")]
    assert titles == ["## First", "## New", "## Second"]
    assert "| x | 3 |" in after
    assert "| x | 1 |" not in after
    assert after.partition("\n## ")[0] == before.partition("\n## ")[0]


def test_the_same_tables_change_nothing(tmp_path):
    path = tmp_path / "page.md"
    write_page([table("First", 1), table("Second", 2)], path)
    replace_sections([table("First", 1), table("Second", 2)], path)
    once = path.read_text()
    replace_sections([table("Second", 2)], path)
    assert path.read_text() == once
