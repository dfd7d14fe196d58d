"""Nouns that only modify what follows: "dog house", "cat-shaped"."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.lexicon import plural
from personalq.checkin.lexicon.wordnet import Nature, look_up, may_be_noun, nature, singulars
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.nouns.proper import VERSION
from personalq.checkin.parsing.nouns.verbs import is_verb, is_what_it_does
from personalq.checkin.parsing.numbers import CARDINALS, ORDINAL
from personalq.checkin.parsing.roles import plays
from personalq.checkin.parsing.text import Page, Word
from personalq.checkin.parsing.word_roles import is_making, opens_contact
from personalq.checkin.vocabulary import Lexicon

_PATTERNS = frozenset(["print", "pattern", "patterned", "shaped", "themed", "style", "styled"])


def is_patterned(page: Page, lexicon_: Lexicon, last: int) -> bool:
    """Whether it tells what another thing looks like: "an animal print sneaker"."""
    following = page.words[last : last + 2]
    joined = len(following) == 2 and all(word.joined for word in following)
    if not joined or following[0].norm not in _PATTERNS:
        return False
    match = lexicon_.subjects.match_at(page.words, last + 1)
    return match is not None and bool(match[1].subjects)


_HUES = frozenset(["colored", "color", "tinted", "hued"])
"""Make a colour of a noun: "a rose coloured train"."""


def _has_colour_behind(words: tuple[Word, ...], index: int) -> bool:
    """Whether "coloured" leads to the colour: "a clock | coloured | dark pink"."""
    behind = itertools.takewhile(lambda word: word.joined, words[index + 1 : index + 3])
    return any(word.norm in lexicon.colours() for word in behind)


def is_modifier(page: Page, lexicon_: Lexicon, first: int, last: int) -> bool:
    """Whether the next word makes a compound of it: "dog house", "cat-eye sunglasses"."""
    if last >= len(page.words) or not page.words[last].joined or page.words[last - 1].possessive:
        return False
    following = page.words[last]
    norm = following.norm
    if norm in _HUES and _has_colour_behind(page.words, last):
        return False
    if norm in _HUES or (last - first == 1 and _colours(page.words, lexicon_, first)):
        return True
    if norm in lexicon.words("selectors") or norm.startswith("<") or norm[0].isdigit():
        return False
    if norm in lexicon.words("colors") and not following.hyphen:
        # "horse green coat", but "rose pink"
        return f"{page.words[last - 1].norm} {norm}" in lexicon.description_groups()
    if following.hyphen and page.shadow[page.words[last - 1].end] == "-":
        styled = lexicon_.styles.match_at(page.words, last) is not None
        if styled or norm in ("v", "style", "styled", "model", "version"):
            return False
        return not VERSION.fullmatch(norm)
    if VERSION.fullmatch(norm) or norm in CARDINALS:
        return False
    match = lexicon_.subjects.match_at(page.words, last)
    known = match is not None and bool(match[1].subjects)
    if is_of_a_set(page.words, first, last):
        return False
    if (
        norm in lexicon.words("determiners")
        or norm in lexicon.words("prepositions")
        or norm in lexicon.words("links")
        or (norm in lexicon.words("continuations") and not known)
        or norm in lexicon.calendar("months")
        or norm in lexicon.words("closes_noun")
        or norm in lexicon.words("indefinite")
        or lexicon_.owners.match_at(page.words, last) is not None
    ):
        return False
    if opens_contact(page.words, last) or _opens_adjective(page.words, last):
        return False
    if is_what_it_does(page.words, lexicon_, last):
        return False
    if known:
        return not is_verb(page.words, last)
    head = page.words[last - 1].norm
    somebody = any(
        is_kind_of(head, kind) for kind in ("person", "imaginary being", "spiritual being")
    )
    if somebody and nature(norm) is Nature.PERSON:
        return False  # "a goblin robber"; but "a dog trainer" is no dog
    if _goes_doing(page.words, last) or _opens_wish(page, lexicon_, last):
        return False
    if plays(page.words[last - 1].norm, norm):
        return False
    if norm in lexicon.words("frames") or lexicon_.styles.match_at(page.words, last) is not None:
        return False
    if is_making(page.words, last):
        return False
    if _governs(page.words, first, last) or _is_made(page.words, last):
        return False
    if _sticks_out(page.words, first, last):
        return False
    plural_noun = page.words[last - 1].norm == plural(page.words[last - 1].norm.rstrip("s"))
    if norm in lexicon.verb_forms():
        base = norm in lexicon.words("verbs") and not norm.endswith(("ed", "ing"))
        return base and not plural_noun and not _made_to(page.words, first)
    if (
        norm.endswith(("ing", "ed", "ly"))
        and len(norm) > 4
        and norm not in lexicon.words("not_participles")
    ):
        return False
    if _is_asked_to(page.words, first, last):
        return False
    return following.capital or not norm.isascii() or may_be_noun(norm)


_MODELS = frozenset(
    ["models", "checkpoints", "versions", "builds", "variants", "loras", "trainings"]
)
_SETS = frozenset(["set", "series", "collection", "lineup", "batch", "library", "folder", "roster"])
_OUT_OF = frozenset(["from", "among", "amongst", "of", "within"])
_FIRST = frozenset(["newest", "latest", "oldest", "earliest", "first", "last"])


def is_of_a_set(words: Sequence[Word], first: int, last: int) -> bool:
    """Whether a noun says what there is to choose from: "from my | mug | series".

    A set may stand in a scene as well ("in front of my mug collection"): only what opens, or
    follows what is chosen, is one of checkpoints.
    """
    following = words[last] if last < len(words) else None
    if following is None or not following.joined:
        return False
    before = first - 1
    while (
        before > 0 and words[before].joined and words[before].norm in lexicon.words("determiners")
    ):
        before -= 1
    if before < 0 or words[before].norm not in _OUT_OF:
        return False
    opens = before == 0 or not words[before].joined
    chosen = not opens and words[before - 1].norm in lexicon.words("selectors") | _FIRST
    out = not opens and words[before].norm == "of" and words[before - 1].norm == "out"
    return following.norm in _MODELS or (following.norm in _SETS and (opens or chosen or out))


def _colours(words: tuple[Word, ...], lexicon_: Lexicon, index: int) -> bool:
    """Whether it is the colour of a subject some words on: "a lavender fluffy | hen"."""
    closed = lexicon.words("prepositions") | lexicon.words("links") | lexicon.words("determiners")
    if words[index].norm not in lexicon.colours():
        return False
    for place in range(index + 1, min(index + 4, len(words))):
        word = words[place]
        if not word.joined or word.norm in closed or word.norm in lexicon.verb_forms():
            return False
        match = lexicon_.subjects.match_at(words, place)
        if match is not None:
            return bool(match[1].subjects)
    return False


_LINKING = ("be", "look", "open", "have", "get", "stay", "seem", "become", "turn", "stand")


def _is_asked_to(words: tuple[Word, ...], first: int, last: int) -> bool:
    """Whether a question asks it to do what the next word says: "can the cake | wobble on a …"."""
    opening = first
    while opening and words[opening].joined:
        opening -= 1
    asks = words[opening].norm in ("can", "could", "will", "would", "should", "does", "did", "may")
    if not asks or words[opening + 1].norm not in ("the", "my", "our", "a", "an"):
        return False
    rest = list(itertools.takewhile(_goes_on_with, words[last + 1 :]))
    verbs = [w for w in rest if w.norm in lexicon.verb_forms() or w.norm in _LINKING]
    if any(words[verb.index - 1].norm not in lexicon.words("determiners") for verb in verbs):
        return False  # "can the llama farm in the mountains be painted"
    entry = look_up(words[last].norm)
    behind = words[last + 1] if last + 1 < len(words) and words[last + 1].joined else None
    goes_on = behind is None or (
        behind.norm in lexicon.words("prepositions")
        or behind.norm in lexicon.words("determiners")
        or behind.norm.endswith("ly")
        or next(singulars(behind.norm), None) is not None  # "flip pancakes"
    )
    return goes_on and entry is not None and entry.verb is not None


def _goes_on_with(word: Word) -> bool:
    return word.joined and word.norm not in ("and", "or", "while", "as", "then", "but")


def _opens_adjective(words: tuple[Word, ...], index: int) -> bool:
    """Whether a word of two halves says where or how it is: "a robot | knee-deep in mud"."""
    second = words[index + 1] if index + 1 < len(words) else None
    if second is None or not second.hyphen:
        return False
    told = second.norm in ("deep", "high", "long", "wide", "tall", "first", "by", "up", "down")
    return told or second.norm.endswith(("ed", "ing"))


_ACTIVITIES = frozenset(
    [("ice", "skating"), ("roller", "skating"), ("figure", "skating"), ("horse", "riding"),
     ("horseback", "riding"), ("sky", "diving"), ("scuba", "diving"), ("deep", "diving"),
     ("rock", "climbing"), ("mountain", "climbing"), ("kite", "flying"), ("kite", "surfing"),
     ("wind", "surfing"), ("ballet", "dancing"), ("tap", "dancing"), ("rope", "skipping"),
     ("bungee", "jumping"), ("bird", "watching"), ("sleep", "walking"), ("tightrope", "walking")]
)  # fmt: skip


def _goes_doing(words: tuple[Word, ...], index: int) -> bool:
    """Whether the words say what the noun before them does: "the owl | ice skating"."""
    following = words[index + 1] if index + 1 < len(words) else None
    return following is not None and (words[index].norm, following.norm) in _ACTIVITIES


_ORDERED = compile_form(
    rf"(({ORDINAL}|next)~)?(newest|latest|oldest|earliest|(most|least)~(recent(ly)?|used))(?!\w)",
    rf"{ORDINAL} (from|to|before) (the )?(end|last|latest|newest|start|beginning)(?!\w)",
)
_DATED = compile_form(r"(spring|summer|autumn|fall|winter|early|late|mid|q[1-4])~(20|')\d\d")
_TRAINED = compile_form(r"~(training|trained)(?!\w)")


def _opens_wish(page: Page, lexicon_: Lexicon, index: int) -> bool:
    """Whether an order, a time or a place of training begins: "car | third newest"."""
    start = page.words[index].start
    if _ORDERED.match(page.shadow, start) or _DATED.match(page.shadow, start):
        return True
    place = lexicon_.environments.match_at(page.words, index)
    if place is None:
        return False
    return _TRAINED.match(page.shadow, page.words[index + place[0] - 1].end) is not None


def _governs(words: tuple[Word, ...], first: int, index: int) -> bool:
    """Whether the word is a verb with an object: "let the snowman conduct a choir"."""
    entry = look_up(words[index].norm)
    following = words[index + 1] if index + 1 < len(words) else None
    if entry is None or entry.verb is None or following is None or not following.joined:
        return False
    acts = entry.mostly_verb or _made_to(words, first)
    return acts and following.norm in ("a", "an", "the", "his", "her", "its", "their")


def _sticks_out(words: tuple[Word, ...], first: int, index: int) -> bool:
    """Whether the word is a verb with its adverb: "a mailbox | sticks out of the water".

    Without an article it is several of something: "church bells out on the lawn".
    """
    before = words[first - 1] if first and words[first].joined else None
    one = before is not None and (before.possessive or before.norm in ("a", "an", "the", "my"))
    following = words[index + 1] if index + 1 < len(words) else None
    verbs = [entry for base in singulars(words[index].norm) if (entry := look_up(base))]
    acts = words[index].norm.endswith("s") and any(entry.verb is not None for entry in verbs)
    away = following is not None and following.joined and following.norm in ("out", "away")
    if one and acts and away:
        return True
    # "a dragon | coils around a tower"; "the guitar strings on a table" are several things
    single = before is not None and before.norm in ("a", "an", "one")
    acts = acts and (single or any(entry.mostly_verb for entry in verbs))
    return acts and (following is None or not following.joined or _goes_where(following.norm))


_DIRECTIONS = frozenset(["up", "down", "off", "back", "away", "round", "around", "past", "across"])


def _goes_where(norm: str) -> bool:
    """Whether a word behind a verb tells where or what: "on", "the", "slowly"."""
    kinds = lexicon.words("prepositions") | lexicon.words("determiners") | _DIRECTIONS
    return norm in kinds or norm.endswith("ly")


_MADE_TO = frozenset(["make", "let", "have", "see", "watch", "could", "would", "should", "can"])


def _made_to(words: tuple[Word, ...], first: int) -> bool:
    """Whether the phrase does what the next verb says: "make the latest horse jump"."""
    return any(word.norm in _MADE_TO for word in words[:first])


_SAME_FORMS = frozenset(
    ["cut", "set", "put", "hit", "shut", "lit", "cast", "split", "spread", "knit", "shed"]
)


def _is_made(words: tuple[Word, ...], index: int) -> bool:
    """Whether a participle that looks like a noun tells how: "a clock | cut from paper"."""
    following = words[index + 1] if index + 1 < len(words) else None
    return (
        words[index].norm in _SAME_FORMS
        and following is not None
        and following.norm in ("and", "from", "out", "into", "in", "by", "with", "on", "to")
    )
