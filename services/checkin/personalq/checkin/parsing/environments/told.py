"""Places told in other words than their names: "where bread is baked", "by the waves"."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin.intent import Attribute, Span
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.environments.claim import claim_place, claim_told, preferred_place
from personalq.checkin.parsing.environments.joined import MORE, and_also, longer_place, names_place
from personalq.checkin.parsing.environments.leads import FROM_SET, TRAINED_THERE, TRAINED_WHERE
from personalq.checkin.parsing.environments.places import MATERIAL, noun_phrase, place_in
from personalq.checkin.parsing.text import Word
from personalq.checkin.vocabulary import TagEntry

ROOM_WHERE = compile_form(
    r"(room|place|spot|building|area|house|shop|store|space|part of \w+) "
    r"((where|in which) ((?!\s(but|and) )[^,.;:!?])+|(meant |made |used )?for \w+ing(?!\w))"
)
"""A place that only its clause tells: "in the | room where the cooking happens"."""
_HOW_TRAINED = frozenset((
    "well", "self", "potty", "toilet", "house", "military", "lora", "hand", "home", "combat",
    "police", "circus", "clicker", "crate", "leash", "time", "best", "cross",
))  # fmt: skip
"""What no place is in "potty-trained"."""
BY = compile_form(r"^(by|with|of|from)\s")
"""By whom or with what somebody is shot: "by an arrow"."""


def is_behind_subject(draft: Draft, position: int) -> bool:
    """Whether what is asked for ends there: "the armchair | shot in front of a blackboard"."""
    before = draft.page.word_before(position)
    nouns = (noun for noun in draft.nouns if noun.entry.subjects)
    return before is not None and any(noun.last == before.index + 1 for noun in nouns)


def prefer_told(draft: Draft, lead: re.Match[str], phrase: list[Word]) -> None:
    """Prefer the place that is meant by what is there; it stays what is to be seen."""
    told = Span(lead.start("where"), phrase[-1].end)
    whole = Span(lead.start(), phrase[-1].end)
    where = told.of(draft.page.text)
    entry = TagEntry(values=(where,), exact=(), known=False)
    draft.constraints.append(
        replace(preferred_place(draft, entry, whole), label=f"trained {where}")
    )


def last_named(phrase: list[Word]) -> Word:
    """The last word of a phrase that is no mere "pictures" or "scenes"."""
    named = [word for word in phrase if MATERIAL.fullmatch(f" {word.norm}") is None]
    return named[-1] if named else phrase[-1]


def all_that_is_told(draft: Draft, lead: re.Match[str], end: int) -> tuple[int, tuple[str, ...]]:
    """Where all that is told of an unknown place ends, and what that is: "under glass | among
    seedlings and potted plants".
    """
    while more := MORE.match(draft.page.shadow, end):
        phrase = noun_phrase(draft, more.end())
        if not phrase or not draft.free(end, phrase[-1].end):
            break
        end = phrase[-1].end
    start = lead.start("where") if "where" in lead.re.groupindex else lead.end()
    return end, (draft.page.text[start:end],)


def told_by_what_goes_on(draft: Draft) -> None:
    """Claim "trained where coffee is served": a place that only meaning can tell."""
    shadow = draft.page.shadow
    for match in TRAINED_WHERE.finditer(shadow):
        if match[0].startswith(("shot", "photo", "capt", "film")) and not _is_added(draft, match):
            continue
        claim_told(draft, Span(*match.span()), match["where"])
        and_also(draft, *match.span())
    for match in FROM_SET.finditer(shadow):
        bare = match[0].endswith("training") and not match["more"]  # "back from army training"
        if not bare and not names_place(draft, *match.span("where")):
            claim_told(draft, Span(*match.span()), match["where"])
    for match in TRAINED_THERE.finditer(shadow):
        where = "where" if match["where"] else "behind"
        if not _in_one_word(draft, match, where) and _is_where(draft, match, where):
            claim_told(draft, Span(*match.span()), match[where].replace("-", " "))


def _is_added(draft: Draft, match: re.Match[str]) -> bool:
    """Whether a clause of its own goes on about the one that a time or "one" chose: "the one from
    July, | photographed where trains stop", not "a kite, photographed where the sea begins".
    """
    first = draft.page.word_at(match.start())
    return first is None or first.joined or behind_time(draft, match.start())


def behind_time(draft: Draft, position: int) -> bool:
    """Whether a time of training has been read right before a comma."""
    before = draft.page.word_before(position)
    return before is not None and any(
        c.attribute is Attribute.CREATED_AT and c.span is not None and c.span.meets(before.span)
        for c in draft.constraints
    )


def _is_where(draft: Draft, match: re.Match[str], where: str) -> bool:
    """Whether a word before "-trained" may be of a place: "hay-bale", not "well" or "potty"."""
    last = match[where].rpartition("-")[2]
    word = draft.page.word_at(match.start(where))
    owned = word is not None and draft.lexicon.owners.match_at(draft.page.words, word.index)
    told = nature(last) in (Nature.THING, Nature.PLACE, Nature.MATTER)
    return told and not owned and match[where] not in _HOW_TRAINED


def _in_one_word(draft: Draft, match: re.Match[str], where: str) -> bool:
    """Claim a place of the tables in "the coffee-shop-trained one"; False where there is none."""
    phrase = list(draft.page.run(*match.span(where)))
    longer = (
        longer_place(draft, phrase[0]) if phrase and match.start() == match.start(where) else None
    )
    if longer is not None and draft.free(longer[1].start, match.end()):
        claim_place(draft, *longer, Span(longer[1].start, match.end()))
        return True
    found = place_in(draft, phrase, surely=False) if phrase else None
    if found is None or not draft.free(*match.span()):
        return False
    entry, span = found
    if not entry.known and match[where] in _HOW_TRAINED:
        return False
    said = () if span.end == match.end(where) else (match[where].replace("-", " "),)
    claim_place(draft, entry, span, Span(*match.span()), said=said)
    return True
