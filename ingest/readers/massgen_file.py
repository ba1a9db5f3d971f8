"""A file of MassGen: its members, with the streams of the agents as chunks."""

from typing import Any

import msgspec

from ingest.reader import TraceFile
from ingest.readers.decoding import decode_bytes
from ingest.readers.massgen_stream import Chunk, chunk_of


class Log(msgspec.Struct):
    """A file; what stands in it may be anything but for the outermost shape."""

    agent_outputs: dict[str, Any]
    metadata: Any = None
    session: Any = None
    orchestrator_events: Any = None
    aggregated_responses: Any = None
    workflow_analysis: Any = None


class _UsualLog(Log):
    """A file whose chunks hold what MassGen writes, and nothing else."""

    agent_outputs: dict[str, list[Chunk] | None]


_DECODER = msgspec.json.Decoder(Log)
_USUAL_DECODER = msgspec.json.Decoder(_UsualLog)


def decoded(data: bytes, file: TraceFile) -> tuple[Log, bool]:
    """A file with its streams as chunks, and whether it had to be repaired.

    Raises:
        InputError: It is not JSON, or has no object of streams.
    """
    try:
        return _USUAL_DECODER.decode(data), False
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        log, repaired = decode_bytes(data, _DECODER, file.uri)
    for name, values in log.agent_outputs.items():
        if isinstance(values, list):
            log.agent_outputs[name] = [chunk_of(value) for value in values]
    return log, repaired
