"""From a new checkpoint to a picture, through the whole stack and the real command line."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest
from PIL import Image
from support.embedded_stack import EmbeddedStack

from personalq.miniature import MiniatureCheckpoint
from personalq.sdk import AsyncPersonalQ
from personalq.sdk.embedded.miniature import announcement, card_fields
from personalq.sdk.results import (
    Clarification,
    Generation,
    NoMatch,
    Picture,
    Progress,
    Selection,
    Started,
)

# Generous: a loaded machine needs minutes to load torch three times.
pytestmark = pytest.mark.timeout(900)

DIRECT = "my most realistic, recently created bear on forest grass"


def test_a_published_checkpoint_is_listed_servable_and_shown(stack: EmbeddedStack) -> None:
    """The catalog verified the file, the quantizer made an artifact for each profile."""
    listed = json.loads(stack.command("checkpoints", "list", "--json").stdout)
    assert {card["checkpoint_id"]: card["state"] for card in listed} == {
        "bear-v1": "servable",
        "bear-v4": "servable",
        "cat-v1": "servable",
    }
    shown = stack.command("checkpoints", "show", "bear-v4")
    assert shown.returncode == 0
    assert "w8a8" in shown.stdout
    assert "lora" in shown.stdout


async def test_publishing_the_same_checkpoint_again_changes_nothing(
    client: AsyncPersonalQ, trained: dict[str, MiniatureCheckpoint]
) -> None:
    """A pipeline may repeat itself."""
    each = trained["bear-v4"]
    before = await client.checkpoint("bear-v4")
    again = await client.publish(
        each.path, **announcement(each), **card_fields(each), wait=True, wait_profiles=["w8a8"]
    )
    assert again.checkpoint == before


def test_a_direct_request_selects_and_rewrites(stack: EmbeddedStack) -> None:
    """The paper's example: only the noun gives way to the trigger."""
    done = stack.command("select", DIRECT, "--json", "--explain")
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["outcome"] == "selection"
    assert outcome["checkpoint"]["checkpoint_id"] == "bear-v4"
    assert outcome["rewritten_prompt"] == DIRECT.replace("bear", "<bear-v4>")
    assert outcome["artifact"]["profile"] == "w8a8"


def test_an_ambiguous_request_asks_and_takes_an_answer(stack: EmbeddedStack) -> None:
    """Code 3 with the question and its options; `--answer` goes on."""
    asked = stack.command("select", "my bear at the beach")
    assert asked.returncode == 3
    assert "?" in asked.stdout
    assert "bear-v" not in asked.stdout  # never an id in a question
    question = json.loads(stack.command("select", "my bear at the beach", "--json").stdout)
    label = question["options"][0]["label"]
    answered = stack.command("select", "my bear at the beach", "--answer", label, "--json")
    assert answered.returncode == 0, answered.stdout
    assert json.loads(answered.stdout)["checkpoint"]["subjects"] == ["bear"]


def test_a_request_nothing_fits_says_why(stack: EmbeddedStack) -> None:
    """Code 4 and the constraint that failed."""
    done = stack.command("select", "a photo of my horse in the snow")
    assert done.returncode == 4
    assert "horse" in done.stdout


def test_render_writes_a_picture_with_its_provenance(stack: EmbeddedStack, tmp_path: Path) -> None:
    """The same seed gives the same picture; the PNG says what made it."""
    first, second = tmp_path / "first.png", tmp_path / "second.png"
    for path in (first, second):
        done = stack.command(
            *("render", "bear-v4", "<bear-v4> in the forest", "--out", path),
            *("--steps", "4", "--seed", "7", "--profile", "w8a8"),
        )
        assert done.returncode == 0, done.stderr
        assert str(path) in done.stdout
    with Image.open(first) as one, Image.open(second) as other:
        assert one.tobytes() == other.tobytes()
        assert one.size == (64, 64)
        assert any("bear-v4" in str(value) for value in one.info.values())


def test_generate_goes_from_words_to_a_picture(stack: EmbeddedStack, tmp_path: Path) -> None:
    """Select, ask and render in one command."""
    path = tmp_path / "cat.png"
    done = stack.command(
        *("generate", "the watercolor cat by a house", "--steps", "4", "--out", path, "--json")
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["checkpoint_id"] == "cat-v1"
    assert made["images"] == [str(path)]
    assert path.exists()


def test_generate_without_an_answer_exits_with_the_question(
    stack: EmbeddedStack, tmp_path: Path
) -> None:
    """Nothing is rendered."""
    path = tmp_path / "bear.png"
    done = stack.command("generate", "my bear at the beach", "--out", path)
    assert done.returncode == 3
    assert not path.exists()


async def test_the_sdk_does_the_same_in_process(client: AsyncPersonalQ) -> None:
    """Question, answer, progress and pictures."""
    steps: list[object] = []
    made = await client.generate(
        "my bear at the beach",
        on_question=lambda asked: asked.options[0].label,
        on_progress=steps.append,
        steps=4,
        count=2,
        seed=3,
    )
    assert isinstance(made, Generation)
    assert [picture.seed for picture in made.rendering.pictures] == [3, 4]
    assert any(isinstance(step, Started) for step in steps)
    assert [s.step for s in steps if isinstance(s, Progress)][-1] == 4


async def test_every_profile_renders_the_same_scene(client: AsyncPersonalQ) -> None:
    """Full precision and quantized differ in precision, not in what they show."""
    pictures = {}
    for profile in ("full", "w8a8"):
        rendering = await client.render_image(
            "bear-v4", "<bear-v4> in the forest", profile=profile, steps=8, seed=1
        )
        assert rendering.provenance.profile == profile
        with Image.open(io.BytesIO(rendering.picture.data)) as picture:
            pictures[profile] = picture.convert("L").tobytes()
    difference = [abs(a - b) for a, b in zip(*pictures.values(), strict=True)]
    assert sum(difference) / len(difference) < 40  # of 255; two seeds differ by far more


async def test_a_tenant_sees_nothing_of_another(stack: EmbeddedStack) -> None:
    """The same request in another tenant's empty catalog matches nothing."""
    done = stack.command("select", DIRECT, "--tenant", "acme")
    assert done.returncode == 4
    assert stack.command("checkpoints", "show", "bear-v4", "--tenant", "acme").returncode == 2


async def test_an_archived_checkpoint_is_never_selected(
    client: AsyncPersonalQ, stack: EmbeddedStack, trained: dict[str, MiniatureCheckpoint]
) -> None:
    """It is kept, and shown as archived."""
    each = trained["cat-v1"]
    await client.publish(
        each.path,
        trigger=each.triggers,
        subject="otter",
        checkpoint_id="otter-v1",
        base_model=each.base_model,
        wait=True,
    )
    async with asyncio.timeout(10):  # Check-in's words may be two seconds old
        while not isinstance(await client.select("my otter on a rock"), Selection):
            await asyncio.sleep(0.2)
    assert stack.command("checkpoints", "archive", "otter-v1").returncode == 0
    assert (await client.checkpoint("otter-v1")).state == "archived"
    assert isinstance(await client.select("my otter on a rock"), NoMatch | Clarification)


async def test_two_cards_may_share_a_trigger(
    client: AsyncPersonalQ, trained: dict[str, MiniatureCheckpoint]
) -> None:
    """Versions of one concept do; only the id is unique."""
    each = trained["bear-v1"]
    for number in (1, 2):
        published = await client.publish(
            each.path,
            trigger="<shared>",
            subject="teapot",
            checkpoint_id=f"teapot-v{number}",
            version=number,
            base_model=each.base_model,
            wait=True,
        )
        assert published.checkpoint is not None
    for number in (1, 2):
        await client.archive(f"teapot-v{number}")


async def test_previews_come_while_it_renders(client: AsyncPersonalQ) -> None:
    """Small PNGs on the way, the whole picture at the end."""
    seen = [
        step
        async for step in client.render(
            "bear-v4", "<bear-v4> in the forest", steps=4, preview_every=1
        )
    ]
    previews = [s.preview for s in seen if isinstance(s, Progress) and s.preview]
    assert len(previews) > 1
    assert all(preview.startswith(b"\x89PNG") for preview in previews)
    assert any(isinstance(step, Picture) for step in seen)
