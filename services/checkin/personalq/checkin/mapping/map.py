"""The mapping stage: the matching noun gives way to the canonical trigger (paper, section III-A).

`rewritten_prompt` differs from the prompt only at the replaced words (or by one insertion);
`render_prompt` also leaves out the words that only selected (`trim`). The rules and a table of
examples: docs/prompt-rewriting.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.cards import Card
from personalq.checkin.intent import Intent, Mention, Span
from personalq.checkin.lexicon import canonical, plural
from personalq.checkin.mapping.edits import Edit, apply
from personalq.checkin.mapping.trim import SELECTOR, dropped, trimmed
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.outcome import Replacement, Rewrite
from personalq.checkin.parsing.text import ends_before, shadow

_SELECTOR_WORD = compile_form(rf"(?<![\w<-]){SELECTOR}(?![\w>-])")
_OPENS_CLAUSE = compile_form(r"(^|[,.;:!?…)]|\s-+|\b(while|when|as|because)) ?the $")
_OPENS_SCENE = compile_form(
    r"\b(an?|another|(above|among|at|behind|below|beneath|beside|by|in|inside|into|near|next to|"
    r"on|onto|over|under|with)( the)?|its|his|her|their) ([\w-]+ )?$"
)
_IN_STYLE_OF = compile_form(r"(?<!\w)in (the|an?) style of (an? |the )?")
_PHOTO_END = compile_form(
    "(photo|picture|image|sketch|watercolou?r|drawing|painting|render|illustration|portrait|"
    "cartoon|anime|art|style)$"
)
_STYLE_SUBJECTS = frozenset(
    ("painting", "drawing", "style", "art style", "illustration", "artwork")
)


def rewrite(prompt: str, intent: Intent, card: Card) -> Rewrite:
    """Put the card's trigger where the prompt names its subject. Pure.

    Every mention of the subject is replaced, mentions of other subjects are not; a possessive
    ending stays. A trigger that is already there is kept (spelled canonically). Without a noun the
    trigger is inserted; a card without triggers leaves the prompt as it is.
    """
    if not card.trigger:
        rest, _ = trimmed(prompt, dropped(prompt, intent, []))
        note = "this checkpoint has no trigger word: nothing was replaced"
        return Rewrite(rewritten_prompt=prompt, render_prompt=rest or prompt, notes=(note,))
    notes = _other_triggers(card)
    edits = _spelled_out(prompt, intent, card) or _nouns(prompt, intent, card)
    if edits:
        text, spans = apply(prompt, edits)
        render, render_spans = trimmed(prompt, dropped(prompt, intent, edits), edits)
    else:
        text, spans = _insert(prompt, card, intent)
        render, render_spans = _render_inserted(prompt, intent, card)
        notes = ("no word of the prompt names its subject: the trigger was inserted", *notes)
    return Rewrite(
        rewritten_prompt=text,
        render_prompt=render,
        trigger_spans=spans,
        render_trigger_spans=render_spans,
        replaced=tuple(
            Replacement(span=Span(edit.start, edit.end), text=said)
            for edit in edits
            if (said := prompt[edit.start : edit.end]) != edit.text
        ),
        notes=notes,
    )


def _other_triggers(card: Card) -> tuple[str, ...]:
    others = [trigger for trigger in card.triggers[1:] if trigger != card.trigger]
    named = ", ".join(f"“{trigger}”" for trigger in others)
    return (f"it also answers to {named}: say it in the prompt to use it",) if others else ()


def _spelled_out(prompt: str, intent: Intent, card: Card) -> list[Edit]:
    """Triggers and ids in the prompt: the card's own stay, its id becomes the trigger."""
    own = {trigger.casefold(): trigger for trigger in card.triggers}
    edits = []
    for span in sorted(intent.triggers):
        said = span.of(prompt)
        text = own.get(said.casefold(), card.trigger)
        edits.append(Edit(start=span.start, end=span.end, text=text, trigger=True))
    return edits


def _nouns(prompt: str, intent: Intent, card: Card) -> list[Edit]:
    edits: list[Edit] = []
    for mention in _own(prompt, intent, card):
        span = _without_colors(prompt, mention.span, card)
        if edits and span.start < edits[-1].end:
            continue
        if edits and not prompt[edits[-1].end : span.start].strip():
            edits[-1] = replace(edits[-1], end=span.end)  # "golden retriever puppy" is one dog
            continue
        edits.append(Edit(start=span.start, end=span.end, text=card.trigger, trigger=True))
    return edits


def _without_colors(prompt: str, span: Span, card: Card) -> Span:
    """The noun alone where a name begins with a color and ends in the subject: "brown [bear]"."""
    subjects = {form for s in map(canonical, card.subjects) for form in (s, plural(s))}
    said = span.of(prompt)
    first, *others = said.split(maxsplit=1)
    rest = "".join(others)
    color = lexicon.description_groups().get(canonical(first)) in lexicon.words("colors")
    if not color or canonical(said) in subjects or canonical(rest) not in subjects:
        return span
    return Span(span.end - len(rest), span.end)


def _own(prompt: str, intent: Intent, card: Card) -> list[Mention]:
    """The mentions that mean the card's subject, from left to right.

    Beside its noun, a more general one means it only where a clause begins with "the …": "my corgi
    on a pier, the dog smiles", but not "my corgi chasing the dog". A narrower one that enters the
    scene as a thing of its own, after the noun, does not: "a toy on a swing".
    """
    subjects = {canonical(subject) for subject in card.subjects}
    lowered = shadow(prompt)
    exact: list[Mention] = []
    general: list[Mention] = []
    resumed: list[Mention] = []
    for mention in sorted(intent.mentions, key=lambda m: m.span):
        shared = bool(subjects & {canonical(subject) for subject in mention.subjects})
        if not _is_general(canonical(mention.span.of(prompt)), subjects):
            apart = bool(exact and prompt[exact[-1].span.end : mention.span.start].strip())
            other = apart and _is_of_scene(mention, lowered, subjects)
            exact += [mention] if shared and not other else []
            continue
        general += [mention] if shared else []
        resumed += [mention] if ends_before(_OPENS_CLAUSE, lowered, mention.span.start) else []
    return sorted((*exact, *resumed) if exact else general, key=lambda m: m.span)


def _is_of_scene(mention: Mention, lowered: str, subjects: set[str]) -> bool:
    """Whether a noun that is none of the subjects' own comes in as "a …", "with the …"."""
    own = canonical(mention.span.of(lowered)) in subjects
    return not own and ends_before(_OPENS_SCENE, lowered, mention.span.start) is not None


def _is_general(noun: str, subjects: set[str]) -> bool:
    """Whether a noun says less than the subjects: "dog" for a corgi."""
    if noun in subjects or any(is_kind_of(noun, subject) for subject in subjects):
        return False
    return any(is_kind_of(subject, noun) for subject in subjects)


def _insert(prompt: str, card: Card, intent: Intent) -> tuple[str, tuple[Span, ...]]:
    """Insert before "model", "build" …; else beside the prompt."""
    place = _place(prompt, intent)
    if place is None:
        return _insert_plain(prompt, card)
    edit = Edit(start=place.start, end=place.start, text=f"{card.trigger} ", trigger=False)
    span = Span(place.start, place.start + len(card.trigger))
    return apply(prompt, [edit])[0], (span,)


def _render_inserted(prompt: str, intent: Intent, card: Card) -> tuple[str, tuple[Span, ...]]:
    """The trigger in the place of "model", "build" …; else beside what is left."""
    place = _place(prompt, intent)
    if place is None:
        return _insert_plain(trimmed(prompt, dropped(prompt, intent, []))[0], card)
    edits = [Edit(start=place.start, end=place.end, text=card.trigger, trigger=True)]
    return trimmed(prompt, dropped(prompt, intent, edits), edits)


def _place(prompt: str, intent: Intent) -> Span | None:
    """The "model", "build" or "one" closest to the words that select; None without one."""
    words = [Span(*match.span()) for match in _SELECTOR_WORD.finditer(shadow(prompt))]
    return (
        min(words, key=lambda word: _distance(word, intent.selecting), default=None)
        if intent.selecting
        else None
    )


def _distance(word: Span, spans: Sequence[Span]) -> int:
    return min(max(span.start - word.end, word.start - span.end, 0) for span in spans)


def _insert_plain(prompt: str, card: Card) -> tuple[str, tuple[Span, ...]]:
    """Put "<t>, " before; but "sketch of <t>", and "a harbor in the style of <t>"."""
    trigger = card.trigger
    body = prompt.strip()
    if not body:
        return trigger, (Span(0, len(trigger)),)
    subject = canonical(card.subjects[0]) if card.subjects else "style"
    ending, rest = prompt.rstrip(), ""
    if subject in _STYLE_SUBJECTS:
        said = _style_said(prompt, card)
        lead = prompt[:said] if said else f"{ending} in the style of "
        rest = f" {prompt[said:]}" if said else ""
    elif len(body.split()) <= 4 and _PHOTO_END.search(shadow(body)):
        lead = f"{ending} of "
    else:
        return f"{trigger}, {prompt}", (Span(0, len(trigger)),)
    return f"{lead}{trigger}{rest}", (Span(len(lead), len(lead) + len(trigger)),)


def _style_said(prompt: str, card: Card) -> int:
    """Where "in the style of ink" says the card's style; 0 when nothing does."""
    lowered = shadow(prompt)
    for match in _IN_STYLE_OF.finditer(lowered):
        if any(lowered.startswith(style.casefold(), match.end()) for style in card.styles):
            return match.end()
    return 0
