"""Runs that are kept as threads: one conversation an agent, opened by another agent's call.

Claude Code, Codex and others keep each agent's thread: what the agent heard, what its model
answered (thoughts, words, calls), and what the calls returned. A call can open another
agent's thread. Its prompt is then what the other agent hears first, and the last words of
that thread are what the call returns: neither is a second message.

A call and its result are one node. A call that opens a thread is a ``decision`` that is sent
to the agent it opens. Words beside a call reach nobody before the call is done; words without
one end a turn, and go to whoever opened the thread, else to the user.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from graphstore.builder import GraphBuilder
from graphstore.model import Basis, Delivery
from ingest.readers.thread_items import (
    Actor,
    Call,
    Heard,
    Item,
    Opened,
    Returned,
    Step,
    Thread,
    Words,
)

_FILES = "file"
_Tokens = tuple[int | None, int | None]
_COUNTED: _Tokens = (None, None)
"""The tokens of one answer belong to its first node, and count once."""


def play(builder: GraphBuilder, items: Sequence[Item], user: Actor | None) -> None:
    """Adds the agents, nodes and edges of a run.

    Args:
        builder: Of the run.
        items: In the order of the run. A thread's items follow on the call that opened it.
        user: Who hears what the first agent says at the end of a turn.
    """
    stage = _Stage(builder, user)
    answers = _last_words(items)
    for item in items:
        match item:
            case Step():
                stage.step(item)
            case Returned():
                stage.give_back(item, answers.get(id(item), ()))
            case Heard():
                stage.hear(item)
            case Opened():
                stage.open(item)


def _last_words(items: Sequence[Item]) -> dict[int, list[Words]]:
    """For each result that holds the last words of other agents, those words."""
    last: dict[int, Words] = {}
    found: dict[int, list[Words]] = {}
    for item in items:
        if isinstance(item, Step):
            for part in item.parts:
                if isinstance(part, Words) and not part.thought and part.text:
                    last[id(item.thread)] = part
        elif isinstance(item, Returned):
            for thread in _reporting(item):
                words = last.get(id(thread))
                if words is None or words.answers is not None or words.text is None:
                    continue
                result = item.call.result
                if item.reports or result is None or result.strip() == words.text.strip():
                    words.answers = item.call
                    words.told.append(item.thread)
                    found.setdefault(id(item), []).append(words)
    return found


def _reporting(returned: Returned) -> Sequence[Thread]:
    call = returned.call
    if returned.reports or call.opens is None or call.detached:
        return returned.reports
    return (call.opens,)


class _Stage:
    def __init__(self, builder: GraphBuilder, user: Actor | None) -> None:
        self._builder = builder
        self._user = user
        self._inbox: defaultdict[int, list[tuple[int, Basis]]] = defaultdict(list)
        self._last: dict[int, list[int]] = {}

    def place(self, actor: Actor) -> int:
        if actor.position is None:
            actor.position = self._builder.new_agent(
                actor.name,
                role_name=actor.role_name,
                role=actor.role,
                kind=actor.kind,
                attributes=actor.attributes,
            )
        return actor.position

    def hear(self, heard: Heard) -> None:
        sender, receiver = self.place(heard.sender), self.place(heard.thread.actor)
        heard.node = node = self._builder.add(
            "agent_message",
            heard.sender.name,
            agent=sender,
            recipients=[receiver],
            delivery=heard.delivery,
            content=heard.text,
            started_at=heard.started_at,
            attributes=heard.attributes,
        )
        self._consume([node], sender, None)
        self._inbox[receiver].append((node, _basis(heard.delivery)))

    def open(self, opened: Opened) -> None:
        receiver = self.place(opened.thread.actor)
        if opened.call.node is not None:
            self._inbox[receiver].append((opened.call.node, opened.basis))

    def step(self, step: Step) -> None:
        agent = self.place(step.thread.actor)
        after = step.after
        sources = None if after is None else [x.node for x in after if x.node is not None]
        tokens = (step.tokens_in, step.tokens_out)
        calls: list[int] = []
        last_call = -1
        for number, part in enumerate(step.parts):
            if isinstance(part, Call):
                last_call = number
        # The calls of one answer are made at once, unless the model spoke between them.
        for number, part in enumerate(step.parts):
            if isinstance(part, Call):
                calls.append(self._call(part, step, agent, tokens))
            else:
                if calls:
                    self._consume(calls, agent, sources)
                    calls, sources = [], None
                node = self._words(part, step, agent, tokens, ends=number > last_call)
                self._consume([node], agent, sources)
                sources = None
            tokens = _COUNTED
        if calls:
            self._consume(calls, agent, sources)

    def give_back(self, returned: Returned, words: Sequence[Words]) -> None:
        call = returned.call
        if call.node is None:
            return
        agent = self.place(returned.thread.actor)
        waiting = self._inbox[agent]
        said = [text.node for text in words if text.node is not None]
        waiting += [(node, "explicit") for node in said]
        if said and call.opens is not None:
            return
        if call.opens is None or call.detached or call.result is None:
            waiting.append((call.node, "continued"))
            return
        other = self.place(call.opens.actor)
        node = self._builder.add(
            "agent_message",
            call.opens.actor.name,
            agent=other,
            recipients=[agent],
            content=call.result,
            started_at=call.ended_at,
            status=call.status,
            attributes={"result_of": call.id} if call.id else {},
        )
        if other in self._last:
            self._consume([node], other, None)
        else:
            self._inbox.pop(other, None)
            self._builder.edge(call.node, node, "explicit")
            self._last[other] = [node]
        waiting.append((node, "explicit"))

    def _words(
        self, words: Words, step: Step, agent: int, tokens: _Tokens, *, ends: bool
    ) -> int:
        recipients: list[int] = []
        thread = step.thread
        if words.told:
            recipients = [self.place(told.actor) for told in words.told]
        elif self._user is not None and ends and not words.thought and _answers(step):
            recipients = [self.place(self._user)]
        words.node = self._builder.add(
            "decision" if words.thought else "agent_message",
            thread.actor.name,
            agent=agent,
            recipients=recipients,
            content=words.text,
            started_at=words.started_at,
            tokens_in=tokens[0],
            tokens_out=tokens[1],
            status=words.status,
            attributes={**step.attributes, **words.attributes},
        )
        for recipient in recipients:
            if not words.told:
                self._inbox[recipient].append((words.node, "delivered"))
        return words.node

    def _call(self, call: Call, step: Step, agent: int, tokens: _Tokens) -> int:
        attributes = {**step.attributes, **call.attributes}
        if call.id is not None:
            attributes["call_id"] = call.id
        if call.arguments is not None:
            attributes["arguments"] = call.arguments
        opens = call.opens is not None
        recipients: list[int] = []
        if call.opens is not None:
            recipients = [self.place(thread.actor) for thread in (call.opens, *call.also)]
        call.node = self._builder.add(
            "decision" if opens else "tool_call",
            call.name,
            agent=agent,
            recipients=recipients,
            content=call.prompt if opens else call.result,
            started_at=call.started_at,
            ended_at=call.ended_at,
            tokens_in=tokens[0],
            tokens_out=tokens[1],
            status=call.status,
            outputs=call.outputs,
            accesses=[(self._builder.resource(n, _FILES), mode) for n, mode in call.accesses],
            attributes=attributes,
        )
        return call.node

    def _consume(self, nodes: list[int], agent: int, sources: Iterable[int] | None) -> None:
        """Edges to nodes that were made at once; they are what the agent did last."""
        waiting = self._inbox.pop(agent, None) or []
        if sources is not None:
            # An answer from another thread is no record of this one: no parent names it.
            waiting = [
                *((source, "explicit") for source in sources),
                *((node, basis) for node, basis in waiting if basis == "explicit"),
            ]
        if not waiting:
            waiting = [(node, "continued") for node in self._last.get(agent, ())]
        edge = self._builder.edge
        for node in nodes:
            for source, basis in waiting:
                if source < node:
                    edge(source, node, basis)
        self._last[agent] = nodes


def _answers(step: Step) -> bool:
    """Whether the end of a turn is the user's answer."""
    thread = step.thread
    return thread.parent is None and not thread.silent and not step.private


def _basis(delivery: Delivery) -> Basis:
    return "inferred" if delivery == "inferred" else "delivered"
