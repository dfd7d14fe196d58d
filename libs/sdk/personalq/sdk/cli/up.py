"""`personalq up`: the embedded stack until somebody stops it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from personalq.chassis.errors import InvalidInput, PersonalQError
from personalq.sdk.cli.console import out
from personalq.sdk.cli.failing import Exit, complain
from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.embedded import miniature
from personalq.sdk.embedded.lock import DirectoryInUse
from personalq.sdk.embedded.ports import PortInUse, Ports
from personalq.sdk.embedded.process import ChildFailed
from personalq.sdk.embedded.signals import until_signal
from personalq.sdk.embedded.stack import Stack, run_stack


def run(
    *, port_base: int, data: Path | None, with_miniature: bool, base_models: Sequence[str]
) -> Exit:
    """Serve until SIGINT, SIGTERM or SIGHUP, or until a part fails."""
    work = _serve(
        port_base,
        data or default_data(),
        with_miniature=with_miniature,
        base_models={**miniature.base_models(), **_base_models(base_models)},
    )
    try:
        asyncio.run(until_signal(work))
    except (ChildFailed, PersonalQError) as error:
        complain(str(error))
        return Exit.SERVICE
    except (DirectoryInUse, PortInUse) as error:
        complain(str(error))
        return Exit.BAD_INPUT
    out().print("stopped")
    return Exit.OK


def default_data() -> Path:
    """Where the desktop keeps the data of programs."""
    shared = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(shared) / "personalq"


class _Lines:
    """One line per part, as soon as it answers."""

    def __init__(self) -> None:
        self._console = out()
        self._began: dict[str, float] = {}

    def starting(self, part: str) -> None:
        self._began[part] = time.monotonic()

    def up(self, part: str, address: str) -> None:
        seconds = time.monotonic() - self._began[part]
        self._console.print(f"{part:10} {address:28} {seconds:5.1f} s")


def _base_models(named: Sequence[str]) -> dict[str, str]:
    """ID=FOLDER pairs; raises InvalidInput on anything else."""
    found = {}
    for pair in named:
        name, _, folder = pair.partition("=")
        if not (name and folder and (Path(folder) / "model_index.json").is_file()):
            raise InvalidInput(
                f"--base-model {pair!r}: write ID=FOLDER, the folder in the diffusers layout with "
                "a model_index.json",
                field="base_model",
            )
        found[name] = str(Path(folder).resolve())
    return found


async def _serve(
    port_base: int, data: Path, *, with_miniature: bool, base_models: Mapping[str, str]
) -> None:
    console = out()
    console.print(f"data in {data}")
    async with run_stack(
        data=data,
        ports=Ports(base=port_base),
        base_models=base_models,
        settings=miniature.settings(),
        report=_Lines(),
    ) as stack:
        if with_miniature:
            await stack.during(_publish_miniature(stack))
        console.print("READY")
        await stack.failure()


async def _publish_miniature(stack: Stack) -> None:
    where = stack.endpoints
    async with AsyncPersonalQ(
        checkin=where.checkin, catalog=where.catalog, renderer=where.renderer, nats=where.nats
    ) as client:
        published = await miniature.publish_missing(client)
    if published:
        out().print(
            f"miniature: {len(published)} checkpoints published; `personalq checkpoints list` "
            "shows how far they are"
        )
