"""From a work folder to what readers see: summary.json, fidelity.md, plots.

python -m personalq.bench.fidelity.report WORK --steps N --guidance G [--out FOLDER]
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from personalq.bench.fidelity.metrics import Figure, difference
from personalq.bench.fidelity.page import COLUMNS, Row, by_width, called, full_row, width, write
from personalq.bench.fidelity.plots import draw_pictures
from personalq.bench.fidelity.prompts import Case, miniature_cases
from personalq.bench.fidelity.rows import methods
from personalq.bench.fidelity.scorers import MiniatureScorer
from personalq.bench.fidelity.scoring import (
    FULL,
    Entry,
    Scored,
    Yard,
    full_precision,
    miniature_yard,
    read_work,
    real_figures,
    score,
)
from personalq.taq.recipe import RECIPE_VERSION

METHODS = (
    "full", "q-diffusion", "ptqd", "tfmq-dm", "dgq", "mixdq-bos", "nf4", "taq-paper", "taq",
)  # fmt: skip
"""All that the table of methods should have, in its order."""

_TABLE = "methods"
_LOWER_IS_BETTER = ("fd_world", "fd_full", "mse")
_MEANINGS = {
    "fd_world": "Fréchet distance to real pictures; lower is better",
    "fd_full": "Fréchet distance to the full precision's pictures; lower is better",
    "clip": "cosine of picture and prompt, the class noun in the trigger's place",
    "clip_i": "mean cosine of a picture and the pictures its subject was learnt from",
    "subject_accuracy": "share of pictures nearer to their own subject's references than to any "
    "other's",
    "psnr": "dB, against the full precision's picture of the same prompt and seed",
    "noun_accuracy": "share of pictures whose class noun is read, zero-shot",
    "mse": "squared grey levels, against the full precision's picture",
}


def report(work: Path, yard: Yard, out: Path, run: Mapping[str, Any]) -> dict[str, Any]:
    """Score what is not scored yet and write all files; returns what summary.json holds.

    Args:
        work: see `personalq.bench.fidelity.scoring`.
        yard: what rows are measured with.
        out: folder of the results.
        run: how the pictures were made: steps, guidance, versions, command.

    Raises:
        InvalidInput: the work folder is not as it should be, or has no full precision.
    """
    entries, missing = read_work(work)
    full = full_precision(entries)
    scored = {entry.row.row_id: score(entry, full, yard) for entry in entries}
    others = sorted({each.row.table for each in scored.values()} - {_TABLE})
    rows = ordered([_row(each) for each in scored.values() if each.row.table == _TABLE])
    groups = {bits: [scored[row["row_id"]] for row in group] for bits, group in by_width(rows)}
    summary = {
        "rows": rows,
        "tables": {
            name: [_row(each) for each in scored.values() if each.row.table == name]
            for name in others
        },
        "best": {bits: _best(group) for bits, group in groups.items()},
        "gains": _gains(groups),
        "real_pictures": _real(yard, len(full.pictures)),
        "not_reported": missing + not_run(rows),
        "run": {"cases": len(full.pictures), "scorer": yard.scorer.name, **run},
        "meanings": _meanings(yard),
    }
    write(summary, out)
    _draw_pictures(summary, entries, yard.cases, out)
    return summary


def _meanings(yard: Yard) -> Mapping[str, str]:
    """What each figure is, of the world that this yard knows."""
    if yard.world is None:
        return _MEANINGS
    of_world = f"Fréchet distance to real pictures of {yard.world.of}; lower is better"
    return _MEANINGS | {"fd_world": of_world}


def not_run(rows: Sequence[Row]) -> list[str]:
    """Name the methods of the main comparison that were not run, or not at every width."""
    lines = []
    for method in METHODS:
        expected = [row.width for row in methods() if row.method.name == method]
        found = {width(row) for row in rows if row["method"] == method}
        if not found:
            lines.append(f"{method}: not run")
        elif left := [bits for bits in expected if bits not in found]:
            lines.append(f"{method}: not run at {', '.join(left)}")
    return lines


def ordered(rows: Sequence[Row]) -> list[Row]:
    """Full precision first, then by falling bits, then in the order of `METHODS`."""

    def key(row: Row) -> tuple[int, int, int, str]:
        method = row["method"]
        place = METHODS.index(method) if method in METHODS else len(METHODS)
        if method == FULL:
            return (-99, 0, 0, "")
        return (-row["w_bits"], -row["a_bits"], place, row["row_id"])

    return sorted(rows, key=key)


def _softmax_bits(each: Scored) -> tuple[int, int]:
    """Bits of the probabilities of cross- and self-attention; a method may treat them apart."""
    setting = each.row.setting
    cross, own = (setting.get(key, each.row.softmax_bits) for key in ("cross_bits", "self_bits"))
    if setting.get("protected") == "all":
        cross = None  # every column of the text is kept
    return cross if isinstance(cross, int) else 32, own if isinstance(own, int) else 32


def _interval(key: str, figure: Figure) -> list[float]:
    low, high = figure.interval
    # a distance is never negative, though its spread to both sides may say so
    return [max(0.0, low) if key.startswith("fd_") else low, high]


def _row(each: Scored) -> dict[str, Any]:
    row = each.row
    values = {key: _value(each, key) for key in _MEANINGS}
    return {
        "row_id": row.row_id,
        "method": row.method,
        "w_bits": row.w_bits or 32,
        "a_bits": row.a_bits or 32,
        "softmax_bits": dict(zip(("cross", "self"), _softmax_bits(each), strict=True)),
        "n_images": each.n_images,
        **values,
        "intervals": {key: _interval(key, figure) for key, figure in each.figures.items()},
        "label": row.label,
        "setting": dict(row.setting),
        "bops": row.bops,
        "seconds": row.seconds,
        "weights": row.weights,
    }


def _value(each: Scored, key: str) -> float | None:
    return each.figures[key].value if key in each.figures else None


def _best(group: Sequence[Scored]) -> dict[str, str]:
    """Figure to the row that is best in it beyond doubt: every paired interval excludes zero."""
    best = {}
    for key in COLUMNS:
        rows = [each for each in group if key in each.figures]
        if len(rows) < 2 or len({each.n_images for each in rows}) > 1:
            continue
        sign = -1 if key in _LOWER_IS_BETTER else 1
        first = max(rows, key=lambda each: sign * each.figures[key].value)
        others = [each for each in rows if each is not first]
        if all(difference(first.figures[key], each.figures[key]).is_real for each in others):
            best[key] = first.row.row_id
    return best


def _gains(groups: Mapping[str, Sequence[Scored]]) -> list[dict[str, Any]]:
    """What taq gains on each other row of its bit width, with paired intervals."""
    gains = []
    for bits, group in groups.items():
        for ours in (each for each in group if each.row.method == "taq"):
            for other in group:
                if other is ours or other.n_images != ours.n_images:
                    continue
                differences = {
                    key: difference(ours.figures[key], other.figures[key])
                    for key in COLUMNS
                    if key in ours.figures and key in other.figures
                }
                gains.append(
                    {
                        "bits": bits,
                        "row": ours.row.row_id,
                        "over": other.row.row_id,
                        **{
                            key: {"value": gap.value, "interval": [gap.low, gap.high]}
                            for key, gap in differences.items()
                        },
                    }
                )
    return gains


def _real(yard: Yard, count: int) -> dict[str, Any] | None:
    if yard.world is None or yard.world.one_each is None:
        return None
    figures = real_figures(yard, yard.world.one_each(count))
    values = {key: figure.value for key, figure in figures.items()}
    return values | {"intervals": {key: _interval(key, figure) for key, figure in figures.items()}}


def _draw_pictures(
    summary: Mapping[str, Any], entries: Sequence[Entry], cases: Sequence[Case], out: Path
) -> None:
    """Draw examples of each width, full precision first."""
    full = full_row(summary)
    pictures = {entry.row.row_id: entry.pictures for entry in entries}
    for bits, group in by_width(summary["rows"]):
        shown = [full, *group]
        columns = {called(row, shown): pictures[row["row_id"]] for row in shown}
        draw_pictures(columns, cases, out / f"pictures-{bits}.png")


def described_run(command: str, steps: int, guidance: float) -> dict[str, Any]:
    """What a report says of how all pictures were made: sampler, seeds, versions, machine."""
    return {
        "steps": steps,
        "guidance": guidance,
        "seeds": "one per prompt, the same for every row",
        "torch": version("torch"),
        "diffusers": version("diffusers"),
        "recipe": RECIPE_VERSION,
        "machine": f"{platform.system()} {platform.machine()}",
        "command": command,
    }


def main() -> None:
    """Report the miniature's rows so far."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, default=Path("bench/results/fidelity"))
    parser.add_argument("--command", default="personalq bench fidelity")
    parser.add_argument("--steps", type=int, required=True, help="that were run")
    parser.add_argument("--guidance", type=float, required=True, help="that was used")
    options = parser.parse_args()
    entries, _ = read_work(options.work)
    cases = miniature_cases(max(len(entry.pictures) for entry in entries))
    yard = miniature_yard(MiniatureScorer(), cases, options.work)
    run = described_run(options.command, options.steps, options.guidance)
    summary = report(options.work, yard, options.out, run)
    print(f"{len(summary['rows'])} rows in {options.out}")
    for line in summary["not_reported"]:
        print(line)


if __name__ == "__main__":
    main()
