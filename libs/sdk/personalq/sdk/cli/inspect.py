"""`personalq inspect`: what a checkpoint file is."""

from __future__ import annotations

from pathlib import Path

from personalq.chassis.errors import PersonalQError
from personalq.chassis.inspection import FORMAT_NAMES, Inspection, inspect
from personalq.sdk.cli.console import out, print_json, size
from personalq.sdk.cli.failing import Exit, complain


def run(file: Path, *, as_json: bool) -> Exit:
    """Print what `file` is; BAD_INPUT on one that PersonalQ refuses, with the reason.

    Reads the tensors once, to tell whether they are finite; nothing of the file is kept or run.
    """
    try:
        found = inspect(file, values=True)
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


_KINDS = {"lokr": "LyCORIS LoKr", "loha": "LyCORIS LoHa", "dora": "DoRA", "other": "unknown"}


def _said(text: str, where: str) -> str:
    return f"{text}  (from {where})" if text and where else text


def _fits(found: Inspection) -> str:
    if not found.cross_attention_width:
        return ""
    width = f"a base {found.cross_attention_width} wide"
    family = f", {found.base_family}" if found.base_family else ""
    return f"{width}{family}  (a guess from the shapes)"


def _rank(found: Inspection) -> str:
    """The ranks, with the number of layers where there are several, and the alpha."""
    if not found.rank:
        return ""
    ranks = ", ".join(f"{rank} in {found.ranks[rank]} layers" for rank in sorted(found.ranks))
    shown = ranks if len(found.ranks) > 1 else str(found.rank)
    return f"{shown} (alpha {found.alpha:g})" if found.alpha else f"{shown} (alpha not said)"


def _show(file: Path, found: Inspection) -> None:
    console = out()
    console.print(f"{file}: {FORMAT_NAMES[found.format].split(maxsplit=1)[1]}")
    lines = {
        "base model": _said(found.base_model, found.base_model_from),
        "fits": _fits(found),
        "kind": _KINDS.get(found.adapter, ""),
        "rank": _rank(found),
        "keys": found.key_style,
        "layers": ", ".join(f"{name} {number}" for name, number in found.components.items()),
        "trained": found.trained_at.isoformat(timespec="seconds") if found.trained_at else "",
        "size": size(found.size_bytes),
    }
    for name, value in lines.items():
        if value:
            console.print(f"  {name:10}  {value}")
    for trigger, where in found.trigger_origins.items():
        console.print(f"  {'trigger':10}  {_said(trigger, where)}")
    for note in found.notes:
        console.print(f"  {'note':10}  {note}")
