"""The methods that are compared, each as its paper and code set it up.

Shared by all, so that only what a method is about differs: the integers of the weights, the layers
that stay precise (first and last convolution, the first time layer, tiny layers) and the
calibration set. Sources and departures are listed in docs/taq.md.
"""

from __future__ import annotations

from collections.abc import Callable

from personalq.taq.errors import RecipeError
from personalq.taq.recipe import ROW_SCALED_LAYERS
from personalq.taq.simulation.method import Method

Bits = tuple[int | None, int | None]

#: Ends of names of what else reads one token at a time.
ATTENTION_AND_GATES = ("to_q", "to_k", "to_v", "to_out.0", "ff.net.0.proj")
GROUP = 32  # channels that share a range at 4 bits, as in the OCP microscaling formats


def _base(name: str, bits: Bits) -> Method:
    """Return per-tensor ranges, the same for all steps, everything at the activations' bits."""
    weight_bits, activation_bits = bits
    return Method(
        name=name,
        weight_bits=weight_bits,
        input_bits=activation_bits,
        cross_row_bits=activation_bits,
        self_row_bits=activation_bits,
        cross_bits=activation_bits,
        self_bits=activation_bits,
    )


def _q_diffusion(bits: Bits) -> Method:
    """Ranges for all steps, shortcuts split in two (Li et al. 2023)."""
    return _base("q-diffusion", bits).but(shortcuts="split")


def _ptqd(bits: Bits) -> Method:
    """Corrected noise; shortcuts and downsampling stay precise (He et al. 2023)."""
    return _base("ptqd", bits).but(
        corrected=True, precise_layers=("conv_shortcut", "downsamplers.0.conv")
    )


def _tfmq(bits: Bits) -> Method:
    """Ranges by step; shortcuts and downsampling stay precise (Huang et al. 2024)."""
    return _base("tfmq-dm", bits).but(
        inputs="step",
        rows="step",
        probabilities="step",
        precise_layers=("conv_shortcut", "downsamplers.0.conv"),
    )


def _dgq(bits: Bits) -> Method:
    """Groups by step, probabilities as powers of two, start token apart (Ryu et al. 2025)."""
    return _base("dgq", bits).but(
        inputs="group",
        rows="group",
        probabilities="log2",
        protected="bos",
        protects=("k", "a"),
    )


def _mixdq_bos(bits: Bits) -> Method:
    """Shortcuts split, the start token's K and V precise and in no range (Zhao et al. 2024)."""
    return _base("mixdq-bos", bits).but(
        shortcuts="split", protected="bos", protects=("k", "v"), text_inputs="protected"
    )


def _taq_paper(bits: Bits) -> Method:
    """Equations 2–3 as printed: the trigger span of K, V and A, per-row scales, one range else."""
    return _base("taq-paper", bits).but(
        rows="row",
        probabilities="row",
        protected="trigger",
        text_inputs="precise",
    )


def _taq(bits: Bits) -> Method:
    """As served at 8 bits; at 4, which no profile serves yet, with what that needs.

    Both ends of a range are searched, for each step, so that what a SiLU leaves below zero is kept;
    whatever sums over one token or pixel has a range per token for every 32 channels; and
    probabilities of self-attention have 8 bits, because a step of 1/15 is larger than most of them.
    """
    paper = _taq_paper(bits).but(name="taq")
    _, activation_bits = bits
    if activation_bits is None or activation_bits >= 8:
        return paper.but(
            inputs="fitted",
            shortcuts="equalized",
            row_scaled=ROW_SCALED_LAYERS,
            self_values="column",
        )
    return paper.but(
        inputs="fitted-step",
        row_scaled=(*ROW_SCALED_LAYERS, *ATTENTION_AND_GATES),
        row_group=GROUP,
        self_bits=8,
    )


def _nf4(bits: Bits) -> Method:
    """Weights only."""
    return _base("nf4", bits).but(weights="nf4")


def _full(bits: Bits) -> Method:
    """Nothing is quantized."""
    return _base("full", bits)


METHODS: dict[str, Callable[[Bits], Method]] = {
    "full": _full,
    "q-diffusion": _q_diffusion,
    "ptqd": _ptqd,
    "tfmq-dm": _tfmq,
    "dgq": _dgq,
    "mixdq-bos": _mixdq_bos,
    "nf4": _nf4,
    "taq-paper": _taq_paper,
    "taq": _taq,
}


def method(name: str, weight_bits: int | None, activation_bits: int | None) -> Method:
    """Return a method at some bits; `None` is full precision.

    Raises:
        RecipeError: there is no such method.
    """
    if name not in METHODS:
        raise RecipeError(f"There is no method {name}; there are {', '.join(METHODS)}.")
    return METHODS[name]((weight_bits, activation_bits))
