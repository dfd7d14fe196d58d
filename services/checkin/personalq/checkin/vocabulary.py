"""The catalog's words, expanded once per revision: plurals, synonyms, looks, places."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from personalq.checkin import lexicon
from personalq.checkin.cards import Vocabulary
from personalq.checkin.lexicon import canonical, plural
from personalq.checkin.nouns import SubjectEntry, SubjectTable, heads
from personalq.checkin.text import PhraseTable


@dataclass(frozen=True, kw_only=True)
class TagEntry:
    """What a style or place word stands for in this catalog."""

    values: tuple[str, ...]
    """The catalog's tags; a group name no card has when the catalog lacks it."""
    exact: tuple[str, ...]
    """Those of them that are spelled as the person said."""
    known: bool
    """Whether some card has it."""


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """The catalog's vocabulary as phrase tables; built by `compile_lexicon`."""

    subjects: SubjectTable = field(default_factory=SubjectTable)
    styles: PhraseTable[TagEntry] = field(default_factory=PhraseTable)
    environments: PhraseTable[TagEntry] = field(default_factory=PhraseTable)
    owners: PhraseTable[str] = field(default_factory=PhraseTable)
    style_names: frozenset[str] = frozenset()


def compile_lexicon(vocabulary: Vocabulary) -> Lexicon:
    """Build the tables of a vocabulary; linear in its size."""
    lexicon_ = Lexicon(style_names=frozenset(map(canonical, vocabulary.styles)))
    _add_subjects(lexicon_.subjects, vocabulary.subjects)
    _add_styles(lexicon_.styles, vocabulary.styles)
    _add_environments(lexicon_.environments, vocabulary.environments)
    for owner in vocabulary.owners:
        lexicon_.owners.add(canonical(owner), owner)
        lexicon_.owners.add(" ".join(re.findall(r"[^\W_]+", canonical(owner))), owner)
    return lexicon_


def _by_canonical(values: Iterable[str]) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for value in sorted(set(values)):
        if key := canonical(value):
            table[key] = (*table.get(key, ()), value)
    return table


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _add_subjects(table: SubjectTable, subjects: tuple[str, ...]) -> None:
    """Exact words first, then heads of longer names, then the hand-written words."""
    known = _by_canonical(subjects)

    def put(phrase: str, entry: SubjectEntry) -> None:
        for form in (phrase, plural(phrase)):
            listed = table.listed(form)
            table.add(form, entry, replace=listed is not None and not listed.subjects)

    for phrase, values in known.items():
        put(phrase, SubjectEntry(subjects=values))
        table.add_subject(phrase, values)
    for phrase, values in known.items():
        if phrase.count(" ") == 1:
            put(phrase.replace(" ", ""), SubjectEntry(subjects=values))
    by_head: dict[str, list[str]] = {}
    for phrase, values in known.items():
        for head in heads(phrase):
            by_head.setdefault(head, []).extend(values)
    for head, found in by_head.items():
        if head not in known:
            put(head, SubjectEntry(subjects=_unique(found), kind=len(found) > 1))

    tables = lexicon.subject_tables()

    def named(noun: str) -> SubjectEntry | None:
        """The subjects of a noun or of a word that means the same."""
        found = [
            value for word in tables["same"].get(noun, (noun,)) for value in known.get(word, ())
        ]
        return SubjectEntry(subjects=_unique(found)) if found else table.same_as(noun)

    for noun, group in tables["same"].items():
        entry = named(noun) or table.get(noun) or SubjectEntry(subjects=())
        for word in group:
            put(word, entry if not entry.narrower else SubjectEntry(subjects=()))
    for noun, words in tables["narrower"].items():
        broader = named(noun) or SubjectEntry(subjects=())
        for word in words:
            own = named(word) or table.get(word)
            if own is None or not own.subjects:
                put(word, SubjectEntry(subjects=broader.subjects, narrower=True))
            else:
                put(word, own)
    for word, nouns in tables["kinds"].items():
        related = table.related(word)
        of_kind = [own for own in map(table.get, nouns) if own is not None and not own.narrower]
        if related is not None and related.kind:
            of_kind.append(related)
        meant = _unique(subject for own in of_kind for subject in own.subjects)
        put(word, SubjectEntry(subjects=meant, kind=True))


def _tag_entry(known: dict[str, tuple[str, ...]], word: str, pool: Iterable[str]) -> TagEntry:
    exact = known.get(word, ())
    values = _unique((*exact, *(tag for name in sorted(pool) for tag in known.get(name, ()))))
    return TagEntry(values=values, exact=exact, known=bool(values))


def _add_styles(table: PhraseTable[TagEntry], styles: tuple[str, ...]) -> None:
    known = _by_canonical(styles)
    groups = lexicon.style_groups()
    for group in groups.values():
        pool: set[str] = set(group.words)
        if not any(word in known for word in pool):
            pool = {word for name in group.cousins for word in groups[name].words}
        for word in group.words:
            entry = _tag_entry(known, word, pool)
            if not entry.known:
                if word in lexicon.weak_style_words():
                    continue
                entry = TagEntry(values=(group.name,), exact=(), known=False)
            table.add(word, entry, replace=bool(entry.exact))
    for word, values in known.items():
        bare = word.removesuffix(" style")
        for phrase in {word, bare}:
            table.add(phrase, TagEntry(values=values, exact=values, known=True))


def _add_environments(table: PhraseTable[TagEntry], environments: tuple[str, ...]) -> None:
    known = _by_canonical(environments)
    for word, values in known.items():
        table.add(word, TagEntry(values=values, exact=values, known=True))
    for name, group in lexicon.environment_groups().items():
        for word in group:
            entry = _tag_entry(known, word, group)
            if not entry.known:
                # "the forest one" where places are called "deep forest"
                longer = [v for phrase, v in known.items() if group & set(phrase.split())]
                values = _unique(tag for found in longer for tag in found)
                entry = TagEntry(values=values or (name,), exact=(), known=bool(values))
            table.add(word, entry)
