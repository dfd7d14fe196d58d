"""Which kind of base model a diffusers folder is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from personalq.chassis.base_folders import (
    check_base_folder,
    has_second_text_encoder,
    zeroes_empty_prompts,
)
from personalq.chassis.errors import InvalidInput

PARTS = ("unet", "text_encoder", "tokenizer")


def _folder(path: Path, *more: str, added: str | None = None, **index: object) -> Path:
    for part in (*PARTS, *more):
        (path / part).mkdir(parents=True)
    (path / "unet/config.json").write_text(json.dumps({"addition_embed_type": added}))
    (path / "model_index.json").write_text(json.dumps(index))
    return path


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
