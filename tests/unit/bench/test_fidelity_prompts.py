"""Cases of the fidelity benchmark: balanced, repeatable, and what a file of them may say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from personalq.bench.fidelity.prompts import miniature_cases, read_cases
from personalq.chassis.errors import InvalidInput
from personalq.miniature.designs import DESIGNS, design

_LINE = {"checkpoint_id": "a", "prompt": "a photo of <sks>", "trigger": "<sks>", "noun": "dog"}


def _write(file: Path, *lines: str) -> Path:
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_every_prefix_is_balanced_and_the_same() -> None:
    """A partial run compares the same prompts, no checkpoint more often than another."""
    cases = miniature_cases(500)
    assert cases[:37] == miniature_cases(37)
    counts = Counter(case.checkpoint_id for case in cases[:37])
    assert len(counts) == len(DESIGNS)
    assert max(counts.values()) - min(counts.values()) <= 1
    assert set(Counter(case.checkpoint_id for case in cases).values()) == {50}
    assert len({case.seed for case in cases}) == 500


def test_the_prompts_differ_in_the_one_word() -> None:
    """The trigger stands once, where the noun is in the plain prompt."""
    for case in miniature_cases(200):
        assert case.prompt.count(case.trigger) == 1
        assert case.prompt.replace(case.trigger, case.noun) == case.plain_prompt


def test_scenes_and_styles_are_the_subjects_own_and_others() -> None:
    """Half of the scenes were trained, a quarter of the styles are new, in all combinations."""
    pairs = Counter(
        (case.scene in design(case.checkpoint_id).scenes, case.style == subject.style)
        for case in miniature_cases(480)
        for subject in [design(case.checkpoint_id)]
    )
    assert pairs == {(True, True): 180, (False, True): 180, (True, False): 60, (False, False): 60}


def test_no_cases_are_refused() -> None:
    """A run over nothing is a mistake."""
    with pytest.raises(ValueError, match="at least one"):
        miniature_cases(0)


def test_a_file_needs_four_fields(tmp_path: Path) -> None:
    """The rest follows from them and from the place in the file."""
    file = _write(tmp_path / "c.jsonl", json.dumps(_LINE), "", json.dumps(_LINE | {"seed": 7}))
    first, second = read_cases(file)
    assert (first.plain_prompt, first.seed, first.scene) == ("a photo of dog", 0, "")
    assert second.seed == 7


def test_a_noun_behind_the_trigger_is_said_once_in_the_plain_prompt(tmp_path: Path) -> None:
    """As DreamBooth writes prompts."""
    line = _LINE | {"prompt": "a <sks> dog and a <sks>"}
    (case,) = read_cases(_write(tmp_path / "c.jsonl", json.dumps(line)))
    assert case.plain_prompt == "a dog and a dog"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "no JSON object"),
        (json.dumps(_LINE | {"noun": ""}), "noun"),
        (json.dumps(_LINE | {"prompt": "a dog"}), "does not say its trigger"),
        (json.dumps(_LINE | {"seed": -1}), "seed"),
    ],
    ids=["json", "empty", "trigger", "seed"],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    """File, line number and field are in the message."""
    file = _write(tmp_path / "c.jsonl", json.dumps(_LINE), line)
    with pytest.raises(InvalidInput, match=rf"c\.jsonl:2: .*{said}"):
        read_cases(file)


def test_an_empty_or_missing_file_is_refused(tmp_path: Path) -> None:
    """Nothing to measure is said before anything runs."""
    with pytest.raises(InvalidInput, match="empty"):
        read_cases(_write(tmp_path / "empty.jsonl", ""))
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_cases(tmp_path / "none.jsonl")
