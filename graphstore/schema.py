"""Labels, relations, keys, constraints and indexes: the one table that stores are built from.

A property's name is the model's field name wherever the model has one. Maps are kept as
JSON text (type ``json``), because neither engine agrees with the other on nested values.
Every label has a unique ``id`` and, since an engine makes one up where it is unset, a
``name``. For the same reason no property is called ``type``, ``title`` or ``label``.
"""

from dataclasses import dataclass
from typing import Literal

PropertyType = Literal["string", "integer", "float", "boolean", "strings", "json", "datetime"]
Scope = Literal["graph", "shared", "organization", "mined", "result"]


@dataclass(frozen=True)
class Property:
    """A property of a node or relation.

    Attributes:
        name: The name in the store.
        type: ``strings`` is a list of texts, ``json`` a JSON text, ``datetime`` a UTC
            datetime in microseconds kept beside the exact integer of nanoseconds.
        indexed: Whether look-ups by it are made fast.
    """

    name: str
    type: PropertyType = "string"
    indexed: bool = False


@dataclass(frozen=True)
class NodeLabel:
    """A label.

    Attributes:
        name: As in Cypher.
        scope: ``graph``: belongs to one run or decomposition and goes with it; ``shared``:
            many graphs point to it, missing properties are filled in later; ``organization``:
            never changes, its id is its hash; ``mined`` and ``result``: made by jobs.
        properties: Without ``id`` and ``name``, which every label has.
        meaning: One sentence for the documentation.
    """

    name: str
    scope: Scope
    meaning: str
    properties: tuple[Property, ...] = ()

    @property
    def all_properties(self) -> tuple[Property, ...]:
        """Properties with ``id`` and ``name``."""
        return (Property("id"), Property("name", indexed=True), *self.properties)


@dataclass(frozen=True)
class Relation:
    """A relation type between two labels. At most one of a type joins one pair of nodes.

    Attributes:
        type: As in Cypher.
        source: Label at the start.
        target: Label at the end.
        scope: As for labels: what it belongs to.
        properties: Its properties.
        meaning: One sentence for the documentation.
    """

    type: str
    source: str
    target: str
    scope: Scope
    meaning: str
    properties: tuple[Property, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """Type, source label and target label: what rows are grouped by."""
        return (self.type, self.source, self.target)


_PROVENANCE = (
    Property("fingerprint"),
    Property("format", indexed=True),
    Property("uri"),
    Property("record"),
    Property("sha256"),
    Property("reader_version"),
    Property("warnings", "strings"),
    Property("attributes", "json"),
)

_OUTCOME = (
    Property("success", "boolean", indexed=True),
    Property("score", "float"),
    Property("answer"),
    Property("expected"),
    Property("termination"),
    Property("tokens_in", "integer"),
    Property("tokens_out", "integer"),
    Property("calls", "integer"),
    Property("retries", "integer"),
    Property("latency", "float"),
    Property("cost", "float"),
    Property("mistake_agent"),
    Property("mistake_step", "integer"),
    Property("mistake_reason"),
)

_COUNTS = (
    Property("node_count", "integer"),
    Property("edge_count", "integer"),
    Property("inferred_edge_count", "integer"),
    Property("agent_count", "integer"),
)

_NODE = (
    Property("graph", indexed=True),
    Property("index", "integer"),
    Property("kind", indexed=True),
    Property("role", indexed=True),
    Property("delivery"),
    Property("content"),
    Property("content_hash"),
    Property("round", "integer"),
    Property("started_at", "integer"),
    Property("ended_at", "integer"),
    Property("started_at_time", "datetime"),
    Property("ended_at_time", "datetime"),
    Property("tokens_in", "integer"),
    Property("tokens_out", "integer"),
    Property("status"),
    Property("attributes", "json"),
)

_PART = (
    Property("configuration_hash"),
    Property("part"),
    Property("position", "integer"),
    Property("document", "json"),
)
"""What every part of a library has: its kind, its place among those, and all of it as JSON."""

_POSITION = (Property("position", "integer"),)
_BASIS = (Property("basis"),)

LABELS: tuple[NodeLabel, ...] = (
    NodeLabel("Dataset", "shared", "A collection of tasks."),
    NodeLabel(
        "Task",
        "shared",
        "What was to be done; shared by all its runs and decompositions.",
        (
            Property("dataset"),
            Property("description"),
            Property("category", indexed=True),
            Property("source_group"),
        ),
    ),
    NodeLabel(
        "Method",
        "shared",
        "The multi-agent system, or configuration of one, that made a run.",
        (Property("framework"),),
    ),
    NodeLabel(
        "Organization",
        "organization",
        "Who may talk to whom, before any run.",
        (Property("hash"), Property("state", "json"), Property("policy", "json")),
    ),
    NodeLabel(
        "Unit",
        "organization",
        "A member of an organization.",
        (Property("role"), Property("position", "integer"), Property("attributes", "json")),
    ),
    NodeLabel(
        "Run",
        "graph",
        "One execution of a team on a task.",
        (*_PROVENANCE, *_OUTCOME, *_COUNTS),
    ),
    NodeLabel(
        "Decomposition",
        "graph",
        "One way in which a task was split into subtasks.",
        (*_PROVENANCE, *_OUTCOME, *_COUNTS),
    ),
    NodeLabel(
        "Agent",
        "graph",
        "Somebody or something that acts in one run.",
        (
            Property("role", indexed=True),
            Property("role_name"),
            Property("kind"),
            Property("position", "integer"),
            Property("attributes", "json"),
        ),
    ),
    NodeLabel("Action", "graph", "A message, tool call or decision of a run.", _NODE),
    NodeLabel(
        "Subtask", "graph", "A subtask, or a group of subtasks, of a decomposition.", _NODE
    ),
    NodeLabel(
        "Proposal",
        "graph",
        "An answer that an agent, or the team, put forward.",
        (
            Property("unit"),
            Property("phase"),
            Property("value"),
            Property("score", "float"),
            Property("valid", "boolean"),
            Property("position", "integer"),
        ),
    ),
    NodeLabel(
        "Artifact",
        "graph",
        "Something that a node needs or makes.",
        (Property("artifact_type"),),
    ),
    NodeLabel(
        "Resource",
        "graph",
        "State that several nodes of a graph share.",
        (Property("resource_type"), Property("position", "integer")),
    ),
    NodeLabel(
        "Library",
        "mined",
        "What one mining job found.",
        (
            Property("kind"),
            Property("configuration", "json"),
            Property("configuration_hash"),
            Property("summary", "json"),
            Property("document", "json"),
        ),
    ),
    NodeLabel(
        "SubtaskType",
        "mined",
        "A type of subtasks (or of actions) with what its members need, make, read and change.",
        (
            Property("scope"),
            Property("medoid"),
            Property("medoid_name"),
            Property("inputs", "strings"),
            Property("outputs", "strings"),
            Property("reads", "strings"),
            Property("writes", "strings"),
            Property("members", "integer"),
            Property("task_support", "integer"),
            *_PART,
        ),
    ),
    NodeLabel(
        "Motif",
        "mined",
        "A canonical pattern of two or three nodes.",
        (
            Property("canonical_form"),
            Property("shape"),
            Property("size", "integer"),
            Property("scope"),
            Property("labels", "strings"),
            Property("occurrence_count", "integer"),
            Property("graph_support", "integer"),
            Property("task_support", "integer"),
            Property("expected_count", "float"),
            Property("z_score", "float"),
            Property("p_holm", "float"),
            Property("p_benjamini_hochberg", "float"),
            *_PART,
        ),
    ),
    NodeLabel(
        "CompositionRule",
        "mined",
        "A way in which two motifs overlap: which of their positions are one node.",
        (
            Property("canonical_form"),
            Property("scope"),
            Property("size", "integer"),
            Property("alignment", "json"),
            Property("overlap_count", "integer"),
            Property("graph_support", "integer"),
            Property("task_support", "integer"),
            *_PART,
        ),
    ),
    NodeLabel(
        "CoarseGraph",
        "mined",
        "The groups of a task, or of one of its groups, and what crosses between them.",
        (
            Property("scope"),
            Property("graph", indexed=True),
            Property("node", "integer"),
            Property("depth", "integer"),
            Property("category"),
            Property("signature"),
            Property("groups", "integer"),
            Property("dependencies", "integer"),
            Property("couplings", "integer"),
            Property("leaves", "integer"),
            *_PART,
        ),
    ),
    NodeLabel(
        "GroupCategory",
        "mined",
        "A function of groups: foundation, capability, integrate or deliver.",
        (
            Property("scope"),
            Property("groups", "integer"),
            Property("leaves", "integer"),
            Property("task_support", "integer"),
            *_PART,
        ),
    ),
    NodeLabel(
        "Template",
        "mined",
        "A subtask that joins contributions (integration), or two that share a resource "
        "(coupling).",
        (
            Property("scope"),
            Property("kind"),
            Property("labels", "strings"),
            Property("crossing", "boolean"),
            Property("occurrence_count", "integer"),
            Property("task_support", "integer"),
            *_PART,
        ),
    ),
    NodeLabel(
        "Report",
        "result",
        "What one job found about many runs, kept so that nobody waits for it twice.",
        (
            Property("kind", indexed=True),
            Property("configuration", "json"),
            Property("configuration_hash"),
            Property("selection", "json"),
            Property("runs", "integer"),
            Property("document", "json"),
        ),
    ),
    NodeLabel(
        "Claim",
        "result",
        "A part of a proposal that others endorsed or challenged (of masgraph trajectories).",
        (
            Property("text"),
            Property("unit"),
            Property("position", "integer"),
            Property("endorsements", "integer"),
            Property("challenges", "integer"),
            Property("top_endorsed", "boolean"),
            Property("top_challenged", "boolean"),
        ),
    ),
    NodeLabel(
        "ReferenceForest",
        "result",
        "Graphs that worked, different from each other, that runs are compared with.",
        (
            Property("level", indexed=True),
            Property("dataset"),
            Property("category"),
            Property("task"),
            Property("method"),
            Property("references", "integer"),
            Property("successes", "integer"),
            Property("distinct_successes", "integer"),
            Property("calibrated", "integer"),
            Property("threshold", "float"),
            Property("median_similarity", "float"),
            Property("near_copies", "boolean"),
            Property("forest_set", indexed=True),
            Property("imported", "boolean"),
            Property("configuration", "json"),
            Property("configuration_hash"),
            Property("selection", "json"),
            Property("document", "json"),
        ),
    ),
    NodeLabel(
        "Evaluation",
        "result",
        "The metrics of one run under one configuration.",
        (
            Property("configuration", "json"),
            Property("configuration_hash", indexed=True),
            Property("success", "boolean"),
            Property("score", "float"),
            Property("density", "float"),
            Property("reachable_pair_fraction", "float"),
            Property("average_path_length", "float"),
            Property("normalized_source_entropy", "float"),
            Property("permitted_density", "float"),
            Property("permitted_reachable_pair_fraction", "float"),
            Property("permitted_average_path_length", "float"),
            Property("permitted_links_used", "float"),
            Property("unpermitted_links", "integer"),
            Property("node_validity", "float"),
            Property("content_redundancy", "float"),
            Property("actions", "integer"),
            Property("agents", "integer"),
            Property("active_agents", "integer"),
            Property("vertices", "integer"),
            Property("links", "integer"),
            Property("messages", "integer"),
            Property("edges", "integer"),
            Property("inferred_edges", "integer"),
            Property("share_of_inferred_edges", "float"),
            Property("known_contents", "integer"),
            Property("tokens_in", "integer"),
            Property("tokens_out", "integer"),
            Property("information_uptake", "float"),
            Property("uptake_edges", "integer"),
            Property("parallelism", "float"),
            Property("topology_efficiency", "float"),
            Property("forest", indexed=True),
            Property("forest_level"),
            Property("forest_references", "integer"),
            Property("forest_match", "float"),
            Property("forest_node_match", "float"),
            Property("forest_edge_match", "float"),
            Property("forest_topology_match", "float"),
            Property("best_similarity", "float"),
            Property("best_reference"),
            Property("forest_match_percentile", "float"),
            Property("forest_threshold", "float"),
            Property("forest_near_copies", "boolean"),
            Property("diagnosis", indexed=True),
        ),
    ),
)

RELATIONS: tuple[Relation, ...] = (
    Relation("HAS_TASK", "Dataset", "Task", "shared", "A data set holds a task."),
    Relation("OF_TASK", "Run", "Task", "graph", "The task that a run worked on."),
    Relation("BY_METHOD", "Run", "Method", "graph", "The method that made a run."),
    Relation("CONFIGURED_AS", "Run", "Organization", "graph", "The organization of a run."),
    Relation("OF_TASK", "Decomposition", "Task", "graph", "The task that was split."),
    Relation(
        "BY_METHOD",
        "Decomposition",
        "Method",
        "graph",
        "The planner that made a decomposition.",
    ),
    Relation(
        "CONFIGURED_AS",
        "Decomposition",
        "Organization",
        "graph",
        "The organization of a decomposition.",
    ),
    Relation("HAS_AGENT", "Run", "Agent", "graph", "An agent of a run."),
    Relation(
        "HAS_AGENT", "Decomposition", "Agent", "graph", "An agent that a decomposition assigns."
    ),
    Relation("HAS_ACTION", "Run", "Action", "graph", "An action of a run."),
    Relation(
        "HAS_SUBTASK", "Decomposition", "Subtask", "graph", "A subtask of a decomposition."
    ),
    Relation("HAS_PROPOSAL", "Run", "Proposal", "graph", "A proposal of a run."),
    Relation(
        "HAS_PROPOSAL", "Decomposition", "Proposal", "graph", "A proposal of a decomposition."
    ),
    Relation("HAS_RESOURCE", "Run", "Resource", "graph", "A shared resource of a run."),
    Relation(
        "HAS_RESOURCE",
        "Decomposition",
        "Resource",
        "graph",
        "A shared resource of the subtasks.",
    ),
    Relation("HAS_UNIT", "Organization", "Unit", "organization", "A unit of an organization."),
    Relation(
        "MAY_SEND",
        "Unit",
        "Unit",
        "organization",
        "A permitted link.",
        (Property("kinds", "strings"),),
    ),
    Relation("PLAYS", "Agent", "Unit", "graph", "The unit that an agent plays."),
    Relation("PERFORMED", "Agent", "Action", "graph", "Who acted."),
    Relation("PERFORMED", "Agent", "Subtask", "graph", "Whom a subtask is assigned to."),
    Relation("SENT_TO", "Action", "Agent", "graph", "Whom an action was delivered to."),
    Relation(
        "SENT_TO", "Subtask", "Agent", "graph", "Whom a subtask's result is delivered to."
    ),
    Relation(
        "INFORMS",
        "Action",
        "Action",
        "graph",
        "The target consumed the source's output.",
        _BASIS,
    ),
    Relation("NEXT", "Action", "Action", "graph", "The next action of the run, by index."),
    Relation("PARENT_OF", "Action", "Action", "graph", "A span contains a span."),
    Relation("PARENT_OF", "Subtask", "Subtask", "graph", "A group contains a subtask."),
    Relation("PROPOSES", "Action", "Proposal", "graph", "The action that made a proposal."),
    Relation("PROPOSES", "Subtask", "Proposal", "graph", "The subtask that made a proposal."),
    Relation("OFFERED", "Agent", "Proposal", "graph", "Who put a proposal forward."),
    Relation(
        "DECOMPOSES_INTO", "Task", "Subtask", "graph", "A task's leaf subtasks and groups."
    ),
    Relation("PRECEDES", "Subtask", "Subtask", "graph", "A dependency.", _BASIS),
    Relation(
        "COUPLED_WITH",
        "Subtask",
        "Subtask",
        "graph",
        "Both change one shared resource (from the smaller index to the larger).",
        (Property("resources", "strings"), *_BASIS),
    ),
    Relation(
        "COUPLED_WITH",
        "Action",
        "Action",
        "graph",
        "Both change one shared resource (from the smaller index to the larger).",
        (Property("resources", "strings"), *_BASIS),
    ),
    Relation("PRODUCES", "Subtask", "Artifact", "graph", "A subtask's output.", _POSITION),
    Relation("REQUIRES", "Subtask", "Artifact", "graph", "A subtask's input.", _POSITION),
    Relation("PRODUCES", "Action", "Artifact", "graph", "An action's output.", _POSITION),
    Relation("REQUIRES", "Action", "Artifact", "graph", "An action's input.", _POSITION),
    Relation("READS", "Subtask", "Resource", "graph", "A subtask reads a resource."),
    Relation("WRITES", "Subtask", "Resource", "graph", "A subtask changes a resource."),
    Relation("READS", "Action", "Resource", "graph", "An action reads a resource."),
    Relation("WRITES", "Action", "Resource", "graph", "An action changes a resource."),
    Relation("CONTAINS", "Library", "Motif", "mined", "A motif of a library."),
    Relation("CONTAINS", "Library", "SubtaskType", "mined", "A type of a library."),
    Relation(
        "CONTAINS", "Library", "CompositionRule", "mined", "A composition rule of a library."
    ),
    Relation("CONTAINS", "Library", "CoarseGraph", "mined", "A coarse graph of a library."),
    Relation("CONTAINS", "Library", "GroupCategory", "mined", "A category of a library."),
    Relation("CONTAINS", "Library", "Template", "mined", "A template of a library."),
    Relation("OF_TYPE", "Subtask", "SubtaskType", "mined", "The type of a leaf subtask."),
    Relation("OF_TYPE", "Action", "SubtaskType", "mined", "The learned type of an action."),
    Relation(
        "JOINS",
        "CompositionRule",
        "Motif",
        "mined",
        "A rule joins a motif: as its first, its second, or both.",
        (Property("places", "strings"),),
    ),
    Relation(
        "INDEXED_UNDER",
        "Motif",
        "GroupCategory",
        "mined",
        "A motif occurs in groups of a category, the smallest around it that have one.",
        (Property("count", "integer"), Property("task_support", "integer")),
    ),
    Relation("IN_CATEGORY", "Subtask", "GroupCategory", "mined", "The category of a group."),
    Relation("IN_CATEGORY", "Action", "GroupCategory", "mined", "The category of a span."),
    Relation("COARSENS", "CoarseGraph", "Run", "mined", "The run that it stands for."),
    Relation(
        "COARSENS",
        "CoarseGraph",
        "Decomposition",
        "mined",
        "The decomposition that it stands for.",
    ),
    Relation(
        "APPLIES_IN",
        "CompositionRule",
        "Run",
        "mined",
        "A rule applies in a run; indexes of shared nodes as JSON.",
        (Property("count", "integer"), Property("nodes", "json")),
    ),
    Relation(
        "APPLIES_IN",
        "CompositionRule",
        "Decomposition",
        "mined",
        "A rule applies in a decomposition; indexes of shared nodes as JSON.",
        (Property("count", "integer"), Property("nodes", "json")),
    ),
    Relation(
        "OCCURS_IN",
        "Motif",
        "Run",
        "mined",
        "A motif occurs in a run; the node indexes of each occurrence as JSON.",
        (Property("count", "integer"), Property("nodes", "json")),
    ),
    Relation(
        "OCCURS_IN",
        "Motif",
        "Decomposition",
        "mined",
        "A motif occurs in a decomposition; the node indexes of each occurrence as JSON.",
        (Property("count", "integer"), Property("nodes", "json")),
    ),
    Relation("OF", "Evaluation", "Run", "result", "The run that was evaluated."),
    Relation("OF", "Claim", "Run", "result", "The run in which a claim was made."),
    Relation("CLAIMS", "Action", "Claim", "result", "The action that made a claim."),
    Relation("ENDORSES", "Agent", "Claim", "result", "Whose last word on a claim is yes."),
    Relation("CHALLENGES", "Agent", "Claim", "result", "Whose last word on a claim is no."),
    Relation(
        "CONTAINS",
        "ReferenceForest",
        "Run",
        "result",
        "A reference of a forest, and its share of the weight.",
        (Property("weight", "float"),),
    ),
    Relation(
        "CONTAINS",
        "ReferenceForest",
        "Decomposition",
        "result",
        "A reference of a forest that was made from decompositions.",
        (Property("weight", "float"),),
    ),
    Relation("FOREST_OF", "ReferenceForest", "Task", "result", "The task of a forest."),
)

LABELS_BY_NAME: dict[str, NodeLabel] = {label.name: label for label in LABELS}
RELATIONS_BY_KEY: dict[tuple[str, str, str], Relation] = {
    relation.key: relation for relation in RELATIONS
}
GRAPH_LABELS: tuple[str, ...] = ("Run", "Decomposition")
"""The labels that stand for a whole graph."""
