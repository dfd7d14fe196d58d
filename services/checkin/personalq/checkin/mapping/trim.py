"""What is rendered: the prompt without the words that only chose a checkpoint.

They would leak into the picture ("the April bear" has nothing to do with April). A dropped phrase
takes along what stands only for its sake: "the … one", "of the", brackets, dashes, commas.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from personalq.chassis.forms import compile_form
from personalq.checkin.intent import Attribute, Intent, Span
from personalq.checkin.mapping.edits import Edit, apply
from personalq.checkin.parsing.text import ends_before, merge, shadow

SELECTOR = (
    "(versions?|models?|builds?|checkpoints?|loras?|ones?|variants?|editions?|iterations?|"
    "releases?|revisions?|ckpts?|training|run|adapter|batch|set)"
)
_SELECTED_AFTER = compile_form(rf"( (trained|training|lora))? {SELECTOR}(?!\w)")
_OF = compile_form(r" ?(version )?of(( (the|my|our|an?|that))?(?=\s)| (it|them)(?!\w))")
_AS_WELL = compile_form(r"(by|from|in|made|trained|created|painted)\b")
"""Begins what stands beside an "of" and does not own it: "a picture by ann of a bear"."""
_OF_START = compile_form("of ")
_ONE_BEFORE = compile_form(
    rf"((?<!\w)(the|my|our|an?|that) )?(?<!\w){SELECTOR} ((that|which) )?((is|was|were|has been|i|"
    "we) )?((from|of|in|with) ((the|my) )?)?$"
)
_WAS_BEFORE = compile_form(
    r"(?<!\w)((that|which) )?((is|was|were|has been) )$|(?<!\w)(that|which) $"
)
_LEAD = compile_form(
    r"([,;:]? ?(?<!\w)(and|but|that's|(that|which) (is|was)))?([,;:]? ?(?<!\w)(not|using|use|take|"
    r"like|with|from|by|in|via|as|please|namely|i mean|make it))?([,;:]? ?(?<!\w)(the|my|our|its|"
    "an?|that))? ?$"
)
_OPEN_NP = compile_form(
    r" ?($|[,.;:!?)\]}\"”]|-+\s|(on|in|at|under|near|by|beside|behind|over|through|with|and|but|"
    r"while|to|for|from|please|inside|into|of)\b)"
)
_ARTICLE = compile_form(r"(?<!\w)(an?|the) $")
_ANOTHER = compile_form(r" (an?|the|my|our|their)(?!\w)")
"""Behind an article and what chose: "the | print team trained | a burger"."""
_ASIDE = compile_form(
    r"(^|[,.;:(\[]|(?<=\s)-+) ?((namely|i mean|use|using|and|but) )?(?P<one>(not )?(the|that|"
    r"my) ([\w'-]+ ){0,3}?ones?)(?!\w)"
)
"""Where ", the one …" may begin."""
_TO_TRAIT = compile_form(
    " ?((with|wearing|that|which|who|has|had|is|was|wears?|holding|in|and|an?|the|its|his|her) )*"
)
"""What may stand between "the one" and what is said of it."""
_GOES_ON = compile_form(r", ?(\w+ing|on|in|at|under|near|by|beside|behind|over|through|with)\b")
_BRACKETS = {"(": ")", "[": "]", "{": "}", '"': '"', "“": "”"}
_DASH_BEFORE = re.compile(r"(?<=\s)-+$|^-+$")
_DASH_AFTER = re.compile(r"-+(?=\s|$)")


def dropped(prompt: str, intent: Intent, edits: Sequence[Edit]) -> list[Span]:
    """The selecting words, grown to whole phrases ("the April build", "v3 of the")."""
    lowered = shadow(prompt)
    protected = [Span(edit.start, edit.end) for edit in edits]
    spans = [_grow(lowered, span, protected) for span in intent.selecting]
    spans += _asides(lowered, intent)
    if intent.selecting:  # "the latest cat model"
        tails = [(edit.end, _SELECTED_AFTER.match(lowered, edit.end)) for edit in edits]
        spans += [Span(end, after.end()) for end, after in tails if after]
    outside = [part for span in merge(spans) for part in _outside(span, protected)]
    outside = [_keep_of(lowered, span, protected) for span in outside]
    outside = [_lead(lowered, span, protected) for span in _bridged(lowered, outside)]
    outside = [part for span in merge(outside) for part in _outside(span, protected)]
    return _bridged(lowered, [_orphans(prompt, lowered, span) for span in outside])


def trimmed(
    prompt: str, drops: Sequence[Span], edits: Sequence[Edit] = ()
) -> tuple[str, tuple[Span, ...]]:
    """The prompt with `edits` made and `drops` left out; "" when no word is left."""
    kept: list[Edit] = []
    limit = 0
    for edit in sorted([*edits, *_cuts(prompt, drops, edits)], key=lambda e: (e.start, e.end)):
        start = max(edit.start, limit)
        if not edit.trigger and start >= edit.end and not (start == edit.end and edit.text):
            continue
        kept.append(
            Edit(start=start, end=max(edit.end, start), text=edit.text, trigger=edit.trigger)
        )
        limit = max(edit.end, limit)
    text, spans = apply(prompt, kept)
    if not any(char.isalnum() for char in text):
        return "", ()
    if not drops:
        return text, spans
    stripped = text.lstrip(" ,;:\n")
    offset = len(text) - len(stripped)
    return stripped.rstrip(), tuple(Span(s.start - offset, s.end - offset) for s in spans)


def _asides(lowered: str, intent: Intent) -> list[Span]:
    """Asides that only describe which one is meant: ", the tan one with the red scarf"."""
    about = (Attribute.DESCRIPTION, Attribute.STYLE, Attribute.ENVIRONMENT)
    told = sorted(
        c.span for c in intent.constraints if c.attribute in about and c.span and not c.action
    )
    found = []
    for match in _ASIDE.finditer(lowered):
        aside = Span(*match.span("one"))
        end = aside.end
        for span in told:
            if span.start >= end and _TO_TRAIT.fullmatch(lowered, end, span.start):
                end = span.end
        if end > aside.end or any(span.meets(aside) for span in told):
            found.append(Span(aside.start, end))
    return found


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


def _grow(lowered: str, span: Span, protected: Sequence[Span]) -> Span:
    start, end = span.start, span.end
    noun = len(lowered[:start].rstrip())
    if lowered[end : end + 2] == "'s" and all(guard.end != noun for guard in protected):
        end += 2  # "April's bear", but "bear v4's cake" is the bear's
    if after := _SELECTED_AFTER.match(lowered, end):
        end = after.end()
    if not _AS_WELL.match(lowered, start) and (of := _OF.match(lowered, end)):
        end = of.end()
        if article := ends_before(_ARTICLE, lowered, start):
            start = article.start()
        return Span(start, end)
    if (before := ends_before(_ONE_BEFORE, lowered, start)) or (
        before := ends_before(_WAS_BEFORE, lowered, start)
    ):
        start = before.start()
    if _ANOTHER.match(lowered, end) and (article := ends_before(_ARTICLE, lowered, start)):
        start = article.start()
    return Span(start, end)


def _lead(lowered: str, span: Span, protected: Sequence[Span]) -> Span:
    """Take along "using the" or ", the" when the dropped words leave its phrase empty."""
    if _stands_before(lowered, span, protected) or not _OPEN_NP.match(lowered, span.end):
        return span
    lead = ends_before(_LEAD, lowered, span.start)
    return Span(lead.start(), span.end) if lead else span


def _orphans(prompt: str, lowered: str, span: Span) -> Span:
    """Take along brackets, dashes and stops that would be left with nothing between them."""
    start, end = span.start, span.end
    while True:
        left = len(prompt[:start].rstrip(" "))
        right = len(prompt) - len(prompt[end:].lstrip(" "))
        before, after = prompt[:left][-1:], prompt[right : right + 1]
        dash = _DASH_BEFORE.search(lowered, max(0, left - 4), left)
        other = _DASH_AFTER.match(lowered, right)
        if _BRACKETS.get(before, " ") == after:
            start, end = left - 1, right + 1
        elif dash and other:
            start, end = dash.start(), other.end()
        elif dash and (not after or after in ",.;:!?)\n"):
            start = dash.start()
        elif before in ",;:" and before and (not after or after in ".!?)\n"):
            start = left - 1
        elif (not before or before in ".!?…;:\n") and after and after in ".!?…;:,":
            end = right + 1
        elif not before and other:
            end = other.end()
        elif lowered[end : end + 1] == "-" and lowered[end + 1 : end + 2].strip():
            return Span(start, end + 1)  # "v4-bear"
        else:
            return Span(start, end)


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


def _cuts(prompt: str, drops: Sequence[Span], edits: Sequence[Edit]) -> list[Edit]:
    """Deletions, with the space or comma that would be left over."""
    starts = {edit.start for edit in edits}
    ends = {edit.end for edit in edits}
    cuts: list[Edit] = []
    for span in drops:
        left = len(prompt[: span.start].rstrip(" "))
        right = len(prompt) - len(prompt[span.end :].lstrip(" "))
        before, after = prompt[:left], prompt[right:]
        if not before.rstrip(",; "):
            right = len(prompt) - len(after.lstrip(",; "))
            cuts.append(Edit(start=0, end=right, text="", trigger=False))
            continue
        if before[-1] in ",;" and (not after or after[0] in ",.;:!?" or right in starts):
            left -= 1  # "most realistic, [recently created] bear": the comma listed what is gone
            if left in ends and _GOES_ON.match(after):
                right += len(after) - len(after[1:].lstrip(" "))
                after = prompt[right:]  # "a bear, [made by ann,] in a canoe"
        joint = "" if not after or after[0] in ",.;:!?)'’" or after[0] == "\n" else " "
        if left == span.start and right == span.end:
            joint = ""  # cut out of the middle of a word or a hyphenated one
        if prompt[left - 1 : left] in ("(", "\n", "-"):
            joint = ""
        cuts.append(Edit(start=left, end=right, text=joint, trigger=False))
    return cuts
