import re
import subprocess
import sys
from pathlib import Path

from graphstore.queries import saved_queries
from graphstore.schema import LABELS, RELATIONS

ROOT = Path(__file__).parents[2]


def build(*arguments):
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "build_docs.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_generated_pages_are_up_to_date():
    done = build("--check")
    assert done.returncode == 0, done.stderr


def test_check_tells_an_old_page_and_changes_nothing(tmp_path):
    docs = tmp_path / "docs"
    assert build("--check", "--docs", str(docs)).returncode == 1
    assert not docs.exists()
    assert build("--docs", str(docs)).returncode == 0
    assert build("--check", "--docs", str(docs)).returncode == 0
    page = docs / "queries.md"
    page.write_text(page.read_text() + "\nmore\n")
    done = build("--check", "--docs", str(docs))
    assert done.returncode == 1
    assert "queries.md is out of date" in done.stderr
    assert "schema.md" not in done.stderr


def test_the_page_of_queries_says_all_that_headers_say():
    text = (ROOT / "docs" / "queries.md").read_text()
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == [query.title for query in saved_queries()]
    for query in saved_queries():
        assert query.question in text
        assert query.cypher in text
        for part in (*query.parameters, *query.columns):
            assert f"| `{part.name}` |" in text
            assert part.meaning.replace("|", "\\|") in text
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}
    assert set(re.findall(r"\]\(#([^)]*)\)", text)) == anchors


def test_the_page_of_the_schema_names_everything():
    text = (ROOT / "docs" / "schema.md").read_text()
    for label in LABELS:
        assert f"| `{label.name}` | {label.meaning} |" in text
        for item in label.properties:
            assert f"`{item.name}`" in text
    for relation in RELATIONS:
        assert f"`(:{relation.source})-[:{relation.type}]->(:{relation.target})`" in text
