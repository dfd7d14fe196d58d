"""Check-in in one process: ask, answer, and count how often it is right.

`PYTHONPATH=tests python -m support.checkin_session` prints the accuracy per kind of request.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from support.checkin_cards import NOW, paper, studio
from support.checkin_requests import ASK, NONE, PAPER, STUDIO, expected_ids
from support.fake_catalog import FakeCatalog

from personalq.checkin.answering.answer import Reply
from personalq.checkin.cards import Card
from personalq.checkin.outcome import Answered, Clarification, Outcome, Selection
from personalq.checkin.reasoning.reason import DeterministicReasoner
from personalq.checkin.request import Request
from personalq.checkin.select import select
from personalq.checkin.settings import CheckinSettings


class Session:
    """Requests to `select` over a catalog in memory."""

    def __init__(self, cards: Sequence[Card], *, now: datetime = NOW) -> None:
        self.cards = list(cards)
        self.catalog = FakeCatalog(self.cards)
        self.settings = CheckinSettings()
        self._now = now

    def answered(
        self,
        prompt: str,
        *,
        answers: tuple[Reply, ...] = (),
        candidate_ids: tuple[str, ...] = (),
        owner: str = "",
        time_zone: str = "",
        profile: str = "",
        now: datetime | None = None,
        explain: bool = True,
    ) -> Answered:
        """The full answer to a request."""
        request = Request(
            prompt=prompt,
            answers=answers,
            reference_time=now or self._now,
            candidate_ids=candidate_ids,
            explain=explain,
            owner=owner,
            time_zone=time_zone,
            profile=profile,
        )
        reasoner = DeterministicReasoner()
        return asyncio.run(
            select(request, catalog=self.catalog, reasoner=reasoner, settings=self.settings)
        )

    def ask(self, prompt: str, *, candidate_ids: tuple[str, ...] = (), owner: str = "") -> Outcome:
        """The outcome of a prompt."""
        return self.answered(prompt, candidate_ids=candidate_ids, owner=owner).outcome

    def answer(
        self,
        prompt: str,
        asked: Clarification,
        text: str,
        *,
        candidate_ids: tuple[str, ...] = (),
    ) -> Outcome:
        """The outcome after one answer."""
        reply = Reply(question_id=asked.question_id, text=text)
        return self.answered(prompt, answers=(reply,), candidate_ids=candidate_ids).outcome


def outcome_name(outcome: Outcome) -> str:
    """An id, ASK or NONE."""
    if isinstance(outcome, Selection):
        return outcome.candidate.card.checkpoint_id
    return ASK if isinstance(outcome, Clarification) else NONE


def accuracy() -> tuple[dict[str, tuple[int, int]], list[str]]:
    """(right, asked) per kind over both tables, and what went wrong.

    An ambiguous request must be asked about and end right after its answer.
    """
    right: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    wrong: list[str] = []
    session = Session(studio())
    for case in STUDIO:
        outcome = session.ask(case.prompt, candidate_ids=case.pool)
        path = [outcome_name(outcome)]
        if isinstance(outcome, Clarification):
            answer = session.answer(case.prompt, outcome, case.answer, candidate_ids=case.pool)
            path.append(outcome_name(answer))
        expected = [case.expected, case.final] if case.expected == ASK else [case.expected]
        total[case.kind] += 1
        right[case.kind] += path == expected
        if path != expected:
            wrong.append(f"{case.kind}: {case.prompt!r}, {case.answer!r}: {path}, not {expected}")
    session = Session(paper())
    for rule in PAPER:
        meant = expected_ids(rule, session.cards)
        name = outcome_name(session.ask(rule.prompt))
        wanted = (NONE if not meant else ASK) if len(meant) != 1 else meant[0]
        total[rule.kind] += 1
        right[rule.kind] += name == wanted
        if name != wanted:
            wrong.append(f"{rule.kind}: {rule.prompt!r}: {name!r}, not {wanted!r} of {len(meant)}")
    return {kind: (right[kind], total[kind]) for kind in sorted(total)}, wrong


def main() -> None:
    """Print accuracy per kind, and what went wrong."""
    table, wrong = accuracy()
    lines = [f"{kind:14} {good:4} of {asked:4}" for kind, (good, asked) in table.items()]
    good = sum(right for right, _ in table.values())
    asked = sum(total for _, total in table.values())
    sys.stdout.write("\n".join([*wrong, *lines, f"{'all':14} {good:4} of {asked:4}"]) + "\n")


if __name__ == "__main__":
    main()
