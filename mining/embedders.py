"""Texts as vectors, for the semantic distance: one protocol, several ways.

``tfidf`` needs nothing beyond what masgraph needs. The others know meanings: ``wordllama``
(small, on the machine), any model of sentence-transformers, and any server that speaks
OpenAI's embeddings interface.
"""

import importlib
import importlib.resources
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from graphstore.errors import InputError, MissingExtraError, UsageError
from graphstore.identity import normalize_content

_WORD = r"[^\W\d_]+"
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Embedder(Protocol):
    """Turns texts into vectors whose cosines say how alike they are."""

    @property
    def name(self) -> str:
        """Names the way and its parameters: part of the configuration of results."""
        ...

    def fit(self, texts: Sequence[str]) -> "Embedder":
        """Learns what it must from the texts of a corpus; itself where there is nothing."""
        ...

    def embed(self, texts: Sequence[str]) -> Any:
        """Vectors, one row a text; zeros for a text without any term.

        Returns:
            Shape (n, d), a numpy array or a sparse one.
        """
        ...


@dataclass(frozen=True)
class TfidfEmbedder:
    """Weights of words: ``(1 + ln tf) (1 + ln((1 + n) / (1 + df)))``, as scikit-learn does.

    Words are runs of letters, in lower case; digits and underscores part words, and so do
    capitals inside one: ``sortFile_12`` is "sort file".

    Attributes:
        terms: The words of the corpus, sorted; None before :meth:`fit`.
        weights: The logarithmic weight of each.
    """

    terms: tuple[str, ...] | None = None
    weights: tuple[float, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """``tfidf``."""
        return "tfidf"

    def fit(self, texts: Sequence[str]) -> "TfidfEmbedder":
        """Counts in how many texts each word stands."""
        vectorizer = self._vectorizer()
        try:
            vectorizer.fit(texts)
        except ValueError:
            # scikit-learn's way of saying that there is no word at all.
            return TfidfEmbedder(())
        terms = vectorizer.get_feature_names_out()
        return TfidfEmbedder(tuple(terms.tolist()), tuple(vectorizer.idf_.tolist()))

    def embed(self, texts: Sequence[str]) -> Any:
        """Sparse vectors of unit length. Words outside the corpus do not count.

        Raises:
            UsageError: It was not fitted.
        """
        if self.terms is None:
            raise UsageError("tfidf must be fitted to a corpus before it embeds texts")
        if not self.terms or not texts:
            from scipy.sparse import csr_array

            return csr_array((len(texts), max(len(self.terms), 1)))
        return self._fitted.transform(texts)

    @cached_property
    def _fitted(self) -> Any:
        import numpy

        assert self.terms is not None
        vectorizer = self._vectorizer(
            vocabulary={term: place for place, term in enumerate(self.terms)}
        )
        vectorizer.idf_ = numpy.array(self.weights)
        return vectorizer

    @staticmethod
    def _vectorizer(**options: Any) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(
            preprocessor=_plain, token_pattern=_WORD, sublinear_tf=True, **options
        )


def _plain(text: str) -> str:
    return normalize_content(_HUMP.sub(" ", text))


@dataclass(frozen=True)
class WordLlamaEmbedder:
    """WordLlama's static embeddings of 256 dimensions, on the machine (extra ``embed``)."""

    @property
    def name(self) -> str:
        """``wordllama``."""
        return "wordllama"

    def fit(self, texts: Sequence[str]) -> "WordLlamaEmbedder":  # noqa: ARG002
        """Itself."""
        return self

    def embed(self, texts: Sequence[str]) -> Any:
        """Dense vectors.

        Raises:
            MissingExtraError: wordllama is not installed.
        """
        return _zero_where_blank(texts, lambda given: self._model.embed(given))

    @cached_property
    def _model(self) -> Any:
        package = _package("wordllama", "wordllama", "embed")
        # It brings its tokenizer, looks for it beside itself under another name, and would
        # fetch it from the network: its own folder, given as the cache, is where it finds it.
        folder = importlib.resources.files("wordllama")
        return package.WordLlama.load(cache_dir=folder, disable_download=True)


@dataclass(frozen=True)
class SentenceTransformersEmbedder:
    """Any model that sentence-transformers loads (extra ``sentence-transformers``).

    Attributes:
        model: Its name or path.
    """

    model: str

    @property
    def name(self) -> str:
        """``sentence-transformers:MODEL``."""
        return f"sentence-transformers:{self.model}"

    def fit(self, texts: Sequence[str]) -> "SentenceTransformersEmbedder":  # noqa: ARG002
        """Itself."""
        return self

    def embed(self, texts: Sequence[str]) -> Any:
        """Dense vectors.

        Raises:
            MissingExtraError: sentence-transformers is not installed.
        """
        return _zero_where_blank(
            texts, lambda given: self._model.encode(given, convert_to_numpy=True)
        )

    @cached_property
    def _model(self) -> Any:
        package = _package(
            "sentence_transformers", "sentence-transformers", "sentence-transformers"
        )
        return package.SentenceTransformer(self.model)


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Reply(msgspec.Struct):
    data: list[_Embedding]


@dataclass(frozen=True)
class EndpointEmbedder:
    """A server that speaks OpenAI's embeddings interface: ``POST URL/embeddings``.

    Attributes:
        url: The base, for example ``http://localhost:11434/v1``.
        model: Its name there.
        key: Sent as a bearer token; never part of a name, a result or a message.
        batch: How many texts are sent at once.
        timeout: Seconds to wait for one answer.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    batch: int = 256
    timeout: float = 60.0

    def __post_init__(self) -> None:
        address = urlsplit(self.url)
        if address.scheme not in ("http", "https"):
            raise UsageError(f"the address of embeddings {self.url!r} is no http address")
        if address.username is not None or address.password is not None:
            # The address is part of results.
            raise UsageError("the address of embeddings must not hold a user or a password")
        if self.batch < 1:
            raise UsageError("a batch holds at least one text")

    @property
    def name(self) -> str:
        """``openai:MODEL@URL``."""
        return f"openai:{self.model}@{self.url}"

    def fit(self, texts: Sequence[str]) -> "EndpointEmbedder":  # noqa: ARG002
        """Itself."""
        return self

    def embed(self, texts: Sequence[str]) -> Any:
        """Dense vectors.

        Raises:
            UsageError: The server does not answer, or refuses.
            InputError: It answers something else than an embedding for each text.
        """
        return _zero_where_blank(texts, self._ask_for_all)

    def _ask_for_all(self, texts: list[str]) -> Any:
        import numpy

        rows: list[list[float]] = []
        for start in range(0, len(texts), self.batch):
            rows.extend(self._ask(texts[start : start + self.batch]))
        if len({len(row) for row in rows}) > 1:
            raise InputError("the embeddings have different lengths", file=self.url)
        return numpy.array(rows, numpy.float64)

    def _ask(self, texts: list[str]) -> list[list[float]]:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request, urlopen

        headers = {"Content-Type": "application/json"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        request = Request(
            f"{self.url.rstrip('/')}/embeddings",
            data=msgspec.json.encode({"model": self.model, "input": texts}),
            headers=headers,
        )
        try:
            with urlopen(request, timeout=self.timeout) as answer:
                text = answer.read()
        except HTTPError as error:
            raise UsageError(
                f"the embeddings at {self.url} were refused: HTTP {error.code} {error.reason}"
            ) from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error or type(error).__name__
            raise UsageError(f"no embeddings from {self.url}: {reason}") from None
        try:
            found = msgspec.json.decode(text, type=_Reply).data
        except msgspec.MsgspecError as error:
            raise InputError(
                f"the answer holds no embeddings: {error}", file=self.url
            ) from None
        if sorted(one.index for one in found) != list(range(len(texts))):
            raise InputError(
                f"the answer holds {len(found)} embeddings for {len(texts)} texts",
                file=self.url,
            )
        return [one.embedding for one in sorted(found, key=lambda one: one.index)]


def make_embedder(name: str) -> Embedder:
    """The embedder with a name.

    Args:
        name: ``tfidf``, ``wordllama``, ``sentence-transformers:MODEL``, or
            ``openai:MODEL@URL`` (without a key; make an :class:`EndpointEmbedder` for one).

    Raises:
        UsageError: There is none.
    """
    kind, _, rest = name.partition(":")
    if name == "tfidf":
        return TfidfEmbedder()
    if name == "wordllama":
        return WordLlamaEmbedder()
    if kind == "sentence-transformers" and rest:
        return SentenceTransformersEmbedder(rest)
    if kind == "openai":
        model, _, url = rest.rpartition("@")
        if model and url:
            return EndpointEmbedder(url, model)
    raise UsageError(
        f"there is no embedder {name!r}; choose tfidf, wordllama, "
        "sentence-transformers:MODEL or openai:MODEL@URL"
    )


def _package(module: str, package: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(package, extra, f"the embedder {package}") from None


def _zero_where_blank(texts: Sequence[str], embed: Any) -> Any:
    """Embeds what holds text; a model would give a blank one a vector that means nothing."""
    import numpy

    told = [place for place, text in enumerate(texts) if text.strip()]
    if not told:
        return numpy.zeros((len(texts), 1))
    vectors = numpy.asarray(embed([texts[place] for place in told]), numpy.float64)
    if vectors.ndim != 2 or len(vectors) != len(told):
        raise InputError(f"the embedder gave {vectors.shape} for {len(told)} texts")
    result = numpy.zeros((len(texts), vectors.shape[1]))
    result[told] = vectors
    return result
