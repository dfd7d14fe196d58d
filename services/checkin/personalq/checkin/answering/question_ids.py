"""Question ids: what was asked, in a token bound to the request it was asked about."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass

from personalq.chassis.errors import InvalidInput
from personalq.checkin.intent import Attribute
from personalq.checkin.outcome import Option

_VERSION = "q1"
_MAX_TOKEN = 16384


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a question id says was asked."""

    attribute: Attribute
    options: tuple[Option, ...]


def question_id(
    asked: Attribute, options: Sequence[Option], *, scope: Sequence[str], key: str
) -> str:
    """A token that says what was asked, bound to the request it was asked about.

    `scope` is the tenant, the prompt, the pool and the earlier answers: an id from elsewhere does
    not verify. The token is readable and holds no checkpoint id.
    """
    payload = json.dumps(
        [asked.value, [[option.label, option.value] for option in options if option.value]],
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode()
    body = base64.urlsafe_b64encode(payload).decode().rstrip("=")
    return f"{_VERSION}.{body}.{_mac(payload, scope, key)}"


def read_question_id(token: str, *, scope: Sequence[str], key: str) -> Asked:
    """What was asked.

    Raises:
        InvalidInput: the id is not one of this request's questions.
    """
    wrong = InvalidInput(
        "this question was not asked about this prompt: send the question_id of the clarification "
        "unchanged, with the same prompt, candidate_ids and earlier answers",
        field="answers.question_id",
    )
    parts = token.split(".")
    if len(parts) != 3 or parts[0] != _VERSION or len(token) > _MAX_TOKEN:
        raise wrong
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
    except (binascii.Error, ValueError):
        raise wrong from None
    if not hmac.compare_digest(_mac(payload, scope, key).encode(), parts[2].encode()):
        raise wrong
    try:
        attribute, options = json.loads(payload)
        asked = Attribute(attribute)
        return Asked(
            attribute=asked,
            options=tuple(Option(label=str(a), attribute=asked, value=str(b)) for a, b in options),
        )
    except (ValueError, TypeError):
        raise wrong from None


def _mac(payload: bytes, scope: Sequence[str], key: str) -> str:
    digest = hashlib.blake2b(key=key.encode()[:64], digest_size=12)
    for part in (payload, *(item.encode("utf-8", "surrogatepass") for item in scope)):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()
