"""OTLP in protobuf: the same graphs as from the JSON of the same spans."""

import base64
import builtins
import json
from pathlib import Path

import msgspec
import pytest

from graphstore.errors import InputError, MissingExtraError
from ingest.reader import ReadContext
from ingest.readers.otlp import OTLP
from ingest.readers.otlp_protobuf import is_protobuf
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives

trace_pb2 = pytest.importorskip("opentelemetry.proto.trace.v1.trace_pb2")
json_format = pytest.importorskip("google.protobuf.json_format")

FORMATS = Path(__file__).resolve().parents[3] / "examples" / "formats" / "otlp"
SHOP = (FORMATS / "repair-shop.json").read_bytes()
SHOP_PROTOBUF = (FORMATS / "repair-shop.pb").read_bytes()
TRACES = Path(__file__).resolve().parents[3] / "examples" / "traces" / "chain.otlp.ndjson"
_IDS = ("traceId", "spanId", "parentSpanId")


def protobuf(document):
    """A document of OTLP JSON as protobuf, by protobuf's own JSON, which has ids in base64."""

    def converted(value):
        if isinstance(value, list):
            return [converted(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            key: base64.b64encode(bytes.fromhex(inner)).decode()
            if key in _IDS and len(inner) in (16, 32)
            else converted(inner)
            for key, inner in value.items()
        }

    found = b""
    for one in document if isinstance(document, list) else [document]:
        request = trace_pb2.TracesData()
        json_format.ParseDict(converted(one), request, ignore_unknown_fields=True)
        # Messages that stand one after the other are one message with the fields of all.
        found += request.SerializeToString()
    return found


def varint(number):
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def read(content):
    return list(OTLP.read(MemoryFile(content, "a"), ReadContext()))


def contents(graphs):
    """Everything but where it was read from."""
    return [
        msgspec.structs.replace(
            graph, source=msgspec.structs.replace(graph.source, uri="", sha256=None)
        )
        for graph in graphs
    ]


LINES = TRACES.read_bytes().splitlines()[:4]


def test_the_same_graph_as_from_json():
    assert contents(read(SHOP_PROTOBUF)) == contents(read(SHOP))
    assert contents(read(protobuf(json.loads(SHOP)))) == contents(read(SHOP))
    assert len(read(SHOP_PROTOBUF)[0].nodes) == 4


@pytest.mark.parametrize("length", [varint, lambda number: number.to_bytes(4, "big")])
def test_several_requests_with_their_lengths(length):
    parts = [protobuf(json.loads(line)) for line in LINES]
    content = b"".join(length(len(part)) + part for part in parts)
    assert is_protobuf(content)
    assert contents(read(content)) == contents(read(b"\n".join(LINES)))
    assert len(read(content)) > 1
    with pytest.raises(InputError, match="breaks off inside a request") as caught:
        read(content[:-3])
    assert caught.value.record == "request 4"


def test_all_kinds_of_values():
    values = [
        {"stringValue": "a"},
        {"stringValue": ""},
        {"intValue": "12"},
        {"doubleValue": 1.5},
        {"boolValue": True},
        {"arrayValue": {"values": [{"stringValue": "x"}, {"intValue": "1"}]}},
        {"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": False}}]}},
        {"bytesValue": "AAEC"},
        {},
        None,
    ]
    attributes = [
        {"key": f"key{place}", "value": value} if value is not None else {"key": f"key{place}"}
        for place, value in enumerate(values)
    ]
    kind = {"key": "openinference.span.kind", "value": {"stringValue": "LLM"}}
    answer = {"key": "output.value", "value": values[6]}
    span = {
        "traceId": "0123456789abcdef0123456789abcdef",
        "spanId": "0123456789abcdef",
        "name": "call",
        "startTimeUnixNano": "1764500000000000000",
        "endTimeUnixNano": "1764500001000000000",
        "attributes": [*attributes, kind, answer],
        "status": {"code": 2, "message": "too slow"},
        "events": [
            {
                "name": "exception",
                "attributes": [{"key": "exception.type", "value": {"stringValue": "Timeout"}}],
            }
        ],
        "links": [{"traceId": "00" * 15 + "01", "spanId": "00" * 7 + "01"}],
    }
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    (graph,) = contents(read(protobuf(document)))
    assert [graph] == contents(read(json.dumps(document).encode()))
    (node,) = graph.nodes
    assert (node.content, node.status) == ('{"k":false}', "error")
    assert node.attributes["exception"] == "Timeout"
    assert node.attributes["key2"] == 12


def test_joined_with_json_of_the_same_trace():
    first, second = json.loads(SHOP)
    (resource,) = first["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    halves = [
        {"resourceSpans": [{**resource, "scopeSpans": [{**scope, "spans": part}]}]}
        for part in (scope["spans"][:2], scope["spans"][2:])
    ]
    files = [
        MemoryFile(protobuf([halves[0], second]), "one.pb"),
        MemoryFile(json.dumps(halves[1]).encode(), "two.json"),
    ]
    assert OTLP.join_keys(files[0]) & OTLP.join_keys(files[1])
    joined = list(OTLP.read_joined(files, ReadContext()))
    assert [graph.nodes for graph in joined] == [graph.nodes for graph in read(SHOP)]


def test_without_the_package(monkeypatch):
    known = builtins.__import__

    def missing(name, *rest):
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return known(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    assert OTLP.sniff(SHOP_PROTOBUF)
    with pytest.raises(MissingExtraError, match=r"pip install 'masgraph\[otel\]'"):
        read(SHOP_PROTOBUF)


def test_damaged_files_give_errors_only():
    assert assert_survives(OTLP, SHOP_PROTOBUF, count=600) > 10
    with pytest.raises(InputError, match="damaged or cut off"):
        read(SHOP_PROTOBUF[:-10])


def test_sniffs_spans_and_nothing_else():
    assert OTLP.sniff(SHOP_PROTOBUF)
    assert OTLP.sniff(SHOP_PROTOBUF[:600])
    for other in (b"", b"\n{}", b"\n\n\n", bytes(range(256)), b"\x0a\x05hello", SHOP[:200]):
        assert not is_protobuf(other)
    for path in sorted(FORMATS.parent.rglob("*")):
        if path.is_file() and path.suffix != ".pb":
            assert not is_protobuf(path.read_bytes()[:65_536]), path
