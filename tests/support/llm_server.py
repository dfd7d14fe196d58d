"""A stand-in for a language model and for rerankers: local HTTP, answers decided by a test."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def mode(self) -> str:
        """The response format asked for; "text" for none."""
        return str(self.body.get("response_format", {"type": "text"})["type"])

    @property
    def told(self) -> str:
        """Everything the model gets to read."""
        return "\n".join(message["content"] for message in self.body["messages"])

    @property
    def data(self) -> dict[str, Any]:
        """The case between the fences of the first message of the user."""
        content = next(m["content"] for m in self.body["messages"] if m["role"] == "user")
        case: dict[str, Any] = json.loads(content.split("\n")[1])
        return case

    def label(self, **traits: str) -> str:
        """The label of the only candidate that has all of these traits."""
        (found,) = (
            row["label"]
            for row in self.data["candidates"]
            if all(value in row[trait] for trait, value in traits.items())
        )
        return str(found)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What goes back; with `hold` only once the event is set."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    hold: threading.Event | None = None


Behaviour = Callable[[Asked], Reply]


class ModelServer:
    """Where it listens, how it behaves, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self.behave: Behaviour = lambda _: Reply(status=404)

    def reply_with(self, *replies: Reply) -> None:
        """Give these replies in turn, the last one for ever."""
        rest = list(replies)
        self.behave = lambda _: rest.pop(0) if len(rest) > 1 else rest[0]


@contextmanager
def run_model_server() -> Iterator[ModelServer]:
    """Start the stand-in on a free port of 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(path=self.path, headers=headers, body=json.loads(content))
            model.asked.append(asked)
            reply = model.behave(asked)
            if reply.hold is not None:
                reply.hold.wait(60)
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
            except OSError:
                return  # the client has gone

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model = ModelServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def completion(content: object) -> Reply:
    """A chat completion whose message is `content`, as JSON unless it is text."""
    text = content if isinstance(content, str) else json.dumps(content)
    message = {"role": "assistant", "content": text}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stand-in",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }
    return Reply(body=json.dumps(body).encode())


def opinion(
    label: str = "",
    *,
    verdict: str = "one",
    said: str = "",
    attribute: str = "description",
    value: str = "",
    ask_about: str = "nothing",
) -> dict[str, object]:
    """An answer of the schema, for one candidate and one piece of evidence."""
    return {
        "verdict": verdict,
        "likely": [{"label": label, "percent": 100}] if label else [],
        "ask_about": ask_about,
        "evidence": [{"said": said, "attribute": attribute, "value": value}] if said else [],
    }
