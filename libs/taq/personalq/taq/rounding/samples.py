"""What a unit of a UNet reads and writes, cached over a calibration set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from personalq.taq.errors import ContextError


@dataclass(frozen=True)
class UNetCall:
    """The arguments of one call of a UNet on a batch of B samples."""

    sample: Tensor  # (B, channels, H, W)
    timestep: Tensor | int  # () or (B,)
    encoder_hidden_states: Tensor  # (B, T, D)
    kwargs: Mapping[str, Any] = field(default_factory=dict)  # of the UNet, passed on as they are
    #: how much each place matters, (B, h, w) in [0, 1] at any resolution; None: all the same
    weight: Tensor | None = None

    def run(self, unet: nn.Module) -> Tensor:
        """Return what `unet` predicts, (B, channels, H, W)."""
        predicted: Tensor = unet(
            self.sample,
            self.timestep,
            encoder_hidden_states=self.encoder_hidden_states,
            return_dict=False,
            **self.kwargs,
        )[0]
        return predicted


class _Seen(NamedTuple):
    """One call of a unit."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Tensor


class _Stop(Exception):
    """The unit has run; the rest of the UNet need not."""


@dataclass(frozen=True)
class Samples:
    """Inputs of a unit in one network and its outputs in another, N samples on the CPU.

    Positional arguments have integer keys, keyword arguments strings.
    """

    tensors: dict[int | str, Tensor]  # each (N, …)
    constants: dict[int | str, Any]  # arguments that are no tensors
    target: Tensor  # (N, channels, h, w), (N, tokens, channels) or (N, channels)
    weight: Tensor | None  # (N, H, W), mean 1

    def __len__(self) -> int:
        """Return N."""
        return len(self.target)

    def inputs(
        self, rows: Tensor | slice, device: torch.device
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return positional and keyword arguments of the unit for some of the samples."""
        given = self.constants | {k: t[rows].to(device) for k, t in self.tensors.items()}
        positions = sorted(key for key in given if isinstance(key, int))
        return (
            tuple(given[key] for key in positions),
            {key: value for key, value in given.items() if isinstance(key, str)},
        )

    def loss(self, output: Tensor, rows: Tensor | slice) -> Tensor:
        """Return the squared error of `output`: sum over channels, weighted mean over the rest."""
        channels = 1 if output.ndim == 4 else -1
        error = (output.float() - self.target[rows].to(output.device)).square().sum(channels)
        if self.weight is None:
            return error.mean()
        return (error * places(self.weight[rows], error).to(output.device)).mean()


def places(weight: Tensor, error: Tensor) -> Tensor:
    """Return weights (B, H, W) at the resolution of `error`: (B, h, w), (B, tokens) or (B,).

    Tokens are taken for the pixels of a picture of the same aspect, row by row; where they
    cannot be, each sample's mean weighs the whole sample.
    """
    height, width = weight.shape[1:]
    if error.ndim == 3:
        size = (error.shape[1], error.shape[2])
        return F.adaptive_avg_pool2d(weight[:, None], size)[:, 0]
    if error.ndim == 2:
        scale = (error.shape[1] / (height * width)) ** 0.5
        size = (round(height * scale), round(width * scale))
        if size[0] * size[1] == error.shape[1]:
            return F.adaptive_avg_pool2d(weight[:, None], size).flatten(1)
    return weight.mean((1, 2)).view(-1, *[1] * (error.ndim - 1))


@torch.no_grad()
def collect(
    name: str,
    full: nn.Module,
    quantized: nn.Module,
    calls: Sequence[UNetCall],
    *,
    samples: int,
    cache_bytes: int,
) -> Samples:
    """Run two networks and keep what the unit `name` reads in one and writes in the other.

    BRECQ's asymmetric reconstruction: inputs of the network quantized so far, targets of the
    full-precision one, so that a unit also mends what those before it have broken.

    Args:
        calls: taken one after another until `samples` or `cache_bytes` is reached; the last one
            is kept whole, so both may be exceeded by one call.

    Raises:
        ContextError: the unit does not run, reads what has no row per sample, or the weights of
            all calls are zero.
    """
    seen: list[_Seen] = []
    weights: list[Tensor] = []
    count = size = 0
    for call in calls:
        if count >= samples or size >= cache_bytes:
            break
        read, write = _watch(quantized, name, call), _watch(full, name, call)
        seen.append(_Seen(read.args, read.kwargs, write.output))
        weights.append(_weight_of(call))
        count += len(write.output)
        kept = (*read.args, *read.kwargs.values(), write.output)
        size += sum(4 * x.numel() for x in kept if isinstance(x, Tensor))
    weighted = any(call.weight is not None for call in calls[: len(seen)])
    return _join(seen, _mean_one(weights) if weighted else None)


def _watch(unet: nn.Module, name: str, call: UNetCall) -> _Seen:
    """Return what the unit reads and writes in one call."""
    with _recording(unet.get_submodule(name)) as seen:
        try:
            call.run(unet)
        except _Stop:
            return seen[0]
    raise ContextError(f"{name} does not run in this call of the UNet.")


@contextmanager
def _recording(unit: nn.Module) -> Iterator[list[_Seen]]:
    """Record the next call of `unit`, and stop the network after it."""
    seen: list[_Seen] = []

    def record(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        kept = {key: _to_cpu(value) for key, value in kwargs.items()}
        seen.append(_Seen(tuple(map(_to_cpu, args)), kept, output.float().cpu()))
        raise _Stop

    handle = unit.register_forward_hook(record, with_kwargs=True)
    try:
        yield seen
    finally:
        handle.remove()


def _to_cpu(value: Any) -> Any:
    return value.cpu() if isinstance(value, Tensor) else value


def _join(seen: Sequence[_Seen], weight: Tensor | None) -> Samples:
    """Put the samples of several calls behind one another."""
    target = torch.cat([s.output for s in seen])
    tensors: dict[int | str, Tensor] = {}
    constants: dict[int | str, Any] = {}
    arguments = [dict(enumerate(s.args)) | s.kwargs for s in seen]
    for key, first in arguments[0].items():
        if isinstance(first, Tensor):
            # A new tensor: one made in inference mode could not be part of a graph.
            tensors[key] = torch.cat([a[key] for a in arguments])
            if len(tensors[key]) != len(target):
                raise ContextError(f"Argument {key} of a block has no row for each sample.")
        else:
            constants[key] = first
    return Samples(tensors, constants, target, weight)


def _weight_of(call: UNetCall) -> Tensor:
    if call.weight is None:
        return torch.ones(len(call.sample), *call.sample.shape[2:])
    size = (call.sample.shape[2], call.sample.shape[3])
    return F.adaptive_avg_pool2d(call.weight.float().cpu()[:, None], size)[:, 0]


def _mean_one(weights: Sequence[Tensor]) -> Tensor:
    """Scale the weights to mean 1, so that they do not change the regularizer's share."""
    joined = torch.cat(list(weights))
    mean = joined.mean()
    if not mean > 0:
        raise ContextError("The weights of a calibration call are all zero.")
    return joined / mean
