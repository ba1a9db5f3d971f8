import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy
import pytest

from graphstore.errors import InputError, MissingExtraError, UsageError
from mining.distances import semantic_distances
from mining.embedders import (
    EndpointEmbedder,
    SentenceTransformersEmbedder,
    TfidfEmbedder,
    WordLlamaEmbedder,
    make_embedder,
)

TEXTS = ["Sort the file", "sort THE file", "read a letter", "", "42 _ !"]


def test_tfidf_counts_words():
    fitted = TfidfEmbedder().fit(TEXTS)
    assert fitted.terms == ("a", "file", "letter", "read", "sort", "the")
    assert fitted.weights[1] == pytest.approx(1 + numpy.log(6 / 3))
    assert fitted.weights[2] == pytest.approx(1 + numpy.log(6 / 2))
    distances = semantic_distances(fitted.embed(TEXTS))
    assert distances[0, 1] == 0
    assert distances[0, 2] == 1
    assert distances[3, 4] == 0
    assert (distances[3, :3] == 1).all()


@pytest.mark.parametrize("text", ["sortFile_12", "sort-file", "SORT FILE 3", "ｓｏｒｔ file"])
def test_tfidf_reads_names_as_words(text):
    fitted = TfidfEmbedder().fit(["sort file", "other words"])
    distances = semantic_distances(fitted.embed(["sort file", text]))
    assert distances[0, 1] == 0


def test_tfidf_repeats_count_by_their_logarithm():
    fitted = TfidfEmbedder().fit(["yes no", "no"])
    row = fitted.embed(["yes yes yes no"]).toarray()[0]
    yes = (1 + numpy.log(3)) * (1 + numpy.log(3 / 2))
    no = 1 + numpy.log(3 / 3)
    assert row == pytest.approx(numpy.array([no, yes]) / numpy.hypot(no, yes))


@pytest.mark.parametrize("corpus", [[], [""], ["12", "!"]])
def test_tfidf_of_texts_without_words(corpus):
    fitted = TfidfEmbedder().fit(corpus)
    assert fitted.terms == ()
    vectors = fitted.embed(["a word", ""])
    assert vectors.shape == (2, 1)
    assert vectors.nnz == 0


def test_tfidf_ignores_words_that_the_corpus_lacks():
    fitted = TfidfEmbedder().fit(["one two"])
    assert semantic_distances(fitted.embed(["one", "one three"]))[0, 1] == 0
    assert fitted.embed([]).shape == (0, 2)
    with pytest.raises(UsageError, match="fitted"):
        TfidfEmbedder().embed(["one"])


@pytest.mark.parametrize(
    "name",
    ["tfidf", "wordllama", "sentence-transformers:a/b", "openai:m@1@http://localhost:1/v1"],
)
def test_names_lead_back_to_the_embedder(name):
    made = make_embedder(name)
    assert made.name == name
    if name != "tfidf":
        assert made.fit(["x"]) is made


@pytest.mark.parametrize("name", ["", "bert", "sentence-transformers:", "openai:m", "openai:@"])
def test_unknown_names_are_refused(name):
    with pytest.raises(UsageError, match="no embedder"):
        make_embedder(name)


@pytest.mark.parametrize(
    ("embedder", "module", "extra"),
    [
        (WordLlamaEmbedder(), "wordllama", "embed"),
        (
            SentenceTransformersEmbedder("m"),
            "sentence_transformers",
            "sentence-transformers",
        ),
    ],
)
def test_a_missing_package_is_named(embedder, module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"masgraph\[{extra}\]"):
        embedder.embed(["text"])
    # Nothing to embed needs no package.
    assert not embedder.embed(["", " "]).any()


def test_wordllama_knows_what_is_alike():
    pytest.importorskip("wordllama", exc_type=ImportError)
    vectors = WordLlamaEmbedder().embed(["buy milk", "purchase some milk", "", "orbit of Mars"])
    distances = semantic_distances(vectors)
    assert distances[0, 1] < 0.2
    assert distances[0, 3] > 0.7
    assert (distances[2, [0, 1, 3]] == 1).all()


class Endpoint(BaseHTTPRequestHandler):
    """Answers with a vector of letter counts, the last text first."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, self.headers.get("Authorization"), body))
        rows = [
            {"index": place, "embedding": [text.count("a"), text.count("b") + 0.5]}
            for place, text in enumerate(body["input"])
        ]
        answer = {
            "good": {"object": "list", "data": rows[::-1], "model": body["model"]},
            "short": {"data": rows[:-1]},
            "strange": {"error": "no"},
            "ragged": {"data": [rows[0], {"index": 1, "embedding": [1.0]}]},
        }
        status = 401 if body["model"] == "refused" else 200
        text = json.dumps(answer.get(body["model"], {})).encode()
        if body["model"] == "broken":
            text = b"<html>"
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def endpoint():
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server, f"http://127.0.0.1:{server.server_port}/v1/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_endpoint_is_asked_in_batches(endpoint):
    server, url = endpoint
    embedder = EndpointEmbedder(url, "good", key="secret", batch=2)
    vectors = embedder.embed(["a", "", "aab", "b"])
    assert vectors.tolist() == [[1, 0.5], [0, 0], [2, 1.5], [0, 1.5]]
    assert [(path, key) for path, key, _ in server.seen] == [
        ("/v1/embeddings", "Bearer secret")
    ] * 2
    assert [body["input"] for _, _, body in server.seen] == [["a", "aab"], ["b"]]
    assert "secret" not in embedder.name
    assert "secret" not in repr(embedder)


@pytest.mark.parametrize(
    ("model", "error", "reason"),
    [
        ("refused", UsageError, "HTTP 401"),
        ("short", InputError, "1 embeddings for 2 texts"),
        ("strange", InputError, "no embeddings"),
        ("broken", InputError, "no embeddings"),
        ("ragged", InputError, "different lengths"),
    ],
)
def test_an_endpoint_that_answers_badly_is_reported(endpoint, model, error, reason):
    _, url = endpoint
    with pytest.raises(error, match=reason):
        EndpointEmbedder(url, model).embed(["a", "b"])


def test_an_endpoint_that_is_not_there_is_reported():
    with pytest.raises(UsageError, match=r"no embeddings from http://127.0.0.1:9/v1: .+"):
        EndpointEmbedder("http://127.0.0.1:9/v1", "m", timeout=2).embed(["a"])
    with pytest.raises(UsageError, match="no http address"):
        EndpointEmbedder("file:///etc", "m")
    with pytest.raises(UsageError, match="a user or a password"):
        EndpointEmbedder("http://me:secret@localhost/v1", "m")
    with pytest.raises(UsageError, match="at least one"):
        EndpointEmbedder("http://localhost", "m", batch=0)
