"""The form in which names of checkpoints are compared.

The catalog keeps names by it and Check-in reads requests by it, so it is one function for both.
Case, width, brackets, quotes and spacing do not count, for "Grandma’s Teapot" is meant by
"grandma's teapot", and `<bear-v4>` by "bear-v4".
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+(?:[-.:/@+~#']+\w+)*")
_PLAIN = str.maketrans(dict.fromkeys("’‘ʼ`´", "'") | dict.fromkeys("‐‑‒–—−", "-"))


def fold(text: str) -> str:
    """Text without case, width and spacing: NFKC, casefold, single spaces, nothing unprintable."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    if not folded.isprintable():
        folded = "".join(c if c.isprintable() else " " for c in folded)
    return " ".join(folded.split())


def name_key(text: str) -> str:
    """The form in which names are compared: folded words, the last without a possessive ending."""
    folded = fold(text).translate(_PLAIN)
    words = _WORD.findall(folded)
    return " ".join(words).removesuffix("'s") or folded
