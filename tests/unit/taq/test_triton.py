"""Triton's kernels: interpreted on the CPU, compiled for GPUs that are not there, run on one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from torch import nn

from personalq.taq import Range
from personalq.taq.modules import QuantLinear
from personalq.taq.scheme import Scheme
from personalq.taq.triton import Triton

CASES = Path(__file__).with_name("triton_cases.py")
needs_triton = pytest.mark.skipif(
    find_spec("triton") is None, reason="triton, which has wheels for Linux only, is not installed"
)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
#: what multiplies int8 by int8 into int32: Ampere, Ada, Hopper, Blackwell
TENSOR_CORES = {
    80: r"mma\.sync\.\S+\.s32\.s8\.s8\.s32",
    89: r"mma\.sync\.\S+\.s32\.s8\.s8\.s32",
    90: r"wgmma\.mma_async\.\S+\.s32\.s8\.s8",
    100: r"mma\.sync\.\S+\.s32\.s8\.s8\.s32",
}
POINTERS = {
    "x_ptr": "*fp16",
    "factors_ptr": "*fp32",
    "correction_ptr": "*i32",
    "scale_ptr": "*fp32",
    "bias_ptr": "*fp32",
    "y_ptr": "*fp16",
    "inverse_scale": "fp32",
    "offset": "fp32",
    "top": "fp32",
}
WEIGHTS = {8: {"weight_ptr": "*i8"}, 4: {"weight_ptr": "*u8", "zero_point_ptr": "*i8"}}
GEOMETRY = {"taps": 3, "stride": 1, "padding": 1, "dilation": 1}


def _run_cases(**environment: str) -> None:
    """Run the cases in a process of their own."""
    inherited = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CASES)],
        cwd=CASES.parents[3],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout


@needs_triton
def test_interpreted_kernels_equal_the_reference() -> None:
    """Every case holds on the CPU, where triton takes the kernels' lines one by one."""
    _run_cases(TRITON_INTERPRET="1", CUDA_VISIBLE_DEVICES="")


@needs_triton
@needs_gpu
def test_compiled_kernels_equal_the_reference() -> None:
    """Every case holds on the GPU."""
    _run_cases()


@needs_triton
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("capability", TENSOR_CORES)
@pytest.mark.parametrize("name", ["gemm", "conv2d"])
def test_kernels_compile_to_integer_tensor_cores(
    name: str, capability: int, bits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler takes each kernel for each generation, and multiplies int8 as such."""
    import triton
    from triton.backends.compiler import GPUTarget

    from personalq.taq.triton import conv2d, gemm
    from personalq.taq.triton.tiles import CONFIGS

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    kernel = {"gemm": gemm.gemm_kernel, "conv2d": conv2d.conv2d_kernel}[name]
    config = CONFIGS[0]
    fixed = dict(config.kwargs)
    fixed |= {f"{what}_{axis}": n for what, n in GEOMETRY.items() for axis in "yx"}
    typed = POINTERS | WEIGHTS[bits]
    signature, constants = {}, {}
    for index, argument in enumerate(kernel.arg_names):
        if argument in fixed or (argument.endswith("_ptr") and argument not in typed):
            signature[argument] = "constexpr"
            constants[(index,)] = fixed.get(argument)
        else:
            signature[argument] = typed.get(argument, "i32")
    compiled = triton.compile(
        triton.compiler.ASTSource(kernel, signature, constants),
        target=GPUTarget("cuda", capability, 32),
        options={"num_warps": config.num_warps, "num_stages": config.num_stages},
    )
    assert re.search(TENSOR_CORES[capability], compiled.asm["ptx"])


def test_triton_is_imported_when_a_layer_needs_it() -> None:
    """Neither the library nor the kernel's place in the registry imports it."""
    code = "import sys, personalq.taq.triton; print('triton' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_cpus_are_left_to_other_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only an interpreted kernel runs on a CPU."""
    layer = QuantLinear.from_linear(nn.Linear(64, 32), Scheme(8, 8), Range(-1.0, 1.0))
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    assert not Triton().supports(layer, torch.zeros(1, 64))
