"""Quantized UNets, simulated: TAQ and the methods it is compared with, computed in float.

Values are rounded to what integers would hold, and everything is multiplied in float32. So any
method can be tried, also those whose scales no integer kernel could apply, and all of them share
one set of quantized weights. What is served is in `personalq.taq.quantize`; this is for measuring.

Read `method` (what a method is) and `methods` (all of them), then `simulate` (how it is put into
a UNet), `layers`, `attention`, `rounders` (how tensors are rounded), `observe` (where ranges come
from) and `correction` (PTQD).
"""

from personalq.taq.simulation.attention import project_text
from personalq.taq.simulation.correction import Correction, fit_correction
from personalq.taq.simulation.method import Inputs, Method, Probabilities, Rows
from personalq.taq.simulation.methods import METHODS, method
from personalq.taq.simulation.observe import Observation, Observations, observe
from personalq.taq.simulation.simulate import Simulation, layer_bits, simulate_

__all__ = [
    "METHODS",
    "Correction",
    "Inputs",
    "Method",
    "Observation",
    "Observations",
    "Probabilities",
    "Rows",
    "Simulation",
    "fit_correction",
    "layer_bits",
    "method",
    "observe",
    "project_text",
    "simulate_",
]
