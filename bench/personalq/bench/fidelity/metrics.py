"""Figures of pictures and how sure they are: distances, means, bootstrap intervals.

Every figure is resampled with the same draws of cases. What two rows of the same cases gain on
each other is therefore the difference of their resampled figures, draw by draw: a paired bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Pictures = NDArray[np.uint8]
"""RGB pictures (N, height, width, 3)."""

Floats = NDArray[np.float64]

RESAMPLES = 500
_SHARE = 0.95
_WHITE = 255.0


@dataclass(frozen=True)
class Gaussian:
    """Mean (D,) and a root R (K, D) of the covariance RᵀR of a feature set."""

    mean: Floats
    root: Floats


def gaussian(features: NDArray[np.floating]) -> Gaussian:
    """The Gaussian of features (N, D); the covariance is the unbiased one (N − 1).

    Raises:
        ValueError: there are fewer than 2 pictures, or a feature is not finite.
    """
    if features.ndim != 2 or len(features) < 2:
        raise ValueError(f"features of at least 2 pictures are needed, not {features.shape}")
    values = np.asarray(features, np.float64)
    if not np.isfinite(values).all():
        raise ValueError("a feature is not finite")
    mean = values.mean(axis=0)
    root = np.linalg.qr(values - mean, mode="r")  # (min(N, D), D)
    return Gaussian(mean, root / np.sqrt(len(values) - 1))


def frechet(a: Gaussian, b: Gaussian) -> float:
    """Fréchet distance |μₐ − μ_b|² + tr(Σₐ + Σ_b − 2 (Σₐ Σ_b)^½) (Heusel et al. 2017, eq. 6).

    With roots, tr (Σₐ Σ_b)^½ is the sum of the singular values of Rₐ R_bᵀ: no square root of a
    matrix that is singular, or not quite symmetric, is taken. In the features' units, squared.
    """
    overlap = float(np.linalg.svd(a.root @ b.root.T, compute_uv=False).sum())
    spread = float(np.square(a.root).sum() + np.square(b.root).sum())
    return max(0.0, float(np.square(a.mean - b.mean).sum()) + spread - 2 * overlap)


def frechet_distance(a: NDArray[np.floating], b: NDArray[np.floating]) -> float:
    """`frechet` of two feature sets (N, D) and (M, D).

    Raises:
        ValueError: see `gaussian`.
    """
    return frechet(gaussian(a), gaussian(b))


def mse(pictures: Pictures, originals: Pictures) -> Floats:
    """Mean squared error (N,) of each picture, in squared grey levels of 0..255.

    Raises:
        ValueError: the shapes differ.
    """
    if pictures.shape != originals.shape:
        raise ValueError(f"pictures {pictures.shape} but originals {originals.shape}")
    # picture by picture: at 512 pixels all of them as float64 are gigabytes
    errors = [
        np.square(np.subtract(picture, original, dtype=np.float64)).mean()
        for picture, original in zip(pictures, originals, strict=True)
    ]
    return np.asarray(errors, np.float64)


def psnr(errors: Floats, values_per_picture: int) -> Floats:
    """PSNR in dB (N,) of each picture's `mse`.

    An equal picture counts as one with a single value off by one, so that a mean stays finite:
    89 dB for 64 x 64.
    """
    return np.asarray(10 * np.log10(_WHITE**2 / np.maximum(errors, 1 / values_per_picture)))


def draws(count: int, resamples: int = RESAMPLES) -> NDArray[np.int64]:
    """Indices (resamples, count) with replacement; the same for the same arguments."""
    return np.random.default_rng(0).integers(0, count, (resamples, count))


@dataclass(frozen=True)
class Figure:
    """A figure of a row, and what it was in every resample (resamples,)."""

    value: float
    resampled: tuple[float, ...]

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return _interval(self.value, np.asarray(self.resampled))


def mean_figure(values: NDArray[np.generic], drawn: NDArray[np.int64]) -> Figure:
    """The mean of one value per case (N,)."""
    numbers = np.asarray(values, np.float64)
    return Figure(float(numbers.mean()), tuple(numbers[drawn].mean(axis=1).tolist()))


def frechet_figure(
    features: NDArray[np.floating],
    reference: Callable[[NDArray[np.int64]], Gaussian],
    drawn: NDArray[np.int64],
) -> Figure:
    """The Fréchet distance of features (N, D) to a reference.

    Args:
        features: of one picture per case.
        reference: gives the other side for the drawn cases, so that it may be resampled with them
            or stay as it is.
        drawn: see `draws`.
    """
    every = np.arange(len(features))
    return Figure(
        frechet(gaussian(features), reference(every)),
        tuple(frechet(gaussian(features[each]), reference(each)) for each in drawn),
    )


@dataclass(frozen=True)
class Difference:
    """By how much a row's figure is above another's, and the paired 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def is_real(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


def difference(figure: Figure, other: Figure) -> Difference:
    """`figure` less `other`, both over the same cases.

    Raises:
        ValueError: they were resampled differently often.
    """
    if len(figure.resampled) != len(other.resampled):
        raise ValueError("the two figures were not resampled together")
    value = figure.value - other.value
    gaps = np.subtract(figure.resampled, other.resampled, dtype=np.float64)
    return Difference(value, *_interval(value, gaps))


def _interval(value: float, resampled: Floats) -> tuple[float, float]:
    # A Fréchet distance grows when pictures repeat, as in every resample: only the spread of the
    # resampled figures says something, not where their middle is. For means the two are the same.
    edges = np.quantile(resampled, [(1 - _SHARE) / 2, (1 + _SHARE) / 2]) - resampled.mean()
    return value + float(edges[0]), value + float(edges[1])
