"""The diffusion model under test and its personalized checkpoints, loaded as a renderer does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from diffusers import AutoencoderKL, DDIMScheduler, UNet2DConditionModel
from torch import Tensor, nn
from transformers import CLIPTextModel, CLIPTokenizer

from personalq.bench.fidelity.prompts import Case
from personalq.chassis.errors import InvalidInput
from personalq.renderer.prompts import EncodedPrompts, Reader, encode, extend
from personalq.taq import Lora, RecipeError, TextEncoder, TextEncoders, TextStates, read_lora
from personalq.taq.artifact import Protection
from personalq.taq.protection import Protected
from personalq.taq.row_scores import attention_received, conditioning

SCORED_TIME = 500  # where rows are scored, as in the renderer
LORA_FILE = "pytorch_lora_weights.safetensors"


@dataclass(frozen=True)
class Subject:
    """One personalized checkpoint: a LoRA on the base, or a UNet of its own."""

    checkpoint_id: str
    folder: Path

    @property
    def own_unet(self) -> Path | None:
        """Folder of its UNet, when it is a full fine-tune."""
        folder = self.folder / "unet"
        return folder if folder.is_dir() else None

    @cached_property
    def lora(self) -> Lora | None:
        """Its LoRA, when it is one."""
        return None if self.own_unet else read_lora(self.folder / LORA_FILE)


class Model:
    """A Stable Diffusion in diffusers' layout and its checkpoints, in float32 on the CPU."""

    def __init__(self, base: Path, checkpoints: Path) -> None:
        """Load all but the UNets.

        Args:
            base: a folder with tokenizer, text_encoder, vae, unet and scheduler.
            checkpoints: a folder with one folder per checkpoint id, which holds
                pytorch_lora_weights.safetensors or unet/.

        Raises:
            InvalidInput: a folder is missing.
        """
        for folder in (base, checkpoints):
            if not folder.is_dir():
                raise InvalidInput(f"{folder} is no folder")
        self._base = base
        self.subjects = {
            folder.name: Subject(folder.name, folder)
            for folder in sorted(checkpoints.iterdir())
            if (folder / LORA_FILE).is_file() or (folder / "unet").is_dir()
        }
        if not self.subjects:
            raise InvalidInput(f"{checkpoints} holds no folder with {LORA_FILE} or unet/")
        self.tokenizer: Any = CLIPTokenizer.from_pretrained(base / "tokenizer")
        encoder = CLIPTextModel.from_pretrained(base / "text_encoder").eval().float()
        self.text = TextEncoders(encoders=(TextEncoder(tokenizer=self.tokenizer, model=encoder),))
        self.vae: Any = AutoencoderKL.from_pretrained(base / "vae").eval().float()

    def unet(self, group: str) -> nn.Module:
        """A fresh UNet: of the base for "", or of a full fine-tune by its id."""
        folder = self.subjects[group].own_unet if group else self._base / "unet"
        unet: nn.Module = UNet2DConditionModel.from_pretrained(folder).eval().float()
        return unet.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]

    def scheduler(self, steps: int) -> Any:
        """The base's schedule as deterministic DDIM of so many steps."""
        scheduler: Any = DDIMScheduler.from_pretrained(self._base / "scheduler")
        scheduler.set_timesteps(steps)
        return scheduler

    def group_of(self, checkpoint_id: str) -> str:
        """Which UNet a checkpoint runs on, as `unet` takes it.

        Raises:
            InvalidInput: there is no such checkpoint.
        """
        if checkpoint_id not in self.subjects:
            raise InvalidInput(
                f"no checkpoint {checkpoint_id}; there are {', '.join(self.subjects)}"
            )
        return checkpoint_id if self.subjects[checkpoint_id].own_unet else ""

    def states(self, prompts: Sequence[str]) -> Tensor:
        """The base's text states (B, T, D) of prompts without triggers."""
        nothing = Protection(Protected.parse("none"), "", None)
        return self._encode("", prompts, (), nothing, self._no_score).told.states

    def encode(
        self, unet: nn.Module, cases: Sequence[Case], protected: Protected
    ) -> EncodedPrompts:
        """The states (2 B, T, D) of B empty prompts and of B cases of one checkpoint, and what is
        kept precise in them.

        Args:
            unet: of the checkpoint, its LoRA attached; `conditioned` asks it what rows carry.
        """
        first = cases[0]
        everywhere = [name for name in protected.sets if name in ("bos", "all")] or ["none"]
        of_empty = Protection(Protected.parse("+".join(everywhere)), "", None)
        empty = self._encode(first.checkpoint_id, [""] * len(cases), (), of_empty, self._no_score)
        asked = self._encode(
            first.checkpoint_id,
            [case.prompt for case in cases],
            (first.trigger,),
            Protection(protected, first.noun, None),
            lambda told, plain: _score(unet, told.states, plain),
        )
        states = torch.cat([empty.told.states, asked.told.states])
        mask = torch.cat([empty.mask, asked.mask])
        return EncodedPrompts(told=TextStates(states=states), mask=mask)

    def reader(self, checkpoint_id: str) -> Reader:
        """What reads the prompts of a checkpoint, or of the base for ""."""
        lora = self.subjects[checkpoint_id].lora if checkpoint_id else None
        return extend(self.text, lora.embeddings if lora else {})

    def _encode(
        self,
        checkpoint_id: str,
        prompts: Sequence[str],
        triggers: Sequence[str],
        protection: Protection,
        score: Callable[[TextStates, Tensor], Tensor],
    ) -> EncodedPrompts:
        return encode(
            prompts,
            [triggers] * len(prompts),
            reader=self.reader(checkpoint_id),
            protection=protection,
            score=score,
        )

    @staticmethod
    def _no_score(told: TextStates, plain: Tensor) -> Tensor:
        raise RecipeError("conditioned rows need a trigger")


def _score(unet: nn.Module, states: Tensor, plain: Tensor) -> Tensor:
    """How much each text row depends on the trigger, by the attention it gets, as a renderer."""
    config: Any = unet.config
    shape = (1, config.in_channels, config.sample_size, config.sample_size)
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    noise = noise.expand(len(states), -1, -1, -1)
    attention = attention_received(unet, noise, SCORED_TIME, states)
    return conditioning(unet, states, plain, attention)
