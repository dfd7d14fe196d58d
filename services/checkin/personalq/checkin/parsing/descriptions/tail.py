"""What follows the head: "with a red scarf", "that has a crystal ball and is green"."""

from __future__ import annotations

import itertools

from personalq.checkin import lexicon
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.parsing.descriptions.phrase import (
    DEGREES,
    LACKING,
    NO_LACK,
    add_description,
    read_phrase,
    read_predicate,
)
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import (
    is_adjective,
    is_compounded,
    is_of_the_scene,
    is_owner,
    is_that,
    is_worn,
    opens_phrase,
    past_asides,
)

_FULL = frozenset((
    "overgrown", "splattered", "spattered", "studded", "decorated", "sprinkled", "embroidered",
    "trimmed", "lined", "full", "filled", "loaded", "packed", "stuffed", "brimming", "topped",
    "overflowing",
))  # fmt: skip
_DONE = ("done", "made", "modeled", "modelled", "painted", "drawn", "rendered", "sculpted", "shown")
"""How a picture was made: "a cactus modelled in plasticine with a blue flower"."""
_PATTERNS = frozenset((
    "tartan", "plaid", "gingham", "camouflage", "camo", "paisley", "stripes", "checks", "check",
    "houndstooth", "herringbone", "dots", "print", "pattern", "patchwork", "fabric", "cloth",
    "material", "pieces", "shreds", "tatters",
))  # fmt: skip
"""What something is in that looks so: "in tartan", "in a flowery fabric", "in pieces"."""
_PRINTED = frozenset(["in", "newspaper", "magazine", "art", "fine", "small", "large"])
"""What "print" is no pattern behind."""
_PATTERNED = 3
"""Words before a pattern, and itself."""
_CLAUSE = 7
"""Words of the longest clause that is passed over."""
_BEING = frozenset(["is", "are", "was"])
_PARTICLES = frozenset(["over", "up", "down", "off", "out"])
"""Behind a verb: "a lid that folds | over"."""
_OPENING_A_THING = frozenset(["a", "an", "one", "two", "three", "its", "something", "no"])
"""Behind "and": one more thing that it has."""
_HUES = frozenset(["color", "shade", "hue", "tone", "tint"])
_NO_WHENCE = frozenset((
    "set", "session", "shoot", "batch", "series", "list", "folder", "archive", "collection",
    "run", "team", "start", "beginning", "end", "catalog", "gallery", "group", "others", "rest",
    "trip",
))  # fmt: skip
"""Where one is from that is of no kind: "the one from the last batch"."""
_NO_THINGS = frozenset((
    "element", "way", "prime", "entirety", "glory", "turn", "place", "time", "own", "youth",
    "back", "side", "head", "feet", "legs", "last", "knees", "belly",
))  # fmt: skip
"""Where or how something is that is "in its" or "on its" …"""


def _is_clad_aside(draft: Draft, index: int) -> bool:
    """Whether clothes alone stand between commas: "her doll, | in a kimono, by a lake"."""
    run = list(itertools.takewhile(lambda w: w.joined, draft.page.words[index + 1 :]))
    return 0 < len(run) < 4 and lexicon.is_wearable(run[-1].norm)


def read_tail(draft: Draft, index: int) -> None:
    """Read what follows the head: "with a red scarf", "that has a crystal ball and is green"."""
    words = draft.page.words
    at = _skip(draft, past_asides(words, index))
    first, coloured = True, False
    while at < len(words):
        lead = words[at]
        following = words[at + 1].norm if at + 1 < len(words) else ""
        besides = lead.norm == "with" and not is_of_the_scene(words, at)
        worn = lead.norm == "in" and _is_clad_aside(draft, at)
        besides = besides or (first and (lead.norm in ("wearing", "with") or worn))
        besides = besides or (coloured and lead.norm == "wearing")  # "in green, wearing a cloak"
        coloured = False
        if not lead.joined and not besides:
            return
        if lead.norm == "all" and following == "in":
            at += 1  # "all in black"
            continue
        lacks = lead.norm in LACKING and following not in NO_LACK
        if lead.norm in lexicon.words("bearing") or lacks:
            at = _past_clause(draft, read_phrase(draft, at + 1))
            again = at < len(words) and words[at].joined and words[at].norm in ("and", "plus", "&")
            if again and opens_phrase(draft, at + 1):
                at = read_phrase(draft, at + 1)
        elif lead.norm in ("in", "colored") and (colour := _colour(draft, at + 1)):
            add_description(draft, colour)
            at, coloured = colour[-1].index + 1, True
        elif lead.norm in ("of", "in") and (hue := _hue(draft, at + 1)):
            add_description(draft, hue)
            at, coloured = hue[-1].index + 2, True
        elif lead.norm in _FULL and following in ("of", "with"):
            at = read_phrase(draft, at + 2)
        elif (
            (lead.norm == "in" and (is_worn(draft, at + 1) or _is_patterned(draft, at + 1)))
            or (lead.norm in ("under", "beneath") and _is_held(draft, at + 1))
            or (lead.norm == "on" and _is_shod(draft, at + 1))
            or _is_its_own(draft, at)
            or _told_apart(draft, at)
        ) or (lead.norm == "from" and _is_whence(draft, at)):
            at = read_phrase(draft, at + 1)
        elif first and at == index and lead.norm in lexicon.words("colors") and draft.is_free(lead):
            colours_part = following and words[at + 1].joined and lexicon.names_thing(following)
            at = (
                read_phrase(draft, at) if colours_part else read_predicate(draft, at)
            )  # "horse green coat"
        elif first and at == index and _is_use(draft, at):
            at = read_phrase(draft, at + 1, opens=True)  # "a guitar for flamenco"
        elif first and lead.norm in ("is", "was") and following in ("a", "an", "the"):
            at = read_phrase(draft, at + 2)  # "the hero is the mind reader"
        elif lead.norm in ("is", "are", "looks", "was") and not first:
            at = read_predicate(draft, at + 1)
        elif lead.norm in ("a", "an") and at and is_that(words[at - 1]):
            at = read_phrase(draft, at + 1)
        else:
            return
        first = False
        while at < len(words) and words[at].norm in ("and", "but", "that", "which", "who"):
            if not words[at].joined:
                return
            at += 1


def _past_clause(draft: Draft, index: int) -> int:
    """The place of "and", behind a clause of what was read, before one more thing: "with a lid
    that folds over | and a whistle"; else the same.
    """
    words = draft.page.words
    if index >= len(words) or words[index].norm not in ("that", "which", "who"):
        return index
    told = words[index + 1 : index + 3]
    if len(told) == 2 and told[0].norm in _BEING and is_adjective(told[1].norm):
        return index  # "with a hat that is | red", which is read
    for word in itertools.takewhile(lambda word: word.joined, words[index : index + _CLAUSE]):
        following = words[word.index + 1].norm if word.index + 1 < len(words) else ""
        if word.norm in ("and", "plus") and following in _OPENING_A_THING:
            return index if is_of_the_scene(words, word.index) else word.index
        if not draft.is_free(word) or word.norm in lexicon.words("prepositions") - _PARTICLES:
            break
    return index


def _is_patterned(draft: Draft, index: int) -> bool:
    """Whether "in" opens a pattern, a cloth or a state, and nothing else: "in leopard | print"."""
    words = draft.page.words[index : index + 1 + _PATTERNED]
    run = list(itertools.takewhile(lambda word: word.joined and draft.is_free(word), words))
    at = next((place for place, word in enumerate(run) if word.norm in _PATTERNS), None)
    closed = lexicon.words("prepositions") | lexicon.words("links")
    if at is None or any(word.norm in closed for word in run[:at]):
        return False
    if run[at].norm == "print" and draft.page.words[run[at].index - 1].norm in _PRINTED:
        return False
    behind = draft.page.words[index + at + 1 : index + at + 2]
    following = lexicon.words("prepositions") | lexicon.words("links") | {"please", "made", "we"}
    if run[at].norm not in ("pattern", "print"):  # "a pattern of stars", but no "pieces of eight"
        following -= {"of"}
    return not behind or not behind[0].joined or behind[0].norm in following


def _colour(draft: Draft, index: int) -> list[Word]:
    """The words of a colour that nothing is of: "dark yellow | racing", not "red denim"."""
    said: list[Word] = []
    first = draft.page.words[index : index + 1]
    start = index + bool(first and first[0].norm in ("a", "an"))  # "in a light grey"
    for word in draft.page.words[start : start + 4]:
        if not word.joined or not draft.is_free(word):
            break
        if word.norm in lexicon.words("phrase_ends") or word.norm in lexicon.verb_forms():
            break
        if word.norm not in lexicon.words("tones") and word.norm not in lexicon.colours():
            return []
        said.append(word)
    return said if any(word.norm in lexicon.colours() for word in said) else []


def _hue(draft: Draft, index: int) -> list[Word]:
    """The words before "colour" in a phrase: "of | copper | colour", "in a | turquoise | shade"."""
    said: list[Word] = []
    for word in draft.page.words[index : index + 5]:
        if not word.joined or not draft.is_free(word):
            return []
        if word.norm in _HUES:
            return said
        if word.norm not in lexicon.words("determiners"):
            said.append(word)
        if word.norm in lexicon.words("phrase_ends") or word.possessive:
            return []
    return []


def _is_held(draft: Draft, index: int) -> bool:
    """Whether the subject holds what it is under: "an owl under a brown parasol"."""
    groups, reach = lexicon.description_groups(), draft.page.words[index : index + 4]
    return any(groups.get(word.norm) == "umbrella" for word in reach if word.joined)


def _is_shod(draft: Draft, index: int) -> bool:
    """Whether the subject stands on what is its own: "on roller skates"."""
    words = draft.page.words[index : index + 2]
    one_wheel = [word.norm for word in words] == ["one", "wheel"]
    return one_wheel or any(word.norm in lexicon.words("stood_on") for word in words)


def _is_its_own(draft: Draft, index: int) -> bool:
    """Whether it leads to a thing of its own: "a cactus in its hanger", "a cake on its stand"; not
    to its place, nor to how it is: "in its element", "on its back".
    """
    words = draft.page.words
    if words[index].norm not in ("in", "on") or index + 2 >= len(words):
        return False
    if words[index + 1].norm != "its" or words[index + 2].norm in _NO_THINGS:
        return False
    return draft.lexicon.environments.match_at(words, index + 2) is None


def _told_apart(draft: Draft, index: int) -> bool:
    """Whether "on" says which one is meant: "the bunny, the one on skates"."""
    words = draft.page.words
    if words[index].norm not in ("on", "in") or index < 2:
        return False
    the, one = words[index - 2], words[index - 1]
    return the.norm == "the" and one.norm == "one" and the.index > 0 and not the.joined


def _is_whence(draft: Draft, index: int) -> bool:
    """Whether "from" says of what kind one is: "the black one | from a circus"."""
    words = draft.page.words
    if not index or words[index - 1].norm not in ("one", "ones") or index + 2 >= len(words):
        return False
    told = words[index + 2]
    if words[index + 1].norm not in ("a", "an", "the") or not told.joined:
        return False
    phrase = itertools.takewhile(
        lambda word: word.joined and word.norm not in lexicon.words("phrase_ends"),
        words[index + 2 : index + 5],
    )
    vague = any(word.norm in _NO_WHENCE for word in phrase)
    return not vague and not lexicon.is_no_noun(told.norm)


def _skip(draft: Draft, index: int) -> int:
    """Past what may stand between the head and what it has: "of ours that comes"."""
    words = draft.page.words
    while index < len(words):
        word = words[index]
        if word.norm in ("is", "are", "looks", "was") and word.joined and draft.is_free(word):
            told = index + 1
            while told + 1 < len(words) and words[told].norm in DEGREES - {"and"}:
                told += 1
            after = words[told] if told < len(words) else None
            if after is not None and after.joined and _is_adjectival(draft, after):
                index = read_predicate(draft, index + 1)
                continue
        of_owner = word.norm == "of" and is_owner(draft, index + 1)
        in_style = word.norm in ("in", "as", *_DONE) and index + 1 < len(words)
        told = index + 1 + (word.norm in _DONE and words[index + 1 : index + 2] != ())
        in_style = in_style and told < len(words) and not draft.is_free(words[told])
        passed = word.norm in lexicon.words("relatives") or of_owner or in_style
        if draft.is_free(word) and not passed:
            return index
        index += 2 if of_owner else 1
    return index


def _is_use(draft: Draft, index: int) -> bool:
    """Whether "for" says behind the subject's noun of which sort it is: "for flamenco"; not what
    the picture is for, nor whom (`clauses`).
    """
    words = draft.page.words
    before, lead, *following = words[index - 1 : index + 2] if index else (None, None)
    if before is None or lead is None or lead.norm != "for" or not following:
        return False
    told = following[0].norm
    other = before.norm in lexicon.words("selectors") or told in lexicon.words("determiners")
    somebody = following[0].capital or told in lexicon.words("kinsfolk")
    somebody = somebody or nature(told) is Nature.PERSON
    return not (other or somebody or told.endswith("ing") or told == "sale")


def _is_adjectival(draft: Draft, word: Word) -> bool:
    """Whether it is an adjective, or opens one: "sand-coloured"."""
    return is_adjective(word.norm) or is_compounded(draft, word.index)
