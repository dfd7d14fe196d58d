"""Checkpoints in memory: a quantized UNet, and a LoRA beside the one it shares."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from personalq.chassis.errors import NotReady, Unavailable
from personalq.renderer.artifacts import ArtifactRef
from personalq.renderer.bases import Base
from personalq.renderer.files import ArtifactFiles
from personalq.renderer.prompts import Vocabulary, extend
from personalq.renderer.residents import Lease, Resident, Residents
from personalq.taq import (
    Artifact,
    Lora,
    Protection,
    TaqError,
    attach_lora_,
    detach_lora_,
    load_text_encoder_,
    load_unet_,
    prepare_,
    verified,
)
from personalq.taq.modules import held_tensors

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What one artifact puts into memory."""

    unet: nn.Module  # of a base or a full fine-tune; of a LoRA an empty module
    text_encoder: nn.Module | None  # of a full fine-tune that trained it; else the base's reads
    lora: Lora | None  # of a LoRA, on the device
    vocabulary: Vocabulary  # its tokenizer and trained tokens, or the base model's
    protection: Protection  # of its prompts' words


@dataclass(frozen=True, kw_only=True)
class Model:
    """A checkpoint ready to render: a UNet, perhaps with a LoRA, and what reads its prompts."""

    base: Base
    unet: nn.Module
    text_encoder: Any  # CLIPTextModel; its own, or its base's
    lora: Lora | None
    vocabulary: Vocabulary
    protection: Protection

    @contextmanager
    def attached(self) -> Iterator[nn.Module]:
        """Lend the UNet with the LoRA beside it; only for the device's thread.

        The UNet is shared with other checkpoints, so the LoRA is taken off again whatever
        happens.
        """
        if self.lora is None:
            yield self.unet
            return
        encoder = self.text_encoder
        try:
            attach_lora_(self.unet, self.lora)
            if self.lora.text_encoder:
                attach_lora_(encoder, self.lora, part="text_encoder")
            yield self.unet
        finally:
            detach_lora_(self.unet)
            if self.lora.text_encoder:
                detach_lora_(encoder)


class Models:
    """Loads checkpoints into memory and keeps them there as the budget allows."""

    def __init__(
        self,
        bases: Mapping[str, Base],
        files: ArtifactFiles,
        residents: Residents[Weights],
        *,
        loader: Executor,
    ) -> None:
        self._bases = bases
        self._files = files
        self._residents = residents
        self._loader = loader
        self._names: dict[str, tuple[str, str]] = {}

    @property
    def residents(self) -> Residents[Weights]:
        """The weights in memory."""
        return self._residents

    def base(self, artifact: ArtifactRef) -> Base:
        """Return the base model that serves an artifact.

        Raises:
            NotReady: this renderer is not configured with it.
        """
        if artifact.base_model not in self._bases:
            raise NotReady(
                f"this renderer does not serve base model {artifact.base_model!r}; it serves "
                f"{', '.join(sorted(self._bases))}",
                state="BASE_MODEL_NOT_SERVED",
            )
        return self._bases[artifact.base_model]

    @asynccontextmanager
    async def lease(self, artifact: ArtifactRef) -> AsyncIterator[Lease[Model]]:
        """Keep a checkpoint in memory while the block runs.

        Raises:
            Unavailable: its bytes cannot be had, or do not fit into memory.
            Busy: there is no room now.
        """
        base = self.base(artifact)
        self._names[artifact.digest] = (artifact.checkpoint_id, artifact.profile)
        async with self._lease(artifact.digest, artifact.size_bytes, base) as own:
            if not artifact.base_digest:
                model = _model(base, unet=own.value, checkpoint=own.value)
                yield Lease(value=model, load_seconds=own.load_seconds)
                return
            async with self._lease(artifact.base_digest, artifact.base_size_bytes, base) as shared:
                model = _model(base, unet=shared.value, checkpoint=own.value)
                seconds = own.load_seconds + shared.load_seconds
                yield Lease(value=model, load_seconds=seconds)

    async def prefetch(self, artifact: ArtifactRef) -> None:
        """Fetch an artifact's files, and its base's, to disk."""
        for digest in filter(None, (artifact.base_digest, artifact.digest)):
            async with self._files.use(digest):
                pass

    def names(self, resident: Resident) -> tuple[str, str]:
        """Return (checkpoint, profile) of something in memory; empty for a shared base."""
        return self._names.get(resident.key, ("", ""))

    @asynccontextmanager
    async def _lease(
        self, digest: str, expected_bytes: int, base: Base
    ) -> AsyncIterator[Lease[Weights]]:
        async def load() -> Weights:
            return await self._load(digest, base)

        async with self._residents.lease(digest, load, expected_bytes=expected_bytes) as lease:
            yield lease

    async def _load(self, digest: str, base: Base) -> Weights:
        """Bring an artifact into memory; a copy damaged on this disk is fetched once more."""
        loop = asyncio.get_running_loop()
        for last in (False, True):
            async with self._files.use(digest) as folder:
                try:
                    return await loop.run_in_executor(self._loader, load_weights, folder, base)
                except TaqError as error:
                    self._files.forget(digest)
                    log.warning(
                        "artifact unusable: %s",
                        error,
                        extra={"action": "load_weights", "digest": digest},
                    )
                    if last:
                        raise Unavailable(
                            f"artifact {digest} cannot be used: {error} It has to be quantized "
                            "again."
                        ) from error
        raise AssertionError


def load_weights(folder: Path, base: Base) -> Weights:
    """Read an artifact's folder, verified, onto the base's device. Blocking.

    Raises:
        TaqError: the folder is damaged, of another version's recipe, or not of this base.
    """
    with verified(folder) as artifact:
        return _loaded(artifact, base)


def _loaded(artifact: Artifact, base: Base) -> Weights:
    own = artifact.embeddings
    vocabulary = extend(base.tokenizer, own) if own else base.vocabulary
    if artifact.kind == "lora":
        lora = _to(artifact.lora(), base.device)
        return Weights(
            unet=nn.Module(),
            text_encoder=None,
            lora=lora,
            vocabulary=vocabulary,
            protection=artifact.protection,
        )
    unet = load_unet_(base.empty_unet(), artifact, dtype=base.dtype)
    unet = unet.to(base.device).eval()
    encoder: nn.Module | None = None
    if (state := artifact.text_encoder()) is not None:
        encoder = load_text_encoder_(base.empty_text_encoder(), state).to(base.device)
    return Weights(
        unet=prepare_(unet, torch.empty(0, dtype=base.dtype, device=base.device)),
        text_encoder=encoder,
        lora=None,
        vocabulary=vocabulary,
        protection=artifact.protection,
    )


def held_bytes(weights: Weights) -> int:
    """Return the bytes that an artifact holds in memory now, prepared weights included."""
    found = held_tensors(weights.unet)
    if weights.text_encoder is not None:
        found += held_tensors(weights.text_encoder)
    if weights.lora is not None:
        for factors in (*weights.lora.unet.values(), *weights.lora.text_encoder.values()):
            found += [factors.down, factors.up]
    found.append(weights.vocabulary.embeddings)
    return sum(tensor.numel() * tensor.element_size() for tensor in found)


def _to(lora: Lora, device: torch.device) -> Lora:
    def moved(layers: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: replace(f, down=f.down.to(device), up=f.up.to(device))
            for name, f in layers.items()
        }

    return Lora(moved(lora.unet), moved(lora.text_encoder), lora.embeddings)


def _model(base: Base, *, unet: Weights, checkpoint: Weights) -> Model:
    own = checkpoint.text_encoder
    return Model(
        base=base,
        unet=unet.unet,
        text_encoder=base.text_encoder if own is None else own,
        lora=checkpoint.lora,
        vocabulary=checkpoint.vocabulary,
        protection=checkpoint.protection,
    )
