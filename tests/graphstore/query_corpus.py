"""A small corpus for the saved queries: four runs, two decompositions, results of jobs.

Small enough to answer every question by hand. The contents that make the ids are chosen so
that the ids stand in the order of the letters.
"""

from graphstore.builder import GraphBuilder, make_organization
from graphstore.model import Artifact, CollaborationGraph, Outcome
from graphstore.rows import Rows

SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND

CREW = make_organization(
    "crew",
    [("lead", "orchestrator", {}), ("doer", "solver", {}), ("judge", "critic", {})],
    [(0, 1, "leads"), (1, 2, ""), (2, 0, "reports to"), (2, 1, "corrects")],
)


def builder(kind, content, task, dataset, method):
    made = GraphBuilder(kind=kind, format="toy", uri=f"{content}.json", content=content)
    made.set_task(task, dataset=dataset)
    if method:
        made.set_method(method, framework="toy")
    return made


def crew(made):
    made.organization = CREW
    return (
        made.new_agent("lead", role="orchestrator", unit=0),
        made.new_agent("doer", role="solver", unit=1),
        made.new_agent("judge", role="critic", unit=2),
    )


def first_run() -> CollaborationGraph:
    """A star that succeeds: one tool call fails and is tried again, the critic is heard."""
    made = builder("run", "first/0", "sum", "alpha", "star")
    lead, doer, judge = crew(made)

    def add(kind, name, second, until, **rest):
        made.add(
            kind,
            name,
            started_at=START + second * SECOND,
            ended_at=START + until * SECOND,
            **rest,
        )

    add("agent_message", "lead", 0, 1, agent=lead, recipients=[doer], content="Add 2 and 3.",
        round=0, tokens_in=10, tokens_out=4)  # fmt: skip
    add("tool_call", "calculator", 1, 2, agent=doer, content="2 + 3", round=0, status="error")
    add("tool_call", "calculator", 2, 3, agent=doer, content="5", round=0, status="ok")
    add("agent_message", "doer", 4, 5, agent=doer, recipients=[judge], content="It is 5.",
        round=1, tokens_in=20, tokens_out=6)  # fmt: skip
    add("agent_message", "judge", 5, 6, agent=judge, recipients=[lead],
        content="Right, it is 5.", round=1, tokens_in=30, tokens_out=8)  # fmt: skip
    add("decision", "lead", 9, 10, agent=lead, content="5", round=2, tokens_in=40)
    made.edge(0, 1, "delivered")
    made.edge(1, 2, "continued")
    made.edge(2, 3, "continued")
    made.edge(3, 4, "delivered")
    made.edge(4, 5, "delivered")
    made.edge(2, 5, "explicit")
    made.outcome = Outcome(
        success=True, score=1.0, tokens_in=100, tokens_out=18, termination="answered"
    )
    return made.build()


def second_run() -> CollaborationGraph:
    """The same star fails: the solver only repeats, the critic never speaks."""
    made = builder("run", "second/25", "sum", "alpha", "star")
    lead, doer, judge = crew(made)
    made.add("agent_message", "lead", agent=lead, recipients=[doer], content="Add 2 and 3.",
             round=0, tokens_in=10, tokens_out=4)  # fmt: skip
    made.add("agent_message", "doer", agent=doer, recipients=[lead], content="Add 2 and 3.",
             round=0, tokens_in=12, tokens_out=4)  # fmt: skip
    made.add("agent_message", "lead", agent=lead, recipients=[judge], content="It is 6.",
             round=1)  # fmt: skip
    made.add("decision", "lead", agent=lead, content="it  is 6.", round=1)
    made.edge(0, 1, "delivered")
    made.edge(1, 2, "delivered")
    made.edge(2, 3, "inferred")
    made.outcome = Outcome(success=False, mistake_agent="lead", mistake_step=2)
    made.warn("The trace names no times.")
    return made.build()


def third_run() -> CollaborationGraph:
    """A group chat of two: one gives up the first answer, and nothing is known of success."""
    made = builder("run", "third/12", "vote", "alpha", "debate")
    ann = made.new_agent("ann", role="proposer")
    bob = made.new_agent("bob", role_name="Thinker")
    for speaker, other, content in ((ann, bob, "Yes."), (bob, ann, "No."), (ann, bob, "No."),
                                    (bob, ann, "Maybe.")):  # fmt: skip
        made.add("agent_message", made.agent_name(speaker), agent=speaker, recipients=[other],
                 delivery="broadcast", content=content)  # fmt: skip
    made.edge(0, 1, "delivered")
    made.edge(1, 2, "delivered")
    made.edge(0, 3, "explicit")
    made.propose("s1", "initial", agent=ann, node=0, value="Yes", score=0.25)
    made.propose("s1", "final", agent=ann, node=2, value="No", score=0.75)
    made.propose("s1", "initial", agent=bob, node=1, value="No")
    made.propose("s1", "final", agent=bob, value="No")
    return made.build()


def fourth_run() -> CollaborationGraph:
    """A person asks, an agent answers; the task has the name of another data set's task."""
    made = builder("run", "fourth/2", "sum", "beta", None)
    user = made.new_agent("user", role="human", kind="human")
    solo = made.new_agent("solo", role="solver")
    made.add("agent_message", "user", agent=user, recipients=[solo], content="2 + 3?")
    made.add("agent_message", "solo", agent=solo, recipients=[user], content="5")
    made.edge(0, 1, "delivered")
    made.outcome = Outcome(success=True)
    return made.build()


def first_decomposition() -> CollaborationGraph:
    """Two groups that change one sheet."""
    made = builder("decomposition", "plan/13", "sum", "alpha", "planA")
    worker = made.new_agent("worker", role="solver")
    sheet, cache = made.resource("sheet", "file"), made.resource("cache")
    prepare = made.add("group", "Prepare")
    compute = made.add("group", "Compute")
    numbers, tokens = Artifact(name="numbers", type="text"), Artifact(name="tokens")
    read = made.add("subtask", "Read", parent=prepare, outputs=[numbers],
                    accesses=[(sheet, "read")])  # fmt: skip
    parse = made.add("subtask", "Parse", parent=prepare, inputs=[numbers],
                     outputs=[tokens, Artifact(name="log")],
                     accesses=[(sheet, "write")])  # fmt: skip
    add = made.add("subtask", "Add", parent=compute, agent=worker, inputs=[tokens],
                   outputs=[Artifact(name="total")],
                   accesses=[(sheet, "read"), (sheet, "write")])  # fmt: skip
    check = made.add("subtask", "Check", parent=compute, outputs=[Artifact(name="note")],
                     accesses=[(cache, "write")])  # fmt: skip
    for source, target in ((read, parse), (read, add), (parse, add), (read, check)):
        made.edge(source, target, "explicit")
    made.couple(parse, add, resources=[sheet])
    made.couple(add, check, basis="inferred")
    return made.build()


def second_decomposition() -> CollaborationGraph:
    """Two subtasks without groups."""
    made = builder("decomposition", "plan/22", "sum", "alpha", "planB")
    one, other = made.add("subtask", "Look"), made.add("subtask", "Answer")
    made.edge(one, other, "explicit")
    made.couple(one, other)
    return made.build()


A, B, C, D = first_run(), second_run(), third_run(), fourth_run()
P, Q = first_decomposition(), second_decomposition()
GRAPHS = (A, B, C, D, P, Q)


def results() -> Rows:
    """What jobs would have stored: evaluations and motifs."""
    rows = Rows()
    for number, (run, metrics) in enumerate(
        (
            (
                A,
                {
                    "density": 0.5,
                    "reachable_pair_fraction": 1.0,
                    "average_path_length": 2.0,
                    "success": True,
                    "tokens_in": 10,
                    "tokens_out": 5,
                    "information_uptake": 0.5,
                    "topology_efficiency": 0.25,
                    "forest": "forest-1",
                    "forest_match": 0.5,
                    "forest_match_percentile": 0.75,
                    "forest_threshold": 0.25,
                    "forest_level": "task",
                    "best_similarity": 1.0,
                    "best_reference": B.id,
                    "diagnosis": "sound",
                },
            ),
            (
                B,
                {
                    "density": 0.25,
                    "reachable_pair_fraction": 0.5,
                    "node_validity": 1.0,
                    "success": False,
                    "forest": "forest-1",
                    "forest_match": 0.25,
                    "best_similarity": 0.5,
                    "diagnosis": "content",
                },
            ),
            (C, {"density": 0.1}),
        )
    ):
        name = f"evaluation-{number}"
        rows.node(
            "Evaluation", {"id": name, "name": name, "configuration_hash": "c", **metrics}
        )
        rows.relate("OF", "Evaluation", "Run", {"source": name, "target": run.id})
    rows.node(
        "ReferenceForest",
        {
            "id": "forest-1",
            "name": "sum",
            "level": "task",
            "references": 2,
            "successes": 3,
            "distinct_successes": 2,
            "threshold": 0.25,
            "median_similarity": 0.5,
            "near_copies": False,
            "forest_set": "set-1",
            "imported": False,
            "configuration": '{"seed":0}',
            "configuration_hash": "c",
            "selection": '{"task":null}',
            "document": '{"references":[]}',
        },
    )
    for graph, label, weight in ((A, "Run", 0.75), (P, "Decomposition", 0.25)):
        rows.relate(
            "CONTAINS",
            "ReferenceForest",
            label,
            {"source": "forest-1", "target": graph.id, "weight": weight},
        )
    claims = (
        (1, {"text": "4 + 4", "unit": "s1", "endorsements": 1, "challenges": 1}),
        (
            2,
            {"endorsements": 0, "challenges": 2, "top_endorsed": False, "top_challenged": True},
        ),
        (
            3,
            {"endorsements": 2, "challenges": 0, "top_endorsed": True, "top_challenged": False},
        ),
    )
    for number, row in claims:
        claim = f"claim-{number}"
        rows.node("Claim", {"id": claim, "name": f"c{number}", "position": number, **row})
        rows.relate("OF", "Claim", "Run", {"source": claim, "target": C.id})
        if number < 3:
            node = C.nodes[number - 1].id
            rows.relate("CLAIMS", "Action", "Claim", {"source": node, "target": claim})
    for kind, claim in (("ENDORSES", "claim-1"), ("CHALLENGES", "claim-2")):
        rows.relate(kind, "Agent", "Claim", {"source": C.agents[1].id, "target": claim})
    for number, kind in enumerate(("trajectories", "overview"), start=1):
        rows.node(
            "Report",
            {
                "id": f"report-{number}",
                "name": f"about {kind}",
                "kind": kind,
                "configuration": '{"seed":1}',
                "configuration_hash": "c",
                "selection": '{"dataset":null}',
                "runs": number,
                "document": '{"rows":[]}',
            },
        )
    rows.node(
        "Library",
        {
            "id": "library-1",
            "name": "mined",
            "kind": "motifs",
            "configuration": '{"a":1}',
            "configuration_hash": "c",
            "summary": '{"motifs":3}',
            "document": '{"rest":[]}',
        },
    )
    beside_chance = {"expected_count": 0.5, "z_score": 2.5, "p_holm": 0.03125}
    for name, size, scope, occurrences, graphs, tasks, more in (
        ("motif-1", 2, "run", 5, 2, 1, {"shape": "pair"}),
        ("motif-2", 3, "run", 1, 1, 1, {"shape": "chain", **beside_chance}),
        ("motif-3", 2, "decomposition", 1, 1, 1, {"shape": "pair"}),
    ):
        rows.node(
            "Motif",
            {
                "id": name,
                "name": f"pattern {name[-1]}",
                "canonical_form": f"form {name[-1]}",
                "size": size,
                "scope": scope,
                "occurrence_count": occurrences,
                "graph_support": graphs,
                "task_support": tasks,
                **more,
            },
        )
        rows.relate("CONTAINS", "Library", "Motif", {"source": "library-1", "target": name})
    for name, graph, label, count, nodes in (
        ("motif-1", A, "Run", 3, "[[0,1],[3,4],[4,5]]"),
        ("motif-1", B, "Run", 2, "[[0,1],[1,2]]"),
        ("motif-2", A, "Run", 1, "[[2,3,5]]"),
        ("motif-3", P, "Decomposition", 1, "[[2,3]]"),
    ):
        rows.relate(
            "OCCURS_IN",
            "Motif",
            label,
            {"source": name, "target": graph.id, "count": count, "nodes": nodes},
        )
    library_parts(rows)
    return rows


def library_parts(rows: Rows) -> None:
    """Two types, two rules, two coarse graphs and a category of the library."""

    def part(label, part_id, kind, position, /, **rest):
        document = f'["{part_id}"]'
        row = {"id": part_id, "part": kind, "position": position, "document": document, **rest}
        rows.node(label, row)
        rows.relate("CONTAINS", "Library", label, {"source": "library-1", "target": part_id})

    part(
        "SubtaskType",
        "type-1",
        "type",
        0,
        name="T1",
        scope="decomposition",
        medoid_name="Parse",
        inputs=["text"],
        outputs=["log", "tokens"],
        reads=[],
        writes=["file"],
        members=3,
        task_support=2,
    )
    part(
        "SubtaskType",
        "type-2",
        "type",
        1,
        name="T2",
        scope="decomposition",
        inputs=[],
        outputs=[],
        reads=["file"],
        writes=[],
        members=1,
        task_support=1,
    )
    for name, index in (("type-1", 3), ("type-1", 4), ("type-2", 2)):
        rows.relate(
            "OF_TYPE", "Subtask", "SubtaskType", {"source": f"{P.id}/{index}", "target": name}
        )
    part(
        "CompositionRule",
        "rule-1",
        "rule",
        0,
        name="two of a kind",
        scope="run",
        size=3,
        alignment="[[0,1]]",
        overlap_count=4,
        graph_support=2,
        task_support=1,
    )
    part(
        "CompositionRule",
        "rule-2",
        "rule",
        1,
        name="one in another",
        scope="decomposition",
        size=3,
        alignment="[[0,0],[1,2]]",
        overlap_count=1,
        graph_support=1,
        task_support=1,
    )
    for name, motif, places in (
        ("rule-1", "motif-1", ["first", "second"]),
        ("rule-2", "motif-1", ["first"]),
        ("rule-2", "motif-2", ["second"]),
    ):
        rows.relate(
            "JOINS",
            "CompositionRule",
            "Motif",
            {"source": name, "target": motif, "places": places},
        )
    for name, graph, label, count, nodes in (
        ("rule-1", B, "Run", 1, "[[1]]"),
        ("rule-1", A, "Run", 3, "[[3],[4]]"),
        ("rule-2", P, "Decomposition", 1, "[[2,3]]"),
    ):
        rows.relate(
            "APPLIES_IN",
            "CompositionRule",
            label,
            {"source": name, "target": graph.id, "count": count, "nodes": nodes},
        )
    part(
        "CoarseGraph",
        "coarse-1",
        "coarse graph",
        0,
        name="sum",
        graph=P.id,
        depth=0,
        signature="s1",
        groups=2,
        dependencies=1,
        couplings=1,
        leaves=4,
    )
    part(
        "CoarseGraph",
        "coarse-2",
        "refinement",
        0,
        name="Prepare",
        graph=P.id,
        depth=1,
        node=0,
        category="foundation",
        signature="s2",
        groups=2,
        dependencies=1,
        couplings=0,
        leaves=2,
    )
    for name in ("coarse-1", "coarse-2"):
        rows.relate(
            "COARSENS", "CoarseGraph", "Decomposition", {"source": name, "target": P.id}
        )
    part(
        "GroupCategory",
        "category-1",
        "category",
        0,
        name="foundation",
        groups=1,
        leaves=0,
        task_support=1,
    )
    rows.relate(
        "INDEXED_UNDER",
        "Motif",
        "GroupCategory",
        {"source": "motif-3", "target": "category-1", "count": 1, "task_support": 1},
    )
    rows.relate(
        "IN_CATEGORY",
        "Subtask",
        "GroupCategory",
        {"source": f"{P.id}/0", "target": "category-1"},
    )
    part(
        "Template",
        "template-1",
        "integration",
        0,
        name="T2 joins T1 + T1, feeds T1",
        kind="integration",
        labels=["T1", "T2"],
        crossing=True,
        occurrence_count=3,
        task_support=2,
    )
    part(
        "Template",
        "template-2",
        "coupling",
        0,
        name="T1 and T2 share sheet",
        kind="coupling",
        labels=["T1", "T2"],
        crossing=False,
        occurrence_count=1,
        task_support=1,
    )
