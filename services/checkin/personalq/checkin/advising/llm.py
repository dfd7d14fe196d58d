"""A language model behind any OpenAI-compatible endpoint, asked for one JSON object.

Endpoints differ in what they accept: `response_format` is tried as a JSON schema, as "some JSON
object", then not at all, and what was accepted is remembered. The schema is in the prompt as well,
and whoever calls validates the answer: none of the three ways is trusted.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from personalq.chassis.errors import PersonalQError
from personalq.checkin.endpoint import (
    Breaker,
    Budget,
    Endpoint,
    EndpointFailed,
    Refused,
    bounded,
    failed_status,
)

if TYPE_CHECKING:
    import openai

log = logging.getLogger(__name__)

A = TypeVar("A")
Message = Mapping[str, str]
_MODES = ("json_schema", "json_object", "text")
_FENCE = re.compile(r"^\s*```(?:json)?\s*(.*?)\s*```\s*$", re.DOTALL)
_SHOWN = 2000
"""Characters of a wrong answer that are shown to the model again."""


class _Part(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Part


class _Completion(BaseModel):
    choices: list[_Choice]


class WrongAnswer(Exception):
    """An answer that is not of the asked form; the text says what is wrong, for the model."""


class JsonChat:
    """Asks for JSON and repairs a wrong answer once."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        *,
        model: str,
        options: Mapping[str, Any],
        endpoint: Endpoint,
    ) -> None:
        self._client = client
        self._model = model
        self._options = dict(options)
        self._endpoint = endpoint
        self._modes: Sequence[str] = _MODES

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any],
        read: Callable[[str], A],
    ) -> A:
        """What `read` makes of the answer; a WrongAnswer it raises is shown to the model once.

        Raises:
            EndpointFailed: no usable answer within the budget.
        """

        async def turn(budget: Budget) -> A:
            text = await self._complete(messages, schema, budget)
            try:
                return read(_unfenced(text))
            except WrongAnswer as error:
                problem = str(error)
            repair = (
                *messages,
                {"role": "assistant", "content": text[:_SHOWN] or "(nothing)"},
                {
                    "role": "user",
                    "content": f"That answer is wrong: {problem}. Answer again with one JSON "
                    "object of the schema and nothing else.",
                },
            )
            text = await self._complete(repair, schema, budget)
            try:
                return read(_unfenced(text))
            except WrongAnswer as error:
                raise EndpointFailed(f"answers with {error}") from None

        return await self._endpoint.run(turn)

    async def _complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any], budget: Budget
    ) -> str:
        """The text of the answer, in the first mode that the endpoint takes."""
        modes = self._modes
        for index, mode in enumerate(modes):
            try:
                text = await budget.attempt(partial(self._post, messages, schema, mode))
            except Refused:
                if index == len(modes) - 1:
                    raise
                continue
            if index:
                self._modes = modes[index:]
                log.info(
                    "the endpoint refuses a response format",
                    extra={"action": "ask_llm", "refused": modes[:index], "taken": mode},
                )
            return text
        raise AssertionError("there is always a mode")

    async def _post(self, messages: Sequence[Message], schema: Mapping[str, Any], mode: str) -> str:
        """One request.

        Raises:
            EndpointFailed: see `endpoint.failed_status`, and for a reply that is no completion.
        """
        import openai

        body: dict[str, Any] = {
            "model": self._model,
            "messages": list(messages),
            "extra_body": self._options,  # fields the SDK does not know as well
        }
        if mode == "json_schema":
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "opinion", "strict": True, "schema": schema},
            }
        elif mode == "json_object":
            body["response_format"] = {"type": "json_object"}
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**body)
            completion = _Completion.model_validate_json(raw.text)
        except openai.APIStatusError as error:
            raise failed_status(error.status_code, error.response.headers) from error
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, EndpointFailed):
                raise error.__cause__ from None
            raise EndpointFailed("cannot be reached", retryable=True) from error
        except (openai.OpenAIError, ValidationError, ValueError) as error:
            raise EndpointFailed("answers with something that is no completion") from error
        if not completion.choices:
            raise EndpointFailed("answers with no choice")
        return completion.choices[0].message.content or ""


def _unfenced(text: str) -> str:
    """The JSON inside a Markdown fence, which some models put around it."""
    fenced = _FENCE.match(text)
    return fenced[1] if fenced else text


@asynccontextmanager
async def open_llm(
    base_url: str,
    *,
    model: str,
    key: str,
    options: Mapping[str, Any],
    timeout_s: float,
    breaker: Breaker,
) -> AsyncIterator[JsonChat]:
    """A client of the endpoint; connects when first used.

    Raises:
        PersonalQError: the `openai` package is missing.
    """
    try:
        import httpx2
        import openai
    except ImportError as error:
        raise PersonalQError(
            "a language model needs the openai package; pip install 'personalq-checkin[llm]'"
        ) from error
    async with (
        httpx2.AsyncClient(
            timeout=timeout_s,
            headers={"accept-encoding": "identity"},
            event_hooks={"response": [bounded]},
        ) as http,
        openai.AsyncOpenAI(
            base_url=base_url,
            api_key=key or "none",  # local servers want none, the SDK wants one
            max_retries=0,
            timeout=timeout_s,
            http_client=http,
        ) as client,
    ):
        endpoint = Endpoint(timeout_s=timeout_s, breaker=breaker)
        yield JsonChat(client, model=model, options=options, endpoint=endpoint)
