"""Distances against closed forms, intervals against what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from personalq.bench.fidelity.metrics import (
    Gaussian,
    difference,
    draws,
    frechet,
    frechet_distance,
    frechet_figure,
    gaussian,
    mean_figure,
    mse,
    psnr,
)


def _normal(*shape: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=shape)


def test_the_distance_of_diagonal_gaussians_is_the_closed_form() -> None:
    """|Δμ|² + Σ(σₐ − σ_b)², in one dimension and in several."""
    a = Gaussian(np.array([0.0, 1.0]), np.diag([2.0, 3.0]))
    b = Gaussian(np.array([3.0, 1.0]), np.diag([5.0, 1.0]))
    assert frechet(a, b) == pytest.approx(9 + (2 - 5) ** 2 + (3 - 1) ** 2)


def test_the_distance_of_any_gaussians_is_that_of_the_matrix_square_root() -> None:
    """Covariances that do not commute, against eigenvalues of their product."""
    x, y = _normal(60, 5) @ _normal(5, 5, seed=1), _normal(70, 5, seed=2) + 0.5
    product = np.cov(x.T) @ np.cov(y.T)
    root = np.sqrt(np.linalg.eigvals(product).real).sum()
    shift = np.square(x.mean(0) - y.mean(0)).sum()
    expected = shift + np.trace(np.cov(x.T)) + np.trace(np.cov(y.T)) - 2 * root
    assert frechet_distance(x, y) == pytest.approx(expected, rel=1e-9)
    assert frechet_distance(y, x) == pytest.approx(expected, rel=1e-9)


def test_moving_all_features_by_a_vector_costs_its_square() -> None:
    """Fewer pictures than dimensions, where covariances are singular, are no trouble."""
    x = _normal(10, 40)
    assert frechet_distance(x, x) == pytest.approx(0, abs=1e-9)
    assert frechet_distance(x, x + 0.5) == pytest.approx(40 * 0.25)
    assert frechet_distance(x, 3 * x) > 1


def test_features_that_say_nothing_are_refused() -> None:
    """One picture has no covariance, and NaN no distance."""
    with pytest.raises(ValueError, match="at least 2"):
        gaussian(_normal(1, 4))
    with pytest.raises(ValueError, match="finite"):
        gaussian(np.full((3, 2), np.nan))


def test_mse_and_psnr_are_per_picture() -> None:
    """One level off everywhere is 48.13 dB; equal pictures have a finite bound."""
    black = np.zeros((2, 4, 4, 3), np.uint8)
    off = black.copy()
    off[1] += 1
    assert mse(off, black).tolist() == [0, 1]
    assert psnr(mse(off, black), 48) == pytest.approx([48.13 + 10 * np.log10(48), 48.13], abs=0.01)
    assert mse(black, off).tolist() == [0, 1]
    with pytest.raises(ValueError, match="originals"):
        mse(off, black[:1])


def test_intervals_of_a_mean_hold_the_true_mean_as_often_as_promised() -> None:
    """Of 200 experiments with a known mean about 95 % of the intervals contain it."""
    drawn = draws(80)
    inside = 0
    for seed in range(200):
        low, high = mean_figure(_normal(80, seed=seed) + 3, drawn).interval
        inside += low <= 3 <= high
    assert 180 <= inside <= 199


def test_intervals_of_a_distance_hold_the_mean_distance_of_so_many_pictures() -> None:
    """The upward bias of resampling does not shift them off the figure."""
    reference = gaussian(_normal(4000, 4, seed=1000))
    distances, intervals = [], []
    for seed in range(60):
        figure = frechet_figure(
            _normal(80, 4, seed=seed) * 1.5, lambda _: reference, draws(80, resamples=60)
        )
        distances.append(figure.value)
        intervals.append(figure.interval)
    middle = np.mean(distances)
    inside = sum(low <= middle <= high for low, high in intervals)
    assert 50 <= inside <= 60
    assert all(low < d < high for d, (low, high) in zip(distances, intervals, strict=True))


def test_pairs_tell_what_intervals_side_by_side_cannot() -> None:
    """A small gain on every case is real though both intervals overlap widely."""
    drawn = draws(100)
    values = _normal(100)
    a, b = mean_figure(values + 0.05, drawn), mean_figure(values, drawn)
    assert a.interval[0] < b.interval[1]
    gain = difference(a, b)
    assert gain.value == pytest.approx(0.05)
    assert gain.is_real
    noise = difference(mean_figure(_normal(100, seed=4), drawn), mean_figure(values, drawn))
    assert not noise.is_real


def test_figures_of_different_draws_are_not_subtracted() -> None:
    """Pairs need the same cases."""
    with pytest.raises(ValueError, match="together"):
        difference(mean_figure(_normal(9), draws(9, 10)), mean_figure(_normal(9), draws(9, 20)))
