"""The looks that frames hint at: "a photo of", "not the photo"."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.styles.leads import NEGATION, SCENE_PREPOSITIONS, STYLED, THAT_IS
from personalq.checkin.parsing.text import Word, ends_before

_REFUSED = compile_form(
    r"(?<!\w)(but not ((the|an?|as|in) )*|(not|isn't|wasn't|except( for)?|excluding|other than|"
    "anything but|instead of|rather than) (the|an?) )$"
)
_NO_FRAMES = frozenset(["drawn", "painted"])


def parse_look(draft: Draft) -> None:
    """A frame's look: "not the photo" rules it out, "a photo of", ", the photo," only prefers."""
    styled = any(c.attribute is Attribute.STYLE and not c.excluded for c in draft.constraints)
    chosen = {mention.span for mention in draft.mentions if mention.weight > 0}
    for word in draft.page.words:
        if word.norm not in lexicon.looks() or not draft.is_free(word) or word.span in chosen:
            continue
        negation = ends_before(NEGATION, draft.page.shadow, word.start)
        values = tags_of_look(draft, word.norm)
        framed = _frames_subject(draft, word) or _is_apposed(draft, word)
        if negation is not None and values and refuses(draft, word) and _closes(draft, word):
            whole = Span(negation.start(), word.full_end)
            draft.add(_looking(draft, whole, values, f"no {word.norm}", excluded=True))
        elif negation is None and values and (end := _styled(draft, word)):
            draft.add(_looking(draft, Span(word.start, end), values, f"a {word.norm}"))
            styled = True
        elif negation is None and values and not styled and framed:
            draft.constraints.append(_looking(draft, word.span, values, f"a {word.norm}"))
            styled = True


def _looking(
    draft: Draft, span: Span, values: tuple[str, ...], label: str, *, excluded: bool = False
) -> Constraint:
    return Constraint(
        attribute=Attribute.STYLE,
        values=values,
        excluded=excluded,
        hard=excluded,
        prefers=not excluded,
        span=span,
        text=span.of(draft.page.text),
        label=label,
    )


def _styled(draft: Draft, word: Word) -> int:
    """Where "painting-style" ends, before what is asked for; 0 for "a painting-like room"."""
    styled = STYLED.match(draft.page.shadow, word.end)
    following = draft.page.word_at(styled.end()) if styled else None
    heads = following is not None and draft.leads_to_head(following.index, reach=2)
    return styled.end() if styled and heads else 0


def _frames_subject(draft: Draft, word: Word) -> bool:
    """Whether the word frames what is shown: "a photo of", but not "with a photo of"."""
    words = draft.page.words
    following = words[word.index + 1] if word.index + 1 < len(words) else None
    before = words[word.index - 1] if word.index else None
    placed = before is not None and word.joined
    placed = placed and before is not None and before.norm in SCENE_PREPOSITIONS | {"with", "and"}
    return following is not None and following.norm == "of" and not placed


def _is_apposed(draft: Draft, word: Word) -> bool:
    """Whether the word alone says which one: ", the photo,", "that's a photo", "the bear photo"."""
    the = draft.page.words[word.index - 1] if word.index > 1 else None
    said = ends_before(THAT_IS, draft.page.shadow, word.start) is not None
    if said or (word.joined and any(noun.last == word.index for noun in draft.nouns)):
        return _closes(draft, word)
    alone = the is not None and the.norm == "the" and not the.joined and word.joined
    return alone and _closes(draft, word)


def refuses(draft: Draft, word: Word) -> bool:
    """Whether a frame is refused: "not the photo"; "with no picture on it" tells of the scene."""
    refusal = ends_before(_REFUSED, draft.page.shadow, word.start)
    if refusal is None or word.norm in _NO_FRAMES:
        return False
    first = draft.page.word_at(refusal.start())
    index = first.index if first is not None else word.index
    while index and draft.page.words[index].joined:
        index -= 1
        if draft.page.words[index].norm in SCENE_PREPOSITIONS | {"with", "without"}:
            return False
    return True


def _closes(draft: Draft, word: Word) -> bool:
    """Whether a phrase ends with the word."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    return not (following and following[0].joined) or any(
        following[0].norm in lexicon.words(kind) for kind in ("links", "prepositions")
    )


def tags_of_look(draft: Draft, word: str) -> tuple[str, ...]:
    """The catalog's tags of the looks that a frame hints at, and those that name it."""
    groups = lexicon.style_groups()
    names = {name for group in lexicon.looks()[word] for name in groups[group].words}
    names |= {name for name in draft.lexicon.style_names if word in name.split()}
    found = [
        value
        for name in sorted(names)
        if (entry := draft.lexicon.styles.get(name)) is not None
        for value in entry.exact
    ]
    return tuple(dict.fromkeys(found))
