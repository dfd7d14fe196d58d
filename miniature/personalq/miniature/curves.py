"""Loss curves: the trainings' logs as small PNG plots and as short tables.

`python -m personalq.miniature.curves WORK OUT` reads WORK/*.jsonl and writes OUT/<name>.png
and OUT/<name>.jsonl, thinned to at most 60 lines.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from PIL import Image, ImageDraw

WIDTH, HEIGHT = 420, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 22, 24
_LINES = 60

Row = dict[str, float]


def read_log(file: Path) -> list[Row]:
    """The lines of a training's log."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def thin(rows: list[Row]) -> list[Row]:
    """At most `_LINES` rows, evenly spread, the last one among them."""
    stride = max(1, -(-len(rows) // _LINES))
    return rows[::-1][::stride][::-1]


def plot(title: str, rows: list[Row], key: str) -> Image.Image:
    """One curve of `key` over the steps, labelled at the ends; a loss is drawn logarithmically."""
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    steps, values = [row["step"] for row in rows], [row[key] for row in rows]
    low, high = min(values), max(values)
    scale = math.log if key == "loss" else float
    floor = scale(low)
    span = (scale(high) - floor) or 1.0
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    draw.rectangle((_LEFT, _TOP, right, bottom), outline="#888888")
    points = [
        (
            _LEFT + (right - _LEFT) * step / steps[-1],
            bottom - (bottom - _TOP) * (scale(value) - floor) / span,
        )
        for step, value in zip(steps, values, strict=True)
    ]
    draw.line(points, fill="#1746d1", width=2)
    draw.text((_LEFT, 5), f"{title} {key}", fill="black")
    draw.text((4, _TOP), f"{high:.3g}", fill="black")
    draw.text((4, bottom - 10), f"{low:.3g}", fill="black")
    draw.text((_LEFT, bottom + 6), "0", fill="black")
    draw.text((right - 70, bottom + 6), f"{steps[-1]:.0f} steps", fill="black")
    return image


def main() -> None:
    """Command line: plot every log of a working folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for file in sorted(options.work.glob("*.jsonl")):
        rows = read_log(file)
        key = "psnr" if "psnr" in rows[0] else "loss"
        plot(file.stem, rows, key).save(options.out / f"{file.stem}.png", optimize=True)
        lines = [json.dumps(row) for row in thin(rows)]
        (options.out / f"{file.stem}.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
