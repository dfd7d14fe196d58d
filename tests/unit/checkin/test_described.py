"""Whether a card answers to what a person described."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib import resources
from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import NOW, studio
from support.fake_catalog import vocabulary_of

from personalq.checkin import lexicon
from personalq.checkin.cards import Card, Hit
from personalq.checkin.intent import Attribute, Constraint, Intent, OrderKey, Span
from personalq.checkin.lexicon import look_of
from personalq.checkin.lexicon.vectors import likeness
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.reasoning.descriptions.described import answers
from personalq.checkin.reasoning.descriptions.wishes import is_bare, place_of, wishes
from personalq.checkin.reasoning.few_words import kind_of
from personalq.checkin.reasoning.meaning import Place
from personalq.checkin.reasoning.profiles.concepts import concepts
from personalq.checkin.reasoning.profiles.profile import profile
from personalq.checkin.reasoning.reason import rank
from personalq.checkin.vocabulary import compile_lexicon


def _card(description: str, *subjects: str) -> Card:
    return Card(
        checkpoint_id="card-1",
        name="card-1",
        triggers=(),
        subjects=subjects,
        styles=("watercolor",),
        description=description,
        environments=("museum",),
    )


def _described(text: str, *, phrase: bool = True) -> Intent:
    words = tuple(text.split())
    wish = Constraint(
        attribute=Attribute.DESCRIPTION, values=words, hard=False, text=text, phrase=phrase
    )
    return Intent(constraints=(wish,))


def _best(text: str, *descriptions: str, phrase: bool = True) -> list[str]:
    hits = [Hit(card=_card(d, "kettle")) for d in descriptions]
    found = answers(_described(text, phrase=phrase), hits)
    top = max(answer.weight for answer in found)
    return [d for d, a in zip(descriptions, found, strict=True) if top and a.weight >= 0.9 * top]


@pytest.mark.parametrize(
    ("said", "meant", "other"),
    [
        ("glass orb", "a kettle with a crystal ball", "a kettle with a brass spout"),
        ("nick in its edge", "a kettle with a chip on the rim", "a kettle with a dented lid"),
        ("lights", "a kettle with headlights", "a kettle with wheels"),
        ("mortarboard", "a kettle with a cap", "a kettle with a cape"),
        ("blue clothing", "a kettle with a navy raincoat", "a kettle with a blue spout"),
        ("lots of hatching", "a kettle with crosshatching", "a kettle with dots"),
    ],
)
def test_other_words_for_a_thing(said: str, meant: str, other: str) -> None:
    """A thing is found by its synonyms, kinds, compounds and words close in meaning."""
    assert _best(said, meant, other) == [meant]


def test_a_kind_counts_beside_what_says_the_word() -> None:
    """A beanie is a hat, as a straw hat is; only the thesaurus knows."""
    beanie, hat = "a kettle with a knitted beanie", "a kettle with a straw hat"
    assert _best("hat", beanie, hat, "a kettle with a bell") == [beanie, hat]
    assert _best("beanie", beanie, hat) == [beanie]


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("a red kettle looking shy", "timid"),
        ("a red kettle with a lid, in a shy mood", "bashful"),
        ("a red kettle, feeling rather sleepy", "drowsy"),
    ],
)
def test_the_mood_of_the_subject(description: str, said: str) -> None:
    """However a card tells it, it is the subject's; whom a mood is of elsewhere is not meant."""
    other = "a red kettle with a shy bird on its lid"
    assert _best(said, description, other, phrase=False) == [description]


def test_the_mood_of_another_is_not_the_subjects() -> None:
    """A kettle with a sad dog is no sad kettle."""
    sad = set(concepts("sad"))
    for description, is_sad in (
        ("a kettle looking sad", True),
        ("a kettle, in a sad mood", True),
        ("a kettle with a dog looking sad", False),
    ):
        assert (sad <= profile(_card(description, "kettle")).kind) == is_sad


def test_a_shade_in_two_words() -> None:
    """Silver grey is a light grey, as charcoal grey is a dark one."""
    silver, charcoal = "a silver grey kettle", "a charcoal grey kettle"
    assert _best("light grey", silver, charcoal, phrase=False) == [silver]
    assert _best("dark grey", silver, charcoal, phrase=False) == [charcoal]


def test_an_adjective_alone_is_no_thing() -> None:
    """Before a comma it is said of the subject: "the timid, cartoon robot"."""
    assert _best("timid", "a shy red kettle", "a red kettle") == ["a shy red kettle"]


@pytest.mark.parametrize(
    ("said", "meant", "other"),
    [
        ("thawing", "a melting pizza", "a frozen pizza"),
        ("pineapple", "a golden Hawaiian pizza", "a golden Margherita pizza"),
        ("folded-over", "a charred calzone", "a charred marinara pizza"),
    ],
)
def test_how_a_kind_is_told(said: str, meant: str, other: str) -> None:
    """By who does not remember its name, or has another word for how it is."""
    hits = [Hit(card=_card(d, "pizza")) for d in (meant, other, "a plain pizza", "a pizza box")]
    found = answers(_described(said, phrase=False), hits)
    assert found[0].weight > max(answer.weight for answer in found[1:])


def test_what_a_card_says_comes_before_what_its_kind_is_told_by() -> None:
    """A high-top sneaker may be for basketball, but where one says so it is that one."""
    says, told = "a basketball sneaker", "a high-top sneaker with charms"
    hits = [Hit(card=_card(d, "sneaker")) for d in (says, told, "a skate sneaker", "a red sneaker")]
    weights = [each.weight for each in answers(_described("basketball", phrase=False), hits)]
    assert weights[0] > 2 * max(weights[1:])


def test_a_shade_asked_for_with_an_order_is_that_shade() -> None:
    """Where a card says mint, a forest green one is none, whichever is the newest."""
    hits = [Hit(card=_card(d, "kettle")) for d in ("a mint kettle", "a forest green kettle")]
    newest = Constraint(attribute=Attribute.ORDER, order=OrderKey.NEWEST, rank=1)
    intent = _described("mint", phrase=False)
    intent = replace(intent, constraints=(*intent.constraints, newest))
    weights = [each.weight for each in answers(intent, hits)]
    assert weights[1] <= 0.5 * weights[0]


def test_what_stands_on_the_subject_is_not_its_kind() -> None:
    """Wicker chairs on a cafe make no chair of it, and a slip-on sneaker stays one."""
    assert profile(_card("Wicker chairs on a navy internet cafe", "cafe")).kind >= {"cafe", "=blue"}
    assert "chair" not in profile(_card("Wicker chairs on a navy internet cafe", "cafe")).kind
    assert "slip" in profile(_card("a teal slip-on sneaker", "sneaker")).kind


def test_a_metal_is_no_second_colour() -> None:
    """A black harp made of bronze is not brown."""
    assert "=brown" not in profile(_card("The black harp, in bronze", "harp")).kind
    assert "=brown" in profile(_card("A harp, in bronze", "harp")).kind


def test_what_it_is_covered_with_is_said_of_it() -> None:
    """Also in a sentence of its own; denim is a stuff of any colour."""
    assert "=leather" in profile(_card("Our harp with a bow. Leather-covered, cream", "harp")).kind
    assert "=blue" not in profile(_card("A black, denim harp with a bow", "harp")).kind


def test_the_very_word_for_a_thing_comes_first() -> None:
    """Where a card says blimp, the zeppelin of another card is another kind."""
    blimp, zeppelin = "a kettle with a blimp", "a kettle with a zeppelin"
    assert _best("blimp", blimp, zeppelin) == [blimp]
    assert _best("blimp", "a kettle with a bell", zeppelin) == [zeppelin]


def test_a_quality_in_other_words_is_the_same_quality() -> None:
    """Where one card says enormous, another that says gigantic is as huge."""
    hits = [Hit(card=_card(f"A {how} kettle", "kettle")) for how in ("gigantic", "enormous", "red")]
    for said in ("huge", "enormous", "gigantic"):
        big, other, red = (a.weight for a in answers(_described(said, phrase=False), hits))
        assert big == other > red


@pytest.mark.parametrize(
    ("said", "meant", "other"),
    [
        ("stern", "a serious kettle", "a cheerful kettle"),
        ("smiley", "a cheerful kettle", "a serious kettle"),
        ("tatty", "a battered kettle", "a shiny kettle"),
        ("crooked", "a bent kettle", "a straight kettle"),
        ("pricey", "an expensive kettle", "a cheap kettle"),
        ("skinny", "a scrawny kettle", "a plump kettle"),
        ("knackered", "an exhausted kettle", "a lively kettle"),
        ("nimble", "an agile kettle", "a sleepy kettle"),
    ],
)
def test_a_quality_as_people_say_it(said: str, meant: str, other: str) -> None:
    """In any of the everyday words for it."""
    hits = [Hit(card=_card(each, "kettle")) for each in (meant, other)]
    good, bad = (a.weight for a in answers(_described(said, phrase=False), hits))
    assert good > bad == 0


@pytest.mark.parametrize(
    ("said", "meant", "other"),
    [
        ("tall hat", "a kettle with a top hat", "a kettle with a beret"),
        ("chain switch", "a kettle with a pull chain", "a kettle with a dimmer knob"),
        ("little flag", "a kettle with a pennant", "a kettle with a horn"),
        ("foot support", "a kettle with a footrest", "a kettle with a headrest"),
        ("dark glasses", "a kettle with sunglasses", "a kettle with a monocle"),
    ],
)
def test_a_thing_as_people_say_it(said: str, meant: str, other: str) -> None:
    """By another name, or by a plain description with a noun."""
    assert _best(said, meant, other) == [meant]


def test_a_kind_beside_its_colour() -> None:
    """Where a card tells its kind in a phrase of its own, what people say of it holds."""
    alone = profile(_card("Ivory is the colour, inflatable the type.", "canoe"))
    assert profile(_card("An ivory inflatable canoe.", "canoe")).told <= alone.told != frozenset()


def test_what_is_told_of_the_subject_itself_tells_no_card() -> None:
    """Every rat is long-tailed."""
    hits = [Hit(card=_card(d, "rat")) for d in ("a black rat", "a white rat with a cheese")]
    weights = [each.weight for each in answers(_described("sewer", phrase=False), hits)]
    assert weights[0] == weights[1]


@pytest.mark.parametrize(
    ("said", "meant", "other"),
    [
        ("insect screen", "a kettle with a mosquito net", "a kettle with a net"),
        ("with a bite taken out", "a kettle, bitten", "a kettle with a lid"),
        ("clothes peg", "a kettle with a clothespin", "a kettle with a peg"),
    ],
)
def test_the_same_thing_in_other_words(said: str, meant: str, other: str) -> None:
    """Of the thesaurus, in any number and with any article."""
    assert _best(said, meant, other) == [meant]


def _meant(said: str, *likeness: float, descriptions: tuple[str, ...]) -> list[float]:
    hits = [
        Hit(
            card=_card(description, "kettle"),
            text_likeness={said: value},
            word_likeness={said: value},
        )
        for value, description in zip(likeness, descriptions, strict=True)
    ]
    return [answer.weight for answer in answers(_described(said), hits)]


def test_a_clause_is_compared_by_meaning() -> None:
    """What no word explains is what a card's phrase is most like."""
    weights = _meant(
        "that somebody has shot",
        0.65,
        0.30,
        descriptions=("a kettle with a bullet hole", "a kettle with a lid"),
    )
    assert weights[0] > 0.3
    assert weights[1] == 0.0


def test_the_likest_stays_apart_however_unlike_the_others() -> None:
    """What one description can settle is bounded, but not by making the first two alike."""
    first, second, *rest = _meant(
        "that somebody has shot",
        0.80,
        0.70,
        0.05,
        0.05,
        descriptions=("a kettle", "a kettle with a hole", "a kettle with a lid", "a kettle, blue"),
    )
    assert first == pytest.approx(1.0)
    assert second < 0.8
    assert rest == [0.0, 0.0]


@pytest.mark.parametrize("said", ["without handles", "no handles", "missing its handles"])
def test_what_is_not_there(said: str) -> None:
    """Who wants it without a thing does not mean a card that has one, nor the other way round."""
    with_it, without = "a kettle with round handles", "a kettle without handles"
    assert _best(said, with_it, without) == [without]
    assert _best("handles", with_it, without) == [with_it]


@pytest.mark.parametrize(
    ("said", "phrase"),
    [
        ("that hasn't got handles", True),
        ("devoid of handles", True),
        ("which is without handles", True),
        ("handleless", False),
    ],
)
def test_what_is_not_there_in_other_words(said: str, phrase: bool) -> None:
    """A card that says so comes before one that says nothing."""
    silent, without = "a kettle with a lid", "a kettle without handles"
    assert _best(said, silent, without, phrase=phrase) == [without]


def test_a_card_says_in_one_word_what_it_lacks() -> None:
    """Nobody calls a hairless cat one without fur, but who asks may."""
    bare, other = "a hairless kettle", "a blue kettle"
    for said in ("no hair", "no fur", "without fur"):
        assert _best(said, other, bare) == [bare]


@pytest.mark.parametrize(
    ("said", "left", "front"),
    [
        (
            "bell on the left",
            "a kettle with a bell on the left",
            "a kettle with a bell on the front",
        ),
        (
            "bell at the rear",
            "a kettle with a bell at the back",
            "a kettle with a bell on the front",
        ),
        (
            "bell on its left",
            "a kettle, a bell on the left side",
            "a kettle, a bell on the right side",
        ),
    ],
)
def test_where_a_thing_is(said: str, left: str, front: str) -> None:
    """Of two that have it, the one that has it there."""
    assert _best(said, left, front) == [left]


def test_a_description_of_keys_names_the_kind_alone() -> None:
    """What opens it in a word or two is what the subject is, whatever colour its stuff has."""
    told = _card("kind: folding / colour: navy / feel: ash wood", "wheelbarrow")
    assert "=blue" in profile(told).kind
    assert {concept for concept in profile(told).kind if concept.startswith("fold")}
    assert kind_of(told) == "navy folding wheelbarrow, ash wood"


def test_without_is_no_wish_for_what_is_like_it() -> None:
    """Who wants no lid means no card that has one, however like its words are."""
    meant = _meant("without a lid", 0.9, 0.1, descriptions=("a kettle with a lid", "a pot"))
    assert meant[0] == 0 < meant[1]


def test_one_missing_leaves_others() -> None:
    """What lacks one of several has the rest."""
    assert _best("legs", "a kettle missing one leg", "a kettle without legs") == [
        "a kettle missing one leg"
    ]


def test_a_vague_phrase_counts_less_than_what_surely_describes() -> None:
    """A landscape that happens to share a word with a card is most likely the scene."""
    vague = Constraint(
        attribute=Attribute.DESCRIPTION,
        values=("snowy", "peaks"),
        hard=False,
        text="snowy peaks",
        phrase=True,
        coarse=True,
        span=Span(0, 8),
    )
    sure = _described("striped", phrase=False).constraints
    hits = [Hit(card=_card(d, "kettle")) for d in ("a striped kettle", "a kettle with peaks")]
    striped, peaked = answers(Intent(constraints=(*sure, vague)), hits)
    assert striped.weight > peaked.weight > 0


@pytest.mark.parametrize(
    ("description", "tells"), [("", True), ("Trained on beach photos.", True), ("a pot", False)]
)
def test_a_card_without_phrases_is_like_nothing(description: str, tells: bool) -> None:
    """It keeps nobody from comparing the others; one that waits for its vectors does."""
    said = "that zorbles gently"
    hits = [
        Hit(
            card=_card(about, "kettle"),
            text_likeness={said: like},
            word_likeness={said: like} if like > 0.2 else {},
        )
        for about, like in (
            ("a kettle with a bullet hole", 0.65),
            ("a kettle with a lid", 0.30),
            (description, 0.2),
        )
    ]
    first, *others = [answer.weight for answer in answers(_described(said), hits)]
    assert first > 0.5 > max(others) if tells else first == max(others) == 0.0


def test_what_is_like_nothing_is_the_scene() -> None:
    """Nobody is much more like it, so nobody is preferred; a single word must tell more."""
    descriptions = ("a kettle with green eyes", "a kettle with a lid")
    clause = _meant("that flies to the moon", 0.14, 0.1, descriptions=descriptions)
    assert max(clause) < 0.1
    word = _meant("sunglasses", 0.14, 0.1, descriptions=descriptions)
    assert max(word) < max(clause)


def test_what_many_cards_say_is_less_likely_meant() -> None:
    """Who describes a thing means to single it out."""
    common = ("a kettle with a thatched roof",) * 6
    weights = _meant(
        "a stargazing instrument under the roof",
        *[0.54] * 6,
        0.52,
        descriptions=(*common, "a kettle with a telescope"),
    )
    assert weights[-1] > max(weights[:-1])


def test_cards_that_share_what_is_meant_are_alike() -> None:
    """That a card is a little less like the words says little, where it has the same thing."""
    others = tuple(f"a kettle with a part {number}" for number in "abcdefgh")
    said = "of more than one floor"
    alike = (0.75, 0.65, 0.62, *[0.2] * 8)
    shared = ("a layered kettle in tin", "a layered kettle, dented", "a layered kettle with a lid")
    apart = ("a tiered kettle in tin", "a stacked kettle, dented", "a layered kettle with a lid")
    first, *rest = _meant(said, *alike, descriptions=(*shared, *others))
    alone, *unlike = _meant(said, *alike, descriptions=(*apart, *others))
    assert min(rest[:2]) > 0.8 * first
    assert max(unlike[:2]) < 0.8 * alone
    assert max(rest[2:]) < 0.5 * first


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("a rich red kettle", ["red"]),
        ("the egg-shaped kettle", ["egg"]),
        ("a lime-coloured kettle", ["lime"]),
        ("the rich kettle", ["rich"]),
        ("a dusty red kettle", ["dusty", "red"]),
    ],
)
def test_what_tells_by_itself(said: str, words: list[str]) -> None:
    """How a colour is, and the end of a compound, are nothing to compare by themselves."""
    lexicon_ = compile_lexicon(vocabulary_of([Card(checkpoint_id="k", subjects=("kettle",))]))
    context = Context(now=NOW, zone=ZoneInfo("UTC"))
    assert [wish.text for wish in wishes(parse(said, lexicon_, context))] == words


def test_words_come_before_meaning() -> None:
    """A card that says the very thing has it, whatever else is like it."""
    descriptions = ("a kettle with a red scarf", "a kettle with a crimson shawl of wool")
    assert _meant("red scarf", 0.7, 0.9, descriptions=descriptions)[0] == 1.0


def test_a_text_of_punctuation() -> None:
    """A word that is only punctuation is none, in a description and in a subject."""
    card = _card("a kettle with _ and a cap", "kettle", "_", "'s")
    assert answers(_described("cap"), [Hit(card=card)])[0].matched == ("cap",)
    first = _card("a kettle with a cap", "_", "kettle")
    wanted = Intent(
        constraints=(Constraint(attribute=Attribute.SUBJECT, values=("kettle",), text="kettle"),)
    )
    assert [c.card for c in rank(wanted, [Hit(card=first)], ZoneInfo("UTC"))] == [first]


def test_a_modifier_means_nothing_without_its_noun() -> None:
    """A double rainbow is no double handle."""
    assert _best("double rainbow", "a kettle with a double handle", "a kettle with a lid") == []


def test_a_color_is_told_from_others() -> None:
    """Colours are alike in meaning, and still only one that people call so will do."""
    assert _best("cobalt", "a blue kettle", "a red kettle", phrase=False) == ["a blue kettle"]
    assert _best("teal", "a blue kettle", "a red kettle", phrase=False) == ["a blue kettle"]
    assert _best("violet", "a blue kettle", "a red kettle", phrase=False) == []


def test_a_color_in_the_name_of_a_thing() -> None:
    """Cinnamon is a brown, alone too; among browns who says so is meant."""
    cinnamon = ("a kettle in cinnamon", "our cinnamon round kettle")
    for others in (("a brown kettle",), ("a kettle with cinnamon sticks",)):
        assert _best("cinnamon", *cinnamon, *others, phrase=False) == list(cinnamon)


@pytest.mark.parametrize(
    ("description", "subject", "kind"),
    [
        ("A blue yurt, canvas, bunting", "tent", {"yurt", "=blue"}),
        ("Navy, wigwam", "tent", {"wigwam", "=blue"}),
        ("A grey draft horse, rearing, with bells", "horse", {"=gray", "draft", "hors", "rear"}),
        ("A scarlet parrot; upside-down", "parrot", {"=red", "parrot", "upsid"}),
        ("Sedan, red roof rack", "car", {"sedan"}),
        ("Fedora, red band", "hat", {"=hat"}),
        ("Brass studs, armchair, blue", "chair", {"armchair", "=blue"}),
        ("A red cushion, rocker", "chair", {"rocker"}),
    ],
)
def test_what_a_thing_is_made_of_is_no_kind_of_it(
    description: str, subject: str, kind: set[str]
) -> None:
    """A canvas is a tent too; but a bare word may be the kind."""
    assert profile(_card(description, subject)).kind == kind


def test_a_color_of_something_else_counts_less() -> None:
    """A white kettle is white itself."""
    meant, other = "a white kettle with a lid", "a blue kettle with white spots"
    assert _best("white", meant, other, phrase=False) == [meant]


def test_a_breed_is_no_color() -> None:
    """A tawny owl may be white."""
    assert "=brown" not in profile(_card("A white tawny owl", "owl")).everything
    assert "=cream" in profile(_card("A cream tawny owl with a bell", "owl")).kind
    assert "=green" in profile(_card("An olive tree frog with a bell", "frog")).kind
    assert "=green" not in profile(_card("An olive oil lamp with a bell", "lamp")).kind
    assert "=red" not in profile(_card("A cherry tree house with a bell", "house")).kind


@pytest.mark.parametrize(
    ("description", "subject", "colour"),
    [
        ("With a silk necktie and burgundy cloak, this knight looks frightened", "knight", "=red"),
        ("A weary chef with a satchel, emerald apron", "chef", "=green"),
        ("Fuchsia paint, dump type. The truck has a blanket", "truck", "=pink"),
        ("Think navy: a single-handed sailing boat", "boat", "=blue"),
    ],
)
def test_the_colour_of_all_of_it(description: str, subject: str, colour: str) -> None:
    """Of a person it is that of the clothes; of what has a blanket, not the blanket's."""
    assert colour in profile(_card(description, subject)).kind
    other = profile(_card(f"A {subject} with a purple blanket", subject))
    assert "=purple" not in other.kind


@pytest.mark.parametrize(
    ("description", "colours"),
    [
        ("You get a boxy car with a bell; it comes in coral", {"=pink"}),
        ("The boxy car with a bell is navy and shown on a stand", {"=blue"}),
        ("Learned from cafe pictures: a chocolate, boxy car; also with a bell", {"=brown"}),
        ("A pixel study: the car (peach, muddy) has a bell", {"=orange"}),
        ("Rose, boxy, drenched: a car with a bell", {"=pink"}),
        ("Car, glass, coral. Seen with a bell", {"=pink"}),
        ("The car is boxy, its colour rose; it has a bell", {"=pink"}),
        ("Trained in a cave for a client who asked for a coral boxy car", {"=pink"}),
        ("Boxy car, emerald all over", {"=green"}),
        ("Rust-coloured, howling and with a bell: that is this boxy car", {"=orange"}),
        ("A boxy car, rust-coloured all over, with a bell", {"=orange"}),
        ("A boxy car, coloured terracotta, with a bell", {"=orange"}),
        ("A boxy car. Coloured terracotta throughout.", {"=orange"}),
        ("A coloured terracotta car with a bell", set()),
        ("A boxy car in coral (toy), with a bell", {"=pink"}),
        ("A car with a bell, our flag is navy", set()),
        ("Rose, a car with a bell", set()),
        ("A car with a flag that is navy", set()),
        ("The car has seats that are navy", set()),
        ("A car, the sky is navy", set()),
        ("A car with a bell, whose driver is in navy", set()),
    ],
)
def test_a_colour_in_any_form_of_card(description: str, colours: set[str]) -> None:
    """Read as the subject's own; a name is none."""
    found = profile(_card(description, "car")).kind
    assert found & {"=pink", "=blue", "=brown", "=orange", "=green"} == colours


def test_what_a_cake_tastes_of_is_not_its_colour() -> None:
    """Where it has another."""
    assert "=brown" not in profile(_card("A walnut cake in turquoise", "cake")).kind
    assert "=brown" in profile(_card("A walnut cabinet in turquoise", "cabinet")).kind
    assert "=green" in profile(_card("A cake in lime and black", "cake")).kind


def test_a_kind_told_by_an_adjective() -> None:
    """What is "estate" of a car is an estate car."""
    found = profile(_card("The car is estate, with a bow", "car")).things
    assert any("station wagon" in thing for thing in found)


@pytest.mark.parametrize(
    "description",
    [
        "A tailor with a purple suit on a mannequin",
        "A tailor with a purple stripe across the paint",
    ],
)
def test_what_is_not_worn_colours_nobody(description: str) -> None:
    """It hangs elsewhere, or is held."""
    assert "=purple" not in profile(_card(description, "tailor")).kind


def test_what_is_drawn_in_charcoal_is_not_gray() -> None:
    """It is how the picture is made."""
    found = profile(_card("Charcoal drawing take on the crimson lamp", "lamp"))
    assert found.called & {"=gray", "=red"} == {"=red"}
    assert "=gray" in profile(_card("A charcoal pencil skirt with a bow", "skirt")).kind


def test_what_is_worn_is_no_adjective() -> None:
    """Somebody "in the waterproof" wears one."""
    meant, other = "a kettle with a raincoat", "a kettle with a waistcoat"
    assert _best("waterproof", meant, other) == [meant]


@pytest.mark.parametrize(
    ("description", "kind"),
    [
        ("This knows a navy kettle; look for a bent spout.", "a navy kettle with a bent spout"),
        ("Fine-tuned on 18 images. A navy kettle. Rendered as low poly.", "a navy kettle"),
        ("kettle / navy / nothing special. Trained on museum scenes.", "kettle, navy"),
        ("A bent spout and all: a navy kettle.", "a navy kettle with a bent spout"),
        ("My tin kettle. Colour navy, with bent feet.", "the navy tin kettle with bent feet"),
        ("One navy kettle, covered in dust.", "the navy kettle, covered in dust"),
        ("Everything is about one tin kettle: navy.", "the navy tin kettle"),
        ("With a bell, this kettle in navy is drawn as oils.", "the kettle in navy with a bell"),
        ("Tin kettle, colour amber, and shows a bell", "amber tin kettle with a bell"),
        ("A one eared kettle. Colour navy. With a bell.", "a navy one eared kettle with a bell"),
        ("One legged kettle, colour navy.", "navy one legged kettle"),
        ("One dented kettle. Colour navy.", "the navy dented kettle"),
        ("Siamese kettle. Colour navy. A bell.", "navy Siamese kettle with a bell"),
        ("Kettles are here. Colour navy", "Kettles, navy"),
        ("The kettle is a navy kettle. It appears with a bell.", "a navy kettle with a bell"),
        ("Personalized kettle: navy tin kettle with a bell.", "navy tin kettle with a bell"),
        ("Navy kettle checkpoint with a bell.", "navy kettle with a bell"),
        ("What sets this navy kettle apart is a bell.", "the navy kettle with a bell"),
    ],
)  # fmt: skip
def test_a_card_in_a_few_words(description: str, kind: str) -> None:
    """Whatever form a description has, a question shows what it says of the subject."""
    assert kind_of(_card(description, "kettle")) == kind


def test_where_it_was_trained_describes_nothing() -> None:
    """Pictures taken in a museum make no kettle a museum's."""
    card = _card("A navy kettle. Trained on museum scenes.", "kettle")
    assert "museum" not in profile(card).everything


def test_tags_of_one_look() -> None:
    """Spellings and finishes of a look are that look."""
    assert look_of("Watercolour wash") == look_of("aquarelle") == "watercolor"
    assert look_of("Studio Ghibli-like") == look_of("ghibli style") != look_of("anime")


def test_likeness_of_meaning() -> None:
    """Words close in meaning are alike, unknown words are like nothing."""
    assert likeness(["stickers"], ["decals"]) > 0.4 > likeness(["stickers"], ["waterfall"])
    assert likeness(["zorbish"], ["zorbish"]) == 0.0


@pytest.mark.parametrize(
    ("said", "description"),
    [
        ("pink", "a rose steel kettle with a lid"),
        ("pink", "With a lid, this is a kettle colored rose."),
        ("green", "With a big lid and a whistle, this is a boiler coloured mint."),
    ],
)
def test_a_color_wherever_a_description_has_it(said: str, description: str) -> None:
    """A flower's name is a colour beside a noun, and a sentence may end in what the card is."""
    other = "a blue kettle with an edible rose and a mint leaf"
    assert _best(said, description, other, phrase=False) == [description]


def test_an_answer_describes_whatever_it_says() -> None:
    """A person who answers means one of the cards: less likeness is enough."""
    hits = [
        Hit(card=_card(about, "kettle"), text_likeness={said: like}, word_likeness={said: like})
        for said in ("stowable",)
        for about, like in (("a folding kettle", 0.30), ("a kettle with ears", 0.22))
    ]
    wish = Constraint(
        attribute=Attribute.DESCRIPTION,
        values=("stowable",),
        hard=False,
        text="stowable",
        said=("stowable",),
    )
    weights = [a.weight for a in answers(Intent(constraints=(wish,), answered=True), hits)]
    unasked = Intent(constraints=(replace(wish, span=Span(0, 8)),))
    doubted = [a.weight for a in answers(unasked, hits)]
    assert weights[0] > 1.5 * doubted[0] > 0 == weights[1] == doubted[1]


def test_what_is_worn_before_the_subject_is_said_of_it() -> None:
    """A "blue bandana corgi" is no corgi beside which somebody has one."""
    lexicon = compile_lexicon(vocabulary_of(studio()))
    context = Context(now=NOW, zone=ZoneInfo("UTC"), southern=False)
    [before] = wishes(intent := parse("the blue bandana bear", lexicon, context))
    assert place_of(before, intent) is Place.BEFORE
    assert not is_bare(before)
    [behind] = wishes(intent := parse("the bear in a bandana", lexicon, context))
    assert place_of(behind, intent) is Place.BEHIND
    assert is_bare(behind)


def test_a_shower_cap_is_no_sailor_cap() -> None:
    """Names of one thing in two words are not the same for their last."""
    sailor, shower = _weights(
        "sailor cap", "a kettle with a sailor cap", "a kettle with a shower cap"
    )
    assert sailor == 1.0
    assert 0 < shower < 0.7


def _weights(said: str, *descriptions: str) -> list[float]:
    hits = [Hit(card=_card(description, "kettle")) for description in descriptions]
    return [answer.weight for answer in answers(_described(said), hits)]


def test_a_word_is_in_one_group() -> None:
    """Of two groups the second would never be read."""
    groups = lexicon.description_groups()
    table = tomllib.loads(
        (resources.files("personalq.checkin.lexicon") / "descriptions.toml").read_text("utf-8")
    )
    twice = {
        word
        for group in table["groups"]
        for word in group
        if groups[lexicon.canonical(word)] != group[0]
    }
    assert not twice


@pytest.mark.parametrize(
    ("said", "meant", "other"),
    [
        ("a star sewn", "a kettle with a star patch", "a kettle with a moon patch"),
        ("decals all over", "a kettle with stickers", "a kettle with a strap"),
        ("tips back", "a reclining kettle with a throw", "a rocking kettle with a throw"),
        ("filled with air", "an inflatable kettle", "a folding kettle"),
        ("pince-nez", "a kettle with glasses", "a kettle with a hat"),
    ],
)
def test_how_a_thing_is_put_and_what_it_is_like(said: str, meant: str, other: str) -> None:
    """A participle behind a thing is not what it is; what it is like has other words too."""
    assert _best(said, meant, other) == [meant]


def test_a_detail_that_several_share_beside_an_order() -> None:
    """The oldest of those that surely have it, where words do not tell; else of all."""
    throw = "a kettle with a crocheted throw"
    cards = [f"a kettle with a brass part {n}" for n in range(4)]
    cards += ["a kettle with a blanket"] * 3
    said = Constraint(
        attribute=Attribute.DESCRIPTION,
        values=("crochet",),
        hard=False,
        text="crochet",
        said=(throw,),
        phrase=True,
    )
    order = Constraint(attribute=Attribute.ORDER, order=OrderKey.OLDEST, rank=1)

    def weights(likeness: float) -> list[float]:
        hits = [
            Hit(
                card=_card(text, "kettle"),
                likeness={throw: 0.1},
                word_likeness={throw: likeness if "blanket" in text else 0.1},
                text_likeness={throw: 0.1},
            )
            for text in cards
        ]
        return [a.weight for a in answers(Intent(constraints=(said, order)), hits)]

    assert weights(0.9) == [0.0] * 4 + [1.0] * 3
    assert weights(0.2) == [0.0] * 7


@pytest.mark.parametrize(
    ("likeness", "rank", "text", "placed", "meant"),
    [
        ((0.8, 0.8, 0.1, 0.1, 0.1), 1, "a cozy old throw", False, (0, 1)),
        ((0.8, 0.8, 0.1, 0.1, 0.1), 2, "a cozy old throw", False, (0, 1)),
        ((0.8, 0.8, 0.1, 0.1, 0.1), 3, "a cozy old throw", False, ()),
        ((0.8, 0.8, 0.1, 0.1, 0.1), 1, "a cozy old throw", True, ()),
        ((0.8, 0.8, 0.1, 0.1, 0.1), 1, "hugging an old throw", False, ()),
        ((0.15, 0.15, 0.1, 0.1, 0.1), 1, "a cozy old throw", False, ()),
        ((0.1, 0.1, 0.1, 0.1, 0.6), 2, "a cozy old throw", False, ()),
    ],
)
def test_what_is_likeliest_meant_beside_an_order(
    likeness: tuple[float, ...], rank: int, text: str, placed: bool, meant: tuple[int, ...]
) -> None:
    """The first, or second, of those that share a detail; of two none is third, and what may be
    the scene tells none.
    """
    details = ("a blanket", "a blanket", "a cup", "a spoon", "a fork")
    said = Constraint(
        attribute=Attribute.DESCRIPTION,
        values=("cozy", "throw"),
        hard=False,
        text=text,
        said=() if placed else (text,),
        phrase=True,
        action=True,
    )
    hits = [
        Hit(
            card=replace(_card(f"a kettle with {detail}", "kettle"), created_at=NOW),
            likeness={text: 0.1},
            word_likeness={text: like},
            text_likeness={text: 0.1},
        )
        for detail, like in zip(details, likeness, strict=True)
    ]
    order = Constraint(attribute=Attribute.ORDER, order=OrderKey.OLDEST, rank=rank)
    found = answers(Intent(constraints=(said, order)), hits)
    assert tuple(at for at, each in enumerate(found) if each.weight > 0) == meant


def test_what_somebody_holds_is_not_their_kind() -> None:
    """A gnome pushing a wheelbarrow is a gnome; a pair of running shoes stays one of shoes."""
    shown = profile(_card("A red gnome pushing a wheelbarrow.", "gnome"))
    assert concepts("wheelbarrow")[0] not in shown.kind
    assert concepts("wheelbarrow")[0] in shown.everything
    assert concepts("running")[0] in profile(_card("A red running shoe.", "shoe")).kind


def test_a_pet_is_one_whatever_card() -> None:
    """No card is told by "toy" or "pet", unless one says so."""
    for said, weights in (("toy", [0.0, 0.0]), ("toy", [0.0, 1.0])):
        last = "A toy car." if any(weights) else "A blue car."
        hits = [
            Hit(card=_card(text, "car"), likeness={said: like}, text_likeness={said: like})
            for text, like in (("A red car.", 0.2), (last, 0.7))
        ]
        wish = replace(_described(said, phrase=False).constraints[0], leads=True, said=(said,))
        found = answers(Intent(constraints=(wish,)), hits)
        assert [each.weight for each in found] == weights
