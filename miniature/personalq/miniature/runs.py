"""What every training shares: a budget of wall-clock time, a log, and a resumable state."""

from __future__ import annotations

import json
import logging
import math
import time
from pathlib import Path
from typing import Any

import torch

log = logging.getLogger(__name__)


def load_state(file: Path) -> dict[str, Any]:
    """What `Run.save` wrote, its tensors on the CPU."""
    state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    return state


class Run:
    """One training, bounded by `budget` seconds of wall-clock time over all its restarts.

    The learning rate follows the share of the budget that is spent, so a run ends when it
    should however busy the machine is.
    """

    def __init__(self, folder: Path, name: str, budget: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.budget = budget
        self.step = 0
        self._spent_before = 0.0
        self._started = time.monotonic()
        self._log_file = folder / f"{name}.jsonl"
        self._state_file = folder / f"{name}.pt"

    @property
    def seconds(self) -> float:
        """Time spent so far, in this process and in earlier ones."""
        return self._spent_before + time.monotonic() - self._started

    @property
    def progress(self) -> float:
        """Share of the budget that is spent, 0 to 1."""
        return min(1.0, self.seconds / self.budget)

    def rate(self, peak: float, warm_up: int = 200, progress: float | None = None) -> float:
        """Learning rate now: linear warm-up over steps, then cosine to zero over the budget.

        `progress` is given where several workers must agree on it.
        """
        cosine = (1 + math.cos(math.pi * (self.progress if progress is None else progress))) / 2
        return peak * cosine * min(1.0, (self.step + 1) / warm_up)

    def record(self, **values: float) -> None:
        """Append one line to the run's log."""
        row = {"step": self.step, "seconds": round(self.seconds, 1)}
        row |= {key: round(value, 5) for key, value in values.items()}
        with self._log_file.open("a") as file:
            file.write(json.dumps(row) + "\n")
        log.info("%s %s", self.name, row)

    def save(self, **state: Any) -> None:
        """Write the state from which the run can go on, atomically."""
        state |= {"run_step": self.step, "run_seconds": self.seconds}
        partial = self._state_file.with_suffix(".part")
        torch.save(state, partial)
        partial.replace(self._state_file)

    def resume(self) -> dict[str, Any] | None:
        """The state written by `save`, or None for a fresh run."""
        if not self._state_file.exists():
            return None
        state = load_state(self._state_file)
        self.step = state["run_step"]
        self._spent_before = state["run_seconds"]
        self._started = time.monotonic()
        return state
