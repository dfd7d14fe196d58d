"""Fit all-MiniLM-L6-v2 to descriptions: `python -m personalq.bench.paraphrases`.

Low-rank updates of the linear layers (LoRA, Hu et al. 2021) learn to give the card that is meant
the highest of softmax(a · whole + b · detail) among its look-alikes. What it tells of any two texts
otherwise may hardly change: the same vectors rank a catalog's search. Half an hour on two cores.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from rich.console import Console
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from personalq.bench.paraphrases.groups import OWN, Group, Said, cards_of, read_groups, worded
from personalq.bench.paraphrases.likeness import Encoder, likeness
from personalq.catalog.adapter import FILE
from personalq.catalog.cards import Card
from personalq.catalog.embedders import minilm_folder

RANK = 16
LAYERS = ("query", "key", "value", "dense")
LEARNING_RATE = 5e-4
#: Of the two weights.
WEIGHTS_RATE = 1e-2
#: Things said of a group in one step.
SAID = 40
#: In every so many steps: how far vectors of texts, and their cosines, are from the model's own.
KEEP_EVERY = 4
KEEP_VECTORS, KEEP_COSINES = 12.0, 120.0
#: Where the two weights begin: as Check-in weighs them.
WEIGHTS = (16.0, 12.6)


def encoder_of(*, adapted: bool) -> Encoder:
    """The model as it is, or with updates of zero to learn."""
    folder = str(minilm_folder())
    bert: Any = AutoModel.from_pretrained(folder, add_pooling_layer=False).requires_grad_(
        requires_grad=False
    )
    if adapted:
        config = LoraConfig(r=RANK, lora_alpha=RANK, lora_dropout=0.05, target_modules=list(LAYERS))
        bert = get_peft_model(bert, config)
    return Encoder(bert, AutoTokenizer.from_pretrained(folder)).eval()


class Trainer:
    """Updates being learned."""

    def __init__(self, seed: int) -> None:
        torch.manual_seed(seed)
        self.chance = random.Random(seed)
        self.encoder, self._own = encoder_of(adapted=True), encoder_of(adapted=False)
        self.weights = nn.Parameter(torch.tensor(WEIGHTS).log())
        learned = [p for p in self.encoder.parameters() if p.requires_grad]
        self._learned = learned
        self._optimizer = torch.optim.AdamW(
            [
                {"params": learned, "lr": LEARNING_RATE, "weight_decay": 0.01},
                {"params": [self.weights], "lr": WEIGHTS_RATE, "weight_decay": 0.0},
            ]
        )
        self._step = 0

    def epoch(self, groups: list[Group], total_steps: int) -> float:
        """Go through all groups once; the mean loss."""
        self.chance.shuffle(groups)
        losses = []
        for group in groups:
            scale = min(1.0, (self._step + 1) / 20)
            scale *= 0.5 + 0.5 * math.cos(math.pi * min(1.0, self._step / total_steps))
            rates = (LEARNING_RATE, WEIGHTS_RATE)
            for part, rate in zip(self._optimizer.param_groups, rates, strict=True):
                part["lr"] = rate * scale
            losses.append(self._learn(group))
            self._step += 1
        return sum(losses) / len(losses)

    def _learn(self, group: Group) -> float:
        said = self.chance.sample(group.said, min(SAID, len(group.said)))
        texts = [worded(each, group.subject, self.chance) for each in said]
        cards = cards_of(group, self.chance)
        self.encoder.train()
        _, losses = self._compare(said, texts, group, cards)
        loss = losses.mean()
        if self._step % KEEP_EVERY == 0:
            loss = loss + self._moved([*texts, *(card.description for card in cards)])
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._learned, 1.0)
        self._optimizer.step()
        self.encoder.eval()
        return loss.item()

    def _compare(
        self, said: Sequence[Said], texts: Sequence[str], group: Group, cards: Sequence[Card]
    ) -> tuple[Tensor, Tensor]:
        """(logits of the cards, (said, cards); the loss of each thing said)."""
        whole, detail = likeness(self.encoder, texts, cards)
        a, b = self.weights.exp()
        logits: Tensor = a * whole + b * detail
        return logits, -(fitting(said, group) * torch.log_softmax(logits, 1)).sum(1)

    def _moved(self, texts: Sequence[str]) -> Tensor:
        with torch.no_grad():
            own = self._own(texts).texts
        new = self.encoder(texts).texts
        cosines = (new @ new.T - own @ own.T).square().mean()
        vectors = ((new * own).sum(1) - 1).square().mean()
        moved: Tensor = KEEP_VECTORS * vectors + KEEP_COSINES * cosines
        return moved

    @torch.no_grad()
    def measure(self, groups: Sequence[Group]) -> tuple[float, float]:
        """(mean loss, share of what is said whose likest card is one it fits)."""
        losses, right = [], []
        for group in groups:
            cards = cards_of(group, random.Random(0))
            texts = [each.text for each in group.said]
            logits, of_group = self._compare(group.said, texts, group, cards)
            losses.append(of_group)
            likest = logits.argmax(1, keepdim=True)
            right.append(fitting(group.said, group).gather(1, likest) > 0)
        return torch.cat(losses).mean().item(), torch.cat(right).float().mean().item()


def fitting(said: Sequence[Said], group: Group) -> Tensor:
    """(said, cards): 1 shared by the cards each is true of."""
    fits = torch.zeros(len(said), len(group.cards))
    for row, each in zip(fits, said, strict=True):
        row[list(each.fits)] = 1 / len(each.fits)
    return fits


def updates(encoder: Encoder) -> dict[str, Tensor]:
    """What was learned, by layer of the BertModel, in half precision."""
    found: dict[str, Tensor] = {}
    for name, value in encoder.bert.named_parameters():
        if value.requires_grad:
            plain = name.removeprefix("base_model.model.").replace(".default", "")
            found[plain] = value.detach().half().contiguous()
    return found


def main() -> None:
    """Learn, tell of each epoch, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=OWN, help="*.jsonl with groups")
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--held-out", type=int, default=8, help="groups that are only measured")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    console, trainer = Console(), Trainer(args.seed)
    groups = read_groups(args.folder)
    trainer.chance.shuffle(groups)
    held, groups = groups[: args.held_out], groups[args.held_out :]
    console.print(f"{len(groups)} groups; held out:", *trainer.measure(held))
    for epoch in range(1, args.epochs + 1):
        loss = trainer.epoch(groups, args.epochs * len(groups))
        console.print(f"epoch {epoch}: loss {loss:.3f}; held out:", *trainer.measure(held))
    save_file(updates(trainer.encoder), args.out)


if __name__ == "__main__":
    main()
