"""Cosines of term weights between texts of one run: quick, without matrices.

The weights are those of :class:`mining.embedders.TfidfEmbedder`, fitted to the same texts:
``(1 + ln tf) (1 + ln((1 + n) / (1 + df)))`` for words of letters in lower case, with digits,
underscores and inner capitals parting words. A run's texts are few, its pairs fewer still:
dictionaries are several times as fast as sparse matrices there.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from graphstore.identity import normalize_content

_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def term_cosines(texts: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
    """The cosine of each pair of texts.

    Args:
        texts: All texts of a run: what makes a word common.
        pairs: Positions in ``texts``.

    Returns:
        One for each pair, 0 to 1; NaN where a text has no word.
    """
    # Copies are counted as often as they stand there, and split once.
    split = {
        text: Counter(_WORD.findall(normalize_content(_HUMP.sub(" ", text))))
        for text in dict.fromkeys(texts)
    }
    spread: Counter[str] = Counter()
    for text in texts:
        spread.update(split[text].keys())
    rarity = {
        word: 1.0 + math.log((1 + len(texts)) / (1 + count)) for word, count in spread.items()
    }
    weights: dict[str, tuple[dict[str, float], float]] = {}
    for text, counts in split.items():
        vector = {
            word: (1.0 + math.log(count)) * rarity[word] for word, count in counts.items()
        }
        length = math.sqrt(math.fsum(weight * weight for weight in vector.values()))
        weights[text] = (vector, length)
    return [_cosine(weights[texts[one]], weights[texts[other]]) for one, other in pairs]


def _cosine(
    one: tuple[dict[str, float], float], other: tuple[dict[str, float], float]
) -> float:
    if len(other[0]) < len(one[0]):
        one, other = other, one
    lengths = one[1] * other[1]
    if not lengths:
        return math.nan
    there = other[0]
    product = math.fsum(
        [weight * there[word] for word, weight in one[0].items() if word in there]
    )
    return min(product / lengths, 1.0)
