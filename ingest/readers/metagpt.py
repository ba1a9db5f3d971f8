"""MetaGPT: the saved state of a team that publishes and subscribes.

Source: Hong et al. 2024, "MetaGPT: Meta Programming for a Multi-Agent Collaborative
Framework", section 3.2 (publish-subscribe). ``team.json`` holds the roles with their memories
and the environment's history. A message stands in the history and in the memory of every role
that saw it: its id makes it one.

``send_to`` holds addresses (a role's name or class). ``<all>`` means each role whose ``watch``
holds the message's ``cause_by``: a role takes from its buffer only what it watches. Both are in
the file, so both are explicit. Where no role has a ``watch``, ``<all>`` is everybody else.

A message without ``sent_from`` is the user's where its role says so; else it belongs to the one
role that has the action it was caused by.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import InputError
from graphstore.model import Attributes, CollaborationGraph, Delivery, GraphKind, Outcome
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_file,
    first_character,
    has_key,
    short_name,
    text_of,
)
from ingest.readers.metagpt_messages import Message, Messages

EVERYBODY = "<all>"
NOBODY = "<none>"
ITSELF = "<self>"

_TOTAL = re.compile(
    r'"(total_prompt_tokens|total_completion_tokens|total_cost)": ?(\d[\d.e+-]*)'
)
_USER_ACTIONS = ("UserRequirement", "BossRequirement")


class _Environment(msgspec.Struct):
    roles: dict[str, Any]
    history: Any = None
    context: Any = None
    name: Any = None


class _File(msgspec.Struct):
    env: _Environment
    idea: Any = None
    investment: Any = None
    context: Any = None
    cost_manager: Any = None


_DECODER = msgspec.json.Decoder(_File)


@dataclass(slots=True)
class _Role:
    name: str
    profile: str | None
    addresses: frozenset[str]
    actions: frozenset[str]
    watch: frozenset[str] | None
    human: bool
    described: Attributes
    state: dict[str, Any] = field(default_factory=dict)


class MetaGptReader:
    """MetaGPT team state: one file is one run."""

    format = "metagpt-team"
    title = "MetaGPT team state (team.json)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="partly",
        recipients="yes",
        outcome="no",
        notes=(
            "Tokens and cost are known for the whole run only.",
            "A message to <all> goes to the roles that watch the action that caused it.",
            "What a role threw out of its memory, and is not in the history, is gone.",
        ),
    )
    telling_keys = frozenset({"profile"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds an environment with roles."""
        return first_character(sample) == b"{" and all(
            has_key(sample, key) for key in ("env", "roles", "profile", "goal")
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the file's one run.

        Raises:
            InputError: The file is not JSON, has no roles, or no memory holds a message.
        """
        team, repaired = decode_file(file, _DECODER)
        builder = context.builder(self, file, file.data())
        if repaired:
            builder.warn(REPAIRED)
        roles = _roles(team, builder)
        messages = _messages(team, roles)
        if messages.unread:
            builder.warn("entries of memories that are no messages were left out")
        if not messages.ordered:
            raise InputError(
                "neither the history nor a role's memory holds a message", file=file.uri
            )
        _describe(team, messages, builder)
        _Run(roles, messages, builder).fill()
        yield builder.build()


METAGPT = MetaGptReader()


def _roles(team: _File, builder: GraphBuilder) -> list[_Role]:
    roles: list[_Role] = []
    for key, state in team.env.roles.items():
        if not isinstance(state, dict):
            builder.warn(f"the role {key} is no object and was left out")
            continue
        name = _name(state.get("name")) or key
        profile = _name(state.get("profile"))
        module = _name(state.get("__module_class_name"))
        listed = [key, name, *_texts(state.get("addresses"))]
        listed += [module] if module else []
        listed += [f"{name}({profile})"] if profile else []
        context = state.get("rc") if isinstance(state.get("rc"), dict) else state.get("_rc")
        watch = context.get("watch") if isinstance(context, dict) else None
        actions = state.get("actions")
        roles.append(
            _Role(
                name,
                profile,
                frozenset(listed),
                frozenset(
                    action["__module_class_name"]
                    for action in (actions if isinstance(actions, list) else ())
                    if isinstance(action, dict)
                    and isinstance(action.get("__module_class_name"), str)
                ),
                frozenset(_texts(watch)) if isinstance(watch, list) else None,
                state.get("is_human") is True,
                {
                    label: value
                    for label, value in (("goal", state.get("goal")), ("class", module))
                    if isinstance(value, str) and value.strip()
                },
                context if isinstance(context, dict) else {},
            )
        )
        latest = state.get("latest_observed_msg")
        roles[-1].state.setdefault("latest", [latest] if isinstance(latest, dict) else [])
    return roles


def _messages(team: _File, roles: list[_Role]) -> Messages:
    """From the history (position -1) and the memories of each role (its position)."""
    messages = Messages()
    messages.add(-1, _stored(team.env.history))
    for position, role in enumerate(roles):
        for memory in ("memory", "working_memory"):
            messages.add(position, _stored(role.state.get(memory)))
    for position, role in enumerate(roles):
        messages.add(
            position, role.state["latest"] if isinstance(role.state["latest"], list) else []
        )
    return messages


def _stored(memory: Any) -> list[Any]:
    stored = memory.get("storage") if isinstance(memory, dict) else memory
    return stored if isinstance(stored, list) else []


def _describe(team: _File, messages: Messages, builder: GraphBuilder) -> None:
    idea = text_of(team.idea)
    if not idea or not idea.strip():
        idea = next(
            (text_of(m.get("content")) for _, m in messages.ordered if _is_users(m)), None
        )
    if idea and idea.strip():
        builder.set_task(short_name(idea, 200), description=idea)
    else:
        builder.warn("the file does not say what the task was")
    builder.set_method("MetaGPT", framework="MetaGPT")
    totals = _totals(team)
    builder.outcome = Outcome(
        tokens_in=_whole(totals.get("total_prompt_tokens")),
        tokens_out=_whole(totals.get("total_completion_tokens")),
        cost=totals.get("total_cost") or None,
    )
    if isinstance(team.investment, int | float) and not isinstance(team.investment, bool):
        builder.attributes["investment"] = team.investment


def _totals(team: _File) -> dict[str, float]:
    """What the cost manager counted, wherever this version keeps it, as object or as text."""
    for holder in (team.context, team.env.context, {"cost_manager": team.cost_manager}):
        kept = holder.get("cost_manager") if isinstance(holder, dict) else None
        text = text_of(kept)
        if text:
            found: dict[str, float] = {}
            for name, value in _TOTAL.findall(text):
                try:
                    number = float(value)
                except ValueError:
                    continue
                if number < 2**53:
                    found[name] = number
            return found
    return {}


class _Run:
    def __init__(self, roles: list[_Role], messages: Messages, builder: GraphBuilder) -> None:
        self._roles = roles
        self._messages = messages
        self._builder = builder
        self._unknown: dict[str, int] = {}
        self._by_address: dict[str, list[int]] = {}
        self._by_watched: dict[str | None, list[int]] = {}
        for place, role in enumerate(roles):
            for address in role.addresses:
                self._by_address.setdefault(address, []).append(place)
            for action in role.watch or ():
                self._by_watched.setdefault(action, []).append(place)
        self._nobody_watches = all(role.watch is None for role in roles)
        units = [
            (role.name, _shared_role(role, builder), builder.policy.attributes(role.described))
            for role in roles
        ]
        builder.organization = make_organization(
            "MetaGPT team",
            units,
            _subscriptions(roles),
            policy={"routing": "publish-subscribe"},
        )
        self._agents = [
            builder.new_agent(
                role.name,
                role_name=role.profile if role.profile != role.name else None,
                kind="human" if role.human else "agent",
                unit=position,
                attributes=role.described,
            )
            for position, role in enumerate(roles)
        ]

    def fill(self) -> None:
        builder = self._builder
        flow = FlowTracker(builder)
        for key, message in self._messages.ordered:
            agent = self._sender(message, self._messages.holders[key])
            recipients, delivery = self._receivers(message, agent)
            node = builder.add(
                "agent_message",
                "unknown sender" if agent is None else builder.agent_name(agent),
                agent=agent,
                recipients=recipients,
                delivery=delivery,
                content=text_of(message.get("content")),
                attributes=_attributes(message),
            )
            flow.act(node, agent, recipients=recipients)

    def _sender(self, message: Message, holders: list[int]) -> int | None:
        named = _name(message.get("sent_from"))
        if named is not None:
            return self._addressed(named, message)
        if _is_users(message):
            return self._builder.agent("user", kind="human", role="human")
        cause = _name(message.get("cause_by"))
        able = [place for place, role in enumerate(self._roles) if cause in role.actions]
        able = [place for place in able if place in holders] or able
        if len(able) == 1:
            self._builder.warn(
                "messages without a sender were given to the role that has their action"
            )
            return self._agents[able[0]]
        self._builder.warn("messages without a sender have no agent")
        return None

    def _addressed(self, address: str, message: Message) -> int:
        """The agent of an address; of two roles of one class, the one the message names."""
        places = self._by_address.get(address, [])
        if len(places) > 1:
            metadata = message.get("metadata")
            spelled = metadata.get("agent") if isinstance(metadata, dict) else None
            exact = [
                place for place in places if _name(spelled) in self._roles[place].addresses
            ]
            if len(exact) != 1:
                self._builder.warn(
                    f"several roles have the address {address}: the first was taken"
                )
            places = exact or places
        if places:
            return self._agents[places[0]]
        if address not in self._unknown:
            self._builder.warn(f"{address} is the address of no role of the team")
            self._unknown[address] = self._builder.new_agent(
                address.rpartition(".")[2] or address
            )
        return self._unknown[address]

    def _receivers(self, message: Message, agent: int | None) -> tuple[list[int], Delivery]:
        sent_to = message.get("send_to")
        addresses = [sent_to] if isinstance(sent_to, str) else _texts(sent_to)
        receivers: list[int] = []
        delivery: Delivery = "explicit"
        for address in addresses:
            if address == EVERYBODY and self._nobody_watches:
                receivers += [other for other in self._agents if other != agent]
                delivery = "broadcast"
            elif address == EVERYBODY:
                cause = _name(message.get("cause_by"))
                watching = self._by_watched.get(cause, ())
                receivers += [self._agents[place] for place in watching]
            elif address == ITSELF:
                receivers += [] if agent is None else [agent]
            elif address and address != NOBODY:
                places = self._by_address.get(address)
                if places:
                    receivers += [self._agents[place] for place in places]
                else:
                    receivers.append(self._addressed(address, message))
        return list(dict.fromkeys(receivers)), delivery


def _subscriptions(roles: list[_Role]) -> list[tuple[int, int, str]]:
    """Who may inform whom: a role's action that another role watches."""
    return [
        (one, other, action.rpartition(".")[2])
        for one, speaker in enumerate(roles)
        for other, listener in enumerate(roles)
        if one != other
        for action in sorted(speaker.actions & (listener.watch or frozenset()))
    ]


def _shared_role(role: _Role, builder: GraphBuilder) -> Any:
    found = builder.role_of(role.profile) if role.profile else "unknown"
    return builder.role_of(role.name) if found == "unknown" else found


def _is_users(message: Message) -> bool:
    cause = message.get("cause_by")
    asked = isinstance(cause, str) and cause.rpartition(".")[2] in _USER_ACTIONS
    return _name(message.get("sent_from")) is None and (asked or message.get("role") == "user")


def _attributes(message: Message) -> Attributes:
    kept: Attributes = {}
    for name in ("id", "cause_by", "send_to", "instruct_content", "metadata"):
        value = message.get(name)
        if value or isinstance(value, int | float):
            kept["message_id" if name == "id" else name] = value
    if isinstance(role := message.get("role"), str):
        kept["chat_role"] = role
    return kept


def _name(value: Any) -> str | None:
    return (value.strip() or None) if isinstance(value, str) else None


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _whole(value: float | None) -> int | None:
    """A count of tokens; 0 means that the model's client counted none."""
    return int(value) if value else None
