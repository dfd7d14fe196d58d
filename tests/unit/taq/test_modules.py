"""Quantized layers: what they hold, and that every kernel computes what the reference does."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence

import pytest
import torch
from torch import nn
from unit.taq.models import assert_similar, relative_error

from personalq.taq import MissingRangeError, PreparedError, Range, RecipeError
from personalq.taq.kernels import KERNELS, choose, use_kernel
from personalq.taq.modules import QuantConv2d, QuantLinear, QuantModule
from personalq.taq.scheme import Scheme, is_pointwise

RANGE = Range(-3.1, 4.2)
SCHEMES = [Scheme(8, 8), Scheme(4, 8), Scheme(8, 4), Scheme(4, 4)]
CONVS = {
    "3x3": nn.Conv2d(32, 48, 3, padding=1),
    "strided": nn.Conv2d(32, 64, 3, stride=2, padding=1),
    "1x1 without bias": nn.Conv2d(64, 32, 1, bias=False),
    "odd channels": nn.Conv2d(33, 5, 3, padding=1),
}
LINEARS = {
    "plain": nn.Linear(64, 96),
    "without bias": nn.Linear(96, 32, bias=False),
    "odd": nn.Linear(33, 7),
}
LAYERS = {**CONVS, **LINEARS}


def _quantized(layer: nn.Module, scheme: Scheme, input_range: Range = RANGE) -> QuantModule:
    if isinstance(layer, nn.Conv2d):
        return QuantConv2d.from_conv2d(layer, scheme, input_range)
    assert isinstance(layer, nn.Linear)
    return QuantLinear.from_linear(layer, scheme, input_range)


def _input(layer: nn.Module, *, seed: int = 0) -> torch.Tensor:
    g = torch.Generator().manual_seed(seed)
    if isinstance(layer, nn.Conv2d):
        return torch.randn(2, layer.in_channels, 9, 7, generator=g)
    assert isinstance(layer, nn.Linear)
    return torch.randn(2, 5, layer.in_features, generator=g)


def _compare_kernels(
    layer: QuantModule, x: torch.Tensor, kernels: Sequence[str], *, within: float | None = None
) -> None:
    """Each computes what the reference does, in every dtype and layout; `within` is of float32."""
    layouts = [x, x.bfloat16()]
    if x.ndim == 4:
        layouts.append(x.contiguous(memory_format=torch.channels_last))
    for given in layouts:
        with use_kernel("reference"):
            expected = layer(given)
        for kernel in kernels:
            with use_kernel(kernel):
                computed = layer(given)
            assert computed.dtype == given.dtype
            bound = within if given.dtype == torch.float32 else None
            assert_similar(computed, expected, within=bound)


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda s: f"w{s.weight_bits}a{s.activation_bits}")
@pytest.mark.parametrize("name", LAYERS)
def test_integer_kernels_equal_the_reference(name: str, scheme: Scheme) -> None:
    """Integer products and dequantized float products agree to rounding."""
    layer, x = _quantized(LAYERS[name], scheme), _input(LAYERS[name])
    integers = [k for k, kernel in KERNELS.items() if kernel.supports(layer, x)]
    assert integers.pop() == "reference"
    if not integers:
        pytest.skip("this CPU or torch has no exact uint8 × int8 products")
    assert choose(layer, x)[0] == integers[0]
    _compare_kernels(layer, x, integers)


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("geometry", [(1, 0, 2), (2, 3, 1), (3, 1, 2)])
def test_native_products_of_any_geometry(geometry: tuple[int, int, int], bits: int) -> None:
    """Stride, padding and dilation, at sizes no block of the kernel divides."""
    stride, padding, dilation = geometry
    conv = nn.Conv2d(36, 50, (3, 2), stride=stride, padding=padding, dilation=dilation)
    layer, x = _quantized(conv, Scheme(bits, 8)), _input(conv)
    if "native" not in [k for k, kernel in KERNELS.items() if kernel.supports(layer, x)]:
        pytest.skip("neither AVX-512 VNNI nor AVX2 or no compiler here, or AMX")
    with use_kernel("reference"):
        expected = layer(x)
    with use_kernel("native"):
        assert_similar(layer(x), expected)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("bits", [8, 4])
def test_prepared_layers_hold_one_copy(name: str, bits: int) -> None:
    """What is computed stays the same; plain weights that nothing reads are gone, and say so."""
    layer, x = _quantized(LAYERS[name], Scheme(bits, 8)), _input(LAYERS[name])
    expected = layer(x)
    _, kernel = choose(layer, x)
    packs = kernel.pack_conv2d if isinstance(layer, QuantConv2d) else kernel.pack_linear
    is_packed = packs(layer) is not None  # type: ignore[arg-type]
    layer.prepare_(x)
    assert layer.is_prepared is is_packed
    assert torch.equal(layer(x), expected)
    layer.prepare_(x)
    layer.to("cpu")
    layer.load_state_dict({}, strict=False)
    assert torch.equal(layer(x), expected)
    if not is_packed:
        assert torch.equal(copy.deepcopy(layer)(x), expected)
        return
    for refused in (
        layer.integers,
        layer.state_dict,
        lambda: layer.to("meta"),
        lambda: layer.load_state_dict({"weight_scale": layer.weight_scale}, strict=False),
        lambda: copy.deepcopy(layer),
        lambda: pickle.dumps(layer),
    ):
        with pytest.raises(PreparedError):
            refused()
    with use_kernel("reference"), pytest.raises(PreparedError):
        layer(x)
    assert torch.equal(layer(x), expected)


def test_a_layer_that_ran_is_copied_without_what_was_prepared() -> None:
    """OneDNN's own tensors can be neither copied nor pickled."""
    layer, x = _quantized(LINEARS["plain"], Scheme(8, 8)), _input(LINEARS["plain"])
    expected = layer(x)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301 - ours
        assert torch.equal(other(x), expected)


def test_quantizing_again_forgets_the_prepared_weights() -> None:
    """A layer that ran takes the new weight."""
    linear, x = LINEARS["plain"], _input(LINEARS["plain"])
    layer = _quantized(linear, Scheme(8, 8))
    before = layer(x)
    layer.quantize_(2 * linear.weight, linear.bias, RANGE, 1)
    new = QuantLinear.like(linear, Scheme(8, 8))
    new.quantize_(2 * linear.weight, linear.bias, RANGE, 1)
    assert torch.equal(layer(x), new(x))
    assert relative_error(layer(x), before) > 0.1


@pytest.mark.parametrize("bits", [8, 4])
def test_an_input_of_another_width_is_refused(bits: int) -> None:
    """Whatever the kernel, never a number that means nothing."""
    for name in ("3x3", "plain"):
        layer = _quantized(LAYERS[name], Scheme(bits, 8))
        x = _input(LAYERS[name])
        wrong = torch.cat([x, x], dim=1 if x.ndim == 4 else -1)
        with pytest.raises((RuntimeError, ValueError)):
            layer(wrong)
        layer(x)


@pytest.mark.parametrize("bits", [8, 4])
def test_an_input_smaller_than_the_kernel_is_refused(bits: int) -> None:
    """As torch does: never an empty result; one as large as the kernel is computed."""
    layer = _quantized(nn.Conv2d(8, 8, 3), Scheme(bits, 8))
    for size in ((2, 2), (2, 9), (9, 1)):
        with pytest.raises((RuntimeError, ValueError)):
            layer(torch.zeros(1, 8, *size))
    assert layer(torch.zeros(1, 8, 3, 3)).shape == (1, 8, 1, 1)
    dilated = _quantized(nn.Conv2d(8, 8, 3, dilation=2, padding=1), Scheme(bits, 8))
    with pytest.raises((RuntimeError, ValueError)):
        dilated(torch.zeros(1, 8, 2, 2))
    assert dilated(torch.zeros(1, 8, 3, 3)).shape == (1, 8, 1, 1)


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("lost", ["layer", "weight", "weight_scale"])
def test_an_input_on_another_device_is_refused(lost: str, bits: int) -> None:
    """By an error that tells of the device, not by a crash."""
    layer = _quantized(LAYERS["3x3"], Scheme(bits, 8))
    if lost == "layer":
        layer.to("meta")
    else:
        setattr(layer, lost, getattr(layer, lost).to("meta"))
    with pytest.raises((RuntimeError, ValueError), match=r"(?i)meta"):
        layer(_input(LAYERS["3x3"]))


@pytest.mark.parametrize("name", LAYERS)
def test_eight_bits_are_close_to_the_float_layer(name: str) -> None:
    """W8A8 is within 2 % of full precision, W4A8 within 15 %, weight-only 8 bits within 1 %."""
    layer, x = LAYERS[name], _input(LAYERS[name]).clamp(RANGE.low, RANGE.high)
    with torch.no_grad():
        expected = layer(x)
        for scheme, bound in ((Scheme(8, 8), 0.02), (Scheme(4, 8), 0.15), (Scheme(8, None), 0.01)):
            assert relative_error(_quantized(layer, scheme)(x), expected) < bound


def test_the_reference_by_hand() -> None:
    """The equation x̂ Ŵᵀ + b on numbers one can check."""
    linear = nn.Linear(2, 1)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[1.27, -0.5]]))
        linear.bias.fill_(0.25)
    layer = QuantLinear.from_linear(linear, Scheme(8, 8), Range(-1.0, 1.55))  # s = 0.01, z = 100
    assert layer.weight.tolist() == [[127, -50]]
    assert layer.input_grid.zero_point == 100
    with use_kernel("reference"):
        y = layer(torch.tensor([[0.501, 9.0]]))  # 0.50 and, clipped, 1.55
    assert y.item() == pytest.approx(1.27 * 0.50 - 0.5 * 1.55 + 0.25, abs=1e-6)


def test_zero_padding_stays_zero() -> None:
    """A convolution pads with the zero point, so that borders are right on asymmetric grids."""
    conv = CONVS["3x3"]
    layer = QuantConv2d.from_conv2d(conv, Scheme(8, 8), Range(-0.5, 7.0))
    x = torch.full((1, 32, 4, 4), 5.0)
    with torch.no_grad():
        assert_similar(layer(x), conv(x), within=0.02)


def test_channels_of_different_range_are_equalized() -> None:
    """Where one channel is a hundred times wider than another, equalizing keeps the narrow one."""
    conv = nn.Conv2d(32, 16, 1)
    spread = torch.logspace(-1, 1, 32).view(1, -1, 1, 1)
    x = _input(conv) * spread
    with torch.no_grad():
        conv.weight.div_(spread)  # every channel matters as much as the others
        expected = conv(x)
    whole = Range(x.min().item(), x.max().item())
    low, high = (tuple(t.tolist()) for t in (x.amin((0, 2, 3)), x.amax((0, 2, 3))))
    by_channel = Range(whole.low, whole.high, low, high)
    plain = QuantConv2d.from_conv2d(conv, Scheme(8, 8), whole)
    equalized = QuantConv2d.from_conv2d(conv, Scheme(8, 8, equalized=True), by_channel)
    assert relative_error(equalized(x), expected) < 0.02 < relative_error(plain(x), expected) / 2
    with use_kernel("reference"):
        reference = equalized(x)
    assert_similar(equalized(x), reference)
    with pytest.raises(MissingRangeError, match="each input channel"):
        QuantConv2d.from_conv2d(conv, Scheme(8, 8, equalized=True), whole)


POINTWISE = {
    "linear": nn.Linear(64, 96),
    "linear without bias": nn.Linear(96, 32, bias=False),
    "odd linear": nn.Linear(33, 7),
    "1x1": nn.Conv2d(64, 48, 1),
    "1x1 without bias": nn.Conv2d(36, 20, 1, bias=False),
}


def _by_channel(x: torch.Tensor, dim: int) -> Range:
    rest = [each for each in range(x.ndim) if each != dim % x.ndim]
    low, high = (tuple(t.tolist()) for t in (x.amin(rest), x.amax(rest)))
    return Range(min(low), max(high), low, high)


@pytest.mark.parametrize("equalized", [True, False])
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("name", POINTWISE)
def test_rows_of_different_reach_keep_their_precision(
    name: str, bits: int, equalized: bool
) -> None:
    """A token a hundred times smaller than another is as exact; every kernel says the same."""
    layer, x = POINTWISE[name], _input(POINTWISE[name])
    dim = 1 if x.ndim == 4 else -1
    tokens = x.movedim(dim, -1)
    x = (tokens * torch.logspace(-2, 1, tokens[..., 0].numel()).view_as(tokens[..., :1])).movedim(
        -1, dim
    )
    scheme = Scheme(bits, 8, equalized=equalized, row_scaled=True)
    assert scheme.needs_range is equalized
    quantized = _quantized(layer, scheme, _by_channel(x, dim))
    assert quantized.input_scale is None
    if not equalized:
        with torch.no_grad():
            smallest = [y.movedim(dim, -1).flatten(0, -2)[0] for y in (quantized(x), layer(x))]
            bias = 0 if layer.bias is None else layer.bias
            within = 0.02 if bits == 8 else 0.2
            assert relative_error(*(y - bias for y in smallest)) < within
    kernels = [k for k, kernel in KERNELS.items() if kernel.supports(quantized, x)]
    _compare_kernels(quantized, x, kernels, within=2e-3)  # a code may flip at a tie
    expected = quantized(x)
    other = _quantized(
        layer, scheme, Range(-1.0, 1.0, (-1.0,) * x.shape[dim], (1.0,) * x.shape[dim])
    )
    other.load_state_dict(quantized.state_dict())
    assert torch.equal(other(x), expected)
    other.prepare_(x)
    assert torch.equal(other(x), expected)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_silent_row_is_its_bias_and_a_broken_one_is_broken(kernel: str) -> None:
    """Nothing is divided by zero; NaN never becomes a number, and stays in its row."""
    linear, x = nn.Linear(64, 96), _input(POINTWISE["linear"])
    layer = QuantLinear.from_linear(linear, Scheme(8, 8, row_scaled=True), None)
    if not KERNELS[kernel].supports(layer, x):
        pytest.skip(f"{kernel} does not run here")
    x[0, 1], x[1, 2, 3], x[1, 4, 0] = 0.0, float("nan"), float("inf")
    with use_kernel(kernel), torch.no_grad():
        y = layer(x)
        assert layer(x[:0]).shape == (0, *y.shape[1:])
    assert torch.equal(y[0, 1], linear.bias)
    assert y[1, 2].isnan().all()
    assert not y[1, 4].isfinite().any()
    assert (~y.isfinite()).sum() == 2 * y.shape[-1]


def test_what_sums_over_more_than_a_pixel_has_one_scale() -> None:
    """Only what is made of one token or pixel can be scaled by it."""
    pointwise = [nn.Linear(8, 8), nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 1, padding=0)]
    others = [nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 1, stride=2), nn.Conv2d(8, 8, 1, padding=1),
              nn.Conv2d(8, 8, 1, groups=2), nn.LayerNorm(8)]  # fmt: skip
    assert all(map(is_pointwise, pointwise))
    assert not any(map(is_pointwise, others))
    layer = QuantLinear.from_linear(nn.Linear(8, 8), Scheme(8, 8, row_scaled=True), None)
    with pytest.raises(MissingRangeError):
        _ = layer.input_grid
    with pytest.raises(MissingRangeError):
        _ = _quantized(LINEARS["plain"], Scheme(8, None)).row_grids


@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize("bits", [8, 4])
def test_equalized_images_as_wide_as_they_have_channels(bits: int, channels_last: bool) -> None:
    """Each channel is divided by its own factor, not each column."""
    conv, spread = nn.Conv2d(8, 8, 3), torch.logspace(-1, 1, 8).view(1, -1, 1, 1)
    x = torch.randn(2, 8, 8, 8, generator=torch.Generator().manual_seed(0)) * spread
    if channels_last:
        x = x.contiguous(memory_format=torch.channels_last)
    low, high = (tuple(t.tolist()) for t in (x.amin((0, 2, 3)), x.amax((0, 2, 3))))
    by_channel = Range(min(low), max(high), low, high)
    layer = QuantConv2d.from_conv2d(conv, Scheme(bits, 8, equalized=True), by_channel)
    with use_kernel("reference"):
        expected = layer(x)
    assert_similar(layer(x), expected, within=2e-3)  # a code may flip at a tie


def test_weights_are_held_packed() -> None:
    """Eight bits are one byte per weight, four bits half a byte; a loaded layer holds the same."""
    conv = CONVS["3x3"]
    for bits, size in ((8, conv.weight.numel()), (4, conv.weight.numel() // 2)):
        layer = _quantized(conv, Scheme(bits, 8))
        assert layer.weight.numel() * layer.weight.element_size() == size
        other = QuantConv2d.like(conv, Scheme(bits, 8))
        other.load_state_dict(layer.state_dict())
        x = _input(conv)
        assert torch.equal(other(x), layer(x))


def test_another_dtype_never_rounds_the_scales() -> None:
    """`.to(bfloat16)` changes what is computed with, not what was stored."""
    layer, x = _quantized(LINEARS["plain"], Scheme(8, 8)), _input(LINEARS["plain"])
    expected = layer(x)
    assert torch.equal(layer.to(torch.bfloat16).to(torch.float32)(x), expected)
    assert layer.weight_scale.dtype == torch.float32


def test_loading_other_weights_forgets_the_prepared_ones() -> None:
    """What a kernel prepared at first use is prepared again for new weights."""
    linear, x = LINEARS["plain"], _input(LINEARS["plain"])
    layer, other = _quantized(linear, Scheme(8, 8)), nn.Linear(64, 96)
    layer(x)
    new = QuantLinear.from_linear(other, Scheme(8, 8), Range(-5.0, 5.0))
    layer.load_state_dict(new.state_dict())
    assert torch.equal(layer(x), new(x))


def test_mistakes_are_named() -> None:
    """An unknown kernel, one that cannot run a layer, a grid that is not there."""
    layer = _quantized(LINEARS["plain"], Scheme(8, None))
    with pytest.raises(RecipeError, match=r"there are .*onednn, reference"), use_kernel("cuda"):
        pass
    with pytest.raises(RecipeError, match="No kernel"), use_kernel("onednn"):
        layer(_input(LINEARS["plain"]))
    with pytest.raises(MissingRangeError):
        _ = layer.input_grid
    assert list(KERNELS)[-1] == "reference"
