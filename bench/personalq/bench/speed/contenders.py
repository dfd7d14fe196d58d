"""Who is compared: each makes a UNet ready to be executed, in a process of its own."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn

from personalq.bench.speed.unets import Inputs, build, inputs
from personalq.taq import (
    PROFILES,
    Artifact,
    Calibration,
    TextContext,
    load_unet_,
    prepare_,
    quantize_,
    read_lora,
    verified,
    write_base_artifact,
    write_lora_artifact,
)
from personalq.taq.modules import QuantModule
from personalq.taq.quantize import FULL_BITS, LayerReport

LORA_RANK = 8
PROJECTIONS = ("to_q", "to_k", "to_v", "to_out.0")
LAYERS = (nn.Linear, nn.Conv2d, QuantModule)


@dataclass
class Ready:
    """A UNet that can be executed."""

    unet: nn.Module
    inputs: Inputs
    #: further keyword arguments of a call
    arguments: Mapping[str, Any] = field(default_factory=dict)
    #: what making it has shown: seconds, bytes
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """One line of the table."""

    name: str
    covers: str  # what runs in low precision
    prepare: Callable[[dict[str, Any], str], Ready]
    devices: tuple[str, ...] = ("cpu", "cuda")
    #: the distribution that has to be installed
    needs: str = ""


def _plain(dtype: torch.dtype) -> Callable[[dict[str, Any], str], Ready]:
    def prepare(config: dict[str, Any], device: str) -> Ready:
        unet: Any = build(config)
        unet.to(device, dtype, memory_format=torch.channels_last)
        return Ready(unet, inputs(config, device, dtype))

    return prepare


def _torchao(config: dict[str, Any], device: str) -> Ready:
    torchao = import_module("torchao.quantization")
    ready = _plain(torch.bfloat16)(config, device)
    torchao.quantize_(ready.unet, torchao.Int8DynamicActivationInt8WeightConfig())
    return ready


def _quanto(config: dict[str, Any], device: str) -> Ready:
    quanto = import_module("optimum.quanto")
    ready = _plain(torch.bfloat16)(config, device)
    quanto.quantize(ready.unet, weights=quanto.qint8)
    quanto.freeze(ready.unet)
    return ready


def _taq(profile: str) -> Callable[[dict[str, Any], str], Ready]:
    def prepare(config: dict[str, Any], device: str) -> Ready:
        """Quantize, write, and load what was written, as the services do."""
        dtype = torch.bfloat16
        recipe, unet = PROFILES[profile], build(config)
        precise = inputs(config, "cpu", torch.float32)
        started = time.perf_counter()
        with torch.inference_mode(), Calibration(unet) as calibration:
            unet(precise.sample, precise.timestep, precise.text)
        ranges = calibration.ranges()
        calibrated = time.perf_counter()
        report = quantize_(unet, recipe, ranges)
        quantized = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="personalq-speed-") as name:
            folder = Path(name) / "base"
            artifact = write_base_artifact(
                folder,
                unet,
                recipe,
                base_digest="random",
                ranges=ranges,
                tokenizer_fingerprint="none",
            )
            del unet
            size = sum(path.stat().st_size for path in artifact.paths)
            _forget(artifact.paths)
            read = _seconds_to_read(artifact.paths)
            _forget(artifact.paths)
            started_loading = time.perf_counter()
            with torch.device("meta"):
                empty = build(config)
            given = inputs(config, device, dtype)
            with verified(folder) as read_back:
                loaded = load_unet_(empty, read_back, dtype=dtype)
                prepare_(loaded.to(device), given.sample)
            load = time.perf_counter() - started_loading
            lora = _lora_cost(artifact, Path(name))
        context = TextContext.project(loaded, given.text)
        facts = {
            "quantized_seconds": round(quantized - calibrated, 1),
            "calibrated_seconds": round(calibrated - started, 1),
            "artifact_bytes": size,
            "least_bytes": _least_bytes(loaded, report.layers),
            "load_seconds": round(load, 2),
            "read_seconds": round(read, 2),
            **lora,
        }
        return Ready(loaded, given, {"cross_attention_kwargs": {"text": context}}, facts)

    return prepare


def _lora_cost(base: Artifact, folder: Path) -> dict[str, float]:
    """Return seconds and bytes of a LoRA artifact, of all attention projections."""
    tensors = {}
    for layer in base.manifest["layers"]:
        if layer["name"].endswith(PROJECTIONS):
            rows, width = layer["shape"]
            tensors[f"unet.{layer['name']}.lora_A.weight"] = torch.randn(LORA_RANK, width).half()
            tensors[f"unet.{layer['name']}.lora_B.weight"] = torch.randn(rows, LORA_RANK).half()
    file = folder / "lora.safetensors"
    save_file(tensors, file)
    started = time.perf_counter()
    artifact = write_lora_artifact(
        folder / "lora",
        read_lora(file),
        base_artifact=base,
        triggers=["<bear-v4>"],
        source_digest=hashlib.sha256(file.read_bytes()).hexdigest(),
    )
    return {
        "lora_seconds": round(time.perf_counter() - started, 2),
        "lora_file_bytes": file.stat().st_size,
        "lora_artifact_bytes": sum(path.stat().st_size for path in artifact.paths),
    }


def _seconds_to_read(paths: tuple[Path, ...]) -> float:
    """Return how long reading the files takes."""
    started = time.perf_counter()
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 24):
                pass
    return time.perf_counter() - started


def _forget(paths: tuple[Path, ...]) -> None:
    """Take the files out of the page cache."""
    for path in paths:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _least_bytes(unet: nn.Module, layers: Iterable[LayerReport]) -> int:
    """Return bits × weights, a float32 scale per output channel, all else in float16."""
    size = 0
    for layer in layers:
        size += layer.weight_bits * prod(layer.shape) // 8
        size += 4 * layer.shape[0] * (layer.weight_bits < FULL_BITS)
    biases = [m.bias for m in unet.modules() if isinstance(m, LAYERS) and m.bias is not None]
    others = [
        parameter
        for module in unet.modules()
        if not isinstance(module, LAYERS)
        for parameter in module.parameters(recurse=False)
    ]
    return size + 2 * sum(tensor.numel() for tensor in (*biases, *others))


CONTENDERS = (
    Contender("diffusers fp32", "nothing", _plain(torch.float32)),
    Contender("diffusers bf16", "nothing", _plain(torch.bfloat16)),
    Contender("diffusers fp16", "nothing", _plain(torch.float16), ("cuda",)),
    Contender("torchao int8 dynamic, eager", "Linear", _torchao, needs="torchao"),
    Contender("quanto int8", "weights of Linear and Conv2d", _quanto, needs="optimum-quanto"),
    Contender("taq w8a8", "Linear, Conv2d, attention", _taq("w8a8")),
    Contender("taq w4a8", "Linear, Conv2d, attention", _taq("w4a8")),
)
