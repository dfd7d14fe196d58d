"""Descriptions between commas and in loose words: "a car, golden and small"."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute
from personalq.checkin.lexicon import wordnet
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.parsing.descriptions.phrase import add_description, read_phrase
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import (
    is_adjective,
    is_ing_verb,
    is_of_the_scene,
    leads_to_side,
    may_describe,
)

_PASSED_OVER = frozenset((
    "and", "but", "a", "an", "the", "one", "very", "specifically", "namely", "preferably",
    "ideally",
))  # fmt: skip
_BAR = compile_form(" ?[/|:]")
"""Behind the first of several wishes: "yellowish | / robot toy / in a paddy", "tiny | : boot"."""
_IT = frozenset(["pair", "fellow", "specimen", "chap", "guy", "critter", "beauty", "example"])
"""What a person calls the subject by, once it has been named."""


def read_asides(draft: Draft) -> None:
    """Between commas: adjectives ("a car, golden and small") or things ("googly eyes")."""
    run: list[Word] = []
    for word in (*draft.page.words, None):
        if word is not None and word.joined:
            run.append(word)
            continue
        if run:
            _read_aside(draft, run)
        run = [word] if word is not None else []


def _read_aside(draft: Draft, run: list[Word]) -> None:
    if coloured := _coloured_beside_look(draft, run):
        add_description(draft, coloured)
        return
    run = _before_doing(_until_claimed(draft, run))
    if with_it := _adjectives_with(draft, run):
        add_description(draft, with_it)
        leads = next(word for word in run if word.norm == "with")
        read_phrase(draft, leads.index + 1)
        return
    if become := _become(run):
        add_description(draft, become)
        return
    if [word.norm for word in run[-2:]] == ["all", "over"]:
        run = run[:-2]  # "white all over"
    headings = lexicon.words("headings")
    if run and not run[0].index:
        headings = headings | lexicon.words("first_words")  # "test input: the owl", "oh dear, …"
    if not run or all(word.norm in headings for word in run):
        return
    coloured = run[run[0].norm == "in" :]
    if run[0].index and _is_colour(coloured) and all(map(draft.is_free, coloured)):
        add_description(draft, coloured)
        return
    told = _of_what_was_named(run) if run[0].index else []
    if told and all(draft.is_free(word) for word in told):
        add_description(draft, told)
        return
    run = run[: len(run) - (run[-1].norm == "please")]
    said = [w for w in run if w.norm not in _PASSED_OVER]
    if said and not draft.answering:
        words = draft.page.words
        placed = any(leads_to_side(words, word.index, part_only=True) for word in run[1:7])
        if not _does(run) and _is_on_it(run) and may_describe(said[0], draft):
            read_phrase(draft, said[0].index, opens=True)
            return
        if placed:
            _read_placed(draft, said[0])
            return
        if counted := _counted(draft, run):
            add_description(draft, counted, phrase=True)
            return
        said = [] if _does(run) else _without_camera(said)
    if not said or not all(draft.is_free(w) for w in said):
        return
    if said[0] is not run[0] and said[0].norm in lexicon.words("bearing"):
        return  # "the one wearing a hat" has been read as what it has
    if all(is_adjective(w.norm) for w in said) or _is_compounded(said):
        ends = _BAR.match(draft.page.shadow, run[-1].full_end) is not None
        if run[0].index > 0 or ends or _leads_to_it(draft, run):
            add_description(draft, said)
    elif all(may_describe(w, draft) for w in said) and len(said) <= 4 and not _frames(said):
        listed = not run[0].index and _BAR.match(draft.page.shadow, run[-1].full_end)
        for thing in _each(run):
            add_description(draft, thing, phrase=True, vague=run[0].norm != "the" and not listed)


def _each(run: list[Word]) -> Iterator[list[Word]]:
    """The things of an aside: "torn ear | silver whistle" of "a torn ear and silver whistle"."""
    at = next((place for place, word in enumerate(run) if word.norm == "and"), 0)
    parts = (run[:at], run[at + 1 :])
    several = [[word for word in part if word.norm not in _PASSED_OVER] for part in parts]
    if at and all(len(part) > 1 for part in several):
        yield from several
    else:
        yield [word for word in run if word.norm not in _PASSED_OVER]


def _coloured_beside_look(draft: Draft, run: list[Word]) -> list[Word]:
    """The colour told with a look: ", mosaic and | navy", "| amber | paper cutout of the mug"."""
    looks = [c.span for c in draft.constraints if c.attribute is Attribute.STYLE and c.span]
    first = run[1:] if run[0].norm in ("a", "an", "the", "my", "our", "one") else run
    for look in looks:
        before = [word for word in first if word.full_end <= look.start]
        behind = [word for word in run if word.start >= look.end]
        if not run[0].start <= look.start < run[-1].end:
            continue
        if before and behind and _is_of_it(draft, behind) and _is_colour(before):
            return before if all(map(draft.is_free, before)) else []
        ahead = before[:-1] if before and before[-1].norm == "and" and not behind else []
        if ahead and _is_colour(ahead) and all(map(draft.is_free, ahead)):
            return ahead  # "lemon and low-poly: the sneaker"
        instead = [w for w in behind if w.norm not in ("a", "an", "the", "one")]
        refused = len(instead) > 1 and instead[0].norm == "but"
        if refused and _is_colour(instead[1:]) and all(map(draft.is_free, instead)):
            return instead[1:]  # "one that isn't anime but tan"
        joined = len(behind) > 1 and behind[0].norm in ("and", "in") and not before
        if joined and run[0].index and _is_colour(behind[1:]) and all(map(draft.is_free, behind)):
            return behind[1:]
    return []


def _become(run: list[Word]) -> list[Word]:
    """What something has become, before what it is from: "a coat, | shabby | from years of use"."""
    said = list(itertools.takewhile(lambda word: word.norm != "from", run))
    told = run[:1] and run[0].index and 0 < len(said) < min(3, len(run))
    return said if told and all(is_adjective(w.norm) for w in said) else []


def _tells_what(norm: str) -> bool:
    """Whether a word says what something is like or made of: "ceramic", "silk"."""
    return is_adjective(norm) or bool(stuffs_in(norm))


def _is_of_it(draft: Draft, behind: list[Word]) -> bool:
    """Whether "of" leads to what is asked for: not "a golden anime | of a sunset"."""
    for word in behind[1:] if behind[0].norm == "of" else ():
        noun = draft.noun_at(word.index)
        if noun is not None and noun.entry.subjects:
            return True
        if lexicon.names_thing(word.norm):
            return False
    return False


def _adjectives_with(draft: Draft, run: list[Word]) -> list[Word]:
    """Adjectives before what it has: "that mug, | ceramic | with a goofy grin"."""
    said = list(itertools.takewhile(lambda word: word.norm != "with", run))
    ends = len(said) + 1 >= len(run)
    said = said[: len(said) - (said[-1:] != [] and said[-1].norm == "and")]
    if not run or not (run[0].index or _leads_to_it(draft, run)) or not 0 < len(said) < 3 or ends:
        return []
    told = all(_tells_what(w.norm) and not w.norm.endswith("ing") for w in said)
    told = told and not _OF_A_PICTURE & {word.norm for word in run}
    told = told and not is_of_the_scene(draft.page.words, run[0].index)
    return said if told and all(map(draft.is_free, run)) else []


_OF_A_PICTURE = lexicon.words("camera") | lexicon.words("seasonal") | {
    "lighting", "light", "shadows", "grain", "blur", "bokeh", "contrast", "tones", "background",
    "foggy", "rainy", "snowy", "misty", "cinematic", "moody",
}  # fmt: skip
"""An aside with one of them says what the picture is like: "moody | with dramatic lighting"."""


def _is_compounded(said: list[Word]) -> bool:
    """Whether words are one adjective: "chessboard-patterned", "diver-like"."""
    joined = all(word.hyphen for word in said[1:])
    return len(said) > 1 and joined and said[-1].norm.endswith(("ed", "like"))


def _until_claimed(draft: Draft, run: list[Word]) -> list[Word]:
    """What stands before words that say something else: "mustard | and made in July"."""
    end = len(run)
    while end and not draft.is_free(run[end - 1]):
        end -= 1
    while end < len(run) and end and run[end - 1].norm in ("and", "but"):
        end -= 1
    return run[:end]


def _before_doing(run: list[Word]) -> list[Word]:
    """What it is like before what it does: "pale yellow | and standing among pumpkins", "chubby |
    and waving", but "red and sparkling".
    """
    at = next((place for place, word in enumerate(run) if word.norm == "and"), 0)
    does = run[at + 1 :] if at else []
    entry = wordnet.look_up(does[0].norm) if len(does) == 1 else None
    told = entry is not None and entry.mostly_adjective
    told = told and all(is_adjective(word.norm) for word in run[:at])
    doing = bool(does) and is_ing_verb(does[0].norm) and not told
    return run[:at] if doing and _is_like(run[:at]) else run


def _is_like(said: list[Word]) -> bool:
    """Whether words only say what it is like."""
    tones = lexicon.words("tones")
    return all(is_adjective(word.norm) or word.norm in tones for word in said)


def _is_colour(said: list[Word]) -> bool:
    """Whether words name a colour and no more: "dark gray", "vivid green"."""
    named = [word.norm in lexicon.colours() for word in said]
    plain = (_is_like([word]) for word in said)
    return bool(named) and named[-1] and all(a or b for a, b in zip(named, plain, strict=True))


def _of_what_was_named(run: list[Word]) -> list[Word]:
    """Adjectives of what was named before: "The red | fellow, …", "Yellow | only", "White | in
    color".
    """
    said: list[Word] = []
    for place, word in enumerate(run):
        if is_adjective(word.norm):
            said.append(word)
        elif said and word is run[-1] and word.norm in ("color", "shade"):
            return said  # "oatmeal colour"
        elif said and word.norm == "in":
            return said if [w.norm for w in run[place + 1 :]] == ["color"] else []
        elif said:
            ends = word.norm == "only" and word is run[-1]
            return said if ends or word.norm in _IT else []
        elif word.norm not in ("a", "an", "the"):
            return []
    return []


def _is_on_it(run: list[Word]) -> bool:
    """Whether things are somewhere on the subject: "castle, ivy on its towers", "mug, grin on it",
    "car, flames on the sides", "cat, apron on".
    """
    norms = [word.norm for word in run]
    if not run[0].index or any(norm in _AROUND_IT for norm in norms[:3]):
        return False
    if len(run) == 2 and norms[1] == "on":
        return lexicon.is_wearable(norms[0])
    at = next((i for i, norm in enumerate(norms) if norm in _ON and 0 < i < 4), None)
    if at is None or at + 1 >= len(run):
        return False
    if norms[at + 1] in ("it", "him", "her"):
        return at + 2 == len(run)
    own = norms[at + 1] in ("its", "his", "her")
    return own or (norms[at + 1] == "the" and not _PLACES.isdisjoint(norms[at + 2 : at + 3]))


_ON = frozenset(["on", "over", "across", "down", "along"])
_AROUND_IT = lexicon.words("camera") | lexicon.words("frames") | lexicon.words("seasonal") | {
    "focus", "light", "sunlight", "moonlight", "lighting", "spotlight", "camera", "clouds", "stars",
    "rain", "snow", "parked",
}  # fmt: skip
"""On or over a subject they are the picture's."""
_PLACES = frozenset((
    "side", "sides", "sole", "soles", "walls", "roof", "bonnet", "door", "doors", "bumper",
    "windows", "lid", "base", "rim", "shade", "cuffs", "seat", "bottom",
))  # fmt: skip


def _counted(draft: Draft, run: list[Word]) -> list[Word]:
    """Things that are counted: "car, three wheels", or raised: "dog, ears up"."""
    if not run[0].index or len(run) != 2 or not all(map(draft.is_free, run)):
        return []
    count, thing = run
    several = next(wordnet.singulars(thing.norm), None) is not None
    shown = thing.norm in lexicon.words("frames") or thing.norm in _MADE_OF_IT
    if count.norm in _FEW and several and not shown and lexicon.names_thing(thing.norm):
        return run
    raised = thing.norm in ("up", "down", "out", "open", "closed", "crossed", "raised")
    return run if raised and next(wordnet.singulars(count.norm), None) is not None else []


_FEW = frozenset((
    "one", "two", "three", "four", "five", "six", "seven", "eight", *"2345678",
))  # fmt: skip
_MADE_OF_IT = frozenset(["images", "pictures", "photos", "steps", "versions", "copies", "trees"])
"""What is counted and no part of a subject."""


def _read_placed(draft: Draft, first: Word) -> None:
    """Read what is said to be somewhere on the subject: "stickers on the lid"."""
    if lexicon.names_thing(first.norm) and may_describe(first, draft):
        read_phrase(draft, first.index, opens=True)


def _without_camera(said: list[Word]) -> list[Word]:
    """What is left beside how the picture is taken: "red, dramatic", but not "low angle"."""
    if said[-1].norm not in lexicon.words("camera"):
        return said
    plain = len(said) > 1 and nature(said[-1].norm) is Nature.NO_NOUN  # not of "green fog"
    return _without_camera(said[:-1]) if plain else []


def _does(run: list[Word]) -> bool:
    """Whether words say what the subject does: "climbing stairs", but not "sparkling"."""
    first = run[0].norm
    plain = first in lexicon.description_groups() or lexicon.names_thing(first)
    return len(run) > 1 and first.endswith("ing") and not plain


_LISTED = compile_form(r"[ ,\w'-]*:")
"""From one of several wishes to what they are of: "Silver|, stocky, by the fire: that dog"."""


def _leads_to_it(draft: Draft, run: list[Word]) -> bool:
    """Whether what is asked for follows at once, or a list of wishes: "chrome and cheerful, | the
    robot".
    """
    if listed := _LISTED.match(draft.page.shadow, run[-1].full_end):
        named = draft.page.word_at(listed.end())
        behind = draft.page.words[named.index : named.index + 5] if named is not None else ()
    else:
        behind = draft.page.words[run[-1].index + 1 : run[-1].index + 6]
    said = [word for word in behind if word.norm not in ("that", "is", "it", "the", "my", "our")]
    skipped = behind[: behind.index(said[0])] if said else ()
    noun = draft.noun_at(said[0].index) if said else None
    determined = any(word.norm in ("the", "my", "our") for word in skipped)
    determined = determined or (listed is not None and any(w.norm == "that" for w in skipped))
    told = all(may_describe(word, draft) or word.norm in _PASSED_OVER for word in run)
    return told and determined and noun is not None and bool(noun.entry.subjects)


def _frames(said: list[Word]) -> bool:
    """Whether words say how the picture is taken: "underwater shot", "extreme close-up"."""
    return said[-1].norm in lexicon.words("frames") and not is_adjective(said[-1].norm)


def read_loose(draft: Draft) -> None:
    """In an answer, or with no subject at all: every unclaimed content word describes."""
    groups = lexicon.description_groups()
    words = [word for word in draft.page.words if may_describe(word, draft)]
    if not draft.answering:
        add_description(draft, [word for word in words if word.norm in groups])
        return
    run: list[Word] = []
    for word in words:
        if run and word.index != run[-1].index + 1:
            _loosen(draft, run)
            run = []
        run.append(word)
    _loosen(draft, run)


def _loosen(draft: Draft, run: list[Word]) -> None:
    """Neighbours of an answer: adjectives each, or one thing ("ski lift")."""
    adjectives = all(is_adjective(word.norm) for word in run)
    add_description(draft, run, phrase=bool(run) and not adjectives)
