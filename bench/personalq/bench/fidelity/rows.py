"""What is compared: the rows of every table."""

from __future__ import annotations

from dataclasses import dataclass

from personalq.taq.recipe import ROW_SCALED_LAYERS
from personalq.taq.simulation import METHODS, Method, method

#: (weights, activations), as in the paper's Table I and with 4-bit weights
BIT_WIDTHS = ((8, 8), (4, 8), (8, 4), (4, 4))


@dataclass(frozen=True)
class Row:
    """A method under a name, in a table."""

    table: str
    row_id: str
    label: str
    method: Method

    @property
    def width(self) -> str:
        """Bits of weights and activations, 32 where they are not quantized: "W4A8"."""
        return f"W{self.method.weight_bits or 32}A{self.method.input_bits or 32}"


def all_rows() -> list[Row]:
    """Every row; those that others are compared with come first."""
    return [
        *methods(),
        *what_helps(),
        *own_settings(),
        *table4(),
        *protected_sets(),
        *granularities(),
        *ranges(),
    ]


def methods() -> list[Row]:
    """The main comparison: every method at every width, what is rounded at the activations' bits.

    `taq` keeps self-attention's probabilities in 8 bits at 4; `what_helps` says what that is worth.
    """
    rows = [_row("methods", "full", method("full", None, None))]
    for w_bits, a_bits in BIT_WIDTHS:
        names = [name for name in METHODS if name not in ("full", "nf4")]
        rows += [_row("methods", name, method(name, w_bits, a_bits)) for name in names]
    rows.append(_row("methods", "nf4", method("nf4", 4, None)))
    return rows


def what_helps() -> list[Row]:
    """What `taq` has beside protected rows; here others get it too, and it part by part.

    At 4 bits every row but the first three is one step from "all rows, one range".
    """
    both_ends = {"inputs": "fitted"}
    paper, q_diffusion, taq = (method(n, 8, 4) for n in ("taq-paper", "q-diffusion", "taq"))
    per_group = {"row_scaled": taq.row_scaled, "row_group": taq.row_group}
    q_diffusion = q_diffusion.but(**both_ends, rows="row", probabilities="row", self_bits=8)
    taq = taq.but(**both_ends, shortcuts="equalized", row_scaled=(), row_group=None)
    taq = taq.but(protected="all")
    rows = [
        _row("what helps", "both ends searched", paper.but(**both_ends)),
        _row("what helps", "both ends searched, per-row scales", q_diffusion),
        _row("what helps", "both ends searched, per-row scales, ranges per token",
             q_diffusion.but(shortcuts="whole", **per_group)),
        _row("what helps", "all rows, one range", taq),
        _row("what helps", "only the trigger's rows", taq.but(protected="trigger")),
        _row("what helps", "no row", taq.but(protected="none")),
        _row("what helps", "4-bit self-attention", taq.but(self_bits=4)),
        _row("what helps", "a range per step", taq.but(inputs="fitted-step")),
        _row("what helps", "ranges per token", taq.but(shortcuts="whole", **per_group)),
    ]  # fmt: skip
    q_diffusion = method("q-diffusion", 8, 8).but(**both_ends)
    per_token = {"row_scaled": ROW_SCALED_LAYERS}
    rows += [
        _row("what helps", "both ends searched", q_diffusion),
        _row("what helps", "both ends searched, scales per token", q_diffusion.but(**per_token)),
    ]
    for bits in ((8, 8), (4, 8)):
        taq = method("taq", *bits)
        rows.append(_row("what helps", "static ranges alone", taq.but(row_scaled=())))
    return rows


def own_settings() -> list[Row]:
    """Methods as their authors publish them, where that differs from the main comparison."""
    rows = []
    for w_bits, a_bits in ((8, 8), (4, 8)):
        q_diffusion = method("q-diffusion", w_bits, a_bits)
        mixdq = method("mixdq-bos", w_bits, a_bits)
        precise = {"cross_bits": None, "self_bits": None}
        rows += [
            _row("own settings", "softmax in 16 bits", q_diffusion.but(**precise)),
            _row(
                "own settings",
                "attention multiplies in 16 bits",
                mixdq.but(cross_row_bits=None, self_row_bits=None, **precise),
            ),
        ]
    return rows


def table4() -> list[Row]:
    """The paper's Table 4: the trigger kept apart or not, on linear and logarithmic scales."""
    rows = []
    for a_bits in (8, 4):
        for scale in ("linear", "logarithmic"):
            for protected in ("none", "trigger"):
                changed = method("taq-paper", 8, a_bits).but(protected=protected)
                if scale == "logarithmic":
                    changed = changed.but(rows="log", probabilities="log")
                rows.append(_row("table 4", f"{scale}, kept apart: {protected}", changed))
    return rows


def cross_attention_alone(bits: int) -> Method:
    """Only K, V and A of cross-attention are rounded, so that nothing else hides what they do."""
    return method("taq-paper", 8, 8).but(
        name="cross-attention alone",
        input_bits=None,
        cross_row_bits=bits,
        self_row_bits=None,
        cross_bits=bits,
        self_bits=None,
    )


PROTECTED_SETS = (
    "none",
    "bos",
    "random",
    "trigger",
    "bos+trigger",
    "conditioned:4",
    "conditioned:16",
    "bos+conditioned:16",
    "conditioned:40",
    "all",
)


def protected_sets() -> list[Row]:
    """Which text rows are worth keeping precise, at 4 bits and, to see more, at 3."""
    return [
        _row("protected sets", f"{kept}, {bits} bits", alone.but(protected=kept))
        for bits in (4, 3)
        for alone in [cross_attention_alone(bits)]
        for kept in PROTECTED_SETS
    ]


def granularities() -> list[Row]:
    """Per-tensor ranges gain when an outlier row is taken out of them; per-row scales do not."""
    return [
        _row(
            "granularity",
            f"{rows}, kept: {kept}",
            cross_attention_alone(4).but(rows=rows, protected=kept),
        )
        for kept in ("none", "bos", "trigger")
        for rows in ("row", "tensor", "tensor-rest")
        if (kept, rows) != ("none", "tensor-rest")
    ]


def ranges() -> list[Row]:
    """What calibration is worth: searched ranges, extremes, and ranges for each step."""
    return [
        _row(
            "ranges", f"{inputs}, {a_bits} bits", method("taq-paper", 8, a_bits).but(inputs=inputs)
        )
        for a_bits in (8, 4)
        for inputs in ("extremes", "static", "step", "row")
    ]


def _row(table: str, label: str, of: Method) -> Row:
    width = Row(table, "", label, of).width
    words = f"{table}-{of.name}-{width}" + ("" if label == of.name else f"-{label}")
    row_id = "".join(c if c.isalnum() else "-" for c in words.lower())
    return Row(table, "-".join(part for part in row_id.split("-") if part), label, of)
