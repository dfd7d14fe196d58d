"""An S3 server on a free local port (moto's), for tests that must speak the real protocol."""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping
from typing import Any

import fsspec
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server


@functools.cache
def s3_server(bucket: str) -> Mapping[str, Any]:
    """Storage options that lead to an empty `bucket` on a server; one per bucket and process.

    It runs in a daemon thread until the process ends.
    """
    options: dict[str, Any] = {
        "endpoint_url": f"http://127.0.0.1:{_start().port}",
        "key": "test",
        "secret": "test",
        "config_kwargs": {"retries": {"max_attempts": 1}},
    }
    fsspec.filesystem("s3", **options).mkdir(bucket)
    return options


@functools.cache
def _start() -> BaseWSGIServer:
    app = DomainDispatcherApplication(create_backend_app)
    # One request at a time: moto's objects do not survive being replaced while they are answered.
    server = make_server("127.0.0.1", 0, app, threaded=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
