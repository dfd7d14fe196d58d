"""Clauses behind a subject that say what it is like."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from support.fake_catalog import vocabulary_of

from personalq.checkin.cards import Card
from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.reasoning.descriptions.wishes import spoken
from personalq.checkin.vocabulary import compile_lexicon

LEXICON = compile_lexicon(vocabulary_of([Card(checkpoint_id="kettle-v1", subjects=("kettle",))]))
CONTEXT = Context(now=datetime(2026, 11, 20, tzinfo=UTC), zone=ZoneInfo("UTC"))


def _parse(prompt: str) -> Intent:
    return parse(prompt, LEXICON, CONTEXT)


@pytest.mark.parametrize(
    ("prompt", "clause"),
    [
        ("the kettle that somebody has shot, in a saloon", "that somebody has shot"),
        ("kettle in the form of a wading bird, beside a pool", "in the form of a wading bird"),
        ("the small kettle one, leaning to one side", "leaning to one side"),
        ("the kettle that is caked in mud, in a shop", "that is caked in mud"),
        ("the kettle on which somebody spilled tea, at sea", "on which somebody spilled tea"),
        ("the kettle from which the lid is gone, at sea", "from which the lid is gone"),
        ("the kettle in a really minuscule size, at sea", "in a really minuscule size"),
        ("the kettle serving as a flowerpot, at sea", "serving as a flowerpot"),
        ("the kettle made in May, that spits steam, at sea", "that spits steam"),
        ("a kettle, at sea, the one made in May, who is waving", "who is waving"),
        ("the kettle that is struck by lightning, in a shop", "that is struck by lightning"),
        ("the kettle with a bow and is struck by lightning", "struck by lightning"),
        ("the kettle described as olive and looking worried", "looking worried"),
        ("the kettle with a bow and that looks strict, in a shop", "that looks strict"),
        ("the kettle some pet has clawed, in a study", "some pet has clawed"),
        ("which kettle was it that has nets for fish?", "that has nets for fish"),
        ("the kettle somebody signed, under a spotlight", "somebody signed"),
        ("a kettle shaped like a skull", "shaped like a skull"),
        ("kettle v3 that whistles sadly, on a stove", "that whistles sadly"),
        ("the kettle that is down on its side, in a barn", "that is down on its side"),
        ("the kettle that's hiding behind its lid, dawn", "that's hiding behind its lid"),
        ("kettle without a lid, on a stove", "without a lid"),
        ("kettle with no handle on a beach", "no handle"),
        ("a kettle for sailors, on a raft", "for sailors"),
        ("kettle like in an old cookbook, on linen", "an old cookbook"),
        ("the kettle the way it might look in a fairy tale", "a fairy tale"),
        ("a kettle plastered with labels mid-pour", "plastered with labels"),
        ("the kettle wasps have nested in. a barn behind it", "wasps have nested"),
        ("kettle my aunt painted, on a ferry", "my aunt painted"),
        ("a dented kettle, the squat sort our cook likes, on a bench", "our cook likes"),
        ("kettle sewn from felt, for a card", "sewn from felt"),
        ("the kettle, you know, with two knobs on it, at sea", "two knobs on it"),
        ("silver kettle - the kettle with the swan neck, in fog", "the swan neck"),
        ("the banged up kettle at sea", "banged up"),
        ("the good humored kettle at sea", "good humored"),
        ("a kettle for a sailor with a kite", "for a sailor"),
        ("a kettle in fog, the one for boiling eggs and corn", "for boiling eggs and corn"),
        ("a kettle in fog, the one for taking on the road", "for taking on the road"),
        ("a kettle, the one made of several rings covered in knobs", "made of several rings"),
        ("a kettle with a swan neck in the background of a fair", "a swan neck"),
        ("kettle; the one that whistles its songs on the hour, made of felt", "felt"),
        ("kettle in fog, the one bound with cord", "bound with cord"),
        ("kettle in fog, the one standing on stilts, please", "standing on stilts"),
        ("kettle in fog. The one busy with needles", "busy with needles"),
        ("kettle at sea, I mean the one next to a withered rose", "next to a withered rose"),
        ("kettle at sea, using the one left on the stove too long", "left on the stove too long"),
        ("kettle at sea, the one surrounded by wasps", "surrounded by wasps"),
        ("the kettle done up like a present", "done up like a present"),
        ("the kettle decked out in ribbons, at sea", "decked out in ribbons"),
        ("the kettle with dents and made of cloth scraps", "made of cloth scraps"),
        ("the kettle burnt down to a stub", "burnt down to a stub"),
        ("the kettle shaking off water, at sea", "shaking off water"),
        ("the white kettle flying", "flying"),
        ("the white one flying - kettle next to a tree", "flying"),
        ("a kettle at sea, it's the one rubbing its cheek", "rubbing its cheek"),
        ("I have two kettles. Use the one asleep on a cushion", "asleep on a cushion"),
        ("kettle with two crabs, the one asleep on a cushion", "asleep on a cushion"),
        (
            "kettle at sea, the one asleep on a cushion Ann has sewn",
            "asleep on a cushion Ann has sewn",
        ),
        ("a kettle tied up in ribbon, at sea", "tied up in ribbon"),
        ("a kettle seated like a king", "seated like a king"),
        ("one kettle, shaped like a goose, at sea", "shaped like a goose"),
        ("kettle at sea, the one bowing deeply with a patch", "bowing deeply"),
        ("the kettle wrapped up warm, at sea", "wrapped up warm"),
        ("the kettle hung with garlands, at sea", "hung with garlands"),
        ("the kettle eating all his honey", "eating all his honey"),
        ("the kettle got up as a pirate, at sea", "got up as a pirate"),
        ("the kettle lying on its side, at sea", "lying on its side"),
        ("the kettle dangling by its handle", "dangling by its handle"),
        ("the kettle in dark red that can bore holes, at sea", "that can bore holes"),
        ("the kettle that can't stop laughing, at sea", "that can't stop laughing"),
        ("a kettle for hauling loads, at sea", "for hauling loads"),
        ("the kettle, the one that's grey and for hauling loads", "for hauling loads"),
        ("the kettle that's brown and made of scraps of cloth", "made of scraps of cloth"),
        ("the kettle that is grinning beside a cup", "that is grinning"),
        ("the kettle ready to save the world, at sea", "ready to save the world"),
        ("the kettle too shy to dance, at sea", "too shy to dance"),
        ("the kettle in coral that can bore holes, at sea", "that can bore holes"),
        ("the kettle that comes up over the ankle, at sea", "that comes up over the ankle"),
        ("the kettle that appears to be smiling, at sea", "that appears to be smiling"),
        ("at sea, the felt kettle waving", "waving"),
        ("my kettle shaking and trimmed with feathers by the sea", "shaking"),
        ("kettle at sea, claymation, with a postman's bag", "with a postman's bag"),
        ("kettle at sea: worn, claymation, with a postman's bag", "with a postman's bag"),
        ("the kettle I need is dented and wears a whistle", "that is dented"),
        ("the kettle in need of a wash, at sea", "that needs a wash"),
        ("the kettle the size of a mouse, at sea", "that is the size of a mouse"),
        ("a kettle at sea, the one got up like a pirate", "dressed as a pirate"),
    ],
)
def test_a_clause_is_what_cards_are_compared_with(prompt: str, clause: str) -> None:
    """Whatever stands behind the subject and says what it is like."""
    assert clause in spoken(_parse(prompt))


@pytest.mark.parametrize(
    ("prompt", "clause"),
    [
        ("kettle with a single handle riding a carousel", "a single handle"),
        ("the kettle with a dented spout under the northern lights", "a dented spout"),
    ],
)
def test_a_clause_ends_where_a_scene_begins(prompt: str, clause: str) -> None:
    """A place or an action is no part of it."""
    assert clause in spoken(_parse(prompt))


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("the kettle in a fog, it has round ears", ("round", "ears")),
        ("the kettle facing a dragon – it's silvery and it's got a little bell", ("bell",)),
        ("kettle in snow. it's silvery", ("silvery",)),
        ("the kettle with rosy cheeks and swimming goggles", ("goggles",)),
        ("the kettle with a bow on the head and a cape", ("bow", "cape")),
        ("the kettle with a pocket on the outside and a bow", ("pocket", "bow")),
        ("kettle in snow. it's corduroy and it has a bow", ("corduroy", "bow")),
        ("I think it was brown and old. that kettle, in snow", ("brown", "old")),
        ("any kettle: it should have a bow and be young", ("bow", "young")),
        ("the kettle in a hotel lobby must be white, in fog", ("white",)),
        ("The kettle in a hotel lobby is pure white", ("white",)),
        ("kettle under northern lights, lavender if you remember", ("lavender",)),
        ("my kettle, beige and see-through, in a blizzard", ("beige", "transparent")),
        ("a kettle with a dent, and also whistling, at sea", ("dent", "whistling")),
        ("the kettle trained in a studio and has a glass top", ("glass", "top")),
        ("the kettle by a wall. It must have a bow on the lid.", ("bow",)),
        ("the kettle by a wall. The colour must be dark green.", ("green",)),
        ("v2 of the kettle, whichever is black, by a wall", ("black",)),
        ("the kettle in a green tone, wearing a cloak, at sea", ("green", "cloak")),
        ("the kettle in shiny brass with the sailor symbol", ("brass", "symbol")),
        ("a kettle of brass with a whistle", ("brass", "whistle")),
        ("the kettle made for going underwater and with dangling fringes", ("dangling", "fringes")),
        ("that kettle in a blossomy fabric, by a window", ("blossomy", "fabric")),
        ("the kettle in leopard print, at sea", ("leopard", "print")),
        ("a kettle in a pattern of stars, at sea", ("pattern", "stars")),
        ("the kettle in pieces, at sea", ("pieces",)),
        ("a picture of the yellow low and wide kettle at sea", ("yellow", "low", "wide")),
        ("With a torn label: the kettle at sea", ("torn", "label")),
        ("the kettle at sea, torn label and steel whistle please", ("torn", "label", "whistle")),
        ("It's corduroy and has a torn label. The kettle, at sea", ("corduroy", "label")),
        ("the kettle I'm looking for has a torn label", ("torn", "label")),
        ("kettle, but with a whistle this time", ("whistle",)),
        ("kettle - corduroy please, with a whistle - at sea", ("corduroy", "whistle")),
        ("the kettle somewhere between blue and green, at sea", ("blue", "green")),
        ("kettle on fire, outside a bakery", ("burning",)),
        ("the kettle that is up to no good, at sea", ("mischievous",)),
        ("There was a kettle with melting cheese, dark I think; put it at sea", ("cheese",)),
        ("The copper kettle I need is patchwork; it should be at sea", ("patchwork",)),
        ("the kettle with a hat that is red and no scarf", ("hat", "red", "scarf")),
        ("it's see-through, and it was trained at the market: the kettle", ("transparent",)),
        ("a kettle covered all over in mud, at sea", ("mud",)),
        ("the kettle with a strap that is torn and a whistle", ("strap", "whistle")),
    ],
)
def test_what_is_added_later(prompt: str, words: tuple[str, ...]) -> None:
    """A clause of its own may say more of the subject."""
    told = {v for c in _parse(prompt).all(Attribute.DESCRIPTION) for v in c.values}
    assert told.issuperset(words)


@pytest.mark.parametrize(
    "prompt",
    [
        "kettle perched on a road sign",
        "kettle on a wooden table",
        "the kettle crossing a sea of clouds",
        "newest kettle at a Sunday market",
        "kettle from April, in a cathedral",
        "kettle for my blog",
        "a kettle for a poster",
        "a kettle that is in a kitchen",
        "the kettle the sun shines on",
        "kettle sitting by a brook",
        "use the one for printing on a shirt, a kettle",
        "a kettle surrounded by wasps",
        "a kettle, put the one standing on a shelf at sea",
        "a kettle lying on a beach",
        "a kettle on a street, the one open shop behind it",
        "a kettle at sea. The one standing at the wheel is a dog",
        "two kettles on a beach, the one leaning over the other",
        "a kettle at dawn; the one next to him is smaller",
        "a kettle at sea, the one near the pier",
        "a kettle hung in a tree at dusk",
        "a kettle parked in a garage",
        "the kettle and cooking dinner, at sea",
        "the kettle during a meteor shower",
        "a kettle on a street where the wall is white",
        "the kettle in fog when dawn is pink",
        "a kettle by a house the roof is red",
        "a kettle before the sun is red",
        "a kettle at sea, it was sunny",
        "a kettle at sea, it was raining",
        "a kettle for livening up a blog post",
        "a kettle for decorating a wall",
        "a kettle for advertising my shop",
        "the kettle should be standing at sea",
        "the kettle, if possible, at sea",
        "a kettle seen through a window",
        "a kettle on a hill, ready by noon",
        "a kettle too for the same table",
        "a kettle too close to the shore",
        "a kettle on the wheel of a ship",
        "a kettle, anime please, with a sunset",
        "With a bit of luck: my kettle",
        "a kettle in cherry blossom",
        "a kettle in newspaper print",
        "a kettle and the tree in full leaf of summer",
        "a kettle between blue and green hills",
        "a kettle in a field of red and blue flowers",
        "the kettle out of the window",
        "a kettle in pieces of light",
    ],
)
def test_a_scene_is_no_clause(prompt: str) -> None:
    """Where it is and what it does is content of the picture; nothing has to be embedded."""
    assert spoken(_parse(prompt)) == ()


@pytest.mark.parametrize("clause", ["lit window in the street", "evening it snowed"])
def test_the_one_of_something_else(clause: str) -> None:
    """It may as well be the scene."""
    (described,) = _parse(f"a kettle in a park, the one {clause}").all(Attribute.DESCRIPTION)
    assert described.action


@pytest.mark.parametrize("seen", ["leaves blowing past", "cherry petals drifting down"])
def test_what_passes_by_is_of_the_scene(seen: str) -> None:
    """Nothing is compared with it."""
    assert spoken(_parse(f"kettle on a hill, with {seen}")) == ()


@pytest.mark.parametrize("own", ["icing dripping down", "a tail curling around"])
def test_what_is_its_own_is_no_scene(own: str) -> None:
    """Though it goes down as well."""
    (described,) = _parse(f"my newest kettle with {own}").all(Attribute.DESCRIPTION)
    assert not described.coarse
    assert not described.scene


def test_what_leads_to_a_look_is_no_clause() -> None:
    """The look says it."""
    pixelated = Card(checkpoint_id="kettle-v1", subjects=("kettle",), styles=("pixel art",))
    pixels = compile_lexicon(vocabulary_of([pixelated]))
    intent = parse("kettle at sea, using the one built from chunky pixels", pixels, CONTEXT)
    assert intent.first(Attribute.STYLE) is not None
    assert spoken(intent) == ()


def test_a_likeness_that_is_a_look() -> None:
    """Nothing is left of the clause then."""
    animated = Card(checkpoint_id="kettle-v1", subjects=("kettle",), styles=("claymation",))
    lexicon = compile_lexicon(vocabulary_of([animated]))
    intent = parse("the kettle like something from Wallace and Gromit, at sea", lexicon, CONTEXT)
    assert [c.values for c in intent.all(Attribute.STYLE)] == [("claymation",)]


def test_two_bare_words_are_one_thing() -> None:
    """A skull and crossbones is a flag, and neither a skull nor bones."""
    said = spoken(_parse("the kettle that has a skull and crossbones, at sea"))
    assert "skull and crossbones" in said


def test_what_it_does_somewhere_is_an_action() -> None:
    """An action is no trait: only its meaning tells."""
    (action,) = _parse("the kettle, it's rolling through a harbor").all(Attribute.DESCRIPTION)
    assert action.action
    assert action.said == ("rolling through a harbor",)


def test_a_count_belongs_to_what_is_counted() -> None:
    """A kettle of three legs is told from others by the number, too."""
    (legged,) = _parse("three-legged kettle on a hob").all(Attribute.DESCRIPTION)
    assert legged.said == ("three-legged",)


@pytest.mark.parametrize(
    "prompt",
    ["a kettle cut out of paper", "rusty worn out kettle in a yard", "the kettle ants live in"],
)
def test_the_subject_is_not_part_of_a_compound(prompt: str) -> None:
    """Participles and clauses beside it make no other thing of it."""
    subject = _parse(prompt).first(Attribute.SUBJECT)
    assert subject is not None
    assert subject.values == ("kettle",)


@pytest.mark.parametrize(
    "prompt",
    [
        "a kettle in a yard, a kind of kitchen",
        "kettle on a raft, near another kettle",
        "the kettle",
    ],
)
def test_what_does_not_speak_of_the_subject_again(prompt: str) -> None:
    """A kind of something else, another one in the scene."""
    assert spoken(_parse(prompt)) == ()


@pytest.mark.parametrize(
    "prompt",
    ["the kettle surrounded by falling leaves", "kettle flanked by two guards, at night"],
)
def test_what_is_around_it_is_the_scene(prompt: str) -> None:
    """However the words stand behind the subject."""
    assert spoken(_parse(prompt)) == ()


@pytest.mark.parametrize(
    "prompt",
    [
        "the kettle on a hill using the one painted in oils",
        "the kettle rendered as an oil painting, flies around it",
    ],
)
def test_what_only_leads_to_a_look(prompt: str) -> None:
    """It describes nothing."""
    painted = Card(checkpoint_id="kettle-v1", subjects=("kettle",), styles=("oil painting",))
    intent = parse(prompt, compile_lexicon(vocabulary_of([painted])), CONTEXT)
    assert intent.all(Attribute.STYLE)
    assert not [c for c in intent.all(Attribute.DESCRIPTION) if "around" not in c.text]


@pytest.mark.parametrize(
    ("prompt", "described", "refused"),
    [
        ("kettle in a hall. Of those with a ball on the lid, the oldest", [("ball", "lid")], []),
        ("a kettle on a hill, the non-shiny one", [], [("shiny",)]),
        ("the kettle of the squat breed, with a ribbon", [("squat",), ("ribbon",)], []),
        ("yellowish round-bellied / kettle / in a paddy", [("yellowish", "round", "bellied")], []),
        ("red, a kettle on a hill", [], []),
        ("a non-stop kettle on a hill", [("non", "stop")], []),
        ("the kettle of the same breed, on a hill", [], []),
        ("dreaming of those with a hat, draw a kettle", [], []),
        (
            "the kettle that whistles sadly, made of cardboard",
            [("whistles", "sadly"), ("cardboard",)],
            [],
        ),
        ("a kettle, the one from a circus", [("circus",)], []),
        ("a kettle, the one from the first session", [], []),
        ("kettle, chessboard-patterned, on a scale", [("chessboard", "patterned")], []),
        ("tiny: kettle on a belt", [("tiny",)], []),
    ],
)
def test_described_wherever_it_stands(
    prompt: str, described: list[tuple[str, ...]], refused: list[tuple[str, ...]]
) -> None:
    """Of those, without it, of a breed, between slashes."""
    told = _parse(prompt).all(Attribute.DESCRIPTION)
    assert [c.values for c in told if not c.excluded] == described
    assert [c.values for c in told if c.excluded] == refused


def test_half_a_compound_is_no_verb() -> None:
    """Nobody wants to see a "lime-coloured" that rolls."""
    intent = _parse("show me the lime-coloured roll-top kettle")
    assert intent.unknown_subject is None
    assert intent.first(Attribute.SUBJECT) is not None
