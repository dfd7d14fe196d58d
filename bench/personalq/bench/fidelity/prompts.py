"""What is asked of every method: prompts with a trigger, and the same prompts with the noun."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from personalq.chassis.errors import InvalidInput
from personalq.miniature.captions import caption
from personalq.miniature.designs import DESIGNS, Design
from personalq.miniature.scenes import SCENES
from personalq.miniature.styles import STYLES
from personalq.miniature.world import Sight

#: Of the first seed; calibration and training use small ones.
_FIRST_SEED = 1_000_000


@dataclass(frozen=True)
class Case:
    """One picture to make: of which checkpoint, asked how, from which seed."""

    checkpoint_id: str
    #: With the trigger in the noun's place: 'a photo of a <bear-v4> on the beach'.
    prompt: str
    #: The same with the class noun; what a CLIP that knows no triggers is asked.
    plain_prompt: str
    trigger: str
    noun: str
    #: As in `personalq.miniature.scenes` and `.styles`; "" where a file does not say.
    scene: str
    style: str
    #: Of the starting noise.
    seed: int


def miniature_cases(count: int = 500) -> list[Case]:
    """`count` cases of the miniature's 10 checkpoints, the same in every run.

    The checkpoints take turns, so that each has the same number of any prefix, give or take one,
    and a longer list begins with the shorter one. Of a checkpoint's cases half are in scenes it
    was trained in, and a quarter are in a style that is not its own.

    Raises:
        ValueError: `count` is less than 1.
    """
    if count < 1:
        raise ValueError(f"at least one case is needed, not {count}")
    return [
        _miniature_case(DESIGNS[index % len(DESIGNS)], index // len(DESIGNS), _FIRST_SEED + index)
        for index in range(count)
    ]


def _miniature_case(design: Design, turn: int, seed: int) -> Case:
    name = f"fidelity of {design.checkpoint_id}, {turn}"
    rng = Random(name)
    # shifted by one every four turns: all pairs of (trained scene?, own style?) occur
    trained = (turn + turn // 4) % 2 == 0
    scenes = [scene for scene in SCENES if (scene in design.scenes) == trained]
    other_styles = [style for style in STYLES if style != design.style]
    style = rng.choice(other_styles) if turn % 4 == 3 else design.style
    sight = Sight(design.noun, rng.choice(scenes), style)
    return Case(
        checkpoint_id=design.checkpoint_id,
        # the same draws for both, so that they differ in the one word
        prompt=caption(sight, Random(f"{name}: words"), design.trigger),
        plain_prompt=caption(sight, Random(f"{name}: words")),
        trigger=design.trigger,
        noun=design.noun,
        scene=sight.scene,
        style=sight.style,
        seed=seed,
    )


_Word = Annotated[str, Field(min_length=1)]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    checkpoint_id: _Word
    prompt: _Word
    trigger: _Word
    noun: _Word
    plain_prompt: str = ""
    scene: str = ""
    style: str = ""
    seed: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _trigger_is_said(self) -> _Line:
        if self.trigger not in self.prompt:
            raise ValueError(f"the prompt does not say its trigger {self.trigger!r}")
        return self


def read_cases(file: Path) -> list[Case]:
    """The cases of a JSON Lines file, for checkpoints of other models.

    A line must have `checkpoint_id`, `prompt`, `trigger` and `noun`. Without `plain_prompt` the
    noun takes the trigger's place, or stands alone where it follows the trigger as DreamBooth
    writes it; without `seed` it is the line's place among the cases. Unknown fields are ignored.

    Raises:
        InvalidInput: the file cannot be read, is empty, or a line is wrong; names file and line.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}") from error
    # Not `splitlines`: a string may hold the other separators that it splits at.
    lines = [
        _parsed(line, f"{file}:{number}")
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    if not lines:
        raise InvalidInput(f"{file} is empty: one JSON object per line is expected")
    return [_case(line, index) for index, line in enumerate(lines)]


def _case(line: _Line, index: int) -> Case:
    without = line.prompt.replace(f"{line.trigger} {line.noun}", line.noun)
    return Case(
        checkpoint_id=line.checkpoint_id,
        prompt=line.prompt,
        plain_prompt=line.plain_prompt or without.replace(line.trigger, line.noun),
        trigger=line.trigger,
        noun=line.noun,
        scene=line.scene,
        style=line.style,
        seed=index if line.seed is None else line.seed,
    )


def _parsed(line: str, where: str) -> _Line:
    try:
        return _Line.model_validate(json.loads(line))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{where}: {name or 'the line'}: {first['msg']}") from error
    except ValueError as error:
        raise InvalidInput(f"{where}: no JSON object: {error}") from error
