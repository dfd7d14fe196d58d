"""Settings of the checkin service, read once from PERSONALQ_CHECKIN_*."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from personalq.chassis.settings import CommonSettings, Port, Seconds
from personalq.checkin.advising.advice import Policy

_PREFIX = "PERSONALQ_CHECKIN_"


class CheckinSettings(CommonSettings):
    """What the checkin service can be told."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX)

    #: gRPC port; 0 picks a free one.
    port: Port = 7401
    #: gRPC target of the catalog.
    catalog_target: str = "127.0.0.1:7400"
    #: Serving profile whose artifact a selection names when the request prefers none.
    default_profile: str = "w8a8"
    #: IANA zone of requests that name none.
    default_time_zone: str = "UTC"
    #: Whose seasons "spring" and "winter" are.
    hemisphere: Literal["north", "south"] = "north"
    #: First day of "last week".
    week_start: Literal["monday", "sunday", "saturday"] = "monday"
    #: How long a tenant's words are used before the catalog is asked for changes.
    vocabulary_ttl_s: Seconds = 2.0
    #: Most cards one search considers.
    candidate_limit: Annotated[int, Field(ge=1, le=1000)] = 100
    #: Ask when choosing without asking would be wrong more often than this.
    ask_cost: Annotated[float, Field(ge=0, le=1)] = 0.25
    #: Most runners-up an explanation names.
    runners_up: Annotated[int, Field(ge=0, le=100)] = 10
    #: Binds question ids to their request; the same on every replica.
    question_key: Annotated[str, Field(min_length=1, max_length=64)] = "personalq"

    #: An OpenAI-compatible endpoint up to and including /v1; empty means no language model.
    llm_base_url: str = ""
    #: The endpoint's name of the model; there is no default, models come and go.
    llm_model: str = ""
    #: Sent as a bearer token.
    llm_api_key: SecretStr = SecretStr("")
    #: When the rules leave something open: never, unsure (they would ask, or choose with little
    #: confidence) or always (whenever two candidates are plausible). Unsure once there is a URL.
    llm_when: Literal["", "never", "unsure", "always"] = ""
    #: Everything together: attempts, waiting between them, one repaired answer.
    llm_timeout_s: Annotated[float, Field(gt=0)] = 10.0
    #: Most candidates the model is shown.
    llm_candidates: Annotated[int, Field(ge=2, le=50)] = 10
    #: Unsure is a choice with less confidence than this.
    llm_below: Annotated[float, Field(ge=0, le=1)] = 0.8
    #: More fields of the request body, as JSON: {"reasoning_effort": "low"}, {"temperature": 0}.
    llm_options: dict[str, Any] = Field(default_factory=dict)

    #: A folder or Hub id of a cross-encoder, or with `rerank_url` the server's name of its model.
    rerank_model: str = ""
    #: A server with /rerank: text-embeddings-inference, or Cohere's, Jina's, vLLM's up to /v1.
    rerank_url: str = ""
    #: Which of the two protocols that server speaks.
    rerank_api: Literal["tei", "cohere"] = "tei"
    #: Sent to that server as a bearer token.
    rerank_key: SecretStr = SecretStr("")
    rerank_timeout_s: Annotated[float, Field(gt=0)] = 2.0
    #: Most hits that are reranked.
    rerank_limit: Annotated[int, Field(ge=1, le=1000)] = 32
    #: Log-odds at which the model's text is as likely relevant as not, and how sharply.
    rerank_midpoint: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    rerank_slope: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0

    #: An endpoint that failed so often in a row is left alone for a while.
    model_failures: Annotated[int, Field(ge=1)] = 3
    model_pause_s: Seconds = 30.0

    @property
    def advice(self) -> Policy:
        """When the language model is asked."""
        return Policy(
            when=self.llm_when or ("unsure" if self.llm_base_url else "never"),
            below=self.llm_below,
            limit=self.llm_candidates,
            ask_cost=self.ask_cost,
        )

    @model_validator(mode="after")
    def _models_have_names(self) -> CheckinSettings:
        if self.llm_base_url and not self.llm_model:
            raise ValueError(
                f"{_PREFIX}LLM_BASE_URL needs {_PREFIX}LLM_MODEL: the endpoint's name of the model"
            )
        if self.llm_when in ("unsure", "always") and not self.llm_base_url:
            raise ValueError(
                f"{_PREFIX}LLM_WHEN={self.llm_when} needs {_PREFIX}LLM_BASE_URL and "
                f"{_PREFIX}LLM_MODEL"
            )
        if self.rerank_url and self.rerank_api == "cohere" and not self.rerank_model:
            raise ValueError(
                f"{_PREFIX}RERANK_API=cohere needs {_PREFIX}RERANK_MODEL: the server's name of it"
            )
        taken = {"model", "messages", "response_format", "stream"} & set(self.llm_options)
        if taken:
            raise ValueError(f"{_PREFIX}LLM_OPTIONS cannot set {', '.join(sorted(taken))}")
        return self

    @field_validator("llm_base_url", "rerank_url")
    @classmethod
    def _web_address(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return value
