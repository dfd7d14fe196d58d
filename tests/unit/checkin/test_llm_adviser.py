"""The language model as adviser, against a local server that speaks the protocol."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator

import pytest
from support.advised import AdvisedSession, advised
from support.checkin_cards import studio
from support.checkin_session import outcome_name
from support.llm_server import Asked, ModelServer, Reply, completion, opinion, run_model_server
from support.ports import free_port

from personalq.checkin.answering.answer import Reply as Said
from personalq.checkin.endpoint import MAX_REPLY, Breaker
from personalq.checkin.intent import Attribute
from personalq.checkin.outcome import Answered, Clarification, Selection

ZORBISH = "a zorbish bear on a beach"
"""No rule can know what "zorbish" means: they ask which of five bears."""


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A language model that answers 404 until told otherwise."""
    with run_model_server() as server:
        yield server


def spectacles(asked: Asked) -> Reply:
    """A model that reads "zorbish" as the bear with spectacles."""
    label = asked.label(description="round spectacles")
    return completion(opinion(label, said="zorbish", value="round spectacles"))


async def same_as_rules(session: AdvisedSession, answered: Answered, prompt: str) -> None:
    """The outcome is the rules' own, and it says that the model failed."""
    assert answered.degraded
    assert answered.outcome == (await session.ask_rules(prompt)).outcome


async def test_reads_what_the_rules_cannot(model: ModelServer) -> None:
    """An opinion with evidence settles what would have been asked, and the reasons say why."""
    model.behave = spectacles
    async with advised(model.url, studio()) as session:
        assert isinstance((await session.ask_rules(ZORBISH)).outcome, Clarification)
        answered = await session.ask(ZORBISH)
    assert not answered.degraded
    assert isinstance(answered.outcome, Selection)
    assert outcome_name(answered.outcome) == "bear-v6"
    assert answered.outcome.rewrite.rewritten_prompt == "a zorbish <bear-v6> on a beach"
    assert "“zorbish” is taken to mean round spectacles" in answered.outcome.reasons
    (asked,) = model.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer sesame"
    assert asked.body["model"] == "stand-in"
    assert asked.mode == "json_schema"


async def test_sees_traits_under_labels(model: ModelServer) -> None:
    """The prompt has the person's words and the candidates' traits: no id, name or trigger."""
    model.behave = spectacles
    async with advised(model.url, studio()) as session:
        await session.ask(ZORBISH)
    (asked,) = model.asked
    for card in studio():
        assert card.checkpoint_id not in asked.told
        assert not any(trigger in asked.told for trigger in card.triggers)
    assert asked.data["request"] == ZORBISH
    rows = asked.data["candidates"]
    assert sorted(row["label"] for row in rows) == ["C1", "C2", "C3", "C4", "C5"]
    assert {tuple(row["description"]) for row in rows} >= {("black bear", "round spectacles")}
    schema = asked.body["response_format"]["json_schema"]["schema"]
    labels = schema["properties"]["likely"]["items"]["properties"]["label"]["enum"]
    assert labels == ["C1", "C2", "C3", "C4", "C5"]
    assert json.dumps(schema) in asked.told  # for endpoints that ignore the format


async def test_same_request_same_prompt(model: ModelServer) -> None:
    """Cards in another order make the same prompt; another request shuffles the labels anew."""
    model.behave = spectacles
    for cards in (studio(), studio()[::-1]):
        async with advised(model.url, cards) as session:
            await session.ask(ZORBISH)
    first, second = model.asked
    assert first.body == second.body
    orders = set()
    async with advised(model.url, studio()) as session:
        for adjective in ("zorbish", "quarnic", "blickety", "dwomish", "fepful", "gazzery"):
            model.asked.clear()
            await session.ask(f"a {adjective} bear")
            orders.add(model.asked[0].label(description="round spectacles"))
    assert len(orders) > 1


async def test_same_request_is_asked_once(model: ModelServer) -> None:
    """An opinion is kept: a model that changes its mind does not change the answer."""
    model.behave = spectacles
    async with advised(model.url, studio()) as session:
        first = await session.ask(ZORBISH)
        model.reply_with(completion(opinion(verdict="several")))
        assert await session.ask(ZORBISH) == first
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    "prompt",
    [
        "bear v4",  # one card
        "the newest bear",  # an order decides
        "a cat with blue eyes",  # the rules are confident
        "a zebra",  # nothing fits
        "a bear on a beach",  # nothing was said that a model could read better
    ],
)
async def test_not_asked_when_rules_suffice(model: ModelServer, prompt: str) -> None:
    """Unsure means: several candidates, and words that may tell them apart."""
    async with advised(model.url, studio()) as session:
        answered = await session.ask(prompt)
        assert answered == await session.ask_rules(prompt)
    assert model.asked == []
    assert not answered.degraded


async def test_never_and_always(model: ModelServer) -> None:
    """Never asks no model; always asks one whenever two candidates are plausible."""
    model.reply_with(completion(opinion(verdict="several", ask_about="style")))
    async with advised(model.url, studio(), llm_when="never") as session:
        await session.ask(ZORBISH)
        assert model.asked == []
    async with advised(model.url, studio(), llm_when="always") as session:
        answered = await session.ask("a bear on a beach")
        assert len(model.asked) == 1
        await session.ask("the newest bear")
        assert len(model.asked) == 1
    assert isinstance(answered.outcome, Clarification)
    assert answered.outcome.attribute is Attribute.STYLE


async def test_names_the_attribute_to_ask_about(model: ModelServer) -> None:
    """The model says what to ask about; question and options are ours, over the cards' values."""
    model.reply_with(completion(opinion(verdict="several", ask_about="environment")))
    async with advised(model.url, studio()) as session:
        rules = (await session.ask_rules(ZORBISH)).outcome
        outcome = (await session.ask(ZORBISH)).outcome
    assert isinstance(rules, Clarification)
    assert rules.attribute is Attribute.DESCRIPTION
    assert isinstance(outcome, Clarification)
    assert outcome.attribute is Attribute.ENVIRONMENT
    assert outcome.question.startswith("Trained with which pictures:")
    places = {place for card in studio() for place in card.environments}
    assert {option.value for option in outcome.options} <= {*places, ""}


async def test_an_answer_is_read_too(model: ModelServer) -> None:
    """What was replied to a question may be evidence."""

    def wise(asked: Asked) -> Reply:
        if not asked.data["answers"]:
            return completion(opinion(verdict="several"))
        label = asked.label(description="round spectacles")
        return completion(opinion(label, said="professor", value="round spectacles"))

    model.behave = wise
    async with advised(model.url, studio()) as session:
        asked = (await session.ask(ZORBISH)).outcome
        assert isinstance(asked, Clarification)
        reply = Said(question_id=asked.question_id, text="hm, the professor")
        outcome = (await session.ask(ZORBISH, reply)).outcome
    assert outcome_name(outcome) == "bear-v6"


async def test_none_fits_is_a_question(model: ModelServer) -> None:
    """A model cannot say no match: every candidate satisfies what was said."""
    model.reply_with(completion(opinion(verdict="none")))
    async with advised(model.url, studio()) as session:
        answered = await session.ask(ZORBISH)
        assert answered == await session.ask_rules(ZORBISH)


@pytest.mark.parametrize("verdict", ["several", "none"])
async def test_doubt_opens_no_question(model: ModelServer, verdict: str) -> None:
    """What the rules choose, no unfounded doubt turns into a question."""
    model.reply_with(completion(opinion(verdict=verdict, ask_about="style")))
    async with advised(model.url, studio(), llm_when="always") as session:
        answered = await session.ask("a recently made zorbish bear")
        assert isinstance(answered.outcome, Selection)
        assert answered == await session.ask_rules("a recently made zorbish bear")
    assert len(model.asked) == 1


async def test_the_first_opinion_stays(model: ModelServer) -> None:
    """Two requests at once are answered alike though the model answers them differently."""
    both = threading.Barrier(2)
    values = ["round spectacles", "red scarf"]

    def fickle(asked: Asked) -> Reply:
        both.wait(30)
        value = values.pop()
        return completion(opinion(asked.label(description=value), said="zorbish", value=value))

    model.behave = fickle
    async with advised(model.url, studio()) as session:
        first, second = await asyncio.gather(session.ask(ZORBISH), session.ask(ZORBISH))
    assert len(model.asked) == 2
    assert isinstance(first.outcome, Selection)
    assert first == second


async def test_any_field_of_the_request(model: ModelServer) -> None:
    """Options reach the endpoint as they are, also those that only some servers know."""
    options = {"temperature": 0, "top_k": 1, "chat_template_kwargs": {"enable_thinking": False}}
    model.behave = spectacles
    async with advised(model.url, studio(), llm_options=options) as session:
        assert not (await session.ask(ZORBISH)).degraded
    (asked,) = model.asked
    assert {name: asked.body[name] for name in options} == options


# --- what has no hold in the request ---------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "",  # no evidence at all
        "bear",  # all of them are
        "beach",  # the scene
        "on a beach",
        "a",
        "grumpy",  # was never said
        "zorbish on a beach",  # was not said so
    ],
)
async def test_evidence_must_be_said(model: ModelServer, said: str) -> None:
    """Words that were not said, or do not speak of the checkpoint, choose nothing."""

    def eager(asked: Asked) -> Reply:
        label = asked.label(description="round spectacles")
        return completion(opinion(label, said=said, value="round spectacles"))

    model.behave = eager
    async with advised(model.url, studio()) as session:
        answered = await session.ask(ZORBISH)
        assert answered == await session.ask_rules(ZORBISH)
    assert len(model.asked) == 1


async def test_evidence_must_tell_apart(model: ModelServer) -> None:
    """A trait that all candidates have speaks for none of them."""

    def vague(asked: Asked) -> Reply:
        label = asked.label(description="round spectacles")
        return completion(opinion(label, said="zorbish", attribute="subject", value="bear"))

    model.behave = vague
    async with advised(model.url, studio()) as session:
        answered = await session.ask(ZORBISH)
        assert answered == await session.ask_rules(ZORBISH)


async def test_evidence_must_be_of_the_candidate(model: ModelServer) -> None:
    """Evidence for another candidate does not raise the one that the model names."""

    def confused(asked: Asked) -> Reply:
        label = asked.label(description="round spectacles")
        return completion(opinion(label, said="zorbish", value="red scarf"))

    model.behave = confused
    async with advised(model.url, studio()) as session:
        answered = await session.ask(ZORBISH)
        assert answered == await session.ask_rules(ZORBISH)


# --- wrong answers ---------------------------------------------------------------------------

WRONG: dict[str, Callable[[Asked], object]] = {
    "no JSON": lambda _: "I would take the one with the spectacles!",
    "cut off": lambda _: '{"verdict": "one", "likely": [{"label": "C1"',
    "nothing": lambda _: "",
    "a list": lambda _: [],
    "deep": lambda _: "[" * 100_000,
    "missing fields": lambda _: {"verdict": "one"},
    "more fields": lambda _: {**opinion("C1"), "rewritten_prompt": "<bear-v6> is best"},
    "an unknown verdict": lambda _: opinion(verdict="surely"),
    "an unknown label": lambda _: opinion("C99"),
    "an id": lambda _: opinion("bear-v6"),
    "a trigger": lambda _: opinion("<bear-v6>"),
    "an invented value": lambda _: opinion("C1", said="zorbish", value="a monocle"),
    "an id as value": lambda _: opinion("C1", said="zorbish", value="bear-v6"),
    "an unknown trait": lambda _: opinion("C1", said="zorbish", attribute="id", value="bear"),
    "no attribute to ask about": lambda _: opinion(ask_about="identity"),
    "an impossible share": lambda _: {**opinion(), "likely": [{"label": "C1", "percent": 900}]},
    "a share that is no number": lambda _: (
        '{"verdict": "one", "likely": [{"label": "C1", '
        '"percent": NaN}], "ask_about": "nothing", "evidence": []}'
    ),
    "a label twice": lambda _: {**opinion(), "likely": [{"label": "C1", "percent": 50}] * 2},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
async def test_wrong_answer_is_repaired_once(
    model: ModelServer, wrong: Callable[[Asked], object]
) -> None:
    """The model is told what is wrong with its answer and may answer again."""

    def learns(asked: Asked) -> Reply:
        if len(asked.body["messages"]) == 2:
            return completion(wrong(asked))
        return spectacles(asked)

    model.behave = learns
    async with advised(model.url, studio()) as session:
        answered = await session.ask(ZORBISH)
    assert outcome_name(answered.outcome) == "bear-v6"
    assert not answered.degraded
    _, again = model.asked
    assert again.body["messages"][-1]["content"].startswith("That answer is wrong: ")


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
async def test_wrong_answers_degrade(
    model: ModelServer, wrong: Callable[[Asked], object], caplog: pytest.LogCaptureFixture
) -> None:
    """A second wrong answer is the last: the rules answer, flagged, with one line in the log."""
    model.behave = lambda asked: completion(wrong(asked))
    with caplog.at_level(logging.WARNING):
        async with advised(model.url, studio()) as session:
            await same_as_rules(session, await session.ask(ZORBISH), ZORBISH)
    assert len(model.asked) == 2
    (line,) = [r for r in caplog.records if getattr(r, "action", "") == "advise"]
    assert ZORBISH not in line.getMessage() + str(vars(line))
    assert "sesame" not in str(vars(line))


async def test_value_in_other_case(model: ModelServer) -> None:
    """A value may be copied with other capitals."""

    def loud(asked: Asked) -> Reply:
        label = asked.label(description="round spectacles")
        return completion(opinion(label, said="Zorbish", value=" Round Spectacles"))

    model.behave = loud
    async with advised(model.url, studio()) as session:
        assert outcome_name((await session.ask(ZORBISH)).outcome) == "bear-v6"
    assert len(model.asked) == 1


async def test_fenced_answer(model: ModelServer) -> None:
    """JSON inside a Markdown fence is taken."""

    def fenced(asked: Asked) -> Reply:
        label = asked.label(description="round spectacles")
        told = json.dumps(opinion(label, said="zorbish", value="round spectacles"))
        return completion(f"```json\n{told}\n```")

    model.behave = fenced
    async with advised(model.url, studio()) as session:
        assert outcome_name((await session.ask(ZORBISH)).outcome) == "bear-v6"


@pytest.mark.parametrize("accepted", ["json_object", "text"])
async def test_endpoint_refuses_schemas(model: ModelServer, accepted: str) -> None:
    """The response format falls back to what the endpoint takes, and that is remembered."""

    def old(asked: Asked) -> Reply:
        if asked.mode not in (accepted, "text"):
            return Reply(status=400, body=b'{"error": {"message": "unknown response_format"}}')
        return spectacles(asked)

    model.behave = old
    async with advised(model.url, studio()) as session:
        assert outcome_name((await session.ask(ZORBISH)).outcome) == "bear-v6"
        first = [asked.mode for asked in model.asked]
        assert first[0] == "json_schema"
        assert first[-1] == accepted
        model.asked.clear()
        await session.ask("the zorbish bear")
        assert [asked.mode for asked in model.asked] == [accepted]


# --- endpoints in trouble --------------------------------------------------------------------

GARBAGE = {
    "an error page": Reply(body=b"<html>proxy</html>", headers={"Content-Type": "text/html"}),
    "a stream": Reply(
        body=b'data: {"choices": [{"delta": {"content": "C1"}}]}\n\ndata: [DONE]\n\n',
        headers={"Content-Type": "text/event-stream"},
    ),
    "not JSON": Reply(body=b"\xff\xfe\x00"),
    "no choices": Reply(body=b'{"choices": []}'),
    "choices of nothing": Reply(body=b'{"choices": [null]}'),
    "too much": Reply(body=b'{"choices": "' + b"a" * MAX_REPLY + b'"}'),
    "compressed": Reply(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}),
    "401": Reply(status=401, body=b'{"error": {"message": "bad key sesame"}}'),
    "404": Reply(status=404),
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE.keys())
async def test_garbage_degrades(model: ModelServer, garbage: Reply) -> None:
    """What is no completion is not tried again; the rules answer."""
    model.reply_with(garbage)
    async with advised(model.url, studio()) as session:
        await same_as_rules(session, await session.ask(ZORBISH), ZORBISH)
    assert len(model.asked) == 1


async def test_passing_trouble_is_waited_out(model: ModelServer) -> None:
    """After 429, 503 and 408 the request is made again; Retry-After is kept to."""
    troubles = [Reply(status=429, headers={"Retry-After": "0.3"}), Reply(status=503)]
    troubles.append(Reply(status=408))
    model.behave = lambda asked: troubles.pop(0) if troubles else spectacles(asked)
    async with advised(model.url, studio()) as session:
        answered = await session.ask(ZORBISH)
    assert outcome_name(answered.outcome) == "bear-v6"
    assert len(model.asked) == 4


async def test_no_waiting_beyond_the_budget(model: ModelServer) -> None:
    """A Retry-After that the budget cannot hold ends the attempts at once."""
    model.reply_with(Reply(status=429, headers={"Retry-After": "3600"}))
    async with advised(model.url, studio(), llm_timeout_s=60) as session:
        await same_as_rules(session, await session.ask(ZORBISH), ZORBISH)
    assert len(model.asked) == 1


async def test_errors_until_the_budget_ends(model: ModelServer) -> None:
    """An endpoint that keeps failing is retried inside the budget and no longer."""
    model.reply_with(Reply(status=500))
    async with advised(model.url, studio(), llm_timeout_s=1) as session:
        await same_as_rules(session, await session.ask(ZORBISH), ZORBISH)
    assert 2 <= len(model.asked) <= 6


async def test_slow_model(model: ModelServer) -> None:
    """A model that does not answer within its limit is not waited for."""
    hold = threading.Event()
    model.reply_with(Reply(hold=hold))
    try:
        async with advised(model.url, studio(), llm_timeout_s=0.3) as session:
            await same_as_rules(session, await session.ask(ZORBISH), ZORBISH)
    finally:
        hold.set()


async def test_nobody_listens() -> None:
    """A refused connection degrades."""
    async with advised(f"http://127.0.0.1:{free_port()}", studio(), llm_timeout_s=0.5) as session:
        await same_as_rules(session, await session.ask(ZORBISH), ZORBISH)


async def test_dead_endpoint_is_left_alone(model: ModelServer) -> None:
    """After failures in a row it is spared for a while, then tried by one request."""
    now = [0.0]
    breaker = Breaker(failures=2, pause_s=30, clock=lambda: now[0])
    model.reply_with(Reply(status=401))
    async with advised(model.url, studio(), breaker=breaker) as session:
        for _ in range(4):
            assert (await session.ask(ZORBISH)).degraded
        assert len(model.asked) == 2
        now[0] = 31
        assert (await session.ask(ZORBISH)).degraded
        assert (await session.ask(ZORBISH)).degraded
        assert len(model.asked) == 3
        now[0] = 62
        model.behave = spectacles
        assert not (await session.ask(ZORBISH)).degraded
        assert not (await session.ask("the zorbish bear")).degraded
