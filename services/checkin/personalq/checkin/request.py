"""A request, and what is refused before it is read."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime

from personalq.chassis.errors import InvalidInput
from personalq.checkin.answering.answer import Reply

MAX_PROMPT = 2000
"""Characters of a prompt or an answer."""
MAX_ANSWERS = 20


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request as the contract has it, in domain terms."""

    prompt: str
    answers: tuple[Reply, ...] = ()
    reference_time: datetime | None = None
    time_zone: str = ""
    candidate_ids: tuple[str, ...] = ()
    profile: str = ""
    explain: bool = False
    owner: str = ""
    tenant: str = "default"


def check_request(request: Request) -> None:
    """Refuse what cannot be read.

    Raises:
        InvalidInput: see `select`.
    """
    _check_text(request.prompt, "prompt")
    if len(request.answers) > MAX_ANSWERS:
        raise InvalidInput(f"at most {MAX_ANSWERS} answers can be sent", field="answers")
    for index, reply in enumerate(request.answers):
        _check_text(reply.text, f"answers[{index}].text")


def _check_text(text: str, field: str) -> None:
    name = "the prompt" if field == "prompt" else "the answer"
    visible = any(unicodedata.category(char)[0] not in "CZ" for char in text)
    if not visible:
        raise InvalidInput(f"{name} is empty: say in plain words what you want", field=field)
    if len(text) > MAX_PROMPT:
        raise InvalidInput(
            f"{name} has {len(text)} characters; the limit is {MAX_PROMPT}: shorten it", field=field
        )
