"""The figures as JSON and as a page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_MB = 1024**2


def write(result: Mapping[str, Any], folder: Path) -> Sequence[Path]:
    """`scale-<cards>.json` and `.md` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / f"scale-{result['cards']}.json"
    data.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    page = folder / f"scale-{result['cards']}.md"
    page.write_text(markdown(result), encoding="utf-8")
    return data, page


def markdown(result: Mapping[str, Any]) -> str:
    """The page."""
    filling = result["filling"]
    largest = result["largest_tenant"]
    lines = [
        f"# {result['cards']:,} cards of {result['tenants']:,} tenants, the largest {largest:,}",
        "",
        f"`personalq bench scale --cards {result['cards']} --tenants {result['tenants']} "
        f"--largest {largest}` on {result['machine']}; load average of the machine at the end "
        f"{result['load_average']} (where that is more than its cores, latencies are too high).",
        "",
        "## Selecting, milliseconds at the client",
        "",
        "| clients | requests/s | p50 | p95 | p99 | largest tenant p50 | p95 | p99 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    loads = [(str(load["clients"]), load) for load in result["select"]]
    loads.append(("1, while cards are registered", result["select_while_registering"]))
    for name, load in loads:
        every, own = load["all_ms"], load["largest_ms"]
        lines.append(
            f"| {name} | {load['per_second']} | {_row(every)} | {_row(own)} |",
        )
    spent = result["select"][0]["cpu_ms"]
    alone = result["embedding_alone_ms"]
    lines += [
        "",
        f"Embedding a prompt alone, in the same run: p50 {alone['p50']:.1f}, "
        f"p95 {alone['p95']:.1f}.",
        "",
        "Processor time of one selection, one client: "
        + ", ".join(f"{name} {used} ms" for name, used in spent.items())
        + ".",
        "",
        "Median of the largest tenant by kind of request, one client:",
        "",
        "| request | ms |",
        "|---|---|",
        *(f"| {kind} | {taken:.1f} |" for kind, taken in result["select"][0]["kinds_ms"].items()),
        "",
        "## Filling",
        "",
        "| | |",
        "|---|---|",
        f"| COPY of rows as registering writes them | {filling['copy_cards_per_s']:,} cards/s |",
        f"| `RegisterCheckpoint`, two at a time | {result['registered_per_s']} cards/s |",
        f"| indexes of {filling['indexed_tenants']} large tenant(s) | {filling['index_s']:.0f} s |",
    ]
    if result["recall"]:
        lines += [
            "",
            "## The largest tenant's indexes against exact search",
            "",
            "| constraints | matches | by index | recall@10 | of the page | ms | exact ms |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {each['constraints']} | {each['matches']:,} | {'yes' if each['indexed'] else 'no'} "
            f"| {each['recall_at_10']} | {each['page_recall_at_10']} | {each['indexed_ms']} "
            f"| {each['exact_ms']} |"
            for each in result["recall"]
        ]
    lines += ["", "## Memory (PSS)", "", "| process | MB |", "|---|---|"]
    lines += [f"| {name} | {used / _MB:.0f} |" for name, used in result["memory_bytes"].items()]
    lines += ["", "## On disk", "", "| table or index | MB |", "|---|---|"]
    lines += [f"| {name} | {size / _MB:.0f} |" for name, size in result["size_bytes"].items()]
    total = sum(result["size_bytes"].values())
    lines += [f"| together | {total / _MB:.0f} |", ""]
    return "\n".join(lines)


def _row(percentiles: Mapping[str, float]) -> str:
    return " | ".join(f"{percentiles[name]:.1f}" for name in ("p50", "p95", "p99"))
