"""What is told by likeness: "the colour of cocoa", "as white as milk", "as thin as a rake"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.wordnet import may_be_noun, singulars
from personalq.checkin.parsing.corrected import Change
from personalq.checkin.parsing.word_roles import is_adjective

_THING = r"((?P<article>an?|the) )?(fresh |ripe )?(?P<thing>[\w'-]+( [\w'-]+){0,3})"
_OF = compile_form(
    r"(?<![\w-])(?<!with )(?!in the shade)(in )?((the|an?|some|any) "
    r"((exact|same|very) )?((deep|rich|pale|dark|light) )?"
    rf"(colou?r|shade|hue|tint) of|colou?red (just )?like) {_THING}"
)
_AS = compile_form(
    r"(?<![\w-])(?P<as>as )?(?P<colour>red|orange|yellow|green|blue|purple|pink|brown|black|white|"
    rf"gr[ae]y|pale|dark) as {_THING}"
)
_ADJECTIVE = compile_form(
    r"(?<![\w-])as (?P<how>[a-z]+) as an? (?P<thing>[a-z]+)(?![\w-])(?! (on|with|in|of)\b)"
)
_SHADE = compile_form(
    r"(?<!ing )(?<!ings )(in|of) (an?|some) ((?P<green>leafy|grassy|mossy)|(?P<pink>rosy)|"
    "(?P<yellow>lemony|buttery|sunny)|(?P<brown>earthy|nutty|woody|chocolatey)|"
    "(?P<black>inky|sooty)|(?P<white>snowy|milky|chalky)|(?P<tan>sandy)|"
    "(?P<gray>smoky|steely|stony)|(?P<orange>carroty)) (shade|hue|tone|tint|colou?r)s?"
    r"(?! (of|under|beneath|by)\b)(?!\w)"
)
"""A shade told by an adjective: "in a leafy shade"."""
_NO_QUALITIES = frozenset(
    ["many", "much", "few", "long", "far", "soon", "well", "good", "same", "such"]
)
"""Not told by likeness: "as good as a picture"."""
_THAT_IS = re.compile(r"(?<!\w)(that|which|it|one)('s| is) $")
_BEING = frozenset(["is", "are", "that's", "it's", "being", "looks", "isn't", "aren't", "not"])
_DIRECTLY_BEFORE = re.compile(r"([\w'-]+) $")


def similes(lowered: str, is_subject: Callable[[str], bool]) -> Sequence[Change]:
    """Every such simile of a text in lower case, with the colour or the quality that it means.

    A sky of some colour is the scene's: "under a sky the colour of lead" stays as it is. So does
    what is likened to a subject: "the colour of the bear".
    """
    changes = []
    for pattern in (_OF, _AS):
        for match in pattern.finditer(lowered):
            behind = _DIRECTLY_BEFORE.search(lowered, 0, match.start())
            before = behind[1] if behind else ""
            of_scene = before in lexicon.words("scenes") and not is_subject(before)
            colour, length = _colour(match, is_subject)
            if not colour or of_scene or before == "without":
                continue
            said = colour if before in _BEING else f"in {colour}"
            changes.append((Span(match.start(), match.start("thing") + length), said))
    taken = [span for span, _ in changes]
    for match in _ADJECTIVE.finditer(lowered):
        span = Span(*match.span())
        lead = _DIRECTLY_BEFORE.search(lowered, 0, span.start)
        of_it = _THAT_IS.search(lowered, 0, span.start)
        told = of_it or (lead and (lead[1] in ("one", "ones") or is_subject(lead[1])))
        plain = is_adjective(match["how"]) and _is_noun(match["thing"])
        plain = plain and match["how"] not in _NO_QUALITIES and not is_subject(match["thing"])
        if told and plain and not any(map(span.meets, taken)):
            changes.append((span, match["how"] if of_it else f"that is {match['how']}"))
    for match in _SHADE.finditer(lowered):
        colour = next(name for name, said in match.groupdict().items() if said)
        changes.append((Span(*match.span()), f"in {colour}"))
    return changes


def _colour(match: re.Match[str], is_subject: Callable[[str], bool]) -> tuple[str, int]:
    """The colour and how many characters of the thing name it; none where nobody knows it."""
    words = match["thing"].split(" ")
    for length in range(len(words), 0, -1):
        thing = " ".join(words[:length])
        if colour := _colour_of(thing):
            goes_on = length < len(words) and _is_noun(words[length])  # "brick walls"
            return ("", 0) if goes_on or is_subject(thing) else (colour, len(thing))
    told = match.groupdict()
    if not told.get("as") or told["colour"] in ("pale", "dark") or not told["article"]:
        return "", 0
    likened = words[: 2 if len(words) > 1 and _is_noun(words[1]) else 1]  # "as blue as a clear day"
    if not _is_noun(likened[-1]) or any(map(is_subject, likened)):
        return "", 0
    return str(told["colour"]), len(" ".join(likened))


def _is_noun(word: str) -> bool:
    """Whether a word is a noun, and none of the grammar's or a verb."""
    closed = ("prepositions", "links", "selectors", "determiners")
    return (
        may_be_noun(word)
        and not any(word in lexicon.words(kind) for kind in closed)
        and word not in lexicon.verb_forms()
    )


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
