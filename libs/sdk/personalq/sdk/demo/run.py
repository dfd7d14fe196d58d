"""The demo from the first event to the contact sheet."""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from PIL import Image
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from personalq.miniature import MiniatureCheckpoint, checkpoints
from personalq.sdk.cli.console import day, out, size
from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.demo import sheet
from personalq.sdk.demo.journey import (
    FULL,
    STAGES,
    TAQ,
    Asked,
    Rendered,
    announce,
    ask,
    render,
    serving_bytes,
)
from personalq.sdk.demo.report import CheckpointEntry, RequestEntry, Seconds, write_report
from personalq.sdk.demo.script import LINES
from personalq.sdk.embedded import miniature
from personalq.sdk.embedded.ports import Ports
from personalq.sdk.embedded.stack import run_stack
from personalq.sdk.results import Checkpoint, Clarification, NoMatch, Rendering, Selection


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A request with all that came of it; no pictures where nothing was chosen."""

    asked: Asked
    checkpoint: MiniatureCheckpoint | None = None
    rendered: Rendered | None = None
    clip_i_full: float | None = None
    clip_i_taq: float | None = None


async def run_demo(*, out_dir: Path, data: Path, ports: Ports, setup_seconds: float) -> None:
    """Start the stack, announce, ask, render; write sheet, pictures and report to `out_dir`."""
    console = out()
    began = time.monotonic()
    images = out_dir / "images"
    shutil.rmtree(images, ignore_errors=True)
    console.rule("1  the embedded stack", align="left")
    async with run_stack(
        data=data,
        ports=ports,
        base_models=miniature.base_models(),
        settings=miniature.settings(),
        report=_Endpoints(console),
    ) as stack:
        started = time.monotonic()
        where = stack.endpoints
        async with AsyncPersonalQ(
            checkin=where.checkin, catalog=where.catalog, renderer=where.renderer, nats=where.nats
        ) as client:
            cards, scenes = await stack.during(_play(client, console))
        ended = time.monotonic()
    seconds = Seconds(
        setup=setup_seconds, start=round(started - began, 1), job=round(ended - began, 1)
    )
    entries = [_request_entry(number, scene, images) for number, scene in enumerate(scenes, 1)]
    write_report(
        out_dir / "report.json",
        seconds=seconds,
        checkpoints=[_checkpoint_entry(card) for card in cards],
        requests=entries,
    )
    _write_sheet(out_dir / "contact-sheet.png", scenes, cards, seconds)
    _print_summary(console, scenes, seconds, out_dir)


async def _play(client: AsyncPersonalQ, console: Console) -> tuple[list[Checkpoint], list[Scene]]:
    trained = checkpoints()
    console.rule(f"2  {len(trained)} checkpoints land", align="left")
    with _Bars(console, trained) as bars:
        cards = await announce(client, trained, on_progress=bars.update)
    console.rule("3  requests in plain words", align="left")
    by_id = {each.checkpoint_id: each for each in trained}
    scenes = [await _scene(client, asked, by_id, console) for asked in await _ask_all(client)]
    return cards, await asyncio.to_thread(_scored, scenes)


async def _ask_all(client: AsyncPersonalQ) -> list[Asked]:
    return [await ask(client, line) for line in LINES]


async def _scene(
    client: AsyncPersonalQ,
    asked: Asked,
    by_id: Mapping[str, MiniatureCheckpoint],
    console: Console,
) -> Scene:
    console.print(f"\n“{asked.line.prompt}”")
    for line in _dialogue(asked):
        console.print(f"  {line}")
    outcome = asked.outcome
    if not isinstance(outcome, Selection):
        return Scene(asked=asked)
    checkpoint = by_id[outcome.checkpoint.checkpoint_id]
    rendered = await render(client, outcome, checkpoint, seed=asked.line.seed)
    console.print(
        f"  rendered “{outcome.render_prompt}”: {FULL} {_step_ms(rendered.full):.0f} ms, "
        f"{TAQ} {_step_ms(rendered.taq):.0f} ms a step"
    )
    return Scene(asked=asked, checkpoint=checkpoint, rendered=rendered)


def _scored(scenes: Sequence[Scene]) -> list[Scene]:
    """The same with CLIP-I: how near each picture is to those its checkpoint was trained on."""
    from personalq.miniature.scorer import ClipScorer  # loads torch

    scorer = ClipScorer()
    scored = []
    for scene in scenes:
        if scene.rendered is None or scene.checkpoint is None:
            scored.append(scene)
            continue
        references = [_picture(path.read_bytes()) for path in scene.checkpoint.references]
        pictures = [
            _picture(each.picture.data) for each in (scene.rendered.full, scene.rendered.taq)
        ]
        full, taq = scorer.clip_i(pictures, references)
        scored.append(replace(scene, clip_i_full=round(full, 4), clip_i_taq=round(taq, 4)))
    return scored


# --- report ----------------------------------------------------------------------------------


def _checkpoint_entry(card: Checkpoint) -> CheckpointEntry:
    made = {artifact.profile: artifact for artifact in card.artifacts}
    return CheckpointEntry(
        checkpoint_id=card.checkpoint_id,
        bytes_full=serving_bytes(made[FULL]),
        bytes_taq=serving_bytes(made[TAQ]),
        own_bytes_full=made[FULL].size_bytes,
        own_bytes_taq=made[TAQ].size_bytes,
    )


def _request_entry(number: int, scene: Scene, images: Path) -> RequestEntry:
    asked, outcome, rendered = scene.asked, scene.asked.outcome, scene.rendered
    exchange = asked.exchanges[0] if asked.exchanges else None
    entry = RequestEntry(
        prompt=asked.line.prompt,
        outcome=_word(asked),
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
        step_seconds_full=round(_step_ms(rendered.full) / 1000, 5),
        step_seconds_taq=round(_step_ms(rendered.taq) / 1000, 5),
    )


def _word(asked: Asked) -> str:
    """How it ended: a question that was answered ends in a selection or in no match."""
    match asked.outcome:
        case Selection():
            return "selection"
        case Clarification():
            return "clarification"
        case NoMatch():
            return "no_match"


# --- for people ------------------------------------------------------------------------------


def _dialogue(asked: Asked) -> list[str]:
    lines = []
    for exchange in asked.exchanges:
        lines.append(f"{exchange.question} ({', '.join(exchange.options)})")
        lines.append(f"> {exchange.answer}")
    match asked.outcome:
        case Selection() as chosen:
            lines.append(f"{chosen.checkpoint.checkpoint_id}: “{chosen.rewritten_prompt}”")
        case Clarification() as open_:
            lines.append(f"still unclear: {open_.question}")
        case NoMatch() as refused:
            lines.append(f"no match: {refused.explanation}")
    return lines


def _write_sheet(
    path: Path, scenes: Sequence[Scene], cards: Sequence[Checkpoint], seconds: Seconds
) -> None:
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
        lines.append(sheet.asked(f"{exchange.question} ({', '.join(exchange.options)})"))
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
        caption = [f"{size(serving_bytes(made[profile]))} · {_step_ms(rendering):.0f} ms a step"]
        if clip_i is not None:
            caption.append(f"CLIP-I {clip_i:.3f}")
        return sheet.Tile(picture=rendering.picture.data, caption=caption)

    reference = scene.checkpoint.references[0].read_bytes() if scene.checkpoint.references else b""
    return sheet.Row(
        lines=lines,
        tiles=[
            sheet.Tile(
                picture=reference,
                caption=[f"one of {len(scene.checkpoint.references)} pictures"],
            ),
            tile(FULL, scene.rendered.full, scene.clip_i_full),
            tile(TAQ, scene.rendered.taq, scene.clip_i_taq),
        ],
    )


def _print_summary(
    console: Console, scenes: Sequence[Scene], seconds: Seconds, out_dir: Path
) -> None:
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
                f"{_step_ms(rendered.full):.0f} | {_step_ms(rendered.taq):.0f}",
            )
        else:
            table.add_row(scene.asked.line.prompt, _word(scene.asked).replace("_", " "), "", "", "")
    console.print(table)
    console.print(
        f"\n{seconds.job:.0f} s, {seconds.start:.0f} s of them to start the stack. Look at"
    )
    for name in ("contact-sheet.png", "report.json", "images"):
        console.print(f"  {out_dir / name}")


class _Endpoints:
    """A line per part of the stack."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def starting(self, part: str) -> None:
        """Nothing to say before it answers."""

    def up(self, part: str, address: str) -> None:
        """Print where it is."""
        self._console.print(f"  {part:10} {address}")


class _Bars:
    """How far the checkpoints are: verified by the catalog, quantized for each profile."""

    def __init__(self, console: Console, trained: Sequence[MiniatureCheckpoint]) -> None:
        self._done = dict.fromkeys((each.checkpoint_id for each in trained), 0)
        self._progress = Progress(
            TextColumn("  {task.description}"),
            BarColumn(),
            TextColumn("{task.fields[ready]}"),
            TimeElapsedColumn(),
            console=console,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        self._task = self._progress.add_task(
            "verify, describe, quantize", total=STAGES * len(self._done), ready=self._ready()
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, checkpoint_id: str, stages: int) -> None:
        """Note how many stages a checkpoint has done."""
        self._done[checkpoint_id] = max(stages, self._done[checkpoint_id])
        if self._task is not None:
            self._progress.update(
                self._task, completed=sum(self._done.values()), ready=self._ready()
            )

    def _ready(self) -> str:
        ready = sum(stages == STAGES for stages in self._done.values())
        return f"{ready} of {len(self._done)} servable"


def _step_ms(rendering: Rendering) -> float:
    return rendering.timings.denoise_seconds * 1000 / max(rendering.provenance.steps, 1)


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _picture(png: bytes) -> Image.Image:
    with Image.open(io.BytesIO(png)) as picture:
        return picture.convert("RGB")


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
