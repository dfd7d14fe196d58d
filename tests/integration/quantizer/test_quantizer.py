"""From CheckpointRegistered to ArtifactReady: real NATS, a real blob store, a tiny real model."""

from __future__ import annotations

import asyncio
import json
import pickle
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from support.polling import eventually
from support.ports import free_port
from support.tiny_sd import BASE_MODEL, TRIGGER, make_full, make_lora, make_tiny_sd

from personalq.taq.recipe import RECIPE_VERSION


async def test_a_lora_becomes_an_artifact_per_profile(bench: Any, tmp_path: Path) -> None:
    """Each profile's artifact is announced with its digest, sizes, base and recipe."""
    lora = make_lora(bench.base, tmp_path / "a.safetensors", trigger_embedding=TRIGGER)
    async with bench.running():
        event = await bench.register(lora, profiles=())
        await bench.until(lambda b: len(b.ready) == 3)
        await bench.drained()
    stored = bench.stored()
    sizes = {}
    for ready in bench.ready:
        artifact = ready.artifact
        assert ready.tenant == "default"
        assert artifact.checkpoint_id == "bear-v4"
        assert artifact.base_model == BASE_MODEL
        assert artifact.recipe_version == RECIPE_VERSION
        assert list(artifact.triggers) == [TRIGGER]
        assert artifact.source_sha256 == event.checkpoint.source.sha256
        assert artifact.created_at.seconds > 0
        for digest in (artifact.digest, artifact.base_digest):
            manifest = json.loads(stored[digest])
            assert all(file["sha256"] in stored for file in manifest["files"])
        sizes[artifact.profile] = (artifact.size_bytes, artifact.base_size_bytes)
    assert sizes["full"][1] > sizes["w8a8"][1] > sizes["w4a8"][1]
    assert max(own for own, _ in sizes.values()) < 0.1 * sizes["w8a8"][1]
    assert not bench.leftovers()
    assert not bench.failed


async def test_two_loras_share_one_base_artifact(bench: Any, tmp_path: Path) -> None:
    """The base's quantized weights are stored once, whatever number of LoRAs ride on them."""
    async with bench.running():
        for number in (1, 2):
            lora = make_lora(bench.base, tmp_path / f"{number}.safetensors", seed=number)
            await bench.register(lora, checkpoint_id=f"bear-v{number}")
        await bench.until(lambda b: len(b.ready) == 2)
    first, second = (ready.artifact for ready in bench.ready)
    assert first.base_digest == second.base_digest
    assert first.digest != second.digest
    assert len(bench.stored()) == 2 + 2 * 2, "two files of the base, two of each LoRA"


async def test_a_full_fine_tune_has_its_own_quantized_unet(bench: Any, tmp_path: Path) -> None:
    """Its artifact needs no other one."""
    folder = make_full(bench.base, tmp_path / "dog")
    async with bench.running():
        await bench.register(folder, checkpoint_id="dog-full")
        await bench.until(lambda b: len(b.ready) == 1)
    artifact = bench.ready[0].artifact
    assert (artifact.base_digest, artifact.base_size_bytes) == ("", 0)
    assert json.loads(bench.stored()[artifact.digest])["kind"] == "full"


async def test_a_checkpoint_without_a_trigger_is_quantized_all_the_same(
    bench: Any, tmp_path: Path
) -> None:
    """A LoRA and a fine-tune; their manifests say that no word is protected."""
    lora = make_lora(bench.base, tmp_path / "a.safetensors")
    async with bench.running():
        await bench.register(lora, checkpoint_id="lora", triggers=[])
        await bench.register(
            make_full(bench.base, tmp_path / "dog"), checkpoint_id="full", triggers=[]
        )
        await bench.until(lambda b: len(b.ready) == 2)
    for ready in bench.ready:
        assert list(ready.artifact.triggers) == []
        assert json.loads(bench.stored()[ready.artifact.digest])["triggers"] == []
    assert not bench.failed


async def test_the_same_event_again_announces_the_same_artifact(bench: Any, tmp_path: Path) -> None:
    """A second registration makes nothing new, and after a restart nothing is made again."""
    lora = make_lora(bench.base, tmp_path / "a.safetensors")
    async with bench.running():
        await bench.register(lora, msg_id="one")
        await bench.until(lambda b: len(b.ready) == 1)
        await bench.drained()
    before = bench.stored()
    await bench.bus.jetstream.purge_stream("PERSONALQ_ARTIFACTS")
    ledger = {p: p.stat().st_mtime_ns for p in (bench.work_dir / "ledger").iterdir()}
    async with bench.running():
        await bench.register(lora, msg_id="two")
        await bench.drained()
    assert bench.stored() == before
    assert {p: p.stat().st_mtime_ns for p in (bench.work_dir / "ledger").iterdir()} == ledger


async def test_digests_do_not_depend_on_who_makes_them(bench: Any, tmp_path: Path) -> None:
    """A quantizer with an empty work directory and blob store makes the same artifacts."""
    lora = make_lora(bench.base, tmp_path / "a.safetensors", trigger_embedding=TRIGGER)
    async with bench.running():
        await bench.register(lora, checkpoint_id="one")
        await bench.until(lambda b: len(b.ready) == 1)
    before = bench.stored()
    bench.blobs, bench.work_dir = tmp_path / "other-blobs", tmp_path / "other-work"
    async with bench.running():
        await bench.register(lora, checkpoint_id="two")
        await bench.until(lambda b: len(b.ready) == 2)
    first, second = (ready.artifact for ready in bench.ready)
    assert (first.digest, first.base_digest) == (second.digest, second.base_digest)
    assert bench.stored() == before


async def test_a_lost_blob_is_made_again(bench: Any, tmp_path: Path) -> None:
    """The ledger is not believed where the blob store says otherwise."""
    lora = make_lora(bench.base, tmp_path / "a.safetensors")
    async with bench.running():
        await bench.register(lora, msg_id="one")
        await bench.until(lambda b: len(b.ready) == 1)
        await bench.drained()
        before = bench.stored()
        for path in bench.blobs.rglob("*"):
            if path.is_file() and path.name == bench.ready[0].artifact.base_digest:
                path.unlink()
        await bench.register(lora, msg_id="two")
        await bench.drained()
    assert bench.stored() == before


def broken_files(base: Path, folder: Path) -> dict[str, tuple[Path, str]]:
    """Return bad checkpoints: name → (path, what the reason must mention)."""
    good = make_lora(base, folder / "good.safetensors").read_bytes()
    bad: dict[str, tuple[bytes, str]] = {
        "truncated": (good[: len(good) // 2], ""),
        "two-bytes": (b"{}", ""),
        "lfs-pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "LFS"),
        "pickle": (pickle.dumps({"weight": [1.0] * 50}), ""),
    }
    files = {}
    for name, (content, mention) in bad.items():
        files[name] = (folder / f"{name}.safetensors", mention)
        files[name][0].write_bytes(content)
    wide = make_tiny_sd(folder / "wide-base", hidden=64)
    files["other-base"] = (make_lora(wide, folder / "wide.safetensors"), "64")
    files["unknown-keys"] = (unknown_keys(folder / "unknown.safetensors"), "")
    other = make_tiny_sd(folder / "other-width", hidden=64)
    files["other-full"] = (make_full(other, folder / "other-full"), "64")
    return files


def unknown_keys(file: Path) -> Path:
    """Write a safetensors file whose keys mean nothing."""
    import torch
    from safetensors.torch import save_file

    save_file({"some.key": torch.zeros(3, 3), "another": torch.zeros(2)}, file)
    return file


async def test_a_file_that_cannot_be_used_fails_with_its_reason(bench: Any, tmp_path: Path) -> None:
    """Every bad file is answered by one ArtifactFailed that says why; the next one is served."""
    files = broken_files(bench.base, tmp_path)
    async with bench.running():
        for name, (path, _) in files.items():
            await bench.register(path, checkpoint_id=name)
        await bench.register(make_lora(bench.base, tmp_path / "ok.safetensors"), checkpoint_id="ok")
        await bench.until(lambda b: len(b.ready) == 1 and len(b.failed) == len(files))
        await bench.drained()
    reasons = {event.checkpoint_id: event.reason for event in bench.failed}
    assert reasons.keys() == files.keys()
    for name, (_, mention) in files.items():
        assert mention in reasons[name]
        assert str(tmp_path) not in reasons[name], "reasons name no path of ours"
    assert not bench.leftovers()
    assert not [letter async for letter in bench.bus.dead_letters()]


async def test_sources_and_bases_that_do_not_exist_fail(bench: Any, tmp_path: Path) -> None:
    """A URI without a file, changed bytes, an unknown base and an unknown profile are told."""
    lora = make_lora(bench.base, tmp_path / "a.safetensors")
    async with bench.running():
        await bench.register("file:///nowhere/a.safetensors", checkpoint_id="gone")
        await bench.register(lora, checkpoint_id="changed", sha256="0" * 64)
        await bench.register(lora, checkpoint_id="alien", base_model="somebody/else")
        await bench.register(lora, checkpoint_id="profile", profiles=("w2a2", "full"))
        await bench.until(lambda b: len(b.failed) == 4 and len(b.ready) == 1)
    reasons = {event.checkpoint_id: event.reason for event in bench.failed}
    assert "does not exist" in reasons["gone"]
    assert "sha256" in reasons["changed"]
    assert "somebody/else" in reasons["alien"]
    assert BASE_MODEL in reasons["alien"]
    assert "w2a2" in reasons["profile"]
    assert bench.ready[0].artifact.profile == "full", "the profiles that exist are made"


async def test_a_store_out_of_reach_is_tried_again(bench: Any, tmp_path: Path) -> None:
    """Nothing is announced while the store cannot take the blobs; the event is kept."""
    lora = make_lora(bench.base, tmp_path / "a.safetensors")
    bench.blobs.write_text("not a folder")
    async with bench.running(retry_s=0.2):
        await bench.register(lora)
        await bench.redelivered()
    assert not bench.ready
    assert not bench.failed
    bench.blobs.unlink()
    async with bench.running():
        await bench.until(lambda b: len(b.ready) == 1)


async def test_a_stop_in_the_middle_leaves_nothing_half_done(bench: Any, tmp_path: Path) -> None:
    """A quantizer killed while it works leaves no scratch; its successor finishes the job."""
    (bench.work_dir / "jobs" / "left-by-a-kill").mkdir(parents=True)
    lora = make_lora(bench.base, tmp_path / "a.safetensors")
    task = asyncio.create_task(_forever(bench))
    await bench.register(lora, profiles=())

    async def begun() -> bool:
        return any(path.name != "left-by-a-kill" for path in bench.leftovers())

    await eventually(begun)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert not bench.leftovers()
    async with bench.running():
        await bench.until(lambda b: len({r.artifact.profile for r in b.ready}) == 3)


async def _forever(bench: Any) -> None:
    async with bench.running():
        await asyncio.Event().wait()


async def test_health_says_serving(bench: Any) -> None:
    """The quantizer has no service of its own, but a health that Kubernetes can ask."""
    port = free_port()
    async with (
        bench.running(port=port),
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        stub: Any = health_pb2_grpc.HealthStub(channel)

        async def serving() -> bool:
            answer = await stub.Check(health_pb2.HealthCheckRequest(), wait_for_ready=True)
            return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

        await eventually(serving)


async def test_a_base_model_without_its_parts_is_refused_at_start(
    bench: Any, tmp_path: Path
) -> None:
    """A folder that is no diffusers folder stops the start with a clear message."""
    with pytest.raises(Exception, match="diffusers folder"):
        async with bench.running(base_models={BASE_MODEL: str(tmp_path)}):
            await asyncio.sleep(0.5)
