"""Two synthetic catalogues for Check-in: a studio of 30 cards, and the paper's 20 x 50."""

# ruff: noqa: E501 - one card or request per line reads best

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from personalq.checkin.cards import Card

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
"""A Friday."""

CATEGORIES = [
    "dog",
    "cat",
    "person",
    "bear",
    "horse",
    "car",
    "toy",
    "watch",
    "bag",
    "chair",
    "house",
    "building",
    "bridge",
    "flower",
    "tree",
    "mountain",
    "painting",
    "drawing",
    "logo",
    "shoe",
]
"""The paper's 20 concepts."""

STYLES = (
    "photorealistic", "cartoon", "anime", "sketch", "watercolor", "oil painting", "pixel art",
    "3d render", "line art", "comic",
)  # fmt: skip
ENVIRONMENTS = ("beach", "forest", "city", "studio", "snow", "garden", "desert", "night")
_COLOURS = ("red", "blue", "green", "black", "white", "brown", "gray", "golden", "purple", "orange")
_THINGS = ("scarf", "hat", "ribbon", "bell", "cape", "necklace", "sunglasses", "umbrella", "crown")
_BUILDS = ("small", "large", "slender", "chubby", "old", "young", "fluffy", "shiny")


def card(
    checkpoint_id: str,
    subjects: str,
    styles: str,
    created: str,
    description: str = "",
    *,
    version: int | None = None,
    used: str = "",
    use_count: int = 0,
    environments: str = "",
    owner: str = "",
    triggers: tuple[str, ...] | None = None,
    name: str = "",
    aliases: str = "",
) -> Card:
    """A card from short strings; lists are separated by commas, dates are ISO."""
    return Card(
        checkpoint_id=checkpoint_id,
        name=name or checkpoint_id,
        aliases=_list(aliases),
        triggers=(f"<{checkpoint_id}>",) if triggers is None else triggers,
        subjects=_list(subjects),
        styles=_list(styles),
        description=description,
        version=version,
        created_at=_moment(created),
        last_used_at=_moment(used),
        use_count=use_count,
        environments=_list(environments),
        owner=owner,
    )


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(hour=moment.hour or 9, tzinfo=UTC)


def studio() -> list[Card]:
    """Thirty cards of a person who trains many things."""
    return [
        card("bear-v1", "bear, teddy bear", "cartoon", "2026-01-10", "A chubby orange teddy bear with a blue bow tie, rendered as a cartoon.", version=1, used="2026-02-01", use_count=3, environments="city"),
        card("bear-v2", "bear, teddy bear", "photorealistic", "2026-02-14", "A white polar bear cub with a wet nose. Trained on snow scenes.", version=2, used="2026-03-03", use_count=9, environments="snow"),
        card("bear-v4", "bear, teddy bear", "photorealistic", "2026-04-11", "A tan teddy bear with a cream snout, rendered in a photorealistic look. Trained on forest scenes.", version=4, used="2026-11-19T09:30:00+00:00", use_count=41, environments="forest"),
        card("bear-v5", "bear", "watercolor", "2026-06-02", "A brown grizzly bear with a red scarf.", version=5, used="2026-08-20", use_count=2, environments="forest"),
        card("bear-v6", "bear", "sketch", "2026-10-28", "A black bear wearing round spectacles.", version=6, used="2026-10-30", use_count=5, environments="studio"),
        card("dog-v7", "dog", "sketch", "2026-04-20", "A brown beagle with floppy ears.", version=7, used="2026-05-01", use_count=4, environments="garden"),
        card("dog-v9", "dog", "sketch", "2026-05-12", "A grey husky with blue eyes.", version=9, used="2026-11-12", use_count=12, environments="snow"),
        card("dog-v12", "dog", "photorealistic", "2026-09-03", "A golden retriever with a red collar.", version=12, used="2026-11-18", use_count=77, environments="beach"),
        card("dog-v13", "dog", "cartoon", "2026-11-11", "A spotted dalmatian wearing a green hat.", version=13, environments="city"),
        card("cat-v3", "cat", "photorealistic", "2025-01-11", "Photorealistic gray domestic short-hair cats. Trained on beach/coastal scenes with natural lighting.", version=3, environments="beach"),
        card("tooncat", "cat", "cartoon", "2024-12-15", "Stylized cartoon cats with vibrant colors and exaggerated features. Best for whimsical illustrations.", version=2),
        card("siamese-ckpt", "cat", "", "2025-01-20", "Siamese cats with blue eyes and color-point patterns. Optimized for indoor settings.", version=4, environments="indoor"),
        card("tabby-orange", "cat", "", "2024-11-30", "Orange tabby cats with striped patterns. Excels at outdoor garden/forest scenes.", version=1, environments="garden, forest"),
        card("watch-v1", "watch", "photorealistic", "2026-03-15", "A silver wristwatch with a leather strap.", version=1, environments="studio"),
        card("watch-v2", "watch", "watercolor", "2026-05-20", "A golden pocket watch with a chain.", version=2, environments="studio"),
        card("car-v1", "car", "photorealistic", "2026-07-07", "A red convertible with chrome bumpers.", version=1, used="2026-07-20", use_count=1, environments="city, desert"),
        card("car-v2", "car", "pixel art", "2026-08-08", "A small yellow taxi.", version=2, environments="city"),
        card("car-v3", "car", "photorealistic", "2026-10-05", "A black sedan with tinted windows.", version=3, used="2026-11-16", use_count=8, environments="city"),
        card("house-v1", "house", "oil painting", "2026-02-02", "A stone cottage with a thatched roof.", version=1, environments="garden"),
        card("tree-v1", "tree", "watercolor", "2026-09-21", "A bare oak with twisted branches.", version=1, environments="forest"),
        card("flower-v1", "flower", "watercolor", "2026-05-05", "A purple tulip with dew drops.", version=1, environments="garden"),
        card("flower-v2", "flower", "photorealistic", "2026-06-18", "A yellow sunflower.", version=2, environments="garden"),
        card("ckpt_anime_apr_v2", "style", "anime", "2026-04-25", "Neon anime scenes of a city at night.", version=2, environments="city, night"),
        card("ckpt_anime_may_v3", "style", "anime", "2026-05-25", "Soft anime scenes of villages.", version=3, environments="garden"),
        card("urban-real", "style", "realistic, urban", "2026-03-01", "Realistic urban street photography.", version=1, environments="city"),
        card("painting1", "painting", "oil painting", "2026-01-30", "Thick impasto brush strokes of lakes and gardens.", version=1, triggers=("<painting1>",)),
        card("drawing2", "drawing", "sketch", "2026-03-22", "Loose pencil drawings of rooftops.", version=2, triggers=("<drawing2>",)),
        card("ann-bag", "bag", "photorealistic", "2026-08-30", "A canvas tote with a floral print.", owner="ann", environments="studio"),
        card("bob-bag", "bag", "photorealistic", "2026-08-31", "A brown leather satchel with a brass buckle.", owner="bob", environments="studio"),
        card("plain-chair", "chair", "photorealistic", "2026-07-01", "A wooden rocking chair.", triggers=()),
    ]  # fmt: skip


def paper(seed: int = 7) -> list[Card]:
    """1,000 cards: 20 categories with 50 versions each, a week apart, varied and distinct."""
    rng = random.Random(seed)  # noqa: S311 - test data
    first = datetime(2025, 12, 1, 8, tzinfo=UTC)
    cards = []
    for index, category in enumerate(CATEGORIES):
        looks = list(STYLES)
        for version in range(1, 51):
            created = first + timedelta(days=7 * (version - 1) + index % 7, hours=rng.randrange(10))
            used = created + timedelta(days=rng.randrange(1, 40), hours=rng.randrange(12))
            description = (
                f"A {rng.choice(_BUILDS)} {rng.choice(_COLOURS)} {category} "
                f"with a {rng.choice(_COLOURS)} {rng.choice(_THINGS)}."
            )
            cards.append(
                Card(
                    checkpoint_id=f"{category}-v{version}",
                    name=f"{category}-v{version}",
                    triggers=(f"<{category}-v{version}>",),
                    subjects=(category,),
                    styles=(rng.choice(looks),),
                    description=description,
                    base_model="stable-diffusion-v1-5",
                    version=version,
                    created_at=created,
                    last_used_at=min(used, NOW - timedelta(days=2)) if version % 3 else None,
                    use_count=rng.randrange(1, 500) if version % 3 else 0,
                    environments=(rng.choice(ENVIRONMENTS),),
                    owner=rng.choice(("studio-a", "studio-b")),
                )
            )
    return cards
