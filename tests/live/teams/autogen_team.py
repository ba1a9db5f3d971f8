"""Two agents in turns, one with a tool: writes the stream of their messages, one a line."""

import asyncio
import sys
from pathlib import Path

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TaskResult
from autogen_agentchat.conditions import TextMentionTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, ModelFamily, ModelInfo, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient

INFO = ModelInfo(
    vision=False,
    function_calling=True,
    json_output=False,
    structured_output=False,
    family=ModelFamily.UNKNOWN,
)


def said(content, reason="stop"):
    usage = RequestUsage(prompt_tokens=10, completion_tokens=4)
    return CreateResult(finish_reason=reason, content=content, usage=usage, cached=False)


def soil(bed: str) -> str:
    """What the soil of a bed is like."""
    return f"The {bed} bed is sandy."


async def main(path):
    call = FunctionCall(id="call-1", name="soil", arguments='{"bed": "east"}')
    planner = AssistantAgent(
        "planner",
        ReplayChatCompletionClient(
            [said("Gardener, look at the soil."), said("Sow carrots. DONE")], model_info=INFO
        ),
    )
    gardener = AssistantAgent(
        "gardener",
        ReplayChatCompletionClient(
            [said([call], "function_calls"), said("It is sandy.")], model_info=INFO
        ),
        tools=[soil],
        reflect_on_tool_use=True,
    )
    team = RoundRobinGroupChat(
        [planner, gardener], termination_condition=TextMentionTermination("DONE"), max_turns=6
    )
    with path.open("w") as out:
        async for item in team.run_stream(task="What can we sow?"):
            if not isinstance(item, TaskResult):
                out.write(item.model_dump_json() + "\n")


asyncio.run(main(Path(sys.argv[1])))
