"""The C++ kernels: compiled once per machine with its own compiler, then kept."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch

log = logging.getLogger(__name__)

SOURCES = ("image_attention.cpp", "text_attention.cpp", "codes.cpp", "products.cpp", "packing.cpp")
HEADERS = ("lanes.h", "lanes_avx512.h", "lanes_avx2.h", "errors.h", "attention.h", "blocks.h")
FLAGS = ("-std=c++17", "-O3", "-fPIC", "-fopenmp")


class Target(NamedTuple):
    """A kind of CPU that the sources are compiled for."""

    name: str
    needed: tuple[str, ...]  # instructions, as `torch.cpu.get_capabilities` names them
    flags: tuple[str, ...]


_AVX512 = ("f", "bw", "dq", "vl", "vnni")
#: the preferred first
TARGETS = (
    Target(
        "AVX-512 VNNI",
        (*(f"avx512_{part}" for part in _AVX512), "fma3"),
        (*(f"-mavx512{part}" for part in _AVX512), "-mfma"),
    ),
    Target("AVX2", ("avx2", "fma3"), ("-mavx2", "-mfma")),
)
#: what a kernel returns (`Status` in errors.h)
NO_MEMORY = 1
COMPILE_SECONDS = 120
SEAL_BYTES = 32  # sha256
OTHERS_WRITE = 0o022


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled kernels; None, with a line in the log, where they cannot be had."""
    target = target_here()
    if target is None:
        log.info(
            "native kernels are off: this CPU has neither %s", " nor ".join(t.name for t in TARGETS)
        )
        return None
    command = shlex.split(os.environ.get("CXX") or "g++")
    if shutil.which(command[0]) is None:
        log.info(
            "native kernels are off: there is no %s; quantized layers run slower without",
            command[0],
        )
        return None
    failure: Exception | None = None
    for place in (_kept_folder, _passing_folder):
        try:
            with place() as folder:
                if folder is not None:
                    built = _loaded(command, target, folder)
                    log.info("native kernels use %s", target.name)
                    return built
        except (OSError, subprocess.SubprocessError) as error:  # a full disk, or a broken compiler
            failure = error
    detail = getattr(failure, "stderr", None) or failure
    log.warning("native kernels are off: they could not be built: %s", detail)
    return None


def target_here() -> Target | None:
    """Return the preferred target whose instructions this CPU has."""
    return next(filter(is_here, TARGETS), None)


def is_here(target: Target) -> bool:
    """Tell whether this CPU has the instructions; an older torch cannot."""
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return all(capabilities.get(name) for name in target.needed)


def _loaded(compiler: list[str], target: Target, folder: Path) -> ctypes.CDLL:
    """Return the shared library of a folder, compiled unless the same sources were before."""
    here = Path(__file__).parent
    version = _run([*compiler, "--version"])
    made_by = (*compiler, version, *platform.libc_ver(), *FLAGS, *target.flags)
    digest = hashlib.sha256(" ".join(made_by).encode())
    for name in (*HEADERS, *SOURCES):
        digest.update((here / name).read_bytes())
    file = folder / f"taq-{digest.hexdigest()[:16]}.so"
    if file.exists():
        with suppress(OSError):
            if _is_whole(file):
                return _declared(ctypes.CDLL(str(file)))
        log.warning("the native kernels kept in %s are damaged; they are built again", folder)
    _build(compiler, target, here, file)
    return _declared(ctypes.CDLL(str(file)))


def _build(compiler: list[str], target: Target, sources: Path, file: Path) -> None:
    """Compile `sources` to `file`, which is there as a whole or not at all.

    Several processes may do so at once: each puts its own in the place of the last.
    """
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        objects = [str(Path(folder) / f"{name}.o") for name in SOURCES]
        for name, compiled in zip(SOURCES, objects, strict=True):
            flags = (*FLAGS, *target.flags)
            _run([*compiler, *flags, "-c", str(sources / name), "-o", compiled])
        partial = Path(folder) / file.name
        # Without -fopenmp: the threads are torch's own, whose OpenMP is already loaded. A second
        # one would have a second pool of threads for the same cores.
        _run([*compiler, "-shared", *objects, "-o", str(partial)])
        with partial.open("r+b") as built:
            seal = hashlib.sha256(built.read()).digest()
            built.write(seal)
        partial.replace(file)


def _is_whole(file: Path) -> bool:
    """Tell whether a library ends with the sum of what precedes: a shortened one, loaded, kills."""
    content = file.read_bytes()
    return hashlib.sha256(content[:-SEAL_BYTES]).digest() == content[-SEAL_BYTES:]


def _run(command: list[str]) -> str:
    finished = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=COMPILE_SECONDS
    )
    return finished.stdout


@contextmanager
def _kept_folder() -> Iterator[Path | None]:
    """Yield the folder that stays and that only this user writes; None if there is none."""
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(home) / "personalq"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.stat()
        is_ours = status.st_uid == os.geteuid() and not status.st_mode & OTHERS_WRITE
    except (OSError, RuntimeError):  # a read-only or missing home
        is_ours = False
    yield folder if is_ours and os.access(folder, os.W_OK) else None


@contextmanager
def _passing_folder() -> Iterator[Path]:
    """Yield a folder for this process: what it has loaded stays when the folder goes."""
    with tempfile.TemporaryDirectory(prefix="personalq-") as folder:
        yield Path(folder)


def _declared(built: ctypes.CDLL) -> ctypes.CDLL:
    pointer, number, real, flag = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_int
    sizes = ctypes.POINTER(number)
    attention: list[Any] = [sizes, sizes, real, flag, flag, flag, flag]
    built.taq_image_attention.argtypes = [pointer] * 4 + attention
    built.taq_text_attention.argtypes = [pointer] * 5 + attention
    built.taq_quantize.argtypes = [*[pointer] * 3, number, number, real, real, flag, flag, flag]
    built.taq_quantize_rows.argtypes = [*[pointer] * 4, number, number, flag, flag, flag]
    built.taq_product.argtypes = [pointer, flag, *[pointer] * 6, sizes, pointer, flag, flag]
    built.taq_pack.argtypes = [pointer, flag, sizes, pointer, pointer, flag]
    for name in (
        "image_attention",
        "text_attention",
        "quantize",
        "quantize_rows",
        "product",
        "pack",
    ):
        function = getattr(built, f"taq_{name}")
        function.restype, function.errcheck = ctypes.c_int, _raised
    return built


def _raised(status: int, function: Any, arguments: tuple[Any, ...]) -> None:
    """Raise what a kernel reports, whose own exceptions must not reach its caller."""
    if status == NO_MEMORY:
        raise MemoryError(f"{function.__name__} lacks memory for tensors of these sizes.")
    if status:
        raise RuntimeError(f"{function.__name__} failed.")
