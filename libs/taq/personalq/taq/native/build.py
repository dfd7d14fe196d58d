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
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

log = logging.getLogger(__name__)

SOURCES = ("image_attention.cpp", "text_attention.cpp", "codes.cpp", "products.cpp")
HEADERS = ("lanes.h",)
#: what the sources' instructions need, as `torch.cpu.get_capabilities` names it
NEEDED = ("avx512_f", "avx512_bw", "avx512_dq", "avx512_vl", "avx512_vnni", "fma3")
FLAGS = (
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-fopenmp",
    *(f"-mavx512{part}" for part in ("f", "bw", "dq", "vl", "vnni")),
    "-mfma",
)
COMPILE_SECONDS = 120
OTHERS_WRITE = 0o022


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled kernels; None, with a line in the log, where they cannot be had."""
    # An older torch cannot tell.
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    if lacking := [name for name in NEEDED if not capabilities.get(name)]:
        log.info("native kernels are off: this CPU lacks %s", ", ".join(lacking))
        return None
    command = shlex.split(os.environ.get("CXX") or "g++")
    if shutil.which(command[0]) is None:
        log.info(
            "native kernels are off: there is no %s; quantized layers run slower without",
            command[0],
        )
        return None
    try:
        with _folder() as folder:
            return _loaded(command, folder)
    except (OSError, subprocess.SubprocessError) as error:
        detail = getattr(error, "stderr", None) or error
        log.warning("native kernels are off: they could not be built: %s", detail)
        return None


def _loaded(compiler: list[str], folder: Path) -> ctypes.CDLL:
    """Return the shared library of a folder, compiled unless the same sources were before."""
    here = Path(__file__).parent
    version = _run([*compiler, "--version"])
    digest = hashlib.sha256(" ".join((*compiler, version, *platform.libc_ver(), *FLAGS)).encode())
    for name in (*HEADERS, *SOURCES):
        digest.update((here / name).read_bytes())
    file = folder / f"taq-{digest.hexdigest()[:16]}.so"
    if file.exists():
        try:
            return _declared(ctypes.CDLL(str(file)))
        except OSError:
            log.warning("the native kernels kept in %s are damaged; they are built again", folder)
    _build(compiler, here, file)
    return _declared(ctypes.CDLL(str(file)))


def _build(compiler: list[str], sources: Path, file: Path) -> None:
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        objects = [str(Path(folder) / f"{name}.o") for name in SOURCES]
        for name, compiled in zip(SOURCES, objects, strict=True):
            _run([*compiler, *FLAGS, "-c", str(sources / name), "-o", compiled])
        partial = Path(folder) / file.name
        # Without -fopenmp: the threads are torch's own, whose OpenMP is already loaded. A second
        # one would have a second pool of threads for the same cores.
        _run([*compiler, "-shared", *objects, "-o", str(partial)])
        partial.replace(file)


def _run(command: list[str]) -> str:
    finished = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=COMPILE_SECONDS
    )
    return finished.stdout


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder that only this user writes: it stays, unless there is no home to keep it."""
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(home) / "personalq"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.stat()
        is_ours = status.st_uid == os.geteuid() and not status.st_mode & OTHERS_WRITE
    except (OSError, RuntimeError):  # a read-only or missing home
        is_ours = False
    if is_ours and os.access(folder, os.W_OK):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="personalq-") as passing:
        yield Path(passing)


def _declared(built: ctypes.CDLL) -> ctypes.CDLL:
    pointer, number, real, flag = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_int
    sizes = ctypes.POINTER(number)
    attention: list[Any] = [sizes, sizes, real, flag, flag, flag, flag]
    built.taq_image_attention.argtypes = [pointer] * 4 + attention
    built.taq_text_attention.argtypes = [pointer] * 5 + attention
    built.taq_quantize.argtypes = [*[pointer] * 3, number, number, real, real, flag, flag, flag]
    built.taq_product.argtypes = [pointer, flag, *[pointer] * 5, sizes, pointer, flag, flag]
    for name in ("image_attention", "text_attention", "quantize", "product"):
        getattr(built, f"taq_{name}").restype = None
    return built
