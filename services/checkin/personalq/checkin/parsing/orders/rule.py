"""A rule of order: what people say, and what candidates are sorted by."""

from __future__ import annotations

import re
from dataclasses import dataclass

from personalq.chassis.forms import compile_form, form
from personalq.checkin.intent import OrderKey


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What is said, the key to sort by, and the place that is asked for, 1 being the first.

    Groups "n", "nth" and "n2" of the pattern are the place where it is said ("the *third*
    newest"), "but" is how many come before it ("the newest but *two*"), "among" of how many it is
    one. Where group "tail" is what orders, "not" says nothing of its own any more: "the *last* bear
    *I used*".
    """

    pattern: re.Pattern[str]
    key: OrderKey
    rank: int = 1
    hard: bool = True
    needs_head: bool = False
    """Whether it counts only before what is selected: "previous", but not "her first"."""


def rule(
    key: OrderKey, *forms: str, rank: int = 1, hard: bool = True, needs_head: bool = False
) -> Rule:
    """The rule of several forms, the first that fits, where they are whole words."""
    pattern = compile_form(rf"(?<![\w-])({form(*forms)})(?!\w)")
    return Rule(pattern=pattern, key=key, rank=rank, hard=hard, needs_head=needs_head)
