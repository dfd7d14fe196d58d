"""An S3 server on a free local port (moto's), for tests that must speak the real protocol."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import fsspec
from moto.server import ThreadedMotoServer


@functools.cache
def s3_server(bucket: str) -> Mapping[str, Any]:
    """Storage options that lead to an empty `bucket` on a server; one per bucket and process.

    It runs in daemon threads until the process ends.
    """
    host, port = _start().get_host_and_port()
    options: dict[str, Any] = {
        "endpoint_url": f"http://{host}:{port}",
        "key": "test",
        "secret": "test",
        "config_kwargs": {"retries": {"max_attempts": 1}},
    }
    fsspec.filesystem("s3", **options).mkdir(bucket)
    return options


@functools.cache
def _start() -> ThreadedMotoServer:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    return server
