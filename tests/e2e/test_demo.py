"""The demo on the stack of the other tests, with three checkpoints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from rich.console import Console

from personalq.miniature import MiniatureCheckpoint
from personalq.sdk import AsyncPersonalQ
from personalq.sdk.demo.report import Seconds
from personalq.sdk.demo.run import play, write_results
from personalq.sdk.demo.script import Line

pytestmark = pytest.mark.timeout(900)

LINES = (
    Line(prompt="my most realistic, recently created bear on forest grass"),
    Line(prompt="my bear at the beach"),
    Line(prompt="a photo of my horse in the snow"),
)


async def test_the_demo_writes_sheet_pictures_and_report(
    client: AsyncPersonalQ, trained: dict[str, MiniatureCheckpoint], tmp_path: Path
) -> None:
    """The keys of the report are those of the contract; its pictures are there."""
    chosen = [trained[name] for name in ("bear-v1", "bear-v4", "cat-v1")]
    played = await play(client, chosen, LINES, Console(quiet=True))
    write_results(tmp_path, played, Seconds(setup=1.0, start=2.0, job=3.0))

    report = json.loads((tmp_path / "report.json").read_text())
    assert {"setup", "job"} <= report["seconds"].keys()
    assert [entry["checkpoint_id"] for entry in report["checkpoints"]] == [
        "bear-v1",
        "bear-v4",
        "cat-v1",
    ]
    for entry in report["checkpoints"]:
        assert 0 < entry["bytes_taq"] < entry["bytes_full"]
    assert [entry["outcome"] for entry in report["requests"]] == [
        "selection",
        "clarification",
        "no_match",
    ]
    direct, ambiguous, refused = report["requests"]
    assert direct["checkpoint_id"] == "bear-v4"
    assert direct["rewritten_prompt"] == LINES[0].prompt.replace("bear", "<bear-v4>")
    for entry in (direct, ambiguous):
        for profile in ("full", "taq"):
            with Image.open(tmp_path / entry[f"image_{profile}"]) as picture:
                assert picture.size == (64, 64)
            assert -1 <= entry[f"clip_i_{profile}"] <= 1
    assert ambiguous["question"].endswith("?")
    assert refused["explanation"]
    with Image.open(tmp_path / "contact-sheet.png") as sheet:
        assert sheet.width > 1000
