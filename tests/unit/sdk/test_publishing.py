"""How a pipeline's checkpoint is described before it is announced."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from personalq.chassis.errors import CorruptFile, InvalidInput
from personalq.chassis.sources import digest_of
from personalq.sdk.publishing import CardFields, describe
from personalq.sdk.results import Checkpoint

LAYER = "unet.mid_block.attentions.0.transformer_blocks.0.attn2.to_k"


@pytest.fixture
def lora(tmp_path: Path) -> Path:
    """A small LoRA in a folder that carries its name."""
    file = tmp_path / "bear v4" / "pytorch_lora_weights.safetensors"
    file.parent.mkdir()
    save_file(
        {f"{LAYER}.lora_A.weight": torch.zeros(2, 32), f"{LAYER}.lora_B.weight": torch.zeros(8, 2)},
        file,
    )
    return file


def _describe(source: str | Path, *, trigger: str = "<bear-v4>", check: bool = True) -> Checkpoint:
    return describe(source, trigger=trigger, subject="bear", check=check, fields={})


def test_a_local_file_is_digested_and_named_after_its_folder(lora: Path) -> None:
    """Trainers give every file the same name; the folder says which one it is."""
    card = _describe(lora)
    assert card.checkpoint_id == "bear-v4"
    assert card.uri == lora.as_uri()
    assert (card.sha256, card.size_bytes) == digest_of(lora)
    assert card.created_at == datetime.fromtimestamp(lora.stat().st_mtime, UTC)


def test_a_file_uri_is_a_local_file(lora: Path) -> None:
    """A space in a path survives the way through the URI."""
    assert _describe(lora.as_uri()) == _describe(lora)


def test_a_peft_adapter_is_published_with_its_configuration(lora: Path) -> None:
    """The file alone would act otherwise than it was trained to, the folder does not."""
    file = lora.rename(lora.with_name("adapter_model.safetensors"))
    save_file({f"base_model.model.{k}": t for k, t in load_file(file).items()}, file)
    (file.parent / "adapter_config.json").write_text('{"r": 2, "lora_alpha": 8}')
    with pytest.raises(CorruptFile, match=r"adapter_config\.json beside it.*publish a folder"):
        _describe(file)
    card = _describe(file.parent)
    assert (card.uri, card.sha256) == (file.parent.as_uri(), digest_of(file.parent)[0])


def test_a_remote_uri_is_announced_as_it_is() -> None:
    """What lies behind it is the catalog's business."""
    card = describe(
        "s3://models/bear-v4.safetensors",
        trigger=["<bear-v4>", "<old-bear>"],
        subject=["bear", "teddy bear"],
        check=True,
        fields={
            "sha256": "ab" * 32,
            "size_bytes": 5,
            "style": "photo",
            "version": 4,
            "alias": "Biscuit",
        },
    )
    assert card.uri == "s3://models/bear-v4.safetensors"
    assert card.checkpoint_id == "bear-v4"
    assert (card.sha256, card.size_bytes) == ("ab" * 32, 5)
    assert card.triggers == ("<bear-v4>", "<old-bear>")
    assert card.styles == ("photo",)
    assert card.aliases == ("Biscuit",)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "there is no ''"),
        ("~nobody-of-that-name/bear.safetensors", "cannot be opened"),
        (f"{'x' * 300}.safetensors", "cannot be opened: File name too long"),
        ("file://here/bear.safetensors", "write file:///absolute/path"),
        ("file:///bear%00", "cannot be opened|there is no"),
        ("hf://[bear", "is no URI"),
        ("https:///bear.safetensors", "names no host"),
        ("s3://bucket", "no file in it"),
    ],
)
def test_a_source_that_is_none_is_named(source: str, says: str) -> None:
    """An empty variable in a script is not the folder it runs in."""
    with pytest.raises(InvalidInput, match=says):
        _describe(source)


def test_a_digest_that_is_none_is_refused() -> None:
    """Before the catalog gets the event, whose refusal nobody may wait for."""
    with pytest.raises(InvalidInput, match="64 lower-case") as caught:
        fields: CardFields = {"sha256": "xyz"}
        describe("s3://b/bear", trigger=(), subject="bear", check=True, fields=fields)
    assert list(caught.value.violations) == ["checkpoint.source.sha256"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The message says what was expected."""
    with pytest.raises(InvalidInput, match=r"there is no .*gone\.safetensors: give the"):
        _describe(tmp_path / "gone.safetensors")


@pytest.mark.parametrize("trigger", ["", "   ", "t" * 65])
def test_a_trigger_must_have_1_to_64_characters(lora: Path, trigger: str) -> None:
    """An empty or endless trigger is refused before anything is sent."""
    with pytest.raises(InvalidInput, match="trigger") as caught:
        _describe(lora, trigger=trigger)
    assert "checkpoint.triggers[0]" in caught.value.violations


def test_a_trigger_of_64_characters_is_fine(lora: Path) -> None:
    """The limit itself is allowed."""
    assert _describe(lora, trigger="t" * 64).triggers == ("t" * 64,)


def test_a_checkpoint_may_have_no_trigger(lora: Path) -> None:
    """A third of those published have none."""
    assert describe(lora, trigger=(), subject="bear", check=True, fields={}).triggers == ()


def test_a_card_without_subject_and_style_is_refused(lora: Path) -> None:
    """Check-in could never find it; a style alone will do."""
    with pytest.raises(InvalidInput, match="--subject"):
        describe(lora, trigger="<a>", subject=[], check=True, fields={})
    card = describe(lora, trigger="<a>", subject=[], check=True, fields={"style": "ink"})
    assert (card.subjects, card.styles) == ((), ("ink",))


def test_an_id_with_odd_characters_is_refused(lora: Path) -> None:
    """The rule is in the message."""
    with pytest.raises(InvalidInput, match="1-128"):
        describe(lora, trigger="<a>", subject="bear", check=True, fields={"checkpoint_id": "a/b"})


def test_a_scheme_nobody_knows_is_refused() -> None:
    """The known ones are listed."""
    with pytest.raises(InvalidInput, match="s3://"):
        _describe("ftp://host/bear.safetensors")


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\x01",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 5\n",
        b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07pickled\x94.",
    ],
    ids=["two bytes", "LFS pointer", "pickle"],
)
def test_a_broken_file_is_refused_before_it_is_announced(tmp_path: Path, content: bytes) -> None:
    """With `check=False` it is announced all the same, and the catalog refuses it."""
    file = tmp_path / "bear.safetensors"
    file.write_bytes(content)
    with pytest.raises(CorruptFile):
        _describe(file)
    assert _describe(file, check=False).size_bytes == len(content)
