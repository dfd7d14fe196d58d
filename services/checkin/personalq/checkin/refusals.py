"""What an answer turns down: "not the hare", "neither of the slate ones", "no cook, the other"."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.parsing.text import read, shadow
from personalq.checkin.vocabulary import Lexicon

_NOT = (
    r"(?:(?:(?:it|that|they)(?:'s|\s+is|'re|\s+are)\s+|just\s+|only\s+|certainly\s+|definitely\s+)?not|(?:(?:it|that|they)\s+)?(?:isn't|aren't)|"
    r"neither(?:\s+of)?|none\s+of|nor|without|skip|forget|drop|leave\s+out|(?:any(?:thing)?|every(?:thing)?|all)\s+but|"
    r"except(?:\s+for)?|other\s+than|apart\s+from|no(?!\s+(?:one|i|it|wait|sorry|the|problem|idea|matter|preference)\b))"
)
_REFUSED = re.compile(
    rf"(?:(?:and|but|or|so|though)\s+)?{_NOT}(?:\s+(?:either|both|any|all)(?:\s+of)?)?"
    r"(?:\s+(?:the|those|these|that|this|an?|my|our))?(?:\s+(?:two|three|2|3)(?!\w))?\s+"
    r"(?!(?:yet|ever|used|been|so|too|that|very|sure|really|fussy|picky|bad|of\s+them)\b)(?P<what>\S.*)"
)
_WRONG = re.compile(
    r"(?P<what>\S.*?)\s+(?:is|are)\s+(?:wrong|out|no\s+good|not\s+(?:it|right|the\s+one|what\s+i\s+\w+))"
)
_BREAK = re.compile(
    rf"\s*[,;.!]\s*|\s+(?=(?:and|but|though|so)\s+{_NOT}\s)|\s+(?=(?:nor|without|except|but\s+not)\s)"
)
_EACH = re.compile(r"\s+(?:and|or|nor)\s+(?=(?:the|an?|that|those)\s)")
_NOTHING_MORE = re.compile(
    r"(?:(?:no|nope|nah|yes|yeah|sorry|please|thanks|and|so|but|then|i|want|meant?|take|use|it's|give|me)\s*)*"
    r"(?:(?:the\s+)?(?:(?:other|remaining|last|third)(?:\s+(?:one|of\s+(?:them|the\s+\w+)))?|one\s+(?:that(?:'s|\s+is)\s+)?left|rest))?"
    r"(?:\s+(?:please|then|thanks))?"
)
"""All that is left to say once the rest is turned down: "so the remaining one"."""
_FILLERS = frozenset(["either", "time", "ones", "one", "pair", "both", "two", "three", "please"])


def turned_down(
    text: str, intent: Intent, lexicon_: Lexicon, context: Context
) -> tuple[str, tuple[Constraint, ...]]:
    """What an answer says besides what it turns down, and a constraint for each of these.

    Args:
        intent: what was asked for before.
    """
    left: list[str] = []
    refused: list[Constraint] = []
    for clause in filter(None, _BREAK.split(text)):
        said = shadow(clause)
        match = _REFUSED.fullmatch(said) or _WRONG.fullmatch(said)
        what = clause[match.start("what") : match.end("what")] if match else ""
        found = [_refusal(one, intent, lexicon_, context) for one in _EACH.split(what)]
        told = [constraint for constraint in found if constraint is not None]
        if len(told) < len(found):
            left.append(clause)
        else:
            refused += told
    if not refused:
        return text, ()
    return ", ".join(c for c in left if not _NOTHING_MORE.fullmatch(shadow(c))), tuple(refused)


def _refusal(what: str, intent: Intent, lexicon_: Lexicon, context: Context) -> Constraint | None:
    """The constraint that what is left satisfies; None where it says more than one thing."""
    said = parse(what, lexicon_, context, answering=True) if what else Intent()
    if said.all(Attribute.ORDER):
        return None
    described = (Attribute.SUBJECT, Attribute.DESCRIPTION)
    others = [c for c in said.constraints if c.hard and c.attribute not in described]
    if others:
        several = len(others) > 1 or said.all(Attribute.DESCRIPTION)  # "the red one from the beach"
        return None if several or others[0].excluded else _not(others[0], what)
    subject, asked = said.first(Attribute.SUBJECT), intent.first(Attribute.SUBJECT)
    if subject and asked and not (subject.narrower or set(subject.values) & set(asked.values)):
        return _not(subject, what)
    words = (word.norm for word in read(what).words)
    content = tuple(w for w in words if not (lexicon.is_no_noun(w) or w in _FILLERS))
    if not content:
        return None
    return Constraint(
        attribute=Attribute.DESCRIPTION,
        values=content,
        excluded=True,
        text=what,
        label=f"not {what}",
    )


def _not(constraint: Constraint, what: str) -> Constraint:
    other = constraint.fallback
    return replace(
        constraint,
        excluded=True,
        hard=True,
        span=None,
        text=what,
        label=f"not {constraint.label}",
        fallback=_not(other, what) if other is not None else None,
    )
