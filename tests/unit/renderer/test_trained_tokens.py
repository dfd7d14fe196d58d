"""Prompts of checkpoints that ship an embedding for their trigger."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from support.tiny_sd import HIDDEN, make_tiny_sd
from transformers import CLIPTextModel, CLIPTokenizer

from personalq.renderer.prompts import EncodedPrompts, Vocabulary, encode, extend
from personalq.taq import Protected, Protection

TRIGGER = "<bear-v4>"
PROMPT = "a photo of a <bear-v4> in the forest"


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """A tokenizer and a text encoder."""
    base = make_tiny_sd(tmp_path_factory.mktemp("base"))
    encoder = CLIPTextModel.from_pretrained(base / "text_encoder").eval()
    return CLIPTokenizer.from_pretrained(Path(base) / "tokenizer"), encoder


def run(
    encoder: Any, vocabulary: Vocabulary, prompts: Sequence[str], trigger: str = TRIGGER
) -> EncodedPrompts:
    """Encode prompts with one trigger each."""
    return encode(
        prompts,
        [[trigger]] * len(prompts),
        encoder=encoder,
        vocabulary=vocabulary,
        protection=Protection(Protected.parse("trigger"), "", None),
        score=lambda states, _: states,
    )


def test_a_trained_token_is_encoded_as_if_the_encoder_had_been_resized(
    parts: tuple[Any, Any],
) -> None:
    """The states are those of an encoder whose table got the row the usual way."""
    tokenizer, encoder = parts
    row = torch.randn(1, HIDDEN)
    own = extend(tokenizer, {TRIGGER: row})
    resized = copy.deepcopy(encoder)
    resized.resize_token_embeddings(len(tokenizer) + 1, mean_resizing=False)
    with torch.no_grad():
        resized.get_input_embeddings().weight[len(tokenizer)] = row[0]
        ids = own.tokenizer(PROMPT, padding="max_length", return_tensors="pt")["input_ids"]
        expected = resized(ids).last_hidden_state
    encoded = run(encoder, own, [PROMPT])
    torch.testing.assert_close(encoded.states, expected)
    assert encoded.mask.sum() == 1


def test_the_shared_parts_stay_as_they_are(parts: tuple[Any, Any]) -> None:
    """Another checkpoint's prompt with the same words is encoded as before."""
    tokenizer, encoder = parts
    plain = extend(tokenizer, {})
    before = run(encoder, plain, [PROMPT])
    with_token = run(encoder, extend(tokenizer, {TRIGGER: torch.randn(1, HIDDEN)}), [PROMPT])
    after = run(encoder, plain, [PROMPT])
    assert torch.equal(before.states, after.states)
    assert not torch.allclose(before.states, with_token.states)
    assert before.mask.sum() > 1, "as plain words the trigger takes several tokens"


def test_prompts_without_the_trigger_do_not_change(parts: tuple[Any, Any]) -> None:
    """In a batch only the rows with the trained token differ."""
    tokenizer, encoder = parts
    prompts = ["", PROMPT, "a photo of a dog"]
    plain = run(encoder, extend(tokenizer, {}), prompts)
    own = run(encoder, extend(tokenizer, {TRIGGER: torch.randn(1, HIDDEN)}), prompts)
    torch.testing.assert_close(plain.states[[0, 2]], own.states[[0, 2]])
    assert own.mask.any(1).tolist() == [False, True, False]


def test_a_trigger_of_several_trained_tokens(parts: tuple[Any, Any]) -> None:
    """Every row gets a token of its own, and all of them are protected."""
    tokenizer, encoder = parts
    own = extend(tokenizer, {TRIGGER: torch.randn(3, HIDDEN)})
    encoded = run(encoder, own, [PROMPT])
    assert encoded.mask.sum() == 3
    ids = own.tokenizer(own.expand(PROMPT))["input_ids"]
    assert [i - own.first_id for i in ids if i >= own.first_id] == [0, 1, 2]


def test_a_trigger_is_found_in_any_case(parts: tuple[Any, Any]) -> None:
    """CLIP lower-cases words, so the trigger's case does not matter either."""
    tokenizer, encoder = parts
    own = extend(tokenizer, {TRIGGER: torch.randn(1, HIDDEN)})
    lower, upper = (run(encoder, own, [p]) for p in (PROMPT, PROMPT.upper()))
    assert torch.equal(lower.states, upper.states)


def test_a_trigger_that_is_a_token_of_the_base_is_retrained(parts: tuple[Any, Any]) -> None:
    """A word the tokenizer has whole is replaced in this checkpoint's prompts alone."""
    tokenizer, _ = parts
    word = "a"
    assert word in tokenizer.get_vocab()
    own = extend(tokenizer, {word: torch.randn(1, HIDDEN)})
    ids = own.tokenizer(own.expand("a man and A dog"))["input_ids"]
    assert sum(i >= own.first_id for i in ids) == 2, "whole words only, in any case"
