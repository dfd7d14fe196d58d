"""The contact sheet: one row per request, from its words to its pictures."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from PIL import Image, ImageDraw, ImageFont

PICTURE = 192  # side of a picture on the sheet, in pixels
_TEXT_WIDTH = 520
_GAP = 24
_MARGIN = 32
_LINE = 1.35  # distance of lines, in font sizes

# What Pillow's own font lacks.
_SPELT = str.maketrans({"→": "->", "—": "-", "–": "-", "×": "x", "…": "...", "≥": ">="})

_PAPER = "#ffffff"
_INK = "#1d2026"
_SOFT = "#6a7079"
_RULE = "#dfe2e6"
_ACCENT = "#0b57a4"
_WARN = "#9a3b00"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A paragraph of a row's text; it wraps."""

    text: str
    colour: str = _INK
    size: int = 15


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A picture and the lines under it; an empty frame when there is no picture."""

    picture: bytes
    caption: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A request: what was said and chosen, and its pictures."""

    lines: Sequence[Line]
    tiles: Sequence[Tile]


def said(text: str) -> Line:
    """What the person asked for."""
    return Line(text=f"“{text}”", size=18)


def asked(text: str) -> Line:
    """A question or an answer of the dialogue."""
    return Line(text=text, colour=_ACCENT)


def chosen(text: str) -> Line:
    """What came of it."""
    return Line(text=text)


def refused(text: str) -> Line:
    """Why nothing came of it."""
    return Line(text=text, colour=_WARN)


def detail(text: str) -> Line:
    """Small print."""
    return Line(text=text, colour=_SOFT, size=13)


def write_sheet(
    path: Path, *, title: str, subtitle: str, columns: Sequence[str], rows: Sequence[Row]
) -> None:
    """Draw the sheet.

    Args:
        path: The PNG to write.
        title: What it shows.
        subtitle: On what, and how long it took.
        columns: Headings of the pictures.
        rows: From top to bottom.
    """
    width = 2 * _MARGIN + _TEXT_WIDTH + len(columns) * (_GAP + PICTURE)
    heads = _MARGIN + 92
    heights = [_row_height(row) for row in rows]
    sheet = Image.new("RGB", (width, heads + sum(heights) + _MARGIN), _PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((_MARGIN, _MARGIN - 4), title, fill=_INK, font=_font(24))
    draw.text((_MARGIN, _MARGIN + 32), subtitle.translate(_SPELT), fill=_SOFT, font=_font(14))
    for index, heading in enumerate(columns):
        draw.text((_column(index), heads - 24), heading, fill=_SOFT, font=_font(14))
    top = heads
    for row, height in zip(rows, heights, strict=True):
        draw.line((_MARGIN, top, width - _MARGIN, top), fill=_RULE)
        _draw_row(sheet, draw, row, top + 14)
        top += height
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path, optimize=True)


def _draw_row(sheet: Image.Image, draw: ImageDraw.ImageDraw, row: Row, top: int) -> None:
    y = float(top)
    for line in row.lines:
        font = _font(line.size)
        for piece in _wrap(line.text, font):
            draw.text((_MARGIN, y), piece, fill=line.colour, font=font)
            y += line.size * _LINE
        y += line.size * 0.35
    for index, tile in enumerate(row.tiles):
        left = _column(index)
        if tile.picture:
            sheet.paste(_enlarged(tile.picture), (left, top))
        y = float(top + PICTURE + 6)
        for caption in tile.caption:
            draw.text((left, y), caption.translate(_SPELT), fill=_SOFT, font=_font(13))
            y += 13 * _LINE


def _row_height(row: Row) -> int:
    text = sum(
        len(_wrap(line.text, _font(line.size))) * line.size * _LINE + line.size * 0.35
        for line in row.lines
    )
    captions = max((len(tile.caption) for tile in row.tiles), default=0)
    pictures = PICTURE + 6 + captions * 13 * _LINE if row.tiles else 0
    return round(max(text, pictures)) + 28


def _column(index: int) -> int:
    return _MARGIN + _TEXT_WIDTH + _GAP + index * (PICTURE + _GAP)


def _enlarged(png: bytes) -> Image.Image:
    """The picture at the sheet's size."""
    with Image.open(io.BytesIO(png)) as picture:
        shown = picture.convert("RGB")
    return shown.resize((PICTURE, PICTURE), Image.Resampling.LANCZOS)


def _wrap(text: str, font: ImageFont.FreeTypeFont) -> list[str]:
    """Lines no wider than the text column; breaks at spaces."""
    lines, current = [], ""
    for word in text.translate(_SPELT).split():
        longer = f"{current} {word}" if current else word
        if current and font.getlength(longer) > _TEXT_WIDTH:
            lines.append(current)
            current = word
        else:
            current = longer
    return [*lines, current]


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    # Pillow carries one, so that no font need be installed.
    return cast(ImageFont.FreeTypeFont, ImageFont.load_default(size))
