"""The groups the embedding model is fitted to."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from personalq.bench.paraphrases.groups import Group, Said, cards_of, read_groups, worded
from personalq.catalog.cards import embedding_phrases, embedding_text
from personalq.chassis.errors import InvalidInput

GROUP = {
    "subject": "fire engine",
    "cards": ["A red fire engine with a bell.", "A green one, its ladder up."],
    "said": [
        {"text": "with the ladder out", "where": "behind", "fits": [1]},
        {"text": "scarlet", "where": "before", "fits": [0]},
    ],
}


def test_our_own_groups_are_whole() -> None:
    """Every thing said fits some card, and nothing is said twice of a group."""
    groups = read_groups()
    assert sum(len(group.said) for group in groups) > 20_000
    for group in groups:
        said = [each.text.casefold() for each in group.said]
        assert len(set(said)) == len(said), group.subject


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"said": [{"text": "x", "where": "before", "fits": [2]}]}, "fits"),
        ({"said": [{"text": "x", "where": "before", "fits": []}]}, "fits"),
        ({"said": [{"text": "x", "where": "beside", "fits": [0]}]}, "where"),
        ({"cards": None}, "cards"),
    ],
)
def test_a_line_that_is_no_group_is_named(
    tmp_path: Path, change: dict[str, object], problem: str
) -> None:
    """By file and line."""
    lines = [json.dumps(GROUP), json.dumps(GROUP | change)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(InvalidInput, match=rf"a\.jsonl:2: .*{problem}"):
        read_groups(tmp_path)


def test_an_empty_folder_is_no_set(tmp_path: Path) -> None:
    """Nothing could be learned."""
    with pytest.raises(InvalidInput, match=r"no \*\.jsonl"):
        read_groups(tmp_path)


def test_cards_say_what_a_catalogs_cards_say() -> None:
    """The text has the look and the place, the phrases speak of the subject alone."""
    group = Group.model_validate(GROUP)
    for seed in range(20):
        chance = random.Random(seed)  # noqa: S311 - the same each time
        for card, told in zip(cards_of(group, chance), group.cards, strict=True):
            assert card.description.startswith(told.rstrip("."))
            assert all(style in embedding_text(card) for style in card.styles)
            phrases = " ".join(embedding_phrases(card))
            assert "Trained" not in phrases
            assert "style" not in phrases
            assert phrases


def test_what_is_said_is_compared_in_several_wordings() -> None:
    """As it stands, with the subject, and without the word that leads to it."""
    behind, before = (Said(text=text, where=where, fits=(0,)) for text, where in (
        ("with the ladder out", "behind"), ("scarlet", "before"),
    ))  # fmt: skip
    chance = random.Random(0)  # noqa: S311 - the same each time
    assert {worded(behind, "fire engine", chance) for _ in range(50)} == {
        "with the ladder out", "the ladder out", "fire engine with the ladder out",
    }  # fmt: skip
    assert {worded(before, "fire engine", chance) for _ in range(50)} == {
        "scarlet", "scarlet fire engine",
    }  # fmt: skip
