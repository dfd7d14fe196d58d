"""Check-in as a whole: gRPC in, the catalog service and PostgreSQL below."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from grpc_health.v1 import health_pb2, health_pb2_grpc
from support.catalog_cards import RecordingAnnouncer, artifact
from support.checkin_cards import NOW, card, paper, studio
from support.checkin_requests import ASK, NONE, PAPER, STUDIO, expected_ids
from support.checkin_stack import Stack, run_checkin
from support.polling import eventually
from support.ports import free_port

from personalq.catalog.lifecycle import accept_artifact, archive_checkpoint
from personalq.chassis.errors import InvalidInput, Unavailable
from personalq.chassis.rpc import open_channel
from personalq.chassis.tenancy import tenant_scope
from personalq.checkin.catalog_client import CatalogClient
from personalq.v1 import checkin_pb2, types_pb2


@pytest.fixture
async def stack(postgres_url: str) -> AsyncIterator[Stack]:
    """Check-in over an empty catalog."""
    async with run_checkin(postgres_url) as running:
        yield running


def request(prompt: str, *answers: checkin_pb2.Answer, **more: object) -> checkin_pb2.SelectRequest:
    """A request at the tests' time."""
    moment = Timestamp()
    moment.FromDatetime(NOW)
    return checkin_pb2.SelectRequest(
        prompt=prompt,
        answers=answers,
        reference_time=moment,
        **more,  # type: ignore[arg-type]
    )


def outcome(response: checkin_pb2.SelectResponse) -> str:
    """An id, ASK or NONE."""
    match response.WhichOneof("outcome"):
        case "selection":
            return response.selection.checkpoint.checkpoint_id
        case "clarification":
            return ASK
        case _:
            return NONE


async def test_studio_requests(stack: Stack) -> None:
    """Every third labelled request of the studio has the same outcome on real services."""
    await stack.load(studio())
    wrong = []
    for case in STUDIO[::3]:
        response = await stack.select(request(case.prompt, candidate_ids=case.pool))
        path = [outcome(response)]
        if path == [ASK] and case.answer:
            question_id = response.clarification.question_id
            answer = checkin_pb2.Answer(question_id=question_id, text=case.answer)
            response = await stack.select(request(case.prompt, answer, candidate_ids=case.pool))
            path.append(outcome(response))
        expected = [case.expected, case.final] if case.expected == ASK else [case.expected]
        if path != expected:
            wrong.append((case.prompt, case.answer, path, expected))
        if case.rewritten:
            assert response.selection.rewritten_prompt == case.rewritten
    assert wrong == []


async def test_names_are_resolved_by_the_catalog(stack: Stack) -> None:
    """An alias, a display name, an id and a trigger; a card that is archived has none of them."""
    pets = [
        card("rex-1", "dog", "photorealistic", "2026-04-02", "A black dog.", aliases="Rex"),
        card("rex-2", "dog", "sketch", "2026-05-02", "A black dog.", aliases="Rex"),
        card("pot-1", "teapot", "photorealistic", "2026-05-02", "A teapot.",
             name="Grandma's teapot"),
    ]  # fmt: skip
    await stack.load(pets)
    expected = {
        "Rex on a surfboard, the sketch": ("rex-2", "<rex-2> on a surfboard, the sketch"),
        "grandma’s teapot on a table": ("pot-1", "<pot-1> on a table"),
        "REX-1 on a table": ("rex-1", "<rex-1> on a table"),
        "<Rex-1> on a table": ("rex-1", "<rex-1> on a table"),
    }
    for prompt, (checkpoint_id, rewritten) in expected.items():
        response = await stack.select(request(prompt))
        assert outcome(response) == checkpoint_id
        assert response.selection.rewritten_prompt == rewritten
    announce = RecordingAnnouncer()
    for gone in ("rex-1", "rex-2"):
        await archive_checkpoint(gone, tenant="default", store=stack.store, announce=announce)
    assert outcome(await stack.select(request("Rex on a surfboard"))) == NONE


async def test_paper_requests(stack: Stack) -> None:
    """Every fourth labelled request of the paper's cards has the outcome it means."""
    cards = paper()
    await stack.load(cards)
    wrong = []
    for rule in PAPER[::4]:
        meant = expected_ids(rule, cards)
        wanted = (NONE if not meant else ASK) if len(meant) != 1 else meant[0]
        found = outcome(await stack.select(request(rule.prompt)))
        if found != wanted:
            wrong.append((rule.prompt, found, wanted))
    assert wrong == []


async def test_spans_are_code_points(stack: Stack) -> None:
    """Spans count Unicode code points, also behind emoji and accents."""
    await stack.load(studio())
    prompt = "🎨 café – the April bear 🐾 à la plage"
    response = await stack.select(request(prompt))
    selection = response.selection
    assert selection.rewritten_prompt == prompt.replace("bear", "<bear-v4>")
    (span,) = selection.trigger_spans
    assert selection.rewritten_prompt[span.start : span.end] == "<bear-v4>"
    (replaced,) = selection.replaced
    assert prompt[replaced.span.start : replaced.span.end] == replaced.text == "bear"
    for constraint in response.intent.constraints:
        assert prompt[constraint.span.start : constraint.span.end] == constraint.text


async def test_artifact_comes_along(stack: Stack) -> None:
    """The preferred profile's artifact is in the selection as soon as there is one."""
    (stored,) = await stack.load([card("bear-v4", "bear", "sketch", "2026-04-11")])
    response = await stack.select(request("a bear"))
    assert not response.selection.HasField("artifact")
    made = artifact(stored)
    await accept_artifact(made, tenant="default", store=stack.store, profiles=("w8a8",))
    response = await stack.select(request("a bear"))
    assert response.selection.artifact.digest == made.digest
    assert response.selection.checkpoint.state == types_pb2.CHECKPOINT_STATE_SERVABLE


async def test_tenants_are_apart(stack: Stack) -> None:
    """A request sees its tenant's cards and words only."""
    await stack.load([card("bear-v4", "bear", "sketch", "2026-04-11")], tenant="one")
    await stack.load([card("dog-v9", "dog", "sketch", "2026-04-11")], tenant="two")
    with tenant_scope("one"):
        assert outcome(await stack.select(request("a bear"))) == "bear-v4"
        assert outcome(await stack.select(request("a dog"))) == NONE
    with tenant_scope("two"):
        assert outcome(await stack.select(request("a dog"))) == "dog-v9"
        question = checkin_pb2.Answer(question_id="q1.e30.0", text="any")
        with pytest.raises(InvalidInput):
            await stack.select(request("a dog", question))


async def test_new_cards_are_seen(stack: Stack) -> None:
    """A card stored after the first request is found by the next."""
    assert outcome(await stack.select(request("a bear"))) == NONE
    await stack.load([card("bear-v4", "bear", "sketch", "2026-04-11")])
    assert outcome(await stack.select(request("a bear"))) == "bear-v4"


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (checkin_pb2.SelectRequest(), "prompt"),
        (checkin_pb2.SelectRequest(prompt="bear " * 2000), "prompt"),
        (checkin_pb2.SelectRequest(prompt="bear", time_zone="Mars"), "time_zone"),
        (
            checkin_pb2.SelectRequest(
                prompt="bear", answers=[checkin_pb2.Answer(question_id="x", text="y")]
            ),
            "answers.question_id",
        ),
    ],
    ids=["empty", "10,000 characters", "time zone", "question"],
)
async def test_malformed_requests(stack: Stack, bad: checkin_pb2.SelectRequest, field: str) -> None:
    """They are refused as INVALID_ARGUMENT with the field that is wrong."""
    with pytest.raises(InvalidInput) as refused:
        await stack.select(bad)
    assert field in refused.value.violations


@pytest.mark.parametrize(
    "prompt",
    [
        "'; DROP TABLE cards; --",
        "bear' OR '1'='1",
        "🐻🐻🐻",
        "دب في الثلج",
        "bear\x00 with \u202e a hat",
        "%s %(x)s {0} \\ $1 :name ::text",
        "& | ! <-> ( ) * :A",
    ],
)
async def test_odd_prompts_have_an_outcome(stack: Stack, prompt: str) -> None:
    """SQL, emoji, right-to-left text and control characters never break anything."""
    await stack.load(studio()[:3])
    response = await stack.select(request(prompt, explain=True))
    assert response.WhichOneof("outcome") is not None
    assert outcome(await stack.select(request("bear v1"))) == "bear-v1"


async def test_explanations_come_along(stack: Stack) -> None:
    """Runners-up, near misses and the nearest alternatives are found by real searches."""
    await stack.load(studio())
    asked = request("the May dog", explain=True)
    response = await stack.select(asked)
    chosen = response.selection
    assert "“May”: trained in May 2026" in chosen.reasons
    assert [(c.checkpoint_id, c.reasons[0]) for c in chosen.runners_up[:1]] == [
        ("dog-v7", "trained on 20 April 2026, not “May”")
    ]
    assert (await stack.select(asked)).selection == chosen
    failed = (await stack.select(request("the bear from August, version 9"))).no_match
    assert "“version 9”" in failed.explanation
    assert "“from August”" in failed.explanation
    assert failed.alternatives[0].checkpoint_id == "bear-v6"


async def test_health_follows_the_catalog(stack: Stack) -> None:
    """The service says it serves while it reaches the catalog."""
    health: Any = health_pb2_grpc.HealthStub(stack.channel)

    async def serving() -> bool:
        try:
            answer = await health.Check(
                health_pb2.HealthCheckRequest(service="personalq.v1.CheckInService")
            )
        except grpc.aio.AioRpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    await eventually(serving)


async def test_no_catalog_is_unavailable() -> None:
    """Without the catalog a request fails as UNAVAILABLE, to be tried again."""
    async with (
        open_channel(f"127.0.0.1:{free_port()}") as channel,
        CatalogClient(channel, ttl_s=1) as catalog,
    ):
        with pytest.raises(Unavailable):
            await catalog.lexicon()
