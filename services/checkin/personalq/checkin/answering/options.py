"""The options of a question: which one an answer names, and what it stands for."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import calendar
from personalq.checkin.answering.question_ids import Asked
from personalq.checkin.intent import Attribute, Constraint, Interval
from personalq.checkin.outcome import Option
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.numbers import number
from personalq.checkin.parsing.text import shadow

_INDEX = compile_form(
    r"(the )?((option|choice|number|no\.?|\#) ?(?P<a>\d|one|two|three|four)|"
    "(option|choice|answer) (?P<letter>[a-d])|"
    "(?P<middle>middle|one in the middle)( (one|option))?|(?P<b>first|second|third|fourth|1st|2nd|"
    r"3rd|4th)( (one|option|choice))?|(?P<c>\d)\.?|(?P<d>former|latter|last option))( please)?"
)


def named_option(plain: str, asked: Asked) -> Option | None:
    """The option an answer names by label, by value or by its place."""
    stripped = re.sub(r"^(?:the|a|an)\s+|\s+(?:one|version|please|thanks)$|[\s.!?,]+$", "", plain)
    stripped = re.sub(r"\s+(?:one|version|please)$", "", stripped).strip(" .!?,")
    for option in asked.options:
        names = {shadow(option.label), shadow(option.value)}
        names |= {re.sub(r"^(?:the|a|an)\s+", "", name) for name in names}
        if plain in names or stripped in names:
            return option
    if stripped == "any of them" or plain == "any of them":
        return Option(label="any of them", attribute=asked.attribute, value="")
    match = _INDEX.fullmatch(plain.rstrip(" .!"))
    if match is None:
        return None
    if match["d"]:
        index = 1 if match["d"] == "former" else len(asked.options)
    elif match["letter"]:
        index = "abcd".index(match["letter"]) + 1
    elif match["middle"]:
        index = (len(asked.options) + 1) // 2 if len(asked.options) % 2 else 0
    else:
        index = number(match["a"] or match["b"] or match["c"]) or 0
    if asked.attribute is Attribute.VERSION and not match["a"]:
        return None
    return asked.options[index - 1] if 1 <= index <= len(asked.options) else None


def option_constraint(option: Option, text: str, context: Context, *, excluded: bool) -> Constraint:
    """The hard constraint an option stands for."""
    base = Constraint(
        attribute=option.attribute,
        values=(option.value,),
        excluded=excluded,
        text=text,
        label=("not " if excluded else "") + option.label,
    )
    if option.attribute is Attribute.CREATED_AT:
        interval = _month(option.value, context)
        return replace(base, values=(), intervals=(interval,), label=f"trained in {option.label}")
    if option.attribute in (Attribute.STYLE, Attribute.ENVIRONMENT):
        tags = tuple(re.split(r", |\|", option.value))
        return replace(base, values=tags)
    return base


def _month(value: str, context: Context) -> Interval:
    try:
        year, month = (int(part) for part in value.split("-"))
        return calendar.month(year, month, context.zone)
    except ValueError:
        return Interval()
