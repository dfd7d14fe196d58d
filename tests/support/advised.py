"""Check-in over a catalog in memory, with a language model at a local address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from support.checkin_cards import NOW
from support.fake_catalog import FakeCatalog

from personalq.checkin.advising.advice import Adviser
from personalq.checkin.advising.llm import open_llm
from personalq.checkin.advising.reason_llm import LlmAdviser
from personalq.checkin.answering.answer import Reply
from personalq.checkin.cards import Card
from personalq.checkin.endpoint import Breaker
from personalq.checkin.outcome import Answered
from personalq.checkin.reasoning.reason import DeterministicReasoner
from personalq.checkin.request import Request
from personalq.checkin.select import select
from personalq.checkin.settings import CheckinSettings


@dataclass
class AdvisedSession:
    """Asks with the adviser, or by the rules alone."""

    catalog: FakeCatalog
    settings: CheckinSettings
    adviser: Adviser

    async def ask(self, prompt: str, *answers: Reply) -> Answered:
        """The answer with a second opinion where the rules are unsure."""
        return await self._ask(prompt, answers, self.adviser)

    async def ask_rules(self, prompt: str, *answers: Reply) -> Answered:
        """The answer without."""
        return await self._ask(prompt, answers, None)

    async def _ask(
        self, prompt: str, answers: tuple[Reply, ...], adviser: Adviser | None
    ) -> Answered:
        request = Request(prompt=prompt, answers=answers, reference_time=NOW, explain=True)
        return await select(
            request,
            catalog=self.catalog,
            reasoner=DeterministicReasoner(),
            settings=self.settings,
            adviser=adviser,
        )


@asynccontextmanager
async def advised(
    url: str, cards: Sequence[Card], *, breaker: Breaker | None = None, **more: Any
) -> AsyncIterator[AdvisedSession]:
    """A session whose language model is at `url`."""
    settings = CheckinSettings(llm_base_url=f"{url}/v1", llm_model="stand-in", **more)
    async with open_llm(
        settings.llm_base_url,
        model=settings.llm_model,
        key="sesame",
        options=settings.llm_options,
        timeout_s=settings.llm_timeout_s,
        breaker=breaker or Breaker(failures=100, pause_s=60),
    ) as chat:
        adviser = LlmAdviser(chat, key=settings.question_key)
        yield AdvisedSession(catalog=FakeCatalog(cards), settings=settings, adviser=adviser)
