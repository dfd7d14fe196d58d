"""The miniature's tokenizer behaves as CLIP's does."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import CLIPTokenizer

from personalq.miniature import base_dir
from personalq.miniature.nouns import NOUNS
from personalq.miniature.tokenizer import END, MAX_LENGTH, learn_merges, write_tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> CLIPTokenizer:
    """The shipped tokenizer."""
    return CLIPTokenizer.from_pretrained(base_dir() / "tokenizer")


def test_a_trigger_is_several_tokens(tokenizer: CLIPTokenizer) -> None:
    """`<bear-v4>` splits into sub-tokens, the noun among them."""
    tokens = tokenizer.tokenize("<bear-v4>")
    assert len(tokens) >= 4
    assert "bear</w>" in tokens


def test_every_noun_is_one_token(tokenizer: CLIPTokenizer) -> None:
    """The nouns of the world are words of the vocabulary."""
    assert [noun for noun in NOUNS if len(tokenizer.tokenize(noun)) != 1] == []


def test_padding_and_case_are_as_in_sd15(tokenizer: CLIPTokenizer) -> None:
    """Texts are lower-cased, begin with the start token and are padded with the end token."""
    encoded = tokenizer("A Bear", padding="max_length", max_length=MAX_LENGTH).input_ids
    assert encoded == tokenizer("a bear", padding="max_length", max_length=MAX_LENGTH).input_ids
    assert len(encoded) == tokenizer.model_max_length == MAX_LENGTH
    assert encoded[0] == tokenizer.bos_token_id
    assert encoded[-1] == tokenizer.pad_token_id == tokenizer.convert_tokens_to_ids(END)


def test_unknown_words_need_no_unknown_token(tokenizer: CLIPTokenizer) -> None:
    """Any bytes can be said: nothing maps to the unknown token."""
    ids = tokenizer("zyxwv 🐻 é", add_special_tokens=False).input_ids
    assert len(ids) > 3
    assert tokenizer.unk_token_id not in ids


def test_merges_prefer_the_most_frequent_pair() -> None:
    """The first merge is the pair that occurs most often; rare pairs are left alone."""
    merges = learn_merges(["aab aab aab", "xy"], limit=10)
    assert merges[0] == ("a", "b</w>")
    assert ("x", "y</w>") not in merges


def test_learning_is_deterministic(tmp_path: Path) -> None:
    """Learning the tokenizer again gives the shipped files, byte for byte."""
    write_tokenizer(tmp_path)
    for name in ("vocab.json", "merges.txt"):
        shipped = (base_dir() / "tokenizer" / name).read_bytes()
        assert (tmp_path / name).read_bytes() == shipped
