"""Damages the example files of every format, and reads what is left.

Whatever comes of a damaged file, a reader may only give valid graphs, reject records or
refuse the file: every other exception is a mistake of the reader. So is a graph that a
store does not give back as it was.
"""

import hashlib
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from graphstore.store import open_store
from graphstore.validation import validate
from ingest.pipeline import ingest
from ingest.reader import ReadContext, Reader, Rejection
from ingest.redact import Redact
from ingest.registry import default_registry
from ingest.roles import RoleTable
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import mutations
from tests.ingest.reading import FORMATS

EXAMPLES = FORMATS.parent

SLOW = 5.0
"""Seconds after which a damaged file of some kilobytes counts as one that hangs a reader."""


@dataclass
class Outcome:
    """What came of a reader's damaged files.

    Attributes:
        tried: Damaged files.
        graphs: Valid graphs that came out.
        rejected: Records that were rejected.
        refused: Files that were refused.
        slowest: Seconds that the slowest file took.
        broken: How often each mistake came up, by its exception and place.
        first: The damaged file that led to each mistake first.
    """

    tried: int = 0
    graphs: int = 0
    rejected: int = 0
    refused: int = 0
    slowest: float = 0.0
    broken: Counter[str] = field(default_factory=Counter)
    first: dict[str, bytes] = field(default_factory=dict)

    def tell(self, mistake: str, content: bytes) -> None:
        """Counts a mistake."""
        self.broken[mistake] += 1
        self.first.setdefault(mistake, content)


def examples(format: str) -> list[Path]:
    """The example files of a format, in order of their names."""
    if format == "native":
        return [
            EXAMPLES / "decompositions" / "plans.jsonl",
            EXAMPLES / "traces" / "debate.jsonl",
        ]
    folder = FORMATS / format
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.match("*.mapping.toml")
    ]


def beginning(content: bytes, size: int) -> bytes:
    """So much of a file, whole lines where it has some: long examples take long to damage."""
    if len(content) <= size:
        return content
    return content[: content.rfind(b"\n", 0, size) + 1] or content


def damaged(format: str, count: int, seed: int, size: int = 60_000) -> Iterator[bytes]:
    """Damaged copies of a format's examples, as many of each.

    Args:
        format: A built-in format.
        count: How many in all, at least one of each example.
        seed: Equal seeds give equal copies.
        size: Of a longer example, only the first so many bytes are used.
    """
    paths = examples(format)
    for place, path in enumerate(paths):
        share = max(1, count * (place + 1) // len(paths) - count * place // len(paths))
        yield from mutations(beginning(path.read_bytes(), size), share, seed + place)


def try_one(reader: Reader, content: bytes, context: ReadContext, outcome: Outcome) -> None:
    """Looks at and reads one damaged file."""
    file = MemoryFile(content, "damaged")
    outcome.tried += 1
    start = time.perf_counter()
    try:
        reader.sniff(file.sample)
        if hasattr(reader, "join_keys"):
            reader.join_keys(file)
        for item in reader.read(file, context):
            if isinstance(item, CollaborationGraph):
                validate(item)
                outcome.graphs += 1
            elif isinstance(item, Rejection) and item.reason:
                outcome.rejected += 1
            else:
                outcome.tell(f"it yielded {item!r:.80}", content)
    except InputError as error:
        outcome.refused += 1
        if not error.reason:
            outcome.tell("it refused without a reason", content)
    except Exception as error:
        outcome.tell(_place(error), content)
    took = time.perf_counter() - start
    outcome.slowest = max(outcome.slowest, took)
    if took > SLOW:
        outcome.tell("it took too long", content)


def _place(error: Exception) -> str:
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/ingest/" in frame.filename or "/graphstore/" in frame.filename
    ]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}: {error!s:.100}".splitlines()[0]


def fuzz(format: str, count: int, seed: int = 1) -> Outcome:
    """Reads damaged copies of a format's examples with its reader.

    Args:
        format: A built-in format.
        count: How many damaged files.
        seed: Equal seeds give equal files.
    """
    reader = default_registry().reader(format)
    context = ReadContext(policy=Redact(), role_of=RoleTable.default().role_of)
    outcome = Outcome()
    for content in damaged(format, count, seed):
        try_one(reader, content, context, outcome)
    return outcome


def store_damaged(format: str, count: int, seed: int = 1) -> tuple[int, int]:
    """Stores what is left of damaged files, and takes it out again.

    Args:
        format: A built-in format.
        count: How many damaged files.
        seed: Equal seeds give equal files.

    Returns:
        Graphs that were read, and graphs that the store holds whole. They are equal, unless
        two damaged files were the same.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for content in damaged(format, count, seed):
            name = hashlib.sha256(content).hexdigest()[:16]
            (folder / f"{name}.txt").write_bytes(content)
        with open_store(str(folder / "store.db")) as store:
            report = ingest([folder], store, format=format)
            whole = 0
            nodes = 0
            for graph in store.graphs():
                validate(graph)
                whole += 1
                nodes += len(graph.nodes)
        told = [one.reason for one in report.rejected if one.reason.startswith("internal")]
        if told:
            raise AssertionError(told[0])
        if report.unchanged == 0 and nodes != report.actions + report.subtasks:
            raise AssertionError(f"{nodes} nodes of {report.actions + report.subtasks}")
        return report.written, whole
