"""Hours of a day in a prompt."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import NOW, card, studio
from support.checkin_session import Session
from support.fake_catalog import vocabulary_of

from personalq.checkin.cards import Card
from personalq.checkin.intent import Attribute, Constraint
from personalq.checkin.outcome import Selection
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.vocabulary import compile_lexicon

LEXICON = compile_lexicon(vocabulary_of(studio()))


def read(prompt: str, zone: str = "UTC") -> list[Constraint]:
    """The times of a prompt, each followed by its other readings, the narrowest first."""
    wanted = (Attribute.CREATED_AT, Attribute.LAST_USED_AT)
    context = Context(now=NOW, zone=ZoneInfo(zone))
    found: list[Constraint] = []
    for constraint in parse(prompt, LEXICON, context).constraints:
        each: Constraint | None = constraint if constraint.attribute in wanted else None
        while each is not None:
            found.append(each)
            each = each.fallback
    return found


def hours(constraint: Constraint) -> tuple[str, str]:
    """Day and hour of both ends."""
    interval = constraint.interval
    assert interval is not None
    assert interval.start is not None
    assert interval.end is not None
    return f"{interval.start:%d %H:%M}", f"{interval.end:%d %H:%M}"


@pytest.mark.parametrize(
    ("said", "start", "end"),
    [
        ("yesterday morning about ten", "19 09:00", "19 11:00"),
        ("at quarter past nine today", "20 08:55", "20 09:35"),
        ("this morning after nine", "20 09:00", "20 12:00"),
        ("last night, late, after nine", "19 21:00", "20 06:00"),
        ("this morning at eight sharp", "20 07:55", "20 08:05"),
        ("yesterday at ten past eight in the evening", "19 19:50", "19 20:30"),
        ("around 7:30 last night", "19 18:30", "19 20:30"),
        ("yesterday around half past three pm", "19 14:30", "19 16:30"),
        ("at 7 today", "20 06:40", "20 07:20"),
        ("at noon yesterday", "19 11:00", "19 13:00"),
        ("yesterday after lunch", "19 12:30", "20 00:00"),
        ("yesterday before 9am", "19 00:00", "19 09:00"),
        ("yesterday at a quarter to three", "19 14:25", "19 15:05"),
        ("yesterday at 19:45", "19 19:25", "19 20:05"),
        ("last night at one", "20 00:40", "20 01:20"),
        ("yesterday at 6 o'clock in the morning", "19 05:40", "19 06:20"),
        ("on 12 November at 8pm", "12 19:40", "12 20:20"),
        ("last night at 2am", "20 01:40", "20 02:20"),
        ("last night at 0:30", "20 00:10", "20 00:50"),
        ("this morning before 3", "20 00:00", "20 03:00"),
        ("yesterday 9ish", "19 08:00", "19 10:00"),
        ("last Monday morning", "16 04:00", "16 12:00"),
        ("on 12 November in the evening", "12 17:00", "13 00:00"),
        ("yesterday from nine", "19 09:00", "20 00:00"),
        ("at 9pm on Monday", "16 20:40", "16 21:20"),
        ("yesterday at 3:30", "19 15:10", "19 15:50"),
        ("yesterday at 03:30", "19 03:10", "19 03:50"),
        ("this morning", "20 04:00", "20 12:00"),
        ("last night", "19 18:00", "20 06:00"),
        ("yesterday afternoon", "19 12:00", "19 18:00"),
    ],
)
def test_an_hour_narrows_the_day(said: str, start: str, end: str) -> None:
    """The hour first, the whole day last; all of it is claimed by the constraint."""
    found = read(f"the bear I used {said}")
    assert hours(found[0]) == (start, end)
    assert found[0].attribute is Attribute.LAST_USED_AT
    assert said in found[0].text
    days = [each.interval for each in found[1:]]
    assert any(
        i and i.start and i.end and f"{i.start:%H:%M}" == "00:00" and (i.end - i.start).days == 1
        for i in days
    )


def test_an_hour_is_the_persons() -> None:
    """Nine in the morning in New York is two in the afternoon in London."""
    (first, *_) = read("the bear I used yesterday at 9am", "America/New_York")
    assert first.interval is not None
    assert first.interval.start is not None
    assert first.interval.start.utcoffset() is not None
    assert f"{first.interval.start.astimezone(ZoneInfo('UTC')):%H:%M}" == "13:40"
    assert "08:40 to 09:20" in first.label


@pytest.mark.parametrize(
    "prompt",
    ["the bear I used yesterday, 2 dogs behind it", "the bear I used today two streets away",
     "the bear from last June at nine towers", "the bear I used yesterday at 2 rivers",
     "the bear I used yesterday at 10,000 feet", "the bear I used yesterday at 7.5",
     "the bear I used yesterday at 5% zoom", "the bear I used yesterday midnight blue",
     "the bear I used yesterday from 9 to 11 on a beach", "the bear I used yesterday at 9 or 10",
     "the bear I used yesterday from 9am to 11am",
        "the bear I used yesterday from 9 to noon",
        "the bear I used between 9am and 11am yesterday",
        "the bear I used yesterday at 9 or 10pm",
        "the bear I used yesterday at one of the lakes",
        "the bear I used yesterday around five or so bears",
        "the bear I used yesterday after two and a half hours",
        "the bear I used yesterday at 13pm", "the bear I used yesterday at 9:75",
     "the bear I made a fortnight ago today"],
)  # fmt: skip
def test_a_number_is_no_hour(prompt: str) -> None:
    """Without a word for an hour, or beside what is no day."""
    (first, *_) = read(prompt)
    assert first.interval is not None
    assert first.interval.start is not None
    assert first.interval.start.hour == 0


def test_what_is_built_in_the_morning_may_be_used_then() -> None:
    """Yesterday's of a morning: trained then, or used then, or on that day."""
    found = read("the bear from yesterday morning")
    assert [each.attribute for each in found] == [
        Attribute.CREATED_AT,
        Attribute.LAST_USED_AT,
        Attribute.CREATED_AT,
        Attribute.LAST_USED_AT,
    ]
    assert [each.hour for each in found] == [True, True, False, False]


def test_since_and_not_are_of_the_hours() -> None:
    """Since nine is open-ended; what was used in the evening was not used this morning."""
    for said in ("since yesterday at nine", "since nine yesterday"):
        (first, *_) = read(f"the bear I used {said}")
        assert first.interval is not None
        assert first.interval.start is not None
        assert f"{first.interval.start:%d}" == "19"
        assert 8 <= first.interval.start.hour <= 9
        assert first.interval.end is None
    (first,) = read("the bear, but not from this morning")
    assert first.excluded
    assert hours(first) == ("20 04:00", "20 12:00")


def test_refused_hours_leave_the_rest_of_their_days() -> None:
    """Neither of two mornings; their evenings may be meant."""
    (first,) = read("the bear, not from yesterday morning or this morning")
    assert first.excluded
    assert [f"{i.start:%d %H}" for i in first.intervals if i.start] == ["19 04", "20 04"]


@pytest.mark.parametrize(
    "prompt",
    [
        "the bear I trained yesterday morning, the one trained yesterday evening",
        "the bear I trained yesterday at nine and trained this morning at eight",
        "the bear trained this morning at 9 and trained at 11 today",
        "the bear I haven't used since yesterday at nine",
    ],
)
def test_hours_that_contradict_each_other_have_an_outcome(prompt: str) -> None:
    """Of two days too, it is said; of one, both are of it."""
    assert Session(studio()).ask(prompt) is not None


def _chosen(cards: list[Card], prompt: str) -> str | None:
    outcome = Session(cards).ask(prompt)
    return outcome.candidate.card.checkpoint_id if isinstance(outcome, Selection) else None


def test_several_hours_are_all_only_remembered() -> None:
    """Each may be wrong by some: then both days hold, and other constraints are read on."""
    [bear, other] = [
        replace(card(f"bear-v{n}", "bear", "pencil sketch", "2026-01-01", "A bear."), version=n)
        for n in (1, 2)
    ]
    bear = replace(
        bear,
        created_at=datetime(2026, 11, 19, 15, tzinfo=UTC),
        last_used_at=datetime(2026, 11, 20, 3, tzinfo=UTC),
    )
    both = [bear, other]
    for prompt in (
        "the bear I trained yesterday morning and used this morning",
        "the bear I trained yesterday at nine and used this morning at eight",
        "a watercolor sketch of the bear I used this morning",
    ):
        assert _chosen(both, prompt) == "bear-v1"


def test_an_hour_chooses_among_those_of_the_day() -> None:
    """And without it they are asked about, or the words keep their place in the picture."""
    bears = [
        replace(
            card(f"bear-v{n}", "bear", look, "2026-01-01", f"A {thing} bear."),
            last_used_at=datetime(2026, 11, 19, hour, tzinfo=UTC),
        )
        for n, (look, thing, hour) in enumerate([("anime", "red", 9), ("sketch", "blue", 20)], 1)
    ]
    assert _chosen(bears, "the bear I used yesterday at nine, on a hill") == "bear-v1"
    assert _chosen(bears, "the bear I used yesterday evening, on a hill") == "bear-v2"
    assert _chosen(bears, "the bear I used yesterday at 2 rivers") is None
