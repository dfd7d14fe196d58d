"""The paper's templated calibration prompts."""

from __future__ import annotations

from personalq.quantizer.prompts import CLASSES, calibration_prompts
from personalq.taq.rounding.calibration import ACTIONS, SCENES, STYLES, TIMES


def test_the_pools_have_the_papers_sizes() -> None:
    """Table 11: 16 scenes, 8 times, 13 styles, 12 actions; 20 categories."""
    assert [len(set(p)) for p in (SCENES, TIMES, STYLES, ACTIONS, CLASSES)] == [16, 8, 13, 12, 20]


def test_a_prompt_has_one_of_each_category() -> None:
    """The template of Appendix D, with the name in the place of the noun."""
    (prompt,) = calibration_prompts(1, names=["<bear-v4>"])
    assert prompt.startswith("a photo of a <bear-v4>, ")
    for pool in (SCENES, TIMES, STYLES, ACTIONS):
        assert sum(f", {value}" in prompt for value in pool) >= 1


def test_prompts_are_always_the_same_and_vary_among_themselves() -> None:
    """Determinism by seed; names take turns."""
    prompts = calibration_prompts(20)
    assert prompts == calibration_prompts(20)
    assert prompts != calibration_prompts(20, seed=1)
    assert len(set(prompts)) == 20
    assert {p.removeprefix("a photo of a ").split(",")[0] for p in prompts} == set(CLASSES)
