"""What recurs: motifs, subtask types, composition rules, and how far they carry."""

from typing import Any

import streamlit as st

from app.dashboard.page import Page
from app.dashboard.pages import coverage, one_motif
from app.dashboard.pattern import pattern_figure
from app.output import show as shown
from graphstore.rows import QueryResult

PARTS = ("Motifs", "Types", "Rules", "Coverage")
CARDS = 12
ROWS = 200


def show(page: Page) -> None:
    """Shows what a library holds, or the motif, type or rule that was opened."""
    if page.value("motif") is not None:
        _back(page, "motif", "graph", "occurrence")
        one_motif.show(page, page.value("motif") or "")
        return
    libraries = page.ask("libraries").records()
    part = page.tabs("Part", PARTS, "part")
    if part == "Coverage":
        coverage.show(page)
        return
    if not libraries:
        page.empty("nothing has been mined yet: run the command below", command="masgraph mine")
        return
    titles = {f"{row['name']} ({row['library'][-6:]})": row for row in libraries}
    chosen = page.choose("Library", list(titles), "library", any=None)
    library = titles[chosen or next(iter(titles))]
    if part == "Motifs":
        _motifs(page, library)
    elif part == "Types":
        _types(page, library)
    else:
        _rules(page, library)
        _templates(page, library)


def _back(page: Page, *names: str) -> None:
    st.button(
        "Back to the list",
        icon=":material/arrow_back:",
        on_click=page.go,
        kwargs=dict.fromkeys(names),
    )


def _motifs(page: Page, library: dict[str, Any]) -> None:
    if not library["motifs"]:
        page.empty("this library holds no motif: mine with a smaller support")
        return
    columns = st.columns(4)
    with columns[0]:
        holding = page.search("Holds", "holding", hint="a role or kind")
    by_shape = {
        row["shape"]: row["motifs"]
        for row in page.ask(
            "number-of-motifs",
            library=library["library"],
            holding=holding.lower() if holding else None,
        ).records()
    }
    with columns[1]:
        shape = page.choose("Shape", sorted(name for name in by_shape if name), "shape")
    with columns[2]:
        sort = page.choose("Sort by", ("support", "significance"), "sort", any=None)
    total = by_shape.get(shape, 0) if shape else sum(by_shape.values())
    with columns[3]:
        skip = page.turn(total, size=CARDS)
    if not total:
        page.empty("no motif fits this filter: choose  all  again, or another one")
        return
    answer = page.ask(
        "motifs",
        library=library["library"],
        shape=shape,
        holding=holding.lower() if holding else None,
        sort=sort,
        skip=skip,
        limit=CARDS,
    )
    page.soft(
        f"{total:,} motifs. Solid arrows are edges, dashed ones longer paths, dotted lines "
        "couplings."
    )
    if sort == "significance" and all(row["p_holm"] is None for row in answer.records()):
        page.say(
            "nobody compared these motifs with chance yet",
            command="masgraph mine --significance 1000",
        )
    _cards(page, answer)
    page.heading("As a table")
    page.table(
        answer,
        "motifs",
        about="The motifs drawn above; pick a row to open one",
        hidden=("canonical_form",),
        on_pick=lambda row: page.go(motif=row["motif"]),
    )


def _cards(page: Page, answer: QueryResult) -> None:
    records = answer.records()
    for start in range(0, len(records), 3):
        for column, row in zip(st.columns(3), records[start : start + 3], strict=False):
            with column, st.container(border=True):
                page.card(pattern_figure(row["canonical_form"]), row["motif"])
                page.soft(_numbers(row))
                st.button(
                    "Where it occurs",
                    key=f"open-{row['motif']}",
                    help=None,
                    on_click=page.go,
                    kwargs={"motif": row["motif"]},
                )


def _numbers(row: dict[str, Any]) -> str:
    words = (
        f"{row['shape']}: {row['task_support']:,} tasks, {row['graph_support']:,} "
        f"{row['scope']}s, {row['occurrences']:,} occurrences"
    )
    if row["expected"] is not None:
        words += f", {shown(row['expected'])} by chance"
    if row["z_score"] is not None:
        words += f", z {shown(row['z_score'])}"
    if row["p_holm"] is not None:
        words += f", p {shown(row['p_holm'])} (Holm)"
    return words


def _types(page: Page, library: dict[str, Any]) -> None:
    answer = page.ask("types-by-support", library=library["library"], limit=ROWS)
    if not answer.rows:
        page.empty(
            "no types were learned in this library", command="masgraph mine --labels types"
        )
        return
    page.table(
        answer,
        "types",
        about="Subtask types with their medoids; pick a row to see its members",
        hidden=("subtask_type", "library"),
        on_pick=lambda row: page.go(subtask_type=row["subtask_type"]),
    )
    chosen = page.value("subtask_type")
    row = next((one for one in answer.records() if one["subtask_type"] == chosen), None)
    if row is None:
        page.soft("Pick a row to see the members of a type.")
        return
    page.heading(f"{row['name']}: {row['medoid'] or 'no medoid'}")
    members = page.ask("where-a-type-occurs", subtask_type=chosen, limit=ROWS)
    page.soft(f"{row['members']:,} members; here the first {len(members.rows):,}.")
    page.table(
        members,
        "members",
        about="Members of the type; pick a row to open its run or decomposition",
        hidden=("subtask_type",),
        on_pick=lambda one: page.go(opened=one["graph"], opened_nodes=one["index"]),
    )
    _opened(page)


def _rules(page: Page, library: dict[str, Any]) -> None:
    answer = page.ask("rules-by-support", library=library["library"], limit=ROWS)
    if not answer.rows:
        page.empty("this library holds no composition rule", command="masgraph mine")
        return
    page.table(
        answer,
        "rules",
        about="Ways in which two motifs overlap; pick a row to see where a rule applies",
        hidden=("first", "second", "rule", "library"),
        on_pick=lambda row: page.go(rule=row["rule"]),
    )
    chosen = page.value("rule")
    row = next((one for one in answer.records() if one["rule"] == chosen), None)
    if row is None:
        page.soft("Pick a row to see where a rule applies.")
        return
    page.heading(row["name"])
    for column, place in zip(st.columns(2), ("first", "second"), strict=True):
        with column, st.container(border=True):
            motif = page.ask("motif", motif=row[place]).records()[0]
            page.card(pattern_figure(motif["canonical_form"]), f"{place}-{row['rule']}")
            page.soft(f"The {place} motif: {motif['name']}")
    places = page.ask("where-a-rule-applies", rule=chosen, limit=ROWS)
    page.table(
        places,
        "applications",
        about="Where the rule applies; pick a row to open the run or decomposition",
        hidden=("rule",),
        on_pick=lambda one: page.go(
            opened=one["graph"], opened_nodes=one_motif.all_nodes(one["nodes"])
        ),
    )
    _opened(page)


def _templates(page: Page, library: dict[str, Any]) -> None:
    answer = page.ask("templates-by-support", library=library["library"], limit=ROWS)
    if answer.rows:
        page.heading("Templates")
        page.soft("How work is joined, and what is shared.")
        page.table(
            answer,
            "templates",
            about="Templates of integration and coupling, by the tasks that show them",
            hidden=("template", "library"),
        )


def _opened(page: Page) -> None:
    graph = page.value("opened")
    if graph is not None:
        page.link(
            "runs",
            f"Open {graph} with these nodes marked",
            run=graph,
            marked=page.value("opened_nodes"),
        )
