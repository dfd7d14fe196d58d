"""The C++ kernels compute what the equations say; without them everything still runs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from unit.taq.models import assert_similar, inputs, predict, ranges_of, tiny_unet

from personalq.taq import PROFILES, native, quantize_
from personalq.taq.equations import attend_image, attend_text
from personalq.taq.kernels import quantize_input, use_kernel
from personalq.taq.modules import InputGrid
from personalq.taq.native import build

FLIPS = 5e-3  # a sum taken in another order may round a value at a tie to the next code

native_only = pytest.mark.skipif(build.library() is None, reason="no AVX-512 VNNI or no g++ here")


def _random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _heads(rows: int, width: int, *, seed: int) -> Tensor:
    """(2, 3, rows, width), heads side by side as a projection writes them."""
    return _random(2, rows, 3, width, seed=seed).transpose(1, 2)


@native_only
@pytest.mark.parametrize(("queries", "keys", "width"), [(64, 64, 40), (33, 70, 8), (1, 130, 100)])
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_self_attention(queries: int, keys: int, width: int, bits: int, dtype: torch.dtype) -> None:
    """Rows, keys and widths that no block divides; V by channel."""
    q, k, v = (
        _heads(rows, width, seed=seed).to(dtype) for seed, rows in enumerate((queries, keys, keys))
    )
    k[:, :, 0] *= 8  # rows of different reach
    assert native.supports_attention(q, k, v)

    def result() -> Tensor:
        return attend_image(q, k, v, scale=0.2, row_bits=bits, probability_bits=bits)

    computed = result()
    with use_kernel("reference"):
        # The reference rounds to the short type more than once on its way.
        q, k, v = q.float(), k.float(), v.float()
        expected = result()
    assert computed.dtype == dtype
    assert_similar(computed.float(), expected, within=FLIPS * (1 if bits == 8 else 8))


@native_only
@pytest.mark.parametrize(("queries", "tokens", "width"), [(64, 77, 40), (6, 5, 8), (3, 154, 160)])
@pytest.mark.parametrize("protects", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_cross_attention(
    queries: int, tokens: int, width: int, protects: bool, dtype: torch.dtype
) -> None:
    """Protected columns of A are exact, the others rounded, at bits where it shows."""
    q, k, v = (
        _heads(rows, width, seed=seed).to(dtype)
        for seed, rows in enumerate((queries, tokens, tokens))
    )
    mask = _random(2, tokens, seed=3) > 0.5 if protects else None

    def result() -> Tensor:
        return attend_text(q, k, v, mask, scale=0.2, row_bits=4, probability_bits=3)

    computed = result()
    with use_kernel("reference"):
        q, k, v = q.float(), k.float(), v.float()
        expected = result()
        mask = None if protects else torch.ones(2, tokens, dtype=torch.bool)
        other = result()
    assert computed.dtype == dtype
    assert_similar(computed.float(), expected, within=4 * FLIPS)
    with pytest.raises(AssertionError):  # the mask matters at these bits
        assert_similar(computed.float(), other, within=4 * FLIPS)


@native_only
def test_extreme_values() -> None:
    """Silent rows and scores hundreds apart: finite, and as the reference computes them."""
    q, k, v = _heads(16, 32, seed=0), _heads(80, 32, seed=1), _heads(80, 32, seed=2)
    q[:, :, 0], k[:, :, 1], v[..., 3] = 0.0, 0.0, 0.0
    q[:, :, 1] *= 1e4

    def result() -> Tensor:
        return attend_image(q, k, v, scale=0.2, row_bits=8, probability_bits=8)

    computed = result()
    with use_kernel("reference"):
        assert_similar(computed, result(), within=FLIPS)


@pytest.mark.parametrize("factors", [None, torch.linspace(0.5, 2, 36)])
@pytest.mark.parametrize("layout", ["rows", "image", "channels last"])
def test_codes(factors: Tensor | None, layout: str) -> None:
    """The codes of a layer's input, whatever its layout; those beyond the range are clipped."""
    x = _random(2, 36, 5, 3) * 2
    spread = None if factors is None else factors.view(1, -1, 1, 1)
    if layout == "rows":
        x, spread = x.flatten(2).transpose(1, 2).contiguous(), factors
    elif layout == "channels last":
        x = x.contiguous(memory_format=torch.channels_last)
    grid = InputGrid(0.013, 101, 8, spread)
    computed = quantize_input(x, grid)
    with use_kernel("reference"):
        expected = quantize_input(x, grid)
    assert computed.shape == x.shape
    assert (computed.int() - expected.int()).abs().max() <= 1
    assert (computed != expected).float().mean() < 0.01
    assert computed.min() == 0
    assert computed.max() == 255


@pytest.mark.parametrize("missing", ["compiler", "instructions", "broken compiler"])
def test_without_them_everything_runs(
    missing: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A machine without g++, or with another CPU, computes the same, and the log says why."""
    unet = tiny_unet()
    quantize_(unet, PROFILES["w4a8"], ranges_of(unet))
    expected = predict(unet, inputs())
    if missing == "compiler":
        monkeypatch.setenv("CXX", "no-such-compiler")
    elif missing == "instructions":
        monkeypatch.setattr(torch.cpu, "get_capabilities", dict)
    else:
        monkeypatch.setenv("CXX", "false")
    build.library.cache_clear()
    try:
        with caplog.at_level("INFO"):
            assert build.library() is None
        assert "native kernels are off" in caplog.text
        assert_similar(predict(unet, inputs()), expected, within=0.05)
    finally:
        monkeypatch.undo()
        build.library.cache_clear()
