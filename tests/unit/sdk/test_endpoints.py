"""Where the client looks for the services."""

from __future__ import annotations

import pytest

from personalq.chassis.errors import InvalidInput
from personalq.sdk.endpoints import Endpoints


def test_the_embedded_stack_is_the_default() -> None:
    """Without arguments and variables the client speaks to `personalq up`."""
    endpoints = Endpoints.resolve({})
    assert endpoints.checkin == "127.0.0.1:7401"
    assert endpoints.nats == "nats://127.0.0.1:7404"
    assert endpoints.tenant == "default"


def test_an_argument_beats_a_variable_beats_the_default() -> None:
    """The nearest word counts."""
    environ = {"PERSONALQ_CATALOG": "catalog:1", "PERSONALQ_CHECKIN": "checkin:1"}
    endpoints = Endpoints.resolve(environ, catalog="here:2", checkin=None)
    assert (endpoints.catalog, endpoints.checkin) == ("here:2", "checkin:1")
    assert endpoints.renderer == "127.0.0.1:7403"


@pytest.mark.parametrize(
    "target", ["renderer:7403", "10.0.0.1:80", "dns:///renderer.personalq:7403", "[::1]:7403"]
)
def test_every_usual_form_of_an_address_is_accepted(target: str) -> None:
    """Names, numbers and gRPC's own schemes."""
    assert Endpoints.resolve({}, renderer=target).renderer == target


@pytest.mark.parametrize("url", ["nats://a:1,tls://b:2", "nats://me:word@[::1]:4222", "nats://a"])
def test_every_usual_form_of_a_url_is_accepted(url: str) -> None:
    """Several servers, credentials, the usual port."""
    assert Endpoints.resolve({}, nats=url).nats == url


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"catalog": "catalog"}, "HOST:PORT"),
        ({"checkin": "a b:1"}, "HOST:PORT"),
        ({"nats": "127.0.0.1:7404"}, "nats://"),
        ({"nats": "nats://[bad"}, "nats://"),
        ({"nats": "nats://"}, "nats://"),
        ({"nats": "nats://a:7404,nats://b:99999"}, "nats://"),
        ({"tenant": "Acme Inc"}, "a-z"),
        ({"tenant": "x" * 64}, "1-63"),
    ],
)
def test_a_malformed_address_is_named_with_its_form(wrong: dict[str, str], says: str) -> None:
    """The message shows how to write it."""
    with pytest.raises(InvalidInput, match=says) as caught:
        Endpoints.resolve({}, **wrong)
    assert list(caught.value.violations) == list(wrong)
