"""Proposal trajectories: what each agent proposed first and last, and what the team answered.

Source: MASTraceBench, "Unified Evaluation Framework" and "Multi-Layer Metrics": the initial
and final proposals of the proposers together with the final answer, for each evaluation unit
(a sample of a static task, or a state of a dynamic one). What a trace does not hold stays
missing, and the unit says so in ``missing``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from analytics.averages import LARGEST, mean, refuse_huge
from analytics.runs import require_run
from analytics.verdicts import Verdict as Verdict
from analytics.verdicts import score_proposals as score_proposals
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash, normalize_content
from graphstore.model import CollaborationGraph, Proposal

TaskScore = Literal["run", "episode", "answer"]
TASK_SCORES: tuple[str, ...] = get_args(TaskScore)


@dataclass(frozen=True, slots=True)
class TrajectoryConfiguration:
    """What the measures of trajectories depend on besides the runs.

    Attributes:
        maximum_score: The largest score that a proposal can reach, S* in the paper: 1 or
            100, say. Without it a kept proposal cannot be told to be optimal or not.
        tie: Scores that differ by no more than this are equal.
        invalid_score: The score of an output that could not be parsed, whatever score the
            trace gives it. None leaves it without a score; 0 is what strict benchmarks give.
        keep_unrevised: Takes an agent with an initial proposal and no final one to have kept
            the initial one, as where agents are sampled once. Else its final proposal is
            missing.
        task_score: What R of Eq. 2 is. ``run``: the score of the final answer where there is
            one unit, else the run's own; and where the answer has none, the run's stands for
            it.
            ``episode``: the run's own score and nothing else, which says nothing of an
            answer: for dynamic tasks. ``answer``: the mean over units of the answers' scores,
            whatever score the run has: for proposals that a scorer scored.
        definitions: Raised whenever a measure changes its meaning.
    """

    maximum_score: float | None = None
    tie: float = 1e-9
    invalid_score: float | None = None
    keep_unrevised: bool = False
    task_score: TaskScore = "run"
    definitions: str = "2"

    def __post_init__(self) -> None:
        for what, value in (
            ("maximum score", self.maximum_score),
            ("score of invalid outputs", self.invalid_score),
        ):
            if value is not None and not abs(value) <= LARGEST:
                raise UsageError(f"the {what} has to be a number up to {LARGEST:g}: {value}")
        if self.task_score not in TASK_SCORES:
            raise UsageError(
                f"there is no task score {self.task_score!r}; "
                f"choose one of {', '.join(TASK_SCORES)}"
            )
        if not 0.0 <= self.tie <= LARGEST:
            raise UsageError(f"the width of a tie is a number from 0 on, not {self.tie}")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class Output:
    """A proposal or an answer.

    Attributes:
        score: In the task's own unit; None where it was not scored, or is not valid.
        value: In normal form (:func:`graphstore.identity.normalize_content`), to be
            compared; None where the trace does not hold it.
        valid: Whether it could be parsed and scored; None where the trace does not say.
    """

    score: float | None = None
    value: str | None = None
    valid: bool | None = None


@dataclass(frozen=True, slots=True)
class ProposerTrajectory:
    """One agent's way in one unit.

    Attributes:
        agent: Id of the agent.
        initial: Its first proposal; None where the trace holds none.
        final: Its last proposal, likewise.
    """

    agent: str
    initial: Output | None = None
    final: Output | None = None


@dataclass(frozen=True, slots=True)
class UnitTrajectory:
    """All proposals of one evaluation unit.

    Attributes:
        unit: The sample or state.
        proposers: P, every agent with a proposal here, in the order of the run's agents.
        answer: The team's; None where the trace holds none.
        maximum: The largest score that can be reached; None where it is not known.
        missing: What the trace does not hold, one sentence each.
    """

    unit: str
    proposers: tuple[ProposerTrajectory, ...] = ()
    answer: Output | None = None
    maximum: float | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Validity:
    """How many outputs could be parsed and scored (MASTraceBench, Eq. 23).

    Attributes:
        valid: Outputs that could.
        known: Outputs of which it is known.
        unknown: Outputs of which the trace does not say and that have no score.
    """

    valid: int
    known: int
    unknown: int = 0

    @property
    def share(self) -> float | None:
        """OV, between 0 and 1; None where nothing is known."""
        return self.valid / self.known if self.known else None

    def __add__(self, other: "Validity") -> "Validity":
        return Validity(
            self.valid + other.valid, self.known + other.known, self.unknown + other.unknown
        )


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The proposals of one run, with its score and cost.

    Attributes:
        run: Id of the run.
        name: Its short label.
        task: Name of the task.
        task_id: Id of the task.
        method: Name of the method.
        method_id: Id of the method.
        units: One for each sample or state, in the order of the trace.
        score: R of Eq. 2: the answer's score where there is one unit, else the run's.
        own_score: What the trace says of the run itself, where the answer's score is R.
        tokens: C of Eq. 5: tokens read and written by the whole run.
        validity: Of every recorded proposal and answer.
        missing: What the trace does not hold, one sentence each.
    """

    run: str
    name: str
    task: str
    task_id: str
    method: str | None = None
    method_id: str | None = None
    units: tuple[UnitTrajectory, ...] = ()
    score: float | None = None
    own_score: float | None = None
    tokens: int | None = None
    validity: Validity = Validity(0, 0)
    missing: tuple[str, ...] = ()


def trajectory_of(
    graph: CollaborationGraph,
    configuration: TrajectoryConfiguration | None = None,
    *,
    maximum_scores: Mapping[str, float] | None = None,
) -> Trajectory:
    """The proposals of a run, by unit and agent.

    An agent with several initial proposals in a unit goes by the first that was not
    rejected as invalid, one with several final proposals by the last, valid or not; likewise
    the answer.
    The score of the answer is the run's where the run has one unit (Eq. 2); where the answer
    has none, the run's stands for it.

    Args:
        graph: A run.
        configuration: Options; the defaults where None.
        maximum_scores: The largest score by unit, where units differ; beats the
            configuration's.

    Raises:
        UsageError: The graph is a decomposition: nobody has proposed anything yet. Or a
            score is beyond 1e100.
    """
    options = configuration or TrajectoryConfiguration()
    require_run(graph)
    refuse_huge(graph.outcome.score, f"the score of the run {graph.name}")
    groups: dict[str, list[Proposal]] = {}
    for proposal in graph.proposals:
        refuse_huge(proposal.score, f"{graph.name}: the score of the proposal {proposal.id}")
        groups.setdefault(proposal.unit, []).append(proposal)
    places = {agent.id: place for place, agent in enumerate(graph.agents)}
    names = {agent.id: agent.name for agent in graph.agents}
    alone = len(groups) == 1
    units = []
    for unit, proposals in groups.items():
        maximum = (maximum_scores or {}).get(unit, options.maximum_score)
        units.append(
            _unit(
                unit,
                proposals,
                places,
                names,
                options,
                maximum,
                graph.outcome.score if alone and options.task_score == "run" else None,
            )
        )
    score = _task_score(graph, units, options)
    own = graph.outcome.score if alone and options.task_score == "run" else None
    tokens, told = total_tokens(graph)
    missing = [] if told is None else [told]
    if differs(own, score, options.tie):
        missing.append(
            f"The run's own score is {own:g}, that of its only answer {score:g}: the answer's "
            "is the task score."
        )
    if not units:
        missing.append("The run records no proposal.")
    if score is None:
        missing.append("The run has no score.")
    return Trajectory(
        run=graph.id,
        name=graph.name,
        task=graph.task.name,
        task_id=graph.task.id,
        method=None if graph.method is None else graph.method.name,
        method_id=None if graph.method is None else graph.method.id,
        units=tuple(units),
        score=score,
        own_score=own,
        tokens=tokens,
        validity=_validity(graph.proposals),
        missing=tuple(missing),
    )


def _task_score(
    graph: CollaborationGraph, units: list[UnitTrajectory], options: TrajectoryConfiguration
) -> float | None:
    answers = [None if unit.answer is None else unit.answer.score for unit in units]
    if options.task_score == "answer":
        known = [score for score in answers if score is not None]
        return mean(known) if len(known) == len(answers) else None
    if options.task_score == "run" and len(units) == 1:
        # Without a score of its own the answer has the run's by now.
        return answers[0]
    return graph.outcome.score


def differs(one: float | None, other: float | None, tie: float) -> bool:
    """Whether two scores are known and not equal."""
    return one is not None and other is not None and abs(one - other) > tie


def total_tokens(graph: CollaborationGraph) -> tuple[int | None, str | None]:
    """Tokens read and written by a whole run, and what to know of them.

    Each of the two is the run's own total, else the sum over its actions.

    Returns:
        The number, and a sentence where it is missing or rests on some actions only. None
        unless both kinds are known: half of the cost is not the cost.
    """
    found: list[int | None] = []
    partial = 0
    for total, parts in (
        (graph.outcome.tokens_in, [node.tokens_in for node in graph.nodes]),
        (graph.outcome.tokens_out, [node.tokens_out for node in graph.nodes]),
    ):
        known = [part for part in parts if part is not None]
        if total is None and known:
            partial = max(partial, len(parts) - len(known))
            total = sum(known)
        found.append(total)
    read, written = found
    if read is None or written is None:
        sides = [
            side for side, count in (("read", read), ("written", written)) if count is None
        ]
        return None, f"The tokens {' and '.join(sides)} are not known."
    told = None
    if partial:
        told = f"{partial} of {len(graph.nodes)} actions have no token count; others do."
    return read + written, told


def _unit(
    unit: str,
    proposals: list[Proposal],
    places: Mapping[str, int],
    names: Mapping[str, str],
    options: TrajectoryConfiguration,
    maximum: float | None,
    run_score: float | None,
) -> UnitTrajectory:
    initials: dict[str, list[Proposal]] = {}
    finals: dict[str, list[Proposal]] = {}
    answers: list[Proposal] = []
    missing = []
    for proposal in proposals:
        if proposal.phase == "answer":
            answers.append(proposal)
        elif proposal.agent is None:
            missing.append(f"One {proposal.phase} proposal names no agent.")
        else:
            kept = initials if proposal.phase == "initial" else finals
            kept.setdefault(proposal.agent, []).append(proposal)
    proposers = []
    for agent in sorted(initials.keys() | finals.keys(), key=lambda one: places[one]):
        offered = initials.get(agent, [])
        accepted = [one for one in offered if one.valid is not False]
        first = _output((accepted or offered)[:1], options)
        last = _output(finals.get(agent, [])[-1:], options)
        if last is None and first is not None and options.keep_unrevised:
            last = first
        for phase, output in (("initial", first), ("final", last)):
            if output is None:
                missing.append(f"{names[agent]} has no {phase} proposal.")
            elif output.score is None:
                invalid = "is not valid and " if output.valid is False else ""
                missing.append(f"The {phase} proposal of {names[agent]} {invalid}has no score.")
        proposers.append(ProposerTrajectory(agent, first, last))
    answer = _output(answers[-1:], options)
    if run_score is not None and (answer is None or answer.score is None):
        missing.append("The score of the answer is the run's.")
        answer = Output(
            run_score, answer.value if answer else None, answer.valid if answer else None
        )
    if answer is None:
        missing.append("There is no answer.")
    elif answer.score is None:
        invalid = "is not valid and " if answer.valid is False else ""
        missing.append(f"The answer {invalid}has no score.")
    return UnitTrajectory(unit, tuple(proposers), answer, maximum, tuple(missing))


def _output(found: list[Proposal], options: TrajectoryConfiguration) -> Output | None:
    if not found:
        return None
    proposal = found[0]
    return Output(
        score=options.invalid_score if proposal.valid is False else proposal.score,
        value=None if proposal.value is None else normalize_content(proposal.value),
        valid=_is_valid(proposal),
    )


def _is_valid(proposal: Proposal) -> bool | None:
    if proposal.valid is None:
        return True if proposal.score is not None else None
    return proposal.valid


def _validity(proposals: tuple[Proposal, ...]) -> Validity:
    found = [_is_valid(proposal) for proposal in proposals]
    return Validity(
        valid=sum(one is True for one in found),
        known=sum(one is not None for one in found),
        unknown=sum(one is None for one in found),
    )
