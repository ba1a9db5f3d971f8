"""Names for tasks and methods that a trace does not name itself."""

from graphstore.builder import GraphBuilder
from graphstore.identity import digest
from ingest.readers.decoding import short_name


def set_task_from_text(builder: GraphBuilder, text: str, *, dataset: str | None = None) -> None:
    """Makes the words that opened a run its task.

    Runs that were given the same words share a task; a text that had to be shortened to a
    name is told from others by its hash.

    Args:
        builder: Of the run.
        text: The whole text.
        dataset: The data set, where the trace names one.
    """
    name = short_name(text)
    if name != text.strip():
        name = f"{name} ({digest(text, size=4)})"
    builder.set_task(name, description=text, dataset=dataset)
