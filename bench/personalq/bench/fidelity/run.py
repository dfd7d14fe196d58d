"""`personalq bench fidelity`: draw what is not drawn yet, then report.

Rows are drawn by a few processes of one thread each; a row that is done stays done, so that a run
that was stopped goes on where it was.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shlex
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from personalq.bench.fidelity.inputs import Inputs
from personalq.bench.fidelity.prompts import Case
from personalq.bench.fidelity.rows import Row, all_rows
from personalq.chassis.errors import InvalidInput
from personalq.sdk.cli.console import err, out
from personalq.sdk.cli.failing import Exit
from personalq.taq.recipe import RECIPE_VERSION

if TYPE_CHECKING:
    from personalq.bench.fidelity.engines import Workshop
    from personalq.bench.fidelity.generating import Sampling
    from personalq.bench.fidelity.models import Model
    from personalq.bench.fidelity.scoring import Yard
    from personalq.taq.simulation import Method

CAPTIONS = 64  # of the calibration set, as in the paper
QUICK_CASES = 20
QUICK_CAPTIONS = 8
QUICK_METHODS = ("full", "q-diffusion", "taq-paper", "taq")
SENSITIVITY = "sensitivity"
"""A table of its own: of tokens, not of methods."""
SENSITIVITY_CASES = 40


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to draw, and where the results go."""

    #: Whose pictures, and what judges them.
    inputs: Inputs
    #: Where they are drawn, as torch names it.
    device: str
    #: How many pictures of each row; as many as there are cases where there are fewer.
    images: int
    steps: int
    guidance: float
    #: Where pictures and what is derived from them are kept; a temporary folder when None.
    work: Path | None
    results_dir: Path
    #: Only these tables; all when empty.
    tables: tuple[str, ...]
    #: Only these bits of weights and activations, as "W4A8", and full precision; all when empty.
    widths: tuple[str, ...]
    #: Processes that draw.
    workers: int
    quick: bool
    as_json: bool


def run(options: Options) -> Exit:
    """Draw, score, write.

    Raises:
        InvalidInput: something cannot be drawn or judged, told before anything is; or the work
            folder is of another run.
    """
    rows = _chosen(options)
    inputs, count = options.inputs, QUICK_CASES if options.quick else options.images
    cases = inputs.cases(count)
    studied = inputs.cases(SENSITIVITY_CASES) if _studies_tokens(options) else []
    # Read when torch is imported, in this process and in those it starts.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    _check_device(options.device)
    model = inputs.load(options.device)
    inputs.check(model, [*cases, *studied])
    reported: list[dict[str, Any]] = []
    with _folder(options.work) as work:
        settings = _Settings(
            inputs,
            options.device,
            options.steps,
            options.guidance,
            work,
            QUICK_CAPTIONS if options.quick else CAPTIONS,
            len(cases),
            RECIPE_VERSION,
        )
        if rows:
            yard = inputs.yard(model, cases, work)
            _claim(settings, cases)
            _prepare(_workshop(settings, model, cases), model, cases, rows)
            _draw_all(rows, cases, settings, options.workers)
            reported = _report(options, yard, work)["rows"]
        if studied:
            yard = inputs.yard(model, studied, work)
            _study_tokens(model, yard, settings, options.results_dir)
    out().print(f"{len(reported)} rows in {options.results_dir}")
    if options.as_json:
        out().print_json(json.dumps({"rows": reported}), indent=None)
    return Exit.OK


@dataclass(frozen=True)
class _Settings:
    """What a drawing process needs to know."""

    inputs: Inputs
    device: str
    steps: int
    guidance: float
    work: Path
    #: Calibration captions.
    captions: int
    #: Pictures of each row.
    images: int
    #: Of the rules that say which layers are quantized to which bits.
    recipe: int

    @property
    def sampling(self) -> Sampling:
        """How pictures are drawn."""
        from personalq.bench.fidelity.generating import Sampling

        return Sampling(self.steps, self.guidance)


def _chosen(options: Options) -> list[Row]:
    rows = all_rows()
    known = sorted({*(row.table for row in rows), SENSITIVITY})
    if unknown := sorted(set(options.tables) - set(known)):
        raise InvalidInput(f"no table {', '.join(unknown)}; there are {', '.join(known)}")
    widths = sorted({row.width for row in rows})
    if unknown := sorted(set(options.widths) - set(widths)):
        raise InvalidInput(f"no width {', '.join(unknown)}; there are {', '.join(widths)}")
    if options.images < 2:
        raise InvalidInput("--images must be at least 2: a distance needs a spread")
    if options.quick:
        return [
            row
            for row in rows
            if row.table == "methods"
            and row.method.name in QUICK_METHODS
            and (row.method.weight_bits, row.method.input_bits) in ((None, None), (8, 8), (8, 4))
        ]
    wanted = set(options.tables) or set(known)
    if wanted == {SENSITIVITY}:
        return []
    found = [row for row in rows if row.table in wanted and row.width in (options.widths or widths)]
    if not found:
        raise InvalidInput(
            f"no row of {', '.join(sorted(wanted))} at {', '.join(options.widths)}; leave out "
            "--table or --width"
        )
    return [row for row in rows if row.method.name == "full" or row in found]


def _check_device(device: str) -> None:
    """Refuse a device that is not there.

    Raises:
        InvalidInput: it is not.
    """
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # torch without CUDA asserts
        raise InvalidInput(f"--device {device} is not there: {error}; leave it out") from error


def _studies_tokens(options: Options) -> bool:
    everything = not (options.quick or options.tables or options.widths)
    return everything or (not options.quick and SENSITIVITY in options.tables)


@contextmanager
def _folder(chosen: Path | None) -> Iterator[Path]:
    if chosen is not None:
        chosen.mkdir(parents=True, exist_ok=True)
        yield chosen
        return
    with tempfile.TemporaryDirectory(prefix="personalq-fidelity-") as folder:
        yield Path(folder)


def _claim(settings: _Settings, cases: Sequence[Case]) -> None:
    """Refuse a folder whose pictures were drawn with other settings, or of another model.

    Raises:
        InvalidInput: they were.
    """
    file = settings.work / "settings.json"
    names = ("steps", "guidance", "captions", "images", "recipe")
    ours = {name: getattr(settings, name) for name in names}
    if settings.device != "cpu":
        ours["device"] = settings.device
    ours |= settings.inputs.claim(cases)
    if not file.exists():
        file.write_text(json.dumps(ours))
    elif (theirs := json.loads(file.read_text())) != ours:
        raise InvalidInput(
            f"{settings.work} holds pictures drawn with {theirs}, not {ours}; choose another --work"
        )


def _prepare(workshop: Workshop, model: Model, cases: Sequence[Case], rows: Sequence[Row]) -> None:
    """Observe and round weights once, before processes share them."""
    rounded = [row for row in rows if row.method.weight_bits is not None]
    for group in sorted({model.group_of(case.checkpoint_id) for case in cases}):
        if rounded:
            workshop.observations(group)
        for row in rounded:
            workshop.weights(group, row.method)


def _draw_all(
    rows: Sequence[Row], cases: Sequence[Case], settings: _Settings, workers: int
) -> None:
    left = [row for row in rows if not _is_drawn(row, settings)]
    repeated = [(row, twin) for row in left if (twin := _twin(row, rows, settings)) is not None]
    left = [row for row in left if all(row is not other for other, _ in repeated)]
    columns = (TextColumn("drawing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    with (
        Progress(*columns, console=err(), transient=True) as progress,
        ProcessPoolExecutor(workers, context, end_with_parent) as pool,
    ):
        bar = progress.add_task("drawing", total=len(left))
        futures = [pool.submit(_draw, row, cases, settings) for row in left]
        try:
            for future in as_completed(futures):
                future.result()
                progress.advance(bar)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # not the hours that are queued
            raise
    for row, twin in repeated:
        _keep(
            row,
            np.load(settings.work / twin.row_id / "pictures.npy"),
            _told(twin, settings),
            settings,
        )


def end_with_parent() -> None:
    """Let this process end when the one that started it is gone, however that ended."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _twin(row: Row, rows: Sequence[Row], settings: _Settings) -> Row | None:
    """The row whose pictures are this one's: its method stands in another table already."""
    for other in all_rows():
        if other.row_id == row.row_id:
            return None
        same = other.method.but(name="") == row.method.but(name="")
        chosen = any(other.row_id == each.row_id for each in rows)
        if same and (chosen or _is_drawn(other, settings)):
            return other
    return None


def _is_drawn(row: Row, settings: _Settings) -> bool:
    """Whether its pictures are there, drawn by the method as it is now."""
    return (settings.work / row.row_id / "pictures.npy").exists() and (
        _told(row, settings).get("setting") == json.loads(json.dumps(_setting(row.method)))
    )


def _told(row: Row, settings: _Settings) -> dict[str, Any]:
    file = settings.work / row.row_id / "row.json"
    told: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return told


def _draw(row: Row, cases: Sequence[Case], settings: _Settings) -> None:
    """Draw one row's pictures, in a process of its own."""
    import torch

    from personalq.bench.fidelity.generating import generate

    torch.set_num_threads(1)
    model = settings.inputs.load(settings.device)
    workshop = _workshop(settings, model, cases)
    started = time.monotonic()
    pictures = generate(
        model, lambda group: workshop.engine(row.method, group), cases, settings.sampling
    )
    seconds = time.monotonic() - started
    _keep(row, pictures, described_row(row, model, settings.sampling, seconds), settings)


def _keep(row: Row, pictures: Any, described: dict[str, Any], settings: _Settings) -> None:
    """Write a row's pictures and what they are."""
    folder = settings.work / row.row_id
    folder.mkdir(parents=True, exist_ok=True)
    # The pictures last, and through another name: a row counts as drawn once they are there.
    (folder / "pictures.npy").unlink(missing_ok=True)
    (folder / "row.json").write_text(json.dumps(described | _names(row)))
    partial = folder / "pictures.part.npy"
    np.save(partial, pictures)
    partial.replace(folder / "pictures.npy")


def _workshop(settings: _Settings, model: Model, cases: Sequence[Case]) -> Workshop:
    from personalq.bench.fidelity.engines import Workshop

    cache = settings.work / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    nouns = settings.inputs.nouns(cases)
    return Workshop(model, settings.sampling, nouns, cache, count=settings.captions)


def described_row(row: Row, model: Model, sampling: Sampling, seconds: float) -> dict[str, Any]:
    """Return what row.json holds: the method, its bit operations, how long the pictures took."""
    method = row.method
    softmax = method.cross_bits if method.cross_bits == method.self_bits else None
    return _names(row) | {
        "w_bits": method.weight_bits,
        "a_bits": method.input_bits,
        "softmax_bits": softmax,
        "setting": _setting(method),
        "bops": _bops(method, model, sampling),
        "seconds": round(seconds, 1),
        "weights": method.weights,
    }


def _names(row: Row) -> dict[str, Any]:
    """Return how tables call a row; all else is its method's."""
    return {
        "row_id": row.row_id,
        "table": row.table,
        "method": row.method.name,
        "label": row.label,
    }


def _setting(method: Method) -> dict[str, Any]:
    left_out = ("name", "weight_bits")
    return {
        field.name: getattr(method, field.name)
        for field in fields(method)
        if field.name not in left_out
    }


def _bops(method: Method, model: Model, sampling: Sampling) -> float:
    """Return the bit operations of one step of one picture, both halves of guidance."""
    import torch

    from personalq.bench.fidelity.bops import bits_of, count_products

    unet = model.base.empty_unet()
    told = model.states([""] * (2 if sampling.guided else 1)).to(torch.device("meta"))
    latents = (len(told), *model.latent_shape)
    products = count_products(unet, latents, tuple(told.states.shape), **model.conditions(told))
    return products.bops(bits_of(method, unet))


def _study_tokens(model: Model, yard: Yard, settings: _Settings, results: Path) -> None:
    """Round tokens one group after another, in this process."""
    import torch

    from personalq.bench.fidelity.sensitivity import run_study

    torch.set_num_threads(1)
    columns = (TextColumn("tokens"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err(), transient=True) as progress:
        bar = progress.add_task("tokens", total=2 * len(yard.cases))
        run_study(
            model,
            yard,
            settings.sampling,
            settings.work,
            results,
            lambda: progress.advance(bar),
        )


def _report(options: Options, yard: Yard, work: Path) -> dict[str, Any]:
    from personalq.bench.fidelity.report import described_run, report

    chosen = [(name, shlex.quote(str(path))) for name, path in options.inputs.options().items()]
    chosen += [("--table", f'"{name}"') for name in options.tables]
    chosen += [("--width", name) for name in options.widths]
    parts = ["personalq bench fidelity", *(" ".join(pair) for pair in chosen)]
    command = " ".join(parts) + (" --quick" if options.quick else "")
    described = described_run(command, options.steps, options.guidance)
    return report(work, yard, options.results_dir, described)
