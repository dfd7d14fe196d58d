"""A server with OpenAI's `/v1/embeddings`, as the tests want it to answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class EmbeddingServer:
    """Answers POST /v1/embeddings as `answer` decides; keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answer: Callable[[dict[str, Any]], tuple[int, bytes]] = self.vectors
        self.url = ""

    @staticmethod
    def vectors(body: dict[str, Any]) -> tuple[int, bytes]:
        """One vector per text, its first number the text's length; last text first."""
        data = [
            {"index": index, "embedding": [float(len(text)), 1.0, 0.0, 0.0]}
            for index, text in enumerate(body["input"])
        ]
        return 200, json.dumps({"object": "list", "data": data[::-1]}).encode()


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """A running server."""
    site = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            site.requests.append(body)
            site.keys.append(self.headers["Authorization"])
            status, answer = site.answer(body) if self.path == "/v1/embeddings" else (404, b"")
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
            except OSError:
                return

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    http.shutdown()
    thread.join()
    http.server_close()
