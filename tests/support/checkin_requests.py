"""Labelled requests for Check-in: what a person may say, and what is meant by it.

`STUDIO` is labelled by hand on `checkin_cards.studio`. `PAPER` is labelled by a predicate on
`checkin_cards.paper`: none fits → no match; one fits → that one; several → ask, or the one a
stated order picks.
"""

# ruff: noqa: E501 - one card or request per line reads best

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from personalq.checkin.cards import Card

ASK = "?"
NONE = ""


@dataclass(frozen=True)
class Case:
    """A request on the studio's cards; `expected` is an id, ASK or NONE."""

    kind: str
    prompt: str
    expected: str
    answer: str = ""
    final: str = ""
    rewritten: str = ""
    pool: tuple[str, ...] = ()


STUDIO: tuple[Case, ...] = (
    # The papers' own examples.
    Case("paper", "my most realistic, recently created bear on forest grass", "bear-v4", rewritten="my most realistic, recently created <bear-v4> on forest grass"),
    Case("paper", "April-trained version of bear", "bear-v4", rewritten="April-trained version of <bear-v4>"),
    Case("paper", "Forest's fall grass with an April-trained version of bear", "bear-v4", rewritten="Forest's fall grass with an April-trained version of <bear-v4>"),
    Case("paper", "Bear on forest grass using the April-trained version", "bear-v4", rewritten="<bear-v4> on forest grass using the April-trained version"),
    Case("paper", "April anime build", "ckpt_anime_apr_v2"),
    Case("paper", "Anime night city, the April build", "ckpt_anime_apr_v2"),
    Case("paper", "Anime night city, the April build", "ckpt_anime_apr_v2", pool=("ckpt_anime_apr_v2", "ckpt_anime_may_v3")),
    Case("paper", "v2 sketch model", "drawing2"),
    Case("paper", "Realistic urban", "urban-real"),
    Case("paper", "Yesterday's model", "bear-v4"),
    Case("paper", "Spring sketch", ASK, "May", "dog-v9"),
    Case("paper", "December watercolor", NONE),
    Case("paper", "Generate a photo of the latest cat model on a beach at sunset", "cat-v3", rewritten="Generate a photo of the latest <cat-v3> model on a beach at sunset"),
    Case("paper", "the April dog model", "dog-v7"),
    Case("paper", "latest version", "dog-v13"),
    Case("paper", "anime style from last week", NONE),
    Case("paper", "Teddy bear on a rainy balcony, the April build", "bear-v4", rewritten="<bear-v4> on a rainy balcony, the April build"),
    Case("paper", "spring sketch of the dog", ASK, "the May one", "dog-v9", pool=("dog-v7", "dog-v9", "dog-v12")),
    Case("paper", "December watercolor of the watch", NONE),
    Case("paper", "A photo of <dog-v12> in the snow, with a blurry forest background.", "dog-v12", rewritten="A photo of <dog-v12> in the snow, with a blurry forest background."),
    Case("paper", "A <painting1>-style photo of a flower garden with a white wrought-iron gazebo", "painting1"),
    # Time.
    Case("temporal", "the bear from April", "bear-v4"),
    Case("temporal", "a bear trained in January, sitting in a cafe", "bear-v1"),
    Case("temporal", "dog I made last week", "dog-v13"),
    Case("temporal", "the bear created before February", "bear-v1"),
    Case("temporal", "car trained after September", "car-v3"),
    Case("temporal", "the dog trained between August and October", "dog-v12"),
    Case("temporal", "the bear built this June", "bear-v5"),
    Case("temporal", "bear 2026-04 on a red sofa", "bear-v4"),
    Case("temporal", "the dog model from 2026-05-12", "dog-v9"),
    Case("temporal", "the dog of May 2026", "dog-v9"),
    Case("temporal", "dog trained in Q3", "dog-v12"),
    Case("temporal", "the cat from last year", ASK, "the siamese", "siamese-ckpt"),
    Case("temporal", "the cat from December 2024", "tooncat"),
    Case("temporal", "the cat trained in November", "tabby-orange"),
    Case("temporal", "the bear from before Valentine's Day", "bear-v1"),
    Case("temporal", "the watch made in mid-March", "watch-v1"),
    Case("temporal", "summer car on a mountain road", ASK, "the pixel one", "car-v2"),
    Case("temporal", "the bear trained around Halloween", "bear-v6"),
    Case("temporal", "the dog from two months ago", "dog-v12"),
    Case("temporal", "the bear from last month", "bear-v6"),
    Case("temporal", "the car trained no later than July", "car-v1"),
    Case("temporal", "bear trained no earlier than October", "bear-v6"),
    Case("temporal", "the dog from last week but one", NONE),
    Case("temporal", "March-trained watch", "watch-v1"),
    Case("temporal", "the May watch", "watch-v2"),
    Case("temporal", "the flower model from the first week of May", "flower-v1"),
    Case("temporal", "the dog from April or May", ASK, "April", "dog-v7"),
    Case("temporal", "a tree since September", "tree-v1"),
    Case("temporal", "the bear from late October", "bear-v6"),
    Case("temporal", "the bear from the second quarter of 2026, not the watercolor one", "bear-v4"),
    Case("temporal", "whichever bear predates February 2026, in a canoe", "bear-v1"),
    Case("temporal", "bear v4, a train ticket from yesterday lying next to it", "bear-v4"),
    Case("temporal", "the oldest bear, under a kite with a face on it, late autumn", "bear-v1"),
    Case("order", "A lone cowboy rides past the car, and the car should be our third oldest one", "car-v3"),
    Case("order", "the first bear ever trained, in a canoe", "bear-v1"),
    Case("order", "our newest bear pls, on a raft", "bear-v6"),
    Case("order", "Which bear did we train first? That one, in a canoe.", "bear-v1"),
    Case("version", "bear jumping over a stove – version four", "bear-v4"),
    # Version.
    Case("version", "bear v2 on ice", "bear-v2"),
    Case("version", "version 5 of the bear", "bear-v5"),
    Case("version", "ver. 12 dog in a park", "dog-v12"),
    Case("version", "the dog, version number nine", "dog-v9"),
    Case("version", "the 4th bear", "bear-v4"),
    Case("version", "dog version thirteen", "dog-v13"),
    Case("version", "dog #7", "dog-v7"),
    Case("version", "the sixth bear at night", "bear-v6"),
    Case("version", "dog V9 running", "dog-v9"),
    Case("version", "bear v.5", "bear-v5"),
    Case("version", "bear v3", NONE),
    Case("version", "v3 of the bear, version 5", NONE),
    Case("version", "bear before v2", "bear-v1"),
    Case("version", "bear v4 or v5", ASK, "v5", "bear-v5"),
    Case("version", "bear v4 … version 5", ASK, "version 5", "bear-v5"),
    Case("version", "the second version of the watch", "watch-v2"),
    # Order.
    Case("order", "the latest bear", "bear-v6"),
    Case("order", "the bear I trained first", "bear-v1"),
    Case("usage", "the dog I reach for most often", "dog-v12"),
    Case("description", "the dog in a red neckband", "dog-v12"),
    Case("description", "the taxi in traffic", "car-v2", rewritten="the <car-v2> in traffic"),
    Case("order", "my newest dog on a skateboard", "dog-v13"),
    Case("order", "the newest but one dog", "dog-v12"),
    Case("order", "the second most recent bear", "bear-v5"),
    Case("order", "third newest bear", "bear-v4"),
    Case("order", "the very first bear", "bear-v1"),
    Case("order", "the oldest cat", "tabby-orange"),
    Case("order", "first dog I trained", "dog-v7"),
    Case("order", "the bear before the latest", "bear-v5"),
    Case("order", "the last dog", "dog-v13"),
    Case("order", "most recent car at dusk", "car-v3"),
    Case("order", "my recent photorealistic car", "car-v3"),
    Case("order", "the penultimate bear", "bear-v5"),
    Case("order", "the ninth newest bear", NONE),
    Case("order", "the original bear", "bear-v1"),
    # Wordings of order, version and use.
    Case("order", "not the newest bear but the one right before it", "bear-v5"),
    Case("order", "the bear that came just before the latest one", "bear-v5"),
    Case("order", "the second bear we ever built", "bear-v2"),
    Case("version", "the bear, mark V", "bear-v5"),
    Case("version", "any bear version above 5", "bear-v6"),
    Case("version", "the bear that followed v4", "bear-v5"),
    Case("version", "the bear which preceded version 3", "bear-v2"),
    Case("version", "dog v13 or newer", "dog-v13"),
    Case("version", "the dog just before v12", "dog-v9"),
    Case("usage", "the bear I use least", "bear-v5"),
    Case("usage", "a dog nobody has used yet", "dog-v13"),
    Case("usage", "the car I rendered with only once", "car-v1"),
    Case("usage", "the bear untouched since March 15", ASK, "the polar bear", "bear-v2"),
    Case("temporal", "a loose sketch of the May dog", "dog-v9"),
    Case("temporal", "last winter's polar bear", "bear-v2"),
    Case("temporal", "the dog from the week of May 11", "dog-v9"),
    Case("usage", "the dog with the highest use count, at a cinema", "dog-v12"),
    Case("usage", "the bear with the lowest number of uses", "bear-v5"),
    Case("usage", "the bag that ann made", "ann-bag"),
    Case("usage", "a bag, not bob's", "ann-bag"),
    # Style.
    Case("style", "the realistic dog", "dog-v12"),
    Case("style", "use the most realistic dog on a raft", "dog-v12"),
    Case("style", "a cartoonish dog on the moon", "dog-v13"),
    Case("style", "photoreal dog by a lake", "dog-v12"),
    Case("style", "bear in pencil", "bear-v6"),
    Case("style", "an aquarelle of the bear", "bear-v5"),
    Case("style", "8-bit car", "car-v2"),
    Case("style", "bear, hand-drawn", "bear-v6"),
    Case("style", "the house in oils", "house-v1"),
    Case("style", "lifelike flower on a windowsill", "flower-v2"),
    Case("style", "watch, not the watercolor one", "watch-v1"),
    Case("style", "any flower but not photorealistic", "flower-v1"),
    Case("style", "the bear in the style of a cartoon", "bear-v1"),
    Case("style", "pixel art dog", NONE),
    Case("style", "a painting of the bear", "bear-v5"),
    Case("style", "watercolour bear in a boat", "bear-v5"),
    Case("style", "a watercolor painting of the tree", "tree-v1"),
    # Environment.
    Case("environment", "the dog trained at the beach", "dog-v12"),
    Case("environment", "the bear trained on forest scenes in April", "bear-v4"),
    Case("environment", "the studio bear model", "bear-v6"),
    Case("environment", "the dog shot in the woods", NONE),
    Case("environment", "the snow-trained dog", "dog-v9"),
    Case("environment", "the bear one trained in the city", "bear-v1"),
    Case("environment", "the car trained on desert pictures", "car-v1"),
    Case("environment", "the seaside dog version", "dog-v12"),
    Case("environment", "a bear trained in the snow, playing chess", "bear-v2"),
    # Usage.
    Case("usage", "the bear I used yesterday", "bear-v4"),
    Case("usage", "my most used dog", "dog-v12"),
    Case("usage", "the one I used last", "bear-v4"),
    Case("usage", "the dog I used last week", "dog-v9"),
    Case("usage", "my favourite bear", "bear-v4"),
    Case("usage", "the car used this week", "car-v3"),
    Case("usage", "last used dog in a car park", "dog-v12"),
    Case("usage", "the bear I last used in August", "bear-v5"),
    Case("usage", "the watch I used yesterday", NONE),
    Case("usage", "the car I haven't used since August", "car-v1"),
    # Description.
    Case("description", "the grey husky on a hill", "dog-v9"),
    Case("description", "the dog with the crimson neckband", "dog-v12"),
    Case("description", "the dotted dog", "dog-v13"),
    Case("description", "the bear wearing glasses", "bear-v6"),
    Case("description", "the chubby bear with a bowtie", "bear-v1"),
    Case("description", "a beige plush bear with an off-white muzzle", "bear-v4"),
    Case("description", "the bear with a muffler in the rain", "bear-v5"),
    Case("description", "the ginger tabby cat on a fence", "tabby-orange"),
    Case("description", "the siamese on a sofa", "siamese-ckpt"),
    Case("description", "my red open-top car", "car-v1"),
    Case("description", "the sedan at a gas station", "car-v3"),
    Case("description", "the polar bear reading a book", "bear-v2"),
    Case("description", "the dalmatian in a firehouse", "dog-v13"),
    Case("description", "the bag with a flower pattern print", "ann-bag"),
    Case("description", "the golden wristwatch on a chain", "watch-v2"),
    Case("description", "the dog that has a crimson neckband and is golden", "dog-v12"),
    Case("description", "a bear of ours that comes with spectacles", "bear-v6"),
    Case("description", "the bear in a scarlet muffler with a mug of cocoa", "bear-v5"),
    Case("description", "dog, droopy ears, evening sun", "dog-v7"),
    Case("description", "the car which has dark-tinted panes", "car-v3"),
    Case("description", "a watch with a strap made of hide, under a double rainbow", "watch-v1"),
    Case("description", "the flower with water droplets", "flower-v1"),
    Case("description", "the bag that has a clasp of brass", "bob-bag"),
    Case("description", "the dog with a golden sunrise behind it", ASK, "the spotted one", "dog-v13"),
    Case("description", "show me the dog, the one that's a retriever", "dog-v12"),
    Case("description", "a bear with a kite", ASK, "the one with the scarf", "bear-v5"),
    # Combinations.
    Case("combination", "the latest realistic bear with a cream snout in the rain", "bear-v4"),
    Case("combination", "oldest sketch of the dog", "dog-v7"),
    Case("combination", "newest photorealistic car trained in the city", "car-v3"),
    Case("combination", "the sketch dog from May with blue eyes", "dog-v9"),
    Case("combination", "my latest watercolor", "tree-v1"),
    Case("combination", "the last watercolor before June", "watch-v2"),
    Case("combination", "v2 watch in watercolor from May", "watch-v2"),
    Case("combination", "v2 watch in watercolor from April", NONE),
    Case("combination", "the first photorealistic bear", "bear-v2"),
    # Ambiguous, with an answer.
    Case("no match", "umbrella v3 in the rain", NONE),
    Case("no match", "giraffe v3 looking over a garden wall", NONE),
    Case("ambiguous", "a bear on a bicycle", ASK, "the tan one", "bear-v4"),
    Case("ambiguous", "a bear on a bicycle", ASK, "neither, the snowy one", "bear-v2"),
    Case("ambiguous", "a bear on a bicycle", ASK, "whatever", "bear-v6"),
    Case("ambiguous", "a bear on a bicycle", ASK, "the June one please", "bear-v5"),
    Case("ambiguous", "a bear on a bicycle", ASK, "the newest", "bear-v6"),
    Case("ambiguous", "a bear on a bicycle", ASK, "the cartoon", "bear-v1"),
    Case("ambiguous", "a bear on a bicycle", ASK, "version 2", "bear-v2"),
    Case("ambiguous", "a bear on a bicycle", ASK, "um, the one wearing specs", "bear-v6"),
    Case("ambiguous", "sketch of a dog", ASK, "the husky", "dog-v9"),
    Case("ambiguous", "sketch of a dog", ASK, "April", "dog-v7"),
    Case("ambiguous", "sketch of a dog", ASK, "actually the realistic one", "dog-v12"),
    Case("ambiguous", "the watch on a nightstand", ASK, "the golden one", "watch-v2"),
    Case("ambiguous", "a photorealistic car on a bridge", ASK, "the black one", "car-v3"),
    Case("ambiguous", "a pet in a basket", ASK, "the dog with the hat", "dog-v13"),
    Case("ambiguous", "a photo of a bag", ASK, "the leather one", "bob-bag"),
    Case("ambiguous", "the flower in a vase", ASK, "the photo", "flower-v2"),
    # No match.
    Case("no match", "a pangolin in the snow", NONE),
    Case("no match", "an elephant on a bridge", NONE),
    Case("no match", "the wizard from April", NONE),
    Case("no match", "a photo of my giraffe", NONE),
    Case("no match", "🐻🐻🐻", NONE),
    Case("no match", "a dog from August", NONE),
    Case("no match", "<unicorn-v1> in a field", NONE),
    Case("no match", "a dog house in the garden", NONE),
    Case("no match", "bear market crash", NONE),
    Case("no match", "cat-eye sunglasses on a table", NONE),
    Case("no match", "the anime bear", NONE),
    Case("no match", "the pangolin model", NONE),
    Case("no match", "a hot dog with mustard", NONE),
    # Words that are scene here and constraint elsewhere.
    Case("scene", "the latest flower at a spring market in May", "flower-v2"),
    Case("scene", "bear v4 at a sunday market", "bear-v4"),
    Case("scene", "bear v2 at night under the April stars", "bear-v2"),
    Case("scene", "the oldest bear in a winter forest", "bear-v1"),
    Case("scene", "dog v12 on a march through the city", "dog-v12"),
    Case("scene", "dog v9 next to an oil painting", "dog-v9"),
    Case("scene", "the realistic dog on a sketch pad", "dog-v12"),
    Case("scene", "dog v7 in front of a cartoon poster", "dog-v7"),
    Case("scene", "the latest house by the tree", "house-v1", rewritten="the latest <house-v1> by the tree"),
    Case("scene", "dog v13 beside a bear", "dog-v13", rewritten="dog v13 beside a bear".replace("dog", "<dog-v13>", 1)),
    Case("scene", "the husky in the desert", "dog-v9"),
    Case("scene", "the house on a beach", "house-v1", rewritten="the <house-v1> on a beach"),
    Case("scene", "my tree on a wooden table, at sunset", "tree-v1"),
    Case("scene", "a realistic dog in autumn leaves", "dog-v12"),
    # Identity.
    Case("identity", "<bear-v4> on a surfboard", "bear-v4", rewritten="<bear-v4> on a surfboard"),
    Case("identity", "<BEAR-V4> on a surfboard", "bear-v4", rewritten="<bear-v4> on a surfboard"),
    Case("identity", "bear-v4 on a surfboard", "bear-v4", rewritten="<bear-v4> on a surfboard"),
    Case("identity", "dog-v9 in sketch", "dog-v9", rewritten="<dog-v9> in sketch"),
    Case("identity", "a watercolor of dog-v12 at dawn", "dog-v12"),
    Case("identity", "tooncat jumping", "tooncat"),
    Case("identity", "ckpt_anime_may_v3 village", "ckpt_anime_may_v3"),
)  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """A request on the paper's cards, labelled by what it means."""

    kind: str
    prompt: str
    meant: Callable[[Card], bool]
    order: str = ""
    """ "newest", "oldest", "last_used", "most_used", with a place ("newest 2")."""


def expected_ids(rule: Rule, cards: Sequence[Card]) -> list[str]:
    """The ids a rule leaves open: none, one, or several to ask about."""
    found = sorted((c for c in cards if rule.meant(c)), key=lambda c: c.checkpoint_id)
    if not rule.order:
        return [c.checkpoint_id for c in found]
    name, _, place = rule.order.partition(" ")
    keys: dict[str, Callable[[Card], float]] = {
        "newest": lambda c: -_seconds(c.created_at),
        "oldest": lambda c: _seconds(c.created_at),
        "last_used": lambda c: -_seconds(c.last_used_at),
        "most_used": lambda c: -float(c.use_count),
    }
    found.sort(key=lambda c: -_seconds(c.created_at))  # what decides between equals
    found.sort(key=keys[name])
    index = int(place or 1) - 1
    return [found[index].checkpoint_id] if index < len(found) else []


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment is not None else 0.0


def _is(category: str, *styles: str) -> Callable[[Card], bool]:
    return lambda c: c.subjects[0] == category and (not styles or c.styles[0] in styles)


def _month(category: str, year: int, month: int, *styles: str) -> Callable[[Card], bool]:
    def meant(c: Card) -> bool:
        assert c.created_at is not None
        same = (c.created_at.year, c.created_at.month) == (year, month)
        return same and _is(category, *styles)(c)

    return meant


def _between(category: str, first: str, last: str, *styles: str) -> Callable[[Card], bool]:
    def meant(c: Card) -> bool:
        assert c.created_at is not None
        return first <= c.created_at.date().isoformat() < last and _is(category, *styles)(c)

    return meant


def _used(category: str, first: str, last: str) -> Callable[[Card], bool]:
    def meant(c: Card) -> bool:
        used = c.last_used_at.date().isoformat() if c.last_used_at else ""
        return first <= used < last and _is(category)(c)

    return meant


def _version(category: str, *versions: int) -> Callable[[Card], bool]:
    return lambda c: c.subjects[0] == category and c.version in versions


def _says(category: str, *words: str) -> Callable[[Card], bool]:
    return lambda c: c.subjects[0] == category and all(word in c.description for word in words)


def _place(category: str, place: str, *styles: str) -> Callable[[Card], bool]:
    return lambda c: _is(category, *styles)(c) and place in c.environments


PAPER: tuple[Rule, ...] = (
    Rule("version", "v17 of the dog on a beach", _version("dog", 17)),
    Rule("version", "a horse, version 31, in a meadow", _version("horse", 31)),
    Rule("version", "the 47th logo", _version("logo", 47)),
    Rule("version", "chair version twenty-two by the fireplace", _version("chair", 22)),
    Rule("version", "my shoe ver. 7 on a shelf", _version("shoe", 7)),
    Rule("version", "bridge v 12 over a river", _version("bridge", 12)),
    Rule("version", "person v51 in a cafe", _version("person", 51)),
    Rule("version", "the forty-fifth toy", _version("toy", 45)),
    Rule("version", "mountain v3 at dawn", _version("mountain", 3)),
    Rule("version", "a cat (v8) with a ball of yarn", _version("cat", 8)),
    Rule("order", "the latest horse galloping on a beach", _is("horse"), "newest"),
    Rule("order", "oldest chair in a sunny room", _is("chair"), "oldest"),
    Rule("order", "newest but one logo on a mug", _is("logo"), "newest 2"),
    Rule("order", "the third most recent person on a stage", _is("person"), "newest 3"),
    Rule("order", "the very first bridge in fog", _is("bridge"), "oldest"),
    Rule("order", "fifth newest bag on a bench", _is("bag"), "newest 5"),
    Rule("order", "latest anime cat on a roof", _is("cat", "anime"), "newest"),
    Rule("order", "the oldest pixel art building at night", _is("building", "pixel art"), "oldest"),
    Rule("order", "most recent watercolour of the flower", _is("flower", "watercolor"), "newest"),
    Rule("order", "last sketch of the house", _is("house", "sketch"), "newest"),
    Rule("usage", "my most used toy in the grass", _is("toy"), "most_used"),
    Rule("usage", "the car I used last, on a mountain road", _is("car"), "last_used"),
    Rule("usage", "the dog I used last week in the park", _used("dog", "2026-11-09", "2026-11-16")),
    Rule("temporal", "the December dog", _month("dog", 2025, 12)),
    Rule("temporal", "an anime person from March", _month("person", 2026, 3, "anime")),
    Rule("temporal", "cartoon bear trained in June on a boat", _month("bear", 2026, 6, "cartoon")),
    Rule("temporal", "the comic car from July 2026", _month("car", 2026, 7, "comic")),
    Rule("temporal", "watercolor tree made in February", _month("tree", 2026, 2, "watercolor")),
    Rule("temporal", "last week's watch", _between("watch", "2026-11-09", "2026-11-16")),
    Rule("temporal", "the shoe from last week", _between("shoe", "2026-11-09", "2026-11-16")),
    Rule("temporal", "the bag trained before Christmas", _between("bag", "2025-01-01", "2025-12-25")),
    Rule("temporal", "the logo from 2027", _between("logo", "2027-01-01", "2028-01-01")),
    Rule("temporal", "3d flower between March and May", _between("flower", "2026-03-01", "2026-06-01", "3d render")),
    Rule("temporal", "sketch of the mountain since September", _between("mountain", "2026-09-01", "2027-01-01", "sketch")),
    Rule("temporal", "an oil painting of the horse from spring", _between("horse", "2026-03-01", "2026-06-01", "oil painting")),
    Rule("temporal", "pixel art chair from Q1 2026", _between("chair", "2026-01-01", "2026-04-01", "pixel art")),
    Rule("temporal", "the building trained in 2025 as line art", _between("building", "2025-01-01", "2026-01-01", "line art")),
    Rule("style", "a photorealistic dog", _is("dog", "photorealistic")),
    Rule("style", "a claymation dog", _is("dog", "claymation")),
    Rule("style", "a 3D house on a hill", _is("house", "3d render")),
    Rule("environment", "the dog trained at the beach in watercolor", _place("dog", "beach", "watercolor")),
    Rule("environment", "a comic cat trained on night scenes", _place("cat", "night", "comic")),
    Rule("environment", "cartoon horse, the one trained in the desert", _place("horse", "desert", "cartoon")),
    Rule("environment", "the line art shoe trained in the woods", _place("shoe", "forest", "line art")),
    Rule("description", "the little red cat with a violet cloak in a library", _says("cat", "small red", "purple cape")),
    Rule("description", "the lean brown feline wearing blue shades", _says("cat", "slender brown", "blue sunglasses")),
    Rule("description", "a plump blue car with a white parasol in the rain", _says("car", "chubby blue", "white umbrella")),
    Rule("description", "a giant purple bear holding a violet umbrella, on the moon", _says("bear", "large purple", "purple umbrella")),
    Rule("description", "the elderly black dog with a white tiara", _says("dog", "old black", "white crown")),
    Rule("combination", "the newest photorealistic chair trained in the studio", _place("chair", "studio", "photorealistic"), "newest"),
    Rule("combination", "oldest comic toy from summer", _between("toy", "2026-06-01", "2026-09-01", "comic"), "oldest"),
    Rule("ambiguous", "a dog on the beach", _is("dog")),
    Rule("ambiguous", "an anime cat in the kitchen", _is("cat", "anime")),
    Rule("ambiguous", "the May horse in a barn", _month("horse", 2026, 5)),
    Rule("ambiguous", "a bag next to a tree", _is("bag")),
    Rule("ambiguous", "spring flower model in a vase", _between("flower", "2026-03-01", "2026-06-01")),
    Rule("no match", "a tree house by a river", lambda c: False),
    Rule("no match", "a painted pangolin on a rock", lambda c: False),
    Rule("no match", "a zebra in the savanna", _is("zebra")),
    Rule("no match", "my penguin on a bridge", _is("penguin")),
    Rule("no match", "the dog trained in a submarine", _place("dog", "submarine")),
    Rule("scene", "latest house near a tree by the mountain", _is("house"), "newest"),
    Rule("scene", "the latest mountain model at sea", _is("mountain"), "newest"),
    Rule("scene", "make the latest horse jump over a fence", _is("horse"), "newest"),
    Rule("scene", "newest dog seen from above, passing a pixel sign", _is("dog"), "newest"),
    Rule("scene", "newest person under a winter sky", _is("person"), "newest"),
    Rule("scene", "the oldest car on a night street in the rain", _is("car"), "oldest"),
)  # fmt: skip
