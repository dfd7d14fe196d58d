"""Training environments: "trained at the beach", "the forest one"; a scene is never one."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.environments.claim import claim_place, preferred_place
from personalq.checkin.parsing.environments.joined import (
    LIES,
    and_also,
    and_before,
    is_pictured,
    known_behind,
    or_there,
)
from personalq.checkin.parsing.environments.leads import SHOT, TRAINING, training_leads
from personalq.checkin.parsing.environments.mentioned import mentioned
from personalq.checkin.parsing.environments.named import named_phrase
from personalq.checkin.parsing.environments.places import MATERIAL, last_noun, noun_phrase, place_in
from personalq.checkin.parsing.environments.sentences import (
    TRAINING_VERB,
    come_from,
    grew_up,
    shot_then,
    trained_then,
)
from personalq.checkin.parsing.environments.told import (
    BY,
    ROOM_WHERE,
    all_that_is_told,
    is_behind_subject,
    last_named,
    prefer_told,
    told_by_what_goes_on,
)
from personalq.checkin.parsing.text import ends_before

_LAST_ONE = compile_form(
    r"(?<!\w)(last|(?P<surely>latest|newest|most recent|first)) ([\w-]+ ){1,4}?((that|which) )?(i|"
    "we)('ve| have)? (ever )?$"
)
"""Before a "trained" that says which is the last."""
_ARTICLE = compile_form(r"(?<!\w)an? $")


def parse_environment(draft: Draft) -> None:
    """Claim places named as places of training."""
    _spelled_out(draft)
    told_by_what_goes_on(draft)
    trained_then(draft)
    shot_then(draft)
    grew_up(draft)
    words = draft.page.words
    for index in range(len(words)):
        match = draft.lexicon.environments.match_at(words, index)
        if match is None:
            continue
        count, entry = match
        span = draft.span_of(index, index + count)
        if not draft.free(span.start, span.end) or is_pictured(draft, index, index + count):
            continue
        whole = named_phrase(draft, span, known=entry.known)
        if whole is not None:
            claim_place(draft, entry, span, whole)
            and_before(draft, span, whole)
        elif entry.known:
            come_from(draft, entry, span)
    mentioned(draft)
    or_there(draft)


def _spelled_out(draft: Draft) -> None:
    """Claim "trained in the mountains", "whose training pictures were taken in a lounge"."""
    for lead, surely in training_leads(draft):
        phrase = noun_phrase(draft, lead.end())
        if not phrase or not draft.free(lead.start(), phrase[-1].end):
            continue
        found = place_in(draft, phrase, surely=surely)
        if TRAINING_VERB.search(lead[0]):
            known = found is not None and found[0].known
            found = known_behind(draft, phrase[-1].end, of=known) or found
        if found is None:
            shot_by = BY.search(lead["where"]) if lead.re is SHOT else None
            if lead.re is SHOT and not shot_by and is_behind_subject(draft, lead.start()):
                prefer_told(draft, lead, phrase)
            continue
        entry, span = found
        ordered = ends_before(_LAST_ONE, draft.page.shadow, lead.start())
        if ordered and not (ordered["surely"] or not _ARTICLE.search(lead[0])):
            if entry.known and draft.free(lead.start(), span.end):
                draft.constraints.append(preferred_place(draft, entry, span))
            continue  # "the last cupcake I trained | on a skateboard"
        if ordered and not entry.known:
            continue
        end = max(span.end, last_noun(phrase, span).end)
        while (material := MATERIAL.match(draft.page.shadow, end)) and draft.free(
            end, material.end()
        ):
            end = material.end()
        if training := TRAINING.match(draft.page.shadow, end):
            end = training.end()
        lies = LIES.match(draft.page.shadow, end)
        if entry.known and lies and draft.free(end, lies.end()):
            end = lies.end()
        said: tuple[str, ...] = ()
        where = ROOM_WHERE.match(draft.page.shadow, phrase[-1].start)
        if where and draft.free(lead.start(), where.end()):
            end, said = all_that_is_told(draft, lead, where.end())
        elif not entry.known or span.end < last_named(phrase).end:
            end, said = all_that_is_told(draft, lead, end)
        if draft.free(lead.start(), end):
            matter = nature(span.of(draft.page.shadow)) is Nature.MATTER  # "under glass"
            claim_place(draft, entry, span, Span(lead.start(), end), said=said, hard=not matter)
            and_also(draft, lead.start(), end)


def parse_place_tags(draft: Draft) -> None:
    """Prefer cards of a place that is named bare, with no subject at all: "Realistic urban"."""
    words = draft.page.words
    for index, word in enumerate(words):
        match = draft.lexicon.environments.match_at(words, index)
        if match is None or not match[1].known:
            continue
        span = draft.span_of(index, index + match[0])
        before = words[index - 1] if index else None
        governed = (
            before is not None
            and word.joined
            and (
                before.norm in lexicon.words("prepositions")
                or before.norm in ("the", "a", "an", "of")
            )
        )
        if governed or not draft.free(span.start, span.end):
            continue
        draft.constraints.append(preferred_place(draft, match[1], span))
