"""The tree keeps its shape."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVICES = ("catalog", "checkin", "quantizer", "renderer")
ANATOMY = ("__main__.py", "settings.py", "ports.py", "wire.py")


def _tracked() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [Path(line) for line in listing.stdout.splitlines()]


def test_personalq_is_a_namespace_shared_by_all_distributions() -> None:
    """No distribution claims the package `personalq` for itself."""
    assert [path for path in _tracked() if path.parts[-2:] == ("personalq", "__init__.py")] == []


def test_services_is_a_folder_and_never_a_package() -> None:
    """Nothing can be imported from `services`."""
    assert not (ROOT / "services" / "__init__.py").exists()


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_has_the_same_anatomy(service: str) -> None:
    """Who knows one service finds the parts of all four."""
    folder = ROOT / "services" / service
    missing = [
        name
        for name in ("pyproject.toml", "Dockerfile", "README.md")
        if not (folder / name).exists()
    ]
    missing += [name for name in ANATOMY if not (folder / "personalq" / service / name).exists()]
    assert missing == []


def test_weights_fit_into_every_clone() -> None:
    """All weights in the repository together stay within 40 MB."""
    weights = [ROOT / path for path in _tracked() if path.suffix == ".safetensors"]
    assert sum(path.stat().st_size for path in weights) <= 40_000_000


def test_nobody_commits_a_pickle() -> None:
    """Weights are safetensors, never something that runs code when it is loaded."""
    suffixes = {".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".bin"}
    assert [path for path in _tracked() if path.suffix in suffixes] == []
