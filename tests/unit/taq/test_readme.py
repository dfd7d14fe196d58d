"""The README's example runs as it is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from support.tiny_sd import make_tiny_sd

README = Path(__file__).parents[3] / "libs/taq/README.md"


def test_the_five_lines_run_on_a_whole_pipeline(tmp_path: Path) -> None:
    """Calibrate, quantize, find the trigger, project the text, draw."""
    from diffusers import StableDiffusionPipeline

    pipe: Any = StableDiffusionPipeline.from_pretrained(make_tiny_sd(tmp_path), safety_checker=None)
    pipe.set_progress_bar_config(disable=True)
    prompts, triggers = ["a photo of a <bear-v4>"], ["<bear-v4>"]
    tokens = pipe.tokenizer(["", *prompts], padding="max_length", return_tensors="pt")
    with torch.no_grad():
        states = pipe.text_encoder(tokens.input_ids)[0]
    (code, *_) = re.findall(r"```python\n(.+?)```", README.read_text(), re.DOTALL)
    names: dict[str, Any] = {
        "pipe": pipe, "prompts": prompts, "triggers": triggers, "states": states
    }  # fmt: skip
    exec(code.replace("num_inference_steps=8", "num_inference_steps=2"), names)  # noqa: S102
    assert names["mask"].sum(1).tolist() == [0, 6]
    assert names["report"].packed_bytes < names["report"].full_bytes
    assert names["image"].size == (16, 16)
