"""Layers with rounded inputs, and the clock that they read."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from unit.taq.models import assert_similar
from unit.taq.simulations import TEXT_WIDTH, TIMESTEPS, picture, precise_unet, random, shared

from personalq.taq import Lora, attach_lora_, detach_lora_
from personalq.taq.lora import Factors
from personalq.taq.simulation import method
from personalq.taq.simulation.layers import Clock, Simulated, simulated
from personalq.taq.simulation.rounders import PerTensor

ROUNDER = PerTensor([(-2.0, 2.0)], 3)


class _Timed(nn.Module):
    """Takes what a UNet takes."""

    def forward(self, sample: Tensor, timestep: Any, text: Tensor | None = None) -> Tensor:
        return sample


@pytest.mark.parametrize("step", range(3))
def test_the_clock_follows_the_timestep(step: int) -> None:
    """Given by position or by keyword, a number or a tensor for each sample, and the nearest."""
    clock, unet, x = Clock(TIMESTEPS), _Timed(), torch.zeros(2)
    handle = clock.attach(unet)
    t = TIMESTEPS[step]
    given: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((x, t), {}),
        ((x, torch.tensor(t), x), {}),
        ((x, torch.tensor([t, t])), {}),
        ((x,), {"timestep": t + 3}),
        ((), {"sample": x, "timestep": torch.tensor(float(t))}),
    ]
    for args, kwargs in given:
        clock.step = -1
        unet(*args, **kwargs)
        assert clock.step == step
    handle.remove()
    clock.step = -1
    unet(x, t)
    assert clock.step == -1


@pytest.mark.parametrize("kind", ["linear", "conv2d"])
def test_a_layer_rounds_its_input_only(kind: str) -> None:
    """Y = W x̂ + b, of the same weights and geometry."""
    layer: nn.Linear | nn.Conv2d
    if kind == "linear":
        layer, x = nn.Linear(6, 5), random(2, 7, 6)
        weight, bias = layer.weight.clone(), layer.bias.clone()
        expected = F.linear(ROUNDER(x, 0), weight, bias)
    else:
        layer, x = nn.Conv2d(6, 5, 3, stride=2, padding=1, padding_mode="zeros"), random(2, 6, 9, 9)
        assert layer.bias is not None
        weight, bias = layer.weight.clone(), layer.bias.clone()
        expected = F.conv2d(ROUNDER(x, 0), weight, bias, stride=2, padding=1)
    precise = layer(x)
    changed: Any = simulated(layer, ROUNDER, Clock(TIMESTEPS))
    assert torch.equal(changed(x), expected)
    assert not torch.equal(changed(x), precise)
    with changed.unrounded():
        assert torch.equal(changed(x), precise)
    assert torch.equal(changed(x), expected)


def test_a_layer_reads_the_table_of_the_clock() -> None:
    """The same input at another step is rounded by another range."""
    clock = Clock(TIMESTEPS)
    layer: Any = simulated(nn.Linear(6, 5), PerTensor([(-2.0, 2.0), (-8.0, 8.0)], 3), clock)
    x, outputs = random(2, 6), []
    for clock.step in (0, 1, 0):
        outputs.append(layer(x))
    assert torch.equal(outputs[0], outputs[2])
    assert not torch.equal(outputs[0], outputs[1])


@pytest.mark.parametrize("kind", ["linear", "conv2d"])
def test_a_lora_sees_the_unrounded_input(kind: str) -> None:
    """The branch is exact: what it adds is what it adds to a precise layer."""
    if kind == "linear":
        layer: nn.Linear | nn.Conv2d = nn.Linear(6, 5)
        factors, x = Factors(random(2, 6), random(5, 2, seed=1), 0.5), random(3, 6)
        branch = 0.5 * x @ factors.down.T @ factors.up.T
    else:
        layer = nn.Conv2d(6, 5, 3, padding=1)
        factors = Factors(random(2, 6, 3, 3), random(5, 2, 1, 1, seed=1), 0.5)
        x = random(2, 6, 5, 5)
        branch = 0.5 * F.conv2d(F.conv2d(x, factors.down, padding=1), factors.up)
    model = nn.Sequential(simulated(layer, ROUNDER, Clock(TIMESTEPS)))
    without = model(x)
    attach_lora_(model, Lora({"0": factors}))
    assert_similar(model(x) - without, branch)
    detach_lora_(model)
    assert torch.equal(model(x), without)


def test_a_lora_goes_onto_a_simulated_unet() -> None:
    """Every simulated layer of a UNet can carry one, and gives it back."""
    unet = shared(method("taq", 8, 8))
    name = "mid_block.attentions.0.transformer_blocks.0.attn2.to_v"
    assert isinstance(unet.get_submodule("mid_block.resnets.0.conv1"), Simulated)
    x, outputs = picture(), []
    lora = Lora({name: Factors(0.1 * random(4, TEXT_WIDTH), random(64, 4), 1.0)})
    for attach in (False, True, False):
        if attach:
            attach_lora_(unet, lora)
        else:
            detach_lora_(unet)
        with torch.no_grad():
            outputs.append(unet(*x).sample)
    assert torch.equal(outputs[0], outputs[2])
    assert not torch.equal(outputs[0], outputs[1])
    assert not any(isinstance(module, Simulated) for module in precise_unet().modules())
