"""One agent with a tool: writes the history of its messages."""

import sys
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

TURNS = [
    [TextPart("I count them."), ToolCallPart("count_lamps", {"street": "Quay"}, "call_1")],
    [TextPart("Four lamps.")],
]


def scripted(messages, info):
    return ModelResponse(parts=TURNS.pop(0))


agent = Agent(FunctionModel(scripted), system_prompt="You look after street lamps.")


@agent.tool_plain
def count_lamps(street: str) -> int:
    """How many lamps a street has."""
    return len(street)


result = agent.run_sync("How many lamps has the Quay?")
Path(sys.argv[1]).write_bytes(result.all_messages_json())
