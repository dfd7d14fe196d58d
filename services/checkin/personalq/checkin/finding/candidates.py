"""The cards an intent leaves, in the first of its readings that leaves any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from personalq.checkin.cards import Hit
from personalq.checkin.finding.by_meaning import with_meanings
from personalq.checkin.finding.by_scene import with_scene
from personalq.checkin.finding.query import deeper, to_query
from personalq.checkin.finding.readings import (
    asks_for_something,
    fits,
    only_described,
    readings_of,
)
from personalq.checkin.finding.search import Lately, find
from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.ports import Catalog, Ranking, Reasoner
from personalq.checkin.reasoning.check import satisfying
from personalq.checkin.reasoning.descriptions.wishes import MAX_PHRASES
from personalq.checkin.reasoning.kinds import widened
from personalq.checkin.reasoning.own_colour import too_few_to_tell, without_its_colour
from personalq.checkin.reasoning.own_kind import kind_in_question, of_other_kinds, without_its_kind
from personalq.checkin.reasoning.own_stuff import without_its_stuff
from personalq.checkin.reasoning.own_thing import without_that_colour_of_it
from personalq.checkin.reasoning.reason import rank
from personalq.checkin.reasoning.together import is_in_question, of_no_one_card
from personalq.checkin.reasoning.unknown import (
    by_description,
    called_outright,
    is_called,
    kind_as_thing,
    search_for_things,
    told_subject,
    without_thing,
)


@dataclass(frozen=True, kw_only=True)
class Finder:
    """Looks in the catalog for what one request asks for.

    Every method raises `Unavailable` if the catalog cannot be reached.
    """

    prompt: str
    pool: tuple[str, ...]
    """The only checkpoints that may be chosen; () for all."""
    catalog: Catalog
    reasoner: Reasoner
    zone: ZoneInfo
    limit: int
    """Cards to reason about."""
    compared: tuple[str, ...] = ()
    """Phrases besides those of an intent to compare the cards with."""

    async def search(self, intent: Intent) -> tuple[Hit, ...]:
        """The cards to reason about."""
        query = to_query(intent, self.prompt, self.pool, self.limit)
        phrases = tuple(dict.fromkeys((*query.phrases, *self.compared)))[:MAX_PHRASES]
        query = replace(query, phrases=phrases)
        described = bool(intent.described) or intent.unknown_subject is not None
        described = described or any(c.broader for c in intent.constraints)
        hits = await find(query, self.catalog, described=described, deeper=deeper(intent, query))
        return await with_meanings(hits, intent, self.catalog)

    async def with_its_thing(self, intent: Intent) -> Intent:
        """The intent with the first of its things that a card is called by as its subject."""
        if not intent.things:
            return intent
        about = intent.without(*intent.all(Attribute.SUBJECT))
        hits = await self.search(search_for_things(about))
        for thing in intent.things:
            named = [hit for hit in hits if is_called(hit.card, thing)]
            asked = replace(about, unknown_subject=thing)
            told, found = by_description(asked, named)
            if rank(told, found, self.zone):
                return asked
        return without_thing(intent, self.prompt)

    async def candidates(self, intent: Intent) -> tuple[Intent, Ranking]:
        """The first reading of the intent that some card satisfies; mostly one search."""
        if not asks_for_something(intent):
            return intent, Ranking()
        if intent.unknown_subject is not None:
            told, ranking = await self._ranked(*by_description(intent, await self.search(intent)))
            return (told if ranking.candidates else intent), ranking
        degraded = False
        lacking: Intent | None = None
        of_others: Intent | None = None
        for reading in readings_of(intent):
            hits = await self.search(reading)
            if hits:
                reading, hits = await self._widened(reading, hits)
            reading, ranking = await self._ranked(reading, hits)
            other = await self._called_outright(reading, hits)
            if other is not None:
                return other
            degraded = degraded or ranking.degraded
            ranked = ranking.candidates
            if not ranked:
                of_others = of_others or of_other_kinds(reading, hits, self.zone)
            if not ranked or only_described(reading, ranked) or not fits(intent, reading, ranked):
                continue
            missing = await self._missing(reading, hits)
            if missing is None:
                return reading, ranking
            lacking = lacking or missing
        if lacking is not None:
            return lacking, Ranking(degraded=degraded)
        by_kind = await self._by_its_kind(intent)
        return by_kind or (of_others or intent, Ranking(degraded=degraded))

    async def _missing(self, intent: Intent, hits: Sequence[Hit]) -> Intent | None:
        """What nothing fits though every card tells its own: a colour, a stuff, a kind; or cards
        tell one by one, and none has together.

        Of few cards all those of the subject say whether cards tell their colour.
        """
        if len(hits) >= self.limit:
            return None
        subject = intent.first(Attribute.SUBJECT)
        shown = satisfying(intent, hits, self.zone)
        few = too_few_to_tell(intent, shown)
        besides: Sequence[Hit] = ()
        if subject is not None and (few or kind_in_question(intent, shown)):
            anywhere = replace(self, pool=())
            besides = await anywhere.search(replace(intent, constraints=(subject,)))
        missing = None
        if not few or len(besides) < self.limit:
            missing = without_its_colour(intent, shown, besides=besides)
        return (
            missing
            or without_that_colour_of_it(intent, shown)
            or without_its_stuff(intent, shown)
            or without_its_kind(intent, shown, prompt=self.prompt, besides=besides)
            or await self._of_no_one_card(intent, shown)
        )

    async def _of_no_one_card(self, intent: Intent, hits: Sequence[Hit]) -> Intent | None:
        """What was described and others of the subject have, of what nothing has together."""
        subject = intent.first(Attribute.SUBJECT)
        besides: Sequence[Hit] = ()
        if subject is not None and is_in_question(intent, hits, self.prompt):
            wanted = (subject, *(c for c in intent.described if not c.hard))
            anywhere = replace(self, pool=())
            besides = await anywhere.search(replace(intent, constraints=wanted))
        return of_no_one_card(intent, hits, self.prompt, besides=besides)

    async def by_scene(self, intent: Intent, ranking: Ranking) -> tuple[Intent, Ranking] | None:
        """The same cards by what was left for the picture; None where nothing was."""
        told = with_scene(intent, self.prompt, [c.hit for c in ranking.candidates])
        if told is None:
            return None
        before = {candidate.card.checkpoint_id for candidate in ranking.candidates}
        hits = [h for h in await self.search(told) if h.card.checkpoint_id in before]
        return await self._ranked(told, hits)

    async def _ranked(self, intent: Intent, hits: Sequence[Hit]) -> tuple[Intent, Ranking]:
        ranking = await self.reasoner.rank(intent, hits, self.zone)
        return intent, replace(ranking, partial=len(hits) >= self.limit)

    async def _widened(self, intent: Intent, hits: Sequence[Hit]) -> tuple[Intent, tuple[Hit, ...]]:
        return await widened(intent, hits, catalog=Lately(self.catalog), search=self.search)

    async def _called_outright(
        self, intent: Intent, hits: Sequence[Hit]
    ) -> tuple[Intent, Ranking] | None:
        """Cards of another subject that are called what none of these is."""
        thing = kind_as_thing(intent, hits)
        if thing is None:
            return None
        told, called = called_outright(thing, await self.search(thing), besides=hits)
        read, ranking = await self._ranked(told, called)
        return (read, ranking) if ranking.candidates else None

    async def _by_its_kind(self, intent: Intent) -> tuple[Intent, Ranking] | None:
        """Cards that are of the subject by their kind or by their description alone."""
        subject = intent.first(Attribute.SUBJECT)
        if subject is None:
            return None
        named, ranking = await self._ranked(*await self._widened(intent, ()))
        if ranking.candidates:
            return named, ranking
        loose = replace(intent.without(subject), unknown_subject=subject)
        told, ranking = await self._ranked(*told_subject(intent, await self.search(loose)))
        return (told, ranking) if ranking.candidates else None
