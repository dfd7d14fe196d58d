"""Registration, with real files and a real database."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.catalog_cards import NOW, PROFILES, RecordingAnnouncer, artifact, card
from support.checkpoint_files import (
    WIDTH,
    diffusers_folder,
    lora_file,
    safetensors_file,
    sha256_of,
)

from personalq.catalog.cards import Card, Filter, Format, Origin, State
from personalq.catalog.describe import describe_plainly
from personalq.catalog.examine import FileExaminer
from personalq.catalog.lifecycle import accept_artifact, archive_checkpoint, update_checkpoint
from personalq.catalog.ports import Embedded, Model
from personalq.catalog.register import Registered, register_checkpoint
from personalq.catalog.store import PostgresStore
from personalq.chassis.errors import Conflict, CorruptFile, InvalidInput, Unavailable

BASES = {"tiny": WIDTH, "sd15": 768, "sd21": 1024}


class World:
    """Registers with everything filled in but what a test wants to change."""

    def __init__(
        self, store: PostgresStore, tenant: str, announce: RecordingAnnouncer, folder: Path
    ) -> None:
        self.store = store
        self.tenant = tenant
        self.announce = announce
        self.folder = folder
        self.embedder: Any = None
        self.examined = 0
        self._examine = FileExaminer(
            work_dir=folder / "work", max_bytes=10_000_000, places=asyncio.Semaphore(2)
        )

    async def examine(self, origin: Origin) -> Any:
        """Count and examine."""
        self.examined += 1
        return await self._examine(origin)

    async def register(self, landed: Card, **changes: Any) -> Registered:
        """Register a card."""
        values: dict[str, Any] = {
            "tenant": self.tenant,
            "store": self.store,
            "examine": self.examine,
            "describe": describe_plainly,
            "embedder": self.embedder,
            "announce": self.announce,
            "base_models": BASES,
            "profiles": PROFILES,
            "now": NOW,
        }
        return await register_checkpoint(landed, **(values | changes))

    async def stored(self, checkpoint_id: str = "bear") -> Card | None:
        """What the database holds."""
        return await self.store.card(self.tenant, checkpoint_id)


@pytest.fixture
def world(store: PostgresStore, tenant: str, announce: RecordingAnnouncer, tmp_path: Path) -> World:
    """Somewhere to register."""
    return World(store, tenant, announce, tmp_path)


def landed(path: Path, checkpoint_id: str = "bear", **fields: Any) -> Card:
    """What a pipeline says of a file, as little as allowed."""
    values: dict[str, Any] = {
        "checkpoint_id": checkpoint_id,
        "triggers": ("<bear>",),
        "subjects": ("bear",),
        "source": Origin(uri=path.as_uri()),
    } | fields
    return Card(**values)


async def test_a_lora_becomes_a_card(world: World) -> None:
    """Digest, size, format, rank, base model and a description come from the file."""
    file = lora_file(world.folder / "bear.safetensors", rank=4)
    done = await world.register(landed(file))
    stored = await world.stored()
    assert done == Registered(card=stored, created=True) if stored else False
    assert done.card.source.sha256 == sha256_of(file)
    assert done.card.source.size_bytes == file.stat().st_size
    assert done.card.source.format is Format.LORA
    assert done.card.lora_rank == 4
    assert done.card.base_model == "tiny"
    assert done.card.description == "A bear."
    assert done.card.name == "bear"
    assert done.card.state is State.REGISTERED
    assert done.card.created_at == NOW
    assert world.announce.announced == [("registered", "bear", ())]
    assert list((world.folder / "work").iterdir()) == []


async def test_a_diffusers_folder_becomes_a_card(world: World) -> None:
    """A full fine-tune is a folder; its digest is over its files."""
    folder = diffusers_folder(world.folder / "tuned")
    done = await world.register(landed(folder, base_model="tiny"))
    assert done.card.source.format is Format.FULL
    again = await world.register(
        landed(folder, base_model="tiny", source=replace(done.card.source, format=Format.UNKNOWN))
    )
    assert not again.created


async def test_a_card_without_a_trigger_and_one_with_several(world: World) -> None:
    """A third of the checkpoints published have no trigger; of several the first is canonical."""
    file = lora_file(world.folder / "bear.safetensors")
    plain = await world.register(landed(file, triggers=()))
    assert plain.card.triggers == ()
    assert plain == Registered(card=plain.card, created=True)
    assert not (await world.register(landed(file, triggers=()))).created
    several = await world.register(landed(file, "two", triggers=("<b>", "sks bear", "<a>")))
    assert several.card.triggers == ("<b>", "sks bear", "<a>")
    now_named = await world.register(landed(file, triggers=("<bear>",)))
    assert (now_named.created, now_named.card.triggers) == (True, ("<bear>",))


async def test_a_date_ahead_of_the_clock_is_stored_and_logged(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong clock loses no checkpoint; whoever runs the catalog can see it."""
    ahead = NOW + timedelta(days=3)
    done = await world.register(
        landed(lora_file(world.folder / "bear.safetensors"), created_at=ahead)
    )
    assert done.card.created_at == ahead
    assert "checkpoint from the future" in caplog.messages


async def test_what_the_pipeline_says_wins(world: World) -> None:
    """Description, dates and usage are taken over."""
    file = lora_file(world.folder / "bear.safetensors", metadata={"modelspec.date": "2026-01-02"})
    made = NOW - timedelta(days=3)
    done = await world.register(
        landed(file, description="My bear.", created_at=made, use_count=4, version=2)
    )
    assert (done.card.description, done.card.created_at) == ("My bear.", made)
    assert (done.card.use_count, done.card.version) == (4, 2)


async def test_the_files_own_date_is_better_than_none(world: World) -> None:
    """Without created_at the training date in the file counts, if it is plausible."""
    dated = lora_file(world.folder / "a.safetensors", metadata={"modelspec.date": "2026-01-02"})
    absurd = lora_file(world.folder / "b.safetensors", metadata={"modelspec.date": "2199-01-02"})
    assert (await world.register(landed(dated, "a"))).card.created_at == datetime(
        2026, 1, 2, tzinfo=UTC
    )
    assert (await world.register(landed(absurd, "b"))).card.created_at == NOW


# Bad input: nothing is stored, nothing announced, the message says what to do.


def _missing(folder: Path) -> Card:
    return landed(folder / "nothing.safetensors")


def _other_digest(folder: Path) -> Card:
    file = lora_file(folder / "bear.safetensors")
    return landed(file, source=Origin(uri=file.as_uri(), sha256="0" * 64))


def _other_size(folder: Path) -> Card:
    file = lora_file(folder / "bear.safetensors")
    return landed(file, source=Origin(uri=file.as_uri(), size_bytes=17))


def _truncated(folder: Path) -> Card:
    file = lora_file(folder / "bear.safetensors")
    file.write_bytes(file.read_bytes()[:-100])
    return landed(file)


def _lfs_pointer(folder: Path) -> Card:
    file = folder / "bear.safetensors"
    file.write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 4096\n"
    )
    return landed(file)


def _two_bytes(folder: Path) -> Card:
    file = folder / "bear.safetensors"
    file.write_bytes(b"ok")
    return landed(file)


def _pickle(folder: Path) -> Card:
    file = folder / "bear.safetensors"
    file.write_bytes(pickle.dumps({"unet": list(range(100))}))
    return landed(file)


def _unmapped(folder: Path) -> Card:
    return landed(safetensors_file(folder / "bear.safetensors", {"some.layer.weight": (4, 4)}))


def _too_large(folder: Path) -> Card:
    file = folder / "bear.safetensors"
    with file.open("wb") as sparse:
        sparse.truncate(10_000_001)
    return landed(file)


def _no_uri(folder: Path) -> Card:
    file = lora_file(folder / "bear.safetensors")
    return landed(file, source=Origin(uri=str(file)))


def _other_format(folder: Path) -> Card:
    file = lora_file(folder / "bear.safetensors")
    return landed(file, source=Origin(uri=file.as_uri(), format=Format.FULL))


def _wrong_width(folder: Path) -> Card:
    return landed(lora_file(folder / "bear.safetensors", width=1024), base_model="sd15")


def _unknown_base(folder: Path) -> Card:
    return landed(lora_file(folder / "bear.safetensors"), base_model="sdxl")


def _no_base_fits(folder: Path) -> Card:
    return landed(lora_file(folder / "bear.safetensors", width=2048))


def _empty_trigger(folder: Path) -> Card:
    return landed(lora_file(folder / "bear.safetensors"), triggers=("",))


def _long_trigger(folder: Path) -> Card:
    return landed(lora_file(folder / "bear.safetensors"), triggers=("x" * 65,))


@pytest.mark.parametrize(
    ("bad", "field", "says"),
    [
        (_missing, "checkpoint.source.uri", "does not exist"),
        (_other_digest, "checkpoint.source", "sha256"),
        (_other_size, "checkpoint.source", "bytes"),
        (_truncated, "checkpoint.source", "truncated"),
        (_lfs_pointer, "checkpoint.source", "Git LFS"),
        (_two_bytes, "checkpoint.source", "2 bytes"),
        (_pickle, "checkpoint.source", "pickle"),
        (_unmapped, "checkpoint.source", "some.layer.weight"),
        (_too_large, "checkpoint.source.uri", "10000000"),
        (_no_uri, "checkpoint.source.uri", "file://"),
        (_other_format, "checkpoint.source.format", "is a lora"),
        (_wrong_width, "checkpoint.base_model", "1024"),
        (_unknown_base, "checkpoint.base_model", "not served here"),
        (_no_base_fits, "checkpoint.base_model", "2048"),
        (_empty_trigger, "checkpoint.triggers[0]", "is empty"),
        (_long_trigger, "checkpoint.triggers[0]", "at most 64"),
    ],
)
async def test_a_bad_checkpoint_leaves_nothing_behind(
    world: World, bad: Callable[[Path], Card], field: str, says: str
) -> None:
    """The field is named, the message says what is wrong, and the catalog is as before."""
    with pytest.raises(InvalidInput) as refused:
        await world.register(bad(world.folder))
    assert says in str(refused.value.violations.get(field))
    assert await world.stored() is None
    assert world.tenant not in [tenant.name for tenant in await world.store.tenants()]
    assert world.announce.announced == []
    work = world.folder / "work"
    assert not work.exists() or list(work.iterdir()) == []


async def test_a_damaged_file_is_told_from_a_bad_request(world: World) -> None:
    """A damaged file has an error of its own, which travels with its own reason."""
    with pytest.raises(CorruptFile):
        await world.register(_truncated(world.folder))


async def test_several_bases_that_fit_must_be_told_apart(world: World) -> None:
    """The catalog does not guess."""
    file = lora_file(world.folder / "bear.safetensors")
    with pytest.raises(InvalidInput, match="other or tiny"):
        await world.register(landed(file), base_models={"tiny": WIDTH, "other": WIDTH})
    assert (await world.register(landed(file), base_models={})).card.base_model == ""


async def test_two_cards_may_share_a_trigger(world: World) -> None:
    """Versions of one concept do; what must be unique is the id."""
    for checkpoint_id in ("bear-v1", "bear-v2"):
        file = lora_file(world.folder / f"{checkpoint_id}.safetensors")
        assert (await world.register(landed(file, checkpoint_id))).created
    found = await world.store.page(world.tenant, Filter(triggers=("<BEAR>",)), after=None, limit=10)
    assert {made.checkpoint_id for made in found} == {"bear-v1", "bear-v2"}


# The same again.


async def test_the_same_again_is_a_no_op_that_is_announced_again(world: World) -> None:
    """The first time may have broken off before the event was out."""
    file = lora_file(world.folder / "bear.safetensors")
    first = await world.register(landed(file))
    again = await world.register(landed(file))
    assert not again.created
    assert again.card == first.card
    assert world.announce.announced == [("registered", "bear", ())] * 2


async def test_a_known_digest_needs_no_second_look_at_the_file(world: World) -> None:
    """A redelivery is answered without fetching gigabytes again."""
    file = lora_file(world.folder / "bear.safetensors")
    known = landed(file, source=Origin(uri=file.as_uri(), sha256=sha256_of(file)))
    await world.register(known)
    file.unlink()
    assert not (await world.register(known)).created
    assert world.examined == 1


async def test_a_broken_announcement_is_made_good_by_the_next_try(world: World) -> None:
    """The card is stored before the event is out; a repetition finishes the work."""
    file = lora_file(world.folder / "bear.safetensors")
    world.announce.away = True
    with pytest.raises(Unavailable):
        await world.register(landed(file))
    assert await world.stored() is not None
    world.announce.away = False
    assert not (await world.register(landed(file))).created
    assert world.announce.announced == [("registered", "bear", ())]


async def test_a_redelivery_does_not_undo_what_people_changed(world: World) -> None:
    """A correction made since survives the repetition of the same event."""
    file = lora_file(world.folder / "bear.safetensors")
    await world.register(landed(file))
    await update_checkpoint(
        "bear",
        card("bear", description="My own words.", use_count=9),
        ["description", "use_count"],
        tenant=world.tenant,
        store=world.store,
        embedder=None,
        announce=world.announce,
    )
    assert not (await world.register(landed(file))).created
    stored = await world.stored()
    assert stored is not None
    assert (stored.description, stored.use_count) == ("My own words.", 9)


async def test_concurrent_registrations_of_one_id_end_as_one_card(world: World) -> None:
    """Two replicas that handle the same event store it once."""
    file = lora_file(world.folder / "bear.safetensors")
    done = await asyncio.gather(*(world.register(landed(file)) for _ in range(4)))
    assert sorted(each.created for each in done) == [False, False, False, True]
    assert len({each.card.revision for each in done}) == 1


# The same id with something else.


async def test_a_new_file_is_the_next_revision(world: World) -> None:
    """State begins anew, artifacts of the old file no longer count, usage is kept."""
    old = await world.register(
        landed(lora_file(world.folder / "old.safetensors"), use_count=5, last_used_at=NOW)
    )
    await accept_artifact(
        artifact(old.card), tenant=world.tenant, store=world.store, profiles=PROFILES
    )
    new = await world.register(landed(lora_file(world.folder / "new.safetensors")))
    assert new.created
    assert new.card.state is State.REGISTERED
    assert new.card.artifacts == ()
    assert new.card.revision > old.card.revision
    assert (new.card.use_count, new.card.last_used_at) == (5, NOW)
    assert new.card.registered_at == old.card.registered_at


async def test_a_file_that_comes_back_brings_its_artifacts(world: World) -> None:
    """They were made from these very bytes."""
    old_file = lora_file(world.folder / "old.safetensors")
    old = await world.register(landed(old_file))
    await accept_artifact(
        artifact(old.card), tenant=world.tenant, store=world.store, profiles=PROFILES
    )
    await world.register(landed(lora_file(world.folder / "new.safetensors")))
    back = await world.register(landed(old_file))
    assert back.card.state is State.SERVABLE
    assert [each.profile for each in back.card.artifacts] == ["w8a8"]


async def test_an_event_that_comes_late_does_not_replace_a_newer_file(world: World) -> None:
    """Redeliveries may arrive in any order; training dates tell which file is the newer."""
    old, new = (
        landed(lora_file(world.folder / f"{age}.safetensors"), created_at=NOW - timedelta(days=age))
        for age in (20, 10)
    )
    await world.register(new)
    with pytest.raises(Conflict, match="another id"):
        await world.register(old)
    stored = await world.stored()
    assert stored is not None
    assert stored.source.uri == new.source.uri


async def test_new_words_for_the_same_file_keep_its_state(world: World) -> None:
    """Describing a checkpoint better is no reason to quantize it again."""
    file = lora_file(world.folder / "bear.safetensors")
    first = await world.register(landed(file))
    await accept_artifact(
        artifact(first.card), tenant=world.tenant, store=world.store, profiles=PROFILES
    )
    again = await world.register(landed(file, description="A grumpy bear."))
    assert again.created
    assert again.card.state is State.SERVABLE
    assert again.card.created_at == first.card.created_at


async def test_a_withdrawn_checkpoint_stays_so_until_a_new_file_comes(world: World) -> None:
    """Neither a redelivery nor new words bring it back."""
    file = lora_file(world.folder / "bear.safetensors")
    await world.register(landed(file))
    await archive_checkpoint(
        "bear", tenant=world.tenant, store=world.store, announce=world.announce
    )
    world.announce.announced.clear()
    assert (await world.register(landed(file))).card.state is State.ARCHIVED
    renamed = await world.register(landed(file, name="Bruno"))
    assert renamed.card.state is State.ARCHIVED
    assert world.announce.announced == []
    new = await world.register(landed(lora_file(world.folder / "new.safetensors")))
    assert new.card.state is State.REGISTERED


class Embedder:
    """Counts; optionally away."""

    model = Model(id="counting", dim=384)
    away = False

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedded]:
        """One-hot by the text's length."""
        if self.away:
            raise Unavailable("the embedding server cannot be reached")
        return [
            Embedded(vector=[float(place == len(text) % 384) for place in range(384)])
            for text in texts
        ]

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedded]:
        """The same."""
        return await self.embed_documents(texts)


async def test_registration_does_not_wait_for_a_lost_embedding_server(world: World) -> None:
    """The card is stored without a vector, and the repair loop finds it."""
    world.embedder = Embedder()
    world.embedder.away = True
    done = await world.register(landed(lora_file(world.folder / "bear.safetensors")))
    assert done.created
    waiting = await world.store.unembedded(world.tenant, Embedder.model, 10)
    assert [each.checkpoint_id for each in waiting] == ["bear"]
    world.embedder.away = False
    await world.register(landed(lora_file(world.folder / "dog.safetensors"), "dog"))
    waiting = await world.store.unembedded(world.tenant, Embedder.model, 10)
    assert [each.checkpoint_id for each in waiting] == ["bear"]


async def test_updates_are_bound_to_the_mask(world: World) -> None:
    """Unknown paths and bad values are refused, everything else stays as it was."""
    await world.register(landed(lora_file(world.folder / "bear.safetensors"), owner="ada"))

    embedder = Embedder()

    async def update(mask: Sequence[str], **fields: Any) -> Card:
        return await update_checkpoint(
            "bear",
            card("bear", **fields),
            mask,
            tenant=world.tenant,
            store=world.store,
            embedder=embedder,
            announce=world.announce,
        )

    refused: Mapping[str, Sequence[str]] = {"update_mask": ["source"], "": []}
    for paths in refused.values():
        with pytest.raises(InvalidInput) as error:
            await update(paths)
        assert "update_mask" in error.value.violations
    with pytest.raises(InvalidInput):
        await update(["triggers"], triggers=("",))
    world.announce.announced.clear()
    changed = await update(["styles"], styles=("sketch",), owner="eve")
    assert await world.store.unembedded(world.tenant, embedder.model, 10) == []
    assert (changed.styles, changed.owner) == (("sketch",), "ada")
    assert world.announce.announced == []
    world.announce.away = True
    with pytest.raises(Unavailable):
        await update(["triggers"], triggers=("<new>",))
    world.announce.away = False
    await update(["triggers"], triggers=("<new>",))
    assert world.announce.announced == [("registered", "bear", ())], "the repetition announces it"


async def test_places_follow_the_description_that_told_them(world: World) -> None:
    """A corrected description corrects them; those that were given stay as they were given."""
    told = "Trained on museum scenes."
    source = lora_file(world.folder / "bear.safetensors")
    first = await world.register(landed(source, description=told, environments=()))
    assert first.card.environments == ("museum",)

    async def update(mask: Sequence[str], **fields: Any) -> tuple[str, ...]:
        changed = await update_checkpoint(
            "bear",
            card("bear", **fields),
            mask,
            tenant=world.tenant,
            store=world.store,
            embedder=None,
            announce=world.announce,
        )
        return changed.environments

    assert await update(["description"], description="Trained on beach photos.") == ("beach",)
    assert await update(["owner"], owner="ada") == ("beach",)
    assert await update(["description"], description="A bear.") == ()
    assert await update(["environments"], environments=("snow",)) == ("snow",)
    assert await update(["description"], description=told) == ("snow",)
