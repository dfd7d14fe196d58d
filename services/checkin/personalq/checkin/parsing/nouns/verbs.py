"""Nouns that are verbs where they stand: "fly", "can", "bear"."""

from __future__ import annotations

from personalq.checkin import lexicon
from personalq.checkin.lexicon.wordnet import look_up, singulars
from personalq.checkin.parsing.text import Word
from personalq.checkin.vocabulary import Lexicon


def is_verb(words: tuple[Word, ...], first: int) -> bool:
    """Whether a subject word is a verb here: "can't bear", "I watch"."""
    if _is_modal(words, first) or _has_object(words, first) or _acts_on(words, first):
        return True
    before = words[first - 1] if first else None
    if before is None or not words[first].joined:
        return False
    return (before.norm in lexicon.words("verb_marks") and before.norm not in ("to", "please")) or (
        before.norm == "to"
        and words[first].norm in ("watch", "bear", "bridge", "house", "fish", "toy", "chair", "bag")
    )


def _acts_on(words: tuple[Word, ...], index: int) -> bool:
    """Whether a plural is what some one thing does: "a wizard | boards | a train"."""
    following = words[index + 1] if index + 1 < len(words) else None
    if following is None or not (words[index].joined and following.joined) or index < 2:
        return False
    if following.norm not in ("a", "an", "the", "its", "his", "her"):
        return False
    verbs = [entry for base in singulars(words[index].norm) if (entry := look_up(base))]
    lead = words[max(0, index - 4) : index - 1]
    some = any(word.norm in ("a", "an", "one") for word in lead)
    acts = any(entry.verb is not None for entry in verbs)
    return acts and some and lexicon.names_thing(words[index - 1].norm)


_BEFORE_VERBS = frozenset(["and", "to", "please", "then", "or", "you"])


def _has_object(words: tuple[Word, ...], index: int) -> bool:
    """Whether a pronoun is what the word is done to: "seat her on a rock", "watch it"."""
    entry = look_up(words[index].norm)
    following = words[index + 1 : index + 3]
    if entry is None or entry.verb is None or not following or not following[0].joined:
        return False
    if not index or (words[index].joined and words[index - 1].norm not in _BEFORE_VERBS):
        return False  # "give me the bear it …"
    if following[0].norm == "her":  # not "show the seat her father made"
        placed = following[1].norm if len(following) > 1 and following[1].joined else ""
        return placed in lexicon.words("prepositions")
    return following[0].norm in ("it", "him", "them")


_MODALS = frozenset(["can", "may", "will", "might", "must"])
_BEFORE_ASKING = frozenset(
    ["please", "so", "hey", "hi", "hello", "and", "but", "then", "well", "ok"]
)
_WHO = frozenset(
    ["i", "you", "we", "u", "he", "she", "they", "it", "someone", "somebody", "anyone"]
)


def _is_modal(words: tuple[Word, ...], index: int) -> bool:
    """Whether the word opens a question: "Can I get a bear"."""
    following = words[index + 1] if index + 1 < len(words) else None
    asks = following is not None and following.joined and following.norm in _WHO
    opens = index == 0 or not words[index].joined or words[index - 1].norm in _BEFORE_ASKING
    return asks and opens and words[index].norm in _MODALS


_NO_DOING = frozenset(["ring", "king", "wing", "string", "ceiling", "thing"])


def is_what_it_does(words: tuple[Word, ...], lexicon_: Lexicon, index: int) -> bool:
    """Whether a noun in -ing is what the subject before it does: "an owl building a sandcastle"."""
    following = words[index + 1] if index + 1 < len(words) else None
    if not words[index].norm.endswith("ing") or following is None or not words[index].joined:
        return False
    before = lexicon_.subjects.get(words[index - 1].norm)
    acts = before is not None and bool(before.subjects) and words[index].norm not in _NO_DOING
    return acts and following.joined and following.norm in ("a", "an", "its", "his", "her")
