"""CrewAI: the events of its bus, one a line or in a list.

Events name the one that they stand in (``parent_event_id``) and the one that they end
(``started_event_id``). They are handled out of order: ``emission_sequence`` has the order, but
can repeat. A crew's kickoff is a run. An agent's work on a task is an ``agent_execution``;
one inside the use of a delegating tool is what that call opened.

What a model wrote stands in ``llm_call_completed``, or, where a model does not report its
calls, in the agent's own logs: words that both have are one message.
"""

from collections.abc import Iterator

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json
from graphstore.model import CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.crewai_work import Crew, Record
from ingest.readers.decoding import REPAIRED, text_of
from ingest.readers.instants import from_iso
from ingest.readers.json_values import values
from ingest.readers.naming import set_task_from_text
from ingest.readers.sample_json import first_value
from ingest.readers.threads import play

FRAMEWORK = "CrewAI"

_MARKS = frozenset({"emission_sequence", "source_fingerprint", "fingerprint_metadata"})


class CrewAiEventsReader:
    """CrewAI events: one run a kickoff."""

    format = "crewai-events"
    title = "CrewAI events"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="partly",
        recipients="yes",
        outcome="partly",
        notes=(
            "Tokens are known where a model reports its calls with their usage.",
            "A task is the user's message to its agent; that an earlier output was its context "
            "is told by the text.",
            "How a run ended is known; whether it was right is not.",
        ),
    )
    telling_keys = _MARKS

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with an event."""
        value = first_value(sample)
        if isinstance(value, list) and value:
            value = value[0]
        return isinstance(value, dict) and _is_event(_event(value))

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each kickoff, and a rejection for each value that is no event.

        Raises:
            InputError: The file is not JSON, or holds no message.
        """
        events: list[Record] = []
        rejected: list[Rejection] = []
        damaged = False
        try:
            for number, (value, repaired) in enumerate(values(file)):
                damaged = damaged or repaired
                event = _event(value) if isinstance(value, dict) else {}
                if _is_event(event):
                    events.append(event)
                else:
                    rejected.append(Rejection(file.uri, f"value {number}", "it is no event"))
        except InputError as error:
            if not events:
                raise
            rejected.append(Rejection(file.uri, error.record, error.reason))
        made = False
        for name, part in _kickoffs(events).items():
            builder = context.builder(self, file, canonical_json(part), record=name)
            if damaged:
                builder.warn(REPAIRED)
            if rejected:
                builder.warn("values that could not be read are missing")
            crew = Crew(part, builder)
            play(builder, crew.items, crew.user)
            if builder.node_count:
                made = True
                _describe(builder, crew)
                yield builder.build()
        yield from rejected
        if not made and not rejected:
            raise InputError("its events hold no message", file=file.uri)


CREWAI_EVENTS = CrewAiEventsReader()


def _event(value: Record) -> Record:
    """An event, out of the envelope in which a trace keeps it."""
    inner = value.get("event_data")
    return {**value, **inner} if isinstance(inner, dict) else value


def _is_event(value: Record) -> bool:
    return (
        isinstance(value.get("type"), str)
        and "timestamp" in value
        and not _MARKS.isdisjoint(value)
    )


def _kickoffs(events: list[Record]) -> dict[str, list[Record]]:
    """The events of each kickoff, in their order."""
    above: dict[str, str] = {}
    for event in events:
        id = text_of(event.get("event_id"))
        up = text_of(event.get("parent_event_id")) or text_of(event.get("started_event_id"))
        if id is not None and up is not None:
            above.setdefault(id, up)
    roots: dict[str, str] = {}

    def root(id: str) -> str:
        path = []
        while id not in roots and id in above and id not in path:
            path.append(id)
            id = above[id]
        found = roots.get(id, id)
        for step in path:
            roots[step] = found
        return found

    named = {
        id
        for event in events
        if (id := text_of(event.get("event_id"))) and event["type"] == "crew_kickoff_started"
    }
    found: dict[str, list[Record]] = {}
    current = "events"
    for event in events:
        id = text_of(event.get("event_id"))
        up = text_of(event.get("started_event_id"))
        top = root(up if up is not None and id not in above else id or "")
        if event["type"] == "crew_kickoff_started" and id is not None:
            current = root(id)
        if top in named or id in above:
            found.setdefault(top, []).append(event)
        else:
            # Nothing ties it to a kickoff: it belongs to the one that was under way.
            found.setdefault(current, []).append(event)
    for part in found.values():
        part.sort(key=_place)
    return found


def _place(event: Record) -> tuple[int, int]:
    number = event.get("emission_sequence")
    if isinstance(number, bool) or not isinstance(number, int):
        number = 0
    return number, from_iso(event["timestamp"]) or 0


def _describe(builder: GraphBuilder, crew: Crew) -> None:
    builder.set_method(crew.name or "crew", framework=FRAMEWORK)
    if crew.asked:
        set_task_from_text(builder, "\n".join(crew.asked))
    for key, value in (
        ("inputs", crew.inputs),
        ("total_tokens", crew.total_tokens or None),
        ("models", list(crew.models)),
        ("other_events", dict(sorted(crew.others.items()))),
    ):
        if value not in (None, [], {}):
            builder.attributes[key] = value
    builder.outcome = Outcome(answer=crew.answer, termination=crew.termination)
