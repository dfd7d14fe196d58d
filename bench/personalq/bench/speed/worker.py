"""A process that holds one contender and does what it is asked."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


def serve(name: str, config: dict[str, Any], device: str, threads: int, asked: Connection) -> None:
    """Make the contender `name`, then answer "time", "kinds", "memory" and "noise" until None.

    An answer is (True, value) or (False, what went wrong).
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # the others share the cores
    import torch
    from diffusers.utils.logging import set_verbosity_error

    from personalq.bench.speed.contenders import CONTENDERS
    from personalq.bench.speed.measuring import (
        held_bytes,
        peak_bytes,
        seconds_by_kind,
        step,
        timed,
    )

    set_verbosity_error()  # it would remark on casting and on what torchao offers
    torch.set_num_threads(threads)
    try:
        contender = next(c for c in CONTENDERS if c.name == name)
        ready = contender.prepare(config, device)
        timed(ready)  # warm: kernels are chosen, weights packed
        actions: dict[str, Callable[[], Any]] = {
            "facts": lambda: dict(ready.facts),
            "time": lambda: timed(ready),
            "kinds": lambda: seconds_by_kind(ready),
            "memory": lambda: (held_bytes(ready.unet), peak_bytes(ready)),
            "noise": lambda: step(ready).float().cpu().numpy(),
        }
        asked.send((True, None))
        while (action := asked.recv()) is not None:
            asked.send((True, actions[action]()))
    except Exception as error:
        asked.send((False, f"{type(error).__name__}: {error}"))
