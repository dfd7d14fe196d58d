"""Which kind of base model a diffusers folder is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from personalq.chassis.base_folders import (
    TOKENIZERS,
    base_folder,
    check_base_folder,
    has_second_text_encoder,
    latent_side,
    text_width,
    zeroes_empty_prompts,
)
from personalq.chassis.errors import InvalidInput
from personalq.miniature.places import base_dir

PARTS = ("unet", "text_encoder", "tokenizer")
UNET: dict[str, object] = {"sample_size": 64, "cross_attention_dim": 768, "in_channels": 4}
ADDED: dict[str, object] = {
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816,
}


def _folder(path: Path, *more: str, added: str | None = None, **index: object) -> Path:
    for part in (*PARTS, *more):
        (path / part).mkdir(parents=True, exist_ok=True)
    _write(path / "unet", UNET | ADDED | {"addition_embed_type": added})
    if "text_encoder_2" in more:
        _write(path / "text_encoder_2", {"projection_dim": 1280})
    (path / "model_index.json").write_text(json.dumps(index))
    return path


def _write(part: Path, config: Mapping[str, object]) -> None:
    part.mkdir(exist_ok=True)
    (part / "config.json").write_text(json.dumps(config))


def _sdxl(path: Path) -> Path:
    folder = _folder(path, *TOKENIZERS, *TOKENIZERS.values(), added="text_time")
    _write(folder / "vae", {"latent_channels": 4})
    check_base_folder("m", folder, PARTS)
    return folder


def test_one_text_encoder(tmp_path: Path) -> None:
    """Nothing is added to its states, and zeros are never taken for them."""
    folder = _folder(tmp_path, force_zeros_for_empty_prompt=True)
    check_base_folder("m", folder, PARTS)
    assert (has_second_text_encoder(folder), zeroes_empty_prompts(folder)) == (False, False)


@pytest.mark.parametrize("told", [True, False, None])
def test_two_text_encoders(tmp_path: Path, told: bool | None) -> None:
    """The empty prompt is zeros unless the folder says otherwise, as diffusers takes it."""
    index = {} if told is None else {"force_zeros_for_empty_prompt": told}
    folder = _folder(tmp_path, "text_encoder_2", "tokenizer_2", added="text_time", **index)
    check_base_folder("m", folder, PARTS)
    assert (has_second_text_encoder(folder), zeroes_empty_prompts(folder)) == (
        True,
        told is not False,
    )


@pytest.mark.parametrize(
    ("more", "added", "words"),
    [
        (("text_encoder_2",), "text_time", "has no tokenizer_2"),
        ((), "text_time", "takes text_time conditions .* one text encoder"),
        ((), "text_image", "takes text_image conditions .* one text encoder"),
        (("text_encoder_2", "tokenizer_2"), None, "takes no conditions .* two text encoders"),
    ],
)
def test_what_would_be_served_wrongly_is_refused(
    tmp_path: Path, more: tuple[str, ...], added: str | None, words: str
) -> None:
    """A part that is missing, and a UNet that takes something else."""
    with pytest.raises(InvalidInput, match=words):
        check_base_folder("m", _folder(tmp_path, *more, added=added), PARTS)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"class_embed_type": "projection"}, "its class_embed_type is 'projection'"),
        ({"num_class_embeds": 10}, "its num_class_embeds is 10"),
        ({"encoder_hid_dim_type": "ip_image_proj"}, "its encoder_hid_dim_type is 'ip_image_proj'"),
        ({"in_channels": 9}, "its in_channels are 9, the VAE's latent_channels 4"),
        ({"projection_class_embeddings_input_dim": 2560}, "_input_dim is 2560, not 6 times"),
        ({"addition_time_embed_dim": None}, r"addition_time_embed_dim \(None\)"),
        ({"sample_size": None}, "its sample_size is None, not the side of a square"),
        ({"sample_size": [64, 96]}, r"its sample_size is \[64, 96\]"),
        ({"sample_size": "64"}, "its sample_size is '64'"),
        ({"cross_attention_dim": None}, "its cross_attention_dim is None"),
        ({"cross_attention_dim": "2048"}, "its cross_attention_dim is '2048'"),
        ({"cross_attention_dim": [768, 1024]}, r"its cross_attention_dim is \[768, 1024\]"),
        ({"cross_attention_dim": []}, r"its cross_attention_dim is \[\]"),
        ({"cross_attention_dim": True}, "its cross_attention_dim is True"),
    ],
    ids=str,
)
def test_a_unet_that_what_surrounds_it_does_not_fit_is_refused(
    tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    """At the start, by the option's name and the file that says it."""
    folder = _sdxl(tmp_path)
    _write(folder / "unet", UNET | ADDED | {"addition_embed_type": "text_time"} | changes)
    with pytest.raises(InvalidInput, match=rf"base model 'm': .*unet/config\.json: .*{words}"):
        check_base_folder("m", folder, PARTS)


def test_numbers_that_are_written_several_times(tmp_path: Path) -> None:
    """Both sides of a square, a width for every block."""
    twice: dict[str, object] = {"sample_size": [8, 8], "cross_attention_dim": [768, 768, 768]}
    assert (latent_side(twice), text_width(twice)) == (8, 768)
    folder = _folder(tmp_path)
    _write(folder / "unet", UNET | twice)
    check_base_folder("m", folder, PARTS)


@pytest.mark.parametrize("content", ["{", "[]", '{"force_zeros_for_empty_prompt": "false"}',
                                     '{"force_zeros_for_empty_prompt": null}'])  # fmt: skip
def test_an_index_that_cannot_be_read_is_refused(tmp_path: Path, content: str) -> None:
    """It would be taken for one that says nothing; a folder without an index says nothing."""
    folder = _sdxl(tmp_path)
    (folder / "model_index.json").write_text(content)
    with pytest.raises(InvalidInput, match=r"model_index\.json"):
        check_base_folder("m", folder, PARTS)
    (folder / "model_index.json").unlink()
    check_base_folder("m", folder, PARTS)
    assert zeroes_empty_prompts(folder)


def test_the_miniature_is_served() -> None:
    """As a base of one text encoder."""
    check_base_folder("miniature", base_dir(), (*PARTS, "vae", "scheduler"))


async def test_a_folder_is_fetched_only_where_it_is_not_on_this_machine(tmp_path: Path) -> None:
    """A path and a `file://` URI are taken as they are; what was fetched whole is kept."""
    folder, kept = tmp_path / "my base", tmp_path / "kept"
    assert await base_folder(str(folder), kept, max_bytes=1) == folder
    assert await base_folder(folder.as_uri(), kept, max_bytes=1) == folder
    (kept / "model/unet").mkdir(parents=True)
    (kept / ".model.partial/unet").mkdir(parents=True)
    assert await base_folder("hf://somebody/model", kept, max_bytes=1) == kept / "model"
