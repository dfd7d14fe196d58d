"""Rows of a work folder: pictures read, scored once, kept beside them.

    <work>/<row-id>/row.json        what was run (`Row`)
    <work>/<row-id>/pictures.npy    uint8 (N, height, width, 3), in the order of the cases
    <work>/<row-id>/scores.json     the figures, resampled as well; written here
    <work>/<row-id>/features.npy    float32 (N, D); written here
    <work>/world-<…>.npy            features of the real pictures; written here
    <work>/cache…/                  no row: what a run keeps of calibration

A score is taken again when the pictures, those of the full precision, the cases or the scorer
are others than when it was taken.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from personalq.bench.fidelity.metrics import (
    Figure,
    Gaussian,
    Pictures,
    draws,
    frechet_figure,
    gaussian,
    mean_figure,
    mse,
    psnr,
)
from personalq.bench.fidelity.prompts import Case
from personalq.bench.fidelity.references import subject_references, world_pictures
from personalq.bench.fidelity.scorers import Scorer
from personalq.chassis.errors import InvalidInput

FULL = "full"
"""The method of the row that all others are compared with."""

_CACHE = "cache"  # begins the names of folders that are no rows
_VERSION = 1  # of how scores are taken; raised with every change of the figures


class Row(BaseModel):
    """`row.json`: what made the pictures."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    row_id: str
    #: "methods", "table4", "protected", "levers", ...
    table: str
    method: str
    #: None where nothing is quantized.
    w_bits: int | None = None
    a_bits: int | None = None
    softmax_bits: int | None = None
    label: str = ""
    #: What is excluded, static or per-step ranges, the protected set, ...
    setting: Mapping[str, object] = Field(default_factory=dict)
    seconds: float | None = None
    weights: str | None = None
    #: Counted by `personalq.bench.fidelity.bops`, where the run did.
    bops: float | None = None


@dataclass(frozen=True)
class Entry:
    """A row and its pictures."""

    row: Row
    folder: Path
    pictures: Pictures


@dataclass(frozen=True)
class Scored:
    """A row with its figures."""

    row: Row
    n_images: int
    #: fd_world, fd_full, clip, clip_i, subject_accuracy, noun_accuracy, psnr, mse; psnr not of the
    #: full precision, fd_world not where no real pictures are known.
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class World:
    """Real pictures."""

    #: What they show, as a report says it.
    of: str
    #: Features (M, D) of those that so many first cases are held against.
    features: Callable[[int], NDArray[np.float32]]
    #: One picture of each of so many first cases, where cases have one.
    one_each: Callable[[int], Pictures] | None


@dataclass(frozen=True)
class Yard:
    """What rows are measured with."""

    scorer: Scorer
    cases: Sequence[Case]
    #: None where no real pictures are known.
    world: World | None
    #: Reference pictures of a checkpoint.
    references: Callable[[str], Pictures]


def miniature_yard(scorer: Scorer, cases: Sequence[Case], work: Path) -> Yard:
    """The miniature's, with the world's features kept in `work`."""

    def features(count: int) -> NDArray[np.float32]:
        key = _digest([asdict(case) for case in cases[:count]])
        file = work / f"world-{scorer.name}-{count}-{key}.npy"
        return kept_features(file, lambda: scorer.features(world_pictures(cases[:count])))

    def one_each(count: int) -> Pictures:
        return world_pictures(cases[:count], 1, draw="real")

    world = World("the same subjects, scenes and styles", features, one_each)
    return Yard(scorer, cases, world, subject_references)


def kept_features(file: Path, compute: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
    """The features (M, D) that a file keeps; computed and written where there is no file."""
    if file.is_file():
        return np.asarray(np.load(file), np.float32)
    features = compute()
    np.save(file, features)
    return features


def read_work(work: Path) -> tuple[list[Entry], list[str]]:
    """The rows that have pictures, and a sentence for each that has not (a run may go on).

    Raises:
        InvalidInput: a `row.json` or `pictures.npy` is not what it should be, a row's id is not
            its folder's name, or there is no row at all.
    """
    entries, missing = [], []
    folders = (path for path in work.glob("*/") if path.is_dir())
    for folder in sorted(path for path in folders if not path.name.startswith(_CACHE)):
        if not (folder / "row.json").is_file():
            missing.append(f"{folder.name}: no row.json")
        elif not (folder / "pictures.npy").is_file():
            missing.append(f"{folder.name}: no pictures.npy")
        else:
            entries.append(_entry(folder))
    if not entries:
        raise InvalidInput(f"{work} has no row with pictures; run the benchmark first")
    return entries, missing


def _entry(folder: Path) -> Entry:
    try:
        row = Row.model_validate_json((folder / "row.json").read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{folder.name}/row.json: {name}: {first['msg']}") from error
    if row.row_id != folder.name:
        raise InvalidInput(f"{folder.name}/row.json: row_id is {row.row_id!r}")
    try:
        pictures = np.load(folder / "pictures.npy", mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{folder.name}/pictures.npy cannot be read: {error}") from error
    if pictures.dtype != np.uint8 or pictures.ndim != 4 or pictures.shape[-1] != 3:
        raise InvalidInput(
            f"{folder.name}/pictures.npy is {pictures.dtype} {pictures.shape}, "
            "uint8 (N, height, width, 3) is expected"
        )
    return Entry(row, folder, pictures)


def full_precision(entries: Sequence[Entry]) -> Entry:
    """The one row of method "full".

    Raises:
        InvalidInput: there is none, or more than one.
    """
    found = [entry for entry in entries if entry.row.method == FULL]
    if len(found) != 1:
        names = ", ".join(entry.row.row_id for entry in found) or "none"
        raise InvalidInput(f"exactly one row must be of method 'full', not: {names}")
    return found[0]


def score(entry: Entry, full: Entry, yard: Yard) -> Scored:
    """The figures of a row, from its `scores.json` if nothing has changed since.

    Raises:
        InvalidInput: the row has more pictures than the full precision has or than there are
            cases, fewer than 2, or pictures of another size.
    """
    count = len(entry.pictures)
    _check_comparable(entry, full, len(yard.cases))
    key = _digest(
        [
            _VERSION,
            _digest_of_pictures(entry.pictures),
            _digest_of_pictures(full.pictures[:count]),
            yard.scorer.name,
            [asdict(case) for case in yard.cases[:count]],
        ]
    )
    file = entry.folder / "scores.json"
    figures = _cached(file, key)
    if figures is None:
        figures = _figures(entry, full, yard)
        kept = {name: asdict(figure) for name, figure in figures.items()}
        file.write_text(json.dumps({"key": key, "figures": kept}) + "\n", encoding="utf-8")
    return Scored(entry.row, count, figures)


def _check_comparable(entry: Entry, full: Entry, cases: int) -> None:
    name, count = entry.row.row_id, len(entry.pictures)
    if count < 2:
        raise InvalidInput(f"{name}: {count} pictures, at least 2 are needed")
    if count > cases:
        raise InvalidInput(f"{name}: {count} pictures of {cases} cases")
    if count > len(full.pictures):
        raise InvalidInput(
            f"{name}: {count} pictures, but the full precision has {len(full.pictures)}"
        )
    if entry.pictures.shape[1:] != full.pictures.shape[1:]:
        raise InvalidInput(
            f"{name}: pictures of {entry.pictures.shape[1:]}, but the full precision's are "
            f"{full.pictures.shape[1:]}"
        )


def _cached(file: Path, key: str) -> dict[str, Figure] | None:
    if not file.is_file():
        return None
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:  # half written when a run was stopped
        return None
    if kept.get("key") != key:
        return None
    return {
        name: Figure(figure["value"], tuple(figure["resampled"]))
        for name, figure in kept["figures"].items()
    }


def _figures(entry: Entry, full: Entry, yard: Yard) -> dict[str, Figure]:
    count = len(entry.pictures)
    cases, drawn = yard.cases[:count], draws(count)
    pictures, originals = np.asarray(entry.pictures), np.asarray(full.pictures[:count])
    features = yard.scorer.features(pictures)
    np.save(entry.folder / "features.npy", features)
    of_full = features if entry.row.method == FULL else yard.scorer.features(originals)
    errors = mse(pictures, originals)
    figures = _alone(pictures, features, cases, yard)
    # the full precision's pictures are drawn together with the row's: the same cases
    figures["fd_full"] = frechet_figure(features, lambda each: gaussian(of_full[each]), drawn)
    figures["mse"] = mean_figure(errors, drawn)
    if entry.row.method != FULL:
        figures["psnr"] = mean_figure(psnr(errors, pictures[0].size), drawn)
    return figures


def real_figures(yard: Yard, pictures: Pictures) -> Mapping[str, Figure]:
    """What one real picture of each case scores: the best that a row can hope for."""
    cases = yard.cases[: len(pictures)]
    return _alone(pictures, yard.scorer.features(pictures), cases, yard)


def _alone(
    pictures: Pictures, features: NDArray[np.float32], cases: Sequence[Case], yard: Yard
) -> dict[str, Figure]:
    """The figures that need no other row."""
    drawn = draws(len(cases))
    embedded = yard.scorer.embed(pictures)
    said = yard.scorer.embed_texts([case.plain_prompt for case in cases])
    clip_i, own = _likeness(embedded, cases, yard)
    recognised = yard.scorer.recognises(pictures, [case.noun for case in cases])
    figures = {
        "clip": mean_figure((embedded * said).sum(axis=1), drawn),
        "clip_i": mean_figure(clip_i, drawn),
        "subject_accuracy": mean_figure(own, drawn),
        "noun_accuracy": mean_figure(recognised, drawn),
    }
    if yard.world is not None:
        reference: Gaussian = gaussian(yard.world.features(len(cases)))
        figures["fd_world"] = frechet_figure(features, lambda _: reference, drawn)
    return figures


def _likeness(
    embedded: NDArray[np.float32], cases: Sequence[Case], yard: Yard
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """CLIP-I (N,) with the own subject's references; whether no other subject's is higher."""
    names = list(dict.fromkeys(case.checkpoint_id for case in cases))
    likeness = np.stack(
        [(embedded @ yard.scorer.embed(yard.references(name)).T).mean(axis=1) for name in names],
        axis=1,
    )  # (N, subjects)
    columns = np.array([names.index(case.checkpoint_id) for case in cases])
    own = np.take_along_axis(likeness, columns[:, None], axis=1)[:, 0]
    return own, likeness.argmax(axis=1) == columns


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _digest_of_pictures(pictures: Pictures) -> str:
    return hashlib.sha256(np.ascontiguousarray(pictures).data).hexdigest()[:16]
