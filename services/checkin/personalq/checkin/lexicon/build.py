"""Derive `wordnet/` from the dictionary files of WordNet 3.0.

`python -m personalq.checkin.lexicon.build DICT_DIR [OUT_DIR]`, where DICT_DIR holds `data.noun`,
`noun.exc`, `index.adj`, `index.verb` and `cntlist.rev` (Debian: package `wordnet-base`, folder
`/usr/share/wordnet`; formats: wndb(5WN), cntlist(5WN)). The same input gives the same bytes.

Kept are nouns of things that can be pictured, without named individuals (instance synsets), without
taxonomic groups and without Latin names, each with the first clause of its definition; every other
noun, adjective and verb of one word is kept only as how often it was seen as such.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

FILES = {
    3: "t", 5: "a", 6: "r", 8: "b", 13: "f", 15: "l", 17: "o", 18: "p", 19: "h", 20: "v", 25: "s",
    27: "m",
}  # fmt: skip
"""Lexicographer files kept, by letter: Tops, animal, artifact, body, food, location, (natural)
object, person, phenomenon, plant (vegetable), shape, substance (matter)."""
SUBTREES = {
    "visual_communication%1:10:00::": "r",
    "symbol%1:10:00::": "r",
    "sign%1:10:00::": "r",
    "publication%1:10:00::": "r",
    "forest%1:14:00::": "o",
}
"""Sense keys of other files that are kept with all below them: logos, posters, books."""
TAXA = "taxonomic_group%1:14:00::"
DROPPED = (TAXA, "chemical_element%1:27:00::", "drug_of_abuse%1:06:00::")
LONGEST = 100
"""Characters of a definition that are kept."""
_ASIDE = re.compile(r"\([^)]*\)")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, kw_only=True)
class Synset:
    """A synset of `data.noun`."""

    offset: str
    file: int
    lemmas: tuple[str, ...]
    keys: tuple[str, ...]
    parents: tuple[str, ...]
    instance: bool
    definition: str


def read_nouns(folder: Path) -> dict[str, Synset]:
    """All noun synsets by offset."""
    synsets = {}
    for line in _text(folder / "data.noun"):
        data, _, gloss = line.partition(" | ")
        fields = data.split()
        count = int(fields[3], 16)
        lemmas = tuple(fields[4 : 4 + 2 * count : 2])
        ids = fields[5 : 5 + 2 * count : 2]
        start = 5 + 2 * count
        pointers = [
            fields[start + 4 * i : start + 4 * i + 3] for i in range(int(fields[start - 1]))
        ]
        file = int(fields[1])
        synsets[fields[0]] = Synset(
            offset=fields[0],
            file=file,
            lemmas=lemmas,
            keys=tuple(
                f"{lemma.lower()}%1:{file:02d}:{int(id_, 16):02d}::"
                for lemma, id_ in zip(lemmas, ids, strict=True)
            ),
            parents=tuple(offset for kind, offset, _ in pointers if kind == "@"),
            instance=any(kind == "@i" for kind, _, _ in pointers),
            definition=_definition(gloss),
        )
    return synsets


def _text(path: Path) -> Iterator[str]:
    with path.open(encoding="latin-1") as lines:
        yield from (line for line in lines if not line.startswith(" "))


def _lines(path: Path) -> Iterator[list[str]]:
    return (line.partition(" | ")[0].split() for line in _text(path))


def _definition(gloss: str) -> str:
    """What a gloss says first, without asides and examples."""
    clause = _ASIDE.sub("", gloss.partition('"')[0]).partition(";")[0]
    plain = " ".join(clause.encode("ascii", "ignore").decode().split())
    return plain if len(plain) <= LONGEST else plain[:LONGEST].rpartition(" ")[0]


def _below(synsets: dict[str, Synset], roots: set[str]) -> set[str]:
    """Roots and everything under them."""
    children = defaultdict(list)
    for synset in synsets.values():
        for parent in synset.parents:
            children[parent].append(synset.offset)
    found, waiting = set(roots), list(roots)
    while waiting:
        new = [child for child in children[waiting.pop()] if child not in found]
        found.update(new)
        waiting += new
    return found


def _of(by_key: dict[str, str], keys: Iterable[str]) -> set[str]:
    return {by_key[key] for key in keys if key in by_key}


def build(folder: Path, out: Path) -> None:
    """Write `synsets.tsv`, `definitions.txt` and `words.tsv`."""
    synsets = read_nouns(folder)
    counts = Counter({key: int(count) for key, _, count in _lines(folder / "cntlist.rev")})
    by_key = {key: synset.offset for synset in synsets.values() for key in synset.keys}
    letters = _letters(synsets, by_key)
    taxa = _below(synsets, _of(by_key, [TAXA]))
    genera = {lemma for offset in taxa for lemma in synsets[offset].lemmas}
    order = [offset for offset in sorted(synsets) if offset in letters]
    number = {offset: index for index, offset in enumerate(order)}
    rows = []
    words: dict[str, list[str]] = defaultdict(list)
    for offset in order:
        synset = synsets[offset]
        kept = _common(synset.lemmas, genera)
        parents = " ".join(_base36(number[p]) for p in synset.parents if p in number)
        rows.append(f"{letters[offset]}\t{parents}\t{'|'.join(kept)}")
        for lemma, key in zip(synset.lemmas, synset.keys, strict=True):
            if _word(lemma) in kept:
                count = counts[key]
                words[_word(lemma)].append(_base36(number[offset]) + (f":{count}" if count else ""))
    seen = _seen(folder, synsets, counts, set(letters))
    for word in {word for word in seen if word in words or " " not in word}:
        words[word] += [f"{kind}:{count}" for kind, count in sorted(seen[word].items())]
    for plural, base, *_ in _lines(folder / "noun.exc"):
        if "_" not in plural and _word(base) in words:
            words[_word(plural)].append(f"={_word(base)}")
    lines = sorted(f"{word}\t{' '.join(dict.fromkeys(senses))}" for word, senses in words.items())
    out.mkdir(parents=True, exist_ok=True)
    (out / "synsets.tsv").write_text("\n".join(rows) + "\n", encoding="ascii")
    definitions = (synsets[offset].definition for offset in order)
    (out / "definitions.txt").write_text("\n".join(definitions) + "\n", encoding="ascii")
    (out / "words.tsv").write_text("\n".join(lines) + "\n", encoding="ascii")


def _letters(synsets: dict[str, Synset], by_key: dict[str, str]) -> dict[str, str]:
    """The kept synsets with the letter of what they are."""
    letters = {
        offset: FILES[synset.file] for offset, synset in synsets.items() if synset.file in FILES
    }
    for root, letter in SUBTREES.items():
        for offset in _below(synsets, _of(by_key, [root])):
            letters.setdefault(offset, letter)
    dropped = _below(synsets, _of(by_key, DROPPED))
    return {
        offset: letter
        for offset, letter in letters.items()
        if offset not in dropped and not synsets[offset].instance
    }


def _common(lemmas: tuple[str, ...], genera: set[str]) -> tuple[str, ...]:
    """Lemmas as the tables spell them, without Latin names."""
    kept = [
        _word(lemma)
        for lemma in lemmas
        if not (lemma[0].isupper() and (lemma in genera or lemma.split("_")[0] in genera))
    ]
    return tuple(dict.fromkeys(kept))


def _seen(
    folder: Path, synsets: dict[str, Synset], counts: Counter[str], kept: set[str]
) -> dict[str, dict[str, int]]:
    """How often a word was seen as a noun that is not kept (-), an adjective (+), a verb (!)."""
    seen: dict[str, dict[str, int]] = defaultdict(dict)
    for synset in synsets.values():
        if synset.offset in kept or synset.instance or synset.lemmas[0][0].isupper():
            continue
        for lemma, key in zip(synset.lemmas, synset.keys, strict=True):
            word = _word(lemma)
            seen[word]["-"] = seen[word].get("-", 0) + counts[key]
    by_class: dict[tuple[str, str], int] = Counter()
    for key, count in counts.items():
        lemma, _, sense = key.partition("%")
        by_class[lemma, {"2": "!", "3": "+", "5": "+"}.get(sense[0], "")] += count
    for name, kind in (("adj", "+"), ("verb", "!")):
        for fields in _lines(folder / f"index.{name}"):
            seen[_word(fields[0])][kind] = by_class[fields[0], kind]
    return seen


def _word(lemma: str) -> str:
    """A lemma in the tables' spelling: lower case, single spaces, no hyphens, no possessive."""
    parts = lemma.lower().replace("_", " ").replace("-", " ").split()
    return " ".join(part.removesuffix("'s").strip("'") for part in parts)


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


if __name__ == "__main__":
    arguments = [Path(argument) for argument in sys.argv[1:]]
    build(arguments[0], arguments[1] if arguments[1:] else Path(__file__).parent / "wordnet")
