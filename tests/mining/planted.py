"""Decompositions whose leaves have types that were planted.

Each type has its words, its interface and its place in the work; nothing else recurs, so
that there is no second, finer set of types to be found.
"""

import numpy

from graphstore.builder import GraphBuilder
from graphstore.model import Artifact, CollaborationGraph

WORDS = (
    "search find query look browse retrieve",
    "count sum average number total arithmetic",
    "write draft compose text essay paragraph",
    "test verify assert check validate suite",
    "paint colour canvas brush sketch palette",
    "deploy release ship server production rollout",
)
INTERFACES = (
    ("question", "hits"),
    ("table", "figure"),
    ("hits", "document"),
    ("document", "verdict"),
    ("document", "picture"),
    ("verdict", "address"),
)
ORDER = ((0, 2), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5))


WORDED = (
    "collect survey answers users forms interview",
    "plot bar chart counts axis figure",
    "translate text French language document glossary",
    "deploy server cloud cluster container rollout",
)
"""Four types without a word in common."""


def worded(seed: int, tasks: int = 40) -> tuple[list[CollaborationGraph], dict[str, int]]:
    """Tasks of one or two diamonds; each leaf says four of the six words of its type.

    So each type has fifteen wordings, which are a finer set of types: stable and supported,
    but with less to tell them apart.
    """
    generator = numpy.random.default_rng(seed)
    graphs: list[CollaborationGraph] = []
    truth: dict[str, int] = {}
    for task in range(tasks):
        builder = GraphBuilder(
            kind="decomposition", format="test", uri="test", content=f"{task}", record=f"{task}"
        )
        builder.set_task(f"worded task {task}")
        for _ in range(int(generator.integers(1, 3))):
            places = []
            for words in WORDED:
                chosen = generator.choice(words.split(), 4, replace=False)
                places.append(builder.add("subtask", " ".join(chosen)))
            for one, other in ((0, 1), (0, 2), (1, 3), (2, 3)):
                builder.edge(places[one], places[other], "explicit")
        graph = builder.build()
        graphs.append(graph)
        truth |= {node.id: place % 4 for place, node in enumerate(graph.nodes)}
    return graphs, truth


def planted(
    tasks: int, types: int, seed: int = 0, *, noise: int = 1, kind: str = "decomposition"
) -> tuple[list[CollaborationGraph], dict[str, int]]:
    """Tasks with leaves of every type, of the first one to three, and the types by node id.

    ``noise`` is the number of words of its own that each leaf has.
    """
    generator = numpy.random.default_rng(seed)
    graphs: list[CollaborationGraph] = []
    truth: dict[str, int] = {}
    for task in range(tasks):
        builder = GraphBuilder(
            kind=kind, format="test", uri="test", content=f"{seed} {task}", record=str(task)
        )
        builder.set_task(f"task {task}")
        group = None
        if kind == "decomposition":
            group = builder.add("group", "beginning", content="the beginning of the work")
        chosen = [0] * int(generator.integers(1, 4)) + list(range(1, types))
        places = []
        for type_ in chosen:
            words = generator.permutation(WORDS[type_].split()).tolist()
            words += ["".join(generator.choice([*"qwxyz"], 8)) for _ in range(noise)]
            given, made = INTERFACES[type_]
            places.append(
                builder.add(
                    "subtask" if kind == "decomposition" else "agent_message",
                    WORDS[type_].split()[0],
                    content=" ".join(words),
                    inputs=[Artifact(f"in {task}", given)],
                    outputs=[Artifact(f"out {task}", made)],
                    parent=group if type_ < 2 else None,
                )
            )
        for one, before in zip(chosen, places, strict=True):
            for other, after in zip(chosen, places, strict=True):
                if (one, other) in ORDER:
                    builder.edge(before, after, "explicit")
        graph = builder.build()
        graphs.append(graph)
        firsts = {line.split()[0]: place for place, line in enumerate(WORDS)}
        truth |= {node.id: firsts[node.name] for node in graph.nodes if node.kind != "group"}
    return graphs, truth
