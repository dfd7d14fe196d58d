"""Words of one stem."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A crude stem that makes "stripes", "striped" and "stripe" alike."""
    for ending in ("ies", "es", "s", "ed", "ing", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            base = word[: -len(ending)]
            if ending == "ies":
                return f"{base}"
            if len(base) > 3 and base[-1] == base[-2] and ending in ("ed", "ing", "y"):
                base = base[:-1]
            return base
    return word.removesuffix("e") if len(word) > 4 else word
