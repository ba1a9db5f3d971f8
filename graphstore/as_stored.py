"""The parts of a graph that name it, as a policy lets them be stored.

Readers may set a task, a method, an organization or an outcome that no policy has seen. Each
function returns the very same part where nothing changes.
"""

from typing import Any

import msgspec

from graphstore import identity
from graphstore.model import Method, Organization, Outcome, Task
from graphstore.organizations import make_organization
from graphstore.policies import ContentPolicy

_NOTHING_KNOWN = Outcome()
_OUTCOME_TEXTS = ("answer", "expected", "mistake_reason")
_OUTCOME_LABELS = ("termination", "mistake_agent")


def label_as_stored(text: str | None, policy: ContentPolicy) -> str | None:
    """A name or title, None where there is none."""
    return None if text is None else policy.label(text)


def task_as_stored(task: Task, policy: ContentPolicy) -> Task:
    """A task, with the id of its stored name; its description has seen the policy."""
    name = policy.label(task.name)
    dataset = label_as_stored(task.dataset, policy)
    category = label_as_stored(task.category, policy)
    source_group = label_as_stored(task.source_group, policy)
    kept = (task.name, task.dataset, task.category, task.source_group)
    if (name, dataset, category, source_group) == kept:
        return task
    return Task(
        id=identity.task_id(name, dataset),
        name=name,
        description=task.description,
        dataset=dataset,
        category=category,
        source_group=source_group,
    )


def method_as_stored(method: Method, policy: ContentPolicy) -> Method:
    """A method, with the id of its stored name."""
    name = policy.label(method.name)
    framework = label_as_stored(method.framework, policy)
    if (name, framework) == (method.name, method.framework):
        return method
    return Method(id=identity.method_id(name, framework), name=name, framework=framework)


def organization_as_stored(found: Organization, policy: ContentPolicy) -> Organization:
    """An organization, with the ids that its stored form has."""
    label, attributes = policy.label, policy.attributes
    name = label(found.name)
    members = [(label(one.name), one.role, attributes(one.attributes)) for one in found.units]
    kinds = [tuple(map(label, link.kinds)) for link in found.links]
    state, rules = attributes(found.state), attributes(found.policy)
    if (
        name == found.name
        and members == [(one.name, one.role, one.attributes) for one in found.units]
        and kinds == [link.kinds for link in found.links]
        and state == found.state
        and rules == found.policy
    ):
        return found
    positions = {unit.id: position for position, unit in enumerate(found.units)}
    links = [
        (positions[link.source], positions[link.target], kind)
        for link, names in zip(found.links, kinds, strict=True)
        for kind in names or ("",)
    ]
    return make_organization(name, members, links, state=state, policy=rules)


def outcome_as_stored(outcome: Outcome, policy: ContentPolicy) -> Outcome:
    """An outcome, its texts and labels as they may be stored."""
    if outcome == _NOTHING_KNOWN:
        return outcome
    changed: dict[str, Any] = {}
    for names, stored in ((_OUTCOME_TEXTS, policy.text), (_OUTCOME_LABELS, policy.label)):
        for name in names:
            value = getattr(outcome, name)
            if value is not None and (kept := stored(value)) != value:
                changed[name] = kept
    return msgspec.structs.replace(outcome, **changed) if changed else outcome
