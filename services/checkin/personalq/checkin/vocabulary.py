"""The catalog's words, expanded once per revision: plurals, synonyms, looks, places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from personalq.checkin import lexicon
from personalq.checkin.cards import Vocabulary
from personalq.checkin.labels import Label, look_labels, place_labels
from personalq.checkin.lexicon import canonical, plural, thesaurus, wordnet
from personalq.checkin.nouns import SubjectEntry, SubjectTable, heads, nickname
from personalq.checkin.parsing.text import PhraseTable
from personalq.checkin.parsing.typos import spellings_of
from personalq.checkin.places import Tags, tags_by_group


@dataclass(frozen=True, kw_only=True)
class TagEntry:
    """What a style or place word stands for in this catalog."""

    values: tuple[str, ...]
    """The catalog's tags; a group name no card has when the catalog lacks it."""
    exact: tuple[str, ...]
    """Those of them that are spelled as the person said."""
    known: bool
    """Whether some card has it."""
    near: bool = False
    """The catalog has none of it; the values only come close."""
    wider: tuple[str, ...] = ()
    """Tags that it may mean where no card has any of `values`: the hangar of an airfield."""


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """The catalog's vocabulary as phrase tables; built by `compile_lexicon`."""

    subjects: SubjectTable = field(default_factory=SubjectTable)
    styles: PhraseTable[TagEntry] = field(default_factory=PhraseTable)
    environments: PhraseTable[TagEntry] = field(default_factory=PhraseTable)
    places: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Canonical tags of environments to their spellings."""
    looks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The same of styles."""
    place_tags: Tags = field(default_factory=Tags)
    """The same tags, by what is related to them."""
    owners: PhraseTable[str] = field(default_factory=PhraseTable)
    nicknames: PhraseTable[str] = field(default_factory=PhraseTable)
    """What else owners are called; only where it is said that something is theirs."""
    style_names: frozenset[str] = frozenset()
    spellings: tuple[str, ...] = ()
    """Words of the catalog that a mistyped word may mean."""
    look_labels: tuple[Label, ...] = ()
    """The looks of cards, for what may be like one."""
    told_look_labels: tuple[Label, ...] = ()
    """The same, for what says that it tells a look."""
    place_labels: tuple[Label, ...] = ()
    """The places of cards, for what no table lists."""


def compile_lexicon(vocabulary: Vocabulary) -> Lexicon:
    """Build the tables of a vocabulary; linear in its size."""
    tags = (*vocabulary.styles, *vocabulary.environments)
    named = (*vocabulary.subjects, *tags, *vocabulary.owners)
    places = _by_canonical(vocabulary.environments)
    lexicon_ = Lexicon(
        places=places,
        looks=_by_canonical(vocabulary.styles),
        place_tags=Tags(places),
        style_names=frozenset(map(canonical, vocabulary.styles)),
        spellings=spellings_of(map(canonical, named)),
        look_labels=look_labels(vocabulary.styles),
        told_look_labels=look_labels(vocabulary.styles, told=True),
        place_labels=place_labels(vocabulary.environments),
    )
    _add_subjects(lexicon_.subjects, vocabulary.subjects)
    _add_styles(lexicon_.styles, vocabulary.styles)
    _add_environments(lexicon_.environments, places, lexicon_.place_tags)
    for owner in vocabulary.owners:
        lexicon_.owners.add(canonical(owner), owner)
        lexicon_.owners.add(" ".join(_words_of(owner)), owner)
    _add_nicknames(lexicon_, vocabulary.owners)
    return lexicon_


def _words_of(owner: str) -> list[str]:
    return re.findall(r"[^\W_]+", canonical(owner))


GROUPS = ("team", "crew", "studio", "group", "lab", "atelier", "house", "agency", "workshop")
"""What several people who own checkpoints call themselves: "team-comet"."""


def _add_nicknames(lexicon_: Lexicon, owners: tuple[str, ...]) -> None:
    """What owners are called: "oskar" for "freelance-oskar", "comet team" for "team-comet"."""
    parts_of = Counter(part for owner in owners for part in _words_of(owner))
    tables = (lexicon_.subjects, lexicon_.styles, lexicon_.environments)
    for owner in owners:
        parts = _words_of(owner)
        if len(parts) == 2 and parts[0] in GROUPS and len(parts[1]) > 2:
            lexicon_.nicknames.add(f"{parts[1]} {parts[0]}", owner)
        for part in parts:
            named = len(parts) == 2 and part != parts[0] and parts[0] in GROUPS  # studio-kestrel
            known = not named and wordnet.look_up(wordnet.base(part)) is not None
            known = known or any(table.get(part) is not None for table in tables)
            if not known and len(part) > 3 and parts_of[part] == 1:
                lexicon_.nicknames.add(part, owner)
                lexicon_.nicknames.add(f"{part}s", owner)


def _by_canonical(values: Iterable[str]) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for value in sorted(set(values)):
        if key := canonical(value):
            table[key] = (*table.get(key, ()), value)
    return table


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


_TOYS = ("toy", "plush", "plushie")
"""Words that stand on either side of what the toy is."""


def _add_subjects(table: SubjectTable, subjects: tuple[str, ...]) -> None:
    """Exact words first, then heads of longer names, then the hand-written words."""
    known = _by_canonical(subjects)

    def put(phrase: str, entry: SubjectEntry) -> None:
        for form in (phrase, plural(phrase)):
            listed = table.listed(form)
            table.add(form, entry, replace=listed is not None and not listed.subjects)

    same = {word: group for group in lexicon.subject_tables()["same"].values() for word in group}
    for phrase, values in known.items():
        table.add_subject(phrase, values)
    for phrase, values in known.items():
        named_too = [value for word in same.get(phrase, ()) for value in known.get(word, ())]
        meant = _unique((*values, *named_too, *table.kinds_of(phrase, known)))
        put(phrase, SubjectEntry(subjects=meant))
    for phrase, values in known.items():
        if phrase.count(" ") == 1:
            put(phrase.replace(" ", ""), SubjectEntry(subjects=values))
    for phrase, values in known.items():
        first, _, rest = phrase.partition(" ")
        if first in _TOYS and rest:
            put(f"{rest} {first}", SubjectEntry(subjects=values))
        before, _, last = phrase.rpartition(" ")
        if last in _TOYS and before:  # "toy robot" for "robot toy"
            put(f"{last} {before}", SubjectEntry(subjects=values))
        name = nickname(phrase)
        if name and name not in known and phrase.partition(" ")[2] in known:
            put(name, SubjectEntry(subjects=values))
    by_head: dict[str, list[str]] = {}
    for phrase, values in known.items():
        for head in heads(phrase):
            by_head.setdefault(head, []).extend(values)
    for head, found in by_head.items():
        if head not in known:  # "bike" is any bicycle, though a catalog has mountain bikes
            found += [value for word in same.get(head, ()) for value in known.get(word, ())]
            found += table.surely_below(head)  # "chair" is any armchair beside egg chairs
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
            put(word, entry)
    for noun, words in tables["narrower"].items():
        broader = named(noun) or SubjectEntry(subjects=())
        for word in words:
            own = named(word) or table.get(word)
            if own is None or not own.subjects:
                put(word, SubjectEntry(subjects=broader.subjects, narrower=True))
            else:
                put(word, own)

    def kinds_of(noun: str, word: str) -> SubjectEntry | None:
        """The subjects of a noun that a word may stand for; of a wider noun's, no kinds of it."""
        own = table.get(noun)
        wider = not {word, *same.get(word, ())}.isdisjoint(tables["narrower"].get(noun, ()))
        return None if own is None or own.narrower or (own.kind and wider) else own

    for word, nouns in tables["kinds"].items():
        related = table.related(word)
        of_kind = [own for noun in nouns if (own := kinds_of(noun, word)) is not None]
        if related is not None and related.kind:
            of_kind.append(related)
        meant = _unique(subject for own in of_kind for subject in own.subjects)
        put(word, SubjectEntry(subjects=meant, kind=True))
    for phrase, values in known.items():
        for word in filter(_means_little_else, thesaurus.others_for(phrase)):
            if not _only_describes(word, known):
                put(canonical(word), SubjectEntry(subjects=values))


def _only_describes(word: str, known: Mapping[str, object]) -> bool:
    """Whether a word for a kind is a subject and how it is, which a card of another kind may say:
    "squeaky duck", for a rubber duck.
    """
    *how, noun = canonical(word).split()
    entry = wordnet.look_up(how[0]) if len(how) == 1 else None
    plain = entry is not None and entry.adjective is not None  # not "china doll"
    plain = plain and not how[0].endswith("ing")  # nor "standing lamp"
    return plain and noun in known and thesaurus.is_quality(how[0])


def _means_little_else(word: str) -> bool:
    """Whether a word for a thing names a subject: not "slate", a blackboard, nor "pint", a mug."""
    return len(word.split()) > 1 or "-" in word or len(wordnet.senses(word, said=False)) < 2


def _tag_entry(
    known: dict[str, tuple[str, ...]], word: str, pool: Iterable[str], *, near: bool = False
) -> TagEntry:
    exact = known.get(word, ())
    values = _unique((*exact, *(tag for name in sorted(pool) for tag in known.get(name, ()))))
    return TagEntry(values=values, exact=exact, known=bool(values), near=near and not exact)


def _add_styles(table: PhraseTable[TagEntry], styles: tuple[str, ...]) -> None:
    """Words of a look stand for every tag of that look, however it is worded."""
    known = _by_canonical(styles)
    groups = lexicon.style_groups()
    tags: dict[str, set[str]] = {name: set() for name in groups}
    for tag in known:
        tags.setdefault(lexicon.look_of(tag), set()).add(tag)
    for group in groups.values():
        own = tags[group.name]
        pool = own or {tag for name in group.cousins for tag in tags[name]}
        for word in group.words:
            entry = _tag_entry(known, word, pool, near=not own)
            if not entry.known:
                if word in lexicon.weak_style_words():
                    continue
                entry = TagEntry(values=(group.name,), exact=(), known=False)
            table.add(word, entry, replace=bool(entry.exact))
    for group in groups.values():
        for word in group.also if tags[group.name] else ():
            listed = table.get(word)
            if listed is None or listed.near or not listed.known:
                table.add(word, _tag_entry(known, word, tags[group.name]), replace=True)
    for word in known:
        pool = next((found for found in tags.values() if word in found), {word})
        for phrase in {word, _bare(word)}:
            table.add(phrase, _tag_entry(known, word, pool))


def _bare(style: str) -> str:
    """A style without the words that only say it is one: "vintage look"."""
    words = style.split()
    while len(words) > 1 and words[-1] in lexicon.words("style_words"):
        words.pop()
    return " ".join(words)


def _add_environments(
    table: PhraseTable[TagEntry], known: dict[str, tuple[str, ...]], tags: Tags
) -> None:
    """A place stands for all that mean it; near places only when there is none of it."""
    own = tags_by_group(known)
    unknown: dict[str, str] = {}
    for name, group in sorted(lexicon.environment_groups().items(), key=lambda g: not own[g[0]]):
        pool = own[name] or {tag for n in lexicon.near_places().get(name, ()) for tag in own[n]}
        for word in group:
            same = _alike(word, pool, group) if word in known else pool
            entry = _tag_entry(known, word, same, near=not own[name])
            others = _tag_entry(known, word, pool).values if word in known else ()
            entry = replace(entry, wider=tuple(v for v in others if v not in entry.values))
            if entry.known:
                table.add(word, entry)
            else:
                unknown.setdefault(word, name)
    for word, values in known.items():
        for form in (word, plural(word), *wordnet.singulars(word)):
            table.add(form, TagEntry(values=values, exact=values, known=True))
    for name, words in lexicon.same_places().items():
        listed = {word: table.get(word) for word in (name, *words)}
        named = next((each for each in listed.values() if each and each.known), None)
        if named is None:
            continue
        for word, each in listed.items():
            if not (each and each.known):
                table.add(word, TagEntry(values=named.values, exact=(), known=True), replace=True)
                unknown.pop(word, None)
    for word, name in unknown.items():
        found = tags.related(word) or tags.related(name)
        values = _unique(value for tag in sorted(found) for value in known[tag])
        table.add(word, TagEntry(values=values or (name,), exact=(), known=bool(values)))


def _alike(tag: str, pool: Iterable[str], group: frozenset[str]) -> set[str]:
    """Which of a group's tags mean what a tag says: "woods" a forest, but "meadow" no wheat field,
    and "airfield" no hangar.
    """
    apart = lexicon.places_apart()
    if tag in apart:
        return {tag}
    alike = {t for t in pool if t in group or " " not in t or tag in t.split()}
    return {t for t in alike if t not in apart or tag in t.split()}
