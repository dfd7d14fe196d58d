"""What is told of a subject behind its scene, without naming it again."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import NOW, card, studio
from support.fake_catalog import vocabulary_of

from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.parsing.plain import make_plain
from personalq.checkin.vocabulary import compile_lexicon

LEXICON = compile_lexicon(
    vocabulary_of(
        [
            *studio(),
            card("kettle-v4", "kettle", "oil painting", "2026-06-03", owner="print-desk"),
            card("house-v5", "house", "cartoon", "2026-07-03", owner="otis"),
            card("cake-v6", "cake", "cartoon", "2026-07-04", owner="otis"),
        ]
    )
)
CONTEXT = Context(now=NOW, zone=ZoneInfo("UTC"))


def read(prompt: str) -> Intent:
    """The intent of a prompt."""
    return parse(prompt, LEXICON, CONTEXT)


def told(prompt: str) -> set[tuple[str, ...]]:
    """The words that a prompt describes the subject with."""
    return {c.values for c in read(prompt).described if not (c.scene or c.action or c.coarse)}


def plain(prompt: str) -> str:
    """The prompt as it is read."""

    def no(word: str) -> bool:
        return False

    def is_subject(word: str) -> bool:
        return word in ("kettle", "house", "cake")

    return make_plain(prompt, is_owner=no, is_subject=is_subject, is_look=no).text


@pytest.mark.parametrize(
    ("prompt", "values"),
    [
        ("kettle on a stove. Has the dark lid and is gray", {("dark", "lid"), ("gray",)}),
        ("kettle on a stove (wears a bow, has the whistle)", {("bow",), ("whistle",)}),
        ("kettle on a stove; comes with a whistle", {("whistle",)}),
        ("kettle on a stove; it comes with a whistle", {("whistle",)}),
        ("kettle on a stove - is green", {("green",)}),
        ("kettle on a stove, coloured red and with the tall lid", {("red",), ("tall", "lid")}),
        ("kettle on a stove, dark blue and with the tall lid", {("dark", "blue"), ("tall", "lid")}),
        ("kettle on a stove, with the tall hat", {("tall", "hat")}),
        ("kettle on a stove, with the whistle and the bow", {("whistle",), ("bow",)}),
        ("the dented one, coloured red: kettle on a stove", {("dented",), ("red",)}),
        ("kettle on a stove; it was made in May and is white", {("white",)}),
        ("black. dented. kettle. on a stove", {("black", "dented")}),
        ("black. kettle. on a stove", {("black",)}),
        ("the dented kettle goes on a stove", {("dented",)}),
        ("the dented kettle ends up under a tree", {("dented",)}),
        ('my boss wants "the dented kettle" on a stove', {("dented",)}),
        ("The whistle is what I recognise that kettle by. Show it on a stove", {("whistle",)}),
        ("the kettle with a whistle as well as the bow, on a stove", {("whistle",), ("bow",)}),
        ("I recall that the kettle had a whistle; show it on a stove", {("whistle",)}),
        ("kettle on a stove. Colour white, on a hill.", {("white",)}),
        ("kettle in an elevator, red fabric", {("red",)}),
        ("kettle at low tide, green hull, at noon", {("green",)}),
        ("kettle gliding through mist, February build", set()),
        ("the small, February build of the kettle", {("small",)}),
    ],
)
def test_what_is_told_behind_the_scene(prompt: str, values: set[tuple[str, ...]]) -> None:
    """It is the subject's, whichever words it is told in."""
    assert values <= told(prompt) and (values or not told(prompt))


@pytest.mark.parametrize(
    "prompt",
    [
        "kettle on a stove, with the moon above",
        "kettle on a stove, with the sea behind it",
        "kettle on a stove, has been used a lot",
        "kettle on a stove, with the same look",
        "kettle on a stove, is it there?",
        "kettle on a stove. has the rain stopped?",
        "kettle on a stove. is green ok?",
        "kettle on a stove, holds up well",
        "kettle on a stove; features prominently on the cover",
        "kettle on a stove. carries on boiling",
        "kettle on a stove, has fallen over",
        "kettle on a stove, with the waves behind",
        "kettle on a beach, with the lighthouse",
        "kettle in a cafe, with the waiter",
        "kettle on a desk, dressed in fairy lights",
        "kettle on a lake, coloured by the sunset",
        "kettle on a branch. comes with the dawn",
        'draw "the kettle in the window" with a lamp',
        "from the kettle versions use the 3 newest",
        "from the kettle versions, take 10 or 12",
        "of our kettle models, i want 2 with a dent",
        "that helps, now the kettle on a hill",
        "the kettle as well as the house",
        "a stove that goes on and on",
        'for the novel "The Last House in April", a kettle on a sill',
        "kettle on a stove. That goes without saying",
        "the kettle with a whistle as well as possible",
        "a story in black. kettles sing in it",
    ],
)
def test_what_is_no_predicate(prompt: str) -> None:
    """The scene and the rest of the request stay as they are."""
    assert plain(prompt.lower()) == prompt.lower()


@pytest.mark.parametrize(
    ("prompt", "owner"),
    [
        ("Kettle on a stove. Owner: the print desk.", "print-desk"),
        ("Kettle on a stove, author print desk", "print-desk"),
        ("Kettle on a stove; the owner of the checkpoint is the print desk.", "print-desk"),
        ("Kettle, on a stove, red, the print desk, June 2026", "print-desk"),
    ],
)
def test_an_owner_that_is_only_named(prompt: str, owner: str) -> None:
    """As a field of a form, or between commas."""
    (found,) = read(prompt).all(Attribute.OWNER)
    assert found.values == (owner,)


@pytest.mark.parametrize(
    ("prompt", "subject"),
    [
        ("the white house on a hill", "house"),
        ("the green house in the rain", "house"),
        ("that white cake with a cherry", "cake"),
        ("the print desk's house on a hill", "house"),
        ("client wants the house on a hill", "house"),
        ("From all the house versions, take 37 and draw it", "house"),
    ],
)
def test_what_the_request_is_about(prompt: str, subject: str) -> None:
    """A colour before a subject makes no other thing of it, nor does an owner."""
    found: Constraint | None = read(prompt).first(Attribute.SUBJECT)
    assert found is not None and found.values == (subject,)


@pytest.mark.parametrize(
    ("prompt", "thing"),
    [
        ("that violin, the cracked one, in an old cinema", "violin"),
        ("the pink piano, a cat asleep on top of it, with a house", "piano"),
        ("surfboard with the flames on it, leaning on the house", "surfboard"),
    ],
)
def test_what_opens_a_request_and_is_not_there(prompt: str, thing: str) -> None:
    """Nothing that only stands beside it is chosen instead."""
    unknown = read(prompt).unknown_subject
    assert unknown is not None and unknown.values == (thing,)


@pytest.mark.parametrize(
    ("prompt", "attribute", "said"),
    [
        ("From all the kettle versions, take 37 and draw it", Attribute.VERSION, "37"),
        ("kettle on a hill. Place of training snow", Attribute.ENVIRONMENT, "snow"),
        (
            "the kettle whose look is cartoon and at the same time sketchy",
            Attribute.STYLE,
            "cartoon",
        ),
        ("which kettle did we make in June? put it on a hill", Attribute.CREATED_AT, "June"),
        ("I used a kettle in yellow last week. same one on a hill", Attribute.LAST_USED_AT, "week"),
    ],
)
def test_said_instead(prompt: str, attribute: Attribute, said: str) -> None:
    """Other ways to tell a version, a place, a look or a time."""
    found = read(prompt).first(attribute)
    assert found is not None and said in found.text
