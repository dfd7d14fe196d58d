"""The renderer as a client sees it: real gRPC, real NATS, real artifacts of a tiny model."""

from __future__ import annotations

import asyncio
import io
import shutil
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from PIL import Image
from support.polling import eventually
from support.tiny_renderer import Rendered
from support.tiny_sd import BASE_MODEL, END, write_tokenizer
from transformers import CLIPTokenizer

from personalq.chassis.events import open_bus
from personalq.v1 import catalog_pb2, renderer_pb2, types_pb2
from personalq.v1.events_pb2 import CheckpointArchived

PLAIN = "a photo of a bear"


def pixels(rendered: Rendered, index: int = 0) -> np.ndarray[Any, Any]:
    """Return a picture as numbers from 0 to 255."""
    return np.asarray(Image.open(io.BytesIO(rendered.pictures[index]))).astype(int)


async def refused(renderer: Any, **fields: Any) -> tuple[grpc.StatusCode, str, list[Any]]:
    """Render, expect an error, and return its code, message and details."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await renderer.render(**fields)
    error: Any = caught.value
    status = rpc_status.from_call(error)
    details = []
    for detail in status.details if status else ():
        for kind in (
            error_details_pb2.ErrorInfo,
            error_details_pb2.BadRequest,
            error_details_pb2.RetryInfo,
        ):
            if detail.Is(kind.DESCRIPTOR):
                details.append(kind())
                detail.Unpack(details[-1])
    return caught.value.code(), str(caught.value.details()), details


async def test_a_render_tells_where_it_stands_and_what_made_it(start: Any) -> None:
    """Queued, started, progress with previews, the picture, done: in this order."""
    renderer = await start()
    rendered = await renderer.render(preview_every=1)
    assert rendered.kinds == ["queued", "started", "progress", "image", "done"]
    steps = [e.progress for e in rendered.events if e.WhichOneof("event") == "progress"]
    assert [(p.step, p.steps) for p in steps] == [(1, 3), (2, 3), (3, 3)]
    assert steps[0].preview.startswith(b"\x89PNG")
    started = next(e.started for e in rendered.events if e.WhichOneof("event") == "started")
    assert started.artifact.checkpoint_id == "bear-v4"
    assert started.load_seconds > 0
    provenance = rendered.done.provenance
    assert provenance.artifact_digest == started.artifact.digest
    assert (provenance.profile, provenance.seed, provenance.steps) == ("w8a8", 7, 3)
    assert list(provenance.protected_tokens) == [5, 6, 7, 8, 9, 10]
    assert rendered.done.timings.denoise_seconds > 0
    picture: Any = Image.open(io.BytesIO(rendered.pictures[0]))
    assert picture.size == (16, 16)
    assert picture.info["personalq:artifact"] == provenance.artifact_digest
    again = await renderer.render()
    assert again.done.timings.load_seconds == 0, "it is resident now"


async def test_seeds_decide_pictures(start: Any) -> None:
    """The same seed draws the same picture, another one another; picture i has seed + i."""
    renderer = await start()
    first, same, other = [await renderer.render(seed=seed) for seed in (7, 7, 8)]
    assert first.pictures == same.pictures
    assert np.abs(pixels(first) - pixels(other)).mean() > 1
    both = await renderer.render(seed=7, count=2)
    assert np.abs(pixels(both, 1) - pixels(other)).max() <= 3
    images = [e.image for e in both.events if e.WhichOneof("event") == "image"]
    assert {(i.index, i.seed) for i in images} == {(0, 7), (1, 8)}
    unseeded = [await renderer.render(seed=None) for _ in range(2)]
    assert unseeded[0].done.provenance.seed != unseeded[1].done.provenance.seed


async def test_eight_bits_look_like_full_precision(start: Any) -> None:
    """The profiles full and w8a8 take the same path and draw nearly the same picture."""
    renderer = await start()
    full, quantized = [await renderer.render(profile=p) for p in ("full", "w8a8")]
    other = await renderer.render(profile="full", seed=8)
    near = np.abs(pixels(full) - pixels(quantized)).mean()
    far = np.abs(pixels(full) - pixels(other)).mean()
    assert 0 < near < 0.2 * far


async def test_checkpoints_on_one_base_do_not_mix(start: Any) -> None:
    """A, then B, then A again: both As are identical, and B differs."""
    renderer = await start()
    one, other, again = [
        await renderer.render(checkpoint_id=c, prompt=PLAIN)
        for c in ("bear-v4", "bear-v5", "bear-v4")
    ]
    assert one.pictures == again.pictures
    assert np.abs(pixels(one) - pixels(other)).mean() > 0.5
    status = await renderer.status()
    assert len(status.residents) == 3, "one base and two LoRAs"
    assert status.resident_bytes == sum(r.size_bytes for r in status.residents)
    assert all(r.leases == 0 for r in status.residents)


async def test_a_trained_trigger_acts_in_its_own_checkpoint_alone(start: Any) -> None:
    """The shipped embedding changes that checkpoint's pictures and nobody else's."""
    renderer = await start()
    before = await renderer.render(checkpoint_id="bear-v4")
    trained = await renderer.render(checkpoint_id="token-bear")
    after = await renderer.render(checkpoint_id="bear-v4")
    assert before.pictures == after.pictures
    assert list(trained.done.provenance.protected_tokens) == [5], "the trigger is one token"
    assert list(before.done.provenance.protected_tokens) == [5, 6, 7, 8, 9, 10]
    # The LoRA of token-bear changes nothing, so its trigger alone makes the difference to the
    # same words in the plain base.
    without, plain = [
        await renderer.render(checkpoint_id="token-bear", prompt=p)
        for p in ("a photo of a <bear-v5>", PLAIN)
    ]
    assert without.done.provenance.protected_tokens == []
    assert np.abs(pixels(trained) - pixels(plain)).mean() > 0.5


async def test_a_full_fine_tune_renders_with_its_own_unet(start: Any) -> None:
    """It shares VAE and text encoder, and no UNet."""
    renderer = await start()
    rendered = await renderer.render(checkpoint_id="dog-full", prompt="a photo of a <dog>")
    assert rendered.kinds[-1] == "done"
    assert [r.checkpoint_id for r in (await renderer.status()).residents] == ["dog-full"]


@pytest.mark.parametrize(
    "fields",
    [
        {"sampler": renderer_pb2.SAMPLER_EULER},
        {"guidance_scale": 0.0},
        {"negative_prompt": "dog"},
        {"width": 32, "height": 16},
        {"steps": 1},
        {"prompt": "🐻🌲❄️"},
        {"prompt": "x" * 2000},
    ],
)
async def test_unusual_requests_render(start: Any, fields: dict[str, Any]) -> None:
    """Another sampler, no guidance, other sizes, one step, only emoji, a very long prompt."""
    renderer = await start()
    rendered = await renderer.render(**fields)
    expected = (fields.get("width", 16), fields.get("height", 16))
    assert Image.open(io.BytesIO(rendered.pictures[0])).size == expected


async def test_bad_requests_are_refused_field_by_field(start: Any) -> None:
    """INVALID_ARGUMENT names every field; the renderer serves on."""
    renderer = await start()
    bad: dict[str, Any] = {
        "prompt": "",
        "steps": 10_000,
        "guidance_scale": 99.0,
        "count": 9,
        "seed": -1,
        "profile": "w2a2",
    }
    code, _, details = await refused(renderer, **bad)
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    fields = {
        v.field for d in details if hasattr(d, "field_violations") for v in d.field_violations
    }
    assert fields == set(bad)
    for one in ({"steps": 0}, {"prompt": "x" * 10_000}, {"width": 17}, {"sampler": 77}):
        code, message, _ = await refused(renderer, **one)
        assert code == grpc.StatusCode.INVALID_ARGUMENT
        assert next(iter(one)) in message
    assert (await renderer.render()).kinds[-1] == "done"


async def test_checkpoints_that_cannot_be_rendered(start: Any, catalog: Any) -> None:
    """Unknown is NOT_FOUND; still quantizing, failed and withdrawn say so with their state."""
    renderer = await start()
    for name, state, reason in (
        ("new", types_pb2.CHECKPOINT_STATE_REGISTERED, ""),
        ("broken", types_pb2.CHECKPOINT_STATE_FAILED, "it is a LoKr"),
        ("old", types_pb2.CHECKPOINT_STATE_ARCHIVED, ""),
    ):
        entry = catalog_pb2.GetCheckpointResponse()
        entry.checkpoint.checkpoint_id, entry.checkpoint.state = name, state
        entry.checkpoint.state_reason = reason
        catalog.entries[name] = entry
    code, message, _ = await refused(renderer, checkpoint_id="nobody")
    assert code == grpc.StatusCode.NOT_FOUND
    for name, told, said in (
        ("new", "REGISTERED", "still being quantized"),
        ("broken", "FAILED", "LoKr"),
        ("old", "ARCHIVED", "withdrawn"),
    ):
        code, message, details = await refused(renderer, checkpoint_id=name)
        assert code == grpc.StatusCode.FAILED_PRECONDITION
        assert said in message
        assert any(getattr(d, "metadata", {}).get("state") == told for d in details)
    code, message, _ = await refused(renderer, checkpoint_id="bear-v5", profile="full")
    assert code == grpc.StatusCode.FAILED_PRECONDITION
    assert "w8a8" in message
    code, message, _ = await refused(renderer, artifact_digest="0" * 64)
    assert code == grpc.StatusCode.NOT_FOUND


async def test_a_renderer_of_another_tokenizer_says_so(
    start: Any, tiny_world: Any, tmp_path: Path
) -> None:
    """It draws nothing rather than something else; the same one in other files draws."""
    for pad in ("!", END):
        folder = tmp_path / f"base-{len(pad)}"
        shutil.copytree(tiny_world.base, folder)
        write_tokenizer(folder / "tokenizer", pad=pad)
        CLIPTokenizer.from_pretrained(folder / "tokenizer").save_pretrained(folder / "tokenizer")
        renderer = await start(base_models={BASE_MODEL: str(folder)})
        if pad == END:
            assert (await renderer.render()).kinds[-1] == "done"
            continue
        code, message, details = await refused(renderer)
        assert code == grpc.StatusCode.FAILED_PRECONDITION
        assert f"{BASE_MODEL!r} has another tokenizer" in message
        assert details[0].metadata["state"] == "OTHER_TOKENIZER"


async def test_a_checkpoint_withdrawn_while_we_run_is_not_rendered(
    start: Any, catalog: Any, nats_url: str
) -> None:
    """The event removes it at once; the catalog says why."""
    renderer = await start()
    await renderer.render(checkpoint_id="bear-v5")
    catalog.entries["bear-v5"].checkpoint.state = types_pb2.CHECKPOINT_STATE_ARCHIVED
    known = (await renderer.status()).known_artifacts
    async with open_bus(nats_url, name="test") as bus:
        event = CheckpointArchived(tenant="default", checkpoint_id="bear-v5")
        await bus.publish(event, msg_id="archived")
    await renderer.known(known - 1)
    code, message, _ = await refused(renderer, checkpoint_id="bear-v5")
    assert code == grpc.StatusCode.FAILED_PRECONDITION
    assert "withdrawn" in message


async def test_another_tenant_sees_nothing_of_ours(start: Any, catalog: Any) -> None:
    """Artifacts are looked up in the caller's tenant; the catalog decides the rest."""
    renderer = await start()
    catalog.entries.clear()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        metadata = (("x-personalq-tenant", "other"),)
        async for _ in renderer.stub.Render(renderer.request(), metadata=metadata, timeout=30):
            pass
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


async def test_a_client_that_leaves_frees_the_device(start: Any) -> None:
    """After a disconnect in the middle of 200 steps the next render goes on at once."""
    renderer = await start()
    call = renderer.stub.Render(renderer.request(steps=200, count=8), timeout=60)
    async for event in call:
        if event.WhichOneof("event") == "progress":
            break
    step = event.progress.step
    call.cancel()
    await renderer.idle()
    assert step < 200
    rendered = await renderer.render()
    assert rendered.kinds[-1] == "done"
    assert rendered.pictures == (await renderer.render()).pictures
    assert all(r.leases == 0 for r in (await renderer.status()).residents)


async def test_a_deadline_frees_the_device(start: Any) -> None:
    """A render that outlasts its deadline stops; the next one is served."""
    renderer = await start()
    await renderer.render()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in renderer.stub.Render(renderer.request(steps=200, count=8), timeout=0.3):
            pass
    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    await renderer.idle()
    assert (await renderer.render()).kinds[-1] == "done"


async def test_a_full_queue_says_when_to_come_back(start: Any) -> None:
    """One renders, one waits; the third is RESOURCE_EXHAUSTED with RetryInfo."""
    renderer = await start(queue_length=1)
    calls = []
    for running, waiting in ((1, 0), (1, 1)):
        call = renderer.stub.Render(renderer.request(steps=200, count=8), timeout=60)
        calls.append(call)
        assert (await call.read()).WhichOneof("event") == "queued"
        status = await renderer.status()
        assert (status.running, status.queue_depth) == (running, waiting)
    code, _, details = await refused(renderer)
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert any(d.retry_delay.seconds >= 1 for d in details if hasattr(d, "retry_delay"))
    for call in calls:
        call.cancel()
    await renderer.idle()
    assert (await renderer.render()).kinds[-1] == "done"


async def test_waiting_renders_learn_their_position(start: Any) -> None:
    """The second in line is told 1, then 0, then renders."""
    renderer = await start()
    first = renderer.stub.Render(renderer.request(steps=200, count=8), timeout=60)
    await first.read()
    second = asyncio.create_task(renderer.render(seed=9))

    async def waiting() -> bool:
        return bool((await renderer.status()).queue_depth == 1)

    await eventually(waiting)
    first.cancel()
    rendered = await second
    positions = [e.queued.position for e in rendered.events if e.WhichOneof("event") == "queued"]
    assert positions == [1, 0]


async def test_damaged_blobs_are_unavailable_and_nothing_breaks(
    start: Any, tiny_world: Any, tmp_path: Any
) -> None:
    """A LoRA's damaged bytes and a base's missing ones fail that render, not the renderer."""
    blobs = tmp_path / "blobs"
    shutil.copytree(tiny_world.blobs, blobs)
    by_name = {p.name: p for p in blobs.rglob("*") if p.is_file()}
    broken = next(e.artifact for e in tiny_world.events if e.artifact.checkpoint_id == "bear-v5")
    by_name[broken.digest].chmod(0o644)
    by_name[broken.digest].write_bytes(b"{}")
    fine_tune = next(
        e.artifact for e in tiny_world.events if e.artifact.checkpoint_id == "dog-full"
    )
    by_name[fine_tune.digest].unlink()
    renderer = await start(blobs=blobs)
    for checkpoint_id in ("bear-v5", "dog-full"):
        code, message, _ = await refused(renderer, checkpoint_id=checkpoint_id)
        assert code == grpc.StatusCode.UNAVAILABLE
        assert "quantized again" in message
    assert (await renderer.render()).kinds[-1] == "done"


async def test_a_copy_damaged_on_this_disk_is_fetched_again(
    start: Any, tmp_path: Any, tiny_world: Any
) -> None:
    """The disk cache is verified before use and repaired from the blob store."""
    renderer = await start()
    expected = await renderer.render()
    digest = expected.done.provenance.artifact_digest
    for file in (tmp_path / "cache" / "artifacts" / digest).glob("*.safetensors"):
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    second = await start(cache_dir=tmp_path / "cache")
    assert (await second.render()).pictures == expected.pictures


async def test_a_small_memory_drops_what_is_not_in_use(start: Any) -> None:
    """With room for one UNet, checkpoints take turns; the budget is kept."""
    renderer = await start(memory_bytes_max=2_500_000)
    for profile, checkpoint_id in (
        ("w8a8", "bear-v4"), ("w8a8", "dog-full"), ("w8a8", "bear-v5"), ("w8a8", "bear-v4"),
    ):  # fmt: skip
        rendered = await renderer.render(checkpoint_id=checkpoint_id, profile=profile)
        assert rendered.kinds[-1] == "done"
        status = await renderer.status()
        assert status.resident_bytes <= status.budget_bytes


async def test_warming_loads_once(start: Any) -> None:
    """The first Warm takes time, the second none, and the render starts at once."""
    renderer = await start()
    request = renderer_pb2.WarmRequest(checkpoint_id="bear-v4")
    first, second = [await renderer.stub.Warm(request, timeout=30) for _ in range(2)]
    assert first.load_seconds > 0
    assert second.load_seconds == 0
    assert first.artifact.profile == "w8a8"
    assert (await renderer.render()).done.timings.load_seconds == 0


async def test_health_serves_once_base_and_index_are_there(start: Any) -> None:
    """Ready means: the device answers, the base is loaded, the artifacts are known."""
    renderer = await start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{renderer.port}") as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        name = renderer_pb2.DESCRIPTOR.services_by_name["RendererService"].full_name

        async def serving() -> bool:
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=5)
            return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

        await eventually(serving)


async def test_a_new_artifact_is_served_from_its_event_on(
    start: Any, tiny_world: Any, nats_url: str
) -> None:
    """An artifact announced while the renderer runs is fetched ahead and can be rendered."""
    first, *rest = [e for e in tiny_world.events if e.artifact.profile == "w8a8"]
    renderer = await start(events=[first], prefetch=True)
    async with open_bus(nats_url, name="test") as bus:
        for event in rest:
            await bus.publish(event, msg_id=event.artifact.digest + "-new")
    await renderer.known(1 + len(rest))
    rendered = await renderer.render(checkpoint_id=rest[0].artifact.checkpoint_id)
    assert rendered.kinds[-1] == "done"
