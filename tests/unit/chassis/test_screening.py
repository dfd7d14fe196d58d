"""What a pattern needs to read: never more than it does, and mostly something."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personalq.chassis.forms import compile_form
from personalq.chassis.screening import Screened, needed


@pytest.mark.parametrize(
    ("form", "literals"),
    [
        ("the (newest|latest)", {"newest", "latest"}),
        ("used (not )?once", {"used"}),
        (r"(?<!\w)(colou?r)(?= red\b)", {"color", "colour"}),
        ("(the )?owl", {"owl"}),
        (r"q[1-4]/\d\d", {"q"}),
        (r"\w+ing(?!\w)", {"ing"}),
        ("(made|built)( in | at )", {"made", "built"}),
        ("(last ){1,3}", {"last"}),
        ("(?=.*owl)x", {"owl"}),
        ("(?>first|last)", {"first", "last"}),
    ],
)
def test_what_a_pattern_needs(form: str, literals: set[str]) -> None:
    """One of the words, whichever is the rarest."""
    assert needed(compile_form(form)) == literals


@pytest.mark.parametrize("form", [r"\d+", "(owl)?", "(owl)*", "(owl|)", "(?!owl)", "[a-z]+"])
def test_what_may_be_missing_is_not_needed(form: str) -> None:
    """Then every text is looked through."""
    assert not needed(compile_form(form))


def test_no_case_is_no_literal() -> None:
    """What ignores case needs no spelling, in a part of it neither."""
    assert not needed(re.compile("owl", re.IGNORECASE))
    assert needed(re.compile("(?i:owl) cat")) == {" cat"}


_LETTERS = "abo "
_PATTERNS = st.recursive(
    st.text(_LETTERS, min_size=1, max_size=3).map(re.escape)
    | st.sampled_from([r"\w", ".", r"\b", "[ab]", "[^o]", "(?<=a)", "(?<!b )", "(?i:A)"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,2}", "+?"])).map(
            lambda told: f"(?:{told[0]}){told[1]}"
        ),
        inner.map(lambda each: f"(?={each})"),
        inner.map(lambda each: f"(?!{each})"),
        inner.map(lambda each: f"({each})"),
    ),
    max_leaves=6,
)


@given(_PATTERNS, st.text(_LETTERS, max_size=12))
def test_the_same_places_are_found(pattern: str, text: str) -> None:
    """Screening changes how long it takes, not what is found."""
    compiled = re.compile(pattern)
    found = [match.span() for match in Screened(compiled).finditer(text)]
    assert found == [match.span() for match in compiled.finditer(text)]
    first = compiled.search(text)
    screened = Screened(compiled).search(text)
    assert (screened and screened.span()) == (first and first.span())


def test_a_place_to_search_from() -> None:
    """As with `re.Pattern.search`."""
    found = Screened(re.compile("owl")).search("owl, owl", 1)
    assert found is not None
    assert found.start() == 5
