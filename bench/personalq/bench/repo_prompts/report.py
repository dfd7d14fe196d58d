"""The results for readers: JSON, a page of tables, a plot."""

from __future__ import annotations

import json
import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from personalq.bench.repo_prompts.comparing import Row
from personalq.bench.repo_prompts.measuring import CHECK_IN, Compared

#: What Check-in must reach: a bound, and whether it is one from below.
TARGETS: Mapping[str, tuple[str, float]] = {
    "accuracy": ("≥", 0.97),
    "single_accuracy": ("≥", 0.97),
    "over_ask_rate": ("≤", 0.02),
    "ambiguous_asked_rate": ("≥", 0.95),
    "resolution_rate": ("≥", 0.97),
    "no_match_accuracy": ("≥", 0.97),
    "false_no_match_rate": ("≤", 0.01),
    "rewrite_valid_rate": ("≥", 1.0),
    "select_vs_embedding": ("≤", 4.0),
}
_MEANINGS = {
    "accuracy": "right outcome and, for a selection, the right card; over all",
    "single_accuracy": "right card without a question, where one is meant",
    "over_ask_rate": "asked, though one card is meant",
    "ambiguous_asked_rate": "asked, where several are",
    "resolution_rate": "right card after one answer, where several are meant",
    "no_match_accuracy": "refused, where nothing fits",
    "false_no_match_rate": "refused, though something fits",
    "rewrite_valid_rate": "trigger exactly where the noun was, all else unchanged",
    "select_vs_embedding": "median of a selection / of embedding the prompt alone",
}
_SHARES = ("single", "acceptable", "intended", "no_match")
_STEM = "repo-prompts"


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything a run found."""

    #: The command that was run.
    arguments: Sequence[str]
    n_cards: int
    summary: Mapping[str, Any]
    compared: Compared

    @property
    def command(self) -> str:
        """What to type to get these results again."""
        return shlex.join(["personalq", *self.arguments])


def write(report: Report, folder: Path) -> list[Path]:
    """Write `repo-prompts.json`, `.md` and `.png`; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{_STEM}.{suffix}" for suffix in ("json", "md", "png")]
    document = json.dumps(_document(report), ensure_ascii=False, indent=2)
    paths[0].write_text(document + "\n", encoding="utf-8")
    paths[1].write_text(_page(report), encoding="utf-8")
    _plot(report, paths[2])
    return paths


def _document(report: Report) -> dict[str, Any]:
    return {
        "command": report.command,
        "machine": _machine(),
        "n_cards": report.n_cards,
        "summary": dict(report.summary),
        "baselines": [asdict(row) for row in report.compared.baselines],
        "ablations": [asdict(row) for row in report.compared.ablations],
        "judge": {name: asdict(each) for name, each in report.compared.judged.items()},
    }


def _machine() -> str:
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {platform.system()}, "
        f"Python {platform.python_version()}"
    )


def _page(report: Report) -> str:
    summary = report.summary
    latency = summary["latency_ms"]
    embedding = summary["embedding_ms"]
    parts = [
        "# Repo-Prompts",
        f"{report.n_cards} cards, {summary['n']} queries, one at a time through gRPC; "
        f"PostgreSQL, deterministic reasoner; {_machine()}. Reproduce with",
        f"```sh\n{report.command}\n```",
        "## Check-in",
        _table(
            ["figure", "measured", "target", "meaning"],
            [
                [name, _number(summary[name]), f"{sign} {bound:g}", _MEANINGS[name]]
                for name, (sign, bound) in TARGETS.items()
            ],
        ),
        "Milliseconds of one call, at the client:",
        _table(
            ["", "p50", "p95", "p99"],
            [
                [name, *(f"{each[key]:.1f}" for key in ("p50", "p95", "p99"))]
                for name, each in (
                    ("Select", latency),
                    ("Select with an answer", summary["answer_latency_ms"]),
                    ("embedding the prompt alone", embedding),
                )
                if each
            ],
        ),
        *_groups(summary),
        "## Baselines",
        "What was chosen in the end counts, after an answer where Check-in asked. Baselines never "
        "ask and never refuse. The intent score compares the chosen card with the one meant "
        "(definition: `bench/README.md`).",
        _rows(report.compared.baselines),
    ]
    if report.compared.ablations:
        parts += [
            "## Ablations",
            "Retrieval (ten cards by one leg of the search, or by both, without constraints) × "
            "reasoning (the first card, or Check-in among the ten); Check-in retrieves under "
            "constraints.",
            _rows(report.compared.ablations),
        ]
    if report.compared.judged:
        parts += ["## Judge", _judged(report.compared)]
    parts.append(f"![accuracy and intent score by method]({_STEM}.png)")
    return "\n\n".join(parts) + "\n"


def _groups(summary: Mapping[str, Any]) -> list[str]:
    groups: Mapping[str, Mapping[str, Any]] = summary.get("by_group") or {}
    if not groups:
        return []
    lines = [
        [name, str(each["n"]), _number(each["accuracy"]), _number(each["resolution_rate"])]
        for name, each in groups.items()
    ]
    return ["By group:", _table(["group", "n", "accuracy", "resolution_rate"], lines)]


def _rows(rows: Sequence[Row]) -> str:
    header = [
        "method",
        "single: right card",
        "ambiguous: acceptable",
        "ambiguous: right card",
        "no match: refused",
        "intent score",
        "subject / style / temporal / context",
    ]
    lines = []
    for row in rows:
        intent = row.intent
        marks = (intent.subject, intent.style, intent.temporal, intent.context) if intent else ()
        lines.append(
            [
                row.method,
                *(_number(getattr(row, name)) for name in _SHARES),
                f"{intent.score:.2f} ± {intent.deviation:.2f}" if intent else "–",
                " / ".join(f"{mark:.2f}" for mark in marks) or "–",
            ]
        )
    return _table(header, lines)


def _judged(compared: Compared) -> str:
    return _table(
        ["Check-in against", "pairs", "consistent", "win rate", "our score", "their score"],
        [
            [
                name,
                str(each.pairs),
                str(each.consistent),
                _number(each.win_rate),
                _number(each.intent_score),
                _number(each.baseline_score),
            ]
            for name, each in compared.judged.items()
        ],
    )


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    ruler = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ruler, *lines))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _plot(report: Report, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    others = [row for row in report.compared.ablations if row.method != CHECK_IN]
    rows = [*others, *report.compared.baselines]
    names = [row.method.split(" (")[0] for row in rows]
    figure, (left, right) = plt.subplots(
        1, 2, sharey=True, figsize=(10, 1.2 + 0.45 * len(rows)), layout="constrained"
    )
    height = 0.38
    places = range(len(rows))
    for offset, name, colour in (
        (-height / 2, "single", "#2b6cb0"),
        (height / 2, "intended", "#dd8c2c"),
    ):
        label = {"single": "one card is meant", "intended": "ambiguous"}[name]
        left.barh(
            [place + offset for place in places],
            [getattr(row, name) or 0.0 for row in rows],
            height=height,
            color=colour,
            label=label,
        )
    left.set_yticks(list(places), names)
    left.set_xlim(0, 1)
    left.set_xlabel("right card in the end")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    right.barh(
        list(places), [row.intent.score if row.intent else 0 for row in rows], color="#4a5568"
    )
    right.set_xlim(1, 5)
    right.set_xlabel("intent score (1-5)")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
