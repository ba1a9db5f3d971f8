"""Normalized contents: the fast way gives what the definition says, for every character."""

import sys
import unicodedata
from unittest import mock

import numpy  # noqa: F401 - the long way is there with it
from hypothesis import given
from hypothesis import strategies as st

from graphstore.identity import (
    canonical_bytes,
    canonical_json,
    content_hash,
    digest,
    normalize_content,
)


def plainly_normalized(text):
    """NFKC, case folded, white space collapsed: the definition, word for word."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def test_every_character_alone_and_beside_others():
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        for text in (character, f"A {character}\tb{character}  "):
            assert normalize_content(text) == plainly_normalized(text), hex(code)


def test_pairs_that_make_one_character():
    pairs = [
        [chr(int(code, 16)) for code in parts.split()]
        for code in range(sys.maxunicode + 1)
        if (parts := unicodedata.decomposition(chr(code))).count(" ") == 1
        and not parts.startswith("<")
    ]
    assert len(pairs) > 900
    for first, second in pairs:
        for text in (first + second, f"É{first}{second}…", f"…{second}"):
            assert normalize_content(text) == plainly_normalized(text), ascii(text)


@given(
    st.one_of(
        st.text(max_size=40),
        st.text(alphabet="aB \t\n\r\x1c\x1f\x0b  é–中 ßİſḰ한ㅏ", max_size=40),
        st.text(alphabet=st.characters(max_codepoint=127), max_size=60),
        st.text(alphabet=st.characters(min_codepoint=0x300, max_codepoint=0x36F), max_size=9),
        st.text(alphabet=" a", max_size=30),
        st.text(alphabet="aÉ\xa0…™´½ſΣςЖж、Å①𝐀🙂\ufe0f\u200d\u3000\u2028", max_size=30),
        # What decoders let through of a cut pair.
        st.text(alphabet=st.characters(categories=["Cs", "L"]), max_size=9),
    )
)
def test_any_text(text):
    assert normalize_content(text) == plainly_normalized(text)
    assert content_hash(text) == digest(
        plainly_normalized(text).encode("utf-8", "surrogatepass"), size=16
    )


@given(st.text(alphabet="aB \t\né…", max_size=60))
def test_long_texts_with_and_without_numpy(text):
    # With numpy, which these tests have loaded, and without it.
    assert "numpy" in sys.modules
    long = text + "x  y " * 400 + text
    assert normalize_content(long) == plainly_normalized(long)
    without = {name: module for name, module in sys.modules.items() if name != "numpy"}
    with mock.patch.dict(sys.modules, without, clear=True):
        assert normalize_content(long) == plainly_normalized(long)


@given(st.dictionaries(st.text(), st.text() | st.integers(-(2**60), 2**60) | st.none()))
def test_canonical_bytes_make_the_ids_that_canonical_text_makes(value):
    reordered = dict(reversed(value.items()))
    assert digest(canonical_bytes(reordered)) == digest(canonical_json(value))
