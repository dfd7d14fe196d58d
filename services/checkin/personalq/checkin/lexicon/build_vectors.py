"""Distil `vectors/` from all-MiniLM-L6-v2: what words mean, small enough to ship.

`python -m personalq.checkin.lexicon.build_vectors MODEL_DIR [OUT_DIR]`, where MODEL_DIR is a
sentence-transformers folder. Every word is embedded by itself; the mean is taken off (otherwise all
words are alike), the first 64 principal components are kept, and each row is scaled to 8 bits. A
phrase is the mean of its words.

Kept are words of the model's vocabulary that WordNet knows, its participles, names of things the
model spells in pieces, and every word of `descriptions.toml`. `others.txt` has the rest of the
vocabulary, names for the most part: words that are spelled as they were meant.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from personalq.checkin import lexicon
from personalq.checkin.lexicon import wordnet
from personalq.checkin.lexicon.vectors import DIMENSIONS

_PLAIN = re.compile(r"[a-z]{3,}")
_OTHER = re.compile(r"[a-z]{5,}")
_THINGS = frozenset("rbfosm")
"""Letters of the WordNet files whose rare words are kept: artifacts, body, food, objects, …"""


def vocabulary(model_words: set[str]) -> list[str]:
    """The words to keep, sorted."""
    kept = {part for phrase in lexicon.description_groups() for part in phrase.split()}
    for word in model_words:
        known = wordnet.look_up(word) is not None or any(wordnet.singulars(word))
        if known or word.endswith(("ed", "ing")):
            kept.add(word)
    for word in filter(_PLAIN.fullmatch, wordnet.every_word()):
        entry = wordnet.look_up(word)
        if entry is None or word in model_words:
            continue
        letters = {wordnet.synset(number)[0] for number, _ in entry.senses}
        if letters & _THINGS or entry.adjective:
            kept.add(word)
    return sorted(word for word in kept if _PLAIN.fullmatch(word))


def distil(embedded: Any) -> Any:
    """(words, 384) of floats to (words, 64) of signed bytes."""
    centred = embedded - embedded.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    small = centred @ axes[:DIMENSIONS].T
    return np.round(small * 127 / np.abs(small).max(axis=1, keepdims=True)).astype(np.int8)


def main(arguments: list[str]) -> None:
    """Write `words.txt` and `vectors.int8`."""
    from sentence_transformers import SentenceTransformer

    folder = Path(arguments[0])
    target = Path(arguments[1]) if len(arguments) > 1 else Path(__file__).parent / "vectors"
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    words = vocabulary({line for line in lines if _PLAIN.fullmatch(line)})
    others = sorted(set(filter(_OTHER.fullmatch, lines)) - set(words))
    model = SentenceTransformer(str(folder), device="cpu")
    embedded = model.encode(words, batch_size=64, normalize_embeddings=True)
    target.mkdir(exist_ok=True)
    (target / "words.txt").write_text("\n".join(words) + "\n", encoding="ascii")
    (target / "others.txt").write_text("\n".join(others) + "\n", encoding="ascii")
    (target / "vectors.int8").write_bytes(distil(embedded).tobytes())


if __name__ == "__main__":
    main(sys.argv[1:])
