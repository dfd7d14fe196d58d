"""Logs, traces and metrics.

Logs are events: a few fixed words and the facts as fields,
`log.info("artifact published", extra={"action": "publish_artifact", "checkpoint_id": ...})`.
Tenant and trace id are added to every line. Traces use the OpenTelemetry API only: whoever installs
an SDK and an exporter sees spans; without one the `traceparent` still crosses every call and event,
so that the log lines of one journey share a trace id.
"""

from __future__ import annotations

import json
import logging
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Literal

import prometheus_client
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    TraceFlags,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from personalq.chassis.errors import PersonalQError
from personalq.chassis.tenancy import DEFAULT_TENANT, current_tenant

_propagator = TraceContextTextMapPropagator()
_tracer = trace.get_tracer("personalq.chassis")

# --- metrics ---------------------------------------------------------------------------------

RPCS = prometheus_client.Counter(
    "personalq_rpcs", "Calls answered by this server.", ["method", "code"]
)
RPC_SECONDS = prometheus_client.Histogram(
    "personalq_rpc_seconds",
    "Time to answer a call; of a stream, to its end.",
    ["method"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)
RPCS_RUNNING = prometheus_client.Gauge(
    "personalq_rpcs_running", "Calls being answered now.", ["method"]
)
EVENTS_PUBLISHED = prometheus_client.Counter(
    "personalq_events_published", "Events stored by the stream.", ["event", "duplicate"]
)
EVENTS_HANDLED = prometheus_client.Counter(
    "personalq_events_handled",
    "Deliveries by outcome: done, retried, failed (will be retried), dead.",
    ["event", "consumer", "outcome"],
)
EVENT_SECONDS = prometheus_client.Histogram(
    "personalq_event_seconds",
    "Time a handler took.",
    ["event", "consumer"],
    buckets=(0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800),
)


@contextmanager
def metrics_endpoint(host: str, port: int) -> Iterator[int]:
    """Serve the metrics over HTTP on a thread of its own; yields the port, 0 when it is off."""
    if port == 0:
        yield 0
        return
    try:
        server, thread = prometheus_client.start_http_server(port, addr=host)
    except OSError as error:
        raise PersonalQError(
            f"the metrics port {port} of {host} cannot be opened ({error.strerror}); "
            "choose another one or set it to 0"
        ) from error
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# --- traces ----------------------------------------------------------------------------------


@contextmanager
def span(
    name: str,
    *,
    carrier: Mapping[str, str] | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
) -> Iterator[Span]:
    """Open a span, a child of the `traceparent` in the carrier if there is one.

    Without an SDK the span records nothing, but it has ids, made up here at the start of a journey.
    """
    parent = _propagator.extract(carrier) if carrier is not None else otel_context.get_current()
    opened = _tracer.start_span(name, context=parent, kind=kind)
    if not opened.get_span_context().is_valid:
        opened = NonRecordingSpan(_fresh_context())
    with trace.use_span(opened, end_on_exit=True):
        yield opened


def trace_headers() -> dict[str, str]:
    """Headers that carry the current trace to whoever is called next."""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return carrier


def current_trace_id() -> str:
    """The trace id as 32 hexadecimal digits; empty outside of a trace."""
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else ""


def _fresh_context() -> SpanContext:
    return SpanContext(
        trace_id=random.getrandbits(128) or 1,
        span_id=random.getrandbits(64) or 1,
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


# --- logs ------------------------------------------------------------------------------------

#: Attributes every LogRecord has; what is left are the fields given as `extra`.
_RECORD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {
    "asctime",
    "message",
    "taskName",
    "color_message",
}


# These libraries speak a lot and about themselves; their errors are logged by us.
_CHATTY = (
    "nats",
    "asyncio",
    "httpx",
    "httpcore",
    "httpx2",
    "httpcore2",
    "openai",
    "botocore",
    "urllib3",
    "filelock",
)


def configure_logging(
    level: str = "INFO", log_format: Literal["json", "console"] = "json", *, service: str = ""
) -> None:
    """Send one line per event to stderr; replaces whatever was configured before."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines(service) if log_format == "json" else _ConsoleLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.captureWarnings(True)
    for chatty in _CHATTY:
        logging.getLogger(chatty).setLevel(max(logging.getLevelName(level), logging.WARNING))


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields: dict[str, object] = {}
    tenant = current_tenant()
    if tenant != DEFAULT_TENANT:
        fields["tenant"] = tenant
    trace_id = current_trace_id()
    if trace_id:
        fields["trace_id"] = trace_id
    fields |= {key: value for key, value in vars(record).items() if key not in _RECORD_FIELDS}
    return fields


class _JsonLines(logging.Formatter):
    """One JSON object per line."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "service": self._service,
            "logger": record.name,
            "msg": record.getMessage(),
        }
        line |= _fields(record)
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


class _ConsoleLines(logging.Formatter):
    """`12:34:56 INFO  personalq.catalog.store: card stored checkpoint_id=bear-v4`."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        facts = "".join(f" {key}={value}" for key, value in _fields(record).items())
        line = f"{time} {record.levelname:<7} {record.name}: {record.getMessage()}{facts}"
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return line
