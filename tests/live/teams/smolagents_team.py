"""A librarian who asks a helper by its name: writes the steps of both."""

import json
import sys
from pathlib import Path

from smolagents import Model, ToolCallingAgent
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)
from smolagents.monitoring import TokenUsage


class Scripted(Model):
    def __init__(self, *turns):
        super().__init__(model_id="scripted")
        self.turns = list(turns)

    def generate(self, messages, **kwargs):
        words, name, arguments = self.turns.pop(0)
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        return ChatMessage(
            role=MessageRole.ASSISTANT,
            content=words,
            tool_calls=[
                ChatMessageToolCall(function=function, id=f"c-{name}", type="function")
            ],
            token_usage=TokenUsage(input_tokens=12, output_tokens=5),
        )


helper = ToolCallingAgent(
    tools=[],
    model=Scripted(("I know it.", "final_answer", {"answer": "Shelf 12."})),
    name="finder",
    description="Finds books.",
)
manager = ToolCallingAgent(
    tools=[],
    model=Scripted(
        ("I ask the finder.", "finder", {"task": "Where is the book on moss?"}),
        ("Done.", "final_answer", {"answer": "It is on shelf 12."}),
    ),
    managed_agents=[helper],
    name="librarian",
    description="Answers.",
)
manager.run("Where do I find the book on moss?")
steps = {one.name: one.memory.get_full_steps() for one in (manager, helper)}
Path(sys.argv[1]).write_text(json.dumps(steps, default=str))
