"""What can go wrong, as one tree. An exception's docstring is its default message.

TaqError
├── RecipeError
├── MissingRangeError
├── PreparedError
├── TokenizerError
├── ContextError
├── LoraError
│   ├── UnknownKeysError
│   ├── UnsupportedFormatError
│   └── WidthMismatchError
└── ArtifactError
    ├── ManifestError
    ├── IntegrityError
    └── ArtifactMismatchError
"""

from __future__ import annotations

import inspect


class TaqError(Exception):
    """Trigger-aware quantization failed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or inspect.getdoc(type(self)) or type(self).__name__)


class RecipeError(TaqError):
    """The recipe asks for a bit width or a combination that does not exist."""


class MissingRangeError(TaqError):
    """A layer has no calibrated activation range; calibrate with inputs that reach it."""


class TokenizerError(TaqError):
    """The tokenizer does not report character offsets; use a fast tokenizer."""


class ContextError(TaqError):
    """The text context does not fit the UNet or the batch it is used with."""


class LoraError(TaqError):
    """The LoRA cannot be used with this model."""


class UnknownKeysError(LoraError):
    """The file has keys that map to no layer of the model."""


class UnsupportedFormatError(LoraError):
    """The file is a known kind of adapter that is not supported."""


class WidthMismatchError(LoraError):
    """The tensors were made for a model of another width."""


class ArtifactError(TaqError):
    """The artifact cannot be used."""


class ManifestError(ArtifactError):
    """The manifest is missing, malformed or of an unknown schema version."""


class IntegrityError(ArtifactError):
    """A file of the artifact is missing, changed or not a safetensors file."""


class ArtifactMismatchError(ArtifactError):
    """The artifact and the model or artifact it is combined with do not belong together."""


class PreparedError(TaqError):
    """The weights were packed for one device and kernel and cannot be read or moved any more."""
