"""Small random models in the shape of Stable Diffusion, and how close two tensors must be."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from personalq.taq import Calibration, Range

TEXT_WIDTH = 48
TOKENS = 11
#: what one rounding may do, relative to the values' norm
EPSILON = {torch.float32: 1e-5, torch.bfloat16: 1e-2, torch.float16: 1e-3}


def tiny_unet(*, seed: int = 0, text_width: int = TEXT_WIDTH, linear: bool = False) -> Any:
    """Return a UNet2DConditionModel of 0.6 M random parameters, 8×8 latents."""
    from diffusers import UNet2DConditionModel

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return UNet2DConditionModel(
            sample_size=8,
            block_out_channels=(32, 64),
            layers_per_block=1,
            norm_num_groups=8,
            cross_attention_dim=text_width,
            attention_head_dim=4,
            use_linear_projection=linear,
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        ).eval()


def inputs(*, batch: int = 2, seed: int = 1, text_width: int = TEXT_WIDTH) -> tuple[Tensor, ...]:
    """Return (latents, timesteps, text states) for `tiny_unet`."""
    g = torch.Generator().manual_seed(seed)
    return (
        torch.randn(batch, 4, 8, 8, generator=g),
        torch.randint(0, 1000, (batch,), generator=g),
        torch.randn(batch, TOKENS, text_width, generator=g),
    )


@torch.no_grad()
def predict(unet: nn.Module, x: tuple[Tensor, ...], **kwargs: Any) -> Tensor:
    """Return the UNet's output."""
    latents, t, text = x
    output: Tensor = unet(latents, t, encoder_hidden_states=text, **kwargs).sample
    return output


def ranges_of(
    unet: nn.Module, *, batches: int = 3, text_width: int = TEXT_WIDTH
) -> dict[str, Range]:
    """Calibrate on random inputs."""
    with Calibration(unet) as calibration:
        for seed in range(batches):
            predict(unet, inputs(seed=seed, text_width=text_width))
    return calibration.ranges()


def relative_error(x: Tensor, reference: Tensor) -> float:
    """Return |x − reference| / |reference| in the 2-norm."""
    x, reference = x.detach(), reference.detach()
    difference = (x.double() - reference.double()).norm()
    return float(difference / reference.double().norm())


def assert_similar(x: Tensor, reference: Tensor, *, within: float | None = None) -> None:
    """Shapes are equal and the relative error is within the tolerance (None: of the dtype)."""
    assert x.shape == reference.shape
    error = relative_error(x, reference)
    assert error <= (EPSILON[x.dtype] if within is None else within), f"relative error {error:.2e}"
