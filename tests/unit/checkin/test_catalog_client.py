"""What the catalog is asked, and what is known from before."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

import grpc
import pytest

from personalq.chassis.interceptors import _deadline, remaining_s
from personalq.chassis.tenancy import current_tenant, tenant_scope
from personalq.checkin import catalog_client
from personalq.checkin.cards import CardFilter, Query
from personalq.checkin.catalog_client import CatalogClient
from personalq.checkin.labels import Label
from personalq.checkin.names import Named, NameKind
from personalq.v1 import catalog_pb2, types_pb2

_BISCUIT = (catalog_pb2.NAME_KIND_ALIAS, "Biscuit")


class Stub:
    """Answers as a catalog would; counts what it is asked."""

    def __init__(self, names: Sequence[tuple[int, str]] = (), *, complete: bool = True) -> None:
        self.revision = "1"
        self.subjects = ["bear"]
        self.styles: list[str] = []
        self.names = list(names)
        self.complete = complete
        self.cards = 0
        self.matches: int | None = None
        self.likeness: float | None = None
        self.cannot = grpc.StatusCode.UNIMPLEMENTED
        self.comparing_s: list[tuple[float, float | None, str]] = []
        self.asked: list[str] = []
        self.wordings: list[str] = []

    async def GetVocabulary(  # noqa: N802
        self, request: catalog_pb2.GetVocabularyRequest
    ) -> catalog_pb2.GetVocabularyResponse:
        """The words, unless they are known."""
        self.asked.append("words")
        if request.revision == self.revision:
            return catalog_pb2.GetVocabularyResponse(
                revision=self.revision, selectable_cards=self.cards
            )
        names = self.names if self.complete else ()
        return catalog_pb2.GetVocabularyResponse(
            modified=True,
            revision=self.revision,
            subjects=self.subjects,
            styles=self.styles,
            names=[
                catalog_pb2.CheckpointName(kind=kind, spelling=spelling)  # type: ignore[arg-type]
                for kind, spelling in names
            ],
            names_complete=self.complete,
            selectable_cards=self.cards,
        )

    async def ResolveNames(  # noqa: N802
        self, request: catalog_pb2.ResolveNamesRequest
    ) -> catalog_pb2.ResolveNamesResponse:
        """Every word is an alias."""
        self.asked.append("names")
        kind = catalog_pb2.NAME_KIND_ALIAS
        return catalog_pb2.ResolveNamesResponse(
            names=[
                catalog_pb2.ResolvedName(name=name, kind=kind, spelling=name.title())
                for name in request.names
            ]
        )

    async def SearchCheckpoints(  # noqa: N802
        self, request: catalog_pb2.SearchCheckpointsRequest
    ) -> catalog_pb2.SearchCheckpointsResponse:
        """As many matches as searches so far, or as it is told; an empty page."""
        self.asked.append("search")
        matches = self.asked.count("search") if self.matches is None else self.matches
        return catalog_pb2.SearchCheckpointsResponse(total_matches=matches)

    async def ListCheckpoints(  # noqa: N802
        self, request: catalog_pb2.ListCheckpointsRequest, *, timeout: float
    ) -> catalog_pb2.ListCheckpointsResponse:
        """A card with a thing."""
        self.asked.append("list")
        self.comparing_s.append((timeout, remaining_s(), current_tenant()))
        card = types_pb2.Checkpoint(
            checkpoint_id="bear", subjects=["bear"], description="A bear with a trumpet."
        )
        return catalog_pb2.ListCheckpointsResponse(checkpoints=[card])

    async def CompareTexts(  # noqa: N802
        self, request: catalog_pb2.CompareTextsRequest, *, timeout: float
    ) -> catalog_pb2.CompareTextsResponse:
        """As like as it is told; a catalog of an earlier version does not know the call."""
        self.asked.append("compare")
        self.comparing_s.append((timeout, remaining_s(), current_tenant()))
        self.wordings += [word for label in request.labels for word in label.wordings]
        if self.likeness is None:
            raise grpc.aio.AioRpcError(self.cannot, grpc.aio.Metadata(), grpc.aio.Metadata())
        row = catalog_pb2.TextLikeness(labels=[self.likeness] * len(request.labels))
        return catalog_pb2.CompareTextsResponse(texts=[row for _ in request.texts])


async def client_of(stub: Stub, *, ttl_s: float = 60) -> CatalogClient:
    """A client that speaks to the stub."""
    client = CatalogClient(grpc.aio.insecure_channel("127.0.0.1:1"), ttl_s=ttl_s)
    client._stub = stub  # type: ignore[assignment]
    return client


async def test_names_are_resolved_from_what_came_with_the_words() -> None:
    """Without case, brackets, quotes, spacing or a possessive ending; others are no names."""
    stub = Stub(
        [
            _BISCUIT,
            (catalog_pb2.NAME_KIND_TRIGGER, "<biscuit>"),
            (catalog_pb2.NAME_KIND_NAME, "Grandma’s Teapot"),
            (catalog_pb2.NAME_KIND_CHECKPOINT_ID, "bear-v4"),
            (99, "A kind of tomorrow"),
        ]
    )
    client = await client_of(stub)
    both = (
        Named(kind=NameKind.ALIAS, spelling="Biscuit"),
        Named(kind=NameKind.TRIGGER, spelling="<biscuit>"),
    )
    teapot = (Named(kind=NameKind.NAME, spelling="Grandma’s Teapot"),)
    asked = (
        "BISCUIT", "<biscuit>", "biscuit's", "“grandma's  teapot”", "<Bear-V4>", "bear", "biscuits",
        "a kind of tomorrow",
    )  # fmt: skip
    assert await client.names(asked) == {
        "BISCUIT": both,
        "<biscuit>": both,
        "biscuit's": both,
        "“grandma's  teapot”": teapot,
        "<Bear-V4>": (Named(kind=NameKind.CHECKPOINT_ID, spelling="bear-v4"),),
    }
    await asyncio.gather(client.lexicon(), client.names(["biscuit"]))
    assert stub.asked == ["words"]


async def test_the_names_of_a_large_tenant_are_asked_for() -> None:
    """Each time, and without waiting for the words; until there are fewer."""
    stub = Stub([_BISCUIT], complete=False)
    client = await client_of(stub, ttl_s=0)
    rex = {"rex": [Named(kind=NameKind.ALIAS, spelling="Rex")]}
    assert await client.names(["rex"]) == rex
    assert await client.names(["rex"]) == rex
    assert await client.names([]) == {}
    assert stub.asked == ["words", "names", "names"]
    stub.complete, stub.revision = True, "2"
    await client.lexicon()
    assert await client.names(["rex"]) == {}
    assert stub.asked == ["words", "names", "names", "words", "words"]


async def test_new_names_leave_the_words_as_they_were() -> None:
    """Tables of words are made anew when words change, not with every card."""
    stub = Stub([_BISCUIT])
    client = await client_of(stub, ttl_s=0)
    first = await client.lexicon()
    stub.names, stub.revision = [(catalog_pb2.NAME_KIND_ALIAS, "Rex")], "2"
    assert await client.lexicon() is first
    assert list(await client.names(["rex", "biscuit"])) == ["rex"]
    stub.subjects, stub.revision = ["bear", "dog"], "3"
    assert await client.lexicon() is not first


async def test_tenants_are_kept_apart_and_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """One's names are not another's; when too many are kept, the longest unused go."""
    monkeypatch.setattr(catalog_client, "_NAMES", 2)
    stub = Stub([_BISCUIT])
    client = await client_of(stub)
    for tenant, name in (("one", "Biscuit"), ("two", "Rex"), ("three", "Milo")):
        stub.names = [(catalog_pb2.NAME_KIND_ALIAS, name)]
        with tenant_scope(tenant):
            assert list(await client.names(["biscuit", "rex", "milo"])) == [name.lower()]
    with tenant_scope("two"):
        assert list(await client.names(["rex"])) == ["rex"]
    assert stub.asked == ["words"] * 3
    with tenant_scope("one"):
        await client.names(["rex"])
    assert stub.asked == ["words"] * 4


async def test_a_search_of_lately_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until a card comes or goes, or half a minute is over; for one tenant, and for its own words.

    Any other search is made each time.
    """
    stub = Stub([_BISCUIT])
    client = await client_of(stub, ttl_s=0)

    async def matches(subject: str, *, lately: bool = True) -> int:
        query = Query(text="", filter=CardFilter(subjects=(subject,)), lately=lately)
        return (await client.search(query)).total

    assert [await matches("bear"), await matches("bear"), await matches("dog")] == [1, 1, 2]
    assert [await matches("bear", lately=False), await matches("bear")] == [3, 1]
    with tenant_scope("two"):
        assert await matches("bear") == 4
    stub.revision = "2"
    assert await matches("bear") == 5
    monkeypatch.setattr(catalog_client, "_LATELY_S", 0.0)
    assert await matches("bear") == 6
    monkeypatch.setattr(catalog_client, "_SEARCHES", 1)
    await matches("dog")
    assert len(client._lately) == 1


async def test_filters_with_more_cards_than_a_page_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As they were when last searched for, for each tenant; the earliest are forgotten."""
    stub = Stub()
    client = await client_of(stub)
    bears, dogs = (Query(text="", filter=CardFilter(subjects=(s,))) for s in ("bear", "dog"))
    assert not client.is_broad(bears)
    await client.search(bears)  # one match, none on the page
    assert client.is_broad(replace(bears, text="red scarf"))
    assert not client.is_broad(dogs)
    with tenant_scope("two"):
        assert not client.is_broad(bears)
    monkeypatch.setattr(catalog_client, "_FILTERS", 1)
    await client.search(dogs)
    assert (client.is_broad(bears), client.is_broad(dogs)) == (False, True)
    stub.matches = 0
    await client.search(dogs)
    assert not client.is_broad(dogs)


async def test_of_a_new_filter_as_many_cards_are_expected_as_subjects_have() -> None:
    """Until the first search tells better; a filter that says more than a subject is narrow."""
    stub = Stub()
    stub.subjects, stub.cards = ["bear", "dog"], 400
    client = await client_of(stub)
    bears = Query(text="", filter=CardFilter(subjects=("bear",)), limit=100)
    assert not client.is_broad(bears)  # nothing is known of the tenant
    await client.lexicon()
    assert client.is_broad(bears)
    assert not client.is_broad(replace(bears, limit=200))
    assert client.is_broad(replace(bears, limit=300, filter=CardFilter(subjects=("bear", "dog"))))
    styled = CardFilter(subjects=("bear",), styles=("sketch",))
    assert not client.is_broad(replace(bears, filter=styled))
    stub.matches = 0
    await client.search(bears)
    assert not client.is_broad(bears)


async def test_how_many_cards_there_are_is_news_of_its_own() -> None:
    """A tenant may grow without a new word."""
    stub = Stub()
    client = await client_of(stub, ttl_s=0)
    bears = Query(text="", filter=CardFilter(subjects=("bear",)), limit=100)
    await client.lexicon()
    assert not client.is_broad(bears)
    stub.cards = 101
    await client.lexicon()
    assert client.is_broad(bears)


async def test_texts_are_compared_with_labels() -> None:
    """A row for each text, a number for each label."""
    stub = Stub()
    stub.likeness = 0.5
    client = await client_of(stub)
    labels = [Label(tags=frozenset({name}), wordings=(name,)) for name in ("anime", "sketch")]
    assert await client.compare(("a", "b"), labels) == [(0.5, 0.5), (0.5, 0.5)]


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    ],
)
async def test_a_request_goes_on_without_a_comparison(code: grpc.StatusCode) -> None:
    """A catalog may be of an earlier version, or its model slow or away."""
    stub = Stub()
    stub.cannot = code
    client = await client_of(stub)
    assert await client.compare(("a",), [Label(tags=frozenset(), wordings=("b",))]) == ()
    [(timeout, _, _)] = stub.comparing_s
    assert timeout < 5


async def test_labels_have_more_time_than_the_request_that_is_first() -> None:
    """Its deadline must not cut off what all later ones need; its tenant is the one that counts."""
    stub = Stub()
    stub.styles = ["anime"]
    client = await client_of(stub)
    token = _deadline.set(time.monotonic() + 1)
    try:
        with tenant_scope("acme"):
            await client.lexicon()
    finally:
        _deadline.reset(token)
    while len(stub.comparing_s) < 2:  # looks, and looks as people tell them
        await asyncio.sleep(0)
    for timeout, left, tenant in stub.comparing_s:
        assert timeout > 30
        assert left is None
        assert tenant == "acme"


async def test_labels_are_read_before_a_request_needs_them() -> None:
    """Their first comparison takes the catalog a while; two for looks, whenever words change."""
    stub = Stub()
    stub.styles = ["anime"]
    client = await client_of(stub, ttl_s=0)
    with tenant_scope("acme"):
        for _ in range(3):
            await client.lexicon()
            await asyncio.sleep(0)
    assert stub.asked.count("compare") == 2


async def test_things_of_cards_are_read_before_a_request_needs_them() -> None:
    """Once, and again when there are more than twice as many cards."""
    stub = Stub()
    stub.likeness = 0.5
    client = await client_of(stub, ttl_s=0)
    with tenant_scope("acme"):
        for stub.cards, lists in ((0, 0), (3, 1), (4, 1), (6, 1), (7, 2)):
            await client.lexicon()
            for _ in range(10):
                await asyncio.sleep(0)
            assert stub.asked.count("list") == lists
    assert any("brass" in word for word in stub.wordings)
    assert {tenant for _, _, tenant in stub.comparing_s} == {"acme"}
    assert all(timeout > 30 and left is None for timeout, left, _ in stub.comparing_s)


async def test_things_that_could_not_be_read_are_tried_again_later() -> None:
    """Not at every refresh: a catalog of an earlier version never can."""
    stub = Stub()
    stub.cards = 3
    client = await client_of(stub, ttl_s=0)
    with tenant_scope("acme"):
        for _ in range(3):
            await client.lexicon()
            for _ in range(10):
                await asyncio.sleep(0)
        assert stub.asked.count("list") == 1
        stub.likeness = 0.5
        client._not_before.clear()  # a minute later
        await client.lexicon()
        for _ in range(10):
            await asyncio.sleep(0)
        assert stub.asked.count("list") == 2


async def test_nothing_is_read_any_more_once_it_is_closed() -> None:
    """A call that is under way is given up: a catalog that stops then has nothing left to do."""
    stub = Stub()
    stub.cards = 3
    given_up: list[bool] = []

    async def slow(request: object, *, timeout: float) -> object:
        try:
            await asyncio.sleep(timeout)
        finally:
            given_up.append(True)
        raise AssertionError(request)

    stub.ListCheckpoints = slow  # type: ignore[method-assign, assignment]
    async with await client_of(stub) as client:
        await client.lexicon()
        for _ in range(10):
            await asyncio.sleep(0)
        assert not given_up
    assert given_up == [True]
