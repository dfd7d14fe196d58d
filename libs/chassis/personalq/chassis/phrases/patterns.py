"""What the patterns of phrases are made of."""

from __future__ import annotations

import re

from personalq.chassis.forms import compile_form


def compiled(*alternatives: str) -> re.Pattern[str]:
    """A pattern of alternatives; upper and lower case are the same."""
    return compile_form(*alternatives, flags=re.IGNORECASE)


WORD = r"[\w'’-]+"
A = "(an?|my|our|one)"
THE = "(an?|the|my|our|one)"
THIS = "(an?|the|my|our|one|this)"
PICTURES = "(pictures|photos|photographs|images|shots|snapshots|portraits)"
