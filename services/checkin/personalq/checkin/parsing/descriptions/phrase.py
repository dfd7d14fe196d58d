"""Described phrases: which words of the subject's phrase or of "with …" are claimed."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical, thesaurus
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.lexicon.wordnet import look_up
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word, ends_before
from personalq.checkin.parsing.word_roles import (
    acts,
    belongs,
    goes_on,
    is_adjective,
    is_compounded,
    is_numeral,
    is_particle,
    leads_to_side,
    may_describe,
    qualifies,
)

REACH = 7
"""Words of the longest described phrase."""
_NEGATION = compile_form(
    r"(?<!\w)(not|except( for)?|excluding|other than|anything but|rather than|"
    r"as opposed to) ((the|a|an|that|one|ones|with|"
    "in|wearing) )*$"
)
DEGREES = frozenset((
    "and", "very", "quite", "all", "rather", "a", "bit", "light", "dark", "pale", "bright", "deep",
    "mostly", "mainly", "entirely", "completely",
))  # fmt: skip
"""May stand before the adjectives of a predicate: "it's light purple"."""
LACKING = frozenset(["no", "without", "missing", "lacking"])
NO_LACK = frozenset((
    "matter", "longer", "one", "rush", "problem", "triggers", "trigger", "doubt", "worries",
    "hurry", "idea", "need", "way", "wonder", "fuss", "people", "person", "humans", "text",
    "watermark", "caption", "border", "background", "blur",
))  # fmt: skip
"""What a picture or a sentence may lack, and nothing that is pictured."""
_HANGS = frozenset((
    "hangs", "hanging", "dangling", "dangles", "swinging", "swings", "sits", "sitting", "runs",
    "running", "worn", "tied", "placed", "mounted", "pinned", "perched", "slung", "pushed",
    "shoved", "up", "down", "is", "are", "to", "be",
))  # fmt: skip
"""Before where on the subject something is."""
_LACKED = (
    r"(?<!\w)((?P<bare>no|without|missing|lacking)|devoid of|free of|(hasn't|has not|haven't) got|"
    "(doesn't|does not|don't) have) ((an?|any|the|its|his|her|their) )*"
)
LACKED = compile_form(rf"{_LACKED}(?=\w)")
"""What leads to what is not there."""
_LACKED_BEFORE = compile_form(f"{_LACKED}$")
_AWAY = frozenset(["past", "by", "down", "around", "overhead", "about", "everywhere", "through"])
_PASSING = frozenset((
    "blowing", "drifting", "flying", "floating", "passing", "rushing", "falling", "swirling",
    "fluttering", "racing", "speeding", "driving", "sailing", "soaring", "gliding", "circling",
    "marching", "swimming", "walking", "whizzing", "zooming", "exploding", "bursting", "hovering",
    "raining", "buzzing", "twinkling",
))  # fmt: skip
_AROUND = frozenset(["beside", "nearby", "alongside", "behind", "around", "overhead", "above"])
"""Places of what is seen with the subject."""

_APART = compile_form(
    r" ((beside|behind|next to|near|in front of) (it|him|her|them)|"
    r"in the (background|foreground|distance|corner)|on the (floor|ground|table|wall))"
    r"(?!\w)(?! of\b)"
)
"""Behind a thing that is seen with the subject and not on it."""
_CUPS = ("cup", "mug", "teapot", "pitcher", "kettle", "plate")
"""What is painted on them, or floats in them, tells one from another."""
_IN_IT = compile_form(r" (inside|in|within) (it|them)(?!\w)| inside(?= ?($|[,.;:!?)]))")
"""Behind what the subject holds in the picture."""


def read_predicate(draft: Draft, index: int) -> int:
    """Adjectives after a verb: "is green and small"; the place after them."""
    words = draft.page.words
    found: list[Word] = []
    while index < len(words) and words[index].joined:
        word = words[index]
        if _is_tone(words, index):
            found.append(word)
        elif word.norm not in DEGREES:
            tells = is_adjective(word.norm) or bool(stuffs_in(word.norm))  # "is corduroy"
            tells = tells and may_describe(word, draft)
            if not (tells and not goes_on(draft, index)) and not is_compounded(draft, index):
                break
            found.append(word)
        index += 1
    add_description(draft, found)
    return index


def _is_tone(words: Sequence[Word], index: int) -> bool:
    """Whether a word says which of the shades of a colour: "light | purple"."""
    colour = words[index + 1 : index + 2]
    told = bool(colour) and colour[0].joined and colour[0].norm in lexicon.colours()
    return told and words[index].norm in lexicon.words("tones")


def read_phrase(draft: Draft, index: int, *, opens: bool = False) -> int:
    """Add the noun phrase that begins here as one description; the place after it.

    Args:
        opens: whether it may open a clause of its own, and so be of the scene.
    """
    words = draft.page.words
    start = index
    found: list[Word] = []
    thing = 0
    last = index
    while index < len(words) and index - start < REACH:
        word = words[index]
        if not word.joined and not (opens and index == start):
            break
        if found and not thing and leads_to_side(words, index):
            thing = len(found)
        if found and (where := _placed(draft, index)):
            index = where
            continue
        if is_compounded(draft, index) and not (found and word.norm == "mid"):
            found.append(word)
        elif word.norm == "can" and found and look_up(f"{found[-1].norm} can"):
            found.append(word)  # "a watering can"
        elif word.norm in lexicon.words("phrase_ends") and not qualifies(word, found):
            if not (found and belongs(draft, index)):
                if not found and (word.norm in ("in", "of", "with") or index > start):
                    index += 1  # "covered in …", "an outside staircase"
                    continue
                break
        elif found and _goes_on_otherwise(draft, word, found):
            break
        elif may_describe(word, draft) or is_numeral(word, found):
            found.append(word)
        elif not draft.is_free(word):
            break
        index += 1
        last = index
    around = _around(words, found, last)
    apart = last > start and _APART.match(draft.page.shadow, words[last - 1].end) is not None
    found = [word for word in found if word is not around]
    beside = around is not None or _passes(words, last) or _is_inside(draft, start, found)
    vague = opens or apart or beside
    add_description(draft, found, phrase=True, vague=vague, beside=beside, thing=thing)
    return last


def _is_inside(draft: Draft, start: int, found: Sequence[Word]) -> bool:
    """Whether the picture shows it inside of the subject: "a vase with | a rose in it", "a bowl
    with | strawberries".
    """
    if not found:
        return False
    held = lexicon.is_eaten_or_grown(found[-1].norm)
    if held and _IN_IT.match(draft.page.shadow, found[-1].end):
        return True  # and not "with a crack in it"
    if not held or start < 2 or draft.page.words[start - 1].norm != "with":
        return False
    holder = draft.page.words[start - 2]
    if not (draft.ends_subject(holder) and lexicon.is_container(holder.norm)):
        return False
    if any(is_kind_of(holder.norm, each) for each in _CUPS):
        return False  # "a teacup with roses", "a mug with marshmallows"
    return (lexicon.colours() | {"painted"}).isdisjoint(word.norm for word in found[:-1])


def _passes(words: Sequence[Word], index: int) -> bool:
    """Whether what was described goes by: "with autumn leaves | blowing past"."""
    behind = words[index : index + 3]
    if len(behind) < 2 or not (behind[0].joined and behind[1].joined):
        return False
    ends = len(behind) == 2 or not behind[2].joined
    return behind[0].norm in _PASSING and behind[1].norm in _AWAY and ends


def _around(words: Sequence[Word], found: Sequence[Word], index: int) -> Word | None:
    """What says that a thing is around the subject: "with a swing set | beside"."""
    for word in (*found[-1:], *words[index : index + 1]):
        following = words[word.index + 1 : word.index + 2]
        ends = not following or not following[0].joined
        ends = ends or following[0].norm in lexicon.words("choosing")
        if word.norm in _AROUND and word.joined and ends:
            return word
    return None


def _goes_on_otherwise(draft: Draft, word: Word, found: list[Word]) -> bool:
    """Whether the phrase is over: "a scarf | running", but not "on the left"."""
    side = word.norm in lexicon.words("sides") | lexicon.words("parts")
    return word.norm == "mid" or (not side and acts(draft, word, found))


def _placed(draft: Draft, index: int) -> int:
    """Where "on the left end" begins behind "hangs"; 0 where no place on the subject follows."""
    words = draft.page.words
    at = index
    while at < len(words) and words[at].joined and words[at].norm in _HANGS:
        at += 1
    return at if index < at < len(words) and leads_to_side(words, at) else 0


def _start(draft: Draft, first: Word) -> int:
    """Where a description begins, with its count, or what says that it lacks: "no wheels"."""
    words = draft.page.words
    index = first.index
    if first.hyphen and draft.is_free(words[index - 1]):
        return words[index - 1].start  # "one-armed"
    if first.joined and first.norm.endswith("ed") and _is_empty(words[index - 1]):
        return words[index - 1].start  # "good natured"
    lacked = ends_before(_LACKED_BEFORE, draft.page.shadow, first.start) if first.joined else None
    return lacked.start() if lacked else first.start


def _end(draft: Draft, last: Word) -> int:
    """Where a description ends, with what belongs to its participle: "beat up"."""
    words = draft.page.words
    return (words[last.index + 1] if is_particle(words, last.index + 1) else last).end


def _is_empty(word: Word) -> bool:
    return word.norm in lexicon.words("empty_adjectives")


def add_description(
    draft: Draft,
    found: list[Word],
    *,
    phrase: bool = False,
    vague: bool = False,
    beside: bool = False,
    before: str = "",
    thing: int = 0,
) -> None:
    """Add a description; what stands `before` a subject is compared by meaning with it.

    Args:
        found: its words, in order; none is no description.
        phrase: whether they are one noun with its modifiers.
        vague: whether it may as well be the scene.
        beside: whether it is said to be seen beside the subject.
        before: the noun it stands before.
        thing: how many words name the thing, where the others say where it is; by meaning it is
            compared without them, too.
    """
    if not found:
        return
    negated = len(found) > 1 and found[0].norm == "non" and found[1].hyphen
    negated = negated and is_adjective(found[1].norm) and (len(found) == 2 or not phrase)
    if negated:  # "the non-shiny red one"
        add_description(draft, found[2:], vague=vague, before=before)
        found = found[1:2]
    span = Span(_start(draft, found[0]), _end(draft, found[-1]))
    coloured = [word for word in found if word.norm != "colored" or word.hyphen]
    if any(word.norm in lexicon.colours() for word in coloured):
        found = coloured  # "coloured red", not what is said to be coloured anything
    known = {
        word for c in draft.constraints if c.attribute is Attribute.DESCRIPTION for word in c.values
    }
    values = tuple(word.norm for word in found if word.norm not in known)
    if not values:
        return
    unwanted = negated or ends_before(_NEGATION, draft.page.shadow, span.start) is not None
    text = span.of(draft.page.text)
    named = f"{values[-1]} {canonical(before)}" if before and not phrase else ""
    if named in lexicon.description_groups() or _is_one_thing(values[-1], named):
        values = (*values, *canonical(before).split())  # "the baby horse", "a longcase clock"
    plain = all(word in lexicon.colours() for word in values)  # which words tell better
    said: tuple[str, ...] = (text,) if before and not plain else ()
    if thing:
        said = (text, Span(span.start, found[thing - 1].end).of(draft.page.text))
    draft.constraints.append(
        Constraint(
            attribute=Attribute.DESCRIPTION,
            values=values,
            excluded=unwanted,
            hard=unwanted,
            phrase=phrase,
            coarse=vague,
            scene=beside,
            said=(draft.page.text.strip(),) if draft.answering else said,
            span=span,
            text=text,
            label=("not " if unwanted else "") + " ".join(values),
        )
    )


def _is_one_thing(word: str, named: str) -> bool:
    """Whether a word and the subject behind it name a thing together that neither does alone."""
    subject = named.removeprefix(f"{word} ")
    alone = thesaurus.things_in(word).keys() | thesaurus.things_in(subject).keys()
    return not thesaurus.things_in(named).keys() <= alone
