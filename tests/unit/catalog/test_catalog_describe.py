"""Descriptions of cards that came without one."""

from __future__ import annotations

from support.catalog_cards import card, origin

from personalq.catalog.describe import describe_plainly
from personalq.catalog.ports import Examined
from personalq.chassis.inspection import Inspection


def _examined(metadata: dict[str, str]) -> Examined:
    return Examined(origin=origin("x"), inspection=Inspection(format="lora", metadata=metadata))


async def test_attributes_become_sentences() -> None:
    """Subjects, styles and environments are said in plain words."""
    made = card(
        "owl", subjects=("owl", "night bird"), styles=("sketch", "ink"), environments=("forest",)
    )
    assert await describe_plainly(made, _examined({})) == (
        "An owl (night bird) in sketch and ink style. Trained on forest scenes."
    )


async def test_a_style_checkpoint_pictures_anything() -> None:
    """Without a subject the description names the style alone."""
    made = card("ink", subjects=(), styles=("ink",))
    assert await describe_plainly(made, _examined({})) == "Anything in ink style."


async def test_the_trainers_words_are_added_on_one_line() -> None:
    """What the file says of itself is data: no control characters, not without end."""
    metadata = {"modelspec.description": "Grumpy\u0000\n owl " + "x" * 900}
    text = await describe_plainly(card("owl", subjects=("owl",), styles=()), _examined(metadata))
    assert text.startswith("An owl. Grumpy owl xxx")
    assert len(text) < 600
    assert text.isprintable()
