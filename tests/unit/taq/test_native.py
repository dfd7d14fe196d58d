"""The C++ kernels compute what the equations say; without them everything still runs."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import Tensor
from unit.taq.models import (
    assert_similar,
    inputs,
    predict,
    ranges_of,
    relative_error,
    tiny_unet,
)

from personalq.taq import (
    PROFILES,
    Factors,
    Lora,
    attach_lora_,
    detach_lora_,
    layer_shapes,
    native,
    prepare_,
    quantize_,
)
from personalq.taq.equations import attend_image, attend_text
from personalq.taq.kernels import quantize_input, use_kernel
from personalq.taq.kernels.codes import quantize_rows
from personalq.taq.native import build
from personalq.taq.packing import pack
from personalq.taq.scheme import InputGrid, RowGrids

SOURCES = Path(build.__file__).parent
FLIPS = 1e-2  # a sum taken in another order may round a value at a tie to the next code

NOT_HERE = "neither AVX-512 VNNI nor AVX2, or no g++ here"

native_only = pytest.mark.skipif(build.library() is None, reason=NOT_HERE)


@pytest.fixture(params=build.TARGETS, ids=lambda target: target.name)
def target(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[build.Target]:
    """Each kind of CPU that this one can be, with the kernels compiled for it."""
    if not build.is_here(request.param) or shutil.which("g++") is None:
        pytest.skip(f"no {request.param.name} or no g++ here")
    monkeypatch.setattr(build, "TARGETS", (request.param,))
    build.library.cache_clear()
    yield request.param
    build.library.cache_clear()


on_each_target = pytest.mark.usefixtures("target")


def _random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _heads(rows: int, width: int, *, seed: int) -> Tensor:
    """(2, 3, rows, width), heads side by side as a projection writes them."""
    return _random(2, rows, 3, width, seed=seed).transpose(1, 2)


@on_each_target
@pytest.mark.parametrize(("queries", "keys", "width"), [(64, 64, 40), (33, 70, 8), (1, 130, 100)])
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_self_attention(queries: int, keys: int, width: int, bits: int, dtype: torch.dtype) -> None:
    """Rows, keys and widths that no block divides; V by channel."""
    q, k, v = (
        _heads(rows, width, seed=seed).to(dtype) for seed, rows in enumerate((queries, keys, keys))
    )
    k[:, :, 0] *= 8  # rows of different reach
    assert native.supports_attention(q, k, v, row_bits=bits, probability_bits=bits)

    def result() -> Tensor:
        return attend_image(q, k, v, scale=0.2, row_bits=bits, probability_bits=bits)

    computed = result()
    with use_kernel("reference"):
        # The reference rounds to the short type more than once on its way.
        q, k, v = q.float(), k.float(), v.float()
        expected = result()
    assert computed.dtype == dtype
    assert_similar(computed.float(), expected, within=FLIPS * (1 if bits == 8 else 8))


@on_each_target
@pytest.mark.parametrize(("queries", "tokens", "width"), [(64, 77, 40), (6, 5, 8), (3, 154, 160)])
@pytest.mark.parametrize("protects", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_cross_attention(
    queries: int, tokens: int, width: int, protects: bool, dtype: torch.dtype
) -> None:
    """Protected columns of A are exact, the others rounded, at bits where it shows."""
    q, k, v = (
        _heads(rows, width, seed=seed).to(dtype)
        for seed, rows in enumerate((queries, tokens, tokens))
    )
    mask = _random(2, tokens, seed=3) > 0.5 if protects else None

    def result() -> Tensor:
        return attend_text(q, k, v, mask, scale=0.2, row_bits=4, probability_bits=3)

    computed = result()
    with use_kernel("reference"):
        q, k, v = q.float(), k.float(), v.float()
        expected = result()
        mask = None if protects else torch.ones(2, tokens, dtype=torch.bool)
        other = result()
    assert computed.dtype == dtype
    error = relative_error(computed.float(), expected)
    assert error <= FLIPS * (1 if dtype == torch.float32 else 4)
    assert relative_error(computed.float(), other) > 2 * error  # the mask matters at these bits


@on_each_target
def test_extreme_values() -> None:
    """Silent rows and scores hundreds apart: finite, and as the reference computes them."""
    q, k, v = _heads(16, 32, seed=0), _heads(80, 32, seed=1), _heads(80, 32, seed=2)
    q[:, :, 0], k[:, :, 1], v[..., 3] = 0.0, 0.0, 0.0
    q[:, :, 1] *= 1e4

    def result() -> Tensor:
        return attend_image(q, k, v, scale=0.2, row_bits=8, probability_bits=8)

    computed = result()
    with use_kernel("reference"):
        assert_similar(computed, result(), within=FLIPS)


@on_each_target
@pytest.mark.parametrize("broken", ["q", "k", "v"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_broken_stays_broken(broken: str, value: float) -> None:
    """A damaged weight must not give a plausible picture."""
    tensors = {name: _heads(20, 24, seed=i) for i, name in enumerate("qkv")}
    tensors[broken][0, 1, 3, 5] = value
    q, k, v = tensors.values()
    for computed in (
        attend_image(q, k, v, scale=0.2, row_bits=8, probability_bits=8),
        attend_text(q, k, v, None, scale=0.2, row_bits=8, probability_bits=8),
    ):
        assert not computed[0, 1, 3].isfinite().all()
        assert computed[1].isfinite().all()


@native_only
def test_what_does_not_fit_is_left_to_torch() -> None:
    """The kernels read memory by shapes; nothing they cannot read reaches them."""
    q, k, v = _heads(16, 8, seed=0), _heads(20, 8, seed=1), _heads(20, 8, seed=2)
    mask = torch.zeros(2, 20, dtype=torch.bool)
    fine = {"row_bits": 8, "probability_bits": 8}
    assert native.supports_attention(q, k, v, mask, **fine)
    assert not native.supports_attention(q, k[:1], v[:1], mask, **fine)
    assert not native.supports_attention(q, k, v[:, :, :4], mask, **fine)
    assert not native.supports_attention(q, k, v, mask[:1], **fine)
    assert not native.supports_attention(q, k, v, mask.int(), **fine)
    assert not native.supports_attention(q, k.to("meta"), v.to("meta"), mask, **fine)
    assert not native.supports_attention(q, k, v, mask, row_bits=8, probability_bits=12)
    with pytest.raises(RuntimeError):
        attend_image(q, k[:1], v[:1], scale=0.2, row_bits=8, probability_bits=8)


@on_each_target
@pytest.mark.parametrize("dtype", native.FLOATS)
@pytest.mark.parametrize(("channels", "rows", "kernel"), [(4, 1, 1), (36, 50, 3), (1280, 17, 2)])
def test_products_are_exact(channels: int, rows: int, kernel: int, dtype: torch.dtype) -> None:
    """Of 8 bits: the largest codes and integers, which saturate 16 bits, and any others."""
    generator = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 256, (3, channels, 5, 4), generator=generator).byte()
    weight = torch.randint(-127, 128, (rows, channels, kernel, kernel), generator=generator).char()
    codes[0], codes[1, :, 2:], weight[0], weight[rows // 2] = 255, 0, 127, -127
    packed = native.pack(weight, None, (rows, channels, kernel**2))
    _compare_product(codes, packed, weight, dtype)


@on_each_target
@pytest.mark.parametrize("dtype", native.FLOATS)
@pytest.mark.parametrize(("channels", "rows", "kernel"), [(4, 1, 1), (36, 50, 3), (1280, 17, 2)])
def test_products_of_four_bits_are_exact(
    channels: int, rows: int, kernel: int, dtype: torch.dtype
) -> None:
    """Integers reach from -15 to 15, by the zero points of their rows."""
    generator = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 256, (3, channels, 5, 4), generator=generator).byte()
    weight = torch.randint(0, 16, (rows, channels, kernel, kernel), generator=generator).char()
    zero_point = torch.randint(0, 16, (rows,), generator=generator).char()
    codes[0], weight[0], zero_point[0] = 255, 15, 0
    weight[rows // 2], zero_point[rows // 2] = 0, 15
    packed = native.pack(pack(weight, 4), zero_point, (rows, channels, kernel**2))
    _compare_product(codes, packed, weight - zero_point.view(-1, 1, 1, 1), dtype)


def _compare_product(
    codes: Tensor, packed: native.Packed, integers: Tensor, dtype: torch.dtype
) -> None:
    """Compare a product with padding and a zero point to the one in float64, which is exact."""
    rows, zero_point = len(integers), 7
    last = codes.contiguous(memory_format=torch.channels_last)
    computed = native.product(
        last,
        zero_point,
        packed,
        torch.ones(rows),
        torch.zeros(rows),
        kernel=(integers.shape[2], integers.shape[3]),
        stride=(1, 1),
        padding=(1, 1),
        dilation=(1, 1),
        dtype=dtype,
    )
    expected = torch.conv2d(codes.double() - zero_point, integers.double(), padding=1)
    assert torch.equal(computed, expected.float().to(dtype))


@on_each_target
@pytest.mark.parametrize("keys", [64, 4099])
def test_sums_of_the_largest_probabilities_are_exact(keys: int) -> None:
    """Even attention: every probability has the last code, and so has every value of V."""
    q, k, v = _heads(5, 40, seed=0), _heads(keys, 40, seed=1), torch.full((2, 3, keys, 40), -3.0)
    k *= 0
    computed = attend_image(q, k, v, scale=0.2, row_bits=8, probability_bits=8)
    torch.testing.assert_close(computed, v[:, :, :5], rtol=1e-5, atol=0)


@pytest.mark.parametrize("factors", [None, torch.linspace(0.5, 2, 36)])
@pytest.mark.parametrize("layout", ["rows", "image", "channels last"])
@pytest.mark.parametrize("width", [3, 36])
def test_codes(factors: Tensor | None, layout: str, width: int) -> None:
    """The codes of a layer's input, whatever its layout; those beyond the range are clipped.

    Also where an image is as wide as it has channels, and factors could pass for those of either.
    """
    x = _random(2, 36, 5, width) * 2
    spread = None if factors is None else factors.view(1, -1, 1, 1)
    if layout == "rows":
        x, spread = x.flatten(2).transpose(1, 2).contiguous(), factors
    elif layout == "channels last":
        x = x.contiguous(memory_format=torch.channels_last)
    grid = InputGrid(0.013, 101, 8, spread)
    computed = quantize_input(x, grid)
    with use_kernel("reference"):
        expected = quantize_input(x, grid)
    assert computed.shape == x.shape
    assert (computed.int() - expected.int()).abs().max() <= 1
    assert (computed != expected).float().mean() < 0.01
    assert computed.min() == 0
    assert computed.max() == 255


@pytest.mark.parametrize("channels_last", [True, False])
def test_codes_of_four_dimensional_rows(channels_last: bool) -> None:
    """Factors of a Linear belong to the last dimension, however its input lies in memory."""
    x = _random(2, 36, 5, 36)
    if channels_last:
        x = x.contiguous(memory_format=torch.channels_last)
    grid = InputGrid(0.013, 101, 8, torch.linspace(0.5, 2, 36))
    computed = quantize_input(x, grid)
    with use_kernel("reference"):
        assert (computed.int() - quantize_input(x, grid).int()).abs().max() <= 1


@on_each_target
@pytest.mark.parametrize("dtype", native.FLOATS)
@pytest.mark.parametrize("factors", [None, torch.linspace(0.5, 2, 37)])
def test_codes_of_rows(factors: Tensor | None, dtype: torch.dtype) -> None:
    """Each row reaches its largest magnitude, multiplied by the factors, whatever the width."""
    x = (_random(2, 9, 37) * torch.logspace(-3, 3, 9).view(1, -1, 1)).to(dtype)
    grids = RowGrids(128, 8, factors)
    codes, scale = quantize_rows(x, grids)
    with use_kernel("reference"):
        expected, expected_scale = quantize_rows(x, grids)
    torch.testing.assert_close(scale, expected_scale)
    assert (codes.int() - expected.int()).abs().max() <= 1
    assert (codes != expected).float().mean() < 0.01
    assert bool((((codes == 1) | (codes == 255)).any(-1)).all())


@on_each_target
def test_scales_of_rows_belong_to_the_pixels_of_the_result() -> None:
    """Of a strided convolution too; as many as there are."""
    codes = torch.randint(0, 256, (2, 8, 5, 4)).byte().contiguous(memory_format=torch.channels_last)
    weight = torch.randint(-127, 128, (6, 8, 1, 1)).char()
    packed = native.pack(weight, None, (6, 8, 1))
    geometry = {"kernel": (1, 1), "stride": (2, 1), "padding": (0, 0), "dilation": (1, 1)}
    scale, bias, by_row = torch.rand(6), torch.rand(6), torch.rand(2 * 3 * 4)

    def computed(row_scale: Tensor | None) -> Tensor:
        return native.product(
            codes, 3, packed, scale, bias, dtype=torch.float32, row_scale=row_scale, **geometry
        )

    plain = computed(None) - bias.view(1, -1, 1, 1)
    expected = plain * by_row.view(2, 1, 3, 4) + bias.view(1, -1, 1, 1)
    torch.testing.assert_close(computed(by_row), expected, rtol=1e-5, atol=1e-2)
    for wrong in (by_row[:-1], by_row.double()):
        with pytest.raises(ValueError, match="cales"):
            computed(wrong)


@on_each_target
def test_factors_are_read_where_they_are() -> None:
    """Rows and images channels last are for the kernels; factors elsewhere would be a crash."""
    x, factors = _random(2, 36, 5, 36), torch.ones(36)
    assert native.supports_quantize(x, factors)
    assert not native.supports_quantize(x, factors.to("meta"))
    assert not native.supports_quantize(x, factors.double())
    assert not native.supports_quantize(x, factors.view(1, -1, 1, 1))
    last = x.contiguous(memory_format=torch.channels_last)
    assert native.supports_quantize(last, factors.view(1, -1, 1, 1))


def test_they_are_there_where_they_can_be() -> None:
    """Where CPU and compiler are, code that does not compile is an error and no skipped test."""
    if not any(map(build.is_here, build.TARGETS)) or shutil.which("g++") is None:
        pytest.skip(NOT_HERE)
    assert build.library() is not None


@pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("g++") is None, reason="no g++ for x86-64 here"
)
@pytest.mark.parametrize("source", build.SOURCES)
@pytest.mark.parametrize("kind", build.TARGETS, ids=lambda kind: kind.name)
def test_they_compile_for_every_cpu(kind: build.Target, source: str, tmp_path: Path) -> None:
    """Also for those that this one is not."""
    flags = (*build.FLAGS, "-O0", *kind.flags)
    out = tmp_path / "compiled.o"
    subprocess.run(["g++", *flags, "-c", SOURCES / source, "-o", out], check=True)


@pytest.mark.parametrize("lacks", range(len(build.TARGETS) + 1))
def test_the_best_instructions_of_the_cpu_are_chosen(
    lacks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A CPU that has the instructions of a kind has those of the kinds behind it."""
    has = {name: True for kind in build.TARGETS[lacks:] for name in kind.needed}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has)
    chosen = None if lacks == len(build.TARGETS) else build.TARGETS[lacks]
    assert build.target_here() == chosen


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library as the linker writes it."""
    folder = tmp_path_factory.mktemp("built")
    target = build.target_here()
    assert target is not None
    build._loaded(["g++"], target, folder)
    (file,) = folder.glob("*.so")
    linked = folder / "linked"
    linked.write_bytes(file.read_bytes()[: -build.SEAL_BYTES])
    return linked


@pytest.fixture
def compiler(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes a compiler that links at once what was built, after a line of its own."""

    def made(line: str) -> Path:
        file = tmp_path / "compiler"
        file.write_text(
            "#!/bin/sh\n"
            'case "$*" in *--version*) echo 1; exit;; *-shared*) linked=1;; esac\n'
            "for output; do :; done\n"
            f'{line}\n[ -n "$linked" ] && cp {built} "$output" || touch "$output"\n'
        )
        file.chmod(0o700)
        monkeypatch.setenv("CXX", str(file))
        build.library.cache_clear()
        return file

    return made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where libraries are kept; who asks for one afterwards gets the real one again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield tmp_path / "personalq"
    build.library.cache_clear()


@native_only
def test_the_library_is_kept_only_where_it_is_safe(
    tmp_path: Path, compiler: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the user's cache, nowhere else."""

    def kept(home: Path) -> list[Path]:
        monkeypatch.setenv("XDG_CACHE_HOME", str(home))
        build.library.cache_clear()
        assert build.library() is not None
        return list((home / "personalq").glob("*"))

    compiler("")
    shared = tmp_path / "shared"
    (shared / "personalq").mkdir(parents=True)
    (shared / "personalq").chmod(0o777)
    try:
        assert len(kept(tmp_path / "own")) == 1
        assert not kept(shared)
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setattr(Path, "home", _no_home)
        build.library.cache_clear()
        assert build.library() is not None
    finally:
        monkeypatch.undo()
        build.library.cache_clear()


@native_only
def test_a_damaged_library_is_built_again(home: Path, compiler: Callable[[str], Path]) -> None:
    """Cut off anywhere, or with a byte that is another: it is not loaded, which could kill."""
    compiler("")
    build.library()
    (file,) = home.iterdir()
    whole = file.read_bytes()
    other = bytearray(whole)
    other[len(whole) // 2] ^= 1
    for damaged in (b"", whole[:-1], whole[: len(whole) // 2], bytes(other)):
        file.unlink()  # a loaded library must not change
        file.write_bytes(damaged)
        assert not build._is_whole(file)
        build.library.cache_clear()
        assert build.library() is not None
        assert file.read_bytes() == whole


@native_only
def test_processes_that_build_at_once_load_whole_libraries(
    home: Path, compiler: Callable[[str], Path]
) -> None:
    """Whenever one looks there is a whole library, and nothing else is left behind."""
    command = [str(compiler("sleep 0.1; head -c 5000 /dev/zero > $output; sleep 0.1"))]
    home.mkdir()
    target = build.target_here()
    assert target is not None
    assert build._loaded(command, target, home).taq_product
    (file,) = home.iterdir()
    with ThreadPoolExecutor(3) as pool:
        builds = [pool.submit(build._build, command, target, SOURCES, file) for _ in range(3)]
        while not all(each.done() for each in builds):
            assert build._is_whole(file)
    for each in builds:
        each.result()
    assert build._loaded(command, target, home).taq_product
    assert list(home.iterdir()) == [file]


@native_only
@pytest.mark.parametrize(
    "line",
    [
        'case "$output" in {home}*) echo No space left on device >&2; exit 1;; esac',
        'case "$output" in {home}*) head -c 5000 {built} > "$output"; kill -9 $$;; esac',
    ],
    ids=["full disk", "killed"],
)
def test_what_cannot_be_built_in_the_cache_is_built_elsewhere(
    line: str, home: Path, built: Path, compiler: Callable[[str], Path]
) -> None:
    """A cache without room, a compiler that is killed half way: nothing of it stays."""
    compiler(line.format(home=home, built=built))
    assert build.library() is not None
    assert not list(home.iterdir())


@native_only
def test_a_compiler_that_breaks_off_unsaid(
    home: Path, built: Path, compiler: Callable[[str], Path], caplog: pytest.LogCaptureFixture
) -> None:
    """It claims success: what it left cannot be loaded, now or later, and is built again."""
    compiler(f'[ -n "$linked" ] && head -c 40 {built} > "$output" && exit')
    with caplog.at_level("INFO"):
        assert build.library() is None
    assert "could not be built" in caplog.text
    compiler("")
    assert build.library() is not None


@on_each_target
def test_memory_that_is_not_there_is_an_error() -> None:
    """Sizes beyond any memory, in and outside of the kernels' threads: Python hears of it."""
    library = native._library()
    nothing, strides = ctypes.c_void_p(), (ctypes.c_int64 * 12)()

    def attention(*sizes: int) -> None:
        shape = (ctypes.c_int64 * 5)(*sizes)
        for name, kept in (("image", []), ("text", [nothing])):
            attend = getattr(library, f"taq_{name}_attention")
            with pytest.raises(MemoryError, match=f"taq_{name}_attention lacks memory"):
                attend(*[nothing] * 4, *kept, shape, strides, 1.0, 127, 255, 0, 2)

    attention(2**30, 2**30, 1, 1, 1)  # heads
    attention(1, 1, 1, 2**40, 1)  # keys
    attention(1, 2, 1, 2**29, 2**29)  # numbers of one head, which a thread packs

    zero_point, rest = ctypes.create_string_buffer(32), [nothing] * 4

    def product(*, channels: int, kernel: int) -> None:
        sizes = (1, 1, 1, channels, 1, 1, 32, kernel, 1, 1, 1, 0, 0, 1, 1)
        with pytest.raises(MemoryError, match="taq_product lacks memory"):
            library.taq_product(
                nothing, 0, nothing, zero_point, *rest, (ctypes.c_int64 * 15)(*sizes), nothing, 0, 2
            )

    product(channels=2**62, kernel=1)  # what pads the image
    product(channels=4, kernel=2**52)  # the unpacked weight of a thread
    with pytest.raises(MemoryError, match="taq_pack lacks memory"):
        library.taq_pack(nothing, 4, (ctypes.c_int64 * 3)(32, 4, 2**52), nothing, nothing, 2)


@on_each_target
def test_a_weight_of_another_size_is_not_packed() -> None:
    """The kernels read memory by the shape alone."""
    with pytest.raises(ValueError, match="no weight of"):
        native.pack(torch.zeros(32, 8, dtype=torch.int8), None, (32, 8, 9))
    with pytest.raises(ValueError, match="no multiple of 4"):
        native.pack(torch.zeros(32, 6, dtype=torch.int8), None, (32, 6, 1))
    codes, zero_point = torch.zeros(32, 4, dtype=torch.uint8), torch.zeros(32, dtype=torch.int8)
    native.pack(codes, zero_point, (32, 8, 1))
    for other in (
        (codes.to("meta"), zero_point),
        (codes.char(), zero_point),
        (codes, zero_point.to("meta")),
        (codes, zero_point.int()),
        (codes, zero_point[:31]),
    ):
        with pytest.raises(ValueError, match=r"not torch\.\w+ on cpu|Zero points"):
            native.pack(*other, (32, 8, 1))


def _no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize("missing", ["compiler", "instructions", "broken compiler"])
def test_without_them_everything_runs(
    missing: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A machine without g++, or with another CPU, computes the same, and the log says why."""
    unet = tiny_unet()
    quantize_(unet, PROFILES["w4a8"], ranges_of(unet))
    expected = predict(unet, inputs())
    if missing == "compiler":
        monkeypatch.setenv("CXX", "no-such-compiler")
    elif missing == "instructions":
        monkeypatch.setattr(torch.cpu, "get_capabilities", dict)
    else:
        monkeypatch.setenv("CXX", "false --really")
    build.library.cache_clear()
    try:
        with caplog.at_level("INFO"):
            assert build.library() is None
        assert "native kernels are off" in caplog.text
        assert_similar(predict(unet, inputs()), expected, within=0.05)
    finally:
        monkeypatch.undo()
        build.library.cache_clear()


def test_a_prepared_unet_carries_loras() -> None:
    """Packed for the CPU, with a branch, and after it was taken off: as before."""
    unet = tiny_unet()
    quantize_(unet, PROFILES["w4a8"], ranges_of(unet))
    x = inputs()
    name = next(n for n, m in unet.named_modules() if n.endswith("attn1.to_q"))
    rows, width = layer_shapes(unet)[name]
    lora = Lora(
        unet={name: Factors(_random(4, width), _random(rows, 4, seed=1), 0.5)},
        text_encoder={},
        embeddings={},
    )
    plain = predict(unet, x)
    attach_lora_(unet, lora)
    expected = predict(unet, x)
    detach_lora_(unet)
    assert prepare_(prepare_(unet, x[0]), x[0]) is unet
    assert_similar(predict(unet, x), plain, within=FLIPS)  # images lie channels last from here on
    attach_lora_(unet, lora)
    assert_similar(predict(unet, x), expected, within=FLIPS)
    assert (expected - plain).abs().max() > 0.01
    detach_lora_(unet)
    assert_similar(predict(unet, x), plain, within=FLIPS)
