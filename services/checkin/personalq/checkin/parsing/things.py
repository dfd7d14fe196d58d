"""Nouns a request without a subject may be about, for kinds that no card lists: "the hydra"."""

from __future__ import annotations

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.heads.unknown_head import missing_subject
from personalq.checkin.parsing.styles.leads import NEGATION
from personalq.checkin.parsing.text import Word, ends_before

_MOST = 3
"""Nouns looked up at most."""
_OF_SCENE = 1
"""How heavily a subject weighs at most that may as well be of the scene."""
_REACH = 5
_CLOSED = ("prepositions", "links")
_OPEN = ("scenes", "frames", "indefinite", "plain", "selectors", "determiners", "openers")


def things(draft: Draft) -> tuple[Constraint, ...]:
    """Nouns that some card's description may call its subject by, likeliest first.

    Where a subject of the scene was taken for what is asked for, only what the request opens with:
    "parasol on a rowing boat". None where a subject surely is, known or unknown. Left out is what
    is not wanted, what somebody acts on, and what only says where: but of a word WordNet does not
    know ("on a red twelve-string") one cannot tell. Those spoken of as known come first.
    """
    if draft.unknown_subject is not None or draft.answering or draft.triggers:
        return ()
    if any(c.attribute is Attribute.SUBJECT for c in draft.constraints):
        return _opening_thing(draft)
    found: list[tuple[bool, Constraint]] = []
    for word in draft.page.words:
        if not _ends_noun(draft, word):
            continue
        first = _first_of_compound(draft, word)
        opening = _opening(draft, first)
        before = draft.page.words[opening.index - 1].norm if opening.joined else ""
        placed = before in lexicon.words("prepositions") and nature(_said(draft, first, word)) in (
            Nature.THING,
            Nature.PERSON,
        )
        refused = ends_before(NEGATION, draft.page.shadow, _behind_article(draft, opening).start)
        if not (placed or refused or before.endswith("ing")):
            definite = opening.norm in ("the", "my", "our")
            found.append((not definite, missing_subject(draft, Span(first.start, word.end))))
    found.sort(key=lambda item: item[0])
    return tuple(thing for _, thing in found[:_MOST])


def _opening_thing(draft: Draft) -> tuple[Constraint, ...]:
    """The noun a request opens with, before where it is, and before any subject."""
    if max((mention.weight for mention in draft.mentions), default=0) > _OF_SCENE:
        return ()
    for word in draft.page.words[:_REACH]:
        if draft.nouns_cover(word.index) or (word.index and not word.joined):
            return ()
        if any(word.norm in lexicon.words(kind) for kind in (*_CLOSED, "openers")):
            return ()
        behind = draft.page.words[word.index + 1 : word.index + 2]
        placed = any(w.joined and w.norm in lexicon.words("prepositions") for w in behind)
        if placed and _ends_noun(draft, word):
            first = _first_of_compound(draft, word)
            return (missing_subject(draft, Span(first.start, word.end)),)
    return ()


def _ends_noun(draft: Draft, word: Word) -> bool:
    """Whether a noun ends here that could be a kind of thing: "a red twelve-string"."""
    behind = draft.page.words[word.index + 1 : word.index + 2]
    following = behind[0] if behind and behind[0].joined else None
    if following is not None and (following.hyphen or not _closes(following)):
        return False
    if not word.hyphen:
        no_kind = any(word.norm in lexicon.words(kind) for kind in (*_CLOSED, *_OPEN))
        if no_kind or word.norm in lexicon.colours() or lexicon.is_no_thing(word.norm):
            return False
    described = (c.span for c in draft.constraints if c.attribute is Attribute.DESCRIPTION)
    free = draft.is_free(word) or any(span and span.meets(word.span) for span in described)
    return free and len(word.norm) > 1 and word.norm.isalpha()


def _closes(word: Word) -> bool:
    """Whether a noun ends before a word."""
    closed = any(word.norm in lexicon.words(kind) for kind in _CLOSED)
    return closed or lexicon.is_no_thing(word.norm) or word.norm in lexicon.verb_forms()


def _first_of_compound(draft: Draft, last: Word) -> Word:
    first = last
    while first.hyphen and first.index:
        first = draft.page.words[first.index - 1]
    return first


def _said(draft: Draft, first: Word, last: Word) -> str:
    return "-".join(word.norm for word in draft.page.words[first.index : last.index + 1])


def _opening(draft: Draft, noun: Word) -> Word:
    """The word a noun's phrase opens with."""
    opening = noun
    while opening.joined and opening.norm not in lexicon.words("determiners"):
        before = draft.page.words[opening.index - 1]
        if any(before.norm in lexicon.words(kind) for kind in _CLOSED):
            break
        if before.norm in lexicon.verb_forms():
            break
        opening = before
    return opening


def _behind_article(draft: Draft, opening: Word) -> Word:
    following = draft.page.words[opening.index + 1 : opening.index + 2]
    article = opening.norm in lexicon.words("determiners")
    return following[0] if article and following else opening
