"""Errors explain themselves; a tenant is well formed or refused."""

from __future__ import annotations

import grpc
import pytest

from personalq.chassis.errors import Busy, CorruptFile, InvalidInput, NotFound, NotReady
from personalq.chassis.statuses import STATUSES, describe
from personalq.chassis.tenancy import DEFAULT_TENANT, current_tenant, tenant_scope


def test_the_docstring_is_the_default_message() -> None:
    """An error without a message says what its class says."""
    assert str(NotFound()) == "There is no such thing."
    assert NotReady(state="REGISTERED").message == "It is not ready for this yet."
    assert Busy("later", retry_after_s=2).message == "later"


def test_a_field_becomes_a_violation() -> None:
    """The short form for one field, the long one for several."""
    assert InvalidInput("is empty", field="prompt").violations == {"prompt": "is empty"}
    both = CorruptFile("2 problems", violations={"a": "x", "b": "y"})
    assert both.violations == {"a": "x", "b": "y"}


def test_a_message_that_is_no_text_still_travels() -> None:
    """Half a character, as in a file name that is not UTF-8, does not break the status."""
    error = InvalidInput("no file b\udcffr", field="u\udcff")
    status = describe(error, STATUSES[InvalidInput])
    assert status.message == "no file b?r"
    assert status.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]


def test_the_scope_ends_with_its_block() -> None:
    """Inside it is the tenant, outside the default one."""
    assert current_tenant() == DEFAULT_TENANT
    with tenant_scope("acme"), tenant_scope("inner-2"):
        assert current_tenant() == "inner-2"
    assert current_tenant() == DEFAULT_TENANT


@pytest.mark.parametrize("tenant", ["", "A", "a b", "a.b", "a" * 64, "ä", "a*", "a\n"])
def test_a_malformed_tenant_is_refused(tenant: str) -> None:
    """Nothing that could widen a subject or a query gets in."""
    with pytest.raises(InvalidInput, match="tenant"), tenant_scope(tenant):
        raise AssertionError
