"""The renderer as a client sees it: real gRPC, real NATS, real artifacts of a tiny model."""

from __future__ import annotations

import io

from PIL import Image

from personalq.renderer.wire import CHUNK_BYTES


async def test_a_render_streams_queued_started_progress_image_done(start) -> None:
    """One render tells where it stands, in order, and ends with its provenance."""
    renderer = await start()
    rendered = await renderer.render(preview_every=1)
    assert rendered.kinds == ["queued", "started", "progress", "image", "done"]
    steps = [e.progress for e in rendered.events if e.WhichOneof("event") == "progress"]
    assert [(p.step, p.steps) for p in steps] == [(1, 3), (2, 3), (3, 3)]
    assert steps[0].preview.startswith(b"\x89PNG")
    print(rendered.done)
    assert Image.open(io.BytesIO(rendered.pictures[0])).size == (16, 16)
