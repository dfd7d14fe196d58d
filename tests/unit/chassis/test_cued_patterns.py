"""Patterns that are looked for only where one of their words stands find what they always found."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from personalq.chassis.phrases import leads, training
from personalq.chassis.phrases.patterns import Cued, compiled

_WRITTEN = Path(__file__).parents[3] / "bench" / "repo_prompts" / "written"


@cache
def _sentences(*, every: int) -> frozenset[str]:
    files = sorted(_WRITTEN.glob("*/cards.jsonl"))[::every]
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    descriptions = {" ".join(json.loads(line)["description"].split()) for line in lines}
    return frozenset(s for each in descriptions for s in each.replace(";", ".").split("."))


def test_what_fits_a_form_has_one_of_its_cues() -> None:
    """Of what cards of every fourth written set say."""
    sentences = [each.casefold() for each in _sentences(every=4)]
    fitting = 0
    for cues, form in training._FORMS:
        pattern = compiled(form)
        found = [each for each in sentences if pattern.search(each)]
        assert [each for each in found if not any(cue in each for cue in cues)] == []
        fitting += len(found)
    assert fitting >= 2_000


def test_what_leads_away_has_a_cue() -> None:
    """Of what cards of all written sets say."""
    fitting = [each for each in _sentences(every=1) if leads._AWAY.pattern.search(each)]
    assert [each for each in fitting if leads._AWAY.without(each) == each] == []
    assert len(fitting) >= 20


@pytest.mark.parametrize(
    "sentence",
    [
        "it leans gentle, trained in caves", "references were taken by us", "everything it saw",
        "works great at night", "optimised", "shows the subject", "outputs lean blue",
        "made for calm images", "one of the spring family", "Version 3", "V7", "no particular",
        "an owl, modelled like clay", "an owl filmed by day", "an owl of the collection",
        "finished as one", "it renders as ink", "it has a soft finish", "good for hills",
        "has the look of ink", "in loose brush strokes", "in a calm manner", "in ink style",
        "an owl as woodcut", "perfect for hills", "partly in ink", "think low oils",
        "all the hills went into the training", "in training it saw hills",
        "most samples were taken at dawn", "gathered at dawn", "data gathered at dawn",
        "holds up at dawn", "twelve uploads", "it gives an owl each time", "built on demand",
        "its output is calm", "an owl in every shot", "made from my photos",
        "from the last session", "from a photo shoot", "together in every frame",
    ],
)  # fmt: skip
def test_every_form_of_training_is_left_out(sentence: str) -> None:
    """One sentence for each form, with a cue of that form."""
    fitting = [cues for cues, form in training._FORMS if compiled(form).search(sentence)]
    assert fitting
    assert all(any(cue in sentence.casefold() for cue in cues) for cues in fitting)
    assert training.without_training(sentence) != sentence


@pytest.mark.parametrize(
    "sentence",
    ["an owl from the rest", "the owl myself", "an owl I love", "an owl, big as you might wish"],
)
def test_what_leads_away_is_left_out(sentence: str) -> None:
    """One sentence for each form."""
    assert leads.subject_alone(sentence) != sentence


def test_no_cue_no_change() -> None:
    """A pattern is left alone where none of its words stands."""
    cued = Cued.of((("bell",), "(bell|owl)"))
    assert cued.without("an owl") == "an owl"
    assert cued.without("an owl, a Bell") == "an , a "
