"""Which interventions are tried on a team, and how.

Source: OpenMAS-GCom, Table 9, with what the paper leaves open: roles, rules, draws.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from analytics.interventions import (
    CORRUPTION_RATES,
    FAILURE_COUNTS,
    REWIRING_RATIOS,
    WORKER_ROLES,
)
from analytics.interventions_rewiring import ROLE_RULES, RoleRule
from analytics.projection import PROJECTIONS, ProjectionName
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash
from graphstore.model import ROLES, Role

Subject = Literal["permitted", "executed"]
SUBJECTS: tuple[str, ...] = get_args(Subject)


@dataclass(frozen=True, slots=True)
class InterventionConfiguration:
    """Which interventions are tried, and how.

    Attributes:
        subject: The graph: links that the organization permits, or those that a run used.
        projection: What makes a used link.
        rewiring: Shares of links to replace.
        role_rule: Which connections of roles rewired links may make.
        critic_roles: Whom *no critic* removes.
        specialist_roles: Whom *no specialist* removes.
        expert_roles: Whom *expert only* keeps.
        corruption: Shares of sending units (of used actions, in a run) whose contents are
            replaced.
        failures: Numbers of workers that fail.
        worker_roles: Who can fail, unless it gives the output.
        draws: How often each setting with chance in it is drawn.
        seed: Of the first draw; the next ones follow.
        definitions: Raised whenever an effect changes its meaning.
    """

    subject: Subject = "permitted"
    projection: ProjectionName = "exchange"
    rewiring: tuple[float, ...] = REWIRING_RATIOS
    role_rule: RoleRule = "observed"
    critic_roles: tuple[Role, ...] = ("critic",)
    specialist_roles: tuple[Role, ...] = ("specialist",)
    expert_roles: tuple[Role, ...] = ("specialist",)
    corruption: tuple[float, ...] = CORRUPTION_RATES
    failures: tuple[int, ...] = FAILURE_COUNTS
    worker_roles: tuple[Role, ...] = WORKER_ROLES
    draws: int = 20
    seed: int = 0
    definitions: str = "2"

    def __post_init__(self) -> None:
        if self.subject not in SUBJECTS:
            raise UsageError(f"there is no graph {self.subject!r}: {' or '.join(SUBJECTS)}")
        if self.projection not in PROJECTIONS or self.projection == "action":
            raise UsageError(f"links between agents cannot be read as {self.projection!r}")
        if self.role_rule not in ROLE_RULES:
            raise UsageError(f"there is no rule {self.role_rule!r}: {' or '.join(ROLE_RULES)}")
        for roles in (
            self.critic_roles,
            self.specialist_roles,
            self.expert_roles,
            self.worker_roles,
        ):
            unknown = sorted(set(roles) - set(ROLES))
            if unknown:
                raise UsageError(
                    f"there is no role {unknown[0]!r}; choose from {', '.join(ROLES)}"
                )
        if not all(0.0 <= share <= 1.0 for share in (*self.rewiring, *self.corruption)):
            raise UsageError("shares of links and contents lie between 0 and 1")
        if any(count < 0 for count in self.failures):
            raise UsageError("a number of failed workers cannot be negative")
        if self.draws < 1 or self.seed < 0:
            raise UsageError("at least one draw is needed, and the seed is not negative")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)
