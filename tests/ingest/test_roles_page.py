"""What docs/roles.md says, held against the table."""

import re
from pathlib import Path

from graphstore.model import ROLES
from ingest.roles import RoleTable

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "roles.md").read_text("utf-8")


def test_the_page_has_the_whole_vocabulary():
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(ROLES)


def test_the_example_table_does_what_the_page_says(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "mine.toml"
    path.write_text(text)
    table = RoleTable.load(path)
    assert table.role_of("Map_Reader") == "planner"
    assert table.role_of("Grumpy 2") == "critic"
    assert table.role_of("Bridge Builder") == "solver"
    assert table.role_of("Security Reviewer") == "critic"
    assert RoleTable.default().role_of("Grumpy") == "unknown"
