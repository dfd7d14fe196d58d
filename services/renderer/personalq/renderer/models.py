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
from personalq.renderer.prompts import Reader, extend
from personalq.renderer.residents import NO_LABEL, Label, Lease, Residents
from personalq.taq import (
    PARTS,
    TEXT_PARTS,
    Artifact,
    ArtifactMismatchError,
    Lora,
    Part,
    Protection,
    TaqError,
    TextEncoders,
    attach_lora_,
    detach_lora_,
    is_other_tokenizer,
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
    text_encoders: tuple[nn.Module, ...]  # of a full fine-tune, those that it trained
    lora: Lora | None  # of a LoRA, on the device
    reader: Reader  # of its prompts: with those text encoders and trained tokens, else the base's
    protection: Protection  # of its prompts' words


@dataclass(frozen=True, kw_only=True)
class Model:
    """A checkpoint ready to render: a UNet, perhaps with a LoRA, and what reads its prompts."""

    base: Base
    unet: nn.Module
    reader: Reader
    lora: Lora | None
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
        carriers: dict[Part, nn.Module] = {"unet": self.unet}
        for part, encoder in zip(TEXT_PARTS, self.reader.text.encoders, strict=False):
            if self.lora.layers(part):
                carriers[part] = encoder.model
        try:
            for carried, carrier in carriers.items():
                attach_lora_(carrier, self.lora, part=carried)
            yield self.unet
        finally:
            for carrier in carriers.values():
                detach_lora_(carrier)


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
            NotReady: this renderer is not configured with its base model, or with another one of
                that name.
            Unavailable: its bytes cannot be had, or do not fit into memory.
            Busy: there is no room now.
        """
        base = self.base(artifact)
        label = (artifact.checkpoint_id, artifact.profile)
        async with self._lease(artifact.digest, artifact.size_bytes, base, label) as own:
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

    @asynccontextmanager
    async def _lease(
        self, digest: str, expected_bytes: int, base: Base, label: Label = NO_LABEL
    ) -> AsyncIterator[Lease[Weights]]:
        async def load() -> Weights:
            return await self._load(digest, base)

        async with self._residents.lease(
            digest, load, expected_bytes=expected_bytes, label=label
        ) as lease:
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
        NotReady: it is for a base of another tokenizer.
    """
    with verified(folder) as artifact:
        return _loaded(artifact, base)


def _loaded(artifact: Artifact, base: Base) -> Weights:
    if is_other_tokenizer(
        str(artifact.manifest["tokenizer_fingerprint"]), base.tokenizer_fingerprint
    ):
        # Its triggers would be looked for, and its trained tokens stand, at other places.
        raise NotReady(
            f"this renderer's base model {base.base_model!r} has another tokenizer than the one "
            "that the checkpoint was quantized with: give the renderer the same base folder as the "
            "quantizer, or quantize the checkpoint again",
            state="OTHER_TOKENIZER",
        )
    if "text_encoder_2" in artifact.manifest and "text_encoder_2" not in base.text_parts:
        raise ArtifactMismatchError(
            f"The artifact is for two text encoders, {base.base_model} has one."
        )
    if artifact.kind == "lora":
        lora = _to(artifact.lora(), base.device)
        reader = base.reader
        if artifact.embeddings:
            rows = [lora.rows(part) for part in base.text_parts]
            if any(of_one.keys() != artifact.embeddings.keys() for of_one in rows):
                raise ArtifactMismatchError(
                    f"The artifact's embeddings are for one text encoder, {base.base_model} has "
                    "two."
                )
            reader = extend(base.text, *rows)
        return Weights(
            unet=nn.Module(),
            text_encoders=(),
            lora=lora,
            reader=reader,
            protection=artifact.protection,
        )
    unet = load_unet_(base.empty_unet(), artifact, dtype=base.dtype)
    unet = unet.to(base.device).eval()
    text, own = _own_text_encoders(artifact, base)
    return Weights(
        unet=prepare_(unet, torch.empty(0, dtype=base.dtype, device=base.device)),
        text_encoders=own,
        lora=None,
        reader=replace(base.reader, text=text),
        protection=artifact.protection,
    )


def _own_text_encoders(
    artifact: Artifact, base: Base
) -> tuple[TextEncoders, tuple[nn.Module, ...]]:
    """Return what reads a fine-tune's prompts, and which of it are not its base's."""
    own: list[nn.Module] = []
    encoders = list(base.reader.text.encoders)
    for index, part in enumerate(base.text_parts):
        if (state := artifact.text_encoder(part)) is not None:
            model = load_text_encoder_(base.empty_text_encoder(part), state).to(base.device)
            encoders[index] = replace(encoders[index], model=model)
            own.append(model)
    return replace(base.reader.text, encoders=tuple(encoders)), tuple(own)


def held_bytes(weights: Weights) -> int:
    """Return the bytes that an artifact holds in memory now, prepared weights included."""
    found = held_tensors(weights.unet)
    for encoder in weights.text_encoders:
        found += held_tensors(encoder)
    if weights.lora is not None:
        for factors in (f for part in PARTS for f in weights.lora.layers(part).values()):
            found += [factors.down, factors.up]
    found += [e.rows for e in weights.reader.text.encoders if e.rows is not None]
    return sum(tensor.numel() * tensor.element_size() for tensor in found)


def _to(lora: Lora, device: torch.device) -> Lora:
    def moved(layers: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: replace(f, down=f.down.to(device), up=f.up.to(device))
            for name, f in layers.items()
        }

    return replace(lora, **{part: moved(lora.layers(part)) for part in PARTS})


def _model(base: Base, *, unet: Weights, checkpoint: Weights) -> Model:
    return Model(
        base=base,
        unet=unet.unet,
        reader=checkpoint.reader,
        lora=checkpoint.lora,
        protection=checkpoint.protection,
    )
