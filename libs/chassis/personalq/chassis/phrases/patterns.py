"""What the patterns of phrases are made of."""

from __future__ import annotations

import re


def any_of(*alternatives: str) -> str:
    """A pattern of alternatives, the first that fits."""
    return f"(?:{'|'.join(alternatives)})"


def compiled(*alternatives: str) -> re.Pattern[str]:
    """A pattern of alternatives; upper and lower case are the same."""
    return re.compile("|".join(alternatives), re.IGNORECASE)


WORD = r"[\w'’-]+"
A = r"(?:an?|my|our|one)"
THE = r"(?:an?|the|my|our|one)"
PICTURES = r"(?:pictures|photos|photographs|images|shots|snapshots|portraits)"
