"""The manifest of an artifact: its canonical form, its schema versions, what it must tell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from personalq.taq.errors import ManifestError
from personalq.taq.lora import PARTS, TEXT_PARTS, TextPart

SCHEMA_VERSION = 1
#: Of artifacts with a text encoder of their own: who knows only version 1 would pass it over.
TEXT_ENCODER_SCHEMA_VERSION = 2
#: Of artifacts with anything for SDXL's second text encoder, which version 2 does not know.
SECOND_ENCODER_SCHEMA_VERSION = 3
MANIFEST = "manifest.json"
TEXT_ENCODER_FILES: Mapping[TextPart, str] = {part: f"{part}.safetensors" for part in TEXT_PARTS}


def canonical_json(values: Mapping[str, Any]) -> bytes:
    """Return the one way to write `values`: sorted keys, no spaces, UTF-8."""
    text = json.dumps(
        values, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def parse_manifest(text: bytes) -> dict[str, Any]:
    """Return the manifest that a file holds.

    Raises:
        ManifestError: it is malformed, in another form than the one that its digest is of, or of a
            schema version that is not known.
    """
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"{MANIFEST} is not JSON: {error}.") from error
    known = (SCHEMA_VERSION, TEXT_ENCODER_SCHEMA_VERSION, SECOND_ENCODER_SCHEMA_VERSION)
    if not isinstance(manifest, dict) or manifest.get("schema_version") not in known:
        raise ManifestError(f"{MANIFEST} is not of schema version {' or '.join(map(str, known))}.")
    if not _is_canonical(manifest, text):
        raise ManifestError(f"{MANIFEST} is not in canonical form; its digest would be ambiguous.")
    needed = {"kind", "recipe", "base_digest", "tokenizer_fingerprint", "files"}
    needed |= {"scales", "base_artifact_digest"} if manifest.get("kind") == "lora" else {"layers"}
    if missing := sorted(needed - manifest.keys()):
        raise ManifestError(f"{MANIFEST} lacks {', '.join(missing)}.")
    if manifest["kind"] not in ("base", "lora", "full"):
        raise ManifestError(f"{MANIFEST} has the unknown kind {manifest['kind']!r}.")
    _check_files(manifest["files"])
    if manifest["kind"] == "lora":
        _check_scales(manifest["scales"])
    _check_text_encoders(manifest)
    return manifest


def schema_version(manifest: Mapping[str, Any]) -> int:
    """Return the least version whose readers know all that `manifest` tells of."""
    if "text_encoder_2" in manifest:
        return SECOND_ENCODER_SCHEMA_VERSION
    return TEXT_ENCODER_SCHEMA_VERSION if "text_encoder" in manifest else SCHEMA_VERSION


def told_of_second(manifest: Mapping[str, Any], what: str) -> object:
    """Return the number that the manifest tells of the second text encoder's `what`."""
    told = manifest.get("text_encoder_2", {})
    return told.get(what, 0) if isinstance(told, dict) else None


def _is_canonical(manifest: Mapping[str, Any], text: bytes) -> bool:
    """Tell whether `text` is the one way to write the manifest; there is none for infinities."""
    try:
        return canonical_json(manifest) == text
    except ValueError:
        return False


def _check_files(files: object) -> None:
    """Refuse what is not a name, a size and a sha256 for each file."""
    kinds = {"name": str, "size": int, "sha256": str}
    if not isinstance(files, list) or not all(
        isinstance(file, dict) and {key: type(value) for key, value in file.items()} == kinds
        for file in files
    ):
        raise ManifestError(f"{MANIFEST} must have name, size and sha256 of each file under files.")


def _check_scales(scales: object) -> None:
    """Refuse what is no number for each layer of a LoRA."""
    if not isinstance(scales, dict) or not all(
        key.partition(".")[0] in PARTS and type(scale) in (int, float)
        for key, scale in scales.items()
    ):
        raise ManifestError(f"{MANIFEST} must have a number for each layer under scales.")


def _check_text_encoders(manifest: Mapping[str, Any]) -> None:
    """Refuse text encoders that are told of in one place and not in another.

    What a "lora" artifact has for the second lies among its other tensors.
    """
    named = str(manifest["files"])
    found = {part for part, name in TEXT_ENCODER_FILES.items() if name in named}
    told = {part for part in TEXT_PARTS if part in manifest}
    layers = _layers_of_second(manifest)
    if manifest["kind"] == "lora" and ("text_encoder_2" in told or layers):
        found.add("text_encoder_2")
    if told != found or manifest["schema_version"] != schema_version(manifest):
        raise ManifestError(
            f"{MANIFEST} must tell of a text encoder of its own by its schema version, under "
            "its name and among its files, or nowhere."
        )
    if manifest["kind"] == "lora" and layers != told_of_second(manifest, "layers"):
        raise ManifestError(
            f"{MANIFEST} tells of {told_of_second(manifest, 'layers')} layers of a second text "
            f"encoder and has scales for {layers}."
        )


def _layers_of_second(manifest: Mapping[str, Any]) -> int:
    """Return how many scales there are for layers of the second text encoder."""
    return sum(key.startswith("text_encoder_2.") for key in manifest.get("scales", ()))
