"""Titles and words to be read in the picture: a novel "The Last House in April"."""

from __future__ import annotations

import re

from personalq.checkin.intent import Span
from personalq.checkin.parsing.draft import Draft

_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”")
_SHORTEST = 3
"""Words; fewer may name what is asked for: the "oil painting" one."""


def set_titles_aside(draft: Draft) -> None:
    """Keep words in quotation marks as content, where they are not all that is said."""
    for match in _QUOTED.finditer(draft.page.text):
        around = draft.page.text[: match.start()] + draft.page.text[match.end() :]
        if len(match[0].split()) >= _SHORTEST and any(c.isalpha() for c in around):
            span = Span(*match.span())
            if draft.free(span.start, span.end):
                draft.mark(span)
                draft.bystanders.append(span)
