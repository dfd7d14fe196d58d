"""Whose pictures are drawn and judged: the miniature's, or another model's by its paths."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from personalq.bench.fidelity.prompts import Case, miniature_cases, read_cases
from personalq.bench.fidelity.references import picture_files, read_pictures, subject_references
from personalq.chassis.base_folders import SECOND_PARTS
from personalq.chassis.errors import InvalidInput
from personalq.chassis.verified_files import digest_file
from personalq.miniature.nouns import NOUNS, font_path
from personalq.miniature.places import base_dir, checkpoints_dir

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personalq.bench.fidelity.models import Model
    from personalq.bench.fidelity.scorers import Scorer
    from personalq.bench.fidelity.scoring import World, Yard

_READ_AT_ONCE = 64  # pictures of a world


class Inputs(Protocol):
    """A model with its checkpoints, what is asked of it, and what judges the answers."""

    def cases(self, count: int) -> list[Case]:
        """The first `count` cases, or all where there are fewer."""
        ...

    def nouns(self, cases: Sequence[Case]) -> Sequence[str]:
        """What captions of the calibration set are of."""
        ...

    def load(self, device: str) -> Model:
        """The model, on a device as torch names it."""
        ...

    def check(self, model: Model, cases: Sequence[Case]) -> None:
        """Refuse now what would fail after hours.

        Raises:
            InvalidInput: some of the cases cannot be drawn or judged.
        """
        ...

    def yard(self, model: Model, cases: Sequence[Case], work: Path) -> Yard:
        """What pictures of the cases are measured with; `work` keeps features of real ones."""
        ...

    def claim(self, cases: Sequence[Case]) -> Mapping[str, str]:
        """What pictures and scores are of, by digest; empty for the miniature's."""
        ...

    def options(self) -> Mapping[str, Path]:
        """What the command was given to choose these inputs."""
        ...


class MiniatureInputs:
    """The miniature with its ten checkpoints, its CLIP and its world."""

    def cases(self, count: int) -> list[Case]:
        """See `miniature_cases`."""
        return miniature_cases(count)

    def nouns(self, cases: Sequence[Case]) -> Sequence[str]:
        """All that the miniature knows."""
        return NOUNS

    def load(self, device: str) -> Model:
        """See `Inputs`."""
        from personalq.bench.fidelity.models import Model

        return Model(base_dir(), checkpoints_dir(), device)

    def check(self, model: Model, cases: Sequence[Case]) -> None:
        """The real pictures are drawn with a font.

        Raises:
            InvalidInput: it is not there.
        """
        try:
            font_path()
        except FileNotFoundError as error:
            raise InvalidInput(str(error)) from error

    def yard(self, model: Model, cases: Sequence[Case], work: Path) -> Yard:
        """See `Inputs`."""
        from personalq.bench.fidelity.scorers import MiniatureScorer
        from personalq.bench.fidelity.scoring import miniature_yard

        return miniature_yard(MiniatureScorer(), cases, work)

    def claim(self, cases: Sequence[Case]) -> Mapping[str, str]:
        """See `Inputs`."""
        return {}

    def options(self) -> Mapping[str, Path]:
        """See `Inputs`."""
        return {}


@dataclass(frozen=True, kw_only=True)
class GivenInputs:
    """Another model, by paths that `given_inputs` has looked at."""

    #: A diffusers folder of a Stable Diffusion or SDXL.
    model: Path
    #: One folder per checkpoint id, with `references/` in each; see `Model`.
    checkpoints: Path
    #: JSON Lines; see `read_cases`.
    prompts: Path
    #: A CLIP of transformers; see `HuggingFaceScorer`.
    clip: Path
    #: TorchScript; see `InceptionFeatures`. Fréchet distances are of the CLIP's features without.
    inception: Path | None
    #: A folder of real pictures; no distance to the world without.
    world: Path | None

    def cases(self, count: int) -> list[Case]:
        """The first of the file.

        Raises:
            InvalidInput: see `read_cases`, or there are fewer than 2.
        """
        cases = read_cases(self.prompts)[:count]
        if len(cases) < 2:
            raise InvalidInput(f"{self.prompts} has 1 case: a distance needs at least 2")
        return cases

    def nouns(self, cases: Sequence[Case]) -> Sequence[str]:
        """Those of the cases."""
        return list(dict.fromkeys(case.noun for case in cases))

    def load(self, device: str) -> Model:
        """See `Inputs` and `Model`."""
        from personalq.bench.fidelity.models import Model

        return Model(self.model, self.checkpoints, device)

    def check(self, model: Model, cases: Sequence[Case]) -> None:
        """Checkpoints go with the model and have references; the world has pictures.

        Raises:
            InvalidInput: one does not.
        """
        from personalq.bench.fidelity.checks import check_checkpoint

        for checkpoint_id in _checkpoints(cases):
            check_checkpoint(model, checkpoint_id)
            subject_references(checkpoint_id, self.checkpoints, model.side)
        if self.world is not None and len(picture_files(self.world)) < 2:
            raise InvalidInput(
                f"--world {self.world} has fewer than 2 pictures: a distance needs 2"
            )

    def yard(self, model: Model, cases: Sequence[Case], work: Path) -> Yard:
        """See `Inputs`.

        Raises:
            InvalidInput: CLIP or Inception cannot be loaded.
        """
        from personalq.bench.fidelity.scorers import (
            HuggingFaceScorer,
            InceptionFeatures,
            WithFeatures,
        )
        from personalq.bench.fidelity.scoring import Yard

        device = str(model.base.device)
        scorer: Scorer = HuggingFaceScorer(self.clip, device)
        if self.inception is not None:
            scorer = WithFeatures(scorer, InceptionFeatures(self.inception, device))
        references = partial(subject_references, folder=self.checkpoints, side=model.side)
        world = None if self.world is None else _world_of(self.world, scorer, model.side, work)
        return Yard(scorer, cases, world, references)

    def claim(self, cases: Sequence[Case]) -> Mapping[str, str]:
        """See `Inputs`; of the checkpoints those that are drawn."""
        from personalq.renderer.bases import PARTS

        read = {
            "model": [self.model / part for part in (*PARTS, *SECOND_PARTS, "model_index.json")],
            "checkpoints": [self.checkpoints / name for name in _checkpoints(cases)],
            "prompts": [self.prompts],
            "clip": [self.clip],
            "inception": [self.inception] if self.inception else [],
            "world": [self.world] if self.world else [],
        }
        return {name: _digest(paths) for name, paths in read.items() if paths}

    def options(self) -> Mapping[str, Path]:
        """See `Inputs`."""
        given = {f"--{name}": path for name, path in vars(self).items()}
        return {option: path for option, path in given.items() if path is not None}


def given_inputs(
    *,
    model: Path | None,
    checkpoints: Path | None,
    prompts: Path | None,
    clip: Path | None,
    inception: Path | None,
    world: Path | None,
) -> Inputs:
    """What the command's options choose: another model, or without any the miniature.

    Raises:
        InvalidInput: options that need each other are not all there, or a path leads nowhere.
    """
    needed = {"--model": model, "--checkpoints": checkpoints, "--prompts": prompts, "--clip": clip}
    optional = {"--inception": inception, "--world": world}
    given = {name: path for name, path in (needed | optional).items() if path is not None}
    if not given:
        return MiniatureInputs()
    if model is None or checkpoints is None or prompts is None or clip is None:
        missing = [name for name, path in needed.items() if path is None]
        raise InvalidInput(
            f"{', '.join(given)}: another model needs {', '.join(missing)} too; without all "
            "of these options the miniature is measured"
        )
    for name, path in given.items():
        is_file = name in ("--prompts", "--inception")
        if not (path.is_file() if is_file else path.is_dir()):
            raise InvalidInput(f"{name} {path} is no {'file' if is_file else 'folder'}")
    return GivenInputs(
        model=model,
        checkpoints=checkpoints,
        prompts=prompts,
        clip=clip,
        inception=inception,
        world=world,
    )


def _checkpoints(cases: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.checkpoint_id for case in cases))


def _world_of(folder: Path, scorer: Scorer, side: int, work: Path) -> World:
    """All pictures of a folder, as the model would draw them, whatever the cases."""
    from personalq.bench.fidelity.scoring import World, kept_features

    def computed() -> NDArray[np.float32]:
        files = picture_files(folder)
        starts = range(0, len(files), _READ_AT_ONCE)
        parts = (read_pictures(files[start : start + _READ_AT_ONCE], side) for start in starts)
        return np.concatenate([scorer.features(part) for part in parts])

    file = work / f"world-{scorer.name}.npy"
    return World(f"the folder {folder.name}", lambda _: kept_features(file, computed), None)


def _digest(paths: Sequence[Path]) -> str:
    """Of the files at some paths and below them, with their names there; absent ones count not."""
    files = [
        (path, file)
        for path in paths
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if file.is_file()
    ]
    lines = [f"{digest_file(file)[0]}  {file.relative_to(path.parent)}\n" for path, file in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
