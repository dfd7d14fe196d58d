"""Requests from patterns: constraints become words in different places, around a scene."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from random import Random

from personalq.bench.dataset.asks import Asks, Order
from personalq.bench.dataset.periods import Period
from personalq.bench.dataset.vocabulary import PACKAGE, Vocabulary, Word

Words = tuple[str, ...]

ORDINALS = ("", "", "second", "third")
OPENINGS = (
    "", "", "", "show me ", "I'd like ", "generate ", "please make ", "can I get ", "give me ",
    "a picture of ", "an image of ", "we need ", "could you do ", "let's see ", "create ",
)  # fmt: skip
QUESTIONS = ("can I get ", "could you do ")
# A scene that begins with one of these may open a request.
PREPOSITIONS = frozenset((
    "above", "after", "at", "beside", "by", "during", "in", "inside", "next", "on", "under",
    "with",
))  # fmt: skip
USE_ORDERS: dict[str, dict[str, tuple[Words, Words]]] = {
    "used": {"last": ((), ("the one I used last", "the one I used most recently"))},
    "use_count": {
        "last": (
            ("most used", "most-used"),
            ("the one I use the most", "the one I use most often"),
        ),
        "first": (
            ("least used", "least-used"),
            ("the one I use the least", "the one I use least often"),
        ),
    },
}
ENDS: dict[str, tuple[Words, Words]] = {
    "last": (
        ("latest", "newest", "most recent"),
        ("the newest one", "the most recent one", "latest version"),
    ),
    "first": (
        ("oldest", "first", "very first", "earliest"),
        ("the oldest one", "the earliest one", "the very first one"),
    ),
}
THINGS = ("one", "build", "version", "model")


@dataclass(frozen=True, kw_only=True)
class Said:
    """One constraint in words: before the noun, behind it, or as a clause of its own."""

    before: Words = ()
    after: Words = ()
    clause: Words = ()
    rank: int = 5  # adjectives stand in this order
    counts: bool = False  # "the third newest": what it counts has to stand beside it


@cache
def read_scenes() -> dict[str, list[str]]:
    """Scenes by the group of a category."""
    text = resources.files(PACKAGE).joinpath("scenes.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def definite(phrase: str) -> str:
    """The phrase with "the" for its article: "a scarf" is "the scarf"."""
    for article in ("a ", "an "):
        if phrase.startswith(article):
            return f"the {phrase.removeprefix(article)}"
    return f"the {phrase}"


def word_of(words: Sequence[Word], name: str) -> Word:
    """The vocabulary entry of a value."""
    return next(word for word in words if word.name == name)


def say(asks: Asks, period: Period | None, vocabulary: Vocabulary, rng: Random) -> list[Said]:
    """Every constraint of a request, subject and kind aside, in words."""
    said: list[Said] = []
    category = vocabulary.categories[asks.category] if asks.category else None
    if asks.order is not None:
        said.append(_say_order(asks.order))
    for name in asks.styles:
        style = vocabulary.styles[name]
        said.append(Said(before=style.before, after=style.after, rank=3))
    for name in asks.not_styles:
        word = rng.choice(vocabulary.styles[name].before[:3])
        said.append(
            Said(clause=(f"not the {word} one", f"just not the {word} one", f"but not {word}"))
        )
    if period is not None:
        said.append(_say_period(period, used=asks.used is not None))
    if asks.never_used:
        said.append(Said(clause=("the one I have never used", "the one I haven't used yet")))
    if asks.version is not None:
        said.append(_say_version(asks.version))
    if asks.environment is not None:
        place = vocabulary.environments[asks.environment]
        said.append(
            Said(
                before=place.before,
                clause=tuple(f"the one trained {words}" for words in place.asked)
                + tuple(f"trained {words}" for words in place.asked),
                rank=4,
            )
        )
    if asks.owner is not None:
        owner = rng.choice(vocabulary.owners[asks.owner].asked)
        said.append(
            Said(clause=(f"the one by {owner}", f"the one {owner} made", f"made by {owner}"))
        )
    if asks.colour is not None and category is not None:
        said.append(_say_colour(vocabulary.colours[asks.colour], category.colour_form, rng))
    if asks.material is not None and category is not None:
        said.append(Said(before=word_of(category.materials, asks.material).asked, rank=7))
    if asks.accessory is not None and category is not None:
        asked = rng.choice(word_of(category.accessories, asks.accessory).asked)
        said.append(
            Said(
                after=(f"with {definite(asked)}", f"that has {asked}"),
                clause=(f"the one with {definite(asked)}", f"the one that has {asked}"),
            )
        )
    return said


def compose(said: Sequence[Said], noun: str, group: str, rng: Random) -> str:
    """A request: the constraints placed around the noun, with a scene most of the time."""
    before: list[tuple[int, str]] = []
    after: list[str] = []
    clauses: list[str] = []
    # "The third newest dog, the black one" counts black dogs or not; it is never said.
    close = any(constraint.counts for constraint in said)
    for constraint in said:
        place = _place(constraint, rng, close=close, crowded=len(before) > 1)
        words = rng.choice(getattr(constraint, place))
        if place == "before" and not close and rng.random() < 0.25:
            clauses.append(f"the {words} {rng.choice(THINGS)}")
        elif place == "before":
            before.append((constraint.rank, words))
        else:
            (after if place == "after" else clauses).append(words)
    adjectives = [words for _, words in sorted(before)]
    scene = rng.choice(read_scenes()[group]) if rng.random() < 0.85 else ""
    return _arrange(adjectives, noun, after, clauses, scene, rng)


def _place(constraint: Said, rng: Random, *, close: bool, crowded: bool) -> str:
    places = ("before", "before", "after") if close else ("before", "before", "after", "clause")
    possible = [place for place in places if getattr(constraint, place)]
    if crowded and not close and len(possible) > 2:
        possible = [place for place in possible if place != "before"]
    return rng.choice(possible)


def _arrange(
    adjectives: list[str], noun: str, after: list[str], clauses: list[str], scene: str, rng: Random
) -> str:
    plain = " ".join([*adjectives, noun])
    phrase = " ".join([f"the {plain}", *after])
    tail = "".join(f", {clause}" for clause in clauses)
    form = rng.randrange(7)
    opens = scene.split(" ")[0] in PREPOSITIONS
    opening = rng.choice(OPENINGS)
    mark = "?" if opening in QUESTIONS else ""
    if form == 0 and not after:  # terse
        text = " ".join(filter(None, [plain, scene])) + tail
    elif form == 1 and opens:  # the scene first
        text = f"{scene[0].upper()}{scene[1:]}{rng.choice((', ', ': '))}{phrase}{tail}"
    elif form == 2 and clauses and scene:  # the clauses next to the noun
        text = f"{opening}{phrase}{tail}, {scene}{mark}"
    elif form == 3 and scene:  # the request in two sentences
        text = f"Use {phrase}{tail}. Picture it {scene}."
    elif form == 4 and clauses and scene and not after:  # the noun and scene, then the clauses
        article = "an" if plain[0].lower() in "aeiou8" else "a"
        article = "the" if adjectives else article
        text = f"{article} {plain} {scene}{tail}"
    elif form == 5 and opens and not clauses:
        text = f"{scene[0].upper()}{scene[1:]} I want to see {phrase}"
    else:
        separator = ", " if after and scene else " "
        text = f"{opening}{phrase}{separator if scene else ''}{scene}{tail}{mark}"
    if rng.random() < 0.6:
        text = text[0].upper() + text[1:]
    return text


def _say_order(order: Order) -> Said:
    if order.by in USE_ORDERS:
        before, clause = USE_ORDERS[order.by][order.end]
        return Said(before=before, clause=clause, rank=0)
    if order.rank == 1:
        before, clause = ENDS[order.end]
        return Said(before=before, clause=clause, rank=0)
    words = "newest|most recent|latest" if order.end == "last" else "oldest|earliest"
    before = tuple(f"{ORDINALS[order.rank]} {word}" for word in words.split("|"))
    if order.end == "last" and order.rank == 2:
        before = (*before, "newest but one", "next-to-latest")
    return Said(before=before, rank=0, counts=True)


def _say_period(period: Period, *, used: bool) -> Said:
    adverbs = tuple(words for words in period.after if not words.startswith("from "))
    if used:
        return Said(clause=tuple(f"the one I used {words}" for words in adverbs))
    verbs = ("trained", "made", "the one created")
    things = tuple(f"the {words} {thing}" for words in period.before for thing in THINGS[:3])
    return Said(
        before=period.before,
        after=tuple(words for words in period.after if words.startswith("from ")),
        clause=(*(f"{verb} {words}" for verb in verbs for words in adverbs), *things),
        rank=1,
    )


def _say_version(version: int) -> Said:
    teens = 10 <= version % 100 <= 20
    suffix = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(version % 10, "th")
    numbered = (f"the {version}{suffix}", f"the {version}{suffix} version")
    short = tuple(f"{word}{version}" for word in ("v", "V", "ver. ", "ver ", "version no. "))
    return Said(
        before=(f"v{version}",),
        after=(f"v{version}", f"version {version}"),
        clause=(f"version {version}", *short, *numbered),
        rank=2,
    )


def _say_colour(word: Word, form: str, rng: Random) -> Said:
    asked = rng.choice(word.asked)
    if form.startswith("{colour}"):
        return Said(before=(asked,), clause=(f"the {asked} one",), rank=6)
    tones = form.removeprefix("{kind} ").format(colour=asked)
    return Said(after=(tones,), clause=(f"the one {tones}",))
