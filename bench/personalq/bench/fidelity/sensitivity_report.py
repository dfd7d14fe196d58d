"""How much each token's precision matters (paper, equation 1, figures 2 and 5): JSON and plots.

    python -m personalq.bench.fidelity.sensitivity_report MEASURED [--out FOLDER] [--name NAME]

The measured file: {"prompts": [{"prompt", "tokens", "groups": [{"label", "kind", "positions",
"bits", "mse", "latent_mse", "clip_drop", "clip_i_drop"}]}]}. A group is a word, the trigger, the
first token and so on, whose rows of K and V alone were quantized. How far the picture moved from
the full precision's: `mse` (squared grey levels), `latent_mse` (of the final latents),
`clip_drop` and `clip_i_drop` (cosines, to the caption and to the subject's references).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from personalq.bench.fidelity.metrics import Figure, difference, draws, mean_figure
from personalq.bench.fidelity.plots import draw_tokens
from personalq.chassis.errors import InvalidInput

Kind = Literal["trigger", "noun", "bos", "end", "padding", "one padding", "word", "all words"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_TRIGGER: Kind = "trigger"
_MEASURES = ("mse", "latent_mse", "clip_drop", "clip_i_drop")


class Group(BaseModel):
    """Tokens that were quantized together, alone of all, and what that did."""

    model_config = ConfigDict(frozen=True)

    label: str
    kind: Kind
    positions: Annotated[tuple[int, ...], Field(min_length=1)]
    bits: Annotated[int, Field(ge=1)]
    mse: FiniteFloat
    latent_mse: FiniteFloat
    clip_drop: FiniteFloat
    clip_i_drop: FiniteFloat


class Prompt(BaseModel):
    """A prompt and what each of its groups did."""

    model_config = ConfigDict(frozen=True)

    prompt: str
    tokens: tuple[str, ...]
    groups: Annotated[tuple[Group, ...], Field(min_length=1)]


class _Measured(BaseModel):
    prompts: Annotated[tuple[Prompt, ...], Field(min_length=1)]


def read_measured(file: Path) -> tuple[Prompt, ...]:
    """The prompts of a measured file.

    Raises:
        InvalidInput: it cannot be read or is not as the module says; names the field.
    """
    try:
        return _Measured.model_validate_json(file.read_bytes()).prompts
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{file}: {name or 'the file'}: {first['msg']}") from error


def write_sensitivity(
    prompts: Sequence[Prompt], out: Path, shown: int = 0, name: str = "sensitivity"
) -> dict[str, Any]:
    """Write sensitivity.json and sensitivity.png; returns what the JSON holds.

    Args:
        prompts: see `read_measured`.
        out: folder of the results.
        shown: which prompt the plot shows token by token.
        name: of the two files.
    """
    widths = sorted({group.bits for prompt in prompts for group in prompt.groups})
    kinds = [row for bits in widths for row in _kinds(prompts, bits)]
    summary = {
        "prompts": len(prompts),
        "kinds": kinds,
        "by_trigger": _by_trigger(prompts, widths),
        "example": prompts[shown].model_dump(mode="json"),
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(
        json.dumps(summary, indent=2, allow_nan=False) + "\n", encoding="utf-8"
    )
    # the fewest bits: there the tokens differ most
    groups = [group for group in prompts[shown].groups if group.bits == widths[0]]
    fewest = [row for row in kinds if row["bits"] == widths[0]]
    draw_tokens(
        prompts[shown].prompt,
        [(group.label, group.kind, group.mse, group.clip_drop) for group in groups],
        fewest,
        out / f"{name}.png",
    )
    return summary


def _by_trigger(prompts: Sequence[Prompt], widths: Sequence[int]) -> dict[str, Any]:
    """The same for prompts whose trigger is one token, and for those where it is several.

    Only one token is a fair match for a word: the error grows with the number of tokens.
    """
    lengths = [
        {len(group.positions) for group in prompt.groups if group.kind == _TRIGGER}
        for prompt in prompts
    ]
    parts = {
        "one token": [p for p, n in zip(prompts, lengths, strict=True) if n == {1}],
        "several tokens": [p for p, n in zip(prompts, lengths, strict=True) if n and 1 not in n],
    }
    return {
        name: [row for bits in widths for row in _kinds(part, bits)] for name, part in parts.items()
    }


def _kinds(prompts: Sequence[Prompt], bits: int) -> list[dict[str, Any]]:
    """Per kind: means over prompts, intervals, and the trigger's paired excess over it."""
    rows = []
    for kind in KINDS:
        means = {
            i: values
            for i, prompt in enumerate(prompts)
            if (values := _means(prompt, kind, bits)) is not None
        }
        if not means:
            continue
        row: dict[str, Any] = {
            "kind": kind,
            "bits": bits,
            "prompts": len(means),
            "tokens": _tokens(prompts, kind, bits),
        }
        for column, measure in enumerate(_MEASURES):
            figure = _figure([each[column] for each in means.values()])
            row[measure] = {"mean": figure.value, "interval": list(figure.interval)}
            if kind != _TRIGGER:
                row[measure]["trigger_less_this"] = _excess(prompts, means, column, bits)
        rows.append(row)
    return rows


def _tokens(prompts: Sequence[Prompt], kind: Kind, bits: int) -> float:
    """How many tokens a group of a kind has on average."""
    groups = [group for prompt in prompts for group in prompt.groups]
    return float(np.mean([len(g.positions) for g in groups if (g.kind, g.bits) == (kind, bits)]))


def _means(prompt: Prompt, kind: Kind, bits: int) -> tuple[float, ...] | None:
    """Mean of each measure over a prompt's groups of a kind: every prompt weighs the same."""
    groups = [group for group in prompt.groups if group.kind == kind and group.bits == bits]
    if not groups:
        return None
    return tuple(
        float(np.mean([getattr(group, measure) for group in groups])) for measure in _MEASURES
    )


def _excess(
    prompts: Sequence[Prompt], means: dict[int, tuple[float, ...]], column: int, bits: int
) -> dict[str, Any] | None:
    """By how much quantizing the trigger hurts more, over the prompts that have both."""
    pairs = [
        (trigger[column], values[column])
        for i, values in means.items()
        if (trigger := _means(prompts[i], _TRIGGER, bits)) is not None
    ]
    if not pairs:
        return None
    gap = difference(_figure([a for a, _ in pairs]), _figure([b for _, b in pairs]))
    return {"value": gap.value, "interval": [gap.low, gap.high]}


def _figure(values: Sequence[float]) -> Figure:
    return mean_figure(np.array(values), draws(len(values)))


def main() -> None:
    """Report a measured file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measured", type=Path)
    parser.add_argument("--out", type=Path, default=Path("bench/results/fidelity"))
    parser.add_argument("--name", default="sensitivity", help="of the two files")
    parser.add_argument("--shown", type=int, default=0, help="which prompt to show by token")
    options = parser.parse_args()
    prompts = read_measured(options.measured)
    if not 0 <= options.shown < len(prompts):
        parser.error(f"--shown is 0 to {len(prompts) - 1}")
    for row in write_sensitivity(prompts, options.out, options.shown, options.name)["kinds"]:
        print(f"{row['bits']} bits {row['kind']:8s} mse {row['mse']['mean']:.2f}")


if __name__ == "__main__":
    main()
