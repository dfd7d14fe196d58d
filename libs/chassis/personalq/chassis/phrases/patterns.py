"""What the patterns of phrases are made of."""

from __future__ import annotations

import re

from personalq.chassis.forms import compile_form, form


def compiled(*alternatives: str) -> re.Pattern[str]:
    """A pattern of alternatives; upper and lower case are the same."""
    return compile_form(*alternatives, flags=re.IGNORECASE)


WORD = r"[\w'’-]+"
A = "(an?|my|our|one)"
THE = "(an?|the|my|our|one)"
THIS = "(an?|the|my|our|one|this)"
PICTURES = "(pictures|photos|photographs|images|shots|snapshots|portraits)"
DRAWN = form(
    "rendered",
    "drawn",
    "painted",
    "printed",
    "made",
    "modell?ed",
    "shown",
    "depicted",
    "done",
    "sculpted",
    "shot",
    "illustrated",
    "sketched",
    "created",
)
"""How a look is made, or a thing."""
LOOKS = form(
    "sketch",
    "(lino|wood)cut",
    "painting",
    "print",
    "cut-?out",
    "artwork",
    "render(ing)?",
    "3d model",
    "claymation figure",
    "stained glass window",
    "(anime|film|movie) still",
    "comic (book )?panel",
    "embroidery",
    "watercolou?rs?",
    "oils",
    "anime",
    "claymation",
    "pixel art",
    "cartoon",
    "drawing",
    "illustration",
    "photo(graph)?",
)
"""What a thing may be shown as: "a collar | as a pencil sketch"."""
