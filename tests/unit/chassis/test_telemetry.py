"""Log lines, trace headers, metrics endpoint."""

from __future__ import annotations

import json
import logging
import urllib.request
from collections.abc import Iterator

import pytest

from personalq.chassis import telemetry
from personalq.chassis.errors import PersonalQError
from personalq.chassis.tenancy import tenant_scope


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    """What a test configures ends with it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    logging.captureWarnings(False)


def test_a_line_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    """Fixed words, the given facts, tenant and trace; a stack when there is one."""
    telemetry.configure_logging("INFO", "json", service="catalog")
    with tenant_scope("acme"), telemetry.span("test"):
        trace_id = telemetry.current_trace_id()
        try:
            raise ValueError("two\nlines")
        except ValueError:
            logging.getLogger("x").exception("card stored", extra={"checkpoint_id": "bär"})
    [line] = capsys.readouterr().err.splitlines()
    fields = json.loads(line)
    assert fields["stack"].endswith("ValueError: two\nlines")
    assert {key: fields[key] for key in fields if key not in ("time", "stack")} == {
        "level": "error",
        "service": "catalog",
        "logger": "x",
        "msg": "card stored",
        "tenant": "acme",
        "trace_id": trace_id,
        "checkpoint_id": "bär",
    }


def test_the_console_line_is_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    """Words first, facts after."""
    telemetry.configure_logging("INFO", "console")
    logging.getLogger("x").info("card stored", extra={"checkpoint_id": "bear"})
    logging.getLogger("x").debug("not shown")
    assert capsys.readouterr().err.endswith("INFO    x: card stored checkpoint_id=bear\n")


def test_libraries_stay_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """Their chatter is not ours, even at INFO."""
    telemetry.configure_logging("INFO", "json")
    logging.getLogger("nats.aio").info("hello")
    assert capsys.readouterr().err == ""


def test_a_trace_goes_on_where_the_carrier_says() -> None:
    """Headers out of one span continue it in another process; without them a trace begins."""
    with telemetry.span("first"):
        headers = telemetry.trace_headers()
        first = telemetry.current_trace_id()
    assert headers["traceparent"].split("-")[1] == first
    with telemetry.span("second", carrier=headers):
        assert telemetry.current_trace_id() == first
    with telemetry.span("other", carrier={"traceparent": "nonsense"}):
        assert telemetry.current_trace_id() not in ("", first)
    assert telemetry.current_trace_id() == ""
    assert telemetry.trace_headers() == {}


def test_metrics_can_be_scraped() -> None:
    """The endpoint answers while it is on; a port that is taken is explained."""
    telemetry.EVENTS_HANDLED.labels("CheckpointLanded", "test", "done").inc()
    with telemetry.metrics_endpoint("127.0.0.1", 0) as off:
        assert off == 0
    from support.ports import free_port

    with telemetry.metrics_endpoint("127.0.0.1", free_port()) as port:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            assert b'personalq_events_handled_total{consumer="test"' in answer.read()
        with (
            pytest.raises(PersonalQError, match=f"metrics port {port}"),
            telemetry.metrics_endpoint("127.0.0.1", port),
        ):
            raise AssertionError
