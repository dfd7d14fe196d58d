"""Styles as image filters: each takes and returns float pictures (64, 64, 3) in 0..1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Picture = NDArray[np.float32]


def _grey(picture: Picture) -> Picture:
    return np.asarray(picture @ np.array([0.3, 0.59, 0.11], np.float32), np.float32)


def _edges(picture: Picture) -> Picture:
    """Edge strength (64, 64), about 0..1, of the strongest colour channel."""
    dx = np.abs(np.diff(picture, axis=1, append=picture[:, -1:]))
    dy = np.abs(np.diff(picture, axis=0, append=picture[-1:]))
    return np.asarray((dx + dy).max(axis=2), np.float32)


def _photo(picture: Picture) -> Picture:
    return picture


def _sketch(picture: Picture) -> Picture:
    """Pencil: dark lines on white paper, with a light grey wash."""
    lines = np.clip(_edges(picture) * 1.2, 0, 0.62)
    wash = 0.66 + 0.34 * _grey(picture)
    grey = np.clip(wash - lines, 0, 1)
    return np.repeat(grey[:, :, None], 3, axis=2)


def _watercolor(picture: Picture) -> Picture:
    """Washed-out colours that bleed, on bright paper with a white border."""
    blurred = ndimage.gaussian_filter(picture, (1.0, 1.0, 0))
    pale = 0.42 + 0.58 * blurred
    y, x = np.mgrid[0:64, 0:64]
    waves = 1.5 * np.sin(x / 3.0) + 1.5 * np.cos(y / 3.0)
    inside = np.minimum.reduce([x, y, 63 - x, 63 - y]) + waves
    mask = np.clip((inside - 2.0) / 2.0, 0, 1)[:, :, None]
    return np.asarray(pale * mask + (1 - mask), np.float32)


def _pixel_art(picture: Picture) -> Picture:
    """Blocks of 3 pixels in a palette of 9 levels per channel."""
    small = ndimage.uniform_filter(picture, (3, 3, 1))[1::3, 1::3]
    small = np.round(small * 8) / 8
    big = small.repeat(3, axis=0).repeat(3, axis=1)[:64, :64]
    return np.pad(big, ((0, 64 - big.shape[0]), (0, 64 - big.shape[1]), (0, 0)), mode="edge")


def _cartoon(picture: Picture) -> Picture:
    """Flat saturated colours with black outlines."""
    flat = np.asarray(np.round(picture * 4) / 4, np.float32)
    grey = _grey(flat)[:, :, None]
    vivid = np.clip(grey + (flat - grey) * 1.45 + 0.05, 0, 1)
    smooth = _edges(ndimage.gaussian_filter(picture, (0.8, 0.8, 0)))
    ink = np.clip((smooth - 0.2) * 4.0, 0, 0.75)[:, :, None]
    return np.asarray(vivid * (1 - ink), np.float32)


def _oil(picture: Picture) -> Picture:
    """Warm, dark varnish with diagonal brush strokes."""
    y, x = np.mgrid[0:64, 0:64]
    strokes = np.sin((x + y) * 0.75 + 2.0 * np.sin(x / 7.0))[:, :, None]
    smeared = ndimage.median_filter(picture, (3, 3, 1))
    warm = smeared * np.array([0.98, 0.80, 0.52]) + np.array([0.06, 0.02, 0])
    return np.asarray(np.clip(warm * (1 + 0.13 * strokes), 0, 1), np.float32)


_FILTERS: dict[str, Callable[[Picture], Picture]] = {
    "photo": _photo, "sketch": _sketch, "watercolor": _watercolor, "pixel art": _pixel_art,
    "cartoon": _cartoon, "oil painting": _oil,
}  # fmt: skip

STYLES: tuple[str, ...] = tuple(_FILTERS)

PHOTO = "photo"
"""The style of a caption that names none."""


def stylise(style: str, picture: Picture) -> Picture:
    """The picture (64, 64, 3) in 0..1, seen through a style."""
    return np.clip(_FILTERS[style](picture), 0, 1).astype(np.float32)
