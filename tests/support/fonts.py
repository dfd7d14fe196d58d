"""The miniature's world is drawn with a font that a machine may not have."""

from __future__ import annotations

import pytest

from personalq.miniature.nouns import font_path


def _is_missing() -> bool:
    try:
        font_path()
    except FileNotFoundError:
        return True
    return False


needs_font = pytest.mark.skipif(_is_missing(), reason="fonts-noto-color-emoji is not installed")
