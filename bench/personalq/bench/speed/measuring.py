"""Time and memory of a UNet's step, in all and by kind of layer."""

from __future__ import annotations

import ctypes
import gc
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from personalq.bench.speed.contenders import Ready
from personalq.taq.attention import is_attention
from personalq.taq.modules import QuantConv2d, QuantLinear, held_tensors

KINDS = ("conv", "linear", "attention", "rest")
_KIB = 1024


@torch.inference_mode()
def step(ready: Ready) -> Tensor:
    """Return the predicted noise of one denoising step, (BATCH, 4, h, w)."""
    given, unet = ready.inputs, ready.unet
    noise: Tensor = unet(given.sample, given.timestep, given.text, **ready.arguments).sample
    if noise.is_cuda:
        torch.cuda.synchronize()
    return noise


def timed(ready: Ready) -> float:
    """Return the seconds of one step."""
    started = time.perf_counter()
    step(ready)
    return time.perf_counter() - started


def seconds_by_kind(ready: Ready) -> dict[str, float]:
    """Return the seconds of one step by kind of layer.

    Attention is what an attention module does besides its projections, which are Linear.
    """
    spent: dict[str, float] = defaultdict(float)
    with _watched(ready.unet, spent):
        whole = timed(ready)
    spent["attention"] -= spent.pop("within attention", 0.0)
    spent["rest"] = whole - sum(spent.values())
    return {kind: spent[kind] for kind in KINDS}


@contextmanager
def _watched(unet: nn.Module, spent: dict[str, float]) -> Iterator[None]:
    handles = []
    attention = {name for name, module in unet.named_modules() if is_attention(module)}
    for name, module in unet.named_modules():
        kinds = []
        if name in attention:
            kinds = ["attention"]
        elif isinstance(module, nn.Linear | QuantLinear):
            kinds = ["linear"]
            if any(name.startswith(f"{outer}.") for outer in attention):
                kinds.append("within attention")
        elif isinstance(module, nn.Conv2d | QuantConv2d):
            kinds = ["conv"]
        if kinds:
            handles += _timers(module, kinds, spent)
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _timers(module: nn.Module, kinds: list[str], spent: dict[str, float]) -> list[Any]:
    started: list[float] = []

    def before(_: nn.Module, args: tuple[Any, ...]) -> None:
        _wait()
        started.append(time.perf_counter())

    def after(_: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        _wait()
        taken = time.perf_counter() - started.pop()
        for kind in kinds:
            spent[kind] += taken

    return [module.register_forward_pre_hook(before), module.register_forward_hook(after)]


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def held_bytes(unet: nn.Module) -> int:
    """Return the bytes of all weights that are held while the UNet runs, packed copies included."""
    return sum(_bytes(tensor) for tensor in held_tensors(unet))


def _bytes(tensor: Tensor) -> int:
    """Return a tensor's bytes; of a quantized one, those of its parts."""
    flatten: Callable[[], tuple[list[str], Any]] | None = getattr(
        tensor, "__tensor_flatten__", None
    )
    if flatten is None:
        return tensor.numel() * tensor.element_size()
    return sum(_bytes(getattr(tensor, name)) for name in flatten()[0])


def peak_bytes(ready: Ready) -> int:
    """Return the most memory that this process, or the GPU, holds during a step."""
    gc.collect()
    if ready.inputs.sample.is_cuda:
        torch.cuda.reset_peak_memory_stats()
        step(ready)
        return torch.cuda.max_memory_allocated()
    ctypes.CDLL(None).malloc_trim(0)  # what building left behind is not the step's
    Path("/proc/self/clear_refs").write_text("5")
    step(ready)
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * _KIB
