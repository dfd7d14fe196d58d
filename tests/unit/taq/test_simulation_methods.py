"""Every method at every width on a small UNet."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor
from unit.taq.models import TOKENS, predict
from unit.taq.simulations import (
    first_token,
    picture,
    precise_unet,
    predicted,
    psnr,
    shared,
)

from personalq.taq import RecipeError
from personalq.taq.protection import Protected
from personalq.taq.simulation import METHODS, Method, method

WIDTHS: tuple[tuple[int, int | None], ...] = ((8, 8), (4, 8), (8, 4), (4, 4))


def _mask(of: Method) -> Tensor | None:
    """M as the method's set would be for a prompt with its trigger at tokens 3 and 4."""
    positions = torch.arange(TOKENS).expand(2, -1)
    marks = {
        "none": None,
        "bos": first_token(),
        "trigger": (positions == 3) | (positions == 4),
        "all": positions >= 0,
    }
    return marks[of.protected]


@pytest.mark.parametrize(("weight_bits", "activation_bits"), WIDTHS)
def test_every_method_runs_and_is_another(weight_bits: int, activation_bits: int | None) -> None:
    """Finite, no two the same, and at 8 bits all close to full precision."""
    x = picture()
    reference, outputs = predict(precise_unet(), x), {}
    for name in METHODS:
        of = method(name, weight_bits, activation_bits)
        output = predicted(shared(of), x, _mask(of))
        assert torch.isfinite(output).all(), name
        assert output.shape == reference.shape
        assert psnr(output, reference) > (30 if weight_bits == activation_bits == 8 else 8), name
        outputs[name] = output
    if weight_bits == 8:
        del outputs["nf4"]  # the same as "full" where weights have no 4 bits
    for (a, x_a), (b, x_b) in itertools.combinations(outputs.items(), 2):
        assert not torch.equal(x_a, x_b), (a, b)


@pytest.mark.parametrize("name", METHODS)
def test_fewer_bits_are_worse(name: str) -> None:
    """From 8 to 4 bits of activations, or of weights, every method loses."""
    x, reference = picture(), predict(precise_unet(), picture())
    errors = [
        psnr(predicted(shared(of), x, _mask(of)), reference)
        for of in (method(name, 8, 8), method(name, *((4, None) if name == "nf4" else (8, 4))))
    ]
    assert errors[0] > errors[1] + 1


def test_methods_are_named_after_themselves() -> None:
    """The name is the key; protected sets are ones that exist; an unknown name is refused."""
    for name in METHODS:
        of = method(name, 8, 8)
        assert of.name == name
        assert str(Protected.parse(of.protected)) == of.protected
        assert (of.weight_bits, of.input_bits, of.cross_bits, of.self_bits) == (8, 8, 8, 8)
        assert of.but(input_bits=4).input_bits == 4
    with pytest.raises(RecipeError, match="no method bitnet"):
        method("bitnet", 8, 8)


def test_what_each_source_does_is_done() -> None:
    """The settings that make each method what its authors published."""
    precise = ("conv_shortcut", "downsamplers.0.conv")
    assert method("q-diffusion", 8, 8).shortcuts == method("mixdq-bos", 8, 8).shortcuts == "split"
    assert method("ptqd", 8, 8).corrected
    assert method("ptqd", 8, 8).precise_layers == method("tfmq-dm", 8, 8).precise_layers == precise
    tfmq, dgq = method("tfmq-dm", 8, 8), method("dgq", 8, 8)
    assert {tfmq.inputs, tfmq.rows, tfmq.probabilities} == {"step"}
    assert (dgq.inputs, dgq.rows, dgq.probabilities) == ("group", "group", "log2")
    assert (dgq.protected, dgq.protects) == ("bos", ("k", "a"))
    for ours in ("taq", "taq-paper"):
        assert method(ours, 8, 8).protected == "trigger"
        assert method(ours, 8, 8).protects == ("k", "v", "a")
    four = method("taq", 8, 4)
    assert (four.inputs, four.protected, four.self_bits) == ("fitted-step", "trigger", 8)
    assert four.row_group == 32
    assert method("taq", 8, 8).row_group is None
