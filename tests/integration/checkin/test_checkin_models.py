"""Check-in over gRPC with a language model and a reranker behind it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from prometheus_client import REGISTRY
from support.checkin_cards import NOW, studio
from support.checkin_stack import run_checkin
from support.llm_server import Asked, ModelServer, Reply, completion, opinion, run_model_server
from support.ports import free_port

from personalq.chassis.tenancy import tenant_scope
from personalq.v1 import checkin_pb2

ZORBISH = "a zorbish bear on a beach"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model that reads "zorbish" as the bear with spectacles."""

    def behave(asked: Asked) -> Reply:
        label = asked.label(description="round spectacles")
        return completion(opinion(label, said="zorbish", value="round spectacles"))

    with run_model_server() as server:
        server.behave = behave
        yield server


def request(prompt: str) -> checkin_pb2.SelectRequest:
    """A request at the tests' time."""
    moment = Timestamp()
    moment.FromDatetime(NOW)
    return checkin_pb2.SelectRequest(prompt=prompt, reference_time=moment, explain=True)


def calls(outcome: str) -> float:
    """How often the adviser was of use, or not."""
    labels = {"part": "adviser", "outcome": outcome}
    return REGISTRY.get_sample_value("personalq_checkin_model_calls_total", labels) or 0.0


async def test_second_opinion(postgres_url: str, model: ModelServer) -> None:
    """A configured model settles what the rules would ask, and is asked for nothing else."""
    used = calls("used")
    async with run_checkin(
        postgres_url, llm_base_url=f"{model.url}/v1", llm_model="stand-in", llm_api_key="sesame"
    ) as stack:
        await stack.load(studio())
        response = await stack.select(request(ZORBISH))
        assert not response.degraded
        assert response.selection.rewritten_prompt == "a zorbish <bear-v6> on a beach"
        assert "“zorbish” is taken to mean round spectacles" in response.selection.reasons
        assert response == await stack.select(request(ZORBISH))
        assert (await stack.select(request("bear v4"))).WhichOneof("outcome") == "selection"
    assert len(model.asked) == 1
    assert calls("used") == used + 2


async def test_opinions_stay_with_their_tenant(postgres_url: str, model: ModelServer) -> None:
    """The same words of another tenant, over its own cards, are another case."""
    async with run_checkin(
        postgres_url, llm_base_url=f"{model.url}/v1", llm_model="stand-in"
    ) as stack:
        await stack.load(studio(), tenant="one")
        renamed = [card for card in studio() if card.subjects[0] != "bear"]
        await stack.load(renamed, tenant="two")
        with tenant_scope("one"):
            assert (await stack.select(request(ZORBISH))).HasField("selection")
        with tenant_scope("two"):
            assert (await stack.select(request(ZORBISH))).HasField("no_match")
    assert len(model.asked) == 1


async def test_dead_endpoint(postgres_url: str) -> None:
    """With the model out of reach the rules answer, and the response says so."""
    failed = calls("failed") + calls("skipped")
    dead = f"http://127.0.0.1:{free_port()}/v1"
    async with run_checkin(
        postgres_url,
        llm_base_url=dead,
        llm_model="gone",
        llm_timeout_s=0.5,
        model_failures=1,
        rerank_url=dead,
        rerank_timeout_s=0.5,
    ) as stack:
        await stack.load(studio())
        for _ in range(3):
            response = await stack.select(request(ZORBISH))
            assert response.degraded
            assert response.WhichOneof("outcome") == "clarification"
        response = await stack.select(request("the newest bear"))
        assert not response.degraded
        assert response.selection.checkpoint.checkpoint_id == "bear-v6"
    assert calls("failed") + calls("skipped") == failed + 3


async def test_callers_deadline_is_the_budget(postgres_url: str, model: ModelServer) -> None:
    """A caller with a second to spare has the rules' answer in that second."""
    hold = threading.Event()
    model.reply_with(Reply(hold=hold))
    try:
        async with run_checkin(
            postgres_url,
            llm_base_url=f"{model.url}/v1",
            llm_model="stand-in",
            llm_timeout_s=60,
        ) as stack:
            await stack.load(studio())
            response = await stack.stub.Select(request(ZORBISH), timeout=2)
            assert response.degraded
            assert response.HasField("clarification")
            with pytest.raises(grpc.aio.AioRpcError) as late:
                await stack.stub.Select(request(ZORBISH), timeout=0.0001)
            assert late.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    finally:
        hold.set()
