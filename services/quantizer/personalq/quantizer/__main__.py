"""Run the quantizer: registered checkpoints in, artifacts and their events out."""

from __future__ import annotations

import asyncio

import diffusers
import torch
import transformers

from personalq.chassis.blobs import open_blob_store
from personalq.chassis.events import open_bus, verify_streams
from personalq.chassis.rpc import serve
from personalq.chassis.runtime import run
from personalq.chassis.settings import load_settings
from personalq.quantizer import handlers
from personalq.quantizer.announcements import BusAnnouncements
from personalq.quantizer.bases import BaseModels, locate
from personalq.quantizer.fetching import UriSources
from personalq.quantizer.ledger import Ledger
from personalq.quantizer.quantize import Tools
from personalq.quantizer.settings import QuantizerSettings
from personalq.quantizer.shelf import clear_leftovers
from personalq.quantizer.thread import TorchThread
from personalq.quantizer.workshop import Workshop
from personalq.v1.events_pb2 import CheckpointRegistered

DURABLE = "quantizer"


async def run_quantizer(settings: QuantizerSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set."""
    if settings.torch_threads:
        torch.set_num_threads(settings.torch_threads)
    work_dir = settings.work_dir
    clear_leftovers(work_dir)
    folders = await locate(
        settings.base_models, work_dir / "bases", bytes_max=settings.source_bytes_max
    )
    async with (
        open_bus(settings.nats_url, name="quantizer") as bus,
        open_blob_store(settings.blob_url, bus) as blobs,
        TorchThread() as thread,
    ):
        await verify_streams(bus)
        tools = Tools(
            sources=UriSources(bytes_max=settings.source_bytes_max),
            announcements=BusAnnouncements(bus),
            blobs=blobs,
            ledger=Ledger(work_dir / "ledger"),
            bases=BaseModels(folders),
            workshop=Workshop(
                work_dir / "calibrations",
                device=settings.device,
                prompts=settings.calibration_prompts,
                steps=settings.calibration_steps,
            ),
            torch=thread,
            profiles=settings.profiles,
            work_dir=work_dir,
        )
        consuming = asyncio.create_task(
            bus.consume(
                CheckpointRegistered,
                handlers.on_checkpoint_registered(tools, retry_s=settings.retry_s),
                durable=DURABLE,
                concurrency=1,
                ack_wait_s=settings.ack_wait_s,
                max_deliver=settings.max_deliver,
            )
        )

        async def ready() -> bool:
            return bus.client.is_connected and not consuming.done()

        stopping = asyncio.create_task(stop.wait())
        try:
            async with serve(lambda _: None, service_names=[], settings=settings, ready=ready):
                await asyncio.wait({consuming, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if consuming.done():
                    consuming.result()  # it never ends by itself: raises what ended it
                consuming.cancel()  # no new events; the one in hand may finish
        finally:
            if not consuming.cancelling():  # cancelled twice it would drop the one in hand
                consuming.cancel()
            stopping.cancel()
            await asyncio.gather(consuming, stopping, return_exceptions=True)


def main() -> None:
    """Read the settings and run."""
    transformers.utils.logging.disable_progress_bar()  # bars are for terminals, not for logs
    diffusers.utils.logging.disable_progress_bar()
    settings = load_settings(QuantizerSettings)
    run(lambda stop: run_quantizer(settings, stop), settings, name="quantizer")


if __name__ == "__main__":
    main()
