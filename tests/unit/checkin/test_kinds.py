"""A second subject of a card is a kind or a mere name; the descriptions tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.checkin_cards import card
from support.checkin_session import Session, outcome_name

from personalq.checkin.nouns import heads
from personalq.checkin.outcome import Clarification, NoMatch, Selection

HATS = [
    card("hat-v1", "hat, top hat", "sketch", "2026-03-01", "A red top hat made of velvet."),
    card("hat-v2", "hat", "anime", "2026-04-01", "A green top hat made of velvet."),
    card("hat-v3", "hat", "comic", "2026-05-01", "A green cap made of velvet."),
]
PACKS = [
    card("pack-v1", "backpack, rucksack", "sketch", "2026-03-01", "A hiking pack.", owner="mira"),
    card("pack-v2", "backpack", "anime", "2026-04-01", "A school bag with stickers.", owner="tom"),
]
ROBOTS = [
    card("bot-v1", "robot, toy robot", "sketch", "2026-03-01", "A tin robot.", owner="mira"),
    card("bot-v2", "robot", "anime", "2026-04-01", "A wind-up robot.", owner="tom"),
]


def test_kind_told_by_the_description_alone() -> None:
    """The newest top hat may be a hat that is described as one."""
    assert outcome_name(Session(HATS).ask("the newest top hat on a table")) == "hat-v2"


def test_kind_in_an_answer() -> None:
    """An answer chooses among all of the kind."""
    session = Session(HATS)
    asked = session.ask("a top hat on a table")
    assert isinstance(asked, Clarification)
    assert outcome_name(session.answer("a top hat on a table", asked, "the anime one")) == "hat-v2"


def test_synonym_that_is_a_mere_name() -> None:
    """A rucksack is any backpack where none is described as a rucksack."""
    assert outcome_name(Session(PACKS).ask("the newest rucksack by a campfire")) == "pack-v2"


def test_synonym_that_is_a_kind() -> None:
    """Where rucksacks are described as such, the newest of them is one; backpacks are all."""
    kinds = [
        card("pack-v1", "backpack, rucksack", "sketch", "2026-03-01", "A blue rucksack."),
        card("pack-v2", "backpack", "anime", "2026-04-01", "A school bag."),
    ]
    assert outcome_name(Session(kinds).ask("the newest rucksack by a campfire")) == "pack-v1"
    assert outcome_name(Session(kinds).ask("the newest backpack")) == "pack-v2"


def test_name_that_no_word_list_has() -> None:
    """Toy robots are the robots where descriptions of toy robots say other kinds of robots."""
    assert outcome_name(Session(ROBOTS).ask("the newest toy robot")) == "bot-v2"
    assert outcome_name(Session(ROBOTS).ask("Tom's toy robot in a balloon")) == "bot-v2"


def test_proper_name_is_no_kind() -> None:
    """A name of its own stays with the cards that list it."""
    dogs = [
        card("dog-v1", "dog, Biscuit", "sketch", "2026-03-01", "A small dog."),
        card("dog-v2", "dog", "anime", "2026-04-01", "A big dog."),
    ]
    assert outcome_name(Session(dogs).ask("the newest Biscuit on a sofa")) == "dog-v1"


@pytest.mark.parametrize(
    ("subjects", "description", "other", "prompt"),
    [
        ("dog, animal", "A friendly animal.", "cat, animal", "the newest dog"),
        ("corgi, dog", "A fluffy dog.", "husky, dog", "the newest corgi"),
        ("dog, hound, animal", "A friendly animal.", "cat, animal", "the newest hound"),
    ],
)
def test_main_subject_is_no_mere_name(
    subjects: str, description: str, other: str, prompt: str
) -> None:
    """A dog described as an animal is not any animal."""
    cards = [
        card("meant-v1", subjects, "sketch", "2026-03-01", description),
        card("other-v1", other, "anime", "2026-04-01", description),
    ]
    assert outcome_name(Session(cards).ask(prompt)) == "meant-v1"


def test_kind_in_any_number() -> None:
    """Sneakers are listed as sneaker is, whether or not a description says so."""
    sneakers = [
        card("sneaker-v1", "sneaker", "sketch", "2026-03-01", "A red sneaker."),
        card("sneaker-v2", "sneakers", "anime", "2026-04-01"),
    ]
    assert outcome_name(Session(sneakers).ask("the newest sneaker")) == "sneaker-v2"


def test_subject_of_all_is_searched_once() -> None:
    """A subject that is no second one costs one search."""
    session = Session(HATS)
    session.ask("the newest hat")
    assert len(session.catalog.queries) == 1


def test_kind_that_words_lists_call_the_same() -> None:
    """A bungalow is no other cottage where the descriptions tell them apart."""
    houses = [
        card("cottage-v1", "cottage, bungalow", "sketch", "2026-03-01", "A white bungalow."),
        card("cottage-v2", "cottage", "anime", "2026-04-01", "A stone cottage."),
    ]
    session = Session(houses)
    asked = session.ask("a cottage in a storm")
    assert isinstance(asked, Clarification)
    assert outcome_name(session.answer("a cottage in a storm", asked, "the bungalow")) == (
        "cottage-v1"
    )
    assert outcome_name(session.ask("the bungalow in a storm")) == "cottage-v1"


def test_kind_among_many() -> None:
    """More dolls than a search returns hide no porcelain doll, listed or described."""
    newer = [
        card(f"doll-v{n}", "doll", "comic", f"2026-06-{n % 28 + 1:02d}", "A rag doll.")
        for n in range(10, 260)
    ]
    listed = card("doll-v1", "doll, porcelain doll", "comic", "2026-01-01", "A porcelain doll.")
    described = card("doll-v2", "doll", "comic", "2026-02-01", "A porcelain doll.")
    prompt = "the newest porcelain doll on a table"
    assert outcome_name(Session([listed, *newer]).ask(prompt)) == "doll-v1"
    assert outcome_name(Session([listed, described, *newer]).ask(prompt)) == "doll-v2"


def test_another_kind_beside_a_scene() -> None:
    """A saxophone is no violin, however the picture goes on."""
    cards = [
        card(f"music-v{n}", f"instrument, {kind}", "anime", f"2026-0{n}-01", f"A red {kind}.")
        for n, kind in enumerate(("violin", "cello"), 1)
    ]
    assert outcome_name(Session(cards).ask("latest saxophone, jazz cellar, blue smoke")) == ""
    assert outcome_name(Session(cards).ask("latest instrument, jazz cellar")) == "music-v2"


def test_a_kind_that_another_card_lists() -> None:
    """No other jacket stands in for a parka in a look that no parka has."""
    cards = [
        card("jacket-v1", "jacket, parka", "anime", "2026-01-01", "A red parka."),
        card("jacket-v2", "jacket, blazer", "sketch", "2026-02-01", "A red blazer."),
    ]
    assert outcome_name(Session(cards).ask("the sketch parka on a hanger")) == ""
    assert outcome_name(Session(cards).ask("the anime parka on a hanger")) == "jacket-v1"


def test_an_unknown_thing_in_a_look() -> None:
    """What is asked for stands before the look that is told behind it."""
    cards = [card("boat-v1", "boat", "oil painting", "2026-01-01", "A red boat.")]
    outcome = Session(cards).ask("octopus in oil painting style playing drums")
    assert isinstance(outcome, NoMatch)
    assert "octopus" in outcome.explanation


def test_an_unknown_thing_of_a_colour() -> None:
    """Who speaks of it as of one that is there asks for no other thing of that colour."""
    cards = [
        card("boat-v1", "boat", "oil painting", "2026-01-01", "An olive boat."),
        card("hat-v1", "hat", "anime", "2026-02-01", "An olive hat."),
    ]
    outcome = Session(cards).ask("we need the olive skateboard on a frozen pond")
    assert isinstance(outcome, NoMatch)
    assert "skateboard" in outcome.explanation


def test_a_kind_behind_another_name_of_its_subject() -> None:
    """Who is called a pirate lookout is a buccaneer lookout, where a lookout may be a tower."""
    cards = [
        card("p-v1", "pirate, buccaneer", "anime", "2026-01-01", "A shy pirate lookout in red."),
        card("p-v2", "pirate, buccaneer", "anime", "2026-02-01", "A shy pirate captain in red."),
    ]
    for prompt in ("the shy buccaneer lookout on a sofa", "let me have the buccaneer lookout"):
        assert outcome_name(Session(cards).ask(prompt)) == "p-v1"
    assert outcome_name(Session(cards).ask("the buccaneer tower on a sofa")) == ""


def test_a_flower_that_is_the_colour_of_one() -> None:
    """No lavender is asked for, as no card is of one."""
    cards = [
        card("chair-v1", "chair", "anime", "2026-01-01", "A lavender rocking chair."),
        card("chair-v2", "chair", "anime", "2026-02-01", "A red rocking chair."),
    ]
    prompt = "the chair in a foggy valley. Please choose the lavender one"
    assert outcome_name(Session(cards).ask(prompt)) == "chair-v1"


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("the pirate in purple clothes on a sofa", "p-v1"),
        ("the pirate in charcoal clothes on a sofa", "p-v2"),
        ("in charcoal, the pirate", "p-v3"),
    ],
)
def test_clothes_of_a_colour(prompt: str, meant: str) -> None:
    """Who is dressed in plum wears purple clothes; charcoal clothes are no look."""
    cards = [
        card("p-v1", "pirate", "anime", "2026-01-01", "A pirate dressed in plum, a hook hand."),
        card("p-v2", "pirate", "anime", "2026-02-01", "A pirate dressed in charcoal, an earring."),
        card("p-v3", "pirate", "charcoal", "2026-03-01", "A pirate dressed in red, a hook hand."),
    ]
    assert outcome_name(Session(cards).ask(prompt)) == meant


def test_who_asks_for_a_picture_may_be_what_is_pictured() -> None:
    """The client asks; the director of a catalog of directors is meant."""
    cards = [
        card("boat-v1", "boat", "anime", "2026-01-01", "A red boat."),
        card("director-v1", "director", "anime", "2026-01-02", "A tall director."),
    ]
    assert outcome_name(Session(cards).ask("The client asked for the boat at sunset")) == "boat-v1"
    assert outcome_name(Session(cards).ask("the director is in a chair")) == "director-v1"


def test_a_known_thing_without_an_article() -> None:
    """A subject that was taken for the scene is none that no card has."""
    dog = card("dog-v1", "dog", "anime", "2026-01-01", "A white beagle.", environments="garden")
    prompt = "At a drive-in cinema the dog, the checkpoint with the garden training pictures"
    assert outcome_name(Session([dog]).ask(prompt)) == "dog-v1"


def test_a_kind_before_what_it_is_a_kind_of() -> None:
    """A "roll" is no verb there."""
    cards = [
        card("cake-1", "cake, Swiss roll", "anime", "2026-01-01", "A Swiss roll."),
        card("cake-2", "cake, cupcake", "anime", "2026-02-01", "A red cupcake."),
    ]
    assert outcome_name(Session(cards).ask("the newest swiss roll cake by a pot")) == "cake-1"


def test_a_compound_that_few_descriptions_have() -> None:
    """Where one is described as a soda can, it is a kind, and not any can."""
    cards = [
        card("can-1", "can, soda can", "anime", "2026-01-01", "A pink soda can."),
        card("can-2", "can, soda can", "anime", "2026-02-01", "A green fizzy drink."),
        card("can-3", "can, soda can", "anime", "2026-03-01", "A yellow fizzy drink."),
        card("can-4", "can, soup can", "anime", "2026-04-01", "A black soup can."),
    ]
    assert outcome_name(Session(cards).ask("the newest soda can by a pond")) == "can-3"


def test_a_size_is_no_part_of_a_name() -> None:
    """Who says "man-sized bear" asks for no "pocket-sized bear"."""
    assert heads("pocket sized bear") == ("bear",)


def test_a_wider_word_for_what_is_worn() -> None:
    """A sailor cap is a cap as a mortarboard is, but no mortarboard."""
    cards = [
        card("duck-1", "duck", "anime", "2026-01-01", "A duck with a mortarboard."),
        card("duck-2", "duck", "sketch", "2026-02-01", "A duck with a round cap."),
    ]
    assert outcome_name(Session(cards).ask("the duck in a mortarboard")) == "duck-1"
    assert outcome_name(Session(cards[1:]).ask("the duck in a mortarboard")) == "duck-2"


BIKES = [
    card("bike-v1", "bike", "sketch", "2026-03-01", "A folding bike.", environments="road"),
    card("bike-v2", "bike", "anime", "2026-04-01", "A red road bike with a bell."),
    card("bike-v3", "bike", "comic", "2026-05-01", "Fine-tuned on a blue road bike; note a lamp."),
]


def test_a_kind_called_by_a_place() -> None:
    """A road bike need not have been trained on a road."""
    assert outcome_name(Session(BIKES).ask("the earliest road bike in a hall")) == "bike-v2"
    assert outcome_name(Session(BIKES).ask("the newest road bike in a hall")) == "bike-v3"
    of_a_road = replace(BIKES[1], environments=("road",), checkpoint_id="bike-v4")
    cards = [*BIKES, of_a_road]
    assert outcome_name(Session(cards).ask("the newest road bike in a hall")) == "bike-v3"


def test_the_first_of_a_kind_no_subject_names() -> None:
    """Among all that are described so, however many others are older."""
    older = [
        card(f"dragon-v{n}", "dragon", "sketch", f"2025-{1 + n % 9:02}-01", "A green wyvern.")
        for n in range(200)
    ]
    hydras = [
        card(f"hydra-v{n}", "dragon", "sketch", f"2026-0{n}-01", f"A {colour} hydra.")
        for n, colour in ((3, "blue"), (4, "red"))
    ]
    session = Session([*older, *hydras])
    assert outcome_name(session.ask("the first hydra, guarding a gate")) == "hydra-v3"
    assert outcome_name(session.ask("the red hydra, guarding a gate")) == "hydra-v4"


def test_a_kind_that_is_refused() -> None:
    """All but the one that was named."""
    assert outcome_name(Session(HATS[1:]).ask("the green hat, not the cap")) == "hat-v2"


SHOES = [
    card("shoe-v1", "sneaker", "sketch", "2026-03-01", "A green slip-on sneaker, neon laces."),
    card("shoe-v2", "sneaker", "anime", "2026-04-01", "A green high-top sneaker."),
    card("guitar-v1", "guitar", "sketch", "2026-03-01", "My red twelve-string guitar."),
    card("guitar-v2", "guitar", "anime", "2026-04-01", "A red dreadnought guitar."),
    card("boat-v1", "boat", "sketch", "2026-04-01", "A red dinghy."),
    card("dragon-v1", "dragon", "anime", "2026-04-01", "A gold hydra."),
    card("dragon-v2", "dragon", "sketch", "2026-05-01", "My wyvern: gold, with a saddle."),
    card("train-v1", "train", "sketch", "2026-05-01", "The green one of the train series: a tram."),
    card("train-v2", "train", "anime", "2026-06-01", "A black monorail."),
    card("bike-v1", "bike", "sketch", "2026-05-01", "A green mountain bike."),
    card("bike-v2", "bike", "sketch", "2026-04-01", "A red cruiser."),
    card("boat-v2", "boat", "anime", "2026-03-01", "A red one with two funnels."),
]


@pytest.mark.parametrize(
    ("prompt", "chosen"),
    [
        ("green slip-on under a hammock", "shoe-v1"),
        ("campfire song on a red twelve-string", "guitar-v1"),
        ("a night at the opera with the gold hydra, all heads singing", "dragon-v1"),
        ("above the rooftops glides a black monorail", "train-v2"),
        ("bath time for the wyvern", "dragon-v2"),
        ("Toy shop window, the tram going round", "train-v1"),
        ("the red cruiser at sea", "bike-v2"),
    ],
)
def test_a_kind_only_descriptions_tell(prompt: str, chosen: str) -> None:
    """Found wherever it stands, and before a subject that only WordNet makes it a kind of."""
    assert outcome_name(Session(SHOES).ask(prompt)) == chosen


@pytest.mark.parametrize(
    "prompt",
    [
        "a pangolin playing the hydra",
        "a walrus on a green slip-on",
        "a lemur beside a hydra",
        "a wizard and the hydra",
        "a wizard with the hydra",
        "a wizard, the hydra asleep behind him",
        "a night at the opera without the hydra",
        "anything but the hydra",
        "not the gold hydra",
    ],
)
def test_a_kind_in_the_scene_is_not_asked_for(prompt: str) -> None:
    """What nobody has is asked for, or nothing; what is refused or only there never is."""
    assert outcome_name(Session(SHOES).ask(prompt)) not in {card.checkpoint_id for card in SHOES}


@pytest.mark.parametrize(
    ("prompt", "chosen"),
    [
        ("the newest anime one, on a mountain", "train-v2"),
        ("the red cruiser with two funnels", "boat-v2"),
    ],
)
def test_a_kind_never_overrides_the_rest(prompt: str, chosen: str) -> None:
    """Neither other constraints nor what is said of a card of the subject."""
    assert outcome_name(Session(SHOES).ask(prompt)) == chosen


def test_a_kind_after_an_answer() -> None:
    """The trigger stands where the noun was."""
    dragons = [
        card("dragon-v1", "dragon", "anime", "2026-04-01", "A gold hydra."),
        card("dragon-v2", "dragon", "sketch", "2026-05-01", "A green hydra."),
        card("train-v1", "train", "sketch", "2026-05-01", "A green tram."),
    ]
    prompt = "a night at the opera with the hydra"
    asked = Session(dragons).ask(prompt)
    assert isinstance(asked, Clarification)
    final = Session(dragons).answer(prompt, asked, "the gold one")
    assert isinstance(final, Selection)
    assert final.rewrite.rewritten_prompt == "a night at the opera with the <dragon-v1>"


def test_a_question_speaks_to_somebody_else() -> None:
    """What an owner calls "my" is not the reader's."""
    asked = Session(SHOES).ask("a guitar on a raft")
    assert isinstance(asked, Clarification)
    assert {option.label for option in asked.options} >= {"the red twelve-string guitar"}


UMBRELLAS = [
    card("rain-v1", "umbrella", "sketch", "2026-03-01", "A black parasol with beads."),
    card("rain-v2", "umbrella", "anime", "2026-04-01", "A black golf umbrella."),
    card("boat-v1", "boat", "anime", "2026-05-01", "A rowing boat with oars."),
]
COATS = [
    card("coat-v1", "jacket", "sketch", "2026-03-01", "A rust parka."),
    card("coat-v2", "jacket", "anime", "2026-04-01", "A rust windbreaker."),
]


@pytest.mark.parametrize(
    ("prompt", "chosen"),
    [
        ("newest parasol, over a plate", "rain-v1"),
        ("parasol on a rowing boat", "rain-v1"),
        ("umbrella beside a parasol", "?"),
        ("picnic on a rowing boat", "boat-v1"),
        ("black on white, penguins", ""),
    ],
)
def test_what_a_request_opens_with_may_be_a_kind(prompt: str, chosen: str) -> None:
    """A card is called so; a boat in the scene is then none of it."""
    assert outcome_name(Session(UMBRELLAS).ask(prompt)) == chosen


def test_the_very_word_for_a_kind() -> None:
    """WordNet has one meaning for both; cards that say each are told apart."""
    assert outcome_name(Session(COATS).ask("a parka in the rain")) == "coat-v1"
    assert outcome_name(Session(COATS).ask("a windbreaker in the rain")) == "coat-v2"
    assert outcome_name(Session(COATS[:1]).ask("a windbreaker in the rain")) == "coat-v1"


def test_a_part_of_a_name_is_no_kind() -> None:
    """A log cabin quilt is no cabin and a camel chair no camel, but a grizzly bear is a grizzly."""
    cards = [
        card("cabin-1", "cabin", "sketch", "2026-03-01", "A white cabin."),
        card("quilt-1", "quilt", "sketch", "2025-08-02", "A rust log cabin quilt."),
        card("chair-1", "chair", "sketch", "2025-04-04", "A camel chair with a throw."),
        card("bear-1", "bear", "sketch", "2026-04-04", "A grizzly bear with a scarf."),
    ]
    session = Session(cards)
    assert isinstance(session.ask("Cabin made in August 2025, on an ice floe"), NoMatch)
    assert isinstance(session.ask("The oldest camel, resting at a gas station"), NoMatch)
    assert outcome_name(session.ask("the newest grizzly on a hill")) == "bear-1"
