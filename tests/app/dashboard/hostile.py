"""A small store whose names and messages try to be more than text."""

from graphstore.builder import GraphBuilder
from graphstore.model import Artifact, CollaborationGraph, Outcome

ELSEWHERE = "evil.example"
SCRIPT = "<script>window.broken = 1</script>"
IMAGE = f'<img src="http://{ELSEWHERE}/x.png" onerror="window.broken = 1">'
MARKDOWN = (
    f"![x](http://{ELSEWHERE}/y.png) **bold** [go](javascript:alert(1)) :smile: $x^2$ `c`"
)
CLOSING = "</text></svg></div><b>out</b>"
SECOND = 1_000_000_000


def run(number: int, *, name: str = "plain") -> CollaborationGraph:
    """A run of three agents and a tool, with times, tokens and spans."""
    built = GraphBuilder("run", "toy", f"{name}.json", content=f"{name}/{number}")
    built.set_task(f"task {name} {number % 3}", dataset="numbers")
    built.set_method(f"method {name}", framework="toy")
    lead = built.new_agent(f"lead {name}", role="orchestrator")
    other = built.new_agent("solver", role="solver")
    stranger = built.new_agent("someone", role_name=f"odd {name}")
    tool = built.new_agent("calculator", role="tool", kind="tool")
    start = 1_700_000_000 * SECOND

    def add(kind: str, title: str, second: int, **rest: object) -> int:
        return built.add(
            kind,
            title,
            started_at=start + second * SECOND,
            ended_at=start + (second + 1) * SECOND,
            round=second // 2,
            **rest,
        )

    first = add(
        "agent_message", "lead", 0, agent=lead, recipients=[other, stranger],
        content=f"Add {number} and 3. {name}", tokens_out=5,
    )  # fmt: skip
    call = add(
        "tool_call", f"sum {name}", 1, agent=tool, content=f"{number} + 3 = {number + 3}",
        parent=first, status="error" if number % 2 else "ok",
    )  # fmt: skip
    told = add(
        "agent_message", "solver", 2, agent=other, recipients=[lead],
        content=f"It is {number + 3}. {name}", tokens_out=7,
    )  # fmt: skip
    end = add("decision", "lead", 3, agent=lead, content=f"{number + 3}", tokens_out=1)
    for source, target, basis in (
        (first, call, "explicit"),
        (call, told, "continued"),
        (told, end, "inferred"),
    ):
        built.edge(source, target, basis)
    built.outcome = Outcome(
        success=number % 2 == 0, score=number / 10, answer=str(number + 3), tokens_out=13
    )
    built.warn(f"something was guessed in {name}")
    return built.build()


def decomposition(number: int, *, name: str = "plain") -> CollaborationGraph:
    """Two groups of two subtasks that hand on artifacts."""
    built = GraphBuilder("decomposition", "toy", "plan.json", content=f"plan {name}/{number}")
    built.set_task(f"task {name} {number % 3}", dataset="numbers")
    built.set_method("planner")
    sheet = built.resource(f"sheet {name}", "file")
    groups = [built.add("group", f"group {name} {place}") for place in range(2)]
    text = Artifact(name="numbers", type="text")
    read = built.add("subtask", f"Read {name}", parent=groups[0], outputs=[text])
    parse = built.add(
        "subtask", "Parse", parent=groups[0], inputs=[text], accesses=[(sheet, "write")]
    )
    add = built.add("subtask", "Add", parent=groups[1], accesses=[(sheet, "write")])
    check = built.add("subtask", "Check", parent=groups[1], outputs=[text])
    for source, target in ((read, parse), (parse, add), (add, check)):
        built.edge(source, target, "explicit")
    built.couple(parse, add, resources=[sheet])
    return built.build()


def graphs() -> list[CollaborationGraph]:
    """Harmless ones, and some for each trick."""
    found = [run(number) for number in range(6)]
    found += [decomposition(number) for number in range(3)]
    for trick in (SCRIPT, IMAGE, MARKDOWN, CLOSING):
        found += [run(number, name=trick) for number in range(2)]
        found.append(decomposition(0, name=trick))
    return found
