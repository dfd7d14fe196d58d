"""What cards of a subject have one by one, and none has together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.checkin_cards import card
from support.checkin_session import Session

from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent, Span
from personalq.checkin.outcome import Clarification, NoMatch, Selection
from personalq.checkin.reasoning.together import of_no_one_card

CHAIRS = [
    card(
        f"chair-v{n}",
        "chair",
        "anime",
        f"2026-0{n}-01",
        f"A {colour} {kind} chair with {thing}.",
        version=n,
        environments=place,
    )
    for n, (colour, kind, thing, place) in enumerate(
        [
            ("red", "wicker", "a cushion", "beach"),
            ("blue", "wicker", "lion feet", "forest"),
            ("green", "throne", "a cushion", "living room"),
            ("white", "rocking", "a cup holder", "living room"),
            ("red", "folding", "a side pocket", "beach"),
            ("black", "deck", "a cushion", "garden"),
            ("red", "deck", "lion feet", "garden"),
        ],
        1,
    )
]


@pytest.mark.parametrize(
    ("prompt", "failed"),
    [
        ("the white chair whose cushion is velvet, on a lawn", "cushion"),
        ("the wicker chair trained in the living room, beside a fox", "trained in the living room"),
        ("the newest wicker chair trained in the living room", "trained in the living room"),
        ("the wicker one trained in the living room, a chair in the rain", "living room"),
        ("the green chair with lion feet, in the rain", "lion feet"),
        ("a deck chair with a side pocket, on a lawn", "side pocket"),
        ("the white wicker chair on a lawn", "white wicker"),
        ("the white chair from versions 5 to 7, on a lawn", "versions 5 to 7"),
    ],
)
def test_no_card_has_both(prompt: str, failed: str) -> None:
    """Though some card has each: the answer says which one fails beside the rest."""
    outcome = Session(CHAIRS).ask(prompt)
    assert isinstance(outcome, NoMatch)
    assert failed in outcome.explanation
    assert outcome.alternatives


def test_a_pet_of_any_kind() -> None:
    """A "pet" is nothing that only some cards have."""
    kinds = ("skink", "iguana", "gecko", "chameleon", "pet lizard")
    lizards = [
        card(f"lizard-v{n}", kind, "anime", f"2026-0{n}-01", f"A {kind} on a rock.", version=n)
        for n, kind in enumerate(kinds, 1)
    ]
    assert isinstance(Session(lizards).ask("draw the pet skink under a full moon"), Selection)


def test_what_a_card_shows_is_no_wish() -> None:
    """A hoodie "that shows up in headlights" is not asked to show something."""
    hoodies = [
        card(f"hoodie-v{n}", "hoodie", "anime", f"2026-0{n}-01", f"{lead} a hoodie with {thing}.")
        for n, (lead, thing) in enumerate(
            [
                ("This checkpoint shows", "a print"),
                ("Drawings of", "strips"),
                ("Pictures of", "a zip"),
                ("Made for", "a pouch"),
                ("Sketches of", "thumbholes"),
            ],
            1,
        )
    ]
    outcome = Session(hoodies).ask("the hoodie that shows up in headlights, made in February")
    assert not isinstance(outcome, NoMatch)


@pytest.mark.parametrize(("how", "refused"), [("on its back", False), ("with a back", True)])
def test_a_pose_is_nothing_that_a_card_has(how: str, refused: bool) -> None:
    """Other chairs have a back, and this one may lie on its back."""
    cards = [
        replace(each, description=each.description.replace("a cushion", "a back"))
        for each in CHAIRS
    ]
    outcome = Session(cards).ask(f"the white chair {how}, on a lawn")
    assert isinstance(outcome, NoMatch) is refused


def test_the_nearest_have_one_of_them() -> None:
    """What is offered has one of what was asked for."""
    for prompt, near in (
        ("the wicker chair trained in the living room", {"chair-v1", "chair-v2"}),
        ("the white wicker chair", {"chair-v4", "chair-v1", "chair-v2"}),
    ):
        outcome = Session(CHAIRS).ask(prompt)
        assert isinstance(outcome, NoMatch)
        assert {each.card.checkpoint_id for each in outcome.alternatives} == near


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("the blue wicker chair", "chair-v2"),
        ("the red chair with lion feet", "chair-v7"),
        ("the beige rocking chair", "chair-v4"),
        ("version 4, the wicker chair", "chair-v4"),
        ("the chair trained in the forest, with a cushion nearby", "chair-v2"),
    ],
)
def test_what_one_card_has(prompt: str, meant: str) -> None:
    """A colour by its other name; a number says which; what is nearby is the scene."""
    cards = [
        each if each.version != 4 else card(
            "chair-v4", "chair", "anime", "2026-04-01", "A cream rocking chair.", version=4
        )
        for each in CHAIRS
    ]  # fmt: skip
    outcome = Session(cards).ask(prompt)
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == meant


def test_a_thing_that_no_card_has_is_the_scene() -> None:
    """Of the picture nothing is required."""
    outcome = Session(CHAIRS).ask("the wicker chair with a balloon")
    assert isinstance(outcome, Clarification)


def test_a_word_of_two_is_looked_for_as_a_whole() -> None:
    """That one is covered in moss says nothing of dust."""
    mossy = card("chair-v9", "chair", "anime", "2026-09-01", "A deck chair covered in moss.")
    outcome = Session([*CHAIRS, mossy]).ask("the dust-covered chair trained in the forest")
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "chair-v2"


@pytest.mark.parametrize(
    "prompt",
    [
        "the rocking chair with a cushion beside it",
        "the rocking chair with a cushion in the background",
        "the rocking chair, a cat holding a cushion",
        "make the rocking chair red",
        "the rocking chair like a throne",
    ],
)
def test_what_the_picture_is_to_have(prompt: str) -> None:
    """Though another card has it: nothing is required of the one that is meant."""
    outcome = Session(CHAIRS).ask(prompt)
    assert not isinstance(outcome, NoMatch)


@pytest.mark.parametrize("answer", ["the one from May", "the white one", "the one with a cushion"])
def test_an_answer_may_name_something_else(answer: str) -> None:
    """Whoever is asked which wicker chair may want another one after all."""
    session = Session(CHAIRS)
    asked = session.ask("the wicker chair")
    assert isinstance(asked, Clarification)
    assert not isinstance(session.answer("the wicker chair", asked, answer), NoMatch)


@pytest.mark.parametrize("said", ["from versions 2 to 5", "from versions 1 to 5", "but not v4"])
def test_however_few_are_left(said: str) -> None:
    """A range, or a number that is not wanted, names no checkpoint."""
    assert isinstance(Session(CHAIRS).ask(f"the white wicker chair {said}"), NoMatch)


def test_of_few_cards_nobody_can_tell() -> None:
    """The only two chairs say little of what a catalog calls a chair's."""
    outcome = Session([CHAIRS[0], CHAIRS[3]]).ask("the white wicker chair")
    assert not isinstance(outcome, NoMatch)


@pytest.mark.parametrize(("likeness", "refused"), [(0.6, False), (0.3, True)])
@pytest.mark.parametrize("of", ["word_likeness", "thing_likeness"])
def test_what_the_catalog_finds_like_may_be_meant(of: str, likeness: float, refused: bool) -> None:
    """By its words or by its things; what it has no vectors of is found by any word."""
    wish = Constraint(
        attribute=Attribute.DESCRIPTION, values=("wicker",), hard=False, span=Span(4, 10),
        text="wicker", said=("wicker",),
    )  # fmt: skip
    subject = Constraint(
        attribute=Attribute.SUBJECT, values=("chair",), span=Span(11, 16), text="chair"
    )
    hits = [Hit(card=each) for each in CHAIRS]
    like = {"wicker": likeness}
    told = Hit(card=CHAIRS[2])
    if of == "word_likeness":
        told = replace(told, word_likeness=like)
    else:
        told = replace(told, thing_likeness=like)
    found = of_no_one_card(
        Intent(constraints=(wish, subject)), [told], "the wicker chair", besides=hits
    )
    assert (found is not None) == refused


def test_a_colour_behind_a_stuff_is_told() -> None:
    """A bowl that is "ceramic, coral" is not gray."""
    said = (
        "Bowl, ceramic, coral.",
        "A gray bamboo bowl.",
        "A teal glass bowl.",
        "A red copper bowl.",
        "A blue glass bowl.",
    )
    bowls = [
        card(f"bowl-v{n}", "bowl", "anime", f"2026-0{n}-01", text, version=n)
        for n, text in enumerate(said, 1)
    ]
    assert isinstance(Session(bowls).ask("a gray ceramic bowl on a beach"), NoMatch)


def test_what_names_nothing_is_not_looked_for() -> None:
    """Though a card has the word: "as seen" on one is not what "that's seen use" asks for."""
    seen = card("chair-v9", "chair", "anime", "2026-09-01", "A red deck chair, as seen on stage.")
    outcome = Session([*CHAIRS, seen]).ask("the chair trained in the forest that's seen use")
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "chair-v2"


def test_a_card_that_tells_nothing_may_be_meant() -> None:
    """A card without a description may have whatever was described."""
    silent = card("chair-v8", "chair", "anime", "2026-08-01", "", version=8, environments="attic")
    outcome = Session([*CHAIRS, silent]).ask("the wicker chair trained in the attic")
    assert isinstance(outcome, Selection)
    assert outcome.candidate.card.checkpoint_id == "chair-v8"
