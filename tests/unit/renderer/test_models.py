"""What an artifact puts into memory, and that it leaves again."""

from __future__ import annotations

import asyncio
import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import UNet2DConditionModel
from support.tiny_sd import BASE_MODEL, make_tiny_sd, write_tokenizer
from support.tiny_sdxl import make_tiny_sdxl

from personalq.chassis.errors import NotReady
from personalq.renderer.bases import Base, load_base
from personalq.renderer.models import Weights, held_bytes, load_weights
from personalq.renderer.residents import Residents
from personalq.taq import (
    PROFILES,
    ArtifactMismatchError,
    half_precision,
    parse_lora,
    quantize_,
    write_base_artifact,
    write_full_artifact,
    write_lora_artifact,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    """The tiny model's shared components."""
    folder = make_tiny_sd(tmp_path_factory.mktemp("base"))
    return load_base(BASE_MODEL, folder, device=torch.device("cpu"), dtype=torch.float32)


def write(base: Base, folder: Path, *, tokenizer: str = "tokenizer", **text_encoder: Any) -> Path:
    """Write a fine-tune's artifact, perhaps with a text encoder."""
    unet: Any = UNet2DConditionModel.from_config(base.unet_config)
    quantize_(unet, PROFILES["full"], {})
    write_full_artifact(
        folder,
        unet,
        PROFILES["full"],
        base_digest="base",
        ranges={},
        tokenizer_fingerprint=tokenizer,
        triggers=["<dog>"],
        source_digest="source",
        **text_encoder,
    )
    return folder


def own_weights(base: Base) -> dict[str, torch.Tensor]:
    """Return another text encoder's weights, as an artifact has them."""
    state = base.text.encoders[0].model.state_dict()
    return half_precision({k.removeprefix("text_model."): t + 1 for k, t in state.items()})


async def test_an_own_text_encoder_is_counted_and_leaves_when_it_is_evicted(
    base: Base, tmp_path: Path
) -> None:
    """Two bytes a weight while it is resident; then nothing holds it, not even a cycle."""
    plain = load_weights(write(base, tmp_path / "plain"), base)
    assert plain.text_encoders == ()
    folder = write(base, tmp_path / "own", text_encoder=own_weights(base))

    async def load() -> Weights:
        return load_weights(folder, base)

    weights = sum(p.numel() for p in base.text.encoders[0].model.parameters())
    residents = Residents[Weights](bytes_max=10**8, measure=held_bytes, idle_s=1e-9)
    async with residents.lease("own", load, expected_bytes=1) as lease:
        encoder: Any = lease.value.text_encoders[0]
        assert encoder(torch.tensor([[1, 2]])).last_hidden_state.dtype == torch.float32
        held = weakref.ref(next(p for p in encoder.parameters() if p.ndim == 2))
    positions = sum(b.nbytes for b in encoder.buffers())
    assert residents.size_bytes - held_bytes(plain) == 2 * weights + positions
    gc.disable()
    try:
        residents.evict_idle()
        del encoder, lease
        await asyncio.sleep(0)  # the event loop lets go of the load that has ended
        assert held() is None
    finally:
        gc.enable()


def test_a_text_encoder_of_another_base_is_refused(base: Base, tmp_path: Path) -> None:
    """An artifact that does not fit is not filled up with the base's weights."""
    own = own_weights(base)
    own.popitem()
    with pytest.raises(ArtifactMismatchError, match="text encoder has another configuration"):
        load_weights(write(base, tmp_path, text_encoder=own), base)


def test_an_artifact_for_another_tokenizer_is_refused(base: Base, tmp_path: Path) -> None:
    """Its words would be other tokens here; what an older artifact says of files tells nothing."""
    folder = make_tiny_sd(tmp_path / "base")
    write_tokenizer(folder / "tokenizer", pad="!")
    other = load_base(BASE_MODEL, folder, device=torch.device("cpu"), dtype=torch.float32)
    made = write(base, tmp_path / "made", tokenizer=base.tokenizer_fingerprint)
    assert load_weights(made, base).lora is None
    with pytest.raises(NotReady, match=f"'{BASE_MODEL}' has another tokenizer .* same base folder"):
        load_weights(made, other)
    older = write(base, tmp_path / "older", tokenizer="5" * 64)
    assert load_weights(older, other).lora is None


@pytest.mark.parametrize(
    ("keys", "made_for", "words"),
    [
        (("clip_l", "clip_g"), "sdxl", "two text encoders, .* has one"),
        (("clip_l",), "sd", "for one text encoder, .* has two"),
    ],
)
def test_rows_for_the_text_encoders_of_another_base_are_refused(
    base: Base, tmp_path: Path, keys: tuple[str, ...], made_for: str, words: str
) -> None:
    """A name of a base that is another model here is said, not a crash or half of the rows."""
    folder = make_tiny_sdxl(tmp_path / "sdxl")
    sdxl = load_base(BASE_MODEL, folder, device=torch.device("cpu"), dtype=torch.float32)
    own, other = (sdxl, base) if made_for == "sdxl" else (base, sdxl)
    unet: Any = UNet2DConditionModel.from_config(own.unet_config)
    quantize_(unet, PROFILES["full"], {})
    of_base = write_base_artifact(
        tmp_path / "base",
        unet,
        PROFILES["full"],
        base_digest="base",
        ranges={},
        tokenizer_fingerprint="tokenizer",
    )
    widths = [encoder.model.config.hidden_size for encoder in own.text.encoders]
    tensors = {key: torch.ones(1, n) for key, n in zip(keys, widths, strict=True)}
    write_lora_artifact(
        tmp_path / "lora",
        parse_lora(tensors, token="<bear>"),
        base_artifact=of_base,
        triggers=["<bear>"],
        source_digest="source",
    )
    assert set(load_weights(tmp_path / "lora", own).reader.phrases) == {"<bear>"}
    with pytest.raises(ArtifactMismatchError, match=words):
        load_weights(tmp_path / "lora", other)
