"""Hours of a day in a prompt."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import NOW, studio
from support.fake_catalog import vocabulary_of

from personalq.checkin.intent import Attribute, Constraint
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
        ("at quarter past nine today", "20 09:10", "20 09:20"),
        ("this morning after nine", "20 09:00", "20 12:00"),
        ("last night, late, after nine", "19 21:00", "20 06:00"),
        ("this morning at eight sharp", "20 07:55", "20 08:05"),
        ("yesterday at ten past eight in the evening", "19 20:05", "19 20:15"),
        ("around 7:30 last night", "19 18:30", "19 20:30"),
        ("yesterday around half past three pm", "19 14:30", "19 16:30"),
        ("at 7 today", "20 06:55", "20 07:05"),
        ("at noon yesterday", "19 11:00", "19 13:00"),
        ("yesterday after lunch", "19 12:30", "20 00:00"),
        ("yesterday before 9am", "19 00:00", "19 09:00"),
        ("yesterday at a quarter to three", "19 14:40", "19 14:50"),
        ("yesterday at 19:45", "19 19:40", "19 19:50"),
        ("last night at one", "20 00:55", "20 01:05"),
        ("yesterday at 6 o'clock in the morning", "19 05:55", "19 06:05"),
        ("on 12 November at 8pm", "12 19:55", "12 20:05"),
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
    assert f"{first.interval.start.astimezone(ZoneInfo('UTC')):%H:%M}" == "13:55"
    assert "08:55 to 09:05" in first.label


@pytest.mark.parametrize(
    "prompt",
    ["the bear I used yesterday, 2 dogs behind it", "the bear I used today two streets away",
     "the bear from last June at nine towers"],
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
        Attribute.CREATED_AT,
        Attribute.LAST_USED_AT,
    ]
