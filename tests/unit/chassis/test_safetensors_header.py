"""The header parser: it accepts what the safetensors library accepts, and it never breaks."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError, safe_open
from support.safetensors_files import safetensors_bytes, unet_lora, with_header

from personalq.chassis.errors import CorruptFile, InvalidInput
from personalq.chassis.inspection import inspect
from personalq.chassis.safetensors_header import read_header

GOOD = safetensors_bytes(unet_lora(), {"trigger": "<bear-v4>"})
FUZZ = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def written(folder: Path, data: bytes) -> Path:
    """`data` in a file that claims to be a checkpoint."""
    path = folder / "bear.safetensors"
    path.write_bytes(data)
    return path


def library_accepts(path: Path) -> bool:
    """Whether the safetensors library opens the file."""
    try:
        with safe_open(path, framework="np") as file:
            list(file.keys())
    except (SafetensorError, UnicodeDecodeError, OverflowError):
        return False
    return True


def test_a_header_is_read(tmp_path: Path) -> None:
    """Shapes, offsets and metadata come out as they went in."""
    data = safetensors_bytes({"a": (2, 3), "b": ()}, {"trigger": "<bear-v4>"})
    header = read_header(written(tmp_path, data))

    assert header.metadata == {"trigger": "<bear-v4>"}
    assert {key: entry.shape for key, entry in header.tensors.items()} == {"a": (2, 3), "b": ()}
    assert header.tensors["b"].end == len(data)
    assert header.scalar("b") == 0.0
    assert header.scalar("a") is None


@pytest.mark.parametrize(
    ("dtype", "data", "value"),
    [
        ("F16", struct.pack("<e", 4.0), 4.0),
        ("BF16", struct.pack("<f", 8.0)[2:], 8.0),
        ("F32", struct.pack("<f", 1.5), 1.5),
        ("F64", struct.pack("<d", 2.0), 2.0),
        ("I64", struct.pack("<q", 16), 16.0),
        ("U8", b"\x01", None),
    ],
)
def test_a_scalar_is_read(tmp_path: Path, dtype: str, data: bytes, value: float | None) -> None:
    """An alpha of kohya's is a tensor of one element, in several types."""
    entry = {"dtype": dtype, "shape": [1], "data_offsets": [0, len(data)]}
    path = written(tmp_path, with_header({"x.alpha": entry}, data))
    assert read_header(path).scalar("x.alpha") == value


def test_a_long_header_is_not_read(tmp_path: Path) -> None:
    """Parsed, it could take thirty times its bytes."""
    path = written(tmp_path, with_header({"__metadata__": {"notes": " " * (5 << 20)}}, b""))
    with pytest.raises(CorruptFile, match="are not read: save it again without the large metadata"):
        read_header(path)


@pytest.mark.parametrize("missing", [1, 7, 4000, len(GOOD) - 300])
def test_a_truncated_file_says_how_much_is_missing(tmp_path: Path, missing: int) -> None:
    """The number of missing bytes and the remedy are in the message."""
    path = written(tmp_path, GOOD[:-missing])
    with pytest.raises(CorruptFile, match=r"\d+ bytes are missing; upload it again") as caught:
        read_header(path)
    if missing < 5000:
        assert f" {missing} bytes are missing" in caught.value.message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\r\n", "has only 2 bytes"),
        (b"{}", "has only 2 bytes"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:57\nsize 3192\n",
            "Git LFS pointer of a file of 3192 bytes.*git lfs pull",
        ),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer, not"),
        (pickle.dumps({"a": [1, 2, 3]}, protocol=4), "Python pickle.*never opened"),
        (pickle.dumps({"a": [1, 2, 3]}, protocol=2), "Python pickle.*never opened"),
        (b"<!DOCTYPE html>\n<html>", "web page"),
        (b"\xef\xbb\xbf \n<HTML lang=en>", "web page"),
        (b'{"error": "Entry not found"}', "JSON text"),
        (b"GGUF" + bytes(40), "GGUF"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "PNG"),
        (b"\x1f\x8b" + bytes(40), "gzip"),
        (bytes(100), "begins with zeros"),
        (b"just some words in a file", "does not begin with a safetensors header"),
        (GOOD + b"!", "1 bytes after its last tensor"),
        (struct.pack("<Q", 2**31) + b"{" + bytes(100), "header of 2147483648 bytes"),
        (struct.pack("<Q", 40) + b"{not json at all, but forty bytes long...", "damaged header"),
        (with_header([1, 2]), "does not begin"),
        (with_header({"a": 1}), "describes no tensor"),
        (with_header({"a": {"dtype": "F32", "shape": [1]}}), "describes no tensor"),
    ],
)
def test_each_wrong_file_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    """What the file is instead, and what to do, in one printable sentence."""
    with pytest.raises(CorruptFile, match=words) as caught:
        read_header(written(tmp_path, data))
    assert caught.value.message.startswith("bear.safetensors")
    assert caught.value.message.isprintable()
    assert "uri" in caught.value.violations


def test_a_pytorch_file_is_a_zip_of_a_pickle(tmp_path: Path) -> None:
    """A renamed .bin is recognised and not opened."""
    path = tmp_path / "bear.safetensors"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({}))
    with pytest.raises(CorruptFile, match="zip archive, most likely a PyTorch pickle"):
        read_header(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [True], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": "1", "data_offsets": [0, 4]},
        {"dtype": "F31", "shape": [1], "data_offsets": [0, 4]},
        {"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]},
        {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]},
        {"dtype": "F32", "shape": [2**62, 2**62], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [10**400], "data_offsets": [0, 4]},
    ],
)
def test_entries_that_contradict_themselves_are_refused(
    tmp_path: Path, entry: dict[str, object]
) -> None:
    """Shape, type and offsets must agree; the library would refuse the file too."""
    path = written(tmp_path, with_header({"a": entry}, bytes(4)))
    with pytest.raises(CorruptFile):
        read_header(path)
    assert not library_accepts(path)


def test_overlaps_and_double_keys_are_refused(tmp_path: Path) -> None:
    """Two tensors on the same bytes, or two with the same name, are damage."""
    same = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    with pytest.raises(CorruptFile, match="overlap"):
        read_header(written(tmp_path, with_header({"a": same, "b": same}, bytes(4))))
    text = f'{{"a": {json.dumps(same)}, "a": {json.dumps(same)}}}'.encode()
    with pytest.raises(CorruptFile, match="twice"):
        read_header(written(tmp_path, struct.pack("<Q", len(text)) + text + bytes(4)))


def test_text_that_cannot_be_printed_is_refused(tmp_path: Path) -> None:
    """A lone surrogate is valid JSON and no text."""
    text = b'{"\\ud800": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'
    with pytest.raises(CorruptFile, match="damaged header"):
        read_header(written(tmp_path, struct.pack("<Q", len(text)) + text + bytes(4)))


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    """A header made to exhaust the stack does not."""
    text = b'{"a":' + b"[" * 200_000
    with pytest.raises(CorruptFile):
        read_header(written(tmp_path, struct.pack("<Q", len(text)) + text))


@FUZZ
@given(st.binary(max_size=400))
def test_any_bytes_give_a_result_or_a_reason(tmp_path: Path, data: bytes) -> None:
    """Nothing but CorruptFile or InvalidInput ever comes out."""
    try:
        inspect(written(tmp_path, data))
    except InvalidInput as error:
        assert error.message.isprintable()


@FUZZ
@given(st.data())
def test_a_file_with_flipped_bytes_gives_a_result_or_a_reason(
    tmp_path: Path, data: st.DataObject
) -> None:
    """Damage in the header never escapes as another exception, and is what the library sees."""
    damaged = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, 900))] = data.draw(st.integers(0, 255))
    path = written(tmp_path, bytes(damaged))
    try:
        read_header(path)
    except CorruptFile:
        return
    assert library_accepts(path)


_NUMBERS = st.one_of(st.integers(-2, 12), st.floats(allow_nan=True), st.just(2**70), st.none())
_ENTRIES = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F32", "F16", "BOOL", "F4", "X", 3, None]),
        "shape": st.lists(_NUMBERS, max_size=4),
        "data_offsets": st.lists(_NUMBERS, max_size=3),
    }
)


@FUZZ
@given(
    header=st.dictionaries(
        st.one_of(st.text(max_size=12), st.sampled_from(list(unet_lora()))),
        st.one_of(_ENTRIES, st.none(), st.text(max_size=4)),
        max_size=4,
    ),
    metadata=st.one_of(st.none(), st.dictionaries(st.text(max_size=8), st.text(max_size=8))),
    length=st.integers(0, 64),
)
def test_any_header_gives_a_result_or_a_reason(
    tmp_path: Path, header: dict[str, object], metadata: dict[str, str] | None, length: int
) -> None:
    """Headers of the right form with senseless values are handled as well."""
    if metadata is not None:
        header = {**header, "__metadata__": metadata}
    try:
        inspect(written(tmp_path, with_header(header, bytes(length))))
    except InvalidInput as error:
        assert error.message


_KEYS = st.sampled_from(
    [
        *unet_lora(),
        *unet_lora("unet.{layer}.lora_A.weight", "unet.{layer}.lora_B.weight"),
        "lora_unet_mid_attn2_to_k.lokr_w1",
        "lora_unet_mid_attn2_to_k.lokr_w2_b",
        "lora_unet_mid_attn2_to_k.alpha",
        "unet:0:down",
        "unet:0:up",
        "<s1>",
        "emb_params",
        "clip_l",
        "bundle_emb.<bear-v4>.string_to_param.*",
        "conv_in.weight",
        "conv_out.weight",
        "model.diffusion_model.out.2.weight",
        "down_blocks.0.attn2.to_k.weight",
        "first_stage_model.x",
    ]
)


@FUZZ
@given(
    shapes=st.dictionaries(_KEYS, st.lists(st.integers(0, 3), max_size=4), max_size=6),
    metadata=st.dictionaries(
        st.sampled_from(
            ["trigger", "triggers", "ss_tag_frequency", "ss_datasets", "lora_adapter_metadata",
             "ss_training_finished_at", "modelspec.date", "base_model", "ss_network_alpha"]
        ),
        st.one_of(
            st.text(max_size=20),
            st.sampled_from(["[]", "{}", "[1]", '{"1_a": 0}', '[{"subsets": 3}]', "1e999", "nan",
                             "99999999999", "2023-99-99", "2023-01-01T00:00:00+99:99", '["<a>"]',
                             '{"unet.lora_alpha": "x"}', '[{"tag_frequency": {"3_x": 1}}]']),
        ),
        max_size=4,
    ),
)  # fmt: skip
def test_any_valid_file_gives_a_result_or_a_reason(
    tmp_path: Path, shapes: dict[str, list[int]], metadata: dict[str, str]
) -> None:
    """Known keys with senseless shapes and metadata are described or refused, and make JSON."""
    try:
        found = inspect(written(tmp_path, safetensors_bytes(shapes, metadata)))
    except InvalidInput as error:
        assert error.message
    else:
        json.dumps(found.to_json())
        assert all(len(text) <= 64 for text in found.trigger_candidates)
