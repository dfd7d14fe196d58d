"""Whose it is: "my", "Anna's dog", "the bear by studio-a"."""

from __future__ import annotations

import re

from personalq.checkin.draft import Draft
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.text import ends_before

_MINE = frozenset(("my", "mine", "our", "ours"))
_BY = re.compile(
    r"(?<!\w)(?:(?:made|trained|created|owned|built|uploaded)\s+)?(?:by|from|of|"
    r"belonging\s+to|owned\s+by)\s+(?:the\s+)?$"
)


def parse_owner(draft: Draft) -> None:
    """Claim owners the catalog knows; "my" counts only when the request says who asks."""
    for first, last, owner in draft.lexicon.owners.find(draft.page.words):
        span = draft.span_of(first, last)
        if not draft.free(span.start, span.end):
            continue
        word = draft.page.words[last - 1]
        lead = ends_before(_BY, draft.page.shadow, span.start)
        if not word.possessive and lead is None:
            continue
        start = lead.start() if lead and draft.free(lead.start(), span.start) else span.start
        whole = Span(start, word.full_end)
        _add(draft, whole, owner, selecting=True)
        return
    if not draft.context.owner:
        return
    for word in draft.page.words:
        if word.norm in _MINE and draft.is_free(word):
            _add(draft, word.span, draft.context.owner, selecting=False)
            return


def _add(draft: Draft, span: Span, owner: str, *, selecting: bool) -> None:
    draft.add(
        Constraint(
            attribute=Attribute.OWNER,
            values=(owner,),
            span=span,
            text=span.of(draft.page.text),
            label=f"owned by {owner}",
        ),
        selecting=selecting,
    )
