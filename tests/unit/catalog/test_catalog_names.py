"""Names of checkpoints, and how they are compared."""

from __future__ import annotations

import pytest
from support.catalog_cards import card

from personalq.catalog.names import Name, NameKind, name_key, names_of


@pytest.mark.parametrize(
    "written",
    ["Grandma's teapot", "grandma’s  TEAPOT", "“Grandma's teapot”", "GRANDMA'S TEAPOT's"],
)
def test_case_quotes_and_spacing_do_not_count(written: str) -> None:
    """A person writes a name as it comes."""
    assert name_key(written) == "grandma's teapot"


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("<bear-v4>", "bear-v4"),
        ("<s1><s2>", "s1 s2"),
        ("sks_dog", "sks_dog"),
        ("Mr. Whiskers", "mr whiskers"),
        ("Biscuit's", "biscuit"),
        ("ckpt‑7", "ckpt-7"),
        ("♥", "♥"),
        ("", ""),
    ],
)
def test_brackets_and_a_possessive_ending_do_not_count(written: str, key: str) -> None:
    """A trigger is known without its brackets; a name of nothing but signs is itself."""
    assert name_key(written) == key


def test_a_card_is_called_by_everything_it_says() -> None:
    """Its id, every trigger, every alias, its display name."""
    made = card("b-1", name="Grandma's teapot", aliases=("Biscuit",), triggers=("<b>", "sks"))
    assert names_of(made) == (
        Name(kind=NameKind.CHECKPOINT_ID, spelling="b-1"),
        Name(kind=NameKind.TRIGGER, spelling="<b>"),
        Name(kind=NameKind.TRIGGER, spelling="sks"),
        Name(kind=NameKind.ALIAS, spelling="Biscuit"),
        Name(kind=NameKind.NAME, spelling="Grandma's teapot"),
    )


def test_a_display_name_that_repeats_the_id_is_no_name_of_its_own() -> None:
    """Most cards have none."""
    kinds = [name.kind for name in names_of(card("bear", name="Bear", triggers=()))]
    assert kinds == [NameKind.CHECKPOINT_ID]
