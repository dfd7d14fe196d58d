"""What the subject is like, put before it: "our dragon, coral all over" is "our coral dragon"."""

from __future__ import annotations

import re
from collections.abc import Callable

from personalq.chassis.phrases.patterns import WORD, any_of, compiled

_BASIC = (
    "red|orange|yellow|green|teal|blue|purple|pink|brown|black|white|gr[ae]y|gold|silver|cream|tan"
)
_COLOUR = any_of(
    _BASIC,
    "coral|crimson|scarlet|maroon|burgundy|rust|copper|amber|mustard|lemon|lime|mint|olive",
    "emerald|jade|turquoise|aqua|cyan|navy|cobalt|azure|indigo|violet|lavender|lilac|plum|mauve",
    "magenta|fuchsia|rose|salmon|peach|apricot|ivory|beige|khaki|charcoal|slate|ash|ebony|jet|onyx",
    "bronze|chestnut|chocolate|caramel|ochre|terracotta|sand|ruby|sapphire|tangerine|fawn|blush",
    "brindle|brass|natural",
)
# "Red and white striped" is one look, not two things.
_TWO_COLOURS = compiled(rf"\b((?:{_BASIC}))\s+and\s+(?=(?:{_BASIC})\b)")
# "A pug whose colour is brindle", "a kite coloured mint".
_WHOSE_COLOUR = compiled(
    rf"^\s*(an?|the|my|our|one)\s+((?:{WORD}\s+){{1,4}})(?:whose\s+colou?r\s+is|colou?red)\s+"
    rf"({WORD}(?:\s+(?!with\b|and\b){WORD})?)\s*(?=$|,|\bwith\b|\band\b)",
)
# "Our dragon, coral all over", "black clothes from head to toe": the subject's own colour.
_ALL_OVER = compiled(
    rf"^\s*(?:(an?|the|my|our|one|this)\s+([^,]{{1,60}}),\s*((?:[\w'’]+[\s-]+)?{_COLOUR})"
    rf"(?:\s+clothes)?|((?:[\w'’]+[\s-]+)?{_COLOUR}))\s+"
    r"(?:all\s+over|from\s+head\s+to\s+(?:toe|foot|tail)|from\s+top\s+to\s+bottom)\s*(?=$|,)",
)
# "Coral all over, this owl has a bell".
_ALL_OVER_IT = compiled(
    rf"^\s*((?:[\w'’]+[\s-]+)?{_COLOUR})\s+(?:all\s+over|from\s+top\s+to\s+bottom),\s*"
    r"(an?|the|my|our|this)\s+(?=[\w'’-])",
)
# "A furisode, emerald all over", "everything about it is teal".
_ALL_OVER_LAST = compiled(
    rf"(?<=,)\s*(?:and\s+)?((?:[\w'’]+[\s-]+)?{_COLOUR})\s+all\s+over(?=\s*$)",
    r"^\s*(?:everything|all)\s+(?:about|on|of)\s+it\s+is\s+"
    rf"((?:[\w'’]+[\s-]+)?{_COLOUR})(?=\s*(?:$|,))",
)
# "Our ash scarf, supporter's kind", "wizard, clockwork type".
_KIND = compiled(
    rf"^\s*((?:(?:an?|the|my|our|one|this)\s+)?(?:{WORD}\s+){{0,4}})({WORD}),\s*"
    rf"((?:{WORD}\s+){{0,2}}{WORD})\s+(?:kind|type|variety)\s*(?=$|,|\s(?:together|with)\b)",
)
# "Personal owl checkpoint: barn type".
_PERSONAL = compiled(
    rf"^\s*personal(?:i[sz]ed)?\s+((?:{WORD}\s+){{1,3}}?)(?:checkpoint|lora|model)\s*:\s*"
    rf"((?:{WORD}\s+){{1,3}}?)(?:kind|type|variety)\s*(?=$|[,.;])",
)
# "The stoneware teapot here is slate", "this chair is navy".
_IS_LIKE = compiled(
    rf"^\s*(?:the\s+(?=(?:{WORD}\s+){{1,4}}here\s)"
    r"|this\s+(?!look|style|set|version|model|picture|checkpoint))"
    rf"((?:(?!here\b){WORD}\s+){{1,4}})(?:here\s+)?is\s+"
    rf"((?!(?:an?|the|in|on|from|of|all|not|\w+ing)\b){WORD}"
    rf"(?:\s+(?!with\b|and\b|has\b){WORD}){{0,2}})\s*(?=$|,|\bwith\b|\band\b)",
)
# "A fishbowl helmet sets this astronaut apart", "a patch sets off this kite".
_APART = compiled(
    r"^\s*(\S.*?) (?:sets? (?:this|the) (\S.*) apart|sets? off (?:this|an?) (\S.*))\s*$",
)
# "The lance stays visible in most shots".
_VISIBLE = compiled(
    r"(?<!\s)\s+(?:stays?|remains?|(?:is|are)(?:\s+always)?)\s+visible"
    r"(?:\s+(?:in|on)\s+(?:most|all|many|every)(?:\s+of\s+the)?\s+\w+)?\s*$",
)
# "The material is wood panelling", "the whole thing looks like foil".
_MATERIAL = compiled(
    r"^\s*(?:the\s+)?(?:material|surface|texture|whole\s+thing)\s+"
    r"(?:is|looks?\s+like|reads?\s+as|feels?\s+like|resembles)\s+"
    r"(?!(?:it|all|as|not|unknown|unclear)\b)"
    rf"(?={WORD}(?:\s+(?!with\b){WORD}){{0,3}}\s*(?:$|,|with\b))",
)
# "Mostly felt textures".
_TEXTURES = compiled(rf"^\s*mostly\s+((?:{WORD}\s+){{0,2}}{WORD})\s+textures?\s*$")


def kind_first(description: str) -> str:
    """The kind that a whole description tells before anything else, as a phrase of the subject."""
    return _PERSONAL.sub(r"a \2\1", description)


def subject_last(sentence: str) -> str:
    """A sentence that says what the subject is like and then names it."""
    told, folded = sentence, sentence.casefold()
    for cues, pattern, put in _FORMS:
        if any(cue in folded for cue in cues):  # most sentences have none of these forms
            told = pattern.sub(put, told)
    return told


def _set_apart(found: re.Match[str]) -> str:
    thing, this = found[1], found[2] or found[3]
    subject, comma, rest = this.partition(",")  # "a belt sets off this parka, made of denim"
    return f"{subject} with {thing}{comma}{rest}"


_OVER = ("all over", "from head", "from top", " it is")
_FORMS: tuple[
    tuple[tuple[str, ...], re.Pattern[str], str | Callable[[re.Match[str]], str]], ...
] = (
    ((" and ",), _TWO_COLOURS, r"\1-and-"),
    ((" set ", " sets "), _APART, _set_apart),
    (("visible",), _VISIBLE, ""),
    (("material", "surface", "texture", "whole"), _MATERIAL, ""),
    (("texture",), _TEXTURES, r"\1"),
    (_OVER, _ALL_OVER_IT, r"\2 \1 "),
    (_OVER, _ALL_OVER, lambda found: " ".join(filter(None, found.group(1, 3, 2, 4)))),
    (_OVER, _ALL_OVER_LAST, lambda found: f" coloured {found[1] or found[2]}"),
    (("colo",), _WHOSE_COLOUR, lambda found: f"{found[1]} {found[3]} {found[2]}"),
    ((" kind", " type", " variety"), _KIND, r"\1\3 \2"),
    ((" is ",), _IS_LIKE, lambda found: f"{found[2].strip()} {found[1]}"),
)
"""Forms, each with words that it has, in the order they are tried."""
