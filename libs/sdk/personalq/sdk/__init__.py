"""The client side of PersonalQ.

    from personalq.sdk import AsyncPersonalQ, Clarification, NoMatch, PersonalQ, Selection

Names are loaded when they are first used, so that `personalq --help` need not load gRPC.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from personalq.chassis.errors import (
        Busy,
        Conflict,
        CorruptFile,
        InvalidInput,
        NotFound,
        NotReady,
        PersonalQError,
        Unavailable,
    )
    from personalq.sdk.client import AsyncPersonalQ
    from personalq.sdk.endpoints import Endpoints
    from personalq.sdk.results import (
        Artifact,
        Candidate,
        Checkpoint,
        Clarification,
        Constraint,
        Done,
        Generation,
        Intent,
        NoMatch,
        Option,
        Outcome,
        Picture,
        Progress,
        Provenance,
        Publication,
        Queued,
        Rendering,
        RenderStep,
        Selection,
        SelectionRequest,
        Started,
        Timings,
    )
    from personalq.sdk.sync import PersonalQ

__all__ = [
    "Artifact",
    "AsyncPersonalQ",
    "Busy",
    "Candidate",
    "Checkpoint",
    "Clarification",
    "Conflict",
    "Constraint",
    "CorruptFile",
    "Done",
    "Endpoints",
    "Generation",
    "Intent",
    "InvalidInput",
    "NoMatch",
    "NotFound",
    "NotReady",
    "Option",
    "Outcome",
    "PersonalQ",
    "PersonalQError",
    "Picture",
    "Progress",
    "Provenance",
    "Publication",
    "Queued",
    "RenderStep",
    "Rendering",
    "Selection",
    "SelectionRequest",
    "Started",
    "Timings",
    "Unavailable",
]

_ERRORS = {
    "Busy",
    "Conflict",
    "CorruptFile",
    "InvalidInput",
    "NotFound",
    "NotReady",
    "PersonalQError",
    "Unavailable",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_home(name)), name)


def _home(name: str) -> str:
    if name in _ERRORS:
        return "personalq.chassis.errors"
    return {
        "AsyncPersonalQ": "personalq.sdk.client",
        "PersonalQ": "personalq.sdk.sync",
        "Endpoints": "personalq.sdk.endpoints",
    }.get(name, "personalq.sdk.results")
