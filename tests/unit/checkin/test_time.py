"""Times in a prompt: what they mean, and when they mean nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from support.checkin_cards import NOW, studio
from support.fake_catalog import vocabulary_of

from personalq.checkin.intent import Attribute, Constraint
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.vocabulary import compile_lexicon

LEXICON = compile_lexicon(vocabulary_of(studio()))


def times(
    prompt: str, *, zone: str = "UTC", southern: bool = False, now: datetime = NOW
) -> list[Constraint]:
    """The time constraints of a prompt."""
    context = Context(now=now, zone=ZoneInfo(zone), southern=southern)
    wanted = (Attribute.CREATED_AT, Attribute.LAST_USED_AT)
    return [c for c in parse(prompt, LEXICON, context).constraints if c.attribute in wanted]


def days(constraint: Constraint) -> tuple[str, str]:
    """First and last day of the interval's hull; "" for an open bound."""
    interval = constraint.interval
    assert interval is not None
    start = interval.start.date().isoformat() if interval.start else ""
    end = interval.end.date().isoformat() if interval.end else ""
    return start, end


CREATED = [
    ("last year's November bear", "2025-11-01", "2025-12-01"),
    ("the bear made last year in August", "2025-08-01", "2025-09-01"),
    ("the bear we trained last year in May in a ballroom", "2025-05-01", "2025-06-01"),
    ("the bear we trained last year in May floating in space", "2025-05-01", "2025-06-01"),
    ("take last year's September one of the bears", "2025-09-01", "2025-10-01"),
    ("the bear under spring cherry blossom, from August last year", "2025-08-01", "2025-09-01"),
    ("the bear trained over the 2025-26 winter", "2025-12-01", "2026-03-01"),
    ("the bear from the 2026 spring", "2026-03-01", "2026-06-01"),
    ("the bear made round about last New Year", "2025-12-25", "2026-01-09"),
    (
        "the bear by a lake, I think the right one is the one from January",
        "2026-01-01",
        "2026-02-01",
    ),
    ("the bear built once August was over", "2026-09-01", ""),
    ("the bear built since August began", "2026-08-01", ""),
    ("the bear made ahead of last Christmas", "", "2025-12-25"),
    ("the bear from last September (2025)", "2025-09-01", "2025-10-01"),
    ("the quarter three bear", "2026-07-01", "2026-10-01"),
    ("the bear, the training run from a fortnight ago", "2026-11-02", "2026-11-09"),
    ("the bear built around a month ago", "2026-10-08", "2026-11-01"),
    ("the first October 2026 version of the bear", "2026-10-01", "2026-11-01"),
    ("the bear, built in the two weeks leading up to Halloween", "2026-10-17", "2026-10-31"),
    ("the bear made in the month before 5 April", "2026-03-05", "2026-04-05"),
    ("the bear made in the days before Christmas", "2025-12-18", "2025-12-25"),
    ("the bear trained in the three days after Christmas", "2025-12-26", "2025-12-29"),
    ("the bear from April", "2026-04-01", "2026-05-01"),
    ("the bear from November", "2026-11-01", "2026-12-01"),
    ("the bear from December", "2025-12-01", "2026-01-01"),
    ("bear trained in April 2025", "2025-04-01", "2025-05-01"),
    ("bear trained in Apr '25", "2025-04-01", "2025-05-01"),
    ("the bear from April last year", "2025-04-01", "2025-05-01"),
    ("this June's bear", "2026-06-01", "2026-07-01"),
    ("the bear built this very June", "2026-06-01", "2026-07-01"),
    ("the bear made this very week", "2026-11-16", "2026-11-23"),
    ("last June's bear", "2026-06-01", "2026-07-01"),
    ("bear from last week", "2026-11-09", "2026-11-16"),
    ("bear from this week", "2026-11-16", "2026-11-23"),
    ("bear from the week before last", "2026-11-02", "2026-11-09"),
    ("bear from last month", "2026-10-01", "2026-11-01"),
    ("the bear trained on Wednesday 18 November", "2026-11-18", "2026-11-19"),
    ("the bear trained on Wednesday, November the 18th", "2026-11-18", "2026-11-19"),
    ("the bear made on St. Patrick's Day", "2026-03-17", "2026-03-18"),
    ("the bear we trained on April Fools' Day", "2026-04-01", "2026-04-02"),
    ("the bear built on May Day", "2026-05-01", "2026-05-02"),
    ("which bear did we build on Halloween?", "2026-10-31", "2026-11-01"),
    ("bear from the last 7 days", "2026-11-13", "2026-11-21"),
    ("bear made in the past three months", "2026-08-20", "2026-11-21"),
    ("bear made two weeks ago", "2026-11-02", "2026-11-09"),
    ("bear trained 3 days ago", "2026-11-17", "2026-11-18"),
    ("bear from last year", "2025-01-01", "2026-01-01"),
    ("bear from 2025", "2025-01-01", "2026-01-01"),
    ("bear from Q1 2025", "2025-01-01", "2025-04-01"),
    ("bear from the third quarter", "2026-07-01", "2026-10-01"),
    ("bear from the first half of 2026", "2026-01-01", "2026-07-01"),
    ("bear from early April", "2026-04-01", "2026-04-11"),
    ("bear trained in the first days of September", "2026-09-01", "2026-09-11"),
    ("bear from the last few days of September", "2026-09-21", "2026-10-01"),
    ("Which bear did we create exactly a year ago today?", "2025-11-20", "2025-11-21"),
    ("the bear that we made a year ago today", "2025-11-20", "2025-11-21"),
    ("the bear we built a month ago today", "2026-10-20", "2026-10-21"),
    ("bear from the first days of 2026", "2026-01-01", "2026-01-11"),
    ("bear from the last days of 2025", "2025-12-22", "2026-01-01"),
    ("bear from the begining of October", "2026-10-01", "2026-10-11"),
    ("Last Friday I trained a bear, show it on a trolley", "2026-11-13", "2026-11-14"),
    ("bear from April 11", "2026-04-11", "2026-04-12"),
    ("bear from the 11th of April", "2026-04-11", "2026-04-12"),
    ("bear from 11 April 2025", "2025-04-11", "2025-04-12"),
    ("bear trained on 2026-04-11", "2026-04-11", "2026-04-12"),
    ("bear trained on 11.04.2026", "2026-04-11", "2026-04-12"),
    ("bear 2026-04", "2026-04-01", "2026-05-01"),
    ("bear trained before Christmas", "", "2025-12-25"),
    ("bear trained before June", "", "2026-06-01"),
    ("bear trained since June", "2026-06-01", ""),
    ("bear trained after June", "2026-07-01", ""),
    ("bear from June on", "2026-06-01", ""),
    ("bear trained until March", "", "2026-04-01"),
    ("bear between March and May", "2026-03-01", "2026-06-01"),
    ("bear from March to May 2025", "2025-03-01", "2025-06-01"),
    ("bear from December to February", "2025-12-01", "2026-03-01"),
    ("bear from February or April", "2026-02-01", "2026-05-01"),
    ("spring-trained bear", "2026-03-01", "2026-06-01"),
    ("the bear from last winter", "2025-12-01", "2026-03-01"),
    ("the bear from this autumn", "2026-09-01", "2026-12-01"),
    ("a bear, the October run, on a hill", "2026-10-01", "2026-11-01"),
    ("a bear that comes from the 2025 run", "2025-01-01", "2026-01-01"),
    ("I'm thinking of the November 2025 bear", "2025-11-01", "2025-12-01"),
    ("I trained the bear in a backyard in Q1/2026", "2026-01-01", "2026-04-01"),
    ("the bear of the batch of May", "2026-05-01", "2026-06-01"),
    ("the bear from the runs of October", "2026-10-01", "2026-11-01"),
    ("the top pick of October: a bear", "2026-10-01", "2026-11-01"),
    ("a bear trained on the morning of May 4", "2026-05-04", "2026-05-05"),
    ("a bear as white as snow in July", "2026-07-01", "2026-08-01"),
    ("a bear, as white as snow, in July", "2026-07-01", "2026-08-01"),
    ("I'm looking for something in July: a bear", "2026-07-01", "2026-08-01"),
    ("give me an august bear", "2026-08-01", "2026-09-01"),
    ("an august build of the bear", "2026-08-01", "2026-09-01"),
    ("the bear that is sleeping, in May", "2026-05-01", "2026-06-01"),
    ("the bear trained on Monday", "2026-11-16", "2026-11-17"),
    ("the bear from Easter", "2026-04-05", "2026-04-06"),
    ("yesterday's build of the bear", "2026-11-19", "2026-11-20"),
    ("March-trained bear", "2026-03-01", "2026-04-01"),
    ("the May bear", "2026-05-01", "2026-06-01"),
    ("a poster of the March bear", "2026-03-01", "2026-04-01"),
    ("last winter's hand-drawn bear", "2025-12-01", "2026-03-01"),
    ("bear, may, at the zoo", "2026-05-01", "2026-06-01"),
    ("the bear from the week of July 8", "2026-07-06", "2026-07-13"),
    ("bear from the weekend of July 11", "2026-07-11", "2026-07-13"),
    ("bear from the last two weeks of May", "2026-05-18", "2026-06-01"),
    ("the bear trained on the 9th of this month", "2026-11-09", "2026-11-10"),
    ("bear from the third of May", "2026-05-03", "2026-05-04"),
    ("bear trained on the 9th", "2026-11-09", "2026-11-10"),
    ("bear, 9-Apr-2026", "2026-04-09", "2026-04-10"),
    ("bear, 9.4.26", "2026-04-09", "2026-04-10"),
    ("bear trained on April the ninth", "2026-04-09", "2026-04-10"),
    ("bear from 2025 Q2", "2025-04-01", "2025-07-01"),
    ("bear from the last quarter of 2025", "2025-10-01", "2026-01-01"),
    ("bear made in the first three months of 2026", "2026-01-01", "2026-04-01"),
    ("bear from the last two months of 2025", "2025-11-01", "2026-01-01"),
    ("bear made in the last two months of 2025", "2025-11-01", "2026-01-01"),
    ("bear from the first quarter of last year", "2025-01-01", "2025-04-01"),
    ("bear from late last year", "2025-09-01", "2026-01-01"),
    ("bear from the beginning of the year", "2026-01-01", "2026-05-01"),
    ("bear from Wednesday of last week", "2026-11-11", "2026-11-12"),
    ("bear from two summers ago", "2025-06-01", "2025-09-01"),
    ("the bear from over the summer", "2026-06-01", "2026-09-01"),
    ("bear made two days after Christmas", "2025-12-27", "2025-12-28"),
    ("bear trained over a year ago", "", "2025-11-21"),
    ("bear trained less than two weeks ago", "2026-11-06", ""),
    ("bear trained as of April", "2026-04-01", ""),
    ("bear from March, April or June", "2026-03-01", "2026-07-01"),
    ("bear March-May 2025", "2025-03-01", "2025-06-01"),
    ("bear made in twenty twenty-five", "2025-01-01", "2026-01-01"),
    ("my bear not older than two months", "2026-09-20", ""),
    ("a bear made less than a month ago", "2026-10-20", ""),
    ("my bear over a year old", "", "2025-11-21"),
    ("the red bear, over a year old", "", "2025-11-21"),
    ("every bear not older than two months", "2026-09-20", ""),
    ("the bear from two Fridays ago", "2026-11-06", "2026-11-07"),
    ("the bear made half a year ago", "2026-05-01", "2026-06-01"),
    ("the bear from the winter before last", "2024-12-01", "2025-03-01"),
    ("the bear from the autumn before last", "2024-09-01", "2024-12-01"),
    ("the bear made up to and including July", "", "2026-08-01"),
    ("the bear from Friday the 13th", "2026-11-13", "2026-11-14"),
    ("the bear from Monday the 31st", "2026-08-31", "2026-09-01"),
    ("I was hoping for the April bear fishing off a jetty", "2026-04-01", "2026-05-01"),
    ("the bear made between Christmas and New Year 2025", "2025-12-25", "2026-01-02"),
    ("the bear made between Christmas and New Year 2026", "2025-12-25", "2026-01-02"),
    ("the bear made between Halloween and New Year's Day 2026", "2025-10-31", "2026-01-02"),
    ("the bear made between Thanksgiving and Easter 2026", "2025-11-27", "2026-04-06"),
    ("bear from the first two months of this year", "2026-01-01", "2026-03-01"),
    ("a bear from the last two months of 2025", "2025-11-01", "2026-01-01"),
]


@pytest.mark.parametrize(("prompt", "start", "end"), CREATED, ids=lambda value: value or "open")
def test_training_times(prompt: str, start: str, end: str) -> None:
    """A time of training becomes one interval of whole days."""
    (constraint,) = times(prompt)
    assert constraint.attribute is Attribute.CREATED_AT
    assert days(constraint) == (start, end)


NOT_NARROWED = [
    ("the bear made in 2025, in winter clothes", "2025-01-01", "2026-01-01"),
    ("the bear from last year in winter snow", "2025-01-01", "2026-01-01"),
    ("the bear trained over the 2025/26 winter", "2025-12-01", "2026-03-01"),
    ("the bear; the year it was made in is 2025", "2025-01-01", "2026-01-01"),
    ("the bear that came into being in July 2026", "2026-07-01", "2026-08-01"),
    ("a bear saved since March", "2026-03-01", ""),
    ("a bear made in August at the earliest", "2026-08-01", ""),
    ("a bear made in August at the latest", "", "2026-09-01"),
    ("Today I want the bear created in May", "2026-05-01", "2026-06-01"),
    ("the bear, built in the month before this one", "2026-10-01", "2026-11-01"),
    ("the bear. I put it together roughly a year back.", "2025-09-21", "2026-01-19"),
    ("the forest-trained June 2026 bear", "2026-06-01", "2026-07-01"),
]


@pytest.mark.parametrize(("prompt", "start", "end"), NOT_NARROWED, ids=str)
def test_seasons_of_the_scene_narrow_no_year(prompt: str, start: str, end: str) -> None:
    """What is worn or seen in winter was not made then."""
    assert days(times(prompt)[0]) == (start, end)


def test_games_are_no_season() -> None:
    """They have a year and a season in their name."""
    assert not times("a bear at the 2024 summer olympics")


USED = [
    ("I had a bear checkpoint going on 7 November 2025, use it", "2025-11-07", "2025-11-08"),
    ("I had a bear model running on Tuesday: the bear on a hill", "2026-11-17", "2026-11-18"),
    ("the bear that has been idle since June", "2026-06-01", "2026-07-01"),
    ("the bear I have left alone since June", "2026-06-01", "2026-07-01"),
    ("the bear unused for over half a year", "", "2026-05-20"),
    ("the bear I have not touched for three months", "", "2026-08-20"),
    ("the bear not used in two weeks, on a hill", "", "2026-11-06"),
    ("the bear on a bench. I last ran that one in March", "2026-03-01", "2026-04-01"),
    ("which bear did I play with in May?", "2026-05-01", "2026-06-01"),
    ("the bear I used yesterday", "2026-11-19", "2026-11-20"),
    ("yesterday's bear", "2026-11-19", "2026-11-20"),
    ("the bear I was using last week", "2026-11-09", "2026-11-16"),
    ("the bear I last used in May", "2026-05-01", "2026-06-01"),
    ("the bear used on Tuesday", "2026-11-17", "2026-11-18"),
    ("the bear I used most lately, on Tuesday I think", "2026-11-17", "2026-11-18"),
    ("the bear I haven't used since June", "2026-06-01", "2026-07-01"),
    ("the bear that hasn't been touched since June", "2026-06-01", "2026-07-01"),
    ("the bear unused since June", "2026-06-01", "2026-07-01"),
    ("the bear I haven't opened in months", "", "2026-10-20"),
    ("the bear we stopped using in May", "2026-05-01", "2026-06-01"),
    ("the bear I ran an hour ago", "2026-11-20", "2026-11-21"),
    ("I had a bear open earlier today; the same again, on a hill", "2026-11-20", "2026-11-21"),
    ("the bear I last ran, basically the one from a few hours ago", "2026-11-20", "2026-11-21"),
    ("the bear; last month was the last time I used it", "2026-10-01", "2026-11-01"),
    ("the bear. When did I last use it? Sometime in October.", "2026-10-01", "2026-11-01"),
    ("the bear. My last session with it was this Tuesday.", "2026-11-17", "2026-11-18"),
    ("a bear (its last use was in the course of last week)", "2026-11-09", "2026-11-16"),
    ("a bear. April 2026 is when I used it for the last time.", "2026-04-01", "2026-05-01"),
    ("the bear - last employed in March 2026", "2026-03-01", "2026-04-01"),
    ("the bear I last used in the week of 9 to 15 November", "2026-11-09", "2026-11-16"),
    ("the bear I used yesterday, I want it on a hill", "2026-11-19", "2026-11-20"),
    ("Its most recent use was back in May, the bear", "2026-05-01", "2026-06-01"),
]


@pytest.mark.parametrize(("prompt", "start", "end"), USED, ids=lambda value: value or "open")
def test_times_of_use(prompt: str, start: str, end: str) -> None:
    """A verb of use makes it a time of use."""
    (constraint,) = times(prompt)
    assert constraint.attribute is Attribute.LAST_USED_AT
    assert days(constraint) == (start, end)


@pytest.mark.parametrize(
    "prompt",
    [
        "a bear in a spring meadow",
        "a bear at a sunday market",
        "a may flower",
        "a bear in the April rain",
        "a bear under a winter sky",
        "Today I want a bear on a hill",
        "a bear among spring tulips",
        "a bear that picked up its looks from old books in spring meadows",
        "a coin with a June date, a bear",
        "a bear on a march",
        "a bear at night in 1950s style",
        "march of the bears",
        "the bear may be sitting",
        "the night before Christmas, a bear by the tree",
        "a bear on a summer evening",
        "a bear falls into the fall leaves",
        "a bear with 12 candles",
        "a bear wrapped up for Christmas",
        "a winter white bear",
        "a bear in the first snow of December",
        "a bear in a field of May flowers",
        "a bear in the windy streets of Chicago in March",
        "a bear eating ice cream in July",
        "a bear at the edge of a sunflower field in late summer",
        "a bear on the last day of school",
        "a bear above the clouds in October",
        "a bear, on Christmas morning",
        "the bear I used last, on Christmas morning",
        "an august old gentleman and a bear",
        "bears on the first of May, the anime one",
        "the Father Christmas bear on a sled",
        "picking the anime one today: a bear on a hill",
    ],
)
def test_scene_times(prompt: str) -> None:
    """The time a person wants to see is content."""
    assert times(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "the bear above v17 in March",
        "the bear, trained on Christmas morning",
        "trained up in the hills on November 5th, 2025: the bear",
    ],
)
def test_a_time_is_no_scene_behind_a_version_or_a_verb(prompt: str) -> None:
    """Neither "above v17" nor training is a place that is seen."""
    assert times(prompt)


@pytest.mark.parametrize(
    "prompt",
    ["using the bear from today, on a hill", "choosing today's bear", "the bear made today"],
)
def test_today_is_a_day(prompt: str) -> None:
    """Unless it is when something is picked."""
    assert times(prompt)


@pytest.mark.parametrize(
    "made", ["made after April but before", "I trained after April and before"]
)
def test_a_bound_says_the_year_of_both(made: str) -> None:
    """April of the year in which it is before June 2025."""
    first, second = times(f"the bear {made} June 2025, on a hill")
    assert days(first) == ("2025-05-01", "")
    assert days(second) == ("", "2025-06-01")


def test_neither_excludes_both() -> None:
    """Months that are not wanted are excluded together."""
    (constraint,) = times("the bear trained neither in April nor in June")
    assert constraint.excluded
    assert days(constraint) == ("2026-04-01", "2026-07-01")


def test_an_empty_latest_season_means_an_earlier_one() -> None:
    """A time without a year falls back to the same time of earlier years."""
    (constraint,) = times("the bear from Q3")
    assert constraint.fallback is not None
    assert days(constraint.fallback)[1] == "2025-10-01"


def test_zone_decides_what_yesterday_is() -> None:
    """At noon UTC it is already the 21st in Kiribati."""
    (constraint,) = times("the bear I used yesterday", zone="Pacific/Kiritimati")
    interval = constraint.interval
    assert interval is not None
    assert interval.start == datetime(2026, 11, 19, 10, tzinfo=UTC)


def test_southern_spring_is_in_september() -> None:
    """The hemisphere is a setting."""
    (constraint,) = times("spring-trained bear", southern=True)
    assert days(constraint) == ("2026-09-01", "2026-12-01")


def test_contradicting_months_are_reported() -> None:
    """Two disjoint times are a problem, not a guess."""
    context = Context(now=NOW, zone=ZoneInfo("UTC"))
    intent = parse("the April bear, the one trained in June", LEXICON, context)
    assert intent.contradiction is Attribute.CREATED_AT
    assert intent.problems


@pytest.mark.parametrize(
    ("prompt", "label"),
    [
        ("the bear made any month but March, on a lawn", "made any month but March"),
        ("the bear made any time except summer", "made any time except summer"),
        ("a bear from every month except June", "from every month except June"),
    ],
)
def test_any_time_but_one(prompt: str, label: str) -> None:
    """One is excluded, also where its name is an everyday word."""
    (constraint,) = times(prompt)
    assert constraint.excluded
    assert constraint.text in (label, label.removeprefix("from "))


def test_between_two_that_are_said_apart() -> None:
    """An end of its own each; a year may be said once."""
    after, before = times("the bear made after March 2025 and before October of the same year")
    assert days(after) == ("2025-04-01", "")
    assert days(before) == ("", "2025-10-01")


@pytest.mark.parametrize(
    ("prompt", "dates"),
    [
        ("the bear made on a Sunday in October", [4, 11, 18, 25]),
        ("the bear that came on a Sunday in October, at dawn", [4, 11, 18, 25]),
        ("the bear we trained on some Sunday of October 2026", [4, 11, 18, 25]),
        ("the bear made on a weekend in October", [3, 4, 10, 11, 17, 18, 24, 25, 31]),
        ("the bear from a Friday in October", [2, 9, 16, 23, 30]),
        ("the bear made on a Friday or Sunday in October", [2, 4, 9, 11, 16, 18, 23, 25, 30]),
    ],
)
def test_days_of_the_week_within_a_month(prompt: str, dates: list[int]) -> None:
    """Each such day is one interval."""
    [found] = times(prompt)
    assert found.attribute is Attribute.CREATED_AT
    starts = [each.start for each in found.intervals]
    assert [(each.month, each.day) for each in starts if each] == [(10, day) for day in dates]


def test_days_of_the_week_of_use_and_of_earlier_years() -> None:
    """What was used then; where the latest year has nothing, such a day of an earlier one."""
    [used] = times("the bear I used on a Monday in November")
    assert used.attribute is Attribute.LAST_USED_AT
    assert [each.start.day for each in used.intervals if each.start] == [2, 9, 16, 23, 30]
    assert used.fallback is not None
    begun = [each.start for each in used.fallback.intervals if each.start]
    assert {each.year for each in begun} == {2021, 2022, 2023, 2024, 2025}
    assert {each.weekday() for each in begun} == {0}


def test_a_day_of_the_week_that_is_not_wanted() -> None:
    """Only those days are left out."""
    [found] = times("the bear not made on a Sunday in October")
    assert found.excluded
    assert len(found.intervals) == 4


@pytest.mark.parametrize("prompt", ["the bear on a Sunday in March", "the bear on a Sunday"])
def test_a_day_of_the_week_in_the_picture(prompt: str) -> None:
    """Nothing says that it was made then."""
    assert times(prompt) == []


@pytest.mark.parametrize("word", ["before", "after", "since"])
def test_before_and_after_a_day_of_the_week(word: str) -> None:
    """It is no day of the month that was said."""
    assert all(len(each.intervals) == 1 for each in times(f"the bear made {word} a Sunday in May"))
