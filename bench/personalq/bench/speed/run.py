"""`personalq bench speed`: every contender in a process of its own, asked in turn."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from personalq.bench.speed.contenders import CONTENDERS, Contender
from personalq.bench.speed.report import markdown, table
from personalq.bench.speed.unets import BATCH, NARROW, SD15
from personalq.bench.speed.worker import serve
from personalq.chassis.errors import InvalidInput
from personalq.sdk.cli.console import err, out
from personalq.sdk.cli.failing import Exit

QUICK_ROUNDS = 2
PRECISE = "diffusers fp32"  # what the others' noise is compared with
_BUILD_SECONDS = 900
_STEP_SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to measure, and where the results go."""

    device: str
    threads: int
    #: Steps of each contender; the least and the median count.
    rounds: int
    results_dir: Path | None
    quick: bool
    as_json: bool


class Failed(Exception):
    """A contender could not be made or executed."""


def run(options: Options) -> Exit:
    """Measure, print, write."""
    if options.device == "cuda" and not torch.cuda.is_available():
        raise InvalidInput("--device cuda: torch sees no GPU here")
    if options.rounds < 1 or options.threads < 1:
        raise InvalidInput("--rounds and --threads must be at least 1")
    config = NARROW if options.quick else SD15
    rounds = QUICK_ROUNDS if options.quick else options.rounds
    chosen = [c for c in CONTENDERS if options.device in c.devices]
    left_out = {c.name: f"{c.needs} is not installed" for c in chosen if not _installed(c.needs)}
    chosen = [c for c in chosen if c.name not in left_out]
    failed: dict[str, str] = {}
    with _started(chosen, config, options, failed) as processes:
        rows = _measured(processes, rounds, failed)
    result: dict[str, Any] = {
        "device": _device(options.device),
        "threads": options.threads if options.device == "cpu" else None,
        "torch": torch.__version__,
        "unet": "SD1.5" if config is SD15 else "narrow SD1.5",
        "pixels": 8 * config["sample_size"],
        "batch": BATCH,
        "rounds": rounds,
        "contenders": rows,
        "left_out": left_out | failed,
    }
    if options.results_dir is not None:
        name = f"speed-{options.device}"
        options.results_dir.mkdir(parents=True, exist_ok=True)
        (options.results_dir / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        (options.results_dir / f"{name}.md").write_text(markdown(result))
    out().print(table(rows))
    for name, why in result["left_out"].items():
        err().print(f"{name}: left out, {why}")
    if options.as_json:
        out().print_json(json.dumps(result), indent=None)
    return Exit.SERVICE if failed else Exit.OK


def _installed(distribution: str) -> bool:
    if not distribution:
        return True
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


@contextmanager
def _started(
    chosen: Sequence[Contender], config: dict[str, Any], options: Options, failed: dict[str, str]
) -> Iterator[dict[str, Connection]]:
    """Make one contender after the other, and end their processes afterwards."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    context = multiprocessing.get_context("spawn")
    processes, connections = [], {}
    try:
        for contender in chosen:
            err().print(f"making {contender.name} ...")
            ours, theirs = context.Pipe()
            arguments = (contender.name, config, options.device, options.threads, theirs)
            process = context.Process(target=serve, args=arguments, daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
            try:
                _answer(ours, _BUILD_SECONDS)
                connections[contender.name] = ours
            except Failed as error:
                failed[contender.name] = str(error)
                process.terminate()  # what still runs would disturb the others
        yield connections
    finally:
        for connection in connections.values():
            with suppress(OSError):  # it has ended already
                connection.send(None)
        for process in processes:
            process.join(timeout=10)
            if process.is_alive():
                process.terminate()


def _measured(
    processes: dict[str, Connection], rounds: int, failed: dict[str, str]
) -> list[dict[str, Any]]:
    """Ask every contender for one step in turn, so that what disturbs one disturbs all."""
    seconds: dict[str, list[float]] = {name: [] for name in processes}
    found: dict[str, dict[str, Any]] = {name: {} for name in processes}
    for number in range(rounds):
        err().print(f"round {number + 1} of {rounds} ...")
        for name, connection in processes.items():
            if name not in failed:
                _try(failed, name, lambda c=connection, n=name: seconds[n].append(_ask(c, "time")))
    for action in ("kinds", "memory", "noise", "facts"):
        for name, connection in processes.items():
            if name not in failed:
                _try(
                    failed,
                    name,
                    lambda c=connection, n=name, a=action: found[n].update({a: _ask(c, a)}),
                )
    names = [name for name in processes if name not in failed]
    precise = found[PRECISE]["noise"] if PRECISE in names else None
    return [_row(name, seconds[name], found[name], precise) for name in names]


def _row(
    name: str, seconds: list[float], found: dict[str, Any], precise: np.ndarray[Any, Any] | None
) -> dict[str, Any]:
    held, peak = found["memory"]
    difference = None
    if precise is not None:
        gap = np.linalg.norm(found["noise"] - precise) / np.linalg.norm(precise)
        difference = round(float(gap), 4)
    covers = next(c.covers for c in CONTENDERS if c.name == name)
    return {
        "name": name,
        "covers": covers,
        "seconds": round(min(seconds), 4),
        "median_seconds": round(median(seconds), 4),
        "by_kind": {kind: round(value, 4) for kind, value in found["kinds"].items()},
        "weight_bytes": held,
        "peak_bytes": peak,
        "difference": difference,
        **found["facts"],
    }


def _try(failed: dict[str, str], name: str, act: Any) -> None:
    try:
        act()
    except Failed as error:
        failed[name] = str(error)


def _ask(connection: Connection, action: str) -> Any:
    connection.send(action)
    return _answer(connection, _STEP_SECONDS)


def _answer(connection: Connection, within: float) -> Any:
    try:
        if not connection.poll(within):
            raise Failed(f"no answer within {within} s")
        fine, value = connection.recv()
    except (EOFError, OSError) as error:
        raise Failed("its process ended, perhaps for want of memory") from error
    if not fine:
        raise Failed(value)
    return value


def _device(device: str) -> str:
    if device == "cuda":
        return torch.cuda.get_device_name()
    capabilities = torch.cpu.get_capabilities()
    known = [name for name in ("avx512_vnni", "avx512_bf16", "amx_int8") if capabilities.get(name)]
    return f"{capabilities.get('cpu_name', platform.machine())} ({', '.join(known)})"
