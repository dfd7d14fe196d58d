"""From a file, or its tensors, to a `Lora`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from personalq.taq.errors import LoraError, UnknownKeysError, UnsupportedFormatError
from personalq.taq.formats.embeddings import (
    check_pairs,
    collect,
    is_lone_embedding,
    token_of,
)
from personalq.taq.formats.files import read_tensors
from personalq.taq.formats.low_rank import low_rank, stated_scales
from personalq.taq.formats.lycoris import hadamard, is_hadamard, is_kronecker, kronecker
from personalq.taq.formats.names import ALPHA, meaning_of, refuse_known_formats
from personalq.taq.formats.numbered import COUNTED, MARK
from personalq.taq.lora import KRONECKER, PARTS, TEXT_PARTS, Factors, Lora, Part, TextPart, examples

#: Rises when a file would be read otherwise than before: what was made of it is then made again.
FORMATS_VERSION = 3

ADAPTER_CONFIG = "adapter_config.json"
MAX_CONFIG_BYTES = 1 << 20  # PEFT writes some hundred
#: What the products of a file's factors may take beyond the file itself, in numbers of 4 bytes.
#: The changes of all layers of SD 2.1's UNet and text encoder, multiplied out, with an identity for
#: each, are 1.4 · 10⁹.
MAX_GROWN_NUMBERS = 3 << 29


def read_lora(path: Path, *, token: str = "") -> Lora:
    """Read an adapter, a textual inversion, or both, from a file of tensors.

    The alpha is what the file says or, of PEFT's files, the `adapter_config.json` beside it: where
    the file alone is meant, give it a folder of its own.

    Args:
        token: what to call an embedding that the file does not name.

    Raises:
        UnsupportedFormatError: as `files.read_tensors`; an adapter of a kind that cannot be
            read, or an embedding without a name.
        UnknownKeysError, LoraError: as `parse_lora`.
    """
    state_dict, metadata = read_tensors(path)
    if any(key.startswith("base_model.") for key in state_dict) and (
        config := _adapter_config(path)
    ):
        metadata = metadata | {"lora_adapter_metadata": json.dumps(config)}
    return parse_lora(state_dict, metadata, token=token)


def parse_lora(
    state_dict: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None, *, token: str = ""
) -> Lora:
    """Return what `state_dict` adapts, whatever its kind and key style; `names` lists them.

    Args:
        metadata: of the safetensors file; diffusers states alpha there (`lora_adapter_metadata`),
            cloneofsimo/lora ranks and the classes whose layers it counted.
        token: what to call an embedding that the file does not name.

    Raises:
        UnsupportedFormatError: the keys are those of a known kind that cannot be read.
        UnknownKeysError: a key has no known form, a factor lacks its partner, or none is there.
        LoraError: types, shapes or alphas that make no change of a layer, or one that is out of
            all proportion to the file.
    """
    metadata = metadata or {}
    layers: dict[tuple[Part, str], dict[str, Tensor]] = {}
    tokens: dict[TextPart, dict[str, list[Tensor]]] = {part: {} for part in TEXT_PARTS}
    unknown = []
    for key in sorted(state_dict):
        if (named := token_of(key)) is not None:
            encoder, token_name = named
            tokens[encoder].setdefault(token_name, []).append(state_dict[key])
        elif meaning := meaning_of(key):
            part, layer, role = meaning
            if role in layers.setdefault((part, layer), {}):
                raise LoraError(f"{layer} has its {role} twice, the second time as {key}.")
            layers[part, layer][role] = state_dict[key]
        else:
            unknown.append(key)
    if unknown and is_lone_embedding(state_dict):
        tokens["text_encoder"] = {unknown.pop(): list(state_dict.values())}
    if unknown:
        refuse_known_formats(unknown)
        raise UnknownKeysError(f"{len(unknown)} keys map to nothing: {examples(unknown)}.")
    if not layers and not any(tokens.values()):
        raise UnknownKeysError("The file holds no LoRA layer and no embedding.")
    _check_types(state_dict)

    _check_counted(metadata, layers)
    stated = stated_scales(metadata)
    changes: dict[Part, dict[str, Factors]] = {part: {} for part in PARTS}
    grown = 0
    for (part, layer), tensors in layers.items():
        made = _changes(layer, tensors, stated[part])
        grown += sum(factors.down.numel() + factors.up.numel() for factors in made.values())
        grown -= sum(tensor.numel() for tensor in tensors.values())
        if grown > MAX_GROWN_NUMBERS:
            raise LoraError(
                "The file's factors multiply to more than a LoRA can take in memory: merge it "
                "into a full model and publish that."
            )
        changes[part] |= made
    embeddings, embeddings_2 = (collect(tokens[part], token) for part in TEXT_PARTS)
    check_pairs(embeddings, embeddings_2)
    return Lora(**changes, embeddings=embeddings, embeddings_2=embeddings_2)


def _check_types(state_dict: Mapping[str, Tensor]) -> None:
    """Refuse codes of some quantizer: what they stand for is not said. An alpha may be a count."""
    wrong = [
        key
        for key, tensor in state_dict.items()
        if not tensor.is_floating_point() and not key.endswith(f".{ALPHA}")
    ]
    if wrong:
        raise UnsupportedFormatError(
            f"{len(wrong)} tensors hold no floating numbers ({examples(sorted(wrong))}): publish "
            "the weights in float16, bfloat16 or float32."
        )


def _changes(
    layer: str, tensors: Mapping[str, Tensor], stated: Mapping[str, Any]
) -> dict[str, Factors]:
    """Return the entries of a `Lora` that one layer's tensors make."""
    if tensors.keys() == {ALPHA}:
        raise UnknownKeysError(f"{layer} has an alpha and nothing that it scales.")
    if is_kronecker(tensors):
        pair = kronecker(layer, tensors)
        return {f"{layer}{half}": f for half, f in zip(KRONECKER, pair, strict=True)}
    if is_hadamard(tensors):
        return {layer: hadamard(layer, tensors)}
    return {layer: low_rank(layer, tensors, stated)}


def _check_counted(
    metadata: Mapping[str, str], layers: Mapping[tuple[Part, str], Mapping[str, Tensor]]
) -> None:
    """Numbered layers must be of classes whose order is known, and of the ranks that are told."""
    for part in {part for part, layer in layers if layer.startswith(MARK)}:
        counted = _strings(metadata.get(part, "[]"))
        if others := sorted(set(counted) - COUNTED):
            raise UnsupportedFormatError(
                f"The file numbers the layers in {', '.join(others)}, whose order is not known: "
                "convert it to keys with names."
            )
    for (part, layer), tensors in layers.items():
        told = metadata.get(f"{part}:{layer.removeprefix(MARK)}:rank")
        if told is not None and "down" in tensors and str(tensors["down"].shape[0]) != told:
            raise LoraError(
                f"{part}:{layer.removeprefix(MARK)} has rank {tensors['down'].shape[0]} and is "
                f"said to have {told}."
            )


def _strings(text: str) -> list[str]:
    try:
        values = json.loads(text)
        return [str(value) for value in values] if isinstance(values, list) else [text]
    except (ValueError, RecursionError):
        return [text]


def _adapter_config(path: Path) -> dict[str, Any]:
    """Return PEFT's configuration beside the file, {} if there is none."""
    named = path.with_name(path.name.replace(f"adapter_model{path.suffix}", ADAPTER_CONFIG))
    config = next((p for p in (named, path.with_name(ADAPTER_CONFIG)) if p.is_file()), path)
    if config == path:
        return {}
    if (size := config.stat().st_size) > MAX_CONFIG_BYTES:
        raise LoraError(
            f"{config.name} beside the file has {size} bytes, which is no configuration."
        )
    try:
        values = json.loads(config.read_text())
    except (ValueError, RecursionError) as error:
        raise LoraError(f"{config.name} beside the file is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise LoraError(f"{config.name} beside the file is no JSON object.")
    return values
