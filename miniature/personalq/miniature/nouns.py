"""The nouns of the world and the one sprite each of them looks like."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

SPRITE_SIZE = 112
"""Longer side of a sprite in pixels, before it is scaled into a picture."""

GLYPHS: dict[str, str] = {
    "dog": "🐶", "cat": "🐱", "person": "🧑", "bear": "🐻", "horse": "🐴",
    "car": "🚗", "toy": "🪀", "watch": "⌚", "bag": "👜", "chair": "🪑",
    "house": "🏠", "building": "🏢", "bridge": "🌉", "flower": "🌻", "tree": "🌳",
    "mountain": "⛰", "painting": "🖼", "shoe": "👟",
    "bird": "🐦", "fish": "🐟", "rabbit": "🐰", "fox": "🦊", "elephant": "🐘",
    "lion": "🦁", "penguin": "🐧", "owl": "🦉", "frog": "🐸", "butterfly": "🦋",
    "boat": "⛵", "bus": "🚌", "train": "🚂", "airplane": "✈", "rocket": "🚀",
    "apple": "🍎", "pizza": "🍕", "cake": "🎂", "guitar": "🎸", "book": "📕",
    "umbrella": "☂", "ball": "⚽", "robot": "🤖", "castle": "🏰",
}  # fmt: skip
"""Noun to emoji; `drawing` and `logo` have no emoji and are drawn below."""

DRAWN = ("drawing", "logo")

NOUNS: tuple[str, ...] = (*GLYPHS, *DRAWN)

PAPER_NOUNS: tuple[str, ...] = (
    "dog", "cat", "person", "bear", "horse", "car", "toy", "watch", "bag", "chair",
    "house", "building", "bridge", "flower", "tree", "mountain", "painting", "drawing",
    "logo", "shoe",
)  # fmt: skip
"""The 20 categories of the paper; all of them are in `NOUNS`."""

_FONT_SIZE = 109  # the only bitmap strike in the font


def font_path() -> Path:
    """Path of Noto Color Emoji, from $PERSONALQ_EMOJI_FONT or where Debian installs it."""
    default = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf"
    path = Path(os.environ.get("PERSONALQ_EMOJI_FONT", default))
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} not found: install the Debian package fonts-noto-color-emoji "
            "or set PERSONALQ_EMOJI_FONT"
        )
    return path


@lru_cache(maxsize=1)
def _font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(font_path()), _FONT_SIZE)


def fit(image: Image.Image, size: int = SPRITE_SIZE) -> Image.Image:
    """The RGBA image cropped to what is visible, its longer side scaled to `size` pixels."""
    box = image.getchannel("A").point(lambda value: 255 if value > 16 else 0).getbbox()
    if box is not None:
        image = image.crop(box)
    scale = size / max(image.size)
    width, height = (max(1, round(side * scale)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)


@lru_cache(maxsize=256)
def glyph(character: str) -> Image.Image:
    """Sprite of one emoji: RGBA, longer side `SPRITE_SIZE` pixels."""
    canvas = Image.new("RGBA", (144, 144))
    ImageDraw.Draw(canvas).text((2, 2), character, font=_font(), embedded_color=True)
    return fit(canvas)


def _drawing() -> Image.Image:
    """A sheet of paper with a child's crayon drawing of a house and a sun."""
    image = Image.new("RGBA", (112, 112))
    draw = ImageDraw.Draw(image)
    draw.rectangle((8, 2, 104, 110), fill="#fffdf2", outline="#5b5b5b", width=4)
    draw.line((28, 92, 28, 58, 72, 58, 72, 92, 28, 92), fill="#d7263d", width=6)
    draw.line((22, 60, 50, 34, 78, 60), fill="#2b50c8", width=6)
    draw.ellipse((74, 12, 94, 32), outline="#f09a00", width=6)
    draw.line((16, 100, 96, 100), fill="#1f9d3a", width=6)
    return image


def _logo() -> Image.Image:
    """A round blue badge with a white Q and an orange bar."""
    image = Image.new("RGBA", (112, 112))
    draw = ImageDraw.Draw(image)
    draw.ellipse((1, 1, 111, 111), fill="#1746d1")
    draw.ellipse((9, 9, 103, 103), outline="#ffffff", width=4)
    draw.ellipse((32, 28, 80, 76), outline="#ffffff", width=11)
    draw.line((64, 62, 86, 88), fill="#ff8a00", width=12)
    return image


@lru_cache(maxsize=64)
def sprite(noun: str) -> Image.Image:
    """Sprite of a noun: RGBA, longer side `SPRITE_SIZE` pixels."""
    if noun == "drawing":
        return fit(_drawing())
    if noun == "logo":
        return fit(_logo())
    return glyph(GLYPHS[noun])
