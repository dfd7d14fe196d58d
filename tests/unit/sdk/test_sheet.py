"""The contact sheet."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from personalq.sdk.demo import sheet


def _png(colour: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), colour).save(buffer, "PNG")
    return buffer.getvalue()


def test_pictures_stand_beside_their_request(tmp_path: Path) -> None:
    """Each picture is shown at the sheet's size under its heading."""
    rows = [
        sheet.Row(
            lines=[sheet.said("my bear " * 40), sheet.chosen("bear-v4")],
            tiles=[
                sheet.Tile(picture=_png("red"), caption=["12 MB"]),
                sheet.Tile(picture=_png("lime"), caption=["6 MB"]),
            ],
        ),
        sheet.Row(lines=[sheet.said("a dragon"), sheet.refused("no match")], tiles=[]),
    ]
    path = tmp_path / "out" / "sheet.png"
    sheet.write_sheet(path, title="t", subtitle="s", columns=["full", "TAQ"], rows=rows)
    with Image.open(path) as drawn:
        counts = {colour: n for n, colour in drawn.convert("RGB").getcolors(2**24) or []}
    assert counts[(255, 0, 0)] == sheet.PICTURE**2
    assert counts[(0, 255, 0)] == sheet.PICTURE**2
