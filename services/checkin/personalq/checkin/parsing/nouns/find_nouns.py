"""Nouns of a prompt that name subjects: no compounds ("dog house"), proper nouns or verbs."""

from __future__ import annotations

from personalq.checkin import lexicon
from personalq.checkin.lexicon import plural
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Noun
from personalq.checkin.parsing.nouns.modifiers import is_modifier, is_patterned
from personalq.checkin.parsing.nouns.proper import is_proper
from personalq.checkin.parsing.nouns.verbs import is_verb, is_what_it_does
from personalq.checkin.parsing.text import Page, PhraseTable, Word
from personalq.checkin.vocabulary import Lexicon


def find_nouns(page: Page, lexicon_: Lexicon) -> list[Noun]:
    """Subject phrases that are not part of a compound, a proper noun or a verb."""
    nouns: list[Noun] = []
    traps = _compounds()
    for first, last, entry in lexicon_.subjects.find(page.words):
        if last - first > 1 and page.words[first].hyphen:  # "a trick-flying kite"
            alone = lexicon_.subjects.match_at(page.words, last - 1)
            if alone is None or alone[0] > 1:
                continue
            first, entry = last - 1, alone[1]
        if last - first > 1 and _is_owned(page.words, lexicon_, first, last):
            alone = lexicon_.subjects.match_at(page.words, last - 1)
            if alone is None or alone[0] > 1:
                continue
            first, entry = last - 1, alone[1]
        if last - first == 1 and page.words[first].norm in lexicon.words("indefinite"):
            continue  # "the guitar somebody signed"
        if nouns and nouns[-1].last >= last:
            continue  # "bird" of "the parrot bird"
        listed = entry.subjects and not (entry.kind or entry.narrower)
        if listed and _is_said_of_what_sort(page.words, first, last):
            last += 1
        if _is_half_of_a_word(page.words, first, last):
            continue  # "box" of "a jack-in-the-box"
        if _in_trap(page.words, first, last, traps) or is_verb(page.words, first):
            continue
        if last - first == 1 and first and is_what_it_does(page.words, lexicon_, first):
            continue  # "an owl building a sandcastle"
        if _is_other_thing(page.words, lexicon_, first, last):
            continue
        if is_modifier(page, lexicon_, first, last) or is_proper(page, first, last):
            continue
        if is_patterned(page, lexicon_, last):
            continue
        if last - first == 1 and page.words[first].hyphen and _is_seldom(lexicon_, page, first):
            continue  # "a high-wheeler" is no wheel horse
        nouns.append(Noun(first=first, last=last, entry=entry))
    return nouns


_LONGEST_OWNER = 4
"""Words of an owner's name that are looked at."""


def _is_owned(words: tuple[Word, ...], lexicon_: Lexicon, first: int, last: int) -> bool:
    """Whether the words before the last are an owner's: "the print desk's | chair"; without a
    possessive, a name of several words: "games lab | flask".
    """
    most = last - 1 if words[last - 2].possessive else last - 2  # "a games lab | flask"
    starts = range(max(0, last - 1 - _LONGEST_OWNER), most)
    names = (" ".join(word.norm for word in words[start : last - 1]) for start in starts)
    return any(map(lexicon_.owners.get, names))


def _is_said_of_what_sort(words: tuple[Word, ...], first: int, last: int) -> bool:
    """Whether the next word only says what sort of thing it is: "the parrot | bird"."""
    following = words[last] if last < len(words) else None
    if following is None or not following.joined or following.hyphen:
        return False
    if words[last - 1].possessive or words[first].hyphen:
        return False
    said = " ".join(word.norm for word in words[first:last])
    return following.norm in _SORTS and is_kind_of(said, following.norm)


_SORTS = frozenset(["bird", "fish", "animal", "insect"])


def _is_half_of_a_word(words: tuple[Word, ...], first: int, last: int) -> bool:
    """Whether hyphens join it to others, and all together are another thing."""
    start, end = first, last
    while start and words[start].hyphen:
        start -= 1
    while end < len(words) and words[end].hyphen:
        end += 1
    whole = " ".join(word.norm for word in words[start:end])
    return end - start > last - first + 1 and lexicon.names_thing(whole)


def _is_seldom(lexicon_: Lexicon, page: Page, index: int) -> bool:
    """Whether only WordNet knows the word as one for a subject."""
    return lexicon_.subjects.listed(page.words[index].norm) is None


_TRAPS: PhraseTable[bool] = PhraseTable()


def _compounds() -> PhraseTable[bool]:
    if not _TRAPS.get("hot dog"):
        for phrase in lexicon.compounds():
            _TRAPS.add(phrase, True)
            _TRAPS.add(plural(phrase), True)
    return _TRAPS


def _in_trap(words: tuple[Word, ...], first: int, last: int, traps: PhraseTable[bool]) -> bool:
    """Whether a longer everyday compound ("hot dog") covers the phrase."""
    for start in range(max(0, first - 2), first + 1):
        match = traps.match_at(words, start)
        if match and start + match[0] >= last and match[0] > last - first:
            return True
    return False


def _is_other_thing(words: tuple[Word, ...], lexicon_: Lexicon, first: int, last: int) -> bool:
    """Whether words before the phrase make a thing of another kind of it: "sea horse"."""
    head = " ".join(word.norm for word in words[first:last])
    before = ""
    for index in range(first - 1, max(-1, first - 3), -1):
        if not words[index + 1].joined or words[index].norm in lexicon.words("determiners"):
            break  # "the boot" is the thing, whatever idiom it may be
        if _ends_look(words, lexicon_, index + 1):
            break  # a "stained-glass snake" is no glass snake
        before = f"{words[index].norm} {before}"
        if lexicon_.subjects.is_other_thing(f"{before}{head}", head):
            return True
    return False


def _ends_look(words: tuple[Word, ...], lexicon_: Lexicon, end: int) -> bool:
    """Whether a look of several words ends right before a place."""
    for start in range(max(0, end - 4), end - 1):
        match = lexicon_.styles.match_at(words, start)
        if match is not None and match[1].known and start + match[0] == end:
            return True
    return False
