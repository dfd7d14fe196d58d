"""What is told of a demo: entries of the report, rows of the sheet, a table for the terminal."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from personalq.sdk.cli.console import day, size
from personalq.sdk.demo import sheet
from personalq.sdk.demo.journey import FULL, TAQ, Asked, Scene, serving_bytes, step_ms
from personalq.sdk.demo.report import CheckpointEntry, RequestEntry, Seconds
from personalq.sdk.results import Checkpoint, Clarification, NoMatch, Outcome, Rendering, Selection

# --- report ----------------------------------------------------------------------------------


def checkpoint_entry(card: Checkpoint) -> CheckpointEntry:
    """The bytes of a checkpoint, in full precision and quantized."""
    made = {artifact.profile: artifact for artifact in card.artifacts}
    return CheckpointEntry(
        checkpoint_id=card.checkpoint_id,
        bytes_full=serving_bytes(made[FULL]),
        bytes_taq=serving_bytes(made[TAQ]),
        own_bytes_full=made[FULL].size_bytes,
        own_bytes_taq=made[TAQ].size_bytes,
    )


def request_entry(number: int, scene: Scene, images: Path) -> RequestEntry:
    """A request for the report; saves its pictures in `images`."""
    asked, outcome, rendered = scene.asked, scene.asked.outcome, scene.rendered
    exchange = asked.exchanges[0] if asked.exchanges else None
    entry = RequestEntry(
        prompt=asked.line.prompt,
        outcome="clarification" if exchange else _word(outcome),
        answered_outcome=_word(outcome) if exchange else "",
        question=exchange.question if exchange else "",
        answer=exchange.answer if exchange else "",
        explanation=outcome.explanation if isinstance(outcome, NoMatch) else "",
    )
    if not isinstance(outcome, Selection) or rendered is None:
        return entry
    saved = {
        profile: rendering.picture.save(
            images / f"{number:02}-{outcome.checkpoint.checkpoint_id}-{profile}.png"
        )
        for profile, rendering in ((FULL, rendered.full), (TAQ, rendered.taq))
    }
    return replace(
        entry,
        checkpoint_id=outcome.checkpoint.checkpoint_id,
        rewritten_prompt=outcome.rewritten_prompt,
        render_prompt=outcome.render_prompt,
        image_full=saved[FULL].relative_to(images.parent).as_posix(),
        image_taq=saved[TAQ].relative_to(images.parent).as_posix(),
        clip_i_full=scene.clip_i_full,
        clip_i_taq=scene.clip_i_taq,
        profile=TAQ,
        seed=rendered.taq.provenance.seed,
        step_seconds_full=round(step_ms(rendered.full) / 1000, 5),
        step_seconds_taq=round(step_ms(rendered.taq) / 1000, 5),
    )


def _word(outcome: Outcome) -> str:
    match outcome:
        case Selection():
            return "selection"
        case Clarification():
            return "clarification"
        case NoMatch():
            return "no_match"


# --- for people ------------------------------------------------------------------------------


def dialogue(asked: Asked) -> list[str]:
    """Question, answer and outcome, a line each."""
    lines = []
    for exchange in asked.exchanges:
        lines.append(exchange.question)
        lines += [f"  {number}  {option}" for number, option in enumerate(exchange.options, 1)]
        lines.append(f"> {exchange.answer}")
    match asked.outcome:
        case Selection() as chosen:
            lines.append(f"{chosen.checkpoint.checkpoint_id}: “{chosen.rewritten_prompt}”")
        case Clarification() as open_:
            lines.append(f"still unclear: {open_.question}")
        case NoMatch() as refused:
            lines.append(f"no match: {refused.explanation}")
    return lines


def write_contact_sheet(
    path: Path, scenes: Sequence[Scene], cards: Sequence[Checkpoint], seconds: Seconds
) -> None:
    """A row per request: its words, the chosen checkpoint, the pictures side by side."""
    by_id = {card.checkpoint_id: card for card in cards}
    sheet.write_sheet(
        path,
        title="PersonalQ: the checkpoint that was meant, in full precision and quantized",
        subtitle=(
            f"{len(cards)} checkpoints announced, quantized and served in {seconds.job:.0f} s on "
            f"{_cores()} cores · same seed in both columns · CLIP-I: likeness to the training "
            "pictures"
        ),
        columns=["trained on", "full precision", f"TAQ {TAQ}"],
        rows=[_row(scene, by_id) for scene in scenes],
    )


def _row(scene: Scene, by_id: Mapping[str, Checkpoint]) -> sheet.Row:
    asked, outcome = scene.asked, scene.asked.outcome
    lines = [sheet.said(asked.line.prompt)]
    for exchange in asked.exchanges:
        lines.append(sheet.asked(exchange.question))
        lines.append(sheet.asked(f"> {exchange.answer}"))
    if isinstance(outcome, NoMatch):
        return sheet.Row(
            lines=[*lines, sheet.refused(f"No match. {outcome.explanation}")], tiles=[]
        )
    if not isinstance(outcome, Selection) or scene.rendered is None or scene.checkpoint is None:
        return sheet.Row(lines=lines, tiles=[])
    card = by_id[outcome.checkpoint.checkpoint_id]
    kind = "LoRA" if scene.checkpoint.is_lora else "full fine-tune"
    lines += [
        sheet.chosen(
            f"{card.checkpoint_id} · {kind} · {', '.join(card.styles)} · {day(card.created_at)}"
        ),
        sheet.detail(card.description),
        sheet.detail(f"rewritten: {outcome.rewritten_prompt}"),
        sheet.detail(f"rendered: {outcome.render_prompt}"),
    ]
    made = {artifact.profile: artifact for artifact in card.artifacts}

    def tile(profile: str, rendering: Rendering, clip_i: float | None) -> sheet.Tile:
        caption = [f"{size(serving_bytes(made[profile]))} · {step_ms(rendering):.0f} ms a step"]
        if clip_i is not None:
            caption.append(f"CLIP-I {clip_i:.3f}")
        return sheet.Tile(picture=rendering.picture.data, caption=caption)

    reference = scene.checkpoint.references[0].read_bytes() if scene.checkpoint.references else b""
    return sheet.Row(
        lines=lines,
        tiles=[
            sheet.Tile(
                picture=reference,
                caption=[f"one of its {len(scene.checkpoint.references)} pictures"],
            ),
            tile(FULL, scene.rendered.full, scene.clip_i_full),
            tile(TAQ, scene.rendered.taq, scene.clip_i_taq),
        ],
    )


def print_summary(
    console: Console, scenes: Sequence[Scene], seconds: Seconds, out_dir: Path
) -> None:
    """A short table, and where to look."""
    console.rule("4  what came of it", align="left")
    table = Table(box=None, pad_edge=False)
    for heading in ("request", "chosen", f"CLIP-I {FULL}", f"CLIP-I {TAQ}", "ms a step"):
        table.add_column(heading, overflow="fold")
    for scene in scenes:
        outcome, rendered = scene.asked.outcome, scene.rendered
        if isinstance(outcome, Selection) and rendered is not None:
            table.add_row(
                scene.asked.line.prompt,
                outcome.checkpoint.checkpoint_id,
                _score(scene.clip_i_full),
                _score(scene.clip_i_taq),
                f"{step_ms(rendered.full):.0f} | {step_ms(rendered.taq):.0f}",
            )
        else:
            table.add_row(scene.asked.line.prompt, _word(outcome).replace("_", " "), "", "", "")
    console.print(table)
    console.print(
        f"\n{seconds.job:.0f} s, {seconds.start:.0f} s of them to start the stack. Look at"
    )
    for name in ("contact-sheet.png", "report.json", "images"):
        console.print(f"  {out_dir / name}")


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
