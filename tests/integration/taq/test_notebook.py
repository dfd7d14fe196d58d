"""The notebook runs as it is shipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[3] / "libs/taq/notebooks/quickstart.ipynb"


def test_the_quickstart_runs_to_its_end_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No cell fails, what is printed is sensible, and both figures are drawn."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # threads on a busy machine wait for each other
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not list(_outputs(notebook)), "committed with outputs"
    NotebookClient(notebook, timeout=150, kernel_name="python3").execute(cwd=str(tmp_path))
    printed = "".join(output["text"] for output in _outputs(notebook) if "text" in output)
    assert "w4a8" in printed
    assert "dog      precise" in printed
    assert "garden   rounded" in printed
    figures = [output for output in _outputs(notebook) if "image/png" in output.get("data", {})]
    assert len(figures) == 2


def _outputs(notebook: Any) -> Iterator[Any]:
    """Yield what the cells wrote, in order."""
    for cell in notebook.cells:
        yield from cell.get("outputs", [])
