"""Cards into the catalog, through its own RegisterCheckpoint."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from personalq.bench.repo_prompts.files import Card
from personalq.chassis.errors import InvalidInput, PersonalQError
from personalq.chassis.statuses import translate_rpc_error
from personalq.sdk.concurrency import together
from personalq.v1 import catalog_pb2, catalog_pb2_grpc, types_pb2

_IN_FLIGHT = 16
_TIMEOUT_S = 120.0
#: Width of the text that Stable Diffusion 1.x reads.
WIDTH = 768


async def register_all(
    cards: Sequence[Card],
    catalog: catalog_pb2_grpc.CatalogServiceAsyncStub,
    *,
    source: Path,
    name_base: bool,
    done: Callable[[], object],
) -> None:
    """Register every card with the same small file as its weights.

    Args:
        name_base: send the cards' base models; a catalog that serves some refuses any other.
        done: called after each card.

    Raises:
        InvalidInput: the catalog refuses a card; the message names it.
        Unavailable: the catalog is out of reach.
    """
    places = asyncio.Semaphore(_IN_FLIGHT)

    async def register(card: Card) -> None:
        async with places:
            request = catalog_pb2.RegisterCheckpointRequest(
                checkpoint=to_wire(card, source.as_uri(), name_base=name_base)
            )
            try:
                await catalog.RegisterCheckpoint(request, timeout=_TIMEOUT_S)
            except grpc.aio.AioRpcError as error:
                raise _refused(card, translate_rpc_error(error)) from None
            done()

    await together(register(card) for card in cards)


def _refused(card: Card, error: PersonalQError) -> PersonalQError:
    if isinstance(error, InvalidInput):
        return InvalidInput(f"the catalog refuses {card.checkpoint_id}: {error}")
    return error


def to_wire(card: Card, uri: str, *, name_base: bool) -> types_pb2.Checkpoint:
    """A card as the catalog takes it."""
    return types_pb2.Checkpoint(
        checkpoint_id=card.checkpoint_id,
        name=card.name,
        triggers=card.triggers,
        subjects=card.subjects,
        styles=card.styles,
        description=card.description,
        base_model=card.base_model if name_base else "",
        version=card.version,
        created_at=stamp(card.created_at),
        last_used_at=stamp(card.last_used_at),
        use_count=card.use_count,
        environments=card.environments,
        owner=card.owner,
        source=types_pb2.CheckpointSource(uri=uri),
    )


def stamp(moment: datetime | None) -> Timestamp | None:
    """A time as protobuf has it."""
    if moment is None:
        return None
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def write_weights(path: Path) -> Path:
    """A valid LoRA of one layer, all zeros: the catalog reads what it is, nobody renders it."""
    layer = "unet.down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k.lora"
    shapes = {f"{layer}.down.weight": (1, WIDTH), f"{layer}.up.weight": (320, 1)}
    header: dict[str, object] = {}
    position = 0
    for key, (rows, columns) in shapes.items():
        end = position + rows * columns * 4
        header[key] = {
            "dtype": "F32",
            "shape": [rows, columns],
            "data_offsets": [position, end],
        }
        position = end
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(position))
    return path
