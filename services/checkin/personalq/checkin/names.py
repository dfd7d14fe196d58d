"""Runs of words that may name a checkpoint: what is looked up before parsing.

The names of most tenants come with their words; where there may be a hundred thousand, the catalog
is asked, for a prompt has a few dozen runs of words. Whether a name that exists is meant is for
`parse_identity` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from personalq.chassis.forms import compile_form
from personalq.chassis.names import name_key
from personalq.checkin.intent import Span
from personalq.checkin.parsing.text import shadow

MAX_WORDS = 6
"""Words of the longest name that is looked for."""
MAX_NAMES = 300
"""Runs asked about in one request; of a longer one the shorter runs."""
_MAX_CHARACTERS = 128

_WORD = compile_form(r"<[^<>\s]{1,64}>|\w+([-.:/@+~#']+\w+)*")
_GAP = re.compile(r"[ .'\"<>-]{0,4}")
"""What may stand between two words of a name: "Mr. Whiskers", "<s1><s2>"."""


class NameKind(Enum):
    """What a name is to its checkpoint."""

    CHECKPOINT_ID = "checkpoint id"
    TRIGGER = "trigger"
    ALIAS = "alias"
    NAME = "display name"


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A name that some checkpoint of the catalog has, as it is spelled there."""

    kind: NameKind
    spelling: str


Names = Mapping[str, Sequence[Named]]
"""What the runs of a request name; runs that name nothing are left out."""


def by_key(names: Iterable[Named]) -> Mapping[str, Sequence[Named]]:
    """Names by the form in which they are compared, to `resolve` runs with."""
    table: dict[str, list[Named]] = {}
    for named in names:
        table.setdefault(name_key(named.spelling), []).append(named)
    return {key: tuple(called) for key, called in table.items()}


def resolve(candidates: Iterable[str], known: Mapping[str, Sequence[Named]]) -> Names:
    """What the runs name, as the catalog's ResolveNames would say."""
    return {run: found for run in candidates if (found := known.get(name_key(run)))}


def runs(lowered: str) -> Iterator[tuple[Span, str]]:
    """Every run of at most six words of a shadow, the shorter ones first."""
    words = list(_WORD.finditer(lowered))
    joined = [
        _GAP.fullmatch(lowered, one.end(), other.start()) is not None
        for one, other in pairwise(words)
    ]
    for length in range(1, MAX_WORDS + 1):
        for first in range(len(words) - length + 1):
            if all(joined[first : first + length - 1]):
                span = Span(words[first].start(), words[first + length - 1].end())
                if span.end - span.start <= _MAX_CHARACTERS:
                    yield span, span.of(lowered)


def candidates(texts: Sequence[str]) -> tuple[str, ...]:
    """The runs of some texts, each once, as many as may be asked about."""
    found = sorted({run for text in texts for _, run in runs(shadow(text))}, key=_by_length)
    return tuple(found[:MAX_NAMES])


def _by_length(run: str) -> tuple[int, str]:
    return len(_WORD.findall(run)), run
