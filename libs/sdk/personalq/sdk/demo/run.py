"""The demo from the first event to the contact sheet."""

from __future__ import annotations

import asyncio
import io
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from PIL import Image
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from personalq.miniature import MiniatureCheckpoint, checkpoints
from personalq.sdk.cli.console import out
from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.demo.account import (
    checkpoint_entry,
    dialogue,
    print_summary,
    request_entry,
    write_contact_sheet,
)
from personalq.sdk.demo.journey import (
    FULL,
    STAGES,
    TAQ,
    Scene,
    announce,
    ask,
    render,
    step_ms,
)
from personalq.sdk.demo.report import Seconds, write_report
from personalq.sdk.demo.script import LINES, Line
from personalq.sdk.embedded import miniature
from personalq.sdk.embedded.ports import Ports
from personalq.sdk.embedded.stack import run_stack
from personalq.sdk.results import Checkpoint, Selection


@dataclass(frozen=True, kw_only=True)
class Play:
    """What was announced, and what came of each request."""

    cards: Sequence[Checkpoint]
    scenes: Sequence[Scene]


async def run_demo(*, out_dir: Path, data: Path, ports: Ports, setup_seconds: float) -> None:
    """Start the stack, play the script on it, write the results to `out_dir`."""
    console = out()
    began = time.monotonic()
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
            played = await stack.during(play(client, checkpoints(), LINES, console))
        seconds = Seconds(
            setup=setup_seconds,
            start=round(started - began, 1),
            job=round(time.monotonic() - began, 1),
        )
        write_results(out_dir, played, seconds)
        print_summary(console, played.scenes, seconds, out_dir)


async def play(
    client: AsyncPersonalQ,
    trained: Sequence[MiniatureCheckpoint],
    lines: Sequence[Line],
    console: Console,
) -> Play:
    """Announce the checkpoints, ask for each line, render what was chosen, score it."""
    console.rule(f"2  {len(trained)} checkpoints land", align="left")
    with _Bars(console, trained) as bars:
        cards = await announce(client, trained, on_progress=bars.update)
    console.rule("3  requests in plain words", align="left")
    by_id = {each.checkpoint_id: each for each in trained}
    scenes = [await _scene(client, line, by_id, console) for line in lines]
    return Play(cards=cards, scenes=await asyncio.to_thread(_scored, scenes))


def write_results(out_dir: Path, played: Play, seconds: Seconds) -> None:
    """Write pictures, report and contact sheet; those of an earlier run go."""
    images = out_dir / "images"
    shutil.rmtree(images, ignore_errors=True)
    images.mkdir(parents=True)
    write_report(
        out_dir / "report.json",
        seconds=seconds,
        checkpoints=[checkpoint_entry(card) for card in played.cards],
        requests=[
            request_entry(number, scene, images) for number, scene in enumerate(played.scenes, 1)
        ],
    )
    write_contact_sheet(out_dir / "contact-sheet.png", played.scenes, played.cards, seconds)


async def _scene(
    client: AsyncPersonalQ,
    line: Line,
    by_id: Mapping[str, MiniatureCheckpoint],
    console: Console,
) -> Scene:
    console.print(f"\n“{line.prompt}”")
    asked = await ask(client, line)
    for said in dialogue(asked):
        console.print(f"  {said}")
    outcome = asked.outcome
    if not isinstance(outcome, Selection):
        return Scene(asked=asked)
    checkpoint = by_id[outcome.checkpoint.checkpoint_id]
    rendered = await render(client, outcome, checkpoint, seed=line.seed)
    console.print(
        f"  rendered “{outcome.render_prompt}”: {FULL} {step_ms(rendered.full):.0f} ms, "
        f"{TAQ} {step_ms(rendered.taq):.0f} ms a step"
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


def _picture(png: bytes) -> Image.Image:
    with Image.open(io.BytesIO(png)) as picture:
        return picture.convert("RGB")


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
