"""What is quantized how: a recipe is data, named by a profile and part of every artifact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from personalq.taq.errors import RecipeError
from personalq.taq.packing import PACKED_BITS
from personalq.taq.protection import Protected

#: Raised whenever the same settings give other integers: artifacts are then made anew.
RECIPE_VERSION = 6

_OUTERMOST_SINCE = 6  # version of the recipes that know the outermost level

SHORTCUT = "conv_shortcut"  # ends the names of ResNet shortcuts
FEED_FORWARD = "ff.net.2"  # ends the names of layers that read what a feed-forward gated

#: Ends of names of layers whose inputs get one scale per token or pixel, found at run time: their
#: sums run over one token or pixel, so that the scale leaves the integer product. What a
#: feed-forward gated and what crosses the residual stream differ most from one to the next, and
#: lose more by one static range for all than any other input.
ROW_SCALED_LAYERS = (FEED_FORWARD, SHORTCUT, "proj_in", "proj_out")

#: Parts of names of layers that keep at least 8 bits: time steers every block, and what is lost in
#: the text's keys and values is lost for the trigger too; equalized weights spread wider; and all
#: that is drawn at a smaller size passes a downsampling (in all 10 % of an SD1.5 UNet)
EIGHT_BIT_LAYERS = (
    "time_embedding.",
    "time_emb_proj",
    "attn2.to_k",
    "attn2.to_v",
    "downsamplers.",
    SHORTCUT,
)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a UNet is quantized. `None` bits mean full precision."""

    #: the serving profile, as users and events call it
    name: str
    #: bits of Linear and Conv2d weights: 4, 8 or None
    weight_bits: int | None
    #: bits of the inputs of Linear and Conv2d and of Q, K, V (per row): 2…8 or None
    activation_bits: int | None
    #: bits of the cross-attention probabilities, equation 3
    cross_probability_bits: int | None
    #: bits of the self-attention probabilities; at 4 a uniform grid loses most of them
    self_probability_bits: int | None
    #: the text tokens that keep their precision, as `Protected.parse` reads them; no integer of
    #: the UNet depends on it
    protected: str = "trigger"
    #: layers, by name, that stay in full precision: the image and time enter and leave there
    precise_layers: tuple[str, ...] = ("conv_in", "conv_out", "time_embedding.linear_1")
    #: parts of names of layers that keep at least 8 bits
    eight_bit_layers: tuple[str, ...] = EIGHT_BIT_LAYERS
    #: whether the level at the latents' full size does too: what is lost there is seen as it is,
    #: and of an SD1.5 UNet's weights 3 % are there
    outermost_eight_bits: bool = True
    #: layers with fewer input channels stay in full precision: integers do not pay there
    min_channels: int = 32
    #: layers with fewer weights stay in full precision
    min_weights: int = 4096
    #: ranges tried per output channel for weights below 8 bits (1: minimum and maximum)
    weight_range_candidates: int = 80
    #: the version of the code's rules that the recipe was made for
    version: int = RECIPE_VERSION

    def __post_init__(self) -> None:
        """Refuse what cannot be executed, and write the protected set in its one form."""
        if self.weight_bits not in (None, *PACKED_BITS):
            raise RecipeError(f"weight_bits is 4, 8 or None, not {self.weight_bits}.")
        if self.activation_bits is not None and not 2 <= self.activation_bits <= 8:
            raise RecipeError(f"activation_bits is 2…8 or None, not {self.activation_bits}.")
        for field in ("cross_probability_bits", "self_probability_bits"):
            bits = getattr(self, field)
            if bits is not None and not 2 <= bits <= 8:
                raise RecipeError(f"{field} is 2…8 or None, not {bits}.")
        object.__setattr__(self, "protected", str(Protected.parse(self.protected)))

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as plain JSON values."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Recipe:
        """Read what `to_json` wrote.

        Raises:
            RecipeError: a field is unknown or missing.
        """
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise RecipeError(f"The recipe has unknown fields: {', '.join(unknown)}.")
        read: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
        }
        try:
            if read["version"] < _OUTERMOST_SINCE:
                read.setdefault("outermost_eight_bits", False)
            return cls(**read)
        except KeyError as error:
            raise RecipeError(f"The recipe is incomplete: no {error}.") from error
        except TypeError as error:
            raise RecipeError(f"The recipe is incomplete: {error}.") from error


def equalized(layer: str) -> bool:
    """Tell whether each input channel of a layer is divided by its reach.

    A shortcut joins a block's own channels and a skip's, which lie far apart.
    """
    return layer.endswith(SHORTCUT)


def _profile(name: str, weight_bits: int | None, activation_bits: int | None) -> Recipe:
    return Recipe(
        name=name,
        weight_bits=weight_bits,
        activation_bits=activation_bits,
        cross_probability_bits=activation_bits,
        self_probability_bits=activation_bits,
    )


#: The serving profiles. "full" quantizes nothing: it takes the same path through artifact and
#: renderer, so that full precision can be served beside TAQ.
PROFILES: dict[str, Recipe] = {
    "full": _profile("full", None, None),
    "w8a8": _profile("w8a8", 8, 8),
    "w4a8": _profile("w4a8", 4, 8),
}
