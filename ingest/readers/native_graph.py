"""A record of masgraph's own format as a graph: names become positions, gaps are derived."""

from collections.abc import Iterable, Sequence

import msgspec

from graphstore import identity
from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import (
    AccessMode,
    AgentKind,
    Artifact,
    Basis,
    Delivery,
    Outcome,
)
from ingest.flow import FlowTracker
from ingest.readers.native_organizations import ROLES, Organizations, named
from ingest.readers.native_records import (
    ActionRecord,
    AgentRecord,
    AnyRecord,
    ArtifactRecord,
    ResourceRecord,
    RunRecord,
    SourceRecord,
    SubtaskRecord,
)
from ingest.readers.native_time import PLAIN_NANOSECONDS, nanoseconds

EVERYBODY = "all"
"""What ``to`` says for a message to everybody else."""

_TASK_NAME_LENGTH = 80
_KINDS: dict[str, AgentKind] = {"tool": "tool", "human": "human", "environment": "environment"}


def fill(builder: GraphBuilder, record: AnyRecord, organizations: Organizations) -> None:
    """Puts everything that a record says into a builder.

    Args:
        builder: A new builder of the record's kind.
        record: The record.
        organizations: Those of the file so far, made under the builder's policy.

    Raises:
        InputError: A name stands twice, or names nothing; the reason begins with the path
            of the field.
    """
    _Filler(builder, record, organizations).fill()


class _Filler:
    def __init__(
        self, builder: GraphBuilder, record: AnyRecord, organizations: Organizations
    ) -> None:
        self.builder = builder
        self.organizations = organizations
        self.record = record
        self.field = "actions" if isinstance(record, RunRecord) else "subtasks"
        self.items: Sequence[ActionRecord | SubtaskRecord] = (
            record.actions if isinstance(record, RunRecord) else record.subtasks
        )
        self.units: dict[str, int] = {}
        self.agents: dict[str, int] = {}
        self.resources: dict[str, int] = {}
        self.positions: dict[str, int] = {}

    def fill(self) -> None:
        record, builder = self.record, self.builder
        self._task()
        if isinstance(record.method, str):
            builder.set_method(record.method)
        elif record.method is not None:
            builder.set_method(record.method.name, framework=record.method.framework)
        builder.name = record.name or record.id or None
        if builder.name is None and builder.task is not None:
            builder.name = builder.task.name
        if record.organization is not None:
            builder.organization = self.organizations.make(builder, record.organization)
            self.units = self.organizations.units
        self._agents()
        for position, resource in enumerate(record.resources or ()):
            self._resource(position, resource)
        for position, item in enumerate(self.items):
            name = str(position) if item.id is None else item.id
            first = self.positions.setdefault(name, position)
            if first != position:
                raise InputError(
                    f"{self.field}[{position}].id: {name!r} stands twice (first at "
                    f"{self.field}[{first}])"
                )
        flow = FlowTracker(builder)
        for position, item in enumerate(self.items):
            self._item(position, item, flow)
        self._couplings()
        self._proposals()
        if record.outcome is not None:
            builder.outcome = Outcome(**msgspec.structs.asdict(record.outcome))
        builder.attributes = record.attributes

    def _task(self) -> None:
        task = self.record.task
        if task is None:
            self.builder.set_task(self.builder.record or "")
        elif isinstance(task, str):
            label = self.builder.policy.label(task)
            short = " ".join(label.split())
            if len(short) > _TASK_NAME_LENGTH:
                mark = identity.digest(label, size=4)
                short = f"{short[:_TASK_NAME_LENGTH].rstrip()}... ({mark})"
            self.builder.set_task(short, description=task)
        else:
            self.builder.set_task(
                task.name,
                description=task.description,
                dataset=task.dataset,
                category=task.category,
                source_group=task.source_group,
            )

    def _agents(self) -> None:
        if self.record.agents is not None:
            by_name: dict[str, list[int]] = {}
            for position, entry in enumerate(self.record.agents):
                if isinstance(entry, str):
                    key, name, agent = entry, entry, self._named(entry)
                else:
                    key, name = entry.id or entry.name, entry.name
                    agent = self._described(position, entry)
                if self.agents.setdefault(key, agent) != agent:
                    raise InputError(
                        f"agents[{position}]: {key!r} stands twice: two agents of one name "
                        "need an id each"
                    )
                by_name.setdefault(name, []).append(agent)
            for name, found in by_name.items():
                if len(found) == 1:
                    self.agents.setdefault(name, found[0])
            return
        for item in self.items:
            to = (item.to,) if isinstance(item.to, str) else item.to
            for used in (item.agent, *to):
                everybody = used == EVERYBODY and used is item.to
                if used is not None and not everybody and used not in self.agents:
                    self.agents[used] = self._named(used)

    def _named(self, name: str) -> int:
        role = self.builder.role_of(name)
        return self.builder.new_agent(name, role=role, kind=_KINDS.get(role, "agent"))

    def _described(self, position: int, agent: AgentRecord) -> int:
        role, role_name = None, agent.role_name
        if agent.role is not None:
            role = ROLES.get(agent.role)
            if role is None and role_name is not None:
                raise InputError(
                    f"agents[{position}].role: beside role_name it must be one of "
                    + ", ".join(ROLES)
                )
            role_name = role_name if role is not None else agent.role
        unit = None
        if agent.unit is not None:
            unit = named(self.units, agent.unit, f"agents[{position}].unit", "unit")
        return self.builder.new_agent(
            agent.name,
            role_name=role_name,
            role=role,
            kind=agent.kind,
            unit=unit,
            attributes=agent.attributes,
        )

    def _resource(self, position: int, resource: ResourceRecord | str) -> None:
        if isinstance(resource, str):
            resource = ResourceRecord(name=resource)
        key = resource.id or resource.name
        if key in self.resources:
            raise InputError(f"resources[{position}]: {key!r} stands twice")
        self.resources[key] = self.builder.resource(resource.name, resource.type)

    def _used_resource(self, name: str, path: str) -> int:
        if self.record.resources is None and name not in self.resources:
            self.resources[name] = self.builder.resource(name)
        return named(self.resources, name, path, "resource")

    def _item(
        self, position: int, item: ActionRecord | SubtaskRecord, flow: FlowTracker
    ) -> None:
        agent: int | None = None
        if item.agent is not None:
            agent = self.agents.get(item.agent)
            if agent is None:
                agent = named(self.agents, item.agent, self._path(position, "agent"), "agent")
        recipients, delivery = (
            self._recipients(position, item, agent) if item.to else ((), None)
        )
        # Whole numbers of nanoseconds, as most writers have them, need no look.
        start, end = item.started_at, item.ended_at
        started = (
            start
            if start is None or (isinstance(start, int) and start >= PLAIN_NANOSECONDS)
            else self._time(start, position, "started_at")
        )
        ended = (
            end
            if end is None or (isinstance(end, int) and end >= PLAIN_NANOSECONDS)
            else self._time(end, position, "ended_at")
        )
        parent: int | None = None
        if item.parent is not None:
            path = self._path(position, "parent")
            parent = named(self.positions, item.parent, path, self.field[:-1])
        self.builder.add(
            item.kind,
            self._default_name(item, agent) if item.name is None else item.name,
            agent=agent,
            role=item.role,
            recipients=recipients,
            delivery=delivery,
            content=item.content,
            content_hash=item.content_hash,
            inputs=_artifacts(item.inputs) if item.inputs else (),
            outputs=_artifacts(item.outputs) if item.outputs else (),
            accesses=self._accesses(position, item) if item.reads or item.writes else (),
            parent=parent,
            round=item.round,
            started_at=started,
            ended_at=ended,
            tokens_in=item.tokens_in,
            tokens_out=item.tokens_out,
            status=item.status,
            attributes=item.attributes,
        )
        for number, source in enumerate(item.consumes or ()):
            self._source(position, source, number)
        if isinstance(item, ActionRecord):
            flow.act(
                position,
                agent,
                recipients=recipients,
                basis="inferred" if delivery == "inferred" else "delivered",
                derive=item.consumes is None,
            )

    def _path(self, position: int, field: str) -> str:
        return f"{self.field}[{position}].{field}"

    def _accesses(
        self, position: int, item: ActionRecord | SubtaskRecord
    ) -> list[tuple[int, AccessMode]]:
        reads, writes = self._path(position, "reads"), self._path(position, "writes")
        found: list[tuple[int, AccessMode]] = []
        found += [(self._used_resource(name, reads), "read") for name in item.reads]
        found += [(self._used_resource(name, writes), "write") for name in item.writes]
        return found

    def _default_name(self, item: ActionRecord | SubtaskRecord, agent: int | None) -> str:
        if isinstance(item, SubtaskRecord):
            return item.id or item.kind
        return item.kind if agent is None else self.builder.agent_name(agent)

    def _source(self, position: int, source: SourceRecord | str, number: int) -> None:
        name = source if isinstance(source, str) else source.id
        basis: Basis = "explicit" if isinstance(source, str) else source.basis
        found = self.positions.get(name, position)
        if found >= position and (self.field == "actions" or found == position):
            path = self._path(position, f"consumes[{number}]")
            found = named(self.positions, name, path, self.field[:-1])
            if found == position:
                raise InputError(f"{path}: {name!r} cannot consume itself")
            raise InputError(
                f"{path}: {name!r} comes later, and an action can only consume earlier ones"
            )
        self.builder.edge(found, position, basis)

    def _recipients(
        self, position: int, item: ActionRecord | SubtaskRecord, agent: int | None
    ) -> tuple[list[int], Delivery | None]:
        if item.to == EVERYBODY:
            others = [other for other in range(self.builder.agent_count) if other != agent]
            return others, item.delivery or "broadcast"
        names = (item.to,) if isinstance(item.to, str) else item.to
        try:
            found = [self.agents[name] for name in names]
        except KeyError:
            path = self._path(position, "to")
            found = [named(self.agents, name, path, "agent") for name in names]
        return found, item.delivery or "explicit"

    def _time(self, value: int | str, position: int, field: str) -> int:
        try:
            time, warning = nanoseconds(value)
        except InputError as error:
            raise InputError(f"{self._path(position, field)}: {error.reason}") from error
        if warning is not None:
            self.builder.warn(warning)
        return time

    def _couplings(self) -> None:
        what = self.field[:-1]
        for position, coupling in enumerate(self.record.couplings):
            path = f"couplings[{position}]"
            one, other = (
                named(self.positions, name, f"{path}.between", what)
                for name in coupling.between
            )
            if one == other:
                raise InputError(f"{path}.between: it must name two different ones")
            shared = [
                self._used_resource(name, f"{path}.resources") for name in coupling.resources
            ]
            self.builder.couple(one, other, resources=shared, basis=coupling.basis)

    def _proposals(self) -> None:
        for position, proposal in enumerate(self.record.proposals):
            path = f"proposals[{position}]"
            agent, node = None, None
            if proposal.agent is not None:
                agent = named(self.agents, proposal.agent, f"{path}.agent", "agent")
            if proposal.node is not None:
                node = named(self.positions, proposal.node, f"{path}.node", self.field[:-1])
            self.builder.propose(
                proposal.unit,
                proposal.phase,
                agent=agent,
                node=node,
                value=proposal.value,
                score=proposal.score,
                valid=proposal.valid,
            )


def _artifacts(artifacts: Iterable[ArtifactRecord | str]) -> list[Artifact]:
    return [
        Artifact(name=artifact)
        if isinstance(artifact, str)
        else Artifact(name=artifact.name, type=artifact.type)
        for artifact in artifacts
    ]
