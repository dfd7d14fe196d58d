"""Weights of a whole model, read a part at a time, and what they must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from personalq.chassis.errors import CorruptFile, InvalidInput
from personalq.taq.formats.files import is_pickle, read_tensors

OTHER_BASE = "publish the fine-tune with the base model that it was made from"
EARLIER_STATE = "the training diverged; publish an earlier state of it"


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a safetensors file.

    Raises:
        CorruptFile: it is none, or has a tensor of a type that cannot be read.
    """
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except SafetensorError as error:
        raise CorruptFile(
            f"{path.name} is no safetensors file that is read here: {error}"
        ) from error


def read_shapes(files: Sequence[Path]) -> dict[str, tuple[int, ...]]:
    """Return the shape of every tensor in `files`.

    Raises:
        CorruptFile: a file is no safetensors file, or has a type of numbers that is not known.
        UnsupportedFormatError: a pickle holds more than tensors.
    """
    found: dict[str, tuple[int, ...]] = {}
    for path in files:
        if is_pickle(path):
            found |= {k: tuple(t.shape) for k, t in read_tensors(path, mmap=True)[0].items()}
            continue
        with _opened(path) as file:
            for key in file.keys():  # noqa: SIM118 - no mapping
                found[key] = tuple(file.get_slice(key).get_shape())
    return found


def read_weights(files: Sequence[Path], prefix: str | tuple[str, ...] = "") -> dict[str, Tensor]:
    """Return the tensors whose keys begin with `prefix`, under their own keys.

    Raises:
        CorruptFile, UnsupportedFormatError: as `read_shapes`.
    """
    found: dict[str, Tensor] = {}
    for path in files:
        if is_pickle(path):
            tensors, _ = read_tensors(path, mmap=True)
            found |= {key: tensor for key, tensor in tensors.items() if key.startswith(prefix)}
            continue
        with _opened(path) as file:
            for key in file.keys():  # noqa: SIM118 - no mapping
                if key.startswith(prefix):
                    found[key] = file.get_tensor(key)
    return found


def shapes_of(state: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    """Return the shape of every tensor."""
    return {key: tuple(tensor.shape) for key, tensor in state.items()}


def check_shapes(
    found: Mapping[str, tuple[int, ...]], model: Mapping[str, tuple[int, ...]], part: str
) -> None:
    """Refuse weights with other names or shapes than `model`'s.

    Args:
        part: what they are called in the message: "a UNet of <base model>".

    Raises:
        InvalidInput: they are; the message names the first tensor that is.
    """
    if other_names := sorted(model.keys() ^ found.keys()):
        raise InvalidInput(
            f"the weights are not {part}: {len(other_names)} tensors are missing or unknown, among "
            f"them {other_names[0]}; {OTHER_BASE}"
        )
    for key, shape in model.items():
        if found[key] != shape:
            raise InvalidInput(
                f"the weights are not {part}: {key} is {found[key]}, the base's is {shape}; "
                f"{OTHER_BASE}"
            )


def check_finite(name: str, *tensors: Tensor) -> None:
    """Refuse numbers that a diverged training leaves.

    Raises:
        InvalidInput: one of `tensors` has an infinite number or one that is none.
    """
    wide = (t.float() if t.is_floating_point() and t.itemsize == 1 else t for t in tensors)
    if not all(bool(tensor.isfinite().all()) for tensor in wide):  # float8 has no isfinite
        raise InvalidInput(f"{name} holds numbers that are infinite or no numbers: {EARLIER_STATE}")
