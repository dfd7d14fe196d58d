"""Styles that no card has, where only a style can stand."""

from __future__ import annotations

import re

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.wordnet import Nature
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.styles.leads import NEGATION
from personalq.checkin.parsing.text import ends_before

_POSITION = compile_form(
    r"(?<!\w)(in|with) (an? |the )?(?P<before>(?!(the|an?)\s)[\w-]+(\s[\w-]+){0,2}?)~(art style|"
    r"style|look|aesthetic)(?!\w)|(?<!\w)in (an? |the )?(style|manner) of (the |"
    r"an? )?(?P<after>[\w-]+(\s[\w-]+)?)|"
    r"(?<![\w-])(?P<joined>((?!(the|an?|my|our|this|that)\s)\w+[\s-])?\w+)-(styled?|esque)(?!\w)"
)
_COINED = compile_form(r"\w{2,}(ism|ist|punk|wave|core|esque)")


def parse_unknown_style(draft: Draft) -> None:
    """Claim a style that no card has where only a style can stand: "in brutalist style"."""
    for match in _POSITION.finditer(draft.page.shadow):
        where = next(i for i in ("before", "after", "joined") if match[i])
        span = Span(*match.span(where))
        if not draft.free(span.start, span.end) or any(
            draft.noun_at(word.index) for word in draft.page.run(span.start, span.end)
        ):
            continue
        name = canonical(span.of(draft.page.text))
        if not _is_style(draft, span, name) or _is_of_a_part(draft, match):
            continue
        whole = Span(match.start(), match.end())
        whole = whole if draft.free(whole.start, whole.end) else span
        negation = ends_before(NEGATION, draft.page.shadow, whole.start)
        if negation:
            draft.mark(whole, selecting=True)
            continue
        draft.add(
            Constraint(
                attribute=Attribute.STYLE,
                values=(name,),
                span=whole,
                text=whole.of(draft.page.text),
                label=name,
            )
        )


def _is_of_a_part(draft: Draft, match: re.Match[str]) -> bool:
    """Whether it is what a thing is like that it has: "with a Russian-style roof"."""
    following = draft.page.word_at(match.end())
    if following is None or not following.joined or not match[0].startswith("with "):
        return False
    noun = draft.noun_at(following.index)
    known = noun is not None and bool(noun.entry.subjects)
    part = wordnet.nature(following.norm) in (Nature.THING, Nature.PLACE)  # "top" is a place
    return part and not known


def _is_style(draft: Draft, span: Span, name: str) -> bool:
    """Whether a word in the place of a style is one: known as such, coined, or a name."""
    if not name:
        return False  # "- style"
    if name in draft.lexicon.style_names or draft.lexicon.styles.get(name) is not None:
        return False
    if any(name in group.words for group in lexicon.style_groups().values()):
        return True
    if name in lexicon.description_groups():
        return False
    first = draft.page.word_at(span.start)
    capital = first is not None and first.capital and first.index > 0
    return capital or _COINED.fullmatch(name.split()[-1]) is not None
