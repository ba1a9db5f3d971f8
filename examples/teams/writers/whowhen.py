"""Runs of the orchestrator in the shape of Who&When's hand-crafted logs.

The shape knows messages only: what a worker said to its tool and heard from it becomes part
of the worker's one entry, and times and tokens are left out.
"""

import json
from typing import Any

from teams.orchestrator import ORCHESTRATOR
from teams.stage import HUMAN, Action, Play
from teams.task import DATASET
from teams.writers.native import FRAMEWORK


def log_bytes(play: Play) -> bytes:
    """One run as one file."""
    return (json.dumps(log(play), indent=1, ensure_ascii=False) + "\n").encode()


def log(play: Play) -> dict[str, Any]:
    """One run as the fields of a log."""
    tools = {member.name for member in play.members if member.kind == "tool"}
    history: list[dict[str, str]] = []
    entry_of: dict[int, int] = {}
    pending: list[str] = []
    for place, action in enumerate(play.actions):
        entry_of[place] = len(history)
        if action.speaker in tools or tools.intersection(action.to):
            pending.append(_aside(action, tools))
            continue
        content = action.content
        if place == len(play.actions) - 1:
            content = f"{play.termination.capitalize()}.\nFINAL ANSWER: {play.answer}"
        history.append({"content": "\n".join([*pending, content]), "role": _role(action)})
        pending = []
    mistake = play.mistake
    found: dict[str, Any] = {
        # Two runs may go alike, word for word: this keeps them two.
        "run": play.id,
        "is_correct": play.verdict.right,
        "question": play.task.question,
        "question_ID": play.task.name,
        "level": play.task.family,
        "dataset": DATASET,
        "method": play.method,
        "framework": FRAMEWORK,
        "ground_truth": play.task.expected,
        "history": history,
    }
    if mistake is not None:
        found |= {
            "mistake_agent": mistake.speaker,
            # The published logs have it as a text, too.
            "mistake_step": str(entry_of[mistake.action]),
            "mistake_reason": mistake.reason,
        }
    return found


def _aside(action: Action, tools: set[str]) -> str:
    if action.speaker not in tools:
        return action.content
    return f"{action.speaker.replace('_', ' ').capitalize()}: {action.content}"


def _role(action: Action) -> str:
    if action.speaker == HUMAN:
        return "human"
    if action.speaker != ORCHESTRATOR:
        return action.speaker
    if not action.to:
        return f"{ORCHESTRATOR} (thought)"
    if HUMAN in action.to:
        return f"{ORCHESTRATOR} (termination condition)"
    return f"{ORCHESTRATOR} (-> {action.to[0]})"
