"""LoRA files in every key style, and LoRA as an exact side branch."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor
from unit.taq.models import assert_similar, inputs, predict, ranges_of, relative_error, tiny_unet

from personalq.taq import (
    PROFILES,
    Lora,
    LoraError,
    UnknownKeysError,
    UnsupportedFormatError,
    WidthMismatchError,
    attach_lora_,
    detach_lora_,
    parse_lora,
    quantize_,
    read_lora,
)
from personalq.taq.lora import has_lora, resolve
from personalq.taq.modules import QuantLinear
from personalq.taq.scheme import Scheme

REAL = Path(__file__).parents[3] / "../shared/data"
RANK = 4


def _targets(unet: Any) -> dict[str, tuple[int, int]]:
    """Return (out, in) of the attention projections."""
    return {
        name: (module.out_features, module.in_features)
        for name, module in unet.named_modules()
        if isinstance(module, torch.nn.Linear) and ".attn" in name
    }


def _peft(unet: Any, *, strength: float = 0.1, seed: int = 0) -> dict[str, Tensor]:
    """Return a random LoRA of `unet` in PEFT's key style."""
    g = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, (out, width) in _targets(unet).items():
        tensors[f"unet.{name}.lora_A.weight"] = torch.randn(RANK, width, generator=g) / width**0.5
        tensors[f"unet.{name}.lora_B.weight"] = torch.randn(out, RANK, generator=g) * strength
    return tensors


def _real(name: str) -> Path:
    path = REAL / name
    if not path.exists():
        pytest.skip(f"the real file {name} is not beside this checkout (../shared/data)")
    return path


@pytest.fixture(scope="module")
def unet() -> Any:
    """A small random UNet in full precision; tests change copies of it."""
    return tiny_unet()


def test_a_side_branch_equals_peft(unet: Any) -> None:
    """On the float UNet the output is the one that diffusers computes with PEFT."""
    tensors, x = _peft(unet), inputs()
    reference = copy.deepcopy(unet)
    reference.load_lora_adapter(dict(tensors), prefix="unet")
    ours = copy.deepcopy(unet)
    attach_lora_(ours, parse_lora(tensors))
    assert relative_error(predict(ours, x), predict(unet, x)) > 0.01  # it does something
    assert_similar(predict(ours, x), predict(reference, x))


def test_a_kohya_file_is_what_diffusers_own_converter_makes_of_it(unet: Any) -> None:
    """Names with underscores, and alphas: through diffusers and PEFT, and through ours."""
    from diffusers.loaders.lora_conversion_utils import _convert_non_diffusers_lora_to_diffusers

    tensors, x = _renamed(_peft(unet), "kohya"), inputs()
    downs = [key for key in tensors if key.endswith("lora_down.weight")]
    tensors |= {key.replace("lora_down.weight", "alpha"): torch.tensor(2.0) for key in downs}
    converted, alphas = _convert_non_diffusers_lora_to_diffusers(dict(tensors))
    reference, ours = copy.deepcopy(unet), copy.deepcopy(unet)
    reference.load_lora_adapter(converted, prefix="unet", network_alphas=alphas)
    attach_lora_(ours, parse_lora(tensors))
    assert relative_error(predict(ours, x), predict(unet, x)) > 0.01
    assert_similar(predict(ours, x), predict(reference, x))


def test_detaching_restores_the_model_exactly(unet: Any) -> None:
    """After `detach_lora_` outputs and state are bit for bit those of before."""
    model, x = copy.deepcopy(unet), inputs()
    quantize_(model, PROFILES["w8a8"], ranges_of(unet))
    before, keys = predict(model, x), list(model.state_dict())
    attach_lora_(model, parse_lora(_peft(unet)))
    assert has_lora(model)
    assert not torch.equal(predict(model, x), before)
    assert list(model.state_dict()) == keys
    detach_lora_(model)
    assert not has_lora(model)
    assert torch.equal(predict(model, x), before)
    assert all(not module._forward_hooks for module in model.modules())


def test_strength_scales_and_loras_add_up(unet: Any) -> None:
    """Two halves are a whole, and strength zero is nothing."""
    lora, x = parse_lora(_peft(unet)), inputs()
    whole, halves, nothing = (copy.deepcopy(unet) for _ in range(3))
    attach_lora_(whole, lora)
    attach_lora_(halves, lora, strength=0.5)
    attach_lora_(halves, lora, strength=0.5)
    attach_lora_(nothing, lora, strength=0.0)
    assert_similar(predict(halves, x), predict(whole, x))
    assert_similar(predict(nothing, x), predict(unet, x))


def test_rounding_a_merged_lora_erases_it_and_the_side_branch_keeps_it() -> None:
    """At 4 bits a typical LoRA is smaller than half a step: merged it is lost, beside it exact."""
    g = torch.Generator().manual_seed(0)
    base = torch.nn.Linear(128, 128, bias=False)
    down, up = torch.randn(RANK, 128, generator=g), torch.randn(128, RANK, generator=g)
    delta = up @ down
    delta *= 0.02 * base.weight.detach().norm() / delta.norm()  # 2 % of the weight
    merged = torch.nn.Linear(128, 128, bias=False)
    merged.weight.data = base.weight.data + delta
    scheme = Scheme(4, None)
    quantized = QuantLinear.from_linear(base, scheme, None)
    re_rounded = QuantLinear.from_linear(merged, scheme, None).dequantize()

    change = re_rounded - quantized.dequantize()
    retained = ((change * delta).sum() / delta.square().sum()).item()
    noise = (change - retained * delta).norm() / delta.norm()
    assert noise > 1.5  # what rounding again did is larger than the LoRA itself

    model = torch.nn.Sequential(quantized)
    x = torch.randn(16, 128, generator=g)
    before = model(x)
    ratio = (delta.norm() / (up @ down).norm()).item()
    lora = parse_lora({"unet.0.lora_A.weight": down, "unet.0.lora_B.weight": up * ratio})
    attach_lora_(model, lora)
    assert_similar(model(x) - before, x @ delta.T, within=1e-4)


def _re_rounded(layer: QuantLinear, delta: Tensor) -> Tensor:
    """Return what is left of a change after it was merged into the integers: on the same grid."""
    weight, step = layer.dequantize(), layer.weight_scale.view(-1, 1)
    return ((weight + delta) / step).round() * step - weight


def test_a_small_change_merged_into_integers_is_erased() -> None:
    """At 4 bits nothing of 2 % of the weight is left."""
    g = torch.Generator().manual_seed(0)
    layer = torch.nn.Linear(256, 256, bias=False)
    layer.weight.data = torch.randn(256, 256, generator=g)
    quantized = QuantLinear.from_linear(layer, Scheme(4, None), None)
    delta = torch.randn(256, RANK, generator=g) @ torch.randn(RANK, 256, generator=g)
    delta *= 0.02 * layer.weight.detach().norm() / delta.norm()
    left = (_re_rounded(quantized, delta) * delta).sum() / delta.square().sum()
    assert 0 <= left < 0.02


def test_a_real_lora_merged_into_integers_is_bent_and_beside_them_exact() -> None:
    """The miniature's are strong: most is left at 4 bits, with an error of two thirds of it."""
    from diffusers import UNet2DConditionModel

    from personalq.miniature import base_dir, checkpoints

    unet = UNet2DConditionModel.from_pretrained(base_dir() / "unet")
    lora = read_lora(next(c.path for c in checkpoints() if c.is_lora))
    inner = power = error = 0.0
    for name, factors in lora.unet.items():
        layer = unet.get_submodule(name)
        if not isinstance(layer, torch.nn.Linear):
            continue
        delta = factors.scale * factors.up.float() @ factors.down.float()
        quantized = QuantLinear.from_linear(layer, Scheme(4, None), None)
        change = _re_rounded(quantized, delta)
        inner += (change * delta).sum().item()
        error += (change - delta).square().sum().item()
        power += delta.square().sum().item()
        model = torch.nn.Module()
        model.add_module("layer", quantized)
        x = torch.randn(4, delta.shape[1], generator=torch.Generator().manual_seed(0))
        before = quantized(x)
        attach_lora_(model, Lora({"layer": factors}))
        assert_similar(quantized(x) - before, x @ delta.T, within=1e-4)
    assert 0.5 < inner / power < 0.95
    assert 0.5 < (error / power) ** 0.5 < 0.9


def _renamed(tensors: dict[str, Tensor], style: str) -> dict[str, Tensor]:
    """Return the same LoRA in another key style."""
    renamed = {}
    for key, tensor in tensors.items():
        layer, half = key.removeprefix("unet.").split(".lora_")
        half = {"A.weight": "down", "B.weight": "up"}[half]
        block, _, projection = layer.partition(".attn")
        number, projection = projection.split(".", 1)
        legacy = projection.replace("to_out.0", "to_out")
        renamed[
            {
                "diffusers": f"unet.{layer}.lora.{half}.weight",
                "doubled": f"unet.unet.{layer}.lora.{half}.weight",
                "processor": f"{block}.attn{number}.processor.{legacy}_lora.{half}.weight",
                "kohya": f"lora_unet_{layer.replace('.', '_')}.lora_{half}.weight",
                "broken kohya": f"lora_unet_unet_{layer.replace('.', '_')}.lora_{half}.weight",
                "peft": f"base_model.model.{layer}.lora_{'A' if half == 'down' else 'B'}.weight",
            }[style]
        ] = tensor
    return renamed


@pytest.mark.parametrize(
    "style", ["diffusers", "doubled", "processor", "kohya", "broken kohya", "peft"]
)
def test_every_key_style_means_the_same_lora(unet: Any, style: str) -> None:
    """The same tensors under other names change the UNet in the same way."""
    tensors, x = _peft(unet), inputs()
    first, second = copy.deepcopy(unet), copy.deepcopy(unet)
    attach_lora_(first, parse_lora(tensors))
    attach_lora_(second, parse_lora(_renamed(tensors, style)))
    assert torch.equal(predict(first, x), predict(second, x))


def test_alpha_scales_by_alpha_over_rank(unet: Any) -> None:
    """Alpha comes from a tensor beside the factors or from diffusers' metadata."""
    tensors = _peft(unet)
    kohya = _renamed(tensors, "kohya")
    kohya |= {
        key.replace(".lora_down.weight", ".alpha"): torch.tensor(2.0)
        for key in kohya
        if "lora_down" in key
    }
    assert {f.scale for f in parse_lora(kohya).unet.values()} == {2.0 / RANK}
    stated = {"lora_adapter_metadata": json.dumps({"unet.r": RANK, "unet.lora_alpha": 8})}
    assert {f.scale for f in parse_lora(tensors, stated).unet.values()} == {8 / RANK}
    stated = {"lora_adapter_metadata": json.dumps({"unet.lora_alpha": 8, "unet.use_rslora": True})}
    assert {f.scale for f in parse_lora(tensors, stated).unet.values()} == {8 / RANK**0.5}
    assert {f.scale for f in parse_lora(tensors).unet.values()} == {1.0}
    with pytest.raises(LoraError, match="not JSON"):
        parse_lora(tensors, {"lora_adapter_metadata": "{"})


def test_trigger_embeddings_come_apart_from_the_layers(unet: Any) -> None:
    """Bundled embeddings are (n, hidden) rows under their trigger, whatever their shape was."""
    embedded = {
        "bundle_emb.<bear-v4>.string_to_param.*": torch.ones(2, 48),
        "bundle_emb.<sks>.string_to_param.*": torch.zeros(48),
    }
    lora = parse_lora(_peft(unet) | embedded)
    assert {name: tuple(t.shape) for name, t in lora.embeddings.items()} == {
        "<bear-v4>": (2, 48),
        "<sks>": (1, 48),
    }
    assert parse_lora(embedded).unet == {}


def test_convolutions_carry_loras_too() -> None:
    """A low-rank change of a 3×3 convolution is the change of its weight."""
    layer = torch.nn.Conv2d(8, 6, 3, stride=2, padding=1)
    conv = torch.nn.Sequential(layer)
    g = torch.Generator().manual_seed(0)
    down, up = torch.randn(2, 8, 3, 3, generator=g), torch.randn(6, 2, 1, 1, generator=g)
    x = torch.randn(1, 8, 9, 9, generator=g)
    merged = copy.deepcopy(layer)
    merged.weight.data += torch.einsum("or,rihw->oihw", up[..., 0, 0], down)
    attach_lora_(conv, parse_lora({"unet.0.lora_A.weight": down, "unet.0.lora_B.weight": up}))
    assert_similar(conv(x), merged(x))


def test_factors_take_the_dimensions_of_the_layer() -> None:
    """1×1 convolutions and Linear layers are the same change; larger kernels are another model."""
    down, up = torch.ones(2, 4), torch.ones(3, 2)
    lora = parse_lora({"unet.p.lora_A.weight": down, "unet.p.lora_B.weight": up})
    assert resolve(lora.unet, {"p": (3, 4, 1, 1)})["p"].down.shape == (2, 4, 1, 1)
    back = Lora(resolve(lora.unet, {"p": (3, 4, 1, 1)}))
    assert resolve(back.unet, {"p": (3, 4)})["p"].up.shape == (3, 2)
    with pytest.raises(WidthMismatchError, match="kernels"):
        resolve(lora.unet, {"p": (3, 4, 3, 3)})


def test_a_lora_of_another_width_names_both_widths(unet: Any) -> None:
    """A LoRA made for 64-wide text does not fit a UNet of 48, and nothing was attached."""
    other = parse_lora(_peft(tiny_unet(text_width=64)))
    model = copy.deepcopy(unet)
    with pytest.raises(WidthMismatchError, match=r"64 → 32 wide in the LoRA and 48 → 32"):
        attach_lora_(model, other)
    assert not has_lora(model)


@pytest.mark.parametrize(
    ("tensors", "error", "words"),
    [
        ({}, UnknownKeysError, "no LoRA layer"),
        ({"some.key": torch.ones(1)}, UnknownKeysError, "1 keys map to nothing: some.key"),
        ({"unet.a.lora_A.weight": torch.ones(2, 2)}, UnknownKeysError, "only down"),
        (
            {"unet.a.lora_A.weight": torch.ones(2, 4), "unet.a.lora_B.weight": torch.ones(4, 3)},
            LoraError,
            "no common rank",
        ),
        (
            {"conv_in.weight": torch.ones(1), "mid_block.x.weight": torch.ones(1)},
            UnsupportedFormatError,
            "full model",
        ),
    ],
    ids=["empty", "unknown", "half", "ranks", "full model"],
)
def test_files_that_are_no_lora_are_refused(
    tensors: dict[str, Tensor], error: type[LoraError], words: str
) -> None:
    """A file that maps to nothing is an error with examples, never a silent no-op."""
    with pytest.raises(error, match=words):
        parse_lora(tensors)


DOWN, UP = "unet.0.lora_A.weight", "unet.0.lora_B.weight"
PAIR = {DOWN: torch.zeros(2, 8), UP: torch.zeros(8, 2)}
ROWS = "bundle_emb.<x>.string_to_param.*"


@pytest.mark.parametrize(
    ("tensors", "metadata"),
    [
        ({DOWN: torch.zeros(()), UP: torch.zeros(())}, ""),
        ({DOWN: torch.zeros(0, 8), UP: torch.zeros(8, 0)}, ""),
        ({DOWN: torch.zeros(2, 8, 3, 3), UP: torch.zeros(8, 2, 3, 3)}, ""),
        (PAIR | {"unet.0.alpha": torch.zeros(3)}, ""),
        (PAIR | {"unet.0.alpha": torch.tensor(torch.nan)}, ""),
        (PAIR, "[]"),
        (PAIR, "[" * 100_000),
        (PAIR, '{"unet.lora_alpha": ' + "1" * 5000 + "}"),
        (PAIR, '{"unet.lora_alpha": ' + "1" * 400 + "}"),
        (PAIR, '{"unet.lora_alpha": "much"}'),
        ({ROWS: torch.zeros(())}, ""),
        ({ROWS: torch.zeros(0, 8)}, ""),
        ({ROWS: torch.zeros(1, 8), ROWS.replace("*", "y"): torch.zeros(1, 4)}, ""),
    ],
)
def test_numbers_that_make_no_lora_are_refused(tensors: dict[str, Tensor], metadata: str) -> None:
    """No rank, no 1 x 1 kernel, no finite alpha, no rows: a LoraError, whatever is wrong."""
    with pytest.raises(LoraError):
        parse_lora(tensors, {"lora_adapter_metadata": metadata} if metadata else {})


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.bool, torch.complex64])
@pytest.mark.parametrize("key", [DOWN, UP, ROWS])
def test_codes_of_a_quantizer_are_no_weights(dtype: torch.dtype, key: str) -> None:
    """Taken as they are, they would change the model by nonsense; only an alpha may be whole."""
    tensors = PAIR | {ROWS: torch.ones(1, 8), "unet.0.alpha": torch.tensor(4)}
    assert parse_lora(tensors).unet["0"].scale == 2.0
    with pytest.raises(UnsupportedFormatError, match="1 tensors hold no floating numbers"):
        parse_lora(tensors | {key: tensors[key].to(dtype)})


def test_a_lora_of_layers_that_the_model_lacks_is_refused(unet: Any) -> None:
    """Known keys, unknown layers."""
    lora = parse_lora(
        {
            "unet.nowhere.lora_A.weight": torch.ones(2, 4),
            "unet.nowhere.lora_B.weight": torch.ones(4, 2),
        }
    )
    with pytest.raises(UnknownKeysError, match="not in the model: nowhere"):
        attach_lora_(copy.deepcopy(unet), lora)


@pytest.mark.parametrize(
    ("name", "layers"), [("expansion_joint_chiang", 128), ("catundchat_sd15_axe", 128)]
)
def test_real_files_are_read(name: str, layers: int) -> None:
    """Two published SD1.5 LoRAs in different key styles fit the SD1.5 UNet."""
    from diffusers import UNet2DConditionModel

    lora = read_lora(_real(f"lora/{name}.safetensors"))
    assert len(lora.unet) == layers
    with torch.device("meta"):
        unet = UNet2DConditionModel(cross_attention_dim=768)
    shapes = {n: tuple(m.weight.shape) for n, m in unet.named_modules() if hasattr(m, "weight")}
    assert resolve(lora.unet, shapes).keys() <= shapes.keys()
    with torch.device("meta"):
        wider = UNet2DConditionModel(cross_attention_dim=1024)
    shapes = {n: tuple(m.weight.shape) for n, m in wider.named_modules() if hasattr(m, "weight")}
    with pytest.raises(WidthMismatchError, match=r"768 .* 1024"):
        resolve(lora.unet, shapes)


def test_a_real_text_encoder_adapter_is_told_apart() -> None:
    """A PEFT adapter of the text encoder has no UNet layer."""
    lora = read_lora(_real("lora/anime_style_sd15_te_peft_adapter_model.safetensors"))
    assert (len(lora.unet), len(lora.text_encoder)) == (0, 24)


def test_what_is_not_safetensors_is_refused(tmp_path: Path) -> None:
    """Broken files of the wild and a truncated one."""
    whole = tmp_path / "whole.safetensors"
    save_file({"unet.a.lora_A.weight": torch.ones(2, 2)}, whole)
    broken = tmp_path / "broken.safetensors"
    for content in (whole.read_bytes()[:-4], b"\x80\x04", b"version https://git-lfs", b""):
        broken.write_bytes(content)
        with pytest.raises(UnsupportedFormatError, match="not a safetensors file"):
            read_lora(broken)


@pytest.mark.parametrize(
    "layer",
    [
        "transformer.x",
        "base_model.model.transformer_blocks.0.attn.to_k",
        "lora_transformer_blocks_0",
    ],
)
def test_diffusion_transformers_are_told_apart(layer: str) -> None:
    """They are not looked for among the UNet's layers."""
    factors = {"lora_A.weight": torch.ones(1, 4), "lora_B.weight": torch.ones(4, 1)}
    with pytest.raises(UnsupportedFormatError, match="diffusion transformer"):
        parse_lora({f"{layer}.{k}": v for k, v in factors.items()})


def test_sdxls_text_encoders_are_told_apart() -> None:
    """Each is a part of its own; a third one is said to be, not taken for a UNet's."""
    factors = {"lora_down.weight": torch.ones(1, 4), "lora_up.weight": torch.ones(4, 1)}
    first = parse_lora({f"lora_te1_text_model_encoder_q.{k}": v for k, v in factors.items()})
    assert (list(first.unet), list(first.text_encoder)) == ([], ["text_model_encoder_q"])
    for prefix in ("lora_te2_text_model_q", "text_encoder_2.text_model_q"):
        second = parse_lora({f"{prefix}.{k}": v for k, v in factors.items()})
        assert (second.unet, second.text_encoder) == ({}, {})
        assert list(second.text_encoder_2) == ["text_model_q"]
    peft = {f"text_encoder_2.q.lora_{half}.weight": t for half, t in
            zip("AB", factors.values(), strict=True)}  # fmt: skip
    metadata = {"lora_adapter_metadata": '{"text_encoder_2.lora_alpha": 8}'}
    assert parse_lora(peft, metadata).text_encoder_2["q"].scale == 8.0
    for prefix in ("lora_te3_text_model_q", "text_encoder_3.text_model.q"):
        with pytest.raises(UnsupportedFormatError, match="third text encoder"):
            parse_lora({f"{prefix}.{k}": v for k, v in factors.items()})


def test_a_text_encoder_carries_its_own_part() -> None:
    """Layers of the text encoder attach with or without a leading `text_model`."""
    factors = {
        "text_encoder.text_model.encoder.q.lora_A.weight": torch.ones(1, 4),
        "text_encoder.text_model.encoder.q.lora_B.weight": torch.ones(4, 1),
    }
    for prefix in ("text_model.encoder", "encoder"):
        model = torch.nn.Module()
        parent = model
        for part in prefix.split("."):
            child = torch.nn.Module()
            parent.add_module(part, child)
            parent = child
        layer = torch.nn.Linear(4, 4)
        parent.add_module("q", layer)
        x = torch.ones(1, 4)
        before = layer(x)
        attach_lora_(model, parse_lora(factors), part="text_encoder")
        assert_similar(layer(x), before + 4)
