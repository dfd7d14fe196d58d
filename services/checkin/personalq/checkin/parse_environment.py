"""Training environments: "trained at the beach", "the forest one"; a scene is never one."""

from __future__ import annotations

import re

from personalq.checkin import lexicon
from personalq.checkin.draft import Draft
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.text import ends_before

_TRAINED = re.compile(
    r"(?<!\w)(?:trained|tuned|taught|shot|photographed|learned|learnt|taken|made|"
    r"created|built|captured|recorded|training\s+took\s+place)\s+"
    r"(?:(?:only|mostly|mainly|entirely|purely|outdoors|indoors)\s+)?(?:in|at|on|by|with|near|"
    r"from|using|under|around|outside|inside|against)\s+(?:the\s+|a\s+|an\s+|some\s+)?(?=\w)"
)
_OUTDOORS = re.compile(
    r"(?<!\w)(?:trained|tuned|taught|shot|photographed|learned|learnt)\s+(?=(?:out|"
    r"in)doors?\b|outside\b|inside\b|underwater\b|by the sea\b|at home\b)"
)
_MATERIAL = re.compile(
    r"[\s-]+(?:scenes?|pictures?|photos?|images?|shots?|set|data|backgrounds?|"
    r"backdrops?|settings?|environments?|shoot|photographs?|footage|material)(?!\w)"
)
_SELECTOR = (
    r"(?:one|ones|version|versions|model|models|build|checkpoint|lora|variant|edition|"
    r"training|trained|iteration|release|ckpt|set|shoot)"
)
_AFTER = re.compile(
    rf"(?:[\s-]+(?:scenes?|pictures?|photos?|images?|"
    rf"shots?))?[\s-]+{_SELECTOR}(?!\w)(?:\s+(?:one|version|model|build))?"
)
_NEGATION = re.compile(
    r"(?<!\w)(?:not|except(?:\s+for)?|other\s+than|anything\s+but|without|never|"
    r"wasn't|isn't|no)\s+(?:(?:the|a|an|ones?|that|was|is|one)\s+)*$"
)
_SET = re.compile(r"(?<!\w)from\s+(?:the|my)\s+$")
_SKIP = frozenset(
    [
        "my",
        "our",
        "your",
        "his",
        "her",
        "their",
        "me",
        "it",
        "this",
        "that",
        "purpose",
        "scratch",
        "top",
        "data",
        "photos",
        "pictures",
        "images",
    ]
)


def parse_environment(draft: Draft) -> None:
    """Claim places named as places of training."""
    words = draft.page.words
    for index in range(len(words)):
        match = draft.lexicon.environments.match_at(words, index)
        if match is None:
            continue
        count, entry = match
        span = draft.span_of(index, index + count)
        if not draft.free(span.start, span.end) or _is_subject(draft, index):
            continue
        whole = _training_phrase(draft, span, known=entry.known)
        if whole is None:
            continue
        shadow = draft.page.shadow
        negation = ends_before(_NEGATION, shadow, whole.start)
        if negation:
            whole = Span(negation.start(), whole.end)
        if not draft.free(whole.start, whole.end):
            continue
        word = canonical(span.of(draft.page.text))
        draft.add(
            Constraint(
                attribute=Attribute.ENVIRONMENT,
                values=entry.values,
                excluded=bool(negation),
                words=frozenset(canonical(value) for value in entry.exact) | {word},
                span=whole,
                text=whole.of(draft.page.text),
                label=f"{'not ' if negation else ''}trained with {word} pictures",
            ),
            selecting=True,
        )
    _unknown_places(draft)


def _is_subject(draft: Draft, index: int) -> bool:
    """Whether the place is what is pictured: "the latest mountain model", "the house one"."""
    noun = draft.noun_at(index)
    if noun is None or not noun.entry.subjects:
        return False
    if any(other.entry.subjects and other.last <= index for other in draft.nouns):
        return False  # "the cat, the mountain one"
    before = draft.page.words[index - 1] if index else None
    if before is not None and before.norm in ("the", "a", "an") and index > 1:
        before = draft.page.words[index - 2]
    return before is None or before.norm not in lexicon.words("prepositions")


def _training_phrase(draft: Draft, span: Span, *, known: bool) -> Span | None:
    """The whole phrase when the place is one of training, else None."""
    shadow = draft.page.shadow
    start, end = span.start, span.end
    lead = _lead(shadow, start)
    if lead is not None:
        if material := _MATERIAL.match(shadow, end):
            end = material.end()
        return Span(lead, end)
    if after := _AFTER.match(shadow, end):
        before = draft.page.word_before(start)
        article = before is not None and before.norm in ("the", "my", "our", "that")
        if article or after[0].startswith("-") or "trained" in after[0] or known:
            stop = (
                end if after[0].strip(" -").startswith(("one", "version", "model")) else after.end()
            )
            return Span(start, stop if "trained" not in after[0] else after.end())
    noun = draft.page.word_at(end)
    if noun is not None and noun.joined and known and draft.noun_at(noun.index):
        # "the studio bear model"
        before = draft.page.word_before(start)
        article = before is not None and before.norm in ("the", "my", "our")
        if article and draft.leads_to_selector(noun.index):
            return span
    if (lead_set := ends_before(_SET, shadow, start)) and (
        material := _MATERIAL.match(shadow, end)
    ):
        return Span(lead_set.start(), material.end())
    return span if draft.answering and known else None


def _lead(shadow: str, start: int) -> int | None:
    """Where "trained at the" begins when it ends right before `start`, else None."""
    for pattern in (_TRAINED, _OUTDOORS):
        for match in pattern.finditer(shadow, max(0, start - 60), start + 1):
            if match.end() == start:
                return match.start()
    return None


def _unknown_places(draft: Draft) -> None:
    """Claim "trained at the volcano" though no card knows volcanoes: nothing satisfies it."""
    for match in _TRAINED.finditer(draft.page.shadow):
        word = draft.page.word_at(match.end())
        if word is None or not draft.free(match.start(), word.end) or word.norm in _SKIP:
            continue
        if match[0].split()[0] not in ("trained", "tuned", "taught", "photographed"):
            continue
        if (
            draft.noun_at(word.index)
            or word.norm in lexicon.words("determiners")
            or word.norm[0].isdigit()
        ):
            continue
        end = word.end
        following = draft.page.word_at(word.full_end)
        if following is not None and following.joined and following.norm in lexicon.words("scenes"):
            end = following.end
        if material := _MATERIAL.match(draft.page.shadow, end):
            end = material.end()
        span = Span(match.start(), end)
        draft.add(
            Constraint(
                attribute=Attribute.ENVIRONMENT,
                values=(word.norm,),
                words=frozenset({word.norm}),
                span=span,
                text=span.of(draft.page.text),
                label=f"trained with {word.norm} pictures",
            ),
            selecting=True,
        )


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
        draft.constraints.append(
            Constraint(
                attribute=Attribute.ENVIRONMENT,
                values=match[1].values,
                hard=False,
                prefers=True,
                words=frozenset({canonical(span.of(draft.page.text))}),
                span=span,
                text=span.of(draft.page.text),
                label=f"{span.of(draft.page.text)} pictures",
            )
        )
