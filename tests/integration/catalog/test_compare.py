"""Texts compared with labels by the model that ships."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from personalq.catalog.compare import MAX_TEXTS, MAX_WORDINGS, Comparer
from personalq.catalog.embedders import open_embedder
from personalq.catalog.ports import Embedded, Model
from personalq.catalog.servicer import CatalogServicer
from personalq.chassis.errors import InvalidInput, Unavailable
from personalq.checkin.cards import Card
from personalq.checkin.thing_labels import things_on
from personalq.v1 import catalog_pb2

LOOKS = (
    ("woodcut", "woodblock print"),
    ("origami", "folded paper"),
    ("stained glass", "leaded glass"),
    ("anime", "japanese animation"),
)
SAID = {
    "printed from a carved wood block": 0,
    "folded like a paper crane": 1,
    "panes held by lead": 2,
    "the way Japanese animators would do it": 3,
}


@pytest.fixture
async def comparer() -> AsyncIterator[Comparer]:
    """With all-MiniLM-L6-v2."""
    async with open_embedder("minilm") as embedder:
        yield Comparer(embedder)


async def test_the_likest_label_is_the_one_that_is_meant(comparer: Comparer) -> None:
    """No word of what is said is what the look is called."""
    likeness = await comparer.compare(list(SAID), LOOKS)
    assert [row.index(max(row)) for row in likeness] == list(SAID.values())
    assert all(-1.0001 <= value <= 1.0001 for row in likeness for value in row)


THINGS = {
    "clock decorated with iridescent shell": "An oak cuckoo clock with a mother-of-pearl inlay.",
    "a tiny spotted beetle": "An orange soup mug with a ladybug figure.",
    "string instrument slung over his shoulders": "A knight with a lute on the back.",
    "carrying drinks like a waiter": "A penguin with a butler's tray.",
}


async def test_what_things_are_tells_which_card_has_them(comparer: Comparer) -> None:
    """No word of what is said stands on the card: the definitions of its things are near."""
    cards = [
        Card(checkpoint_id=str(number), subjects=("nothing",), description=text)
        for number, text in enumerate(THINGS.values())
    ]
    of = [[word for label in things_on(card) for word in label.wordings] for card in cards]
    likeness = await comparer.compare(list(THINGS), of)
    assert [row.index(max(row)) for row in likeness] == [0, 1, 2, 3]


async def test_what_is_known_of_labels_changes_nothing(comparer: Comparer) -> None:
    """The second comparison uses vectors that were kept."""
    first = await comparer.compare(list(SAID), LOOKS)
    again = await comparer.compare(list(SAID), LOOKS[::-1])
    assert again == [pytest.approx(row[::-1], abs=1e-5) for row in first]


class Broken:
    """An embedding server that is away."""

    model = Model(id="away", dim=2)

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedded]:
        """No answer."""
        raise Unavailable("the embedding server does not answer in time")

    embed_queries = embed_documents


async def test_the_service_answers_in_the_order_of_texts_and_labels(comparer: Comparer) -> None:
    """A row for each text and in it a number for each label."""
    labels = [catalog_pb2.TextLabel(wordings=look) for look in LOOKS]
    request = catalog_pb2.CompareTextsRequest(texts=list(SAID), labels=labels)
    servicer = SimpleNamespace(comparer=comparer)  # all that the method reads
    response = await CatalogServicer.CompareTexts(cast("Any", servicer), request, cast("Any", None))
    rows = [list(text.labels) for text in response.texts]
    assert [row.index(max(row)) for row in rows] == list(SAID.values())


class Counting:
    """Vectors at once, but only so many texts; then the caller has no more time."""

    model = Model(id="counting", dim=1)

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.most = 100

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedded]:
        """Those that still fit."""
        if len(self.embedded) + len(texts) > self.most:
            raise asyncio.CancelledError
        self.embedded += texts
        await asyncio.sleep(0)
        return [Embedded(vector=[1.0]) for _ in texts]

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedded]:
        """Of the texts themselves."""
        return [Embedded(vector=[1.0]) for _ in texts]


async def test_what_was_read_of_labels_stays_when_a_caller_gives_up() -> None:
    """The next one needs less time."""
    embedder = Counting()
    comparer = Comparer(embedder)
    labels = [[f"look {n}"] for n in range(160)]
    with pytest.raises(asyncio.CancelledError):
        await comparer.compare(["a fox"], labels)
    assert len(embedder.embedded) >= 64
    embedder.most = 1000
    assert await comparer.compare(["a fox"], labels) == [[1.0] * 160]
    assert len(embedder.embedded) == 160


async def test_labels_of_many_tenants_at_once() -> None:
    """More than are remembered: each gets its own, and the oldest are forgotten."""
    embedder = Counting()
    embedder.most = 100_000
    comparer = Comparer(embedder)
    tenants = [[[f"look {tenant} {n}"] for n in range(900)] for tenant in range(10)]
    rows = await asyncio.gather(*(comparer.compare(["a fox"], each) for each in tenants))
    assert rows == [[[1.0] * 900]] * 10
    before = len(embedder.embedded)
    assert await comparer.compare(["a fox"], tenants[-1]) == [[1.0] * 900]
    assert len(embedder.embedded) - before < 900 < len(embedder.embedded)


@pytest.mark.parametrize("embedder", [None, Broken()])
async def test_nobody_can_tell_without_a_model(embedder: Broken | None) -> None:
    """Check-in goes on without."""
    assert await Comparer(embedder).compare(["a fox"], LOOKS) == []


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (["a"] * (MAX_TEXTS + 1), LOOKS, "9 texts, at most 8"),
        (["a"], [["b"] * MAX_WORDINGS, ["c"]], "1001 wordings, at most 1000"),
        ([" "], LOOKS, "the text is empty"),
        (["a" * 201], LOOKS, "201 characters, at most 200"),
        (["a"], [["b" * 101]], "101 characters, at most 100"),
        (["a"], [["b"], []], "the label has no wordings"),
    ],
)
async def test_too_much_is_refused(
    texts: Sequence[str], labels: Sequence[Sequence[str]], message: str
) -> None:
    """With a sentence that says the limit, whatever embedder there is."""
    with pytest.raises(InvalidInput, match=message):
        await Comparer(None).compare(texts, labels)
