"""Backdrops: ten places and one plain studio, told apart at a glance by colour and layout."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
from PIL import Image, ImageDraw

SIZE = 64
"""Pictures are 64 x 64 pixels."""

Colour = tuple[int, int, int]


def _gradient(top: Colour, bottom: Colour) -> Image.Image:
    """A vertical blend from `top` to `bottom` over the whole picture."""
    ramp = np.linspace(0.0, 1.0, SIZE)[:, None, None]
    column = np.array(top) * (1 - ramp) + np.array(bottom) * ramp
    return Image.fromarray(np.broadcast_to(column, (SIZE, SIZE, 3)).astype(np.uint8))


def _studio(rng: Random) -> Image.Image:
    shade = rng.randint(-6, 6)
    return _gradient((238 + shade, 236 + shade, 230 + shade), (206 + shade, 202 + shade, 196))


def _beach(rng: Random) -> Image.Image:
    image = _gradient((120, 200, 250), (190, 232, 255))
    draw = ImageDraw.Draw(image)
    sea, sand = rng.randint(22, 26), rng.randint(40, 44)
    draw.rectangle((0, sea, SIZE, sand), fill=(22, 140, 190))
    draw.rectangle((0, sand - 4, SIZE, sand), fill=(90, 205, 215))
    draw.rectangle((0, sand, SIZE, SIZE), fill=(243, 214, 140))
    sun = rng.choice((4, 50))
    draw.ellipse((sun, 3, sun + 10, 13), fill=(255, 240, 120))
    return image


def _forest(rng: Random) -> Image.Image:
    image = _gradient((24, 70, 38), (40, 96, 48))
    draw = ImageDraw.Draw(image)
    floor = rng.randint(46, 50)
    offset = rng.randint(0, 6)
    for x in range(offset, SIZE, 13):
        draw.rectangle((x, 0, x + 4, floor), fill=(92, 62, 38))
    for x in range(offset - 8, SIZE, 13):
        draw.ellipse((x, -8, x + 14, 9), fill=(34, 110, 48))
    draw.rectangle((0, floor, SIZE, SIZE), fill=(96, 168, 60))
    return image


def _snow(rng: Random) -> Image.Image:
    image = _gradient((150, 178, 205), (205, 222, 236))
    draw = ImageDraw.Draw(image)
    ground = rng.randint(38, 43)
    draw.ellipse((-24, ground - 8, 44, SIZE + 40), fill=(240, 246, 252))
    draw.ellipse((16, ground - 4, 96, SIZE + 40), fill=(252, 254, 255))
    for _ in range(10):
        x, y = rng.randint(0, SIZE - 2), rng.randint(0, ground)
        draw.rectangle((x, y, x + 1, y + 1), fill=(255, 255, 255))
    return image


def _night(rng: Random) -> Image.Image:
    image = _gradient((6, 8, 38), (26, 30, 84))
    draw = ImageDraw.Draw(image)
    for _ in range(14):
        x, y = rng.randint(1, SIZE - 3), rng.randint(1, 44)
        draw.rectangle((x, y, x + 1, y + 1), fill=(250, 246, 200))
    moon = rng.choice((3, 48))
    draw.ellipse((moon, 3, moon + 12, 15), fill=(252, 244, 190))
    draw.rectangle((0, rng.randint(49, 53), SIZE, SIZE), fill=(16, 34, 40))
    return image


def _city(rng: Random) -> Image.Image:
    image = _gradient((188, 200, 214), (222, 226, 230))
    draw = ImageDraw.Draw(image)
    street = rng.randint(48, 51)
    x = -rng.randint(0, 6)
    for top, shade in ((8, 120), (18, 96), (4, 108), (14, 128), (6, 100), (16, 116)):
        draw.rectangle((x, top, x + 11, street), fill=(shade, shade, shade + 14))
        for y in range(top + 4, street - 4, 9):
            draw.rectangle((x + 3, y, x + 8, y + 4), fill=(226, 204, 130))
        x += 13
    draw.rectangle((0, street, SIZE, SIZE), fill=(70, 70, 76))
    for x in range(rng.randint(0, 8), SIZE, 16):
        draw.rectangle((x, 57, x + 7, 58), fill=(240, 240, 240))
    return image


def _sunset(rng: Random) -> Image.Image:
    image = _gradient((126, 40, 120), (255, 150, 50))
    draw = ImageDraw.Draw(image)
    sea = rng.randint(44, 48)
    sun = rng.randint(18, 30)
    draw.ellipse((sun, sea - 24, sun + 22, sea - 2), fill=(255, 228, 110))
    draw.rectangle((0, sea, SIZE, SIZE), fill=(92, 28, 84))
    for y in range(sea + 3, SIZE, 5):
        draw.line((sun + 2, y, sun + 20, y), fill=(250, 160, 80))
    return image


def _room(rng: Random) -> Image.Image:
    image = Image.new("RGB", (SIZE, SIZE), (236, 206, 196))
    draw = ImageDraw.Draw(image)
    for x in range(rng.randint(0, 7), SIZE, 8):
        draw.rectangle((x, 0, x + 2, SIZE), fill=(222, 184, 176))
    floor = rng.randint(47, 50)
    draw.rectangle((0, floor, SIZE, SIZE), fill=(142, 88, 52))
    draw.rectangle((0, floor, SIZE, floor + 1), fill=(250, 246, 240))
    left = rng.choice((2, 44))
    draw.rectangle((left, 4, left + 17, 24), fill=(255, 255, 255))
    draw.rectangle((left + 2, 6, left + 8, 22), fill=(140, 205, 250))
    draw.rectangle((left + 10, 6, left + 15, 22), fill=(140, 205, 250))
    return image


def _desert(rng: Random) -> Image.Image:
    image = _gradient((250, 226, 170), (255, 240, 206))
    draw = ImageDraw.Draw(image)
    dune = rng.randint(34, 40)
    draw.ellipse((-30, dune - 10, 50, SIZE + 50), fill=(226, 146, 66))
    draw.ellipse((14, dune - 2, 110, SIZE + 60), fill=(208, 122, 48))
    x = rng.choice((3, 54))
    draw.rectangle((x, dune - 18, x + 4, dune + 10), fill=(60, 130, 60))
    draw.rectangle((x - 4, dune - 10, x + 8, dune - 7), fill=(60, 130, 60))
    draw.rectangle((x + 6, dune - 15, x + 8, dune - 7), fill=(60, 130, 60))
    return image


def _garden(rng: Random) -> Image.Image:
    image = _gradient((150, 215, 250), (206, 240, 255))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 20, SIZE, 34), fill=(250, 250, 246))
    for x in range(rng.randint(0, 5), SIZE, 6):
        draw.rectangle((x, 16, x + 3, 34), fill=(255, 255, 255), outline=(222, 226, 226))
    draw.rectangle((0, 34, SIZE, SIZE), fill=(120, 205, 70))
    for _ in range(12):
        x, y = rng.randint(0, SIZE - 4), rng.randint(38, SIZE - 4)
        draw.ellipse((x, y, x + 3, y + 3), fill=rng.choice(((240, 60, 120), (255, 225, 60))))
    return image


def _underwater(rng: Random) -> Image.Image:
    image = _gradient((60, 205, 215), (8, 66, 120))
    draw = ImageDraw.Draw(image)
    for x in (rng.randint(0, 8), rng.randint(20, 30), rng.randint(50, 58)):
        for y in range(44, SIZE, 4):
            bend = x + (y // 4) % 2 * 2
            draw.rectangle((bend, y, bend + 3, y + 4), fill=(20, 140, 90))
    for _ in range(8):
        x, y, r = rng.randint(1, SIZE - 6), rng.randint(1, 50), rng.randint(2, 4)
        draw.ellipse((x, y, x + r, y + r), fill=(170, 232, 240))
    return image


PLAIN = "plain"
"""The scene of a caption that names none."""

_PAINTERS: dict[str, Callable[[Random], Image.Image]] = {
    PLAIN: _studio, "beach": _beach, "forest": _forest, "snow": _snow, "night": _night,
    "city": _city, "sunset": _sunset, "room": _room, "desert": _desert, "garden": _garden,
    "underwater": _underwater,
}  # fmt: skip

SCENES: tuple[str, ...] = tuple(_PAINTERS)


def backdrop(scene: str, rng: Random) -> Image.Image:
    """A fresh RGB picture (64 x 64) of a scene, its layout jittered by `rng`."""
    return _PAINTERS[scene](rng)
