"""The sensitivity study rounds what it says it rounds, and nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from support.fidelity import ColourScorer, yard
from support.fonts import needs_font
from torch import nn

from personalq.bench.fidelity.generating import Engine, Sampling, draw
from personalq.bench.fidelity.models import Model
from personalq.bench.fidelity.prompts import Case, miniature_cases
from personalq.bench.fidelity.sensitivity import (
    TokenGroup,
    draw_groups,
    measure,
    noun_follows,
    precise_unet,
    run_study,
    token_groups,
    with_rounded_rows,
)
from personalq.bench.fidelity.sensitivity_report import read_measured
from personalq.miniature.places import base_dir, checkpoints_dir
from personalq.taq import TextContext
from personalq.taq.protection import Protected
from personalq.taq.quantizers import round_trip

torch.set_num_threads(1)

TOKENS = 77
ONE_STEP = Sampling(steps=1)


@pytest.fixture(scope="module")
def model() -> Model:
    """The miniature and its checkpoints."""
    return Model(base_dir(), checkpoints_dir())


@pytest.fixture(scope="module")
def unet(model: Model) -> nn.Module:
    """The base's UNet as the study uses it."""
    return precise_unet(model, "")


@pytest.fixture(scope="module")
def case() -> Case:
    """Of a LoRA that has no embedding of its own: its trigger is many tokens."""
    return miniature_cases(1)[0]


@pytest.mark.parametrize(
    ("prompt", "noun_tokens"),
    [
        ("a <bear-v1> in the garden, photo style", 0),
        ("a photo of a <bear-v1> bear, april-trained", 1),
        ("<bear-v1>", 0),
    ],
    ids=["in the noun's place", "noun follows", "alone"],
)
def test_groups_divide_the_prompt(model: Model, prompt: str, noun_tokens: int) -> None:
    """Every token is in one group; all words and one padding token come on top."""
    (tokenizer,) = model.base.text.tokenizers
    groups = token_groups(prompt, "<bear-v1>", "bear", tokenizer)
    extra = ("all words", "one padding")
    positions = [i for group in groups if group.kind not in extra for i in group.positions]
    assert sorted(positions) == list(range(TOKENS))
    kinds = {group.kind: group for group in groups}
    tokens = ["", *tokenizer.tokenize(prompt)]
    said = "".join(tokens[i].removesuffix("</w>") for i in kinds["trigger"].positions)
    assert said == "<bear-v1>"
    assert kinds["end"].positions == (len(tokens),)
    assert kinds["one padding"].positions == (len(tokens) + 1,)
    assert len(kinds["noun"].positions if "noun" in kinds else ()) == noun_tokens
    words = [group for group in groups if group.kind == "word"]
    assert Counter(i for word in words for i in word.positions) == Counter(
        kinds["all words"].positions if words else ()
    )
    assert {word.label for word in words} <= {*prompt.split(), ","}


def test_only_the_groups_rows_are_rounded() -> None:
    """The others are equal bit by bit, and a group's are what the quantizer makes of them."""
    torch.manual_seed(0)
    shape = (1, 2, 9, 4)  # heads, tokens, channels
    keys, values = ({"a": torch.randn(shape), "b": torch.randn(shape)} for _ in "kv")
    text = TextContext(keys, values, torch.zeros(1, 9, dtype=torch.bool))
    groups = [(TokenGroup("x", "word", (2,)), 4), (TokenGroup("y", "trigger", (3, 5)), 2)]
    rounded = with_rounded_rows(text, groups)
    assert len(rounded) == 3
    for exact, found in ((keys, rounded.keys), (values, rounded.values)):
        for layer, x in exact.items():
            expected = x.repeat(3, 1, 1, 1)
            expected[1, :, [2]] = round_trip(x, 4)[0, :, [2]]
            expected[2, :, [3, 5]] = round_trip(x, 2)[0, :, [3, 5]]
            torch.testing.assert_close(found[layer], expected, rtol=0, atol=1e-6)
            assert torch.equal(found[layer][0], x[0])
            others = [i for i in range(9) if i not in (3, 5)]
            assert torch.equal(found[layer][2, :, others], x[0][:, others])


def test_the_unet_gets_those_rows_and_an_exact_empty_prompt(
    model: Model, unet: nn.Module, case: Case
) -> None:
    """Guidance's other half is in full precision for every group."""
    seen: list[TextContext] = []
    handle = unet.register_forward_pre_hook(
        lambda _, __, kwargs: seen.append(kwargs["cross_attention_kwargs"]["text"]),
        with_kwargs=True,
    )
    group = TokenGroup("x", "word", (3, 4))
    try:
        with model.personalized(unet, case.checkpoint_id):
            draw_groups(model, unet, case, [(group, 2)], ONE_STEP)
            none = Protected.parse("none")
            states = model.encode(unet, [case], none, guided=True).told.states
            exact = TextContext.project(unet, states)
    finally:
        handle.remove()
    for layer, k in exact.keys.items():
        empty, empty_again, asked, rounded = seen[0].keys[layer]
        assert torch.equal(empty, k[0])
        assert torch.equal(empty_again, k[0])
        assert torch.equal(asked, k[1])
        changed = (rounded != k[1]).any(-1).any(0).nonzero().flatten().tolist()
        assert changed == [3, 4]


def test_the_first_picture_is_the_full_precisions(
    model: Model, unet: nn.Module, case: Case
) -> None:
    """The same as the benchmark's own full precision draws; a rounded group moves it."""
    groups = [(TokenGroup("all", "all words", tuple(range(TOKENS))), 2)]
    with model.personalized(unet, case.checkpoint_id):
        pictures, latents = draw_groups(model, unet, case, groups, ONE_STEP)
    plain = model.unet("")
    with model.personalized(plain, case.checkpoint_id):
        engine = Engine(plain, Protected.parse("none"), simulated=False)
        expected = draw(model, engine, [case], ONE_STEP)
    assert np.abs(pictures[0].astype(int) - expected[0]).max() <= 1
    assert not torch.allclose(latents[0], latents[1], atol=1e-3)


def test_elements_of_a_batch_do_not_touch_each_other(
    model: Model, unet: nn.Module, case: Case
) -> None:
    """A group's picture is the same alone and beside others."""
    trigger, start = TokenGroup("t", "trigger", (2, 3)), TokenGroup("s", "bos", (0,))
    with model.personalized(unet, case.checkpoint_id):
        _, alone = draw_groups(model, unet, case, [(trigger, 2)], ONE_STEP)
        _, beside = draw_groups(model, unet, case, [(start, 2), (trigger, 2)], ONE_STEP)
    torch.testing.assert_close(beside[2], alone[1], rtol=1e-4, atol=1e-4)


@needs_font
def test_a_trained_trigger_is_one_token(model: Model) -> None:
    """A checkpoint with an embedding of its own: the group is that row."""
    (case,) = [case for case in miniature_cases(10) if case.checkpoint_id == "bear-v4"]
    unet = precise_unet(model, "")
    with model.personalized(unet, case.checkpoint_id):
        prompt = measure(model, unet, case, yard(ColourScorer(), 10), ONE_STEP, bits=(4,))
    (trigger,) = [group for group in prompt.groups if group.kind == "trigger"]
    assert [prompt.tokens[i - 1].removesuffix("</w>") for i in trigger.positions] == ["<bear-v4>"]


def test_the_control_names_the_noun_after_the_trigger(case: Case) -> None:
    """Nothing else changes, and nothing at all where it stands there already."""
    assert noun_follows(case).prompt == "a <bear-v1> bear in the garden, photo style"
    assert noun_follows(noun_follows(case)) == noun_follows(case)
    assert noun_follows(case).seed == case.seed


@needs_font
def test_both_settings_are_measured_and_reported(model: Model, tmp_path: Path) -> None:
    """Four files for two settings; progress counts prompts, of full fine-tunes too."""
    cases = miniature_cases(10)[7:8]  # dog-v3 has a UNet of its own
    measures = replace(yard(ColourScorer(), 10), cases=cases)
    done: list[int] = []
    work, out = tmp_path, tmp_path / "out"
    run_study(model, measures, ONE_STEP, work, out, lambda: done.append(1))
    assert len(done) == 2
    assert {file.stem for file in out.iterdir()} == {"sensitivity", "sensitivity-noun-follows"}
    (prompt,) = read_measured(work / "sensitivity-noun-follows.json")
    assert {"trigger", "noun", "bos", "end", "padding"} <= {g.kind for g in prompt.groups}
    assert {group.bits for group in prompt.groups} == {4, 2}
    of_trigger = {g.bits: g.latent_mse for g in prompt.groups if g.kind == "trigger"}
    assert of_trigger[2] > of_trigger[4] > 0
