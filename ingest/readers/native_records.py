"""masgraph's own JSONL as structs, and the JSON Schema that is made from them.

The fields carry the model's names. Things are named by the ids that the writer of the file
chose: a run's, an agent's, an action's. The documentation is ``docs/native-format.md``.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from graphstore.model import AgentKind, Basis, ProposalPhase, Role, Status

FORMAT_VERSION = 1

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Attributes = Annotated[
    dict[str, Any], Meta(description="Whatever else there is to say: any JSON values.")
]
ActionAttributes = Annotated[
    dict[str, Any],
    Meta(
        description="Whatever else there is to say: any JSON values. Claims have names of "
        "their own here.",
        extra_json_schema={
            "properties": {
                "claims": {
                    "description": "Parts of a proposal that can be checked one by one: texts, "
                    "or objects with id, text and unit."
                },
                "endorses": {"description": "Ids of claims of others that hold."},
                "challenges": {"description": "Ids of claims of others that do not hold."},
            }
        },
    ),
]
RunAttributes = Annotated[
    dict[str, Any],
    Meta(
        description="Whatever else there is to say: any JSON values. What scorers need has "
        "names of its own here.",
        extra_json_schema={
            "properties": {
                "instance": {"description": "The task's instance, for a scorer."},
                "instances": {"description": "Instances by evaluation unit, for a scorer."},
            }
        },
    ),
]
Time = Annotated[
    int | str,
    Meta(
        description="ISO 8601 with a time zone (2026-01-31T12:00:00.5Z), or a whole number of "
        "nanoseconds since 1970-01-01 UTC."
    ),
]


class _Part(
    msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Base of all parts: a field that no part has is an error, never left out in silence."""


class TaskRecord(_Part):
    """What was to be done."""

    name: Annotated[str, Meta(description="The task's key in its data set, or a short form.")]
    description: Annotated[str | None, Meta(description="The full text.")] = None
    dataset: Annotated[str | None, Meta(description="The data set it belongs to.")] = None
    category: Annotated[str | None, Meta(description="A kind of task.")] = None
    source_group: Annotated[
        str | None, Meta(description="What tasks share that must not be split apart.")
    ] = None


class MethodRecord(_Part):
    """The multi-agent system, or planner, at work."""

    name: str
    framework: Annotated[str | None, Meta(description="The software that ran it.")] = None


class UnitRecord(_Part):
    """A member of an organization."""

    name: str
    id: Annotated[str | None, Meta(description="By default the name.")] = None
    role: Annotated[str | None, Meta(description="A shared role, or any name for one.")] = None
    attributes: Attributes = {}


class LinkRecord(_Part):
    """A directed link that is permitted."""

    source: Annotated[str, Meta(description="Id of the unit that may send.")]
    target: Annotated[str, Meta(description="Id of the unit that may receive.")]
    kinds: Annotated[tuple[str, ...], Meta(description="Names of the relationship.")] = ()


class OrganizationRecord(_Part):
    """Who may talk to whom, whatever happened."""

    name: str
    units: tuple[UnitRecord | str, ...] = ()
    links: tuple[LinkRecord, ...] = ()
    state: Attributes = {}
    policy: Attributes = {}


class AgentRecord(_Part):
    """Somebody or something that acts."""

    name: str
    id: Annotated[
        str | None, Meta(description="By default the name; needed where two share a name.")
    ] = None
    role: Annotated[
        str | None,
        Meta(description="A shared role, or any name for one: it is mapped and kept."),
    ] = None
    role_name: Annotated[
        str | None, Meta(description="The role's own name, beside a shared role.")
    ] = None
    kind: AgentKind = "agent"
    unit: Annotated[str | None, Meta(description="Id of the unit that it plays.")] = None
    attributes: Attributes = {}


class ArtifactRecord(_Part):
    """Something that is needed or made."""

    name: str
    type: str | None = None


class ResourceRecord(_Part):
    """State that several actions or subtasks share."""

    name: str
    id: Annotated[str | None, Meta(description="By default the name.")] = None
    type: str | None = None


class SourceRecord(_Part):
    """One thing that was consumed, with how that is known."""

    id: Annotated[str, Meta(description="Id of the action or subtask.")]
    basis: Basis


class _NodeRecord(_Part):
    id: Annotated[
        str | None, Meta(description="Any text, once in the record; by default the position.")
    ] = None
    name: Annotated[
        str | None, Meta(description="A short label: the tool, the subtask's title.")
    ] = None
    role: Annotated[Role | None, Meta(description="By default the agent's role.")] = None
    agent: Annotated[str | None, Meta(description="Id of the agent that acts.")] = None
    content: str | None = None
    content_hash: Annotated[
        Annotated[str, Meta(pattern="^[0-9a-f]{32}$")] | None,
        Meta(description="Only where the content itself is left out."),
    ] = None
    inputs: tuple[ArtifactRecord | str, ...] = ()
    outputs: tuple[ArtifactRecord | str, ...] = ()
    reads: Annotated[tuple[str, ...], Meta(description="Ids of resources.")] = ()
    writes: Annotated[tuple[str, ...], Meta(description="Ids of resources.")] = ()
    parent: Annotated[
        str | None, Meta(description="Id of the span or group that contains it.")
    ] = None
    round: Annotated[Count | None, Meta(description="Round or turn, from 0.")] = None
    started_at: Time | None = None
    ended_at: Time | None = None
    tokens_in: Annotated[Count | None, Meta(description="Tokens the model read.")] = None
    tokens_out: Annotated[Count | None, Meta(description="Tokens the model wrote.")] = None
    status: Status | None = None
    attributes: ActionAttributes = {}


class ActionRecord(_NodeRecord):
    """One action, in the order in which they happened."""

    kind: Literal["agent_message", "tool_call", "decision"] = "agent_message"
    to: Annotated[
        tuple[str, ...] | str,
        Meta(description='Ids of the agents it was delivered to, one id, or "all".'),
    ] = ()
    delivery: Annotated[
        Literal["explicit", "broadcast", "inferred"] | None,
        Meta(description='How "to" is known; by default explicit, for "all" broadcast.'),
    ] = None
    consumes: Annotated[
        tuple[SourceRecord | str, ...] | None,
        Meta(
            description="Ids of the earlier actions whose output it used. Where it is left "
            "out, it follows from who received what; an empty list says: nothing."
        ),
    ] = None


class SubtaskRecord(_NodeRecord):
    """One subtask, or a group of them, in any order."""

    kind: Literal["subtask", "group"] = "subtask"
    to: Annotated[
        tuple[str, ...] | str,
        Meta(description='Ids of the agents its result goes to, one id, or "all".'),
    ] = ()
    delivery: Annotated[
        Literal["explicit", "broadcast", "inferred"] | None,
        Meta(description='How "to" is known; by default explicit, for "all" broadcast.'),
    ] = None
    consumes: Annotated[
        tuple[SourceRecord | str, ...],
        Meta(description="Ids of the subtasks it depends on."),
    ] = ()


class CouplingRecord(_Part):
    """Two actions or subtasks that change one shared resource; it has no direction."""

    between: Annotated[tuple[str, str], Meta(description="Ids of the two actions or subtasks.")]
    resources: Annotated[tuple[str, ...], Meta(description="Ids of resources.")] = ()
    basis: Literal["explicit", "inferred"] = "explicit"


class ProposalRecord(_Part):
    """An answer that was put forward."""

    unit: Annotated[str, Meta(description="The sample, or the state of the task, it answers.")]
    phase: ProposalPhase
    agent: Annotated[str | None, Meta(description="Id; left out for the team's answer.")] = None
    node: Annotated[
        str | None, Meta(description="Id of the action or subtask that made it.")
    ] = None
    value: str | None = None
    score: float | None = None
    valid: Annotated[bool | None, Meta(description="Whether it is an answer at all.")] = None


class OutcomeRecord(_Part):
    """How it ended. What is not known is left out, never 0."""

    success: bool | None = None
    score: float | None = None
    answer: str | None = None
    expected: str | None = None
    termination: Annotated[str | None, Meta(description="Why it stopped.")] = None
    tokens_in: Count | None = None
    tokens_out: Count | None = None
    calls: Count | None = None
    retries: Count | None = None
    latency: Annotated[float | None, Meta(description="Seconds.")] = None
    cost: Annotated[float | None, Meta(description="US dollars.")] = None
    mistake_agent: Annotated[
        str | None, Meta(description="Name of the agent whose mistake decided a failure.")
    ] = None
    mistake_step: Annotated[
        Count | None, Meta(description="Position of that action, from 0.")
    ] = None
    mistake_reason: str | None = None


class _GraphRecord(_Part, tag_field="kind"):
    masgraph: Annotated[Literal[1], Meta(description="The version of this format.")]
    id: Annotated[
        str | None, Meta(description="Any text, once in the file; by default the position.")
    ] = None
    name: Annotated[str | None, Meta(description="A short label for people.")] = None
    task: TaskRecord | str | None = None
    method: MethodRecord | str | None = None
    organization: OrganizationRecord | None = None
    agents: Annotated[
        tuple[AgentRecord | str, ...] | None,
        Meta(
            description="Where the list is given it is complete: a name that it lacks is an "
            "error. Where it is left out, it is made of the names in use."
        ),
    ] = None
    resources: Annotated[
        tuple[ResourceRecord | str, ...] | None,
        Meta(description="Complete where it is given, as for agents."),
    ] = None
    couplings: tuple[CouplingRecord, ...] = ()
    proposals: tuple[ProposalRecord, ...] = ()
    outcome: OutcomeRecord | None = None
    attributes: RunAttributes = {}
    warnings: Annotated[
        tuple[str, ...],
        Meta(description="What the writer had to leave out or guess, a sentence each."),
    ] = ()


class RunRecord(_GraphRecord, tag="run"):
    """One execution of a team on a task."""

    actions: tuple[ActionRecord, ...] = ()


class DecompositionRecord(_GraphRecord, tag="decomposition"):
    """One way to split a task into subtasks."""

    subtasks: tuple[SubtaskRecord, ...] = ()


AnyRecord = RunRecord | DecompositionRecord

decoder = msgspec.json.Decoder(AnyRecord)
encoder = msgspec.json.Encoder()


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of one record: ``ingest/masgraph-record.schema.json``."""
    _, parts = msgspec.json.schema_components([AnyRecord], ref_template="#/$defs/{name}")
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:masgraph:record:1",
        "title": "masgraph record",
        "description": "One line of masgraph's own JSONL: a run or a decomposition.",
        "oneOf": [{"$ref": "#/$defs/RunRecord"}, {"$ref": "#/$defs/DecompositionRecord"}],
        "$defs": {name: parts[name] for name in sorted(parts)},
    }
    # Defaults are tuples here and arrays there.
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(schema))
    return found
