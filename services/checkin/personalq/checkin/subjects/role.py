"""How the sentence holds a noun: head, object of a verb, thing in the scene."""

from __future__ import annotations

from dataclasses import dataclass

from personalq.checkin import lexicon
from personalq.checkin.apposition import sorts
from personalq.checkin.draft import Draft, Noun
from personalq.checkin.intent import Mention
from personalq.checkin.subjects.selected import chosen_by_tail
from personalq.checkin.text import Word
from personalq.checkin.word_roles import is_particle, opens_contact


@dataclass(frozen=True, kw_only=True)
class Role:
    """The place of a noun in its sentence."""

    weight: int
    """0 in the scene, 1 acted upon, 2 asked for, 3 chosen."""
    coordinate: bool = False
    governor: int = -1
    """Index of the word that governs the phrase."""


def role_of(draft: Draft, noun: Noun, before: list[tuple[Noun, Mention, Role]]) -> Role:
    """How the sentence holds the noun: head, object of a verb, thing in the scene."""
    words = draft.page.words
    if _acts_in_clause(draft, noun):
        return Role(weight=0)
    index, possessed, chosen = noun.first, False, chosen_by_tail(draft, noun)
    weight, coordinate, governor = 2, False, -1
    while index > 0 and words[index].joined:
        word = words[index - 1]
        if not draft.is_free(word):
            if any(s.start <= word.start < s.end for s in draft.selecting):
                chosen = True
            index -= 1
            continue
        if word.norm in ("my", "our", "mine"):
            possessed = True
            index -= 1
            continue
        compounded = word.hyphen or (words[index].hyphen and not draft.nouns_cover(index))
        if word.norm in lexicon.words("determiners") or compounded:
            index -= 1
            continue
        if word.norm == "of":
            governor = index - 1
            weight, chosen = _of(draft, index - 2, chosen)
            break
        if word.norm in lexicon.words("choosing"):
            weight = 3
            break
        if word.norm in ("and", "or", "plus", "&"):
            previous = before[-1][2] if before else None
            coordinate = previous is not None and _adjacent(draft, before[-1][0], index - 1)
            weight = (
                previous.weight if previous is not None and coordinate else 1 + (previous is None)
            )
            break
        if word.norm in lexicon.words("openers"):
            break
        if word.norm == "with" and not possessed and _is_had_by_another(draft, word.index):
            return Role(weight=1)  # "the boat with the seats that was trained at the dock"
        if word.norm == "with":
            lead = words[word.index - 1].norm if word.index and word.joined else ""
            weight = 2 if lead in _GO else 1
            break
        if word.norm == "for" or (word.norm == "like" and index - 1 == 0):
            break
        if is_particle(words, word.index):
            index -= 1
            continue
        if _is_wanted(words, word.index):
            break
        if word.norm == "in" and _is_worn_by_another(draft, noun, word.index):
            return Role(weight=0)  # "the pirate in a coat from the harbor set"
        if word.norm in lexicon.words("prepositions"):
            weight, chosen = (
                (3, True)
                if _is_choice(words, word.index) and _is_plural(words, noun)
                else (0, chosen)
            )
            break
        if word.norm in lexicon.words("links"):
            if word.norm == "which" and _opens_question(draft, word):
                weight, chosen = 3, True  # "which cupcake gets used most"
                break
            weight = 2 if word.norm in _ASKED or _is_owned(words, word.index) else 1
            break
        if _is_verbal(word, draft):
            weight = 1
            break
        if word.possessive and not draft.nouns_cover(word.index):
            weight = min(weight, 2)
        index -= 1
    if chosen and (weight or noun.entry.subjects or not _is_asked_for(before)):
        return Role(weight=max(weight, 3), coordinate=coordinate, governor=governor)
    if possessed:
        return Role(
            weight=max(weight + 1, 2) if weight else 2, coordinate=coordinate, governor=governor
        )
    return Role(weight=weight, coordinate=coordinate, governor=governor)


def _is_asked_for(before: list[tuple[Noun, Mention, Role]]) -> bool:
    """Whether something known was asked for already: "the bear on a rug, latest one"."""
    return any(mention.subjects and role.weight >= 2 for _, mention, role in before)


def _opens_question(draft: Draft, word: Word) -> bool:
    """Whether a sentence begins with the word."""
    before = draft.page.shadow[: word.start].rstrip()
    return not before or before[-1] in ".?!;:"


def _is_had_by_another(draft: Draft, index: int) -> bool:
    """Whether a subject stands right before "with"."""
    return any(other.last == index and other.entry.subjects for other in draft.nouns)


def _is_worn_by_another(draft: Draft, noun: Noun, index: int) -> bool:
    """Whether the subject before "in" wears the noun."""
    worn = lexicon.is_wearable(draft.page.words[noun.last - 1].norm)
    return worn and any(other.last == index and other.entry.subjects for other in draft.nouns)


def _is_plural(words: tuple[Word, ...], noun: Noun) -> bool:
    """Whether there are several to choose from."""
    return words[noun.last - 1].norm.endswith("s")


def _is_choice(words: tuple[Word, ...], index: int) -> bool:
    """Whether a request opens with what to choose from: "From the windmills take the oldest"."""
    opens = index == 0 or not words[index].joined
    return opens and words[index].norm in ("from", "among", "amongst")


_GO = frozenset(["go", "going", "stick", "stay", "start", "begin", "continue", "work", "proceed"])
"""Before "with", ask for what follows: "let's go with the lamp"."""
_ASKED = frozenset(["but", "not", "while", "please", "is", "want", "need", "i'd", "there"])


def _is_owned(words: tuple[Word, ...], index: int) -> bool:
    """Whether a person asks for what they have: "do we have a viaduct"."""
    owner = words[index - 1].norm if index else ""
    return words[index].norm == "have" and owner in ("i", "we", "you")


def _is_wanted(words: tuple[Word, ...], index: int) -> bool:
    """Whether the word ends a verb of asking: "draw up the", "I'm after a", "what about the"."""
    if index == 0 or not words[index].joined:
        return False
    norm, before = words[index].norm, words[index - 1].norm
    if norm in ("have", "let"):
        return before in ("please", "you", "then", "just")
    if norm in ("up", "out"):
        return before in lexicon.words("openers") or before in _ASKING
    if norm == "about":
        return before in ("what", "how")
    return norm in ("after", "for") and before in ("i'm", "we're", "am", "looking")


_ASKING = frozenset(
    ["conjure", "cook", "whip", "sketch", "drum", "dream", "think", "serve", "bring"]
)


def _acts_in_clause(draft: Draft, noun: Noun) -> bool:
    """Whether the noun is who does something to the subject: "the boots my father wears"."""
    words = draft.page.words
    start = noun.first
    if start and words[start].joined and words[start - 1].norm in lexicon.words("determiners"):
        start -= 1
    told = start - 1 in sorts(words) or any(other.last == start for other in draft.nouns)
    return told and words[start].joined and opens_contact(words, start)


def _is_verbal(word: Word, draft: Draft) -> bool:
    """A verb that takes the noun as its object ("riding a bike"), not an adjective."""
    if draft.noun_at(word.index) or draft.style_at(word.index):
        return False
    if word.norm not in lexicon.verb_forms() or _is_of_a_kind(word, draft):
        return False
    adjectival = word.norm.endswith(("ing", "ed", "en", "wn", "rn"))
    if adjectival and word.index and (not word.joined or draft.nouns_cover(word.index - 1)):
        return True  # ", chasing butterflies"
    following = draft.page.words[word.index + 1 : word.index + 2]
    determined = bool(following) and following[0].norm in lexicon.words("determiners")
    return determined if adjectival else word.index > 0


def _is_of_a_kind(word: Word, draft: Draft) -> bool:
    """Whether a word ends the name of a kind that stands before its noun: "swiss roll cake"."""
    before = word.index - 1
    match = draft.lexicon.subjects.match_at(draft.page.words, before) if before >= 0 else None
    return match is not None and match[0] > 1 and bool(match[1].subjects)


def _adjacent(draft: Draft, noun: Noun, link: int) -> bool:
    """Whether only the link stands between two coordinated phrases."""
    return noun.last >= link - 1 or noun.last == link


def _of(draft: Draft, index: int, chosen: bool) -> tuple[int, bool]:
    """Weight of what follows "… of": what a frame shows, or a part of a scene."""
    words = draft.page.words
    if index < 0:
        return 2, chosen
    word = words[index]
    if not draft.is_free(word):
        selected = any(s.start <= word.start < s.end for s in draft.selecting)
        return (3, True) if selected else (2, chosen)
    if word.norm in lexicon.words("selectors") or word.norm in _ANY_OF:
        return 3, True
    if word.norm in lexicon.words("shown_of") or word.norm in lexicon.words("openers"):
        return 2, chosen
    if draft.style_at(index):
        return 2, chosen
    return 0, chosen


_ANY_OF = frozenset(["which", "any", "either", "whichever"])
