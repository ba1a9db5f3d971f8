"""A mined library as rows of a store."""

from collections.abc import Mapping, Sequence
from typing import Any

from graphstore.identity import canonical_json, digest
from graphstore.rows import Rows
from mining.library import Library
from mining.library_mining import MinedLibrary
from mining.library_parts import split_library
from mining.rules import rule_text
from mining.significance import Significance
from mining.templates import CouplingTemplate, IntegrationTemplate

OCCURRENCE_RELATIONS = 1_000_000
"""How many ``OCCURS_IN``, and how many ``APPLIES_IN``, relations a library keeps, those of the
best supported motifs and rules first."""

SHOWN_SETS = 20
"""How many node sets each of these relations holds; its count is exact whatever is held."""

LABEL_OF_PART: dict[str, str] = {
    "type": "SubtaskType",
    "pattern": "Motif",
    "rule": "CompositionRule",
    "coarse graph": "CoarseGraph",
    "refinement": "CoarseGraph",
    "category": "GroupCategory",
    "integration": "Template",
    "coupling": "Template",
}
"""The label of the nodes that hold each kind of part."""


def library_rows(
    mined: MinedLibrary,
    library_id: str,
    summary: Mapping[str, Any],
    significance: Significance | None = None,
) -> Rows:
    """Everything that a store holds of a library.

    Args:
        mined: The library and its occurrences.
        library_id: Id of its node.
        summary: What the node says of it; the numbers of relations that were written are
            added.
        significance: Its motifs beside chance, where they were compared.
    """
    library = mined.library
    rest, documents = split_library(library)
    writer = _Writer(mined, library_id, documents)
    writer.types()
    writer.categories()
    writer.motifs(significance)
    writer.rules()
    writer.coarse_graphs()
    writer.templates()
    stored = {
        "stored_occurrence_relations": writer.occurrences(),
        "stored_rule_relations": writer.applications(),
    }
    writer.rows.node(
        "Library",
        {
            "id": library_id,
            "name": f"library of {library.scope or 'run'}s",
            "kind": "library",
            "configuration": canonical_json(library.configuration),
            "configuration_hash": library.configuration_hash,
            "summary": canonical_json({**summary, **stored}),
            "document": rest,
        },
    )
    return writer.rows


def _beside_chance(significance: Significance, place: int) -> dict[str, Any]:
    row = significance.rows[place]
    return {
        "expected_count": row.mean,
        "z_score": row.z,
        "p_holm": row.p_holm,
        "p_benjamini_hochberg": row.p_benjamini_hochberg,
    }


class _Writer:
    """Collects the rows of one library."""

    def __init__(
        self, mined: MinedLibrary, library_id: str, documents: Mapping[str, list[str]]
    ) -> None:
        self.rows = Rows()
        self._mined = mined
        self._library: Library = mined.library
        self._id = library_id
        self._documents = documents
        run = self._library.scope == "run"
        self._node_label = "Action" if run else "Subtask"
        self._graph_label = "Run" if run else "Decomposition"
        patterns = [one.pattern for one in self._library.local.patterns]
        self._motif_ids = [f"motif-{digest(library_id, one.text)}" for one in patterns]
        self._rule_ids = [
            f"rule-{digest(library_id, self._library.local.rule_form(place))}"
            for place in range(len(self._library.local.rules))
        ]
        self._category_ids = {
            one.category: f"category-{digest(library_id, one.category)}"
            for one in self._library.structures.categories
            if one.category is not None
        }

    def _part(self, kind: str, place: int, row: dict[str, Any]) -> None:
        label = LABEL_OF_PART[kind]
        self.rows.node(
            label,
            {
                **row,
                "scope": self._library.scope,
                "configuration_hash": self._library.configuration_hash,
                "part": kind,
                "position": place,
                "document": self._documents[kind][place],
            },
        )
        self.rows.relate(
            "CONTAINS", "Library", label, {"source": self._id, "target": row["id"]}
        )

    def types(self) -> None:
        ids = {}
        for place, one in enumerate(self._library.local.types):
            ids[one.label] = name = f"type-{digest(self._id, one.label)}"
            self._part(
                "type",
                place,
                {
                    "id": name,
                    "name": one.label,
                    "medoid": one.medoid,
                    "medoid_name": one.title,
                    "inputs": list(one.inputs),
                    "outputs": list(one.outputs),
                    "reads": list(one.reads),
                    "writes": list(one.writes),
                    "members": one.members,
                    "task_support": len(one.tasks),
                },
            )
        self.rows.relate_all(
            "OF_TYPE",
            self._node_label,
            "SubtaskType",
            [
                {"source": node, "target": ids[label]}
                for node, label in self._mined.leaf_types.items()
            ],
        )

    def categories(self) -> None:
        for place, one in enumerate(self._library.structures.categories):
            if one.category is None:
                # Groups without a category: a part of the library, and no category.
                name, title = f"category-{digest(self._id, '')}", "none"
            else:
                name, title = self._category_ids[one.category], one.category
            self._part(
                "category",
                place,
                {
                    "id": name,
                    "name": title,
                    "groups": one.groups,
                    "leaves": one.leaves,
                    "task_support": one.tasks,
                },
            )

    def motifs(self, significance: Significance | None) -> None:
        for place, one in enumerate(self._library.local.patterns):
            self._part(
                "pattern",
                place,
                {
                    "id": self._motif_ids[place],
                    "name": one.pattern.description,
                    "canonical_form": one.pattern.text,
                    "shape": one.pattern.shape,
                    "size": one.pattern.size,
                    "labels": list(one.pattern.labels),
                    "occurrence_count": one.occurrences,
                    "graph_support": one.graph_support,
                    "task_support": len(one.tasks),
                    **({} if significance is None else _beside_chance(significance, place)),
                },
            )
        self.rows.relate_all(
            "INDEXED_UNDER",
            "Motif",
            "GroupCategory",
            [
                {
                    "source": self._motif_ids[one.pattern],
                    "target": self._category_ids[one.category],
                    "count": one.occurrences,
                    "task_support": len(one.tasks),
                }
                for one in self._library.local.index
            ],
        )

    def rules(self) -> None:
        patterns = self._library.local.patterns
        for place, one in enumerate(self._library.local.rules):
            first, second = patterns[one.first].pattern, patterns[one.second].pattern
            self._part(
                "rule",
                place,
                {
                    "id": self._rule_ids[place],
                    "name": self._mined.rules.rules[place].description,
                    "canonical_form": rule_text(first, second, one.alignment),
                    "size": first.size + second.size - len(one.alignment),
                    "alignment": canonical_json(one.alignment),
                    "overlap_count": one.overlaps,
                    "graph_support": one.graph_support,
                    "task_support": len(one.tasks),
                },
            )
            ends: dict[int, list[str]] = {}
            for pattern, where in ((one.first, "first"), (one.second, "second")):
                ends.setdefault(pattern, []).append(where)
            for pattern, places in ends.items():
                self.rows.relate(
                    "JOINS",
                    "CompositionRule",
                    "Motif",
                    {
                        "source": self._rule_ids[place],
                        "target": self._motif_ids[pattern],
                        "places": places,
                    },
                )

    def coarse_graphs(self) -> None:
        structures = self._library.structures
        graphs = {graph.id for graph in self._library.graphs}
        grouped: dict[str, str] = {}
        for kind, found in (
            ("coarse graph", structures.coarse_graphs),
            ("refinement", structures.refinements),
        ):
            for place, one in enumerate(found):
                name = f"coarse-{digest(self._id, one.id)}"
                self._part(
                    kind,
                    place,
                    {
                        "id": name,
                        "name": one.name,
                        "graph": one.graph,
                        "node": one.node,
                        "depth": one.depth,
                        "category": one.category,
                        "signature": one.signature,
                        "groups": len(one.groups),
                        "dependencies": len(one.dependencies),
                        "couplings": len(one.couplings),
                        "leaves": sum(group.leaves for group in one.groups),
                    },
                )
                if one.graph in graphs:
                    self.rows.relate(
                        "COARSENS",
                        "CoarseGraph",
                        self._graph_label,
                        {"source": name, "target": one.graph},
                    )
                grouped.update(
                    {
                        f"{one.graph}/{group.node}": self._category_ids[group.category]
                        for group in one.groups
                        if group.category is not None
                    }
                )
        self.rows.relate_all(
            "IN_CATEGORY",
            self._node_label,
            "GroupCategory",
            [{"source": node, "target": category} for node, category in grouped.items()],
        )

    def templates(self) -> None:
        structures = self._library.structures
        found: tuple[tuple[str, Sequence[IntegrationTemplate | CouplingTemplate]], ...] = (
            ("integration", structures.integrations),
            ("coupling", structures.couplings),
        )
        for kind, templates in found:
            for place, one in enumerate(templates):
                self._part(
                    kind,
                    place,
                    {
                        "id": f"template-{digest(self._id, one.id)}",
                        "name": one.description,
                        "kind": kind,
                        "labels": list(one.labels),
                        "crossing": one.crossing,
                        "occurrence_count": one.count,
                        "task_support": len(one.tasks),
                    },
                )

    def occurrences(self) -> int:
        motifs = self._mined.motifs
        kept = 0
        for found in motifs.occurrences(at_most=SHOWN_SETS):
            if kept == OCCURRENCE_RELATIONS:
                break
            kept += 1
            self.rows.relate(
                "OCCURS_IN",
                "Motif",
                self._graph_label,
                {
                    "source": self._motif_ids[found.motif],
                    "target": motifs.graphs[found.graph].id,
                    "count": found.count,
                    "nodes": canonical_json(found.nodes),
                },
            )
        return kept

    def applications(self) -> int:
        rules = self._mined.rules
        kept = 0
        for found in rules.occurrences():
            if kept == OCCURRENCE_RELATIONS:
                break
            kept += 1
            self.rows.relate(
                "APPLIES_IN",
                "CompositionRule",
                self._graph_label,
                {
                    "source": self._rule_ids[found.rule],
                    "target": rules.graphs[found.graph].id,
                    "count": found.count,
                    "nodes": canonical_json(found.places),
                },
            )
        return kept
