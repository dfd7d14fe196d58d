"""A stack that exists for one piece of work: ports and folder of its own, nothing left behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from personalq.sdk.embedded.ports import Ports, free_base
from personalq.sdk.embedded.postgres import data_directory
from personalq.sdk.embedded.process import ChildFailed
from personalq.sdk.embedded.stack import Report, Stack, run_stack

_LOWEST = 20_000  # below the range that systems take outgoing ports from
_STRIDES = 1_000


@asynccontextmanager
async def temporary_stack(
    services: Sequence[str], *, report: Report, settings: Mapping[str, str] | None = None
) -> AsyncIterator[Stack]:
    """Run some services over new, empty servers while the block runs; arguments as in `run_stack`.

    Checkpoints of any base model are accepted, and nothing can be rendered: there is none.
    The logs stay when a program fails.
    """
    folder = Path(tempfile.mkdtemp(prefix="personalq-"))
    # Two stacks that start at the same time begin to look for ports at different places.
    ports = Ports(base=free_base(_LOWEST + os.getpid() % _STRIDES * 10))
    failed = False
    try:
        async with run_stack(
            data=folder,
            ports=ports,
            base_models={},
            report=report,
            settings=settings,
            services=services,
        ) as stack:
            yield stack
    except ChildFailed:
        failed = True
        raise
    finally:
        shutil.rmtree(data_directory(folder), ignore_errors=True)
        if not failed:
            shutil.rmtree(folder, ignore_errors=True)
