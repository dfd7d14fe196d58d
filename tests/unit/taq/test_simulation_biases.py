"""What rounding adds to the mean of layers, taken out again."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from unit.taq.simulations import calls, precise_unet, simulation

from personalq.taq.simulation import correct_biases_, layer_bits, method
from personalq.taq.simulation.layers import Simulated


def _mean_errors(simulated: nn.Module) -> dict[str, Tensor]:
    """E[ŷ] − E[y] by channel of each layer, on its inputs in full precision."""
    unet, found = copy.deepcopy(precise_unet()), {}
    layers: dict[str, Any] = {
        n: m for n, m in simulated.named_modules() if isinstance(m, Simulated)
    }
    outputs: dict[str, list[Tensor]] = {name: [] for name in layers}
    for name, layer in layers.items():
        layer.clock.attach(unet)

        def watch(_: Any, args: Any, y: Tensor, name: str = name, layer: Any = layer) -> None:
            channels = 1 if y.ndim == 4 else y.ndim - 1
            error = (layer(args[0]) - y).movedim(channels, -1)
            outputs[name].append(error.flatten(0, -2).mean(0))

        unet.get_submodule(name).register_forward_hook(watch)
    for call in calls():
        call.run(unet)
    for name, errors in outputs.items():
        found[name] = torch.stack(errors).mean(0)
    return found


def test_no_layer_has_a_mean_error() -> None:
    """Whether it had a bias or not; weights stay what they were."""
    unet: Any = simulation(method("taq", 4, 8)).unet
    before = _mean_errors(unet)
    layers: dict[str, Any] = {n: m for n, m in unet.named_modules() if isinstance(m, Simulated)}
    weights = {name: layer.weight.clone() for name, layer in layers.items()}
    correct_biases_(unet, copy.deepcopy(precise_unet()), calls())
    after = _mean_errors(unet)
    assert max(error.abs().max() for error in before.values()) > 1e-2
    assert max(error.abs().max() for error in after.values()) < 1e-5
    for name, weight in weights.items():
        assert torch.equal(unet.get_submodule(name).weight, weight)


def test_layers_that_keep_eight_bits() -> None:
    """Named by a part of their names; every other layer keeps the method's bits."""
    plain, kept = method("taq", 4, 8), method("taq", 4, 8).but(eight_bit_layers=("to_q",))
    before, after = layer_bits(precise_unet(), plain), layer_bits(precise_unet(), kept)
    changed = {name for name in before if before[name] != after[name]}
    assert changed and all("to_q" in name and after[name] == (8, 8) for name in changed)
