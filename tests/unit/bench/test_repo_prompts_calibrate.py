"""How sure a likeness is, fitted to examples."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

pytest.importorskip("torch")

from personalq.bench.repo_prompts.calibrate import Example, fit, own_sets, prepared, report
from personalq.checkin.reasoning.meaning import Likeness, Place


def _examples(
    seed: int, *, telling: float, looking: float = 0.0, having: float = 0.0
) -> list[Example]:
    """Five cards each; the meant one stands out by its details, its look, or a thing it has."""
    dice = random.Random(seed)  # noqa: S311
    found = []
    for number in range(60):
        meant = dice.randrange(5)
        detail = [dice.gauss(0, 0.05) + telling * (card == meant) for card in range(5)]
        like = Likeness(
            whole=[dice.gauss(0, 0.05) for _ in range(5)],
            detail=detail,
            look=[dice.gauss(0, 0.05) + looking * (card == meant) for card in range(5)],
            thing=[dice.gauss(0, 0.05) + having * (card == meant) for card in range(5)],
            by_words=True,
        )
        found.append(
            Example(
                of=f"set-{number % 3}",
                place=(Place.BEFORE, Place.BEHIND)[number % 2],
                bare=False,
                by_words=like,
                by_phrases=replace(like, detail=like.whole, by_words=False),
                shared=(),
                left=tuple(range(5)),
                meant=(meant,),
            )
        )
    return found


def test_what_tells_gets_the_weight() -> None:
    """And what does not, none; a place where nobody is told apart as often gets its share."""
    whole, detail, *_ = fit([prepared(e, words=True) for e in _examples(1, telling=0.4)]).tolist()
    assert detail > 10
    assert abs(whole) < detail / 3
    whole, detail, *_ = fit([prepared(e, words=True) for e in _examples(2, telling=0.0)]).tolist()
    assert abs(detail) < 10


def test_a_look_that_tells_gets_its_own_weight() -> None:
    """And the report says it under its name."""
    examples = _examples(4, telling=0.0, looking=0.4)
    whole, detail, look, *_ = fit([prepared(e, words=True) for e in examples]).tolist()
    assert look > 10
    assert max(abs(whole), abs(detail)) < look / 3
    assert f"look {look:.1f}" in report(examples)


def test_a_thing_that_tells_gets_its_own_weight() -> None:
    """As a look does."""
    examples = _examples(5, telling=0.0, having=0.4)
    whole, detail, look, thing, *_ = fit([prepared(e, words=True) for e in examples]).tolist()
    assert thing > 10
    assert max(abs(whole), abs(detail), abs(look)) < thing / 3
    assert f"thing {thing:.1f}" in report(examples)


def test_a_detail_that_several_share_makes_them_alike() -> None:
    """Where it is what is meant, the numbers say so, and what may be meant is likelier."""
    dice = random.Random(6)  # noqa: S311
    pairs = ((0, 1), (2, 3), (4, 5))
    found = []
    for example in _examples(6, telling=0.0):
        meant = dice.choice(pairs)
        detail = [dice.gauss(0, 0.1) + 0.3 * (card in meant) for card in range(6)]
        nothing = [0.0] * 6
        like = Likeness(whole=nothing, detail=detail, look=nothing, thing=nothing, by_words=True)
        found.append(
            replace(
                example, by_words=like, by_phrases=like, left=tuple(range(6)), meant=meant,
                shared=pairs,
            )
        )  # fmt: skip

    def entropy(examples: list[Example]) -> float:
        by_words = report(examples).partition("## By words")[2]
        return float(by_words.partition("Cross entropy ")[2].split(". ")[0])

    assert entropy(found) < entropy([replace(each, shared=()) for each in found]) - 0.1


def test_the_report_counts_every_example_once() -> None:
    """Held out with its set; right where details tell."""
    told = report(_examples(3, telling=0.4))
    assert told.startswith("60 descriptions: 30 before, 30 behind, 0 does.")
    by_words = told.partition("## By words")[2].partition("## By phrases")[0]
    counts = [int(part.split(":")[1].strip(" .")) for part in by_words.split("Cross entropy")[1]
              .splitlines()[0].split(". ", 1)[1].split(";")]  # fmt: skip
    assert sum(counts) == 60
    assert "one meant, right" in by_words


def test_the_sets_of_the_checkout_are_there() -> None:
    """Those that the numbers were fitted to."""
    sets = own_sets(())
    assert len(sets) >= 8
    assert [name for name, _, _ in own_sets(("58", "dev"))] == ["dev", "58"]
    assert all(cards.exists() and queries.exists() for _, cards, queries in sets)
