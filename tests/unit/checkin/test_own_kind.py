"""A kind or a stuff that every card of a subject tells, and none has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.checkin_cards import card
from support.checkin_session import Session, outcome_name

from personalq.checkin.cards import Card
from personalq.checkin.outcome import Clarification, NoMatch, Selection


def _cards(subject: str, *descriptions: str) -> list[Card]:
    looks = ("anime", "sketch", "watercolor", "comic", "pastel", "3d render", "cartoon")
    return [
        card(f"{subject}-v{n}", subject, looks[n % 7], f"2026-0{n}-01", each, version=n)
        for n, each in enumerate(descriptions, 1)
    ]


BOATS = _cards(
    "boat",
    "A blue canoe made of oak.",
    "A tugboat in red, made of steel.",
    "A white houseboat made of teak.",
    "A green rowing boat made of brass.",
    "A black canoe made of mahogany.",
    "A pink fishing boat made of cedar.",
)
DOLLS = _cards(
    "doll",
    "A rag doll with a bow.",
    "A blue fairy doll.",
    "A sailor doll in a hat.",
    "A baby doll with freckles.",
    "A rag doll with a cape.",
    "A fairy doll in white.",
)
DRUMS = _cards(
    "drum",
    "A red bass drum.",
    "A blue snare drum.",
    "A djembe in white.",
    "A black kettledrum.",
    "A snare drum in pink.",
    "A green bass drum.",
)


def _refuses(cards: list[Card], prompt: str, word: str) -> bool:
    outcome = Session(cards).ask(prompt)
    return isinstance(outcome, NoMatch) and word in outcome.explanation


@pytest.mark.parametrize(
    ("cards", "prompt", "word"),
    [
        (BOATS, "the newest lifeboat in a storm", "lifeboat"),
        (BOATS, "a speedboat in a storm", "speedboat"),
        (DOLLS, "the clown doll on a shelf", "clown"),
        (DOLLS, "The clown doll on a shelf", "clown"),
        (DRUMS, "the snare drum from January", "snare"),
        (BOATS, "the oldest bamboo boat", "bamboo"),
        (BOATS, "the boat made of glass, on a lake", "glass"),
        (BOATS, "the concrete boat", "concrete"),
    ],
)
def test_nobody_has_it(cards: list[Card], prompt: str, word: str) -> None:
    """Nothing is chosen in its place, and the answer says which word nothing fits."""
    assert _refuses(cards, prompt, word)


CHAIRS = _cards(
    "chair",
    "A red rocking chair.",
    "A dining chair in blue.",
    "A white office chair.",
    "A black high chair.",
    "A rocking chair in pink.",
)
UNTOLD = replace(BOATS[0], checkpoint_id="boat-v9", description="A boat.")


@pytest.mark.parametrize(
    ("cards", "prompt"),
    [
        (DOLLS, "a clown doll on a shelf"),  # the picture may make one of it
        (DOLLS[:3], "the clown doll on a shelf"),  # too few to say that cards tell
        (BOATS[:3], "the glass boat on a lake"),
        ([*BOATS, UNTOLD], "the glass boat"),
        ([*BOATS, UNTOLD], "the lifeboat"),
        (BOATS, "the boat in concrete"),
        (BOATS, "the toy boat in a bath"),
        (BOATS, "the pirate boat"),
        (BOATS, "load the model boat"),
        (CHAIRS, "the patio chair"),
        (CHAIRS, "the director chair"),
    ],
)
def test_what_may_still_be_meant(cards: list[Card], prompt: str) -> None:
    """Where cards do not all tell, or it may be for the picture, the question is which."""
    assert isinstance(Session(cards).ask(prompt), Clarification)


@pytest.mark.parametrize(
    ("cards", "prompt", "meant"),
    [
        (BOATS, "the newest metal boat", "boat-v4"),
        (BOATS, "the first boat in metal that we trained", "boat-v2"),
        (BOATS, "the brass boat in rain", "boat-v4"),
        (BOATS, "the latest wooden boat", "boat-v6"),
        (DRUMS, "the newest snare drum", "drum-v5"),
        (DRUMS, "the second of our bass drums, counting from the oldest", "drum-v6"),
    ],
)
def test_what_somebody_has(cards: list[Card], prompt: str, meant: str) -> None:
    """A stuff by its family, a kind by the word before the noun."""
    assert outcome_name(Session(cards).ask(prompt)) == meant


def test_another_word_for_the_kind() -> None:
    """A rocker is a rocking chair, and no other one."""
    assert outcome_name(Session(CHAIRS).ask("the newest rocker on a porch")) == "chair-v5"
    assert outcome_name(Session(CHAIRS).ask("the computer chair in a loft")) == "chair-v3"
    assert _refuses(CHAIRS, "the latest wheelchair", "wheelchair")


def test_a_noun_of_the_sort() -> None:
    """A bird plushie is a penguin, whatever else is plush."""
    plush = _cards("plushie", "A penguin plushie.", "A rabbit plushie.", "An octopus plushie.")
    assert outcome_name(Session(plush).ask("the bird plushie on a bed")) == "plushie-v1"


def test_a_kind_of_another_month() -> None:
    """Where this October has none of the kind, last October's is meant."""
    parrots = [
        card("p-1", "parrot", "anime", "2025-10-05", "A green budgie with a bell."),
        card("p-2", "parrot", "sketch", "2026-10-05", "A red macaw."),
        card("p-3", "parrot", "sketch", "2026-04-05", "A blue budgie."),
    ]
    assert outcome_name(Session(parrots).ask("a parrot that's a budgie, from October")) == "p-1"


@pytest.mark.parametrize(
    ("description", "prompt"),
    [
        ("A wool hat.", "the woolen hat"),
        ("A cast iron hat.", "the iron hat"),
        ("A terracotta hat.", "the clay hat"),
        ("A suede hat.", "the leather hat"),
    ],
)
def test_a_stuff_in_another_form(description: str, prompt: str) -> None:
    """Woolen is wool, cast iron is iron."""
    hats = _cards(
        "hat", "A straw hat.", "A glass hat.", "A paper hat.", "A brass hat.", description
    )
    assert outcome_name(Session(hats).ask(prompt)) == "hat-v5"


def test_the_very_stuff_first() -> None:
    """Suede is leather, but what is called leather comes first."""
    bags = _cards("bag", "A suede bag.", "A leather bag.", "A cotton bag.")
    assert outcome_name(Session(bags).ask("the leather bag on a bench")) == "bag-v2"


def test_who_it_is_for() -> None:
    """Golfers golf; mothers are no moths."""
    lamps = _cards(
        "umbrella", "A golf umbrella.", "An umbrella with a moth on it.", "A red umbrella."
    )
    assert (
        outcome_name(Session(lamps).ask("the umbrella for golfers under a moon")) == "umbrella-v1"
    )
    assert isinstance(Session(lamps).ask("the umbrella for mothers"), Clarification)


def test_a_colour_alone_of_what_nobody_eats() -> None:
    """A bunny, cream, is a cream bunny; a cake, cream, is no cream-coloured one for sure."""
    bunnies = _cards("bunny", "A bunny, cream, with a bow.", "A red bunny.", "A bunny, black.")
    assert outcome_name(Session(bunnies).ask("the newest cream bunny")) == "bunny-v1"


def test_what_a_subject_is_also_called() -> None:
    """The thesaurus names subjects, and a toy is called either way round."""
    cards = [*_cards("birdhouse", "A red one."), *_cards("robot toy", "A tin one.")]
    assert outcome_name(Session(cards).ask("the nesting box in a tree")) == "birdhouse-v1"
    assert outcome_name(Session(cards).ask("September toy robot at a stop, v1")) != "birdhouse-v1"
    assert outcome_name(Session(cards).ask("the toy robot at a bus stop")) == "robot toy-v1"


@pytest.mark.parametrize(
    ("cards", "prompt", "meant"),
    [
        (DOLLS, "v3 of the clown doll", "doll-v3"),
        (BOATS, "v3 of the glass boat", "boat-v3"),
        (BOATS, "boat-v3, the bamboo boat", "boat-v3"),
    ],
)
def test_a_number_or_an_id_says_enough(cards: list[Card], prompt: str, meant: str) -> None:
    """Who knows the number may be wrong about the rest."""
    assert outcome_name(Session(cards).ask(prompt)) == meant


def test_a_word_that_is_in_the_name_of_the_kind() -> None:
    """A top hat is a hat in every list, but "top" tells which."""
    hats = _cards("hat", "A red top hat.", "A blue beret.", "A top hat in white.", "A red cap.")
    assert outcome_name(Session(hats).ask("the second newest top hat")) == "hat-v1"


def test_a_kind_that_only_cards_tell() -> None:
    """No dictionary knows a Zillow kite; where others are called so, none of these is it."""
    cards = [
        card("kite-v1", "kite", "sketch", "2026-04-11", "A red Zillow kite with a bow."),
        card("kite-v2", "kite", "anime", "2026-05-11", "A blue Brunner kite with a bow."),
        card("kite-v3", "kite", "anime", "2026-06-11", "A green Brunner kite with a tail."),
    ]
    session = Session(cards)
    assert isinstance(session.ask("the Zillow kite in anime style"), NoMatch)
    outcome = session.ask("the Zillow kite as a sketch")
    assert isinstance(outcome, Selection)
    for prompt in ("the happy kite in anime style", "the Zillow kite with a tail"):
        assert not isinstance(session.ask(prompt), NoMatch)
    happy = [
        replace(each, description=each.description.replace("Zillow", "happy")) for each in cards
    ]
    assert not isinstance(Session(happy).ask("the happy kite in anime style"), NoMatch)
    plain = [*cards, card("kite-v4", "kite", "anime", "2026-07-11", "A kite with a tail.")]
    assert not isinstance(Session(plain).ask("the Zillow kite in anime style"), NoMatch)


def test_a_kind_told_behind_its_subject() -> None:
    """A parrot of the cockatoo kind is a cockatoo parrot, in whatever phrase it stands."""
    parrots = [
        card(
            "p-1",
            "parrot,pet parrot",
            "anime",
            "2026-06-05",
            "With a ring, a red parrot of the cockatoo kind.",
        ),
        card(
            "p-2",
            "parrot,pet parrot",
            "sketch",
            "2026-06-07",
            "With a bell, a grey parrot of the macaw kind.",
        ),
    ]
    assert outcome_name(Session(parrots).ask("the cockatoo parrot from June")) == "p-1"
