"""The notation of forms: what a space, a "~" and a group stand for, and what stays as it is."""

import re

import pytest

from personalq.chassis.forms import compile_form, form


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("used it", "used \t it"),
        ("(the )?latest", "latest"),
        ("(the )?latest", "the  latest"),
        ("newest~but", "newest-but"),
        ("newest~but", "newest - but"),
        ("v ?3", "v3"),
        ("v ?3", "v  3"),
        ("fine~?tuned", "finetuned"),
        (r"\(owner", "(owner"),
        (r"a[( ~]b", "a~b"),
        (r"(?<=the )(old|new)", "new"),
    ],
)
def test_what_a_form_reads(written: str, text: str) -> None:
    """Blanks, hyphens, groups and classes."""
    before = "the " if written.startswith("(?<=") else ""
    assert compile_form(written).fullmatch(before + text, len(before))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("used it", "usedit"),
        ("newest~but", "newestbut"),
        (r"a[( ~]b", "a\tb"),  # in a class a blank is a blank
        (r"(?<=the )(old|new)", "new"),
    ],
)
def test_what_a_form_does_not_read(written: str, text: str) -> None:
    """Where a blank has to be, none is not enough."""
    assert not compile_form(written).fullmatch(text)


def test_groups_capture_only_what_is_named() -> None:
    """A plain group numbers nothing."""
    match = compile_form("(the )?(?P<n>second|third) (newest|latest)").fullmatch("the third newest")
    assert match
    assert match.groups() == ("third",)


def test_a_lookbehind_may_hold_a_group_and_a_bracket() -> None:
    """Its width is fixed: nothing in it is rewritten."""
    assert form(r"(?<=[,(] )owner (is|was)") == r"(?<=[,(] )owner\s+(?:is|was)"
    assert form(r"(?<!(a|b) )c d") == r"(?<!(a|b) )c\s+d"


def test_alternatives_are_one_group() -> None:
    """What is put beside several goes with each of them."""
    assert compile_form("a", "b c").fullmatch("b  c")
    assert compile_form("x" + form("a", "b") + "y").fullmatch("xby")


def test_what_is_written_for_re_stays_as_it_is() -> None:
    """Forms can be made of forms."""
    for written in (r"(?:a|b)\s+c", r"\d{1,4}(?!\w)", form("(the )?newest~but one")):
        assert form(written) == written


def test_flags() -> None:
    """As `re.compile` takes them."""
    assert compile_form("the end", flags=re.IGNORECASE).fullmatch("The END")
