"""MAC-Bench's form of a decomposed task as structs, and the JSON Schema made from them.

Source: MAC-Bench, sections 3.2.1 and F.1. A subtask is a tuple of objective, inputs, outputs
and accesses to shared resources; subtasks form a tree; dependencies and couplings join its
leaves and keep the artifact or resource, and the evidence. The documentation is
``docs/mac-bench-format.md``.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from graphstore.model import AccessMode

GroupCategory = Literal["foundation", "capability", "integrate", "deliver"]


class _Part(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all parts: a field that no part has is an error, never left out in silence."""


class ArtifactRecord(_Part):
    """Something that is needed or made. Name and type together say which."""

    name: str
    type: Annotated[str | None, Meta(description="For example csv, or report.")] = None


class ResourceRecord(_Part):
    """Shared state: a file, a table, a calendar."""

    id: Annotated[str, Meta(description="Any text, once in the record.")]
    name: Annotated[str | None, Meta(description="By default the id.")] = None
    type: str | None = None


class AccessRecord(_Part):
    """A subtask reads or writes a shared resource."""

    resource: Annotated[str, Meta(description="Id of a resource.")]
    mode: AccessMode


Artifacts = Annotated[
    list[ArtifactRecord | str],
    Meta(description="A plain text is an artifact's name without a type."),
]


class SubtaskRecord(_Part):
    """A node of the tree: a group where it has subtasks of its own, else a leaf."""

    id: Annotated[str, Meta(description="Any text, once in the record.")]
    objective: Annotated[str, Meta(description="What is to be reached.")]
    inputs: Artifacts = []
    outputs: Artifacts = []
    accesses: list[AccessRecord] = []
    category: Annotated[
        GroupCategory | None, Meta(description="What a group is for (section F.1).")
    ] = None
    subtasks: Annotated[
        list["SubtaskRecord"], Meta(description="What it is decomposed into.")
    ] = []
    attributes: dict[str, Any] = {}


class DependencyRecord(_Part):
    """A leaf supplies what another leaf requires."""

    source: Annotated[str, Meta(description="Id of the leaf that supplies.")]
    target: Annotated[str, Meta(description="Id of the leaf that requires.")]
    artifact: Annotated[
        str | None, Meta(description="Name of an output of the one and input of the other.")
    ] = None
    resource: Annotated[
        str | None,
        Meta(description="Id of a resource that the one writes and the other accesses."),
    ] = None
    evidence: Annotated[
        str | None, Meta(description="What in the task's materials supports it.")
    ] = None


class CouplingRecord(_Part):
    """Two leaves change a shared resource, and each change matters to the other."""

    between: Annotated[tuple[str, str], Meta(description="Ids of the two leaves.")]
    resources: Annotated[
        list[str], Meta(min_length=1, description="Ids of resources that both write.")
    ]
    evidence: str | None = None


class TaskRecord(_Part):
    """The task before it is decomposed: the root of the tree."""

    objective: str
    name: Annotated[str | None, Meta(description="By default the record's id.")] = None
    dataset: str | None = None
    category: str | None = None
    source_group: Annotated[
        str | None, Meta(description="What tasks share that must not be split apart.")
    ] = None
    inputs: Annotated[Artifacts, Meta(description="What the task is given.")] = []
    outputs: Annotated[Artifacts, Meta(description="What the task must supply.")] = []


class MacBenchRecord(_Part):
    """One task with its tree, its leaves' relations and the resources that they share."""

    mac_bench: Annotated[Literal[1], Meta(description="The version of this form.")]
    id: Annotated[str, Meta(description="Any text, once in the file.")]
    task: TaskRecord
    subtasks: Annotated[
        list[SubtaskRecord], Meta(min_length=1, description="The children of the root.")
    ]
    resources: Annotated[
        list[ResourceRecord], Meta(description="Every resource that is accessed.")
    ] = []
    dependencies: list[DependencyRecord] = []
    couplings: list[CouplingRecord] = []
    attributes: dict[str, Any] = {}


decoder = msgspec.json.Decoder(MacBenchRecord)


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a record: ``ingest/mac-bench-record.schema.json``."""
    _, parts = msgspec.json.schema_components([MacBenchRecord], ref_template="#/$defs/{name}")
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:masgraph:mac-bench-record:1",
        "title": "MAC-Bench record",
        "description": "One task in MAC-Bench's form: hierarchy, interfaces and relations.",
        "$ref": "#/$defs/MacBenchRecord",
        "$defs": {name: parts[name] for name in sorted(parts)},
    }
    # Defaults are tuples here and arrays there.
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(schema))
    return found
