"""Looks and places that no list knows are told by meaning, where the catalog can tell."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from support.checkin_cards import NOW
from support.fake_catalog import FakeCatalog

from personalq.checkin.cards import Card, Hits, Query
from personalq.checkin.intent import Attribute
from personalq.checkin.labels import Label
from personalq.checkin.outcome import Answered, Clarification, NoMatch, Selection
from personalq.checkin.reasoning.reason import DeterministicReasoner
from personalq.checkin.request import Request
from personalq.checkin.select import select
from personalq.checkin.settings import CheckinSettings

LOOKS = ("woodcut", "anime", "watercolor", "low-poly")
PLACES = ("vineyard", "harbor", "library", "snow")


def foxes() -> list[Card]:
    """One of each look, trained in a place of its own."""
    return [
        Card(
            checkpoint_id=f"fox-v{number}",
            triggers=(f"<fox-v{number}>",),
            subjects=("fox",),
            styles=(look,),
            environments=(place,),
            description=f"A fox with a {thing}.",
            version=number,
        )
        for number, (look, place, thing) in enumerate(
            zip(LOOKS, PLACES, ("bell", "ribbon", "satchel", "lantern"), strict=True), 1
        )
    ]


class Knowing(FakeCatalog):
    """A catalog whose model knows what some texts are near to, and nothing of the cards."""

    def __init__(self, cards: Sequence[Card], near: Mapping[str, Mapping[str, float]]) -> None:
        super().__init__(cards)
        self.near = near
        self.compared: list[tuple[str, ...]] = []

    async def compare(
        self, texts: Sequence[str], labels: Sequence[Label]
    ) -> Sequence[Sequence[float]]:
        """As it is told; 0.2 to all else."""
        self.compared.append(tuple(texts))
        return [
            [max(self.near.get(text, {}).get(tag, 0.2) for tag in label.tags) for label in labels]
            for text in texts
        ]

    async def search(self, query: Query) -> Hits:
        """Every card is as like every phrase."""
        found = await super().search(query)
        like = dict.fromkeys(query.phrases, 0.3)
        hits = tuple(
            replace(hit, likeness=like, text_likeness=like, word_likeness=like)
            for hit in found.hits
        )
        return replace(found, hits=hits)


def asked(
    prompt: str,
    near: Mapping[str, Mapping[str, float]],
    cards: Sequence[Card] = (),
    *,
    limit: int = 100,
) -> tuple[Answered, Knowing]:
    """What comes of a prompt, of the foxes or of other cards.

    Args:
        limit: how many are looked at.
    """
    catalog = Knowing(cards or foxes(), near)
    answered = asyncio.run(
        select(
            Request(prompt=prompt, reference_time=NOW),
            catalog=catalog,
            reasoner=DeterministicReasoner(),
            settings=CheckinSettings(candidate_limit=limit),
        )
    )
    return answered, catalog


CARVED = "printed from a carved wood block"


def test_a_look_in_words_of_nobodys_list() -> None:
    """The card whose look it is near to is meant."""
    answered, catalog = asked(f"fox {CARVED}, howling at the moon", {CARVED: {"woodcut": 0.85}})
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v1"
    [look] = answered.intent.all(Attribute.STYLE)
    assert (look.hard, look.prefers) == (False, True)  # it may be what the subject is like
    assert look.values == ("woodcut",)
    assert "nearest to woodcut" in look.label
    assert catalog.compared == [(CARVED,)] * 3  # with looks it may tell or be like, and with things


FUNNIES = "like the funnies in a newspaper"


def test_a_look_that_is_only_likely_is_preferred() -> None:
    """It decides between cards that fit otherwise, and rules none out."""
    near = {FUNNIES: {"anime": 0.45}}
    answered, _ = asked(f"the fox, the one {FUNNIES}", near)
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v2"
    [look] = answered.intent.all(Attribute.STYLE)
    assert (look.hard, look.prefers) == (False, True)
    answered, _ = asked(f"the fox with a bell, the one {FUNNIES}", near)
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v1"


def test_a_look_that_is_told_outright_is_hard() -> None:
    """Nothing else can be drawn like it; what is like it may be the subject's shape."""
    drawn = f"drawn {FUNNIES}"
    for prompt, said, hard in (
        (f"the fox {drawn}", drawn, True),
        (f"the fox that looks {FUNNIES}", f"that looks {FUNNIES}", False),
    ):
        answered, _ = asked(prompt, {said: {"anime": 0.7}})
        [look] = answered.intent.all(Attribute.STYLE)
        assert look.hard is hard
        assert isinstance(answered.outcome, Selection)
        assert answered.outcome.candidate.card.checkpoint_id == "fox-v2"


def test_a_look_told_is_refused() -> None:
    """All but that one are left, also where it is likely only."""
    answered, _ = asked(f"a fox, anything but one {FUNNIES}", {FUNNIES: {"anime": 0.45}})
    [look] = answered.intent.all(Attribute.STYLE)
    assert (look.hard, look.excluded, look.values) == (True, True, ("anime",))
    assert isinstance(answered.outcome, Clarification)


@pytest.mark.parametrize(
    "prompt",
    [
        "what would the fox look like on a stack of suitcases",
        "a fox made of soft felt",
        "a fox looking like it was late",
        "a fox cut in half",
        "a fox that could be from the sixties",
        f"a fox drawn like {'x' * 900}",
    ],
)
def test_what_tells_no_look(prompt: str) -> None:
    """A question, a stuff, a mood, an age; nor what is too long to be compared."""

    class Sure(Knowing):
        async def compare(
            self, texts: Sequence[str], labels: Sequence[Label]
        ) -> Sequence[Sequence[float]]:
            assert all(len(text) <= 200 for text in texts)
            return [[0.9 if "woodcut" in label.tags else 0.1 for label in labels] for _ in texts]

    answered = asyncio.run(
        select(
            Request(prompt=prompt, reference_time=NOW),
            catalog=Sure(foxes(), {}),
            reasoner=DeterministicReasoner(),
            settings=CheckinSettings(),
        )
    )
    assert answered.intent.all(Attribute.STYLE) == ()


def test_a_place_in_one_word() -> None:
    """A known one is read, another one compared as what it is of."""
    near = {"hay bale": {"vineyard": 0.75}}
    for prompt, meant in (("the hay-bale-trained fox", "v1"), ("the harbor-trained fox", "v2")):
        answered, _ = asked(prompt, near)
        assert isinstance(answered.outcome, Selection)
        assert answered.outcome.candidate.card.checkpoint_id == f"fox-{meant}"


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("a fox trained among crates and ropes, on a chair", "among crates and ropes"),
        ("a fox from the crates and ropes training set", "crates and ropes"),
        ("a fox with the crates training photos", "crates"),
        ("a fox that learned from pictures taken between crates", "between crates"),
        ("a fox trained after dark among crates", "after dark among crates"),
    ],
)
def test_a_place_is_compared_as_all_that_is_told_of_it(prompt: str, told: str) -> None:
    """And not as its first noun."""
    _, catalog = asked(prompt, {})
    assert any(text.endswith(told) for texts in catalog.compared for text in texts)


def test_a_place_that_only_says_what_is_there() -> None:
    """Library carts stand in a vineyard here; with nothing nearer, the library is meant."""
    prompt, told = "a fox trained between library carts and ladders", "carts and ladders"
    near = {f"between library {told}": {"vineyard": 0.65}}
    for known, place in ((near, "vineyard"), ({}, "library")):
        answered, _ = asked(prompt, known)
        [found] = answered.intent.all(Attribute.ENVIRONMENT)
        assert found.values == (place,)


RINGS = "something that rings when it walks"


def test_a_thing_in_words_of_nobodys_list() -> None:
    """The card that has what it is near to is meant; near to no thing, none is."""
    answered, _ = asked(f"fox with {RINGS}", {RINGS: {"bell": 0.8}})
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v1"
    answered, _ = asked(f"fox with {RINGS}", {})
    assert isinstance(answered.outcome, Clarification)


PAINT = "in washed-out water-based paint"
ASKED = f"fox {PAINT}, picking strawberries"


def test_a_scene_that_is_strikingly_like_one_card_tells_it() -> None:
    """Where a question would be asked; near to two, or not near enough, it is the scene."""
    answered, catalog = asked(ASKED, {PAINT: {"watercolor": 0.78, "woodcut": 0.6}})
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v3"
    assert answered.outcome.rewrite.rewritten_prompt == f"<fox-v3> {PAINT}, picking strawberries"
    for near in ({"watercolor": 0.65}, {"watercolor": 0.78, "woodcut": 0.74}, {}):
        answered, _ = asked(ASKED, {PAINT: near})
        assert isinstance(answered.outcome, Clarification)
    assert (PAINT, "picking strawberries") in catalog.compared


def test_what_is_behind_the_subject_tells_it_where_the_scene_is_told_before() -> None:
    """Then it need not be strikingly like one card."""
    near = {"full of ringing brass": {"bell": 0.63}, "below ringing brass": {"bell": 0.63}}
    answered, _ = asked("in a valley: the fox full of ringing brass", near)
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v1"
    for prompt in (
        "the fox full of ringing brass",
        "the fox full of ringing brass, in a valley",
        "in a valley: the fox below ringing brass",
    ):
        answered, _ = asked(prompt, near)
        assert isinstance(answered.outcome, Clarification)


def test_a_thing_that_no_card_has_is_refused_instead_of_asked_about() -> None:
    """Unless something else tells one card."""
    cards = [*foxes(), replace(foxes()[0], checkpoint_id="fox-v5", version=5, styles=("pastel",))]
    answered, _ = asked("the fox with headphones, in a valley", {}, cards)
    assert isinstance(answered.outcome, NoMatch)
    assert "headphones" in answered.outcome.explanation
    assert answered.outcome.alternatives
    answered, _ = asked("the pastel fox with headphones, in a valley", {}, cards)
    assert isinstance(answered.outcome, Selection)
    answered, _ = asked("the fox with snowflakes falling, in a valley", {}, cards)
    assert isinstance(answered.outcome, Clarification)


def test_where_more_cards_fit_than_are_looked_at_none_is_told_by_scene_or_missing() -> None:
    """Of the others one may be as like, or have it."""
    answered, _ = asked(ASKED, {PAINT: {"watercolor": 0.78}}, limit=len(foxes()))
    assert isinstance(answered.outcome, Clarification)
    cards = [*foxes(), replace(foxes()[0], checkpoint_id="fox-v5", version=5)]
    answered, _ = asked("the fox with headphones, in a valley", {}, cards, limit=len(cards))
    assert isinstance(answered.outcome, Clarification)


def test_a_scene_tells_only_cards_that_were_in_question() -> None:
    """A hangar with a zeppelin on its sign is no zeppelin, however wet its paint."""
    looks = ("anime", "woodcut", "watercolor")
    told = ("A silver zeppelin.", "A grey zeppelin.", "A hangar with a zeppelin sign.")
    cards = [
        replace(card, subjects=(subject,), styles=(look,), description=text)
        for card, subject, look, text in zip(
            foxes(), ("airship", "airship", "hangar"), looks, told, strict=False
        )
    ]
    prompt = f"the zeppelin, soaring {PAINT}, over a lake"
    answered, _ = asked(prompt, {PAINT: {"watercolor": 0.8}}, cards)
    assert isinstance(answered.outcome, Clarification)


def test_a_scene_tells_nothing_that_words_have_told() -> None:
    """Two foxes have a bell: that the clause around it is nearer to one of them is no reason."""
    clause = "with a bell above the lake"
    cards = [replace(card, description="A fox with a bell.") for card in foxes()[:2]]
    answered, _ = asked(f"fox {clause}", {clause: {"woodcut": 0.95}}, cards)
    assert isinstance(answered.outcome, Clarification)


def test_a_look_that_is_near_to_nothing_tells_nobody_apart() -> None:
    """As little as the model knows."""
    answered, _ = asked(f"fox {CARVED}, howling at the moon", {})
    assert isinstance(answered.outcome, Clarification)


def test_what_a_card_says_in_words_is_not_compared() -> None:
    """A bell is a bell."""
    answered, catalog = asked("fox with a bell", {"a bell": {"anime": 0.99}})
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v1"
    assert catalog.compared == []


def test_a_place_that_means_one_of_the_cards() -> None:
    """Grape country is a vineyard, and the explanation says so."""
    near = {"grape country": {"vineyard": 0.75}}
    answered, _ = asked("a fox by a stream, the one trained in grape country", near)
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v1"
    [place] = answered.intent.all(Attribute.ENVIRONMENT)
    assert place.values == ("vineyard",)
    assert "nearest to vineyard" in place.label


@pytest.mark.parametrize(
    ("prompt", "outcome"),
    [
        ("a fox trained under the spotlights", Clarification),
        ("a fox trained at the casino", NoMatch),
        ("a fox trained in the stronghold", NoMatch),
    ],
)
def test_what_is_no_place_rules_nothing_out(prompt: str, outcome: type) -> None:
    """Spotlights may be anywhere; a casino is a place, and no fox was trained there."""
    answered, _ = asked(prompt, {})
    assert isinstance(answered.outcome, outcome)


def test_a_place_of_its_own_is_no_other() -> None:
    """A bowling alley is a little like a harbor; that no fox was trained there is said."""
    answered, _ = asked("a fox trained in a bowling alley", {"bowling alley": {"harbor": 0.62}})
    assert isinstance(answered.outcome, NoMatch)


SKIERS = "where people put on skis"


def test_a_place_told_by_what_goes_on_there() -> None:
    """Near to a place of cards it is that; near to none it asks for nothing, which is said."""
    prompt = f"a fox in a hat, trained {SKIERS}"
    answered, _ = asked(prompt, {SKIERS: {"snow": 0.7}})
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v4"
    answered, _ = asked(prompt, {})
    assert isinstance(answered.outcome, Clarification)
    assert answered.intent.all(Attribute.ENVIRONMENT) == ()
    assert answered.intent.problems == (
        f"“trained {SKIERS}” means no place that cards were trained at",
    )


def test_a_place_told_by_what_goes_on_there_is_refused() -> None:
    """All but the one in the snow are left."""
    answered, _ = asked(f"a fox not trained {SKIERS}", {SKIERS: {"snow": 0.7}})
    [place] = answered.intent.all(Attribute.ENVIRONMENT)
    assert place.excluded
    assert place.hard
    assert place.values == ("snow",)
    assert isinstance(answered.outcome, Clarification)


def test_a_catalog_that_cannot_tell_is_not_said_to_have_told() -> None:
    """And is asked once of a request, not again and again while nobody answers."""

    class Slow(Knowing):
        async def compare(
            self, texts: Sequence[str], labels: Sequence[Label]
        ) -> Sequence[Sequence[float]]:
            self.compared.append(tuple(texts))
            return ()

    catalog = Slow(foxes(), {})
    answered = asyncio.run(
        select(
            Request(prompt=f"a fox {CARVED}, trained {SKIERS}", reference_time=NOW),
            catalog=catalog,
            reasoner=DeterministicReasoner(),
            settings=CheckinSettings(),
        )
    )
    assert isinstance(answered.outcome, Clarification)
    assert answered.intent.problems == (
        f"“trained {SKIERS}” could not be compared with any place that cards were trained at",
    )
    assert catalog.compared == [(SKIERS,)]


@pytest.mark.parametrize(("cards", "outcome"), [(99, NoMatch), (105, Clarification)])
def test_a_thing_of_no_card_that_was_found(cards: int, outcome: type) -> None:
    """It is refused where all were; of more than a page others may have it."""
    horses = [
        Card(checkpoint_id=f"horse-v{n}", subjects=("horse",), description=f"A horse with a {had}.")
        for n, had in zip(range(cards), itertools.cycle(["bell", "ribbon", "saddle"]))
    ]
    answered, _ = asked("the horse with headphones, on a hill", {}, horses)
    assert isinstance(answered.outcome, outcome)


@pytest.mark.parametrize(("said", "refused"), [("headphones", True), ("rain-stopping gear", False)])
def test_a_thing_by_its_plain_name_is_no_other_that_is_like_it(said: str, refused: bool) -> None:
    """No horse has headphones, though an umbrella is the likest of what they have."""
    things = ("bell", "ribbon", "umbrella", "saddle", "satchel", "lantern")
    horses = [
        replace(card, checkpoint_id=f"horse-v{n}", subjects=("horse",), version=n,
                description=f"A horse with a {thing}.")
        for n, (card, thing) in enumerate(zip((*foxes(), *foxes()), things, strict=False), 1)
    ]  # fmt: skip
    near = {said: {"umbrella": 0.58}}
    answered, _ = asked(f"the horse with {said}", near, horses)
    if refused:
        assert isinstance(answered.outcome, NoMatch)
    else:
        assert isinstance(answered.outcome, Selection)
        assert answered.outcome.candidate.card.checkpoint_id == "horse-v3"
