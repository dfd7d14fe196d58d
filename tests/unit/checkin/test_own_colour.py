"""A colour that every card of a subject tells, and none has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.checkin_cards import card
from support.checkin_session import Session

from personalq.checkin.cards import Card
from personalq.checkin.outcome import NoMatch, Selection

_COLOURS = ("blue", "green", "white", "black", "red", "orange")
OWLS = [
    card(f"owl-v{n}", "owl", "anime", f"2026-0{n}-01", f"A {colour} owl.", version=n)
    for n, colour in enumerate(_COLOURS, 1)
]


def _selected(prompt: str, cards: list[Card]) -> str:
    outcome = Session(cards).ask(prompt)
    assert isinstance(outcome, Selection)
    return outcome.candidate.card.checkpoint_id


def _refused(prompt: str, cards: list[Card]) -> bool:
    return isinstance(Session(cards).ask(prompt), NoMatch)


def test_no_card_has_it() -> None:
    """The answer says which word nothing fits, and what there is."""
    outcome = Session(OWLS).ask("the latest purple owl on a branch")
    assert isinstance(outcome, NoMatch)
    assert "purple" in outcome.explanation
    assert {c.card.checkpoint_id for c in outcome.alternatives} <= {o.checkpoint_id for o in OWLS}
    assert outcome.alternatives


@pytest.mark.parametrize("colour", ["mauve", "dark purple", "lavender"])
def test_shades(colour: str) -> None:
    """Names that only colours have, and how light they are."""
    assert _refused(f"a {colour} owl on a branch", OWLS)


@pytest.mark.parametrize(
    "prompt",
    [
        "the owl, the purple one, on a branch",
        "an owl in pale purple, on a branch",
        "the owl that is purple",
        "an owl, reddish-purple, on a branch",
        "give me the purple one, the owl",
        "the lavender-coloured owl",
    ],
)
def test_wherever_its_colour_is_said(prompt: str) -> None:
    """Before it, behind it, of the one."""
    assert _refused(prompt, OWLS)


def test_a_kind_of_something() -> None:
    """Cards of a subject within another one's."""
    kinds = [replace(each, subjects=("bird", "owl")) for each in OWLS]
    birds = [card(f"bird-v{n}", "bird", "anime", f"2026-0{n}-02", "A bird.") for n in range(1, 4)]
    assert _refused("a purple owl on a branch", [*kinds, *birds])


def test_a_kind_that_a_colour_names() -> None:
    """A blue fox is a kind of fox, but "the blue one" is a colour."""
    foxes = [replace(each, subjects=("fox",), description="A red fox.") for each in OWLS]
    assert _refused("a fox in a hall; the blue one, please", foxes)
    assert not _refused("a blue fox in a hall", foxes)


@pytest.mark.parametrize(
    "prompt",
    [
        "a crimson owl on a branch",
        "a vivid owl on a branch",
        "a rainbow owl on a branch",
        "a chocolate owl on a branch",
        "a reddish owl on a branch",
        "a teal owl on a branch",
        "the purple owl v3",
        "an owl in a purple tree",
        "an owl with a purple bow",
        "the ice cream owl on a branch",
    ],
)
def test_what_may_be_one_of_them(prompt: str) -> None:
    """A neighbouring colour, a card named by its number, a colour of something else."""
    assert not _refused(prompt, OWLS)


def test_shades_that_nobody_calls_otherwise() -> None:
    """Crimson is no orange and onyx no gray; rust may be called orange."""
    shades = ("crimson", "chocolate", "onyx", "ruby", "walnut", "violet")
    owls = [
        card(f"owl-v{n}", "owl", "anime", f"2026-0{n}-01", f"A {shade} owl.", version=n)
        for n, shade in enumerate(shades, 1)
    ]
    assert _refused("the orange owl on a branch", owls)
    assert _refused("the owl that's gray, on a branch", owls)
    rusty = replace(owls[0], description="A rust owl.")
    assert not _refused("the orange owl on a branch", [rusty, *owls[1:]])


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("pink", "purple"),
        ("scarlet", "orange"),
        ("black", "gray"),
        ("chocolate brown", "orange"),
        ("orange", "brown"),
    ],
)
def test_plain_names_of_colours_that_are_no_others(said: str, shown: str) -> None:
    """A purple lamp is no pink one. What has fur or plumage may be: a red fox is orange."""
    lamps, owls = (
        [
            card(f"{of}-v{n}", of, "anime", f"2026-0{n}-01", f"A {colour} {of}.", version=n)
            for n, colour in enumerate((shown, "blue", "green", "yellow", "white", "turquoise"), 1)
        ]
        for of in ("lamp", "owl")
    )
    assert _refused(f"the {said} lamp on a branch", lamps)
    assert not _refused(f"the {said} owl on a branch", owls)


@pytest.mark.parametrize(("said", "shown"), [("charcoal", "black"), ("magenta", "purple")])
def test_shades_between_two_colours(said: str, shown: str) -> None:
    """A black lamp may be called charcoal, a purple one magenta."""
    lamps = [
        card(f"lamp-v{n}", "lamp", "anime", f"2026-0{n}-01", f"A {colour} lamp.", version=n)
        for n, colour in enumerate((shown, "blue", "green", "yellow", "white", "turquoise"), 1)
    ]
    assert not _refused(f"the {said} lamp on a branch", lamps)


def test_what_is_carried_tells_no_shade() -> None:
    """A brown owl with coffee may be called tan."""
    brown = replace(OWLS[3], description="A brown owl with a cup of coffee.")
    assert not _refused("the tan owl on a branch", [*OWLS[:3], brown, *OWLS[4:]])


def test_a_bare_word_that_is_a_colour() -> None:
    """Between commas, where the card tells no other: "an owl, pumpkin, with a bell"."""
    bare = replace(OWLS[5], description="An owl, pumpkin all over, with a bell.")
    assert _selected("the orange owl on a branch", [*OWLS[:5], bare]) == "owl-v6"
    oak = replace(OWLS[4], description="A scarlet oak owl with a bell.")
    assert _selected("the red owl on a branch", [*OWLS[:4], oak, OWLS[5]]) == "owl-v5"


@pytest.mark.parametrize(
    ("told", "prompt", "refused"),
    [
        ("A speckled owl.", "the purple owl on a branch", True),
        ("A speckled owl.", "the brown owl on a branch", False),
        ("A tortoiseshell owl with a bell.", "the pink owl", True),
        ("A brass owl with a bell.", "the purple owl", True),
        ("A brass owl with a bell.", "the yellow owl", False),
        ("An amber owl with a bell.", "the honey-coloured owl", False),
        ("A terracotta owl.", "the pink owl", True),
        ("A snowy owl cup.", "the purple owl", True),
        ("A cream tawny owl with a bell.", "the purple owl", True),
        ("Think cobalt: an owl with a bell.", "the purple owl", True),
    ],
)
def test_a_coat_without_the_name_of_a_colour(told: str, prompt: str, refused: bool) -> None:
    """A pattern may be of any colour that animals have, and of no other."""
    owls = [replace(OWLS[4], description=told), *(o for o in OWLS if o is not OWLS[4])]
    assert _refused(prompt, owls) is refused


@pytest.mark.parametrize(
    ("subject", "told", "prompt"),
    [
        ("umbrella", "A striped umbrella.", "the purple umbrella on a branch"),
        ("parrot", "A speckled parrot.", "the purple parrot on a branch"),
        ("tree", "A snowy tree with lights.", "the purple tree"),
    ],
)
def test_a_pattern_of_any_colour(subject: str, told: str, prompt: str) -> None:
    """What has no coat may be striped in purple."""
    others = [
        replace(each, subjects=(subject,), description=each.description.replace("owl", subject))
        for each in OWLS
    ]
    assert _refused(prompt, others)
    assert not _refused(prompt, [replace(others[4], description=told), *others[:4], others[5]])


@pytest.mark.parametrize("colour", ["black", "white", "brown"])
def test_nobody_is_refused_for_the_colour_of_clothes(colour: str) -> None:
    """Whoever is black may wear a green apron; nobody is purple but by what is worn."""
    chefs = [
        card(f"chef-v{n}", "chef", "anime", f"2026-0{n}-01", f"A chef, {worn} apron.", version=n)
        for n, worn in enumerate(("blue", "green", "purple", "pink", "red", "orange"), 1)
    ]
    assert not _refused(f"a {colour} chef in a park", chefs)
    assert _refused("a yellow chef in a park", chefs)


def test_what_is_in_its_name_is_no_coat() -> None:
    """Every snow globe is of snow."""
    globes = [
        card(f"globe-v{n}", "snow globe", "anime", f"2026-0{n}-01", "A snow globe.", version=n)
        for n in range(1, 7)
    ]
    assert not _refused("the purple snow globe on a shelf", globes)


def test_only_where_all_tell() -> None:
    """A card that tells no colour may be the one, and so may one of a few."""
    told = replace(OWLS[0], description="An owl with a monocle.")
    assert not _refused("a purple owl on a branch", [told, *OWLS[1:]])
    assert not _refused("a purple owl on a branch", OWLS[:4])
    assert _refused("a purple owl on a branch", OWLS)


@pytest.mark.parametrize(("untold", "refused"), [(2, True), (3, False)])
def test_one_in_ten_may_be_silent(untold: int, refused: bool) -> None:
    """Of twenty cards two that tell no colour are hardly what is meant; three may be."""
    many = [replace(OWLS[n % 6], checkpoint_id=f"owl-{n}", version=None) for n in range(20)]
    silent = [replace(each, description="An owl with a monocle.") for each in many[:untold]]
    assert _refused("a purple owl on a branch", [*silent, *many[untold:]]) is refused


def test_only_of_cards_that_fit_otherwise() -> None:
    """Of the one that was used twice, the picture may well be purple."""
    used = [replace(OWLS[0], use_count=2), *OWLS[1:]]
    assert not _refused("the purple owl that I used exactly twice", used)


def test_not_where_there_are_more() -> None:
    """Cards that were not looked at may have it."""
    many = [replace(OWLS[n % 6], checkpoint_id=f"owl-{n}", version=None) for n in range(120)]
    assert not _refused("a purple owl on a branch", many)


def test_a_kind_that_is_named_by_a_colour() -> None:
    """And two subjects, only one of which has it."""
    trees = [replace(owl, subjects=("tree",)) for owl in OWLS]
    others = [replace(o, checkpoint_id=f"{o.checkpoint_id}-d", subjects=("dog",)) for o in OWLS]
    assert not _refused("an orange tree on a hill", trees[:5])
    assert not _refused("a purple owl and a dog", [*OWLS, *others])


@pytest.mark.parametrize(
    "prompt", ["a purple owl made in March", "the purple March owl on a branch", "purple anime owl"]
)
def test_of_a_few_all_cards_of_the_subject_tell(prompt: str) -> None:
    """One owl is of March, a white one: owls say their colour, so that it is not the purple one."""
    assert _refused(prompt, OWLS)
    assert not _refused(prompt.replace("purple", "white"), OWLS)


def test_of_a_few_where_others_do_not_tell() -> None:
    """Other owls leave their colour open: that one may."""
    others = [replace(each, description="An owl.") for each in OWLS[4:]]
    assert not _refused("a purple owl made in March", [*OWLS[:4], *others])


ROBES = [
    card(
        f"wizard-v{n}",
        "wizard",
        "anime",
        f"2026-0{n}-01",
        f"A wizard in {colour} robes.",
        version=n,
    )
    for n, colour in enumerate(_COLOURS, 1)
]


STARS = [
    card(f"wizard-v{n}", "wizard", "anime", f"2026-0{n}-01", f"A wizard, a {c} star on the hat.")
    for n, c in enumerate(_COLOURS, 1)
]


HOUSES = [
    card(f"wizard-v{n}", "wizard", "anime", f"2026-0{n}-01", f"A wizard with a {c} bird house.")
    for n, c in enumerate(_COLOURS, 1)
]


def test_the_colour_of_what_it_wears() -> None:
    """Where every wizard is told by its robes, and none are purple."""
    outcome = Session(ROBES).ask("a wizard at a parade, the one in purple robes")
    assert isinstance(outcome, NoMatch)
    assert "purple robes" in outcome.explanation


@pytest.mark.parametrize(
    ("prompt", "cards"),
    [
        ("a wizard at a parade, the one in scarlet robes", ROBES),
        ("a wizard at a parade, the one with a purple hat", ROBES),
        ("a wizard in purple robes", ROBES[:4]),
        ("a wizard in colourful robes", ROBES),
        ("wizard v3 in purple robes", ROBES),
        ("a wizard without purple robes", ROBES),
        ("a wizard in a purple hat", STARS),
        ("a wizard with a purple bird", HOUSES),
        (
            "a wizard in purple robes",
            [*ROBES, card("wizard-v9", "wizard", "anime", "2026-09-01", "A wizard.")],
        ),
    ],
)
def test_who_may_be_dressed_so(prompt: str, cards: list[Card]) -> None:
    """Another name of it, something nobody tells of, few cards, one that says nothing."""
    assert not _refused(prompt, cards)


@pytest.mark.parametrize(
    ("said", "shown"), [("white", "cream"), ("pink", "purple"), ("beige", "brown")]
)
def test_called_by_the_name_of_one_alike(said: str, shown: str) -> None:
    """Where no card has the very colour, the one that people call so as well is meant."""
    others = [owl for owl in OWLS if f" {said} " not in owl.description]
    meant = replace(OWLS[0], checkpoint_id="owl-v9", description=f"A {shown} owl.", version=9)
    assert _selected(f"the {said} owl on a branch", [*others, meant]) == "owl-v9"
    very = replace(meant, checkpoint_id="owl-v8", description=f"A {said} owl.", version=8)
    assert _selected(f"the {said} owl on a branch", [*others, meant, very]) == "owl-v8"


@pytest.mark.parametrize(
    ("stuff", "refused"),
    [("stainless steel", True), ("glass", True), ("bamboo", True), ("stained glass", False)],
)
def test_what_is_made_of_a_stuff_has_its_colour(stuff: str, refused: bool) -> None:
    """A kettle of steel is no purple one, where others tell their colour; stained glass may be."""
    kettles = [
        card(f"kettle-v{n}", "kettle", "anime", f"2026-0{n}-01", f"A {made} kettle.", version=n)
        for n, made in enumerate(("blue", "green", stuff, "black", stuff, "orange"), 1)
    ]
    assert _refused("a purple kettle on a stove", kettles) is refused


def test_cards_outside_a_pool_say_whether_cards_tell_their_colour() -> None:
    """Of two that may be chosen nobody could say."""
    pool = tuple(owl.checkpoint_id for owl in OWLS[:2])
    assert isinstance(Session(OWLS).ask("a purple owl on a branch", candidate_ids=pool), NoMatch)
