"""ChatDev's company: the chain of its phases and the roles that talk in them.

Source: Qian et al. 2024, "ChatDev: Communicative Agents for Software Development", section 3.1
(chat chain). A company's folder holds up to three files, which are read together:

- ``ChatChainConfig.json``: the phases in order, some of them composed of others, and the roles
  that are recruited. The chain becomes a decomposition: a phase follows the one before it.
- ``PhaseConfig.json``: who opens each phase and who answers: the permitted links, both ways.
- ``RoleConfig.json``: the prompts of each role.

Without the chain there is an organization and nothing is split; without the phases it has no
links. No file names a task: the company takes any.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import InputError
from graphstore.identity import canonical_json, digest
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Role
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, decode_file, first_character, has_key

_DECODER: "msgspec.json.Decoder[dict[str, Any]]" = msgspec.json.Decoder(dict[str, Any])
_PLACEHOLDER = re.compile(rb'\[\s*"[^"]*\{(?:chatdev_prompt|assistant_role|user_role|task)\}')
_Part = tuple[TraceFile, dict[str, Any], bool]


class ChatDevConfigReader:
    """ChatDev configuration: a company's chain of phases and its organization."""

    format = "chatdev-config"
    title = "ChatDev configuration (chain, phases, roles)"
    kind: GraphKind = "decomposition"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="no",
        outcome="no",
        notes=(
            "An organization before any run; its chain of phases is the decomposition.",
            "Who may talk to whom stands in PhaseConfig.json only: without it there are no "
            "links.",
        ),
    )

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample is one of the three files."""
        if first_character(sample) != b"{":
            return False
        if has_key(sample, "phaseType") and has_key(sample, "chain"):
            return True
        if has_key(sample, "assistant_role_name") and has_key(sample, "user_role_name"):
            return has_key(sample, "phase_prompt")
        return _PLACEHOLDER.search(sample) is not None and not has_key(sample, "phase_prompt")

    def join_keys(self, file: TraceFile) -> frozenset[str]:
        """The folder: the files of a company lie together."""
        return frozenset({file.uri.rpartition("/")[0]})

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the company that the one file tells of.

        Raises:
            InputError: It is none of the three files.
        """
        yield from self.read_joined([file], context)

    def read_joined(
        self, files: list[TraceFile], context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields one company for each chain; without a chain, one organization."""
        chains: list[_Part] = []
        phases: list[_Part] = []
        roles: list[_Part] = []
        for file in files:
            try:
                value, repaired = decode_file(file, _DECODER)
                place = {"chain": chains, "phases": phases, "roles": roles}[_what(value, file)]
                place.append((file, value, repaired))
            except InputError as error:
                if len(files) == 1:
                    raise
                yield Rejection(file.uri, None, error.reason)
        others = [*phases, *roles]
        for parts in [[chain, *others] for chain in chains] or ([others] if others else []):
            try:
                yield self._company(parts, bool(chains), phases, roles, context)
            except InputError as error:
                yield Rejection(parts[0][0].uri, None, error.reason)

    def _company(
        self,
        parts: list[_Part],
        chained: bool,
        phases: list[_Part],
        roles: list[_Part],
        context: ReadContext,
    ) -> CollaborationGraph:
        content = canonical_json([value for _, value, _ in parts])
        builder = context.builder(self, parts[0][0], content)
        if len(parts) > 1:
            builder.sha256 = digest(*sorted(file.sha256 for file, _, _ in parts), size=32)
        if any(repaired for _, _, repaired in parts):
            builder.warn(REPAIRED)
        builder.warn("a company's configuration names no task")
        builder.name = "ChatDev company"
        known = {name: each for _, value, _ in phases for name, each in value.items()}
        prompts = {name: each for _, value, _ in roles for name, each in value.items()}
        chain = parts[0][1] if chained else {}
        if chained:
            _fill_chain(chain.get("chain"), known, builder)
        _organize(chain, known, prompts, builder)
        return builder.build()


CHATDEV_CONFIG = ChatDevConfigReader()


def _what(value: dict[str, Any], file: TraceFile) -> str:
    if isinstance(value.get("chain"), list):
        return "chain"
    if value and any(
        isinstance(each, dict) and "phase_prompt" in each for each in value.values()
    ):
        return "phases"
    if value and all(_is_prompt(each) for each in value.values()):
        return "roles"
    raise InputError("it holds neither a chain, nor phases, nor roles", file=file.uri)


def _is_prompt(value: Any) -> bool:
    """Whether a value is a role's prompt: lines of text."""
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def _fill_chain(chain: Any, known: dict[str, Any], builder: GraphBuilder) -> None:
    before: int | None = None
    for step in chain if isinstance(chain, list) else ():
        node = _phase(step, known, builder, None)
        if node is None:
            continue
        if before is not None:
            builder.edge(before, node, "explicit")
        before = node
        inner: int | None = None
        parts = step.get("Composition")
        for part in parts if isinstance(parts, list) else ():
            child = _phase(part, known, builder, node)
            if child is not None and inner is not None:
                builder.edge(inner, child, "explicit")
            inner = inner if child is None else child


def _phase(
    step: Any, known: dict[str, Any], builder: GraphBuilder, parent: int | None
) -> int | None:
    name = step.get("phase") if isinstance(step, dict) else None
    if not isinstance(name, str) or not name:
        builder.warn("steps of the chain without a phase were left out")
        return None
    attributes: Attributes = {
        key: value
        for key, value in step.items()
        if key not in ("phase", "Composition") and value is not None
    }
    described = known.get(name)
    content = None
    if isinstance(described, dict):
        for key in ("assistant_role_name", "user_role_name"):
            if isinstance(described.get(key), str):
                attributes[key] = described[key]
        content = _text(described.get("phase_prompt"))
    return builder.add(
        "group" if isinstance(step.get("Composition"), list) else "subtask",
        name,
        content=content,
        parent=parent,
        attributes=attributes,
    )


def _organize(
    chain: dict[str, Any],
    known: dict[str, Any],
    prompts: dict[str, Any],
    builder: GraphBuilder,
) -> None:
    recruited = chain.get("recruitments")
    names = (
        [name for name in recruited if isinstance(name, str)]
        if isinstance(recruited, list)
        else []
    )
    pairs: list[tuple[str, str, str]] = []
    for phase, described in known.items():
        user = described.get("user_role_name") if isinstance(described, dict) else None
        assistant = (
            described.get("assistant_role_name") if isinstance(described, dict) else None
        )
        if isinstance(user, str) and isinstance(assistant, str):
            names += [user, assistant]
            pairs += [(user, assistant, phase), (assistant, user, phase)]
    names = list(dict.fromkeys([*names, *prompts]))
    if not names:
        raise InputError("it names no role")
    place = {name: position for position, name in enumerate(names)}
    # The builder applies its policy to all of the organization in the end.
    units: list[tuple[str, Role, Attributes]] = []
    for name in names:
        prompt = _text(prompts.get(name))
        attributes: Attributes = {} if prompt is None else {"prompt": prompt}
        units.append((name, builder.role_of(name), attributes))
    builder.organization = make_organization(
        "ChatDev company",
        units,
        [(place[one], place[other], phase) for one, other, phase in pairs if one != other],
        policy={k: v for k, v in chain.items() if k not in ("chain", "recruitments")},
    )


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        return "\n".join(part for part in value if isinstance(part, str)) or None
    return value if isinstance(value, str) and value else None
