"""What a run's talk cost and brought: tokens, lengths and scores by round, contributions.

Source: MASBench, sections 4.3, B.2-B.4 and C.4. Communication cost is the tokens of messages
between agents, each counted once however many receive it; the fuller account of B.4 takes
every token that agents wrote while messaging, sent or not. A trace seldom counts a message's
own tokens: the tokens written by the action that sent it stand for them, so that reasoning
which a trace counts with the message is in both accounts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from analytics.averages import mean
from analytics.contributions import (
    CONTRIBUTIONS,
    Contribution,
    contributions,
    normalized_contribution_entropy,
)
from analytics.runs import require_run
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash
from graphstore.model import ACTION_KINDS, AGENT_KINDS, AgentKind, CollaborationGraph, Node


@dataclass(frozen=True, slots=True)
class CommunicationConfiguration:
    """What the measures of communication depend on besides the runs.

    Attributes:
        agent_kinds: Who talks: others neither send nor receive messages that count.
        message_kinds: The kinds of actions that make up the message phase. Tool calls are
            private actions.
        contribution: What an agent's contribution is: the number that the trace records, or,
            as a stand-in, the messages sent, the tokens written or the actions done.
        contribution_name: The attribute of an agent that records it.
        factors: Names of the mechanisms that configurations differ in, looked up among the
            run's attributes, in its attributes ``mechanisms`` and ``configuration``, and then
            in its organization's policy.
        definitions: Raised whenever a measure changes its meaning.
    """

    agent_kinds: tuple[AgentKind, ...] = ("agent",)
    message_kinds: tuple[str, ...] = ("agent_message", "decision")
    contribution: Contribution = "recorded"
    contribution_name: str = "contribution"
    factors: tuple[str, ...] = ("memory", "protocol", "routing")
    definitions: str = "1"

    def __post_init__(self) -> None:
        for name, given, known in (
            ("kind of agent", self.agent_kinds, AGENT_KINDS),
            ("kind of action", self.message_kinds, ACTION_KINDS),
            ("contribution", (self.contribution,), CONTRIBUTIONS),
        ):
            unknown = sorted(set(given) - set(known))
            if unknown or not given:
                raise UsageError(
                    f"there is no {name} {unknown[0]!r}; choose from {', '.join(known)}"
                    if unknown
                    else f"at least one {name} is needed"
                )

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens written by a number of actions.

    Attributes:
        known: Sum over the actions that have a count.
        counted: Number of those.
        actions: Number of all.
    """

    known: int
    counted: int
    actions: int

    @property
    def total(self) -> int | None:
        """The sum; None where an action has no count. 0 where there is no action."""
        return self.known if self.counted == self.actions else None


@dataclass(frozen=True, slots=True)
class RoundMessages:
    """The messages of one round.

    Attributes:
        round: As the trace counts.
        messages: Number of messages.
        tokens: Tokens of each message that has a count.
        characters: Characters of each message whose content is known, as stored (after
            redaction).
    """

    round: int
    messages: int
    tokens: tuple[int, ...]
    characters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoundScore:
    """What proposals were worth in one round. None where nothing is scored yet.

    Attributes:
        round: As the trace counts.
        proposals: Number of scored proposals that agents made in this round.
        mean: Of their scores.
        best: The best of them.
        standing: Mean over agents (and units) of the latest scored proposal of each, up to
            and with this round.
        answer: Latest scored answer of the team up to this round; the mean over units.
    """

    round: int
    proposals: int
    mean: float | None
    best: float | None
    standing: float | None
    answer: float | None


@dataclass(frozen=True, slots=True)
class RunCommunication:
    """The measures of one run. None is "not known" or "not defined", never 0.

    Attributes:
        run: Id of the run.
        name: Its short label.
        task: Name of the task.
        task_id: Id of the task.
        method: Name of the method.
        method_id: Id of the method.
        factors: Name and level of each factor that the run records.
        score: In the task's own unit.
        agents: Number of agents that count as talking.
        transmitted: Tokens of messages; None where the trace does not say who got what.
        message_phase: Tokens of all actions of the message phase.
        score_per_thousand: Score for each 1,000 transmitted tokens.
        score_per_thousand_phase: Score for each 1,000 tokens of the message phase.
        contribution_entropy: Between 0 (one contributor) and 1 (all alike); None where
            nobody contributed.
        lengths: Messages by round.
        scores: Scores by round.
        missing: What the trace does not hold, one sentence each.
    """

    run: str
    name: str
    task: str
    task_id: str
    method: str | None
    method_id: str | None
    factors: tuple[tuple[str, str], ...]
    score: float | None
    agents: int
    transmitted: TokenCount | None
    message_phase: TokenCount
    score_per_thousand: float | None
    score_per_thousand_phase: float | None
    contribution_entropy: float | None
    lengths: tuple[RoundMessages, ...]
    scores: tuple[RoundScore, ...]
    missing: tuple[str, ...]


def score_per_thousand_tokens(score: float | None, tokens: float | None) -> float | None:
    """Score over tokens, times 1,000 (MASBench, 4.3; OpenMAS-GCom, A.3 and Table 2).

    Returns:
        None where one of them is not known, or no token was used.

    Raises:
        UsageError: The tokens are negative.
    """
    if tokens is not None and tokens < 0:
        raise UsageError(f"a number of tokens cannot be negative: {tokens}")
    return None if score is None or not tokens else 1000.0 * score / tokens


def transmitted_messages(
    graph: CollaborationGraph, configuration: CommunicationConfiguration | None = None
) -> tuple[Node, ...] | None:
    """The actions whose output reached another agent: delivered to it, or consumed by it.

    Returns:
        In order; None where several agents acted and the trace says of no action who got
        its output.
    """
    options = configuration or CommunicationConfiguration()
    talking = {agent.id for agent in graph.agents if agent.kind in options.agent_kinds}
    owner = {node.id: node.agent for node in graph.nodes}
    reached = {
        edge.source
        for edge in graph.edges
        if owner[edge.target] in talking and owner[edge.target] != owner[edge.source]
    }
    phase = _message_phase(graph, options)
    if (
        not graph.edges
        and not any(node.recipients for node in graph.nodes)
        and len({node.agent for node in phase}) > 1
    ):
        return None
    return tuple(
        node
        for node in phase
        if node.id in reached
        or any(one in talking and one != node.agent for one in node.recipients)
    )


def measure_communication(
    graph: CollaborationGraph, configuration: CommunicationConfiguration | None = None
) -> RunCommunication:
    """All measures of one run.

    Args:
        graph: A run.
        configuration: Options; the defaults where None.

    Raises:
        UsageError: The graph is a decomposition.
    """
    options = configuration or CommunicationConfiguration()
    require_run(graph)
    missing: list[str] = []
    messages = transmitted_messages(graph, options)
    phase = _count(_message_phase(graph, options))
    transmitted = None if messages is None else _count(messages)
    if transmitted is None:
        missing.append("The trace does not say who got what.")
    elif transmitted.total is None:
        without = transmitted.actions - transmitted.counted
        missing.append(f"{without} of {transmitted.actions} messages have no token count.")
    if phase.total is None:
        without = phase.actions - phase.counted
        missing.append(
            f"{without} of {phase.actions} actions of the message phase have no token count."
        )
    score = graph.outcome.score
    if score is None:
        missing.append("The run has no score.")
    lengths = _lengths(messages or (), missing)
    scores = scores_by_round(graph)
    if not scores:
        missing.append("No scored proposal names an action with a round.")
    return RunCommunication(
        run=graph.id,
        name=graph.name,
        task=graph.task.name,
        task_id=graph.task.id,
        method=None if graph.method is None else graph.method.name,
        method_id=None if graph.method is None else graph.method.id,
        factors=_factors(graph, options),
        score=score,
        agents=sum(agent.kind in options.agent_kinds for agent in graph.agents),
        transmitted=transmitted,
        message_phase=phase,
        score_per_thousand=score_per_thousand_tokens(
            score, None if transmitted is None else transmitted.total
        ),
        score_per_thousand_phase=score_per_thousand_tokens(score, phase.total),
        contribution_entropy=_evenness(graph, messages, options, missing),
        lengths=lengths,
        scores=scores,
        missing=tuple(missing),
    )


def scores_by_round(graph: CollaborationGraph) -> tuple[RoundScore, ...]:
    """How good the proposals were, round by round (MASBench, 5.4 and B.3).

    A proposal belongs to the round of the action that made it; those that name no action,
    an action without a round, or no score are left out.

    Returns:
        One for each round with a scored proposal or answer, ascending.
    """
    rounds = {node.id: node.round for node in graph.nodes}
    made: dict[int, list[tuple[str, str | None, float]]] = {}
    for proposal in graph.proposals:
        if proposal.node is None or proposal.score is None:
            continue
        number = rounds[proposal.node]
        if number is not None:
            holder = None if proposal.phase == "answer" else proposal.agent or ""
            made.setdefault(number, []).append((proposal.unit, holder, proposal.score))
    standing: dict[tuple[str, str], float] = {}
    answers: dict[str, float] = {}
    found = []
    for number, proposals in sorted(made.items()):
        now = [score for _, holder, score in proposals if holder is not None]
        for unit, holder, score in proposals:
            if holder is None:
                answers[unit] = score
            else:
                standing[unit, holder] = score
        found.append(
            RoundScore(
                round=number,
                proposals=len(now),
                mean=mean(now),
                best=max(now, default=None),
                standing=mean(list(standing.values())),
                answer=mean(list(answers.values())),
            )
        )
    return tuple(found)


def _message_phase(
    graph: CollaborationGraph, options: CommunicationConfiguration
) -> tuple[Node, ...]:
    talking = {agent.id for agent in graph.agents if agent.kind in options.agent_kinds}
    return tuple(
        node
        for node in graph.nodes
        if node.agent in talking and node.kind in options.message_kinds
    )


def _count(nodes: Sequence[Node]) -> TokenCount:
    known = [node.tokens_out for node in nodes if node.tokens_out is not None]
    return TokenCount(sum(known), len(known), len(nodes))


def _lengths(messages: Sequence[Node], missing: list[str]) -> tuple[RoundMessages, ...]:
    rounds: dict[int, list[Node]] = {}
    for node in messages:
        if node.round is not None:
            rounds.setdefault(node.round, []).append(node)
    without = sum(node.round is None for node in messages)
    if without:
        missing.append(f"{without} of {len(messages)} messages have no round.")
    return tuple(
        RoundMessages(
            round=number,
            messages=len(nodes),
            tokens=tuple(node.tokens_out for node in nodes if node.tokens_out is not None),
            characters=tuple(len(node.content) for node in nodes if node.content is not None),
        )
        for number, nodes in sorted(rounds.items())
    )


def _evenness(
    graph: CollaborationGraph,
    messages: tuple[Node, ...] | None,
    options: CommunicationConfiguration,
    missing: list[str],
) -> float | None:
    given = contributions(
        graph,
        options.contribution,
        messages=messages,
        agent_kinds=options.agent_kinds,
        name=options.contribution_name,
    )
    known = [one for one in given.values() if one is not None]
    if len(known) < len(given) or not given:
        without = len(given) - len(known)
        missing.append(f"The contribution of {without} of {len(given)} agents is not known.")
        return None
    if min(known) < 0.0:
        missing.append("A contribution is negative: contribution entropy is not defined.")
        return None
    entropy = normalized_contribution_entropy(known)
    if entropy is None:
        missing.append("Nobody contributed: the run is left out of contribution entropy.")
    return entropy


def _factors(
    graph: CollaborationGraph, options: CommunicationConfiguration
) -> tuple[tuple[str, str], ...]:
    policy = graph.organization.policy if graph.organization is not None else {}
    groups = [graph.attributes.get(name) for name in ("mechanisms", "configuration")]
    places = [graph.attributes, *(one for one in groups if isinstance(one, dict)), policy]
    found = []
    for name in options.factors:
        for place in places:
            level = place.get(name)
            if isinstance(level, bool):
                level = "on" if level else "off"
            if isinstance(level, str | int | float):
                found.append((name, str(level)))
                break
    return tuple(found)
