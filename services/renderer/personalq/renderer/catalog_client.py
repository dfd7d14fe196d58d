"""The catalog over gRPC: the adapter of `ports.Catalog`."""

from __future__ import annotations

import grpc

from personalq.chassis.rpc import translate_rpc_error
from personalq.renderer import wire
from personalq.renderer.ports import CatalogEntry
from personalq.v1 import catalog_pb2, catalog_pb2_grpc

TIMEOUT_S = 5.0


class CatalogClient:
    """Asks the catalog service; the tenant travels with the call."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = catalog_pb2_grpc.CatalogServiceStub(channel)

    async def get(self, checkpoint_id: str) -> CatalogEntry:
        """Return what the catalog knows of a checkpoint; see `ports.Catalog`."""
        request = catalog_pb2.GetCheckpointRequest(checkpoint_id=checkpoint_id)
        try:
            response = await self._stub.GetCheckpoint(request, timeout=TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            raise translate_rpc_error(error) from error
        return wire.to_catalog_entry(response)
