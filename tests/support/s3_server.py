"""An S3 server on a free local port (moto's), for tests that must speak the real protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import fsspec
from moto.server import ThreadedMotoServer


@contextmanager
def run_s3(bucket: str) -> Iterator[Mapping[str, Any]]:
    """Start it with one empty bucket; yields the storage options that lead to it."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        options: dict[str, Any] = {
            "endpoint_url": f"http://{host}:{port}",
            "key": "test",
            "secret": "test",
            "config_kwargs": {"retries": {"max_attempts": 1}},
        }
        filesystem = fsspec.filesystem("s3", skip_instance_cache=True, **options)
        filesystem.mkdir(bucket)
        yield options
    finally:
        server.stop()
