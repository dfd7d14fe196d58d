"""What a PyTorch file (`.bin`, `.pt`, `.ckpt`) holds, without torch and without running any of it.

Such a file is a zip archive with a pickle and the raw storages that it refers to. A pickle is a
program: this one may call three functions that describe tensors, and make dictionaries, and
nothing else. A pickle that wants more is refused. The tensors are left where they are; who needs
their numbers reads them with `torch.load(weights_only=True)`.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
import re
import shutil
import struct
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from personalq.chassis.errors import CorruptFile
from personalq.chassis.safetensors_header import (
    Header,
    TensorEntry,
    check_keys,
    describe_foreign,
    shorten,
)

PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt")
#: A Stable Diffusion with averages needs some 500 KB; run, one may take eighty times its bytes.
MAX_PROGRAM_BYTES = 2 * 1024 * 1024
MAX_DIRECTORY_BYTES = (
    4 * 1024 * 1024
)  # the same needs 200 KB; read, it takes twenty times its bytes

#: Of a zip member: its signature, the lengths of its name and extra field.
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_SIGNATURE = b"PK\x03\x04"
#: Of an archive's end record: its signature, the directory's size and offset, a comment's length.
_END = struct.Struct("<4s8xIIH")
#: Of the two records before it that large archives and PyTorch's have: the offset of the first;
#: its signature, the directory's size and offset.
_LOCATOR = struct.Struct("<4s4xQ4x")
_LARGE_END = struct.Struct("<4s36xQQ")
_ENCRYPTED = 0x1  # in the flags of a zip member
_STORAGES = {
    "DoubleStorage": "F64", "FloatStorage": "F32", "HalfStorage": "F16", "BFloat16Storage": "BF16",
    "LongStorage": "I64", "IntStorage": "I32", "ShortStorage": "I16", "CharStorage": "I8",
    "ByteStorage": "U8", "BoolStorage": "BOOL",
}  # fmt: skip
_BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1,
          "BOOL": 1}  # fmt: skip
_MAX_DIMENSIONS = 8
_MAX_NUMBER = 2**63
_MAX_NESTING = 32
#: What trainers save beside a `state_dict` to go on later; no weights.
_TRAINING_STATE = re.compile(
    r"optimizer.*|lr_scheduler.*|callbacks|loops|hyper_parameters|.*scal(er|ing).*|.*rng_state.*"
)
#: No sets: they hash what they hold, and nested tuples take forever.
_OPCODES = frozenset({
    "PROTO", "FRAME", "STOP", "MARK", "POP", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1",
    "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "EMPTY_TUPLE", "TUPLE",
    "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "SETITEM",
    "SETITEMS", "BINPUT", "LONG_BINPUT", "MEMOIZE", "BINGET", "LONG_BINGET", "GLOBAL",
    "STACK_GLOBAL", "BINPERSID", "REDUCE", "BUILD",
})  # fmt: skip
_REMEDY = "save it with safetensors and publish that"


def is_pickle(path: Path) -> bool:
    """Whether a file calls itself a PyTorch pickle; one with another name is not taken for one."""
    return path.suffix.lower() in PICKLE_SUFFIXES


def read_pickle_header(path: Path) -> Header:
    """The tensors of the PyTorch file `path`, where they lie in it, and the texts beside them.

    Raises:
        CorruptFile: it is none, is damaged, or holds more than tensors, texts and numbers.
    """
    try:
        with _File(path.open("rb", buffering=0)) as file:
            start = file.read(512)
            if not start.startswith(_LOCAL_SIGNATURE):
                reason = describe_foreign(start, path.stat().st_size)
                if start[:1] == b"\x80":
                    reason = f"is a PyTorch file of before version 1.6: {_REMEDY}"
                raise CorruptFile(f"{path.name} {reason}", field="uri")
            return _read_archive(file, path)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError,
            EOFError, KeyError, struct.error) as error:  # fmt: skip
        raise CorruptFile(
            f"{path.name} is truncated or damaged ({error}): upload it again", field="uri"
        ) from error
    except OSError as error:
        raise CorruptFile(f"{path.name} cannot be read: {error.strerror}", field="uri") from error


class _File(io.BufferedReader):
    """Refuses to read at once more than any archive's directory has."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read `size` bytes; an archive's end, which has no more than 64 KB, without a size."""
        if size is not None and size > MAX_DIRECTORY_BYTES:
            name = Path(self.name).name
            raise CorruptFile(
                f"{name} is no PyTorch file: the directory of its archive takes {size} bytes, more "
                f"than {MAX_DIRECTORY_BYTES} are not read: {_REMEDY}",
                field="uri",
            )
        return super().read(size)


@dataclass(frozen=True)
class _Member:
    """Where the bytes of a member of the archive lie in the file."""

    begin: int
    size: int


@dataclass(frozen=True)
class _Storage:
    """The numbers of one or several tensors, in a member of the archive."""

    dtype: str
    begin: int
    end: int


def _read_archive(file: BinaryIO, path: Path) -> Header:
    _check_end(file)
    with zipfile.ZipFile(file) as archive:
        try:
            members = _members(archive, file)
        except zipfile.BadZipFile as error:
            raise CorruptFile(
                f"{path.name} is no archive as PyTorch writes them ({error}): {_REMEDY}",
                field="uri",
            ) from error
        programs = [name for name in members if name.endswith("/data.pkl")]
        if len(programs) != 1 or members[programs[0]].size > MAX_PROGRAM_BYTES:
            raise CorruptFile(f"{path.name} is no PyTorch file: {_REMEDY}", field="uri")
        folder = programs[0].removesuffix("data.pkl")

        def storage(reference: Any) -> _Storage:
            kind, dtype, key, _, _ = reference
            if kind != "storage" or not (isinstance(dtype, str) and isinstance(key, str)):
                raise pickle.UnpicklingError("its numbers have no name")
            member = members[f"{folder}data/{key}"]
            return _Storage(dtype, member.begin, member.begin + member.size)

        whole = io.BytesIO()
        with archive.open(programs[0]) as pieces:
            shutil.copyfileobj(pieces, whole)
        program = whole.getvalue()
        try:
            _check_program(program)
            content = _Reader(program, storage).load()
            tensors, metadata = _flattened(content)
        except (pickle.UnpicklingError, ValueError, TypeError, KeyError, IndexError,
                AttributeError, EOFError, RecursionError, MemoryError, OverflowError,
                struct.error) as error:  # fmt: skip
            raise CorruptFile(
                f"{path.name} is a pickle with more than tensors ({shorten(str(error))}), "
                f"which could run code and is not opened: {_REMEDY}",
                field="uri",
            ) from error
    return Header(path=path, tensors=tensors, metadata=metadata)


def _check_end(file: BinaryIO) -> None:
    """Refuse an archive in which Python and torch could find two directories.

    Python's lies before the end record, torch's where that record says.

    Raises:
        BadZipFile: the two are not one, or the file does not end with the record.
    """
    position = file.seek(0, io.SEEK_END) - _END.size
    file.seek(max(0, position - _LOCATOR.size - _LARGE_END.size))
    tail = file.read()
    signature, size, offset, comment = _END.unpack(tail[-_END.size :])
    if signature != b"PK\5\6" or comment:
        raise zipfile.BadZipFile("it does not end as an archive does")
    locator = tail[: -_END.size][-_LOCATOR.size :]
    if locator.startswith(b"PK\6\7"):
        position -= _LOCATOR.size + _LARGE_END.size
        signature, size, offset = _LARGE_END.unpack(tail[: _LARGE_END.size])
        if signature != b"PK\6\6" or _LOCATOR.unpack(locator)[1] != position:
            raise zipfile.BadZipFile("its end is not where it is said to be")
    if offset + size != position:
        raise zipfile.BadZipFile("its directory is not where it is said to be")


def _members(archive: zipfile.ZipFile, file: BinaryIO) -> dict[str, _Member]:
    """What the archive holds, by name, once its sizes are what the file has.

    Raises:
        BadZipFile: two members have one name or share bytes, one does not lie where it is said to,
            or is packed: PyTorch packs none, and a packed one could grow without bound.
    """
    members: dict[str, _Member] = {}
    seen: set[str] = set()
    reach = 0
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
        name = shorten(info.filename)
        if info.filename.casefold() in seen:  # torch finds members whatever the case
            raise zipfile.BadZipFile(f"two of its members are called {name}")
        seen.add(info.filename.casefold())
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & _ENCRYPTED:
            raise zipfile.BadZipFile(f"{name} is compressed or encrypted, not stored as it is")
        if info.file_size != info.compress_size:
            raise zipfile.BadZipFile(
                f"{name} takes {info.compress_size} bytes and is said to hold {info.file_size}"
            )
        file.seek(info.header_offset)
        signature, name_length, extra_length = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        begin = info.header_offset + _LOCAL_HEADER.size + name_length + extra_length
        if signature != _LOCAL_SIGNATURE or info.header_offset < reach:
            raise zipfile.BadZipFile(f"{name} does not lie where it is said to")
        reach = begin + info.file_size
        if reach > archive.start_dir:
            raise zipfile.BadZipFile(f"{name} is said to reach beyond the end")
        members[info.filename] = _Member(begin, info.file_size)
    return members


def _check_program(program: bytes) -> None:
    """Refuses, before anything of it is done, what a description of tensors does not need."""
    count = highest = 0
    argument: Any
    for opcode, argument, _ in pickletools.genops(program):
        count += 1
        if opcode.name not in _OPCODES:
            raise pickle.UnpicklingError(f"it uses {opcode.name}")
        if opcode.name in ("BINPUT", "LONG_BINPUT"):
            highest = max(highest, argument)
        elif opcode.name == "LONG1" and not -_MAX_NUMBER <= argument < _MAX_NUMBER:
            raise pickle.UnpicklingError("it holds a number of more than 64 bits")
    if highest >= count:
        raise pickle.UnpicklingError(f"it numbers {highest} objects")


class _Reader(pickle._Unpickler):  # noqa: SLF001 - it has no other name
    """Reads a pickle that may only describe tensors.

    In Python: the memo of the one in C grows to the highest number in it, and what becomes a key
    cannot be looked at before it is hashed.
    """

    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)  # noqa: SLF001
    stack: list[Any]
    pop_mark: Callable[[], list[Any]]

    def __init__(self, program: bytes, storage: Callable[[Any], _Storage]) -> None:
        super().__init__(io.BytesIO(program))
        self._storage = storage

    def find_class(self, module: str, name: str) -> Any:
        """What the pickle may name."""
        allowed = {
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
            ("torch._utils", "_rebuild_parameter"): _parameter,
            ("collections", "OrderedDict"): _ordered,
        }
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        if (module, name) in allowed:
            return allowed[module, name]
        raise pickle.UnpicklingError(f"it names {module}.{name}")

    def persistent_load(self, pid: Any) -> _Storage:
        """The storage that a tensor refers to."""
        return self._storage(pid)

    def _set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        _set(self.stack[-1], [key, value])

    def _set_items(self) -> None:
        items = self.pop_mark()
        _set(self.stack[-1], items)

    def _build(self) -> None:
        attributes = self.stack.pop()
        target = self.stack[-1]
        if not isinstance(target, OrderedDict):
            raise pickle.UnpicklingError("it changes what is no dictionary")
        vars(target).setdefault("attributes", []).append(attributes)

    dispatch[pickle.SETITEM[0]] = _set_item
    dispatch[pickle.SETITEMS[0]] = _set_items
    dispatch[pickle.BUILD[0]] = _build


def _set(target: Any, items: list[Any]) -> None:
    if not isinstance(target, dict):
        raise TypeError("it fills what is no dictionary")
    for key, value in zip(items[::2], items[1::2], strict=True):
        if not isinstance(key, str | int):
            raise TypeError("a key is neither text nor number")
        target[key] = value


def _ordered() -> OrderedDict[str | int, Any]:
    return OrderedDict()


def _tensor(
    storage: _Storage, offset: int, shape: tuple[int, ...], stride: tuple[int, ...], *_: object
) -> TensorEntry:
    """What `torch` would rebuild; a tensor that is not written row by row reads as a whole."""
    numbers = (offset, *shape, *stride)
    if not (
        isinstance(storage, _Storage)
        and len(shape) <= _MAX_DIMENSIONS
        and all(isinstance(n, int) and 0 <= n < _MAX_NUMBER for n in numbers)
    ):
        raise ValueError("a tensor's shape is no shape")
    size = _BYTES[storage.dtype]
    reach = offset + sum((n - 1) * step for n, step in zip(shape, stride, strict=True)) + 1
    begin = storage.begin + offset * size
    end = storage.begin + reach * size if math.prod(shape) else begin
    if end > storage.end or math.prod(shape) * size > storage.end - storage.begin:
        raise ValueError("a tensor is larger than its numbers")
    return TensorEntry(dtype=storage.dtype, shape=tuple(shape), begin=begin, end=end)


def _parameter(data: TensorEntry, *_: object) -> TensorEntry:
    return data


def _flattened(content: Any) -> tuple[dict[str, TensorEntry], dict[str, str]]:
    """The tensors by key, and the texts.

    A trainer's checkpoint has them in its `state_dict`; of what else it holds only the state of
    the training may have tensors, which are not looked at. The web UI's embeddings are
    `{"string_to_param": {"*": …}, "name": …}`; they get the key that names their token.
    """
    if not isinstance(content, dict):
        raise ValueError("it holds no dictionary")
    check_keys(content)
    if isinstance(content.get("state_dict"), dict):
        beside = {k: v for k, v in content.items() if not _TRAINING_STATE.fullmatch(str(k))}
        content = beside.pop("state_dict")
        _refuse_tensors(beside)
        check_keys(content)
    name = content.get("name")
    tensors: dict[str, TensorEntry] = {}
    metadata: dict[str, str] = {}
    others: dict[str | int, Any] = {"attributes": _attributes(content)}
    for key, value in content.items():
        if isinstance(value, TensorEntry):
            _add(tensors, str(key), value)
        elif key == "string_to_param" and isinstance(value, dict):
            for token, tensor in value.items():
                called = name if token == "*" and isinstance(name, str) else str(token)  # noqa: S105 - a wildcard
                written = f"bundle_emb.{called}.string_to_param.*"
                _add(tensors, written if called != "*" else "string_to_param.*", tensor)
        elif isinstance(value, str | int | float):
            metadata[str(key)] = str(value)
        else:
            others[key] = value
    _refuse_tensors(others)
    check_keys(tensors)  # the names of tokens, too
    return tensors, metadata


def _add(tensors: dict[str, TensorEntry], key: str, tensor: Any) -> None:
    if not isinstance(tensor, TensorEntry):
        raise ValueError("it holds something else where a tensor should be")
    if key in tensors:
        raise ValueError(f"two of its tensors are called {shorten(key)}")
    tensors[key] = tensor


def _refuse_tensors(content: Mapping[Any, Any]) -> None:
    """Refuse tensors anywhere below the values of `content`: what they are is not said.

    Each object is visited once, whatever the number of ways to it.
    """
    visited: set[int] = set()
    pending: list[tuple[tuple[object, ...], Any]] = [((key,), v) for key, v in content.items()]
    while pending:
        path, value = pending.pop()
        if isinstance(value, TensorEntry | _Storage):
            where = ".".join(map(str, path))
            raise ValueError(f"its tensors are nested below {shorten(str(path[0]))!r}: {where}")
        if id(value) in visited:
            continue
        visited.add(id(value))
        if isinstance(value, dict):
            inner = [*value.items(), *enumerate(_attributes(value))]
        elif isinstance(value, list | tuple):
            inner = list(enumerate(value))
        else:
            continue
        if len(path) == _MAX_NESTING:
            raise ValueError(f"it is nested too deeply below {shorten(str(path[0]))!r}")
        pending += [((*path, key), part) for key, part in inner]


def _attributes(content: Any) -> list[Any]:
    """What the pickle has set beside the items of an ordered dictionary: versions of modules."""
    attributes: list[Any] = getattr(content, "attributes", [])
    return attributes
