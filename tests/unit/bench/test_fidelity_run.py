"""Which rows of `personalq bench fidelity` are drawn, and which are there already."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

pytest.importorskip("torch")

from personalq.bench.fidelity import run
from personalq.bench.fidelity.inputs import MiniatureInputs
from personalq.bench.fidelity.rows import Row, all_rows
from personalq.chassis.errors import InvalidInput


def _row(row_id: str) -> Row:
    return next(row for row in all_rows() if row.row_id == row_id)


PAPER = _row("methods-taq-paper-w8a8")
TABLE_4 = _row("table-4-taq-paper-w8a8-linear-kept-apart-trigger")


@pytest.fixture
def settings(tmp_path: Path) -> run._Settings:
    """Of a work folder that is empty."""
    return run._Settings(MiniatureInputs(), "cpu", 10, 3.0, tmp_path, 64, 2, 3)


def _drawn(row: Row, settings: run._Settings) -> None:
    told = {"setting": run._setting(row.method), "seconds": 7.0}
    run._keep(row, np.zeros((2, 3)), told, settings)


def test_one_method_in_two_tables_is_drawn_once(settings: run._Settings) -> None:
    """The other takes its pictures, under its own name; chosen alone it is drawn itself."""
    assert run._twin(PAPER, [PAPER, TABLE_4], settings) is None
    assert run._twin(TABLE_4, [TABLE_4], settings) is None
    twin = run._twin(TABLE_4, [PAPER, TABLE_4], settings)
    assert twin is not None
    assert twin.row_id == PAPER.row_id
    _drawn(PAPER, settings)
    assert run._twin(TABLE_4, [TABLE_4], settings) is not None
    run._draw_all([TABLE_4], [], settings, 1)
    assert run._is_drawn(TABLE_4, settings)
    told = json.loads((settings.work / TABLE_4.row_id / "row.json").read_text())
    assert (told["table"], told["label"], told["seconds"]) == (TABLE_4.table, TABLE_4.label, 7.0)


def test_a_row_whose_method_has_changed_is_drawn_again(settings: run._Settings) -> None:
    """Its name stays; its pictures would be those of another method."""
    assert not run._is_drawn(PAPER, settings)
    _drawn(PAPER, settings)
    assert run._is_drawn(PAPER, settings)
    changed = replace(PAPER, method=PAPER.method.but(protected="bos"))
    assert not run._is_drawn(changed, settings)


def test_a_folder_keeps_its_number_of_pictures(settings: run._Settings) -> None:
    """Rows of different numbers cannot be compared, nor those of two devices."""
    run._claim(settings, [])
    run._claim(settings, [])
    told = {"steps": 10, "guidance": 3.0, "captions": 64, "images": 2, "recipe": 3}
    assert json.loads((settings.work / "settings.json").read_text()) == told
    for changes in ({"images": 3}, {"recipe": 4}, {"device": "cuda"}):
        with pytest.raises(InvalidInput, match="choose another --work"):
            run._claim(replace(settings, **changes), [])


def _options(**changes: Any) -> run.Options:
    options = run.Options(
        inputs=MiniatureInputs(),
        device="cpu",
        images=10,
        steps=10,
        guidance=3.0,
        work=None,
        results_dir=Path(),
        tables=(),
        widths=(),
        workers=1,
        quick=False,
        as_json=False,
    )
    return replace(options, **changes)


@pytest.mark.parametrize(
    ("changes", "rows", "studied"),
    [
        ({"tables": (run.SENSITIVITY,)}, False, True),
        ({"tables": (run.SENSITIVITY, "ranges")}, True, True),
        ({"tables": ("ranges",)}, True, False),
        ({}, True, True),
        ({"quick": True}, True, False),
        ({"widths": ("W4A8",)}, True, False),
    ],
    ids=["alone", "with a table", "not asked", "everything", "quick", "a width"],
)
def test_the_study_of_tokens_is_chosen_as_tables_are(
    changes: dict[str, Any], rows: bool, studied: bool
) -> None:
    """Alone it draws no rows; a quick run and a run of some widths leave it out."""
    options = _options(**changes)
    assert bool(run._chosen(options)) is rows
    assert run._studies_tokens(options) is studied


def test_a_width_is_chosen() -> None:
    """Rows of other bits are left out, but for full precision."""
    chosen = run._chosen(_options(tables=("methods",), widths=("W4A8",)))
    assert {row.width for row in chosen} == {"W4A8", "W32A32"}
    assert {"taq", "ptqd", "full"} <= {row.method.name for row in chosen}
    with pytest.raises(InvalidInput, match="no width W5A5; there are"):
        run._chosen(_options(widths=("W5A5",)))
    with pytest.raises(InvalidInput, match="no row of table 4 at W4A8"):
        run._chosen(_options(tables=("table 4",), widths=("W4A8",)))


def test_drawing_processes_end_with_the_command(tmp_path: Path) -> None:
    """Also when it is killed: nobody draws on for hours unseen."""
    script = tmp_path / "command.py"
    script.write_text(
        "import multiprocessing, os, time\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from personalq.bench.fidelity.run import end_with_parent\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    pool = ProcessPoolExecutor(1, context, end_with_parent)\n"
        "    print(pool.submit(os.getpid).result(), flush=True)\n"
        "    pool.submit(time.sleep, 600)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as command:
        assert command.stdout is not None
        worker = psutil.Process(int(command.stdout.readline()))
        command.kill()
    with suppress(psutil.NoSuchProcess):
        worker.wait(timeout=30)
    assert not worker.is_running()
