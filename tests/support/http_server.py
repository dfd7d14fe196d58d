"""A small HTTP server whose answers a test decides, and the Hugging Face Hub's answers for it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server says to a GET.

    `announce` sends another Content-Length than the body has; None sends none at all (the
    connection's end is the body's end). With `hold` the connection then stays open, silent, until
    the event is set.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    announce: int | None = -1
    hold: threading.Event | None = None


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a client asked for."""

    path: str
    headers: Mapping[str, str]


class HttpServer:
    """Answers by path (without the query); 404 for all others. Keeps what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: dict[str, Answer] = {}
        self.requests: list[Request] = []


@contextmanager
def run_http() -> Iterator[HttpServer]:
    """Start the server on a free port of 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(self.path.partition("?")[0])
            site.requests.append(Request(path=path, headers=dict(self.headers)))
            answer = site.answers.get(path, Answer(status=404))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.announce is not None:
                length = len(answer.body) if answer.announce < 0 else answer.announce
                self.send_header("Content-Length", str(length))
            self.end_headers()
            try:
                self.wfile.write(answer.body)
            except OSError:
                return  # the client has seen enough
            if answer.hold is not None:
                self.wfile.flush()
                answer.hold.wait(60)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = HttpServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def add_model(
    hub: HttpServer,
    cdn: HttpServer,
    repo: str,
    files: Mapping[str, bytes],
    *,
    revision: str = "main",
) -> str:
    """Make `hub` serve a model repository as the Hub does; returns its commit.

    `.safetensors` files are LFS files: their resolve address redirects to another host (`cdn`).
    """
    commit = hashlib.sha1(f"{repo}{revision}".encode()).hexdigest()  # noqa: S324 - git's own
    siblings = []
    for name, body in files.items():
        sha256 = hashlib.sha256(body).hexdigest()
        entry: dict[str, object] = {"rfilename": name, "size": len(body), "blobId": "0" * 40}
        address = f"/{repo}/resolve/{commit}/{name}"
        if name.endswith(".safetensors"):
            entry["lfs"] = {"sha256": sha256, "size": len(body), "pointerSize": 134}
            cdn.answers[f"/{sha256}"] = Answer(body=body)
            location = {"Location": f"{cdn.url}/{sha256}"}
            hub.answers[address] = Answer(status=302, headers=location)
        else:
            hub.answers[address] = Answer(body=body)
        siblings.append(entry)
    info = {"id": repo, "sha": commit, "private": False, "siblings": siblings, "tags": []}
    answer = Answer(body=json.dumps(info).encode(), headers={"Content-Type": "application/json"})
    hub.answers[f"/api/models/{repo}/revision/{revision}"] = answer
    if revision == "main":
        hub.answers[f"/api/models/{repo}"] = answer
    return commit
