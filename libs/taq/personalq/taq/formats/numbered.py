"""Layers that have a number instead of a name: `unet:17:up` (cloneofsimo/lora).

That trainer walked over the modules of certain classes and counted the Linear layers within. The
order is the one in which diffusers and transformers registered their modules at the time: down,
up, then middle blocks; in the text encoder keys, values, queries, output. In a transformer block
the feed-forward layer stood between the two attentions until early 2023 and after them since;
which of them it was, and which classes, is what the widths of all the layers tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from personalq.taq.errors import LoraError, UnknownKeysError, WidthMismatchError

MARK = "#"  # before a number that stands for a layer's name

#: Classes whose Linear layers are counted, as the file's metadata names them.
COUNTED = frozenset({"CrossAttention", "Attention", "GEGLU", "CLIPAttention"})

_ATTENTION = ("to_q", "to_k", "to_v", "to_out.0")
_FIRST = tuple(f"attn1.{projection}" for projection in _ATTENTION)
_SECOND = tuple(f"attn2.{projection}" for projection in _ATTENTION)
_GEGLU = ("ff.net.0.proj",)
_UNET_ORDERS = (
    (*_FIRST, *_GEGLU, *_SECOND),
    (*_FIRST, *_SECOND, *_GEGLU),
    (*_FIRST, *_SECOND),
    _GEGLU,
)
_TEXT_ORDER = ("self_attn.k_proj", "self_attn.v_proj", "self_attn.q_proj", "self_attn.out_proj")
_UNET_BLOCK = re.compile(
    r"(?P<block>(?P<side>down_blocks|up_blocks|mid_block)\..*?transformer_blocks\.\d+)\..+"
)
_TEXT_BLOCK = re.compile(r"(?P<block>(?:.+\.)?layers\.\d+)\.self_attn\..+")
_SIDES = ("down_blocks", "up_blocks", "mid_block")


def names_of_numbers(
    widths: Mapping[int, tuple[int, int]], shapes: Mapping[str, tuple[int, ...]]
) -> dict[int, str]:
    """Return the layer that each number means in the model.

    Args:
        widths: (out, in) of the layer that each number changes.
        shapes: weight shape (out, in, …) of every Linear and Conv2d of the model, by name.

    Raises:
        UnknownKeysError: numbers are missing, or no order has as many layers.
        WidthMismatchError: no order has layers of these widths.
        LoraError: several orders have, and they are different.
    """
    count = max(widths) + 1
    if missing := [number for number in range(count) if number not in widths]:
        raise UnknownKeysError(
            f"{len(missing)} of {count} numbered layers are missing, the first is {missing[0]}."
        )
    walks = [walk for walk in _walks(shapes) if len(walk) == count]
    if not walks:
        counts = sorted({len(walk) for walk in _walks(shapes)} - {0})
        raise UnknownKeysError(
            f"The file numbers {count} layers; the model has "
            f"{' or '.join(map(str, counts)) or 'none'} that can be meant."
        )
    fitting = [w for w in walks if all(shapes[n][:2] == widths[i] for i, n in enumerate(w))]
    if not fitting:
        # Reported for the order that goes furthest: there the file and the model part.
        number, name = max(_first_misfit(walk, widths, shapes) for walk in walks)
        made_for, found = widths[number], shapes[name]
        raise WidthMismatchError(
            f"The LoRA was made for another base model: layer {number}, {name}, is "
            f"{made_for[1]} → {made_for[0]} wide in the LoRA and {found[1]} → {found[0]} in the "
            "model."
        )
    if len(fitting) > 1:
        raise LoraError(
            "The numbers of the layers can be read in several ways that all fit the model; "
            "convert the file to keys with names."
        )
    return dict(enumerate(fitting[0]))


def _walks(shapes: Mapping[str, tuple[int, ...]]) -> list[tuple[str, ...]]:
    """Return every order in which layers may have been counted, each once."""
    unet = _blocks(_UNET_BLOCK, shapes)
    unet.sort(key=lambda block: (_SIDES.index(block.split(".", 1)[0]), _numbers(block)))
    text = sorted(_blocks(_TEXT_BLOCK, shapes), key=_numbers)
    walks = [_walk(unet, order, shapes) for order in _UNET_ORDERS]
    walks.append(_walk(text, _TEXT_ORDER, shapes))
    return list(dict.fromkeys(walks))


def _walk(blocks: Sequence[str], order: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
    known = frozenset(names)
    walk = (f"{block}.{layer}" for block in blocks for layer in order)
    return tuple(name for name in walk if name in known)


def _blocks(pattern: re.Pattern[str], names: Iterable[str]) -> list[str]:
    return list({match["block"]: None for name in names if (match := pattern.fullmatch(name))})


def _numbers(name: str) -> list[int]:
    return [int(part) for part in name.split(".") if part.isdigit()]


def _first_misfit(
    walk: Sequence[str],
    widths: Mapping[int, tuple[int, int]],
    shapes: Mapping[str, tuple[int, ...]],
) -> tuple[int, str]:
    return next((i, n) for i, n in enumerate(walk) if shapes[n][:2] != widths[i])
