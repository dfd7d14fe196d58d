"""What things are made of: names, families, and what may be what."""

from __future__ import annotations

import pytest

from personalq.checkin.lexicon import stuffs, thesaurus


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a tan cast-iron teapot", {"cast iron"}),
        ("Wooden crate with brass corners", {"wooden", "brass"}),
        ("a red kite", set()),
    ],
)
def test_stuffs_of_a_text(text: str, found: set[str]) -> None:
    """The longest names win."""
    assert stuffs.stuffs_in(text) == found


@pytest.mark.parametrize(
    ("stuff", "wanted", "is_a", "may_be"),
    [
        ("brass", "metal", True, True),
        ("brass", "brass", True, True),
        ("nylon", "synthetic", True, True),
        ("suede", "leather", True, True),
        ("wood", "wooden", True, True),
        ("wooden", "oak", False, True),
        ("teak", "oak", False, False),
        ("glass", "metal", False, False),
    ],
)
def test_families(stuff: str, wanted: str, is_a: bool, may_be: bool) -> None:
    """Brass is metal; what is only said to be wooden may be oak; teak is not."""
    assert stuffs.is_a(stuff, wanted) is is_a
    assert stuffs.may_be(stuff, wanted) is may_be


@pytest.mark.parametrize(
    ("text", "sort", "told"),
    [
        ("a velvet rocking armchair", "chair", "back-and-forth"),
        ("a cargo bicycle", "bicycle", "load-carrying"),
        ("a laptop knapsack", "backpack", "slim business"),
    ],
)
def test_a_kind_under_another_noun_of_its_sort(text: str, sort: str, told: str) -> None:
    """The thesaurus has the rocking chair, the cargo bike, the laptop backpack."""
    kinds = [kind for kind, _ in thesaurus.kinds_in(text) if kind.sort == sort]
    assert any(told in kind.told for kind in kinds)


def test_no_kind_of_another_sort() -> None:
    """A rocking boat is no rocking chair."""
    assert not [kind for kind, run in thesaurus.kinds_in("a rocking boat") if "rock" in run]
