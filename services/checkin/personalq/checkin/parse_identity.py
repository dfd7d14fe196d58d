"""A checkpoint id or a trigger spelled out: "<bear-v4>", "bear-v4", "dog-v9 in sketch"."""

from __future__ import annotations

import re

from personalq.checkin.draft import Draft
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.vocabulary import Identity

_CANDIDATE = re.compile(r"<[^<>\s]{1,128}>|\w+(?:[-.:/@+~#]+\w+)*")
_MARKUP = frozenset(
    [
        "b",
        "i",
        "p",
        "br",
        "em",
        "hr",
        "li",
        "ol",
        "ul",
        "div",
        "span",
        "strong",
        "code",
        "pre",
        "h1",
        "h2",
        "h3",
    ]
)


def parse_identity(draft: Draft) -> None:
    """Claim ids and triggers; several of one kind accept any of them."""
    ids: dict[str, Span] = {}
    triggers: dict[str, Span] = {}
    for span, identity in _found(draft):
        draft.mark(span)
        draft.triggers.append(span)
        if identity.checkpoint_id:
            ids.setdefault(identity.checkpoint_id, span)
        else:
            triggers.setdefault(identity.trigger, span)
    named, by_trigger = (ids, False) if ids else (triggers, True)
    if not named:
        return
    span = next(iter(named.values()))
    text = span.of(draft.page.text)
    draft.constraints.append(
        Constraint(
            attribute=Attribute.IDENTITY,
            values=tuple(named),
            by_trigger=by_trigger,
            span=span,
            text=text,
            label=f"called “{text}”",
        )
    )


def _found(draft: Draft) -> list[tuple[Span, Identity]]:
    table = draft.lexicon.identities
    found = []
    for match in _CANDIDATE.finditer(draft.page.shadow):
        token = match[0]
        identity = table.get(token)
        if token.startswith("<"):
            inner = token[1:-1]
            identity = identity or table.get(inner)
            if (
                identity is None
                and any(c.isalpha() for c in inner)
                and inner.strip("/") not in _MARKUP
            ):
                identity = Identity(trigger=draft.page.text[match.start() : match.end()])
        elif identity is None or identity.everyday:
            continue
        if identity is not None:
            found.append((Span(match.start(), match.end()), identity))
    words = draft.page.words
    for first, last, identity in draft.lexicon.trigger_phrases.find(words):
        found.append((draft.span_of(first, last), identity))
    return found
