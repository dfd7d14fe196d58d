"""What a checkpoint is: format, base, rank, triggers, problems, from file headers alone.

    inspect(Path("bear.safetensors"))        a LoRA, an embedding, a model in one file
    inspect(Path("fine-tune/"))              a diffusers folder, a PEFT folder

No torch, no tensor read, nothing executed: safe for a file that a stranger has sent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from personalq.chassis.errors import CorruptFile, InvalidInput
from personalq.chassis.key_styles import (
    ALPHA,
    DOWN,
    UP,
    KeyMeaning,
    adapter_meaning,
    is_cross_attention_input,
    model_meaning,
    token_of,
)
from personalq.chassis.safetensors_header import (
    Header,
    TensorEntry,
    describe_foreign,
    read_header,
    shorten,
)
from personalq.chassis.training_metadata import (
    alpha_of,
    base_model_of,
    parse_json,
    rank_of,
    trained_at,
    triggers_of,
)

Format = Literal["lora", "full", "textual_inversion"]

#: Width of the text states that the UNet's cross-attention reads → family in words.
FAMILIES: Mapping[int, str] = {
    768: "SD 1.x",
    1024: "SD 2.x",
    1280: "SDXL refiner",
    2048: "SDXL",
}
FORMAT_NAMES: Mapping[str, str] = {
    "lora": "a LoRA",
    "full": "a full model",
    "textual_inversion": "a textual-inversion embedding",
}
MAX_CONFIG_BYTES = 1024 * 1024
_SHOWN_METADATA_CHARACTERS = 500
_PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt")
_MODEL_FILES = ("diffusion_pytorch_model", "model")
_ADAPTER_FILES = ("pytorch_lora_weights.safetensors", "adapter_model.safetensors")
_TEXT_EMBEDDING_WIDTHS = (768, 1024, 1280)
_UNET_ENDS = (
    ("conv_in.weight", "conv_out.weight"),
    ("input_blocks.0.0.weight", "out.2.weight"),
)


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What a checkpoint says about itself.

    Attributes:
        format: "lora", "full" or "textual_inversion".
        base_model: base model as the trainer named it; "" when it did not.
        cross_attention_width: of the UNet it fits (768 SD 1.x, 1024 SD 2.x, 2048 SDXL); 0 when
            the file does not show it (an adapter of the text encoder alone).
        rank: of a LoRA (the most frequent one); 0 otherwise.
        alpha: of a LoRA; 0 when not told, which means alpha = rank.
        adapter: "lora", "lokr", "loha", "dora", "other"; "" when it is no adapter.
        key_style: how its tensors are named, a row of the table in `key_styles`.
        components: layers per model ("unet", "text_encoder" …), trained tokens as "token".
        tokens: texts of trained embeddings in the file ("" for one without a name).
        trigger_candidates: texts that may call the concept, the most explicit first.
        trained_at: when it was made, if the file tells.
        metadata: the file's own, unchanged.
        keys: names of all tensors.
        size_bytes: of the file, or of all weight files that were looked at.
        problems: sentences, each a reason why it cannot be served as it is; empty = servable.
        notes: sentences worth knowing that stop nothing.
    """

    format: Format
    base_model: str = ""
    cross_attention_width: int = 0
    rank: int = 0
    alpha: float = 0.0
    adapter: str = ""
    key_style: str = ""
    components: Mapping[str, int] = field(default_factory=dict)
    tokens: Sequence[str] = ()
    trigger_candidates: Sequence[str] = ()
    trained_at: datetime | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    keys: Sequence[str] = ()
    size_bytes: int = 0
    problems: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def base_family(self) -> str:
        """What the width tells: "SD 1.x", "SD 2.x", "SDXL", or "" for any other."""
        return FAMILIES.get(self.cross_attention_width, "")

    def to_json(self) -> dict[str, Any]:
        """A JSON object (as a dict) for `personalq inspect --json`: long metadata shortened."""
        return {
            "format": self.format,
            "base_model": self.base_model,
            "base_family": self.base_family,
            "cross_attention_width": self.cross_attention_width,
            "rank": self.rank,
            "alpha": self.alpha,
            "adapter": self.adapter,
            "key_style": self.key_style,
            "components": dict(self.components),
            "tokens": list(self.tokens),
            "trigger_candidates": list(self.trigger_candidates),
            "trained_at": self.trained_at.isoformat() if self.trained_at else None,
            "size_bytes": self.size_bytes,
            "tensors": len(self.keys),
            "example_keys": [shorten(key) for key in sorted(self.keys)[:5]],
            "metadata": {
                shorten(key): shorten(value, _SHOWN_METADATA_CHARACTERS)
                for key, value in self.metadata.items()
            },
            "problems": list(self.problems),
            "notes": list(self.notes),
        }


def inspect(path: Path) -> Inspection:
    """What the checkpoint `path` (a file or a folder) is.

    Raises:
        CorruptFile: it is no safetensors file, damaged, or its keys belong to nothing we know.
        InvalidInput: there is no such file, or a folder holds no or several checkpoints.
    """
    try:
        if path.is_dir():
            return _inspect_folder(path)
        if not path.is_file():
            raise InvalidInput(f"{path.name!r} does not exist: check the path", field="uri")
        return _inspect_file(path)
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        reason = getattr(error, "strerror", None) or "it is no usable path"
        raise InvalidInput(f"{path.name!r} cannot be opened: {reason}", field="uri") from error


def check_base(inspection: Inspection, width: int, *, base_model: str = "the base model") -> None:
    """InvalidInput when the checkpoint cannot ride on a UNet with `width`-wide cross-attention.

    A checkpoint that does not show its width (a text encoder's adapter) passes.
    """
    if inspection.components.get("transformer") and not inspection.components.get("unet"):
        raise InvalidInput(
            f"{FORMAT_NAMES[inspection.format]} for a diffusion transformer (Flux, SD 3) cannot "
            f"ride on {base_model}, which is a UNet: publish one trained on {base_model}",
            field="base_model",
        )
    found = inspection.cross_attention_width
    if found in (0, width):
        return
    raise InvalidInput(
        f"{FORMAT_NAMES[inspection.format]} for {_width_in_words(found)} cannot ride on "
        f"{base_model} ({_family(width)}{width}-wide): train it on {base_model}, or publish it "
        "with the base model it was trained on",
        field="base_model",
    )


def _width_in_words(width: int) -> str:
    family = FAMILIES.get(width)
    return f"{width}-wide cross-attention" + (f" ({family})" if family else "")


def _family(width: int) -> str:
    return f"{FAMILIES[width]}, " if width in FAMILIES else ""


# ---- files and folders -------------------------------------------------------------------------


def _inspect_file(path: Path) -> Inspection:
    """One file, with the configuration that lies beside it."""
    header = read_header(path)
    config: Mapping[str, Any] = {}
    notes: list[str] = []
    name = path.name
    for candidate in (
        path.with_name(name.replace("adapter_model.safetensors", "adapter_config.json")),
        path.with_name("adapter_config.json"),
        path.with_name("config.json"),
    ):
        if candidate != path and candidate.is_file():
            config = _read_config(candidate, notes)
            break
    return _classify([header], name=name, config=config, notes=notes)


def _inspect_folder(folder: Path) -> Inspection:
    """A diffusers model, a PEFT adapter, or a folder around one file."""
    unet = folder / "unet"
    if unet.is_dir():
        return _inspect_model_folder(folder, unet)
    config = _read_config(folder / "config.json", [])
    if str(config.get("_class_name", "")).startswith("UNet"):
        return _inspect_model_folder(folder, folder)
    weights = sorted(path for path in folder.glob("*.safetensors") if path.is_file())
    preferred = [path for path in weights if path.name in _ADAPTER_FILES]
    if len(preferred or weights) == 1:
        return _inspect_file((preferred or weights)[0])
    if weights:
        names = ", ".join(path.name for path in weights[:5])
        raise InvalidInput(
            f"{folder.name!r} holds {len(weights)} checkpoints ({names}): name one of them",
            field="uri",
        )
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLE_SUFFIXES)
    if pickles:
        raise _pickles_only(folder.name, pickles)
    raise CorruptFile(
        f"{folder.name!r} holds no checkpoint: name a .safetensors file, or a folder in the "
        "diffusers layout (unet/config.json and unet/diffusion_pytorch_model.safetensors)",
        field="uri",
    )


def _inspect_model_folder(folder: Path, unet: Path) -> Inspection:
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
    headers = [read_header(path) for path in _model_files(folder, unet)]
    for other in sorted(folder.glob("*/*.safetensors")):
        if other.parent != unet:
            read_header(other)
    found = _classify(headers, name=folder.name, config=config, notes=notes)
    if found.format != "full":
        raise CorruptFile(
            f"{folder.name!r} holds {FORMAT_NAMES[found.format]} where a UNet should be: publish "
            "that file by itself",
            field="uri",
        )
    return found


def _model_files(folder: Path, unet: Path) -> Sequence[Path]:
    """The weight files of one variant of the UNet (shards together)."""
    for stem in _MODEL_FILES:
        for index in sorted(unet.glob(f"{stem}.safetensors.index*.json")):
            weights = _read_config(index, []).get("weight_map")
            names = sorted(set(map(str, weights.values()))) if isinstance(weights, dict) else []
            missing = [name for name in names if not (unet / Path(name).name).is_file()]
            if missing:
                raise CorruptFile(
                    f"{folder.name!r} lacks {', '.join(missing[:3])}, which {index.name} lists: "
                    "upload the whole folder again",
                    field="uri",
                )
            if names:
                return [unet / Path(name).name for name in names]
        for pattern in (f"{stem}.safetensors", f"{stem}.*.safetensors"):
            if files := sorted(unet.glob(pattern)):
                return files[:1]
    pickles = sorted(path.name for path in unet.iterdir() if path.suffix in _PICKLE_SUFFIXES)
    if pickles:
        raise _pickles_only(folder.name, pickles)
    raise CorruptFile(
        f"{folder.name!r} has no {unet.name}/diffusion_pytorch_model.safetensors: upload the "
        "weights too",
        field="uri",
    )


def _pickles_only(name: str, pickles: Sequence[str]) -> CorruptFile:
    return CorruptFile(
        f"{name!r} holds its weights only as pickles ({', '.join(pickles[:3])}); pickles can run "
        "code and are never opened: save it with safe_serialization=True and publish that",
        field="uri",
    )


def _read_config(path: Path, notes: list[str]) -> Mapping[str, Any]:
    """A small JSON object beside the weights; {} and a note when it is none."""
    if not path.is_file():
        return {}
    start = b""
    size = path.stat().st_size
    if size <= MAX_CONFIG_BYTES:
        start = path.read_bytes()
        try:
            parsed = parse_json(start.decode("utf-8"))
        except UnicodeDecodeError:
            parsed = None
        if isinstance(parsed, dict):
            return parsed
    pointer = describe_foreign(start, size) if start.startswith(b"version ") else ""
    notes.append(f"{path.name} {pointer or 'beside the weights is no JSON object'}.")
    return {}


# ---- from keys to meaning ----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Layer:
    """The tensors of one adapted layer, by role."""

    component: str
    module: str
    parts: Mapping[str, TensorEntry]

    def rank(self) -> int:
        """From the factors' shapes; 0 when a factor is stored whole."""
        for role, axis in _RANK_AXES:
            part = self.parts.get(role)
            if part is not None and len(part.shape) > axis:
                return part.shape[axis]
        return 0

    def input_width(self) -> int:
        """How wide the layer's input is; 0 when the factors do not show it."""
        for role in (DOWN, "hada_w1_b"):
            part = self.parts.get(role)
            if part is not None and len(part.shape) > 1:
                return part.shape[1]
        widths = [self._kronecker_width(factor) for factor in ("lokr_w1", "lokr_w2")]
        return widths[0] * widths[1]

    def output_width(self) -> int:
        """How wide the layer's output is; 0 when the factors do not show it."""
        part = self.parts.get(UP)
        return part.shape[0] if part is not None and part.shape else 0

    def _kronecker_width(self, factor: str) -> int:
        part = self.parts.get(factor) or self.parts.get(f"{factor}_b")
        return part.shape[1] if part is not None and len(part.shape) > 1 else 0

    def is_complete(self) -> bool:
        """Whether every factor has its partner."""
        return (DOWN in self.parts) == (UP in self.parts)


_RANK_AXES = ((DOWN, 0), ("hada_w1_b", 0), ("lokr_w1_b", 0), ("lokr_w2_b", 0))


def _classify(
    headers: Sequence[Header], *, name: str, config: Mapping[str, Any], notes: list[str]
) -> Inspection:
    """Sort the keys of the file(s) into adapter, model, token or nothing."""
    owner = {key: header for header in headers for key in header.tensors}
    shapes = {key: header.tensors[key].shape for key, header in owner.items()}
    metadata = {k: v for header in headers for k, v in header.metadata.items()}
    adapters: dict[str, KeyMeaning] = {}
    models: dict[str, KeyMeaning] = {}
    tokens: dict[str, KeyMeaning] = {}
    unknown: list[str] = []
    for key, shape in shapes.items():
        if meaning := adapter_meaning(key):
            adapters[key] = meaning
        elif meaning := token_of(key, shape):
            tokens[key] = meaning
        elif meaning := model_meaning(key):
            models[key] = meaning
        else:
            unknown.append(key)
    if not adapters and not models and not tokens and len(unknown) == 1:
        tokens.update(_lone_embedding(unknown.pop(), shapes))

    token_names = tuple(dict.fromkeys(meaning.module for meaning in tokens.values()))
    common = _Common(
        name=name,
        owner=owner,
        shapes=shapes,
        metadata=metadata,
        config=config,
        unknown=unknown,
        tokens=token_names,
        problems=[],
        notes=notes,
    )
    if any(meaning.role != ALPHA for meaning in adapters.values()):
        if models:
            unknown += models
        return _adapter(common, adapters)
    if any(meaning.component == "unet" for meaning in models.values()):
        return _full_model(common, models)
    if tokens:
        return _embedding(common, tokens)
    raise _nothing(common, models)


@dataclass(frozen=True, kw_only=True)
class _Common:
    """What every kind of checkpoint is described with."""

    name: str
    owner: Mapping[str, Header]
    shapes: Mapping[str, tuple[int, ...]]
    metadata: Mapping[str, str]
    config: Mapping[str, Any]
    unknown: Sequence[str]
    tokens: Sequence[str]
    problems: list[str]
    notes: list[str]

    def inspection(self, *, format: Format, **found: Any) -> Inspection:  # noqa: A002
        """The result, with all that does not depend on the kind."""
        if self.unknown:
            self.problems.append(
                f"{len(self.unknown)} of {len(self.shapes)} tensors belong to nothing we know, for "
                f"example {_examples(self.unknown)}: convert it to diffusers keys."
            )
        base_model = base_model_of(self.metadata, self.config)
        self._check_family(base_model, int(found.get("cross_attention_width", 0)))
        return Inspection(
            format=format,
            base_model=base_model,
            tokens=self.tokens,
            trigger_candidates=triggers_of(self.metadata, filter(None, self.tokens)),
            trained_at=trained_at(self.metadata),
            metadata=self.metadata,
            keys=tuple(self.shapes),
            size_bytes=sum(path.stat().st_size for path in self._files()),
            problems=tuple(self.problems),
            notes=tuple(self.notes),
            **found,
        )

    def _files(self) -> Sequence[Path]:
        return tuple({header.path: None for header in self.owner.values()})

    def _check_family(self, base_model: str, width: int) -> None:
        """A note when the trainer's words and the shapes name different families."""
        said = " ".join(
            [base_model, *(self.metadata.get(key, "") for key in ("ss_base_model_version",))]
        ).lower()
        claimed = 0
        if "xl" in said.replace("-", "").replace("_", ""):
            claimed = 2048
        elif any(mark in said for mark in ("stable-diffusion-2", "sd_v2", "sd-2", "sd2")):
            claimed = 1024
        elif any(mark in said for mark in ("stable-diffusion-v1", "sd_v1", "sd-1", "sd1")):
            claimed = 768
        if claimed and width in FAMILIES and width != claimed:
            self.notes.append(
                f"It says it was trained on {shorten(base_model)} ({FAMILIES[claimed]}), but its "
                f"shapes fit {FAMILIES[width]} ({width}-wide cross-attention)."
            )


def _adapter(common: _Common, meanings: Mapping[str, KeyMeaning]) -> Inspection:
    """A LoRA or one of its relatives."""
    layers = _layers_of(common, meanings)
    _check_pairs(common, layers)
    styles = Counter(meaning.style for meaning in meanings.values())
    roles = {meaning.role for meaning in meanings.values()}
    adapter = _adapter_kind(roles)
    components = Counter(layer.component for layer in layers)
    if common.tokens:
        components["token"] = len(common.tokens)
    width = _adapter_width(layers, indexed=styles.most_common(1)[0][0] == "indexed")
    ranks = Counter(layer.rank() for layer in layers if layer.rank())
    _note_adapter_problems(common, adapter, components, styles, meanings, width)
    alphas = (
        common.owner[key].scalar(key) for key, meaning in meanings.items() if meaning.role == ALPHA
    )
    return common.inspection(
        format="lora",
        cross_attention_width=width,
        rank=ranks.most_common(1)[0][0] if ranks else rank_of(common.metadata, common.config),
        alpha=next((value for value in alphas if value), 0.0)
        or alpha_of(common.metadata, common.config),
        adapter=adapter,
        key_style=styles.most_common(1)[0][0],
        components=dict(components),
    )


def _layers_of(common: _Common, meanings: Mapping[str, KeyMeaning]) -> Sequence[_Layer]:
    grouped: dict[tuple[str, str], dict[str, TensorEntry]] = {}
    for key, meaning in meanings.items():
        parts = grouped.setdefault((meaning.component, meaning.module), {})
        parts[meaning.role] = common.owner[key].tensors[key]
    return [
        _Layer(component=component, module=module, parts=parts)
        for (component, module), parts in grouped.items()
        if set(parts) != {ALPHA}
    ]


def _check_pairs(common: _Common, layers: Sequence[_Layer]) -> None:
    """Factors that cannot be multiplied are damage; single ones are a problem."""
    for layer in layers:
        down, up = layer.parts.get(DOWN), layer.parts.get(UP)
        if down is None or up is None:
            continue
        if len(down.shape) < 2 or len(up.shape) < 2 or down.shape[0] != up.shape[1]:
            raise CorruptFile(
                f"{common.name}: the two factors of {shorten(layer.module)!r} do not fit each "
                f"other ({list(down.shape)} and {list(up.shape)}): train or convert it again",
                field="uri",
            )
    lonely = [layer.module for layer in layers if not layer.is_complete()]
    if len(lonely) == len(layers):
        raise CorruptFile(
            f"{common.name}: every layer lacks one of its two LoRA factors, for example "
            f"{_examples(lonely)}: train or convert it again",
            field="uri",
        )
    if lonely:
        common.problems.append(
            f"{len(lonely)} of {len(layers)} layers lack one of their two factors, for example "
            f"{_examples(lonely)}: train or convert it again."
        )


def _adapter_kind(roles: set[str]) -> str:
    if any(role.startswith("lokr") for role in roles):
        return "lokr"
    if any(role.startswith("hada") for role in roles):
        return "loha"
    if "dora_scale" in roles:
        return "dora"
    return "lora" if DOWN in roles else "other"


def _adapter_width(layers: Sequence[_Layer], *, indexed: bool) -> int:
    """Width of the text states that the adapted UNet reads; 0 when no layer shows it."""
    unet = [layer for layer in layers if layer.component == "unet"]
    named = Counter(
        layer.input_width()
        for layer in unet
        if is_cross_attention_input(layer.module) and layer.input_width()
    )
    if named:
        return named.most_common(1)[0][0]
    if not indexed:
        return 0
    # Without names: the text's width is the one that goes into layers but never comes out of one.
    outputs = {layer.output_width() for layer in unet}
    inputs = Counter(layer.input_width() for layer in unet)
    foreign = [(count, width) for width, count in inputs.items() if width not in outputs]
    return max(foreign)[1] if foreign else 0


def _note_adapter_problems(
    common: _Common,
    adapter: str,
    components: Mapping[str, int],
    styles: Mapping[str, int],
    meanings: Mapping[str, KeyMeaning],
    width: int,
) -> None:
    names = {"lokr": "LoKr", "loha": "LoHa", "dora": "DoRA", "other": "no plain LoRA"}
    if adapter in names:
        common.problems.append(
            f"It is {names[adapter]}, not a plain LoRA: diffusers cannot load it; convert it to a "
            "LoRA (LyCORIS can extract one) or merge it into a full model."
        )
    if components.get("transformer") and not components.get("unet"):
        common.problems.append(
            "It adapts a diffusion transformer (Flux, SD 3), not the UNet of Stable Diffusion."
        )
    elif not components.get("unet"):
        common.notes.append(
            "It adapts only the text encoder: the shapes do not tell SD 1.x from SDXL, name the "
            "base model when you publish it."
        )
    elif not width:
        common.notes.append(
            "It adapts no cross-attention layer: the shapes do not tell its base model, name it "
            "when you publish it."
        )
    if "indexed" in styles:
        common.problems.append(
            "Its layers are numbered, not named (cloneofsimo/lora): convert it to diffusers keys "
            "before it is served."
        )
    if any(key.startswith("lora_unet_unet_") for key in meanings):
        common.notes.append(
            "Its keys say `unet` twice (`lora_unet_unet_…`, a broken conversion); they are read as "
            "if it stood there once."
        )


def _full_model(common: _Common, meanings: Mapping[str, KeyMeaning]) -> Inspection:
    """A whole model: a UNet in diffusers names, or a single file of everything."""
    unet = {key: meaning for key, meaning in meanings.items() if meaning.component == "unet"}
    modules = {meaning.module for meaning in unet.values()}
    if not any(set(ends) <= modules for ends in _UNET_ENDS):
        raise CorruptFile(
            f"{common.name} holds only a part of a UNet: its first or last layer is missing; "
            "upload the whole model",
            field="uri",
        )
    widths = Counter(
        common.shapes[key][1]
        for key, meaning in unet.items()
        if is_cross_attention_input(meaning.module.removesuffix(".weight"))
        and len(common.shapes[key]) == 2
    )
    width = widths.most_common(1)[0][0] if widths else 0
    configured = common.config.get("cross_attention_dim")
    if isinstance(configured, list):
        configured = configured[0] if configured else None
    if isinstance(configured, int) and width and configured != width:
        raise CorruptFile(
            f"{common.name}: config.json says cross_attention_dim {configured}, the weights are "
            f"{width} wide: one of them belongs to another model; upload both again",
            field="uri",
        )
    if not width:
        common.problems.append("Its UNet reads no text: it has no cross-attention layer.")
    styles = Counter(meaning.style for meaning in unet.values())
    if "single-file" in styles:
        common.problems.append(
            "It is a whole model in one file (`model.diffusion_model.*`): convert it to a "
            "diffusers folder (convert_original_stable_diffusion_to_diffusers.py) and publish that."
        )
    elif not common.config:
        common.notes.append(
            "The UNet's config.json does not lie beside it: it must have its base model's."
        )
    components = Counter(meaning.component for meaning in meanings.values())
    return common.inspection(
        format="full",
        cross_attention_width=width,
        key_style=styles.most_common(1)[0][0],
        components=dict(components),
    )


def _embedding(common: _Common, meanings: Mapping[str, KeyMeaning]) -> Inspection:
    """Trained token embeddings alone."""
    widths = {key: common.shapes[key][-1] for key in meanings}
    # SDXL has one embedding per text encoder; its UNet reads both side by side.
    paired = "clip_l" in widths and "clip_g" in widths
    width = widths["clip_l"] + widths["clip_g"] if paired else max(widths.values())
    if not any(common.tokens):
        common.notes.append("It does not name its token: give the trigger when you publish it.")
    if not all(key.startswith("bundle_emb.") for key in meanings):
        common.problems.append(
            "It is an embedding alone, which changes no layer: publish a LoRA; its trained tokens "
            "can ride in the same file as `bundle_emb.<trigger>.string_to_param.*`."
        )
    return common.inspection(
        format="textual_inversion",
        cross_attention_width=width,
        key_style="embedding",
        components={"token": len(common.tokens)},
    )


def _lone_embedding(key: str, shapes: Mapping[str, tuple[int, ...]]) -> Mapping[str, KeyMeaning]:
    """Take the only tensor for an embedding: diffusers saves it under the token's own text."""
    shape = shapes[key]
    rows = shape[0] if len(shape) == 2 else 1
    fits = len(shape) in (1, 2) and shape[-1] in _TEXT_EMBEDDING_WIDTHS and 0 < rows <= 77
    if not fits or "." in key:
        return {}
    return {key: KeyMeaning(style="embedding", component="token", module=key, role="weight")}


def _nothing(common: _Common, models: Mapping[str, KeyMeaning]) -> CorruptFile:
    """The error for a file that would load without changing anything."""
    if not common.shapes:
        reason = "holds no tensor at all"
    elif models:
        parts = sorted({meaning.component for meaning in models.values()})
        reason = f"holds only {' and '.join(parts).replace('_', ' ')} weights, no UNet and no LoRA"
    else:
        reason = (
            f"has {len(common.shapes)} tensors and none of them belongs to a LoRA, a UNet or an "
            f"embedding, for example {_examples(list(common.shapes))}"
        )
    return CorruptFile(
        f"{common.name} {reason}: serving it would change nothing; publish a LoRA, a diffusers "
        "folder or an embedding",
        field="uri",
    )


def _examples(keys: Sequence[str]) -> str:
    return ", ".join(json.dumps(shorten(key, 80), ensure_ascii=False) for key in sorted(keys)[:3])
