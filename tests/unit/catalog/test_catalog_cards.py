"""What may be registered."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.catalog_cards import NOW, card

from personalq.catalog.cards import (
    Origin,
    checked,
    checked_id,
    content_hash,
    embedding_text,
    registration_hash,
    text_hash,
)
from personalq.chassis.errors import InvalidInput


def test_a_good_card_passes_with_its_texts_tidied() -> None:
    """Blanks are trimmed, repeated labels dropped, a missing name is the id."""
    passed = checked(
        card("bear.v_4-x", name=" ", triggers=(" <b> ", "<b>"), subjects=("bear", "bear ")),
    )
    assert passed.name == "bear.v_4-x"
    assert passed.triggers == ("<b>",)
    assert passed.subjects == ("bear",)


@pytest.mark.parametrize(
    ("fields", "where", "says"),
    [
        ({"checkpoint_id": ""}, "checkpoint_id", "is not 1-128"),
        ({"checkpoint_id": "a/b"}, "checkpoint_id", "is not 1-128"),
        ({"checkpoint_id": "x" * 129}, "checkpoint_id", "is not 1-128"),
        ({"checkpoint_id": ".."}, "checkpoint_id", "is not 1-128"),
        ({"triggers": ("<a>", "")}, "triggers[1]", "is empty"),
        ({"triggers": ("  ",)}, "triggers[0]", "is empty"),
        ({"triggers": ("x" * 65,)}, "triggers[0]", "65 characters, at most 64"),
        ({"triggers": ("a\u0007b",)}, "triggers[0]", "control characters"),
        ({"triggers": tuple(f"<{i}>" for i in range(33))}, "triggers", "33 entries"),
        ({"aliases": ("Rex", " ")}, "aliases[1]", "is empty"),
        ({"aliases": ("x" * 65,)}, "aliases[0]", "at most 64"),
        ({"subjects": (), "styles": ()}, "subjects", "say what it pictures"),
        ({"styles": ("x" * 65,)}, "styles[0]", "at most 64"),
        ({"environments": ("a\nb",)}, "environments[0]", "control characters"),
        ({"description": "x" * 4001}, "description", "at most 4000"),
        ({"description": "a\u0000b"}, "description", "control characters"),
        ({"version": -1}, "version", "-1"),
        ({"use_count": -1}, "use_count", "-1"),
        ({"created_at": datetime(1970, 1, 1, tzinfo=UTC)}, "created_at", "1970-01-01"),
        ({"created_at": datetime(2100, 1, 1, tzinfo=UTC)}, "created_at", "milliseconds"),
        ({"last_used_at": datetime(9999, 1, 1, tzinfo=UTC)}, "last_used_at", "milliseconds"),
        ({"source": Origin(uri="")}, "source.uri", "say where"),
        ({"source": Origin(uri="file:///x", sha256="ABC")}, "source.sha256", "64 lower-case"),
        ({"source": Origin(uri="file:///x", size_bytes=-1)}, "source.size_bytes", "negative"),
    ],
)
def test_a_bad_field_is_named_with_what_to_do(
    fields: dict[str, Any], where: str, says: str
) -> None:
    """Every refusal names the field and the remedy."""
    with pytest.raises(InvalidInput) as refused:
        checked(replace(card("bear"), **fields))
    assert says in refused.value.violations[f"checkpoint.{where}"]


def test_all_problems_are_reported_together() -> None:
    """One round trip is enough to learn everything that is wrong."""
    with pytest.raises(InvalidInput) as refused:
        checked(replace(card("bear"), triggers=("",), subjects=(), styles=(), version=-3))
    assert len(refused.value.violations) == 3


def test_a_card_may_have_no_trigger_or_several() -> None:
    """A third of the checkpoints published have no trigger; the order of several is kept."""
    assert checked(card("bear", triggers=())).triggers == ()
    assert checked(card("bear", triggers=("<b>", "sks bear"))).triggers == ("<b>", "sks bear")


def test_a_style_checkpoint_pictures_anything() -> None:
    """A card without a subject is fine when it says which style it has."""
    assert checked(card("ink", subjects=(), styles=("ink",))).subjects == ()


def test_a_date_ahead_of_our_clock_is_accepted() -> None:
    """Another machine's clock, or ours, may be wrong; a date is refused only when it is absurd."""
    ahead = NOW + timedelta(days=3650)
    assert checked(card("bear", created_at=ahead, last_used_at=ahead)).created_at == ahead


def test_descriptions_may_have_lines_and_emoji() -> None:
    """What people write is not refused for its form."""
    text = "A bear.\nWith 👩‍👧 and a\ttab."
    assert checked(card("bear", description=text)).description == text


def test_aliases_are_part_of_what_is_registered_and_embedded() -> None:
    """A card without any is what it was before there were aliases."""
    plain, named = card("bear"), checked(card("bear", aliases=(" Biscuit", "Biscuit", "Rex")))
    assert named.aliases == ("Biscuit", "Rex")
    assert registration_hash(named) != registration_hash(plain)
    assert content_hash(named) == content_hash(plain)
    assert embedding_text(named).startswith("bear. Called Biscuit, Rex. photorealistic. ")
    assert text_hash(plain) == text_hash(card("bear", aliases=()))


def test_an_id_asked_for_is_checked_too() -> None:
    """A malformed id is an invalid request, not an unknown checkpoint."""
    assert checked_id("bear-v4") == "bear-v4"
    with pytest.raises(InvalidInput):
        checked_id("bear v4")


def test_the_registration_hash_ignores_usage_and_state() -> None:
    """A redelivery is recognised however often the checkpoint was used meanwhile."""
    before = card("bear")
    used = replace(before, use_count=7, last_used_at=NOW, revision=3)
    assert registration_hash(before) == registration_hash(used)
    assert registration_hash(before) != registration_hash(replace(before, description="other"))


def test_the_content_hash_follows_what_quantization_needs() -> None:
    """A new description is no reason to quantize again, a new trigger is."""
    before = card("bear")
    assert content_hash(before) == content_hash(replace(before, description="other"))
    assert content_hash(before) != content_hash(replace(before, triggers=("<other>",)))


def test_the_embedded_text_holds_subject_style_trigger_and_description() -> None:
    """The vector stands for the whole card, and its hash for the text."""
    made = card("bear", environments=("forest", "snow"))
    assert embedding_text(made) == (
        "bear. photorealistic. <bear>. A brown bear. Trained on: forest, snow"
    )
    assert text_hash(made) != text_hash(replace(made, description="A white bear."))
