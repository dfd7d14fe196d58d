"""PyTorch's own files: described without running them, read by torch as the same tensors."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import struct
import tempfile
import tracemalloc
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.safetensors_files import unet_lora, unet_model

from personalq.chassis.errors import CorruptFile
from personalq.chassis.inspection import inspect
from personalq.chassis.pickle_header import MAX_DIRECTORY_BYTES, read_pickle_header
from personalq.taq import LoraError, UnsupportedFormatError, read_lora


def _saved(path: Path, content: Any, **options: Any) -> Path:
    torch.save(content, path, **options)
    return path


def _lora() -> dict[str, torch.Tensor]:
    return {key: torch.randn(shape) for key, shape in unet_lora().items()}


def test_a_lora_in_a_pickle_is_a_lora(tmp_path: Path) -> None:
    """The same inspection as of its tensors in safetensors; torch reads the same numbers."""
    tensors = _lora()
    path = _saved(tmp_path / "pytorch_lora_weights.bin", tensors)
    found = inspect(path, values=True)
    assert (found.format, found.rank, found.cross_attention_width) == ("lora", 4, 768)
    assert found.problems == ()
    lora = read_lora(path)
    assert len(lora.unet) == 3
    header, data = read_pickle_header(path), path.read_bytes()
    for key, tensor in tensors.items():
        entry = header.tensors[key]
        assert data[entry.begin : entry.end] == tensor.numpy().tobytes()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_numbers_are_found_in_any_type(tmp_path: Path, dtype: torch.dtype) -> None:
    """Also in views of a larger storage, and a bad one among them."""
    whole = torch.zeros(4, 8, dtype=dtype)
    whole[3, 7] = torch.inf
    content = {"<a>": whole[:3], "<b>": whole[3], "<c>": torch.nn.Parameter(whole[0, ::2])}
    found = inspect(_saved(tmp_path / "bear.pt", OrderedDict(content)), values=True)
    assert found.tokens == ("<a>", "<b>", "<c>")
    (problem,) = found.problems
    assert problem.startswith('1 of 3 tensors hold numbers that are infinite or no numbers, for '
                              'example "<b>"')  # fmt: skip


@pytest.mark.parametrize(
    ("content", "token"),
    [
        ({"<bear>": torch.ones(768)}, "<bear>"),
        ({"string_to_param": {"*": torch.ones(2, 768)}, "name": "bear", "step": 5}, "bear"),
        ({"string_to_param": {"<bear>": torch.ones(2, 768)}}, "<bear>"),
        (
            {"string_to_token": {"*": 265}, "string_to_param": torch.nn.ParameterDict(
                {"*": torch.ones(2, 768)}).state_dict(), "name": "bear", "sd_checkpoint": None},
            "bear",
        ),
    ],
)  # fmt: skip
def test_textual_inversions(tmp_path: Path, content: Any, token: str) -> None:
    """Of diffusers, and of the web UI, where the token is the embedding's own name."""
    path = _saved(tmp_path / "learned_embeds.bin", content)
    found = inspect(path)
    assert (found.format, found.tokens, found.problems) == ("textual_inversion", (token,), ())
    assert list(read_lora(path).embeddings) == [token]


def test_an_embedding_whose_token_nobody_named(tmp_path: Path) -> None:
    """It takes the publisher's; that it has none is said."""
    path = _saved(tmp_path / "bear.pt", {"string_to_param": {"*": torch.ones(1, 768)}})
    found = inspect(path)
    assert found.tokens == ("",)
    assert any("give the trigger" in note for note in found.notes)
    assert list(read_lora(path, token="<bear>").embeddings) == ["<bear>"]


class _Runs:
    """A pickle that would run a program."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (f"touch {self._marker}",)


def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path) -> None:
    """By both readers, and nothing has run."""
    path = _saved(tmp_path / "bear.bin", _lora() | {"x": _Runs(tmp_path / "ran")})
    with pytest.raises(CorruptFile, match=r"more than tensors \(it names posix\.system\)"):
        inspect(path)
    with pytest.raises(UnsupportedFormatError, match="of tensors alone"):
        read_lora(path)
    assert not (tmp_path / "ran").exists()


def test_what_is_no_pytorch_file_is_refused(tmp_path: Path) -> None:
    """Old pickles, bare ones, cut ones, other archives, lists, compressed numbers."""
    path = tmp_path / "bear.bin"
    whole = _saved(path, _lora()).read_bytes()

    def refusal(content: bytes | None = None) -> str:
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(CorruptFile) as caught:
            inspect(path)
        with pytest.raises(UnsupportedFormatError):
            read_lora(path)
        return caught.value.message

    assert "truncated" in refusal(whole[:-100])
    assert "only 2 bytes" in refusal(b"ab")
    assert "before version 1.6" in refusal(pickle.dumps([1]))
    assert "Git LFS pointer" in refusal(b"version https://git-lfs.github.com/spec/v1\nsize 5\n")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "hello")
    assert "no PyTorch file" in refusal()
    _saved(path, [torch.ones(2)])
    assert "holds no dictionary" in refusal()
    _saved(path, {"state": {"a": torch.ones(2)}})
    assert "nested below 'state'" in refusal()


WHOLE = io.BytesIO()
torch.save({f"{key}.x": torch.ones(2, 3) for key in "ab"} | _lora(), WHOLE)


@given(st.integers(0, len(WHOLE.getvalue()) - 1), st.binary(min_size=1, max_size=8))
def test_damage_gives_a_result_or_a_reason(start: int, changed: bytes) -> None:
    """Whatever is overwritten, no other error comes out of either reader."""
    data = WHOLE.getvalue()
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        path = Path(file.name)
        path.write_bytes(data[:start] + changed + data[start + len(changed) :])
        with contextlib.suppress(CorruptFile):
            inspect(path, values=True)
        with contextlib.suppress(LoraError):
            read_lora(path)


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_compressed_archives_are_refused(tmp_path: Path) -> None:
    """PyTorch never compresses: an archive that does could grow without bound."""
    path = _saved(tmp_path / "bear.bin", _lora())
    members = _members(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            packed = zipfile.ZIP_DEFLATED if name.endswith("data.pkl") else zipfile.ZIP_STORED
            archive.writestr(name, data, packed)
    with pytest.raises(CorruptFile, match=r"data\.pkl is compressed or encrypted"):
        inspect(path)
    with pytest.raises(UnsupportedFormatError, match="its archive is compressed"):
        read_lora(path)


def test_a_directory_without_bound_is_refused(tmp_path: Path) -> None:
    """Of entries by the hundred thousand none is read."""
    path = _saved(tmp_path / "bear.bin", {"<bear>": torch.ones(768)})
    whole = path.read_bytes()
    entries, end = whole[whole.index(b"PK\1\2") : whole.rindex(b"PK\6\6")], whole[-22:]
    many = entries * (MAX_DIRECTORY_BYTES // len(entries) + 1)
    told = end[:12] + struct.pack("<II", len(many), len(whole)) + end[20:]
    path.write_bytes(whole + many + told)
    tracemalloc.start()
    with pytest.raises(CorruptFile, match=f"the directory of its archive takes {len(many)} bytes"):
        inspect(path)
    with pytest.raises(UnsupportedFormatError, match=f"directory takes {len(many)} bytes"):
        read_lora(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < MAX_DIRECTORY_BYTES / 4


def _split(data: bytes) -> tuple[bytes, bytes]:
    """The members of an archive that `zipfile` wrote, and its directory."""
    start = data.index(b"PK\1\2")
    return data[:start], data[start:-22]


def _two_directories(path: Path) -> bytes:
    """Stored members for who looks before the end record, packed ones where that record says."""
    packed_tensors = _saved(path, {"<bear>": torch.zeros(5_000_000)})
    written = {}
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        members = _members(packed_tensors)
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        written[method] = path.read_bytes()
        _saved(path, {"<bear>": torch.ones(768)})
    packed, packed_directory = _split(written[zipfile.ZIP_DEFLATED])
    stored, directory = _split(written[zipfile.ZIP_STORED])
    moved = b""
    for entry in directory.split(b"PK\1\2")[1:]:
        (offset,) = struct.unpack("<I", entry[38:42])
        moved += b"PK\1\2" + entry[:38] + struct.pack("<I", offset + len(packed) - len(stored))
        moved += entry[42:]
    end = written[zipfile.ZIP_STORED][-22:-10] + struct.pack("<IIH", len(moved), len(packed), 0)
    return packed + packed_directory + stored + moved + end


def _stray_locator(path: Path) -> bytes:
    whole = _saved(path, {"<bear>": torch.ones(768)}).read_bytes()
    return whole[:-34] + bytes(8) + whole[-26:]


def _stray_end(path: Path) -> bytes:
    whole = _saved(path, {"<bear>": torch.ones(768)}).read_bytes()
    return whole + b"PK\5\6" + bytes(4)


@pytest.mark.parametrize("written", [_two_directories, _stray_locator, _stray_end])
def test_an_archive_has_one_directory(tmp_path: Path, written: Callable[[Path], bytes]) -> None:
    """Python looks for it before the end record, torch where that record says."""
    path = tmp_path / "bear.bin"
    path.write_bytes(written(path))
    with pytest.raises(CorruptFile, match="truncated or damaged"):
        inspect(path)
    with pytest.raises(UnsupportedFormatError, match=r"said to be|as an archive does"):
        read_lora(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    """Names twice, sizes that the file does not have, members upon each other."""
    path = _saved(tmp_path / "bear.bin", {"<bear>": torch.ones(768)})
    members = _members(path)
    numbers = next(name for name in members if name.endswith("/data/0"))

    def refusal(change: Callable[[zipfile.ZipFile], None]) -> str:
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
            change(archive)
        with pytest.raises(CorruptFile, match=r"no archive as PyTorch writes them") as caught:
            inspect(path)
        return caught.value.message

    def claim(**what: int) -> Callable[[zipfile.ZipFile], None]:
        """Of the numbers' size or place, in the archive's directory only."""

        def change(archive: zipfile.ZipFile) -> None:
            for name, value in what.items():
                setattr(archive.getinfo(numbers), name, value)

        return change

    assert "two of its members are called" in refusal(
        lambda archive: archive.writestr(numbers, b"other")
    )
    assert "two of its members are called" in refusal(
        lambda archive: archive.writestr(numbers.upper(), b"other")  # torch would find either
    )
    assert "is said to hold 4000000" in refusal(claim(file_size=4_000_000))
    assert "reach beyond the end" in refusal(claim(file_size=2**40, compress_size=2**40))
    assert "does not lie where it is said to" in refusal(claim(header_offset=0))
    assert "does not lie where it is said to" in refusal(claim(header_offset=1))
    assert "encrypted" in refusal(claim(flag_bits=1))


def test_numbers_outside_the_archives_folder_are_none(tmp_path: Path) -> None:
    """PyTorch looks in its own folder only; two readers must not read two files."""
    path = _saved(tmp_path / "bear.bin", {"<bear>": torch.ones(768)})
    members = _members(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr("0" if name.endswith("/data/0") else name, data)
    with pytest.raises(CorruptFile):
        inspect(path)
    with pytest.raises(UnsupportedFormatError):
        read_lora(path)


def test_a_pickle_by_another_name_is_not_opened(tmp_path: Path) -> None:
    """What is called safetensors must be that."""
    path = _saved(tmp_path / "bear.bin", _lora())
    with pytest.raises(CorruptFile, match="with a new name"):
        inspect(path.rename(tmp_path / "bear.safetensors"))


def test_a_trainers_checkpoint_is_its_state_dict(tmp_path: Path) -> None:
    """Steps and epochs beside it do not matter; its whole model is one."""
    tensors = {key: torch.zeros(shape) for key, shape in unet_model().items()}
    content = {"epoch": 3, "global_step": 9, "state_dict": tensors, "loops": {"a": [1, None]}}
    found = inspect(_saved(tmp_path / "model.ckpt", content))
    assert (found.format, found.problems, len(found.keys)) == ("full", (), len(tensors))


def _archive(path: Path, program: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bear/data.pkl", program)
        archive.writestr("bear/data/0", bytes(64))
    return path


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (b"\x80\x02}r" + (2**31).to_bytes(4, "little") + b".", "numbers 2147483648 objects"),
        (b"\x80\x02})" + b"q\x00h\x00\x86" * 60 + b"K\x01s.", "neither text nor number"),
        (b"\x80\x02}()" + b"q\x00h\x00\x86" * 60 + b"K\x01u.", "neither text nor number"),
        (b"\x80\x04\x8f()" + b"q\x00h\x00\x86" * 60 + b"\x90.", "uses EMPTY_SET"),
        (
            b"\x80\x02ccollections\nOrderedDict\n])" + b"q\x00h\x00\x86" * 60
            + b"K\x01\x86a\x85R.",
            "positional argument",
        ),
        (
            b"\x80\x02(X\x07\x00\x00\x00storageX\x03\x00\x00\x00F32)"
            + b"q\x00h\x00\x86" * 60 + b"NNtQ.",
            "have no name",
        ),
        (b"\x80\x02}X\x01\x00\x00\x00a\x8a\x09" + b"\x01" * 9 + b"s.", "64 bits"),
        (b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}b.", "changes what is no dictionary"),
    ],
)  # fmt: skip
def test_a_small_file_does_not_exhaust_the_reader(
    tmp_path: Path, program: bytes, reason: str
) -> None:
    """A number of an object far beyond all; nested pairs to be hashed, 2^60 steps; the like."""
    with pytest.raises(CorruptFile, match=reason):
        inspect(_archive(tmp_path / "bear.bin", program))


def test_a_long_program_is_not_run(tmp_path: Path) -> None:
    """Three million empty dictionaries take a hundred times the bytes that ask for them."""
    path = _archive(tmp_path / "bear.bin", b"\x80\x02" + b"}" * (3 << 20) + b".")
    with pytest.raises(CorruptFile, match="is no PyTorch file"):
        inspect(path)


@pytest.mark.parametrize("shape", [(1,) * 9, (2**63 - 1, 2**63 - 1), (2**62, 2), (-1,)])
def test_impossible_shapes_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """Too many dimensions, or more numbers than there are."""

    class Tensor:
        def __reduce__(self) -> Any:
            return torch._utils._rebuild_tensor_v2, (Storage(), 0, shape, (0,) * len(shape))

    class Storage:
        pass

    class Pickler(pickle._Pickler):
        def persistent_id(self, obj: Any) -> Any:
            return ("storage", torch.FloatStorage, "0", "cpu", 16) if type(obj) is Storage else None

    program = io.BytesIO()
    Pickler(program, 2).dump({"a": Tensor()})
    with pytest.raises(CorruptFile, match=r"no shape|larger than its numbers"):
        inspect(_archive(tmp_path / "bear.bin", program.getvalue()))


def _attributed(tensor: torch.Tensor) -> OrderedDict[str, Any]:
    content: OrderedDict[str, Any] = OrderedDict({"<bear>": torch.ones(768)})
    content.__dict__["_metadata"] = {"": {"version": tensor}}
    return content


def _nested(content: Any, depth: int) -> Any:
    for _ in range(depth):
        content = [content]
    return content


ODD = torch.ones(2)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"parts": {"a": {"b": ODD}}}, r"nested below 'parts': parts\.a\.b"),
        ({"parts": [1, {"b": (None, ODD)}]}, r"parts\.1\.b\.1"),
        ({"<bear>": torch.ones(768), "more": (ODD,)}, r"more\.0"),
        ({"<bear>": torch.ones(768), 5: [ODD]}, r"5\.0"),
        (_attributed(ODD), r"nested below 'attributes'"),
        ({"state_dict": {"<bear>": torch.ones(768)}, "ema": {"<bear>": ODD}}, r"ema\.<bear>"),
        ({"state_dict": {"<bear>": torch.ones(768)}, "<owl>": torch.ones(768)}, "'<owl>'"),
        ({"string_to_param": {"*": torch.ones(768)}, "string_to_token": {"*": ODD}},
         r"string_to_token\.\*"),
        ({"a": ODD.untyped_storage()}, "'a'"),
        ({"more": _nested(None, 40)}, "too deeply below 'more'"),
        ({1: ODD, "1": ODD}, "two of its tensors are called 1"),
        ({"string_to_param": {"*": torch.ones(768), "bear": torch.ones(768)}, "name": "bear"},
         r"two of its tensors are called bundle_emb\.bear"),
    ],
)  # fmt: skip
def test_tensors_in_odd_places_are_refused(tmp_path: Path, content: Any, reason: str) -> None:
    """Nothing is dropped: both readers say where the tensor is that they cannot place."""
    path = _saved(tmp_path / "bear.bin", content)
    if reason != "'a'":  # of a bare storage torch writes a class that the description refuses
        with pytest.raises(CorruptFile, match=reason):
            inspect(path)
    with pytest.raises(UnsupportedFormatError, match=reason):
        read_lora(path)


def test_the_state_of_a_training_is_not_looked_at(tmp_path: Path) -> None:
    """An optimizer's tensors are no weights; both readers leave them where they are."""
    optimizer = {"state": {0: {"exp_avg": ODD}}, "param_groups": [{"lr": 1e-4}]}
    path = _saved(tmp_path / "bear.ckpt", {
        "state_dict": {"<bear>": torch.ones(768)}, "optimizer_states": [optimizer],
        "lr_schedulers": [{"last_lr": [ODD]}], "epoch": 3, "loops": {"fit": {"done": False}},
    })  # fmt: skip
    assert inspect(path).tokens == ("<bear>",)
    assert list(read_lora(path).embeddings) == ["<bear>"]


def test_what_hangs_together_is_visited_once(tmp_path: Path) -> None:
    """2^29 ways to one object, and a list that holds itself."""
    shared: Any = [1]
    for _ in range(29):
        shared = [shared, shared]
    endless: list[Any] = [shared]
    endless.append(endless)
    path = _saved(tmp_path / "bear.bin", {"<bear>": torch.ones(768), "more": endless})
    assert inspect(path).tokens == ("<bear>",)
    assert list(read_lora(path).embeddings) == ["<bear>"]


def test_a_number_repeated_without_end_is_no_tensor(tmp_path: Path) -> None:
    """Views that would be larger once copied; by both readers, at any depth."""
    for content in (
        {"<bear>": torch.ones(1).expand(10**9, 768)},
        {"string_to_param": {"*": torch.ones(1, 768).expand(10**9, 768)}, "name": "bear"},
    ):
        path = _saved(tmp_path / "bear.bin", content)
        with pytest.raises(CorruptFile, match="larger than its numbers"):
            inspect(path)
        with pytest.raises(UnsupportedFormatError, match="larger than its numbers"):
            read_lora(path)
