"""Which tokens are protected: every set, unions, what is done without a trigger."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from unit.taq.models import TEXT_WIDTH, TOKENS, assert_similar, inputs, predict, tiny_unet

from personalq.taq import (
    ContextError,
    Protected,
    RecipeError,
    TokenizerError,
    WidthMismatchError,
    Words,
    attention_received,
    conditioning,
    counterparts,
    plain_prompt,
    protected_mask,
    resolve_protection,
)

PROMPT = "a photo of a <bear-v4> bear, on grass"
WORDS = Words(PROMPT, ("<bear-v4>",), "bear")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """The miniature's tokenizer: `<bear-v4>` is six tokens for it."""
    from transformers import CLIPTokenizer

    from personalq.miniature import base_dir

    return CLIPTokenizer.from_pretrained(base_dir() / "tokenizer")


def _tokens(mask: Tensor, prompt: str, tokenizer: Any) -> list[str]:
    """Return the tokens that one row of a mask marks, padding left out."""
    tokens = tokenizer.convert_ids_to_tokens(tokenizer(prompt)["input_ids"])
    return [t.removesuffix("</w>") for t, kept in zip(tokens, mask, strict=False) if kept]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("trigger", "trigger"),
        ("trigger+bos", "bos+trigger"),
        ("bos+conditioned:8", "bos+conditioned:8"),
        ("conditioned", "conditioned:16"),
        ("none", "none"),
    ],
)
def test_a_set_has_one_form(text: str, written: str) -> None:
    """Order does not matter, and what is written reads as the same set."""
    protected = Protected.parse(text)
    assert str(protected) == written
    assert Protected.parse(written) == protected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no protected set ''"),
        ("eos", "no protected set 'eos'"),
        ("bos+", "no protected set ''"),
        ("conditioned:x", "no protected set"),
        ("conditioned:0", "1 row or more"),
        ("bos:3", "only conditioned has a budget"),
        ("bos+bos", "twice"),
        ("none+bos", "themselves only"),
        ("all+trigger", "themselves only"),
    ],
)
def test_what_is_no_set_is_refused(text: str, words: str) -> None:
    """The message says what there is."""
    with pytest.raises(RecipeError, match=words):
        Protected.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("none", []),
        ("bos", ["<|startoftext|>"]),
        ("trigger", ["<", "bear", "-", "v", "4", ">"]),
        ("noun", ["bear"]),
        ("bos+noun", ["<|startoftext|>", "bear"]),
        ("noun+trigger", ["<", "bear", "-", "v", "4", ">", "bear"]),
    ],
)
def test_sets_by_name(tokenizer: Any, text: str, expected: list[str]) -> None:
    """The noun inside the trigger's name is not the noun; a union is all of its sets."""
    mask = protected_mask(Protected.parse(text), [WORDS], tokenizer)
    assert (mask.dtype, mask.shape) == (torch.bool, (1, 77))
    assert _tokens(mask[0], PROMPT, tokenizer) == expected
    assert int(mask.sum()) == len(expected)


def test_all_means_padding_too(tokenizer: Any) -> None:
    """Nothing masks the padding, so the image attends to it as well."""
    assert protected_mask(Protected.parse("all"), [WORDS], tokenizer).all()


def test_each_prompt_of_a_batch_has_its_own_tokens(tokenizer: Any) -> None:
    """Triggers and nouns differ, and an absent one protects nothing."""
    batch = [
        Words("a sks dog", ("sks",), "dog"),
        Words("my dog at night", ("sks",), "dog"),
        Words("", ("sks",), "dog"),
    ]
    trigger = protected_mask(Protected.parse("trigger"), batch, tokenizer)
    noun = protected_mask(Protected.parse("noun"), batch, tokenizer)
    assert trigger.sum(1).tolist() == [3, 0, 0]
    assert [row.nonzero().flatten().tolist() for row in noun] == [[5], [2], []]


def test_random_words_are_as_many_and_never_the_triggers(tokenizer: Any) -> None:
    """The control is of equal size, repeatable, another with another seed, free of specials."""
    random, trigger = Protected.parse("random"), Protected.parse("trigger")
    words = Words("a photo of a sks in the forest at night on grass", ("sks",))
    span = protected_mask(trigger, [words], tokenizer)
    masks = [protected_mask(random, [words], tokenizer, seed=seed) for seed in range(8)]
    for mask in masks:
        assert int(mask.sum()) == int(span.sum())
        assert not (mask & span).any()
        assert not mask[0, 0]
        assert not mask[0, len(tokenizer(words.prompt)["input_ids"]) - 1 :].any()
    assert len({tuple(mask[0].tolist()) for mask in masks}) > 4
    beside = protected_mask(random, [Words("a bear"), words], tokenizer, seed=3)
    assert torch.equal(beside[1:], masks[3])
    assert not beside[0].any()


def test_random_takes_what_there_is(tokenizer: Any) -> None:
    """A prompt with fewer other words than the trigger has tokens gives all of them."""
    mask = protected_mask(Protected.parse("random"), [Words("a sks", ("sks",))], tokenizer)
    assert mask[0].nonzero().flatten().tolist() == [1]


def test_two_tokenizers_join_their_tokens(tokenizer: Any) -> None:
    """A row counts where it does for either of SDXL's tokenizers."""
    import copy

    other = copy.deepcopy(tokenizer)
    other.add_tokens(["<bear-v4>"])
    both = protected_mask(Protected.parse("noun"), [WORDS], [tokenizer, other])
    assert both[0].nonzero().flatten().tolist() == [6, 11]
    other.model_max_length = 12
    with pytest.raises(TokenizerError, match="one length"):
        protected_mask(Protected.parse("noun"), [WORDS], [tokenizer, other])


def test_conditioned_keeps_the_highest_scores(tokenizer: Any) -> None:
    """As many rows as the budget says, and none that nothing changes."""
    scores = torch.zeros(2, 77)
    scores[0, [5, 9, 70]] = torch.tensor([1.0, 3.0, 2.0])
    words = [WORDS, Words("a bear")]
    asked = []

    def score(given: Any) -> Tensor:
        asked.append(list(given))
        return scores

    for text, expected in [
        ("conditioned:2", [9, 70]),
        ("conditioned:9", [5, 9, 70]),
        ("conditioned:999", [5, 9, 70]),
        ("bos+conditioned:1", [0, 9]),
    ]:
        mask = protected_mask(Protected.parse(text), words, tokenizer, conditioning=score)
        assert mask[0].nonzero().flatten().tolist() == expected
        assert mask[1].nonzero().flatten().tolist() == ([0] if "bos" in text else [])
    assert asked == [words] * 4
    protected_mask(Protected.parse("trigger"), words, tokenizer, conditioning=score)
    assert len(asked) == 4  # nobody else pays for them
    with pytest.raises(RecipeError, match="scores"):
        protected_mask(Protected.parse("conditioned"), words, tokenizer)


@pytest.mark.parametrize(
    ("text", "triggers", "noun", "resolved", "reason"),
    [
        ("trigger", ["sks"], "", "trigger", None),
        ("trigger", [], "dog", "bos", "no trigger"),
        ("trigger", ["", " "], "", "bos", "no trigger"),
        ("bos+trigger", [], "", "bos", "no trigger"),
        ("random", [], "", "bos", "no trigger"),
        ("noun+conditioned:4", [], "dog", "bos+noun", "no trigger"),
        ("noun", [], "dog", "noun", None),
        ("none", [], "", "none", None),
        ("all", [], "", "all", None),
        ("conditioned:4", ["sks"], "dog", "conditioned:4", None),
        ("bos+conditioned:4", ["sks"], "", "bos+trigger", "no class noun"),
    ],
)
def test_what_is_protected_when_words_are_missing(
    text: str, triggers: list[str], noun: str, resolved: str, reason: str | None
) -> None:
    """A checkpoint without trigger keeps the start token, and the reason is told."""
    found, told = resolve_protection(Protected.parse(text), triggers, noun)
    assert str(found) == resolved
    assert (told is None) if reason is None else (reason in str(told))


@pytest.mark.parametrize(
    ("prompt", "plain"),
    [
        ("a <bear-v4> on grass", "a bear on grass"),
        ("<BEAR-V4>, a <bear-v4>", "bear, a bear"),
        ("no trigger", "no trigger"),
        ("<bear-v4><s2> here", "bear here"),
        ("", ""),
    ],
)
def test_the_noun_stands_for_the_trigger(tokenizer: Any, prompt: str, plain: str) -> None:
    """Every occurrence is replaced; triggers that touch are one subject."""
    words = Words(prompt, ("<bear-v4>", "<s2>"), " bear ")
    assert plain_prompt(words, tokenizer) == plain


def test_without_a_noun_nothing_can_be_compared(tokenizer: Any) -> None:
    """The error says so."""
    with pytest.raises(RecipeError, match="class noun"):
        counterparts(Words(PROMPT, ("<bear-v4>",)), tokenizer)


@pytest.mark.parametrize(
    "words",
    [
        Words("a photo of a <bear-v4> in the forest", ("<bear-v4>",), "bear"),
        Words("<bear-v4> and <bear-v4>, <bear-v4> bear", ("<bear-v4>",), "bear"),
        Words("a sks in the forest", ("sks",), "a very long class noun"),
        Words("a <s1><s2> dog at night", ("<s1>", "<s2>"), "cat"),
        Words("no trigger here", ("sks",), "dog"),
        Words("word " * 70 + "<bear-v4> and then", ("<bear-v4>",), "bear"),
        Words("", ("sks",), "dog"),
        Words("日本 🐻 and <bear-v4> 日本", ("<bear-v4>",), "bear"),
        Words("a 日本 at night", ("日本",), "dog"),
    ],
)
def test_rows_are_compared_with_the_same_words(tokenizer: Any, words: Words) -> None:
    """After triggers of any length: the same token, the noun's last one, end with end."""
    rows = counterparts(words, tokenizer)
    padded = {"padding": "max_length", "truncation": True, "max_length": 77}
    here = tokenizer(words.prompt, **padded)["input_ids"]
    there = tokenizer(plain_prompt(words, tokenizer), **padded)["input_ids"]
    trigger = protected_mask(Protected.parse("trigger"), [words], tokenizer)[0]
    noun_end = tokenizer(words.noun)["input_ids"][-2]
    expected = [
        noun_end if kept else token for token, kept in zip(here, trigger.tolist(), strict=True)
    ]
    assert (rows.dtype, len(rows)) == (torch.int64, 77)
    # A prompt that fills all rows has its end where the plain one may still have words.
    compared = range(77) if here[-2] == here[-1] else range(76)
    assert [there[rows[i]] for i in compared] == [expected[i] for i in compared]


def test_end_and_padding_are_aligned_by_their_distance(tokenizer: Any) -> None:
    """The first end token is compared with the first, the next with the next."""
    words = Words("a <bear-v4> here", ("<bear-v4>",), "bear")
    rows = counterparts(words, tokenizer)
    ends = [len(tokenizer(text)["input_ids"]) - 1 for text in (words.prompt, "a bear here")]
    assert rows[ends[0] :].tolist() == list(range(ends[1], ends[1] + 77 - ends[0]))
    assert rows[0] == 0


def test_scores_are_the_written_formula() -> None:
    """Against the sum spelled out over the projections."""
    unet, (_, _, states) = tiny_unet(), inputs()
    g = torch.Generator().manual_seed(5)
    plain = states.clone()
    plain[:, 3:] += torch.randn(2, TOKENS - 3, TEXT_WIDTH, generator=g)
    weight = torch.rand(2, TOKENS, generator=g)
    expected = torch.zeros(2, TOKENS)
    layers = [m for n, m in unet.named_modules() if n.endswith(("attn2.to_k", "attn2.to_v"))]
    with torch.no_grad():
        for layer in layers:
            x, x_plain = layer(states), layer(plain)
            expected += (x - x_plain).norm(dim=2) ** 2 / x.norm(dim=2) ** 2
    assert len(layers) == 8
    assert_similar(conditioning(unet, states, plain), expected)
    assert_similar(conditioning(unet, states, plain, weight), expected * weight)
    assert not conditioning(unet, states, plain)[:, :3].any()


def test_attention_received_is_what_the_processors_compute() -> None:
    """Against diffusers' own probabilities; the UNet is left as it was."""
    from diffusers.models.attention_processor import AttnProcessor

    unet, x = tiny_unet(), inputs()
    before = predict(unet, x)
    found = attention_received(unet, *x)
    assert torch.equal(predict(unet, x), before)
    assert all(not module._forward_hooks for module in unet.modules())
    probabilities = []

    class Watched(AttnProcessor):  # type: ignore[misc]  # diffusers is untyped
        def __call__(
            self, attn: Any, hidden_states: Tensor, encoder_hidden_states: Any = None, **rest: Any
        ) -> Any:
            if encoder_hidden_states is not None:
                q = attn.head_to_batch_dim(attn.to_q(hidden_states))
                k = attn.head_to_batch_dim(attn.to_k(encoder_hidden_states))
                a = attn.get_attention_scores(q, k)
                probabilities.append(a.unflatten(0, (2, -1)).mean((1, 2)))
            return super().__call__(attn, hidden_states, encoder_hidden_states, **rest)

    unet.set_attn_processor(Watched())
    predict(unet, x)
    assert_similar(found, torch.stack(probabilities).mean(0))
    assert_similar(found.sum(1), torch.ones(2))


def test_scores_need_a_fitting_unet() -> None:
    """A model without text and a text of another width are refused."""
    with pytest.raises(ContextError, match="cross-attention"):
        conditioning(torch.nn.Linear(2, 2), torch.ones(1, 3, 2), torch.ones(1, 3, 2))
    with pytest.raises(WidthMismatchError, match="7 wide"):
        conditioning(tiny_unet(), torch.ones(1, 3, 7), torch.ones(1, 3, 7))
