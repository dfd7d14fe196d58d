"""Places that name a checkpoint themselves: "the harbor one", "from the gym", bare in an answer."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin.intent import Span
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.environments.places import MATERIAL
from personalq.checkin.parsing.orders.words import ENDS
from personalq.checkin.parsing.text import ends_before

_SELECTOR = (
    "(one|ones|version|versions|model|models|build|checkpoint|lora|variant|edition|training|"
    "trained|iteration|release|ckpt|set|shoot|upbringing|education|schooling)"
)
_AFTER = compile_form(
    rf"(?! [-–—] )(~(scenes?|pictures?|photos?|images?|shots?))?~{_SELECTOR}(?!\w)( (one|version|"
    r"model|build)(?!\w))?"
)
"""Not of "in front of a bakery - | version 2"."""
FROM = compile_form(r"(?<!\w)from (the )?$")
_SET = compile_form(
    r"(?<!\w)(from|((came|comes|come) )?out of|(based|built) on) ((the|my|our|some|a|an) )?$"
)
_OF = compile_form(r"(?<!\w)of (the|our|my) $")
_SERIES = "set|series|shoots?|sessions?|dataset|batch|collection|run"
_ALBUM = "(folder|album|pics?)"
_FROM_SET = compile_form(rf"~({_SERIES}|{_ALBUM}{ENDS})(?!\w)")
_OF_SET = compile_form(rf"~({_SERIES}|{_ALBUM}(?! (?!please\b)\w))(?!\w)")
"""Around a place: "of the | airfield | series", not "a collage of the | beach | pics on it"."""
_WITH = compile_form(r"((?<!\w)(with|has|having) (the |its )?|[(,;] ?(the )?)$")
_HAS_THERE = compile_form(
    r"(?<!\w)(with|has|having|wearing) ([\w-]+ ){1,5}(on|in|at|over|around|behind|under|"
    "by) ((the|a|an|its|his|her) )?$"
)
"""Before a part of the subject: "the one with a wind turbine on the roof"."""
_TAKEN = compile_form(
    "~(scenes(?= ?($|[,.;)]))|pictures|pics|photos|images|photographs|shots|snapshots|footage|"
    "photography|dataset|data|backgrounds?|backdrops?|surroundings|"
    r"references(?= ?($|[,.;]))|(learning|training)~(set|data|material|pictures|photos))(?!\w)"
)

_AFTER_WISH = compile_form("( ?[,;|+]| -) $")
_LISTED = compile_form(
    r" ?([+]\s|[.;=] (?=(on|in|at|under|near|next|beside|behind|by|with|over|inside|outside|"
    r"against|atop|show|put|place|have|make|let|draw|paint|i|i'd|the)\b)|"
    r" [-–—] (?=(that|this|the|my|our)\s))"
)
"""What ends the last of several wishes, before what is to be seen."""
_REFUSED = compile_form(r"(?<!\w)not (from )?the $")
_LEARNED = compile_form(
    r"~(material|set|data|dataset|footage|shoot|session|pictures|photos|shots|images)(?!\w)"
)
_WHERE_TRAINED = compile_form(
    " (is|was|were) where (("
    "(it|that one|this one) (was|were|got) (trained|taught|shot|photographed)|"
    "(it|that one|this one) (trained|(learned|learnt) (its|their) stuff)|"
    "(i|we|they|you) (trained|taught|shot|photographed) (it|her|him|them|that one))"
    r"(?= ?($|[.,;:!?)]))|"
    r"(i|we|they|you) (trained|taught|shot|photographed)(?= (that|the|this|our|my)\s))",
    " (is|was|were) where (it|this one|that one) (had|got|did|received) its training(?!\\w)|"
    " that (it|this one|that one) (was|got) (trained|taught|shot|photographed)(?!\\w)",
    " (is|was|were|being) (its|the|their) training (environment|place|set|setting|location|"
    r"data|ground|spot|scene)s?(?= ?($|[.,;:!?)]))",
)
"""Behind the place: "the harbor | was where it was trained"."""


def named_phrase(draft: Draft, span: Span, *, known: bool) -> Span | None:
    """The whole phrase when the place names a checkpoint ("the harbor one"), else None."""
    shadow = draft.page.shadow
    start, end = span.start, span.end
    first = draft.page.word_at(start)
    if first is not None and first.hyphen:
        return None  # "the off-road one"
    if known and _is_what_it_is_made_of(draft, span):
        return None
    if known and (told := _WHERE_TRAINED.match(shadow, end)):
        return Span(start, told.end())
    if after := _AFTER.match(shadow, end):
        before = draft.page.word_before(start)
        article = before is not None and before.norm in ("the", "my", "our", "that")
        if article or after[0].startswith("-") or "trained" in after[0] or known:
            stop = (
                end if after[0].strip(" -").startswith(("one", "version", "model")) else after.end()
            )
            return Span(start, stop if "trained" not in after[0] else after.end())
    noun = draft.page.word_at(end)
    if noun is not None and noun.joined and known and draft.noun_at(noun.index):
        # "the studio bear model"
        before = draft.page.word_before(start)
        article = before is not None and before.norm in ("the", "my", "our")
        if article and draft.leads_to_selector(noun.index):
            return span
    lead_set = ends_before(_SET, shadow, start)
    material = MATERIAL.match(shadow, end) or _FROM_SET.match(shadow, end)
    if lead_set and material:
        return Span(lead_set.start(), material.end())
    if (
        known
        and (lead := ends_before(_OF, shadow, start))
        and (of_set := _OF_SET.match(shadow, end))
    ):
        return Span(lead.start(), of_set.end())
    if (
        known
        and (lead_photos := ends_before(_WITH, shadow, start))
        and (photos := _TAKEN.match(shadow, end))
    ):  # "the beanie with the library shots"
        return Span(lead_photos.start(), photos.end())
    if known and ends_before(_REFUSED, shadow, start) and (refused := _LEARNED.match(shadow, end)):
        return Span(start, refused.end())  # "not the lake material"
    listed = _LISTED.match(shadow, end) is not None or _is_between_wishes(draft, end)
    if known and not draft.answering and listed:
        lead = ends_before(_AFTER_WISH, shadow, start)
        if lead is not None and _is_wish(draft, lead.start()):
            return Span(start, end)  # "umbrella of Tobias's, stained glass, desert. On a rock"
    has = ends_before(_HAS_THERE, shadow, start) is not None
    return span if draft.answering and known and not has else None


def _is_what_it_is_made_of(draft: Draft, span: Span) -> bool:
    """Whether it may as well be a stuff: "the wood one"."""
    name = span.of(draft.page.shadow)
    following = draft.page.word_at(span.end)
    one = following is not None and following.joined and following.norm in ("one", "ones")
    return one and name in stuffs_in(name)


def _is_between_wishes(draft: Draft, end: int) -> bool:
    """Whether a comma leads to one more wish: "oil painting, harbor, | Lena's"."""
    following = draft.page.word_at(end)
    return following is not None and not following.joined and not draft.is_free(following)


def _is_wish(draft: Draft, end: int) -> bool:
    """Whether a wish ends there: something claimed, or the subject."""
    before = draft.page.word_before(end)
    return not draft.free(end - 1, end) or (before is not None and draft.nouns_cover(before.index))
