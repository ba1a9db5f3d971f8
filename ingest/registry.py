"""Readers by name and by content. Others add theirs by the entry point ``masgraph.readers``.

An entry point's name is the format; its value is a reader, or a class or function that
makes one without arguments. Readers are imported when they are first needed, and one that
cannot be imported costs a warning, not the program.

No reader has the right of way: a file that two of them claim is an error that names both,
and the person decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Self

from graphstore.errors import InputError
from graphstore.plugins import Plugins
from ingest.reader import Reader
from ingest.readers.sample_json import has_escaped_letters, keys

ENTRY_POINT_GROUP = "masgraph.readers"

FIRST_LOOK_BYTES = 4_096
"""Readers are shown so much of a file first. A sample may be cut anywhere, and nearly every
format is told by its beginning; what no single reader claims then is shown as a whole."""

BUILT_IN: dict[str, str] = {
    "native": "ingest.readers.native:NativeReader",
    "whowhen-handcrafted": "ingest.readers.whowhen:HandcraftedReader",
    "whowhen-ag2": "ingest.readers.whowhen:Ag2Reader",
    "otlp": "ingest.readers.otlp:OtlpReader",
    "worfbench": "ingest.readers.worfbench:WorfBenchReader",
    "taskmaster": "ingest.readers.taskmaster:TaskMasterReader",
    "langsmith": "ingest.readers.langsmith:LangSmithReader",
    "openai-agents-spans": "ingest.readers.openai_agents_spans:OpenAIAgentsSpansReader",
    "openai-agents-runstate": "ingest.readers.openai_agents_runstate:RunStateReader",
    "langgraph-events": "ingest.readers.langgraph_events:LangGraphEventsReader",
    "langgraph-debug": "ingest.readers.langgraph_debug:LangGraphDebugReader",
    "langgraph-checkpoints": "ingest.readers.langgraph_checkpoints:LangGraphCheckpointsReader",
    "pydantic-ai": "ingest.readers.pydantic_ai:PydanticAIReader",
    "smolagents": "ingest.readers.smolagents:SmolagentsReader",
    "langfuse": "ingest.readers.langfuse:LangfuseReader",
    "chatdev-log": "ingest.readers.chatdev_log:ChatDevLogReader",
    "chatdev-puppeteer": "ingest.readers.puppeteer:PuppeteerReader",
    "massgen": "ingest.readers.massgen:MassGenReader",
    "metagpt-team": "ingest.readers.metagpt:MetaGptReader",
    "dylan": "ingest.readers.dylan:DylanReader",
    "agentverse": "ingest.readers.agentverse:AgentVerseReader",
    "chatdev-config": "ingest.readers.chatdev_config:ChatDevConfigReader",
    "marble": "ingest.readers.marble:MarbleReader",
    "autogen-messages": "ingest.readers.autogen_messages:AutoGenMessagesReader",
    "autogen-taskresult": "ingest.readers.autogen_taskresult:AutoGenTaskResultReader",
    "autogen-console": "ingest.readers.autogen_console:AutoGenConsoleReader",
    "adk-session": "ingest.readers.adk:AdkReader",
    "tau-bench": "ingest.readers.tau_bench:TauBenchReader",
    "swe-agent": "ingest.readers.swe_agent:SweAgentReader",
    "ag2-channel": "ingest.readers.ag2_channel:Ag2ChannelReader",
    "ag2-chat": "ingest.readers.ag2_chat:Ag2ChatReader",
    "messages-table": "ingest.readers.messages_table:MessagesTableReader",
    "claude-code": "ingest.readers.claude_code:ClaudeCodeReader",
    "codex": "ingest.readers.codex:CodexReader",
    "taskbench": "ingest.readers.taskbench:TaskBenchReader",
    "hugginggpt": "ingest.readers.hugginggpt:HuggingGptReader",
    "beads": "ingest.readers.beads:BeadsReader",
    "inspect-ai": "ingest.readers.inspect_ai:InspectReader",
    "wfformat": "ingest.readers.wfformat:WfFormatReader",
    "mac-bench": "ingest.readers.mac_bench:MacBenchReader",
    "agno": "ingest.readers.agno:AgnoReader",
    "crewai-events": "ingest.readers.crewai_events:CrewAiEventsReader",
    "openmas-gcom": "ingest.readers.openmas_gcom:OpenMasGcomReader",
    "camel-memory": "ingest.readers.camel_memory:CamelMemoryReader",
    "llamaindex-events": "ingest.readers.llamaindex_events:LlamaIndexEventsReader",
    "a2a": "ingest.readers.a2a:A2aReader",
    "masgraph-json": "ingest.readers.exports:ExportJsonReader",
    "masgraph-graphml": "ingest.readers.exports:ExportGraphMLReader",
    "masgraph-gexf": "ingest.readers.exports:ExportGexfReader",
    "masgraph-parquet": "ingest.readers.exports:ExportParquetReader",
}
"""Formats that come with masgraph; they need no installed metadata."""


@dataclass(frozen=True)
class _Asked:
    """Which readers, by their places, are asked about files of one kind.

    Attributes:
        always: Those that do not say by which keys their files are told.
        for_key: Those that are asked about a file in which a key stands.
    """

    always: frozenset[int] = frozenset()
    for_key: dict[bytes, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, readers: Sequence[Reader], *attributes: str) -> Self:
        """From what readers say; see ``KeyedReader`` and ``PartlyKeyedReader``."""
        always: set[int] = set()
        for_key: dict[bytes, list[int]] = {}
        for place, reader in enumerate(readers):
            said = [getattr(reader, name) for name in attributes if hasattr(reader, name)]
            if not said:
                always.add(place)
            for key in set().union(*said):
                for_key.setdefault(key.encode(), []).append(place)
        return cls(frozenset(always), for_key)

    def places(self, found: frozenset[bytes]) -> list[int]:
        """The readers that are asked about a file with these keys, in order."""
        places = set(self.always)
        for key in self.for_key.keys() & found:
            places.update(self.for_key[key])
        return sorted(places)


@dataclass
class Registry(Plugins[Reader]):
    """Readers, imported as they are needed."""

    group = ENTRY_POINT_GROUP
    built_in = BUILT_IN
    needed = ("format", "title", "kind", "version", "capabilities", "sniff", "read")
    telling = "sniff"
    called = "the reader of the format {name}"
    unknown = "no reader is known for the format {name!r}"
    left_out = "the reader {place} is left out: the format {name} is read by {taken}"

    _readers: tuple[Reader, ...] | None = None
    _asked: _Asked = field(default_factory=_Asked)
    _asked_for_objects: _Asked = field(default_factory=_Asked)

    @property
    def formats(self) -> tuple[str, ...]:
        """All known names, the built-in ones first. Imports nothing."""
        return self.names

    @property
    def usable(self) -> tuple[str, ...]:
        """The names of the readers that can be imported, in the order of :attr:`formats`."""
        return tuple(reader.format for reader in self.readers())

    def reader(self, format: str) -> Reader:
        """The reader of a format.

        Raises:
            NotFoundError: No reader has that name.
            UsageError: It cannot be imported.
        """
        return self.part(format)

    def readers(self) -> tuple[Reader, ...]:
        """Every reader that can be imported, in the order of :attr:`formats`."""
        if self._readers is None:
            self._readers = tuple(self.parts().values())
            self._asked = _Asked.of(self._readers, "telling_keys")
            self._asked_for_objects = _Asked.of(
                self._readers, "telling_keys", "telling_keys_of_objects"
            )
        return self._readers

    def _may_claim(self, sample: bytes) -> Sequence[Reader]:
        """The readers that may claim a file, in their order: all others would say no."""
        readers = self.readers()
        if has_escaped_letters(sample):
            return readers
        asked = self._asked_for_objects if sample.startswith(b"{") else self._asked
        return [readers[place] for place in asked.places(keys(sample))]

    def sniff(self, sample: bytes) -> Reader | None:
        """The reader whose format a file is in, by its content alone.

        Args:
            sample: The first :data:`ingest.reader.SAMPLE_BYTES` bytes.

        Returns:
            The reader, None where no reader claims the file.

        Raises:
            InputError: Several readers claim it.
        """
        claims: list[Reader] = []
        if len(sample) > FIRST_LOOK_BYTES:
            claims = self.claims(sample[:FIRST_LOOK_BYTES])
        if len(claims) != 1:
            claims = self.claims(sample)
        if len(claims) > 1:
            raise InputError(_ambiguous([reader.format for reader in claims]))
        return claims[0] if claims else None

    def claims(self, sample: bytes) -> list[Reader]:
        """Every reader that takes a file which begins like this for its own, in their order."""
        claims: list[Reader] = []
        for reader in self._may_claim(sample):
            try:
                if reader.sniff(sample):
                    claims.append(reader)
            except Exception as error:
                self.warn(
                    f"the reader of the format {reader.format} failed to look at a file: "
                    f"{type(error).__name__}: {error}"
                )
        return claims


def _ambiguous(names: list[str]) -> str:
    options = [f"--format {name}" for name in names]
    return (
        f"the readers {', '.join(names[:-1])} and {names[-1]} claim it at once: say which is "
        f"right with {', '.join(options[:-1])} or {options[-1]}"
    )


@cache
def default_registry() -> Registry:
    """The built-in readers and those of installed packages."""
    return Registry.installed()


def readers() -> tuple[Reader, ...]:
    """Every reader that can be imported; see :meth:`Registry.readers`."""
    return default_registry().readers()


def reader(format: str) -> Reader:
    """The reader of a format; see :meth:`Registry.reader`."""
    return default_registry().reader(format)


def sniff(sample: bytes) -> Reader | None:
    """The reader whose format a file is in; see :meth:`Registry.sniff`."""
    return default_registry().sniff(sample)
