"""Quantizer: every registered checkpoint becomes a TAQ artifact per serving profile, once."""

from __future__ import annotations

__version__ = "0.1.0"
