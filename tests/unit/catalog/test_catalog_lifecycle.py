"""The state that follows from what is known."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta

from support.catalog_cards import NOW, PROFILES, artifact, card, failure

from personalq.catalog.cards import Artifact, State
from personalq.catalog.lifecycle import Outcome, state_of, with_artifact, with_failure

BEAR = card("bear")
LATER = NOW + timedelta(minutes=5)


def _with_artifact(known: Outcome | None, made: Artifact) -> Outcome:
    return with_artifact(known, made, triggers=BEAR.triggers)


def test_without_artifacts_a_card_is_registered() -> None:
    """Nothing happened yet."""
    assert state_of(BEAR, [], profiles=PROFILES) == (State.REGISTERED, "")


def test_one_artifact_of_a_configured_profile_makes_it_servable() -> None:
    """An artifact of a profile nobody serves does not count."""
    ready = [_with_artifact(None, artifact(BEAR, "w8a8"))]
    assert state_of(BEAR, ready, profiles=PROFILES) == (State.SERVABLE, "")
    assert state_of(BEAR, ready, profiles=("w4a8",))[0] is State.REGISTERED


def test_a_failure_counts_only_while_nothing_is_ready() -> None:
    """FAILED names each profile's reason; any artifact outweighs it."""
    failed = with_failure(None, failure(BEAR, "w8a8"))
    ready = _with_artifact(None, artifact(BEAR, "full"))
    assert state_of(BEAR, [failed], profiles=PROFILES) == (State.FAILED, "w8a8: out of memory")
    assert state_of(BEAR, [failed, ready], profiles=PROFILES) == (State.SERVABLE, "")


def test_archived_stays_archived() -> None:
    """No artifact brings a withdrawn checkpoint back."""
    withdrawn = replace(BEAR, state=State.ARCHIVED)
    ready = [_with_artifact(None, artifact(BEAR))]
    assert state_of(withdrawn, ready, profiles=PROFILES)[0] is State.ARCHIVED


def test_the_newer_recipe_wins_in_any_order() -> None:
    """An artifact that arrives late does not replace a better one."""
    old = artifact(BEAR, recipe_version=1, digest="1" * 64, created_at=LATER)
    new = artifact(BEAR, recipe_version=2, digest="2" * 64)
    for order in itertools.permutations([old, new, old]):
        known: Outcome | None = None
        for each in order:
            known = _with_artifact(known, each)
        assert known is not None
        assert known.artifact == new


def test_an_artifact_that_protects_the_present_triggers_wins_in_any_order() -> None:
    """Triggers may change and change back: the later artifact is not always the right one."""
    right = artifact(BEAR, digest="1" * 64)
    wrong = artifact(BEAR, digest="2" * 64, created_at=LATER, triggers=("<former>",))
    for first, second in itertools.permutations([right, wrong]):
        assert _with_artifact(_with_artifact(None, first), second).artifact == right


def test_success_and_failure_in_any_order_end_the_same() -> None:
    """What counts is when it happened, not when it was heard."""
    first_fails = failure(BEAR, failed_at=NOW)
    then_ready = artifact(BEAR, created_at=LATER)
    heard_in_order = _with_artifact(with_failure(None, first_fails), then_ready)
    heard_late = with_failure(_with_artifact(None, then_ready), first_fails)
    assert heard_in_order == heard_late == Outcome(profile="w8a8", artifact=then_ready)


def test_a_failure_after_an_artifact_keeps_the_artifact() -> None:
    """A new recipe that fails leaves the old artifact in service, and is not tried for ever."""
    outcome = with_failure(
        _with_artifact(None, artifact(BEAR)), failure(BEAR, failed_at=LATER, recipe_version=2)
    )
    assert outcome.artifact is not None
    assert outcome.failed_recipe_version == 2
    assert state_of(BEAR, [outcome], profiles=PROFILES) == (State.SERVABLE, "")


def test_the_same_event_twice_is_no_news() -> None:
    """A redelivery leaves the outcome equal, so nothing is stored."""
    once = with_failure(None, failure(BEAR))
    assert with_failure(once, failure(BEAR)) == once
    ready = _with_artifact(None, artifact(BEAR))
    assert _with_artifact(ready, artifact(BEAR)) == ready
