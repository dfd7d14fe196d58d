"""What every Triton kernel must compute; `test_triton` runs it interpreted and on a GPU.

Not collected by its name: whether kernels are interpreted is decided where triton is imported,
once per process.
"""

from __future__ import annotations

import pytest
import torch
from torch import nn
from unit.taq.models import assert_similar, relative_error

from personalq.taq import Range
from personalq.taq.kernels import KERNELS, use_kernel
from personalq.taq.modules import QuantConv2d, QuantLinear, QuantModule
from personalq.taq.scheme import Scheme
from personalq.taq.triton import Triton

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
RANGE = Range(-3.1, 4.2)
#: where zero lies on the grid: inside, at either end
RANGES = {"z = 108": RANGE, "z = 0": Range(0.0, 4.2), "z = 255": Range(-3.1, 0.0)}
#: several blocks along each axis, and axes that no block divides
LAYERS = {
    "linear": nn.Linear(100, 40),
    "linear without bias": nn.Linear(64, 16, bias=False),
    "odd linear": nn.Linear(33, 7),
    "1x1": nn.Conv2d(40, 24, 1),
    "1x1 without bias, strided": nn.Conv2d(64, 32, 1, stride=2, bias=False),
    "3x3": nn.Conv2d(40, 24, 3, padding=1),
    "3x3 strided": nn.Conv2d(32, 20, 3, stride=2, padding=1),
    "odd 3x3": nn.Conv2d(33, 5, 3, padding=1),
    "unequal sides": nn.Conv2d(16, 8, (3, 5), stride=(2, 1), padding=(1, 2), dilation=(3, 2)),
}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is in the registry."""
    monkeypatch.setitem(KERNELS, "triton", Triton())


def _quantized(layer: nn.Module, scheme: Scheme, input_range: Range = RANGE) -> QuantModule:
    if isinstance(layer, nn.Conv2d):
        return QuantConv2d.from_conv2d(layer, scheme, input_range).to(DEVICE)
    assert isinstance(layer, nn.Linear)
    return QuantLinear.from_linear(layer, scheme, input_range).to(DEVICE)


def _input(layer: nn.Module) -> torch.Tensor:
    g = torch.Generator().manual_seed(0)
    if isinstance(layer, nn.Conv2d):
        return torch.randn(2, layer.in_channels, 5, 9, generator=g).to(DEVICE)
    assert isinstance(layer, nn.Linear)
    return torch.randn(3, 13, layer.in_features, generator=g).to(DEVICE)


def _both(layer: QuantModule, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    with use_kernel("triton"):
        computed = layer(x)
    with use_kernel("reference"):
        return computed, layer(x)


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("name", LAYERS)
def test_the_kernels_equal_the_reference(name: str, bits: int) -> None:
    """Integer products and dequantized float products agree to rounding, in every dtype."""
    layer, x = _quantized(LAYERS[name], Scheme(bits, 8)), _input(LAYERS[name])
    for dtype in DTYPES:
        computed, expected = _both(layer, x.to(dtype))
        assert computed.dtype == dtype
        assert_similar(computed, expected)


@pytest.mark.parametrize("scheme", [Scheme(8, 8), Scheme(4, 8), Scheme(4, 4)], ids=str)
@pytest.mark.parametrize("input_range", RANGES.values(), ids=RANGES)
@pytest.mark.parametrize("name", ["odd linear", "3x3 strided"])
def test_zero_may_lie_anywhere_on_the_grid(name: str, input_range: Range, scheme: Scheme) -> None:
    """The shift to signed codes and the padding hold for every zero point and width."""
    layer = _quantized(LAYERS[name], scheme, input_range)
    assert_similar(*_both(layer, _input(LAYERS[name])))


def test_padding_is_zero() -> None:
    """Borders of a convolution are those of the float layer, on an asymmetric grid too."""
    conv = nn.Conv2d(32, 48, 3, padding=1)
    layer = _quantized(conv, Scheme(8, 8), Range(-0.5, 7.0))
    x = torch.full((1, 32, 4, 4), 5.0)
    with torch.no_grad():
        assert_similar(_both(layer, x.to(DEVICE))[0].cpu(), conv(x), within=0.02)


def test_ties_round_upwards_and_the_ends_clip() -> None:
    """Codes are those of `quantize_input` exactly, halfway between two and beyond the ends."""
    linear = nn.Linear(1, 1, bias=False)
    nn.init.constant_(linear.weight, 1.27)
    step = 1 / 64
    layer = _quantized(linear, Scheme(8, 8), Range(-100 * step, 155 * step))
    assert layer.input_grid.scale == step
    x = torch.arange(-220, 330, device=DEVICE).view(-1, 1) * (step / 2)
    computed, _ = _both(layer, x)
    codes = (x / step + 0.5).floor().clamp(-100, 155)
    assert torch.equal((computed / 1.27 / step).round(), codes)


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("conv", [True, False])
def test_input_factors_multiply_first(conv: bool, bits: int) -> None:
    """An equalized layer, whose channels' ranges are far apart, is quantized with its factors."""
    layer: nn.Module = nn.Conv2d(40, 16, 3, padding=1) if conv else nn.Linear(40, 16)
    spread = torch.logspace(-1, 1, 40, device=DEVICE)
    x = _input(layer)
    x = x * (spread.view(1, -1, 1, 1) if conv else spread)
    channels = x.transpose(0, 1).flatten(1) if conv else x.flatten(0, 1).T
    low, high = channels.amin(1).tolist(), channels.amax(1).tolist()
    by_channel = Range(min(low), max(high), tuple(low), tuple(high))
    quantized = _quantized(layer, Scheme(bits, 8, equalized=True), by_channel)
    computed, expected = _both(quantized, x)
    assert_similar(computed, expected)
    assert quantized.input_factors is not None
    quantized.input_factors.fill_(1.0)
    assert relative_error(_both(quantized, x)[0], expected) > 0.1


@pytest.mark.parametrize("equalized", [True, False])
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("name", ["linear", "linear without bias", "odd linear", "1x1"])
def test_rows_have_scales_of_their_own(name: str, bits: int, equalized: bool) -> None:
    """Tokens or pixels of different reach, channels equalized or not."""
    layer, x = LAYERS[name], _input(LAYERS[name])
    dim = 1 if x.ndim == 4 else -1
    tokens = x.movedim(dim, -1)
    spread = torch.logspace(-2, 1, tokens[..., 0].numel(), device=DEVICE)
    x = (tokens * spread.view_as(tokens[..., :1])).movedim(-1, dim)
    channels = x.movedim(dim, 0).flatten(1)
    low, high = channels.amin(1).tolist(), channels.amax(1).tolist()
    by_channel = Range(min(low), max(high), tuple(low), tuple(high))
    scheme = Scheme(bits, 8, equalized=equalized, row_scaled=True)
    quantized = _quantized(layer, scheme, by_channel)
    for dtype in DTYPES:
        assert_similar(*_both(quantized, x.to(dtype)))


def test_memory_layouts_do_not_matter() -> None:
    """Rows of a slice, channels last or first; a convolution gives channels last."""
    linear = _quantized(LAYERS["linear"], Scheme(8, 8))
    wide = _input(LAYERS["linear"]).repeat(1, 1, 2)
    assert_similar(*_both(linear, wide[..., 1:101]))
    conv, x = _quantized(LAYERS["3x3"], Scheme(8, 8)), _input(LAYERS["3x3"])
    first, _ = _both(conv, x)
    last, _ = _both(conv, x.contiguous(memory_format=torch.channels_last))
    assert first.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(first, last)


def test_four_bits_stay_packed() -> None:
    """The kernel reads half a byte per weight; a Linear's and a 1×1's lie where they were."""
    for name, size in (("linear", 100 * 40 // 2), ("1x1", 40 * 24 // 2), ("3x3", 40 * 24 * 9 // 2)):
        layer = _quantized(LAYERS[name], Scheme(4, 8))
        _both(layer, _input(LAYERS[name]))
        codes = layer._prepacked["triton"].codes
        assert codes.dtype == torch.uint8
        assert codes.numel() == size
        assert (codes.data_ptr() == layer.weight.data_ptr()) == (name != "3x3")


def test_what_is_not_supported() -> None:
    """Weight-only layers and grouped convolutions are left to another kernel."""
    kernel, x = Triton(), _input(LAYERS["3x3"])
    assert kernel.supports(_quantized(LAYERS["3x3"], Scheme(8, 8)), x)
    assert not kernel.supports(_quantized(LAYERS["3x3"], Scheme(8, None)), x)
    grouped = nn.Conv2d(32, 32, 3, groups=2)
    assert not kernel.supports(_quantized(grouped, Scheme(8, 8)), x)
