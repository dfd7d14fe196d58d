"""How names of checkpoints are compared."""

from __future__ import annotations

import pytest

from personalq.chassis.names import name_key


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
