"""Content-addressed artifacts: a canonical manifest and safetensors files beside it.

- base: the quantized UNet of a base model, shared by every LoRA checkpoint of it, stored once.
- lora: a LoRA and its trigger embeddings; names its base artifact by digest.
- full: the quantized UNet of a full fine-tune, and its text encoders where they are its own.

The digest is the sha256 of `manifest.json`, which holds the sha256 of every other file and
nothing that differs between two runs on the same input: no time, no path, no host.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from safetensors.torch import save_file
from torch import Tensor, nn

from personalq.taq.artifact_files import (
    ArtifactFile,
    check_name,
    read_tensors,
    replace_file,
    size_and_sha256,
    verify,
)
from personalq.taq.artifact_manifest import (
    MANIFEST,
    SCHEMA_VERSION,
    TEXT_ENCODER_FILES,
    canonical_json,
    parse_manifest,
    schema_version,
    told_of_second,
)
from personalq.taq.calibrate import Range
from personalq.taq.errors import ArtifactMismatchError, ManifestError
from personalq.taq.lora import PARTS, TEXT_PARTS, Factors, Lora, TextPart, has_lora, resolve
from personalq.taq.modules import EXACT_BUFFERS, QuantModule
from personalq.taq.protection import Protected, resolve_protection
from personalq.taq.quantize import FULL_BITS, STORED_FLOAT, report
from personalq.taq.recipe import Recipe

Kind = Literal["base", "lora", "full"]

UNET_FILE = "unet.safetensors"
LORA_FILE = "lora.safetensors"
EMBEDDING_PREFIXES: Mapping[TextPart, str] = {
    "text_encoder": "embedding.",
    "text_encoder_2": "embedding_2.",
}


@dataclass(frozen=True)
class Protection:
    """Which text tokens of a checkpoint's prompts keep their precision."""

    protected: Protected
    noun: str  # the class noun; "" if the recipe's set does not need it, or it is unknown
    reason: str | None  # why it is not the recipe's set


@dataclass(frozen=True)
class Artifact:
    """An artifact on disk.

    Its files are verified by `read_artifact`, or by the end of the block of `verified`.
    """

    kind: Kind
    digest: str  # sha256 of the manifest, hexadecimal
    manifest: Mapping[str, Any]
    files: tuple[ArtifactFile, ...]  # the tensor files; the manifest comes on top
    size_bytes: int  # manifest and files
    directory: Path
    recipe: Recipe
    base_artifact_digest: str | None  # of a "lora" artifact
    triggers: tuple[str, ...]
    embeddings: Mapping[str, Tensor]  # trigger → (n, hidden)
    embeddings_2: Mapping[str, Tensor]  # the same of SDXL's second text encoder

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file of the artifact, the manifest last: who copies in order copies safely."""
        return (*(self.directory / file.name for file in self.files), self.directory / MANIFEST)

    @property
    def protection(self) -> Protection:
        """What is kept precise in the checkpoint's prompts.

        Artifacts of earlier versions do not say; of them it is what would be written now.

        Raises:
            ManifestError: the manifest says it in another form.
            RecipeError: it names a set that this version does not know.
        """
        told = self.manifest.get("protection") or _protection(self.recipe, self.triggers, "")
        try:
            protected, noun, reason = (told[key] for key in ("protected", "noun", "reason"))
            return Protection(Protected.parse(protected), noun, reason)
        except (AttributeError, KeyError, TypeError) as error:
            raise ManifestError(f"{MANIFEST} does not say what is protected: {told}.") from error

    def lora(self) -> Lora:
        """Return the LoRA of a "lora" artifact.

        Raises:
            ArtifactMismatchError: the artifact is of another kind.
        """
        if self.kind != "lora":
            raise ArtifactMismatchError(f"A {self.kind} artifact holds no LoRA.")
        tensors = _copied(self.directory / LORA_FILE)
        layers: dict[str, dict[str, Factors]] = {part: {} for part in PARTS}
        for key, scale in self.manifest["scales"].items():
            part, layer = key.split(".", 1)
            down, up = tensors[f"{key}.lora_A.weight"], tensors[f"{key}.lora_B.weight"]
            layers[part][layer] = Factors(down, up, float(scale))
        return Lora(
            **layers, embeddings=dict(self.embeddings), embeddings_2=dict(self.embeddings_2)
        )

    def text_encoder(self, part: TextPart = "text_encoder") -> dict[str, Tensor] | None:
        """Return the weights of the checkpoint's own text encoder; None if it is its base's."""
        name = TEXT_ENCODER_FILES[part]
        if all(file.name != name for file in self.files):
            return None
        return _copied(self.directory / name)


def write_base_artifact(
    directory: Path,
    unet: nn.Module,
    recipe: Recipe,
    *,
    base_digest: str,
    ranges: Mapping[str, Range],
    tokenizer_fingerprint: str,
) -> Artifact:
    """Write the UNet of a base model, after `quantize_`, to `directory`.

    Args:
        base_digest: identifies the base model's files.
        ranges: what `quantize_` was given; recorded.
        tokenizer_fingerprint: of the tokenizers that trigger spans depend on, as the function of
            that name returns it.

    Raises:
        ArtifactMismatchError: the UNet carries a LoRA or was not quantized by `recipe`.
    """
    manifest = _unet_manifest("base", unet, recipe, base_digest, ranges, tokenizer_fingerprint)
    return _write(directory, manifest, {UNET_FILE: _unet_tensors(unet)})


def write_full_artifact(
    directory: Path,
    unet: nn.Module,
    recipe: Recipe,
    *,
    base_digest: str,
    ranges: Mapping[str, Range],
    tokenizer_fingerprint: str,
    triggers: Sequence[str],
    source_digest: str,
    noun: str = "",
    text_encoder: Mapping[str, Tensor] | None = None,
    text_encoder_2: Mapping[str, Tensor] | None = None,
) -> Artifact:
    """Write the UNet of a full fine-tune, after `quantize_`, to `directory`.

    Args:
        base_digest: identifies the base whose text encoder, VAE and tokenizer it is used with.
        source_digest: identifies the checkpoint file.
        noun: the class noun of the subject, if it is known.
        text_encoder: weights to be used instead of the base's, as `half_precision` returns them.
        text_encoder_2: the same of SDXL's second.

    Raises:
        ArtifactMismatchError: as `write_base_artifact`.
    """
    manifest = _unet_manifest("full", unet, recipe, base_digest, ranges, tokenizer_fingerprint)
    manifest |= {
        "triggers": list(triggers),
        "source_digest": source_digest,
        "protection": _protection(recipe, triggers, noun),
    }
    files: dict[str, Mapping[str, Tensor]] = {UNET_FILE: _unet_tensors(unet)}
    own: dict[TextPart, Mapping[str, Tensor] | None] = {
        "text_encoder": text_encoder,
        "text_encoder_2": text_encoder_2,
    }
    for part, weights in own.items():
        if weights is not None:
            files[TEXT_ENCODER_FILES[part]] = weights
            manifest[part] = {
                "weights": sum(tensor.numel() for tensor in weights.values()),
                "bytes": sum(tensor.nbytes for tensor in weights.values()),
            }
    return _write(directory, manifest | {"schema_version": schema_version(manifest)}, files)


def write_lora_artifact(
    directory: Path,
    lora: Lora,
    *,
    base_artifact: Artifact,
    triggers: Sequence[str],
    source_digest: str,
    noun: str = "",
) -> Artifact:
    """Write a LoRA checkpoint to `directory`, as it is: the base alone is quantized.

    Args:
        base_artifact: the base that the LoRA is to be attached to.
        source_digest: identifies the checkpoint file.
        noun: the class noun of the subject, if it is known.

    Raises:
        ArtifactMismatchError: `base_artifact` is not of kind "base".
        UnknownKeysError: a layer of the LoRA is not in the base.
        WidthMismatchError: the LoRA was made for a base of another width.
    """
    if base_artifact.kind != "base":
        raise ArtifactMismatchError(
            f"A LoRA belongs to a base artifact, not to a {base_artifact.kind} one."
        )
    shapes = {layer["name"]: tuple(layer["shape"]) for layer in base_artifact.manifest["layers"]}
    unet = resolve(lora.unet, shapes)
    tensors: dict[str, Tensor] = {}
    scales: dict[str, float] = {}
    for part in PARTS:
        for name, factors in (unet if part == "unet" else lora.layers(part)).items():
            tensors[f"{part}.{name}.lora_A.weight"] = factors.down
            tensors[f"{part}.{name}.lora_B.weight"] = factors.up
            scales[f"{part}.{name}"] = factors.scale
    for encoder, prefix in EMBEDDING_PREFIXES.items():
        for trigger, rows in lora.rows(encoder).items():
            tensors[prefix + trigger] = rows
    inherited = ("recipe", "base_digest", "tokenizer_fingerprint")
    manifest: dict[str, Any] = {
        "kind": "lora",
        **{key: base_artifact.manifest[key] for key in inherited},
        "base_artifact_digest": base_artifact.digest,
        "source_digest": source_digest,
        "triggers": list(triggers),
        "protection": _protection(base_artifact.recipe, triggers, noun),
        "scales": scales,
    }
    if lora.text_encoder_2 or lora.embeddings_2:
        manifest["text_encoder_2"] = {
            "layers": len(lora.text_encoder_2),
            "embeddings": len(lora.embeddings_2),
        }
    manifest["schema_version"] = schema_version(manifest)
    return _write(directory, manifest, {LORA_FILE: tensors})


def read_artifact(directory: Path) -> Artifact:
    """Read an artifact and verify every file's size and sha256.

    Raises:
        ManifestError: no manifest, or one of a schema version that is not known.
        IntegrityError: a file is missing, differs from the manifest, or is not safetensors.
    """
    with verified(directory) as artifact:
        return artifact


@contextmanager
def verified(directory: Path) -> Iterator[Artifact]:
    """Yield an artifact whose files are verified by another thread while the block uses them.

    What was made of them is good only once the block is left.

    Raises:
        ManifestError, IntegrityError: as `read_artifact`, in place of what damaged files made the
            block raise.
    """
    try:
        text = (directory / MANIFEST).read_bytes()
    except OSError as error:
        raise ManifestError(f"{directory.name} has no readable {MANIFEST}.") from error
    manifest = parse_manifest(text)
    files = tuple(ArtifactFile(**file) for file in manifest["files"])
    for file in files:
        check_name(directory, file)
    with ThreadPoolExecutor(max_workers=1) as pool:
        verifications = [pool.submit(verify, directory, file) for file in files]
        try:
            yield _artifact(directory, manifest, text, files)
        finally:
            for verification in verifications:
                verification.result()


def _unet_manifest(
    kind: Kind,
    unet: nn.Module,
    recipe: Recipe,
    base_digest: str,
    ranges: Mapping[str, Range],
    tokenizer_fingerprint: str,
) -> dict[str, Any]:
    if has_lora(unet):
        raise ArtifactMismatchError("The UNet carries a LoRA; detach_lora_ first.")
    summary = report(unet, recipe)
    quantized = any(layer.weight_bits != FULL_BITS for layer in summary.layers)
    if quantized != (recipe.weight_bits is not None):
        raise ArtifactMismatchError(f"The UNet was not quantized by the recipe {recipe.name}.")
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": kind,
        "recipe": recipe.to_json(),
        "base_digest": base_digest,
        "tokenizer_fingerprint": tokenizer_fingerprint,
        "layers": [asdict(layer) for layer in summary.layers],
        # Not the extremes of channels, of which there are hundreds of thousands: what they come to
        # are the layers' input factors, among the tensors.
        "calibration": {
            "ranges": {name: {"low": r.low, "high": r.high} for name, r in sorted(ranges.items())}
        },
        "sizes": {
            "weights": summary.weights,
            "packed_bytes": summary.packed_bytes,
            "full_bytes": summary.full_bytes,
        },
    }


def _protection(recipe: Recipe, triggers: Sequence[str], noun: str) -> dict[str, Any]:
    """Return what is protected in this checkpoint's prompts, and why if not what was asked."""
    asked = Protected.parse(recipe.protected)
    noun = noun if asked.uses_noun else ""  # what makes no difference must not change the digest
    protected, reason = resolve_protection(asked, triggers, noun)
    return {"protected": str(protected), "noun": noun, "reason": reason}


def _unet_tensors(unet: nn.Module) -> dict[str, Tensor]:
    """Return the UNet's state as it is stored: packed weights, exact scales, float16."""
    modules = dict(unet.named_modules())
    tensors = {}
    for key, tensor in unet.state_dict().items():
        owner, _, buffer = key.rpartition(".")
        exact = isinstance(modules[owner], QuantModule) and buffer in EXACT_BUFFERS
        short = tensor.is_floating_point() and not exact
        tensors[key] = tensor.to(STORED_FLOAT) if short else tensor
    return tensors


def _copied(path: Path, prefix: str = "") -> dict[str, Tensor]:
    """Return the tensors whose keys begin with `prefix`, none of which keeps the file mapped."""
    return {key: tensor.clone() for key, tensor in read_tensors(path, prefix)}


def _write(
    directory: Path, manifest: dict[str, Any], contents: Mapping[str, Mapping[str, Tensor]]
) -> Artifact:
    """Write the files, then the manifest: a directory without one is not an artifact."""
    directory.mkdir(parents=True, exist_ok=True)
    files = []
    for name, tensors in sorted(contents.items()):
        plain = {key: t.detach().cpu().contiguous() for key, t in sorted(tensors.items())}
        replace_file(directory / name, partial(save_file, plain))
        size, sha256 = size_and_sha256(directory / name)
        files.append(ArtifactFile(name, size, sha256))
    manifest = manifest | {"files": [asdict(file) for file in files]}
    text = canonical_json(manifest)
    replace_file(directory / MANIFEST, lambda path: path.write_bytes(text))
    return _artifact(directory, parse_manifest(text), text, tuple(files))


def _artifact(
    directory: Path, manifest: dict[str, Any], text: bytes, files: tuple[ArtifactFile, ...]
) -> Artifact:
    embeddings: dict[TextPart, dict[str, Tensor]] = {part: {} for part in TEXT_PARTS}
    for file in files:
        for part, prefix in EMBEDDING_PREFIXES.items():
            for key, tensor in _copied(directory / file.name, prefix).items():
                embeddings[part][key.removeprefix(prefix)] = tensor
    second = len(embeddings["text_encoder_2"])
    if second != told_of_second(manifest, "embeddings"):
        raise ManifestError(
            f"{MANIFEST} tells of {told_of_second(manifest, 'embeddings')} embeddings for a "
            f"second text encoder, the files have {second}."
        )
    return Artifact(
        kind=cast(Kind, manifest["kind"]),
        digest=hashlib.sha256(text).hexdigest(),
        manifest=manifest,
        files=files,
        size_bytes=len(text) + sum(file.size for file in files),
        directory=directory,
        recipe=Recipe.from_json(manifest["recipe"]),
        base_artifact_digest=manifest.get("base_artifact_digest"),
        triggers=tuple(manifest.get("triggers", ())),
        embeddings=embeddings["text_encoder"],
        embeddings_2=embeddings["text_encoder_2"],
    )
