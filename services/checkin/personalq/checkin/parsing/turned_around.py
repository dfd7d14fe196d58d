"""Things told the other way around: "a rose made of sugar", "buttons for eyes"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from personalq.chassis.forms import compile_form
from personalq.checkin.intent import Span
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.lexicon.wordnet import Nature, nature, singulars
from personalq.checkin.parsing.corrected import Change

_HAVING = "(with|has|have|having|wears|wearing|and)"
_HOW = "(?P<how>((an?|the|its|his|her|some|two|three|four) )?((?!made )[a-z-]+ )?)"
_MADE_OF = compile_form(
    rf"(?<!\w){_HAVING} (?P<whole>{_HOW}(?!(and|or|but)\b)(?P<thing>[a-z-]+)( (that|which) (is|"
    rf"are|was|were))?,? "
    r"(made|built|carved|cast) (out )?(of|from) (?P<stuff>[a-z-]+))(?![\w-])"
)
_AS_PARTS = compile_form(
    rf"(?<!\w){_HAVING} (?P<whole>{_HOW}(?P<thing>[a-z-]+) for (an? )?"
    r"(?P<part>eyes?|ears?|nose|feet|legs|arms|teeth|wheels?|mouth|handles?|wings))(?![\w-])"
)


def turned_around(lowered: str, is_subject: Callable[[str], bool]) -> Sequence[Change]:
    """Each such thing of a text in lower case, as a card names it: "a sugar rose", "button eyes".

    A subject keeps its place: "the cat with the dog made of clay".
    """
    changes = []
    for match in _MADE_OF.finditer(lowered):
        stuff = match["stuff"]
        several = next(singulars(stuff), None) is not None  # "a house made of cards"
        plain = nature(stuff) in (Nature.MATTER, Nature.THING) and not several
        if (plain or stuffs_in(stuff)) and not is_subject(match["thing"]):
            said = f"{match['how']}{stuff} {match['thing']}"
            changes.append((Span(*match.span("whole")), said))
    for match in _AS_PARTS.finditer(lowered):
        if not is_subject(match["thing"]):
            one = next(singulars(match["thing"]), match["thing"])
            changes.append((Span(*match.span("whole")), f"{match['how']}{one} {match['part']}"))
    return changes
