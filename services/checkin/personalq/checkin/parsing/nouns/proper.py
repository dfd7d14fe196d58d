"""Nouns that are names: "Bear Grylls"."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.parsing.text import Page, Word

VERSION = compile_form(r"(v|ver|version)?\d+")


def is_proper(page: Page, first: int, last: int) -> bool:
    """Whether capitals stand beside capitals: "Bear Grylls", "Golden Gate Bridge"."""
    words = page.words
    if not words[first].capital or page.text.isupper() or _is_title_case(page):
        return False
    following = words[last] if last < len(words) and words[last].joined else None
    if following is not None and following.capital and not is_ordinary(following):
        return True
    before = words[first - 1] if first and words[first].joined else None
    return (
        before is not None
        and before.capital
        and before.index > 0
        and not is_ordinary(before)
        and last - first == 1
    )


def is_ordinary(word: Word) -> bool:
    """A capital that says nothing: months, acronyms of one letter, versions."""
    return (
        word.norm in lexicon.calendar("months")
        or word.norm in lexicon.calendar("seasons")
        or VERSION.fullmatch(word.norm) is not None
        or len(word.norm) <= 2
        or word.norm.startswith("<")
        or word.norm in lexicon.words("determiners")
        or word.norm in lexicon.words("prepositions")
        or word.norm in lexicon.words("selectors")
    )


def _is_title_case(page: Page) -> bool:
    """Whether capitals mean nothing here: most words have one."""
    letters = [word for word in page.words if word.norm[0].isalpha() and len(word.norm) > 3]
    return len(letters) > 2 and sum(word.capital for word in letters) > 0.6 * len(letters)
