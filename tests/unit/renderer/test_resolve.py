"""Which artifact serves a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from personalq.chassis.errors import NotFound, NotReady, Unavailable
from personalq.renderer.artifacts import ArtifactIndex, ArtifactRef
from personalq.renderer.ports import CatalogEntry
from personalq.renderer.resolve import resolve


def artifact(digest: str = "d1", *, profile: str = "w8a8") -> ArtifactRef:
    """Return an artifact of bear-v4."""
    return ArtifactRef(
        checkpoint_id="bear-v4",
        profile=profile,
        digest=digest,
        size_bytes=1,
        base_digest="",
        base_size_bytes=0,
        base_model="m",
        recipe_version=1,
        triggers=(),
        source_sha256="",
        created_at=None,
    )


class OneCard:
    """A catalog with one answer, which counts how often it is asked."""

    def __init__(
        self, answer: CatalogEntry | Exception, *, meanwhile: Callable[[], Any] = lambda: None
    ) -> None:
        self.answer, self.asked, self.meanwhile = answer, 0, meanwhile

    async def get(self, checkpoint_id: str) -> CatalogEntry:
        """Give the answer."""
        self.asked += 1
        self.meanwhile()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def entry(state: str, *artifacts: ArtifactRef, reason: str = "") -> CatalogEntry:
    """Return a catalog entry of bear-v4."""
    return CatalogEntry(checkpoint_id="bear-v4", state=state, reason=reason, artifacts=artifacts)


async def find(index: ArtifactIndex, catalog: OneCard, digest: str = "") -> str:
    """Resolve bear-v4 for w8a8 and return the digest."""
    found = await resolve("t", "bear-v4", "w8a8", digest, index=index, catalog=catalog)
    return found.digest


async def test_the_catalog_is_asked_once_per_artifact() -> None:
    """A known artifact is confirmed at its first use, a newer one again."""
    index, catalog = ArtifactIndex(), OneCard(entry("SERVABLE", artifact()))
    index.add("t", artifact())
    assert [await find(index, catalog) for _ in range(3)] == ["d1"] * 3
    assert catalog.asked == 1
    index.add("t", artifact("d2"))
    assert await find(index, catalog) == "d2"
    assert catalog.asked == 2


async def test_an_artifact_the_stream_has_not_told_yet_is_taken_from_the_catalog() -> None:
    """The catalog may know earlier than the stream's reader."""
    index, catalog = ArtifactIndex(), OneCard(entry("SERVABLE", artifact("d9")))
    assert await find(index, catalog) == "d9"
    assert len(index) == 1


async def test_what_the_stream_tells_while_the_catalog_answers_counts() -> None:
    """A newer artifact is not replaced by the older one, a withdrawn one does not come back."""
    index = ArtifactIndex()
    index.add("t", artifact("d1"))
    newer = OneCard(
        entry("SERVABLE", artifact("d1")), meanwhile=lambda: index.add("t", artifact("d2"))
    )
    assert await find(index, newer) == "d2"
    index.add("t", artifact("d3"))
    withdrawn = OneCard(
        entry("SERVABLE", artifact("d3")), meanwhile=lambda: index.remove_checkpoint("t", "bear-v4")
    )
    with pytest.raises(NotReady, match="withdrawn"):
        await find(index, withdrawn)
    assert len(index) == 0


async def test_a_withdrawal_that_went_by_unseen_is_noticed() -> None:
    """Doubting the index has the catalog asked again."""
    index, catalog = ArtifactIndex(), OneCard(entry("SERVABLE", artifact()))
    index.add("t", artifact())
    assert await find(index, catalog) == "d1"
    catalog.answer = entry("ARCHIVED", artifact())
    assert await find(index, catalog) == "d1"
    index.doubt()
    with pytest.raises(NotReady, match="withdrawn"):
        await find(index, catalog)


async def test_a_catalog_out_of_reach_does_not_stop_known_artifacts() -> None:
    """What the stream announced is rendered; what it did not cannot be judged."""
    index, catalog = ArtifactIndex(), OneCard(Unavailable("away"))
    index.add("t", artifact())
    assert await find(index, catalog) == "d1"
    with pytest.raises(Unavailable):
        await resolve("t", "other", "w8a8", index=index, catalog=catalog)


@pytest.mark.parametrize(
    ("answer", "state", "text"),
    [
        (entry("REGISTERED"), "REGISTERED", "still being quantized"),
        (entry("SERVABLE", artifact(profile="full")), "SERVABLE", "full can be rendered now"),
        (entry("FAILED", reason="it is a LoKr"), "FAILED", "it is a LoKr"),
        (entry("ARCHIVED", artifact()), "ARCHIVED", "withdrawn"),
    ],
)
async def test_why_a_checkpoint_cannot_be_rendered(
    answer: CatalogEntry, state: str, text: str
) -> None:
    """The state travels beside a message that says what is the matter."""
    with pytest.raises(NotReady, match=text) as caught:
        await find(ArtifactIndex(), OneCard(answer))
    assert caught.value.state == state


async def test_an_artifact_of_a_checkpoint_withdrawn_before_this_pod_started_is_refused() -> None:
    """The stream still has the artifact; the catalog knows better."""
    index = ArtifactIndex()
    index.add("t", artifact())
    with pytest.raises(NotReady, match="withdrawn"):
        await find(index, OneCard(entry("ARCHIVED", artifact())))


async def test_an_unknown_checkpoint_is_not_found() -> None:
    """Neither the stream nor the catalog know it."""
    with pytest.raises(NotFound):
        await find(ArtifactIndex(), OneCard(NotFound("no such checkpoint")))


async def test_tenants_do_not_see_each_others_artifacts() -> None:
    """The index answers for one tenant."""
    index = ArtifactIndex()
    index.add("other", artifact(), confirmed=True)
    with pytest.raises(NotFound):
        await find(index, OneCard(NotFound("no such checkpoint")))


async def test_a_request_may_insist_on_an_earlier_artifact() -> None:
    """An exact digest is served as long as it belonged to the checkpoint."""
    index, catalog = ArtifactIndex(), OneCard(entry("SERVABLE", artifact("d2")))
    for digest in ("d1", "d2"):
        index.add("t", artifact(digest))
    assert await find(index, catalog, "d1") == "d1"
    with pytest.raises(NotFound, match="d2"):
        await find(index, catalog, "d3")


async def test_a_withdrawn_checkpoint_is_forgotten() -> None:
    """All profiles and digests go."""
    index = ArtifactIndex()
    for profile in ("w8a8", "full"):
        index.add("t", artifact(profile=profile))
    index.remove_checkpoint("t", "bear-v4")
    assert len(index) == 0
    assert index.find_digest("t", "bear-v4", "w8a8", "d1") is None
