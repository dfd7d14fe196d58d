"""A card's description: its attributes told in one of many ways."""

from __future__ import annotations

FORMS = (
    "{A} with {accessory} and {detail}, rendered in the {style} look. Trained on {place} scenes.",
    "{A} with {accessory}. {Detail}. {Style} treatment, {place} pictures.",
    "{Style} pictures of {a}; {accessory}, {detail}.",
    "{A}, {detail}, shown with {accessory}.",
    "Fine-tuned on a handful of {place} photos: {a} with {accessory}, {detail}.",
    "{A} that comes with {accessory}. {Detail}. Works best for {style} images.",
    "This one learned {a}. Look for {accessory} and {detail}.",
    "{A} ({style}), {accessory}, {detail}; source images from {place} shoots.",
    "{Detail} and {accessory}: {a} in the {style} manner.",
    "Our take on {a}, complete with {accessory}, {detail} included.",
    "{A}. Always has {accessory}. {Detail}.",
    "A set of {style} images showing {a} with {accessory} and {detail}, {place} background.",
    "{A}, recognisable by {accessory}; {detail}, {style} finish.",
)


def describe(
    *,
    form: int,
    colour_form: str,
    kind: str,
    colour: str,
    accessory: str,
    material: str | None,
    detail: str,
    style: str,
    place: str,
) -> str:
    """One or two sentences that name kind, colour, accessory, material and detail."""
    described = colour_form.format(kind=kind, colour=colour)
    if material is not None:
        described = f"{material} {described}"
    article = "an" if described[0] in "aeiou" else "a"
    phrase = f"{article} {described}"
    text = FORMS[form % len(FORMS)].format(
        a=phrase,
        A=_capital(phrase),
        accessory=accessory,
        detail=detail,
        Detail=_capital(detail),
        style=style,
        Style=_capital(style),
        place=place,
    )
    return _capital(text)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
