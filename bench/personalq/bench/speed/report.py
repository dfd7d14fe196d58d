"""What was measured, as a table for the terminal and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from personalq.bench.speed.measuring import KINDS

MIB = 1 << 20


def table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of the terminal."""
    shown = Table("", "step s", "against bf16", "weights MiB", "of fp16", "peak MiB", "difference")
    for row in rows:
        shown.add_row(row["name"], *_figures(row, rows))
    return shown


def _figures(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    by_name = {other["name"]: other for other in rows}
    bf16 = by_name.get("diffusers bf16")
    ratio = f"{bf16['seconds'] / row['seconds']:.2f}" if bf16 else ""
    # bfloat16 takes what float16 takes.
    share = f"{row['weight_bytes'] / bf16['weight_bytes']:.3f}" if bf16 else ""
    return [
        f"{row['seconds']:.2f}",
        ratio,
        f"{row['weight_bytes'] / MIB:.0f}",
        share,
        f"{row['peak_bytes'] / MIB:.0f}",
        "–" if row["difference"] is None else f"{row['difference']:.4f}",
    ]


def markdown(result: Mapping[str, Any]) -> str:
    """Return the page."""
    rows = result["contenders"]
    threads = f", {result['threads']} threads" if result["threads"] else ""
    lines = [
        f"# One step of {result['unet']} on {result['device'].split(' (')[0]}",
        "",
        f"`personalq bench speed`: random weights, {result['pixels']}×{result['pixels']} pixels, "
        f"batch {result['batch']}, 77 tokens, torch {result['torch']}, "
        f"{result['device']}{threads}; the least of {result['rounds']} steps, taken in turn by "
        "all. *Against bf16*: how many times faster. *Of fp16*: bytes of all weights held. "
        "*Difference*: of the noise from that of fp32, relative. TAQ projects the text once per "
        "prompt, outside the step, the others in it; torchao runs eagerly, as all do.",
        "",
        "| | in low precision | step s | median s | against bf16 | weights MiB | of fp16 "
        "| peak MiB | difference |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        seconds, *figures = _figures(row, rows)
        cells = [row["name"], row["covers"], seconds, f"{row['median_seconds']:.2f}", *figures]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "## Seconds by kind of layer",
        "",
        f"| | {' | '.join(KINDS)} |",
        f"|---|{'---|' * len(KINDS)}",
    ]
    for row in rows:
        values = " | ".join(f"{row['by_kind'][kind]:.2f}" for kind in KINDS)
        lines.append(f"| {row['name']} | {values} |")
    lines += [
        "",
        "## Artifacts",
        "",
        "Loading is reading, packing for the kernels and, beside it, sha256; reading alone is what "
        "the disk gives. Both begin with nothing of the file in the page cache.",
        "",
        "| | quantize s | calibrate s (one step) | MiB on disk | above bits × weights + scales "
        "| load s/GB | read s/GB |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if "artifact_bytes" in row:
            size = row["artifact_bytes"]
            cells = [
                row["name"],
                str(row["quantized_seconds"]),
                str(row["calibrated_seconds"]),
                f"{size / MIB:.0f}",
                f"{100 * (size / row['least_bytes'] - 1):.2f} %",
                f"{row['load_seconds'] / size * 1e9:.2f}",
                f"{row['read_seconds'] / size * 1e9:.2f}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "A LoRA of rank 8 of all attention projections, whose base is quantized already:",
        "",
        "| | seconds | file MiB | artifact MiB |",
        "|---|---|---|---|",
    ]
    for row in rows:
        if "lora_seconds" in row:
            sizes = (row[f"lora_{of}_bytes"] / MIB for of in ("file", "artifact"))
            cells = [row["name"], str(row["lora_seconds"]), *(f"{size:.1f}" for size in sizes)]
            lines.append(f"| {' | '.join(cells)} |")
    for name, why in result["left_out"].items():
        lines += ["", f"{name} was left out: {why}."]
    return "\n".join(lines) + "\n"
