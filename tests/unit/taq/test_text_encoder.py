"""A text encoder kept in half precision: what it computes, and what it holds."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import torch
from torch.nn import functional as F
from transformers import CLIPTextConfig, CLIPTextModel

from personalq.taq import ArtifactMismatchError, half_precision, load_text_encoder_
from personalq.taq.modules import held_tensors

CONFIG = CLIPTextConfig(
    vocab_size=64,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    max_position_embeddings=16,
    bos_token_id=62,
    eos_token_id=63,
    pad_token_id=63,
)
IDS = torch.tensor([[62, 5, 9, 63]])


def _encoder() -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return CLIPTextModel(CONFIG).eval()


def _empty(config: CLIPTextConfig = CONFIG) -> Any:
    with torch.device("meta"):
        return CLIPTextModel(config)


def _state(encoder: Any) -> dict[str, torch.Tensor]:
    return {k.removeprefix("text_model."): t for k, t in encoder.state_dict().items()}


@torch.inference_mode()
def test_states_are_those_of_a_float32_encoder() -> None:
    """Bit for bit those of the rounded weights; close to those of the weights as they were."""
    encoder = _encoder()
    before = encoder(IDS).last_hidden_state
    kept = load_text_encoder_(_empty(), half_precision(_state(encoder)))
    states: Any = kept(IDS).last_hidden_state
    assert states.dtype == torch.float32
    assert torch.equal(states, encoder.half().float()(IDS).last_hidden_state)
    assert 0 < F.mse_loss(states, before) < 1e-6


def test_it_holds_two_bytes_per_weight_and_goes_when_it_is_dropped() -> None:
    """Nothing else of any size, before a use and after, and no cycle keeps it alive."""
    kept: Any = load_text_encoder_(_empty(), half_precision(_state(_encoder())))
    weights = sum(tensor.numel() for tensor in _state(_encoder()).values())
    positions = 8 * CONFIG.max_position_embeddings
    for _ in range(2):
        assert sum(t.nbytes for t in held_tensors(kept)) == 2 * weights + positions
        kept(IDS)
    gc.disable()
    try:
        held = [weakref.ref(tensor) for tensor in held_tensors(kept)]
        del kept
        assert not any(tensor() is not None for tensor in held)
    finally:
        gc.enable()


def test_numbers_beyond_float16_keep_their_size() -> None:
    """Such a tensor is kept in bfloat16, the others are not."""
    halves = half_precision({"a": torch.tensor([1e6, 1.0]), "b": torch.tensor([1.0])})
    assert [t.dtype for t in halves.values()] == [torch.bfloat16, torch.float16]
    assert halves["a"][0].item() == pytest.approx(1e6, rel=0.01)


def test_weights_of_another_encoder_are_refused() -> None:
    """Other layers, or other widths."""
    state = half_precision(_state(_encoder()))
    for option, value in (("num_hidden_layers", 3), ("intermediate_size", 96)):
        other = CLIPTextConfig(**CONFIG.to_dict() | {option: value})
        with pytest.raises(ArtifactMismatchError, match=r"another configuration: .*layers"):
            load_text_encoder_(_empty(other), state)
