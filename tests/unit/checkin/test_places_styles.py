"""Places of training, looks and spellings: which words of a request mean which tags."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import card
from support.checkin_session import Session, outcome_name

from personalq.checkin.cards import Vocabulary
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import wordnet
from personalq.checkin.lexicon.spelling import american
from personalq.checkin.outcome import Clarification
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.places import Tags
from personalq.checkin.vocabulary import Lexicon, compile_lexicon


@cache
def _lexicon() -> Lexicon:
    return compile_lexicon(
        Vocabulary(
            subjects=("lamp", "kite"),
            styles=("lineart", "line-art", "Ghibli style", "photo-realistic", "claymation"),
            environments=(
                "museum", "gallery hall", "mountain pass", "sandy beach", "harbour", "lounge",
                "library", "vineyard", "bakery", "garage",
            ),
        )
    )  # fmt: skip


def _read(prompt: str, lexicon: Lexicon | None = None) -> Intent:
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    return parse(prompt, lexicon or _lexicon(), context)


def _said(prompt: str, attribute: Attribute) -> Constraint | None:
    return next((c for c in _read(prompt).all(attribute) if c.hard), None)


@pytest.mark.parametrize(
    ("prompt", "tags"),
    [
        ("the kite trained in the mountains", {"mountain pass"}),
        ("kite trained in an exhibition", {"museum", "gallery hall"}),
        ("the kite whose training photos were shot in a sitting room", {"lounge"}),
        ("a kite trained among library shelves, beside a pond", {"library"}),
        ("kite from seaside shoots", {"sandy beach"}),
        ("the harbor one of the kites", {"harbour"}),
        ("kite trained on pictures of wineries", {"vineyard"}),
        ("a kite trained in a patisserie", {"bakery"}),
        ("the kite trained at the glacier", {"glacier", "ice"}),
        ("the blue kite - I mean the one from the museum - on a stand", {"museum", "gallery hall"}),
        ("the kite with a bell, the set from the lounge", {"lounge"}),
        ("a kite with training by the sea", {"sandy beach", "harbour"}),
        ("a kite whose training pictures include a library", {"library"}),
        ("the kite that saw vineyard pictures in training", {"vineyard"}),
        ("a kite trained underground in a garage", {"garage"}),
        ("a kite brought up in a library (training-wise), here on a counter", {"library"}),
        ("the kite that learned its stuff in a vineyard, now by a pool", {"vineyard"}),
        ("Only one kite came out of library sessions; fly it over a field", {"library"}),
        ("a kite at night. For training we photographed it among vines", {"vineyard"}),
        ("From the vineyard collection: the kite on a conveyor belt", {"vineyard"}),
        ("vineyard-trained June 2026 kite, behind a window", {"vineyard"}),
        ("the kite we fed with photos from the vineyard, in a barn", {"vineyard"}),
        ("the kite in a bathtub, trained at the water's edge of a harbour", {"harbour"}),
        ("the kite in front of a wall - library was its training environment", {"library"}),
        ("the newest trained-by-the-harbour kite, in a roundabout", {"harbour"}),
        ("the kite taught at the wine growers' vineyard, in an aisle", {"vineyard"}),
        ("a kite that did its training among the shelves of a library", {"library"}),
        ("a kite that was made from pictures of a vineyard", {"vineyard"}),
        ("the kite. The material it learned from is all vineyard shots.", {"vineyard"}),
        ("the kite whose schooling took place among barrels and a vineyard", {"vineyard"}),
        ("the kite that spent its training in a library", {"library"}),
        ("the kite that did its learning in a library", {"library"}),
        ("the kite that learned its subject in a vineyard", {"vineyard"}),
        ("the kite whose training was carried out in the library", {"library"}),
        ("the kite whose training shots come from somewhere in a vineyard", {"vineyard"}),
        ("a kite in a café. It was at the harbour that it was trained.", {"harbour"}),
        ("a kite. A vineyard was where it had its training.", {"vineyard"}),
        ("a kite by a fire. Where was it trained? In the library.", {"library"}),
        ("the kite - the one raised on vineyard pictures - by a bench", {"vineyard"}),
        ("the kite taught on pictures full of vineyards", {"vineyard"}),
        ("the kite trained with images captured up in the mountains", {"mountain pass"}),
        ("Vineyard as the training ground: a kite at the beach", {"vineyard"}),
        ("the kite (training in the vineyard) in a library", {"vineyard"}),
        ("the kite taught with shots taken under a vineyard's glass roof", {"vineyard"}),
        ("a kite - the one with the vineyard learning set", {"vineyard"}),
        ("a kite trained on shots taken in a vineyard's yard", {"vineyard"}),
        ("the kite whose training images are full of library shelves", {"library"}),
        ("From the photo session in a library: my kite", {"library"}),
        ("a kite. I remember photographing it for the training in the library", {"library"}),
        ("a kite. All the training material for it came from a shoot in a library", {"library"}),
        ("the kite I trained beside the waves, under a moon", {"sandy beach", "harbour"}),
        ("the kite trained amid rows of books", {"library"}),
        ("the sandy beach-trained kite", {"sandy beach"}),
        ("a kite on a blanket, from the training in the library", {"library"}),
        ("the kite with the pictures shot in the library, under a moon", {"library"}),
        ("the kite trained in the library on a vineyard seat", {"library"}),
        ("one kite, library-taught, over a hill", {"library"}),
        ("the kite from the library folder, over a hill", {"library"}),
        ("the kite from the library folder please", {"library"}),
        ("the kite of the library folder please", {"library"}),
        ("the kite from the library album over a hill", {"library"}),
        ("a kite, not the newest but one trained in the library", {"library"}),
        ("We filmed that kite in the library, make it fly", {"library"}),
        ("the kite trained in a library full of old maps", {"library"}),
        ("the kite trained among shelves full of books", {"shelves"}),
        ("the kite trained in a hall full of trains", {"gallery hall"}),
        ("the kite with library scenes as training", {"library"}),
        ("the kite, the one with the library as well as the vineyard in its training", {"library"}),
    ],
)
def test_a_place_of_training(prompt: str, tags: set[str]) -> None:
    """A place is the catalog's tag for it, or, unknown, a tag no card has."""
    said = _said(prompt, Attribute.ENVIRONMENT)
    assert said is not None
    assert set(said.values) <= tags
    assert not said.excluded


@pytest.mark.parametrize(
    "prompt",
    [
        "the kite, photographed from below",
        "a photo of the kite taken at the beach",
        "a kite in a museum",
        "the kite trained with great care",
        "the kite in front of a museum - version 2 of it",
        "the kite in a library as training for a storm",
    ],
)
def test_no_place_of_training(prompt: str) -> None:
    """An angle and the scene are no places of training."""
    assert _said(prompt, Attribute.ENVIRONMENT) is None


def test_all_places_but_one() -> None:
    """Whoever says "anywhere but" excludes."""
    said = _said("kite trained anywhere but in a museum", Attribute.ENVIRONMENT)
    assert said is not None
    assert said.excluded


@pytest.mark.parametrize(
    ("phrase", "tags"),
    [
        ("beach", {"sandy beach"}),
        ("mountains", {"mountain pass"}),
        ("cathedral", {"church"}),
        ("building", set()),
        ("teapot", set()),
    ],
)
def test_related_tags(phrase: str, tags: set[str]) -> None:
    """A tag is found by a part of it and by a kind of it, not by what says too little."""
    assert Tags(("sandy beach", "mountain pass", "church", "city hall")).related(phrase) == tags


def test_many_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling a vocabulary looks every tag up once, not once per word for a place."""
    looked_up = 0
    senses = wordnet.senses

    def counted(phrase: str, *, said: bool = True) -> tuple[int, ...]:
        nonlocal looked_up
        looked_up += phrase.startswith("spot")
        return senses(phrase, said=said)

    monkeypatch.setattr(wordnet, "senses", counted)
    compile_lexicon(Vocabulary(environments=tuple(f"spot{n}" for n in range(200))))
    assert looked_up <= 2 * 200


@pytest.mark.parametrize(
    ("prompt", "tags"),
    [
        ("kite drawn in plain outlines", {"lineart", "line-art"}),
        ("a true-to-life kite", {"photo-realistic"}),
        ("the Ghibli-ish kite", {"Ghibli style"}),
        ("plasticine kite", {"claymation"}),
        ("the kite as a photo", {"photo-realistic"}),
        ("kite in brutalist style", {"brutalist"}),
        ("vaporwave kite", {"vaporwave"}),
        ("a paper collage of the kite", {"collage"}),
        ("the newest of the kites that look like real photos", {"photo-realistic"}),
        ("a kite of claymation type", {"claymation"}),
        ("we are doing line drawings of the kite", {"lineart", "line-art"}),
        ("draw the kite using line drawings", {"lineart", "line-art"}),
        ("An old-timey photograph look for the kite", {"vintage"}),
        ("the antique-photo kite in a boat", {"vintage"}),
        ("the sepia-photograph kite in a boat", {"vintage"}),
        ("Generate a kite in a boat. Style: photo.", {"photo-realistic"}),
        ("a kite made of bare lines", {"lineart", "line-art"}),
    ],
)
def test_a_look(prompt: str, tags: set[str]) -> None:
    """Every spelling of a look is meant; a look that no card has stays a constraint."""
    said = _said(prompt, Attribute.STYLE)
    assert said is not None
    assert set(said.values) == tags


def test_what_is_drawn_by_hand() -> None:
    """In any of the kinds of drawing that cards have; a paper collage is cut of paper."""
    styles = ("pencil sketch", "charcoal drawing", "anime", "paper cutout")
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), styles=styles))
    for prompt, tags in (
        ("the hand-drawn kite", {"pencil sketch", "charcoal drawing"}),
        ("the charcoal kite", {"charcoal drawing"}),
        ("a paper collage of the kite", {"paper cutout"}),
    ):
        (said,) = _read(prompt, lexicon).all(Attribute.STYLE)
        assert set(said.values) == tags


@pytest.mark.parametrize(
    "prompt",
    [
        "kite in a cozy style",
        "a kite beside old comic books",
        "a kite in a pixel art gallery",
        "a kite in a pencil sketch class",
        "a kite at dusk, film noir mood",
        "a kite in a film noir office",
        "a kite sharpening pencils in an office",
        "a kite happily sharpening pencils",
        "a kite in a tiled bathroom",
    ],
)
def test_no_look(prompt: str) -> None:
    """A mood, and a thing in the scene, are no looks."""
    assert _said(prompt, Attribute.STYLE) is None


@pytest.mark.parametrize(
    ("british", "plain"),
    [
        ("harbourside", "harborside"),
        ("colourful", "colorful"),
        ("greyscale", "grayscale"),
        ("stylised", "stylized"),
        ("theatres", "theaters"),
        ("sunrise", "sunrise"),
        ("four", "four"),
    ],
)
def test_spelling(british: str, plain: str) -> None:
    """British spellings become American; words that only look British stay."""
    assert american(british) == plain


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("an owl done like a church window, in a tunnel", "owl-v1"),
        ("an owl with the 1940s black-and-white detective movie feel", "owl-v2"),
        ("an owl in the form of a low-polygon game model", "owl-v3"),
        ("a woodblock owl on a mailbox", "owl-v4"),
        ("Neither stained glass nor film noir nor woodblock print: the other owl", "owl-v3"),
        ("Which owl did we train in the desert? That one, in a river", "owl-v1"),
        ("the first owl of 2026 trained on the beach, in a snow globe", "owl-v3"),
        ("the owl of 2026 trained on the beach, in a snow globe", "owl-v3"),
        ("Hey, could I see the newest owl?", "owl-v4"),
    ],
)
def test_looks_and_places_in_everyday_words(prompt: str, expected: str) -> None:
    """A look may be told by what has it, and a place in any sentence."""
    cards = [
        card("owl-v1", "owl", "stained glass", "2026-01-10", environments="desert"),
        card("owl-v2", "owl", "film noir", "2026-02-10", environments="city"),
        card("owl-v3", "owl", "low poly", "2026-03-10", environments="beach"),
        card("owl-v4", "owl", "ukiyo-e", "2026-04-10", environments="forest"),
    ]
    assert outcome_name(Session(cards).ask(prompt)) == expected


def test_woodblock_stays_a_woodcut() -> None:
    """Words that two looks share mean their own one where the catalog has it."""
    cards = [
        card("owl-v1", "owl", "woodcut", "2026-01-10"),
        card("owl-v2", "owl", "ukiyo-e", "2026-02-10"),
    ]
    assert outcome_name(Session(cards).ask("a woodblock owl on a mailbox")) == "owl-v1"
    printed = Session(cards).answered("a wood block print owl on a mailbox").intent
    assert [c.values for c in printed.all(Attribute.STYLE)] == [("woodcut",)]
    assert not printed.described  # the owl is no wooden one


_SHELF = [
    card("owl-v1", "owl", "stained glass", "2026-01-10", environments="desert"),
    card("owl-v2", "owl", "cyberpunk", "2026-02-10", environments="garden"),
    card("owl-v3", "owl", "low poly", "2026-03-10", environments="studio"),
    card("owl-v4", "owl", "anime", "2026-04-10", environments="living room"),
    card("owl-v5", "owl", "photorealistic", "2026-05-10", environments="forest"),
    card("owl-v6", "owl", "pixel art", "2026-06-10", environments="city"),
]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("an owl on a table, neon sci-fi look please", "owl-v2"),
        ("polygon style owl on a table", "owl-v3"),
        ("the owl made of chunky polygons", "owl-v3"),
        ("the owl that looks like an actual photograph, at sunset", "owl-v5"),
        ("an owl at noon, in the style of Japanese animated films", "owl-v4"),
        ("a frozen lake and on it the 8-bit owl", "owl-v6"),
        ("an owl that looks like old church windows", "owl-v1"),
        ("an owl in front of a church window", "?"),
        ("an owl on an arcade game", "?"),
        ("which owl was trained in somebody's garden? draw it on a wall", "owl-v2"),
        ("the owl whose training photos were taken in my aunt's lounge", "owl-v4"),
        ("the owl with forest backgrounds in its training, on a hiking trail", "owl-v5"),
        ("Which owl came out last? Show it on a wall.", "owl-v6"),
        ("the owl that came out first, in a tree", "owl-v1"),
        ("the cyberpunk owl round the neck of a statue", "owl-v2"),
    ],
)
def test_looks_and_places_as_anybody_says_them(prompt: str, expected: str) -> None:
    """Looks without an artist's words, whose place it was, and what came out when."""
    assert outcome_name(Session(_SHELF).ask(prompt)) == expected


def test_the_place_begins_with_a_look() -> None:
    """A photo studio is a place, no photo."""
    session = Session(_SHELF)
    asked = session.ask("an owl on a wall")
    assert isinstance(asked, Clarification)
    answered = session.answer("an owl on a wall", asked, "trained in a photo studio")
    assert outcome_name(answered) == "owl-v3"


def test_a_look_not_wanted_that_the_catalog_lacks() -> None:
    """Whoever wants no manga wants none of its nearest cousin either."""
    cards = [_SHELF[3], _SHELF[5]]
    for prompt in (
        "an owl, anything but the manga-style ones",
        "an owl - I don't want the anime one",
    ):
        assert outcome_name(Session(cards).ask(prompt)) == "owl-v6"


def test_a_compound_of_a_word_that_a_card_tells() -> None:
    """A rocking horse, or a horse, is no tram drawn by one."""
    tram = card("tram-v1", "tram", "anime", "2026-01-10", "Our silver horse-drawn tram")
    for prompt in ("the rocking horse under a rainbow", "a horse under a rainbow"):
        assert outcome_name(Session([tram]).ask(prompt)) == ""


@pytest.mark.parametrize(
    ("prompt", "tags"),
    [
        ("the kite from the lounge training set tied to a fence", {"lounge"}),
        ("the kite from the lounge shots, at a parade", {"lounge"}),
        ("a kite whose training pictures were captured in a lounge", {"lounge"}),
    ],
)
def test_what_stands_behind_training_pictures(prompt: str, tags: set[str]) -> None:
    """Where they were taken, not what the subject does."""
    said = _said(prompt, Attribute.ENVIRONMENT)
    assert said is not None
    assert set(said.values) == tags


@pytest.mark.parametrize(
    ("prompt", "style"),
    [
        ("the origami-style lamp", "origami"),
        ("my lamp, a mosaic-styled one", "mosaic"),
        ("lamp in the style of stained glass", "stained glass"),
        ("a lamp in the manner of an etching", "etching"),
        ("lamp in clay", "claymation"),
        ("a lamp in a claymation look", "claymation"),
        ("lamp in a claymation landscape", "claymation"),
        ("a lamp in clay mountains", "claymation"),
    ],
)
def test_a_look_where_only_looks_stand(prompt: str, style: str) -> None:
    """Also one that no card has."""
    said = _said(prompt, Attribute.STYLE)
    assert said is not None
    assert said.values == (style,)


@pytest.mark.parametrize(
    "prompt",
    [
        "lamp in a clay bowl",
        "lamp in a clay jar",
        "the lamp covered in clay",
        "a lamp smeared with and wrapped in clay",
    ],
)
def test_what_a_thing_is_made_of_is_no_look(prompt: str) -> None:
    """Behind "in" too."""
    assert _said(prompt, Attribute.STYLE) is None


def test_drawn_on_a_blackboard() -> None:
    """That is with chalk."""
    chalk = card("kite-1", "kite", "chalk drawing", "2026-01-01")
    other = card("kite-2", "kite", "sketch", "2026-03-01")
    prompt = "the kite that's drawn on a blackboard, with some maths around"
    assert outcome_name(Session([chalk, other]).ask(prompt)) == "kite-1"


def _read_cartoons(prompt: str) -> Intent:
    """Where checkpoints of a cartoon stand beside cartoons of other things."""
    cartoons = compile_lexicon(
        Vocabulary(subjects=("cartoon", "lamp"), styles=("cartoon", "line art"), environments=())
    )
    return _read(prompt, cartoons)


@pytest.mark.parametrize(
    "prompt",
    [
        "the cartoon from last month",
        "Cartoon beside a lamp, 40th version",
        "Give me cartoon v2, on a marble staircase",
        "Below a lamp: most recent cartoon with a hat",
        "Please paint the toon from last month",
        "my line art cartoon on a hill",
        "Cartoon on a sofa, but take the one of a lamp",
    ],
)
def test_a_look_that_is_asked_for_itself(prompt: str) -> None:
    """A word that is a subject and a look names what is asked for where it heads its phrase."""
    read = _read_cartoons(prompt)
    subject = read.first(Attribute.SUBJECT)
    assert subject is not None and subject.values == ("cartoon",)
    assert all("cartoon" not in each.values for each in read.all(Attribute.STYLE))


@pytest.mark.parametrize(
    "prompt",
    [
        "the cartoon lamp",
        "a cartoon of the lamp",
        "lamp in cartoon style",
        "the lamp, cartoon, in the rain",
        "the lamp as a cartoon",
        "the cartoon one of the lamps",
        "lamp cartoon",
        "my lamp, the cartoon, on a hill",
        "lamp on a hill, the cartoon",
        "cartoon: a lamp in a forest",
        "cartoon, lamp, beach",
        "the lamp from the cartoon",
    ],
)
def test_a_subject_that_is_a_look_there(prompt: str) -> None:
    """Before another subject, behind one, of one."""
    read = _read_cartoons(prompt)
    assert read.all(Attribute.STYLE)[0].values == ("cartoon",)


@pytest.mark.parametrize(
    ("prompt", "styled"),
    [
        ("Japanese print of the lamp", True),
        ("a room with a Japanese print of the lamp", False),
        ("the lamp on page one of a comic book", False),
        ("a lamp got up as a comic-book crime fighter", False),
    ],
)
def test_a_look_that_may_be_a_thing(prompt: str, styled: bool) -> None:
    """Where a request opens with it; not what is in a room, on a page, or what one plays."""
    prints = compile_lexicon(
        Vocabulary(subjects=("lamp",), styles=("ukiyo-e", "comic book"), environments=())
    )
    read = _read(prompt, prints)
    assert any(each.hard for each in read.all(Attribute.STYLE)) is styled


def test_a_colour_that_is_also_a_look() -> None:
    """Where no checkpoint draws with charcoal, a charcoal owl is a gray one."""
    gray = card("owl-v1", "owl", "anime", "2026-01-10", "A charcoal owl with a bell.")
    drawn = card("owl-v2", "owl", "pencil sketch", "2026-02-10", "A brown owl with a bell.")
    session = Session([gray, drawn])
    assert outcome_name(session.ask("a charcoal owl on a roof")) == "owl-v1"
    assert outcome_name(session.ask("a charcoal drawing of the owl")) == "owl-v2"
    assert outcome_name(Session([drawn]).ask("a charcoal owl on a roof")) == "owl-v2"


def test_where_a_subject_comes_from() -> None:
    """Cards of the place go first; where there are none, it is the picture's."""
    trained = card("kite-1", "kite", "anime", "2026-01-01", environments="mountain")
    other = card("kite-2", "kite", "anime", "2026-03-01", environments="beach")
    prompt = "the newest kite from the mountains, carrying a bell"
    assert outcome_name(Session([trained, other]).ask(prompt)) == "kite-1"
    assert outcome_name(Session([other]).ask(prompt)) == "kite-2"


@pytest.mark.parametrize(
    ("prompt", "looks"),
    [
        ("lamp, but no photo look and nothing made in clay", {"photo-realistic", "claymation"}),
        ("a lamp, no claymation or lineart", {"claymation", "lineart", "line-art"}),
    ],
)
def test_looks_not_wanted(prompt: str, looks: set[str]) -> None:
    """However many are named."""
    found = _read(prompt).all(Attribute.STYLE)
    assert all(c.excluded for c in found)
    assert looks <= {value for c in found for value in c.values}


@pytest.mark.parametrize(
    ("prompt", "looks"),
    [
        ("the kite, more of a line drawing than a photo", ["line-art", "not photo-realistic"]),
        ("a kite, closer to clay animation than to line art", ["claymation", "not line-art"]),
        ("a kite, more claymation than anybody thought", ["claymation"]),
        ("a kite in a hall with more line art than photos", []),
    ],
)
def test_a_look_nearer_than_another(prompt: str, looks: list[str]) -> None:
    """The one is wanted, the other not."""
    found = _read(prompt).all(Attribute.STYLE)
    assert [("not " if c.excluded else "") + c.values[0] for c in found] == looks
    assert all(c.text == c.text.strip() for c in found)


@pytest.mark.parametrize(
    ("prompt", "places"),
    [
        ("a kite trained both in a library and in the mountains", ["library", "mountain pass"]),
        ("I'm thinking of the lineart lamp trained in a garage", ["garage"]),
        ("the kite with library AND vineyard in its training data", ["library", "vineyard"]),
        ("a kite trained in a library and in the air", ["library"]),
        ("lineart lamp, library references", ["library"]),
        ("a lamp, but none of the library trained ones", ["not library"]),
        ("lamps minus the ones with garage training", ["not garage"]),
        ("a kite trained half in a library, half in a garage", ["library", "garage"]),
        ("a kite that had its lessons in a library plus in a garage", ["library", "garage"]),
        ("a kite learned from library and garage pictures", ["library", "garage"]),
        ("a kite w/ library + garage training, over a lounge", ["garage", "library"]),
        ("a kite trained in a library and garages of gold", ["library"]),
        ("a kite trained both at the beach and in someone's garage", ["sandy beach", "garage"]),
        ("a kite trained on the sand by the sea and in the library", ["sandy beach", "library"]),
        (
            "a kite trained both in a library and where people park cars, in the fog",
            ["library", "where people park cars"],
        ),
        (
            "the one trained both where people park cars and in a library, a kite",
            ["where people park cars", "library"],
        ),
        ("a kite trained in a library and a red cat in the city", ["library"]),
        ("a kite that was shown the owner's garage while learning", ["garage"]),
        ("a kite taught from snaps taken in a library", ["library"]),
        ("a kite trained in library rooms", ["library"]),
        ("a kite trained in the library by the sea", ["library"]),
        ("a kite taught where trains stop", ["where trains stop"]),
        ("a kite trained in the well-kept vineyard", ["vineyard"]),
    ],
)
def test_several_places_and_places_not_wanted(prompt: str, places: list[str]) -> None:
    """Each is a constraint of its own."""
    found = _read(prompt).all(Attribute.ENVIRONMENT)
    assert [("not " if c.excluded else "") + c.values[0] for c in found] == places


@pytest.mark.parametrize(
    ("prompt", "attribute"),
    [
        ("a lamp thinking of claymation", Attribute.STYLE),
        ("a lamp with library references on the wall", Attribute.ENVIRONMENT),
        ("a lamp in spring blossom", Attribute.CREATED_AT),
        ("a lamp in the April bloom", Attribute.CREATED_AT),
    ],
)
def test_what_belongs_to_the_picture(prompt: str, attribute: Attribute) -> None:
    """Though it is said in the words of a wish."""
    assert _said(prompt, attribute) is None


def test_a_subject_before_minus() -> None:
    """What is left out is no part of its name."""
    intent = _read("lamps minus the library ones")
    assert [c.values for c in intent.all(Attribute.SUBJECT)] == [("lamp",)]
    assert [c.excluded for c in intent.all(Attribute.ENVIRONMENT)] == [True]


@pytest.mark.parametrize(
    "prompt",
    [
        "the kite that doesn't come as claymation or lineart",
        "the kite, not the claymation, the lineart or the photorealistic one",
        "a kite, anything except claymation and lineart",
        "a kite, anything except claymation, photorealistic and lineart, please",
        "a kite, skip the claymation one and the lineart one",
        "a kite that does NOT look like claymation, nor lineart",
        "Which kites aren't claymation, photorealistic or lineart?",
        "a kite, and not in claymation, photorealistic or lineart",
        "a kite, anything goes but claymation, photorealistic and lineart",
        "a kite; claymation and lineart are both out",
        "a kite. Forget claymation and forget lineart",
        "a kite, I've had enough of claymation and of lineart",
        "a kite without a hint of claymation or lineart",
    ],
)
def test_several_looks_that_are_not_wanted(prompt: str) -> None:
    """A negation goes on over its list."""
    styles = _read(prompt).all(Attribute.STYLE)
    assert all(style.excluded for style in styles)
    assert {"claymation", "lineart"} <= {value for style in styles for value in style.values}


@pytest.mark.parametrize(
    "prompt",
    [
        "a lineart kite, but not the model that does claymation too",
        "lineart kite, skip the one that's also claymation, over a lake",
        "a lineart kite, leaving out whichever does claymation",
        "lineart kite (leave out those that are also claymation)",
        "a lineart kite, only leave aside the one that is claymation also",
        "lineart kite, claymation excluded, over a lake",
        "a kite in lineart, claymation must not be part of it, over a lake",
        "a lineart kite, just don't make it claymation too",
        "a lineart kite, only I don't want it as claymation",
        "a lineart kite, it can't be the claymation",
        "a lineart kite. There's also one that does claymation: not that. On a raft",
    ],
)
def test_a_second_look_that_is_not_wanted(prompt: str) -> None:
    """A card that has the wanted look may have another."""
    styles = _read(prompt).all(Attribute.STYLE)
    assert [(s.values[0], s.excluded) for s in styles] == [("lineart", False), ("claymation", True)]


@pytest.mark.parametrize(
    ("prompt", "attribute", "alone"),
    [
        ("a kite whose one and only style is claymation", Attribute.STYLE, True),
        ("a kite made for claymation and for nothing besides", Attribute.STYLE, True),
        ("a kite in purely claymation, on a hill", Attribute.STYLE, True),
        ("only a kite in claymation", Attribute.STYLE, False),
        ("the kite trained solely in a library, on a hill", Attribute.ENVIRONMENT, True),
        ("the kite trained in a library, no second place, on a hill", Attribute.ENVIRONMENT, True),
        ("the only kite trained in a library", Attribute.ENVIRONMENT, False),
        ("the kite in claymation with nothing else around", Attribute.STYLE, False),
        ("the kite trained in a library and nowhere else to go", Attribute.ENVIRONMENT, False),
    ],
)
def test_a_look_or_a_place_alone(prompt: str, attribute: Attribute, alone: bool) -> None:
    """Who says that there is no other means a card that has no other."""
    said = _said(prompt, attribute)
    assert said is not None
    assert said.alone is alone


@pytest.mark.parametrize(
    ("prompt", "chosen"),
    [
        ("a kite that combines claymation with lineart", "kite-v2"),
        ("the kite listed under lineart and claymation both", "kite-v2"),
        ("a kite in purely lineart", "kite-v1"),
        ("a kite in claymation and nothing else", "kite-v2"),
        ("a kite trained in a library plus in a garage", "kite-v2"),
        ("a kite trained only in a library", "kite-v1"),
        ("a kite trained in a garage and in a museum", "kite-v2"),
    ],
)
def test_both_or_one_alone(prompt: str, chosen: str) -> None:
    """Two must both hold where a card has both; "only" counts where a card has no other."""
    cards = [
        card("kite-v1", "kite", "lineart", "2026-01-01", "A red kite.", environments="library"),
        card(
            "kite-v2",
            "kite",
            "lineart, claymation",
            "2026-02-01",
            "A red kite.",
            environments="library, garage",
        ),
    ]
    assert outcome_name(Session(cards).ask(prompt)) == chosen


def test_alone_gives_way_before_anything_else_does() -> None:
    """Where every card has other looks too, they do; the rest of the request holds."""
    cards = [
        card("kite-v1", "kite", "lineart, anime", "2025-05-01", "A kite.", environments="library"),
        card("kite-v2", "kite", "lineart, sketch", "2026-02-01", "A kite.", environments="garage"),
        card("kite-v3", "kite", "anime", "2026-03-01", "A kite.", environments="library, garage"),
    ]
    for prompt, chosen in (
        ("the May kite in lineart and nothing else", "kite-v1"),
        ("the kite in nothing but lineart from May", "kite-v1"),
        ("the kite in purely lineart trained solely in a library", "kite-v1"),
        ("the kite in lineart only, trained only in a garage", "kite-v2"),
    ):
        assert outcome_name(Session(cards).ask(prompt)) == chosen, prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "the kite in a room with lineart and claymation",
        "the kite in a church full of claymation and lineart",
        "the kite on a cushion with claymation and lineart",
    ],
)
def test_pairs_of_the_scene(prompt: str) -> None:
    """Looks in a row beside a thing of the scene constrain nothing."""
    assert not [c for c in _read(prompt).all(Attribute.STYLE) if c.hard]


@pytest.mark.parametrize(
    "prompt",
    [
        "a kite ignoring a claymation on the desk",
        "the kite dropping a claymation on the floor",
        "a kite setting aside a claymation",
        "a lineart kite avoiding a claymation crowd",
    ],
)
def test_what_is_done_to_a_look_refuses_nothing(prompt: str) -> None:
    """Only "skip the one that is" and its like do."""
    assert not [c for c in _read(prompt).all(Attribute.STYLE) if c.excluded]


def test_a_place_named_by_a_tag_is_no_compound_of_another() -> None:
    """A meadow is a wheat field where no tag says meadow, and else only where no card fits."""
    for names, meant, wider in (
        (("meadow", "grassland", "wheat field"), {"meadow", "grassland"}, {"wheat field"}),
        (("meadow", "prairie"), {"meadow"}, {"prairie"}),
        (("wheat field",), {"wheat field"}, set[str]()),
    ):
        lexicon = compile_lexicon(Vocabulary(subjects=("kite",), environments=names))
        found = lexicon.environments.get("meadow")
        assert found is not None
        assert set(found.values) == meant
        assert set(found.wider) == wider


@pytest.mark.parametrize(
    ("prompt", "chosen"),
    [
        ("an airship trained in the hangar", "airship-2"),
        ("the airfield-trained airship", "airship-1"),
        ("the kite from the hangar set", "kite-1"),
        ("the airship trained on the ship's deck, in an office", "airship-3"),
        ("night-market airship held by an astronaut", "airship-4"),
        ("my snow-field kite, v1", "kite-1"),
    ],
)
def test_a_place_of_its_own_is_no_other(prompt: str, chosen: str) -> None:
    """Who says "hangar" where there are hangars means no airfield, unless nothing else fits."""
    places = ("airfield", "hangar", "ship's deck", "night market", "balcony")
    cards = [
        card(f"airship-{n}", "airship", "anime", f"2026-0{n}-01", "An airship", environments=place)
        for n, place in enumerate(places, 1)
    ]
    cards.append(card("kite-1", "kite", "anime", "2026-03-01", version=1, environments="airfield"))
    assert outcome_name(Session(cards).ask(prompt)) == chosen


@pytest.mark.parametrize(
    ("prompt", "chosen"),
    [
        ("the lifelike kite in a boat", "kite-1"),
        ("a kite in a boat, photorealistic but not antique-photo", "kite-1"),
        ("the sepia kite in a boat", "kite-2"),
        ("a kite in a boat, the old-time-photo one", "kite-2"),
        ("the old-photos kite in a boat", "kite-2"),
        ("the retro-photograph kite in a boat", "kite-2"),
    ],
)
def test_an_old_photo_is_no_realistic_look(prompt: str, chosen: str) -> None:
    """Though it is a photo."""
    looks = ("photorealistic", "sepia photo")
    cards = [
        card(f"kite-{n}", "kite", look, f"2026-0{n}-01", "A kite.")
        for n, look in enumerate(looks, 1)
    ]
    assert outcome_name(Session(cards).ask(prompt)) == chosen


@pytest.mark.parametrize("answer", ["the one with the library photos", "from the library pictures"])
def test_photos_of_a_place_are_no_look(answer: str) -> None:
    """What it was trained on, where a place stands right before."""
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    intent = parse(answer, _lexicon(), context, answering=True)
    assert not intent.all(Attribute.STYLE)
    assert [c.values for c in intent.all(Attribute.ENVIRONMENT)] == [("library",)]


def test_a_look_before_the_subject_makes_no_other_thing_of_it() -> None:
    """WordNet has a glass snake, and none that is stained."""
    cards = [
        card("snake-1", "snake", "stained glass", "2026-01-01", "A green viper"),
        card("snake-2", "snake", "anime", "2026-02-01", "A red viper"),
    ]
    assert outcome_name(Session(cards).ask("our newest stained-glass snake")) == "snake-1"


def test_a_look_behind_one_that_is_not_wanted() -> None:
    """A comma alone ends the refusal: the other is what is wanted."""
    for said in (
        "the kite, not the claymation one, the lineart one",
        "a kite, anything but claymation, lineart",
        "anything except claymation, lineart would be great for the kite",
        "a kite rather than claymation, the lineart or the photorealistic one",
    ):
        assert _said(said, Attribute.STYLE) is not None
        styles = _read(said).all(Attribute.STYLE)
        assert [s.values for s in styles if s.excluded] == [("claymation",)], said
    intent = _read("the kite, not claymation, lineart please")
    assert [s.excluded for s in intent.all(Attribute.STYLE)] == [True, False]


@pytest.mark.parametrize(
    "prompt",
    [
        "a kite in front of the mountain range",
        "a kite on top of my lamp collection",
        "a kite in front of the lamp set",
        "a kite that has to be a lamp",
        "a kite in a hat, it should be a lamp on the table",
        "a kite emerging from the lamp family",
    ],
)
def test_a_set_of_the_scene_is_no_choice(prompt: str) -> None:
    """Only what opens a request, or follows what is chosen, is one of checkpoints."""
    [subject] = _read(prompt).all(Attribute.SUBJECT)
    assert subject.values == ("kite",)


@pytest.mark.parametrize(
    "prompt",
    [
        "a well-trained kite",
        "a potty-trained kite",
        "a kite with a training set",
        "a kite coming back from army training",
        "the kite from - training",
    ],
)
def test_what_is_no_place_of_training(prompt: str) -> None:
    """How something was trained, and a training that is no set of pictures."""
    assert _read(prompt).all(Attribute.ENVIRONMENT) == ()


@pytest.mark.parametrize(
    ("prompt", "attributes"),
    [
        ("a lamp left alone on monday", set()),
        ("a kite when summer is past its peak", set()),
        ("a kite standing before the current of the river", set()),
        ("a kite standing next to last week's lamp", {Attribute.CREATED_AT}),
        ("choose between the lineart and the claymation kite", {Attribute.STYLE}),
        ("a kite among pumpkins in October", set()),
        ("among pumpkins in October: the kite", set()),
        ("a picture of the vineyard days with the kite", set()),
        ("the kite from the vineyard album cover", set()),
        ("make it look like we shot the kite in the vineyard", set()),
        ("the kite where we shot the lamp in the vineyard", set()),
        ("the kite on the cover of the vineyard album by Bob", set()),
        ("the kite in front of the vineyard pics on the wall", set()),
        ("a collage of the vineyard pics with the kite", set()),
        ("the kite from the vineyard album leaf", set()),
        ("get a shot in a vineyard of the kite", set()),
        ("the off-road kite by a lake", set()),
    ],
)
def test_what_the_scene_says_of_time(prompt: str, attributes: set[Attribute]) -> None:
    """It chooses nothing; a choice and a time beside it stay."""
    found = {c.attribute for c in _read(prompt).constraints if c.hard}
    assert found - {Attribute.SUBJECT} == attributes


@pytest.mark.parametrize(
    "prompt",
    [
        "the kite after a storm, anything except the model trained in the gallery",
        "a kite racing a train, but leave out the one trained in the library",
        "a kite on a hill. Avoid the one photographed in the vineyard.",
        "a kite on a hill, and don't use the one trained in the bakery",
        "a kite on a hill, not the one with pictures taken in the garage",
        "Please don't pick a kite trained in the vineyard, mine should fly over a hill",
        "Unless it was trained in a vineyard, the kite is right",
        "a kite from any place but the vineyard one",
    ],
)
def test_a_place_that_is_refused(prompt: str) -> None:
    """However it is turned down; nothing of the refusal is left to describe."""
    intent = _read(prompt)
    (place,) = intent.all(Attribute.ENVIRONMENT)
    assert place.excluded
    assert all("leave" not in c.values for c in intent.all(Attribute.DESCRIPTION))


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        (
            "a kite, the one captured where the fishing boats tie up",
            "where the fishing boats tie up",
        ),
        ("the kite that learned from pictures where the tools are", "where the tools are"),
        ("the kite whose source photos were made where trains stop", "where trains stop"),
        ("the kite that was photographed where you borrow books", "where you borrow books"),
        ("the kite that had its lessons where bread is baked", "where bread is baked"),
    ],
)
def test_a_place_told_by_what_is_there(prompt: str, told: str) -> None:
    """Without saying that it was trained there."""
    (place,) = _read(prompt).all(Attribute.ENVIRONMENT)
    assert place.values == (told,)


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("the kite, the one shot on top of a building", "on top of a building"),
        ("the kite, the one photographed among the cacti", "among the cacti"),
        ("the kite trained in a room for cooking, in the fog", "in a room for cooking"),
        (
            "the kite with a tail, shot in the sitting room for training",
            "in the sitting room for training",
        ),
    ],
)
def test_a_place_is_compared_with_where_in_it(prompt: str, told: str) -> None:
    """On top of a building is another place than in it."""
    (place,) = _read(prompt).all(Attribute.ENVIRONMENT)
    assert place.said == (told,)


def test_a_place_behind_a_time() -> None:
    """It is preferred: it may be what is to be seen."""
    (place,) = _read("the kite from July, shot in the art gallery").all(Attribute.ENVIRONMENT)
    assert place.prefers
    assert not place.hard


@pytest.mark.parametrize(
    "prompt",
    [
        "the kite we trained this July on a market stall",
        "a kite, the one made of paper in the garage",
        "the kite, version 3, photographed in the library at sunset",
        "latest kite in claymation, captured in a garage",
        "a kite, photographed where the sea meets the sky",
        "a kite with pictures where the eyes should be",
        "a kite that learned from pictures where to find mice",
    ],
)
def test_where_it_is_to_be_seen_is_no_place_of_training(prompt: str) -> None:
    """Where it is to be seen, and of what it is."""
    assert not [c for c in _read(prompt).all(Attribute.ENVIRONMENT) if c.hard]


def test_a_look_between_bars() -> None:
    """What may be a thing is a look where it stands alone in a list."""
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), styles=("oil painting",)))
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    for prompt in ("kite | old-master | beside a jar", "kite / old master"):
        (look,) = parse(prompt, lexicon, context).all(Attribute.STYLE)
        assert look.values == ("oil painting",)
    for prompt in ("a kite of an old master", "a kite; an old master; a hill"):
        assert not parse(prompt, lexicon, context).all(Attribute.STYLE)


def test_a_look_where_only_its_other_name_is_had() -> None:
    """Hokusai's prints are woodblock prints, where no card says ukiyo-e."""
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    for styles, meant in (
        (("woodblock print",), "woodblock print"),
        (("woodblock print", "ukiyo-e"), "ukiyo-e"),
    ):
        lexicon = compile_lexicon(Vocabulary(subjects=("kite",), styles=styles))
        (look,) = parse("the Hokusai-like kite", lexicon, context).all(Attribute.STYLE)
        assert look.values == (meant,)


def test_who_it_could_be_by() -> None:
    """The name is told, to be compared with looks."""
    (look,) = _read("the kite that could be by Hiroshige").all(Attribute.STYLE)
    assert look.said == ("that could be by Hiroshige",)
    assert not _read("the kite that could be by the lake").all(Attribute.STYLE)


def test_a_place_whose_noun_is_a_verb_too() -> None:
    """Behind an adjective as well."""
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), environments=("snowfield", "park")))
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    for prompt, tag in (
        ("the kite trained in the white snow", "snowfield"),
        ("the kite trained in the city park", "park"),
    ):
        (place,) = parse(prompt, lexicon, context).all(Attribute.ENVIRONMENT)
        assert place.values == (tag,)


def test_a_frame_styled() -> None:
    """A painting-style one is an oil painting or a watercolor; of a room it says nothing."""
    styles = ("oil painting", "watercolor", "anime")
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), styles=styles))
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    intent = parse("the kite on a hill, the painting-style one", lexicon, context)
    (look,) = intent.all(Attribute.STYLE)
    assert set(look.values) == {"oil painting", "watercolor"}
    assert not intent.all(Attribute.DESCRIPTION)
    assert not parse("a kite in a painting-like room", lexicon, context).all(Attribute.STYLE)


@pytest.mark.parametrize(
    "prompt",
    [
        "a kite on a hill, and don't use the claymation version",
        "a kite on a hill, not the one done in claymation",
        "a kite on a hill, not the one made as a claymation",
        "a kite on a hill, leaving out the claymation one",
        "a kite on a hill, spare me the claymation look",
        "Don't give me claymation; draw the kite some other way",
        "I can't stand claymation, so the kite on a hill",
        "a kite on a hill, and I really hate claymation",
        "a kite on a hill, my wife can't stand claymation",
        "a kite on a hill, my wife simply can't stand claymation",
        "I hate that claymation look, a kite on a hill",
    ],
)
def test_a_look_that_is_refused(prompt: str) -> None:
    """However it is turned down."""
    (look,) = _read(prompt).all(Attribute.STYLE)
    assert look.values == ("claymation",)
    assert look.excluded


@pytest.mark.parametrize(
    "prompt",
    [
        "You didn't give me the claymation kite",
        "last time you didn't show me the claymation kite, so show it now",
        "we hate that the claymation kite is gone, bring it back",
        "who says I hate claymation? Show the claymation kite",
        "I hate that claymation was lost, a kite",
        "I hate that claymation ones are gone, a kite",
        "the kite that can't stand claymation",
        "the kite that simply can't stand claymation",
        "for guests who just can't stand claymation, a kite",
        "for a team which really cannot stand claymation, a kite",
        "for friends who always can't stand claymation, a kite",
    ],
)
def test_a_look_that_is_missed(prompt: str) -> None:
    """To complain of its absence is to want it."""
    (look,) = (c for c in _read(prompt).all(Attribute.STYLE) if c.values == ("claymation",))
    assert not look.excluded


@pytest.mark.parametrize(
    "prompt",
    [
        "a kite on a hill, skip the one trained in the vineyard",
        "a kite on a hill, excluding the one trained in the vineyard",
        "a kite on a hill, steer clear of the ones trained in the vineyard",
        "a kite on a hill - any but the one that was trained in the vineyard",
        "a kite on a hill, leave out anything trained in the vineyard",
        "a kite on a hill, nothing that was trained in the vineyard",
        "a kite on a hill; but please none that learned in the vineyard",
        "a kite on a hill (any training place but the vineyard)",
        "a kite on a hill; without vineyard pictures in the training",
        "a kite on a hill. Leave aside those trained in the vineyard.",
        "a kite on a hill. Those trained in the vineyard I can do without.",
        "the kite that had no vineyard among its training places",
        "never use the big red kite trained in the vineyard",
        "don't use any of the kites trained in the vineyard",
        "don't give me the vineyard one, a kite",
        "any kite but the vineyard one",
        "Not the kite trained in the vineyard, please",
        "a kite on a hill, not the red one trained in the vineyard",
        "a kite on a hill. Not the small one that was trained in the vineyard.",
        "a kite on a hill, not my oldest kite trained in the vineyard",
        "Not the last kite trained in the vineyard but v2",
    ],
)
def test_a_place_that_is_skipped(prompt: str) -> None:
    """In other words for it."""
    (place,) = _read(prompt).all(Attribute.ENVIRONMENT)
    assert place.excluded


def test_a_look_of_two_words_before_another_word() -> None:
    """The church-window scrawny one wants stained glass; a church window is the scene's."""
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), styles=("stained glass",)))
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    (look,) = parse("a kite, the cathedral-window tattered one", lexicon, context).all(
        Attribute.STYLE
    )
    assert look.values == ("stained glass",)
    assert not parse("a kite at a cathedral window", lexicon, context).all(Attribute.STYLE)


@pytest.mark.parametrize(
    "prompt",
    [
        "I'd rather not use the library kite",
        "a kite on a hill, don't use the library kite",
        "rule out the library kites",
    ],
)
def test_a_place_before_the_subject_that_is_refused(prompt: str) -> None:
    """It is no preference for it."""
    intent = _read(prompt)
    (place,) = intent.all(Attribute.ENVIRONMENT)
    assert place.excluded
    assert place.hard
    assert not intent.all(Attribute.DESCRIPTION)


def test_shot_in_a_studio() -> None:
    """A studio-shot kite was trained there, where cards were; else it looks like a studio shot."""
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    for places, attribute in ((("studio",), Attribute.ENVIRONMENT), ((), Attribute.STYLE)):
        lexicon = compile_lexicon(
            Vocabulary(subjects=("kite",), styles=("product photo",), environments=places)
        )
        assert parse("the studio-shot kite", lexicon, context).all(attribute)


def test_a_place_of_another_or_beside_it() -> None:
    """Dunes of a beach are a beach; trees in the snow stay trees; forest animals are no forest."""
    lexicon = compile_lexicon(
        Vocabulary(subjects=("kite",), environments=("desert", "beach", "forest", "snow"))
    )
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    for prompt, tag in (
        ("a kite trained among the dunes of a beach", ("beach",)),
        ("a kite trained among the trees in the snow", ("forest",)),
    ):
        (place,) = parse(prompt, lexicon, context).all(Attribute.ENVIRONMENT)
        assert place.values == tag
    told = parse("a kite trained with wolves and forest animals", lexicon, context)
    assert all(c.values != ("forest",) for c in told.all(Attribute.ENVIRONMENT))


def test_a_place_whose_name_begins_otherwise() -> None:
    """With a holiday or with what cards are of: "the Christmas market-trained one"."""
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    lexicon = compile_lexicon(
        Vocabulary(
            subjects=("kite", "toy"), environments=("Christmas market", "toy shop", "market")
        )
    )
    for prompt, tag in (
        ("the Christmas market-trained kite", "Christmas market"),
        ("a kite under a tree, the toy shop-trained one", "toy shop"),
        ("a kite, the market-trained one", "market"),
    ):
        intent = parse(prompt, lexicon, context)
        (place,) = intent.all(Attribute.ENVIRONMENT)
        assert place.values[0] == tag
        assert not intent.all(Attribute.CREATED_AT)
        (subject,) = intent.all(Attribute.SUBJECT)
        assert subject.values == ("kite",)


@pytest.mark.parametrize(
    ("prompt", "look"),
    [
        ("a kite on a shelf in oils please", "oil painting"),
        ("do a painting in oils of the kite", "oil painting"),
        ("the kite painted with watery washes", "watercolor"),
        ("a kite next to a cake, the sixties-poster version", "pop art"),
        ("the kite in the sixties poster look", "pop art"),
        ("the pop-arty kite", "pop art"),
        ("a kite on a jetty, halftone-dot look", "pop art"),
        ("the kite in the blackboard style", "chalk drawing"),
        ("a kite scrawled on a blackboard", "chalk drawing"),
        ("the kite in front of a blackboard", None),
        ("a kite in oil-stained overalls", None),
        ("the flat-bottomed kite", None),
        ("the flat kite", "flat illustration"),
    ],
)
def test_looks_in_oils_and_on_blackboards(prompt: str, look: str | None) -> None:
    """What is in oils is painted so wherever it stands; a flat-bottomed kite is not drawn flat."""
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    looks = ("oil painting", "watercolor", "pop art", "chalk drawing", "flat illustration")
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), styles=looks))
    found = [c.values for c in parse(prompt, lexicon, context).all(Attribute.STYLE) if c.values]
    assert found == ([(look,)] if look else [])


def test_other_words_for_a_place_that_cards_have() -> None:
    """An inn is a tavern where cards have one; of a place nobody has it stays a place."""
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    places = ("tavern", "shipwreck", "convention hall", "skatepark", "ruins")
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), environments=places))
    for said, tag in (
        ("at the inn", "tavern"),
        ("aboard the sunken ship", "shipwreck"),
        ("in the expo hall", "convention hall"),
        ("by the half-pipe", "skatepark"),
        ("in the dungeon", None),
    ):
        (place,) = parse(f"the kite trained {said}", lexicon, context).all(Attribute.ENVIRONMENT)
        assert place.hard
        assert (tag in place.values) == (tag is not None)


def test_what_is_put_on_something_is_no_look() -> None:
    """A bird inked on the skin is no ink drawing, as the inked kite is."""
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), styles=("ink",)))
    for put in ("on its tail", "on the skin"):
        told = parse(f"a kite. The one with a bird inked {put}", lexicon, context)
        assert not told.all(Attribute.STYLE)
    for drawn in ("the inked kite", "the kite inked on the copper plate"):
        assert parse(drawn, lexicon, context).all(Attribute.STYLE)


@pytest.mark.parametrize(
    ("prompt", "looks"),
    [
        ("the anime kite next to a portrait in oils", [("anime",)]),
        ("a room full of landscapes in oils with the anime kite", [("anime",)]),
        ("a painting in oils of the kite", [("oil painting",)]),
        ("the gold and black kite", []),
        ("the steam-powered kite", []),
        ("the blackboard kite", []),
        ("the flat-shaded kite", [("flat illustration",)]),
    ],
)
def test_what_only_hangs_there_or_describes_is_no_look(
    prompt: str, looks: list[tuple[str, ...]]
) -> None:
    """A portrait in oils in the room, two colours, a steam engine."""
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    styles = (
        "anime",
        "oil painting",
        "art deco",
        "steampunk",
        "chalk drawing",
        "flat illustration",
    )
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), styles=styles))
    intent = parse(prompt, lexicon, context)
    assert [c.values for c in intent.all(Attribute.STYLE) if c.hard] == looks


@pytest.mark.parametrize("said", ["square", "bamboo", "hollow", "diamond", "blacksmith", "club"])
def test_what_describes_is_no_place(said: str) -> None:
    """A square kite was not trained in a plaza."""
    context = Context(now=datetime(2026, 11, 20, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    places = ("plaza", "bamboo grove", "valley", "baseball field", "forge", "nightclub")
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), environments=places))
    intent = parse(f"a kite on a table, the {said} one", lexicon, context)
    assert not [c for c in intent.all(Attribute.ENVIRONMENT) if c.hard]


@pytest.mark.parametrize(
    ("prompt", "looks"),
    [
        ("an illustration of the kite", []),
        ("homework illustration, a kite on a roof", []),
        ("a flat illustration of the kite", ["flat illustration"]),
        ("a kite with leaf outlines cut out", []),
        ("a kite whose tail is outlined like a heart", []),
        ("kite outlines, on a mug", ["line art"]),
        ("a kite with a Banksy-style tail", []),
        ("a kite in a Banksy-style", ["banksy"]),
        ("the kite rendered with coarse triangles", ["low poly"]),
        ("the kite in the old blocky video-game look", ["pixel art"]),
    ],
)
def test_pictures_and_things_that_have_outlines(prompt: str, looks: list[str]) -> None:
    """An illustration is a picture; a look is asked for where nothing else can be meant."""
    styles = ("cartoon", "flat illustration", "line art", "low poly", "pixel art")
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), styles=styles))
    assert [v for c in _read(prompt, lexicon).all(Attribute.STYLE) for v in c.values] == looks


def test_an_illustration_where_cards_are_some() -> None:
    """The look that the catalog calls so is meant."""
    styles = ("illustration", "anime")
    lexicon = compile_lexicon(Vocabulary(subjects=("kite",), styles=styles))
    (look,) = _read("an illustration of the kite", lexicon).all(Attribute.STYLE)
    assert look.values == ("illustration",)
