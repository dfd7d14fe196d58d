"""`personalq render` and `personalq generate`: pictures, with a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from personalq.chassis.errors import InvalidInput
from personalq.sdk.cli.connecting import with_client
from personalq.sdk.cli.console import err, out, print_json
from personalq.sdk.cli.failing import Exit
from personalq.sdk.cli.select import code, dialogue, show, word
from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.rendering import RenderOptions
from personalq.sdk.results import (
    Outcome,
    Progress,
    Queued,
    Rendering,
    RenderStep,
    Selection,
    SelectionRequest,
    Started,
)


def run_render(
    checkpoint_id: str, prompt: str, *, out: Path | None, as_json: bool, options: RenderOptions
) -> None:
    """Render with one checkpoint and save the pictures."""
    _check_writable(out)

    async def work(client: AsyncPersonalQ) -> Rendering:
        with _bar() as on_progress:
            return await client.render_image(
                checkpoint_id, prompt, on_progress=on_progress, **options
            )

    _report(with_client(work), out, as_json=as_json, selection=None)


def run_generate(
    prompt: str,
    *,
    answers: Sequence[str],
    owner: str,
    out: Path | None,
    as_json: bool,
    options: RenderOptions,
) -> Exit:
    """Select, ask and render; save the pictures."""
    _check_writable(out)
    request = SelectionRequest(prompt=prompt, owner=owner, profile=options.get("profile", ""))

    async def work(client: AsyncPersonalQ) -> tuple[Outcome, Rendering | None]:
        outcome = await dialogue(client, request, answers=answers)
        if not isinstance(outcome, Selection):
            return outcome, None
        if outcome.artifact is not None:
            options.setdefault("affinity", outcome.artifact.digest)
        with _bar() as on_progress:
            rendering = await client.render_image(
                outcome.checkpoint.checkpoint_id,
                outcome.render_prompt,
                on_progress=on_progress,
                **options,
            )
        return outcome, rendering

    outcome, rendering = with_client(work)
    if rendering is None or not isinstance(outcome, Selection):
        if as_json:
            print_json({"outcome": word(outcome), **vars(outcome)})
        else:
            show(outcome, explain=False)
        return code(outcome)
    _report(rendering, out, as_json=as_json, selection=outcome)
    return Exit.OK


@contextmanager
def _bar() -> Iterator[Callable[[RenderStep], None]]:
    """A progress bar on standard error; silent where that is no terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = err()
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("waiting", total=None)

        def on_step(step: RenderStep) -> None:
            match step:
                case Queued():
                    bar.update(
                        task, description=f"{step.position} ahead" if step.position else "next"
                    )
                case Started():
                    bar.update(task, description=step.artifact.profile or "rendering")
                case Progress():
                    bar.update(task, completed=step.step, total=step.steps)
                case _:
                    pass

        yield on_step


def _check_writable(path: Path | None) -> None:
    """Refuse a file that cannot be written before the work is done."""
    if path is None:
        path = Path("picture.png")  # the name is not known yet, but the folder is
    elif path.is_dir():
        raise InvalidInput(f"--out {path} is a folder: give the name of a file in it")
    existed = path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
        if not existed:
            path.unlink()
    except OSError as error:
        raise InvalidInput(
            f"{path.resolve()} cannot be written ({error.strerror}): choose another --out"
        ) from error


def _report(
    rendering: Rendering, path: Path | None, *, as_json: bool, selection: Selection | None
) -> None:
    made_by, timings = rendering.provenance, rendering.timings
    stem = path or Path(f"{made_by.checkpoint_id}-{rendering.picture.seed}.png")
    paths = [
        picture.save(stem.with_stem(f"{stem.stem}-{index}") if index else stem)
        for index, picture in enumerate(rendering.pictures)
    ]
    if as_json:
        chosen = {"checkpoint_id": made_by.checkpoint_id}
        if selection is not None:
            chosen["rewritten_prompt"] = selection.rewritten_prompt
        print_json(
            {
                "outcome": "selection",
                **chosen,
                "images": [str(each) for each in paths],
                "timings": timings,
                "provenance": made_by,
            }
        )
        return
    console = out()
    for each in paths:
        console.print(each)
    per_step = timings.denoise_seconds / made_by.steps * 1000 if made_by.steps else 0.0
    console.print(
        f"  {made_by.checkpoint_id} · {made_by.profile} · {made_by.prompt}\n"
        f"  seed {made_by.seed} · {made_by.steps} steps, {per_step:.0f} ms each"
    )
