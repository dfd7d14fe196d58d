"""Words that sound like a constraint and are content: they must choose no checkpoint."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import NOW, card, studio
from support.fake_catalog import vocabulary_of

from personalq.checkin.intent import Attribute
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.vocabulary import compile_lexicon

LEXICON = compile_lexicon(
    vocabulary_of(
        [*studio(), card("kettle-v4", "kettle", "oil painting", "2026-06-03", owner="ines")]
    )
)
CONTEXT = Context(now=NOW, zone=ZoneInfo("UTC"))


@pytest.mark.parametrize(
    "prompt",
    [
        "the kettle on a table, not the chair",
        "the kettle on a stove, not the fridge",
        "three kettles, no two alike",
        "ines has a party with the kettle",
        "a two year old child with a kettle",
        "a kettle for a number one fan",
        "the kettle outside a motel, number 7 blinking",
        "a kettle buried in sand up to the number 6",
        "a kettle roaring out of a comic panel",
        "a kettle on the beach + palm trees",
        "a kettle filmed on a sofa in the city",
        "a kettle beside a puppy only a few weeks old",
        "Draw it so that ines keeps a kettle on a leash",
        "a kettle with the first cake I ever made",
        "a kettle by a wall, ines people watching",
        "the kettle. Setting: a sketch of a house in May",
        "the kettle, background: a watercolor of the beach",
        "my no. 1 kettle",
        "a kettle over a year old",
        "a house beside a kettle over a year old",
        # When something else happened, what a title says, who is spoken to.
        "I went fishing with my brother yesterday. A kettle in the rain",
        "We moved in May and I miss it: the kettle in an empty room",
        "today our kettle has its birthday",
        'for the novel "The Last House in April", a kettle on a sill',
        "ines, could you draw the kettle on a raft",
    ],
)
def test_it_stays_content(prompt: str) -> None:
    """Only the subject is claimed."""
    intent = parse(prompt, LEXICON, CONTEXT)
    assert [c.attribute for c in intent.constraints if c.hard] == [Attribute.SUBJECT]


@pytest.mark.parametrize(
    ("prompt", "attribute", "text"),
    [
        ("my number 4 kettle", Attribute.VERSION, "number 4"),
        ("kettles before last Tuesday", Attribute.CREATED_AT, "before last Tuesday"),
        ("the kettle from before last", Attribute.ORDER, "before last"),
        ("ines has a kettle", Attribute.OWNER, "ines has"),
        ("the kettle that is over a month old", Attribute.CREATED_AT, "over a month old"),
        ("my number one kettle", Attribute.ORDER, "number one"),
        ("the second steam kettle we ever made", Attribute.ORDER, "we ever made"),
        (
            "on a raft - the second one of the kind we ever made: a kettle",
            Attribute.ORDER,
            "second one",
        ),
        (
            "the kettle, the one that's only a few days old",
            Attribute.ORDER,
            "that's only a few days old",
        ),
        ("the kettle that was used once", Attribute.USE_COUNT, "that was used once"),
        ("the one, don't forget the newest kettle", Attribute.ORDER, "newest"),
        (
            "the kettle at the top of the usage chart",
            Attribute.ORDER,
            "at the top of the usage chart",
        ),
        ("the kettle that has ever been used", Attribute.USE_COUNT, "that has ever been used"),
        ("the least used kettle that was used at all", Attribute.USE_COUNT, "that was used at all"),
        ("the kettle with the highest usage, on a raft", Attribute.ORDER, "with the highest usage"),
        ("the kettle everyone picks most often", Attribute.ORDER, "everyone picks most often"),
        ("A kettle is registered to ines. On a raft", Attribute.OWNER, "is registered to ines"),
        ("ines keeps a kettle", Attribute.OWNER, "ines keeps"),
        ("the kettle, the ines crew's", Attribute.OWNER, "ines crew's"),
        ("a kettle out of the beach scenes", Attribute.ENVIRONMENT, "out of the beach scenes"),
        ("the kettle from the beach sets", Attribute.ENVIRONMENT, "from the beach sets"),
        (
            "a kettle - beach in its training data - on a raft",
            Attribute.ENVIRONMENT,
            "beach in its training data",
        ),
        ("kettle of ines's, sketch, beach. On a raft", Attribute.ENVIRONMENT, "beach"),
        ("ines + beach + sketch = the kettle", Attribute.ENVIRONMENT, "beach"),
        (
            "a kettle trained among nets and ropes on the beach",
            Attribute.ENVIRONMENT,
            "trained among nets and ropes on the beach",
        ),
        ("is the kettle from the beach still around?", Attribute.ENVIRONMENT, "from the beach"),
        ("a kettle that could pass for a sketch", Attribute.STYLE, "that could pass for a sketch"),
        ("Which kettle do we have with a dented lid?", Attribute.DESCRIPTION, "dented lid"),
        (
            "could the kettle with the rope handle hang from a crane?",
            Attribute.DESCRIPTION,
            "rope handle",
        ),
        ("the kettle, zero uses so far", Attribute.USE_COUNT, "zero uses so far"),
        ("any red kettle but ines's", Attribute.OWNER, "but ines's"),
        ("everyone is asleep but ines's kettle", Attribute.OWNER, "ines's"),
        ("a kettle that isn't a photo", Attribute.STYLE, "isn't a photo"),
    ],
)
def test_nearly_the_same_words_choose(prompt: str, attribute: Attribute, text: str) -> None:
    """Beside the subject, or said of it."""
    (constraint,) = (
        c for c in parse(prompt, LEXICON, CONTEXT).constraints if c.attribute is attribute
    )
    assert constraint.text == text


@pytest.mark.parametrize(
    ("prompt", "attribute", "values"),
    [
        ("ines, watercolor, kettle on a raft", Attribute.OWNER, ("ines",)),
        ("ines + kettle on a raft", Attribute.OWNER, ("ines",)),
        ("kettle. train set = beach. scene = a party", Attribute.ENVIRONMENT, ("beach",)),
        ("the kettle with a beach among its training places", Attribute.ENVIRONMENT, ("beach",)),
        ("a kettle of the long-spouted type", Attribute.DESCRIPTION, ("long", "spouted")),
        ("on the shelf of a dentist sits the watercolor kettle", Attribute.STYLE, ("watercolor",)),
        ("a lake, and floating on it a kettle", Attribute.SUBJECT, ("kettle",)),
        ("from the ceiling of a museum hangs a kettle", Attribute.SUBJECT, ("kettle",)),
        ("a knight in armour holding ines's kettle", Attribute.SUBJECT, ("kettle",)),
        ("My daughter wants to see the kettle on a raft", Attribute.SUBJECT, ("kettle",)),
    ],
)
def test_terse_and_inverted_wishes(
    prompt: str, attribute: Attribute, values: tuple[str, ...]
) -> None:
    """As people type into a box, and as they tell a scene first."""
    (constraint,) = (
        c for c in parse(prompt, LEXICON, CONTEXT).constraints if c.attribute is attribute
    )
    assert constraint.values == values


@pytest.mark.parametrize(
    "prompt",
    [
        "kettle, setting: beach, style: sketch, version: 4",
        "Kettle. Setting: a park, use the sketch v4",
        "the kettle, lighting is bad so use the sketch, version 4",
        "scene: the sketch kettle on a beach, version 4; chair next to it",
    ],
)
def test_wishes_beside_a_labelled_scene(prompt: str) -> None:
    """The label ends where the next thing is said."""
    said = parse(prompt, LEXICON, CONTEXT).constraints
    hard = {c.attribute: c.values for c in said if c.hard}
    assert hard[Attribute.STYLE] and hard[Attribute.VERSION] == ("4",)
    assert hard[Attribute.SUBJECT] == ("kettle",)
    assert Attribute.ENVIRONMENT not in hard
