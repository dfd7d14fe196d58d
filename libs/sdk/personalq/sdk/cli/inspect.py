"""`personalq inspect`: what a checkpoint file is."""

from __future__ import annotations

from pathlib import Path

from personalq.chassis.errors import PersonalQError
from personalq.chassis.inspection import FORMAT_NAMES, Inspection, inspect
from personalq.sdk.cli.console import out, print_json, size
from personalq.sdk.cli.failing import Exit, complain


def run(file: Path, *, as_json: bool) -> Exit:
    """Print what `file` is; BAD_INPUT on one that PersonalQ refuses, with the reason."""
    try:
        found = inspect(file)
    except PersonalQError as error:
        if as_json:
            print_json({"file": str(file), "problems": [str(error)]})
        complain(str(error))
        return Exit.BAD_INPUT
    if as_json:
        print_json({"file": str(file), **found.to_json()})
    else:
        _show(file, found)
    for problem in found.problems:
        complain(problem)
    return Exit.BAD_INPUT if found.problems else Exit.OK


def _show(file: Path, found: Inspection) -> None:
    console = out()
    console.print(f"{file}: {FORMAT_NAMES[found.format].split(maxsplit=1)[1]}")
    width = f"{found.cross_attention_width} wide" if found.cross_attention_width else ""
    lines = {
        "base model": found.base_model,
        "fits": ", ".join(part for part in (found.base_family, width) if part),
        "rank": f"{found.rank} (alpha {found.alpha or found.rank:g})" if found.rank else "",
        "keys": found.key_style,
        "layers": ", ".join(f"{name} {number}" for name, number in found.components.items()),
        "triggers": ", ".join(found.trigger_candidates),
        "trained": found.trained_at.isoformat(timespec="seconds") if found.trained_at else "",
        "size": size(found.size_bytes),
    }
    for name, value in lines.items():
        if value:
            console.print(f"  {name:10}  {value}")
    for note in found.notes:
        console.print(f"  {'note':10}  {note}")
