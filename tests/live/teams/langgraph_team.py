"""A planner, a clerk with a tool and an editor as a graph: writes its events, one a line."""

import asyncio
import json
import sys
from pathlib import Path

from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph

USAGE = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}


def scripted(words):
    return FakeMessagesListChatModel(responses=[AIMessage(content=words, usage_metadata=USAGE)])


PLAN, DRAFT = scripted("Ask for the tide, then write."), scripted("High tide is at 14:20.")


@tool
def tide(harbour: str) -> str:
    """When is high tide?"""
    return f"14:20 at {harbour}"


def planner(state):
    return {"messages": [PLAN.invoke(state["messages"])]}


def clerk(state):
    found = tide.invoke({"harbour": "Elm"})
    return {"messages": [AIMessage(content=f"The table says {found}.")]}


def editor(state):
    draft = DRAFT.invoke(state["messages"])
    return {"messages": [draft, AIMessage(content="Edited: leave at two.")]}


def plain(value):
    return value.model_dump(mode="json") if isinstance(value, BaseMessage) else str(value)


async def main(path):
    graph = StateGraph(MessagesState)
    for before, node in ((START, planner), ("planner", clerk), ("clerk", editor)):
        graph.add_node(node.__name__, node)
        graph.add_edge(before, node.__name__)
    graph.add_edge("editor", END)
    team = graph.compile(name="harbour")
    asked = {"messages": [HumanMessage("When should the ferry leave?")]}
    with path.open("w") as out:
        async for event in team.astream_events(asked, version="v2"):
            out.write(json.dumps(event, default=plain) + "\n")


asyncio.run(main(Path(sys.argv[1])))
