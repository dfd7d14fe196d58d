"""What a noun stands for, on catalogs nobody wrote words for."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from personalq.checkin.cards import Vocabulary
from personalq.checkin.intent import Attribute
from personalq.checkin.lexicon import thesaurus, wordnet
from personalq.checkin.lexicon.build import build
from personalq.checkin.lexicon.wordnet import Nature
from personalq.checkin.nouns import heads, is_other_thing
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.vocabulary import Lexicon, compile_lexicon

CATALOGS = {
    "home": "teapot, grandfather clock, robot vacuum, sofa, backpack, fridge, violin, lamp, rug",
    "zoo": "parrot, owl, elephant, seal, crane, mouse, dolphin, penguin, frog, panda",
    "pets": "dog, cat, rabbit, goldfish",
    "road": "car, bicycle, tractor, lighthouse, sailboat, drone",
    "wardrobe": "sneaker, t-shirt, hoodie, wedding dress, sunglasses, hat",
    "garden": "rose, oak, mushroom, cactus, garden gnome",
    "people": "wizard, astronaut, knight",
    "shelf": "teddy bear, doll, music box, chess piece, snow globe",
    "farm": "horse, sheep, barn, rooster",
    "table": "pizza, cupcake, apple, mug, wine bottle",
    "city": "house, building, bridge, bench, statue",
    "paper": "dog, cat, person, bear, horse, car, toy, watch, bag, chair, house, building, bridge, "
    "flower, tree, mountain, painting, drawing, logo, shoe",
}
SAME = """
home: tea pot = teapot
home: longcase clock = grandfather clock
home: couch = sofa
home: couches = sofa
home: settee = sofa
home: rucksack = backpack
home: knapsacks = backpack
home: refrigerator = fridge
home: fiddle = violin
home: carpet = rug
zoo: lamps = -
zoo: mice = mouse
zoo: panda bear = panda
zoo: toad = -
pets: pooch = dog
pets: doggo = dog
pets: hound = dog
pets: canine = dog
pets: mutt = dog
pets: kitty = cat
pets: feline = cat
pets: pussycat = cat
pets: bunny = rabbit
pets: bunnies = rabbit
road: automobile = car
road: auto = car
road: motorcar = car
road: bike = bicycle
road: pushbike = bicycle
road: sailing boat = sailboat
road: quadcopter = drone
wardrobe: tee = t-shirt
wardrobe: tee shirt = t-shirt
wardrobe: T-shirts = t-shirt
wardrobe: bridal gown = wedding dress
wardrobe: trainer = sneaker
wardrobe: hooded sweatshirt = hoodie
wardrobe: shades = sunglasses
garden: oak tree = oak
garden: toadstool = mushroom
garden: cacti = cactus
people: sorcerer = wizard
people: magician = wizard
people: spaceman = astronaut
people: cosmonaut = astronaut
shelf: teddy = teddy bear
shelf: chessman = chess piece
shelf: dolly = doll
farm: rooster = rooster
farm: cockerel = rooster
table: coffee mug = mug
paper: human = person
paper: timepiece = watch
paper: wristwatch = watch
paper: emblem = logo
paper: blossom = flower
paper: plaything = toy
"""
NARROWER = """
pets: corgi = dog
pets: corgis = dog
pets: dachshund = dog
pets: goldendoodle = dog
pets: shiba inu = dog
pets: pup = dog
pets: kitten = cat
pets: siamese = cat
pets: maine coon = cat
road: roadster = car
road: limousine = car
road: jeep = car
road: taxi = car
road: police car = car
road: tandem = bicycle
home: couchette = -
home: armchair = -
home: chesterfield = sofa
zoo: macaw = parrot
zoo: cockatoo = parrot
zoo: budgie = parrot
zoo: barn owl = owl
zoo: emperor penguin = penguin
zoo: bullfrog = frog
wardrobe: fedora = hat
wardrobe: beanie = hat

garden: prickly pear = cactus
farm: pony = horse
farm: stallion = horse
farm: ram = sheep
farm: lamb = sheep
paper: grizzly = bear
paper: polar bear = bear
paper: panda = bear
paper: oak = tree
paper: tulip = flower
paper: roses = flower
paper: stopwatch = watch
paper: handbag = bag
paper: rocking chair = chair
paper: cottage = house
paper: skyscraper = building
paper: sneakers = shoe
paper: volcano = mountain
paper: doll = toy
paper: woman = person

"""
KIND = """
home: clock = grandfather clock
home: vacuum cleaner = robot vacuum
home: hoover = robot vacuum
home: timepiece = grandfather clock
home: instrument = violin
home: musical instrument = violin
home: furniture = sofa, lamp
zoo: bird = parrot, owl, crane, penguin
zoo: birds = parrot, owl, crane, penguin
zoo: rodent = mouse
zoo: amphibian = frog
zoo: animal = parrot, owl, elephant, seal, crane, mouse, dolphin, penguin, frog, panda
pets: pet = dog, cat, rabbit, goldfish
pets: animal = dog, cat, rabbit, goldfish
pets: fish = goldfish
road: vehicle = car, bicycle, tractor, sailboat, drone
road: tower = lighthouse
road: boat = sailboat
road: aircraft = drone
wardrobe: shoe = sneaker
wardrobe: shoes = sneaker
wardrobe: dress = wedding dress
wardrobe: shirt = t-shirt
garden: flower = rose
garden: tree = oak
garden: gnome = garden gnome
garden: plant = rose, oak, cactus
shelf: toy = teddy bear, doll
farm: bird = rooster
farm: animal = horse, sheep, rooster
table: bottle = wine bottle
table: fruit = apple
wardrobe: glasses = sunglasses
zoo: bear = panda
shelf: globe = snow globe
table: food = pizza, cupcake, apple
table: cake = cupcake
people: person = wizard, astronaut, knight
"""
NONE = """
home: giraffe
home: kettle
home: coffee pot
home: piano
home: handbag
home: robot
zoo: giraffe
zoo: wolf
zoo: eagle
zoo: rat
zoo: toad
zoo: sea horse
pets: wolf
pets: fox
pets: leopard
pets: tiger
pets: cougar
pets: lynx
pets: hamster
pets: hot dog
pets: prairie dog
pets: sea lion
pets: dog house
pets: catfish
road: truck
road: bus
road: motorcycle
road: cable car
road: airplane
road: rowing machine
road: submarine
wardrobe: sandal
wardrobe: scarf
garden: tulip
garden: palm tree
garden: fern
people: queen
people: ninja
people: firefighter
shelf: puzzle
farm: zebra
farm: donkey
farm: goat
farm: rocking horse
farm: sea horse
farm: duck
table: burger
table: pineapple

paper: palace
shelf: box
city: doghouse
city: tunnel
city: windmill
paper: giraffe
paper: lighthouse
paper: truck
paper: pangolin
paper: zorblax
paper: hot dog
paper: spaceship
paper: sandwich
paper: guinea pig
"""


def _rows(table: str) -> list[tuple[str, str, str]]:
    rows = []
    for line in table.split("\n"):
        catalog, _, rest = line.partition(": ")
        if not rest:
            continue
        phrase, _, subjects = rest.partition(" = ")
        rows.append((catalog, phrase, "" if subjects == "-" else subjects))
    return rows


@cache
def _lexicon(catalog: str) -> Lexicon:
    return compile_lexicon(Vocabulary(subjects=tuple(_names(CATALOGS[catalog]))))


def _names(text: str) -> list[str]:
    return sorted(name.strip() for name in text.split(",") if name.strip())


def _decided(catalog: str, phrase: str) -> tuple[str, list[str]]:
    """The relation and the subjects of a noun in "a … in the snow"."""
    context = Context(now=datetime(2026, 11, 20, tzinfo=UTC), zone=ZoneInfo("UTC"))
    article = "an" if phrase[0] in "aeiou" else "a"
    intent = parse(f"{article} {phrase} in the snow", _lexicon(catalog), context)
    subject = intent.first(Attribute.SUBJECT)
    if subject is None:
        assert intent.unknown_subject is not None, "the noun went by unnoticed"
        return "none", []
    described = intent.first(Attribute.DESCRIPTION)
    said_more = described is not None and phrase.lower() in described.values
    relation = "narrower" if said_more else "kind" if subject.coarse else "same"
    return relation, sorted(subject.values)


@pytest.mark.parametrize(("catalog", "phrase", "subjects"), _rows(SAME))
def test_another_word_for_a_subject(catalog: str, phrase: str, subjects: str) -> None:
    """A synonym means the subject, and nothing when the catalog has no such subject."""
    expected = ("same", _names(subjects)) if subjects else ("none", [])
    assert _decided(catalog, phrase) == expected


@pytest.mark.parametrize(("catalog", "phrase", "subjects"), _rows(NARROWER))
def test_a_narrower_word(catalog: str, phrase: str, subjects: str) -> None:
    """A word that says more than the subject is served by it and ranks by the word."""
    relation, found = _decided(catalog, phrase)
    assert found == _names(subjects)
    # Of "police car" the noun is "car"; "police" describes it.
    assert relation == ("narrower" if subjects and " " not in phrase else relation)


@pytest.mark.parametrize(("catalog", "phrase", "subjects"), _rows(KIND))
def test_a_general_word(catalog: str, phrase: str, subjects: str) -> None:
    """A general word may mean every subject of its kind."""
    relation, found = _decided(catalog, phrase)
    assert found == _names(subjects)
    assert relation in ("kind", "same")


@pytest.mark.parametrize(("catalog", "phrase", "subjects"), _rows(NONE))
def test_a_noun_the_catalog_has_nothing_for(catalog: str, phrase: str, subjects: str) -> None:
    """Siblings, compounds of another kind and unheard-of things are no subject."""
    assert not subjects
    assert _decided(catalog, phrase) == ("none", [])


@pytest.mark.parametrize(
    ("word", "nature"),
    [
        ("teapot", Nature.THING),
        ("mice", Nature.THING),
        ("glasses", Nature.THING),
        ("wizard", Nature.PERSON),
        ("village", Nature.PLACE),
        ("fog", Nature.MATTER),
        ("mood", Nature.ABSTRACT),
        ("vibe", Nature.ABSTRACT),
        ("cozy", Nature.NO_NOUN),
        ("wooden", Nature.NO_NOUN),
        ("zorblax", Nature.UNKNOWN),
    ],
)
def test_what_a_word_names(word: str, nature: Nature) -> None:
    """A word is told by what it names in the first place."""
    assert wordnet.nature(word) is nature


def test_the_singular_of_a_phrase_is_a_phrase() -> None:
    """Its words are no senses of the plural."""
    entry = wordnet.look_up("aides de camp")

    assert entry is not None
    assert (entry.singulars, entry.senses) == (("aide de camp",), ())


@pytest.mark.parametrize(
    ("name", "shorter"),
    [
        ("grandfather clock", ("clock",)),
        ("robot vacuum cleaner", ("vacuum cleaner", "cleaner")),
        ("hot dog", ()),
        ("sea horse", ()),
        ("guinea pig", ()),
        ("high top", ()),
    ],
)
def test_shorter_words_for_a_longer_name(name: str, shorter: tuple[str, ...]) -> None:
    """The last words of a name stand for it where it is one of those things."""
    assert heads(name) == shorter


def test_an_adjective_makes_no_other_thing() -> None:
    """Idioms with an adjective are read by their words: a fat cat in a picture is a cat."""
    assert not is_other_thing("fat cat", "cat")
    assert is_other_thing("prairie dog", "dog")


@pytest.mark.parametrize(
    "prompt", ["cosy mood, soft light", "birds fly", "the orange one", "pull in"]
)
def test_words_in_another_role_ask_for_nothing(prompt: str) -> None:
    """Moods, verbs, colours and particles are no missing subjects."""
    context = Context(now=datetime(2026, 11, 20, tzinfo=UTC), zone=ZoneInfo("UTC"))
    lexicon = compile_lexicon(Vocabulary(subjects=("bird", "fruit", "building")))
    intent = parse(prompt, lexicon, context)
    assert intent.unknown_subject is None
    assert {v for c in intent.all(Attribute.SUBJECT) for v in c.values} <= {"bird"}


LONG = "man's best friend" + ", and so on" * 9
DICTIONARY = {
    "data.noun": f"""  1 a notice
00000010 03 n 02 animal 0 beast 1 000 | a living (or a dead) thing; more; "an example"
00000020 05 n 02 dog 0 domestic_dog 0 001 @ 00000010 n 0000 | {LONG}
00000030 18 n 01 Fido 0 001 @i 00000020 n 0000 | a dog by name
00000040 07 n 01 mood 0 000 | how one feels
""",
    "cntlist.rev": "dog%1:05:00:: 1 42\nbark%2:32:00:: 1 3\n",
    "index.adj": "canine a 1 0 1 0 00000010  \n",
    "index.verb": "bark v 1 0 1 1 00000010  \ndog v 1 0 1 0 00000011  \n",
    "noun.exc": "doggen dog\n",
}


def test_the_data_is_derived_from_the_dictionary_files(tmp_path: Path) -> None:
    """Things keep their lemmas, kinds and counts; names are dropped, other words only counted."""
    for name, text in DICTIONARY.items():
        (tmp_path / name).write_text(text, encoding="latin-1")
    build(tmp_path, tmp_path / "out")
    assert (tmp_path / "out" / "synsets.tsv").read_text() == (
        "t\t\tanimal|beast\na\t0\tdog|domestic dog\n"
    )
    assert (tmp_path / "out" / "definitions.txt").read_text().splitlines() == [
        "a living thing",
        LONG[:100].rpartition(" ")[0],
    ]
    assert (tmp_path / "out" / "words.tsv").read_text().splitlines() == [
        "animal\t0",
        "bark\t!:3",
        "beast\t0",
        "canine\t+:0",
        "dog\t1:42 !:0",
        "doggen\t=dog",
        "domestic dog\t1",
        "mood\t-:0",
    ]


@pytest.mark.parametrize(
    ("prompt", "unknown"),
    [
        ("could I have the tractor on a raft, version 8?", "tractor"),
        ("a red-hot sunset behind the tractor, latest build", "tractor"),
        ("Take the January version and draw the wedding cake on a hay bale.", "cake"),
        ("the latest one, next to the goldfish", None),
        ("version 3 on the table", None),
    ],
)
def test_what_a_version_is_asked_of(prompt: str, unknown: str | None) -> None:
    """Where nothing known is asked for, a thing that is named is what is missing."""
    context = Context(now=datetime(2026, 11, 20, tzinfo=UTC), zone=ZoneInfo("UTC"))
    found = parse(prompt, _lexicon("pets"), context).unknown_subject
    assert (found.text if found else None) == unknown


@pytest.mark.parametrize(
    ("subjects", "said", "meant"),
    [
        ("dog, robot, robot dog", "the newest dog", ("dog",)),
        ("mug, coffee mug", "the newest mug", ("mug", "coffee mug")),
        ("bicycle, mountain bike", "the newest bike", ("mountain bike", "bicycle")),
        ("dog, cat", "a brown sausage dog", ("dog",)),
        ("egg chair, armchair", "the newest chair", ("egg chair", "armchair")),
        ("rubber duck, scooter", "the newest duck", ("rubber duck",)),
        ("train, toy bullet train", "a bullet train toy", ("toy bullet train",)),
        ("handbag, hat", "my pink purse", ("handbag",)),
        (
            "cupcake, ladder truck",
            "which cupcake gets used most? lean a ladder on it",
            ("cupcake",),
        ),
        ("pirate, coat", "the pirate in a white coat from April, waving", ("pirate",)),
        ("mermaid, chair", "my mermaid, seat her on a rock", ("mermaid",)),
        ("rose, train", "a rose coloured train", ("train",)),
        ("painting, landscape", "the landscape painting in aquarelle", ("landscape",)),
        ("bookshop logo, airline logo", "the bookstore logo on a bag", ("bookshop logo",)),
        ("boat, chair", "the boat with the seats that was trained last May", ("boat",)),
        ("bear, chair", "give me the bear it should be red", ("bear",)),
        ("robot, cat", "the robot, which cats love", ("robot",)),
        ("boot, hat", "the boot of last May", ("boot",)),
        ("turtle", "an oil-painted turtle", ("turtle",)),
        ("turtle", "8-BIT TURTLE AT A STATION", ("turtle",)),
    ],
)
def test_what_a_name_is_short_for(subjects: str, said: str, meant: tuple[str, ...]) -> None:
    """Longer names of the same thing, but no other thing; idioms and looks make no other noun."""
    lexicon = compile_lexicon(Vocabulary(subjects=tuple(subjects.split(", "))))
    context = Context(now=datetime(2026, 11, 20, tzinfo=UTC), zone=ZoneInfo("UTC"))
    (subject,) = parse(said, lexicon, context).all(Attribute.SUBJECT)
    assert set(subject.values) == set(meant)


def test_a_walrus_is_no_seahorse() -> None:
    """WordNet's synonyms of another sense than people picture do not count."""
    lexicon = compile_lexicon(Vocabulary(subjects=("seahorse",)))
    context = Context(now=datetime(2026, 11, 20, tzinfo=UTC), zone=ZoneInfo("UTC"))
    unknown = parse("my walrus from April", lexicon, context).unknown_subject
    assert unknown is not None and unknown.text == "walrus"


@pytest.mark.parametrize(
    ("prompt", "unknown"),
    [
        ("umbrella blown over a rooftop", "umbrella"),
        ("bagpipes, marching through fog", "bagpipes"),
        ("among the pineapples, the one made first, behind a cat", "pineapples"),
        ("a walrus plush holding spoons", "plush"),
        ("my most used pineapple on a conveyor belt", "pineapple"),
        ("Please use the grand piano from April and put a cat on it.", "grand piano"),
        ("Could I have the birthday cake we trained last week?", "birthday cake"),
        ("Let me have the walrus on a sofa", "walrus"),
        ("Show me the well-worn walrus on a sofa", "well-worn walrus"),
        ("The client asked for the walrus on a sofa", "walrus"),
    ],
)
def test_what_a_request_opens_with(prompt: str, unknown: str) -> None:
    """A thing that nobody has a checkpoint of, though another may carry one."""
    context = Context(now=datetime(2026, 11, 20, tzinfo=UTC), zone=ZoneInfo("UTC"))
    found = parse(prompt, _lexicon("pets"), context).unknown_subject
    assert found is not None
    assert found.text == unknown


@pytest.mark.parametrize(
    ("prompt", "said", "subjects"),
    [
        ("the parrot bird with a hat", "parrot bird", ("parrot",)),
        ("a parrot on a bird house", "parrot", ("parrot",)),
        ("the trick-flying kite on a hill", "kite", ("kite",)),
        ("the flying kite on a hill", "flying kite", ("flying kite",)),
    ],
)
def test_where_a_name_begins_and_ends(prompt: str, said: str, subjects: tuple[str, ...]) -> None:
    """What only says of what sort it is belongs to it; half a word with a hyphen does not."""
    lexicon = compile_lexicon(Vocabulary(subjects=("parrot", "bird", "kite", "flying kite")))
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    (subject,) = parse(prompt, lexicon, context).all(Attribute.SUBJECT)
    assert subject.text == said
    assert set(subjects) <= set(subject.values)


def test_no_words_for_what_is_only_spelled_alike() -> None:
    """What means "seated" is no word for a seat."""
    context = Context(now=datetime(2026, 11, 20, tzinfo=UTC), zone=ZoneInfo("UTC"))
    lexicon = compile_lexicon(Vocabulary(subjects=("seat", "robot")))
    (subject,) = parse("a robot sitting on a hill", lexicon, context).all(Attribute.SUBJECT)
    assert subject.values == ("robot",)
    assert not any(map(thesaurus.others_for, ("quilt", "mount")))
    words = {word for name in ("husky", "frog") for word in thesaurus.others_for(name)}
    assert "sled dog" in words
    assert not {"husk", "frogging", "stocky"} & words
    assert "birdhouse" in thesaurus.others_for("nest box")
    assert "caped" in thesaurus.things_in("a cape")
    assert (
        thesaurus.things_in("bath toys").keys() == thesaurus.things_in("bath toy").keys() != set()
    )
    assert not {"caped", "chubby", "apron"} & thesaurus.things_in("a cap, a tub and a pin").keys()
