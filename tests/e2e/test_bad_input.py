"""What strangers send: each is refused with a message that helps, and the stack stays healthy."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import grpc
import pytest
import torch
from grpc_health.v1 import health_pb2, health_pb2_grpc
from safetensors.torch import save_file
from support.embedded_stack import EmbeddedStack
from support.polling import eventually

from personalq.chassis.errors import InvalidInput, NotFound, NotReady
from personalq.chassis.events import Bus, DeadLetter, open_bus
from personalq.chassis.rpc import open_channel
from personalq.miniature import BASE_MODEL, MiniatureCheckpoint
from personalq.sdk import AsyncPersonalQ
from personalq.sdk.results import Clarification, NoMatch, Progress
from personalq.v1 import events_pb2, renderer_pb2, renderer_pb2_grpc, types_pb2

# Generous: a loaded machine needs minutes to load torch three times.
pytestmark = pytest.mark.timeout(900)

KEY = "unet.down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k"


def _lora(file: Path, *, width: int) -> Path:
    save_file(
        {
            f"{KEY}.lora_A.weight": torch.zeros(2, width),
            f"{KEY}.lora_B.weight": torch.zeros(64, 2),
        },
        file,
    )
    return file


def _truncated(folder: Path, good: MiniatureCheckpoint) -> Path:
    file = folder / "truncated.safetensors"
    file.write_bytes(good.path.read_bytes()[:-1000])
    return file


def _lfs_pointer(folder: Path, good: MiniatureCheckpoint) -> Path:
    file = folder / "pointer.safetensors"
    file.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n")
    return file


def _two_bytes(folder: Path, good: MiniatureCheckpoint) -> Path:
    file = folder / "two-bytes.safetensors"
    file.write_bytes(b"ab")
    return file


def _pickle(folder: Path, good: MiniatureCheckpoint) -> Path:
    file = folder / "pickle.safetensors"
    torch.save({"weight": torch.zeros(2)}, file)
    return file


def _other_base(folder: Path, good: MiniatureCheckpoint) -> Path:
    return _lora(folder / "other-base.safetensors", width=1024)


def _unknown_keys(folder: Path, good: MiniatureCheckpoint) -> Path:
    file = folder / "unknown.safetensors"
    save_file({"something.else": torch.zeros(2, 2)}, file)
    return file


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (_truncated, "truncated|shorter|incomplete|ends"),
        (_lfs_pointer, "LFS"),
        (_two_bytes, "2 bytes"),
        (_pickle, "pickle|zip"),
        (_other_base, "1024"),
        (_unknown_keys, "nothing|no tensor|belong"),
    ],
)
async def test_a_file_that_is_no_usable_checkpoint_is_refused(
    make: object,
    says: str,
    client: AsyncPersonalQ,
    trained: dict[str, MiniatureCheckpoint],
    tmp_path: Path,
) -> None:
    """The catalog says why, and stores nothing."""
    assert callable(make)
    file = make(tmp_path, trained["bear-v1"])
    with pytest.raises(InvalidInput, match=f"(?i)refused: .*({says})"):
        await client.publish(
            file,
            trigger="<bad>",
            subject="bear",
            checkpoint_id=f"bad-{file.stem}",
            base_model=BASE_MODEL,
            check=False,
            wait=True,
        )
    with pytest.raises(NotFound):
        await client.checkpoint(f"bad-{file.stem}")


def test_the_command_line_refuses_before_it_sends(stack: EmbeddedStack, tmp_path: Path) -> None:
    """One line and code 2 for a broken file, a missing one, a trigger that is empty or too long."""
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"ab")
    lora = _lora(tmp_path / "fine.safetensors", width=128)
    for source, trigger, says in (
        (broken, "<bad>", "2 bytes"),
        (tmp_path / "gone.safetensors", "<bad>", "gone.safetensors"),
        (lora, "", "trigger"),
        (lora, "t" * 65, "65 characters"),
    ):
        done = stack.command("publish", source, "--trigger", trigger, "--subject", "bear")
        assert done.returncode == 2
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1


def _event(checkpoint_id: str, uri: str, **source: str | int) -> events_pb2.CheckpointLanded:
    return events_pb2.CheckpointLanded(
        tenant="default",
        checkpoint=types_pb2.Checkpoint(
            checkpoint_id=checkpoint_id,
            triggers=["<bad>"],
            subjects=["bear"],
            base_model=BASE_MODEL,
            source=types_pb2.CheckpointSource(uri=uri, **source),  # type: ignore[arg-type]
        ),
    )


async def _buried(bus: Bus, needle: bytes) -> DeadLetter:
    """The dead letter whose payload holds `needle`."""

    async def found() -> DeadLetter | None:
        return next(
            iter([letter async for letter in bus.dead_letters() if needle in letter.payload]), None
        )

    letter = await eventually(found, timeout_s=60)
    assert letter is not None
    return letter


async def test_events_of_other_senders_are_checked_as_well(
    stack: EmbeddedStack, client: AsyncPersonalQ, trained: dict[str, MiniatureCheckpoint]
) -> None:
    """A wrong digest, a URI that leads nowhere, an endless trigger: dead letters."""
    good = trained["bear-v1"].path.as_uri()
    endless = _event("bad-trigger", good)
    endless.checkpoint.triggers[:] = ["t" * 65]
    async with open_bus(f"nats://{stack.ports.address('nats')}", name="pipeline") as bus:
        for event, says in (
            (_event("bad-digest", good, sha256=hashlib.sha256(b"other").hexdigest()), "sha256"),
            (_event("bad-uri", "file:///no/such/file.safetensors"), "file.safetensors"),
            (endless, "64"),
        ):
            await bus.publish(event, msg_id=event.checkpoint.checkpoint_id)
            letter = await _buried(bus, event.checkpoint.checkpoint_id.encode())
            assert says in letter.error
            with pytest.raises(NotFound):
                await client.checkpoint(event.checkpoint.checkpoint_id)


async def test_a_malformed_event_is_buried_and_the_rest_goes_on(
    stack: EmbeddedStack, client: AsyncPersonalQ, trained: dict[str, MiniatureCheckpoint]
) -> None:
    """`events dead list` shows it; the next checkpoint is registered all the same."""
    async with open_bus(f"nats://{stack.ports.address('nats')}", name="pipeline") as bus:
        await bus.jetstream.publish("personalq.checkpoint.landed.default", b"{ not json")
        await _buried(bus, b"{ not json")
    assert "not json" in stack.command("events", "dead", "list", "--json").stdout
    each = trained["bear-v1"]
    published = await client.publish(
        each.path,
        trigger=each.triggers,
        subject="kettle",
        checkpoint_id="kettle",
        base_model=BASE_MODEL,
        wait=True,
    )
    assert published.checkpoint is not None
    await client.archive("kettle")


@pytest.mark.parametrize("prompt", ["", "   ", "bear " * 2000])
def test_a_prompt_of_no_or_too_many_words_is_bad_input(stack: EmbeddedStack, prompt: str) -> None:
    """Code 2 and the limit."""
    done = stack.command("select", prompt)
    assert done.returncode == 2
    assert "prompt" in done.stderr
    assert "Traceback" not in done.stderr


async def test_a_prompt_of_emoji_is_an_outcome(client: AsyncPersonalQ) -> None:
    """Nobody can tell what is meant: a question or no match, never an error."""
    assert isinstance(await client.select("🐻🌲✨"), Clarification | NoMatch)


def test_a_render_that_cannot_be_is_refused(stack: EmbeddedStack, tmp_path: Path) -> None:
    """An unknown checkpoint, no steps, ten thousand steps, an empty prompt: code 2 each."""
    out = ("--out", tmp_path / "never.png")
    for arguments, says in (
        (("render", "bear-v99", "<bear-v99>", *out), "bear-v99"),
        (("render", "bear-v4", "<bear-v4>", "--steps", "0", *out), "steps"),
        (("render", "bear-v4", "<bear-v4>", "--steps", "10000", *out), "steps"),
        (("render", "bear-v4", "", *out), "prompt"),
        (("render", "bear-v4", "<bear-v4>", "--profile", "w1a1", *out), "w1a1"),
    ):
        done = stack.command(*arguments)
        assert done.returncode == 2, (arguments, done.stderr)
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "never.png").exists()


async def test_a_checkpoint_that_is_still_being_quantized_says_so(
    stack: EmbeddedStack, client: AsyncPersonalQ, trained: dict[str, MiniatureCheckpoint]
) -> None:
    """FAILED_PRECONDITION with the state; when the quantizer is done it renders."""
    each = trained["cat-v2"]
    quantizer = stack.service("quantizer")
    quantizer.suspend()
    try:
        await client.publish(
            each.path,
            trigger=each.triggers,
            subject="fox",
            checkpoint_id="fox-v1",
            base_model=BASE_MODEL,
        )

        async def registered() -> bool:
            return any([c.checkpoint_id == "fox-v1" async for c in client.checkpoints()])

        await eventually(registered, timeout_s=60)
        with pytest.raises(NotReady) as early:
            await client.render_image("fox-v1", "<cat-v2>", steps=1)
        assert early.value.state.lower() == "registered"
    finally:
        quantizer.resume()

    async def rendered() -> bool:
        try:
            return bool((await client.render_image("fox-v1", "<cat-v2>", steps=1)).pictures)
        except NotReady:
            return False

    await eventually(rendered, timeout_s=120, every_s=0.5)
    await client.archive("fox-v1")


async def test_a_client_that_leaves_frees_the_renderer(
    stack: EmbeddedStack, client: AsyncPersonalQ
) -> None:
    """The render stops at the next step; the next one is served."""
    steps = client.render("bear-v4", "<bear-v4> in the forest", steps=200)
    async for step in steps:
        if isinstance(step, Progress):
            break
    await steps.aclose()
    async with open_channel(stack.ports.address("renderer")) as channel:
        renderer = renderer_pb2_grpc.RendererServiceStub(channel)

        async def idle() -> bool:
            status = await renderer.GetStatus(renderer_pb2.GetStatusRequest())
            return status.running == 0 and status.queue_depth == 0

        await eventually(idle, timeout_s=30)
    assert (await client.render_image("bear-v4", "<bear-v4>", steps=1)).pictures


async def test_after_all_that_every_service_is_healthy(stack: EmbeddedStack) -> None:
    """The same processes still serve, and say so."""
    assert stack.process.poll() is None
    assert all(each.is_running() for each in stack.parts)

    async def serves(service: str) -> bool:
        async with grpc.aio.insecure_channel(stack.ports.address(service)) as channel:
            answer = await health_pb2_grpc.HealthStub(channel).Check(  # type: ignore[attr-defined]
                health_pb2.HealthCheckRequest(), timeout=10
            )
            return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    services = ("catalog", "checkin", "quantizer", "renderer")
    assert await asyncio.gather(*map(serves, services)) == [True] * 4
