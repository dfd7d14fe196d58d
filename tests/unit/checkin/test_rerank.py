"""Rerankers: the two HTTP protocols, a cross-encoder, and what a relevance changes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.checkin_cards import NOW, studio
from support.checkin_session import outcome_name
from support.fake_catalog import FakeCatalog
from support.llm_server import Asked, ModelServer, Reply, run_model_server

from personalq.chassis.errors import PersonalQError
from personalq.checkin.endpoint import Breaker, Endpoint, EndpointFailed
from personalq.checkin.outcome import Answered, Clarification
from personalq.checkin.reasoning.reason import DeterministicReasoner
from personalq.checkin.request import Request
from personalq.checkin.reranking.cross_encoder import CrossEncoderReranker, open_cross_encoder
from personalq.checkin.reranking.rerank import Calibration, RerankingReasoner, open_reranker
from personalq.checkin.select import select
from personalq.checkin.settings import CheckinSettings

ZORBISH = "a zorbish bear"
Ask = Callable[[str], Any]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A reranking server that answers 404 until told otherwise."""
    with run_model_server() as running:
        yield running


@asynccontextmanager
async def reranking(
    url: str, *, api: str = "tei", limit: int = 32, breaker: Breaker | None = None, **more: Any
) -> AsyncIterator[Ask]:
    """Asks Check-in whose reasoner reranks at `url`."""
    async with open_reranker(
        model="stand-in",
        url=url,
        api=api,  # type: ignore[arg-type]
        key="sesame",
        timeout_s=more.pop("timeout_s", 5.0),
        calibration=Calibration(**more),
        breaker=breaker or Breaker(failures=100, pause_s=60),
    ) as reranker:
        reasoner = RerankingReasoner(reranker, limit=limit)
        catalog = FakeCatalog(studio())

        async def ask(prompt: str) -> Answered:
            request = Request(prompt=prompt, reference_time=NOW, explain=True)
            return await select(
                request, catalog=catalog, reasoner=reasoner, settings=CheckinSettings()
            )

        yield ask


async def by_rules(prompt: str) -> Answered:
    """The answer without a reranker."""
    return await select(
        Request(prompt=prompt, reference_time=NOW, explain=True),
        catalog=FakeCatalog(studio()),
        reasoner=DeterministicReasoner(),
        settings=CheckinSettings(),
    )


def likes_spectacles(texts: Sequence[str]) -> list[float]:
    """Log-odds: high for a text with spectacles."""
    return [3.0 if "spectacles" in text else -4.0 for text in texts]


def tei(asked: Asked) -> Reply:
    """Text-embeddings-inference, sorted by score as it does."""
    assert asked.path == "/rerank"
    assert asked.body["raw_scores"] is True
    scores = likes_spectacles(asked.body["texts"])
    ranks = [{"index": index, "score": score} for index, score in enumerate(scores)]
    ranks.sort(key=lambda item: -item["score"])
    return Reply(body=json.dumps(ranks).encode())


def cohere(asked: Asked) -> Reply:
    """The protocol of Cohere, Jina and vLLM: relevance scores of 0 to 1."""
    assert asked.path == "/v1/rerank"
    assert asked.body["model"] == "stand-in"
    texts = asked.body["documents"]
    assert asked.body["top_n"] == len(texts)
    results = [
        {"index": index, "relevance_score": 0.95 if score > 0 else 0.02}
        for index, score in enumerate(likes_spectacles(texts))
    ]
    return Reply(body=json.dumps({"id": "1", "results": results[::-1]}).encode())


async def test_tei_settles_a_description(server: ModelServer) -> None:
    """Relevance decides between cards of which the rules know nothing better."""
    server.behave = tei
    assert isinstance((await by_rules(ZORBISH)).outcome, Clarification)
    async with reranking(server.url) as ask:
        answered = await ask(ZORBISH)
    assert outcome_name(answered.outcome) == "bear-v6"
    assert not answered.degraded
    (asked,) = server.asked
    assert asked.headers["authorization"] == "Bearer sesame"
    assert asked.body["query"] == "bear zorbish"
    assert not any("bear-v" in text for text in asked.body["texts"])


async def test_cohere_settles_a_description(server: ModelServer) -> None:
    """The other protocol, behind /v1."""
    server.behave = cohere
    async with reranking(f"{server.url}/v1/", api="cohere") as ask:
        assert outcome_name((await ask(ZORBISH)).outcome) == "bear-v6"


async def test_only_for_descriptions(server: ModelServer) -> None:
    """Nothing described, nothing reranked; hard constraints hold whatever it says."""
    server.behave = tei
    async with reranking(server.url) as ask:
        for prompt in ("a bear", "the newest zorbish bear", "bear v4", "a zebra"):
            assert await ask(prompt) == await by_rules(prompt)
        assert server.asked == []
        assert outcome_name((await ask("a zorbish watercolor bear")).outcome) == "bear-v5"


async def test_relevance_is_absolute(server: ModelServer) -> None:
    """Where all candidates are as relevant, a relevance changes no probability."""
    server.behave = lambda asked: Reply(
        body=json.dumps(
            [{"index": i, "score": 2.0} for i, _ in enumerate(asked.body["texts"])]
        ).encode()
    )
    async with reranking(server.url) as ask:
        reranked = (await ask(ZORBISH)).outcome
    rules = (await by_rules(ZORBISH)).outcome
    assert isinstance(reranked, Clarification)
    assert isinstance(rules, Clarification)
    assert reranked.question == rules.question
    assert reranked.confidence == pytest.approx(rules.confidence)


def test_calibration() -> None:
    """The midpoint is as likely as not; the slope says how sharply that changes."""
    calibration = Calibration(midpoint=-2.0, slope=0.5)
    assert calibration.relevance(-2.0) == pytest.approx(0.5)
    assert calibration.relevance(0.0) == pytest.approx(0.7310586)
    assert calibration.relevance(-1e9) == pytest.approx(0.0)
    assert calibration.relevance(1e9) == pytest.approx(1.0)


async def test_batches(server: ModelServer) -> None:
    """More than 32 texts go in several requests, as the server wants, up to the limit."""
    server.behave = tei
    async with open_reranker(
        model="",
        url=server.url,
        api="tei",
        key="",
        timeout_s=5,
        calibration=Calibration(),
        breaker=Breaker(failures=3, pause_s=60),
    ) as reranker:
        texts = [f"text {number}" for number in range(70)]
        texts[40] = "spectacles"
        scores = await reranker.score("query", texts)
    assert [len(asked.body["texts"]) for asked in server.asked] == [32, 32, 6]
    assert "authorization" not in server.asked[0].headers
    assert max(range(70), key=scores.__getitem__) == 40


async def test_limit(server: ModelServer) -> None:
    """Only as many hits as the limit allows are reranked."""
    server.behave = tei
    async with reranking(server.url, limit=2) as ask:
        await ask(ZORBISH)
    assert len(server.asked[0].body["texts"]) == 2


BROKEN = {
    "500 for ever": Reply(status=500),
    "401": Reply(status=401),
    "not JSON": Reply(body=b"<html>"),
    "an object": Reply(body=b'{"error": "no"}'),
    "too few": Reply(body=b'[{"index": 0, "score": 1.0}]'),
    "an index twice": Reply(body=b'[{"index": 0, "score": 1}, {"index": 0, "score": 1}]'),
    "no number": Reply(
        body=json.dumps([{"index": i, "score": float("nan")} for i in range(5)]).encode()
    ),
    "compressed": Reply(body=b"", headers={"Content-Encoding": "br"}),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
async def test_failures_degrade(server: ModelServer, broken: Reply) -> None:
    """A reranker that fails leaves the rules' answer, flagged."""
    server.reply_with(broken)
    async with reranking(server.url, timeout_s=0.5) as ask:
        answered = await ask(ZORBISH)
    assert answered.degraded
    assert answered.outcome == (await by_rules(ZORBISH)).outcome


async def test_passing_failure(server: ModelServer) -> None:
    """An overloaded server is asked again."""
    replies = [Reply(status=429, headers={"Retry-After": "0"})]
    server.behave = lambda asked: replies.pop() if replies else tei(asked)
    async with reranking(server.url) as ask:
        assert outcome_name((await ask(ZORBISH)).outcome) == "bear-v6"
    assert len(server.asked) == 2


async def test_cross_encoder(tmp_path: Path) -> None:
    """A cross-encoder in a folder scores pairs on this machine; a missing one is named."""
    folder = tiny_cross_encoder(tmp_path)
    async with open_reranker(
        model=str(folder),
        url="",
        api="tei",
        key="",
        timeout_s=60,
        calibration=Calibration(),
        breaker=Breaker(failures=3, pause_s=60),
    ) as reranker:
        scores = await reranker.score("a bear", ["a bear with spectacles", "a car"])
        assert scores == await reranker.score("a bear", ["a bear with spectacles", "a car"])
    assert len(scores) == 2
    assert all(0 < score < 1 for score in scores)
    with pytest.raises(PersonalQError, match="no reranking model"):
        async with open_reranker(
            model=str(tmp_path / "missing"),
            url="",
            api="tei",
            key="",
            timeout_s=1,
            calibration=Calibration(),
            breaker=Breaker(failures=3, pause_s=60),
        ):
            pass


@pytest.mark.parametrize("trouble", [RuntimeError("out of memory"), [float("nan")] * 5])
async def test_a_cross_encoder_in_trouble(trouble: object) -> None:
    """A model that cannot compute, or gives no numbers, is a failure and no crash."""

    class Encoder:
        def predict(self, *_: object, **__: object) -> object:
            if isinstance(trouble, Exception):
                raise trouble
            return trouble

    endpoint = Endpoint(timeout_s=60, breaker=Breaker(failures=3, pause_s=60))
    with ThreadPoolExecutor(max_workers=1) as executor:
        model = CrossEncoderReranker(Encoder(), executor=executor, endpoint=endpoint)
        with pytest.raises(EndpointFailed):
            await model.log_odds("a bear", ["a bear"] * 5)


async def test_a_classifier_is_no_reranker(tmp_path: Path) -> None:
    """A model with several outputs is refused at the start."""
    endpoint = Endpoint(timeout_s=60, breaker=Breaker(failures=3, pause_s=60))
    with pytest.raises(PersonalQError, match="3 numbers per text"):
        async with open_cross_encoder(
            str(tiny_cross_encoder(tmp_path, outputs=3)), endpoint=endpoint
        ):
            pass


def tiny_cross_encoder(folder: Path, *, outputs: int = 1) -> Path:
    """A BERT of a few thousand weights, as sentence-transformers saves them."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "bear", "car", "with", "spectacles"]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(words))
    target = folder / "cross-encoder"
    BertTokenizerFast(str(vocabulary)).save_pretrained(target)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=outputs,
    )
    BertForSequenceClassification(config).save_pretrained(target)
    return target
