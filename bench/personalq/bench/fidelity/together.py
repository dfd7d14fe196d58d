"""Several runs as one report: the newest figures of every row; those of earlier runs say of which.

python -m personalq.bench.fidelity.together SUMMARY … [--out FOLDER], the newest first

Rows of different runs may stand beside each other where full precision scored the same. What was
compared in pairs stays where both rows are of one summary.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from personalq.bench.fidelity.page import COLUMNS, Row, by_width, full_row, write
from personalq.bench.fidelity.report import not_run, ordered
from personalq.chassis.errors import InvalidInput

_SAME = 1e-4  # of a figure: processors differ in the last digits of a float

Summary = Mapping[str, Any]
"""What a summary.json holds."""


def together(summaries: Sequence[Summary]) -> dict[str, Any]:
    """Return one summary of several, the newest first.

    Raises:
        InvalidInput: full precision has other figures in one of them.
    """
    newest = summaries[0]
    rows: dict[str, Row] = {}
    tables: dict[str, dict[str, Row]] = {}
    sources: dict[str, Summary] = {}
    for summary in summaries:
        _check_same(full_row(summary), full_row(newest))
        run = {} if summary is newest else {"run": summary["run"]}
        for row in summary["rows"]:
            sources.setdefault(row["row_id"], summary)
            rows.setdefault(row["row_id"], {**run, **row})
        for title, table in summary["tables"].items():
            for row in table:
                tables.setdefault(title, {}).setdefault(row["row_id"], {**run, **row})
    in_order = ordered(list(rows.values()))
    best = {}
    for bits, group in by_width(in_order):
        first, *others = [sources[row["row_id"]] for row in group]
        if all(other is first for other in others):
            best[bits] = first["best"].get(bits, {})
    return {
        **newest,
        "rows": in_order,
        "tables": {title: list(tables[title].values()) for title in sorted(tables)},
        "best": best,
        "gains": [
            gain
            for summary in summaries
            for gain in summary["gains"]
            if sources[gain["row"]] is sources[gain["over"]] is summary
        ],
        "not_reported": not_run(in_order),
    }


def _check_same(full: Row, other: Row) -> None:
    for key in ("n_images", *COLUMNS):
        if None in (full[key], other[key]):
            continue  # one of them was not asked for it
        if not math.isclose(full[key], other[key], rel_tol=_SAME):
            raise InvalidInput(
                f"{key} of full precision is {full[key]} in one run and {other[key]} in another: "
                "their rows cannot stand beside each other"
            )


def main() -> None:
    """Write the report of several summaries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("summaries", type=Path, nargs="+", help="the newest first")
    parser.add_argument("--out", type=Path, default=Path("bench/results/fidelity"))
    options = parser.parse_args()
    summaries = [json.loads(file.read_text(encoding="utf-8")) for file in options.summaries]
    write(together(summaries), options.out)


if __name__ == "__main__":
    main()
