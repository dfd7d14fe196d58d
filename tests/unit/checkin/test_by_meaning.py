"""Looks and places that no list knows are told by meaning, where the catalog can tell."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

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
    prompt: str, near: Mapping[str, Mapping[str, float]], cards: Sequence[Card] = ()
) -> tuple[Answered, Knowing]:
    """What comes of a prompt, of the foxes or of other cards."""
    catalog = Knowing(cards or foxes(), near)
    answered = asyncio.run(
        select(
            Request(prompt=prompt, reference_time=NOW),
            catalog=catalog,
            reasoner=DeterministicReasoner(),
            settings=CheckinSettings(),
        )
    )
    return answered, catalog


CARVED = "printed from a carved wood block"


def test_a_look_in_words_of_nobodys_list() -> None:
    """The card whose look it is near to is meant."""
    answered, catalog = asked(f"fox {CARVED}, howling at the moon", {CARVED: {"woodcut": 0.85}})
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v1"
    assert catalog.compared == [(CARVED,)] * 2  # with looks, and with things


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
    """Wine country is a vineyard, and the explanation says so."""
    near = {"wine country": {"vineyard": 0.75}}
    answered, _ = asked("a fox by a stream, the one trained in wine country", near)
    assert isinstance(answered.outcome, Selection)
    assert answered.outcome.candidate.card.checkpoint_id == "fox-v1"
    [place] = answered.intent.all(Attribute.ENVIRONMENT)
    assert place.values == ("vineyard",)
    assert "nearest to vineyard" in place.label


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
