"""Words right before the subject, and what it does, tell which one is meant."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from support.fake_catalog import vocabulary_of

from personalq.checkin.cards import Card, Hit
from personalq.checkin.intent import Attribute, Intent, OrderKey
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.parsing.roles import plays
from personalq.checkin.reasoning.check import satisfies
from personalq.checkin.reasoning.descriptions.described import answers
from personalq.checkin.reasoning.descriptions.wishes import spoken
from personalq.checkin.vocabulary import compile_lexicon

UTC_ZONE = ZoneInfo("UTC")
CARDS = [
    Card(
        checkpoint_id="kettle-v1",
        subjects=("kettle",),
        styles=("film noir",),
        environments=("chapel",),
        description="A dented kettle.",
    ),
    Card(
        checkpoint_id="kettle-v2",
        subjects=("kettle",),
        styles=("watercolor",),
        environments=("bathtub", "open sea"),
        description="A kettle towing a cart of turnips.",
    ),
]
LEXICON = compile_lexicon(vocabulary_of(CARDS))
CONTEXT = Context(now=datetime(2026, 11, 20, tzinfo=UTC), zone=UTC_ZONE)


def _parse(prompt: str) -> Intent:
    return parse(prompt, LEXICON, CONTEXT)


@pytest.mark.parametrize(
    ("prompt", "attribute", "values"),
    [
        ("chapel kettle on a table", Attribute.ENVIRONMENT, ("chapel",)),
        ("the church kettle with steam", Attribute.ENVIRONMENT, ("chapel",)),
        ("the tub kettle", Attribute.ENVIRONMENT, ("bathtub",)),
        ("a shiny open sea kettle", Attribute.ENVIRONMENT, ("open sea",)),
        ("the noir kettle on a table", Attribute.STYLE, ("film noir",)),
        ("the painted kettle on a table", Attribute.STYLE, ("watercolor",)),
    ],
)
def test_a_tag_before_the_subject_is_preferred(
    prompt: str, attribute: Attribute, values: tuple[str, ...]
) -> None:
    """Of cards that fit otherwise those with the tag; no card has to have it."""
    preferred = [c for c in _parse(prompt).all(attribute) if c.prefers and not c.hard]
    assert [c.values for c in preferred] == [values]


@pytest.mark.parametrize(
    "prompt", ["a kettle in a chapel", "kettle at open sea", "the tiny kettle", "a chapel's kettle"]
)
def test_elsewhere_a_place_is_the_scene(prompt: str) -> None:
    """Behind a preposition, or as an owner."""
    assert _parse(prompt).all(Attribute.ENVIRONMENT) == ()


@pytest.mark.parametrize("word", ["low", "wood", "paper", "open"])
def test_part_of_a_tag_that_does_not_name_it_describes(word: str) -> None:
    """What is low is not low poly: only the last word of a tag says what it is."""
    tagged = Card(
        checkpoint_id="k",
        subjects=("kettle",),
        styles=("low poly", "paper cut"),
        environments=("woods",),
    )
    lexicon = compile_lexicon(vocabulary_of([*CARDS, tagged]))
    intent = parse(f"the {word} kettle", lexicon, CONTEXT)
    assert [c.label for c in intent.all(Attribute.DESCRIPTION)] == [word]
    assert intent.all(Attribute.STYLE) == intent.all(Attribute.ENVIRONMENT) == ()


def test_only_words_near_the_subject_are_its_modifiers() -> None:
    """A long prompt is read as fast as a short one."""
    assert _parse(f"chapel {'shiny ' * 5}kettle").all(Attribute.ENVIRONMENT)
    assert not _parse(f"chapel {'shiny ' * 6}kettle").all(Attribute.ENVIRONMENT)


def test_what_is_not_wanted_may_be_part_of_a_look() -> None:
    """Neither is what is "noir" the one in film noir."""
    unwanted = [c for c in _parse("the kettle, but not the noir one").constraints if c.excluded]
    assert [satisfies(card, c, UTC_ZONE) for c in unwanted for card in CARDS] == [False, True]


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("the kettle hauling turnips through a village", ("hauling turnips through a village",)),
        ("the kettle about to be hit by a wave, at dusk", ("about to be hit by a wave",)),
        ("a kettle cut from a pumpkin with dials", ("cut from a pumpkin", "dials")),
    ],
)
def test_what_is_compared_by_its_meaning(prompt: str, said: tuple[str, ...]) -> None:
    """A card may tell the same in other words."""
    assert set(spoken(_parse(prompt))) == set(said)


def test_a_modifier_is_compared_without_the_subject() -> None:
    """A word with a hyphen is one."""
    assert spoken(_parse("curled-up kettle on a pillow")) == ("curled-up",)


def test_an_action_is_meant_when_a_card_is_very_like_it() -> None:
    """Mostly it is the scene, and its words alone prove nothing."""
    said = "hauling turnips"
    intent = _parse(f"the kettle {said}")
    for like, tells in ((0.6, True), (0.15, False), (None, False)):
        hits = [
            Hit(
                card=card,
                text_likeness={} if like is None else {said: here},
                word_likeness={} if like is None else {said: here},
            )
            for card, here in zip(CARDS, (0.1, like or 0.0), strict=True)
        ]
        other, meant = [each.weight for each in answers(intent, hits)]
        assert other == 0.0
        assert (meant > 0.5) is tells


@pytest.mark.parametrize(
    "prompt",
    [
        "the kettle that hasn't been used the longest",
        "the kettle I haven't used for the longest time",
    ],
)
def test_the_longest_unused(prompt: str) -> None:
    """That is an order, not "never used"."""
    order = _parse(prompt).order
    assert order is not None
    assert order.order is OrderKey.LEAST_RECENTLY_USED


def test_nobody_since_then() -> None:
    """Last used then; before, where nothing was."""
    [used] = _parse("the kettle nobody has touched since last June").all(Attribute.LAST_USED_AT)
    assert [i.start and i.start.month for i in used.intervals] == [6]
    assert used.fallback is not None
    assert [i.start for i in used.fallback.intervals] == [None]
    assert not used.excluded


@pytest.mark.parametrize("prompt", ["5th kettle, under the stars", "fifth kettle on a stove"])
def test_a_count_at_the_very_beginning_is_a_version(prompt: str) -> None:
    """As in "the fifth kettle"."""
    assert [c.values for c in _parse(prompt).all(Attribute.VERSION)] == [("5",)]


@pytest.mark.parametrize(
    "prompt", ["third-person view of a kettle", "Second hand kettle", "third eye kettle"]
)
def test_elsewhere_a_count_at_the_beginning_is_none(prompt: str) -> None:
    """What it counts is not the subject."""
    assert _parse(prompt).all(Attribute.VERSION) == ()


def test_why_not_is_no_refusal() -> None:
    """It proposes."""
    order = _parse("why not the latest kettle").order
    assert order is not None
    assert (order.order, order.rank) == (OrderKey.NEWEST, 1)


def test_the_previous_one_is_not_the_latest() -> None:
    """What is refused in passing is no order."""
    order = _parse("the previous kettle, not the latest, in a window").order
    assert order is not None
    assert (order.order, order.rank) == (OrderKey.NEWEST, 2)


def test_the_same_as_then_was_used_then() -> None:
    """What is the same has been there before."""
    intent = _parse("same kettle as two days ago, in the rain")
    assert intent.all(Attribute.LAST_USED_AT)
    assert not intent.all(Attribute.CREATED_AT)


@pytest.mark.parametrize(
    ("prompt", "hard", "excluded"),
    [
        ("the photo kettle in the woods", True, False),
        ("a kettle that's a photo, in snow", True, False),
        ("kettle from June, the photo, in a boat", False, False),
        ("the kettle photo on a shelf", False, False),
        ("the kettle, but not the photo", True, True),
        ("the kettle, not the photo one", True, True),
        ("the kettle, not the photo", True, True),
    ],
)
def test_a_photo_is_a_look(prompt: str, hard: bool, excluded: bool) -> None:
    """Where nothing but a look can stand."""
    photo = Card(checkpoint_id="k", subjects=("kettle",), styles=("photorealistic",))
    lexicon = compile_lexicon(vocabulary_of([*CARDS, photo]))
    [style] = parse(prompt, lexicon, CONTEXT).all(Attribute.STYLE)
    assert (style.values, style.hard, style.excluded) == (("photorealistic",), hard, excluded)


@pytest.mark.parametrize(
    "prompt",
    [
        "a kettle with no picture on it",
        "a kettle with no photo on it",
        "a kettle in a room without paintings",
        "in a room without paintings, the kettle",
        "the kettle, not painted",
        "the kettle, not drawn to scale",
        "no picture of a kettle",
    ],
)
def test_what_a_scene_lacks_is_no_look(prompt: str) -> None:
    """Only "not the photo" refuses one."""
    looks = [
        Card(checkpoint_id=look, subjects=("kettle",), styles=(look,))
        for look in ("photorealistic", "sketch")
    ]
    lexicon = compile_lexicon(vocabulary_of([*CARDS, *looks]))
    assert parse(prompt, lexicon, CONTEXT).all(Attribute.STYLE) == ()


@pytest.mark.parametrize(
    "prompt",
    [
        "kettle wrapped in woolen cloth",
        "the woolly kettle",
        "a kettle sprayed with water",
        "a clockwork kettle",
        "a lead glass kettle",
        "the sewn kettle",
        "a kettle tied with thread",
        "poster of the kettle",
        "a poster of the kettle",
    ],
)
def test_everyday_words_exclude_no_card(prompt: str) -> None:
    """What a thing is made of or like is not how the picture looks."""
    looks = [
        Card(checkpoint_id=look, subjects=("kettle",), styles=(look,))
        for look in (
            "felt", "graffiti", "steampunk", "stained glass", "embroidery", "vintage poster",
        )
    ]  # fmt: skip
    lexicon = compile_lexicon(vocabulary_of([*CARDS, *looks]))
    assert not [c for c in parse(prompt, lexicon, CONTEXT).all(Attribute.STYLE) if c.hard]


def test_a_number_is_part_of_what_something_shows() -> None:
    """Without its digits a number says nothing."""
    assert spoken(_parse("the kettle with number 47, on a stove")) == ("number 47",)


@pytest.mark.parametrize(
    ("being", "role", "is_one"),
    [
        ("hedgehog", "cook", True),
        ("robot", "gardener", True),
        ("dog", "walker", False),
        ("kettle", "painter", False),
        ("dog", "house", False),
    ],
)
def test_beings_play_roles(being: str, role: str, is_one: bool) -> None:
    """A hedgehog cook is a hedgehog; who walks a dog is none, and kettles play nothing."""
    assert plays(being, role) is is_one


def test_a_role_tells_which_one_is_meant() -> None:
    """It is compared with what cards say."""
    hedgehog = Card(checkpoint_id="h", subjects=("hedgehog",))
    lexicon = compile_lexicon(vocabulary_of([hedgehog]))
    intent = parse("a hedgehog cook flipping pancakes", lexicon, CONTEXT)
    assert [c.values for c in intent.all(Attribute.SUBJECT)] == [("hedgehog",)]
    assert spoken(intent)[0] == "cook"


def test_a_word_with_a_hyphen_is_no_look() -> None:
    """An "inked-up" kettle is not drawn in ink."""
    ink = Card(checkpoint_id="k", subjects=("kettle",), styles=("ink",))
    lexicon = compile_lexicon(vocabulary_of([*CARDS, ink]))
    assert parse("the inked-up kettle", lexicon, CONTEXT).all(Attribute.STYLE) == ()


def test_the_last_but_one_may_be_told_around_the_subject() -> None:
    """As in "the last kettle but one"."""
    order = _parse("last kettle but one, in a garden").order
    assert order is not None
    assert (order.order, order.rank) == (OrderKey.NEWEST, 2)


def test_beside_an_order_an_action_is_the_scene() -> None:
    """The latest kettle is the latest, unless a card is very much like what was said."""
    said = "hauling turnips"
    intent = _parse(f"the latest kettle {said}")
    for like, tells in ((0.3, False), (0.65, True)):
        hits = [
            Hit(card=card, text_likeness={said: here}, word_likeness={said: here})
            for card, here in zip(CARDS, (0.1, like), strict=True)
        ]
        assert (answers(intent, hits)[1].weight > 0.5) is tells


@pytest.mark.parametrize(
    "prompt", ["the dark blue two seater kettle", "a dark blue two-seater kettle"]
)
def test_a_number_is_a_part_of_what_it_counts(prompt: str) -> None:
    """What stands before it is the subject's as well."""
    said = [value for c in parse(prompt, LEXICON, CONTEXT).constraints for value in c.values]
    assert {"dark", "blue", "seater"} <= set(said)
