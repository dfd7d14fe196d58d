"""LoKr and LoHa against LyCORIS' own functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode
from unit.taq.models import assert_similar

from personalq.taq import (
    Factors,
    LoraError,
    UnknownKeysError,
    UnsupportedFormatError,
    WidthMismatchError,
    attach_lora_,
    detach_lora_,
    layer_shapes,
    parse_lora,
    read_lora,
    resolve,
)
from personalq.taq.formats import parse
from personalq.taq.formats.low_rank import scale_of
from personalq.taq.formats.lycoris import hadamard
from personalq.taq.modules import QuantConv2d, QuantLinear
from personalq.taq.scheme import Scheme

ALPHA, RANK = 3.0, 2
LINEAR = nn.Linear(24, 16)
CONV = nn.Conv2d(8, 12, 3, stride=2, padding=1)


def _random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


LOKR: dict[str, tuple[nn.Linear | nn.Conv2d, dict[str, Tensor]]] = {
    "both factored": (
        LINEAR,
        {"w1_a": _random(4, 2), "w1_b": _random(2, 3), "w2_a": _random(4, 2),
         "w2_b": _random(2, 8)},
    ),
    "first whole": (LINEAR, {"w1": _random(2, 4), "w2_a": _random(8, 2), "w2_b": _random(2, 6)}),
    "both whole": (LINEAR, {"w1": _random(4, 2), "w2": _random(4, 12)}),
    "convolution": (
        CONV,
        {"w1": _random(3, 2), "w2_a": _random(4, 2), "w2_b": _random(2, 4, 3, 3)},
    ),
    "flat convolution": (
        CONV,
        {"w1": _random(3, 2), "w2_a": _random(4, 2), "w2_b": _random(2, 4 * 9)},
    ),
    "convolution divided within a channel": (
        CONV,
        {"w1_a": _random(3, 2), "w1_b": _random(2, 6), "w2_a": _random(4, 2),
         "w2_b": _random(2, 12)},
    ),
    "whole convolution": (CONV, {"w1": _random(3, 2), "w2": _random(4, 4, 3, 3)}),
    "Tucker": (
        CONV,
        {"w1": _random(3, 2), "t2": _random(2, 2, 3, 3), "w2_a": _random(2, 4),
         "w2_b": _random(2, 4)},
    ),
}  # fmt: skip
LOHA: dict[str, tuple[nn.Linear | nn.Conv2d, dict[str, Tensor]]] = {
    "linear": (
        LINEAR,
        {"w1_a": _random(16, 2), "w1_b": _random(2, 24), "w2_a": _random(16, 2) + 1,
         "w2_b": _random(2, 24) - 1},
    ),
    "of high rank": (
        LINEAR,
        {"w1_a": _random(16, 6), "w1_b": _random(6, 24), "w2_a": _random(16, 6) + 1,
         "w2_b": _random(6, 24) - 1},
    ),
    "flat convolution": (
        CONV,
        {"w1_a": _random(12, 2), "w1_b": _random(2, 72), "w2_a": _random(12, 2) + 1,
         "w2_b": _random(2, 72) - 1},
    ),
    "Tucker": (
        CONV,
        {"w1_a": _random(2, 12), "w1_b": _random(2, 8), "t1": _random(2, 2, 3, 3),
         "w2_a": _random(2, 12) + 1, "w2_b": _random(2, 8) - 1, "t2": _random(2, 2, 3, 3) + 1},
    ),
}  # fmt: skip


def _kron_weight(tensors: dict[str, Tensor], scale: float, shape: torch.Size) -> Tensor:
    """Return LyCORIS' own weight of a LoKr."""
    from lycoris.functional.lokr import kron_weight

    order = ("w1", "w1_a", "w1_b", "w2", "w2_a", "w2_b", "t2")
    weight: Tensor = kron_weight(*(tensors.get(key) for key in order), scale=scale)
    return weight.view(shape)


def _attached(layer: nn.Module, tensors: dict[str, Tensor], x: Tensor) -> Tensor:
    """Return what the adapter adds to the layer's output."""
    model = nn.Module()
    model.add_module("layer", layer)
    before = layer(x)
    attach_lora_(model, parse_lora({f"lora_unet_layer.{k}": t for k, t in tensors.items()}))
    after = layer(x)
    detach_lora_(model)
    assert torch.equal(layer(x), before)
    return torch.as_tensor(after - before)


def _input(layer: nn.Module) -> Tensor:
    return _random(2, 8, 9, 7) if isinstance(layer, nn.Conv2d) else _random(2, 5, 24)


def _with_weight(layer: nn.Module, weight: Tensor, x: Tensor) -> Tensor:
    """Return what a change of the layer's weight would add."""
    if isinstance(layer, nn.Conv2d):
        return F.conv2d(x, weight, None, layer.stride, layer.padding)
    return F.linear(x, weight)


@torch.no_grad()
@pytest.mark.parametrize("name", LOKR)
def test_a_lokr_adds_what_lycoris_weight_would(name: str) -> None:
    """Every way to store the two matrices; alpha over rank once, as LyCORIS trains."""
    layer, tensors = LOKR[name]
    scale = 1.0 if name in ("both whole", "whole convolution") else ALPHA / RANK
    weight = _kron_weight(tensors, scale, layer.weight.shape)
    tensors = {f"lokr_{key}": tensor for key, tensor in tensors.items()}
    x = _input(layer)
    added = _attached(layer, tensors | {"alpha": torch.tensor(ALPHA)}, x)
    assert_similar(added, _with_weight(layer, weight, x))


@torch.no_grad()
@pytest.mark.parametrize("name", LOHA)
def test_a_loha_adds_what_lycoris_weight_would(name: str) -> None:
    """Low-rank where that is smaller, else dense; the same numbers."""
    from lycoris.functional.loha import diff_weight

    layer, tensors = LOHA[name]
    rank = tensors["w1_b"].shape[0]
    order = ("w1_b", "w1_a", "w2_b", "w2_a", "t1", "t2")
    weight = diff_weight(*(tensors.get(key) for key in order), gamma=torch.tensor(ALPHA / rank))
    weight = weight.reshape(layer.weight.shape)
    tensors = {f"hada_{key}": tensor for key, tensor in tensors.items()}
    x = _input(layer)
    added = _attached(layer, tensors | {"alpha": torch.tensor(ALPHA)}, x)
    assert_similar(added, _with_weight(layer, weight, x))


@torch.no_grad()
def test_modules_of_lycoris_train_what_is_served() -> None:
    """A module that LyCORIS itself made, saved by its own `state_dict`, on its own forward."""
    from lycoris.modules.loha import LohaModule
    from lycoris.modules.lokr import LokrModule

    x = _input(LINEAR)
    for kind, more in ((LokrModule, {"decompose_both": True}), (LohaModule, {})):
        torch.manual_seed(0)
        module = kind("lora_unet_layer", LINEAR, lora_dim=1, alpha=0.5, **more)
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter))
        module.apply_to()
        expected = LINEAR(x)
        module.restore()
        state: dict[str, Any] = module.custom_state_dict()
        assert_similar(_attached(LINEAR, state, x), expected - LINEAR(x))


@torch.no_grad()
def test_a_loha_takes_the_smaller_form() -> None:
    """Rank 2 becomes rank 4; rank 6 would become 36 of a layer of 16 and is kept dense."""
    for name, rank in (("linear", 4), ("of high rank", 16)):
        _, tensors = LOHA[name]
        assert hadamard("x", {f"hada_{k}": t for k, t in tensors.items()}).rank == rank


@torch.no_grad()
@pytest.mark.parametrize("name", LOKR)
def test_beside_integers_it_is_as_exact(name: str) -> None:
    """A quantized layer gets the same addition as the float one."""
    layer, tensors = LOKR[name]
    quantized: nn.Module
    if isinstance(layer, nn.Conv2d):
        quantized = QuantConv2d.from_conv2d(layer, Scheme(8, None), None)
    else:
        quantized = QuantLinear.from_linear(layer, Scheme(8, None), None)
    x = _input(layer)
    named = {f"lokr_{key}": tensor for key, tensor in tensors.items()}
    assert_similar(_attached(quantized, named, x), _attached(layer, named, x))


@torch.no_grad()
@pytest.mark.parametrize("rank", [4, 8])
def test_a_real_lokr_is_lycoris_own_weight(shared_data: Path, rank: int) -> None:
    """350 layers of a published file: all in SD 1.5, each the weight that LyCORIS computes.

    They take the memory of the file's own matrices and of no more.
    """
    from diffusers import UNet2DConditionModel
    from lycoris.functional.lokr import kron_weight
    from safetensors.torch import load_file
    from transformers import CLIPTextConfig, CLIPTextModel

    config = CLIPTextConfig(hidden_size=768, intermediate_size=3072, num_attention_heads=12)
    with torch.device("meta"):
        unet, encoder = UNet2DConditionModel(cross_attention_dim=768), CLIPTextModel(config)
    file = shared_data / f"lora/lycoris_smart_falcon_{rank}_lokr.safetensors"
    lora, tensors = read_lora(file), load_file(file)
    compared = 0
    for model, part, prefix in (
        (unet, lora.unet, "lora_unet_"),
        (encoder, lora.text_encoder, "lora_te_text_model_"),
    ):
        shapes = layer_shapes(model)
        resolved = resolve(part, shapes)
        layers = sorted({name.split("@")[0] for name in resolved})
        assert len(layers) == len(part) / 2
        for layer in layers[::7]:  # all of them would take a minute
            w1a, w1b, w2a, w2b = (
                tensors[f"{prefix}{layer.replace('.', '_')}.lokr_{key}"].float()
                for key in ("w1_a", "w1_b", "w2_a", "w2_b")
            )
            weight = kron_weight(None, w1a, w1b, None, w2a, w2b)  # its alpha is its rank: s = 1
            assert_similar(_weight(resolved, layer).view(weight.shape), weight)
            compared += 1
    assert compared == 51
    numbers = sum(tensor.numel() for key, tensor in tensors.items() if "lokr" in key)
    parts = (*lora.unet.values(), *lora.text_encoder.values())
    assert sum(f.down.numel() + f.up.numel() for f in parts) == numbers
    assert len(lora.unet) + len(lora.text_encoder) == 2 * 350


def _weight(resolved: dict[str, Factors], layer: str) -> Tensor:
    """Return the change of a layer's weight that its entries stand for."""

    def product(name: str) -> Tensor:
        factors = resolved[name]
        down, up = factors.down.float(), factors.up.float()
        flat = factors.scale * up.flatten(1) @ down.flatten(1)
        return flat.view(up.shape[0], *down.shape[1:])

    left, right = product(layer + "@left"), product(layer + "@right")
    return torch.kron(left.view(*left.shape, *[1] * (right.ndim - 2)), right)


@pytest.mark.parametrize(
    ("tensors", "error", "words"),
    [
        ({"lokr_w1": _random(2, 2)}, UnknownKeysError, "lacks lokr_w2"),
        ({"lokr_w1": _random(2, 2), "lokr_w2_a": _random(2, 1)}, UnknownKeysError, "lokr_w2_b"),
        (
            {"lokr_w1": _random(2, 2), "lokr_w2_a": _random(2, 1), "lokr_w2_b": _random(3, 2)},
            LoraError,
            "no common rank",
        ),
        ({"lokr_w1": _random(2), "lokr_w2": _random(2, 2)}, LoraError, "no matrix"),
        (
            {"lokr_w1": _random(2, 2), "lokr_t2": _random(2, 3, 3, 3),
             "lokr_w2_a": _random(2, 2), "lokr_w2_b": _random(2, 2)},
            LoraError,
            "do not fit their core",
        ),
        (
            {"lokr_w1": _random(2, 2), "lokr_w2": _random(2, 2), "hada_w1_a": _random(2, 2)},
            UnknownKeysError,
            "hada_w1_a besides",
        ),
        (
            {"hada_w1_a": _random(2, 1), "hada_w1_b": _random(1, 2),
             "hada_w2_a": _random(2, 1), "hada_w2_b": _random(1, 3)},
            LoraError,
            "different sizes",
        ),
        ({"hada_w1_a": _random(2, 0), "hada_w1_b": _random(0, 2)}, LoraError, "rank 0"),
        ({"lora_down.weight": _random(1, 2), "lora_up.weight": _random(2, 1),
          "dora_scale": _random(2, 1)}, UnsupportedFormatError, "DoRA"),
        ({"oft_blocks": _random(2, 2)}, UnsupportedFormatError, "neither LoRA, LoKr nor LoHa"),
    ],
)  # fmt: skip
def test_tensors_that_make_no_change_are_refused(
    tensors: dict[str, Tensor], error: type[LoraError], words: str
) -> None:
    """What is missing, unknown or does not fit is named."""
    with pytest.raises(error, match=words):
        parse_lora({f"lora_unet_layer.{key}": tensor for key, tensor in tensors.items()})


def _of(*shape: int) -> Tensor:
    """A tensor of any shape, in four bytes."""
    return torch.zeros(1).expand(shape)


@pytest.mark.parametrize(
    "tensors",
    [
        {"lora_down.weight": _of(1, 1024, 1, 1), "lora_mid.weight": _of(1, 1, 2**20, 2**20),
         "lora_up.weight": _of(8, 1, 1, 1)},
        {"lokr_w1": _of(2, 2), "lokr_w2_a": _of(1, 4), "lokr_w2_b": _of(1, 2**20),
         "lokr_t2": _of(1, 1, 2**15, 2**15)},
        {"hada_w1_a": _of(2**20, 2**10), "hada_w1_b": _of(2**10, 2**20),
         "hada_w2_a": _of(2**20, 2**10), "hada_w2_b": _of(2**10, 2**20)},
        {"hada_w1_a": _of(1, 4), "hada_w1_b": _of(1, 2**20), "hada_t1": _of(1, 1, 2**15, 2**15),
         "hada_w2_a": _of(1, 4), "hada_w2_b": _of(1, 2**20), "hada_t2": _of(1, 1, 2**15, 2**15)},
        # Each within what a layer may be, but grown from next to nothing.
        {"lora_down.weight": _of(1, 1024, 1, 1), "lora_mid.weight": _of(1, 1, 256, 256),
         "lora_up.weight": _of(8, 1, 1, 1)},
        {"hada_w1_a": _of(1, 4), "hada_w1_b": _of(1, 2048), "hada_t1": _of(1, 1, 128, 128),
         "hada_w2_a": _of(1, 4), "hada_w2_b": _of(1, 2048), "hada_t2": _of(1, 1, 128, 128)},
    ],
    ids=["LoCon", "LoKr", "LoHa", "LoHa with a core", "small LoCon", "small LoHa"],
)  # fmt: skip
def test_a_small_file_makes_no_large_product(tensors: dict[str, Tensor]) -> None:
    """Sizes are looked at before anything is multiplied."""
    with pytest.raises(LoraError, match="would multiply to"):
        parse_lora({f"lora_unet_layer.{key}": tensor for key, tensor in tensors.items()})


def test_many_layers_make_no_large_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is fine alone; together they would fill the memory."""
    monkeypatch.setattr(parse, "MAX_GROWN_NUMBERS", 200)
    _, tensors = LOHA["of high rank"]
    layers = {
        f"lora_unet_{layer}.hada_{key}": tensor for layer in "ab" for key, tensor in tensors.items()
    }
    parse_lora({key: tensor for key, tensor in layers.items() if "_a." in key})
    with pytest.raises(LoraError, match="merge it into a full model"):
        parse_lora(layers)


def test_a_loha_of_high_rank_is_multiplied_out_at_once() -> None:
    """Rank 4096 of a small layer: its 16 million pairs of rows are never formed."""
    first, second = _random(8, 4096), _random(4096, 12)
    tensors = {"w1_a": first, "w1_b": second, "w2_a": first, "w2_b": second}
    with FlopCounterMode(display=False) as flops:
        change = hadamard("x", {f"hada_{key}": tensor for key, tensor in tensors.items()})
    assert flops.get_total_flops() == 2 * 2 * 8 * 12 * 4096
    assert torch.allclose(change.up @ change.down, (first @ second) ** 2, rtol=1e-4, atol=1e-2)


def test_a_lokr_of_another_width_is_refused() -> None:
    """The sizes of both matrices and of the layer are named; half a product is no product."""
    _, tensors = LOKR["both factored"]
    lora = parse_lora({f"lora_unet_layer.lokr_{key}": t for key, t in tensors.items()})
    with pytest.raises(WidthMismatchError, match=r"\(4 · 4, 3 · 8\) in the LoRA and \(16, 32\)"):
        resolve(lora.unet, {"layer": (16, 32)})
    half = {name: f for name, f in lora.unet.items() if name.endswith("@left")}
    with pytest.raises(UnknownKeysError, match="one half"):
        resolve(half, {"layer": (16, 24)})


def test_an_alpha_of_zero_is_the_rank() -> None:
    """As trainers take it, which write no alpha 0 themselves; a file with one is no empty LoRA."""
    assert scale_of("x", torch.tensor(0.0), 4) == 1.0


@torch.no_grad()
def test_a_lora_with_a_third_factor_is_served() -> None:
    """LoCon's decomposed convolution: 1 x 1 down, 3 x 3 in the middle, 1 x 1 up."""
    down, middle, up = _random(2, 8, 1, 1), _random(2, 2, 3, 3), _random(12, 2, 1, 1)
    x = _input(CONV)
    low = F.conv2d(F.conv2d(x, down), middle, None, CONV.stride, CONV.padding)
    tensors = {"lora_down.weight": down, "lora_mid.weight": middle, "lora_up.weight": up}
    assert_similar(_attached(CONV, tensors, x), F.conv2d(low, up))
