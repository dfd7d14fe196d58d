"""Where triggers stand, with CLIP's real vocabulary and with one trained here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from personalq.taq import TokenizerError, TokenSpan, trigger_mask, trigger_spans

CLIP = Path(__file__).parents[3] / "../shared/data/clip_tokenizer"


@pytest.fixture(scope="module")
def clip() -> Any:
    """CLIP's tokenizer; each test that changes it loads its own."""
    return _load_clip()


def _load_clip() -> Any:
    if not CLIP.is_dir():
        pytest.skip("CLIP's vocabulary is not beside this checkout (../shared/data/clip_tokenizer)")
    from transformers import CLIPTokenizer

    return CLIPTokenizer.from_pretrained(CLIP, model_max_length=77)


@pytest.fixture(scope="module")
def tiny() -> Any:
    """A byte-level BPE that lower-cases, trained on four words, with 12 tokens at most."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE(unk_token="<|end|>"))
    bpe.normalizer = normalizers.Lowercase()
    bpe.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(
        vocab_size=80,
        special_tokens=["<|start|>", "<|end|>"],
        initial_alphabet=list("<>-0123456789"),
    )
    bpe.train_from_iterator(["a photo of a bear in the forest <bear-v4>"] * 4, trainer)
    bpe.post_processor = processors.TemplateProcessing(
        single="<|start|> $A <|end|>", special_tokens=[("<|start|>", 0), ("<|end|>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe, model_max_length=12, pad_token="<|end|>", eos_token="<|end|>"
    )


def _tokens(prompt: str, trigger: str, tokenizer: Any) -> list[list[str]]:
    """Return the spans' tokens without the end-of-word mark."""
    ids = tokenizer(prompt, truncation=True, max_length=tokenizer.model_max_length)["input_ids"]
    tokens = [t.removesuffix("</w>") for t in tokenizer.convert_ids_to_tokens(ids)]
    return [tokens[s.start : s.stop] for s in trigger_spans(prompt, trigger, tokenizer)]


@pytest.mark.parametrize(
    ("prompt", "trigger", "expected"),
    [
        ("a <bear-v4> on grass", "<bear-v4>", [["<", "bear", "-", "v", "4", ">"]]),
        ("a photo of sks dog", "sks", [["sks"]]),
        ("a SKS dog", "sks", [["sks"]]),
        ("a <Sks>, a <sks>", "<sks>", [["<", "sks", ">"], ["<", "sks", ">"]]),
        ("<s1><s2>", "<s1>", [["<", "s", "1", "><"]]),
        ("<s1><s2>", "<s2>", [["><", "s", "2", ">"]]),
        ("<s1><s1>", "<s1>", [["<", "s", "1", "><"], ["><", "s", "1", ">"]]),
        ("a smf   girl", "smf girl", [["sm", "f", "girl"]]),
        ("many bears", "bear", []),
        ("a <bear-v41>", "<bear-v4>", []),
        ("no such thing", "<bear-v4>", []),
        ("anything", "", []),
        ("", "<bear-v4>", []),
        ("é🐻 <bear-v4>", "<bear-v4>", [["<", "bear", "-", "v", "4", ">"]]),
    ],
)
def test_spans_with_clips_vocabulary(
    clip: Any, prompt: str, trigger: str, expected: list[list[str]]
) -> None:
    """Sub-tokens, repetition, shared tokens, letter case, whole words, absence."""
    assert _tokens(prompt, trigger, clip) == expected


def test_positions_count_the_start_token(clip: Any) -> None:
    """Indices are those of the text encoder's output."""
    assert trigger_spans("sks dog", "sks", clip) == [TokenSpan(1, 2)]


def test_what_is_truncated_is_not_protected(clip: Any) -> None:
    """A span is cut where the prompt is, and gone where it is cut off whole."""
    assert trigger_spans("word " * 73 + "<bear-v4>", "<bear-v4>", clip) == [TokenSpan(74, 76)]
    assert trigger_spans("word " * 80 + "<bear-v4>", "<bear-v4>", clip) == []


def test_a_trigger_that_is_one_added_token() -> None:
    """After `add_tokens` the trigger is a single id, and so is its span."""
    tokenizer = _load_clip()
    tokenizer.add_tokens(["<bear-v4>"])
    assert trigger_spans("a <bear-v4> here", "<bear-v4>", tokenizer) == [TokenSpan(2, 3)]


def test_letter_case_counts_where_the_tokenizer_keeps_it() -> None:
    """An added token that is not normalized matches in its own spelling only."""
    from tokenizers import AddedToken

    tokenizer = _load_clip()
    tokenizer.add_tokens([AddedToken("Zwx", normalized=False, special=False)])
    assert len(trigger_spans("a Zwx here", "Zwx", tokenizer)) == 1
    assert trigger_spans("a zwx here", "Zwx", tokenizer) == []


def test_spans_with_another_vocabulary(tiny: Any) -> None:
    """Nothing depends on CLIP: the span covers exactly the trigger's characters."""
    prompt = "a <bear-v4> bear"
    (span,) = trigger_spans(prompt, "<BEAR-V4>", tiny)
    offsets = tiny(prompt, return_offsets_mapping=True)["offset_mapping"]
    assert prompt[offsets[span.start][0] : offsets[span.stop - 1][1]] == "<bear-v4>"


def test_masks_of_a_batch(tiny: Any) -> None:
    """Each prompt has its own trigger, several, or none; the mask is as long as the padded text."""
    mask = trigger_mask(
        ["a bear in the forest", "a bear", "a bear"], ["bear", ["a", "bear"], ""], tiny
    )
    assert mask.dtype == torch.bool
    assert mask.shape == (3, 12)
    assert mask.sum(1).tolist() == [1, 2, 0]
    assert not mask[:, 0].any()


def test_prompts_and_triggers_come_in_pairs(tiny: Any) -> None:
    """A batch with fewer triggers than prompts is a mistake."""
    with pytest.raises(ValueError, match="shorter"):
        trigger_mask(["a", "b"], [""], tiny)


def test_a_tokenizer_without_offsets_is_refused() -> None:
    """Spans cannot be found without character offsets, and the error says what to do."""

    class Slow:
        model_max_length = 77

        def __call__(self, text: str, **_: object) -> dict[str, list[int]]:
            raise NotImplementedError

    with pytest.raises(TokenizerError, match="fast tokenizer"):
        trigger_spans("a bear", "bear", Slow())


def test_a_tokenizer_without_a_limit_is_refused(tiny: Any) -> None:
    """A mask needs a length."""

    class Unlimited:
        model_max_length = int(1e30)

    with pytest.raises(TokenizerError, match="model_max_length"):
        trigger_mask(["a"], ["a"], Unlimited())


@pytest.fixture(scope="module")
def miniature() -> Any:
    """The miniature's tokenizer: CLIP's rules, learnt from its own captions."""
    return _load_miniature()


def _load_miniature(**changes: Any) -> Any:
    from transformers import CLIPTokenizer

    from personalq.miniature import base_dir

    return CLIPTokenizer.from_pretrained(base_dir() / "tokenizer", **changes)


@pytest.mark.parametrize(
    ("prompt", "trigger", "expected"),
    [
        ("a <bear-v4>, on grass", "<bear-v4>", [["<", "bear", "-", "v", "4", ">"]]),
        ("A <BEAR-V4>", "<bear-v4>", [["<", "bear", "-", "v", "4", ">"]]),
        ("<s1><s2> dog", "<s1>", [["<", "s", "1", ">"]]),
        ("<s1><s2> dog", "<s2>", [["<", "s", "2", ">"]]),
        ("a sks dog", "sks", [["s", "k", "s"]]),
        ("a <s1> and a <s1>", "<s1>", [["<", "s", "1", ">"]] * 2),
        ("a bear", "<bear-v4>", []),
    ],
)
def test_spans_with_the_miniatures_vocabulary(
    miniature: Any, prompt: str, trigger: str, expected: list[list[str]]
) -> None:
    """Sub-tokens, case, adjacency, repetition, absence."""
    assert _tokens(prompt, trigger, miniature) == expected


@pytest.fixture(scope="module")
def handmade(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A CLIP tokenizer with three merges, two of them of a trigger's end with what follows."""
    from transformers import CLIPTokenizer

    from personalq.miniature.tokenizer import byte_alphabet

    folder = tmp_path_factory.mktemp("handmade")
    merges = [(">", "<</w>"), (">", ",</w>"), ("o", "g</w>")]
    letters = list(byte_alphabet().values())
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), *map("".join, merges)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}))
    lines = ["#version: 0.2", *map(" ".join, merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n")
    return CLIPTokenizer(
        str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=16
    )


@pytest.mark.parametrize(
    ("prompt", "trigger", "expected"),
    [
        ("<s1><s2> dog", "<s1>", [["<", "s", "1", "><"]]),
        ("<s1><s2> dog", "<s2>", [["><", "s", "2", ">"]]),
        ("<s1>, dog", "<s1>", [["<", "s", "1", ">,"]]),
        ("<s1>dog <s1>", "<s1>", [["<", "s", "1", ">"]] * 2),
    ],
)
def test_a_token_shared_with_the_trigger_belongs_to_it(
    handmade: Any, prompt: str, trigger: str, expected: list[list[str]]
) -> None:
    """Rounding a token that holds the trigger's last character would round the trigger."""
    assert _tokens(prompt, trigger, handmade) == expected


@pytest.mark.parametrize(("prompt", "trigger"), [("cafe\u0301", "café"), ("café", "cafe\u0301")])
def test_an_accent_may_be_written_in_either_way(miniature: Any, prompt: str, trigger: str) -> None:
    """CLIP composes accents before it reads, so both spellings are the same trigger."""
    (span,) = trigger_spans(f"a {prompt} here", trigger, miniature)
    assert span.start == 2
    assert span.stop == 1 + len(miniature.tokenize("a café"))


def test_masks_of_a_batch_with_different_spans(miniature: Any) -> None:
    """Each prompt is cut at its own place: early, late, twice, cut off, not at all."""
    prompts = [
        "<bear-v4> in the forest",
        "bear " * 73 + "<bear-v4>",
        "<bear-v4> <bear-v4>",
        "bear " * 80 + "<bear-v4>",
        "a bear",
    ]
    mask = trigger_mask(prompts, ["<bear-v4>"] * 5, miniature)
    positions = [row.nonzero().flatten().tolist() for row in mask]
    assert positions == [list(range(1, 7)), [74, 75], list(range(1, 13)), [], []]


def test_two_tokenizers_protect_what_either_finds(miniature: Any) -> None:
    """SDXL joins the states of two encoders row by row, and each splits a trigger in its way."""
    other = _load_miniature(pad_token="!")
    other.add_tokens(["<bear-v4>"])
    prompts = ["a <bear-v4> in <bear-v4>", "a bear"]
    masks = [trigger_mask(prompts, ["<bear-v4>"] * 2, t) for t in (miniature, other)]
    assert [int(mask[0].sum()) for mask in masks] == [12, 2]
    both = trigger_mask(prompts, ["<bear-v4>"] * 2, [miniature, other])
    assert torch.equal(both, masks[0] | masks[1])
    assert both[0, 4] and not both[1].any()


def test_padding_is_never_a_trigger() -> None:
    """SDXL's second tokenizer pads with `!`, which a trigger may hold."""
    padded_with_id_0 = _load_miniature(pad_token="!")
    assert padded_with_id_0("a", padding="max_length", max_length=9)["input_ids"][-1] == 0
    mask = trigger_mask(["a wow! bear", "a bear"], ["wow!", "!"], padded_with_id_0)
    wow = len(padded_with_id_0.tokenize("wow!"))
    assert mask[0].nonzero().flatten().tolist() == list(range(2, 2 + wow))
    assert not mask[1].any()


def test_tokenizers_of_different_lengths_are_refused(miniature: Any, tiny: Any) -> None:
    """States of different lengths cannot be joined."""
    with pytest.raises(TokenizerError, match=r"\[12, 77\]"):
        trigger_mask(["a"], ["a"], [miniature, tiny])
