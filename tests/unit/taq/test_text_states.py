"""What prompts give the UNet, held to diffusers' own pipelines."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import StableDiffusionXLPipeline
from support.tiny_sd import make_tiny_sd
from support.tiny_sdxl import HIDDEN, HIDDEN_2, POOLED, make_tiny_sdxl
from tokenizers import AddedToken
from transformers import CLIPTextModel, CLIPTokenizer

from personalq.taq import TextEncoder, TextEncoders, TextStates

PROMPTS = ["a photo of a bear", "dog! of forest"]


def _pipeline(folder: Path) -> Any:
    pipeline: Any = StableDiffusionXLPipeline.from_pretrained(folder, add_watermarker=False)
    return pipeline


def _encoders(pipeline: Any, *, zero_empty: bool = True) -> TextEncoders:
    return TextEncoders(
        encoders=(
            TextEncoder(tokenizer=pipeline.tokenizer, model=pipeline.text_encoder),
            TextEncoder(tokenizer=pipeline.tokenizer_2, model=pipeline.text_encoder_2),
        ),
        zero_empty=zero_empty,
    )


@torch.inference_mode()
def test_one_text_encoder_gives_its_last_states(tmp_path: Path) -> None:
    """And nothing but them."""
    folder = make_tiny_sd(tmp_path)
    tokenizer: Any = CLIPTokenizer.from_pretrained(folder / "tokenizer")
    model: Any = CLIPTextModel.from_pretrained(folder / "text_encoder").eval()
    text = TextEncoders(encoders=(TextEncoder(tokenizer=tokenizer, model=model),))
    told = text.read(["", *PROMPTS])
    ids = tokenizer(["", *PROMPTS], padding="max_length", return_tensors="pt").input_ids
    assert torch.equal(told.states, model(ids).last_hidden_state)
    assert (len(told), told.pooled, told.conditions(height=64, width=64)) == (3, None, {})
    assert TextStates.cat([told, told]).pooled is None


@torch.inference_mode()
@pytest.mark.parametrize("zero_empty", [True, False])
@pytest.mark.parametrize("negative", [None, "", "dog"])
def test_two_text_encoders_give_what_the_sdxl_pipeline_makes(
    tmp_path: Path, zero_empty: bool, negative: str | None
) -> None:
    """States, pooled states and the numbers of the size, of the unconditional half too.

    The empty prompt is zeros where the base says so; diffusers reads one that is given, `""`.
    """
    pipeline = _pipeline(make_tiny_sdxl(tmp_path, zero_empty=zero_empty))
    negatives = None if negative is None else [negative] * 2
    states, empty, pooled, empty_pooled = pipeline.encode_prompt(PROMPTS, negative_prompt=negatives)
    text = _encoders(pipeline, zero_empty=zero_empty and negative is None)
    told = text.read([negative or ""] * 2 + PROMPTS)
    assert told.states.shape == (4, 77, HIDDEN + HIDDEN_2)
    torch.testing.assert_close(told.states, torch.cat([empty, states]))
    torch.testing.assert_close(told.pooled, torch.cat([empty_pooled, pooled]))
    assert bool(told.states[:2].any()) is not (zero_empty and negative is None)
    joined = TextStates.cat([told[:1], told[1:]])
    assert torch.equal(joined.states, told.states)
    torch.testing.assert_close(joined.pooled, told.pooled, rtol=0, atol=0)

    added = told[2:].conditions(height=48, width=64)["added_cond_kwargs"]
    ids = pipeline._get_add_time_ids(
        (48, 64), (0, 0), (48, 64), dtype=torch.float32, text_encoder_projection_dim=POOLED
    )
    assert torch.equal(added["time_ids"], ids.repeat(2, 1))
    torch.testing.assert_close(added["text_embeds"], pooled)


@torch.inference_mode()
def test_trained_rows_go_to_their_own_text_encoder(tmp_path: Path) -> None:
    """As if both tables had been resized; the prompt is pooled where it ends all the same."""
    pipeline = _pipeline(make_tiny_sdxl(tmp_path))
    text = _encoders(pipeline)
    prompt = "a photo of a <bear>"
    encoders, resized = [], []
    for encoder in text.encoders:
        width = encoder.model.config.hidden_size
        tokenizer, rows = copy.deepcopy(encoder.tokenizer), torch.randn(1, width)
        tokenizer.add_tokens([AddedToken("<bear>", normalized=True)])
        encoders.append(
            TextEncoder(
                tokenizer=tokenizer,
                model=encoder.model,
                rows=rows,
                first_own_id=len(encoder.tokenizer),
            )
        )
        model = copy.deepcopy(encoder.model)
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        model.get_input_embeddings().weight[-1] = rows[0]
        resized.append(TextEncoder(tokenizer=tokenizer, model=model))
    own = TextEncoders(encoders=tuple(encoders)).read([prompt])
    # A table with the row, and an end token that is told by its own id.
    resized[1].model.text_model.eos_token_id = len(text.tokenizers[1]) - 1
    expected = TextEncoders(encoders=tuple(resized)).read([prompt])
    torch.testing.assert_close(own.states, expected.states)
    torch.testing.assert_close(own.pooled, expected.pooled)
    assert not torch.equal(own.states, text.read([prompt]).states)
