"""Places of whole sentences: "we shot it in a park", "it grew up on a farm"."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.environments.claim import claim_place, preferred_place
from personalq.checkin.parsing.environments.leads import GREW_UP, IN_PLACE, SHOT
from personalq.checkin.parsing.environments.named import FROM
from personalq.checkin.parsing.environments.places import noun_phrase, place_in
from personalq.checkin.parsing.environments.told import behind_time
from personalq.checkin.parsing.owners.deeds import trains
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.word_roles import is_doing
from personalq.checkin.vocabulary import TagEntry

_NO_SCENE = frozenset((
    "still", "again", "too", "available", "anywhere", "around", "would", "could", "should", "will",
    "please",
))  # fmt: skip
"""What goes on behind a place, and not with what is to be seen there."""
TRAINING_VERB = compile_form(r"\b(train|tun|taught|learn|school)")


def shot_then(draft: Draft) -> None:
    """Prefer a place that is added to a time: "the one from July, | shot in a studio"; it may be
    what is to be seen.
    """
    for match in SHOT.finditer(draft.page.shadow):
        first = draft.page.word_at(match.start())
        phrase = noun_phrase(draft, match.end())
        if first is None or first.joined or not phrase or not behind_time(draft, match.start()):
            continue
        found = place_in(draft, phrase, surely=False)
        if found is not None and found[0].known and draft.free(match.start(), found[1].end):
            draft.constraints.append(preferred_place(draft, *found))


def trained_then(draft: Draft) -> None:
    """Prefer the place behind when it was trained, which may be the scene: "trained in July | at
    the beach".
    """
    shadow = draft.page.shadow
    for when in [c.span for c in draft.constraints if c.attribute is Attribute.CREATED_AT]:
        if when is None or not (TRAINING_VERB.search(when.of(shadow)) or trains(draft, when.start)):
            continue
        lead = IN_PLACE.match(shadow, when.end + 1)
        word = draft.page.word_at(lead.end()) if lead else None
        found = word and draft.lexicon.environments.match_at(draft.page.words, word.index)
        if word is None or not found or not found[1].known:
            continue
        span = draft.span_of(word.index, word.index + found[0])
        if draft.free(when.end, span.end):
            draft.constraints.append(preferred_place(draft, found[1], span))


def grew_up(draft: Draft) -> None:
    """Prefer where somebody grew up, or what they know, which may be told of who is pictured."""
    for lead in GREW_UP.finditer(draft.page.shadow):
        word = draft.page.word_at(lead.end())
        found = word and draft.lexicon.environments.match_at(draft.page.words, word.index)
        if word is None or not found or not found[1].known:
            continue
        span = draft.span_of(word.index, word.index + found[0])
        if draft.free(lead.start(), span.end):
            draft.constraints.append(preferred_place(draft, found[1], span))


def come_from(draft: Draft, entry: TagEntry, span: Span) -> None:
    """Claim where a subject comes from, as it stands there no longer: "the one from the gym".

    "The scooter from the mountains, carrying a wheel" only prefers: it may be the picture's.
    """
    lead = ends_before(FROM, draft.page.shadow, span.start)
    following = draft.page.word_at(span.end)
    goes_on = following is not None and following.joined and not is_doing(following)
    if following is not None and following.norm in _NO_SCENE:
        goes_on = False  # "is the one from the forest | still around"
    if lead is None or goes_on:
        return
    whole = Span(lead.start(), span.end)
    before, at = draft.page.word_before(whole.start), draft.page.word_at(whole.start)
    if before is None or at is None or not at.joined or not draft.free(whole.start, whole.end):
        return
    if before.norm in lexicon.words("selectors") or before.norm in ("set", "those"):
        claim_place(draft, entry, span, whole)
    elif any(noun.last == before.index + 1 and noun.entry.subjects for noun in draft.nouns[:1]):
        draft.constraints.append(preferred_place(draft, entry, whole))
