"""Runs of teams that have all that reports are about, under names that try to be markup."""

import json
from typing import Any

from analytics.communication import CommunicationConfiguration
from analytics.compare import ComparisonConfiguration
from analytics.interventions_configuration import InterventionConfiguration
from analytics.perturbation_study import PerturbationConfiguration
from analytics.similarity.measure import measure_named
from analytics.statistics import BootstrapConfiguration
from analytics.trajectories import TrajectoryConfiguration
from analytics.trajectory_results import AnalysisConfiguration
from app import (
    communication_jobs,
    compare_jobs,
    diagnosis_jobs,
    evaluation_jobs,
    forest_jobs,
    intervention_jobs,
    perturbation_jobs,
    relation_jobs,
    trajectory_jobs,
)
from app.drop_jobs import DroppedFile, read_dropped
from app.jobs import Selection
from app.overview_jobs import make_overview
from graphstore.store import GraphStore
from tests.app.dashboard.hostile import CLOSING, IMAGE, MARKDOWN, SCRIPT

NAMES = ("plain", SCRIPT, IMAGE, MARKDOWN, CLOSING)
TASKS = 3
ALONE = "alone"
RATES = (0.2, 0.4)
FEW = BootstrapConfiguration(draws=200)
CONTROLS = {"model": "small", "prompt": "p1", "parser": "2", "budget": 9}

PARTS = (
    *("Proposals", "Interventions", "Perturbation", "Communication", "Relations"),
    "Suitability",
)
VIEWS = ("Responses", "Predictions", "Links and roles")
STATES = [
    ("compare", {}),
    ("compare", {"part": "Two runs"}),
    ("forests", {}),
    ("forests", {"part": "Diagnosis"}),
    *[("trajectories", {"part": part}) for part in PARTS],
    *[("trajectories", {"part": "Interventions", "view": view}) for view in VIEWS[1:]],
]


def record(whose: str, task: int, **rest: Any) -> dict[str, Any]:
    """What all records have."""
    return {
        "masgraph": 1,
        "kind": "run",
        "task": {"name": f"task {whose} {task}", "dataset": f"set {whose}"},
        **rest,
    }


def alone(name: str, task: int) -> dict[str, Any]:
    """One agent, which solves the first task only."""
    score = 1.0 if task == 0 else 0.5
    return record(
        name,
        task,
        id=f"alone {name} {task}",
        method={"name": ALONE},
        agents=[{"name": f"solo {name}", "role": "solver"}],
        actions=[
            {"agent": f"solo {name}", "content": f"I think. {name}", "tokens_out": 4},
            {"agent": f"solo {name}", "content": str(task), "tokens_out": 2},
        ],
        proposals=[
            {"unit": "u", "phase": "initial", "agent": f"solo {name}", "score": score},
            {"unit": "u", "phase": "final", "agent": f"solo {name}", "score": score},
            {"unit": "u", "phase": "answer", "score": score},
        ],
        outcome={"success": task == 0, "score": score, "tokens_in": 5, "tokens_out": 6},
    )


def team(name: str, task: int, variant: int, rate: float | None = None) -> dict[str, Any]:
    """Two proposers and a lead. The first two variants succeed, each in its own way."""
    lead, one, two = f"lead {name}", f"ann {name}", f"bob {name}"
    success = variant < 2 and rate is None
    score = 1.0 if success else 0.25 if rate is None else 1.0 - rate - task / 10
    claim = {"id": f"c {name}", "text": f"claim {name}"}
    actions = [
        {"id": "ask", "agent": lead, "to": [one, two], "content": f"Go. {name}", "round": 0,
         "tokens_out": 3},
        {"id": "one", "agent": one, "to": [lead, two], "content": f"It is {task}. {name}",
         "round": 1, "tokens_out": 5, "attributes": {"claims": [claim]}},
        {"id": "two", "agent": two, "to": [lead], "content": "Yes.", "round": 1 + variant % 2,
         "tokens_out": 1 + variant, "attributes": {"endorses": [f"c {name}"]}},
        *([{"id": "check", "agent": lead, "to": [one], "content": "Sure?", "round": 2},
           {"id": "again", "agent": one, "to": [lead], "content": "Sure.", "round": 2}]
          if variant == 1 else []),
        {"id": "end", "kind": "decision", "agent": lead, "content": f"{task}{variant}",
         "round": 3, "tokens_out": 1},
    ]  # fmt: skip
    attributes: dict[str, Any] = {
        **CONTROLS,
        "memory": "none" if variant == 2 else "shared",
        "checks": {
            "goals": [
                {"id": f"goal {name}", "passed": success},
                {"id": "other", "passed": True},
            ],
            "relations": [
                {"id": f"relation {name}", "kind": "dependency",
                 "items": [{"id": "a", "upstream": 1, "downstream": 1},
                           {"id": "b", "upstream": 1, "downstream": 2},
                           {"id": f"c {name}", "upstream": 1}]},
            ],
        },
    }  # fmt: skip
    if rate is not None:
        attributes["intervention"] = {
            "intervention_type": "information",
            "intervention_parameters": {"rate": rate},
        }
    return record(
        name,
        task,
        id=f"team {name} {task} {variant} {rate}",
        name=f"run {name} {task} {variant}",
        method={"name": f"team {name}"},
        organization={
            "name": f"office {name}",
            "units": [
                {"name": f"desk {name}", "role": "orchestrator"},
                {"name": "a", "role": "specialist"},
                {"name": "b", "role": "specialist"},
            ],
            "links": [
                {"source": f"desk {name}", "target": "a"},
                {"source": f"desk {name}", "target": "b"},
                {"source": "a", "target": f"desk {name}"},
            ],
        },
        agents=[
            {"name": lead, "role": "orchestrator", "unit": f"desk {name}"},
            {"name": one, "role": "specialist", "unit": "a"},
            {"name": two, "role": "specialist", "unit": "b"},
        ],
        actions=actions,
        proposals=[
            {"unit": "u", "phase": "initial", "agent": one, "node": "one", "score": 0.5},
            {"unit": "u", "phase": "initial", "agent": two, "node": "two", "score": 0.25},
            {"unit": "u", "phase": "final", "agent": one, "score": score},
            {"unit": "u", "phase": "final", "agent": two, "score": 0.5},
            {"unit": "u", "phase": "answer", "score": score},
        ],
        outcome={
            "success": success,
            "score": score,
            "tokens_in": 20 + task,
            "tokens_out": 10 + variant,
            **({} if success else {"mistake_agent": two, "mistake_step": 2}),
        },
        attributes=attributes,
    )


def records() -> list[dict[str, Any]]:
    """All runs: of each name and task four by a team, some modified, one by one agent."""
    found = []
    for name in NAMES:
        for task in range(TASKS):
            found += [alone(name, task)]
            found += [team(name, task, variant) for variant in range(3)]
            found += [team(name, task, 0, rate) for rate in RATES]
    return found


def lines() -> bytes:
    """The runs in masgraph's own format."""
    return "".join(json.dumps(one) + "\n" for one in records()).encode()


def fill(store: GraphStore) -> None:
    """Reads all runs, and computes everything that the pages on many runs show."""
    report = read_dropped([DroppedFile("teams.jsonl", lines())], store)
    assert not report.rejected, report.rejected[:1]
    comparison = ComparisonConfiguration(bootstrap=FEW)
    compare_jobs.compare_methods(store, configuration=comparison)
    for name in NAMES:
        compare_jobs.compare_methods(
            store, configuration=comparison, selection=Selection(dataset=f"set {name}")
        )
    forests = forest_jobs.build_forests(store)
    evaluation_jobs.evaluate(store)
    diagnosis_jobs.diagnose(store, forests=forests.id)
    trajectory_jobs.analyse(
        store,
        AnalysisConfiguration(
            trajectory=TrajectoryConfiguration(maximum_score=1.0),
            bootstrap=FEW,
            baseline=ALONE,
        ),
    )
    communication_jobs.communication(store)
    communication_jobs.communication(store, CommunicationConfiguration(), by=("memory",))
    intervention_jobs.measure(store)
    intervention_jobs.predict(store, InterventionConfiguration(draws=2))
    intervention_jobs.execution(store)
    relation_jobs.relations(store)
    perturbation_jobs.assess_suitability(store)
    perturbation_jobs.perturb_graphs(
        store,
        [measure_named(name) for name in ("forest", "wl")],
        PerturbationConfiguration(rates=(0.2, 0.5), repeats=1, bootstrap=FEW),
        limit=6,
    )
    make_overview(store)
