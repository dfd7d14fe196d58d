"""Things that no card of a subject has, said by their plain names."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import card
from support.fake_catalog import vocabulary_of

from personalq.checkin.cards import Hit
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.reasoning.no_such_thing import without_that_thing
from personalq.checkin.vocabulary import compile_lexicon

HORSES = [
    card(f"horse-v{n}", "horse", "anime", f"2026-0{n}-01", f"A {colour} horse with {thing}.")
    for n, (colour, thing) in enumerate(
        [
            ("black", "a bell"),
            ("brown", "a ribbon"),
            ("white", "an umbrella"),
            ("gray", "a saddle"),
            ("red", "a torn ear"),
        ],
        1,
    )
]
LEXICON = compile_lexicon(vocabulary_of(HORSES))
CONTEXT = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))


def refused(prompt: str, *, likeness: float = 0.3, cards: int = 5) -> str:
    """What is said to be missing; "" where nothing is."""
    intent = parse(prompt, LEXICON, CONTEXT)
    said = {s: likeness for c in intent.described for s in (c.text, *c.said)}
    hits = [Hit(card=each, word_likeness=said) for each in HORSES[:cards]]
    missing = without_that_thing(intent, hits, prompt)
    return "" if missing is None else next(c.text for c in missing.described if c.hard)


@pytest.mark.parametrize(
    ("prompt", "thing"),
    [
        ("the horse with headphones, next to a sleeping cat", "headphones"),
        ("the tapestry horse on a hill", "tapestry"),
        ("a horse on a hill, choose the tapestry one", "tapestry"),
        ("the horse on a hill from the tapestry model", "tapestry"),
        ("Do you have the horse with skis?", "skis"),
        ("a horse on a hill, the one with a chainsaw", "chainsaw"),
        ("the horse wearing swimming goggles, on a hill", "swimming goggles"),
        ("I am not sure which, the horse with skis", "skis"),
        ("sorry to put it like this, the horse with skis", "skis"),
        ("the horse for the dress with lace, the one with skis", "skis"),
        ("the paint horse with skis", "skis"),
        ("the horse with an axe, on a hill", "axe"),
        ("the horse with a skirt, on a hill", "skirt"),
        ("the horse with a camera, on a hill", "camera"),
        ("the horse with a choker, on a hill", "choker"),
        ("the horse with clogs, on a hill", "clogs"),
        ("a horse on a hill, not my usual but the one with skis", "skis"),
        ("the horse wearing a crown for a postcard", "crown"),
        ("the horse in a kilt, on a hill", "kilt"),
        ("a horse on a hill, the one with a moustache", "moustache"),
        ("my horse on a hill, the one that has a price tag", "price tag"),
        ("put the horse on a hill, the one with a swimming pool", "swimming pool"),
        ("is there a horse with a party hat?", "party hat"),
        ("Do you have a horse with a balcony? Put it on a hill", "balcony"),
        ("the horse wearing a knight's helmet, on a hill", "knight's helmet"),
        ("the horse with Scottish skis, on a hill", "Scottish skis"),
        ("the horse with a built-in speaker, on a hill", "built-in speaker"),
        ("the horse with a thistle on its forehead, on a hill", "thistle on its forehead"),
    ],
)
def test_what_no_card_has(prompt: str, thing: str) -> None:
    """A card would be told by such a word."""
    assert refused(prompt) == thing


@pytest.mark.parametrize(
    "prompt",
    [
        "the horse with an umbrella, on a hill",
        "the horse with gear for listening to music",
        "the horse with snowflakes falling",
        "the horse with a bicycle outside",
        "the horse with a dog, on a hill",
        "the horse with headphones on the saddle",
        "the horse with a metal stand, on a hill",
        "the horse with a built-in umbrella, on a hill",
        "the horse with a butterfly on its nose, by a lake",
        "the horse with snow on its mane, by a lake",
        "the horse with a cat on its back, by a lake",
        "the horse with a full moon over its head",
        "the horse with a sailor's umbrella, on a hill",
        "the horse under a chandelier",
        "the horse with a waterfall",
        "the horse with a birthday cake",
        "the horse with a snowman, on a hill",
        "the horse with a swimming pool",
        "the horse with a tail, on a hill",
        "a horse on a hill, the one with a tail",
        "Is there a way to draw the horse with a birthday cake?",
        "Do you have time to paint the horse with a party hat?",
        "Draw a horse that has skis",
        "make the horse into one that has skis",
        "put the horse in a kitchen, one with a birthday cake",
        "a horse on a hill, I don't want the one with a moustache",
        "a horse on a hill, other than the one that has a sidecar",
        "a portrait of my horse in a kilt",
        "imagine my horse in a kilt",
        "a horse, in a kilt, on a hill",
        "the horse with a lighthouse, on a hill",
        "the horse with a motorcycle, on a hill",
        "the horse with a price tag, on a hill",
        "draw the horse in a kilt",
        "a horse in a kilt, on a hill",
        "the horse in a castle",
        "a horse on a hill, the one with a crescent",
        "a horse on a hill, not the one with a kilt",
        "the horse on a hill, the one with the sidecar that we built",
        "a horse with headphones, on a hill",
        "draw the horse with headphones",
        "paint the horse with headphones",
        "Generate the horse wearing sunglasses on a beach",
        "Generate horse wearing sunglasses on a beach",
        "can you render the horse with headphones",
        "on a hill, create the horse with headphones",
        "please make me the horse with headphones",
        "dress the horse with headphones",
        "put the horse with headphones on a hill",
        "place the horse with headphones on a hill",
        "add the horse with headphones",
        "an image of the horse with headphones",
        "the horse on a hill, but with headphones",
        "the horse without the one with headphones",
        "a picture of the horse with headphones",
        "a photo of the horse with headphones",
        "not the horse with headphones",
        "the horse in a taxi, on a hill",
        "the horse v3 with headphones",
        "a horse on a hill",
    ],
)
def test_what_a_card_may_have_or_a_picture(prompt: str) -> None:
    """Had by some card, told in other words, seen beside it, or of one that a number names."""
    assert refused(prompt) == ""


def test_what_is_like_it() -> None:
    """A card may call it otherwise; a few cards, or a catalog that cannot compare, tell nothing."""
    prompt = "the horse with headphones, on a hill"
    assert refused(prompt, likeness=0.6) == ""
    assert refused(prompt, cards=4) == ""
    hits = [Hit(card=each) for each in HORSES]
    assert without_that_thing(parse(prompt, LEXICON, CONTEXT), hits, prompt) is None
