"""A CLIP tokenizer (lower-case byte-pair encoding with `</w>`) learnt from the captions."""

from __future__ import annotations

import json
import logging
from collections import Counter
from itertools import pairwise
from pathlib import Path

import regex

from personalq.miniature.captions import vocabulary_corpus

log = logging.getLogger(__name__)

MAX_LENGTH = 77
START, END = "<|startoftext|>", "<|endoftext|>"

_WORDS = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")


def byte_alphabet() -> dict[int, str]:
    """GPT-2's printable stand-in for each of the 256 bytes, in CLIP's order of ids."""
    kept = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {byte: chr(byte) for byte in kept}
    spare = 256
    for byte in range(256):
        if byte not in table:
            table[byte] = chr(spare)
            spare += 1
    return table


def learn_merges(texts: list[str], limit: int) -> list[tuple[str, str]]:
    """Byte-pair merges, most frequent first (ties by spelling), that occur at least twice."""
    alphabet = byte_alphabet()
    counts = Counter(word for text in texts for word in _WORDS.findall(text.lower()))
    words: dict[tuple[str, ...], int] = {}
    for word, count in counts.items():
        letters = [alphabet[byte] for byte in word.encode()]
        words[(*letters[:-1], letters[-1] + "</w>")] = count
    merges: list[tuple[str, str]] = []
    while len(merges) < limit:
        pairs: Counter[tuple[str, str]] = Counter()
        for parts, count in words.items():
            for pair in pairwise(parts):
                pairs[pair] += count
        if not pairs:
            break
        best, count = max(pairs.items(), key=lambda item: (item[1], item[0]))
        if count < 2:
            break
        merges.append(best)
        words = {_merge(parts, best): count for parts, count in words.items()}
    return merges


def _merge(parts: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    merged: list[str] = []
    position = 0
    while position < len(parts):
        if parts[position : position + 2] == pair:
            merged.append(parts[position] + parts[position + 1])
            position += 2
        else:
            merged.append(parts[position])
            position += 1
    return tuple(merged)


def write_tokenizer(folder: Path, merge_limit: int = 1_000) -> int:
    """Learn and write the tokenizer's files in SD1.5's layout; returns the vocabulary's size."""
    merges = learn_merges(vocabulary_corpus(), merge_limit)
    letters = list(byte_alphabet().values())
    tokens = [*letters, *(letter + "</w>" for letter in letters)]
    tokens += ["".join(pair) for pair in merges]
    tokens += [START, END]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    special = {"bos_token": START, "eos_token": END, "unk_token": END, "pad_token": END}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False))
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n")
    (folder / "special_tokens_map.json").write_text(json.dumps(special, indent=2))
    config = {
        **special,
        "add_prefix_space": False,
        "do_lower_case": True,
        "model_max_length": MAX_LENGTH,
        "tokenizer_class": "CLIPTokenizer",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2))
    log.info("tokenizer: %d tokens, %d of them merges", len(vocabulary), len(merges))
    return len(vocabulary)
