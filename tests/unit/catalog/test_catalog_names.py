"""Names of checkpoints."""

from __future__ import annotations

from support.catalog_cards import card

from personalq.catalog.names import Name, NameKind, names_of


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
