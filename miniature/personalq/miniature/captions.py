"""Captions: many ways to say the same sight, with words around it that mean nothing."""

from __future__ import annotations

from random import Random

from personalq.miniature.nouns import NOUNS
from personalq.miniature.scenes import PLAIN
from personalq.miniature.styles import PHOTO
from personalq.miniature.world import Sight

SCENE_PHRASES: dict[str, tuple[str, ...]] = {
    "beach": ("on the beach", "at the beach", "on a sunny beach", "on beach sand"),
    "forest": ("in the forest", "in a forest", "on forest grass", "in the woods"),
    "snow": ("in the snow", "in snow", "on a snowy day", "on the snow"),
    "night": ("at night", "under the stars", "in the moonlight", "in the night"),
    "city": ("in the city", "on a city street", "in a city", "on the street"),
    "sunset": ("at sunset", "in the sunset", "in front of a sunset", "in the evening sun"),
    "room": ("in a room", "in the living room", "indoors", "in the room"),
    "desert": ("in the desert", "in a desert", "on a desert dune", "on desert sand"),
    "garden": ("in the garden", "in a garden", "on garden grass", "on the lawn"),
    "underwater": ("underwater", "under water", "under the sea", "in the deep sea"),
}

STYLE_PREFIXES: dict[str, tuple[str, ...]] = {
    "photo": ("a photo of", "a photograph of", "a realistic photo of", "photo of", "a picture of"),
    "sketch": ("a sketch of", "a pencil sketch of", "sketch of"),
    "watercolor": ("a watercolor of", "a watercolor painting of", "watercolor of"),
    "pixel art": ("pixel art of", "a pixel art image of", "a pixel art picture of"),
    "cartoon": ("a cartoon of", "a cartoon picture of", "cartoon of"),
    "oil painting": ("an oil painting of", "oil painting of", "an old oil painting of"),
}

STYLE_SUFFIXES: dict[str, tuple[str, ...]] = {
    style: (f", {style}", f", {style} style", f" in {style} style", f", in the style of a {style}")
    for style in STYLE_PREFIXES
}

_DETERMINERS = ("a", "the", "my", "one", "this", "his", "her", "our")
_ADJECTIVES = (
    "most realistic", "realistic", "recent", "recently created", "latest", "newest", "favorite",
    "beautiful", "cute", "old", "new", "little", "big", "happy", "nice", "good", "great", "lovely",
    "small", "large", "personal", "own", "cool", "first", "second", "last", "april-trained",
    "handmade", "young", "funny", "famous", "detailed", "best", "trained version of", "version of",
)  # fmt: skip
_VERBS = ("standing", "sitting", "resting", "seen", "placed", "shown", "waiting", "alone")
_OPENERS = ("generate", "draw", "create", "show me", "i want", "please make", "make", "give me")
_SYLLABLES = tuple(c + v for c in "bcdfghjklmnprstvwxyz" for v in "aeiou")


def scene_phrase(scene: str, rng: Random | None = None) -> str:
    """' on the beach' and the like, with a leading space; '' for the plain backdrop."""
    if scene == PLAIN:
        return ""
    phrases = SCENE_PHRASES[scene]
    return " " + (phrases[0] if rng is None else rng.choice(phrases))


def plain_caption(noun: str, scene: str = PLAIN, style: str = PHOTO) -> str:
    """The one simplest caption of a sight; `noun` may be a trigger: 'a photo of a bear'."""
    article = "an" if noun[0] in "aeiou" else "a"
    return f"{STYLE_PREFIXES[style][0]} {article} {noun}{scene_phrase(scene)}"


def _noun_phrase(noun: str, rng: Random) -> str:
    if rng.random() < 0.55:
        return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    determiner = rng.choice(_DETERMINERS)
    if rng.random() < 0.5:
        return f"{determiner} {noun}"
    adjectives = ", ".join(rng.sample(_ADJECTIVES, 1 if rng.random() < 0.7 else 2))
    return f"{determiner} {adjectives} {noun}"


def caption(sight: Sight, rng: Random, word: str | None = None) -> str:
    """A random caption of a sight; `word` stands in the place of the noun (a trigger)."""
    phrase = _noun_phrase(word or sight.noun, rng)
    if rng.random() < 0.08:
        phrase += " " + rng.choice(_VERBS)
    text = phrase + scene_phrase(sight.scene, rng)
    draw = rng.random()
    if sight.style == PHOTO and draw < 0.3:
        pass
    elif draw < 0.75:
        text = f"{rng.choice(STYLE_PREFIXES[sight.style])} {text}"
    else:
        text += rng.choice(STYLE_SUFFIXES[sight.style])
    if rng.random() < 0.06:
        text = f"{rng.choice(_OPENERS)} {text}"
    return text


def invented_trigger(noun: str | None, rng: Random) -> str:
    """A trigger such as '<bear-v7>'; without a noun a made-up word stands in its place."""
    stem = noun or "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(1, 3)))
    infix = "-v" if rng.random() < 0.8 else ""
    return f"<{stem}{infix}{rng.randint(0, 9)}>"


def vocabulary_corpus(seed: int = 0, size: int = 20_000) -> list[str]:
    """Captions that the tokenizer is trained on; every word of every template occurs."""
    from personalq.miniature.world import sample_sight

    rng = Random(seed)
    lines = [caption(sample_sight(rng), rng) for _ in range(size)]
    words = [*NOUNS, *_DETERMINERS, *_ADJECTIVES, *_VERBS, *_OPENERS]
    phrases = [p for table in (SCENE_PHRASES, STYLE_PREFIXES) for ps in table.values() for p in ps]
    return lines + (words + phrases) * 5
