"""What the patterns of phrases are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from personalq.chassis.forms import compile_form, form


def compiled(*alternatives: str) -> re.Pattern[str]:
    """A pattern of alternatives; upper and lower case are the same."""
    return compile_form(*alternatives, flags=re.IGNORECASE)


CLAUSE = r"(^|(?<=,)) ?"
"""Where a clause starts."""


@dataclass(frozen=True, kw_only=True)
class Cued:
    """A pattern that is looked for only where some of its words stand: few texts have any.

    One of them is enough to try every alternative.
    """

    pattern: re.Pattern[str]
    cues: tuple[str, ...]
    """What fits the pattern has one of them; in lower case."""

    @classmethod
    def of(cls, *rows: tuple[Sequence[str], str]) -> Self:
        """A pattern of alternatives, each behind the words of which it has one."""
        cues = dict.fromkeys(cue for row, _ in rows for cue in row)
        # Those of a start are tried together, and only there: most places in a text are no start.
        starts: dict[str, list[str]] = {"": [], CLAUSE: [], "^ ?": []}
        for _, written in rows:
            start = next(start for start in (CLAUSE, "^ ?", "") if written.startswith(start))
            starts[start].append(written.removeprefix(start))
        pattern = compiled(
            *(f"{start}({form(*forms)})" for start, forms in starts.items() if forms)
        )
        return cls(pattern=pattern, cues=tuple(cues))

    def without(self, text: str) -> str:
        """The text without what fits."""
        folded = text.casefold()
        return self.pattern.sub("", text) if any(cue in folded for cue in self.cues) else text


WORD = r"[\w'’-]+"
TOLD_BY = rf"(?P<told>this ({WORD} ){{1,4}})by (?P<by>(an?|its|his|her|two|three|some)\s)"
"""Behind "you can tell": "this goat by a torn ear"."""
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
LOOKED = form(
    "(pixel|line|pop)~art",
    "oil~paint(ing|ed)",
    "low~poly",
    "photo~?(realistic|real|like|graphic)",
    "3d~render(ed)?",
    "(pencil~)?sketch(ed)?",
    "claymation",
    "cartoon",
    "anime",
    "watercolou?r",
    "paper~?(cut|craft)",
    "stained~glass",
    "origami",
    "comic(~book)?",
    "(lino|wood)cut",
)
"""What a picture is said to be before its subject is named: "a line-art rabbit"."""
PLACE = (
    "((up|out|down) )?(in|at|on|by|near|around|inside|outside) ((the|an?|our) )?"
    rf"(?!(the|an?|our|and)\b){WORD}( (?!and\b){WORD})?"
)
PLACES = rf"({PLACE}|downtown|outdoors)( and ({PLACE}|downtown|outdoors)){{0,3}}"
"""Where it was: "up in the mountains and downtown"."""
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
