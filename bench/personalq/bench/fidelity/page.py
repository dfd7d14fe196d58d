"""From summary.json to what people read: fidelity.md and bars."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from personalq.bench.fidelity.plots import Bar, draw_bars
from personalq.bench.fidelity.scoring import FULL

COLUMNS = ("fd_world", "fd_full", "clip", "clip_i", "subject_accuracy", "psnr")

Row = Mapping[str, Any]
"""A row of summary.json."""

_BARS = ("fd_full", "clip_i", "fd_world")
_DIGITS = {"fd_world": 4, "fd_full": 4, "clip": 4, "clip_i": 4, "psnr": 2, "mse": 1}
_SAID = ("cases", "scorer")


def write(summary: Mapping[str, Any], out: Path) -> None:
    """Write summary.json, fidelity.md and a plot of bars for each figure that tells most."""
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(summary, indent=2, allow_nan=False) + "\n"
    (out / "summary.json").write_text(text, encoding="utf-8")
    (out / "fidelity.md").write_text(_page(summary), encoding="utf-8")
    full = full_row(summary)
    for key in _BARS:
        bars = {
            bits: {called(row, group): _bar(row, key) for row in group if row[key] is not None}
            for bits, group in by_width(summary["rows"])
        }
        draw_bars(bars, full[key], summary["meanings"][key], out / f"{key}.png")


def full_row(summary: Mapping[str, Any]) -> Row:
    """The row of full precision."""
    return next(row for row in summary["rows"] if row["method"] == FULL)


def width(row: Row) -> str:
    """Bits of weights and of layer inputs, as "W4A8"."""
    return f"W{row['w_bits']}A{row['a_bits']}"


def by_width(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Quantized rows by their bits."""
    quantized = [row for row in rows if row["method"] != FULL]
    for bits in dict.fromkeys(width(row) for row in quantized):
        yield bits, [row for row in quantized if width(row) == bits]


def called(row: Row, group: Sequence[Row]) -> str:
    """The method; where several rows share it, which of them."""
    alone = sum(other["method"] == row["method"] for other in group) == 1
    return str(row["method"]) if alone else f"{row['method']}, {row['label'] or row['row_id']}"


def _bar(row: Row, key: str) -> Bar:
    low, high = row["intervals"][key]
    return row[key], low, high


def _page(summary: Mapping[str, Any]) -> str:
    rows, run = summary["rows"], summary["run"]
    runs = _runs(summary)
    lines = [
        "# Does quantization keep the personalized subject?",
        "",
        f"{run['cases']} prompts, scored by {run['scorer']}: {_how(run)}.",
        *_earlier(runs),
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
        *(f"- `{key}`: {summary['meanings'][key]}" for key in COLUMNS),
    ]
    if summary["real_pictures"] is not None:
        real = summary["real_pictures"]
        known = (key for key in COLUMNS if key in real)
        lines += [
            "",
            "One real picture of each prompt's subject scores "
            + ", ".join(f"{key} {_number(key, real[key])}" for key in known)
            + ". Its class noun is read from it with an accuracy of "
            f"{real['noun_accuracy']:.3f}: where that is low, `noun_accuracy` says little.",
        ]
    full = full_row(summary)
    for bits, group in by_width(rows):
        best = summary["best"].get(bits, {})
        lines += ["", f"## {bits}", "", *_table([full, *group], best, runs)]
    for title, table in summary["tables"].items():
        lines += ["", f"## {title}", "", *_table(table, {}, runs)]
    if summary["gains"]:
        lines += ["", "## What taq gains", "", *_gain_table(summary["gains"])]
    if summary["not_reported"]:
        lines += ["", "## Not reported", "", *(f"- {each}" for each in summary["not_reported"])]
    return "\n".join([*lines, ""])


def _how(run: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in run.items() if key not in _SAID)


def _runs(summary: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The runs that rows are of: the first of those that say none."""
    runs = [summary["run"]]
    for row in [*summary["rows"], *(row for table in summary["tables"].values() for row in table)]:
        if "run" in row and row["run"] not in runs:
            runs.append(row["run"])
    return runs


def _earlier(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    if len(runs) == 1:
        return []
    return [
        "",
        "Rows are of several runs with the same prompts and seeds, in which full precision scored "
        "the same; the column `run` says of which. Only rows of one run are compared in pairs, and "
        "nothing is bold where a table mixes them. The paragraph above is of run 1.",
        "",
        *(f"- run {number}: {_how(run)}" for number, run in enumerate(runs[1:], start=2)),
    ]


def _table(
    table: Sequence[Row], best: Mapping[str, str], runs: Sequence[Mapping[str, Any]]
) -> list[str]:
    of_run = " run |" if len(runs) > 1 else ""
    lines = [
        f"| row | bits | softmax | GBOPs | pictures |{of_run} {' | '.join(COLUMNS)} |",
        "|---|---|---|---|---|" + "---|" * (len(COLUMNS) + bool(of_run)),
    ]
    for row in table:
        cells = [_cell(row, key, best.get(key) == row["row_id"]) for key in COLUMNS]
        if of_run:
            cells.insert(0, str(1 + runs.index(row.get("run", runs[0]))))
        label = row["label"] or row["method"]
        softmax = "{cross}/{self}".format(**row["softmax_bits"])
        bops = "–" if row["bops"] is None else f"{row['bops'] / 1e9:.0f}"
        first = f"| {label} | {width(row)} | {softmax} | {bops} | {row['n_images']} |"
        lines.append(f"{first} {' | '.join(cells)} |")
    return lines


def _cell(row: Row, key: str, is_best: bool) -> str:
    if row[key] is None:
        return "–"
    low, high = (_number(key, edge) for edge in row["intervals"][key])
    value = _number(key, row[key])
    return f"{f'**{value}**' if is_best else value}<br>{low} to {high}"


def _gain_table(gains: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        f"| bits | taq less | {' | '.join(COLUMNS)} |",
        "|---|---|" + "---|" * len(COLUMNS),
    ]
    for gain in gains:
        cells = []
        for key in COLUMNS:
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
