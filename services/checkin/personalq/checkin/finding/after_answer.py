"""The cards an answer leaves: first of all among those it was asked about."""

from __future__ import annotations

from dataclasses import replace

from personalq.checkin.answering.asked_about import among_those_asked_about
from personalq.checkin.finding.candidates import Finder
from personalq.checkin.finding.readings import fits
from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.ports import Ranking
from personalq.checkin.reasoning.descriptions.fits import says_all
from personalq.checkin.reasoning.descriptions.same_trait import KIN
from personalq.checkin.reasoning.descriptions.wishes import spoken
from personalq.checkin.reasoning.kinds import carried
from personalq.checkin.reasoning.plausible import plausible


async def after_answer(before: Intent, intent: Intent, finder: Finder) -> tuple[Intent, Ranking]:
    """What the last answer leaves, and the reading that leaves it.

    What it says in the very words of a card it was asked about counts most, then in the very words
    of another card that fits the request as well, and then what is like it among those asked about.

    Args:
        before: the intent before its last answer.
        intent: the same with it.

    Raises:
        Unavailable: the catalog cannot be reached.
    """
    comparing = replace(finder, compared=spoken(intent))
    read, asked = await comparing.candidates(before)
    hits = [candidate.hit for candidate in plausible(asked.candidates)]
    after = _ordered(before, carried(intent, read))

    async def among(*, least: float) -> tuple[Intent, Ranking]:
        for reading in among_those_asked_about(read, after, details=least > 0):
            ranking = await finder.reasoner.rank(reading, hits, finder.zone)
            if ranking.candidates and fits(before, reading, ranking.candidates, least=least):
                return reading, ranking
        return intent, Ranking()

    told, ranking = await among(least=KIN)
    if ranking.candidates:
        return told, ranking
    first: tuple[Intent, Ranking] | None = None
    for reading in among_those_asked_about(before, intent, details=False):
        widely, others = await finder.candidates(reading)
        if others.candidates and says_all(widely, others.candidates[0].hit, besides=hits):
            return widely, others
        first = first or (widely, others)
    told, ranking = await among(least=0.0)
    return first if first and not ranking.candidates else (told, ranking)


def _ordered(before: Intent, intent: Intent) -> Intent:
    """Among the cards asked about "the newer one" is the newer, however well each was described."""
    if intent.order is None or intent.order.span is not None:
        return intent
    return intent.without(*(c for c in before.all(Attribute.DESCRIPTION) if not c.hard))
