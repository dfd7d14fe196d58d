"""Layers of a UNet by the names of Stability's own code: `input_blocks.4.1.proj_in`.

sd-scripts trains SDXL under them. They count the parts of all blocks in one row, where diffusers
nests them; which number a part has follows from the model's own blocks. (diffusers maps the same
names by arithmetic, `_maybe_map_sgm_blocks_to_diffusers`; a test holds both to the same answers
for every layer of SDXL.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_PART = re.compile(
    r"(?P<place>(?P<block>(?P<side>down|up)_blocks\.\d+)"
    r"\.(?P<kind>resnets|attentions|downsamplers|upsamplers)\.(?P<number>\d+))\..+"
)
_OUTSIDE = {
    "conv_in": "input_blocks.0.0",
    "time_embedding.linear_1": "time_embed.0",
    "time_embedding.linear_2": "time_embed.2",
    "add_embedding.linear_1": "label_emb.0.0",
    "add_embedding.linear_2": "label_emb.0.2",
    "conv_out": "out.2",
    "mid_block.resnets.0": "middle_block.0",
    "mid_block.attentions.0": "middle_block.1",
    "mid_block.resnets.1": "middle_block.2",
}
_RESNET = {
    "conv1": "in_layers.2",
    "time_emb_proj": "emb_layers.1",
    "conv2": "out_layers.3",
    "conv_shortcut": "skip_connection",
}


def original_names(layers: Iterable[str]) -> dict[str, str]:
    """Return Stability's name of each of a UNet's `layers` → its own; {} of another model."""
    names = list(layers)
    places = _OUTSIDE | dict(_places(names))
    found = {}
    for name in names:
        place = next((p for p in places if name == p or name.startswith(f"{p}.")), None)
        if place is None:
            continue
        rest = name[len(place) + 1 :]
        if ".resnets." in name:
            rest = _RESNET.get(rest, rest)
        elif "downsamplers." in name:
            rest = rest.replace("conv", "op")
        found[f"{places[place]}.{rest}" if rest else places[place]] = name
    return found


def _places(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each part of the down and up blocks, and where it stands in Stability's row."""
    blocks: dict[str, dict[str, dict[str, list[int]]]] = {"down": {}, "up": {}}
    for name in names:
        if match := _PART.fullmatch(name):
            kinds = blocks[match["side"]].setdefault(match["block"], {})
            numbers = kinds.setdefault(match["kind"], [])
            if int(match["number"]) not in numbers:
                numbers.append(int(match["number"]))
    for side, row in (("down", "input_blocks"), ("up", "output_blocks")):
        count = 1 if side == "down" else 0  # conv_in is the first of its row
        for block, kinds in sorted(blocks[side].items(), key=lambda item: _number(item[0])):
            attentions = kinds.get("attentions", [])
            for number in sorted(kinds.get("resnets", [])):
                yield f"{block}.resnets.{number}", f"{row}.{count}.0"
                if number in attentions:
                    yield f"{block}.attentions.{number}", f"{row}.{count}.1"
                count += 1
            if "downsamplers" in kinds:
                yield f"{block}.downsamplers.0", f"{row}.{count}.0"
                count += 1
            if "upsamplers" in kinds:
                yield f"{block}.upsamplers.0", f"{row}.{count - 1}.{2 if attentions else 1}"


def _number(block: str) -> int:
    return int(block.rpartition(".")[2])
