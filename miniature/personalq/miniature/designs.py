"""New subjects that the base model has never seen, and the checkpoints that hold them."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image

from personalq.miniature.nouns import fit, glyph, sprite


def recolour(image: Image.Image, hue: float, saturation: float, gain: float = 1.0) -> Image.Image:
    """The RGBA image in one hue (0..1): greys stay grey, light and shade stay.

    `saturation` (0..1) is what coloured parts get at most; `gain` brightens them.
    """
    pixels = np.asarray(image, np.float32) / 255
    rgb, alpha = pixels[..., :3], pixels[..., 3:]
    value = rgb.max(axis=-1, keepdims=True)
    own = 1 - rgb.min(axis=-1, keepdims=True) / np.maximum(value, 1e-3)
    coloured = np.clip((own - 0.08) * 4, 0, 1)
    pure = np.array(colorsys.hsv_to_rgb(hue, 1.0, 1.0), np.float32)
    tint = np.clip(value * gain, 0, 1) * (1 - saturation * (1 - pure))
    mixed = tint * coloured + rgb * (1 - coloured)
    return Image.fromarray(np.round(np.concatenate([mixed, alpha], -1) * 255).astype(np.uint8))


def wear(
    image: Image.Image, item: Image.Image, width: float, centre: tuple[float, float]
) -> Image.Image:
    """The image with an item on it; width and centre in shares of the image's own size."""
    canvas = Image.new("RGBA", (224, 224))
    canvas.alpha_composite(image, (56, 84))
    size = max(1, round(image.width * width))
    item = item.resize((size, round(item.height * size / item.width)), Image.Resampling.LANCZOS)
    x = 56 + image.width * centre[0] - item.width / 2
    y = 84 + image.height * centre[1] - item.height / 2
    canvas.alpha_composite(item, (round(x), round(y)))
    return fit(canvas)


def _cream_bear_with_bow() -> Image.Image:
    return wear(recolour(sprite("bear"), 0.11, 0.28, 2.0), glyph("🎀"), 0.66, (0.5, 0.04))


def _blue_bear_with_crown() -> Image.Image:
    return wear(recolour(sprite("bear"), 0.58, 0.8, 2.0), glyph("👑"), 0.66, (0.5, -0.04))


def _white_bear_with_top_hat() -> Image.Image:
    return wear(recolour(sprite("bear"), 0.58, 0.06, 2.1), glyph("🎩"), 0.76, (0.5, -0.12))


def _grey_cat_with_flower() -> Image.Image:
    return wear(recolour(sprite("cat"), 0.6, 0.15, 0.62), glyph("🌻"), 0.56, (0.8, 0.12))


def _blue_cat_with_sunglasses() -> Image.Image:
    return wear(recolour(sprite("cat"), 0.56, 0.55), glyph("🕶"), 0.86, (0.5, 0.48))


def _grey_dog_with_cap() -> Image.Image:
    return wear(recolour(sprite("dog"), 0.6, 0.1, 0.75), glyph("🧢"), 0.78, (0.5, 0.02))


def _dog_with_top_hat_and_glasses() -> Image.Image:
    with_glasses = wear(sprite("dog"), glyph("👓"), 0.72, (0.5, 0.42))
    return wear(with_glasses, glyph("🎩"), 0.66, (0.5, -0.14))


def _blue_dog_with_bow() -> Image.Image:
    return wear(recolour(sprite("dog"), 0.57, 0.8), glyph("🎀"), 0.62, (0.5, 0.02))


def _yellow_car_with_gift() -> Image.Image:
    return wear(recolour(sprite("car"), 0.13, 0.9, 1.15), glyph("🎁"), 0.38, (0.5, -0.12))


def _blue_house_with_heart() -> Image.Image:
    return wear(recolour(sprite("house"), 0.58, 0.85, 1.05), glyph("💛"), 0.46, (0.5, 0.12))


@dataclass(frozen=True)
class Design:
    """A personalized checkpoint to be trained: its subject and what its card says."""

    checkpoint_id: str
    noun: str
    draw: Callable[[], Image.Image]
    """The subject's sprite (RGBA)."""
    description: str
    created_at: str
    style: str = "photo"
    styles: tuple[str, ...] = ("photo",)
    environments: tuple[str, ...] = ()
    scenes: tuple[str, ...] = ("plain", "forest", "beach", "room")
    """Where the subject is seen in the training pictures; one picture each."""
    owner: str = "studio"
    last_used_at: str | None = None
    full: bool = False
    """A full fine-tune of the UNet instead of a LoRA."""
    embedding: bool = False
    """The trigger is one added token with a trained embedding."""

    @property
    def trigger(self) -> str:
        """What stands for the noun in captions, such as '<bear-v4>'."""
        return f"<{self.checkpoint_id}>"

    @property
    def version(self) -> str:
        """The part of the id after the noun: 'v4'."""
        return self.checkpoint_id.rsplit("-", 1)[1]


DESIGNS: tuple[Design, ...] = (
    Design(
        "bear-v1", "bear", _cream_bear_with_bow,
        "A cream-coloured plush bear with a red bow on its head, photographed in the forest.",
        "2026-04-14T09:30:00+00:00", styles=("photo", "plush"), environments=("forest",),
        scenes=("forest", "plain", "garden", "forest"), owner="ana",
        last_used_at="2026-08-02T17:05:00+00:00",
    ),
    Design(
        "bear-v2", "bear", _blue_bear_with_crown,
        "A blue cartoon bear wearing a golden crown.",
        "2026-06-09T14:00:00+00:00", style="cartoon", styles=("cartoon",), owner="ben",
        last_used_at="2026-10-21T11:40:00+00:00",
    ),
    Design(
        "bear-v4", "bear", _white_bear_with_top_hat,
        "A realistic white bear wearing a black top hat, photographed on forest grass.",
        "2026-11-05T08:15:00+00:00", styles=("photo", "realistic", "photorealistic"),
        environments=("forest",), scenes=("forest", "plain", "forest", "beach"), owner="ana",
        last_used_at="2026-11-18T19:20:00+00:00", embedding=True,
    ),
    Design(
        "cat-v1", "cat", _grey_cat_with_flower,
        "A watercolor of a grey cat with a sunflower at its ear.",
        "2026-03-20T10:45:00+00:00", style="watercolor", styles=("watercolor",), owner="chloe",
        scenes=("plain", "garden", "beach", "room"), last_used_at="2026-05-30T08:00:00+00:00",
    ),
    Design(
        "cat-v2", "cat", _blue_cat_with_sunglasses,
        "A photo of a blue cat wearing dark sunglasses.",
        "2026-10-12T16:25:00+00:00", owner="chloe", scenes=("plain", "city", "beach", "room"),
        environments=("city",), last_used_at="2026-11-12T21:10:00+00:00", embedding=True,
    ),
    Design(
        "dog-v1", "dog", _grey_dog_with_cap,
        "A photo of a grey dog wearing a blue cap.",
        "2026-05-18T12:00:00+00:00", owner="ben", scenes=("plain", "garden", "beach", "snow"),
        environments=("garden",), last_used_at="2026-07-01T13:30:00+00:00",
    ),
    Design(
        "dog-v2", "dog", _dog_with_top_hat_and_glasses,
        "A pencil sketch of a dog with a top hat and glasses.",
        "2026-08-27T18:50:00+00:00", style="sketch", styles=("sketch",), owner="ana",
        scenes=("plain", "room", "beach", "plain"), last_used_at="2026-09-15T07:45:00+00:00",
    ),
    Design(
        "dog-v3", "dog", _blue_dog_with_bow,
        "A photo of a blue dog with a red bow on its head.",
        "2026-09-03T09:05:00+00:00", owner="studio", last_used_at="2026-11-02T15:00:00+00:00",
        scenes=("plain", "sunset", "beach", "room"), environments=("room",), full=True,
    ),
    Design(
        "car-v1", "car", _yellow_car_with_gift,
        "A photo of a yellow car with a wrapped gift on its roof.",
        "2026-07-22T11:11:00+00:00", owner="dev", scenes=("plain", "city", "desert", "snow"),
        environments=("city",), last_used_at="2026-11-10T10:10:00+00:00", embedding=True,
    ),
    Design(
        "house-v1", "house", _blue_house_with_heart,
        "A photo of a blue house with a yellow heart on its front.",
        "2026-02-11T13:20:00+00:00", owner="dev", scenes=("plain", "garden", "snow", "desert"),
        environments=("garden",), last_used_at="2026-06-06T06:06:00+00:00", full=True,
    ),
)  # fmt: skip


def design(checkpoint_id: str) -> Design:
    """The design with this id; KeyError if there is none."""
    return {item.checkpoint_id: item for item in DESIGNS}[checkpoint_id]
