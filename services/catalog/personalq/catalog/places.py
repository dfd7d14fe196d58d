"""Places of training that a description tells of: "Trained on museum scenes."."""

from __future__ import annotations

import re

_PHOTOS = r"(?:scenes|pictures|photos|images|shots|shoots|photographs|footage)"
_PLACES = r"(?P<places>[^\W\d_][\w' -]{1,60}?(?:,?\s+and\s+[^\W\d_][\w' -]{1,60}?)?)"
_TOLD = re.compile(
    rf"\b(?:trained|tuned)\s+(?:only\s+|mostly\s+)?on\s+{_PLACES}\s+{_PHOTOS}(?!\s+of\b)"
    rf"|\b{_PHOTOS}\s+(?:all\s+)?(?:came|come)\s+from\s+(?:one\s+place|the\s+same\s+place):\s*"
    r"(?P<one>[^\W\d_][\w' -]{1,60})",
    re.IGNORECASE,
)


def told_places(description: str) -> tuple[str, ...]:
    """The places, in the description's words; constraints on a place find the card by them."""
    told = _TOLD.search(description)
    if told is None:
        return ()
    listed = re.split(r",?\s+and\s+", told["places"] or told["one"])
    return tuple(dict.fromkeys(place.strip() for place in listed if place.strip()))
