"""What runs and decompositions are kept as, and the tasks and organizations they share."""

from graphstore.schema_parts import NodeLabel, Property, Relation

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
)
