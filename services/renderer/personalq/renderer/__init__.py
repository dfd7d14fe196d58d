"""Renderer: pictures from TAQ artifacts, streamed as they come about."""

from __future__ import annotations

__version__ = "0.1.0"
