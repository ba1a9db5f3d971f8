"""Each saved query, answered by hand on a small corpus, on both stores."""

import pytest

from graphstore.builder import GraphBuilder
from graphstore.errors import NotFoundError, UsageError
from graphstore.identity import content_hash
from graphstore.queries import bind, parse_query, saved_queries, saved_query
from tests.graphstore.query_corpus import CREW, GRAPHS, A, B, C, D, P, Q, results

# The tests that read the store share one: they stay in one process of pytest-xdist.
pytestmark = pytest.mark.xdist_group("queries")

N = None
LEAD, DOER, JUDGE = (f"{A.id}/agent/{position}" for position in range(3))
LEAD_B, DOER_B, JUDGE_B = (f"{B.id}/agent/{position}" for position in range(3))
ANN, BOB = f"{C.id}/agent/0", f"{C.id}/agent/1"
USER, SOLO = f"{D.id}/agent/0", f"{D.id}/agent/1"
STAR, DEBATE = A.method.id, C.method.id
SUM, VOTE, SUM_BETA = A.task.id, C.task.id, D.task.id
LEAD_UNIT, DOER_UNIT, JUDGE_UNIT = (unit.id for unit in CREW.units)
FIVE, SUM_TEXT, SIX, NO = map(content_hash, ("5", "Add 2 and 3.", "It is 6.", "No."))

LEADS = ("lead", "orchestrator", "agent_message", "lead")
DOES = ("doer", "solver", "agent_message", "doer")
DECIDES = ("lead", "orchestrator", "decision", "lead")
AGAIN = ("tool_call", "calculator", "ok", True)
FIRST, LAST = f"{C.id}/proposal/0", f"{C.id}/proposal/1"

# Rows of runs and runs-by-size, and of motifs.
RUN_A = (A.id, "sum", "alpha", "sum", "star", "succeeded", 1.0, 6, 3, 6, 0, 18, "toy")
RUN_B = (B.id, "sum", "alpha", "sum", "star", "failed", N, 4, 3, 3, 1, N, "toy")
RUN_C = (C.id, "vote", "alpha", "vote", "debate", "unknown", N, 4, 2, 3, 0, N, "toy")
RUN_D = (D.id, "sum", "beta", "sum", N, "succeeded", N, 2, 2, 1, 0, N, "toy")
MOTIF_1 = ("motif-1", "pattern 1", "pair", 2, "run", "form 1", 1, 2, 5, N, N, N, N)
MOTIF_2 = ("motif-2", "pattern 2", "chain", 3, "run", "form 2", 1, 1, 1, 0.5, 2.5, 0.03125, N)
MOTIF_3 = ("motif-3", "pattern 3", "pair", 2, "decomposition", "form 3", 1, 1, 1, N, N, N, N)
EVALUATION_A = ("evaluation-0", A.id, "c", 0.5, 1.0, 2.0, *[N] * 18, 10, 5)
EVALUATION_B = ("evaluation-1", B.id, "c", 0.25, 0.5, *[N] * 7, 1.0, *[N] * 13)
EVALUATION_C = ("evaluation-2", C.id, "c", 0.1, *[N] * 22)

# One row of outcomes-by-*: runs, succeeded, failed, unknown, success_rate.
ONE_SUCCESS = (1, 1, 0, 0, 1.0)

ANSWERS = {
    "actions-by-role": [
        (
            {},
            [
                ("orchestrator", 5, 3, 0, 2, 2),
                ("solver", 5, 3, 2, 0, 3),
                ("proposer", 2, 2, 0, 0, 1),
                ("unknown", 2, 2, 0, 0, 1),
                ("critic", 1, 1, 0, 0, 1),
                ("human", 1, 1, 0, 0, 1),
            ],
        ),
        (
            {"method": "star"},
            [
                ("orchestrator", 5, 3, 0, 2, 2),
                ("solver", 4, 2, 2, 0, 2),
                ("critic", 1, 1, 0, 0, 1),
            ],
        ),
        ({"dataset": "beta"}, [("human", 1, 1, 0, 0, 1), ("solver", 1, 1, 0, 0, 1)]),
        ({"method": "star", "dataset": "beta"}, []),
    ],
    "actions-of-each-role": [
        (
            {},
            [
                ("orchestrator", 5, 2, 8),
                ("solver", 5, 2, 10),
                ("proposer", 2, 0, 0),
                ("unknown", 2, 0, 0),
                ("critic", 1, 1, 8),
                ("human", 1, 0, 0),
            ],
        )
    ],
    "agents-of-a-run": [
        (
            {"run": B.id},
            [
                (0, "lead", "orchestrator", N, "agent", 3, 2, 1, LEAD_B),
                (1, "doer", "solver", N, "agent", 1, 1, 1, DOER_B),
                (2, "judge", "critic", N, "agent", 0, 0, 1, JUDGE_B),
            ],
        ),
        (
            {"run": C.id},
            [
                (0, "ann", "proposer", N, "agent", 2, 2, 2, ANN),
                (1, "bob", "unknown", "Thinker", "agent", 2, 2, 2, BOB),
            ],
        ),
        ({"run": "nothing"}, []),
    ],
    "busiest-agents": [
        (
            {"limit": 4},
            [
                (A.id, "doer", "solver", 3, 0.5, 6, DOER),
                (B.id, "lead", "orchestrator", 3, 0.75, 4, LEAD_B),
                (A.id, "lead", "orchestrator", 2, 2 / 6, 4, LEAD),
                (C.id, "ann", "proposer", 2, 0.5, N, ANN),
            ],
        )
    ],
    "changed-answers": [
        (
            {},
            [(C.id, "s1", "ann", "proposer", "Yes", "No", 0.5, FIRST, LAST)],
        )
    ],
    "coarse-graphs": [
        (
            {},
            [
                ("sum", 0, N, 2, 1, 1, 4, "s1", P.id, "coarse-1", "library-1"),
                ("Prepare", 1, "foundation", 2, 1, 0, 2, "s2", P.id, "coarse-2", "library-1"),
            ],
        ),
        (
            {"category": "foundation", "library": "mined"},
            [("Prepare", 1, "foundation", 2, 1, 0, 2, "s2", P.id, "coarse-2", "library-1")],
        ),
        ({"library": "another"}, []),
    ],
    "couplings-across-groups": [
        ({}, [(P.id, 3, "Parse", "Prepare", 4, "Add", "Compute", ["sheet"], "explicit")]),
        ({"decomposition": Q.id}, []),
    ],
    "critical-resources": [
        (
            {},
            [
                (P.id, "sheet", "file", 3, 2, 2, f"{P.id}/resource/0"),
                (P.id, "cache", N, 1, 0, 1, f"{P.id}/resource/1"),
            ],
        ),
        ({"graph": Q.id}, []),
    ],
    "critics-and-their-readers": [
        ({}, [(A.id, 4, "judge", "critic", "Right, it is 5.", 1, ["orchestrator"], 5)]),
        ({"characters": 5}, [(A.id, 4, "judge", "critic", "Right", 1, ["orchestrator"], 5)]),
        ({"run": B.id}, []),
    ],
    "datasets-overview": [({}, [("alpha", 2, 3, 14, 2, 8), ("beta", 1, 1, 2, 0, 0)])],
    "decomposition-outline": [
        (
            {"decomposition": P.id},
            [
                (0, "group", "Prepare", "unknown", N, N, [], [], []),
                (1, "group", "Compute", "unknown", N, N, [], [], []),
                (2, "subtask", "Read", "unknown", N, 0, [], ["sheet"], []),
                (3, "subtask", "Parse", "unknown", N, 0, [2], [], ["sheet"]),
                (4, "subtask", "Add", "solver", "worker", 1, [2, 3], ["sheet"], ["sheet"]),
                (5, "subtask", "Check", "unknown", N, 1, [2], [], ["cache"]),
            ],
        )
    ],
    "decompositions": [
        (
            {},
            [
                (P.id, "sum", "alpha", "sum", "planA", 6, 4, "toy"),
                (Q.id, "sum", "alpha", "sum", "planB", 2, 1, "toy"),
            ],
        ),
        ({"method": "planB"}, [(Q.id, "sum", "alpha", "sum", "planB", 2, 1, "toy")]),
        ({"task": "su", "skip": 1}, [(Q.id, "sum", "alpha", "sum", "planB", 2, 1, "toy")]),
        ({"dataset": "beta"}, []),
    ],
    "evaluations": [
        ({}, [EVALUATION_A, EVALUATION_B, EVALUATION_C]),
        ({"configuration_hash": "c", "skip": 2}, [EVALUATION_C]),
        ({"configuration_hash": "d"}, []),
    ],
    "evaluations-by-method": [
        (
            {},
            [
                ("star", 2, 0.375, 0.75, 2.0, N, 1.0, N, "c", STAR),
                ("debate", 1, 0.1, N, N, N, N, N, "c", DEBATE),
            ],
        ),
        ({"dataset": "beta"}, []),
    ],
    "evaluations-of-a-run": [({"run": B.id}, [EVALUATION_B]), ({"run": D.id}, [])],
    "failed-tool-calls": [
        (
            {},
            [(A.id, 1, "calculator", "doer", 2, "doer", "solver", *AGAIN)],
        ),
        ({"run": B.id}, []),
    ],
    "fan-in-hubs": [
        ({"limit": 1}, [(A.id, 5, "lead", "orchestrator", "decision", "lead", 2, 2)]),
        (
            {"run": C.id},
            [
                (C.id, 1, "bob", "unknown", "agent_message", "bob", 1, 1),
                (C.id, 2, "ann", "proposer", "agent_message", "ann", 1, 1),
                (C.id, 3, "bob", "unknown", "agent_message", "bob", 1, 1),
            ],
        ),
    ],
    "fan-out-hubs": [
        (
            {"limit": 2},
            [
                (A.id, 2, "doer", "solver", "tool_call", "calculator", 2, 2),
                (C.id, 0, "ann", "proposer", "agent_message", "ann", 2, 1),
            ],
        )
    ],
    # By hand: A, B, C and D are runs, P and Q decompositions, all of the format "toy".
    "forest-documents": [
        (
            {"forest_set": "set-1"},
            [("forest-1", '{"seed":0}', '{"task":null}', '{"references":[]}')],
        ),
        ({"forest_set": "set-2"}, []),
    ],
    "forest-references": [
        (
            {"forest": "forest-1"},
            [
                (A.id, 0.75, "sum", "star", 6, 3),
                (P.id, 0.25, "sum", "planA", 6, 1),
            ],
        ),
        ({"forest": "forest-2"}, []),
    ],
    "forests": [
        ({}, [("forest-1", "task", "sum", 2, 3, 2, 0.25, 0.5, False, "set-1", False, "c")]),
        ({"forest_set": "set-2"}, []),
        ({"level": "dataset"}, []),
    ],
    "formats-overview": [({}, [("toy", 4, 2, 24, 11, 18, 1, 1 / 18)])],
    "guessed-edges": [
        (
            {},
            [
                (B.id, "toy", "star", 3, 1, 1 / 3),
                (A.id, "toy", "star", 6, 0, 0.0),
                (C.id, "toy", "debate", 3, 0, 0.0),
                (D.id, "toy", N, 1, 0, 0.0),
            ],
        )
    ],
    "labelled-mistakes": [
        (
            {},
            [(B.id, "sum", "star", "lead", 2, "orchestrator", 0.5, ["lead"], 3, True)],
        ),
        ({"method": "debate"}, []),
    ],
    "libraries": [({}, [("library-1", "mined", "motifs", 2, 3, 2, 2, "c")])],
    "library-document": [
        (
            {"library": "library-1"},
            [("library-1", '{"a":1}', '{"motifs":3}', '{"rest":[]}')],
        ),
        ({"library": "mined"}, []),
    ],
    "library-parts": [
        (
            {"library": "library-1"},
            [
                ("category", 0, "foundation", '["category-1"]', "category-1"),
                ("coarse graph", 0, "sum", '["coarse-1"]', "coarse-1"),
                ("coupling", 0, "T1 and T2 share sheet", '["template-2"]', "template-2"),
                (
                    "integration",
                    0,
                    "T2 joins T1 + T1, feeds T1",
                    '["template-1"]',
                    "template-1",
                ),
                ("refinement", 0, "Prepare", '["coarse-2"]', "coarse-2"),
                ("rule", 0, "two of a kind", '["rule-1"]', "rule-1"),
                ("rule", 1, "one in another", '["rule-2"]', "rule-2"),
                ("type", 0, "T1", '["type-1"]', "type-1"),
                ("type", 1, "T2", '["type-2"]', "type-2"),
            ],
        ),
        ({"library": "another"}, []),
    ],
    "longest-chain-of-a-run": [
        (
            {"run": C.id},
            [
                (1, 0, "ann", "proposer", "agent_message", "ann", N),
                (2, 1, "bob", "unknown", "agent_message", "bob", "delivered"),
                (3, 2, "ann", "proposer", "agent_message", "ann", "delivered"),
            ],
        ),
        (
            {"run": B.id},
            [
                (1, 0, "lead", "orchestrator", "agent_message", "lead", N),
                (2, 1, "doer", "solver", "agent_message", "doer", "delivered"),
                (3, 2, "lead", "orchestrator", "agent_message", "lead", "delivered"),
                (4, 3, "lead", "orchestrator", "decision", "lead", "inferred"),
            ],
        ),
    ],
    "longest-chains": [
        (
            {},
            [
                (A.id, "sum", "star", 6, 6, 1.0),
                (B.id, "sum", "star", 4, 4, 1.0),
                (C.id, "vote", "debate", 4, 3, 0.75),
                (D.id, "sum", N, 2, 2, 1.0),
            ],
        ),
        ({"dataset": "alpha", "limit": 1}, [(A.id, "sum", "star", 6, 6, 1.0)]),
    ],
    "longest-silences": [
        (
            {},
            [
                (A.id, 4, "critic", "judge", 5, "orchestrator", "lead", 3.0),
                (A.id, 2, "solver", "calculator", 3, "solver", "doer", 1.0),
            ],
        )
    ],
    "messages-between-agents": [
        (
            {"run": A.id},
            [
                ("lead", "orchestrator", "doer", "solver", 1, 1, 4, LEAD, DOER),
                ("doer", "solver", "judge", "critic", 1, 1, 6, DOER, JUDGE),
                ("judge", "critic", "lead", "orchestrator", 1, 1, 8, JUDGE, LEAD),
            ],
        ),
        (
            {"run": C.id},
            [
                ("ann", "proposer", "bob", "unknown", 2, 0, N, ANN, BOB),
                ("bob", "unknown", "ann", "proposer", 2, 0, N, BOB, ANN),
            ],
        ),
    ],
    "messages-outside-links": [
        (
            {},
            [
                (B.id, "crew", "lead", "judge", "lead", "judge", 1, LEAD_B, JUDGE_B),
                (B.id, "crew", "doer", "lead", "doer", "lead", 1, DOER_B, LEAD_B),
            ],
        ),
        ({"run": A.id}, []),
    ],
    "motif": [
        ({"motif": "motif-2"}, [(*MOTIF_2, "library-1")]),
        ({"motif": "pattern 2"}, []),
    ],
    "motifs": [
        ({"library": "library-1"}, [MOTIF_1, MOTIF_2, MOTIF_3]),
        ({"library": "library-1", "sort": "significance"}, [MOTIF_2, MOTIF_1, MOTIF_3]),
        ({"library": "library-1", "shape": "pair", "skip": 1}, [MOTIF_3]),
        ({"library": "library-1", "holding": "pattern 3"}, [MOTIF_3]),
        ({"library": "another"}, []),
    ],
    "motifs-by-category": [
        ({}, [("foundation", "pattern 3", 1, 1, "motif-3", "library-1")]),
        ({"category": "deliver"}, []),
        ({"library": "another"}, []),
    ],
    "motifs-by-support": [
        (
            {},
            [
                ("motif-1", "pattern 1", 2, "run", "form 1", 1, 2, 5, "library-1"),
                ("motif-2", "pattern 2", 3, "run", "form 2", 1, 1, 1, "library-1"),
                ("motif-3", "pattern 3", 2, "decomposition", "form 3", 1, 1, 1, "library-1"),
            ],
        ),
        (
            {"library": "mined", "scope": "decomposition"},
            [("motif-3", "pattern 3", 2, "decomposition", "form 3", 1, 1, 1, "library-1")],
        ),
        ({"library": "another"}, []),
    ],
    "number-of-decompositions": [
        ({}, [(2,)]),
        ({"method": "planA"}, [(1,)]),
        ({"dataset": "beta"}, [(0,)]),
    ],
    "number-of-motifs": [
        ({"library": "library-1"}, [("chain", 1), ("pair", 2)]),
        ({"library": "library-1", "holding": "2"}, [("chain", 1)]),
    ],
    "number-of-runs": [
        ({}, [("failed", 1), ("succeeded", 2), ("unknown", 1)]),
        ({"method": "star"}, [("failed", 1), ("succeeded", 1)]),
        ({"task": "vot", "dataset": "alpha"}, [("unknown", 1)]),
        ({"task": "vot", "dataset": "beta"}, []),
    ],
    "outcomes-by-method": [
        (
            {},
            [
                (N, N, *ONE_SUCCESS, N),
                ("star", "toy", 2, 1, 1, 0, 0.5, STAR),
                ("debate", "toy", 1, 0, 0, 1, N, DEBATE),
            ],
        ),
        ({"dataset": "beta"}, [(N, N, *ONE_SUCCESS, N)]),
    ],
    "outcomes-by-task": [
        (
            {},
            [
                ("sum", "alpha", 2, 1, 1, 0, 0.5, SUM),
                ("sum", "beta", *ONE_SUCCESS, SUM_BETA),
                ("vote", "alpha", 1, 0, 0, 1, N, VOTE),
            ],
        )
    ],
    "panel-by-method": [
        (
            {},
            [
                (
                    *("star", 2, 0.5, 2, 0.375, 0.75, 1.0, N, 0.5, 0.25, 15.0),
                    *(0, 1, 0, 1, "c", STAR),
                ),
                ("debate", 1, N, 0, N, N, N, N, N, N, N, 0, 0, 0, 0, "c", DEBATE),
            ],
        ),
        ({"dataset": "beta"}, []),
    ],
    "reader-warnings": [({}, [("toy", "The trace names no times.", 1, B.id)])],
    "report-document": [
        (
            {"report": "report-2"},
            [
                (
                    "report-2",
                    "overview",
                    "about overview",
                    2,
                    '{"dataset":null}',
                    "c",
                    '{"seed":1}',
                    '{"rows":[]}',
                )
            ],
        ),
        ({"report": "about overview"}, []),
    ],
    "reported-tokens-by-method": [
        (
            {},
            [
                ("star", 2, 1, 100, 18, STAR),
                ("debate", 1, 0, N, N, DEBATE),
                (N, 1, 0, N, N, N),
            ],
        )
    ],
    "reports": [
        (
            {},
            [
                ("report-2", "overview", "about overview", 2, '{"dataset":null}', "c"),
                ("report-1", "trajectories", "about trajectories", 1, '{"dataset":null}', "c"),
            ],
        ),
        (
            {"kind": "trajectories"},
            [("report-1", "trajectories", "about trajectories", 1, '{"dataset":null}', "c")],
        ),
    ],
    "relaying-agents": [({}, [(B.id, "doer", "solver", "agent", 1, 1, DOER_B)])],
    "repeated-contents": [
        (
            {},
            [
                (A.id, 2, 2, 2, 5, "5", FIVE),
                *sorted(
                    [
                        (B.id, 2, 2, 0, 1, "Add 2 and 3.", SUM_TEXT),
                        (B.id, 2, 1, 2, 3, "It is 6.", SIX),
                    ],
                    key=lambda row: row[-1],
                ),
                (C.id, 2, 2, 1, 2, "No.", NO),
            ],
        ),
        ({"run": C.id, "characters": 1}, [(C.id, 2, 2, 1, 2, "N", NO)]),
        ({"times": 3}, []),
    ],
    "rounds-by-method": [
        (
            {},
            [
                ("star", "failed", 1, 2, 2.0, 2, 4.0, STAR),
                ("star", "succeeded", 1, 3, 3.0, 3, 6.0, STAR),
            ],
        )
    ],
    "rules-by-support": [
        (
            {},
            [
                (
                    "two of a kind",
                    "run",
                    3,
                    "[[0,1]]",
                    1,
                    2,
                    4,
                    "motif-1",
                    "motif-1",
                    "rule-1",
                    "library-1",
                ),
                (
                    "one in another",
                    "decomposition",
                    3,
                    "[[0,0],[1,2]]",
                    1,
                    1,
                    1,
                    "motif-1",
                    "motif-2",
                    "rule-2",
                    "library-1",
                ),
            ],
        ),
        (
            {"motif": "pattern 2"},
            [
                (
                    "one in another",
                    "decomposition",
                    3,
                    "[[0,0],[1,2]]",
                    1,
                    1,
                    1,
                    "motif-1",
                    "motif-2",
                    "rule-2",
                    "library-1",
                ),
            ],
        ),
        ({"library": "another"}, []),
        ({"scope": "run", "motif": "pattern 2"}, []),
    ],
    "run-transcript": [
        (
            {"run": B.id, "characters": 6},
            [
                (0, 0, *LEADS, ["doer"], "explicit", [], N, 10, 4, "Add 2 "),
                (1, 0, *DOES, ["lead"], "explicit", [0], N, 12, 4, "Add 2 "),
                (2, 1, *LEADS, ["judge"], "explicit", [1], N, N, N, "It is "),
                (3, 1, *DECIDES, [], N, [2], N, N, N, "it  is"),
            ],
        )
    ],
    "runs": [
        ({}, [RUN_A, RUN_B, RUN_C, RUN_D]),
        ({"method": "star", "outcome": "failed"}, [RUN_B]),
        ({"task": "su", "dataset": "beta"}, [RUN_D]),
        ({"outcome": "unknown"}, [RUN_C]),
        ({"skip": 2}, [RUN_C, RUN_D]),
    ],
    "runs-beside-a-forest": [
        (
            {"forest": "forest-1"},
            [
                (A.id, "star", True, 1.0, 0.5, 0.75, 1.0, B.id, "sound", "c"),
                (B.id, "star", False, N, 0.25, N, 0.5, N, "content", "c"),
            ],
        ),
        ({"forest": "forest-2"}, []),
    ],
    "runs-by-diagnosis": [
        (
            {},
            [
                ("content", B.id, "sum", "star", 0.25, N, N, N, 0.5, N, "c"),
                ("sound", A.id, "sum", "star", 0.5, 0.75, 0.25, "task", 1.0, B.id, "c"),
            ],
        ),
        (
            {"diagnosis": "content", "method": "star", "dataset": "alpha"},
            [("content", B.id, "sum", "star", 0.25, N, N, N, 0.5, N, "c")],
        ),
        ({"diagnosis": "lucky"}, []),
    ],
    "runs-by-size": [
        ({"sort": "actions", "direction": 1.0}, [RUN_D, RUN_B, RUN_C, RUN_A]),
        ({"sort": "actions"}, [RUN_A, RUN_B, RUN_C, RUN_D]),
        ({"sort": "agents", "direction": 1.0}, [RUN_C, RUN_D, RUN_A, RUN_B]),
        ({"sort": "tokens", "dataset": "alpha", "skip": 1}, [RUN_B, RUN_C]),
        ({"sort": "score", "outcome": "succeeded"}, [RUN_A, RUN_D]),
    ],
    "runs-of-a-task": [
        (
            {"task": "sum"},
            [
                (A.id, "star", True, 1.0, 6, 3, 6, 100, 18, "answered", SUM),
                (B.id, "star", False, N, 4, 3, 3, N, N, N, SUM),
                (D.id, N, True, N, 2, 2, 1, N, N, N, SUM_BETA),
            ],
        ),
        ({"task": SUM_BETA}, [(D.id, N, True, N, 2, 2, 1, N, N, N, SUM_BETA)]),
    ],
    "silent-agents": [({}, [(B.id, "judge", "critic", "agent", 1, 1, JUDGE_B)])],
    "size-of-a-graph": [
        ({"graph": A.id}, [(A.id, 6, 3, 6)]),
        ({"graph": P.id}, [(P.id, 6, 1, 4)]),
        ({"graph": "nothing"}, []),
    ],
    "subtasks-by-depth": [
        ({}, [(1, 2, 2, 1), (2, 3, 2, 2), (3, 1, 1, 1)]),
        ({"decomposition": Q.id}, [(1, 1, 1, 1), (2, 1, 1, 1)]),
        ({"dataset": "beta"}, []),
    ],
    "subtasks-by-fan-in": [
        (
            {},
            [
                (P.id, "sum", 4, "Add", "solver", 2, 0),
                (P.id, "sum", 3, "Parse", "unknown", 1, 1),
                (P.id, "sum", 5, "Check", "unknown", 1, 0),
                (Q.id, "sum", 1, "Answer", "unknown", 1, 0),
            ],
        )
    ],
    "tasks-of-a-motif": [
        ({"motif": "motif-1"}, [("sum", "alpha", 2, 5, SUM)]),
        ({"motif": "motif-3"}, [("sum", "alpha", 1, 1, SUM)]),
        ({"motif": "nothing"}, []),
    ],
    "tasks-with-most-decompositions": [({}, [("sum", "alpha", 2, 2, 2, 6, SUM)])],
    "templates-by-support": [
        (
            {},
            [
                (
                    "integration",
                    "T2 joins T1 + T1, feeds T1",
                    True,
                    2,
                    3,
                    "template-1",
                    "library-1",
                ),
                ("coupling", "T1 and T2 share sheet", False, 1, 1, "template-2", "library-1"),
            ],
        ),
        (
            {"kind": "coupling", "library": "mined"},
            [("coupling", "T1 and T2 share sheet", False, 1, 1, "template-2", "library-1")],
        ),
        ({"library": "another"}, []),
    ],
    "top-claims": [
        (
            {},
            [
                (C.id, N, "c3", N, N, 2, 0, True, False, "claim-3"),
                (C.id, "s1", "c1", "4 + 4", "ann", 1, 1, N, N, "claim-1"),
                (C.id, N, "c2", N, "bob", 0, 2, False, True, "claim-2"),
            ],
        ),
        (
            {"run": C.id, "limit": 1},
            [(C.id, N, "c3", N, N, 2, 0, True, False, "claim-3")],
        ),
        ({"run": A.id}, []),
        ({"dataset": "nothing"}, []),
        ({"method": "nobody"}, []),
    ],
    "tokens-by-method": [
        (
            {},
            [
                ("star", "toy", 2, 10, 5, 122, 26, 2, 13.0, STAR),
                ("debate", "toy", 1, 4, 0, N, N, 0, N, DEBATE),
                (N, N, 1, 2, 0, N, N, 0, N, N),
            ],
        )
    ],
    "tokens-by-role": [
        (
            {},
            [
                ("solver", 5, 2, 32, 10, 5.0),
                ("critic", 1, 1, 30, 8, 8.0),
                ("orchestrator", 5, 2, 60, 8, 4.0),
                ("human", 1, 0, N, N, N),
                ("proposer", 2, 0, N, N, N),
                ("unknown", 2, 0, N, N, N),
            ],
        )
    ],
    "tool-failure-rates": [({}, [("calculator", 2, 1, 1, 0, 0.5, 1)])],
    "types-by-support": [
        (
            {},
            [
                (
                    "T1",
                    "decomposition",
                    "Parse",
                    2,
                    3,
                    ["text"],
                    ["log", "tokens"],
                    [],
                    ["file"],
                    "type-1",
                    "library-1",
                ),
                ("T2", "decomposition", N, 1, 1, [], [], ["file"], [], "type-2", "library-1"),
            ],
        ),
        ({"library": "another"}, []),
        ({"scope": "run"}, []),
    ],
    "unanswered-handoffs": [
        (
            {},
            [
                (B.id, 2, "lead", "orchestrator", "judge", "critic", "agent", N, 1, JUDGE_B),
                (D.id, 1, "solo", "solver", "user", "human", "human", 0, 0, USER),
            ],
        ),
        ({"run": A.id}, []),
    ],
    "unconsumed-actions": [
        (
            {},
            [
                (A.id, 5, "lead", "orchestrator", "decision", "lead", N, True),
                (B.id, 3, "lead", "orchestrator", "decision", "lead", N, True),
                (C.id, 2, "ann", "proposer", "agent_message", "ann", "broadcast", False),
                (C.id, 3, "bob", "unknown", "agent_message", "bob", "broadcast", True),
                (D.id, 1, "solo", "solver", "agent_message", "solo", "explicit", True),
            ],
        ),
        (
            {"dataset": "beta"},
            [(D.id, 1, "solo", "solver", "agent_message", "solo", "explicit", True)],
        ),
    ],
    "unconsumed-by-role": [
        (
            {},
            [
                ("proposer", 2, 1, 0.5),
                ("critic", 1, 0, 0.0),
                ("human", 1, 0, 0.0),
                ("orchestrator", 3, 0, 0.0),
                ("solver", 4, 0, 0.0),
                ("unknown", 1, 0, 0.0),
            ],
        )
    ],
    "unknown-roles": [({}, [("Thinker", "toy", 1, 1, 2)])],
    "unused-artifacts": [
        (
            {},
            [
                (P.id, "log", 3, "Parse", False, f"{P.id}/artifact/2"),
                (P.id, "total", 4, "Add", True, f"{P.id}/artifact/3"),
                (P.id, "note", 5, "Check", True, f"{P.id}/artifact/4"),
            ],
        )
    ],
    "unused-links": [
        (
            {},
            [("crew", "judge", "doer", ["corrects"], 2, CREW.id, JUDGE_UNIT, DOER_UNIT)],
        ),
        ({"organization": "another"}, []),
    ],
    "where-a-motif-occurs": [
        (
            {"motif": "pattern 1"},
            [
                (A.id, "sum", "star", 3, "[[0,1],[3,4],[4,5]]", "motif-1"),
                (B.id, "sum", "star", 2, "[[0,1],[1,2]]", "motif-1"),
            ],
        ),
        ({"motif": "motif-3"}, [(P.id, "sum", "planA", 1, "[[2,3]]", "motif-3")]),
    ],
    "where-a-rule-applies": [
        (
            {"rule": "rule-1"},
            [
                (A.id, "sum", "star", 3, "[[3],[4]]", "rule-1"),
                (B.id, "sum", "star", 1, "[[1]]", "rule-1"),
            ],
        ),
        ({"rule": "rule-2"}, [(P.id, "sum", "planA", 1, "[[2,3]]", "rule-2")]),
        ({"rule": "another"}, []),
    ],
    "where-a-type-occurs": [
        (
            {"subtask_type": "T1"},
            [(P.id, 3, "Parse", N, "type-1"), (P.id, 4, "Add", N, "type-1")],
        ),
        ({"subtask_type": "type-2"}, [(P.id, 2, "Read", N, "type-2")]),
    ],
    "where-failed-runs-part": [
        (
            {"task": "sum"},
            [(B.id, A.id, 1, "solver agent_message", "solver tool_call", 4, 6)],
        ),
        ({"task": "vote"}, []),
    ],
    "who-consumes-whom": [
        (
            {},
            [
                ("orchestrator", "solver", 2, 0, 2),
                ("proposer", "unknown", 2, 0, 1),
                ("solver", "orchestrator", 2, 0, 2),
                ("solver", "solver", 2, 0, 1),
                ("critic", "orchestrator", 1, 0, 1),
                ("human", "solver", 1, 0, 1),
                ("orchestrator", "orchestrator", 1, 1, 1),
                ("solver", "critic", 1, 0, 1),
                ("unknown", "proposer", 1, 0, 1),
            ],
        )
    ],
    "who-talks-to-whom": [
        (
            {},
            [
                ("orchestrator", "solver", 2, 2, 8, 2),
                ("proposer", "unknown", 2, 0, N, 1),
                ("unknown", "proposer", 2, 0, N, 1),
                ("critic", "orchestrator", 1, 1, 8, 1),
                ("human", "solver", 1, 1, N, 1),
                ("orchestrator", "critic", 1, 1, N, 1),
                ("solver", "critic", 1, 1, 6, 1),
                ("solver", "human", 1, 1, N, 1),
                ("solver", "orchestrator", 1, 1, 4, 1),
            ],
        ),
        (
            {"method": "debate"},
            [("proposer", "unknown", 2, 0, N, 1), ("unknown", "proposer", 2, 0, N, 1)],
        ),
    ],
}


@pytest.fixture(scope="module")
def corpus(module_store):
    """The store with the corpus. The graphs go in backwards: no answer may lean on that."""
    for graph in reversed(GRAPHS):
        module_store.write([graph])
    module_store.write_results(results())
    return module_store


def answer(store, name, given):
    saved = saved_query(name)
    return store.query(saved.cypher, bind(saved, given))


def limited(name):
    return any(parameter.name == "limit" for parameter in saved_query(name).parameters)


def test_the_corpus_has_ids_in_the_order_of_its_letters():
    assert A.id < B.id < C.id < D.id
    assert P.id < Q.id
    assert SUM < VOTE < SUM_BETA
    assert STAR < DEBATE


def test_every_saved_query_is_answered_by_hand():
    assert sorted(ANSWERS) == [saved.name for saved in saved_queries()]
    assert len(ANSWERS) >= 24
    assert all(any(rows for _, rows in cases) for cases in ANSWERS.values())


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_answers(corpus, name):
    saved = saved_query(name)
    for given, rows in ANSWERS[name]:
        result = answer(corpus, name, given)
        assert result.columns == tuple(column.name for column in saved.columns)
        assert list(result.rows) == rows
        assert not result.truncated
        types = [[type(value) for value in row] for row in result.rows]
        assert types == [[type(value) for value in row] for row in rows]
        keys = {tuple(record[name] for name in saved.key) for record in result.records()}
        assert len(keys) == len(rows), "the key does not tell rows apart"


@pytest.mark.parametrize("name", [name for name in sorted(ANSWERS) if limited(name)])
def test_a_limit_gives_the_first_rows(corpus, name):
    for given, rows in ANSWERS[name]:
        for limit in range(len(rows) + 1):
            assert list(answer(corpus, name, {**given, "limit": limit}).rows) == rows[:limit]


def test_counting_what_an_optional_match_found(corpus):
    """The embedded engine's optimizer once made one row of these."""
    result = corpus.query(
        "MATCH (r:Run {id: $run}) OPTIONAL MATCH (r)-[:HAS_AGENT]->(g:Agent) "
        "WITH r, g, count(g) AS found RETURN g.name AS name, found ORDER BY name",
        {"run": A.id},
    )
    assert list(result.rows) == [("doer", 1), ("judge", 1), ("lead", 1)]


def test_a_text_is_cut_between_characters_not_inside_one(module_store, corpus):
    made = GraphBuilder(kind="run", format="toy", uri="x", content="emoji")
    made.set_task("faces", dataset="gamma")
    agent = made.new_agent("a")
    made.add("agent_message", "a", agent=agent, content="\U0001f600\U0001f601e\u0301!")
    run = made.build()
    try:
        module_store.write([run])
        given = {"run": run.id, "characters": 3}
        assert answer(module_store, "run-transcript", given).records()[0]["text"] == (
            "\U0001f600\U0001f601e"
        )
    finally:
        module_store.delete([run.id])


def test_a_query_by_name():
    saved = saved_query("tokens-by-role")
    assert saved.title == "Tokens by role"
    assert saved.cypher.startswith("MATCH")
    assert [parameter.name for parameter in saved.parameters] == ["dataset", "method"]


@pytest.mark.parametrize("name", ["token-by-role", "tokens_by_roles", "Tokens-by-role"])
def test_an_unknown_name_is_told_the_nearest(name):
    with pytest.raises(NotFoundError, match=r"did you mean .*tokens-by-role"):
        saved_query(name)


def test_a_name_like_no_other_is_told_where_they_are():
    with pytest.raises(NotFoundError, match="--list shows all"):
        saved_query("zzz")


HEADER = """// title: T
// question: Q?
// parameter: run: string -- a run
// parameter: many: integer = 3 -- a count
// parameter: least: float = 0.5 -- a number
// parameter: all: boolean = false -- whether
// parameter: method: string = null -- a filter
// column: a -- an a
// key: a

MATCH (n)
RETURN n.name AS a
"""


def test_defaults_and_texts_become_values_of_the_type():
    query = parse_query("q", HEADER)
    assert query.cypher == "MATCH (n)\nRETURN n.name AS a"
    assert bind(query, {"run": "x"}) == {
        "run": "x",
        "many": 3,
        "least": 0.5,
        "all": False,
        "method": None,
    }
    given = {"run": "5", "many": " 7", "least": "2", "all": "Yes", "method": "m"}
    bound = bind(query, given)
    assert bound == {"run": "5", "many": 7, "least": 2.0, "all": True, "method": "m"}
    assert [type(value) for value in bound.values()] == [str, int, float, bool, str]
    assert bind(query, {"run": "x", "method": None, "many": 0, "least": 1})["least"] == 1.0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "q needs the parameter run: a run"),
        ({"run": "x", "limit": "3"}, "q has no parameter limit: it has run, many"),
        ({"run": None}, "run takes a text, not None"),
        ({"run": 3}, "run takes a text, not 3"),
        ({"run": "x", "many": "three"}, "many takes a whole number, 0 or more, not 'three'"),
        ({"run": "x", "many": "-1"}, "many takes a whole number"),
        ({"run": "x", "many": "1.0"}, "many takes a whole number"),
        ({"run": "x", "many": "9" * 5000}, "many takes a whole number"),
        ({"run": "x", "many": 2**31}, "many takes a whole number"),
        ({"run": "x", "many": True}, "many takes a whole number, 0 or more, not True"),
        ({"run": "x", "many": None}, "many takes a whole number, 0 or more, not None"),
        ({"run": "x", "least": "much"}, "least takes a number, not 'much'"),
        ({"run": "x", "least": "nan"}, "least takes a number"),
        ({"run": "x", "all": "maybe"}, "all takes true or false, not 'maybe'"),
        ({"run": "x", "all": 1}, "all takes true or false, not 1"),
    ],
)
def test_what_does_not_fit_is_refused(given, says):
    with pytest.raises(UsageError) as caught:
        bind(parse_query("q", HEADER), given)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("line", "instead", "says"),
    [
        ("// title: T", "// title T", "line 1: a header line reads"),
        ("// title: T", "// heading: T", "the field heading is unknown"),
        ("// title: T", "// question: Q?", "the field question is unknown or stands twice"),
        ("// title: T\n", "", "lacks title"),
        ("// column: a -- an a\n", "", "lacks columns"),
        ("// column: a -- an a", "// column: a", "a column reads"),
        (": string -- a run", " -- a run", "a parameter reads"),
        (": string -- a run", ": text -- a run", "text is none of string"),
        ("= 3", "= three", "the default is no JSON value"),
        ("= 3", "= true", "the default is no integer"),
    ],
)
def test_a_broken_header_is_refused(line, instead, says):
    assert line in HEADER
    with pytest.raises(UsageError) as caught:
        parse_query("q", HEADER.replace(line, instead, 1))
    assert says in str(caught.value)
    assert "saved query q" in str(caught.value)
