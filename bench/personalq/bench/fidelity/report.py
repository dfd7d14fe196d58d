"""From a work folder to what readers see: summary.json, fidelity.md, plots.

python -m personalq.bench.fidelity.report WORK --steps N --guidance G [--out FOLDER]
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from personalq.bench.fidelity.metrics import Figure, difference
from personalq.bench.fidelity.plots import Bar, draw_bars, draw_pictures
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

METHODS = (
    "full", "q-diffusion", "ptqd", "tfmq-dm", "dgq", "mixdq-bos", "nf4", "taq-paper", "taq",
)  # fmt: skip
"""All that the table of methods should have, in its order."""

_TABLE = "methods"
_DIGITS = {"fd_world": 4, "fd_full": 4, "clip": 4, "clip_i": 4, "psnr": 2, "mse": 1}
_LOWER_IS_BETTER = ("fd_world", "fd_full", "mse")
_COLUMNS = ("fd_world", "fd_full", "clip", "clip_i", "subject_accuracy", "psnr")
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
    scored = [score(entry, full, yard) for entry in entries]
    rows = _ordered([each for each in scored if each.row.table == _TABLE])
    missing += _not_run(rows)
    others = sorted({each.row.table for each in scored} - {_TABLE})
    tables = {name: [each for each in scored if each.row.table == name] for name in others}
    best = {name: _best(group) for name, group in _groups(rows)}
    summary = {
        "rows": [_row(each) for each in rows],
        "tables": {name: [_row(each) for each in table] for name, table in tables.items()},
        "gains": _gains(rows),
        "real_pictures": _real(yard, len(full.pictures)),
        "not_reported": missing,
        "run": {"cases": len(full.pictures), "scorer": yard.scorer.name, **run},
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "summary.json").write_text(
        json.dumps(summary, indent=2, allow_nan=False) + "\n", encoding="utf-8"
    )
    meanings = _meanings(yard)
    (out / "fidelity.md").write_text(_page(summary, rows, tables, best, meanings), encoding="utf-8")
    _draw(rows, entries, yard.cases, out, meanings)
    return summary


def _meanings(yard: Yard) -> Mapping[str, str]:
    """What each figure is, of the world that this yard knows."""
    if yard.world is None:
        return _MEANINGS
    of_world = f"Fréchet distance to real pictures of {yard.world.of}; lower is better"
    return _MEANINGS | {"fd_world": of_world}


def _not_run(rows: Sequence[Scored]) -> list[str]:
    """Name the methods of the main comparison that were not run, or not at every width."""
    lines = []
    for name in METHODS:
        expected = [row.width for row in methods() if row.method.name == name]
        found = {_bits(each) for each in rows if each.row.method == name}
        if not found:
            lines.append(f"{name}: not run")
        elif left := [bits for bits in expected if bits not in found]:
            lines.append(f"{name}: not run at {', '.join(left)}")
    return lines


def _ordered(rows: Sequence[Scored]) -> list[Scored]:
    """Full precision first, then by falling bits, then in the order of `METHODS`."""

    def key(each: Scored) -> tuple[int, int, int, str]:
        place = METHODS.index(each.row.method) if each.row.method in METHODS else len(METHODS)
        if each.row.method == FULL:
            return (-99, 0, 0, "")
        return (-(each.row.w_bits or 32), -(each.row.a_bits or 32), place, each.row.row_id)

    return sorted(rows, key=key)


def _bits(each: Scored) -> str:
    return f"W{each.row.w_bits or 32}A{each.row.a_bits or 32}"


def _softmax_bits(each: Scored) -> tuple[int, int]:
    """Bits of the probabilities of cross- and self-attention; a method may treat them apart."""
    setting = each.row.setting
    cross, own = (setting.get(key, each.row.softmax_bits) for key in ("cross_bits", "self_bits"))
    if setting.get("protected") == "all":
        cross = None  # every column of the text is kept
    return cross if isinstance(cross, int) else 32, own if isinstance(own, int) else 32


def _groups(rows: Sequence[Scored]) -> Iterator[tuple[str, list[Scored]]]:
    """Quantized rows by bit width."""
    quantized = [each for each in rows if each.row.method != FULL]
    for name in dict.fromkeys(_bits(each) for each in quantized):
        yield name, [each for each in quantized if _bits(each) == name]


def _interval(key: str, figure: Figure) -> list[float]:
    low, high = figure.interval
    # a distance is never negative, though its spread to both sides may say so
    return [max(0.0, low) if key.startswith("fd_") else low, high]


def _bar(key: str, figure: Figure) -> Bar:
    low, high = _interval(key, figure)
    return figure.value, low, high


def _name(each: Scored, group: Sequence[Scored]) -> str:
    """The method; where several rows share it, which of them."""
    alone = sum(other.row.method == each.row.method for other in group) == 1
    return each.row.method if alone else f"{each.row.method}, {each.row.label or each.row.row_id}"


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
    for key in _COLUMNS:
        rows = [each for each in group if key in each.figures]
        if len(rows) < 2 or len({each.n_images for each in rows}) > 1:
            continue
        sign = -1 if key in _LOWER_IS_BETTER else 1
        first = max(rows, key=lambda each: sign * each.figures[key].value)
        others = [each for each in rows if each is not first]
        if all(difference(first.figures[key], each.figures[key]).is_real for each in others):
            best[key] = first.row.row_id
    return best


def _gains(rows: Sequence[Scored]) -> list[dict[str, Any]]:
    """What taq gains on each other row of its bit width, with paired intervals."""
    gains = []
    for bits, group in _groups(rows):
        for ours in (each for each in group if each.row.method == "taq"):
            for other in group:
                if other is ours or other.n_images != ours.n_images:
                    continue
                differences = {
                    key: difference(ours.figures[key], other.figures[key])
                    for key in _COLUMNS
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


def _page(
    summary: Mapping[str, Any],
    rows: Sequence[Scored],
    tables: Mapping[str, Sequence[Scored]],
    best: Mapping[str, Mapping[str, str]],
    meanings: Mapping[str, str],
) -> str:
    run = summary["run"]
    lines = [
        "# Does quantization keep the personalized subject?",
        "",
        f"{run['cases']} prompts, scored by {run['scorer']}: "
        + ", ".join(f"{key} {value}" for key, value in run.items() if key not in _SAID)
        + ".",
        "",
        "Below each figure is its 95 % bootstrap interval. **Bold** is the best of a table where "
        "its paired interval against every other row excludes zero; nothing is bold where the "
        "prompts do not suffice to tell. Fréchet distances depend on the number of pictures: "
        "compare only rows of the same number, and none with those of other papers. The intervals "
        "are of other prompts for these checkpoints, not of other checkpoints.",
        "",
        "- `bits`: of weights and of layer inputs; what a row leaves in more is in its `setting` "
        "in summary.json",
        "- `softmax`: bits of the probabilities of cross- and of self-attention",
        "- `GBOPs`: 10⁹ bit operations (MACs × bits × bits) of a step of one picture with guidance",
        *(f"- `{key}`: {meanings[key]}" for key in _COLUMNS),
    ]
    if summary["real_pictures"] is not None:
        real = summary["real_pictures"]
        known = (key for key in _COLUMNS if key in real)
        lines += [
            "",
            "One real picture of each prompt's subject scores "
            + ", ".join(f"{key} {_number(key, real[key])}" for key in known)
            + ". Its class noun is read from it with an accuracy of "
            f"{real['noun_accuracy']:.3f}: where that is low, `noun_accuracy` says little.",
        ]
    full = [each for each in rows if each.row.method == FULL]
    for name, group in _groups(rows):
        lines += ["", f"## {name}", "", *_table([*full, *group], best[name])]
    for title, table in tables.items():
        lines += ["", f"## {title}", "", *_table(table, {})]
    if summary["gains"]:
        lines += ["", "## What taq gains", "", *_gain_table(summary["gains"])]
    if summary["not_reported"]:
        lines += ["", "## Not reported", "", *(f"- {each}" for each in summary["not_reported"])]
    return "\n".join([*lines, ""])


_SAID = ("cases", "scorer")


def _table(table: Sequence[Scored], best: Mapping[str, str]) -> list[str]:
    lines = [
        f"| row | bits | softmax | GBOPs | pictures | {' | '.join(_COLUMNS)} |",
        "|---|---|---|---|---|" + "---|" * len(_COLUMNS),
    ]
    for each in table:
        cells = [_cell(each, key, best.get(key) == each.row.row_id) for key in _COLUMNS]
        label = each.row.label or each.row.method
        softmax = "/".join(map(str, _softmax_bits(each)))
        bops = "–" if each.row.bops is None else f"{each.row.bops / 1e9:.0f}"
        first = f"| {label} | {_bits(each)} | {softmax} | {bops} | {each.n_images} |"
        lines.append(f"{first} {' | '.join(cells)} |")
    return lines


def _cell(each: Scored, key: str, is_best: bool) -> str:
    if key not in each.figures:
        return "–"
    figure = each.figures[key]
    low, high = (_number(key, edge) for edge in _interval(key, figure))
    value = _number(key, figure.value)
    return f"{f'**{value}**' if is_best else value}<br>{low} to {high}"


def _gain_table(gains: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        f"| bits | taq less | {' | '.join(_COLUMNS)} |",
        "|---|---|" + "---|" * len(_COLUMNS),
    ]
    for gain in gains:
        cells = []
        for key in _COLUMNS:
            gap = gain.get(key)
            if gap is None:
                cells.append("–")
            else:
                low, high = (_number(key, edge, "+") for edge in gap["interval"])
                cells.append(f"{_number(key, gap['value'], '+')}<br>{low} to {high}")
        lines.append(f"| {gain['bits']} | {gain['over']} | {' | '.join(cells)} |")
    return lines


def _number(key: str, value: float, sign: str = "") -> str:
    return f"{value:{sign}.{_DIGITS.get(key, 3)}f}"


def _draw(
    rows: Sequence[Scored],
    entries: Sequence[Entry],
    cases: Sequence[Case],
    out: Path,
    meanings: Mapping[str, str],
) -> None:
    groups = dict(_groups(rows))
    full = next(each for each in rows if each.row.method == FULL)
    pictures = {entry.row.row_id: entry.pictures for entry in entries}
    for key in ("fd_full", "clip_i", "fd_world"):
        bars = {
            name: {
                _name(each, group): _bar(key, each.figures[key])
                for each in group
                if key in each.figures
            }
            for name, group in groups.items()
        }
        line = full.figures[key].value if key in full.figures else None
        draw_bars(bars, line, meanings[key], out / f"{key}.png")
    for name, group in groups.items():
        shown = [full, *group]
        columns = {_name(each, shown): pictures[each.row.row_id] for each in shown}
        draw_pictures(columns, cases, out / f"pictures-{name}.png")


def described_run(command: str, steps: int, guidance: float) -> dict[str, Any]:
    """What a report says of how all pictures were made: sampler, seeds, versions, machine."""
    return {
        "steps": steps,
        "guidance": guidance,
        "seeds": "one per prompt, the same for every row",
        "torch": version("torch"),
        "diffusers": version("diffusers"),
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
