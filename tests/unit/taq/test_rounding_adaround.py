"""AdaRound: from rounding to the nearest to rounding that keeps a layer's output."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from personalq.taq import RecipeError
from personalq.taq.quantizers import dequantize, quantize
from personalq.taq.rounding import Settings
from personalq.taq.rounding.adaround import (
    beta_at,
    harden,
    learn,
    penalty,
    rectified_sigmoid,
    soft_weight,
    soften,
)
from personalq.taq.scheme import RoundedWeight, weight_grid

SETTINGS = Settings(iterations=300, learning_rate=1e-2)


def _layers() -> dict[str, nn.Linear | nn.Conv2d]:
    """The same weights in every run, whatever was imported before."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return {"linear": nn.Linear(48, 32), "conv": nn.Conv2d(16, 24, 3, padding=1)}


LAYERS = _layers()


def _correlated(layer: nn.Linear | nn.Conv2d, count: int, seed: int) -> Tensor:
    """Inputs whose channels depend on one another, and do not average to zero."""
    channels = layer.weight.shape[1]
    mixing = torch.randn(6, channels, generator=torch.Generator().manual_seed(7))
    g = torch.Generator().manual_seed(seed)
    if isinstance(layer, nn.Linear):
        return (torch.randn(count, 6, generator=g) @ mixing).relu()
    return (torch.randn(count, 6, 6, 6, generator=g) @ mixing).relu().movedim(-1, 1)


def _learned(layer: nn.Linear | nn.Conv2d, bits: int, settings: Settings) -> RoundedWeight:
    """Learn the rounding of one layer on 256 samples."""
    x = _correlated(layer, 256, seed=0)
    with torch.no_grad():
        target = layer(x)
    g = torch.Generator().manual_seed(settings.seed)

    def loss(weights: dict[str, Tensor]) -> Tensor:
        rows = torch.randint(len(x), (settings.batch,), generator=g)
        output = torch.func.functional_call(layer, weights, x[rows])
        error: Tensor = (output - target[rows]).square().sum(1).mean()
        return error

    grid = weight_grid(layer.weight.detach(), bits, 80)
    return learn({"weight": (layer.weight, grid)}, loss, settings)["weight"]


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_the_start_is_rounding_to_the_nearest(layer: nn.Linear | nn.Conv2d, bits: int) -> None:
    """Hardened at once, α gives the codes of `quantize`; left soft, it gives the weight itself."""
    weight = layer.weight.detach()
    grid = weight_grid(weight, bits, 80)
    soft = soften(weight, grid)
    assert torch.equal(harden(soft).codes.float(), quantize(weight, grid))
    covered = dequantize(torch.tensor(grid.low), grid), dequantize(torch.tensor(grid.high), grid)
    start = soft_weight(soft, rectified_sigmoid(soft.alpha))
    torch.testing.assert_close(start, weight.clamp(*covered), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_learned_rounding_keeps_the_output(layer: nn.Linear | nn.Conv2d) -> None:
    """On samples it has not seen, a 4-bit layer is off by less than 60 % of nearest rounding."""
    learned = _learned(layer, 4, SETTINGS)
    nearest = harden(soften(layer.weight, learned.grid))
    x = _correlated(layer, 256, seed=1)
    errors = []
    with torch.no_grad():
        for codes, grid in (nearest, learned):
            weights = {"weight": dequantize(codes, grid)}
            output = torch.func.functional_call(layer, weights, x)
            errors.append((output - layer(x)).square().mean().item())
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("bits", [4, 8])
def test_codes_are_the_neighbours_of_the_weight(bits: int) -> None:
    """Each code is the one below or the one above, within the grid."""
    layer = LAYERS["linear"]
    codes, grid = _learned(layer, bits, replace(SETTINGS, iterations=50))
    assert codes.dtype == torch.int8
    assert grid.low <= codes.min() <= codes.max() <= grid.high
    floor = (layer.weight.detach() / grid.scale).floor() + grid.zero_point
    inside = (floor >= grid.low) & (floor < grid.high)
    assert set((codes.float() - floor)[inside].tolist()) == {0.0, 1.0}


def test_the_seed_decides_the_result() -> None:
    """The same seed gives the same codes, another draws other batches."""
    settings = replace(SETTINGS, iterations=60, batch=4)
    first, again, other = (
        _learned(LAYERS["linear"], 4, s).codes
        for s in (settings, settings, replace(settings, seed=1))
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_regularization_by_hand() -> None:
    """No β while warming up, then from 20 to 2; the penalty is 1 in the middle, 0 at the ends."""
    settings = Settings(iterations=101, warm_up=0.2)
    assert beta_at(20, settings) is None
    assert beta_at(21, settings) == 20
    assert beta_at(100, settings) == 2
    assert penalty(torch.tensor([0.0, 1.0, 0.5]), 20).item() == 1
    assert penalty(torch.tensor([0.75]), 2).item() == pytest.approx(0.75)


@pytest.mark.parametrize(
    "change", [{"iterations": 0}, {"learning_rate": 0.0}, {"warm_up": 1.5}, {"unit": "model"}]
)
def test_settings_that_learn_nothing_are_refused(change: dict[str, float | str]) -> None:
    """No steps, no rate, a warm-up longer than the run, a unit that does not exist."""
    with pytest.raises(RecipeError):
        replace(Settings(), **change)  # type: ignore[arg-type]
