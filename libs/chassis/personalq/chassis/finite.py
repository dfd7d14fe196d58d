"""Whether a file's numbers are numbers: by their exponents, without decoding one.

A floating number whose exponent has all bits set is infinite or no number. Bytes are compared
all at once, so that gigabytes take seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from personalq.chassis.safetensors_header import Header, TensorEntry

READ_BYTES = 1 << 22  # a multiple of every element's size

#: Element type → (bytes of an element, [(offset, bits that the exponent has in that byte)]).
_EXPONENTS: Mapping[str, tuple[int, Sequence[tuple[int, int]]]] = {
    "F16": (2, [(1, 0x7C)]),
    "BF16": (2, [(1, 0x7F), (0, 0x80)]),
    "F32": (4, [(3, 0x7F), (2, 0x80)]),
    "F64": (8, [(7, 0x7F), (6, 0xF0)]),
}
_ALL_SET = {
    bits: bytes(255 if byte & bits == bits else 0 for byte in range(256))
    for bits in (0x7C, 0x7F, 0x80, 0xF0)
}


def not_finite(header: Header) -> Sequence[str]:
    """Keys of the tensors with an infinite number or one that is none.

    Reads every floating tensor of the file once, a few megabytes at a time; other element types
    are not looked at.
    """
    with header.path.open("rb") as file:
        found = []
        for key, entry in header.tensors.items():
            if entry.dtype not in _EXPONENTS:
                continue
            file.seek(entry.begin)
            if any(_has_full_exponent(file.read(size), entry.dtype) for size in _pieces(entry)):
                found.append(key)
        return found


def _pieces(entry: TensorEntry) -> Sequence[int]:
    size = entry.end - entry.begin
    return [min(READ_BYTES, size - start) for start in range(0, size, READ_BYTES)]


def _has_full_exponent(data: bytes, dtype: str) -> bool:
    step, marks = _EXPONENTS[dtype]
    full = -1
    for offset, bits in marks:
        full &= int.from_bytes(data[offset::step].translate(_ALL_SET[bits]), "big")
    return full != 0
