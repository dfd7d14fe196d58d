"""The mapping stage: the matching noun gives way to the canonical trigger (paper, section III-A).

`rewritten_prompt` differs from the prompt only at the replaced words (or by one insertion);
`render_prompt` also leaves out the words that only selected, because they leak into the picture.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from personalq.checkin.cards import Card
from personalq.checkin.intent import Intent, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.outcome import Replacement, Rewrite
from personalq.checkin.text import ends_before, merge, shadow

_SELECTOR = (
    r"(?:versions?|models?|builds?|checkpoints?|loras?|ones?|variants?|editions?|"
    r"iterations?|releases?|revisions?|ckpts?|training|run|adapter|batch|set)"
)
_SELECTOR_WORD = re.compile(rf"(?<![\w<-]){_SELECTOR}(?![\w>-])")
_SELECTED_AFTER = re.compile(rf"(?:\s+(?:trained|training|lora))?\s+{_SELECTOR}(?!\w)")
_OF = re.compile(r"\s*(?:version\s+)?of(?:\s+(?:the|my|our|an?|that))?(?=\s)")
_OF_START = re.compile(r"of\s+")
_ONE_BEFORE = re.compile(
    rf"(?:(?<!\w)(?:the|my|our|an?|that)\s+)?(?<!\w){_SELECTOR}\s+(?:(?:that|"
    rf"which)\s+)?(?:(?:is|was|were|has\s+been|i|we)\s+)?(?:(?:from|of|in|"
    rf"with)\s+(?:(?:the|my)\s+)?)?$"
)
_WAS_BEFORE = re.compile(
    r"(?<!\w)(?:(?:that|which)\s+)?(?:(?:is|was|were|has\s+been)\s+)$|(?<!\w)(?:that|which)\s+$"
)
_LEAD = re.compile(
    r"(?:[,;:]?\s*(?<!\w)(?:and|but|that's|(?:that|which)\s+(?:is|was)))?(?:[,;:]?\s*(?<!\w)(?:using|use|like|with|from|"
    r"by|in|via|as|please|namely|i\s+mean|make\s+it))?(?:[,;:]?\s*(?<!\w)(?:the|my|"
    r"our|an?|that))?\s*$"
)
_OPEN_NP = re.compile(
    r"\s*(?:$|[,.;:!?)]|(?:on|in|at|under|near|by|beside|behind|over|through|with|and|"
    r"but|while|to|for|from|please|inside|into|of)\b)"
)
_ARTICLE = re.compile(r"(?<!\w)(?:an?|the)\s+$")
_PHOTO_END = re.compile(
    r"(?:photo|picture|image|sketch|watercolou?r|drawing|painting|render|illustration|"
    r"portrait|cartoon|anime|art|style)$"
)
_STYLE_SUBJECTS = frozenset(
    ("painting", "drawing", "style", "art style", "illustration", "artwork")
)


@dataclass(frozen=True, kw_only=True)
class _Edit:
    """Replace [start, end) by `text`; `trigger` edits leave a trigger there."""

    start: int
    end: int
    text: str
    trigger: bool


def rewrite(prompt: str, intent: Intent, card: Card) -> Rewrite:
    """Put the card's trigger where the prompt names its subject. Pure.

    Every mention of the subject is replaced, mentions of other subjects are not; a possessive
    ending stays. A trigger that is already there is kept (spelled canonically). Without a noun the
    trigger is inserted; a card without triggers leaves the prompt as it is.
    """
    if not card.trigger:
        dropped = _drop(prompt, _dropped(prompt, intent, []))
        note = "this checkpoint has no trigger word: nothing was replaced"
        return Rewrite(rewritten_prompt=prompt, render_prompt=dropped or prompt, note=note)
    edits = _spelled_out(prompt, intent, card)
    replaced: list[_Edit] = []
    if not edits:
        edits = replaced = _nouns(prompt, intent, card)
    drops = _dropped(prompt, intent, edits)
    if edits:
        text, spans = _apply(prompt, edits)
        render, render_spans = _apply_and_drop(prompt, edits, drops)
        note = ""
    else:
        text, spans = _insert(prompt, card, intent)
        render, render_spans = _render_inserted(prompt, intent, card, drops)
        note = "no word of the prompt names its subject: the trigger was inserted"
    return Rewrite(
        rewritten_prompt=text,
        render_prompt=render,
        trigger_spans=spans,
        render_trigger_spans=render_spans,
        replaced=tuple(
            Replacement(span=Span(e.start, e.end), text=prompt[e.start : e.end]) for e in replaced
        ),
        note=note,
    )


def _spelled_out(prompt: str, intent: Intent, card: Card) -> list[_Edit]:
    """Triggers and ids in the prompt: the card's own stay, its id becomes the trigger."""
    own = {trigger.casefold(): trigger for trigger in card.triggers}
    edits = []
    for span in sorted(intent.triggers):
        said = span.of(prompt)
        text = own.get(said.casefold(), card.trigger)
        edits.append(_Edit(start=span.start, end=span.end, text=text, trigger=True))
    return edits


def _nouns(prompt: str, intent: Intent, card: Card) -> list[_Edit]:
    subjects = {canonical(subject) for subject in card.subjects}
    edits: list[_Edit] = []
    for mention in sorted(intent.mentions, key=lambda m: m.span):
        span = mention.span
        if not subjects & {canonical(subject) for subject in mention.subjects}:
            continue
        if edits and span.start < edits[-1].end:
            continue
        if edits and not prompt[edits[-1].end : span.start].strip():
            edits[-1] = replace(edits[-1], end=span.end)  # "golden retriever puppy" is one dog
            continue
        edits.append(_Edit(start=span.start, end=span.end, text=card.trigger, trigger=True))
    return edits


def _apply(prompt: str, edits: Sequence[_Edit]) -> tuple[str, tuple[Span, ...]]:
    """The prompt with edits made, and where the triggers stand in it."""
    parts: list[str] = []
    spans: list[Span] = []
    position = length = 0
    for edit in sorted(edits, key=lambda e: e.start):
        kept = prompt[position : edit.start]
        parts += [kept, edit.text]
        length += len(kept)
        if edit.trigger:
            spans.append(Span(length, length + len(edit.text)))
        length += len(edit.text)
        position = edit.end
    parts.append(prompt[position:])
    return "".join(parts), tuple(spans)


def _dropped(prompt: str, intent: Intent, edits: Sequence[_Edit]) -> list[Span]:
    """The selecting words, grown to whole phrases ("the April build", "v3 of the")."""
    lowered = shadow(prompt)
    protected = [Span(edit.start, edit.end) for edit in edits]
    spans = [_grow(lowered, span) for span in intent.selecting]
    if intent.selecting:  # "the latest cat model"
        tails = [(edit.end, _SELECTED_AFTER.match(lowered, edit.end)) for edit in edits]
        spans += [Span(end, after.end()) for end, after in tails if after]
    outside = [part for span in merge(spans) for part in _outside(span, protected)]
    outside = [_keep_of(lowered, span, protected) for span in outside]
    outside = [_lead(lowered, span, protected) for span in _bridged(lowered, outside)]
    return [part for span in merge(outside) for part in _outside(span, protected)]


def _keep_of(lowered: str, span: Span, protected: Sequence[Span]) -> Span:
    """Leave "of" before a trigger: "a photo of [the April] <t>"."""
    of = _OF_START.match(lowered, span.start, span.end)
    if of is None or not _stands_before(lowered, span, protected):
        return span
    return Span(of.end(), span.end)


def _stands_before(lowered: str, span: Span, protected: Sequence[Span]) -> bool:
    """Whether a trigger follows `span`, spaces aside."""
    following = len(lowered) - len(lowered[span.end :].lstrip())
    return any(guard.start == following for guard in protected)


def _bridged(lowered: str, spans: Sequence[Span]) -> list[Span]:
    """Dropped spans with only spaces between them become one."""
    bridged: list[Span] = []
    for span in sorted(spans):
        if bridged and not lowered[bridged[-1].end : span.start].strip(" ,"):
            bridged[-1] = Span(bridged[-1].start, max(span.end, bridged[-1].end))
        else:
            bridged.append(span)
    return bridged


def _grow(lowered: str, span: Span) -> Span:
    start, end = span.start, span.end
    if lowered[end : end + 2] == "'s":
        end += 2
    if after := _SELECTED_AFTER.match(lowered, end):
        end = after.end()
    if of := _OF.match(lowered, end):
        end = of.end()
        if article := ends_before(_ARTICLE, lowered, start):
            start = article.start()
        return Span(start, end)
    if (before := ends_before(_ONE_BEFORE, lowered, start)) or (
        before := ends_before(_WAS_BEFORE, lowered, start)
    ):
        start = before.start()
    return Span(start, end)


def _lead(lowered: str, span: Span, protected: Sequence[Span]) -> Span:
    """Take along "using the" or ", the" when the dropped words leave its phrase empty."""
    if _stands_before(lowered, span, protected) or not _OPEN_NP.match(lowered, span.end):
        return span
    lead = ends_before(_LEAD, lowered, span.start)
    return Span(lead.start(), span.end) if lead else span


def _outside(span: Span, protected: Sequence[Span]) -> list[Span]:
    """The parts of `span` that touch no protected span."""
    parts = [span]
    for guard in protected:
        parts = [
            piece
            for part in parts
            for piece in (
                (
                    Span(part.start, min(part.end, guard.start)),
                    Span(max(part.start, guard.end), part.end),
                )
                if part.meets(guard)
                else (part,)
            )
            if piece.start < piece.end
        ]
    return parts


def _cuts(prompt: str, drops: Sequence[Span], edits: Sequence[_Edit]) -> list[_Edit]:
    """Deletions, with the space or comma that would be left over."""
    triggers = {edit.start for edit in edits}
    cuts: list[_Edit] = []
    for span in drops:
        left = len(prompt[: span.start].rstrip(" "))
        right = len(prompt) - len(prompt[span.end :].lstrip(" "))
        if prompt[left - 1 : left] == "(" and prompt[right : right + 1] == ")":
            left, right = len(prompt[: left - 1].rstrip(" ")), right + 1
            right += len(prompt[right:]) - len(prompt[right:].lstrip(" "))
        before, after = prompt[:left], prompt[right:]
        if not before.rstrip(",; "):
            right = len(prompt) - len(after.lstrip(",; "))
            cuts.append(_Edit(start=0, end=right, text="", trigger=False))
            continue
        if before[-1] in ",;" and (not after or after[0] in ",.;:!?" or right in triggers):
            left -= 1  # "most realistic, [recently created] bear": the comma listed what is gone
        joint = "" if not after or after[0] in ",.;:!?)'" or after[0] == "\n" else " "
        if left == span.start and right == span.end:
            joint = ""  # cut out of the middle of a word or a hyphenated one
        if prompt[left - 1 : left] in ("(", "\n", "-"):
            joint = ""
        cuts.append(_Edit(start=left, end=right, text=joint, trigger=False))
    return cuts


def _apply_and_drop(
    prompt: str, edits: Sequence[_Edit], drops: Sequence[Span]
) -> tuple[str, tuple[Span, ...]]:
    cuts = _cuts(prompt, drops, edits)
    kept: list[_Edit] = []
    limit = 0
    for edit in sorted([*edits, *cuts], key=lambda e: (e.start, e.end)):
        start = max(edit.start, limit)
        if not edit.trigger and start >= edit.end and not (start == edit.end and edit.text):
            continue
        kept.append(
            _Edit(start=start, end=max(edit.end, start), text=edit.text, trigger=edit.trigger)
        )
        limit = max(edit.end, limit)
    text, spans = _apply(prompt, kept)
    stripped = text.lstrip(" ,;")
    offset = len(text) - len(stripped)
    return stripped.rstrip(), tuple(Span(s.start - offset, s.end - offset) for s in spans)


def _drop(prompt: str, drops: Sequence[Span]) -> str:
    return _apply_and_drop(prompt, [], drops)[0].strip(" ,;")


def _insert(prompt: str, card: Card, intent: Intent) -> tuple[str, tuple[Span, ...]]:
    """Insert before "model", "build" …; else beside the prompt."""
    lowered = shadow(prompt)
    if (match := _SELECTOR_WORD.search(lowered)) and intent.selecting:
        position = match.start()
        text = f"{prompt[:position]}{card.trigger} {prompt[position:]}"
        return text, (Span(position, position + len(card.trigger)),)
    return _insert_plain(prompt, card)


def _render_inserted(
    prompt: str, intent: Intent, card: Card, drops: Sequence[Span]
) -> tuple[str, tuple[Span, ...]]:
    """The trigger in the place of "model", "build" …; else beside what is left."""
    match = _SELECTOR_WORD.search(shadow(prompt))
    if match is None or not intent.selecting:
        return _insert_plain(_drop(prompt, drops), card)
    edit = _Edit(start=match.start(), end=match.end(), text=card.trigger, trigger=True)
    return _apply_and_drop(prompt, [edit], _dropped(prompt, intent, [edit]))


def _insert_plain(prompt: str, card: Card) -> tuple[str, tuple[Span, ...]]:
    """Put "<t>, " before; but "sketch of <t>", and "a harbor in the style of <t>"."""
    trigger = card.trigger
    body = prompt.strip()
    if not body:
        return trigger, (Span(0, len(trigger)),)
    subject = canonical(card.subjects[0]) if card.subjects else "style"
    ending = prompt.rstrip()
    if subject in _STYLE_SUBJECTS:
        lead = f"{ending} in the style of "
    elif len(body.split()) <= 4 and _PHOTO_END.search(shadow(body)):
        lead = f"{ending} of "
    else:
        return f"{trigger}, {prompt}", (Span(0, len(trigger)),)
    return f"{lead}{trigger}", (Span(len(lead), len(lead) + len(trigger)),)
