"""Which tokens the picture hangs on (paper: equation 1, figures 2 and 5).

The rows of K and V of one group of tokens are rounded, one symmetric scale per row, token and
head, in every cross-attention; everything else stays in full precision. How far the picture moves
is that group's sensitivity. Groups are the start token, each word, the trigger with all of its
tokens, the end token and the padding. A trigger has more tokens than a word, the padding more than
both: all words together, and one token of the padding, tell whether the number is what counts.

Text is projected to K and V once per prompt, so a batch can hold every group at every width: the
same latents, other rows rounded.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from personalq.bench.fidelity.generating import (
    Engine,
    Sampling,
    batch_size,
    decode,
    denoise,
)
from personalq.bench.fidelity.metrics import Pictures, mse
from personalq.bench.fidelity.models import Model
from personalq.bench.fidelity.prompts import Case
from personalq.bench.fidelity.scoring import Yard
from personalq.bench.fidelity.sensitivity_report import (
    Group,
    Kind,
    Prompt,
    read_measured,
    write_sensitivity,
)
from personalq.renderer.denoise import initial_noise
from personalq.taq import PROFILES, TextContext, trigger_spans
from personalq.taq.attention import install_attention_
from personalq.taq.equations import protect_rows
from personalq.taq.protection import Protected
from personalq.taq.triggers import max_tokens, token_offsets

BITS = (4, 2)


@dataclass(frozen=True)
class TokenGroup:
    """Tokens whose rows are rounded together."""

    label: str
    kind: Kind
    positions: tuple[int, ...]


def token_groups(prompt: str, trigger: str, noun: str, tokenizer: Any) -> list[TokenGroup]:
    """Return the groups of a prompt, by their first token.

    Every token is in one group; besides there are all words together, and one token of the
    padding. A word is what stands between blanks, without the tokens of trigger and noun.

    Raises:
        TokenizerError: see `trigger_spans`.
    """
    offsets = token_offsets(prompt, tokenizer)
    of_trigger = _tokens_of(prompt, trigger, tokenizer)
    # in <bear-v4> the noun is part of a name
    of_noun = [i for i in _tokens_of(prompt, noun, tokenizer) if i not in of_trigger]
    taken = {*of_trigger, *of_noun}
    words = list(_words(prompt, offsets, taken))
    end = len(offsets) - 1
    padding = tuple(range(end + 1, max_tokens(tokenizer)))
    groups = [
        TokenGroup("start", "bos", (0,)),
        TokenGroup(trigger, "trigger", tuple(of_trigger)),
        TokenGroup(noun, "noun", tuple(of_noun)),
        *words,
        TokenGroup("all words", "all words", tuple(i for word in words for i in word.positions)),
        TokenGroup("end", "end", (end,)),
        TokenGroup("padding", "padding", padding),
        TokenGroup("first padding", "one padding", padding[:1]),
    ]
    return sorted((group for group in groups if group.positions), key=lambda g: g.positions[0])


def _words(
    prompt: str, offsets: Sequence[tuple[int, int]], taken: Collection[int]
) -> Iterator[TokenGroup]:
    """Yield what stands between blanks, without the tokens that are taken."""
    for word in re.finditer(r"\S+", prompt):
        covered = [
            i
            for i, (start, stop) in enumerate(offsets)
            if start < word.end() and stop > word.start() and i not in taken
        ]
        if covered:
            label = prompt[offsets[covered[0]][0] : offsets[covered[-1]][1]]
            yield TokenGroup(label, "word", tuple(covered))


def _tokens_of(prompt: str, name: str, tokenizer: Any) -> list[int]:
    spans = trigger_spans(prompt, name, tokenizer)
    return sorted({i for span in spans for i in range(span.start, span.stop)})


def with_rounded_rows(text: TextContext, groups: Sequence[tuple[TokenGroup, int]]) -> TextContext:
    """Return the text of one prompt once in full precision and once for every (group, bits).

    Args:
        text: of one prompt, K and V not rounded.
        groups: in the k-th of them, element k + 1 of the result, only its rows are rounded.
    """
    copies = [text]
    for group, bits in groups:
        keep = torch.ones_like(text.mask)
        keep[:, list(group.positions)] = False
        copies.append(
            TextContext(
                {name: protect_rows(k, keep, bits) for name, k in text.keys.items()},
                {name: protect_rows(v, keep, bits) for name, v in text.values.items()},
                text.mask,
            )
        )
    return TextContext.cat(copies)


@torch.inference_mode()
def draw_groups(
    model: Model,
    unet: nn.Module,
    case: Case,
    groups: Sequence[tuple[TokenGroup, int]],
    sampling: Sampling,
) -> tuple[Pictures, Tensor]:
    """Return pictures (1 + G, H, W, 3) and final latents (1 + G, C, h, w); full precision first.

    Args:
        unet: of the case's checkpoint, its LoRA attached, prepared by `precise_unet`.
    """
    engine = Engine(unet, Protected.parse("none"))
    told = model.encode(unet, [case], engine.protected, guided=sampling.guided).told
    text = TextContext.project(unet, told.states)
    asked = with_rounded_rows(text[-1], groups)
    noise = initial_noise([case.seed], model.latent_shape, model.base.device)
    pictures, latents = [], []
    size = batch_size(model, len(asked))
    for start in range(0, len(asked), size):
        part = asked[start : start + size]
        count = len(part)
        context = TextContext.cat([*[text[0]] * count, part]) if sampling.guided else part
        conditions = {"cross_attention_kwargs": {"text": context}}
        rows = [row for row in range(len(told)) for _ in range(count)]
        same = noise.repeat(count, 1, 1, 1)
        latents.append(denoise(model, engine, same, told[rows], conditions, sampling))
        pictures.append(decode(model, latents[-1]))
    return np.concatenate(pictures), torch.cat(latents).cpu()


def precise_unet(model: Model, group: str) -> nn.Module:
    """Return a UNet in full precision whose cross-attention takes a `TextContext`."""
    unet = model.unet(group)
    install_attention_(unet, PROFILES["full"])
    return unet


def measure(
    model: Model,
    unet: nn.Module,
    case: Case,
    yard: Yard,
    sampling: Sampling,
    bits: Sequence[int] = BITS,
) -> Prompt:
    """Return how far every group moves the picture of a case, at each of some widths.

    Args:
        unet: as `draw_groups`.
    """
    reader = model.reader(case.checkpoint_id)
    prompt, trigger = reader.expand(case.prompt), reader.expand(case.trigger)
    tokenizer = reader.text.tokenizers[0]  # SDXL's second has the same tokens
    groups = [
        (group, width)
        for width in bits
        for group in token_groups(prompt, trigger, case.noun, tokenizer)
    ]
    pictures, latents = draw_groups(model, unet, case, groups, sampling)
    return Prompt(
        prompt=case.prompt,
        tokens=tuple(tokenizer.tokenize(prompt)),
        groups=_compared(groups, pictures, latents, case, yard),
    )


def _compared(
    groups: Sequence[tuple[TokenGroup, int]],
    pictures: Pictures,
    latents: Tensor,
    case: Case,
    yard: Yard,
) -> tuple[Group, ...]:
    """Hold every picture against the first."""
    errors = mse(pictures[1:], np.repeat(pictures[:1], len(groups), axis=0))
    moved = (latents[1:] - latents[:1]).square().flatten(1).mean(1)
    seen = yard.scorer.embed(pictures)
    clip = seen @ yard.scorer.embed_texts([case.plain_prompt])[0]
    clip_i = (seen @ yard.scorer.embed(yard.references(case.checkpoint_id)).T).mean(axis=1)
    return tuple(
        Group(
            label=group.label,
            kind=group.kind,
            positions=group.positions,
            bits=bits,
            mse=float(errors[i]),
            latent_mse=float(moved[i]),
            clip_drop=float(clip[0] - clip[i + 1]),
            clip_i_drop=float(clip_i[0] - clip_i[i + 1]),
        )
        for i, (group, bits) in enumerate(groups)
    )


def noun_follows(case: Case) -> Case:
    """Return the case as DreamBooth writes it: "a <bear-v4> bear", the noun after the trigger.

    The miniature's checkpoints were trained with the trigger in the noun's place.
    """
    named = f"{case.trigger} {case.noun}"
    if named in case.prompt:
        return case
    return replace(case, prompt=case.prompt.replace(case.trigger, named))


def study(
    model: Model,
    cases: Sequence[Case],
    yard: Yard,
    sampling: Sampling,
    progress: Callable[[], None] = lambda: None,
) -> list[Prompt]:
    """Return what every group of every case does, in the order of the cases."""
    measured: dict[int, Prompt] = {}
    for unet, indices in _by_checkpoint(model, cases):
        for index in indices:
            measured[index] = measure(model, unet, cases[index], yard, sampling)
            progress()
    return [measured[index] for index in range(len(cases))]


def _by_checkpoint(model: Model, cases: Sequence[Case]) -> Iterator[tuple[nn.Module, list[int]]]:
    """Yield each checkpoint's UNet and its cases; UNets that checkpoints share are loaded once."""
    checkpoints: dict[str, list[int]] = defaultdict(list)
    for index, case in enumerate(cases):
        checkpoints[case.checkpoint_id].append(index)
    unets: dict[str, nn.Module] = {}
    for checkpoint_id, indices in checkpoints.items():
        group = model.group_of(checkpoint_id)
        if group not in unets:
            unets[group] = precise_unet(model, group)
        with model.personalized(unets[group], checkpoint_id):
            yield unets[group], indices


def run_study(
    model: Model,
    yard: Yard,
    sampling: Sampling,
    work: Path,
    results: Path,
    progress: Callable[[], None] = lambda: None,
) -> None:
    """Measure and report: sensitivity.json and .png, and the same with the noun after the trigger.

    Args:
        yard: the N cases are its own.
        work: keeps what was measured, as `sensitivity_report` reads it.
        results: where the reports go.
        progress: is called for each of the 2 · N prompts.
    """
    settings = {
        "sensitivity": list(yard.cases),
        "sensitivity-noun-follows": [noun_follows(case) for case in yard.cases],
    }
    for name, asked in settings.items():
        prompts = study(model, asked, yard, sampling, progress)
        measured = {"prompts": [prompt.model_dump(mode="json") for prompt in prompts]}
        file = work / f"{name}.json"
        file.write_text(json.dumps(measured, allow_nan=False) + "\n", encoding="utf-8")
        write_sensitivity(read_measured(file), results, name=name)
