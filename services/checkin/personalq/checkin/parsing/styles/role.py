"""Whether a style word is about the picture or about a thing in the scene."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.parsing.draft import Draft, Tag
from personalq.checkin.parsing.styles.frames import refuses
from personalq.checkin.parsing.styles.leads import KEY, LIKE, NEGATION, STYLED, THAT_IS
from personalq.checkin.parsing.styles.no_look import (
    is_likened,
    is_my_model,
    is_no_style,
    names_checkpoint,
)
from personalq.checkin.parsing.styles.reached import behind_tag, is_reached
from personalq.checkin.parsing.text import ends_before

_IN_STYLE_OF = compile_form(
    r"(?<!\w)(style|look|manner|form|guise) of ((an?|the|some|those|old) )*$"
)
_AS = compile_form(r"(?<!\w)as (if it were )?(an?|the) (real |true )?$")
_ONE_THAT_IS = compile_form(
    r"(?<!\w)((one|version|model)s?|those) (that|which)('s| (is|was|are|were)|"
    " looks? like) ((an?|the|in|real|actual) )*$"
)
_IN_A = compile_form(r"(?<!\w)(in|at|on|inside|outside) (an?|some) ([\w-]+ )?$")
_MOODS = frozenset(["scene", "mood", "atmosphere", "lighting", "light"])
_BAR_BEFORE = compile_form(r"(^|[|/]) ?$")
_BAR_BEHIND = compile_form(r" ?([|/]|$)")
_COMBINING = frozenset((
    "combine", "combines", "combining", "mix", "mixes", "mixing", "blend", "blends", "blending",
    "under", "both",
))  # fmt: skip
_PAIR = compile_form(" (and|plus|with|[+&]) ")


def constrains(draft: Draft, tag: Tag) -> bool:
    """Whether the style word is about the picture, not a thing in the scene."""
    word = " ".join(w.norm for w in draft.page.words[tag.first : tag.last])
    start = draft.page.words[tag.first].start
    styled = _is_styled(draft, tag)
    if is_no_style(draft, tag, word, styled=styled):
        return False
    following = behind_tag(draft, tag)
    if following is not None and following.norm in _MOODS:
        return tag.entry.known  # "film noir mood", where no checkpoint has that look
    if following is not None and following.norm in lexicon.words("scenes"):
        placed = ends_before(_IN_A, draft.page.shadow, start)
        if placed is not None and not tag.entry.known:
            return False  # "in a film noir office"
    common = word in lexicon.looks() or word in lexicon.style_things()
    if common and not (draft.answering or styled or _is_led_to(draft, tag, word)):
        return False
    if draft.answering or styled or names_checkpoint(draft, tag) or is_my_model(draft, tag):
        return True
    if ends_before(_ONE_THAT_IS, draft.page.shadow, start) or ends_before(
        KEY, draft.page.shadow, start
    ):
        return True
    if is_likened(draft, tag):
        return False
    if ends_before(NEGATION, draft.page.shadow, start) or _is_paired(draft, tag):
        return True
    return is_reached(draft, tag)


def _is_paired(draft: Draft, tag: Tag) -> bool:
    """Whether it is one of two looks in a row that are told of what is asked for: "combines pastel
    with stained glass", "the model with anime + pencil sketch"; not of "a room with both".
    """
    for other in draft.styles if tag.entry.known else ():
        first, second = sorted((tag, other), key=lambda each: each.first)
        between = draft.page.shadow[
            draft.span_of(first.first, first.last).end : draft.span_of(
                second.first, second.last
            ).start
        ]
        if other.entry.known and _PAIR.fullmatch(between) and _is_told_of_it(draft, first):
            return True
    return False


def _is_told_of_it(draft: Draft, tag: Tag) -> bool:
    """Whether what stands before a look says that the subject has it, or is listed under it."""
    words = draft.page.words
    lead = words[tag.first - 1] if tag.first and words[tag.first].joined else None
    if lead is None or lead.norm in _COMBINING:
        return lead is not None
    before = words[lead.index - 1] if lead.index and lead.joined else None
    if lead.norm not in ("with", "has", "having") or before is None:
        return False
    known = any(n.first <= before.index < n.last and n.entry.subjects for n in draft.nouns)
    return known or before.norm in lexicon.words("selectors") or before.norm in ("that", "which")


def _is_styled(draft: Draft, tag: Tag) -> bool:
    """Whether it says itself that it is a look: "a vintage look", "cartoon-style"."""
    last = draft.page.words[tag.last - 1]
    told = last.norm in ("look", "style", "finish")
    return told or STYLED.match(draft.page.shadow, last.end) is not None


def _is_led_to(draft: Draft, tag: Tag, word: str) -> bool:
    """Whether something around a word that may be a thing says it is a look: "the photo bear"."""
    shadow, first = draft.page.shadow, draft.page.words[tag.first]
    following = behind_tag(draft, tag)
    selectors = lexicon.words("selectors") - {"snapshot"}
    if following is not None and following.norm in selectors:
        return True
    if tag.last - tag.first > 1 and draft.leads_to_selector(tag.last, reach=3):
        return True  # "the cathedral-window scrawny one"
    if draft.noun_at(tag.last) is not None or _is_listed(draft, tag) or _is_of_subject(draft, tag):
        return True
    if word in lexicon.looks() and ends_before(NEGATION, shadow, first.start):
        return refuses(draft, first)
    leads = (NEGATION, KEY, _AS, LIKE, _IN_STYLE_OF, THAT_IS)
    return any(ends_before(pattern, shadow, first.start) for pattern in leads)


_OF_IT = compile_form(
    " ((take|spin|interpretation|rendition|rendering|treatment|study|portrait|version|shot|still|"
    "frame|poster|page|panel|print|picture|image) )?(of|on) "
    "((the|my|our|an?|that|this) )?"
)


def _is_of_subject(draft: Draft, tag: Tag) -> bool:
    """Whether a request opens with it, and it shows a subject: "Japanese print of the cup"."""
    if tag.last - tag.first == 1:
        return False  # "a poster of the kettle"
    if any(
        word.joined and draft.is_free(word) and word.norm not in _OPENING
        for word in draft.page.words[1 : tag.first]
    ):
        return False
    match = _OF_IT.match(draft.page.shadow, draft.page.words[tag.last - 1].end)
    shown = draft.page.word_at(match.end()) if match is not None else None
    noun = draft.noun_at(shown.index) if shown is not None else None
    return noun is not None and bool(noun.entry.subjects)


_OPENING = lexicon.words("openers") | lexicon.words("determiners") | {"me", "i", "want", "need"}


def _is_listed(draft: Draft, tag: Tag) -> bool:
    """Whether it stands alone in a list: "guitar | old-master | beside a jar"."""
    shadow, span = draft.page.shadow, draft.span_of(tag.first, tag.last)
    before = ends_before(_BAR_BEFORE, shadow, span.start)
    behind = _BAR_BEHIND.match(shadow, span.end)
    return before is not None and behind is not None and bool(before[0].strip() + behind[0].strip())


def stands_last(draft: Draft, tag: Tag) -> bool:
    """Whether a look ends the request, behind a thing of the scene: "on a windy hill line art".

    It may as well be a thing: "beside the church fresco".
    """
    words = draft.page.words
    word = " ".join(w.norm for w in words[tag.first : tag.last])
    common = word in lexicon.looks() or word in lexicon.style_things()
    if common or is_no_style(draft, tag, word, styled=False):
        return False
    if not words[tag.first].joined or tag.last < len(words) or tag.first < 2:
        return False
    thing = words[tag.first - 1]
    articles = (before.norm in ("a", "an", "the", "its") for before in words[: tag.first - 1][-2:])
    return any(articles) and lexicon.names_thing(thing.norm) and draft.is_free(thing)
