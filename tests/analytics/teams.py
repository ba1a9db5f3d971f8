"""Small runs for the tests of forests and diagnosis."""

from graphstore.builder import GraphBuilder
from graphstore.model import CollaborationGraph, Outcome


def team_run(
    name: str,
    roles: str | list[str],
    edges: list[tuple[int, int]] | None = None,
    *,
    contents: list[str | None] | None = None,
    success: bool | None = True,
    task: str = "t",
    dataset: str | None = "d",
    category: str | None = "c",
    method: str | None = "m",
    kind: str = "run",
    agents: bool = True,
    rename: str = "",
    mistake: tuple[str | None, int | None] = (None, None),
) -> CollaborationGraph:
    """A run of one action for each role; an agent for each role; a chain by default.

    Args:
        name: Makes the id.
        roles: One letter for a role: p, s, c, t; or the names of roles.
        edges: Pairs of positions.
        contents: Of the actions; "NAME says PLACE" by default.
        rename: Put before the names of agents.
        mistake: Agent and step of a label.
    """
    letters = {"p": "planner", "s": "solver", "c": "critic", "v": "verifier"}
    builder = GraphBuilder(kind=kind, format="test", uri="test", content=name, record=name)
    builder.set_task(task, dataset=dataset, category=category)
    if method is not None:
        builder.set_method(method)
    names = [letters.get(role, role) for role in roles]
    places = {
        role: builder.new_agent(f"{rename}{role}", role=role)
        for role in (dict.fromkeys(names) if agents else ())
    }
    for place, role in enumerate(names):
        builder.add(
            "agent_message" if kind == "run" else "subtask",
            f"{rename}{role}" if kind == "run" else f"step {place}",
            role=role,
            agent=places.get(role),
            content=f"{name} says {place}" if contents is None else contents[place],
        )
    pairs = [(place, place + 1) for place in range(len(names) - 1)] if edges is None else edges
    for source, target in pairs:
        builder.edge(source, target, "explicit")
    builder.outcome = Outcome(
        success=success, mistake_agent=mistake[0], mistake_step=mistake[1]
    )
    return builder.build()
