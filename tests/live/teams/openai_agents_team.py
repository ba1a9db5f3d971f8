"""A front desk that hands over to a botanist with a tool: writes the exported spans."""

import asyncio
import json
import sys
from pathlib import Path

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.tracing import add_trace_processor, generation_span, set_trace_processors
from agents.tracing.processor_interface import TracingProcessor
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)


def words(text):
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id=f"m-{len(text)}", content=[part], role="assistant", status="completed",
        type="message",
    )  # fmt: skip


def call(name, arguments):
    return ResponseFunctionToolCall(
        id=f"f-{name}", call_id=f"c-{name}", name=name, arguments=arguments,
        type="function_call",
    )  # fmt: skip


class Scripted(Model):
    def __init__(self, *turns):
        self.turns = list(turns)

    async def get_response(self, system_instructions, input, *args, **kwargs):
        output = self.turns.pop(0)
        given = [{"role": "user", "content": input}] if isinstance(input, str) else list(input)
        with generation_span(input=given, model="scripted") as span:
            span.span_data.output = [item.model_dump() for item in output]
            span.span_data.usage = {"input_tokens": 10, "output_tokens": 3}
        usage = Usage(requests=1, input_tokens=10, output_tokens=3, total_tokens=13)
        return ModelResponse(output=output, usage=usage, response_id=None)

    def stream_response(self, *args, **kwargs):
        raise RuntimeError("nothing is streamed here")


@function_tool
def soil(bed: str) -> str:
    """What the soil of a bed is like."""
    return f"The {bed} bed is sandy."


class Written(TracingProcessor):
    def __init__(self, path):
        self.path = path

    def write(self, item):
        with self.path.open("a") as out:
            out.write(json.dumps(item.export()) + "\n")

    def on_trace_start(self, trace):
        self.write(trace)

    def on_span_end(self, span):
        self.write(span)

    def on_trace_end(self, trace): ...
    def on_span_start(self, span): ...
    def shutdown(self): ...
    def force_flush(self): ...


async def main(path):
    set_trace_processors([])
    add_trace_processor(Written(path))
    botanist = Agent(
        name="botanist",
        model=Scripted([call("soil", '{"bed": "east"}')], [words("Sow carrots in the east.")]),
        tools=[soil],
    )
    desk = Agent(
        name="desk",
        model=Scripted([words("I hand you over."), call("transfer_to_botanist", "{}")]),
        handoffs=[botanist],
    )
    await Runner.run(desk, "What can we sow?", run_config=RunConfig(workflow_name="Garden"))


asyncio.run(main(Path(sys.argv[1])))
