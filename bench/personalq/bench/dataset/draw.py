"""Draws what a request asks for, by group, until its ground truth is what the group needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from random import Random

from personalq.bench.dataset.asks import Asks, Order, Span, is_fair, meant_by
from personalq.bench.dataset.cards import NOW, Card
from personalq.bench.dataset.periods import TODAY, Period, all_periods
from personalq.bench.dataset.vocabulary import Vocabulary

MOST_ACCEPTABLE = 6
UNKNOWN_SUBJECTS = (
    "giraffe", "teapot", "submarine", "penguin", "guitar", "owl", "bicycle", "octopus",
    "elephant", "piano", "sailboat", "typewriter", "helicopter", "dragon", "camel", "spaceship",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A specification before it is worded; `unknown` is a subject no card has."""

    asks: Asks
    period: Period | None = None
    unknown: str | None = None


@dataclass(frozen=True, kw_only=True)
class Repository:
    """The cards, by category, and the words they are made of."""

    cards: Sequence[Card]
    vocabulary: Vocabulary
    periods: Mapping[str, Sequence[Period]]

    def of(self, category: str | None) -> list[Card]:
        """The cards of a category; all without one."""
        return [card for card in self.cards if category in (None, card.category)]


def open_repository(cards: Sequence[Card], vocabulary: Vocabulary) -> Repository:
    """The cards with the periods, by family; what people say only of use is "yesterday"."""
    yesterday = Span(start=TODAY - timedelta(days=1), end=TODAY)
    families: dict[str, list[Period]] = {
        "yesterday": [Period(span=yesterday, after=("yesterday",), family="yesterday")]
    }
    for period in all_periods():
        families.setdefault(period.family, []).append(period)
    return Repository(cards=cards, vocabulary=vocabulary, periods=families)


def means(draft: Draft, cards: Sequence[Card]) -> list[Card] | None:
    """The cards the draft means, or None if people would not agree on them."""
    asks = draft.asks
    found = meant_by(asks, cards)
    if found and not is_fair(asks, cards):
        return None
    if draft.period is None:
        return found
    if any(meant_by(_at(asks, span), cards) != found for span in draft.period.readings):
        return None
    if any(meant_by(_at(asks, span), cards) for span in draft.period.apart):
        return None
    return found


def _at(asks: Asks, span: Span) -> Asks:
    """The same request with another reading of its time."""
    return replace(asks, used=span) if asks.used is not None else replace(asks, created=span)


def draw_single(group: str, repository: Repository, rng: Random) -> Draft:
    """A draft of the group that means exactly one card, and would not without the group's words."""
    while True:
        target = rng.choice(repository.cards)
        draft = DRAWS[group](target, repository, rng)
        if draft is None:
            continue
        cards = repository.of(draft.asks.category)
        if means(draft, cards) == [target] and _needs_all(draft.asks, target, cards):
            return draft


def draw_ambiguous(repository: Repository, rng: Random) -> Draft:
    """A draft that leaves two to six cards."""
    while True:
        target = rng.choice(repository.cards)
        draft = _ambiguous(target, repository, rng)
        found = means(draft, repository.of(target.category))
        if found and 2 <= len(found) <= MOST_ACCEPTABLE and target in found:
            return draft


def draw_no_match(kind: str, repository: Repository, rng: Random) -> Draft:
    """A draft that means no card, for the reason of its kind."""
    while True:
        target = rng.choice(repository.cards)
        draft = NO_MATCHES[kind](target, repository, rng)
        if draft is None:
            continue
        if draft.unknown or means(draft, repository.of(draft.asks.category)) == []:
            return draft


def _needs_all(asks: Asks, target: Card, cards: Sequence[Card]) -> bool:
    """Whether no constraint is idle, so that each word decides something."""
    empty = Asks()
    return all(
        meant_by(replace(asks, **{name: getattr(empty, name)}), cards) != [target]
        for name in asks.named() - {"category"}
    )


def _with(target: Card, names: Sequence[str], **values: object) -> Asks:
    """The target's category and its values of the named attributes."""
    asks = Asks(category=target.category)
    for name in names:
        if name == "style":
            asks = replace(asks, styles=target.styles[:1])
        elif name == "environment":
            asks = replace(asks, environment=target.environments[0])
        else:
            asks = replace(asks, **{name: getattr(target, name)})
    return replace(asks, **values)  # type: ignore[arg-type]


def _period(
    target: Card,
    families: Sequence[str],
    repository: Repository,
    rng: Random,
    *,
    used: bool = False,
) -> Period | None:
    moment = target.last_used_at if used else target.created_at
    family = rng.choice(families)
    fitting = [period for period in repository.periods[family] if moment in period.span]
    return rng.choice(fitting) if fitting else None


def _attributes(target: Card) -> list[str]:
    names = ["style", "kind", "colour", "accessory"]
    return [*names, "material"] if target.material else names


CREATED_FAMILIES = (
    "month", "month", "month", "dated", "dated", "range", "before", "after", "season", "season",
    "quarter", "recent", "recent", "day", "year",
)  # fmt: skip


def _temporal(target: Card, repository: Repository, rng: Random) -> Draft | None:
    period = _period(target, CREATED_FAMILIES, repository, rng)
    if period is None:
        return None
    names = rng.sample(["style", "style", "kind", "colour"], rng.choice((0, 1, 1)))
    return Draft(asks=_with(target, names, created=period.span), period=period)


def _version(target: Card, repository: Repository, rng: Random) -> Draft | None:
    return Draft(asks=_with(target, ["version"]))


def _recency(target: Card, repository: Repository, rng: Random) -> Draft | None:
    rank = rng.choice((1, 1, 1, 2, 2, 3))
    end = rng.choice(("last", "last", "first"))
    names = rng.sample(_attributes(target), rng.choice((0, 1, 1)))
    return Draft(asks=_with(target, names, order=Order(by="created", end=end, rank=rank)))


def _style(target: Card, repository: Repository, rng: Random) -> Draft | None:
    if rng.random() < 0.25:
        if len(target.styles) < 2:
            return None
        return Draft(asks=_with(target, [], styles=target.styles))
    if rng.random() < 0.3:
        names = rng.sample(["kind", "colour", "accessory"], 2)
        others = [
            style
            for card in meant_by(_with(target, names), repository.of(target.category))
            for style in card.styles
            if style not in target.styles
        ]
        return (
            Draft(asks=_with(target, names, not_styles=(rng.choice(others),))) if others else None
        )
    return Draft(asks=_with(target, ["style", rng.choice(_attributes(target)[1:])]))


def _environment(target: Card, repository: Repository, rng: Random) -> Draft | None:
    return Draft(asks=_with(target, ["environment", rng.choice(_attributes(target))]))


def _usage(target: Card, repository: Repository, rng: Random) -> Draft | None:
    names = rng.sample(["style", "kind", "colour"], rng.choice((0, 0, 1)))
    form = rng.choice(("yesterday", "recent", "order", "count", "count", "never"))
    if form == "never":
        return Draft(asks=_with(target, rng.sample(["style", "kind"], 1), never_used=True))
    if form == "order":
        return Draft(asks=_with(target, names, order=Order(by="used")))
    if form == "count":
        end = rng.choice(("last", "last", "first"))
        return Draft(asks=_with(target, names, order=Order(by="use_count", end=end)))
    period = _period(target, [form], repository, rng, used=True)
    if period is None:
        return None
    return Draft(asks=_with(target, names, used=period.span), period=period)


def _description(target: Card, repository: Repository, rng: Random) -> Draft | None:
    names = [name for name in _attributes(target) if name != "style"]
    return Draft(asks=_with(target, rng.sample(names, rng.choice((2, 2, 3)))))


def _owner(target: Card, repository: Repository, rng: Random) -> Draft | None:
    if rng.random() < 0.5:
        return Draft(asks=_with(target, ["owner"], order=Order(by="created")))
    return Draft(asks=_with(target, ["owner", "style"]))


def _combination(target: Card, repository: Repository, rng: Random) -> Draft | None:
    names = rng.sample(["style", "style", "environment", "kind", "colour", "accessory"], 2)
    if len(set(names)) < 2:
        return None
    form = rng.choice(("period", "period", "order", "plain"))
    if form == "period":
        families = ("month", "season", "dated", "range", "before", "after", "quarter", "year")
        period = _period(target, families, repository, rng)
        return (
            Draft(asks=_with(target, names, created=period.span), period=period) if period else None
        )
    if form == "order":
        return Draft(asks=_with(target, names, order=Order(by="created")))
    return Draft(asks=_with(target, [*names, "owner"]))


DRAWS: dict[str, Callable[[Card, Repository, Random], Draft | None]] = {
    "temporal": _temporal,
    "version": _version,
    "recency": _recency,
    "style": _style,
    "environment": _environment,
    "usage": _usage,
    "description": _description,
    "owner": _owner,
    "combination": _combination,
}


def _ambiguous(target: Card, repository: Repository, rng: Random) -> Draft:
    form = rng.choice(("season", "month", "pair", "pair", "one", "recent", "owner", "range"))
    if form == "pair":
        names = rng.sample([*_attributes(target), "environment"], 2)
        return Draft(asks=_with(target, names))
    if form == "one":
        return Draft(asks=_with(target, [rng.choice([*_attributes(target), "environment"])]))
    if form == "owner":
        return Draft(asks=_with(target, ["owner", rng.choice(_attributes(target))]))
    used = form == "recent" and rng.random() < 0.5
    period = _period(target, [form], repository, rng, used=used)
    if period is None:
        return _ambiguous(target, repository, rng)
    names = rng.sample(["style", "kind", "colour"], 1 if form == "season" else rng.choice((0, 1)))
    span = {"used" if used else "created": period.span}
    return Draft(asks=_with(target, names, **span), period=period)


def _unknown(target: Card, repository: Repository, rng: Random) -> Draft | None:
    names = rng.sample(["version", "style", "environment", "none"], 1)
    asks = _with(target, [name for name in names if name != "none"], category=None)
    return Draft(asks=asks, unknown=rng.choice(UNKNOWN_SUBJECTS))


def _empty_period(
    target: Card, repository: Repository, rng: Random, *, styled: bool = False
) -> Draft | None:
    families = ("month", "dated", "season", "recent") if styled else ("month", "dated")
    period = rng.choice(repository.periods[rng.choice(families)])
    if period.span.start is not None and period.span.start > NOW:
        return None
    if styled:
        bare = meant_by(_with(target, [], created=period.span), repository.of(target.category))
        if not bare:
            return None
    names = ["style"] if styled else []
    return Draft(asks=_with(target, names, created=period.span), period=period)


def _missing_version(target: Card, repository: Repository, rng: Random) -> Draft | None:
    return Draft(asks=_with(target, [], version=rng.choice((51, 53, 57, 60, 64, 72, 85, 99, 120))))


def _missing_style(target: Card, repository: Repository, rng: Random) -> Draft | None:
    return Draft(asks=_with(target, [], styles=(rng.choice(list(repository.vocabulary.styles)),)))


def _missing_place(target: Card, repository: Repository, rng: Random) -> Draft | None:
    place = rng.choice(list(repository.vocabulary.environments))
    return Draft(asks=_with(target, [], environment=place))


def _missing_look(target: Card, repository: Repository, rng: Random) -> Draft | None:
    others = repository.of(target.category)
    return Draft(asks=_with(target, ["kind", "style"], colour=rng.choice(others).colour))


def _not_used_then(target: Card, repository: Repository, rng: Random) -> Draft | None:
    period = repository.periods["yesterday"][0]
    return Draft(asks=_with(target, [], used=period.span), period=period)


NO_MATCHES: dict[str, Callable[[Card, Repository, Random], Draft | None]] = {
    "unknown_subject": _unknown,
    "empty_period": _empty_period,
    "empty_styled_period": partial(_empty_period, styled=True),
    "missing_version": _missing_version,
    "missing_style": _missing_style,
    "missing_environment": _missing_place,
    "missing_look": _missing_look,
    "not_used_then": _not_used_then,
}


def no_match_kinds(count: int) -> Iterator[str]:
    """The reasons for no match in their proportions."""
    weights = {
        "unknown_subject": 10, "empty_period": 10, "missing_version": 8, "missing_style": 8,
        "empty_styled_period": 7, "missing_environment": 3, "not_used_then": 2, "missing_look": 2,
    }  # fmt: skip
    kinds = [kind for kind, weight in weights.items() for _ in range(weight)]
    for index in range(count):
        yield kinds[index * len(kinds) // count]
