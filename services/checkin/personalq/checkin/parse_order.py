"""Order: "latest", "newest but one", "the very first", "most used", and soft "recently"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from personalq.checkin.draft import Draft
from personalq.checkin.intent import Attribute, Constraint, OrderKey, Span
from personalq.checkin.numbers import CARDINAL, ORDINAL, number

_MADE = (
    r"(?:trained|created|made|built|tuned|added|finished|released|uploaded|published|"
    r"produced|dated)"
)
_NEWEST = (
    rf"(?:most\s+up[\s-]to[\s-]date|most\s+recent(?:ly)?(?:[\s-]+{_MADE})?|most\s+current|"
    rf"most\s+lately\s+{_MADE}|newest|latest|freshest)"
)
_OLDEST = r"(?:oldest|earliest)"
_SELECTOR = (
    r"(?:one|version|model|build|checkpoint|lora|variant|edition|iteration|release|"
    r"training|run|ckpt)s?"
)
_WHO = r"(?:i|we|you|she|he|they)(?:'ve|'d)?"


@dataclass(frozen=True)
class _Rule:
    pattern: re.Pattern[str]
    key: OrderKey
    rank: int = 1
    hard: bool = True
    needs_head: bool = False


def _rule(
    pattern: str, key: OrderKey, rank: int = 1, *, hard: bool = True, needs_head: bool = False
) -> _Rule:
    return _Rule(re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)"), key, rank, hard, needs_head)


_N, _O, _L, _M = OrderKey.NEWEST, OrderKey.OLDEST, OrderKey.LAST_USED, OrderKey.MOST_USED

_RULES = (
    _rule(r"(?P<n>ORDINAL)[\s-]+most(?:[\s-]+(?:often|frequently|heavily))?[\s-]+used", _M),
    _rule(r"(?P<n>ORDINAL)[\s-]+most[\s-]+recently[\s-]+used", _L),
    _rule(
        rf"most[\s-]+(?:often[\s-]+|frequently[\s-]+|heavily[\s-]+)?used|"
        rf"(?:{_WHO}\s+)?(?:have\s+)?(?:used|use|reach\s+for|turn\s+to)\s+(?:the\s+)?most"
        r"(?:\s+(?:often|frequently|of\s+all)|(?=\s*(?:$|[^\w\s]|"
        r"(?:on|in|at|by|with|near|under|and|but|as|to|for|while|please)\b)))|"
        r"most[\s-]+popular|favou?rite|go[\s-]to|used\s+more\s+than\s+any(?:\s+other)?",
        _M,
    ),
    _rule(
        rf"most\s+recently\s+used|last[\s-]+used|"
        rf"(?:the\s+)?last(?:\s+(?:{_SELECTOR}))?\s+(?:that\s+)?(?:{_WHO}\s+)(?:have\s+)?(?:used|"
        rf"ran|rendered\s+with|worked\s+with)|"
        rf"(?:{_WHO}\s+)?(?:have\s+)?used\s+(?:last|most\s+recently|the\s+last\s+time|"
        rf"last\s+time)|(?:{_WHO}\s+)last\s+(?:used|ran|worked\s+with|rendered\s+with)",
        _L,
    ),
    _rule(
        rf"recently\s+used|(?:{_WHO}\s+)?(?:have\s+)?(?:been\s+using|used|"
        rf"was\s+using)\s+(?:recently|lately|the\s+other\s+day)|"
        rf"(?:{_WHO}\s+)?recently\s+(?:used|worked\s+with)",
        _L,
        hard=False,
    ),
    _rule(rf"(?P<n>ORDINAL)[\s-]+(?:{_NEWEST})", _N),
    _rule(rf"(?P<n>ORDINAL)[\s-]+(?:{_OLDEST})", _O),
    _rule(
        rf"(?P<n>ORDINAL)(?:[\s-]+|\s+{_SELECTOR}\s+)(?:to|from|"
        rf"before)[\s-]+(?:the\s+)?(?:last|latest|newest|end)",
        _N,
    ),
    _rule(rf"(?:{_NEWEST}|last)(?:\s+{_SELECTOR})?[\s-]+but[\s-]+(?P<but>CARDINAL)", _N),
    _rule(rf"(?:{_OLDEST}|first)(?:\s+{_SELECTOR})?[\s-]+but[\s-]+(?P<but>CARDINAL)", _O),
    _rule(
        rf"penultimate|next[\s-]+to[\s-]+(?:the\s+)?(?:last|newest|latest)|"
        rf"(?:{_SELECTOR}\s+)?(?:right\s+|just\s+)?before\s+(?:the\s+|"
        rf"my\s+)?(?:{_NEWEST}|last)(?:\s+(?:{_SELECTOR}))?|"
        rf"previous(?=\s+(?:\w+\s+){{0,2}}{_SELECTOR})|runner[\s-]up",
        _N,
        2,
    ),
    _rule(
        r"very\s+first|first[\s-]+ever|earliest|oldest|first\s+(?:one|version|model|"
        r"build|checkpoint|lora|variant|edition|iteration|release)(?:\s+ever)?|"
        r"inaugural|most\s+original",
        _O,
    ),
    _rule(
        rf"(?:older|earlier)(?=\s+(?:\w+\s+)?(?:of\s+(?:the\s+)?two|{_SELECTOR}))|"
        rf"(?:the\s+)?older(?=\s*$)|(?:the\s+)?earlier(?=\s*$)",
        _O,
    ),
    _rule(
        rf"(?:newer|later|more\s+recent)(?=\s+(?:\w+\s+)?(?:of\s+(?:the\s+)?two|"
        rf"{_SELECTOR}))|(?:the\s+)?(?:newer|later|more\s+recent)(?=\s*$)",
        _N,
    ),
    _rule(rf"(?:{_WHO}\s+)?{_MADE}\s+first", _O),
    _rule(r"first|original", _O, needs_head=True),
    _rule(
        rf"very\s+(?:last|latest|newest)|{_NEWEST}|"
        rf"(?:{_WHO}\s+)?{_MADE}\s+(?:the\s+)?(?:last|latest|most\s+recently)|"
        rf"(?:{_WHO}\s+)?last\s+{_MADE}",
        _N,
    ),
    _rule(r"last|final|current|most\s+new", _N, needs_head=True),
    _rule(
        rf"(?:quite\s+|fairly\s+|very\s+)?(?:recently|newly|freshly|lately|"
        rf"just)[\s-]+{_MADE}|{_MADE}\s+(?:very\s+|quite\s+)?(?:recently|lately|"
        rf"not\s+long\s+ago)|"
        rf"recentish|more\s+recently",
        _N,
        hard=False,
    ),
    _rule(r"recent|recently|newish", _N, hard=False, needs_head=True),
)


def _compile(rule: _Rule) -> _Rule:
    text = rule.pattern.pattern.replace("ORDINAL", ORDINAL).replace("CARDINAL", CARDINAL)
    return _Rule(re.compile(text), rule.key, rule.rank, rule.hard, rule.needs_head)


_COMPILED = tuple(_compile(rule) for rule in _RULES)
_NEW = re.compile(r"(?:(?<=\bmy )|(?<=\bour )|(?<=\bthe ))(?:brand[\s-]+)?new(?!\w)")


def parse_order(draft: Draft) -> None:
    """Claim words that order candidates; the first hard order wins, the rest only rank."""
    shadow = draft.page.shadow
    for rule in _COMPILED:
        for match in rule.pattern.finditer(shadow):
            if not draft.free(match.start(), match.end()):
                continue
            if rule.needs_head and not _before_head(draft, match):
                continue
            rank = rule.rank
            groups = match.groupdict()
            if groups.get("n"):
                rank = number(groups["n"]) or 1
            if groups.get("but"):
                rank = (number(groups["but"]) or 1) + 1
            _claim(draft, match, rule.key, min(rank, 10_000), hard=rule.hard)
    for match in _NEW.finditer(shadow):
        if draft.free(match.start(), match.end()) and _before_head(draft, match):
            _claim(draft, match, OrderKey.NEWEST, 1, hard=False)


def _before_head(draft: Draft, match: re.Match[str]) -> bool:
    following = draft.page.word_at(match.end())
    if following is None or not following.joined:
        before = draft.page.word_before(match.start())
        alone = before is None or before.norm in ("the", "my", "our")
        return alone and (draft.answering or (match[0] in ("first", "last") and before is not None))
    before = draft.page.word_before(match.start())
    if before is not None and before.joined and before.norm in ("a", "an") and match[0] != "recent":
        return False
    return draft.leads_to_head(following.index, reach=5)


_WORDS = {
    OrderKey.NEWEST: "the newest",
    OrderKey.OLDEST: "the oldest",
    OrderKey.LAST_USED: "the last used",
    OrderKey.MOST_USED: "the most used",
}


def _claim(draft: Draft, match: re.Match[str], key: OrderKey, rank: int, *, hard: bool) -> None:
    hard = hard and not any(c.attribute is Attribute.ORDER and c.hard for c in draft.constraints)
    span = Span(match.start(), match.end())
    draft.add(
        Constraint(
            attribute=Attribute.ORDER,
            order=key,
            rank=rank,
            hard=hard,
            span=span,
            text=span.of(draft.page.text),
            label=_WORDS[key] if rank == 1 else f"number {rank} from {_WORDS[key]}",
        ),
        selecting=True,
    )
