"""Learned rounding of weights: AdaRound and BRECQ.

Read in this order: `adaround` learns the rounding of some weights from a loss; `samples` caches
what a unit of a UNet reads and writes; `blocks` walks over a UNet; `calibration` makes the calls
to learn from; `store` applies, saves and loads the result, which `quantize_(rounded=…)` executes.
"""

from personalq.taq.rounding.adaround import Settings
from personalq.taq.rounding.blocks import Progress, reconstruct
from personalq.taq.rounding.calibration import captions, sampler_calls
from personalq.taq.rounding.samples import UNetCall
from personalq.taq.rounding.store import apply_, load_rounded, save_rounded
from personalq.taq.scheme import RoundedWeight

__all__ = [
    "Progress",
    "RoundedWeight",
    "Settings",
    "UNetCall",
    "apply_",
    "captions",
    "load_rounded",
    "reconstruct",
    "sampler_calls",
    "save_rounded",
]
