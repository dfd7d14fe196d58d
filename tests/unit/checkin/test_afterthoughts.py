"""What is added behind the scene: a colour, how sure somebody is, a build, a number of uses."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from support.fake_catalog import vocabulary_of

from personalq.checkin.cards import Card
from personalq.checkin.intent import Attribute, Intent, OrderKey
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.vocabulary import compile_lexicon

LEXICON = compile_lexicon(
    vocabulary_of(
        [
            Card(
                checkpoint_id="kettle-v1",
                subjects=("kettle",),
                styles=("sketch",),
                environments=("poolside", "rooftop"),
            )
        ]
    )
)
CONTEXT = Context(now=datetime(2026, 11, 20, tzinfo=UTC), zone=ZoneInfo("UTC"))


def read(prompt: str) -> Intent:
    """The intent of a prompt."""
    return parse(prompt, LEXICON, CONTEXT)


@pytest.mark.parametrize(
    ("prompt", "colour"),
    [
        ("a kettle beside a goldfish bowl, dark gray", ("dark", "gray")),
        ("a kettle beside a goldfish bowl, dark gray if I remember right", ("dark", "gray")),
        ("a kettle on a stove, olive I think, please", ("olive",)),
        ("the dented kettle under a starry sky, in ivory", ("ivory",)),
        ("a kettle floating in space, in vivid green", ("vivid", "green")),
        ("kettle in front of a setting sun, mustard and made in July 2025", ("mustard",)),
    ],
)
def test_a_colour_behind_the_scene(prompt: str, colour: tuple[str, ...]) -> None:
    """It is the subject's, as sure as if it stood before it."""
    found = [c for c in read(prompt).all(Attribute.DESCRIPTION) if c.values == colour]
    assert len(found) == 1
    assert not found[0].coarse


@pytest.mark.parametrize(
    "prompt",
    [
        "a kettle on a hill, green fog",
        "a kettle on a shelf, in a dark room",
        "a kettle on a shelf, in winter light",
    ],
)
def test_what_has_a_colour_behind_the_scene_is_the_scene(prompt: str) -> None:
    """Green fog, a dark room."""
    assert all(c.coarse or c.phrase for c in read(prompt).all(Attribute.DESCRIPTION))


@pytest.mark.parametrize(
    ("prompt", "version"),
    [
        ("let's have the kettle on a stove again, with build 30 this time", "30"),
        ("the kettle on a stove with model v 60", "60"),
        ("kettle on a stove, checkpoint v. 7", "7"),
        ("kettle on a stove, mark V", "5"),
    ],
)
def test_a_build_behind_the_scene(prompt: str, version: str) -> None:
    """Whatever ends the wish; the "v" before a number is no five."""
    [found] = read(prompt).all(Attribute.VERSION)
    assert found.values == (version,)


@pytest.mark.parametrize(
    ("prompt", "uses"),
    [
        ("the kettle with exactly 140 uses so far, in a thunderstorm", (140, 140)),
        ("the kettle that has 3 uses, on a shelf", (3, 3)),
        ("the kettle with at least 20 renders", (20, None)),
        ("the kettle with fewer than 5 uses to date", (0, 4)),
    ],
)
def test_uses_that_it_has(prompt: str, uses: tuple[int, int | None]) -> None:
    """As a thing it has, where "used 140 times" says what was done."""
    [found] = read(prompt).all(Attribute.USE_COUNT)
    assert found.uses == uses


@pytest.mark.parametrize(
    "prompt",
    ["our runner-up kettle in number of uses, by a lake", "the kettle, runner-up by usage"],
)
def test_the_runner_up_in_uses(prompt: str) -> None:
    """It is the second most used, and not the second newest."""
    [found] = read(prompt).all(Attribute.ORDER)
    assert (found.order, found.rank) == (OrderKey.MOST_USED, 2)


@pytest.mark.parametrize(
    ("prompt", "values"),
    [
        ("the kettle that was trained poolside, by a bookshelf", ("poolside",)),
        ("the kettle trained high up on a roof, half hidden", ("rooftop",)),
    ],
)
def test_where_it_was_trained(prompt: str, values: tuple[str, ...]) -> None:
    """Without a word that leads there, and from afar."""
    [found] = read(prompt).all(Attribute.ENVIRONMENT)
    assert found.values == values
    assert found.hard


def test_what_goes_on_where_it_was_trained() -> None:
    """Only its meaning tells which place it is, so that it excludes nothing by itself."""
    intent = read("the kettle we trained where coffee is served, on a sled")
    [found] = intent.all(Attribute.ENVIRONMENT)
    assert found.values == ("where coffee is served",)
    assert not found.hard


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("the kettle trained where coffee is served sitting on a sled", "where coffee is served"),
        ("the kettle trained where people go skiing, half full", "where people go skiing"),
        ("the kettle trained where a wedding takes place", "where a wedding takes place"),
        ("the kettle trained where the king lives", "where the king lives"),
    ],
)
def test_the_picture_begins_behind_what_goes_on(prompt: str, said: str) -> None:
    """Also without a comma."""
    [found] = read(prompt).all(Attribute.ENVIRONMENT)
    assert found.values == (said,)


def test_where_it_was_not_trained() -> None:
    """What is refused is no wish."""
    [found] = read("the kettle not trained where coffee is served").all(Attribute.ENVIRONMENT)
    assert found.excluded


@pytest.mark.parametrize(
    "prompt", ["a kettle being taught where to sit", "a photo of a kettle taken seaside at sunset"]
)
def test_what_is_pictured_is_no_training(prompt: str) -> None:
    """Only what was trained was trained somewhere."""
    assert read(prompt).all(Attribute.ENVIRONMENT) == ()


def test_a_hedge_is_not_rendered() -> None:
    """It is said to whom reads, and not of the picture."""
    prompt = "the kettle on a sled, dark gray if I remember right"
    intent = read(prompt)
    assert all("remember" not in span.of(prompt) for span in intent.content)
