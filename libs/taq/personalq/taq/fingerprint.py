"""What an artifact's manifest calls the tokenizers that its prompts are for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from personalq.taq.artifact_manifest import canonical_json

#: Begins every fingerprint; those of older artifacts are of files and cannot be compared.
FORM = "tokens:"


def tokenizer_fingerprint(tokenizers: Sequence[Any]) -> str:
    """Return what identifies the tokenizers of a base, in the order of its text encoders.

    Tokenizers of one fingerprint read every prompt alike, whatever files they were loaded from: of
    CLIP's, the order of the vocabulary is that of the merges.

    Args:
        tokenizers: of Hugging Face, without any token that a checkpoint trained.
    """
    told = [
        {
            "vocabulary": tokenizer.get_vocab(),
            "start": tokenizer.bos_token_id,
            "end": tokenizer.eos_token_id,
            "unknown": tokenizer.unk_token_id,
            "padding": tokenizer.pad_token_id,
            "length": tokenizer.model_max_length,
        }
        for tokenizer in tokenizers
    ]
    return FORM + hashlib.sha256(canonical_json({"tokenizers": told})).hexdigest()


def is_other_tokenizer(fingerprint: str, own: str) -> bool:
    """Tell whether an artifact is known to be for other tokenizers than those of `own`.

    Of artifacts that were made before the fingerprint was one of tokens, nothing is known.
    """
    return fingerprint.startswith(FORM) and fingerprint != own
