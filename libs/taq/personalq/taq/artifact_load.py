"""Load the UNet that an artifact holds."""

from __future__ import annotations

import torch
from torch import nn

from personalq.taq.artifact import UNET_FILE, Artifact
from personalq.taq.artifact_files import read_tensors
from personalq.taq.attention import install_attention_
from personalq.taq.errors import ArtifactMismatchError
from personalq.taq.modules import EXACT_BUFFERS, QuantConv2d, QuantLinear, QuantModule
from personalq.taq.quantize import FULL_BITS
from personalq.taq.scheme import Scheme


def load_unet_(
    unet: nn.Module, artifact: Artifact, *, dtype: torch.dtype = torch.float32
) -> nn.Module:
    """Turn a freshly constructed UNet into the artifact's, and return it.

    The UNet may be on the meta device; its own weights are never read. Quantized weights are
    mapped from the file as they are.

    Args:
        unet: of the same configuration as the one that was quantized.
        artifact: of kind "base" or "full".
        dtype: of what is not quantized and so of the computation: stored in float16, which
            CPUs compute slowly.

    Raises:
        ArtifactMismatchError: a "lora" artifact, or a UNet of another configuration.
    """
    if artifact.kind == "lora":
        raise ArtifactMismatchError(
            "A LoRA artifact has no UNet: load its base, then attach_lora_."
        )
    for entry in artifact.manifest["layers"]:
        layer = _layer(unet, entry["name"], tuple(entry["shape"]))
        if entry["weight_bits"] != FULL_BITS:
            scheme = Scheme(
                entry["weight_bits"],
                entry["activation_bits"],
                equalized=entry["equalized"],
                row_scaled=entry.get("row_scaled", False),  # earlier artifacts have no such layers
            )
            unet.set_submodule(entry["name"], _empty_like(layer, scheme))
    exact = {
        f"{name}.{buffer}"
        for name, module in unet.named_modules()
        if isinstance(module, QuantModule)
        for buffer in EXACT_BUFFERS
    }
    mapped = {
        f"{entry['name']}.weight"
        for entry in artifact.manifest["layers"]
        if entry["weight_bits"] != FULL_BITS
    }
    state = {}
    for key, t in read_tensors(artifact.directory / UNET_FILE):
        wished = dtype if t.is_floating_point() and key not in exact else t.dtype
        # A copy, however small: any other view of the file would keep it mapped as a whole.
        state[key] = t.to(wished, copy=key not in mapped)
    try:
        unet.load_state_dict(state, assign=True)
    except RuntimeError as error:
        first = str(error).splitlines()[1].strip()
        raise ArtifactMismatchError(f"The UNet has another configuration: {first}") from error
    for name, module in unet.named_modules():
        if isinstance(module, QuantModule) and module.bias is not None:
            module.bias = module.bias.float()
        if any(t.is_meta for t in (*module.parameters(False), *module.buffers(False))):
            raise ArtifactMismatchError(f"The artifact does not fill {name} of the UNet.")
    install_attention_(unet, artifact.recipe)
    return unet.requires_grad_(False)


def _layer(unet: nn.Module, name: str, shape: tuple[int, ...]) -> nn.Linear | nn.Conv2d:
    """Return the float layer `name`, whose weight must be of `shape`."""
    try:
        layer = unet.get_submodule(name)
    except AttributeError as error:
        raise ArtifactMismatchError(f"The UNet has no layer {name}.") from error
    if not isinstance(layer, nn.Linear | nn.Conv2d):
        raise ArtifactMismatchError(f"The UNet's {name} is no float layer; load into a fresh UNet.")
    if tuple(layer.weight.shape) != shape:
        raise ArtifactMismatchError(
            f"The UNet has another configuration: {name} has {tuple(layer.weight.shape)} weights, "
            f"in the artifact {shape}."
        )
    return layer


def _empty_like(layer: nn.Linear | nn.Conv2d, scheme: Scheme) -> QuantModule:
    """Return a quantized layer of the same shape without memory."""
    with torch.device("meta"):
        if isinstance(layer, nn.Conv2d):
            return QuantConv2d.like(layer, scheme)
        return QuantLinear.like(layer, scheme)
