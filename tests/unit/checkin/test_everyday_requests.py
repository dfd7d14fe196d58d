"""Requests as people type them, each for one turn of phrase, over a small shop's cards."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from support.checkin_cards import card
from support.checkin_session import Session

from personalq.checkin.cards import Card
from personalq.checkin.intent import Attribute
from personalq.checkin.outcome import Clarification, NoMatch, Selection

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
BAG = "backpack, rucksack"


def shop() -> list[Card]:
    """Cards of six subjects; most requests below tell two or three of one subject apart."""
    return [
        card("bag-1", BAG, "anime", "2026-03-02", "A navy canvas backpack.", version=12,
             used="2026-09-03", use_count=4, environments="forest"),
        card("bag-2", BAG, "cel shaded", "2026-08-09", "A tan leather backpack with a zip.",
             version=13, used="2026-07-14", use_count=9, environments="construction site"),
        card("bag-3", BAG, "watercolor", "2026-05-01", "A green backpack.", version=14,
             environments="dealership lot, rooftop"),
        card("hat-1", "hat", "photorealistic", "2026-01-10", "A hat with a fedora shape, black.",
             version=1, environments="studio"),
        card("hat-2", "hat", "black and white photo", "2026-02-10", "A grey bowler hat.",
             version=2, environments="studio"),
        card("dog-1", "dog", "oil painting", "2026-04-01", "A pug wearing a fedora.", version=1,
             environments="snow"),
        card("dog-2", "dog", "oil painting", "2026-04-11", "A pug wearing a bowler.", version=2,
             environments="snow"),
        card("dog-3", "dog", "crayon", "2026-11-08", "A dog with roller skates. Mended ears.",
             version=3, used="2026-11-12", environments="garden"),
        card("dog-4", "dog", "crayon", "2026-11-04", "A dog of vanilla ice cream.", version=4,
             environments="garden"),
        card("dog-5", "dog", "crayon", "2026-10-04", "A black-and-white dog, snow chains on.",
             version=5, environments="garden"),
        card("cat-1", "cat, bengal cat", "sketch", "2026-06-01", "A tawny bengal cat.", version=1),
        card("cat-2", "cat", "sketch", "2026-06-11", "A tawny house cat.", version=2),
        card("fire-1", "firefighter", "sketch", "2026-06-01", "A firefighter in red.", version=1),
        card("boat-1", "sailboat, boat", "sketch", "2026-06-01", "A white sloop.", version=1),
        card("flower-1", "flower", "sketch", "2026-06-01", "A red tulip.", version=1),
        card("flower-2", "flower", "sketch", "2026-06-01", "A white lily.", version=2),
        card("doll-1", "doll", "flat vector", "2026-06-01", "A doll in a silver spacesuit.",
             version=1, environments="vineyard"),
        card("doll-2", "doll", "vintage photo", "2026-06-05", "A mermaid doll.", version=2,
             environments="garden"),
        card("scooter-1", "scooter", "sketch", "2026-06-01", "A mint scooter with a windshield.",
             version=1, environments="rooftop terrace"),
        card("scooter-2", "scooter", "sketch", "2026-06-05", "A mint scooter with a torn seat.",
             version=2, environments="junkyard"),
        card("dog-6", "dog", "cartoon", "2026-09-04", "A tan dachshund.", version=6),
        card("bike-1", "bicycle, mountain bike", "sketch", "2026-06-01", "A red bicycle.",
             version=1),
        card("bike-2", "bicycle, tandem", "sketch", "2026-06-05", "A tandem, frame in navy.",
             version=2),
        card("can-1", "can, tin", "sketch", "2026-06-01", "An oil can holding paintbrushes.",
             version=1),
        card("can-2", "can, tin", "sketch", "2026-06-05", "A dented spray can.", version=2),
        card("shoe-1", "sneaker", "sketch", "2026-06-01", "A chalk velcro sneaker.", version=1),
        card("shoe-2", "sneaker", "sketch", "2025-12-25", "A moss velcro sneaker.", version=2),
        card("shoe-3", "sneaker", "sketch", "2025-12-31", "A pink high-top sneaker.", version=3),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Session:
    """Check-in over the shop's cards."""
    return Session(shop(), now=NOW)


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("a school corridor with backpack #13 on the floor", "bag-2"),
        ("backpack (training set: woods) beside a campfire", "bag-1"),
        ("in an attic, the backpack whose last use was in September", "bag-1"),
        ("the backpack that was last in use this July", "bag-2"),
        ("the backpack I've used the most times, on a train", "bag-2"),
        ("the backpack nobody's used yet, on a train", "bag-3"),
        ("the backpack i never got round to using, on a train", "bag-3"),
        ("backpack trained on the building site, in the rain", "bag-2"),
        ("newest anime backpack, on a train", "bag-1"),
        ("could the backpack on the peg be the watercolor one", "bag-3"),
        ("Which backpack dates from the first quarter? Show it in the rain.", "bag-1"),
        ("Would you draw up the backpack with the earliest training date?", "bag-1"),
        ("I'm after a backpack in a bottle. It has to be the watercolor one.", "bag-3"),
        ("let the newest backpack conduct a choir", "bag-2"),
        ("the backpack that does up with a zipper", "bag-2"),
        ("b/w photo hat on a long table", "hat-2"),
        ("the dog with the fedora", "dog-1"),
        ("the dog, the one on skates, at a disco", "dog-3"),
        ("the dog created exactly two weeks ago", "dog-3"),
        ("the dog i used on the twelfth, at a party", "dog-3"),
        ("not v12, the v13 backpack, on a stage", "bag-2"),
        ("any backpack but v12 and v13, on a stage", "bag-3"),
        ("what about the tan backpack", "bag-2"),
        ("backpack 2026-08 windowsill at sunset", "bag-2"),
        ("a tiny cat approaching the backpack that was trained in the woods", "bag-1"),
        ("backpack under a dome, last time it was used was July", "bag-2"),
        ("my grandson loves the watercolor backpack, could it hold a cake?", "bag-3"),
        ("backpack on a peg, anything but the cel shaded anime ones", "bag-3"),
        ("the second-ever backpack", "bag-3"),
        ("scooter trained at the scrapyard, hugging a puppy", "scooter-2"),
        ("scooter from the roof terrace training, in a teacup", "scooter-1"),
        ("a sleeping kitten beside the backpack that had been trained in the woods", "bag-1"),
        ("backpack drawn with nothing but cel shading, next to a mill", "bag-2"),
        ("backpack at the pyramids the way a Japanese anime would have it", "bag-1"),
        ("the backpack built between 1 and 10 august", "bag-2"),
        ("we trained one backpack among woods, show that one at the dentist", "bag-1"),
        ("my colleague says you trained one backpack among woods, let me have it", "bag-1"),
        ("the light brown backpack", "bag-2"),
        ("a bengal on a sofa", "cat-1"),
        ("watercolor print of a backpack", "bag-3"),
        ("the oldest crayon print dog", "dog-5"),
        ("a bengal beside a dog that has just made a mess", "cat-1"),
        ("a doll drawn flat", "doll-1"),
        ("the dog print backpack v13", "bag-2"),
        ("the latest doll in a top floor flat", "doll-2"),
        ("the backpack with the highest version number, half buried in leaves", "bag-3"),
        ("the backpack with the lowest version number", "bag-1"),
        ("the backpack that came right after v12, on a hedge", "bag-2"),
        ("I'm after iteration 13 of the backpack", "bag-2"),
        ("Can I get the watercolor backpack in a boat?", "bag-3"),
        ("the backpack before the backpack before the latest one", "bag-1"),
        ("In front of a hill the backpack, whichever is newest.", "bag-2"),
        ("the backpack that has been gathering dust the longest", "bag-2"),
        ("the backpack with the longest time since its last use", "bag-2"),
        ("Which of the backpacks do I use the most? That one, please.", "bag-2"),
        ("a wall with March's anime backpack propped against it", "bag-1"),
        ("this past spring's watercolor backpack", "bag-3"),
        ("backpack v13 or v14, apart from the watercolor one", "bag-2"),
        ("backpack v12 or v14, though not the one in watercolor", "bag-1"),
        ("backpack in a canoe (forest backgrounds in training)", "bag-1"),
        ("the backpack with a rooftop as its training environment", "bag-3"),
        ("For the poster: backpack, version 13", "bag-2"),
        ("could the watercolor backpack lie under petals", "bag-3"),
        ("a wagging sausage dog", "dog-6"),
        ("the bikes' newest, on a hill", "bike-2"),
        ("the blue bike, on a hill", "bike-2"),
        ("a spray can on a bench", "can-2"),
        ("the can full of brushes", "can-1"),
        ("white kids' sneaker with velcro", "shoe-1"),
        ("sneaker from Christmas Day", "shoe-2"),
        ("a storybook cover with the watercolor backpack and a moon", "bag-3"),
        ("an advert with my oldest anime backpack", "bag-1"),
        ("a fashion editorial featuring the backpack, version 13", "bag-2"),
        ("a dancer tying her sneaker, version 3", "shoe-3"),
        ("noodles tossed with the anime model of a backpack", "bag-1"),
        ("a wave behind my watercolor backpack checkpoint", "bag-3"),
        ("the backpack I rely on most often", "bag-2"),
        ("the backpack that gets the most use", "bag-2"),
        ("the backpack with the rooftop shots", "bag-3"),
        ("backpack (forest photos) on a sled", "bag-1"),
        ("From the backpacks take the oldest. A horse grazes before it.", "bag-1"),
        ("the backpack painted with watercolors", "bag-3"),
        ("scooter with a windshield, soft morning light, low angle, sharp focus", "scooter-1"),
        ("tan backpack, climbing stairs, best quality, 85mm", "bag-2"),
        ("let's go with the watercolor backpack, lighting a staircase", "bag-3"),
        ("A backpack on a raft. We trained it in the forest, that's the one.", "bag-1"),
        ("backpack in tan on a stack of coins", "bag-2"),
        ("backpack under a tree. I'm thinking of the one that's a watercolor", "bag-3"),
        ("the backpack with the rooftop backgrounds, ridden by a mouse", "bag-3"),
        ("the backpack that's had the most use", "bag-2"),
        ("a lake. Not the newest backpack, the one made just before that.", "bag-3"),
        ("The oldest backpack isn't what I need, give me the next one after it.", "bag-3"),
        ("the same backpack model I had open in September", "bag-1"),
        ("backpack, forest dataset, with a cake", "bag-1"),
        ("the backpack with the lowest version no., motion blur", "bag-1"),
        ("the sneaker I finished training on New Year's Eve", "shoe-3"),
        ("a doll trained among the grapevines", "doll-1"),
        ("scooter from the junkyard training set on a forest path", "scooter-2"),
        ("the mint scooter in that retro shape, the one with a windscreen", "scooter-1"),
        ("the animal print dog wearing a fedora", "dog-1"),
        ("a fireman on a ladder", "fire-1"),
        ("from the backpack set I want the second oldest one", "bag-3"),
        ("find the oldest one among our backpack checkpoints", "bag-1"),
        ("the one with a zipper from my rucksack collection", "bag-2"),
        ("out of the backpack series the cel shaded one", "bag-2"),
        ("I'm thinking of the backpack with two grips, the watercolor one", "bag-3"),
        ("the backpack that is navy and that isn't green", "bag-1"),
        ("it has to be the watercolor backpack, our client insists", "bag-3"),
        ("black hat, candlelight, product shot", "hat-1"),
        ("An illustration for chapter three: the watercolor backpack on a train", "bag-3"),
        ("the watercolor backpack. Among old clay pots please", "bag-3"),
        ("the sneaker that is bubblegum-coloured", "shoe-3"),
        ("the oldest backpack in an oil-stained garage", "bag-1"),
        ("anime backpack under spring clouds", "bag-1"),
        ("the anime backpack on yesterday's newspaper", "bag-1"),
        ("my tan travel backpack, in a laundromat", "bag-2"),
        ("crossing a stone bridge on the scooter, the one fitted with a windscreen", "scooter-1"),
    ],
)
def test_one_is_meant(session: Session, prompt: str, meant: str) -> None:
    """Without a question."""
    outcome = session.ask(prompt)
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == meant


@pytest.mark.parametrize(
    "prompt",
    [
        "a submarine exploring a wreck",
        "go with the September tractor",
        "the pixel art dog",
        "a rose on a sofa",
        "the backpack from the middle of august",
        "a camera in a factory",
        "red umbrella on a wet pavement, crayon",
    ],
)
def test_none_is_meant(session: Session, prompt: str) -> None:
    """A submarine is no sailboat, a tulip no rose."""
    assert isinstance(session.ask(prompt), NoMatch)


@pytest.mark.parametrize(
    "prompt",
    [
        "a dog dressed like an old-time aristocrat",
        "dog with a hat",
        "an astronaut doll on the moon",
    ],
)
def test_several_are_meant(session: Session, prompt: str) -> None:
    """Of a look somebody else has, or of a kind that two are of."""
    assert isinstance(session.ask(prompt), Clarification)


def test_a_day_in_an_answer_is_of_the_month_asked_for(session: Session) -> None:
    """Not of the current one."""
    prompt = "the April dog"
    question = session.ask(prompt)
    assert isinstance(question, Clarification), question
    outcome = session.answer(prompt, question, "the one from the 11th")
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == "dog-2"


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("The ice cream one, please.", "dog-4"),
        ("w/ the snow chains", "dog-5"),
        ("the black and white one", "dog-5"),
        ("neither november nor july, the October one", "dog-5"),
        ("neither, the one with the snow chains", "dog-5"),
    ],
)
def test_an_answer_may_name_a_detail(session: Session, answer: str, meant: str) -> None:
    """Words that are places, looks or times elsewhere."""
    question = session.ask("the crayon dog in a field")
    assert isinstance(question, Clarification), question
    outcome = session.answer("the crayon dog in a field", question, answer)
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == meant


def one_by_one() -> list[Card]:
    """A card each of what is easily mistaken for something else."""
    told = {
        "dog": "A dog.", "bear": "A bear.", "flower": "A flower.",
        "car": "A car in matte black paint.",
        "king": "A king.", "painting": "A painting.", "ring": "A ring.", "cat": "A cat.",
    }  # fmt: skip
    return [
        card(f"{name}-1", name, "sketch", "2026-05-10", description, version=1)
        for name, description in told.items()
    ]


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("Can the oil painting cat wobble on a skateboard?", "cat"),
        ("The thing with the silky bow, riding in a trolley. It's a cat of mine.", "cat"),
        ("The koala with the silky bow. It is a cat", "cat"),
        ("Show the cat on a beach. It's a dog that steals its hat.", "cat"),
        ("The thing with the silky bow, riding a bear. It's a cat of mine.", "cat"),
        ("Can the oil painting cat wobble on a table and look tasty?", "cat"),
    ],
)
def test_a_subject_that_is_asked_to_or_told(prompt: str, meant: str) -> None:
    """What a question has it do makes no compound of it; "it's a …" says what was described."""
    asked = Session(one_by_one(), now=NOW).answered(prompt).intent.first(Attribute.SUBJECT)
    assert asked is not None
    assert meant in asked.values


@pytest.mark.parametrize(
    "prompt",
    [
        "a dog collar lying on a table",
        "can the dog house on the hill be painted in oils",
        "a bear trap lying in the snow",
        "a dog leash the color of blood",
        "a fox may be after the cat",
        "a zebra would have a cat",
        "a wizard stroking the cat",
    ],
)
def test_a_compound_or_an_object_is_no_subject(prompt: str) -> None:
    """A dog collar is no dog, whatever follows it."""
    assert isinstance(Session(one_by_one(), now=NOW).ask(prompt), NoMatch)


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("the lake painting the museum lent me", "painting-1"),
        ("a diamond ring an inch wide", "ring-1"),
        ("the black car", "car-1"),
    ],
)
def test_nouns_in_ing_are_nouns(prompt: str, meant: str) -> None:
    """And paint has a colour."""
    outcome = Session(one_by_one(), now=NOW).ask(prompt)
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == meant


@pytest.mark.parametrize(
    ("prompt", "said", "other"),
    [
        ("a dog with a bow, the corgi", "A short dog with a bow.", "A beagle with a hat."),
        ("the corgi with a bow", "A short dog with a bow.", "A beagle with a hat."),
        ("the navy dog", "A navy dog.", "A red dog with navy straps."),
        ("the dark brown dog", "A dark brown dog.", "A white dog with coffee."),
        ("the cinnamon dog", "A short dog in cinnamon.", "A brown dog."),
        ("the dog, the white toy copy", "A white toy-copy dog.", "A red toy-copy dog."),
        ("the dog with a bell around its neck", "A dog with a bell around its neck.",
         "A dog with a bell on its tail."),
    ],
)  # fmt: skip
def test_one_of_two_is_told(prompt: str, said: str, other: str) -> None:
    """By what it has, what is its own, and where; and another card changes nothing."""
    cards = [
        card(f"dog-{number}", "dog", "sketch", "2026-05-10", description, version=number)
        for number, description in enumerate((said, other, "A husky."), 1)
    ]
    for known in (cards[:2], cards):
        outcome = Session(known, now=NOW).ask(prompt)
        assert isinstance(outcome, Selection), outcome
        assert outcome.candidate.card.checkpoint_id == "dog-1"


def test_a_colour_is_of_what_is_worn() -> None:
    """Not of who wears it: both have it."""
    said = ("A blue merle corgi with a blue bandana.", "A tan corgi with a blue bandana.")
    cards = [
        card(f"corgi-{number}", "corgi", "sketch", f"2026-0{number}-10", text, version=number)
        for number, text in enumerate((*said, "A blue corgi."), 1)
    ]
    outcome = Session(cards, now=NOW).ask("blue bandana corgi on a deck chair")
    assert isinstance(outcome, Clarification), outcome
    assert {each.card.checkpoint_id for each in outcome.candidates[:2]} == {"corgi-1", "corgi-2"}


@pytest.mark.parametrize(
    "prompt", ["a dog that looks older, on a beach", "sooner or later, the dog eats honey"]
)
def test_age_is_no_order(prompt: str) -> None:
    """Unless it chooses: "I want the older, please"."""
    cards = [
        card(f"dog-{number}", "dog", look, f"2026-0{number}-10", "A dog.", version=number)
        for number, look in enumerate(("sketch", "anime", "pixel art"), 1)
    ]
    assert isinstance(Session(cards, now=NOW).ask(prompt), Clarification)


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("a dog, not v1, v2 or v3", "dog-4"),
        ("any dog except versions 1, 2 and 3", "dog-4"),
        ("any dog but v1 and v2, not v3", "dog-4"),
    ],
)
def test_several_versions_are_refused(prompt: str, meant: str) -> None:
    """However many."""
    cards = [
        card(f"dog-{number}", "dog", "sketch", f"2026-0{number}-10", "A dog.", version=number)
        for number in range(1, 5)
    ]
    outcome = Session(cards, now=NOW).ask(prompt)
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == meant


def test_a_whole_date_in_an_answer_is_that_date() -> None:
    """Not the same day of the month that was asked for."""
    days = (("sketch", "2026-05-10"), ("anime", "2026-05-24"), ("pixel art", "2026-06-24"))
    cards = [
        card(f"dog-{number}", "dog", look, day, "A dog.", version=number)
        for number, (look, day) in enumerate(days, 1)
    ]
    session = Session(cards, now=NOW)
    question = session.ask("the dog from May 2026")
    assert isinstance(question, Clarification), question
    outcome = session.answer("the dog from May 2026", question, "no, the one of 24 June 2026")
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == "dog-3"


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("Whichever was made later.", "dog-2"),
        ("whichever of them is newer...", "dog-2"),
        ("the one that was trained earlier!", "dog-1"),
    ],
)
def test_an_answer_compares_what_was_told(answer: str, meant: str) -> None:
    """By when they were made."""
    cards = [
        card(f"dog-{number}", "dog", look, f"2026-05-{number}0", "A dog.", version=number)
        for number, look in enumerate(("sketch", "anime"), 1)
    ]
    session = Session(cards, now=NOW)
    question = session.ask("the dog")
    assert isinstance(question, Clarification), question
    outcome = session.answer("the dog", question, answer)
    assert isinstance(outcome, Selection), outcome
    assert outcome.candidate.card.checkpoint_id == meant
