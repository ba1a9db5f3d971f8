"""What the readers of masgraph's own exports share: graphs as they were, under today's policy.

An export holds whole graphs, with the ids and the source that they had in the store: a graph
that comes back is the one that went out. Only the policy on contents is asked again: what was
exported with everything can be read with contents redacted or dropped.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from graphstore.builder import ContentPolicy, make_organization
from graphstore.errors import InputError, StoreDamagedError
from graphstore.identity import content_hash, method_id, task_id
from graphstore.model import (
    Artifact,
    CollaborationGraph,
    Method,
    Node,
    Organization,
    Outcome,
    Task,
)
from graphstore.records import fingerprint
from graphstore.validation import validate
from ingest.reader import ReadContext, Rejection

T = TypeVar("T")

CHANGED = (
    "the graph is not as it was exported: its fingerprint differs, as after an edit, or after "
    "characters that XML cannot hold were replaced"
)
_OUTCOME_TEXTS = ("answer", "expected", "mistake_reason")
_OUTCOME_LABELS = ("termination", "mistake_agent")


def guarded(make: Callable[[], T], what: str, uri: str) -> T:
    """What a function makes of a file, or the reason why it makes nothing.

    Args:
        make: Reads the file with a library that raises many things.
        what: The form, for a person.
        uri: The file as it was named.

    Raises:
        InputError: It is not in that form.
    """
    try:
        return make()
    except InputError as error:
        raise InputError(error.reason, file=uri) from error
    except MemoryError:
        raise
    except Exception as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"it is no {what} of masgraph: {said:.200}", file=uri) from error


def checked_graphs(
    graphs: list[CollaborationGraph],
    fingerprints: dict[str, Any],
    context: ReadContext,
    uri: str,
) -> Iterator[CollaborationGraph | Rejection]:
    """Valid graphs under the context's policy, and a rejection for each that is none.

    Args:
        graphs: As they stand in the file.
        fingerprints: By the graph's id, as they stand in the file.
        context: With the policy.
        uri: The file as it was named.

    Raises:
        InputError: There are none.
    """
    if not graphs:
        raise InputError("it holds no run and no decomposition", file=uri)
    for graph in graphs:
        try:
            # A file can hold anything: rows are not held to the model's types.
            graph = msgspec.convert(msgspec.to_builtins(graph), CollaborationGraph)
            validate(graph)
            is_changed = fingerprints.get(graph.id) not in (None, fingerprint(graph))
            read = under_policy(graph, context.policy)
            yield _warned(read) if is_changed else read
        except (InputError, StoreDamagedError, msgspec.MsgspecError) as error:
            reason = error.reason if isinstance(error, InputError) else str(error)
            yield Rejection(uri, str(graph.id), reason)


def under_policy(graph: CollaborationGraph, policy: ContentPolicy) -> CollaborationGraph:
    """A graph with what a policy lets through; equal to the graph where that is everything.

    What is shared by graphs and identified by its words (task, method, organization) gets the
    id that these words have; the graph and its parts keep theirs.

    Args:
        graph: A valid graph.
        policy: What may be stored.
    """
    label, attributes = policy.label, policy.attributes
    organization = _organization(graph.organization, policy)
    units = _units(graph.organization, organization)
    return replace(
        graph,
        name=label(graph.name),
        task=_task(graph.task, policy),
        source=replace(graph.source, record=_named(graph.source.record, policy)),
        method=None if graph.method is None else _method(graph.method, policy),
        organization=organization,
        agents=tuple(
            replace(
                agent,
                name=label(agent.name),
                role_name=_named(agent.role_name, policy),
                unit=units.get(agent.unit or "", agent.unit),
                attributes=attributes(agent.attributes),
            )
            for agent in graph.agents
        ),
        nodes=tuple(_node(node, policy) for node in graph.nodes),
        resources=tuple(
            replace(one, name=label(one.name), type=_named(one.type, policy))
            for one in graph.resources
        ),
        proposals=tuple(
            replace(one, unit=label(one.unit), value=_worded(one.value, policy))
            for one in graph.proposals
        ),
        outcome=_outcome(graph.outcome, policy),
        attributes=attributes(graph.attributes),
    )


def _worded(value: str | None, policy: ContentPolicy) -> str | None:
    return None if value is None else policy.text(value)


def _named(value: str | None, policy: ContentPolicy) -> str | None:
    return None if value is None else policy.label(value)


def _node(node: Node, policy: ContentPolicy) -> Node:
    hashed = node.content_hash
    if node.content is not None and (plain := policy.hashed(node.content)) != node.content:
        hashed = content_hash(plain)
    return replace(
        node,
        name=policy.label(node.name),
        content=_worded(node.content, policy),
        content_hash=hashed,
        inputs=tuple(_artifact(one, policy) for one in node.inputs),
        outputs=tuple(_artifact(one, policy) for one in node.outputs),
        attributes=policy.attributes(node.attributes),
    )


def _artifact(artifact: Artifact, policy: ContentPolicy) -> Artifact:
    return Artifact(name=policy.label(artifact.name), type=_named(artifact.type, policy))


def _task(task: Task, policy: ContentPolicy) -> Task:
    name, dataset = policy.label(task.name), _named(task.dataset, policy)
    same = (name, dataset) == (task.name, task.dataset)
    return replace(
        task,
        id=task.id if same else task_id(name, dataset),
        name=name,
        dataset=dataset,
        description=_worded(task.description, policy),
        category=_named(task.category, policy),
        source_group=_named(task.source_group, policy),
    )


def _method(method: Method, policy: ContentPolicy) -> Method:
    name, framework = policy.label(method.name), _named(method.framework, policy)
    same = (name, framework) == (method.name, method.framework)
    return Method(
        id=method.id if same else method_id(name, framework), name=name, framework=framework
    )


def _organization(found: Organization | None, policy: ContentPolicy) -> Organization | None:
    if found is None:
        return None
    label, attributes = policy.label, policy.attributes
    read = replace(
        found,
        name=label(found.name),
        units=tuple(
            replace(unit, name=label(unit.name), attributes=attributes(unit.attributes))
            for unit in found.units
        ),
        links=tuple(
            replace(link, kinds=tuple(label(kind) for kind in link.kinds))
            for link in found.links
        ),
        state=attributes(found.state),
        policy=attributes(found.policy),
    )
    if read == found:
        return found
    places = {unit.id: place for place, unit in enumerate(found.units)}
    return make_organization(
        read.name,
        [(unit.name, unit.role, unit.attributes) for unit in read.units],
        [
            (places[link.source], places[link.target], kind)
            for link in read.links
            for kind in link.kinds or ("",)
        ],
        state=read.state,
        policy=read.policy,
    )


def _units(before: Organization | None, after: Organization | None) -> dict[str, str]:
    """The unit of the new organization by that of the old one."""
    if before is None or after is None:
        return {}
    pairs = zip(before.units, after.units, strict=True)
    return {old.id: new.id for old, new in pairs}


def _outcome(outcome: Outcome, policy: ContentPolicy) -> Outcome:
    changed: dict[str, str | None] = {
        field: _worded(getattr(outcome, field), policy) for field in _OUTCOME_TEXTS
    }
    changed |= {field: _named(getattr(outcome, field), policy) for field in _OUTCOME_LABELS}
    return replace(outcome, **changed)


def _warned(graph: CollaborationGraph) -> CollaborationGraph:
    if CHANGED in graph.source.warnings:
        return graph
    source = replace(graph.source, warnings=(*graph.source.warnings, CHANGED))
    return replace(graph, source=source)
