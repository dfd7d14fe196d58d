"""What a person replies when asked: words that single out the card they meant."""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from personalq.bench.dataset.asks import Asks, Order, meant_by
from personalq.bench.dataset.cards import NOW, Card
from personalq.bench.dataset.periods import month_span
from personalq.bench.dataset.vocabulary import Vocabulary
from personalq.bench.dataset.wording import definite, word_of


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The reply, and what it asks for."""

    text: str
    asks: Asks


def draw_answer(
    meant: Card, acceptable: Sequence[Card], asks: Asks, vocabulary: Vocabulary, rng: Random
) -> Answer | None:
    """A reply that names something the request left open and fits only `meant`, if there is one."""
    candidates = [
        answer
        for answer in _answers(meant, asks, vocabulary, rng)
        if meant_by(answer.asks, acceptable) == [meant]
    ]
    if len(acceptable) == 2:
        candidates.extend(_of_two(meant, acceptable))
    return rng.choice(candidates) if candidates else None


def _answers(meant: Card, asks: Asks, vocabulary: Vocabulary, rng: Random) -> Iterator[Answer]:
    category = vocabulary.categories[meant.category]
    open_ones = {"styles", "kind", "created", "colour", "accessory", "environment"} - asks.named()
    if "styles" in open_ones:
        word = rng.choice(vocabulary.styles[meant.styles[0]].before)
        text = rng.choice((f"the {word} one", word, f"{word}, please", f"I meant the {word} one"))
        yield Answer(text=text, asks=Asks(styles=meant.styles[:1]))
    if "kind" in open_ones:
        word = rng.choice(word_of(category.kinds, meant.kind).asked)
        text = rng.choice((f"the {word}", f"{word}", f"the {word}, please", f"I meant the {word}"))
        yield Answer(text=text, asks=Asks(kind=meant.kind))
    if "created" in open_ones or asks.created is not None:
        month = calendar.month_name[meant.created_at.month]
        year = meant.created_at.year
        if (NOW.year, NOW.month) >= (year, meant.created_at.month) > (NOW.year - 1, NOW.month):
            text = rng.choice((f"the {month} one", month, f"the one from {month}"))
        else:
            text = rng.choice((f"the one from {month} {year}", f"{month} {year}"))
        yield Answer(text=text, asks=Asks(created=month_span(year, meant.created_at.month)))
    if "colour" in open_ones:
        word = rng.choice(vocabulary.colours[meant.colour].asked)
        yield Answer(text=rng.choice((f"the {word} one", word)), asks=Asks(colour=meant.colour))
    if "accessory" in open_ones:
        word = rng.choice(word_of(category.accessories, meant.accessory).asked)
        text = rng.choice((f"the one with {definite(word)}", f"with {definite(word)}"))
        yield Answer(text=text, asks=Asks(accessory=meant.accessory))
    if "environment" in open_ones:
        place = vocabulary.environments[meant.environments[0]]
        text = f"the one trained {rng.choice(place.asked)}"
        yield Answer(text=text, asks=Asks(environment=place.name))


def _of_two(meant: Card, acceptable: Sequence[Card]) -> Iterator[Answer]:
    for end, words in (
        ("last", ("the newer one", "the newer")),
        ("first", ("the older one", "older")),
    ):
        orders = [Order(by=by, end=end) for by in ("created", "version")]
        if all(meant_by(Asks(order=order), acceptable) == [meant] for order in orders):
            yield Answer(text=words[meant.version % 2], asks=Asks(order=orders[0]))
