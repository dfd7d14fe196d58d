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

from personalq.renderer.prompts import EncodedPrompts, Reader, encode, extend
from personalq.taq import LoraError, Protected, Protection, TextEncoder, TextEncoders

TRIGGER = "<bear-v4>"
PROMPT = "a photo of a <bear-v4> in the forest"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> TextEncoders:
    """A tokenizer and a text encoder."""
    base = make_tiny_sd(tmp_path_factory.mktemp("base"))
    encoder = CLIPTextModel.from_pretrained(base / "text_encoder").eval()
    tokenizer = CLIPTokenizer.from_pretrained(Path(base) / "tokenizer")
    return TextEncoders(encoders=(TextEncoder(tokenizer=tokenizer, model=encoder),))


def parts(text: TextEncoders) -> tuple[Any, Any]:
    """Return them apart."""
    (encoder,) = text.encoders
    return encoder.tokenizer, encoder.model


def run(reader: Reader, prompts: Sequence[str], trigger: str = TRIGGER) -> EncodedPrompts:
    """Encode prompts with one trigger each."""
    return encode(
        prompts,
        [[trigger]] * len(prompts),
        reader=reader,
        protection=Protection(Protected.parse("trigger"), "", None),
        score=lambda told, _: told.states,
    )


def test_a_trained_token_is_encoded_as_if_the_encoder_had_been_resized(
    text: TextEncoders,
) -> None:
    """The states are those of an encoder whose table got the row the usual way."""
    tokenizer, encoder = parts(text)
    row = torch.randn(1, HIDDEN)
    own = extend(text, {TRIGGER: row})
    resized = copy.deepcopy(encoder)
    resized.resize_token_embeddings(len(tokenizer) + 1, mean_resizing=False)
    with torch.no_grad():
        resized.get_input_embeddings().weight[len(tokenizer)] = row[0]
        ids = own.text.encoders[0].tokenizer(PROMPT, padding="max_length", return_tensors="pt")[
            "input_ids"
        ]
        expected = resized(ids).last_hidden_state
    encoded = run(own, [PROMPT])
    torch.testing.assert_close(encoded.told.states, expected)
    assert encoded.mask.sum() == 1


def test_the_shared_parts_stay_as_they_are(text: TextEncoders) -> None:
    """Another checkpoint's prompt with the same words is encoded as before."""
    plain = extend(text, {})
    before = run(plain, [PROMPT])
    with_token = run(extend(text, {TRIGGER: torch.randn(1, HIDDEN)}), [PROMPT])
    after = run(plain, [PROMPT])
    assert torch.equal(before.told.states, after.told.states)
    assert not torch.allclose(before.told.states, with_token.told.states)
    assert before.mask.sum() > 1, "as plain words the trigger takes several tokens"


def test_prompts_without_the_trigger_do_not_change(text: TextEncoders) -> None:
    """In a batch only the rows with the trained token differ."""
    prompts = ["", PROMPT, "a photo of a dog"]
    plain = run(extend(text, {}), prompts)
    own = run(extend(text, {TRIGGER: torch.randn(1, HIDDEN)}), prompts)
    torch.testing.assert_close(plain.told.states[[0, 2]], own.told.states[[0, 2]])
    assert own.mask.any(1).tolist() == [False, True, False]


def test_a_trigger_of_several_trained_tokens(text: TextEncoders) -> None:
    """Every row gets a token of its own, and all of them are protected."""
    own = extend(text, {TRIGGER: torch.randn(3, HIDDEN)})
    encoded = run(own, [PROMPT])
    assert encoded.mask.sum() == 3
    encoder = own.text.encoders[0]
    ids, first = encoder.tokenizer(own.expand(PROMPT))["input_ids"], encoder.first_own_id
    assert [i - first for i in ids if i >= first] == [0, 1, 2]


def test_a_trigger_is_found_in_any_case(text: TextEncoders) -> None:
    """CLIP lower-cases words, so the trigger's case does not matter either."""
    own = extend(text, {TRIGGER: torch.randn(1, HIDDEN)})
    lower, upper = (run(own, [p]) for p in (PROMPT, PROMPT.upper()))
    assert torch.equal(lower.told.states, upper.told.states)


@pytest.mark.parametrize(
    ("trigger", "written"),
    [("my bear", "My  bear"), ("my bear", "my\nbear"), ("<b\u00e9ar>", "<be\u0301ar>")],
    ids=["spaces", "lines", "accents"],
)
def test_all_tokens_of_a_trigger_stand_however_it_is_spelled(
    text: TextEncoders, trigger: str, written: str
) -> None:
    """What is the same text to CLIP calls every row, and all of them are protected."""
    own = extend(text, {trigger: torch.randn(2, HIDDEN)})
    prompt = f"a photo of {written}, asleep"
    encoder = own.text.encoders[0]
    ids, first = encoder.tokenizer(own.expand(prompt))["input_ids"], encoder.first_own_id
    assert [i - first for i in ids if i >= first] == [0, 1]
    assert run(own, [prompt], trigger).mask.sum() == 2


@pytest.mark.parametrize(("trigger", "kept"), [("My Bear", 2), ("<s1><s2>", 4), ("my bear cub", 5)])
def test_a_trigger_made_of_trained_tokens_is_kept_whole(
    text: TextEncoders, trigger: str, kept: int
) -> None:
    """Written otherwise than they are called, several at once, or with a word beside them."""
    rows = torch.randn(2, HIDDEN)
    own = extend(text, {"my bear": rows, "<s1>": rows, "<s2>": rows})
    assert run(own, [f"a photo of {trigger}, asleep"], trigger).mask.sum() == kept


def test_a_trigger_that_is_a_word_is_no_part_of_others(text: TextEncoders) -> None:
    """Where the trigger's span ends, its embedding ends: "nova" is not in "casanova"."""
    own = extend(text, {"zqnova": torch.randn(1, HIDDEN)})
    encoder = own.text.encoders[0]
    ids = encoder.tokenizer("zqnova casazqnova zqnovas zqnova_2, ZQNOVA.")["input_ids"]
    assert sum(i >= encoder.first_own_id for i in ids) == 2


def test_a_trigger_that_is_a_token_of_the_base_is_retrained(text: TextEncoders) -> None:
    """A word the tokenizer has whole is replaced in this checkpoint's prompts alone."""
    tokenizer, _ = parts(text)
    word = "a"
    assert word in tokenizer.get_vocab()
    own = extend(text, {word: torch.randn(1, HIDDEN)})
    encoder = own.text.encoders[0]
    ids, first = encoder.tokenizer(own.expand("a man and A dog"))["input_ids"], encoder.first_own_id
    assert sum(i >= first for i in ids) == 2, "whole words only, in any case"


@pytest.mark.parametrize(
    "names", [("<x>", "<x>_1"), ("<X>", "<x>_1"), ("a", "<|a|>")], ids=lambda n: " ".join(n)
)
def test_tokens_of_one_name_are_refused(text: TextEncoders, names: Sequence[str]) -> None:
    """The ids of all others would be taken for trained ones, the end token's in every prompt."""
    with pytest.raises(LoraError, match="are one token"):
        extend(text, {name: torch.randn(2, HIDDEN) for name in names})
    (encoder,) = extend(text, {"<x>": torch.randn(2, HIDDEN)}).text.encoders
    assert encoder.first_own_id == len(text.tokenizers[0])
    with pytest.raises(LoraError, match="1 trained embeddings for 2 new tokens"):
        TextEncoder(
            tokenizer=encoder.tokenizer,
            model=encoder.model,
            rows=torch.randn(1, HIDDEN),
            first_own_id=encoder.first_own_id,
        )


def test_a_token_of_the_base_among_the_further_ones_is_refused(text: TextEncoders) -> None:
    """It is added to no tokenizer, so there are more rows than new tokens."""
    tokenizer = copy.deepcopy(text.tokenizers[0])
    tokenizer.add_tokens(["<x>_1"])
    known = TextEncoders(encoders=(TextEncoder(tokenizer=tokenizer, model=None),))
    with pytest.raises(LoraError, match="2 trained embeddings for 1 new tokens"):
        extend(known, {"<x>": torch.randn(2, HIDDEN)})
