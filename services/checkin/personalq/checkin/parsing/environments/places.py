"""The place that a phrase names: one of the catalog's, or one it does not have."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word
from personalq.checkin.vocabulary import TagEntry

MATERIAL = compile_form(
    "~(scenes?|pictures?|photos?|images?|shots?|sets?|data|dataset|backgrounds?|surroundings|"
    "backdrops?|settings?|environments?|shoots?|photographs?|footage|material|sessions?|views?|"
    "scenery|shelves|halls?|rooms?|grounds?|areas?|districts?|stalls?|floors?|walls?|locations?|"
    r"photography|photoshoots?|snapshots?|landscapes?|series)(?!\w)"
)
_SKIP = frozenset((
    "my", "our", "your", "his", "her", "their", "me", "it", "this", "that", "whichever",
    "whatever", "whoever", "purpose", "scratch", "top", "data", "photos", "pictures", "images",
    "shots", "snapshots", "photographs", "shown", "seen",
))  # fmt: skip


_PARTS = frozenset(["yard", "hall", "room", "floor", "roof", "grounds", "wall", "house"])
"""What any place may have: "a farm's yard" is a farm, "the school's library" a library."""


def noun_phrase(draft: Draft, start: int) -> list[Word]:
    """The words from a place on that may be one noun with its modifiers."""
    phrase: list[Word] = []
    first = _after_owner(draft, draft.page.word_at(start))
    for word in draft.page.words[first.index if first else len(draft.page.words) :][:5]:
        place = draft.lexicon.environments.match_at(draft.page.words, word.index)
        acts = word.norm in lexicon.verb_forms() and place is None  # not "in the white snow"
        acts = acts and not word.hyphen  # "on the snow-covered peaks"
        stops = phrase and (not word.joined or acts or _is_full(draft, phrase, word))
        subject = draft.noun_at(word.index) if phrase else None
        if stops or not draft.is_free(word) or _closed(word.norm) or word.norm in _SKIP:
            break
        if subject is not None and place is None:
            break
        phrase.append(word)
        if word.possessive and not _is_theirs(draft, word):
            break
    return phrase


def _is_full(draft: Draft, phrase: list[Word], word: Word) -> bool:
    """Whether it is said of what is no place by itself: "shelves | full of books"."""
    if not draft.page.shadow.startswith("full of ", word.start):
        return False
    places = draft.lexicon.environments
    return not any(places.match_at(draft.page.words, each.index) for each in phrase)


def _after_owner(draft: Draft, word: Word | None) -> Word | None:
    """The word behind whose place it is: "somebody's garden"."""
    while word is not None and word.possessive and word.index + 1 < len(draft.page.words):
        following = draft.page.words[word.index + 1]
        if not following.joined or not draft.is_free(word) or _closed(following.norm):
            break
        match = draft.lexicon.environments.match_at(draft.page.words, word.index)
        theirs = _is_theirs(draft, word)
        if match is not None and match[1].known and (match[0] > 1 or not theirs):
            break  # "the ship's deck", "a greenhouse's roof"
        word = following
    return word


def _is_theirs(draft: Draft, word: Word) -> bool:
    """Whether a place that cards have is behind whose it is: "the street vendors' market"."""
    match = draft.lexicon.environments.match_at(draft.page.words, word.index + 1)
    part = match is not None and draft.page.words[word.index + 1].norm in _PARTS
    return match is not None and match[1].known and not part


def _closed(norm: str) -> bool:
    kinds = ("prepositions", "links", "determiners", "selectors")
    return any(norm in lexicon.words(kind) for kind in kinds) and norm not in ("outside", "inside")


def place_in(draft: Draft, phrase: list[Word], *, surely: bool) -> tuple[TagEntry, Span] | None:
    """What the phrase says of places: a word of the tables, else a place like a tag, else none."""
    words = draft.page.words
    known: tuple[TagEntry, Span] | None = None
    unknown: tuple[TagEntry, Span] | None = None
    read = 0
    for word in phrase:
        match = draft.lexicon.environments.match_at(words, word.index)
        if match is None or word.index < read or (known and word.norm in ("inside", "outside")):
            continue
        read = word.index + match[0]
        found = match[1], draft.span_of(word.index, read)
        general = known is not None and MATERIAL.fullmatch(f" {word.norm}") is not None
        if match[1].known and not general:
            known = found  # of "street stalls" the last, but not of "office rooms"
        unknown = unknown or found
    if known is not None:
        return known
    nouns = [w for w in phrase if MATERIAL.fullmatch(f" {w.norm}") is None] or phrase[:1]
    for first in range(len(nouns)):
        name = " ".join(word.norm for word in nouns[first:])
        tags = draft.lexicon.place_tags.related(name)
        if tags:
            values = tuple(v for tag in sorted(tags) for v in draft.lexicon.places[tag])
            span = Span(nouns[first].start, nouns[-1].end)
            return TagEntry(values=values, exact=(), known=True), span
    if unknown is not None:
        return unknown
    head = nouns[-1]
    subjects = [draft.noun_at(nouns[0].index), draft.noun_at(head.index)]
    pictured = any(n is not None and n.entry.subjects and not n.entry.kind for n in subjects)
    if not surely or pictured or not _may_be_place(head.norm):
        return None
    name = " ".join(word.norm for word in nouns)
    entry = TagEntry(values=(name,), exact=(), known=False)
    return entry, Span(nouns[0].start, head.end)


def _may_be_place(norm: str) -> bool:
    told = (Nature.THING, Nature.PLACE, Nature.UNKNOWN, Nature.MATTER)
    return norm[0].isalpha() and nature(norm) in told and norm not in lexicon.words("indefinite")


def last_noun(phrase: list[Word], span: Span) -> Word:
    """The last word of the phrase's noun: "shelves" of "library shelves"."""
    last = next((word for word in reversed(phrase) if word.end <= span.end), phrase[0])
    for word in phrase:
        if word.start >= span.end:
            if nature(word.norm) not in (Nature.THING, Nature.PLACE) or word.norm.endswith("ing"):
                break
            last = word
    return last
