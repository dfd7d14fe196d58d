"""From a prompt to an intent: every character is claimed by a constraint or left as content."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.checkin.intent import Attribute, Constraint, Intent, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.parsing.clauses.parse_clause import parse_clauses
from personalq.checkin.parsing.descriptions.parse_description import parse_description
from personalq.checkin.parsing.draft import Context, Draft, Tag
from personalq.checkin.parsing.environments.parse_environment import (
    parse_environment,
    parse_place_tags,
)
from personalq.checkin.parsing.nouns.find_nouns import find_nouns
from personalq.checkin.parsing.orders.parse_order import parse_order
from personalq.checkin.parsing.owners.parse_owner import parse_mine, parse_owner
from personalq.checkin.parsing.parse_identity import parse_identity
from personalq.checkin.parsing.parse_modifier import parse_modifiers
from personalq.checkin.parsing.parse_usage import parse_usage
from personalq.checkin.parsing.plain import evenly_typed, make_plain, opening, without
from personalq.checkin.parsing.set_aside import (
    leave_to_the_scene,
    set_scenes_aside,
    set_titles_aside,
)
from personalq.checkin.parsing.styles.frames import parse_look
from personalq.checkin.parsing.styles.itself import without_subjects
from personalq.checkin.parsing.styles.parse_style import parse_style
from personalq.checkin.parsing.styles.told import parse_told_style
from personalq.checkin.parsing.styles.unknown import parse_unknown_style
from personalq.checkin.parsing.subjects.parse_subject import parse_subject
from personalq.checkin.parsing.text import merge, read
from personalq.checkin.parsing.things import things
from personalq.checkin.parsing.times.parse_time import parse_time
from personalq.checkin.parsing.typos import correct
from personalq.checkin.parsing.versions.parse_version import parse_version
from personalq.checkin.vocabulary import Lexicon


def parse(prompt: str, lexicon: Lexicon, context: Context, *, answering: bool = False) -> Intent:
    """The intent of a prompt, or of an answer in free text. Pure; never raises."""

    def subjects(word: str) -> bool:
        entry = lexicon.subjects.get(word)
        return entry is not None and bool(entry.subjects)

    def is_owner(name: str) -> bool:
        return lexicon.owners.get(canonical(re.sub(r"[._-]", " ", name))) is not None

    def is_look(text: str) -> bool:
        return bool(lexicon.styles.find(read(text).words))

    opened = opening(prompt, subjects, is_look)
    steps = [without(prompt, opened)]
    steps.append(evenly_typed(steps[-1].text))
    plain = make_plain(
        steps[-1].text,
        is_owner=is_owner,
        is_subject=subjects,
        is_look=is_look,
        names=context.names,
    )
    steps.append(plain)
    steps.append(correct(plain.text, lexicon.spellings, names=context.names, subjects=subjects))
    text = steps[-1].text
    intent = _parse(text, lexicon, context, answering=answering)
    if text == prompt:
        return intent
    literal = [c.span is not None and c.span.of(text) == c.text for c in intent.constraints]
    for step in reversed(steps):
        intent = step.as_typed(intent)
    both = zip(intent.constraints, literal, strict=True)
    constraints = tuple(_quoted(c, prompt) if same else c for c, same in both)
    content = (opened, *intent.content) if opened.end else intent.content
    return replace(intent, constraints=constraints, content=content)


def _quoted(constraint: Constraint, prompt: str) -> Constraint:
    """With its words as they were typed, where they were read as others."""
    typed = constraint.span.of(prompt) if constraint.span is not None else ""
    return replace(constraint, typed=typed) if typed not in ("", constraint.text) else constraint


def _parse(prompt: str, lexicon: Lexicon, context: Context, *, answering: bool) -> Intent:
    page = read(prompt)
    draft = Draft(
        page=page,
        lexicon=lexicon,
        context=context,
        answering=answering,
        nouns=tuple(find_nouns(page, lexicon)),
        styles=tuple(
            Tag(first=first, last=last, entry=entry)
            for first, last, entry in lexicon.styles.find(page.words)
        ),
    )
    draft = replace(draft, styles=without_subjects(draft))
    parse_identity(draft)
    set_titles_aside(draft)
    set_scenes_aside(draft)
    parse_owner(draft)
    parse_time(draft)
    parse_version(draft)
    parse_usage(draft)
    parse_order(draft)
    parse_style(draft)
    parse_unknown_style(draft)
    parse_mine(draft)
    parse_environment(draft)
    parse_told_style(draft)
    parse_subject(draft)
    parse_look(draft)
    parse_description(draft)
    parse_clauses(draft)
    parse_modifiers(draft)
    if not draft.mentions and draft.unknown_subject is None:
        parse_place_tags(draft)
    for span in draft.bystanders:
        draft.release(span)
    leave_to_the_scene(draft)
    return Intent(
        constraints=_placed(draft),
        content=_content(draft),
        problems=tuple(draft.problems),
        contradiction=draft.contradiction,
        mentions=tuple(draft.mentions),
        selecting=merge(draft.selecting),
        triggers=tuple(draft.triggers),
        unknown_subject=draft.unknown_subject,
        things=things(draft),
    )


def _placed(draft: Draft) -> tuple[Constraint, ...]:
    """The constraints, descriptions with whether they stand right before the subject.

    What is chosen by may stand between: "the purple April boat".
    """
    subjects = (c.span for c in draft.constraints if c.attribute is Attribute.SUBJECT)
    start = next((span.start for span in subjects if span is not None), -1)
    starts = {start}
    for span in sorted((c.span for c in draft.constraints if c.hard and c.span), reverse=True):
        if span.end + 1 in starts:
            starts.add(span.start)

    def placed(constraint: Constraint) -> Constraint:
        described = constraint.attribute is Attribute.DESCRIPTION and constraint.span is not None
        leads = described and constraint.span is not None and constraint.span.end + 1 in starts
        fallback = placed(constraint.fallback) if constraint.fallback is not None else None
        return replace(constraint, leads=leads, fallback=fallback)

    return tuple(map(placed, draft.constraints))


def _content(draft: Draft) -> tuple[Span, ...]:
    """Runs of words that no constraint claimed."""
    runs: list[Span] = []
    previous = None
    for word in draft.page.words:
        if not draft.is_free(word):
            previous = None
            continue
        if previous is not None and word.joined:
            runs[-1] = Span(runs[-1].start, word.full_end)
        else:
            runs.append(Span(word.start, word.full_end))
        previous = word
    return tuple(runs)
