"""Equations 2–3 with any rounder: what is protected is exact, what is not is rounded."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Literal

import pytest
import torch
from torch import Tensor, nn
from unit.taq.models import TOKENS, assert_similar
from unit.taq.simulations import (
    TIMESTEPS,
    first_token,
    observations,
    picture,
    precise_unet,
    predicted,
    random,
    shared,
)

from personalq.taq import ContextError, TextContext
from personalq.taq.equations import attend_text, protect_rows
from personalq.taq.simulation import Method, method, project_text
from personalq.taq.simulation.attention import AttentionRounders, SimulatedAttention
from personalq.taq.simulation.layers import Clock
from personalq.taq.simulation.rounders import (
    AfterFirst,
    Exactly,
    PerPrompt,
    PerRow,
    PowersOfTwo,
    Rounder,
    ZeroToRowMax,
)

ATTN = "mid_block.attentions.0.transformer_blocks.0.attn2"
PROTECTED = torch.tensor([[0, 1, 1, 0, 0], [0, 0, 0, 0, 1]], dtype=torch.bool)
#: K, V and A of cross-attention are rounded, nothing else
ALONE = Method(
    name="alone",
    weight_bits=8,
    input_bits=None,
    cross_row_bits=4,
    self_row_bits=None,
    cross_bits=4,
    self_bits=None,
    rows="row",
    probabilities="row",
    protected="trigger",
)


class _Spy:
    """Rounds as another does and keeps what it returned."""

    def __init__(self, rounder: Rounder) -> None:
        self.rounder, self.seen = rounder, torch.empty(0)

    def __call__(self, x: Tensor, step: int) -> Tensor:
        self.seen = x
        return self.rounder(x, step)


def _processor(
    rounders: AttentionRounders,
    protects: tuple[Literal["k", "v", "a"], ...] = ("k", "v", "a"),
    *,
    rest: bool = False,
) -> SimulatedAttention:
    return SimulatedAttention(
        name="attn",
        is_cross=True,
        rounders=rounders,
        clock=Clock(TIMESTEPS),
        protects=protects,
        ranges_without_protected=rest,
    )


def _qkv() -> tuple[Tensor, Tensor, Tensor]:
    return random(2, 3, 4, 8), random(2, 3, 5, 8, seed=1), random(2, 3, 5, 8, seed=2)


def _attend(processor: SimulatedAttention, mask: Tensor | None) -> Tensor:
    return processor._attend(*_qkv(), mask, scale=0.35, bias=None)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("mask", [None, PROTECTED], ids=["none", "protected"])
def test_per_row_scales_are_the_served_attention(bits: int, mask: Tensor | None) -> None:
    """Rounding at every call gives what rounding once per prompt gives."""
    rows = PerRow(bits)
    processor = _processor(AttentionRounders(rows, rows, rows, ZeroToRowMax(bits)))
    q, k, v = _qkv()
    nothing = torch.zeros_like(PROTECTED)
    k_kept, v_kept = (protect_rows(x, nothing if mask is None else mask, bits) for x in (k, v))
    served = attend_text(q, k_kept, v_kept, mask, scale=0.35, row_bits=bits, probability_bits=bits)
    assert_similar(_attend(processor, mask), served)


@pytest.mark.parametrize("rounder", [PerRow(4), PerPrompt(4)], ids=["row", "tensor"])
def test_protected_rows_are_exact_and_others_rounded(rounder: Rounder) -> None:
    """Bit by bit; without a mask, or where K is not among what is protected, all are rounded."""
    processor = _processor(AttentionRounders(k=rounder))
    k = _qkv()[1]
    kept = processor._rows(rounder, k, PROTECTED, kept=True)
    for prompt, token in PROTECTED.nonzero().tolist():
        assert torch.equal(kept[prompt, :, token], k[prompt, :, token])
    for prompt, token in (~PROTECTED).nonzero().tolist():
        assert not torch.equal(kept[prompt, :, token], k[prompt, :, token])
    rounded = rounder(k, 0)
    assert torch.equal(processor._rows(rounder, k, None, kept=True), rounded)
    assert torch.equal(processor._rows(rounder, k, PROTECTED, kept=False), rounded)


def test_per_row_scales_know_nothing_of_the_other_rows() -> None:
    """Protecting one row changes no other; with one scale for all and the rest's range, it does."""
    k = _qkv()[1]
    k[:, :, 2] *= 30
    outlier = torch.zeros_like(PROTECTED)
    outlier[:, 2] = True
    others = [0, 1, 3, 4]
    for rounder, rest, changes in (
        (PerRow(4), False, False),
        (PerRow(4), True, False),
        (PerPrompt(4), False, False),
        (PerPrompt(4), True, True),
    ):
        processor = _processor(AttentionRounders(), rest=rest)
        with_, without = (
            processor._rows(rounder, k, m, kept=True)[:, :, others] for m in (outlier, None)
        )
        assert torch.equal(with_, without) != changes
        if changes:
            x = k[:, :, others]
            assert (with_ - x).norm() < 0.2 * (without - x).norm()


def test_protected_columns_are_exact_and_others_rounded() -> None:
    """The output is that of Ã, written by hand; DGQ takes δ from the other columns."""
    q, k, v = _qkv()
    a = ((q * 0.35) @ k.transpose(-1, -2)).softmax(-1)
    columns = PROTECTED[:, None, None, :]
    uniform = ZeroToRowMax(4)
    kept = torch.where(columns, a, uniform(a, 0)) @ v
    assert_similar(_attend(_processor(AttentionRounders(a=uniform)), PROTECTED), kept)
    powers = PowersOfTwo(4)
    kept = torch.where(columns, a, powers(a, 0, PROTECTED)) @ v
    assert_similar(_attend(_processor(AttentionRounders(a=powers)), PROTECTED), kept)
    unprotected = _attend(_processor(AttentionRounders(a=powers), ("k", "v")), PROTECTED)
    assert_similar(unprotected, powers(a, 0) @ v)


def test_values_are_rounded_where_only_k_and_a_are_protected() -> None:
    """DGQ keeps the start token's K row and its column of A, not its V row."""
    q, k, v = _qkv()
    every = torch.ones_like(PROTECTED)
    rows = AttentionRounders(k=PerRow(4), v=PerRow(4), a=ZeroToRowMax(4))
    a = ((q * 0.35) @ k.transpose(-1, -2)).softmax(-1)
    assert_similar(_attend(_processor(rows, ("k", "a")), every), a @ PerRow(4)(v, 0))
    assert_similar(_attend(_processor(rows), every), a @ v)


def test_precise_attention_is_attention() -> None:
    """Without rounders, whatever the mask."""
    q, k, v = _qkv()
    expected = ((q * 0.35) @ k.transpose(-1, -2)).softmax(-1) @ v
    for mask in (None, PROTECTED):
        assert_similar(_attend(_processor(AttentionRounders()), mask), expected)


def test_a_bias_reaches_the_scores() -> None:
    """A masked key gets no probability, rounded or not."""
    bias = torch.zeros(2, 1, 1, 5)
    bias[..., 3] = -1e9
    q, k, v = _qkv()
    a = ((q * 0.35) @ k.transpose(-1, -2) + bias).softmax(-1)
    for rounder in (Exactly(), ZeroToRowMax(4)):
        processor = _processor(AttentionRounders(a=rounder))
        out = processor._attend(q, k, v, None, scale=0.35, bias=bias)
        assert_similar(out, rounder(a, 0) @ v)


def test_protecting_every_token_undoes_what_was_done_to_the_text() -> None:
    """Only Q is rounded then; a mask of none is no mask."""
    unet, x = shared(ALONE), picture()
    every, none = torch.ones(2, TOKENS, dtype=torch.bool), torch.zeros(2, TOKENS, dtype=torch.bool)
    only_q = copy.deepcopy(unet)
    for module in only_q.modules():
        processor = getattr(module, "processor", None)
        if isinstance(processor, SimulatedAttention):
            rounders = AttentionRounders(q=processor.rounders.q)
            module.set_processor(replace(processor, rounders=rounders))
    assert_similar(predicted(unet, x, every), predicted(only_q, x))
    assert torch.equal(predicted(unet, x, none), predicted(unet, x))
    assert not torch.equal(predicted(unet, x, every), predicted(unet, x))


def test_text_is_projected_unrounded_to_the_context() -> None:
    """K and V are rounded at every call, since some methods round them by the step."""
    unet = shared(ALONE)
    text = picture()[2]
    attn = unet.get_submodule(ATTN)
    context = project_text(unet, text, first_token())
    expected = attn.to_k(text).unflatten(-1, (attn.heads, -1)).transpose(1, 2)
    assert torch.equal(context.keys[ATTN], expected)
    with torch.no_grad():
        once = unet(*picture(), cross_attention_kwargs={"text": project_text(unet, text)}).sample
        assert torch.equal(once, unet(*picture()).sample)
    with pytest.raises(ContextError):
        project_text(nn.Linear(2, 2), text)


def test_the_start_token_is_projected_from_unrounded_states() -> None:
    """MixDQ: its rows of K and V are exact, the others come from states in the others' range."""
    of = method("mixdq-bos", 8, 8)
    unet = shared(of)
    text = picture()[2]
    rounded_text = shared(of.but(text_inputs="rounded", protected="none"))
    attn, other = unet.get_submodule(ATTN), rounded_text.get_submodule(ATTN)
    assert isinstance(attn.to_k.rounder, AfterFirst)
    assert not isinstance(other.to_k.rounder, AfterFirst)
    precise = text @ attn.to_k.weight.T
    context = TextContext.project(unet, text, first_token())
    k = context.keys[ATTN].transpose(1, 2).flatten(2)
    worse = TextContext.project(rounded_text, text).keys[ATTN].transpose(1, 2).flatten(2)
    assert_similar(k[:, 0], precise[:, 0], within=1e-6)
    assert not torch.allclose(worse[:, 0], precise[:, 0], rtol=1e-4)
    lost, lost_by_whole_range = ((x - precise)[:, 1:].norm() for x in (k, worse))
    assert lost > 0
    assert lost < 0.7 * lost_by_whole_range


def test_dgq_groups_leave_the_start_token_out() -> None:
    """K has ranges of the other tokens; V is rounded with all of them."""
    attn = shared(method("dgq", 8, 4)).get_submodule(ATTN)
    rounders = attn.processor.rounders
    assert isinstance(rounders.k, AfterFirst)
    assert not isinstance(rounders.v, AfterFirst)
    k = precise_unet().get_submodule(ATTN).to_k(picture()[2])
    k = k.unflatten(-1, (attn.heads, -1)).transpose(1, 2)
    assert torch.equal(rounders.k(k, 0)[:, :, 0], k[:, :, 0])
    self_attn = shared(method("dgq", 8, 4)).get_submodule(ATTN.replace("attn2", "attn1"))
    assert not isinstance(self_attn.processor.rounders.k, AfterFirst)


def test_the_step_reaches_the_attention() -> None:
    """Ranges by step: the same tensors at another time are rounded otherwise."""
    processor = shared(method("tfmq-dm", 8, 4)).get_submodule(ATTN).processor
    assert isinstance(processor, SimulatedAttention)
    spy = _Spy(processor.rounders.q)
    q, k, v = _qkv()
    results = []
    for processor.clock.step in (0, 2):
        results.append(spy(3 * q, processor.clock.step))
    assert len(observations().ranges(f"{ATTN}.q")) == len(TIMESTEPS)
    assert not torch.equal(*results)
    assert torch.equal(spy.seen, 3 * q)
    assert k.shape == v.shape
