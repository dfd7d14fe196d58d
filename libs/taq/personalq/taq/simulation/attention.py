"""Attention with any rounding of Q, K, V and A, and any tokens kept precise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor, nn
from torch.nn import functional as F

from personalq.taq.attention import TriggerAttention
from personalq.taq.context import TextContext
from personalq.taq.equations import protect
from personalq.taq.simulation.layers import Clock, Simulated
from personalq.taq.simulation.rounders import Exactly, PerPrompt, PowersOfTwo, Rounder

#: ends the name of a point that leaves out the first token
REST = ".rest"

#: is shown (point, tensor, dimensions whose indices matter)
Tap = Callable[[str, Tensor, tuple[int, ...]], None]


@dataclass(frozen=True)
class AttentionRounders:
    """How one layer's Q, K, V and A are rounded."""

    q: Rounder = field(default_factory=Exactly)
    k: Rounder = field(default_factory=Exactly)
    v: Rounder = field(default_factory=Exactly)
    a: Rounder = field(default_factory=Exactly)


@dataclass(frozen=True, kw_only=True)
class SimulatedAttention(TriggerAttention):
    """A processor that rounds at every call what `TriggerAttention` rounds once per prompt.

    K and V of the text come unrounded from `project_text`, because some methods round them with
    another range at each step.
    """

    row_bits: int | None = None
    probability_bits: int | None = None
    rounders: AttentionRounders
    clock: Clock
    #: where the protected tokens are kept precise
    protects: tuple[Literal["k", "v", "a"], ...] = ("k", "v", "a")
    #: whether a range at run time leaves out the protected rows
    ranges_without_protected: bool = False
    #: whether protected rows of the text are projected from unrounded states (MixDQ)
    projects_protected_precisely: bool = False

    def project_text(self, attn: Any, text: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return K, V (B, heads, T, d) of text states (B, T, D), not yet rounded."""
        k, v = super().project_text(attn, text, mask)
        if not self.projects_protected_precisely:
            return k, v
        with _unrounded(attn.to_k, attn.to_v):
            k_precise, v_precise = super().project_text(attn, text, mask)
        rows = mask[:, None, :, None]
        return protect(rows, k_precise, k), protect(rows, v_precise, v)

    def _attend(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, *, scale: float, bias: Any
    ) -> Tensor:
        step = self.clock.step
        q = self.rounders.q(q, step)
        k = self._rows(self.rounders.k, k, mask, kept="k" in self.protects)
        v = self._rows(self.rounders.v, v, mask, kept="v" in self.protects)
        if isinstance(self.rounders.a, Exactly):
            return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)
        scores = (q * scale) @ k.transpose(-1, -2)
        a = (scores if bias is None else scores + bias).softmax(-1)
        kept = mask if "a" in self.protects else None
        if isinstance(self.rounders.a, PowersOfTwo):
            a_rounded = self.rounders.a(a, step, kept)
        else:
            a_rounded = self.rounders.a(a, step)
        if kept is not None:
            a_rounded = protect(kept[:, None, None, :], a, a_rounded)
        return a_rounded @ v

    def _rows(self, rounder: Rounder, x: Tensor, mask: Tensor | None, *, kept: bool) -> Tensor:
        if isinstance(rounder, PerPrompt):
            left_out = mask if self.ranges_without_protected else None
            rounded = rounder(x, self.clock.step, left_out)
        else:
            rounded = rounder(x, self.clock.step)
        if mask is None or not kept or rounded is x:
            return rounded
        return protect(mask[:, None, :, None], x, rounded)


def project_text(unet: nn.Module, states: Tensor, mask: Tensor | None = None) -> TextContext:
    """Return the text of B prompts for a simulated UNet: states (B, T, D), M bool (B, T).

    Raises:
        ContextError: the UNet is not a simulated one, or the shapes differ.
    """
    return TextContext.project(unet, states, mask)


@contextmanager
def _unrounded(*layers: nn.Module) -> Iterator[None]:
    """Let layers take their inputs as they are, within the block."""
    with ExitStack() as stack:
        for layer in layers:
            if isinstance(layer, Simulated):
                stack.enter_context(layer.unrounded())
        yield


class _Shown:
    """Rounds nothing and shows what it is given, of text also what comes after its first token."""

    def __init__(self, point: str, tap: Tap, dims: tuple[int, ...], *, is_text: bool) -> None:
        self._point, self._tap, self._dims, self._is_text = point, tap, dims, is_text

    def __call__(self, x: Tensor, step: int) -> Tensor:
        self._tap(self._point, x, self._dims)
        if self._is_text:
            self._tap(self._point + REST, x[..., 1:, :], self._dims)
        return x


def observed_attention(name: str, attn: Any, clock: Clock, tap: Tap) -> SimulatedAttention:
    """Return a processor that computes precisely and shows Q, K, V and A to `tap`."""
    is_cross = bool(attn.is_cross_attention)
    q, k, v = (
        _Shown(f"{name}.{part}", tap, (-1, -2), is_text=is_cross and part != "q") for part in "qkv"
    )
    rounders = AttentionRounders(q, k, v, _Shown(f"{name}.a", tap, (), is_text=False))
    return SimulatedAttention(name=name, is_cross=is_cross, rounders=rounders, clock=clock)
