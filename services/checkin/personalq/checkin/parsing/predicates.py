"""What is told of a subject behind its scene, in words that do not name it again.

"a cactus in a mirror. | Has dark glasses and is grey", "a lobster under a pier, | coloured red".
What is told so is made a sentence of its own, or that of "the one", which is read anywhere.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.nouns import is_kind_of, is_worn
from personalq.checkin.parsing.corrected import Change

_COLOUR = f"({'|'.join(sorted(lexicon.colours(), key=len, reverse=True))})"
_SHADE = rf"((light|dark|pale|bright|deep) )?{_COLOUR}"
_CLOSED = r"(?= ?($|[,.;:!?)]))"
_CLOSED_OR_AND = r"(?= ?($|[,.;:!)])| and\b)"
_BREAK = r"(?<=[\w)\"'])( ?[.;:,(]| -) ?"
_SAYS = compile_form(
    rf"{_BREAK}(?P<here>)(?=(wears|sports) (?!(off|out|well|on|down)\b)\w|"
    r"(has|holds|carries|features) (an?|the|its|his|her|two|three|four|some)\b|"
    r"has ([\w-]+ )?(?!(has|is|was|does|less|always)\b)[a-z]{2,}[^\W_us]s"
    rf"{_CLOSED_OR_AND}|is (all )?{_SHADE}{_CLOSED_OR_AND})"
)
"""Before what is told without saying of whom: "a cactus in a mirror. | Has dark glasses"."""
_ASKS = re.compile(r"[^.;:!?]*\?")
_COMES_WITH = compile_form(
    rf"{_BREAK}(?P<here>((and )?(it|that one|this one) )?(comes|came) (complete )?with) "
    r"(?=(an?|its|his|her|two|three|some)\b)"
)
_AND_IS = compile_form(
    r"(?<!\w)it (was|is|has|comes|came) [^.;:!?()]{3,60}? and (?P<here>)(?=(is|has|wears) "
    r"(?!(been|to|not|never)\b)\w)"
)
"""The second thing told of it: "it was made in May and | is white"."""
_DRESSED = rf"(((all )?dressed (all )?in|clad in) ({_SHADE}|an?|the)|colou?red {_SHADE})(?!\w)"
_OF_ONE = compile_form(rf"(?<=\bone)(?P<here>, )(?={_DRESSED})")
_LIKE = compile_form(rf"(?<=\w), (?P<here>)(?={_DRESSED}|{_SHADE} and with (an?|the|its|his|her) )")
_WITH_THE = compile_form(
    r"(?<=\w), (?P<here>(and )?)with (?P<what>(the|its|his|her) ([\w'-]+ ){0,2}?[\w'-]+)"
    rf"({_CLOSED}|(?= and (an?|the|its|his|her) ))"
)
"""What is known: "under a pier, | with the cook's hat"; not "with the sun behind it"."""
_HELD = ("tool", "device", "jewelry", "footwear", "fastener", "musical instrument")
"""What somebody or something is known by, beside what is worn."""
_MOST = 8
"""Changes of one request; walls of the same words are left as they are."""
_SCENE = re.compile(r"(?<!\w)([a-z]{3,}ing|" + "|".join(
    sorted(lexicon.words("prepositions") - {"of", "with", "from", "by", "in", "for", "as"})
) + r"|in (an?|the|front))(?!\w)")  # fmt: skip
_GOES = compile_form(
    r"(?<![\w-])(?P<of>[\w-]{1,40})(?P<here> (goes|(ends|winds|turns|shows|pops) up|"
    r"finds (itself|himself|herself)|belongs))"
    r"(?= (in|on|at|inside|under|behind|by|near|next|into|onto|beside|among|between)\b)"
)
"""Where a subject is put: "the guitar | goes | inside a hall"."""
_QUOTED = compile_form(
    r"(?<!\w)(wants?|needs?|asked for|asks? for|would like) (?P<opens>[\"“])"
    r"(?P<said>(the|my|our|that|an?) [^\"“”]{2,60})(?P<closes>[\"”])"
)
"""What is asked for in quotes, and no title: 'the boss wants "the tote bag"'."""
_FRAGMENTS = compile_form(
    r"^[\w-]+( [\w-]+)?(?P<first>\.) ([\w-]+( [\w-]+)?(?P<second>\.) )?(?P<of>[\w-]+)(?=[.,:])"
)
"""Each word a sentence: "black. smiley. dog. inside a greenhouse"."""


def predicates(lowered: str, is_subject: Callable[[str], bool]) -> Sequence[Change]:
    """What makes sentences of them, the first few.

    Args:
        lowered: a request's shadow.
        is_subject: whether a word names a subject.
    """
    return list(itertools.islice(_predicates(lowered, is_subject), _MOST))


def _predicates(lowered: str, is_subject: Callable[[str], bool]) -> Iterator[Change]:
    named = next((m for m in re.finditer(r"[\w'-]+", lowered) if is_subject(m[0])), None)
    if named is None:
        return
    for match in _GOES.finditer(lowered):
        if is_subject(match["of"]) or match["of"] in lexicon.words("selectors"):
            yield Span(*match.span("here")), ""
    for match in _QUOTED.finditer(lowered):
        if any(map(is_subject, re.findall(r"[\w'-]+", match["said"]))):
            yield Span(*match.span("opens")), ""
            yield Span(*match.span("closes")), ""
    fragments = _FRAGMENTS.match(lowered)
    if fragments is not None and is_subject(fragments["of"]):
        for part in filter(fragments.group, ("first", "second")):
            yield Span(*fragments.span(part)), ","
    for match in _SAYS.finditer(lowered, named.end()):
        if _ASKS.match(lowered, match.end()):
            continue  # "Has the rain stopped?"
        yield Span(*match.span("here")), "it "
    for match in _COMES_WITH.finditer(lowered, named.end()):
        yield Span(*match.span("here")), "it has"
    for match in _AND_IS.finditer(lowered, named.end()):
        yield Span(*match.span("here")), "it "
    for match in _OF_ONE.finditer(lowered):
        yield Span(*match.span("here")), " that is "
    for pattern in (_LIKE, _WITH_THE):
        for match in pattern.finditer(lowered, named.end()):
            before = lowered[named.end() : match.start()]
            known = "what" not in pattern.groupindex or _is_told_by(match["what"].split()[-1])
            if known and _SCENE.search(before) and not before.rstrip().endswith(" one"):
                yield Span(*match.span("here")), "the one "


def _is_told_by(noun: str) -> bool:
    """Whether somebody may be told by a thing; waves, a waiter or a lighthouse are seen there."""
    return is_worn(noun) or any(is_kind_of(noun, each) for each in _HELD)
