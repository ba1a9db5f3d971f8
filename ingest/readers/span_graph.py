"""The graph of a run that was written as spans: OTLP, and the platforms that keep spans.

Containers (``AGENT``, ``CHAIN`` and outer model spans) are no nodes: their tokens repeat their
content's, and their output is that of their last action. They are listed in the graph's
attributes with what they alone say, so that the tree of spans can be rebuilt. Judgements of
``EVALUATOR`` spans, ``gen_ai.evaluation.result`` events and scores stand there too: they are
about the run and no part of it. Spans about something else (databases, requests) are counted.

No convention names the task. Its text is the root's input, and its name is made of that,
unless a root span says ``masgraph.task.name``, with ``masgraph.task.dataset``,
``masgraph.task.category`` and ``masgraph.expected`` beside it: then runs in this format meet
those in others.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.identity import digest
from graphstore.model import Attributes, Outcome, Role
from ingest.reader import ReadContext
from ingest.readers.decoding import short_name
from ingest.readers.otlp_attributes import AGENT, EVALUATOR, KEPT_CHARACTERS, OTHER, Facts
from ingest.readers.otlp_flow import Flow
from ingest.readers.otlp_tree import DEFAULT, SpanTree

_FRAMEWORK = re.compile(r"(?:.*[._-])?instrumentation[._-](?:genai[._-])?(?P<name>[\w-]+)")
_TASK_NAME = "masgraph.task.name"
_TASK_DATASET = "masgraph.task.dataset"
_TASK_CATEGORY = "masgraph.task.category"
_EXPECTED = "masgraph.expected"
_PASSED = frozenset({"pass", "passed", "correct", "success", "succeeded"})
_FAILED = frozenset({"fail", "failed", "incorrect", "failure"})


def fill(
    builder: GraphBuilder,
    tree: SpanTree,
    flow: Flow,
    context: ReadContext,
    *,
    traces: Sequence[str],
    repeated: int = 0,
    evaluations: Sequence[Attributes] = (),
    asked: str | None = None,
    answer: str | None = None,
    method: str | None = None,
    framework: str | None = None,
) -> None:
    """Puts a run of spans into a builder.

    Args:
        builder: Of the run, empty.
        tree: Its spans.
        flow: Who consumed what of them.
        context: Policy and roles.
        traces: The ids of the traces that were joined, at least one.
        repeated: How many spans stood twice.
        evaluations: Judgements that stand beside the spans: ``score``, ``label``, ``name``,
            ``explanation``, and ``of``, the id of the span that was judged. What they say
            of the outcome is left to the reader.
        asked: The task's text, where the trace says it beside the spans.
        answer: The team's answer, likewise.
        method: The name of the method, where no service has one.
        framework: The software, where no instrumentation tells it.
    """
    _describe(builder, tree, list(traces), evaluations, asked)
    if builder.outcome.answer is None and answer is not None:
        builder.outcome = msgspec.structs.replace(builder.outcome, answer=answer)
    if builder.method is None and method:
        builder.set_method(method, framework=_framework(tree.spans) or framework)
    agents = _add_agents(builder, tree, context)
    _add_nodes(builder, tree, flow, agents, len(traces) > 1)
    _warn(builder, tree, flow, repeated)


def _describe(
    builder: GraphBuilder,
    tree: SpanTree,
    traces: list[str],
    scores: Sequence[Attributes],
    asked: str | None,
) -> None:
    """Task, method, outcome and attributes of the whole."""
    spans = tree.spans
    roots = [place for place, parent in enumerate(tree.parents) if parent < 0]
    asked = asked or next((spans[place].asked for place in roots if spans[place].asked), None)
    asked = asked or next((span.asked for span in spans if span.asked and not span.tool), None)
    short = None if asked is None else short_name(asked)
    if name := _said(spans, roots, _TASK_NAME):
        builder.set_task(
            name,
            description=asked,
            dataset=_said(spans, roots, _TASK_DATASET),
            category=_said(spans, roots, _TASK_CATEGORY),
        )
    elif asked is not None:
        # Many texts begin alike: what was cut off tells them apart.
        builder.set_task(
            asked if short == asked else f"{short} ({digest(asked, size=4)})",
            description=asked,
        )
    builder.name = (short if asked else short_name(spans[roots[0]].name)) or None
    services = sorted({span.service for span in spans if span.service is not None})
    if services:
        builder.set_method(" + ".join(services), framework=_framework(spans))
    builder.attributes["trace_ids"] = traces
    sessions = sorted({span.session for span in spans if span.session is not None})
    if sessions:
        builder.attributes["sessions"] = sessions
    if len(traces) > 1:
        builder.warn(
            f"{len(traces)} traces were joined by the session {', '.join(sessions[:3])}"
        )
    containers = []
    others = 0
    evaluations: list[Attributes] = []
    for place, span in enumerate(spans):
        if "evaluation" in span.extra or span.category == EVALUATOR:
            evaluations.extend(_evaluations(span))
        elif tree.kinds[place] is None:
            if span.category == OTHER:
                others += 1
            else:
                containers.append(_container(span))
    if containers:
        builder.attributes["containers"] = containers
    if others:
        builder.attributes["other_spans"] = others
    if scores or evaluations:
        builder.attributes["evaluations"] = [*scores, *evaluations]
    root = spans[roots[0]] if len(roots) == 1 else None
    builder.outcome = _outcome(tree, root, evaluations, _said(spans, roots, _EXPECTED))


def _said(spans: list[Facts], roots: list[int], key: str) -> str | None:
    """An attribute of the first root span that has it."""
    found = next(
        (spans[place].extra[key] for place in roots if key in spans[place].extra), None
    )
    return None if found is None else str(found)


def _container(span: Facts) -> Attributes:
    said: dict[str, Any] = {
        "span_id": span.id,
        "parent_span_id": span.parent,
        "kind": span.category,
        "name": span.name,
        "started_at": span.start,
        "ended_at": span.end,
        "status": span.status,
        "tokens_in": span.tokens_in,
        "tokens_out": span.tokens_out,
        "attributes": span.extra or None,
    }
    return {key: value for key, value in said.items() if value is not None}


def _evaluations(span: Facts) -> list[Attributes]:
    said: list[Attributes] = span.extra.get("evaluation") or [{}]
    of = span.parent if span.category == EVALUATOR else span.id
    text = span.text if span.category == EVALUATOR else None
    about: dict[str, Any] = {
        "span": span.name,
        "span_id": span.id,
        "of": of,
        "text": text[:KEPT_CHARACTERS] if text else None,
    }
    kept = {key: value for key, value in about.items() if value is not None}
    return [{**kept, **one} for one in said]


def _outcome(
    tree: SpanTree, root: Facts | None, evaluations: list[Attributes], expected: str | None
) -> Outcome:
    """What the trace says of the whole: the root's output and totals, and one judgement."""
    starts = [span.start for span in tree.spans if span.start is not None]
    ends = [span.end for span in tree.spans if span.end is not None]
    scores = [one["score"] for one in evaluations if "score" in one]
    labels = [str(one["label"]).casefold() for one in evaluations if "label" in one]
    success: bool | None = None
    if len(labels) == 1:
        success = True if labels[0] in _PASSED else False if labels[0] in _FAILED else None
    failed = root is not None and root.status == "error"
    return Outcome(
        success=False if failed else success,
        score=scores[0] if len(scores) == 1 else None,
        answer=root.text if root is not None else None,
        expected=expected,
        termination=root.extra.get("status_message") if root is not None and failed else None,
        tokens_in=root.tokens_in if root is not None else None,
        tokens_out=root.tokens_out if root is not None else None,
        latency=(max(ends) - min(starts)) / 1e9 if starts and ends else None,
    )


def _framework(spans: list[Facts]) -> str | None:
    """The library whose instrumentation wrote most agent spans, else most spans."""
    if not any(span.scope for span in spans):
        return None
    for category in (AGENT, None):
        counts: dict[str, int] = {}
        for span in spans:
            if span.scope is not None and category in (None, span.category):
                found = _FRAMEWORK.fullmatch(span.scope)
                if found:
                    counts[found["name"]] = counts.get(found["name"], 0) + 1
        if counts:
            return min(counts, key=lambda name: (-counts[name], name))
    return None


def _add_agents(builder: GraphBuilder, tree: SpanTree, context: ReadContext) -> dict[int, int]:
    """The builder's agents by position in the tree, the nameless one included."""
    agents: dict[int, int] = {}
    if any(
        kind is not None and owner == DEFAULT
        for kind, owner in zip(tree.kinds, tree.owners, strict=True)
    ):
        service = next((span.service for span in tree.spans if span.service), None)
        agents[DEFAULT] = builder.new_agent(
            service or "agent", attributes={"named_by": "service"}
        )
        builder.warn("no span names the agent of some actions: the service stands for it")
    guessed = False
    for position, agent in enumerate(tree.agents):
        attributes: Attributes = {}
        if agent.id is not None:
            attributes["id"] = agent.id
        if agent.named_by is not None:
            attributes["named_by"] = agent.named_by
            guessed = True
        role: Role | None = None
        if agent.tool:
            role = context.role_of(agent.name)
            role = "tool" if role == "unknown" else role
        agents[position] = builder.new_agent(
            agent.name,
            role=role,
            kind="tool" if agent.tool else "agent",
            attributes=attributes,
        )
    if guessed:
        builder.warn("some agent spans name no agent: the span's name stands for it")
    return agents


def _add_nodes(
    builder: GraphBuilder, tree: SpanTree, flow: Flow, agents: dict[int, int], many: bool
) -> None:
    nodes: dict[int, int] = {}
    for place, kind in enumerate(tree.kinds):
        if kind is None:
            continue
        span = tree.spans[place]
        owner = agents[tree.owners[place]]
        attributes = dict(span.extra)
        attributes["span_id"] = span.id
        if span.parent is not None:
            attributes["parent_span_id"] = span.parent
        if many:
            attributes["trace_id"] = span.trace
        attributes["span"] = span.name
        attributes["span_kind"] = span.category
        if span.tool is not None and span.asked:
            attributes["input"] = span.asked[:KEPT_CHARACTERS]
        received = flow.recipients.get(place)
        enclosing = tree.enclosing[place]
        nodes[place] = builder.add(
            kind,
            builder.agent_name(owner),
            agent=owner,
            recipients=[agents[agent] for agent in received] if received else (),
            delivery=flow.deliveries.get(place),
            content=span.text,
            parent=nodes.get(enclosing) if enclosing >= 0 else None,
            started_at=span.start,
            ended_at=span.end,
            tokens_in=span.tokens_in,
            tokens_out=span.tokens_out,
            status=span.status,
            attributes=attributes,
        )
    edge = builder.edge
    for (source, target), basis in flow.edges.items():
        edge(nodes[source], nodes[target], basis)


def _warn(builder: GraphBuilder, tree: SpanTree, flow: Flow, repeated: int) -> None:
    if tree.dangling:
        builder.warn(f"{tree.dangling} spans have a parent that was not found")
    if repeated:
        builder.warn(f"{repeated} spans stood twice and were counted once")
    if tree.untimed:
        builder.warn(f"{tree.untimed} spans have no start: they stand where their parent does")
    if flow.backwards:
        builder.warn(
            f"{flow.backwards} sources that the trace names start later than what consumed "
            "them and were left out"
        )
