"""Settings of the checkin service, read once from PERSONALQ_CHECKIN_*."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from personalq.chassis.settings import CommonSettings, Port, Seconds


class CheckinSettings(CommonSettings):
    """What the checkin service can be told."""

    model_config = SettingsConfigDict(env_prefix="PERSONALQ_CHECKIN_")

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
    candidate_limit: Annotated[int, Field(ge=1, le=1000)] = 200
    #: Ask when choosing without asking would be wrong more often than this.
    ask_cost: Annotated[float, Field(ge=0, le=1)] = 0.25
    #: Most runners-up an explanation names.
    runners_up: Annotated[int, Field(ge=0, le=100)] = 10
    #: Binds question ids to their request; the same on every replica.
    question_key: Annotated[str, Field(min_length=1, max_length=64)] = "personalq"
