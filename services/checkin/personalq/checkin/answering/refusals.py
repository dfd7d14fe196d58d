"""What an answer turns down: "not the hare", "neither of the slate ones", "no cook, the other"."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.parsing.text import read, shadow
from personalq.checkin.vocabulary import Lexicon

_NOT = (
    "(((it|that|they)('s| is|'re| are) |just |only |certainly |definitely )?not|"
    "((it|that|they) )?(isn't|aren't)|neither( of)?|none of|nor|without|skip|forget|drop|"
    r"leave out|(any(thing)?|every(thing)?|all) but|except( for)?(?! (it|that|they|he|she)\b)|"
    "other than|apart from|(?P<no>no))"
)
_PLAIN_NOT = _NOT.replace("?P<no>", "")
_REFUSED = compile_form(
    f"((and|but|or|so|though) )?{_NOT}( (either|both|any|all)( of)?)?( (the|those|these|that|this|"
    r"an?|my|our))?( (two|three|2|3)(?!\w))? (?!(yet|ever|used|been|so|too|that|very|sure|really|"
    r"fussy|picky|bad|doubt|of them)\b)(?P<what>\S.*)"
)
_WRONG = compile_form(
    r"(?P<what>((?!\b(whose|who|that|which|where|its)\b).)+?) (is|are) (wrong|out|no good|"
    r"not (it|right|the one|what i \w+))"
)
_BREAK = compile_form(
    rf" ?[,;.!](?=\s|$) ?| (?=(and|but|though|so) {_PLAIN_NOT}\s)|"
    r" (?=(nor|without|except|but not)\s)"
)
_LIST = compile_form(
    f"{_PLAIN_NOT} (the|an?) [^,]+(, (the|an?) [^,]+)*(?P<last>,? (and|or|nor) (the|an?) [^,]+)"
)
"""Several turned down at once: "all but the beagle, the terrier and the poodle"."""
_EACH = compile_form(r" (or|nor) | and (?=(the|an?|that|those)\s)")
_LACKS = compile_form(r"(no|without) (?!(the|that|those|these)\b)")
"""Opens what a card may itself say that it lacks."""
_NOTHING_MORE = compile_form(
    "((no|nope|nah|yes|yeah|sorry|please|thanks|and|so|but|then|i|want|meant?|take|use|it's|give|"
    r"me) ?)*((the )?((other|remaining|last|third)( (one|of (them|the \w+)))?|"
    "one (that('s| is) )?left|rest))?( (please|then|thanks))?"
)
"""All that is left to say once the rest is turned down: "so the remaining one"."""
_TALK = frozenset((
    "he", "she", "it", "i", "we", "they", "you", "that", "this", "maybe", "just", "rather", "go",
    "let", "let's", "doubt", "need", "way", "wait", "sorry", "i'd", "i'm", "it's", "take", "make",
))  # fmt: skip
"""What follows a "no" that stands for itself."""
_FILLERS = frozenset(["either", "time", "ones", "one", "pair", "both", "two", "three", "please"])


def turned_down(
    text: str, intent: Intent, lexicon_: Lexicon, context: Context
) -> tuple[str, tuple[Constraint, ...]]:
    """What an answer says besides what it turns down, and a constraint for each of these.

    Args:
        text: the answer.
        intent: what was asked for before.
        lexicon_: the catalog's words.
        context: when, where and by whom it is said.
    """
    left: list[str] = []
    refused: list[Constraint] = []
    for clause in _clauses(" ".join(text.split())):
        what = _refused_in(clause)
        parts = _EACH.split(what) if " with " not in what else [what]
        found = [_refusal(one, intent, lexicon_, context) for one in parts if what]
        told = [constraint for constraint in found if constraint is not None]
        if told and len(told) == len(found):
            refused += told
            if _LACKS.match(shadow(clause)):
                refused += [_wish(c) for c in told if c.attribute is Attribute.DESCRIPTION]
        else:
            left.append(clause)
    if not refused:
        return text, ()
    return ", ".join(c for c in left if not _NOTHING_MORE.fullmatch(shadow(c))), tuple(refused)


def _wish(refused: Constraint) -> Constraint:
    """The wish that a card says so itself: "no windows"."""
    text = f"no {' '.join(refused.values)}"
    return replace(refused, excluded=False, hard=False, phrase=True, text=text, label=text)


def _clauses(text: str) -> list[str]:
    """The parts of an answer; a list of what is turned down stays one."""
    listed = _LIST.match(shadow(text))
    if listed is not None:
        commas = re.sub(r", (?=(?:the|an?) )", " and ", text[: listed.start("last")])
        text = f"{commas}{text[listed.start('last') :].lstrip(',')}"
    return [clause for clause in _BREAK.split(text) if clause]


def _refused_in(clause: str) -> str:
    """What a clause turns down; "" where it turns nothing down."""
    said = shadow(clause)
    match = _REFUSED.fullmatch(said)
    if match is not None and match["no"] and not _is_bare(match["what"]):
        match = None  # "no give me the black one"
    match = match or _WRONG.fullmatch(said)
    return clause[match.start("what") : match.end("what")] if match else ""


def _is_bare(said: str) -> bool:
    """Whether a noun with no determiner follows: "no stripes", but "no white one please"."""
    words = [word.norm for word in read(said).words]
    opens = words[0] in _TALK or lexicon.is_no_noun(words[0]) or words[0].endswith("ly")
    return not opens and not {"one", "ones"} & set(words)


def _refusal(what: str, intent: Intent, lexicon_: Lexicon, context: Context) -> Constraint | None:
    """The constraint that what is left satisfies; None where it says more than one thing."""
    said = parse(what, lexicon_, context, answering=True)
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
