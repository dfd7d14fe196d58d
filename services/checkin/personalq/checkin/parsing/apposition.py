"""Other places of a request that speak of the subject again: "a stallion – the horse with …"."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.text import Word

_DEFINITE = ("the", "my", "our")
_BEINGS = frozenset(["fellow", "guy", "chap", "thing", "creature", "critter", "beauty", "piece"])
"""Any subject may be called so."""
_SORTS = frozenset(["kind", "sort", "type"])


def renamed(draft: Draft, heads: Sequence[Noun]) -> list[Noun]:
    """Nouns that name the subject once more: ", the horse with a mane", "; it's the horse with …",
    "A brown horse. I want the horse with …".
    """
    subjects = {subject for noun in heads for subject in noun.entry.subjects}
    return [
        noun
        for noun in draft.nouns
        if noun not in heads
        and (subjects & set(noun.entry.subjects) or _is_akin(draft, noun, heads))
        and _opens_anew(draft.page.words, noun.first)
    ]


def _is_akin(draft: Draft, noun: Noun, heads: Sequence[Noun]) -> bool:
    """Whether one is a kind of the other: "a steed by a lake. It should be the wild horse"."""
    words = draft.page.words
    definite = any(w.norm in _DEFINITE for w in words[max(noun.first - 4, 0) : noun.first])
    name = words[noun.last - 1].norm
    called = [words[head.last - 1].norm for head in heads if head.last <= noun.first]
    akin = any(is_kind_of(name, each) or is_kind_of(each, name) for each in called)
    return bool(noun.entry.subjects) and definite and akin


def forenamed(draft: Draft, heads: Sequence[Noun]) -> int | None:
    """The last word of a phrase that the subject only names: "the ruby bongo, our drum"."""
    words = draft.page.words
    for noun in heads:
        start = noun.first - 1
        if start > 0 and _gap(draft, noun.first) == ":":
            start = noun.first  # "with the tote: bag"
        elif start < 1 or words[start].joined or words[start].norm not in _DEFINITE:
            continue
        if start < noun.first and noun.last < len(words) and words[noun.last].joined:
            continue  # "a green field, the truck parked"
        opening = start - 1
        while opening > 0 and draft.page.shadow[words[opening - 1].full_end] not in ".:;?!":
            opening -= 1
        for index in range(opening, start - 1):
            lead = words[index - 1].norm if index > opening and words[index].joined else ""
            article = words[index].norm in (*_DEFINITE, "a", "an")
            governed = lead in lexicon.words("prepositions") | lexicon.words("links")
            governed = governed and not (start == noun.first and index == 1 and lead == "with")
            if article and not governed and not lead.endswith("ing"):
                return _last_of_phrase(draft, index + 1, start, noun)
    return None


def _gap(draft: Draft, index: int) -> str:
    """What stands between a word and the one before it."""
    words = draft.page.words
    return draft.page.shadow[words[index - 1].full_end : words[index].start].strip()


def _last_of_phrase(draft: Draft, first: int, end: int, noun: Noun) -> int | None:
    """The noun of the phrase that begins at a word, where the subject may be called so."""
    words = draft.page.words
    closed = lexicon.words("prepositions") | lexicon.words("links") | lexicon.words("bearing")
    last = first
    while last + 1 < end and words[last + 1].joined and words[last + 1].norm not in closed:
        last += 1
    named = (n for n in draft.nouns if n.entry.subjects and first <= n.first <= last)
    known = any(not set(n.entry.subjects) & set(noun.entry.subjects) for n in named)
    if known or not draft.is_free(words[last]):
        return None
    called, subject = words[last].norm, words[noun.last - 1].norm
    unheard = nature(called) is Nature.UNKNOWN or called in _BEINGS
    akin = is_kind_of(called, subject) or is_kind_of(subject, called)
    return last if unheard or akin else None


def sorts(words: Sequence[Word]) -> list[int]:
    """Where a word stands for the subject's sort: ", the clunky kind my father wears"."""
    return [word.index for word in words if is_sort(words, word.index)]


def is_sort(words: Sequence[Word], index: int) -> bool:
    """Whether the word at `index` is one of `sorts`."""
    if words[index].norm not in _SORTS:
        return False
    following = words[index + 1] if index + 1 < len(words) else None
    of = following is not None and following.joined and following.norm == "of"
    return not of and _opens_anew(words, index, article="the")


def _opens_anew(words: Sequence[Word], index: int, *, article: str = "") -> bool:
    """Whether the phrase of the noun at `index` opens the request, or stands behind a comma, a
    dash, "it's" or "mine is".
    """
    while index > 0 and words[index].joined:
        index -= 1
        norm = words[index].norm
        if norm == "it" and words[index].possessive:
            return not article  # "it's the horse with …"
        meant = norm in ("be", "mean", "meant") or norm in lexicon.words("openers")
        gone = norm == "with" and index and words[index - 1].norm in ("go", "going", "stick")
        its = norm == "is" and index and words[index - 1].norm in ("it", "mine")
        if meant or gone or its:
            return not article  # "it should be the horse with …", "please take the horse"
        closed = norm in lexicon.words("prepositions") or norm in lexicon.words("links")
        opens = norm in ("that", "this") and not words[index].joined  # "; that blue one is right"
        if closed and not (opens or words[index].hyphen):  # "the blow-up kind"
            return False
    return not article or (index > 0 and words[index].norm == article)
