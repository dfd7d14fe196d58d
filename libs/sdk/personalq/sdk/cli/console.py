"""What commands share: where they print, and how."""

from __future__ import annotations

import json
import sys
from dataclasses import fields, is_dataclass
from datetime import datetime

from rich.console import Console

_WIDTH_OF_A_PIPE = 160


def out() -> Console:
    """Standard output; what is printed there is never read as markup."""
    return _console(stderr=False)


def err() -> Console:
    """Standard error, for questions, hints and progress."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return Console(
        file=stream,
        markup=False,
        highlight=False,
        emoji=False,
        width=None if stream.isatty() else _WIDTH_OF_A_PIPE,
    )


def print_json(value: object) -> None:
    """One JSON document on standard output."""
    print(json.dumps(plain(value), ensure_ascii=False, indent=2))


def plain(value: object) -> object:
    """A value as JSON has it: results as objects, times in ISO 8601, bytes left out."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        return plain(named)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if not isinstance(each, bytes)}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.isoformat() if isinstance(value, datetime) else value


def size(n_bytes: int) -> str:
    """Bytes for a person: 1.4 MB."""
    amount = float(n_bytes)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def day(moment: datetime | None) -> str:
    """A date for a person."""
    return moment.date().isoformat() if moment else ""
