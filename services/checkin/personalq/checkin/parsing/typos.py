"""Words typed wrongly: "lighthose", "newst", "febuary".

One letter too many, too few, another, or two swapped, of a word that means something here; no word
of English is ever changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from personalq.checkin import lexicon
from personalq.checkin.lexicon import plural, vectors, wordnet
from personalq.checkin.parsing.corrected import Corrected, with_changes
from personalq.checkin.parsing.text import Page, Word, read

_SHORTEST = 5
"""Letters of the shortest word that is looked at: among shorter ones too much is alike."""
_ENDINGS = ("s", "es", "ed", "ing", "er", "ers", "est", "ly", "ish", "y", "ness", "able", "like")
_LONG = 7
"""Letters from which on one letter for another is a slip: "blossem", but "ramen" is no raven."""
_FAR = 2
"""Slips that may separate a word from the one that was meant, where all its letters are there."""
_SURELY = 9
"""Letters of the shortest word that is taken for a kind: a macaron is no macaroon."""
_SURE = 3
"""Letters that nobody mistypes who means a word that no catalog lists."""
_WITH_VERSION = re.compile(r"([^\W\d_]+)_v\d{1,3}")
"""A subject and a version written as one word: "robot_v16"."""
_MOST = 24
"""Unknown words of a text that are looked at: nobody mistypes more, and each costs."""
_SHORT = {"teh": "the", "hte": "the", "adn": "and", "nad": "and", "wiht": "with", "wtih": "with"}
"""Short words that everybody mistypes."""
_GRAMMAR = (
    "newest", "latest", "oldest", "earliest", "recent", "recently", "version", "yesterday",
    "trained", "created", "second", "third", "original", "previous", "weekend", "christmas",
)  # fmt: skip


def correct(
    text: str,
    spellings: Iterable[str],
    *,
    names: Iterable[str] = (),
    subjects: Callable[[str], bool] = lambda _: False,
) -> Corrected:
    """The text with each unknown word replaced by the one that was meant, where one is near.

    Args:
        spellings: words of the catalog, which go before those of the grammar.
        names: of checkpoints; their words stay.
        subjects: whether a word means a subject of the catalog; "robot_v16" is then two words.
    """
    page = read(text)
    kept = {word.norm for name in names for word in read(name).words}
    changes = [
        (word.span, word.norm.replace("_", " "))
        for word in page.words
        if word.norm not in kept
        and (versioned := _WITH_VERSION.fullmatch(word.norm))
        and subjects(versioned[1])
    ]
    changes += [
        (w.span, _SHORT[w.norm]) for w in page.words if w.norm in _SHORT and w.norm not in kept
    ]
    unknown = [w for w in page.words if w.norm not in kept and _is_unknown(page, w)]
    for word in unknown[:_MOST]:
        meant = _meant(page, word, spellings, subjects)
        if meant is not None and meant != page.shadow[word.start : word.end]:
            changes.append((word.span, meant))
    return with_changes(text, changes)


def _is_unknown(page: Page, word: Word) -> bool:
    typed = page.shadow[word.start : word.end]
    long = len(typed) >= _SHORTEST and typed.isascii() and typed.isalpha()
    return long and not is_word(typed)


def _meant(
    page: Page, word: Word, spellings: Iterable[str], subjects: Callable[[str], bool]
) -> str | None:
    typed = page.shadow[word.start : word.end]
    if word.capital and word.index > 0:  # a name, or a month
        return _nearest(typed, _calendar())
    return _nearest(typed, tuple(spellings)) or _in_grammar(typed) or _kind(typed, subjects)


def _kind(typed: str, subjects: Callable[[str], bool]) -> str | None:
    """The word for a kind of some subject that was meant: "velocirapter" of dinosaurs."""
    if len(typed) < _SURELY:
        return None
    near = process.extract(
        typed,
        list(wordnet.beginning_with(typed[:_SURE])),
        scorer=OSA.distance,
        score_cutoff=1,
        limit=None,
    )
    return next((str(meant) for meant, _, _ in near if subjects(meant)), None)


def _nearest(typed: str, known: tuple[str, ...]) -> str | None:
    """The word that was meant; the word itself where it is one of them."""
    for meant, distance, _ in process.extract(
        typed, known, scorer=OSA.distance, score_cutoff=_FAR, limit=None
    ):
        if distance == 0 or typed == plural(meant):
            return typed
        if _is_slip(typed, meant):
            return str(meant)
    return None


@lru_cache(maxsize=4096)
def _in_grammar(typed: str) -> str | None:
    return _nearest(typed, _grammar())


def _is_slip(typed: str, meant: str) -> bool:
    """Whether a word one letter away was meant: in short ones another letter is another word."""
    if OSA.distance(typed, meant) == _FAR:  # "bycicle"
        return len(typed) >= _LONG and typed[0] == meant[0] and sorted(typed) == sorted(meant)
    if typed == f"{meant}e" and meant.endswith("o"):
        return True  # "volcanoe"
    if typed in (meant[1:], meant[:-1]) or meant in (typed[1:], typed[:-1]):
        return False  # another word or a name: "augusta", "durban"
    other_letter = len(typed) == len(meant) and sorted(typed) != sorted(meant)
    return not other_letter or len(typed) >= _LONG


@lru_cache(maxsize=16384)
def is_word(word: str) -> bool:
    """Whether a lower-case word is one of English, as far as the data files tell."""
    if wordnet.look_up(wordnet.base(word)) is not None or vectors.is_listed(word):
        return True
    known = (vectors.others(), lexicon.verb_forms(), lexicon.grammar_words(), _grammar())
    if any(word in words for words in known):
        return True
    stems = (word.removesuffix(ending) for ending in _ENDINGS)
    return any(
        wordnet.look_up(form) is not None or vectors.is_listed(form)
        for stem in stems
        if len(stem) < len(word)
        for form in (stem, f"{stem}e", stem[:-1])
    )


def spellings_of(phrases: Iterable[str]) -> tuple[str, ...]:
    """The single words of names, longest names' too, that are long enough to be mistyped."""
    words = (word for phrase in phrases for word in phrase.split())
    return tuple(dict.fromkeys(w for w in words if len(w) >= _SHORTEST and w.isalpha()))


@cache
def _calendar() -> tuple[str, ...]:
    named = (lexicon.calendar(table) for table in ("months", "seasons", "holidays"))
    return spellings_of([*(name for table in named for name in table), *lexicon.weekdays()])


@cache
def _grammar() -> tuple[str, ...]:
    styles = (word for group in lexicon.style_groups().values() for word in group.words)
    places = (word for group in lexicon.environment_groups().values() for word in group)
    nouns = (word for group in lexicon.subject_tables()["same"].values() for word in group)
    said = (*_GRAMMAR, *_calendar(), *lexicon.words("selectors"))
    return spellings_of([*said, *styles, *places, *lexicon.description_groups(), *nouns])
