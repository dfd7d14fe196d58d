"""Where torch works: models in, artifact directories out. Synchronous; made for one thread."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from diffusers import UNet2DConditionModel
from torch import Tensor

from personalq.chassis.errors import InvalidInput
from personalq.quantizer import calibrate
from personalq.quantizer.bases import BaseModel
from personalq.quantizer.fine_tunes import load_fine_tune
from personalq.quantizer.jobs import key_of
from personalq.quantizer.ledger import write_atomically
from personalq.quantizer.prompts import CLASSES, calibration_prompts
from personalq.quantizer.text_encoders import empty_text_encoder, read_text_encoders
from personalq.quantizer.weight_files import EARLIER_STATE, check_finite
from personalq.taq import (
    PARTS,
    PROFILES,
    TEXT_PARTS,
    Artifact,
    Lora,
    LoraError,
    MissingRangeError,
    Range,
    Recipe,
    TextPart,
    WidthMismatchError,
    layer_shapes,
    quantize_,
    ranges_from_json,
    ranges_to_json,
    read_lora,
    resolve,
    write_base_artifact,
    write_full_artifact,
    write_lora_artifact,
)

log = logging.getLogger(__name__)

CALIBRATIONS_KEPT = 64


class Stopped(Exception):
    """The quantizer is shutting down; the work will be offered again."""


class Workshop:
    """Makes artifacts. Ranges are kept on disk, since a calibration takes minutes."""

    def __init__(self, calibrations: Path, *, device: str, prompts: int, steps: int) -> None:
        calibrations.mkdir(parents=True, exist_ok=True)
        self._calibrations = calibrations
        self._device = device
        self._prompts = prompts
        self._steps = steps
        #: Names what calibration was told; artifacts of other settings differ.
        self.calibration = key_of(version=calibrate.VERSION, prompts=prompts, steps=steps)

    def make_base(
        self, base: BaseModel, profile: str, directory: Path, *, stop: threading.Event
    ) -> Artifact:
        """Quantize a base model's own UNet into `directory`.

        Raises:
            Stopped: `stop` was set meanwhile.
        """
        recipe = PROFILES[profile]
        unet = load_unet(base.folder / "unet")
        ranges = self._ranges(unet, base, recipe, CLASSES, base.fingerprint, stop)
        quantize_(unet, recipe, ranges)
        return write_base_artifact(
            directory,
            unet,
            recipe,
            base_digest=base.fingerprint,
            ranges=ranges,
            tokenizer_fingerprint=base.tokenizer_fingerprint,
        )

    def make_lora(
        self,
        file: Path,
        base: BaseModel,
        base_artifact: Artifact,
        *,
        triggers: Sequence[str],
        source_sha256: str,
        directory: Path,
        noun: str = "",
    ) -> Artifact:
        """Write an adapter or a textual inversion, as it is, beside its quantized base.

        Args:
            triggers: the first is what an embedding is called that the file does not name.

        Raises:
            LoraError: the file does not fit the base, or is of no kind that can be read.
            InvalidInput: its numbers are not finite.
        """
        lora = read_lora(file, token=next(iter(triggers), ""))
        for name, factors in (item for part in PARTS for item in lora.layers(part).items()):
            check_finite(name, factors.down, factors.up)
        return write_lora_artifact(
            directory,
            _fitted(lora, base),
            base_artifact=base_artifact,
            triggers=triggers,
            source_digest=source_sha256,
            noun=noun,
        )

    def make_full(
        self,
        source: Path,
        base: BaseModel,
        profile: str,
        *,
        triggers: Sequence[str],
        source_sha256: str,
        directory: Path,
        stop: threading.Event,
        noun: str = "",
    ) -> Artifact:
        """Quantize a fine-tuned UNet, with ranges of its own, into `directory`.

        Text encoders that were trained with it stand beside it in half precision.

        Raises:
            InvalidInput, CorruptFile: as `load_fine_tune`, or it computes no finite numbers.
            Stopped: `stop` was set meanwhile.
        """
        recipe = PROFILES[profile]
        tuned = load_fine_tune(source, base)
        unet, encoders = tuned.unet, tuned.text_encoders
        names = tuple(trigger for trigger in triggers if trigger) or CLASSES
        try:
            ranges = self._ranges(unet, base, recipe, names, source_sha256, stop, encoders)
        except MissingRangeError as error:
            raise InvalidInput(
                f"the UNet computes numbers that are infinite or no numbers: {EARLIER_STATE}"
            ) from error
        quantize_(unet, recipe, ranges)
        return write_full_artifact(
            directory,
            unet,
            recipe,
            base_digest=base.fingerprint,
            ranges=ranges,
            tokenizer_fingerprint=base.tokenizer_fingerprint,
            triggers=triggers,
            source_digest=source_sha256,
            noun=noun,
            text_encoder=encoders.get("text_encoder"),
            text_encoder_2=encoders.get("text_encoder_2"),
        )

    def _ranges(
        self,
        unet: UNet2DConditionModel,
        base: BaseModel,
        recipe: Recipe,
        names: Sequence[str],
        source_digest: str,
        stop: threading.Event,
        text_encoders: Mapping[TextPart, Mapping[str, Tensor]] | None = None,
    ) -> dict[str, Range]:
        """Return the activation ranges, from disk when the very same calibration was run before.

        Args:
            source_digest: identifies the UNet and the text encoders.
            text_encoders: weights that read the prompts instead of the base's.
        """
        if recipe.activation_bits is None:
            return {}
        prompts = calibration_prompts(self._prompts, names=names)
        key = key_of(
            version=calibrate.VERSION,
            recipe=recipe.version,
            unet=source_digest,
            base=base.fingerprint,
            prompts=prompts,
            steps=self._steps,
            bits=recipe.activation_bits,
        )
        kept = self._calibrations / f"{key}.json"
        if (ranges := _read_ranges(kept)) is not None:
            return ranges

        def check_stop() -> None:
            if stop.is_set():
                raise Stopped

        with torch.inference_mode():
            told = read_text_encoders(base, text_encoders or {}).read(["", *prompts])
        unet.to(self._device)
        ranges = calibrate.observe(
            unet,
            told,
            base.folder,
            side=base.side,
            steps=self._steps,
            bits=recipe.activation_bits,
            between_steps=check_stop,
        )
        unet.to("cpu")
        write_atomically(kept, json.dumps(ranges_to_json(ranges)))
        _keep_newest(self._calibrations)
        log.info(
            "ranges calibrated",
            extra={"action": "calibrate", "base_model": base.base_model, "layers": len(ranges)},
        )
        return ranges


def load_unet(folder: Path) -> UNet2DConditionModel:
    """Load a UNet from a diffusers folder in float32; safetensors only."""
    unet: UNet2DConditionModel = UNet2DConditionModel.from_pretrained(folder, use_safetensors=True)
    return unet.float().eval()


def _fitted(lora: Lora, base: BaseModel) -> Lora:
    """Return a LoRA whose parts for the text encoders are known to fit the base's.

    Raises:
        LoraError: a part does not, or is for a text encoder that only one of them has.
    """
    layers = {part: lora.layers(part) for part in TEXT_PARTS}
    for part in TEXT_PARTS:
        rows = lora.rows(part)
        if part not in base.text_parts:
            if rows or layers[part]:
                raise LoraError(
                    "The checkpoint was made for two text encoders, as SDXL has; "
                    f"{base.base_model} has one: publish it with the base model that it was made "
                    "for."
                )
            continue
        if missing := sorted(lora.embeddings.keys() - rows.keys()):
            raise LoraError(
                f"The embedding of {missing[0]} is for one text encoder, {base.base_model} has "
                "two: publish it with the base model that it was made for."
            )
        for trigger, table in rows.items():
            check_finite(trigger, table)
            if table.shape[1] != base.text_widths[part]:
                raise WidthMismatchError(
                    f"The embedding of {trigger} is {table.shape[1]} wide, the token embeddings of "
                    f"{base.base_model} {base.text_widths[part]}: the checkpoint belongs to "
                    "another base model."
                )
        if layers[part]:
            shapes = layer_shapes(empty_text_encoder(base, part))
            layers[part] = resolve(layers[part], shapes)
    first, second = (layers[part] for part in TEXT_PARTS)
    return replace(lora, text_encoder=first, text_encoder_2=second)


def _read_ranges(file: Path) -> dict[str, Range] | None:
    """Return kept ranges; None when there are none or they cannot be read."""
    try:
        return ranges_from_json(json.loads(file.read_text()))
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _keep_newest(directory: Path) -> None:
    """Bound the kept calibrations: some 2 MB each of an SD1.5, 14 of an SDXL."""
    kept = sorted(directory.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for file in kept[:-CALIBRATIONS_KEPT]:
        file.unlink(missing_ok=True)
