"""The diffusion model under test and its personalized checkpoints, loaded as a renderer does."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch
from diffusers import DDIMScheduler, UNet2DConditionModel
from safetensors import SafetensorError
from torch import Tensor, nn

from personalq.bench.fidelity.prompts import Case
from personalq.chassis.base_folders import check_base_folder, latent_side
from personalq.chassis.errors import InvalidInput
from personalq.renderer.bases import MODELS, PARTS, load_base
from personalq.renderer.denoise import initial_noise
from personalq.renderer.models import Model as Served
from personalq.renderer.prompts import EncodedPrompts, Reader, encode, extend
from personalq.taq import (
    TEXT_PARTS,
    Lora,
    Protected,
    Protection,
    RecipeError,
    TextEncoders,
    TextPart,
    TextStates,
    attention_received,
    conditioning,
    read_lora,
)

SCORED_TIME = 500  # where rows are scored, as in the renderer
LORA_FILE = "pytorch_lora_weights.safetensors"
NOTHING = Protection(Protected.parse("none"), "", None)


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

    @property
    def own_text_encoders(self) -> dict[TextPart, Path]:
        """Folders of the text encoders that a full fine-tune has beside its UNet."""
        folders = {part: self.folder / part for part in TEXT_PARTS if self.own_unet}
        return {part: folder for part, folder in folders.items() if folder.is_dir()}

    @cached_property
    def lora(self) -> Lora | None:
        """Its LoRA, when it is one."""
        return None if self.own_unet else read_lora(self.folder / LORA_FILE)


class Model:
    """A Stable Diffusion or SDXL in diffusers' layout and its checkpoints, in float32."""

    def __init__(self, base: Path, checkpoints: Path, device: str = "cpu") -> None:
        """Load all but the UNets.

        Args:
            base: a folder with tokenizer, text_encoder, vae, unet and scheduler; SDXL's also with
                tokenizer_2 and text_encoder_2.
            checkpoints: a folder with one folder per checkpoint id, which holds
                pytorch_lora_weights.safetensors or unet/, beside it text encoders that were
                trained too.
            device: where everything runs, as torch names it.

        Raises:
            InvalidInput: a folder is missing, the base is of another kind or cannot be read, or
                there is no checkpoint.
        """
        for folder in (base, checkpoints):
            if not folder.is_dir():
                raise InvalidInput(f"{folder} is no folder")
        self.subjects = {
            folder.name: Subject(folder.name, folder)
            for folder in sorted(checkpoints.iterdir())
            if (folder / LORA_FILE).is_file() or (folder / "unet").is_dir()
        }
        if not self.subjects:
            raise InvalidInput(f"{checkpoints} holds no folder with {LORA_FILE} or unet/")
        check_base_folder(base.name, base, PARTS)
        self._folder = base
        torch.backends.cudnn.allow_tf32 = False  # it would round to ten bits what has to be exact
        try:
            self.base = load_base(base.name, base, device=torch.device(device), dtype=torch.float32)
        except (OSError, ValueError, SafetensorError) as error:
            raise InvalidInput(f"{base} cannot be loaded: {error}") from error
        self._own_text: dict[str, TextEncoders] = {}

    @property
    def side(self) -> int:
        """Of its pictures, in pixels."""
        return self.base.geometry.side

    @property
    def latent_shape(self) -> tuple[int, int, int]:
        """(channels, height, width) of a picture's latents."""
        side = latent_side(self.base.unet_config)
        return int(self.base.unet_config["in_channels"]), side, side

    def unet(self, group: str) -> nn.Module:
        """A fresh UNet: of the base for "", or of a full fine-tune by its id.

        Raises:
            InvalidInput: it cannot be loaded.
        """
        folder = self.subjects[group].own_unet if group else self._folder / "unet"
        unet: nn.Module = _loaded(UNet2DConditionModel, folder).eval().float()
        return unet.to(device=self.base.device, memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]

    def scheduler(self, steps: int) -> Any:
        """The base's schedule as deterministic DDIM of so many steps."""
        scheduler: Any = DDIMScheduler.from_config(self.base.scheduler_config)
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

    def states(self, prompts: Sequence[str]) -> TextStates:
        """What prompts without triggers tell the base's UNet, states (B, T, D)."""
        with torch.inference_mode():
            return self.base.text.read(prompts)

    def conditions(self, told: TextStates) -> dict[str, Any]:
        """The UNet's further arguments: of SDXL the pooled states and the picture's size."""
        return told.conditions(height=self.side, width=self.side)

    def encode(
        self, unet: nn.Module, cases: Sequence[Case], protected: Protected, *, guided: bool
    ) -> EncodedPrompts:
        """What B cases of one checkpoint and noun tell its UNet, and what is kept precise in them.

        With guidance they are the second half (B) of a batch (2 B), the first are empty prompts.

        Args:
            unet: of the checkpoint, its LoRA attached; `conditioned` asks it what rows carry.
        """
        reader = self.reader(cases[0].checkpoint_id)
        asked = encode(
            [case.prompt for case in cases],
            [(case.trigger,) for case in cases],
            reader=reader,
            protection=Protection(protected, cases[0].noun, None),
            score=partial(self._score, unet),
        )
        if not guided:
            return asked
        everywhere = [name for name in protected.sets if name in ("bos", "all")] or ["none"]
        empty = encode(
            [""] * len(cases),
            [()] * len(cases),
            reader=reader,
            protection=Protection(Protected.parse("+".join(everywhere)), "", None),
            score=_no_score,
        )
        return EncodedPrompts(
            told=TextStates.cat([empty.told, asked.told]),
            mask=torch.cat([empty.mask, asked.mask]),
        )

    def reader(self, checkpoint_id: str) -> Reader:
        """What reads the prompts of a checkpoint: with tokens and text encoders of its own."""
        lora = self.subjects[checkpoint_id].lora
        rows = [lora.rows(part) if lora else {} for part in self.base.text_parts]
        return extend(self._text(checkpoint_id), *rows)

    def personalized(
        self, unet: nn.Module, checkpoint_id: str
    ) -> AbstractContextManager[nn.Module]:
        """Let `unet` and the text encoders be a checkpoint within the block, by side branches."""
        return Served(
            base=self.base,
            unet=unet,
            reader=self.base.reader,
            lora=self.subjects[checkpoint_id].lora,
            protection=NOTHING,
        ).attached()

    def _text(self, checkpoint_id: str) -> TextEncoders:
        """The base's text encoders, in their places those of a full fine-tune."""
        own = self.subjects[checkpoint_id].own_text_encoders
        if own and checkpoint_id not in self._own_text:
            encoders = []
            for part, encoder in zip(self.base.text_parts, self.base.text.encoders, strict=True):
                model = encoder.model
                if part in own:
                    model = _loaded(MODELS[part], own[part]).eval().float().to(self.base.device)
                encoders.append(replace(encoder, model=model))
            self._own_text[checkpoint_id] = replace(self.base.text, encoders=tuple(encoders))
        return self._own_text.get(checkpoint_id, self.base.text)

    def _score(self, unet: nn.Module, told: TextStates, plain: Tensor) -> Tensor:
        """How much each text row depends on the trigger, by the attention it gets."""
        noise = initial_noise([0] * len(told), self.latent_shape, self.base.device)
        conditions = self.conditions(told)
        attention = attention_received(unet, noise, SCORED_TIME, told.states, **conditions)
        return conditioning(unet, told.states, plain, attention)


def _no_score(told: TextStates, plain: Tensor) -> Tensor:
    raise RecipeError("conditioned rows need a trigger")


def _loaded(kind: Any, folder: Path | None) -> Any:
    try:
        return kind.from_pretrained(folder)
    except (OSError, ValueError, SafetensorError) as error:
        raise InvalidInput(f"{folder} holds no {kind.__name__}: {error}") from error
