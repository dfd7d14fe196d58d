"""Nouns of a prompt that name subjects: no compounds ("dog house"), proper nouns or verbs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.lexicon import plural
from personalq.checkin.lexicon.wordnet import look_up, may_be_noun, singulars
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Noun
from personalq.checkin.parsing.numbers import CARDINALS, ORDINAL
from personalq.checkin.parsing.roles import plays
from personalq.checkin.parsing.text import Page, PhraseTable, Word
from personalq.checkin.parsing.word_roles import is_making, opens_contact
from personalq.checkin.vocabulary import Lexicon

_VERSION = compile_form(r"(v|ver|version)?\d+")


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
        if last - first == 1 and page.words[first].norm in lexicon.words("indefinite"):
            continue  # "the guitar somebody signed"
        if nouns and nouns[-1].last >= last:
            continue  # "bird" of "the parrot bird"
        listed = entry.subjects and not (entry.kind or entry.narrower)
        if listed and _is_said_of_what_sort(page.words, first, last):
            last += 1
        if _is_half_of_a_word(page.words, first, last):
            continue  # "box" of "a jack-in-the-box"
        if _in_trap(page.words, first, last, traps) or _is_verb(page.words, first):
            continue
        if last - first == 1 and first and _is_doing(page.words, lexicon_, first):
            continue  # "an owl building a sandcastle"
        if _is_other_thing(page.words, lexicon_, first, last):
            continue
        if _is_modifier(page, lexicon_, first, last) or _is_proper(page, first, last):
            continue
        if _is_patterned(page, lexicon_, last):
            continue
        if last - first == 1 and page.words[first].hyphen and _is_seldom(lexicon_, page, first):
            continue  # "a high-wheeler" is no wheel horse
        nouns.append(Noun(first=first, last=last, entry=entry))
    return nouns


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


def _is_verb(words: tuple[Word, ...], first: int) -> bool:
    """Whether a subject word is a verb here: "can't bear", "I watch"."""
    if _is_modal(words, first) or _has_object(words, first):
        return True
    before = words[first - 1] if first else None
    if before is None or not words[first].joined:
        return False
    return (before.norm in lexicon.words("verb_marks") and before.norm not in ("to", "please")) or (
        before.norm == "to"
        and words[first].norm in ("watch", "bear", "bridge", "house", "fish", "toy", "chair", "bag")
    )


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


_PATTERNS = frozenset(["print", "pattern", "patterned", "shaped", "themed", "style", "styled"])


def _is_patterned(page: Page, lexicon_: Lexicon, last: int) -> bool:
    """Whether it tells what another thing looks like: "an animal print sneaker"."""
    following = page.words[last : last + 2]
    joined = len(following) == 2 and all(word.joined for word in following)
    if not joined or following[0].norm not in _PATTERNS:
        return False
    match = lexicon_.subjects.match_at(page.words, last + 1)
    return match is not None and bool(match[1].subjects)


_NO_DOING = frozenset(["ring", "king", "wing", "string", "ceiling", "thing"])


def _is_doing(words: tuple[Word, ...], lexicon_: Lexicon, index: int) -> bool:
    """Whether a noun in -ing is what the subject before it does: "an owl building a sandcastle"."""
    following = words[index + 1] if index + 1 < len(words) else None
    if not words[index].norm.endswith("ing") or following is None or not words[index].joined:
        return False
    before = lexicon_.subjects.get(words[index - 1].norm)
    acts = before is not None and bool(before.subjects) and words[index].norm not in _NO_DOING
    return acts and following.joined and following.norm in ("a", "an", "its", "his", "her")


_HUES = frozenset(["colored", "color", "tinted", "hued"])
"""Make a colour of a noun: "a rose coloured train"."""


def _has_colour_behind(words: tuple[Word, ...], index: int) -> bool:
    """Whether "coloured" leads to the colour: "a clock | coloured | dark pink"."""
    behind = itertools.takewhile(lambda word: word.joined, words[index + 1 : index + 3])
    return any(word.norm in lexicon.colours() for word in behind)


def _is_modifier(page: Page, lexicon_: Lexicon, first: int, last: int) -> bool:
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
        return not _VERSION.fullmatch(norm)
    if _VERSION.fullmatch(norm) or norm in CARDINALS:
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
    if _is_doing(page.words, lexicon_, last):
        return False
    if known:
        return True
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
    rf"(({ORDINAL}|next)~)?(newest|latest|oldest|earliest|(most|least)~(recent(ly)?|used))(?!\w)"
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
    return one and acts and away


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


def _is_proper(page: Page, first: int, last: int) -> bool:
    """Whether capitals stand beside capitals: "Bear Grylls", "Golden Gate Bridge"."""
    words = page.words
    if not words[first].capital or page.text.isupper() or _is_title_case(page):
        return False
    following = words[last] if last < len(words) and words[last].joined else None
    if following is not None and following.capital and not is_ordinary(following):
        return True
    before = words[first - 1] if first and words[first].joined else None
    return (
        before is not None
        and before.capital
        and before.index > 0
        and not is_ordinary(before)
        and last - first == 1
    )


def is_ordinary(word: Word) -> bool:
    """A capital that says nothing: months, acronyms of one letter, versions."""
    return (
        word.norm in lexicon.calendar("months")
        or word.norm in lexicon.calendar("seasons")
        or _VERSION.fullmatch(word.norm) is not None
        or len(word.norm) <= 2
        or word.norm.startswith("<")
        or word.norm in lexicon.words("determiners")
        or word.norm in lexicon.words("prepositions")
        or word.norm in lexicon.words("selectors")
    )


def _is_title_case(page: Page) -> bool:
    """Whether capitals mean nothing here: most words have one."""
    letters = [word for word in page.words if word.norm[0].isalpha() and len(word.norm) > 3]
    return len(letters) > 2 and sum(word.capital for word in letters) > 0.6 * len(letters)
