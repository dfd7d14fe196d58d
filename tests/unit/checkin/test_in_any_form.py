"""What is said in no form of its own: places, owners and bounds anywhere in a clause, scenes first,
things told the other way around; and what belongs to the picture all the same.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import NOW, card, studio
from support.fake_catalog import vocabulary_of

from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.parsing.turned_around import turned_around
from personalq.checkin.vocabulary import compile_lexicon

LEXICON = compile_lexicon(
    vocabulary_of(
        [
            *studio(),
            card("kettle-v4", "kettle", "oil painting", "2026-06-03", owner="print-desk"),
            card("vase-v5", "vase", "cartoon", "2026-07-03", owner="otis", environments="kitchen"),
            card("wizard-v6", "wizard, court wizard", "cartoon", "2026-07-04", owner="otis"),
            card("board-v7", "board, skateboard", "cartoon", "2026-07-05", owner="otis"),
            card("chair-v9", "chair", "comic", "2026-07-06", owner="games-lab"),
            card("duck-v8", "duck, rubber duck", "comic", "2026-07-06", owner="games-lab"),
        ]
    )
)
CONTEXT = Context(now=NOW, zone=ZoneInfo("UTC"))


def read(prompt: str) -> Intent:
    """The intent of a prompt."""
    return parse(prompt, LEXICON, CONTEXT)


def values(prompt: str, attribute: Attribute) -> list[tuple[tuple[str, ...], bool]]:
    """What a prompt wants of an attribute, and whether it does not."""
    found = (c for c in read(prompt).constraints if c.attribute is attribute and not c.prefers)
    return [(c.values, c.excluded) for c in found]


@pytest.mark.parametrize(
    ("prompt", "place", "excluded"),
    [
        ("The beach is where my kettle was trained; show that one", ("beach",), False),
        ("They photographed this kettle on the beach for training", ("beach",), False),
        ("kettle on a rug, the one that knows only the beach from its training", ("beach",), False),
        ("a kettle, the forest having been its training ground", ("forest",), False),
        ("kettle, the training shots of which weren't taken in the snow", ("snow",), True),
        ("Leave out the kettle from the garden training", ("garden",), True),
        ("a kettle with no beach pictures in its dataset", ("beach",), True),
        ("non-beach-trained kettle", ("beach",), True),
        ("kettle trained in a forest or in the snow", ("forest", "snow"), False),
        ("forest- or beach-trained kettle", ("forest", "beach"), False),
        ("a kettle from the checkpoint that saw nothing but snow in training", ("snow",), False),
    ],
)
def test_a_place_anywhere_in_a_clause_about_training(
    prompt: str, place: tuple[str, ...], excluded: bool
) -> None:
    """However it is told."""
    [(found, refused)] = values(prompt, Attribute.ENVIRONMENT)
    assert set(place) <= set(found)
    assert refused is excluded


@pytest.mark.parametrize(
    "prompt",
    [
        "a bear training for a race on the beach",
        "a trained bear on the beach",
        "a bear learning to swim at the beach",
        "a bear and its trainer in the forest",
        "a bear in training on the beach",
        "a bear being taught to sit in the garden",
        "a bear that has its pictures taken in the forest",
    ],
)
def test_who_trains_in_the_picture_is_trained_nowhere(prompt: str) -> None:
    """The scene is never a place of training."""
    assert values(prompt, Attribute.ENVIRONMENT) == []


@pytest.mark.parametrize(
    ("prompt", "excluded"),
    [
        ("Did the print desk make a kettle? Show it in a tent", False),
        ("kettle on a log; credit for the model goes to the print desk", False),
        ("kettle on a log, the one developed at the print desk", False),
        ("Any kettle but the print desk's, on a log", True),
        ("Don't use the print desk's kettle", True),
        ("a kettle, as long as the print desk doesn't own it", True),
        ("games lab duck", False),
    ],
)
def test_an_owner_anywhere_in_a_clause_about_making(prompt: str, excluded: bool) -> None:
    """As places are."""
    [(_, refused)] = values(prompt, Attribute.OWNER)
    assert refused is excluded


@pytest.mark.parametrize(
    "prompt",
    [
        "a bear running past Otis's flower shop",
        "a kettle on Otis's shoulder",
        "a kettle at dusk, it was Otis who made the sandwich",
        "a bear with Otis holding hands",
        "by the lake, Otis holds hands with the bear",
        "a bear beside the baker, Otis makes bread behind it",
    ],
)
def test_somebody_in_the_picture_owns_nothing(prompt: str) -> None:
    """Their things are of the scene."""
    assert values(prompt, Attribute.OWNER) == []


@pytest.mark.parametrize(
    ("prompt", "first", "last", "count"),
    [
        ("a bear; its version has to lie between two and four inclusive", "2", "4", 3),
        ("bear (2 <= version <= 4)", "2", "4", 3),
        ("bear, version < 4", "1", "3", 3),
        ("bear in a hat, v4 max", "1", "4", 4),
        ("bear, up to and including version 4", "1", "4", 4),
        ("a bear, and the version must be 2, 4 or 7", "2", "7", 3),
        ("bear, version number of 2", "2", "2", 1),
        ("would you use 4 as the version for a bear", "4", "4", 1),
        ("no bear later than version 4", "1", "4", 4),
        ("The bear with no hat under version 5", "1", "4", 4),
        ("bear, v<5", "1", "4", 4),
        ("don't skip v4 of the bear", "4", "4", 1),
        ("the bear at the bar v4", "4", "4", 1),
        ("the bear v4, out", "4", "4", 1),
        ('the bear with "v4"', "4", "4", 1),
    ],
)
def test_bounds_of_versions(prompt: str, first: str, last: str, count: int) -> None:
    """As people say and write them."""
    [(found, refused)] = values(prompt, Attribute.VERSION)
    assert (found[0], found[-1], len(found), refused) == (first, last, count, False)


@pytest.mark.parametrize(
    "prompt", ["a bear - v4 is out", "bear; leave version 4 aside", "a bear, but don't use v4"]
)
def test_a_version_that_is_refused(prompt: str) -> None:
    """Behind it, or before."""
    assert values(prompt, Attribute.VERSION) == [(("4",), True)]


@pytest.mark.parametrize(
    ("prompt", "uses"),
    [
        ("bear; used ten times at most", (0, 10)),
        ("the bear's use count must be 200 or higher", (200, None)),
        ("no more than a dozen uses for the bear", (0, 12)),
        ("a bear used five to nine times", (5, 9)),
        ("bear - minimum number of uses: 300", (300, None)),
        ("more than fifty times used: a bear", (51, None)),
        ("bear on a drum. Fifty uses or more.", (50, None)),
    ],
)
def test_bounds_of_uses(prompt: str, uses: tuple[int, int | None]) -> None:
    """The same of how often it was used."""
    [found] = [c for c in read(prompt).constraints if c.attribute is Attribute.USE_COUNT]
    assert found.uses == uses


@pytest.mark.parametrize(
    "prompt",
    [
        'bear under a sign saying "Latest arrivals"',
        "a bear chained to the oldest gate in the village",
        "a bear showing its oldest friend how to fold a plane",
        "bear with patches, one of which says v8",
        "a bear polishing a vintage car made in 1950",
        "a bear beside a wall calendar that shows April",
        "bear on a bench next to a newspaper dated 3 May 2026",
        "a bear watering the tulips it planted last spring",
        "the bear older than all the trees around it",
        "first of its kind, the bear on the moon",
    ],
)
def test_what_is_to_be_seen_chooses_nothing(prompt: str) -> None:
    """Orders, numbers and days of things in the picture."""
    chosen = (Attribute.ORDER, Attribute.VERSION, Attribute.CREATED_AT, Attribute.LAST_USED_AT)
    assert not [c for c in read(prompt).constraints if c.attribute in chosen]


@pytest.mark.parametrize(
    ("prompt", "subject"),
    [
        ("A kettle wobbles on the edge of a fountain. The newest one", "kettle"),
        ("a wizard boards a crowded train", "wizard"),
        ("A hospital waiting room where a kettle sits", "kettle"),
        ("An attic with a kettle in it", "kettle"),
        ("Parade float, kettle on top", "kettle"),
        ("There's a stone bridge, and under it I'd like a kettle", "kettle"),
    ],
)
def test_what_a_request_is_about(prompt: str, subject: str) -> None:
    """Behind where it is, and before what it does."""
    said = read(prompt)
    found = said.first(Attribute.SUBJECT)
    assert said.unknown_subject is None
    assert found is not None
    assert subject in found.values


@pytest.mark.parametrize(
    ("prompt", "unknown"),
    [
        ("Typewriter with a kettle beside it", "Typewriter"),
        ("Guitar on the back seat of a car", "Guitar"),
        ("Pillow under a sleeping bear", "Pillow"),
        ("Hammock strung between two pillars", "Hammock"),
        ("tractor towing a kettle", "tractor"),
        ("What would Otis's harp look like in front of a kettle?", "harp"),
        ("one giraffe holding a kettle", "giraffe"),
        ("hamster asleep on a heap of pillows", "hamster"),
    ],
)
def test_what_nobody_has(prompt: str, unknown: str) -> None:
    """A known subject in its scene is not asked for."""
    missing = read(prompt).unknown_subject
    assert missing is not None
    assert missing.text.endswith(unknown)


@pytest.mark.parametrize(
    ("said", "read_as"),
    [
        ("a cake with a rose made of sugar", "a sugar rose"),
        ("a cat with two buttons for eyes", "two button eyes"),
        ("armchair with studs made of brass", "brass studs"),
    ],
)
def test_things_told_the_other_way_around(said: str, read_as: str) -> None:
    """As a card names them."""
    assert [meant for _, meant in turned_around(said, lambda word: word == "cat")] == [read_as]


@pytest.mark.parametrize(
    "said", ["the kettle with dents and made of cloth scraps", "a bear with a house made of cards"]
)
def test_what_is_no_thing_of_a_stuff(said: str) -> None:
    """What joins it is no thing, and several cards are no stuff."""
    assert not turned_around(said, lambda _: False)


@pytest.mark.parametrize(
    ("prompt", "inside"),
    [
        ("a vase with a single rose in it", True),
        ("a vase with lemons", True),
        ("a vase with painted roses", False),
        ("a vase with a crack in it", False),
        ("a bear with lemons", False),
    ],
)
def test_what_a_container_holds_is_of_the_picture(prompt: str, inside: bool) -> None:
    """It tells no card from another, unless a card says it."""
    [described] = [c for c in read(prompt).described if c.phrase]
    assert described.scene is inside


def test_a_quality_is_no_kind() -> None:
    """A rubber duck squeaks, and so may another."""
    [(found, _)] = values("squeaky duck", Attribute.SUBJECT)
    assert found == values("duck", Attribute.SUBJECT)[0][0]


@pytest.mark.parametrize(
    "prompt",
    ["the bear, today we trained it", "the bear she shared in March", "the bear postcard from May"],
)
def test_when_it_was_made_is_still_read(prompt: str) -> None:
    """By whatever verb, and of whatever picture."""
    assert [c for c in read(prompt).constraints if c.attribute is Attribute.CREATED_AT]


def test_a_known_thing_that_is_there_is_asked_for() -> None:
    """Not cut off as where something else is to be seen."""
    assert read("There's a bear in it, I want the April build").first(Attribute.SUBJECT) is not None


def test_another_kind_in_the_scene_is_not_meant() -> None:
    """Only one that is spoken of as known says which kind."""
    assert len(values("a duck on a pond, a rubber duck behind", Attribute.SUBJECT)[0][0]) > 1
    assert values("a duck on a pond: the rubber duck", Attribute.SUBJECT) == [
        (("rubber duck",), False)
    ]


def test_what_is_for_a_part_is_no_part() -> None:
    """Cream for hands is no hand."""
    assert not turned_around("a bear with cream for hands", lambda _: False)


def test_a_place_of_the_scene_is_no_other_place_of_training() -> None:
    """Only two places of training are joined."""
    [(found, _)] = values("a kettle on the beach or trained in a forest", Attribute.ENVIRONMENT)
    assert found == ("forest",)
