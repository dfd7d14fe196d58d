"""Which files a checkpoint consists of: one file, a diffusers folder, a folder around a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from personalq.chassis.errors import CorruptFile, InvalidInput
from personalq.chassis.pickle_header import PICKLE_SUFFIXES, is_pickle, read_pickle_header
from personalq.chassis.safetensors_header import Header, describe_foreign, read_header
from personalq.chassis.training_metadata import parse_json

MAX_CONFIG_BYTES = 1024 * 1024  # SDXL's longest, the index of its shards, has some 200 KB
MODEL_CARD = "README.md"
SERVED_PARTS = (
    "Of a whole model the UNet is served, and each text encoder that is not its base model's, "
    "whose VAE decodes the pictures."
)
_MODEL_FILES = ("diffusion_pytorch_model", "model")
_ADAPTER_STEMS = ("pytorch_lora_weights", "adapter_model", "learned_embeds")
_CARD_PROMPT = re.compile(r"^instance_prompt:[ \t]*(?P<prompt>\S.*)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Found:
    """The files of a checkpoint, read as far as their headers.

    Attributes:
        name: of the file or folder, for messages.
        config: the JSON beside the weights (`adapter_config.json`, `config.json`); {} if none.
        config_name: its file's name, "" if there is none.
        is_apart: whether the checkpoint is a file alone, of which what lies beside it is no part.
        instance_prompt: of the model card beside the weights, "" if there is none.
        is_folder: whether it is a whole model's folder.
        notes: sentences about what lies beside the weights.
    """

    headers: Sequence[Header]
    name: str
    config: Mapping[str, Any] = field(default_factory=dict)
    config_name: str = ""
    is_apart: bool = False
    instance_prompt: str = ""
    is_folder: bool = False
    notes: Sequence[str] = ()


def find_files(path: Path) -> Found:
    """The checkpoint in `path`, a file or a folder, with what lies beside it.

    Raises:
        CorruptFile: a file is no safetensors file, damaged or missing.
        InvalidInput: a folder holds no or several checkpoints.
    """
    if not path.is_dir():
        return replace(_file(path), is_apart=True)
    unet = _unet_folder(path)
    if unet:
        return _model_folder(path, unet)
    chosen = only_file(path)
    found = _file(chosen)
    others = sorted(p.name for p in path.glob("*.safetensors") if p != chosen)
    if others:
        note = f"Of the folder only {chosen.name} is read, not {', '.join(others[:3])}."
        found = replace(found, notes=[*found.notes, note])
    return found


def unet_files(source: Path) -> Sequence[Path]:
    """The weight files of a whole model's UNet: of a folder, or the one file that it is.

    Empty if the folder holds none.

    Raises:
        CorruptFile: a file that the folder's index lists is missing, or all are pickles.
    """
    if source.is_file():
        return [source]
    if unet := _unet_folder(source):
        return _model_files(source, unet)
    return sorted(path for path in source.glob("*.safetensors") if path.is_file())[:1]


def text_encoder_files(source: Path, part: str = "text_encoder") -> Sequence[Path]:
    """The weight files of a text encoder in a whole model's folder; empty if it has none.

    Args:
        part: its folder, `text_encoder` or SDXL's `text_encoder_2`.

    Raises:
        CorruptFile: as `unet_files`, or its folder holds no weights.
    """
    folder = source / part
    return _model_files(source, folder) if folder.is_dir() else []


def _unet_folder(folder: Path) -> Path | None:
    """Where the UNet of a diffusers folder lies: `unet/`, or the folder itself."""
    if (folder / "unet").is_dir():
        return folder / "unet"
    config = _read_config(folder / "config.json", [])
    return folder if str(config.get("_class_name", "")).startswith("UNet") else None


def _file(path: Path) -> Found:
    """One file, with the configuration and the model card that lie beside it."""
    header = read_pickle_header(path) if is_pickle(path) else read_header(path)
    notes: list[str] = []
    config: Mapping[str, Any] = {}
    config_name = ""
    for candidate in (
        path.with_name(path.name.replace(f"adapter_model{path.suffix}", "adapter_config.json")),
        path.with_name("adapter_config.json"),
        path.with_name("config.json"),
    ):
        if candidate != path and candidate.is_file():
            config, config_name = _read_config(candidate, notes), candidate.name
            break
    return Found(
        headers=[header],
        name=path.name,
        config=config,
        config_name=config_name,
        instance_prompt=_instance_prompt(path.with_name(MODEL_CARD)),
        notes=notes,
    )


def only_file(folder: Path) -> Path:
    """The one checkpoint in a folder around a file; of several, the one with its usual name.

    Raises:
        InvalidInput: it holds several.
        CorruptFile: it holds none that is read.
    """
    weights = sorted(path for path in folder.glob("*.safetensors") if path.is_file())
    preferred = [path for path in weights if path.stem in _ADAPTER_STEMS]
    if len(preferred or weights) == 1:
        return (preferred or weights)[0]
    if weights:
        names = ", ".join(path.name for path in weights[:5])
        raise InvalidInput(
            f"{folder.name!r} holds {len(weights)} checkpoints ({names}): name one of them",
            field="uri",
        )
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix in PICKLE_SUFFIXES)
    if pickles:
        raise _pickles_only(folder.name, pickles)
    raise CorruptFile(
        f"{folder.name!r} holds no checkpoint: name a .safetensors file, or a folder in the "
        "diffusers layout (unet/config.json and unet/diffusion_pytorch_model.safetensors)",
        field="uri",
    )


def _model_folder(folder: Path, unet: Path) -> Found:
    """A whole model: the UNet's files are read, the other components' headers only checked."""
    notes: list[str] = []
    config_path = unet / "config.json"
    if not config_path.is_file():
        raise CorruptFile(
            f"{folder.name!r} has no {unet.name}/config.json, without which the weights cannot be "
            "loaded: upload the whole folder again",
            field="uri",
        )
    config = dict(_read_config(config_path, notes))
    index = _read_config(folder / "model_index.json", notes)
    if index.get("_name_or_path"):
        config["_name_or_path"] = index["_name_or_path"]
    if (folder / "text_encoder").is_dir():
        notes.append(SERVED_PARTS)
    headers = [read_header(path) for path in _model_files(folder, unet)]
    for other in sorted(folder.glob("*/*.safetensors")):
        if other.parent != unet:
            read_header(other)
    return Found(
        headers=headers,
        name=folder.name,
        config=config,
        config_name="model_index.json",
        instance_prompt=_instance_prompt(folder / MODEL_CARD),
        is_folder=True,
        notes=notes,
    )


def _instance_prompt(card: Path) -> str:
    """What the head of a model card says that the pictures were called in training."""
    if not card.is_file() or card.stat().st_size > MAX_CONFIG_BYTES:
        return ""
    text = _read_small(card).decode("utf-8", errors="replace")
    head = text.split("\n---", 1)[0] if text.startswith("---") else ""
    match = _CARD_PROMPT.search(head)
    return match["prompt"].strip().strip("\"'") if match else ""


def _model_files(folder: Path, part: Path) -> Sequence[Path]:
    """The weight files of one variant of a model's part (shards together)."""
    for stem in _MODEL_FILES:
        for index in sorted(part.glob(f"{stem}.safetensors.index*.json")):
            weights = _read_config(index, []).get("weight_map")
            names = sorted(set(map(str, weights.values()))) if isinstance(weights, dict) else []
            missing = [name for name in names if not (part / Path(name).name).is_file()]
            if missing:
                raise CorruptFile(
                    f"{folder.name!r} lacks {', '.join(missing[:3])}, which {index.name} lists: "
                    "upload the whole folder again",
                    field="uri",
                )
            if other := [name for name in names if not name.endswith(".safetensors")]:
                raise CorruptFile(
                    f"{index.name} lists {other[0]!r}, which is no safetensors file: save the "
                    "model with safetensors",
                    field="uri",
                )
            if names:
                return [part / Path(name).name for name in names]
        for pattern in (f"{stem}.safetensors", f"{stem}.*.safetensors"):
            if files := sorted(part.glob(pattern)):
                return files[:1]
    pickles = sorted(path.name for path in part.iterdir() if path.suffix in PICKLE_SUFFIXES)
    if pickles:
        raise _pickles_only(folder.name, pickles)
    raise CorruptFile(
        f"{folder.name!r} has no weights in {part.name}/ (diffusion_pytorch_model.safetensors or "
        "model.safetensors): upload them too",
        field="uri",
    )


def _pickles_only(name: str, pickles: Sequence[str]) -> CorruptFile:
    return CorruptFile(
        f"{name!r} holds its weights only as pickles ({', '.join(pickles[:3])}): name the file "
        "itself if there is one, or save it with safe_serialization=True and publish that",
        field="uri",
    )


def read_json(path: Path) -> Any:
    """The value in a JSON file that lies beside weights; None when it holds none.

    Raises:
        CorruptFile: it is larger than any that belongs to a checkpoint.
    """
    return _parsed(_read_small(path))


def _read_config(path: Path, notes: list[str]) -> Mapping[str, Any]:
    """A small JSON object beside the weights; {} and a note when it is none."""
    if not path.is_file():
        return {}
    content = _read_small(path)
    if isinstance(parsed := _parsed(content), dict):
        return parsed
    pointer = describe_foreign(content, len(content)) if content.startswith(b"version ") else ""
    notes.append(f"{path.name} {pointer or 'beside the weights is no JSON object'}.")
    return {}


def _read_small(path: Path) -> bytes:
    """Everything that lies beside weights and was uploaded with them is read here."""
    if (size := path.stat().st_size) > MAX_CONFIG_BYTES:
        raise CorruptFile(
            f"{path.name} has {size} bytes, more than {MAX_CONFIG_BYTES} are not read: publish the "
            "checkpoint with the file that its trainer wrote",
            field="uri",
        )
    return path.read_bytes()


def _parsed(content: bytes) -> Any:
    try:
        return parse_json(content.decode("utf-8"))
    except UnicodeDecodeError:
        return None
