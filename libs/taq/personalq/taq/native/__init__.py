"""Kernels in C++ for CPUs with AVX-512 VNNI or AVX2; elsewhere everything runs on torch's own."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import torch
from torch import Tensor

from personalq.taq.native.build import library
from personalq.taq.quantizers import code_limits

FLOATS = (torch.float32, torch.bfloat16)
MAX_KEYS = 1 << 16  # 255 · 127 · keys must fit int32
CODE_BITS = range(2, 9)  # codes are bytes


def supports(x: Tensor) -> bool:
    """Tell whether these kernels can read `x`."""
    return x.device.type == "cpu" and x.dtype in FLOATS and library() is not None


def multiplies_bytes() -> bool:
    """Tell whether products are of bytes (VNNI), not of 16-bit integers at half the speed."""
    return _constant(_library(), "taq_code_bytes") == 1


def supports_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    row_bits: int,
    probability_bits: int,
) -> bool:
    """Tell whether these kernels can compute attention of Q, K, V (B, heads, rows, d).

    They read memory by the shapes of Q and K alone, so whatever does not fit is left to torch,
    which says what is wrong with it.
    """
    tensors = (q, k, v)
    batch, _, keys, _ = k.shape
    return (
        all(bits in CODE_BITS for bits in (row_bits, probability_bits))
        and len({(t.dtype, t.device, *t.shape[:2], t.shape[-1]) for t in tensors}) == 1
        and k.shape == v.shape
        and all(t.stride(-1) == 1 for t in tensors)
        and 0 < keys <= MAX_KEYS
        and q.numel() > 0
        and (mask is None or _fits(mask, (batch, keys), q.device))
        and supports(q)
    )


def _fits(mask: Tensor, shape: tuple[int, int], device: torch.device) -> bool:
    return mask.dtype == torch.bool and tuple(mask.shape) == shape and mask.device == device


def attend_image(
    q: Tensor, k: Tensor, v: Tensor, *, scale: float, row_bits: int, probability_bits: int
) -> Tensor:
    """Return Q(A) Q(V) (B, heads, N, d) of unrounded Q, K, V: `equations.attend_image`."""
    out = _like_rows(q)
    _library().taq_image_attention(
        *_pointers(q, k, v, out),
        *_geometry(q, k, v, out),
        scale,
        *_last_codes(row_bits, probability_bits),
        *_kind(q),
        torch.get_num_threads(),
    )
    return out


def attend_text(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    *,
    scale: float,
    row_bits: int,
    probability_bits: int,
) -> Tensor:
    """Return Ã Ṽ (B, heads, N, d) of unrounded Q, of K̃ and Ṽ: `equations.attend_text`."""
    out = _like_rows(q)
    kept = None if mask is None else mask.contiguous()
    _library().taq_text_attention(
        *_pointers(q, k, v, out),
        None if kept is None else kept.data_ptr(),
        *_geometry(q, k, v, out),
        scale,
        *_last_codes(row_bits, probability_bits),
        *_kind(q),
        torch.get_num_threads(),
    )
    return out


def quantize(
    x: Tensor, factors: Tensor | None, *, scale: float, zero_point: int, bits: int
) -> Tensor:
    """Return clip(round(x · f / s) + z, 0, 2^b − 1), uint8, ties upwards, laid out as `x`.

    Args:
        x: contiguous, or with four dimensions channels last.
        factors: float32 (channels), one for each value of the innermost dimension.
    """
    width = _width(x)
    codes = torch.empty_like(x, dtype=torch.uint8)
    _library().taq_quantize(
        x.data_ptr(),
        None if factors is None else factors.data_ptr(),
        codes.data_ptr(),
        x.numel() // max(width, 1),
        width,
        1.0 / scale,
        zero_point + 0.5,
        2**bits - 1,
        *_kind(x),
        torch.get_num_threads(),
    )
    return codes


def quantize_rows(x: Tensor, factors: Tensor | None, *, bits: int) -> tuple[Tensor, Tensor]:
    """Return codes floor(x · f / s + 2^(b−1) + ½), uint8, and s = max |x · f| / (2^(b−1) − 1).

    Args:
        x: (…, in), contiguous.
        factors: float32 (in).

    Returns:
        Codes (…, in) and one scale for each row, float32 (…, 1).
    """
    codes = torch.empty_like(x, dtype=torch.uint8)
    scale = torch.empty((*x.shape[:-1], 1), dtype=torch.float32)
    _library().taq_quantize_rows(
        x.data_ptr(),
        None if factors is None else factors.data_ptr(),
        *_pointers(codes, scale),
        scale.numel(),
        x.shape[-1],
        2 ** (bits - 1) - 1,
        *_kind(x),
        torch.get_num_threads(),
    )
    return codes, scale


def supports_quantize(x: Tensor, factors: Tensor | None) -> bool:
    """Tell whether `quantize` takes these; `factors` in the shape that broadcasts against `x`."""
    is_dense = x.is_contiguous() or _is_channels_last(x)
    return is_dense and (factors is None or _runs_innermost(factors, x)) and supports(x)


class Packed(NamedTuple):
    """A weight as `product` reads it: blocks of some output channels, as many as fit the CPU."""

    codes: Tensor  # (blocks, taps · in, columns) int8, or of 4 bits two codes per byte, uint8
    zero_point: Tensor | None  # int8 (blocks · columns), of 4 bits only
    sums: Tensor  # int32 (out): Σ(w_q − z_w) over an output channel


def pack(codes: Tensor, zero_point: Tensor | None, shape: tuple[int, int, int]) -> Packed:
    """Return a weight's codes, as `packing.pack` stores them, in the order of the products.

    Args:
        codes: int8, or with a zero point two 4-bit codes per byte, uint8.
        zero_point: int8 (out).
        shape: of the weight: out, in and taps.

    Raises:
        ValueError: `in` is no multiple of 4, the codes are not those of `shape`, or a tensor is of
            another dtype or not on the CPU.
    """
    rows, width, taps = shape
    if width % 4:
        raise ValueError(f"{width} input channels are no multiple of 4.")
    bits = 8 if zero_point is None else 4
    _check("codes", codes, torch.int8 if zero_point is None else torch.uint8)
    if codes.nbytes != rows * width * taps * bits // 8:
        raise ValueError(f"{codes.nbytes} bytes are no weight of {shape} in {bits} bits.")
    if zero_point is not None:
        _check("zero points", zero_point, torch.int8)
        if zero_point.shape != (rows,):
            raise ValueError(f"Zero points {tuple(zero_point.shape)} for {rows} outputs.")
    built = _library()
    columns = _constant(built, "taq_columns")
    more = -rows % columns
    packed = codes.new_empty((rows + more) // columns, width * taps, columns * bits // 8)
    sums = torch.empty(rows, dtype=torch.int32)
    plain = codes.contiguous()
    built.taq_pack(
        plain.data_ptr(),
        bits,
        (ctypes.c_int64 * 3)(*shape),
        *_pointers(packed, sums),
        torch.get_num_threads(),
    )
    if zero_point is None:
        return Packed(packed, None, sums)
    sums -= zero_point.int() * (width * taps)
    return Packed(packed, torch.nn.functional.pad(zero_point, (0, more)), sums)


def product(
    codes: Tensor,
    zero_point: int,
    packed: Packed,
    scale: Tensor,
    bias: Tensor,
    *,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    dtype: torch.dtype,
    row_scale: Tensor | None = None,
) -> Tensor:
    """Return Σ (x_q − z_x)(w_q − z_w) · scale + bias, (B, out, H', W') channels last.

    Args:
        codes: x_q, uint8 (B, in, H, W), channels last; what pads it is z_x.
        scale: of input and weight together, float32 (out).
        bias: float32 (out).
        dtype: of the result, one of `FLOATS`.
        row_scale: float32, one for each pixel of the result, which it is multiplied by before the
            bias is added.

    Raises:
        ValueError: the codes have another number of channels than the weight or are smaller than
            the kernel, or a tensor is of another shape or dtype or not on the CPU.
    """
    _check("codes", codes, torch.uint8)
    _check("scales", scale, torch.float32)
    _check("biases", bias, torch.float32)
    batch, channels, *size = codes.shape
    rows = len(packed.sums)
    if channels * kernel[0] * kernel[1] != packed.codes.shape[1]:
        raise ValueError(f"The input has {channels} channels, the weight another number.")
    if not len(scale) == len(bias) == rows:
        raise ValueError(f"{len(scale)} scales and {len(bias)} biases for {rows} outputs.")
    reach = [step * (side - 1) + 1 for step, side in zip(dilation, kernel, strict=True)]
    if any(side + 2 * pad < span for side, pad, span in zip(size, padding, reach, strict=True)):
        raise ValueError(f"The input {size}, padded by {padding}, is smaller than {reach}.")
    out_size = [
        (side + 2 * pad - span) // step + 1
        for side, pad, span, step in zip(size, padding, reach, stride, strict=True)
    ]
    out = torch.empty((batch, rows, *out_size), dtype=dtype, memory_format=torch.channels_last)
    if row_scale is not None:
        _check("scales of rows", row_scale, torch.float32)
        if row_scale.shape != (batch * out_size[0] * out_size[1],):
            raise ValueError(f"Scales {tuple(row_scale.shape)} of rows for {batch} × {out_size}.")
    geometry = (batch, *size, channels, *out_size, rows, *kernel, *stride, *padding, *dilation)
    shift = packed.sums * zero_point
    built = _library()
    if _constant(built, "taq_code_bytes") == torch.int16.itemsize:
        codes = codes.to(torch.int16)
    built.taq_product(
        codes.data_ptr(),
        zero_point,
        packed.codes.data_ptr(),
        None if packed.zero_point is None else packed.zero_point.data_ptr(),
        *_pointers(shift, scale, bias),
        None if row_scale is None else row_scale.data_ptr(),
        (ctypes.c_int64 * len(geometry))(*geometry),
        out.data_ptr(),
        int(dtype == torch.bfloat16),
        torch.get_num_threads(),
    )
    return out


def _library() -> ctypes.CDLL:
    built = library()
    if built is None:
        raise RuntimeError("There are no native kernels here; ask `supports` first.")
    return built


def _constant(built: ctypes.CDLL, name: str) -> int:
    return ctypes.c_int.in_dll(built, name).value


def _check(name: str, tensor: Tensor, dtype: torch.dtype) -> None:
    """Refuse memory that the kernels cannot read."""
    if tensor.device.type != "cpu" or tensor.dtype != dtype:
        raise ValueError(f"The {name} are {tensor.dtype} on {tensor.device}, not {dtype} on cpu.")


def _is_channels_last(x: Tensor) -> bool:
    """Tell whether channels lie innermost and nothing else could."""
    return (
        x.ndim == 4 and x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous()
    )


def _innermost(x: Tensor) -> int:
    """Return the innermost dimension in memory, counted from the last."""
    return -3 if _is_channels_last(x) else -1


def _width(x: Tensor) -> int:
    return x.shape[_innermost(x)]


def _runs_innermost(factors: Tensor, x: Tensor) -> bool:
    """Tell whether there is a factor for each value of the innermost dimension of `x`."""
    dim = _innermost(x)
    return (
        factors.ndim >= -dim
        and factors.shape[dim] == factors.numel() == x.shape[dim]
        and factors.dtype == torch.float32
        and factors.device == x.device
    )


def _like_rows(q: Tensor) -> Tensor:
    """Return an empty (B, heads, N, d) whose heads lie side by side, as the next layer reads."""
    batch, heads, rows, width = q.shape
    return torch.empty(batch, rows, heads, width, dtype=q.dtype).transpose(1, 2)


def _pointers(*tensors: Tensor) -> list[int]:
    return [tensor.data_ptr() for tensor in tensors]


def _last_codes(row_bits: int, probability_bits: int) -> tuple[int, int]:
    """Return the last code of Q, K and V, and that of the probabilities."""
    return (
        code_limits(row_bits, symmetric=True)[1],
        code_limits(probability_bits, symmetric=False)[1],
    )


def _geometry(q: Tensor, k: Tensor, v: Tensor, out: Tensor) -> tuple[Any, Any]:
    shape = (*q.shape[:3], k.shape[2], q.shape[3])
    strides = [t.stride(dim) for t in (q, k, v, out) for dim in range(3)]
    return (ctypes.c_int64 * 5)(*shape), (ctypes.c_int64 * 12)(*strides)


def _kind(x: Tensor) -> tuple[int]:
    return (int(x.dtype == torch.bfloat16),)
