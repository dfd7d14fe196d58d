"""Verbs around a chunk: what chooses it, asks for it, or is done by it."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute
from personalq.checkin.lexicon.wordnet import Nature, look_up, nature
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.subjects.role import opens_choice
from personalq.checkin.parsing.text import Word

ASKING = frozenset((
    "i", "me", "us", "you", "please", "want", "need", "i'd", "can", "could", "do", "using", "let",
    "lets", "let's",
))  # fmt: skip
"""What is asked for follows these."""
_REACH = 20
"""Words of a phrase that are looked at."""
_ORDERING = frozenset(["client", "customer", "boss", "team", "agency", "editor", "director"])
"""Who may want the picture: "the client asked for the boat"."""
_TELLS = ("asks", "asked", "wants", "wanted", "needs", "needed")


def is_gone_with(draft: Draft, word: Word) -> bool:
    """Whether "with" asks for what follows: "go | with the tractor", at the start."""
    words = draft.page.words
    return word.index == 1 and word.joined and words[0].norm in ("go", "stick", "start")


def tells(draft: Draft, word: Word) -> bool:
    """Whether it is somebody who says what the picture is for: "my daughter wants the fox"."""
    words = draft.page.words
    following = words[word.index + 1] if word.index + 1 < len(words) else None
    if (
        word.norm not in lexicon.words("kinsfolk") | _ORDERING
        or following is None
        or not following.joined
    ):
        return False
    before = words[word.index - 1].norm if word.index > 0 and word.joined else ""
    mine = before in ("my", "our") or (before == "the" and word.norm in _ORDERING)
    acts = following.norm in lexicon.verb_forms() or following.norm in ("is", "was", "has", "asks")
    if word.norm in _ORDERING:
        noun = draft.noun_at(word.index)
        acts = following.norm in _TELLS and not (noun is not None and noun.entry.subjects)
    return mine and acts and not following.norm.endswith("ing")


def is_choice(draft: Draft, word: Word) -> bool:
    """Whether it opens what an order chooses from: "among the cadets, the oldest"."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    determined = bool(following) and following[0].norm in ("the", "my", "our")
    ordered = any(c.attribute is Attribute.ORDER for c in draft.constraints)
    return determined and ordered and opens_choice(draft.page.words, word.index)


def is_asking(draft: Draft, index: int) -> bool:
    """Whether "have" asks for what follows: "could I have the", "let me have the"."""
    before = [word.norm for word in draft.page.words[max(0, index - 2) : index]]
    return before[-1] in ("i", "we") or before in (["let", "me"], ["let", "us"])


def asks_if_there(draft: Draft, index: int) -> bool:
    """Whether "is there" asks for what follows: "is there | a parachute by Lena"."""
    return index == 1 and draft.page.words[0].norm in ("is", "are")


def is_sought(draft: Draft, index: int) -> bool:
    """Whether "for" leads to what is asked for: "looking for | our trampoline"."""
    before = draft.page.words[index - 1].norm if index else ""
    return before in ("looking", "searching", "hunting", "asking", "asked", "asks", "hoping")


def is_brought(draft: Draft, word: Word) -> bool:
    """Whether "up" asks for what follows: "bring | up the violin"."""
    before = draft.page.words[word.index - 1].norm if word.index and word.joined else ""
    return word.norm == "up" and before in ("bring", "pull", "call", "load", "dig", "conjure")


def is_what_we_do(draft: Draft, word: Word) -> bool:
    """Whether it is a verb right behind a person: "I keep coming back to"."""
    before = draft.page.words[word.index - 1].norm if word.index and word.joined else ""
    entry = look_up(word.norm)
    return before in ("i", "we", "you", "they") and entry is not None and entry.verb is not None


def is_can(words: Sequence[Word], index: int) -> bool:
    """Whether "can" is a thing: "a spray can, dented", not "what it can do"."""
    if words[index].norm != "can" or not words[index].joined:
        return False
    following = words[index + 1] if index + 1 < len(words) else None
    ends = lexicon.words("prepositions") | lexicon.words("links")
    return following is None or not following.joined or following.norm in ends


_BEFORE_MODAL = frozenset(["and", "but", "or", "so", "then", "how", "where", "when", "please"])
"""Before "can" that asks, inside a sentence."""


def is_modal(words: Sequence[Word], index: int) -> bool:
    """Whether "can" asks: "can | an owl be on a roof?"."""
    following = words[index + 1] if index + 1 < len(words) else None
    if words[index].norm != "can" or following is None or not following.joined:
        return False
    if words[index].joined and words[index - 1].norm not in _BEFORE_MODAL:
        return False  # "the can I trained"
    return following.norm in lexicon.words("determiners") | {"i", "we", "you", "it"}


STRUNG = frozenset(
    ["strung", "hung", "slung", "flung", "spun", "woven", "stuck", "bent", "held", "swept", "lit"]
)
"""Participles without an ending of their own."""


def is_participle(word: Word) -> bool:
    """By its ending: "hanging", "blown", but neither "brown" nor "crown"."""
    norm = word.norm
    if norm.endswith("ing"):
        return norm not in lexicon.words("not_participles")
    if norm in STRUNG:
        return True
    thing = lexicon.names_thing(norm) or norm in lexicon.colours()
    return norm.endswith(("ed", "wn")) and not thing


_STRIKING = frozenset((
    "striking", "chasing", "eating", "drinking", "holding", "playing", "reading", "juggling",
    "riding", "wearing", "carrying", "hitting", "catching", "serving", "pulling", "pushing",
    "crossing", "climbing", "watching", "delivering", "telling", "showing", "throwing",
))  # fmt: skip
"""What is done to a thing that has no article: "a clock | striking midnight"."""


def takes_object(word: Word, chunk: list[Word], draft: Draft) -> bool:
    """Whether a word says what a thing does to another: "a druid ordering a pizza"."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    determined = bool(following) and following[0].norm in ("a", "an", "the", "his", "her", "its")
    acts = word.norm.endswith("ing") and word.norm not in lexicon.words("not_participles")
    behind = draft.page.words[word.index + 2 : word.index + 3]
    last = bool(following) and following[0].joined and not (behind and behind[0].joined)
    named = last and lexicon.names_thing(following[0].norm) and word.norm in _STRIKING
    return acts and (determined or named) and word.joined and names_something(chunk)


def is_chosen(word: Word, chunk: list[Word], draft: Draft) -> bool:
    """Whether a verb's first form is a thing behind what chooses: "the newest skateboard"."""
    if not chunk or not lexicon.names_thing(word.norm) or word.norm.endswith("s"):
        return False
    if word.norm.endswith("ing") and word.norm not in lexicon.words("not_participles"):
        return False
    compound = look_up(f"{chunk[-1].norm} {word.norm}") is not None  # "the anime wedding cake"
    return not draft.is_free(chunk[-1]) or compound


_AWAY = frozenset(["out", "off", "away"])


def follows_choice(word: Word, chunk: list[Word], draft: Draft) -> bool:
    """Whether a participle says what a thing does: "the giraffe v3 looking at a wall"."""
    if not chunk or not is_participle(word) or not draft.is_free(word):
        return False
    if not draft.is_free(chunk[-1]):
        return word.norm.endswith("ing")
    following = draft.page.words[word.index + 1 : word.index + 2]
    placed = bool(following) and following[0].joined
    placed = placed and following[0].norm in lexicon.words("prepositions") | _AWAY
    no_thing = lexicon.is_no_thing(word.norm) and word.norm not in lexicon.words("not_participles")
    named = lexicon.names_thing(chunk[-1].norm) or nature(chunk[-1].norm) is Nature.UNKNOWN
    return placed and no_thing and named


def names_something(chunk: list[Word]) -> bool:
    """Whether a verb after these words has a subject: "a painted pangolin" has none there."""
    first = chunk[:_REACH]
    return any(w.norm != "there" and w.norm not in lexicon.words("determiners") for w in first)
