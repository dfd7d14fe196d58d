"""What a method is: how it rounds layer inputs, attention's rows and its probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

#: How the input of a Linear or Conv2d is rounded.
#: static: one range for all steps, least mean |x − x̂|^2.4 (Q-Diffusion, PTQD, MixDQ).
#: extremes: one range for all steps, from the least to the largest value seen.
#: fitted, fitted-step: the same loss, low and high searched each for itself (TAQ); for all steps
#: or one range per step.
#: step: one min-max range per denoising step (TFMQ-DM's finite set calibration).
#: group: per step, clusters of channels or tokens with a range each (DGQ).
#: row: one scale per token, found at run time; a convolution's is per picture. What is row-scaled
#: (`Method.row_scaled`) has one per token or pixel instead.
Inputs = Literal["static", "extremes", "step", "fitted", "fitted-step", "group", "row"]

#: How Q, K and V are rounded.
#: static, step, group: as above. row: one symmetric scale per token and head at run time (the
#: paper's sensitivity study). tensor: one symmetric scale per prompt and layer at run time.
#: tensor-rest: the same over the rows that are not protected. log: equation of the older
#: text, Section 3.2, per row.
Rows = Literal["static", "step", "group", "row", "tensor", "tensor-rest", "log"]

#: How probabilities are rounded. static: 0 … one maximum of least mean |x − x̂|^2.4. step: 0 … the
#: calibrated maximum of the step. row: 0 … the maximum of each query's row. log2: δ 2^(−q) with δ
#: the maximum at run time, of the tokens that are not protected (DGQ). log: as for rows.
Probabilities = Literal["static", "step", "row", "log2", "log"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """One row of a comparison. Bits of `None` are full precision."""

    name: str
    weight_bits: int | None
    #: of the inputs of Linear and Conv2d
    input_bits: int | None
    #: of Q, K and V in cross- and in self-attention
    cross_row_bits: int | None
    self_row_bits: int | None
    #: of the probabilities in cross- and in self-attention
    cross_bits: int | None
    self_bits: int | None
    #: "grid": the shared integers of `rounding`; "nf4": 4-bit normal floats in blocks of 64
    weights: Literal["grid", "nf4"] = "grid"
    inputs: Inputs = "static"
    rows: Rows = "static"
    #: with rows="row", the scales of V in self-attention: one per token, or one per channel, which
    #: leaves the sum over tokens an integer product (what is served)
    self_values: Literal["row", "column"] = "row"
    probabilities: Probabilities = "static"
    #: what is kept precise in cross-attention, see `protection.Protected`
    protected: str = "none"
    #: where the protected tokens are kept precise; DGQ leaves V out
    protects: tuple[Literal["k", "v", "a"], ...] = ("k", "v", "a")
    #: whether the text states are rounded before they are projected to K and V; MixDQ spares the
    #: protected rows
    text_inputs: Literal["rounded", "precise", "protected"] = "rounded"
    #: ends of names of layers whose input stays precise
    precise_inputs: tuple[str, ...] = ()
    #: ends of names of layers that stay in full precision altogether
    precise_layers: tuple[str, ...] = ()
    #: how a ResNet shortcut treats its two halves: Q-Diffusion rounds each by itself, TAQ scales
    #: channels to the same reach
    shortcuts: Literal["whole", "split", "equalized"] = "whole"
    #: ends of names of layers, of one token or pixel each, whose input gets one scale per token or
    #: pixel at run time
    row_scaled: tuple[str, ...] = ()
    #: how many neighbouring channels of such an input share a range, asymmetric then; None: all of
    #: them one symmetric scale
    row_group: int | None = None
    #: whether PTQD corrects the predicted noise
    corrected: bool = False

    def but(self, **changes: object) -> Self:
        """Return the method with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]
