"""The service as a whole: NATS in, PostgreSQL below, gRPC out."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.json_format import MessageToJson
from grpc_health.v1 import health_pb2, health_pb2_grpc
from support.catalog_cards import NOW
from support.checkpoint_files import WIDTH, lora_file, sha256_of
from support.http_server import Answer, run_http
from support.polling import eventually
from support.ports import free_port

from personalq.catalog.__main__ import main
from personalq.catalog.settings import CatalogSettings
from personalq.chassis.errors import (
    Conflict,
    CorruptFile,
    InvalidInput,
    NotFound,
    PersonalQError,
)
from personalq.chassis.events import Bus, open_bus
from personalq.chassis.rpc import open_channel, translate_rpc_error
from personalq.chassis.tenancy import TENANT_HEADER, tenant_scope
from personalq.v1 import catalog_pb2, catalog_pb2_grpc, events_pb2, types_pb2


@dataclass
class Service:
    """A running catalog and what a test talks to it with."""

    stub: Any
    channel: grpc.aio.Channel
    bus: Bus
    folder: Path
    stop: asyncio.Event
    announced: list[events_pb2.CheckpointRegistered] = field(default_factory=list)

    async def call(self, method: str, request: Any) -> Any:
        """Make a call; raise what the server meant."""
        try:
            return await getattr(self.stub, method)(request)
        except grpc.aio.AioRpcError as error:
            raise translate_rpc_error(error) from None

    async def get(self, checkpoint_id: str) -> catalog_pb2.GetCheckpointResponse:
        """A card."""
        found = await self.call(
            "GetCheckpoint", catalog_pb2.GetCheckpointRequest(checkpoint_id=checkpoint_id)
        )
        assert isinstance(found, catalog_pb2.GetCheckpointResponse)
        return found

    async def land(
        self, event: events_pb2.CheckpointLanded | bytes, tenant: str = "default"
    ) -> None:
        """Publish as a pipeline does that knows nothing but the `nats` command."""
        payload = event if isinstance(event, bytes) else MessageToJson(event).encode()
        await self.bus.jetstream.publish(f"personalq.checkpoint.landed.{tenant}", payload)

    async def comes(self, checkpoint_id: str, state: str = "REGISTERED") -> Any:
        """Wait for a card in a state."""

        async def probe() -> Any:
            try:
                found = (await self.get(checkpoint_id)).checkpoint
            except NotFound:
                return None
            return found if types_pb2.CheckpointState.Name(found.state).endswith(state) else None

        return await eventually(probe, timeout_s=60)

    def checkpoint(self, checkpoint_id: str, **fields: Any) -> types_pb2.Checkpoint:
        """A checkpoint with a file of its own, as a pipeline announces it."""
        file = lora_file(self.folder / f"{checkpoint_id}.safetensors")
        values: dict[str, Any] = {
            "checkpoint_id": checkpoint_id,
            "triggers": [f"<{checkpoint_id}>"],
            "subjects": ["bear"],
            "source": types_pb2.CheckpointSource(uri=file.as_uri(), sha256=sha256_of(file)),
        } | fields
        return types_pb2.Checkpoint(**values)

    async def register(self, checkpoint_id: str, **fields: Any) -> types_pb2.Checkpoint:
        """Register over gRPC."""
        done = await self.call(
            "RegisterCheckpoint",
            catalog_pb2.RegisterCheckpointRequest(
                checkpoint=self.checkpoint(checkpoint_id, **fields)
            ),
        )
        assert isinstance(done.checkpoint, types_pb2.Checkpoint)
        return done.checkpoint


@asynccontextmanager
async def running(
    postgres_url: str, nats_url: str, folder: Path, **changes: Any
) -> AsyncIterator[Service]:
    """A catalog that runs while the block does, and stops cleanly."""
    values: dict[str, Any] = {
        "postgres_url": postgres_url,
        "nats_url": nats_url,
        "port": free_port(),
        "drain_s": 0.0,
        "grace_s": 2.0,
        "base_models": {"tiny": WIDTH},
        "profiles": ("full", "w8a8"),
        "retry_after_s": 0.05,
    } | changes
    settings = CatalogSettings(**values)
    stop = asyncio.Event()
    task = asyncio.create_task(main(stop, settings=settings))
    async with (
        open_bus(nats_url, name="test") as bus,
        open_channel(f"127.0.0.1:{settings.port}") as channel,
    ):
        health: Any = health_pb2_grpc.HealthStub(channel)

        async def serving() -> bool:
            if task.done():
                await task
            try:
                answer = await health.Check(
                    health_pb2.HealthCheckRequest(service="personalq.v1.CatalogService")
                )
            except grpc.aio.AioRpcError:
                return False
            return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

        await eventually(serving, timeout_s=60)
        service = Service(
            stub=catalog_pb2_grpc.CatalogServiceStub(channel),
            channel=channel,
            bus=bus,
            folder=folder,
            stop=stop,
        )

        async def listen(event: events_pb2.CheckpointRegistered) -> None:
            service.announced.append(event)

        listener = asyncio.create_task(
            bus.consume(events_pb2.CheckpointRegistered, listen, durable="test-registered")
        )
        try:
            yield service
        finally:
            stop.set()
            listener.cancel()
            await asyncio.gather(listener, return_exceptions=True)
            await asyncio.wait_for(task, 60)


@pytest.fixture
async def service(postgres_url: str, nats_url: str, tmp_path: Path) -> AsyncIterator[Service]:
    """A running catalog with an empty database."""
    async with running(postgres_url, nats_url, tmp_path) as started:
        yield started


def _ready(checkpoint: types_pb2.Checkpoint, profile: str) -> events_pb2.ArtifactReady:
    event = events_pb2.ArtifactReady(
        tenant="default",
        artifact=types_pb2.Artifact(
            checkpoint_id=checkpoint.checkpoint_id,
            profile=profile,
            digest=hashlib.sha256(profile.encode()).hexdigest(),
            recipe_version=1,
            source_sha256=checkpoint.source.sha256,
            triggers=checkpoint.triggers,
        ),
    )
    event.artifact.created_at.FromDatetime(NOW)
    return event


async def test_from_a_landed_event_to_a_servable_card(service: Service) -> None:
    """The first journey, with the quantizer's part played by the test."""
    await service.land(events_pb2.CheckpointLanded(checkpoint=service.checkpoint("bear.v4")))
    card = await service.comes("bear.v4")
    assert card.source.format == types_pb2.CHECKPOINT_FORMAT_LORA

    async def announced() -> bool:
        return len(service.announced) == 1

    await eventually(announced, timeout_s=60)
    event = service.announced[0]
    assert (event.tenant, event.checkpoint, list(event.profiles)) == ("default", card, [])

    failed = events_pb2.ArtifactFailed(
        tenant="default",
        checkpoint_id="bear.v4",
        profile="w8a8",
        source_sha256=card.source.sha256,
        reason="no memory",
        recipe_version=1,
    )
    failed.failed_at.FromDatetime(NOW)
    await service.bus.publish(failed, msg_id="failed")
    assert (await service.comes("bear.v4", "FAILED")).state_reason == "w8a8: no memory"
    await service.bus.publish(_ready(card, "full"), msg_id="ready")
    await service.comes("bear.v4", "SERVABLE")
    artifacts = await service.call(
        "ListArtifacts", catalog_pb2.ListArtifactsRequest(checkpoint_id="bear.v4")
    )
    assert [each.profile for each in artifacts.artifacts] == ["full"]


async def test_bad_events_become_dead_letters_and_the_rest_goes_on(service: Service) -> None:
    """Malformed, hopeless and mismatched events are buried with their reason."""
    missing = types_pb2.CheckpointSource(uri=(service.folder / "nothing.safetensors").as_uri())
    for bad in (
        b"{not json",
        events_pb2.CheckpointLanded(tenant="another", checkpoint=service.checkpoint("a")),
        events_pb2.CheckpointLanded(checkpoint=service.checkpoint("b", triggers=["x" * 65])),
        events_pb2.CheckpointLanded(checkpoint=service.checkpoint("c", source=missing)),
    ):
        await service.land(bad)
    await service.land(events_pb2.CheckpointLanded(checkpoint=service.checkpoint("good")))
    await service.comes("good")

    async def errors() -> list[str] | None:
        found = [letter.error async for letter in service.bus.dead_letters()]
        return found if len(found) == 4 else None

    reasons = await eventually(errors, timeout_s=60)
    assert reasons is not None
    for says in ("JSON", "personalq.checkpoint.landed.another", "at most 64", "does not exist"):
        assert any(says in reason for reason in reasons), reasons
    listing = await service.call("ListCheckpoints", catalog_pb2.ListCheckpointsRequest())
    assert [each.checkpoint_id for each in listing.checkpoints] == ["good"]


async def test_a_file_out_of_reach_is_waited_for(service: Service) -> None:
    """A server that is down now is no reason to give a checkpoint up."""
    file = lora_file(service.folder / "bear.safetensors")
    with run_http() as web:
        web.answers["/bear.safetensors"] = Answer(status=503)
        source = types_pb2.CheckpointSource(uri=f"{web.url}/bear.safetensors")
        await service.land(
            events_pb2.CheckpointLanded(checkpoint=service.checkpoint("bear", source=source))
        )

        async def asked_twice() -> bool:
            return len(web.requests) >= 2

        await eventually(asked_twice, timeout_s=60)
        web.answers["/bear.safetensors"] = Answer(body=file.read_bytes())
        await service.comes("bear")


async def test_redelivery_stores_and_announces_once(service: Service) -> None:
    """At-least-once delivery becomes one card and one event."""
    landed = events_pb2.CheckpointLanded(checkpoint=service.checkpoint("bear"))
    for _ in range(3):
        await service.land(landed)
    await service.land(events_pb2.CheckpointLanded(checkpoint=service.checkpoint("last")))
    await service.comes("last")

    async def both() -> bool:
        return len({event.checkpoint.checkpoint_id for event in service.announced}) == 2

    await eventually(both, timeout_s=60)
    names = [event.checkpoint.checkpoint_id for event in service.announced]
    assert sorted(names) == ["bear", "last"]


async def test_a_checkpoint_is_known_by_its_aliases(service: Service) -> None:
    """They travel with the card, can be changed, and are found as names."""
    await service.register("rex-1", aliases=["Rex", "Mr. Woof"], triggers=[])
    card = await service.call(
        "GetCheckpoint", catalog_pb2.GetCheckpointRequest(checkpoint_id="rex-1")
    )
    assert list(card.checkpoint.aliases) == ["Rex", "Mr. Woof"]
    changed = types_pb2.Checkpoint(checkpoint_id="rex-1", aliases=["Rexy"])
    await service.call(
        "UpdateCheckpoint",
        catalog_pb2.UpdateCheckpointRequest(
            checkpoint=changed, update_mask=FieldMask(paths=["aliases"])
        ),
    )
    found = await service.call(
        "ResolveNames", catalog_pb2.ResolveNamesRequest(names=["rex", "a rexy", "REXY", "rex-1"])
    )
    assert [(each.name, each.kind, each.spelling) for each in found.names] == [
        ("REXY", catalog_pb2.NAME_KIND_ALIAS, "Rexy"),
        ("rex-1", catalog_pb2.NAME_KIND_CHECKPOINT_ID, "rex-1"),
    ]
    listed = await service.call(
        "ListCheckpoints",
        catalog_pb2.ListCheckpointsRequest(filter=catalog_pb2.CheckpointFilter(names=["rexy"])),
    )
    assert [each.checkpoint_id for each in listed.checkpoints] == ["rex-1"]


@pytest.mark.parametrize(
    ("profiles", "recipe_version"), [(("full", "w8a8", "w4a8"), 1), (("full", "w8a8"), 2)]
)
async def test_a_new_profile_or_recipe_is_asked_for_after_a_restart(
    postgres_url: str,
    nats_url: str,
    tmp_path: Path,
    profiles: tuple[str, ...],
    recipe_version: int,
) -> None:
    """Nobody has to do anything but to deploy the new settings."""
    async with running(postgres_url, nats_url, tmp_path) as service:
        card = await service.register("bear")
        for profile in ("full", "w8a8"):
            await service.bus.publish(_ready(card, profile), msg_id=profile)

        async def complete() -> bool:
            return len((await service.get("bear")).artifacts) == 2

        await eventually(complete, timeout_s=60)
    async with running(
        postgres_url,
        nats_url,
        tmp_path,
        profiles=profiles,
        recipe_version=recipe_version,
        reconcile_interval_s=0.1,
        reconcile_patience_s=0.5,
    ) as service:

        async def asked() -> list[str] | None:
            for event in service.announced:
                if event.profiles:
                    return list(event.profiles)
            return None

        expected = ["w4a8"] if len(profiles) == 3 else ["full", "w8a8"]
        assert await eventually(asked, timeout_s=60) == expected
        assert (await service.get("bear")).checkpoint.state == types_pb2.CHECKPOINT_STATE_SERVABLE


def _requests() -> list[tuple[str, Callable[[Service], Any], type[PersonalQError], str]]:
    """Method, request, error, field."""
    pb = catalog_pb2
    return [
        (
            "RegisterCheckpoint",
            lambda s: pb.RegisterCheckpointRequest(checkpoint=s.checkpoint("x", triggers=[""])),
            InvalidInput,
            "checkpoint.triggers[0]",
        ),
        (
            "RegisterCheckpoint",
            lambda s: pb.RegisterCheckpointRequest(checkpoint=s.checkpoint("x", base_model="sd15")),
            InvalidInput,
            "checkpoint.base_model",
        ),
        (
            "RegisterCheckpoint",
            lambda s: pb.RegisterCheckpointRequest(
                checkpoint=s.checkpoint(
                    "x",
                    source=types_pb2.CheckpointSource(
                        uri=lora_file(s.folder / "y.safetensors").as_uri(), sha256="0" * 64
                    ),
                )
            ),
            CorruptFile,
            "checkpoint.source",
        ),
        (
            "RegisterCheckpoint",
            lambda s: pb.RegisterCheckpointRequest(),
            InvalidInput,
            "checkpoint.checkpoint_id",
        ),
        ("GetCheckpoint", lambda s: pb.GetCheckpointRequest(checkpoint_id="no"), NotFound, ""),
        (
            "GetCheckpoint",
            lambda s: pb.GetCheckpointRequest(checkpoint_id="no/no"),
            InvalidInput,
            "checkpoint_id",
        ),
        ("ListArtifacts", lambda s: pb.ListArtifactsRequest(checkpoint_id="no"), NotFound, ""),
        (
            "ArchiveCheckpoint",
            lambda s: pb.ArchiveCheckpointRequest(checkpoint_id="no"),
            NotFound,
            "",
        ),
        (
            "UpdateCheckpoint",
            lambda s: pb.UpdateCheckpointRequest(
                checkpoint=types_pb2.Checkpoint(checkpoint_id="no"),
                update_mask=FieldMask(paths=["name"]),
            ),
            NotFound,
            "",
        ),
        (
            "UpdateCheckpoint",
            lambda s: pb.UpdateCheckpointRequest(
                checkpoint=types_pb2.Checkpoint(checkpoint_id="no"),
                update_mask=FieldMask(paths=["state"]),
            ),
            InvalidInput,
            "update_mask",
        ),
        (
            "ListCheckpoints",
            lambda s: pb.ListCheckpointsRequest(page_size=-1),
            InvalidInput,
            "page_size",
        ),
        (
            "ListCheckpoints",
            lambda s: pb.ListCheckpointsRequest(page_token="mine"),
            InvalidInput,
            "page_token",
        ),
        (
            "SearchCheckpoints",
            lambda s: pb.SearchCheckpointsRequest(page_token="mine"),
            InvalidInput,
            "page_token",
        ),
        (
            "SearchCheckpoints",
            lambda s: pb.SearchCheckpointsRequest(text="x" * 10_001),
            InvalidInput,
            "text",
        ),
        (
            "SearchCheckpoints",
            lambda s: pb.SearchCheckpointsRequest(phrases=["a spout"] * 9),
            InvalidInput,
            "phrases",
        ),
        (
            "SearchCheckpoints",
            lambda s: pb.SearchCheckpointsRequest(phrases=["a spout", "x" * 201]),
            InvalidInput,
            "phrases[1]",
        ),
        (
            "CompareTexts",
            lambda s: pb.CompareTextsRequest(texts=["a", " "]),
            InvalidInput,
            "texts[1]",
        ),
        (
            "CompareTexts",
            lambda s: pb.CompareTextsRequest(texts=["a"], labels=[pb.TextLabel()]),
            InvalidInput,
            "labels[0]",
        ),
    ]


async def test_mistakes_travel_as_statuses(service: Service) -> None:
    """Each with the field it is about, and nothing is left behind."""
    for method, request, error, where in _requests():
        with pytest.raises(error) as refused:
            await service.call(method, request(service))
        assert type(refused.value) is error, method
        if where:
            assert isinstance(refused.value, InvalidInput)
            assert where in refused.value.violations, method
    with pytest.raises(grpc.aio.AioRpcError) as bad_tenant:
        await service.stub.GetCheckpoint(
            catalog_pb2.GetCheckpointRequest(checkpoint_id="x"),
            metadata=((TENANT_HEADER, "Not a tenant"),),
        )
    assert bad_tenant.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    listing = await service.call("ListCheckpoints", catalog_pb2.ListCheckpointsRequest())
    assert listing.checkpoints == []


async def test_an_older_file_is_a_conflict(service: Service) -> None:
    """ABORTED: the caller has to decide, repeating does not help."""
    new, old = service.checkpoint("bear"), service.checkpoint("old")
    old.checkpoint_id = "bear"
    new.created_at.FromDatetime(NOW)
    old.created_at.FromJsonString("2026-01-01T00:00:00Z")
    register = catalog_pb2.RegisterCheckpointRequest
    await service.call("RegisterCheckpoint", register(checkpoint=new))
    with pytest.raises(Conflict):
        await service.call("RegisterCheckpoint", register(checkpoint=old))


async def test_the_life_of_a_card_over_grpc(service: Service) -> None:
    """Register, find, change, page, withdraw."""
    for number in range(5):
        await service.register(f"bear-v{number}", version=number, styles=["sketch"])
    again = await service.call(
        "RegisterCheckpoint",
        catalog_pb2.RegisterCheckpointRequest(
            checkpoint=service.checkpoint("bear-v0", version=0, styles=["sketch"])
        ),
    )
    assert not again.created

    found = await service.call(
        "SearchCheckpoints",
        catalog_pb2.SearchCheckpointsRequest(
            text="the <bear-v3> on snow",
            filter=catalog_pb2.CheckpointFilter(styles=["Sketches"]),
            page_size=2,
        ),
    )
    assert found.hits[0].checkpoint.checkpoint_id == "bear-v3"
    assert (found.total_matches, found.dense) == (5, False)
    assert not found.hits[0].HasField("similarity")

    changed = await service.call(
        "UpdateCheckpoint",
        catalog_pb2.UpdateCheckpointRequest(
            checkpoint=types_pb2.Checkpoint(checkpoint_id="bear-v1", description="Mine."),
            update_mask=FieldMask(paths=["description", "version"]),
        ),
    )
    assert changed.checkpoint.description == "Mine."
    assert not changed.checkpoint.HasField("version")

    names: list[str] = []
    token = ""
    while True:
        page = await service.call(
            "ListCheckpoints", catalog_pb2.ListCheckpointsRequest(page_size=2, page_token=token)
        )
        names += [each.checkpoint_id for each in page.checkpoints]
        token = page.next_page_token
        if not token:
            break
    assert sorted(names) == [f"bear-v{number}" for number in range(5)]

    words = await service.call("GetVocabulary", catalog_pb2.GetVocabularyRequest())
    assert (list(words.subjects), list(words.styles)) == (["bear"], ["sketch"])
    ids = [n.spelling for n in words.names if n.kind == catalog_pb2.NAME_KIND_CHECKPOINT_ID]
    assert (ids, words.names_complete) == ([f"bear-v{number}" for number in range(5)], True)
    same = await service.call(
        "GetVocabulary", catalog_pb2.GetVocabularyRequest(revision=words.revision)
    )
    assert (same.modified, list(same.subjects)) == (False, [])

    await service.call(
        "ArchiveCheckpoint", catalog_pb2.ArchiveCheckpointRequest(checkpoint_id="bear-v4")
    )
    archived = catalog_pb2.CheckpointFilter(states=[types_pb2.CHECKPOINT_STATE_ARCHIVED])
    listing = await service.call(
        "ListCheckpoints", catalog_pb2.ListCheckpointsRequest(filter=archived)
    )
    assert [each.checkpoint_id for each in listing.checkpoints] == ["bear-v4"]

    with tenant_scope("another"):
        listing = await service.call("ListCheckpoints", catalog_pb2.ListCheckpointsRequest())
        assert listing.checkpoints == []


async def test_a_watch_follows_and_ends_with_the_server(service: Service) -> None:
    """State, synced, changes; a stop ends the stream at once rather than after the grace period."""
    await service.register("bear")
    stream = service.stub.WatchCheckpoints(catalog_pb2.WatchCheckpointsRequest())
    first = await stream.read()
    assert first.checkpoint.checkpoint_id == "bear"
    assert (await stream.read()).synced
    await service.register("dog")
    assert (await stream.read()).checkpoint.checkpoint_id == "dog"
    service.stop.set()
    assert await stream.read() is grpc.aio.EOF


async def test_events_are_json_that_anybody_can_read(service: Service) -> None:
    """What the catalog publishes is proto3 JSON with CloudEvents headers."""
    await service.register("bear")
    message = await service.bus.jetstream.get_last_msg(
        "PERSONALQ_CHECKPOINTS", "personalq.checkpoint.registered.default"
    )
    assert json.loads(message.data or b"")["checkpoint"]["checkpointId"] == "bear"
    assert (message.headers or {})["ce-type"] == "personalq.v1.CheckpointRegistered"


async def test_a_start_without_schema_says_what_to_do(
    postgres_server: str, nats_url: str, tmp_path: Path
) -> None:
    """One line that names the command."""
    with pytest.raises(PersonalQError, match=r"personalq\.catalog migrate"):
        async with running(postgres_server, nats_url, tmp_path):
            pass
