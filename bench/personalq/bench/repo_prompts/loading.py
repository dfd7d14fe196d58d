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
_WIDTH = 320


async def register_all(
    cards: Sequence[Card],
    catalog: catalog_pb2_grpc.CatalogServiceAsyncStub,
    *,
    source: Path,
    base_model: str | None,
    done: Callable[[], object],
) -> None:
    """Register every card with the same small file as its weights.

    Args:
        base_model: what all are registered under; each card's own when None. A catalog that
            serves some base models refuses any other, and picks the only one for "".
        done: called after each card.

    Raises:
        InvalidInput: the catalog refuses a card; the message names it.
        Unavailable: the catalog is out of reach.
    """
    places = asyncio.Semaphore(_IN_FLIGHT)

    async def register(card: Card) -> None:
        async with places:
            message = to_wire(card, source.as_uri())
            if base_model is not None:
                message.base_model = base_model
            request = catalog_pb2.RegisterCheckpointRequest(checkpoint=message)
            try:
                await catalog.RegisterCheckpoint(request, timeout=_TIMEOUT_S)
            except grpc.aio.AioRpcError as error:
                raise _refused(card, translate_rpc_error(error)) from None
            done()

    await together(register(card) for card in cards)


async def withdraw_all(
    cards: Sequence[Card], catalog: catalog_pb2_grpc.CatalogServiceAsyncStub
) -> None:
    """Archive the cards, so that nobody makes artifacts for them; raise Unavailable."""
    places = asyncio.Semaphore(_IN_FLIGHT)

    async def withdraw(card: Card) -> None:
        async with places:
            request = catalog_pb2.ArchiveCheckpointRequest(checkpoint_id=card.checkpoint_id)
            try:
                await catalog.ArchiveCheckpoint(request, timeout=_TIMEOUT_S)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.NOT_FOUND:  # it was never registered
                    raise translate_rpc_error(error) from None

    await together(withdraw(card) for card in cards)


async def check_selectable(catalog: catalog_pb2_grpc.CatalogServiceAsyncStub) -> None:
    """Raise PersonalQError when a quantizer has refused cards: they cannot be chosen any more."""
    request = catalog_pb2.ListCheckpointsRequest(
        page_size=1,
        filter=catalog_pb2.CheckpointFilter(states=[types_pb2.CHECKPOINT_STATE_FAILED]),
    )
    try:
        response = await catalog.ListCheckpoints(request, timeout=_TIMEOUT_S)
    except grpc.aio.AioRpcError as error:
        raise translate_rpc_error(error) from None
    if response.checkpoints:
        raise PersonalQError(
            "the stack's quantizer refused cards while they were asked for, so the results are "
            "void: stop the quantizer and run again, or leave --target out"
        )


def _refused(card: Card, error: PersonalQError) -> PersonalQError:
    if isinstance(error, InvalidInput):
        return InvalidInput(f"the catalog refuses {card.checkpoint_id}: {error}")
    return error


def to_wire(card: Card, uri: str) -> types_pb2.Checkpoint:
    """A card as the catalog takes it."""
    return types_pb2.Checkpoint(
        checkpoint_id=card.checkpoint_id,
        name=card.name,
        triggers=card.triggers,
        subjects=card.subjects,
        styles=card.styles,
        description=card.description,
        base_model=card.base_model,
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
    # Self-attention, which looks the same whatever text the base model reads.
    layer = "unet.down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_q.lora"
    shapes = {f"{layer}.down.weight": (1, _WIDTH), f"{layer}.up.weight": (_WIDTH, 1)}
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
