"""What a noun of a request stands for in a catalog: a subject, a word for one, a kind, or none.

The catalog's own words and the hand-written ones (`lexicon/subjects.toml`) are a phrase table. What
they do not say is resolved from the request's side: WordNet tells what the noun is, and the synsets
above it are met with those of the catalog's subjects. Siblings never match: a wolf is no dog.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache

from personalq.checkin import lexicon
from personalq.checkin.lexicon import wordnet
from personalq.checkin.parsing.text import PhraseTable, Word

_LONGEST = 4
"""Words of the longest noun phrase that is looked up."""
_FIRST = 0.7
"""Weight a sense must have against the likeliest for its kinds to count."""
_NO_HEADS = (wordnet.Nature.PLACE, wordnet.Nature.ABSTRACT, wordnet.Nature.NO_NOUN)
"""What is no shorter word for a longer name: "top" for "high-top"."""


@dataclass(frozen=True, kw_only=True)
class SubjectEntry:
    """What a noun phrase stands for in this catalog."""

    subjects: tuple[str, ...]
    """The catalog's subjects; empty when the noun is known but the catalog has none."""
    narrower: bool = False
    """The phrase says more than the subject ("corgi" for "dog"): rank by it as well."""
    kind: bool = False
    """A general word ("pet"): more than one subject may be meant."""


@dataclass
class SubjectTable(PhraseTable[SubjectEntry]):
    """Subject phrases of a catalog; other nouns are resolved when a request says them."""

    same: dict[int, dict[str, None]] = field(default_factory=dict)
    """Subjects, in order, by the synsets they are likely to mean."""
    below: dict[int, dict[str, None]] = field(default_factory=dict)
    """Subjects, in order, by the synsets they are a kind of."""

    def get(self, phrase: str) -> SubjectEntry | None:
        """The entry of exactly this canonical phrase, from the table or from WordNet."""
        entry = self.listed(phrase)
        return entry if entry is not None and entry.subjects else self.related(phrase) or entry

    def listed(self, phrase: str) -> SubjectEntry | None:
        """The entry of the table alone."""
        return super().get(phrase)

    def match_at(self, words: tuple[Word, ...], index: int) -> tuple[int, SubjectEntry] | None:
        """(words used, entry) of the longest phrase at `index` that means a subject."""
        listed = super().match_at(words, index)
        shortest = listed[0] if listed is not None and listed[1].subjects else 0
        longest = 1 if words[index].hyphen else _reach(words, index)  # an "oil-painted turtle"
        for length in range(longest, shortest, -1):
            phrase = " ".join(word.norm for word in words[index : index + length])
            entry = self._said(words, index, phrase) if length == 1 else self._compound(phrase)
            if entry is not None:
                return length, entry
        return listed

    def _said(self, words: tuple[Word, ...], index: int, word: str) -> SubjectEntry | None:
        """The entry of a single word, unless the sentence uses it otherwise."""
        entry = wordnet.look_up(wordnet.base(word))
        if entry is None or entry.mostly_adjective or lexicon.is_no_noun(word):
            return None
        before = words[index - 1].norm if index and words[index].joined else ""
        if word in lexicon.colours() and (
            before not in ("a", "an", "my") or _chooses(words, index)
        ):
            return None  # "a salmon", but not "the salmon one"
        following = words[index + 1].norm if index + 1 < len(words) else ""
        determined = (
            before == "of"
            or before in lexicon.words("determiners")
            or following in ("whose", "who", "wearing")
        )
        if not determined and (entry.mostly_verb or word in lexicon.words("continuations")):
            return None  # "a fly", but not "birds fly"
        return self.same_as(word) if word in lexicon.words("scenes") else self.related(word)

    def _compound(self, phrase: str) -> SubjectEntry | None:
        """The entry of a compound that its last words alone would not give."""
        picture = phrase.endswith(("painting", "drawing")) and wordnet.look_up(phrase) is not None
        if _is_broken(phrase) and not picture:
            return None
        colour, _, thing = phrase.partition(" ")
        if colour in lexicon.colours() and (known := self.listed(thing)) and known.subjects:
            return None  # a white cake is a cake in white, where cards are of cakes
        entry = self.related(phrase)
        if entry is None:
            return self.listed(phrase.replace(" ", "")) or self._by_another_name(phrase)
        if not entry.narrower and not entry.kind:
            return entry
        rest = phrase.split()[1:]
        tails = (self.get(" ".join(rest[start:])) for start in range(len(rest)))
        given = any(t is not None and set(t.subjects) <= set(entry.subjects) for t in tails)
        return None if given else entry

    def _by_another_name(self, phrase: str) -> SubjectEntry | None:
        """The entry of a compound whose first word has a synonym: "bookstore logo"."""
        first, _, rest = phrase.partition(" ")
        names = (name for number in meant(first, said=False) for name in wordnet.synset(number)[2])
        listed = (self.listed(f"{name} {rest}") for name in names if rest)
        return next((entry for entry in listed if entry is not None and entry.subjects), None)

    def same_as(self, phrase: str) -> SubjectEntry | None:
        """The subjects that mean the same as a noun."""
        senses = (*meant(phrase), *_as_person(phrase))
        found = next((self.same[number] for number in senses if number in self.same), {})
        return SubjectEntry(subjects=tuple(found)) if found else None

    def related(self, phrase: str) -> SubjectEntry | None:
        """The subjects WordNet relates a noun to: the same, else of its kind, else what it is."""
        entry = self.same_as(phrase)
        if entry is not None:
            return entry
        senses = meant(phrase)
        of_kind = _merged(self.below[n] for n in senses if n in self.below and n not in _general())
        if of_kind:
            return SubjectEntry(subjects=of_kind, kind=True)
        for number in _first_of_all(phrase, senses):
            for parent in _above(number)[1:]:
                if parent in self.same and parent not in _general() | _people():
                    return SubjectEntry(subjects=tuple(self.same[parent]), narrower=True)
        return None

    def is_other_thing(self, compound: str, head: str) -> bool:
        """Whether a compound is none of the subjects its last word stands for here.

        "sea horse" is no horse; a "coffee pot" is a pot, but not the teapot that "pot" would mean.
        """
        if is_other_thing(compound, head):
            return True
        entry = self.get(head)
        if entry is None or not entry.kind or _says_how(compound) or not meant(compound):
            return False
        return self.related(compound) is None

    def kinds_of(self, phrase: str, known: Collection[str]) -> tuple[str, ...]:
        """Subjects that a subject's name stands for too: a "mug" may be called "coffee mug".

        Args:
            known: the canonical names of all subjects.
        """
        senses = [n for n in meant(phrase, said=False) if n not in _general()]
        kinds = _merged(self.below.get(n, ()) for n in senses)
        longer = tuple(name for name in kinds if _is_longer(lexicon.canonical(name), phrase, known))
        return _merged((*(self.same.get(n, ()) for n in senses), longer))

    def surely_below(self, phrase: str) -> tuple[str, ...]:
        """Subjects that are first of all of a noun's kind: a scooter is a duck in WordNet too."""
        senses = {n for n in meant(phrase) if n not in _general()}
        return tuple(
            name
            for name in _merged(self.below.get(n, ()) for n in senses)
            if _is_mostly(_meant_by_tail(lexicon.canonical(name)), senses)
        )

    def add_subject(self, phrase: str, values: tuple[str, ...]) -> None:
        """Let nouns that WordNet relates to a subject find it."""
        senses = meant(phrase, said=False)
        for number in senses:
            self.same.setdefault(number, {}).update(dict.fromkeys(values))
        kinds = {parent for number in senses for parent in _above(number)[1:]}
        tail = phrase
        while not kinds and " " in tail:  # "robot vacuum" is a kind of vacuum
            tail = tail.partition(" ")[2]
            kinds = {parent for number in meant(tail, said=False) for parent in _above(number)}
        for noun in _hand_written_kinds().get(phrase, ()):
            kinds |= {parent for number in meant(noun, said=False) for parent in _above(number)}
        for number in kinds:
            self.below.setdefault(number, {}).update(dict.fromkeys(values))


def _meant_by_tail(phrase: str) -> tuple[int, ...]:
    """What a phrase likely means, or else its last words: "club armchair"."""
    senses = meant(phrase)
    while not senses and " " in phrase:
        phrase = phrase.partition(" ")[2]
        senses = meant(phrase)
    return senses


def _is_mostly(senses: tuple[int, ...], kind: set[int]) -> bool:
    """Whether at least half of what a noun may mean is of a kind."""
    below = sum(not kind.isdisjoint(_above(number)) for number in senses)
    return 0 < len(senses) <= 2 * below


def _is_longer(name: str, phrase: str, known: Collection[str]) -> bool:
    """Whether a name only says more than another: no "robot dog" where there are robots."""
    before = name.removesuffix(f" {phrase}")
    return before != name and before not in known


def _as_person(phrase: str) -> tuple[int, ...]:
    """Who a noun may mean, however seldom: a "fireman" is a firefighter, a pitcher, a stoker."""
    return tuple(n for n in meant(phrase, said=False) if wordnet.synset(n)[0] == "p")


def nickname(phrase: str) -> str:
    """The name that a kind goes by without its noun: "bengal" of "bengal cat", "" of most."""
    name, _, noun = phrase.partition(" ")
    known = wordnet.look_up(name) is not None or lexicon.is_no_noun(name)
    listed = name in lexicon.description_groups() or name in lexicon.colours()
    look = any(name in group.words for group in lexicon.style_groups().values())
    return "" if known or listed or look or not name.isalpha() or not noun else name


def heads(phrase: str) -> tuple[str, ...]:
    """Shorter words for a longer name: "clock" for "grandfather clock", nothing for "hot dog"."""
    if phrase in lexicon.compounds():
        return ()
    parts = phrase.split()
    tails = (" ".join(parts[start:]) for start in range(1, len(parts)))
    senses = meant(phrase, said=False)
    above = {parent for number in senses for parent in _above(number)}
    return tuple(
        tail
        for tail in tails
        if not lexicon.is_no_noun(parts[-1])
        and not tail.startswith(("sized ", "shaped "))  # "pocket-sized bear"
        and wordnet.nature(tail) not in _NO_HEADS
        and (not senses or above & set(meant(tail, said=False)))
    )


def is_other_thing(compound: str, head: str) -> bool:
    """Whether WordNet knows a compound as no kind of its last word ("sea horse")."""
    if _says_how(compound):
        return False
    of_head = set(meant(head, said=False))
    apart = "pthlsm" if any(wordnet.synset(n)[0] in "vf" for n in of_head) else "pthlsmv"
    senses = [n for n in meant(compound, said=False) if wordnet.synset(n)[0] not in apart]
    return bool(senses and of_head) and not any(of_head & set(_above(n)) for n in senses)


@lru_cache(maxsize=16384)
def is_kind_of(noun: str, other: str) -> bool:
    """Whether a noun is the same as another or says more: "corgi" and "dog"."""
    wanted = set(meant(other, said=False))
    return any(wanted.intersection(_above(number)) for number in meant(noun, said=False))


def is_worn(noun: str) -> bool:
    """Whether somebody may be dressed in it: "hat", "kilt", "skirt"."""
    return lexicon.is_wearable(noun) or is_kind_of(noun, "clothing")


def _says_how(compound: str) -> bool:
    """Whether the first word only describes: "a fat cat" is a cat, whatever else it may be."""
    first = wordnet.look_up(compound.partition(" ")[0])
    return first is not None and first.describes


def _first_of_all(phrase: str, senses: tuple[int, ...]) -> tuple[int, ...]:
    """The senses close to the likeliest: an orange is a fruit first, an oak a tree and not wood."""
    weights = wordnet.weights(phrase)
    stuff = set(wordnet.senses("material", said=False))
    things = {n: weights.get(n, 1.0) for n in senses if stuff.isdisjoint(wordnet.above(n))}
    top = max(things.values(), default=0.0)
    return tuple(number for number, weight in things.items() if weight >= _FIRST * top)


@lru_cache(maxsize=16384)
def meant(phrase: str, *, said: bool = True) -> tuple[int, ...]:
    """The synsets a noun likely means: WordNet's, corrected by the hand-written file."""
    senses = _corrected(phrase, said=said)
    if senses or wordnet.look_up(phrase) is not None:
        return senses
    others = _hand_written_names().get(phrase, ())
    if " " in phrase and not _is_broken(phrase):
        others = (*others, phrase.replace(" ", ""))  # "tea pot", but not "cab in"
    return next((found for word in others if (found := _corrected(word, said=said))), ())


def _corrected(phrase: str, *, said: bool) -> tuple[int, ...]:
    singular = wordnet.base(phrase)
    wanted = lexicon.subject_senses().get(singular)
    if wanted is not None:
        kinds = set(wordnet.senses(wanted, said=False))
        return tuple(n for n in wordnet.weights(singular) if kinds & set(wordnet.above(n)))
    apart = _kept_apart().get(singular, ())
    others = {number for noun in apart for number in wordnet.senses(noun, said=False)}
    return tuple(n for n in wordnet.senses(singular, said=said) if n not in others)


@cache
def _hand_written_names() -> dict[str, tuple[str, ...]]:
    """Words to their groups: "doggo" to "dog" and the others that mean it."""
    return {word: group for group in lexicon.subject_tables()["same"].values() for word in group}


@cache
def _hand_written_kinds() -> dict[str, tuple[str, ...]]:
    """Words to what they are by hand: "panda" to "bear"."""
    kinds: dict[str, tuple[str, ...]] = {}
    for noun, words in lexicon.subject_tables()["narrower"].items():
        for word in words:
            kinds[word] = (*kinds.get(word, ()), noun)
    return kinds


@cache
def _hand_written_parents() -> dict[int, tuple[int, ...]]:
    """The same for synsets."""
    parents: dict[int, tuple[int, ...]] = {}
    for word, nouns in _hand_written_kinds().items():
        for number in meant(word, said=False)[:1]:
            above = (n for noun in nouns for n in meant(noun, said=False)[:1])
            parents[number] = (*parents.get(number, ()), *above)
    return parents


@cache
def _kept_apart() -> dict[str, tuple[str, ...]]:
    """Words to the nouns they are no kind of."""
    apart: dict[str, tuple[str, ...]] = {}
    for noun, words in lexicon.subject_tables()["apart"].items():
        for word in words:
            apart[word] = (*apart.get(word, ()), noun)
    return apart


@cache
def _cut() -> frozenset[tuple[int, int]]:
    """(synset, one above it) that everyday language tells apart: a wildcat is no cat."""
    return frozenset(
        (number, parent)
        for noun, words in lexicon.subject_tables()["apart"].items()
        for parent in meant(noun, said=False)
        for word in words
        for number in meant(word, said=False)
    )


@lru_cache(maxsize=16384)
def _above(number: int) -> tuple[int, ...]:
    """A synset and all it is a kind of, nearest first."""
    found = [number]
    for current in found:
        parents = (*wordnet.synset(current)[1], *_hand_written_parents().get(current, ()))
        found += [parent for parent in parents if parent not in found]
    cut = {parent for noun, parent in _cut() if noun in found}
    return tuple(parent for parent in found if parent not in cut)


@cache
def _general() -> frozenset[int]:
    """Synsets that say too little to ask for: "object", "device"."""
    return frozenset(
        number for word in lexicon.general_nouns() for number in wordnet.senses(word, said=False)
    )


@cache
def _people() -> frozenset[int]:
    """A person in general: a wizard is one, but no other person will do for a wizard."""
    return frozenset(wordnet.senses("person", said=False))


def _merged(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for values in lists for value in values))


def _reach(words: tuple[Word, ...], index: int) -> int:
    """How many joined words follow, at most the longest phrase."""
    length = 1
    while length < _LONGEST and index + length < len(words) and words[index + length].joined:
        length += 1
    return length


def _is_broken(phrase: str) -> bool:
    """Whether words of a phrase do not belong together: "cab in"."""
    parts = phrase.split()
    return lexicon.is_no_noun(parts[0]) or lexicon.is_no_noun(parts[-1])


def _chooses(words: tuple[Word, ...], index: int) -> bool:
    """Whether a selector follows: "an orange one"."""
    following = words[index + 1 : index + 2]
    return bool(following) and following[0].norm in lexicon.words("selectors")
