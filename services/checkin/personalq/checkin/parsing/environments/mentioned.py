"""Places that a clause about training mentions in no form of its own: "the garden is all it knows
from its training".
"""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.environments.claim import claim_place
from personalq.checkin.vocabulary import TagEntry

_PICTURES = "(pictures?|photos?|images?|photographs?|shots?|snapshots?|scenes?|material|data|set)"
_TRAINING = compile_form(
    r"(?<![\w-])((was|were|is|are|been|got|being|wasn't|weren't|isn't) "
    r"((not|never|only|mostly) )?(trained|taught|tuned|fine-?tuned|schooled)(?! (to|about|how|by|"
    r"as)\b)|trained (from|on|with|using)|did(n't| not) (train|learn)|"
    rf"training {_PICTURES}|{_PICTURES} (for|in|of|behind) (its |the |his |her )?training|"
    rf"(source|reference) {_PICTURES}|dataset|in training|"
    r"(from|for|into|its|his|her|their|whose) training|as (taught|trained|learned)|"
    "(was|were|been|got) fed|cut (its|his|her) teeth|(i|we|they|you) taught|training "
    "(place|location|site|spot)|place of training|(got|took|drew) (its|his|her) "
    r"(examples|material|pictures|photos|images|lessons))(?![\w-])"
)
"""What only a checkpoint goes through."""
_SAW = compile_form(r"(?<!\w)(saw|seen|sees|shown|given|fed|knew|knows)(?!\w)")
_CLAUSE = compile_form(
    r"[^.,;:!?()]+?(?=[.,;:!?()]|$| - | and (show|make|put|give|place|draw|set|let|have)\b)"
)
_NOT = compile_form(
    r"(?<!\w)(not|never|no|without|\w+n't|(leave|leaving) (out|aside)|skip|avoid|exclude|except|"
    "other than)(?! only| just| but)(?!\\w)"
)
_AT = compile_form(
    r"(?<!\w)(in|on|at|by|near|beside|along|across|through|inside|outside|under|over|to|around) "
    r"((the|an?|my|our|its) )?$"
)
_SHOT = compile_form(
    r"(?<!\w)(photographed|shot|captured|snapped|pictured|filmed|took|taken|made|gathered|"
    r"collected)(?!\w)"
)
_OR = compile_form(" ?(,? or|/) ?((in|on|at|from|by|near|an?|the|my|our) )*")


def mentioned(draft: Draft) -> None:
    """Claim the place of training of a clause in which no other way of saying it was found."""
    shadow = draft.page.shadow
    for clause in _CLAUSE.finditer(shadow):
        cue = _TRAINING.search(shadow, *clause.span())
        if cue is None or _is_told(draft, clause):
            continue
        if cue[0] == "in training" and not _SAW.search(shadow, clause.start(), cue.start()):
            continue  # "a dancer in training on the beach"
        places = _places(draft, clause)
        shot = _SHOT.search(shadow, *clause.span()) is not None
        picture = not shot and _subject_in(draft, Span(clause.start(), cue.start()))
        behind = [place for place in places if place[1].start >= cue.end()]
        before = [
            (entry, span)
            for entry, span in places
            if span.end <= cue.start() and not (picture and _AT.search(shadow, 0, span.start))
        ]
        if not (behind or before):
            continue
        entry, span = first = behind[0] if behind else before[-1]
        if (other := _alternative(shadow, first, behind)) is not None:
            values = tuple(dict.fromkeys((*entry.values, *other[0].values)))
            entry, span = replace(entry, values=values), Span(span.start, other[1].end)
        whole = Span(min(cue.start(), span.start), max(cue.end(), span.end))
        if _subject_in(draft, whole):
            whole = span
        refused = _NOT.search(shadow, *clause.span())
        if draft.free(whole.start, whole.end):
            claim_place(draft, entry, span, whole, refused=refused is not None)


def _subject_in(draft: Draft, part: Span) -> bool:
    """Whether what is pictured is named in a part of the prompt."""
    subjects = (noun for noun in draft.nouns if noun.entry.subjects)
    return any(draft.span_of(noun.first, noun.last).meets(part) for noun in subjects)


def _alternative(
    shadow: str, first: tuple[TagEntry, Span], places: list[tuple[TagEntry, Span]]
) -> tuple[TagEntry, Span] | None:
    """The place that will do as well: "from a museum or from a studio"."""
    later = (place for place in places if place[1].start > first[1].end)
    following = next(later, None)
    joint = following and _OR.fullmatch(shadow, first[1].end, following[1].start)
    return following if joint else None


def _is_told(draft: Draft, clause: re.Match[str]) -> bool:
    """Whether a place of the clause was claimed."""
    inside = Span(*clause.span())
    places = (c.span for c in draft.constraints if c.attribute is Attribute.ENVIRONMENT)
    return any(span is not None and span.meets(inside) for span in places)


def _places(draft: Draft, clause: re.Match[str]) -> list[tuple[TagEntry, Span]]:
    """The places of the clause that cards have, where they are not what is pictured."""
    found = []
    for word in draft.page.run(*clause.span()):
        match = draft.lexicon.environments.match_at(draft.page.words, word.index)
        if match is None or not match[1].known or _subject_in(draft, word.span):
            continue
        if not draft.is_free(word) or word.norm in lexicon.words("selectors"):
            continue
        found.append((match[1], draft.span_of(word.index, word.index + match[0])))
    return found
