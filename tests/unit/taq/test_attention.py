"""Equations 2–3, literally, and the text context that carries them through the UNet."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from unit.taq.models import (
    TEXT_WIDTH,
    TOKENS,
    assert_similar,
    inputs,
    predict,
    ranges_of,
    relative_error,
    tiny_unet,
)

from personalq.taq import PROFILES, ContextError, Recipe, TextContext, WidthMismatchError, quantize_
from personalq.taq.equations import (
    attend_text,
    protect,
    protect_columns,
    protect_rows,
    quantize_probabilities,
    quantize_rows,
)
from personalq.taq.quantizers import dequantize, fit, quantize, round_trip, value_range

#: what the attention does at 8 bits, around layers in full precision
ATTENTION_ONLY = replace(PROFILES["w8a8"], name="attention-only", weight_bits=None)
#: A sum taken in another order may round a value at a tie to the next code.
FLIPS = 5e-3


def _random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _quantized_row(row: list[float], bits: int, *, probabilities: bool) -> list[float]:
    """Q(row) by plain arithmetic."""
    last = 2**bits - 1 if probabilities else 2 ** (bits - 1) - 1
    step = max(abs(v) for v in row) / last
    return [round(v / step) * step for v in row]


@pytest.mark.parametrize("bits", [4, 8])
def test_equations_2_and_3_literally(bits: int) -> None:
    """Trigger-aware attention equals the equations written as loops over rows and columns."""
    batch, heads, queries, tokens, d = 2, 2, 3, 5, 4
    q, k, v = (_random(batch, heads, n, d, seed=i) for i, n in enumerate((queries, tokens, tokens)))
    mask = torch.tensor([[0, 1, 1, 0, 0], [0, 0, 0, 0, 1]], dtype=torch.bool)

    expected = torch.zeros(batch, heads, queries, d)
    for b in range(batch):
        for h in range(heads):

            def tilde(x: Tensor, b: int = b, h: int = h) -> list[list[float]]:
                return [
                    row if mask[b, i] else _quantized_row(row, bits, probabilities=False)
                    for i, row in enumerate(x[b, h].tolist())
                ]

            k_tilde, v_tilde = tilde(k), tilde(v)
            for n in range(queries):
                q_tilde = _quantized_row(q[b, h, n].tolist(), bits, probabilities=False)
                scores = [
                    math.fsum(x * y for x, y in zip(q_tilde, row, strict=True)) / math.sqrt(d)
                    for row in k_tilde
                ]
                total = math.fsum(math.exp(s) for s in scores)
                a = [math.exp(s) / total for s in scores]
                a_q = _quantized_row(a, bits, probabilities=True)
                a_tilde = [a[i] if mask[b, i] else a_q[i] for i in range(tokens)]
                for j in range(d):
                    expected[b, h, n, j] = math.fsum(
                        a_tilde[i] * v_tilde[i][j] for i in range(tokens)
                    )

    computed = attend_text(
        q,
        protect_rows(k, mask, bits),
        protect_rows(v, mask, bits),
        mask,
        scale=1 / math.sqrt(d),
        row_bits=bits,
        probability_bits=bits,
    )
    assert_similar(computed, expected)


def test_protect_keeps_what_the_mask_marks() -> None:
    """M ⊙ x + (1 − M) ⊙ x_q, number by number."""
    mask = torch.tensor([True, False])
    assert protect(mask, torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])).tolist() == [1, 20]


@pytest.mark.parametrize("bits", [4, 8])
def test_the_short_forms_are_the_uniform_quantizer(bits: int) -> None:
    """Rows and probabilities take fewer passes than the general quantizer, with the same result."""
    x = _random(2, 3, 5, 16)
    assert_similar(quantize_rows(x, bits), round_trip(x, bits, "row", symmetric=True))
    a = x.softmax(-1)
    grid = fit(*value_range(a, "row"), bits, symmetric=False)
    assert_similar(quantize_probabilities(a, bits), dequantize(quantize(a, grid), grid))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_even_attention_over_many_keys_survives_every_dtype(dtype: torch.dtype) -> None:
    """With 4096 keys a step of 8 bits is far below the least normal float16."""
    a = (0.3 * _random(4, 4096)).softmax(-1)
    a_q = quantize_probabilities(a.to(dtype), 8).float()
    assert relative_error(a_q, a) < 0.01
    x = _random(4, 64) / 4096
    assert relative_error(quantize_rows(x.to(dtype), 8).float(), x) < 0.015


def test_without_bits_nothing_changes() -> None:
    """None is full precision."""
    x, mask = _random(2, 3, 5, 16), torch.zeros(2, 5, dtype=torch.bool)
    assert quantize_rows(x, None) is x
    assert protect_rows(x, mask, None) is x
    assert protect_columns(x, None, None) is x


@pytest.mark.parametrize("tokens", [7, 300])
def test_large_attention_is_computed_in_pieces(
    tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cutting the scores into pieces changes nothing, wherever the cuts fall."""
    q, k, v = (
        _random(2, 3, 50, 8),
        _random(2, 3, tokens, 8, seed=1),
        _random(2, 3, tokens, 8, seed=2),
    )
    mask = _random(2, tokens, seed=3) > 1
    bias = _random(2, 1, 1, tokens, seed=4)

    def result() -> Tensor:
        return attend_text(q, k, v, mask, scale=0.3, row_bits=8, probability_bits=8, bias=bias)

    whole = result()
    for piece in (1, 120, 4096):
        monkeypatch.setattr("personalq.taq.equations.PIECE", piece)
        assert_similar(result(), whole, within=FLIPS)


def test_a_precise_attention_is_diffusers_own() -> None:
    """Without bits the processor computes what diffusers computes."""
    unet = tiny_unet()
    x = inputs()
    expected = predict(unet, x)
    full = replace(PROFILES["full"])
    quantize_(unet, full, {})
    assert_similar(predict(unet, x), expected, within=1e-3)  # the rest is rounded to float16
    assert_similar(
        predict(unet, x, cross_attention_kwargs={"text": TextContext.project(unet, x[2])}),
        predict(unet, x),
    )


@pytest.mark.parametrize("recipe", [ATTENTION_ONLY, PROFILES["w8a8"]], ids=lambda r: r.name)
def test_text_projected_once_equals_text_projected_at_every_step(recipe: Recipe) -> None:
    """K̃ and Ṽ computed once per prompt give exactly the output of computing them in the call."""
    unet = tiny_unet()
    quantize_(unet, recipe, ranges_of(unet))
    x = inputs()
    context = TextContext.project(unet, x[2])
    assert torch.equal(predict(unet, x, cross_attention_kwargs={"text": context}), predict(unet, x))


def test_requests_with_different_spans_share_a_batch() -> None:
    """Each row of a batch is what the request gives alone, under its own mask."""
    unet = tiny_unet()
    quantize_(unet, ATTENTION_ONLY, {})
    latents, t, text = inputs(batch=3)
    mask = torch.zeros(3, TOKENS, dtype=torch.bool)
    mask[0, 2:5] = True
    mask[1, 7] = True
    alone = [TextContext.project(unet, text[i : i + 1], mask[i : i + 1]) for i in range(3)]
    together = TextContext.cat(alone)
    assert len(together) == 3
    batch = predict(unet, (latents, t, text), cross_attention_kwargs={"text": together})
    for i, context in enumerate(alone):
        one = (latents[i : i + 1], t[i : i + 1], text[i : i + 1])
        for same in (context, together[i]):
            output = predict(unet, one, cross_attention_kwargs={"text": same})
            assert_similar(output, batch[i : i + 1], within=FLIPS)
    assert torch.equal(together[[2, 0]].mask, mask[[2, 0]])
    assert torch.equal(together[1:].mask, mask[1:])
    assert torch.equal(together[-1].mask, mask[2:])


def test_protection_brings_the_output_closer_to_full_precision() -> None:
    """At 4 bits, protecting every token undoes what quantized text did, and half of them, half."""
    recipe = replace(
        ATTENTION_ONLY, activation_bits=3, cross_probability_bits=3, self_probability_bits=None
    )
    unet, precise = tiny_unet(), tiny_unet()
    quantize_(unet, recipe, {})
    quantize_(precise, replace(PROFILES["full"]), {})
    x = inputs()
    expected = predict(precise, x)
    errors = []
    for protected in (0, TOKENS // 2, TOKENS):
        mask = torch.arange(TOKENS).expand(2, -1) < protected
        context = TextContext.project(unet, x[2], mask)
        errors.append(
            relative_error(predict(unet, x, cross_attention_kwargs={"text": context}), expected)
        )
    assert errors[0] > errors[2]


def test_a_context_moves_between_dtypes() -> None:
    """`to` changes keys and values, never the mask."""
    unet = tiny_unet()
    quantize_(unet, ATTENTION_ONLY, {})
    context = TextContext.project(unet, inputs()[2]).to("cpu", torch.bfloat16)
    assert {k.dtype for k in context.keys.values()} == {torch.bfloat16}
    assert context.mask.dtype == torch.bool
    assert context.size_bytes == sum(2 * 2 * k.numel() for k in context.keys.values()) + 2 * TOKENS


def test_mistakes_with_contexts_are_named() -> None:
    """Wrong batch, wrong mask, another UNet, another width, an unprepared UNet."""
    unet = tiny_unet()
    x = inputs()
    with pytest.raises(ContextError, match="quantize_"):
        TextContext.project(unet, x[2])
    quantize_(unet, ATTENTION_ONLY, {})
    context = TextContext.project(unet, x[2])
    with pytest.raises(ContextError, match="3 prompts, the batch 2"):
        predict(unet, x, cross_attention_kwargs={"text": TextContext.cat([context, context[0]])})
    with pytest.raises(ContextError, match="trigger_mask"):
        TextContext.project(unet, x[2], torch.zeros(2, TOKENS + 1))
    with pytest.raises(ContextError, match="another UNet"):
        predict(unet, x, cross_attention_kwargs={"text": replace(context, keys={}, values={})})
    with pytest.raises(ContextError, match="cannot be batched"):
        TextContext.cat([context, replace(context, keys={})])
    with pytest.raises(ContextError):
        TextContext.cat([])
    with pytest.raises(
        WidthMismatchError, match=f"64 wide, the UNet's cross-attention {TEXT_WIDTH}"
    ):
        TextContext.project(unet, torch.zeros(2, TOKENS, 64))
