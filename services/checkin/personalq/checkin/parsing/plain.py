"""What is typed carelessly, made plain before it is read: "isnt", "last months", doubled spaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.parsing.corrected import Change, Corrected, with_changes
from personalq.checkin.parsing.text import shadow
from personalq.checkin.parsing.typos import is_word

_MONTH = "january|february|april|june|july|august|september|october|november|december"
_APOSTROPHES = tuple(
    re.compile(rf"(?<![\w'])(?:{before})(?P<here>)(?:{after})(?![\w'])")
    for before, after in (
        ("isn|aren|wasn|weren|don|doesn|didn|hasn|haven|hadn|couldn|shouldn|wouldn|can|won", "t"),
        ("i|we|you|they", "ve"),
        ("i", r"m|d(?=\s+(?:like|love|want|need|prefer|rather)\b)"),
        ("that|what|here|there|who", r"s(?=\s+\w)"),
        (
            r"(?<!the\s)(?:last|this|next|previous|past)\s+"
            r"(?:week|weekend|month|year|spring|summer|autumn|winter|night)",
            "s",
        ),
        (rf"yesterday|today|{_MONTH}", "s"),
    )
)
"""Where an apostrophe is left out; "Marches" and "Mays" may be something else."""
_SAID = tuple(
    (re.compile(rf"(?<![\w'])(?:{words})(?![\w'])"), meant)
    for words, meant in (
        (r"(?P<here>fine[\s-]?tuned)", "trained"),
        (r"(?P<here>fine[\s-]?tuning)", "training"),
        (r"(?P<here>teh|hte)", "the"),
        (r"(?P<here>adn)", "and"),
        (r"(?P<here>wiht)", "with"),
        (
            r"(?:red|orange|yellow|green|blue|purple|violet|pink|brown|black|white|gr[ae]y)"
            r"(?P<here>[\s-]colou?red)",
            "",
        ),
        (
            r"(?:^|(?:the|my|our|very)\s+)(?P<here>1st)"
            rf"(?!\s+(?:of\b|day|week|half|quarter|(?:{_MONTH}|march|may)\b))",
            "first",
        ),
    )
)
"""Several ways to say one thing."""
_STOP = r"\s*(?:[,!.…:;]+|\s-+)(?:\s+|$)"
_GREETING = re.compile(
    r"\s*[\"“]?(?:(?:hi|hello|hey|hiya|howdy|yo|greetings|good\s+(?:morning|afternoon|evening))"
    r"(?:\s+(?:there|again|all|team|everyone|folks|guys|bot))?"
    rf"(?:{_STOP}|\s+(?=(?:i|i'm|we|can|could|would|please|show|give|find|get)\b))|"
    rf"(?:ok|okay|so|well|alright|um+|uh+|hm+|er){_STOP})+"
)
_PURPOSE = re.compile(
    r"for\s+(?:the|our|my|an?|this|that|next)\s+(?P<what>[^:.,;!?\n]{1,40})"
    r"(?::\s+(?=\S)|,\s+(?=(?:i|i'd|we|you|please|show|take|give|use|make|draw|put|let|can|could|"
    r"would|render|generate|paint|create)\s))"
)
_CHOOSING = frozenset(["latest", "newest", "oldest", "trained", "made", "used"])
_SPACES = re.compile(r"(?P<here>\s{2,})")
_OF_OWNERS = tuple(
    re.compile(rf"(?P<opens>^|[,.;:!?]\s+)?(?<![\w'-])(?P<name>{name})(?P<here>)s(?=\s+\w|\W*$)")
    for name in (r"[\w-]+", r"[\w-]+\s[\w-]+")
)


def greeting(text: str) -> Span:
    """What a request opens with before it says anything: "Hi there!", "ok, so,"."""
    opening = _GREETING.match(shadow(text))
    return Span(0, opening.end() if opening else 0)


def heading(text: str, start: int, is_subject: Callable[[str], bool]) -> Span:
    """What a picture is for, where it opens the request: "for the December mailing: …"."""
    opening = _PURPOSE.match(shadow(text), start)
    said = opening["what"].split() if opening else []
    selectors = lexicon.words("selectors") | _CHOOSING
    chooses = any(is_subject(word) or word in selectors for word in said)
    if opening is None or chooses:
        return Span(start, start)
    return Span(*opening.span())


def make_plain(
    text: str, is_owner: Callable[[str], bool], *, start: int = 0, names: Iterable[str] = ()
) -> Corrected:
    """The text from `start` on, single spaces, apostrophes where they belong, one word for a thing.

    Args:
        is_owner: whether a lower-case name is an owner's; "toybox-crews teddy" is then theirs.
        names: of checkpoints, which stay as they are: "bear-finetuned-v2".
    """
    lowered = shadow(text)
    changes: list[Change] = [(Span(0, start), "")] if start else []
    for pattern in _APOSTROPHES:
        changes += [(Span(*match.span("here")), "'") for match in pattern.finditer(lowered)]
    for pattern, meant in _SAID:
        changes += [(Span(*match.span("here")), meant) for match in pattern.finditer(lowered)]
    changes += [(Span(*match.span()), " ") for match in _SPACES.finditer(lowered)]
    for pattern in _OF_OWNERS:
        changes += [
            (Span(*match.span("here")), "'")
            for match in pattern.finditer(lowered)
            if is_owner(match["name"])
            and (match["opens"] is not None or not is_word(f"{match['name']}s"))
        ]
    if text.isupper():  # shouted: nothing is a name for its capitals
        text = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    spelled = [re.escape(shadow(name)) for name in names]
    named = [Span(*m.span()) for name in spelled for m in re.finditer(name, lowered)]
    return with_changes(text, {c for c in changes if not any(c[0].meets(name) for name in named)})
