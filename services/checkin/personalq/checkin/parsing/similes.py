"""Colours told by what has them: "the colour of cocoa", "as white as milk"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.wordnet import singulars
from personalq.checkin.parsing.corrected import Change

_THING = r"((an?|the|my) )?(fresh |ripe )?(?P<thing>[\w'-]+( [\w'-]+){0,3})"
_OF = compile_form(
    r"(?<![\w-])(in )?((the|an?|some|any) ((exact|same|very) )?((deep|rich|pale|dark|light) )?"
    rf"(colou?r|shade|hue|tint) of|colou?red (just )?like) {_THING}"
)
_AS = compile_form(
    r"(?<![\w-])as (?P<colour>red|orange|yellow|green|blue|purple|pink|brown|black|white|gr[ae]y|"
    rf"pale|dark|light|bright|deep) as {_THING}"
)
_BEING = frozenset(["is", "are", "that's", "it's", "being", "looks"])


def similes(lowered: str) -> Sequence[Change]:
    """Every such simile of a text in lower case, with the colour that it means.

    A sky of some colour is the scene's: "under a sky the colour of lead" stays as it is.
    """
    changes = []
    for pattern in (_OF, _AS):
        for match in pattern.finditer(lowered):
            before = re.findall(r"[\w'-]+", lowered[: match.start()])[-1:]
            colour, length = _colour(match)
            if not colour or (before and before[0] in lexicon.words("scenes")):
                continue
            end = match.start("thing") + length
            said = colour if before and before[0] in _BEING else f"in {colour}"
            changes.append((Span(match.start(), end), said))
    return changes


@lru_cache(maxsize=4096)
def _colour_of(thing: str) -> str:
    """The colour group that a thing stands for where its colour is spoken of; "" of others."""
    groups, colours = lexicon.description_groups(), lexicon.words("colors")
    start, _, last = canonical(thing).rpartition(" ")
    for noun in (last, *singulars(last)):
        name = f"{start} {noun}".strip()
        found = next((groups[p] for p in (f"{name} colored", name) if groups.get(p) in colours), "")
        if found:
            return found
    return ""


def _colour(match: re.Match[str]) -> tuple[str, int]:
    """The colour and how many characters of the thing name it; none where nobody knows it."""
    words = match["thing"].split(" ")
    for length in range(len(words), 0, -1):
        thing = " ".join(words[:length])
        if colour := _colour_of(thing):
            return colour, len(thing)
    named = match.groupdict().get("colour") or ""
    if named not in lexicon.words("colors") | {"grey"}:
        return "", 0
    told = words[:1]  # "as blue as a clear sky"
    for word in words[1:]:
        if word in lexicon.words("prepositions") or word in lexicon.words("links"):
            break
        told.append(word)
    return named, len(" ".join(told))
