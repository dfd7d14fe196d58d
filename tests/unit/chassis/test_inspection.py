"""What a checkpoint is: real files of every key style, and files made for each rule."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.safetensors_files import unet_lora, unet_model, write_safetensors

from personalq.chassis.errors import CorruptFile, InvalidInput
from personalq.chassis.inspection import Inspection, check_base, inspect

TEXT_LORA = {
    "text_encoder.text_model.encoder.layers.0.self_attn.q_proj.lora_A.weight": (4, 768),
    "text_encoder.text_model.encoder.layers.0.self_attn.q_proj.lora_B.weight": (768, 4),
}


def unet_file(width: int = 768) -> dict[str, tuple[int, ...]]:
    """A few keys of a whole UNet in one file, first and last layer included."""
    unet = "model.diffusion_model"
    return {
        f"{unet}.input_blocks.0.0.weight": (320, 4, 3, 3),
        f"{unet}.out.2.weight": (4, 320, 3, 3),
        f"{unet}.input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight": (8, width),
    }


def made(
    folder: Path,
    shapes: Mapping[str, tuple[int, ...]],
    metadata: Mapping[str, str] | None = None,
) -> Inspection:
    """The inspection of a file with these tensors."""
    return inspect(write_safetensors(folder / "bear.safetensors", shapes, metadata))


class TestRealFiles:
    """Files as they were found in the wild."""

    @pytest.fixture
    def lora(self, shared_data: Path) -> Path:
        """Their folder."""
        return shared_data / "lora"

    def test_diffusers_keys(self, lora: Path) -> None:
        """`unet.<layer>.lora.down.weight`, rank 4, 128 layers."""
        found = inspect(lora / "expansion_joint_chiang.safetensors")
        assert (found.format, found.key_style, found.rank) == ("lora", "diffusers", 4)
        assert (found.cross_attention_width, found.base_family) == (768, "SD 1.x")
        assert found.components == {"unet": 128}
        assert found.problems == ()

    def test_processor_keys(self, lora: Path) -> None:
        """`<layer>.processor.to_q_lora.down.weight`, without a component's name."""
        found = inspect(lora / "catundchat_sd15_axe.safetensors")
        assert (found.format, found.key_style, found.rank) == ("lora", "diffusers-processor", 4)
        assert found.cross_attention_width == 768
        assert found.components == {"unet": 128}
        assert found.problems == ()

    def test_indexed_keys_with_tokens(self, lora: Path) -> None:
        """cloneofsimo: numbered layers; two trained tokens; the width shows all the same."""
        found = inspect(lora / "cloneofsimo_lora_disney.safetensors")
        assert (found.format, found.key_style, found.rank) == ("lora", "indexed", 1)
        assert found.cross_attention_width == 768
        assert found.tokens == ("<s1>", "<s2>")
        assert found.trigger_candidates == ("<s1>", "<s2>")
        assert found.trigger_origins["<s1>"] == "a trained token in the file"
        assert found.problems == ()
        assert any("numbered" in note for note in found.notes)

    def test_indexed_keys_without_tokens(self, lora: Path) -> None:
        """The same style at rank 4; no trigger to be found."""
        found = inspect(lora / "cloneofsimo_analog_svd_rank4.safetensors")
        assert (found.rank, found.cross_attention_width) == (4, 768)
        assert found.trigger_candidates == ()

    @pytest.mark.parametrize(("rank", "year"), [(4, 2023), (8, 2023)])
    def test_lokr_with_kohya_metadata(self, lora: Path, rank: int, year: int) -> None:
        """LyCORIS LoKr: rank, width from the Kronecker factors, base, triggers, date, alpha."""
        found = inspect(lora / f"lycoris_smart_falcon_{rank}_lokr.safetensors")
        assert (found.adapter, found.key_style, found.rank) == ("lokr", "lycoris", rank)
        assert found.cross_attention_width == 768
        assert found.alpha == rank
        assert found.base_model == "animefull-final-pruned.safetensors"
        assert "smf girl" in found.trigger_candidates
        assert "smart falcon (umamusume)" in found.trigger_candidates
        assert found.trained_at is not None
        assert found.trained_at.year == year
        assert found.base_model_from == "ss_sd_model_name"
        origins = found.trigger_origins
        assert origins["smf girl"] == "ss_tag_frequency, a folder of training pictures"
        assert origins["smart falcon (umamusume)"] == "ss_training_comment"
        assert origins["hair bow"] == "ss_tag_frequency, a tag of 129 pictures"
        assert found.ranks == {rank: 350}
        assert found.problems == ()

    def test_peft_text_encoder(self, lora: Path) -> None:
        """PEFT keys with `adapter_config.json` beside them: base and alpha come from there."""
        found = inspect(lora / "anime_style_sd15_te_peft_adapter_model.safetensors")
        assert (found.format, found.key_style, found.rank) == ("lora", "peft", 8)
        assert found.alpha == 8
        assert found.base_model == "benjamin-paine/stable-diffusion-v1-5"
        assert found.cross_attention_width == 0
        assert found.components == {"text_encoder": 24}
        assert any("text encoder" in note for note in found.notes)

    def test_an_embedding_without_a_name(self, lora: Path) -> None:
        """`emb_params`: an embedding whose token nobody wrote down."""
        found = inspect(lora / "invokeai_test_embedding.safetensors")
        assert (found.format, found.cross_attention_width) == ("textual_inversion", 768)
        assert found.tokens == ("",)
        assert found.trigger_candidates == ()
        assert any("give the trigger" in note for note in found.notes)

    def test_bad_files(self, shared_data: Path) -> None:
        """A Git LFS pointer and a 2-byte file are refused for what they are."""
        with pytest.raises(CorruptFile, match="Git LFS pointer"):
            inspect(shared_data / "bad" / "lfs_pointer_learned_embeds.safetensors")
        with pytest.raises(CorruptFile, match="only 2 bytes"):
            inspect(shared_data / "bad" / "two_byte_pytorch_lora_weights.safetensors")

    def test_a_real_file_cut_short(self, lora: Path, tmp_path: Path) -> None:
        """A LoRA whose upload broke off says how much is missing."""
        data = (lora / "expansion_joint_chiang.safetensors").read_bytes()
        path = tmp_path / "bear.safetensors"
        path.write_bytes(data[:-1000])
        with pytest.raises(CorruptFile, match=" 1000 bytes are missing; upload it again"):
            inspect(path)

    def test_every_real_file_makes_json(self, lora: Path) -> None:
        """What `personalq inspect --json` prints is JSON, short metadata and all."""
        for path in lora.glob("*.safetensors"):
            text = json.dumps(inspect(path).to_json(), allow_nan=False)
            assert len(text) < 60_000


class TestKeyStyles:
    """Each way to write the same LoRA."""

    @pytest.mark.parametrize("width", [192, 768, 1024, 2048])
    @pytest.mark.parametrize(
        ("style", "down", "up", "separator"),
        [
            ("diffusers", "unet.{layer}.lora.down.weight", "unet.{layer}.lora.up.weight", "."),
            ("diffusers", "unet.unet.{layer}.lora.down.weight", "unet.unet.{layer}.lora.up.weight",
             "."),
            ("diffusers-processor", "unet.{layer}_lora.down.weight", "unet.{layer}_lora.up.weight",
             "."),
            ("peft", "unet.{layer}.lora_A.weight", "unet.{layer}.lora_B.weight", "."),
            ("peft", "unet.{layer}.lora_A.default.weight", "unet.{layer}.lora_B.default.weight",
             "."),
            ("peft", "base_model.model.{layer}.lora_A.weight",
             "base_model.model.{layer}.lora_B.weight", "."),
            ("peft", "{layer}.lora_A.weight", "{layer}.lora_B.weight", "."),
            ("kohya", "lora_unet_{layer}.lora_down.weight", "lora_unet_{layer}.lora_up.weight",
             "_"),
            ("kohya", "lora_unet_unet_{layer}.lora_down.weight",
             "lora_unet_unet_{layer}.lora_up.weight", "_"),
        ],
    )  # fmt: skip
    def test_the_same_lora_in_every_spelling(
        self, tmp_path: Path, style: str, down: str, up: str, separator: str, width: int
    ) -> None:
        """Format, rank, layers and width are the same whatever the keys are called."""
        found = made(tmp_path, unet_lora(down, up, width=width, rank=6, separator=separator))
        assert (found.format, found.adapter, found.key_style) == ("lora", "lora", style)
        assert (found.rank, found.cross_attention_width) == (6, width)
        assert found.components == {"unet": 3}
        assert found.problems == ()

    def test_alpha_is_read_from_the_file(self, tmp_path: Path) -> None:
        """A kohya `.alpha` tensor that is zero counts as unknown, metadata then decides."""
        shapes = unet_lora(
            "lora_unet_{layer}.lora_down.weight", "lora_unet_{layer}.lora_up.weight", separator="_"
        )
        shapes[next(iter(shapes)).replace("lora_down.weight", "alpha")] = ()
        found = made(tmp_path, shapes, {"ss_network_alpha": "2.5"})
        assert found.alpha == 2.5
        assert found.problems == ()

    def test_a_lora_with_its_own_tokens(self, tmp_path: Path) -> None:
        """Trained trigger embeddings in the same file are tokens and trigger candidates."""
        shapes = {
            **unet_lora("unet.{layer}.lora_A.weight", "unet.{layer}.lora_B.weight", width=192),
            "bundle_emb.<bear-v4>.string_to_param.*": (2, 192),
        }
        found = made(tmp_path, shapes, {"trigger": "<bear-v4>"})
        assert found.format == "lora"
        assert found.tokens == ("<bear-v4>",)
        assert found.trigger_candidates == ("<bear-v4>",)
        assert found.components == {"unet": 3, "token": 1}
        assert found.problems == ()

    def test_whole_lokr_factors(self, tmp_path: Path) -> None:
        """Factors that are stored whole have no rank of their own; the metadata tells it."""
        module = "lora_unet_mid_block_attentions_0_transformer_blocks_0_attn2_to_k"
        found = made(
            tmp_path,
            {f"{module}.lokr_w1": (16, 32), f"{module}.lokr_w2": (20, 24), f"{module}.alpha": ()},
            {"ss_network_dim": "10000"},
        )
        assert (found.adapter, found.cross_attention_width, found.rank) == ("lokr", 768, 10000)

    def test_loha(self, tmp_path: Path) -> None:
        """LoHa is recognised with rank and width; that it takes memory is said."""
        module = "lora_unet_mid_block_attentions_0_transformer_blocks_0_attn2_to_k"
        shapes = {
            f"{module}.hada_w1_a": (320, 8),
            f"{module}.hada_w1_b": (8, 1024),
            f"{module}.hada_w2_a": (320, 8),
            f"{module}.hada_w2_b": (8, 1024),
        }
        found = made(tmp_path, shapes)
        assert (found.adapter, found.rank, found.cross_attention_width) == ("loha", 8, 1024)
        assert found.problems == ()
        assert any("square of its rank" in note for note in found.notes)

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"dora_scale": (320, 1)}, "DoRA"),
            ({"diff_b": (320,)}, "no plain LoRA, LoKr or LoHa"),
            ({"lokr_w2_a": (8, 4)}, "lack one of their factors"),
        ],
    )
    def test_what_is_no_fixed_change_of_the_weights(
        self, tmp_path: Path, more: Mapping[str, tuple[int, ...]], words: str
    ) -> None:
        """Tensors that need the base's own weights, biases, and half a factor are problems."""
        shapes = unet_lora(
            "lora_unet_{layer}.lora_down.weight", "lora_unet_{layer}.lora_up.weight", separator="_"
        )
        layer = next(iter(shapes)).split(".")[0]
        found = made(tmp_path, {**shapes, **{f"{layer}.{key}": shape for key, shape in
                                             more.items()}})  # fmt: skip
        assert any(words in problem for problem in found.problems)

    def test_a_third_factor(self, tmp_path: Path) -> None:
        """LoCon's decomposed convolution is a LoRA like others."""
        layer = "lora_unet_down_blocks_0_resnets_0_conv1"
        found = made(
            tmp_path,
            {
                f"{layer}.lora_down.weight": (4, 320, 1, 1),
                f"{layer}.lora_mid.weight": (4, 4, 3, 3),
                f"{layer}.lora_up.weight": (320, 4, 1, 1),
            },
        )
        assert (found.rank, found.problems) == (4, ())

    def test_the_second_text_encoder(self, tmp_path: Path) -> None:
        """SDXL's is served; a third one is a problem, not dropped."""
        layer = "lora_te2_text_model_encoder_layers_0_self_attn_q_proj"
        second = {f"{layer}.lora_down.weight": (4, 1280), f"{layer}.lora_up.weight": (1280, 4)}
        found = made(tmp_path, {**unet_lora(width=2048), **second})
        assert (found.components["text_encoder_2"], found.problems) == (1, ())
        alone = made(tmp_path, second)
        assert any("the second of which SDXL alone has" in note for note in alone.notes)
        third = {key.replace("te2", "te3"): shape for key, shape in second.items()}
        found = made(tmp_path, {**unet_lora(width=2048), **third})
        assert any("text_encoder_3" in problem for problem in found.problems)

    def test_rows_for_both_text_encoders(self, tmp_path: Path) -> None:
        """SDXL's embeddings are served; half of one is a problem."""
        both = {"clip_l": (2, 768), "clip_g": (2, 1280)}
        found = made(tmp_path, both)
        assert (found.base_family, found.tokens, found.problems) == ("SDXL", ("",), ())
        bundled = {f"bundle_emb.<a>.{key}": shape for key, shape in both.items()}
        found = made(tmp_path, bundled)
        assert (found.base_family, found.tokens, found.problems) == ("SDXL", ("<a>",), ())
        del both["clip_l"]
        assert any("alone (clip_g)" in problem for problem in made(tmp_path, both).problems)

    def test_layers_in_stabilitys_names(self, tmp_path: Path) -> None:
        """As sd-scripts calls SDXL's: they tell the width that the UNet reads."""
        shapes = {
            key.replace("down_blocks_0_attentions_0", "input_blocks_4_1"): shape
            for key, shape in unet_lora(
                "lora_unet_{layer}.lora_down.weight",
                "lora_unet_{layer}.lora_up.weight",
                width=2048,
                separator="_",
            ).items()
        }
        found = made(tmp_path, shapes)
        assert (found.base_family, found.key_style, found.problems) == ("SDXL", "kohya", ())

    def test_numbers_with_a_gap(self, tmp_path: Path) -> None:
        """A layer that is counted and not there shifts all others: a problem."""
        shapes = {f"unet:{i}:{half}": shape for i in (0, 1, 3)
                  for half, shape in (("down", (4, 320)), ("up", (320, 4)))}  # fmt: skip
        found = made(tmp_path, shapes)
        assert any("1 numbers are missing, the first is 2" in p for p in found.problems)

    def test_layers_of_different_ranks(self, tmp_path: Path) -> None:
        """How many layers have which rank."""
        shapes = unet_lora(rank=4)
        names = list(shapes)
        shapes[names[0]], shapes[names[1]] = (8, 320), (320, 8)
        found = made(tmp_path, shapes)
        assert (found.rank, found.ranks) == (4, {8: 1, 4: 2})
        assert any("4 (2 layers), 8 (1 layers)" in note for note in found.notes)

    def test_tokens_that_differ_in_case_only(self, tmp_path: Path) -> None:
        """CLIP lower-cases: they are one token."""
        found = made(tmp_path, {"<Licia>": (768,), "<licia>": (768,)})
        assert any("<Licia> and <licia>" in problem for problem in found.problems)

    def test_peft_without_its_configuration(self, tmp_path: Path) -> None:
        """The alpha is in another file; that it was not found is said."""
        keys = "base_model.model.{layer}.lora_A.weight", "base_model.model.{layer}.lora_B.weight"
        assert any("adapter_config.json" in note for note in made(tmp_path, unet_lora(*keys)).notes)
        (tmp_path / "adapter_config.json").write_text('{"lora_alpha": 4}')
        found = made(tmp_path, unet_lora(*keys, rank=4))
        assert (found.notes, found.problems) == ((), ())

    @pytest.mark.parametrize(
        "config", [{"lora_alpha": 8}, {"alpha_pattern": {"to_q": 2}},
                   {"lora_alpha": 4, "use_rslora": True}]
    )  # fmt: skip
    def test_peft_whose_configuration_is_no_part_of_it(
        self, tmp_path: Path, config: dict[str, object]
    ) -> None:
        """A digest of the file alone would not tell how strongly it acts; a folder's does."""
        keys = "base_model.model.{layer}.lora_A.weight", "base_model.model.{layer}.lora_B.weight"
        file = write_safetensors(tmp_path / "adapter_model.safetensors", unet_lora(*keys, rank=4))
        (tmp_path / "adapter_config.json").write_text(json.dumps(config))
        (problem,) = inspect(file).problems
        assert "adapter_config.json beside it" in problem and "publish a folder" in problem
        assert inspect(tmp_path).problems == ()
        told = {"lora_adapter_metadata": json.dumps({"lora_alpha": 2})}
        write_safetensors(file, unet_lora(*keys, rank=4), told)
        assert inspect(file).problems == ()

    def test_a_transformer_lora(self, tmp_path: Path) -> None:
        """A Flux LoRA is recognised, and said not to fit."""
        shapes = {
            "transformer.transformer_blocks.0.attn.to_q.lora_A.weight": (16, 3072),
            "transformer.transformer_blocks.0.attn.to_q.lora_B.weight": (3072, 16),
        }
        found = made(tmp_path, shapes)
        assert found.components == {"transformer": 1}
        assert any("diffusion transformer" in problem for problem in found.problems)
        with pytest.raises(InvalidInput, match="which is a UNet"):
            check_base(found, 768)

    def test_unknown_keys_beside_known_ones_are_a_problem(self, tmp_path: Path) -> None:
        """A part of the file that nobody reads is not passed over in silence."""
        found = made(tmp_path, {**unet_lora(), "mystery.weight": (1,)})
        assert any("1 of 7 tensors" in problem for problem in found.problems)
        assert any('"mystery.weight"' in problem for problem in found.problems)

    def test_keys_that_map_to_nothing_are_refused(self, tmp_path: Path) -> None:
        """The error shows example keys."""
        shapes = {"encoder.block.0.weight": (4, 4), "decoder.block.0.weight": (4, 4)}
        with pytest.raises(CorruptFile, match=r'none of them belongs.*"decoder\.block\.0\.weight"'):
            made(tmp_path, shapes)

    @pytest.mark.parametrize("shapes", [{}, {"lora_unet_mid_attn2_to_k.alpha": ()}])
    def test_a_file_without_weights_is_refused(
        self, tmp_path: Path, shapes: Mapping[str, tuple[int, ...]]
    ) -> None:
        """No tensor, or only alphas: it would change nothing."""
        with pytest.raises(CorruptFile, match="would change nothing"):
            made(tmp_path, shapes)

    def test_half_a_lora(self, tmp_path: Path) -> None:
        """One lonely factor is a problem, only lonely factors are an error."""
        shapes = unet_lora()
        downs = {key: shape for key, shape in shapes.items() if "down" in key.split(".")}
        with pytest.raises(CorruptFile, match="every layer lacks one"):
            made(tmp_path, downs)
        shapes.popitem()
        assert any("1 of 3 layers" in problem for problem in made(tmp_path, shapes).problems)

    def test_factors_that_do_not_fit(self, tmp_path: Path) -> None:
        """Ranks of the two factors differ: nothing can be multiplied."""
        shapes = unet_lora()
        shapes[next(iter(shapes))] = (5, 320)
        with pytest.raises(CorruptFile, match="do not fit each other"):
            made(tmp_path, shapes)

    def test_factors_of_no_rank(self, tmp_path: Path) -> None:
        """There is nothing in them."""
        with pytest.raises(CorruptFile, match="do not fit each other"):
            made(tmp_path, unet_lora(rank=0))

    def test_a_text_encoder_beside_the_unet(self, tmp_path: Path) -> None:
        """Both components are counted."""
        found = made(tmp_path, {**unet_lora(), **TEXT_LORA})
        assert found.components == {"unet": 3, "text_encoder": 1}
        assert found.notes == ()

    @pytest.mark.parametrize(
        ("shapes", "width", "tokens"),
        [
            ({"<bear-v4>": (768,)}, 768, ("<bear-v4>",)),
            ({"sks": (3, 1024)}, 1024, ("sks",)),
            ({"emb_params": (2, 768)}, 768, ("",)),
            ({"clip_l": (2, 768), "clip_g": (2, 1280)}, 2048, ("",)),
            ({"string_to_param.*": (1, 768)}, 768, ("",)),
            ({"bundle_emb.<a>.string_to_param.*": (1, 192)}, 192, ("<a>",)),
        ],
    )
    def test_embeddings(
        self,
        tmp_path: Path,
        shapes: Mapping[str, tuple[int, ...]],
        width: int,
        tokens: tuple[str, ...],
    ) -> None:
        """Each way to store a trained token alone."""
        found = made(tmp_path, shapes)
        assert found.format == "textual_inversion"
        assert (found.cross_attention_width, found.tokens) == (width, tokens)


class TestMetadata:
    """What trainers write beside the weights."""

    @pytest.mark.parametrize(
        ("metadata", "triggers"),
        [
            ({"trigger": "<bear-v4>"}, ("<bear-v4>",)),
            ({"trigger": "<bear-v4>", "modelspec.trigger_phrase": "<BEAR-V4>, sks bear"},
             ("<bear-v4>", "sks bear")),
            ({"trigger_words": '["a", "b c"]'}, ("a", "b c")),
            ({"triggers": "a, b  c ,,"}, ("a", "b c")),
            ({"instance_prompt": "a photo of sks dog"}, ("sks dog",)),
            ({"instance_prompt": "A photo of the sks dog"}, ("sks dog",)),
            ({"instance_prompt": "a photo of panda bear"}, ("panda bear",)),
            ({"instance_prompt": "photo of Olivia Smith"}, ("Olivia Smith",)),
            ({"instance_prompt": "photo of sks dog in the park"}, ("sks dog in the park",)),
            ({"instance_prompt": "an oil painting of <toy> in snow"}, ("<toy>",)),
            ({"ss_tag_frequency": '{"16_smf girl": {"x": 1}, "4_smf girl": {}, "img": {}}'},
             ("smf girl",)),
            ({"ss_dataset_dirs": '{"10_ohwx man": {"n_repeats": 10}}'}, ("ohwx man",)),
            ({"ss_datasets": '[{"subsets": [{"class_tokens": "sks"}], "tag_frequency": {}}]'},
             ("sks",)),
            ({"ss_training_comment": "Trigger words: zwx cat. Have fun"}, ("zwx cat",)),
            ({"ss_tag_frequency": '{"img": {"a": 9, "b": 7, "c": 5, "d": 3, "e": "x"}}'},
             ("a", "b", "c")),
            ({"trigger": "None"}, ()),
            ({"trigger": "x" * 65}, ()),
            ({"ss_tag_frequency": "not json", "ss_datasets": "[1, {}]", "trigger": ""}, ()),
            ({}, ()),
        ],
    )  # fmt: skip
    def test_trigger_candidates(
        self, tmp_path: Path, metadata: Mapping[str, str], triggers: tuple[str, ...]
    ) -> None:
        """The most explicit first, each once whatever its case, none over 64 characters."""
        assert made(tmp_path, unet_lora(), metadata).trigger_candidates == triggers

    @pytest.mark.parametrize(
        ("metadata", "base_model"),
        [
            ({"base_model": "personalq/miniature-sd", "ss_sd_model_name": "x"},
             "personalq/miniature-sd"),
            ({"ss_sd_model_name": "C:\\models\\dreamshaper_8.safetensors"},
             "dreamshaper_8.safetensors"),
            ({"ss_sd_model_name": "None", "ss_base_model_version": "sd_v1"}, "sd_v1"),
            ({"base_model_name_or_path": "/srv/hub/models--a--b-c/snapshots/0123"}, "a/b-c"),
            ({"modelspec.architecture": "stable-diffusion-v1/lora"}, "stable-diffusion-v1/lora"),
            ({}, ""),
        ],
    )  # fmt: skip
    def test_base_model(self, tmp_path: Path, metadata: Mapping[str, str], base_model: str) -> None:
        """The trainer's own words, without the folders of the trainer's machine."""
        assert made(tmp_path, unet_lora(), metadata).base_model == base_model

    @pytest.mark.parametrize(
        ("metadata", "date"),
        [
            ({"ss_training_finished_at": "1680721307.2415755"}, datetime(2023, 4, 5, tzinfo=UTC)),
            ({"modelspec.date": "2024-02-29T10:00:00"}, datetime(2024, 2, 29, tzinfo=UTC)),
            ({"created_at": "2026-04-01T02:00:00+05:00"}, datetime(2026, 3, 31, tzinfo=UTC)),
            ({"modelspec.date": "yesterday", "date": "2024-13-01"}, None),
            ({}, None),
        ],
    )
    def test_date(self, tmp_path: Path, metadata: Mapping[str, str], date: datetime | None) -> None:
        """Seconds since 1970 or ISO 8601, always UTC."""
        found = made(tmp_path, unet_lora(), metadata).trained_at
        assert (found and found.date()) == (date and date.date())

    def test_a_base_that_contradicts_the_shapes_is_noted(self, tmp_path: Path) -> None:
        """Metadata may be wrong; the shapes are not."""
        found = made(tmp_path, unet_lora(width=768), {"ss_base_model_version": "sdxl_base_v1-0"})
        assert any("fit SD 1.x" in note for note in found.notes)


class TestFolders:
    """Folders around weights."""

    def full(self, folder: Path, width: int = 768, configured: int = 768) -> Path:
        """A diffusers folder with only its UNet."""
        write_safetensors(folder / "unet/diffusion_pytorch_model.safetensors", unet_model(width))
        config = {"_class_name": "UNet2DConditionModel", "cross_attention_dim": configured}
        (folder / "unet" / "config.json").write_text(json.dumps(config))
        return folder

    def test_a_diffusers_folder(self, tmp_path: Path) -> None:
        """A fine-tune is a full model; its base may be told by model_index.json."""
        folder = self.full(tmp_path / "fine-tune")
        (folder / "model_index.json").write_text('{"_name_or_path": "personalq/miniature-sd"}')
        found = inspect(folder)
        assert (found.format, found.key_style) == ("full", "diffusers-model")
        assert (found.cross_attention_width, found.rank, found.adapter) == (768, 0, "")
        assert found.base_model == "personalq/miniature-sd"
        assert found.problems == ()
        assert found.size_bytes > 0

    def test_the_unet_folder_and_its_file(self, tmp_path: Path) -> None:
        """The unet folder alone, and the file with its configuration beside it."""
        folder = self.full(tmp_path / "fine-tune")
        for path in (folder / "unet", folder / "unet" / "diffusion_pytorch_model.safetensors"):
            found = inspect(path)
            assert (found.format, found.cross_attention_width) == ("full", 768)
            assert (found.problems, found.notes) == ((), ())

    def test_a_unet_without_its_configuration(self, tmp_path: Path) -> None:
        """As a file it can be served with its base's; as a folder it is incomplete."""
        found = made(tmp_path, unet_model(1024, prefix="unet."))
        assert (found.format, found.cross_attention_width) == ("full", 1024)
        assert any("config.json" in note for note in found.notes)
        folder = self.full(tmp_path / "fine-tune")
        (folder / "unet" / "config.json").unlink()
        with pytest.raises(CorruptFile, match=r"no unet/config\.json"):
            inspect(folder)

    def test_a_configuration_of_another_model(self, tmp_path: Path) -> None:
        """Weights and configuration that contradict each other are refused."""
        with pytest.raises(CorruptFile, match="cross_attention_dim 1024"):
            inspect(self.full(tmp_path / "fine-tune", 768, configured=1024))

    def test_shards(self, tmp_path: Path) -> None:
        """Shards are read together; a missing one is named."""
        folder = self.full(tmp_path / "fine-tune")
        unet = folder / "unet"
        (unet / "diffusion_pytorch_model.safetensors").unlink()
        shapes = list(unet_model().items())
        names = [f"diffusion_pytorch_model-{i}-of-2.safetensors" for i in (1, 2)]
        write_safetensors(unet / names[0], dict(shapes[:2]))
        write_safetensors(unet / names[1], dict(shapes[2:]))
        weight_map = {key: names[i > 1] for i, (key, _) in enumerate(shapes)}
        index = unet / "diffusion_pytorch_model.safetensors.index.json"
        index.write_text(json.dumps({"weight_map": weight_map}))
        assert len(inspect(folder).keys) == len(shapes)
        (unet / names[1]).unlink()
        with pytest.raises(CorruptFile, match=rf"lacks {names[1]}"):
            inspect(folder)

    def test_damage_anywhere_in_the_folder_is_found(self, tmp_path: Path) -> None:
        """A truncated text encoder spoils the fine-tune as well."""
        folder = self.full(tmp_path / "fine-tune")
        path = write_safetensors(folder / "text_encoder/model.safetensors", {"a": (100,)})
        path.write_bytes(path.read_bytes()[:-7])
        with pytest.raises(CorruptFile, match="7 bytes are missing"):
            inspect(folder)

    def test_pickles_only(self, tmp_path: Path) -> None:
        """A folder whose weights are pickles is refused with the remedy."""
        folder = self.full(tmp_path / "fine-tune")
        weights = folder / "unet" / "diffusion_pytorch_model.safetensors"
        weights.rename(weights.with_suffix(".bin"))
        with pytest.raises(CorruptFile, match="safe_serialization=True"):
            inspect(folder)

    def test_a_lora_where_a_unet_should_be(self, tmp_path: Path) -> None:
        """The format of a folder is not taken on trust."""
        folder = self.full(tmp_path / "fine-tune")
        write_safetensors(folder / "unet/diffusion_pytorch_model.safetensors", unet_lora())
        with pytest.raises(CorruptFile, match="a LoRA where a UNet should be"):
            inspect(folder)

    def test_a_peft_folder(self, tmp_path: Path) -> None:
        """adapter_config.json tells base and alpha."""
        shapes = unet_lora(
            "base_model.model.{layer}.lora_A.weight", "base_model.model.{layer}.lora_B.weight"
        )
        write_safetensors(tmp_path / "bear/adapter_model.safetensors", shapes)
        config = {"r": 4, "lora_alpha": 16, "base_model_name_or_path": "ann/base"}
        (tmp_path / "bear" / "adapter_config.json").write_text(json.dumps(config))
        found = inspect(tmp_path / "bear")
        assert (found.alpha, found.base_model, found.rank) == (16, "ann/base", 4)

    def test_a_broken_configuration_is_noted(self, tmp_path: Path) -> None:
        """Weights that are fine stay usable beside a configuration that is not."""
        write_safetensors(tmp_path / "bear/adapter_model.safetensors", unet_lora())
        (tmp_path / "bear" / "adapter_config.json").write_bytes(b"\xff\xfe no json")
        found = inspect(tmp_path / "bear")
        assert any("adapter_config.json" in note for note in found.notes)
        assert found.problems == ()

    @pytest.mark.parametrize(
        "name",
        [
            "model_index.json",
            "unet/config.json",
            "unet/diffusion_pytorch_model.safetensors.index.json",
        ],
    )
    def test_a_configuration_without_bound_is_refused(self, tmp_path: Path, name: str) -> None:
        """Of the files beside the weights none is read that is larger than any such file."""
        folder = self.full(tmp_path / "fine-tune")
        (folder / name).write_text(" " * (1 << 20) + "{}")
        with pytest.raises(CorruptFile, match=r"json has 1048578 bytes, more than 1048576"):
            inspect(folder)

    def test_which_of_several_files(self, tmp_path: Path) -> None:
        """One LoRA by its usual name wins; otherwise the caller must choose."""
        write_safetensors(tmp_path / "a.safetensors", unet_lora())
        assert inspect(tmp_path).format == "lora"
        write_safetensors(tmp_path / "b.safetensors", unet_lora())
        with pytest.raises(InvalidInput, match=r"2 checkpoints \(a\.safetensors, b\.safetensors\)"):
            inspect(tmp_path)
        write_safetensors(tmp_path / "pytorch_lora_weights.safetensors", unet_lora(rank=2))
        found = inspect(tmp_path)
        assert found.rank == 2
        assert any("not a.safetensors, b.safetensors" in note for note in found.notes)
        write_safetensors(tmp_path / "learned_embeds.safetensors", {"<a>": (768,)})
        with pytest.raises(InvalidInput, match="4 checkpoints"):
            inspect(tmp_path)  # neither the layers nor the token are dropped

    def test_an_empty_folder_and_no_path(self, tmp_path: Path) -> None:
        """Nothing there is said, not guessed."""
        with pytest.raises(CorruptFile, match="holds no checkpoint"):
            inspect(tmp_path)
        with pytest.raises(InvalidInput, match="does not exist"):
            inspect(tmp_path / "nothing.safetensors")
        (tmp_path / "model.ckpt").write_bytes(b"x")
        with pytest.raises(CorruptFile, match="only as pickles"):
            inspect(tmp_path)

    def test_a_single_file_model(self, tmp_path: Path) -> None:
        """A CompVis checkpoint is a full model, of which the UNet is served."""
        found = made(
            tmp_path,
            {
                **unet_file(1024),
                "first_stage_model.decoder.conv_in.weight": (8, 4, 3, 3),
                "cond_stage_model.model.ln_final.weight": (8,),
            },
        )
        assert (found.format, found.key_style) == ("full", "single-file")
        assert (found.cross_attention_width, found.base_family) == (1024, "SD 2.x")
        assert found.components == {"unet": 3, "vae": 1, "text_encoder": 1}
        assert found.problems == ()
        assert any("Of a whole model the UNet is served" in note for note in found.notes)

    def test_a_part_of_a_model_is_refused(self, tmp_path: Path) -> None:
        """Only a VAE, or a UNet without its ends, is no checkpoint."""
        with pytest.raises(CorruptFile, match="only vae weights"):
            made(tmp_path, {"first_stage_model.decoder.conv_in.weight": (8, 4, 3, 3)})
        shapes = unet_model()
        del shapes["conv_out.weight"]
        with pytest.raises(CorruptFile, match="part of a UNet"):
            made(tmp_path, shapes)


class TestValues:
    """Whether the numbers are numbers."""

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    @pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
    def test_one_bad_number_is_found(self, tmp_path: Path, dtype: str, value: float) -> None:
        """In any floating type, anywhere; the largest finite number is none."""
        import torch
        from safetensors.torch import save_file

        kind = getattr(torch, dtype)
        tensors = {key: torch.full(shape, torch.finfo(kind).max, dtype=kind)
                   for key, shape in unet_lora().items()}  # fmt: skip
        path = tmp_path / "bear.safetensors"
        save_file(tensors, path)
        assert inspect(path, values=True).problems == ()
        bad = max(tensors)
        tensors[bad][1, 3] = value
        save_file(tensors, path)
        assert inspect(path).problems == ()
        (problem,) = inspect(path, values=True).problems
        assert problem.startswith(f'1 of 6 tensors hold numbers that are infinite or no numbers, '
                                  f'for example "{bad}"')  # fmt: skip

    @pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "complex64"])
    @pytest.mark.parametrize(
        ("shapes", "whole"),
        [
            (unet_lora(), "unet.down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k.alpha"),
            ({"<bear>": (1, 768)}, None),
            (unet_file(), "model_ema.num_updates"),
            (unet_file(), "cond_stage_model.transformer.text_model.embeddings.position_ids"),
        ],
        ids=["lora", "token", "model", "text encoder"],
    )
    def test_codes_of_a_quantizer_are_no_weights(
        self, tmp_path: Path, shapes: dict[str, tuple[int, ...]], whole: str | None, dtype: str
    ) -> None:
        """What they stand for is not said; alphas, counts and positions may be whole numbers."""
        import torch
        from safetensors.torch import save_file

        path = tmp_path / "bear.safetensors"
        tensors = {key: torch.ones(shape) for key, shape in shapes.items()}
        if whole:
            tensors[whole] = torch.tensor(4)
        save_file(tensors, path)
        assert inspect(path).problems == ()
        codes = next(iter(shapes))
        save_file(tensors | {codes: tensors[codes].to(getattr(torch, dtype))}, path)
        (problem,) = inspect(path).problems
        assert problem.startswith(f"1 of {len(tensors)} tensors hold no floating numbers but ")
        assert codes in problem


class TestModelCard:
    """README.md beside the weights."""

    def test_its_instance_prompt_is_a_trigger(self, tmp_path: Path) -> None:
        """As the Hub's trainers write it, in the card's head only."""
        card = tmp_path / "README.md"
        card.write_text("---\ntags:\n- lora\ninstance_prompt: a photo of sks dog\n---\n# Dog\n")
        found = made(tmp_path, unet_lora())
        assert found.trigger_origins == {"sks dog": "the model card, instance_prompt"}
        card.write_text("# Dog\ninstance_prompt: a photo of sks dog\n")
        assert made(tmp_path, unet_lora()).trigger_candidates == ()


class TestCheckBase:
    """Whether a checkpoint can ride on a base."""

    def test_the_right_base(self, tmp_path: Path) -> None:
        """Equal widths pass; so does a file that shows none."""
        check_base(made(tmp_path, unet_lora(width=192)), 192)
        check_base(made(tmp_path, TEXT_LORA), 768)

    def test_another_base(self, tmp_path: Path) -> None:
        """Both widths, in numbers and words, and what to do."""
        found = made(tmp_path, unet_lora(width=1024))
        with pytest.raises(InvalidInput) as caught:
            check_base(found, 768, base_model="personalq/base")
        assert caught.value.message.startswith(
            "a LoRA for 1024-wide cross-attention (SD 2.x) cannot ride on personalq/base "
            "(SD 1.x, 768-wide)"
        )
        assert "base_model" in caught.value.violations

    def test_a_width_without_a_family(self, tmp_path: Path) -> None:
        """The miniature's width has no name; the sentence is whole all the same."""
        found = made(tmp_path, unet_model(768))
        with pytest.raises(InvalidInput, match=r"a full model for 768-wide .* \(192-wide\)"):
            check_base(found, 192)
