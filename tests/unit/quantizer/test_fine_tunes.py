"""Full fine-tunes in one file and in shards; their UNets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from support.original_layout import UNET, write_single_file
from support.tiny_sd import BASE_MODEL, make_full, make_tiny_sd

from personalq.chassis.errors import InvalidInput
from personalq.chassis.inspection import inspect
from personalq.quantizer.bases import BaseModel, BaseModels
from personalq.quantizer.fine_tunes import load_fine_tune
from personalq.quantizer.weight_files import check_finite
from personalq.taq import UnsupportedFormatError

WEIGHTS = "unet/diffusion_pytorch_model.safetensors"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> BaseModel:
    """The tiny base model."""
    folder = make_tiny_sd(tmp_path_factory.mktemp("base"))
    return BaseModels({BASE_MODEL: folder}).get(BASE_MODEL)


@pytest.fixture
def fine_tune(base: BaseModel, tmp_path: Path) -> Path:
    """A fine-tune of its UNet, as a diffusers folder."""
    return make_full(base.folder, tmp_path / "dog")


def _same_unet(source: Path, fine_tune: Path, base: BaseModel) -> bool:
    expected, state = load_file(fine_tune / WEIGHTS), load_fine_tune(source, base).unet.state_dict()
    return all(torch.equal(state[key], expected[key]) for key in expected)


@pytest.mark.parametrize("with_text_encoder", [False, True])
def test_a_single_file_is_the_folder_it_was_made_of(
    base: BaseModel, fine_tune: Path, tmp_path: Path, with_text_encoder: bool
) -> None:
    """Alone, or in a folder; every tensor of the UNet, by diffusers' converter, without a net."""
    encoder = base.folder / "text_encoder" if with_text_encoder else None
    (tmp_path / "single").mkdir()
    file = write_single_file(fine_tune, tmp_path / "single/dog.safetensors", text_encoder=encoder)
    found = inspect(file)
    assert (found.format, found.key_style, found.problems) == ("full", "single-file", ())
    assert found.cross_attention_width == base.cross_attention_width
    assert _same_unet(file, fine_tune, base)
    assert _same_unet(file.parent, fine_tune, base)


def test_a_single_file_may_be_a_trainers_checkpoint(
    base: BaseModel, fine_tune: Path, tmp_path: Path
) -> None:
    """`.ckpt`: the tensors of its state_dict, with weights_only; with more in it, it is refused."""
    encoder = base.folder / "text_encoder"
    file = write_single_file(fine_tune, tmp_path / "dog.safetensors", text_encoder=encoder)
    checkpoint = tmp_path / "dog.ckpt"
    torch.save({"global_step": 800, "state_dict": load_file(file)}, checkpoint)
    assert inspect(checkpoint).problems == ()
    assert _same_unet(checkpoint, fine_tune, base)
    torch.save({"state_dict": load_file(file), "config": Path("a")}, checkpoint)
    with pytest.raises(UnsupportedFormatError, match="tensors alone"):
        load_fine_tune(checkpoint, base)


def test_the_miniature_as_a_single_file(tmp_path: Path) -> None:
    """A trained fine-tune whose blocks are of other kinds than the tiny one's."""
    from personalq.miniature import base_dir, checkpoints

    mini = BaseModels({"m": base_dir()}).get("m")
    fine_tune = next(c.path for c in checkpoints() if not c.is_lora)
    file = write_single_file(fine_tune, tmp_path / "dog.safetensors")
    expected = load_file(fine_tune / WEIGHTS)
    state = load_fine_tune(file, mini).unet.state_dict()
    assert all(torch.equal(state[key], expected[key].float()) for key in expected)


def test_a_single_file_of_another_model_is_refused(
    base: BaseModel, fine_tune: Path, tmp_path: Path
) -> None:
    """Missing and superfluous tensors of the UNet are found, not passed over."""
    file = write_single_file(fine_tune, tmp_path / "dog.safetensors")
    tensors = load_file(file)
    key = f"{UNET}middle_block.0.in_layers.2.weight"
    save_file({k: t for k, t in tensors.items() if k != key}, file)
    with pytest.raises(InvalidInput, match=r"not a UNet of tests/tiny-sd.*mid_block"):
        load_fine_tune(file, base)
    down = f"{UNET}input_blocks.2.0.op.bias"
    save_file({k: t for k, t in tensors.items() if k != down}, file)
    with pytest.raises(InvalidInput, match=r"not a UNet of tests/tiny-sd.*downsamplers\.0\.conv"):
        load_fine_tune(file, base)
    save_file(tensors | {f"{UNET}label_emb.0.0.weight": torch.zeros(2)}, file)
    with pytest.raises(InvalidInput, match="have a place in it"):
        load_fine_tune(file, base)
    save_file(tensors | {key: torch.zeros(1)}, file)
    with pytest.raises(InvalidInput, match=r"conv1\.weight is \(1,\)"):
        load_fine_tune(file, base)


def test_shards_are_read_together(base: BaseModel, fine_tune: Path) -> None:
    """As the index lists them; a variant's file is as good as one without."""
    whole = fine_tune / WEIGHTS
    expected = load_file(whole)
    names = [f"diffusion_pytorch_model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    weight_map = {key: names[i % 2] for i, key in enumerate(expected)}
    for name in names:
        part = {key: expected[key] for key in expected if weight_map[key] == name}
        save_file(part, whole.with_name(name))
    whole.unlink()
    index = whole.with_name("diffusion_pytorch_model.safetensors.index.json")
    index.write_text(json.dumps({"weight_map": weight_map}))
    state = load_fine_tune(fine_tune, base).unet.state_dict()
    assert all(torch.equal(state[key], expected[key]) for key in expected)
    index.unlink()
    save_file(expected, whole.with_name("diffusion_pytorch_model.fp16.safetensors"))
    assert load_fine_tune(fine_tune, base)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.float16])
def test_numbers_are_finite_in_any_type(dtype: torch.dtype) -> None:
    """Eight bits, of which torch cannot say it itself, among them."""
    check_finite("a", torch.ones(3).to(dtype))
    with pytest.raises(InvalidInput, match="a holds numbers"):
        check_finite("a", torch.ones(2), torch.tensor([1, torch.nan]).to(dtype))
