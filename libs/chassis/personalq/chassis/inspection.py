"""What a checkpoint is: format, base, rank, triggers, problems, from file headers alone.

    inspect(Path("bear.safetensors"))        a LoRA, an embedding, a model in one file
    inspect(Path("fine-tune/"))              a diffusers folder, a PEFT folder

No torch, no tensor read, nothing executed: safe for a file that a stranger has sent.
"""

from __future__ import annotations

from pathlib import Path

from personalq.chassis.checkpoint_files import find_files
from personalq.chassis.classify import classify
from personalq.chassis.errors import InvalidInput
from personalq.chassis.inspected import FAMILIES, FORMAT_NAMES, Inspection

__all__ = ["FORMAT_NAMES", "Inspection", "check_base", "inspect"]


def inspect(path: Path, *, values: bool = False) -> Inspection:
    """What the checkpoint `path` (a file or a folder) is.

    Args:
        values: read the tensors too, and make infinite numbers a problem.

    Raises:
        CorruptFile: it is no safetensors file, damaged, or its keys belong to nothing we know.
        InvalidInput: there is no such file, or a folder holds no or several checkpoints.
    """
    try:
        if not path.is_dir() and not path.is_file():
            raise InvalidInput(f"{path.name!r} does not exist: check the path", field="uri")
        return classify(find_files(path), values=values)
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
