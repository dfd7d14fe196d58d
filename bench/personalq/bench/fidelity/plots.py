"""The fidelity benchmark's plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from personalq.bench.fidelity.metrics import Pictures
from personalq.bench.fidelity.prompts import Case

Bar = tuple[float, float, float]
"""A value and its interval."""


def draw_bars(
    groups: Mapping[str, Mapping[str, Bar]], line: float | None, title: str, file: Path
) -> None:
    """One panel per bit width, one bar per method; the full precision's value as a line."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    shown = {name: bars for name, bars in groups.items() if bars}
    if not shown:
        return
    figure, axes = plt.subplots(
        1,
        len(shown),
        figsize=(1.5 + 3.2 * len(shown), 4),
        squeeze=False,
        layout="constrained",
    )
    methods = list(dict.fromkeys(method for bars in shown.values() for method in bars))
    for axis, (name, bars) in zip(axes[0], shown.items(), strict=True):
        values, low, high = (np.array(each) for each in zip(*bars.values(), strict=True))
        colours = [f"C{methods.index(method)}" for method in bars]
        spread = np.maximum(0, [values - low, high - values])
        axis.bar(range(len(bars)), values, yerr=spread, color=colours, capsize=3)
        axis.set_xticks(range(len(bars)), list(bars), rotation=60, ha="right")
        axis.set_title(name)
        axis.spines[["top", "right"]].set_visible(False)
        if line is not None:
            axis.axhline(line, color="black", linestyle=":", linewidth=1, label="full precision")
    if line is not None:
        axes[0][0].legend(frameon=False, fontsize=8)
    figure.suptitle(title, fontsize=10)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def draw_pictures(columns: Mapping[str, Pictures], cases: Sequence[Case], file: Path) -> None:
    """A column per method, a row per checkpoint: its first case that all methods have."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    common = min(len(pictures) for pictures in columns.values())
    firsts = {case.checkpoint_id: i for i, case in reversed(list(enumerate(cases[:common])))}
    rows = sorted(firsts.items())
    size = (1.2 * len(columns) + 1.2, 1.2 * len(rows) + 0.4)
    figure, axes = plt.subplots(
        len(rows), len(columns), figsize=size, squeeze=False, layout="constrained"
    )
    for axis, method in zip(axes[0], columns, strict=True):
        axis.set_title(method, fontsize=9)
    for axis_row, (checkpoint, index) in zip(axes, rows, strict=True):
        for axis, pictures in zip(axis_row, columns.values(), strict=True):
            axis.imshow(pictures[index], interpolation="nearest")
            axis.set_xticks([])
            axis.set_yticks([])
            if axis is axis_row[0]:
                axis.set_ylabel(checkpoint, fontsize=9)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def draw_tokens(
    prompt: str,
    tokens: Sequence[tuple[str, str, float, float]],
    kinds: Sequence[Mapping[str, Any]],
    file: Path,
) -> None:
    """Left one prompt's groups (label, kind, MSE, CLIP drop), right the kinds over all prompts."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys([*(row["kind"] for row in kinds), *(each[1] for each in tokens)]))
    colours = {name: f"C{index}" for index, name in enumerate(names)}
    figure, axes = plt.subplots(
        2,
        2,
        figsize=(5 + 0.45 * len(tokens) + 0.6 * len(kinds), 6.5),
        width_ratios=(max(3, len(tokens)), max(3, len(kinds))),
        layout="constrained",
    )
    measures = (("mse", "MSE of the picture"), ("clip_drop", "drop of the CLIP score"))
    for row, (measure, words) in enumerate(measures):
        own, every = axes[row]
        own.bar(
            range(len(tokens)),
            [each[2 + row] for each in tokens],
            color=[colours[each[1]] for each in tokens],
        )
        own.set_xticks(range(len(tokens)), [each[0] for each in tokens], rotation=60, ha="right")
        own.set_ylabel(words)
        means = np.array([kind[measure]["mean"] for kind in kinds])
        edges = np.array([kind[measure]["interval"] for kind in kinds])
        spread = np.maximum(0, [means - edges[:, 0], edges[:, 1] - means])
        every.bar(
            range(len(kinds)),
            means,
            yerr=spread,
            capsize=3,
            color=[colours[kind["kind"]] for kind in kinds],
        )
        labels = [f"{kind['kind']} ({kind['prompts']})" for kind in kinds]
        every.set_xticks(range(len(kinds)), labels, rotation=60, ha="right")
        for axis in (own, every):
            axis.axhline(0, color="black", linewidth=0.8)
            axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_title(f"“{prompt}”, K and V of one group quantized", fontsize=9)
    axes[0][1].set_title("by kind (prompts)", fontsize=9)
    figure.savefig(file, dpi=150)
    plt.close(figure)
