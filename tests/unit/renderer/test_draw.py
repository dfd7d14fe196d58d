"""Drawing on the device, compared with diffusers' own pipeline."""

from __future__ import annotations

import copy
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers import EulerDiscreteScheduler, StableDiffusionPipeline, UNet2DConditionModel
from PIL import Image
from support.tiny_sd import BASE_MODEL, TRIGGER, make_lora, make_tiny_sd

from personalq.renderer.artifacts import ArtifactRef
from personalq.renderer.bases import Base, load_base
from personalq.renderer.denoise import initial_noise
from personalq.renderer.device import Cancellation, Cancelled
from personalq.renderer.draw import Drawn, draw
from personalq.renderer.models import Model
from personalq.renderer.requests import Picture, Progress, RenderPlan, Sampler
from personalq.taq import PROFILES, Factors, Lora, Protected, Protection, quantize_, read_lora

TRIGGER_KEPT = Protection(Protected.parse("trigger"), "", None)
ARTIFACT = ArtifactRef(
    checkpoint_id="bear-v4",
    profile="full",
    digest="d",
    size_bytes=0,
    base_digest="",
    base_size_bytes=0,
    base_model=BASE_MODEL,
    recipe_version=1,
    triggers=(TRIGGER,),
    source_sha256="",
    created_at=None,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model's diffusers folder."""
    return make_tiny_sd(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def base(folder: Path) -> Base:
    """The tiny model's shared components."""
    return load_base(BASE_MODEL, folder, device=torch.device("cpu"), dtype=torch.float32)


@pytest.fixture(scope="module")
def model(folder: Path, base: Base) -> Model:
    """The tiny model in full precision, as an artifact of it would be loaded."""
    unet = UNet2DConditionModel.from_pretrained(folder / "unet").eval()
    quantize_(unet, PROFILES["full"], {})
    return Model(
        base=base,
        unet=unet,
        reader=base.reader,
        lora=None,
        protection=TRIGGER_KEPT,
    )


def make_plan(**fields: Any) -> RenderPlan:
    """Return a quick plan with some fields replaced."""
    values: dict[str, Any] = {
        "prompt": f"a photo of a {TRIGGER}",
        "negative_prompt": "",
        "seed": 5,
        "steps": 4,
        "guidance_scale": 5.0,
        "count": 1,
        "sampler": Sampler.DDIM,
        "width": 16,
        "height": 16,
        "preview_every": 0,
    }
    return RenderPlan(**values | fields)


def run(
    model: Model,
    plan: RenderPlan,
    *,
    artifact: ArtifactRef = ARTIFACT,
    safety: Any = None,
    cancellation: Cancellation | None = None,
) -> list[Progress | Picture | Drawn]:
    """Draw and return everything emitted."""
    emitted: list[Progress | Picture | Drawn] = []
    draw(
        emitted.append,
        model=model,
        artifact=artifact,
        plan=plan,
        cancellation=cancellation or Cancellation(),
        safety=safety,
    )
    return emitted


def pixels(emitted: Sequence[Progress | Picture | Drawn]) -> list[np.ndarray[Any, Any]]:
    """Return the pictures as arrays of numbers 0 to 255."""
    return [
        np.asarray(Image.open(io.BytesIO(e.data))).astype(int)
        for e in emitted
        if isinstance(e, Picture)
    ]


def protected_positions(model: Model, plan: RenderPlan, *triggers: str) -> tuple[int, ...]:
    """Draw, and return the tokens that the provenance says were kept precise."""
    (drawn,) = (
        e
        for e in run(model, plan, artifact=replace(ARTIFACT, triggers=triggers))
        if isinstance(e, Drawn)
    )
    return drawn.provenance.protected_tokens


def test_a_checkpoint_without_a_trigger_keeps_its_start_token(model: Model) -> None:
    """As its artifact says; the prompt does not matter."""
    without = replace(model, protection=Protection(Protected.parse("bos"), "", "no trigger"))
    assert protected_positions(without, make_plan()) == (0,)
    assert protected_positions(without, make_plan(prompt="")) == (0,)


def test_rows_that_depend_on_the_trigger_are_found_for_each_prompt(model: Model) -> None:
    """A recipe may ask for them: as many as its budget, none before the trigger, none without."""
    kept = replace(model, protection=Protection(Protected.parse("conditioned:5"), "bear", None))
    positions = protected_positions(kept, make_plan(), TRIGGER)
    assert len(positions) == 5
    assert min(positions) >= min(protected_positions(model, make_plan(), TRIGGER))
    assert protected_positions(kept, make_plan(prompt="a photo of a bear"), TRIGGER) == ()


def test_only_its_own_text_encoder_reads_a_checkpoints_prompts(model: Model) -> None:
    """Where rows are scored, too; the same weights elsewhere draw the same picture."""
    kept = replace(model, protection=Protection(Protected.parse("conditioned:5"), "bear", None))
    text = model.base.text
    (encoder,) = text.encoders
    copied = replace(encoder, model=copy.deepcopy(encoder.model))
    own = replace(
        kept,
        reader=replace(model.reader, text=replace(text, encoders=(copied,))),
        base=replace(model.base, text=replace(text, encoders=())),
    )
    shared, alone = (pixels(run(m, make_plan()))[0] for m in (kept, own))
    assert np.array_equal(shared, alone)


def test_a_trigger_is_kept_where_it_stands(model: Model) -> None:
    """It draws with and without one, and says which tokens were kept precise."""
    assert protected_positions(model, make_plan()) == ()
    assert protected_positions(model, make_plan(), TRIGGER)
    assert protected_positions(model, make_plan(prompt="a bear"), TRIGGER) == ()


@pytest.mark.parametrize("sampler", list(Sampler))
@pytest.mark.parametrize("guidance", [1.0, 5.0])
@pytest.mark.parametrize(("width", "height"), [(16, 16), (32, 16)])
def test_full_precision_equals_the_diffusers_pipeline(
    folder: Path, model: Model, sampler: Sampler, guidance: float, width: int, height: int
) -> None:
    """Same seeds, same steps: our loop draws what StableDiffusionPipeline draws."""
    pipeline: Any = StableDiffusionPipeline.from_pretrained(
        folder, safety_checker=None, feature_extractor=None, requires_safety_checker=False
    )
    pipeline.set_progress_bar_config(disable=True)
    if sampler is Sampler.EULER:
        pipeline.scheduler = EulerDiscreteScheduler.from_config(pipeline.scheduler.config)
    plan = make_plan(
        sampler=sampler,
        guidance_scale=guidance,
        count=2,
        width=width,
        height=height,
        negative_prompt="dog",
    )
    noise = initial_noise(plan.seeds, (4, height // 2, width // 2), torch.device("cpu"))
    expected = pipeline(
        [plan.prompt] * 2,
        negative_prompt=[plan.negative_prompt] * 2,
        latents=noise,
        width=width,
        height=height,
        num_inference_steps=plan.steps,
        guidance_scale=guidance,
        output_type="np",
    ).images
    for ours, theirs in zip(pixels(run(model, plan)), expected, strict=True):
        assert np.abs(ours - theirs * 255).max() <= 1.01


def test_a_picture_does_not_depend_on_its_company(model: Model) -> None:
    """Picture 1 of seed 5 is picture 0 of seed 6."""
    together = pixels(run(model, make_plan(count=2)))
    alone = pixels(run(model, make_plan(seed=6)))
    assert np.abs(together[1] - alone[0]).max() <= 1
    assert np.abs(together[0] - alone[0]).max() > 1


def test_a_lora_leaves_no_trace(folder: Path, model: Model, tmp_path: Path) -> None:
    """The shared UNet draws bit for bit the same before and after a LoRA rode on it."""
    lora = read_lora(make_lora(folder, tmp_path / "a.safetensors", strength=1.0))
    with_lora = replace(model, lora=lora)
    before, during, after = (pixels(run(m, make_plan()))[0] for m in (model, with_lora, model))
    assert np.array_equal(before, after)
    assert not np.array_equal(before, during)


def test_a_lora_of_the_text_encoder_reads_the_prompt_and_leaves_no_trace(model: Model) -> None:
    """The shared encoder reads with the branch while the checkpoint draws, and as before after."""
    encoder = model.base.text.encoders[0].model
    name = next(n for n, _ in encoder.named_modules() if n.endswith("q_proj"))
    width = encoder.config.hidden_size
    g = torch.Generator().manual_seed(0)
    factors = Factors(
        torch.randn(2, width, generator=g), torch.randn(width, 2, generator=g), scale=1.0
    )
    with_lora = replace(model, lora=Lora({}, {name: factors}))
    before, during, after = (pixels(run(m, make_plan()))[0] for m in (model, with_lora, model))
    assert np.array_equal(before, after)
    assert not np.array_equal(before, during)


def test_a_set_flag_stops_the_next_step_and_frees_the_unet(
    folder: Path, model: Model, tmp_path: Path
) -> None:
    """Cancelled during step 2: nothing more is emitted, and the LoRA is off again."""
    lora = read_lora(make_lora(folder, tmp_path / "a.safetensors", strength=1.0))
    with_lora = replace(model, lora=lora)
    cancellation, emitted = Cancellation(), list[Any]()

    def emit(item: Progress | Picture | Drawn) -> None:
        emitted.append(item)
        if isinstance(item, Progress) and item.step == 2:
            cancellation.cancel()

    before = pixels(run(model, make_plan()))[0]
    with pytest.raises(Cancelled):
        draw(
            emit,
            model=with_lora,
            artifact=ARTIFACT,
            plan=make_plan(steps=50),
            cancellation=cancellation,
        )
    assert [item.step for item in emitted] == [1, 2]
    assert np.array_equal(pixels(run(model, make_plan()))[0], before)


def test_a_set_flag_stops_between_two_pictures(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled while the second of four is decoded: the others are not, and none is emitted."""
    cancellation, decoded = Cancellation(), list[int]()

    def decode(latents: torch.Tensor, **_: object) -> tuple[torch.Tensor]:
        decoded.append(len(latents))
        if len(decoded) == 2:
            cancellation.cancel()
        return (torch.zeros(len(latents), 3, 16, 16),)

    monkeypatch.setattr(model.base.vae, "decode", decode)
    with pytest.raises(Cancelled):
        run(model, make_plan(count=4), cancellation=cancellation)
    assert decoded == [1, 1]


def test_previews_are_small_pictures_of_the_way(model: Model) -> None:
    """Every second step, but not the last, comes with a preview."""
    emitted = run(model, make_plan(steps=4, preview_every=2))
    steps = [e for e in emitted if isinstance(e, Progress)]
    assert [bool(e.preview) for e in steps] == [False, True, False, False]
    assert Image.open(io.BytesIO(steps[1].preview)).size == (16, 16)


def test_the_safety_checker_has_the_last_word(model: Model) -> None:
    """A picture it does not allow leaves as a black one."""

    class FirstOnly:
        def allowed(self, pictures: Sequence[Image.Image]) -> Sequence[bool]:
            return [index == 0 for index in range(len(pictures))]

    first, second = pixels(run(model, make_plan(count=2), safety=FirstOnly()))
    assert first.any()
    assert not second.any()


@pytest.mark.parametrize("allowed", [True, False])
def test_the_safety_checker_sees_previews_too(model: Model, allowed: bool) -> None:
    """The last of them are all but the picture itself."""

    class Always:
        def allowed(self, pictures: Sequence[Image.Image]) -> Sequence[bool]:
            return [allowed] * len(pictures)

    emitted = run(model, make_plan(preview_every=1), safety=Always())
    previews = [e.preview for e in emitted if isinstance(e, Progress) and e.preview]
    assert len(previews) == 3
    assert all(np.asarray(Image.open(io.BytesIO(preview))).any() == allowed for preview in previews)


def test_every_picture_says_what_made_it(model: Model) -> None:
    """The PNG's text chunks hold checkpoint, artifact, prompt, seed, settings and version."""
    emitted = run(model, make_plan(count=2, prompt="a 🐻 bear"))
    second = [e for e in emitted if isinstance(e, Picture)][1]
    text: Any = Image.open(io.BytesIO(second.data)).info
    found = {k.removeprefix("personalq:"): v for k, v in text.items() if k.startswith("personalq")}
    assert found == {
        "checkpoint": "bear-v4",
        "artifact": "d",
        "profile": "full",
        "prompt": "a 🐻 bear",
        "negative_prompt": "",
        "seed": "6",
        "index": "1",
        "steps": "4",
        "guidance_scale": "5",
        "sampler": "ddim",
        "version": "0.1.0",
    }
