"""Rows of a work folder: scored once, worse when the pictures are worse, refused when wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.fidelity import ColourScorer, noisy, real_pictures, write_row, yard
from support.fonts import needs_font

from personalq.bench.fidelity.metrics import Pictures
from personalq.bench.fidelity.prompts import miniature_cases
from personalq.bench.fidelity.references import subject_references, world_pictures
from personalq.bench.fidelity.scorers import MiniatureScorer
from personalq.bench.fidelity.scoring import (
    Scored,
    full_precision,
    miniature_yard,
    read_work,
    real_figures,
    score,
)
from personalq.chassis.errors import InvalidInput

pytestmark = needs_font  # real pictures

COUNT = 20


@pytest.fixture(scope="module")
def pictures() -> Pictures:
    """What the full precision draws: one real picture per case."""
    return real_pictures(COUNT)


def _score(work: Path, scorer: ColourScorer) -> dict[str, Scored]:
    entries, _ = read_work(work)
    full = full_precision(entries)
    return {each.row.row_id: score(each, full, yard(scorer, COUNT)) for each in entries}


def test_the_full_precision_is_like_itself(tmp_path: Path, pictures: Pictures) -> None:
    """No distance, no error, and no PSNR."""
    write_row(tmp_path, "full", pictures, w_bits=None, a_bits=None)
    figures = _score(tmp_path, ColourScorer())["full"].figures
    assert figures["fd_full"].value == pytest.approx(0, abs=1e-9)
    assert figures["fd_full"].interval == pytest.approx((0, 0), abs=1e-9)
    assert figures["mse"].value == 0
    assert "psnr" not in figures


def test_noise_and_permuted_pictures_are_worse(tmp_path: Path, pictures: Pictures) -> None:
    """A picture of another case is no picture of this one, though the set is the same."""
    write_row(tmp_path, "full", pictures)
    write_row(tmp_path, "a-little", noisy(pictures, 5))
    write_row(tmp_path, "much", noisy(pictures, 60))
    write_row(tmp_path, "permuted", np.roll(pictures, 1, axis=0))
    rows = {name: scored.figures for name, scored in _score(tmp_path, ColourScorer()).items()}
    for key in ("fd_full", "fd_world", "mse"):
        assert rows["a-little"][key].value < rows["much"][key].value
    assert rows["a-little"]["psnr"].value > rows["much"]["psnr"].value
    assert rows["permuted"]["fd_full"].value == pytest.approx(0, abs=1e-9)
    assert rows["permuted"]["mse"].value > rows["much"]["mse"].value / 2
    assert rows["permuted"]["clip_i"].value < rows["full"]["clip_i"].value


def test_scores_are_kept_until_something_changes(tmp_path: Path, pictures: Pictures) -> None:
    """A second report looks at no picture again; other pictures are looked at."""
    scorer = ColourScorer()
    write_row(tmp_path, "full", pictures)
    first = _score(tmp_path, scorer)
    looked = scorer.looked
    assert looked > 0
    assert _score(tmp_path, scorer) == first
    assert scorer.looked == looked
    np.save(tmp_path / "full" / "pictures.npy", noisy(pictures, 30))
    assert _score(tmp_path, scorer) != first
    (tmp_path / "full" / "scores.json").write_text('{"key"')
    assert _score(tmp_path, scorer)["full"].n_images == COUNT


def test_the_miniature_judges_its_own_real_pictures(tmp_path: Path, pictures: Pictures) -> None:
    """The whole way with the real CLIP: permuted pictures fit neither words nor subject."""
    write_row(tmp_path, "full", pictures)
    write_row(tmp_path, "permuted", np.roll(pictures, 1, axis=0))
    entries, _ = read_work(tmp_path)
    measured = miniature_yard(MiniatureScorer(), miniature_cases(COUNT), tmp_path)
    rows = [score(entry, full_precision(entries), measured).figures for entry in entries]
    for key in ("clip", "clip_i", "subject_accuracy"):
        assert rows[0][key].interval[0] > rows[1][key].interval[1]
    assert real_figures(measured, pictures)["clip_i"] == rows[0]["clip_i"]
    assert len(list(tmp_path.glob("world-miniature-clip-20-*.npy"))) == 1


def test_real_pictures_are_four_of_each_case() -> None:
    """Each placed anew, the same in every run; training pictures are the references."""
    cases = miniature_cases(3)
    pictures = world_pictures(cases)
    assert pictures.shape == (12, 64, 64, 3)
    assert (pictures == world_pictures(cases)).all()
    assert len({picture.tobytes() for picture in pictures}) == 12
    assert subject_references("bear-v1").shape == (4, 64, 64, 3)
    with pytest.raises(InvalidInput, match="no reference pictures"):
        subject_references("none")


def test_rows_without_pictures_are_named(tmp_path: Path, pictures: Pictures) -> None:
    """A run that goes on can be reported, what it calibrated is no row; an empty folder cannot."""
    with pytest.raises(InvalidInput, match="no row with pictures"):
        read_work(tmp_path)
    write_row(tmp_path, "full", pictures)
    write_row(tmp_path, "taq", None)
    (tmp_path / "other").mkdir()
    (tmp_path / "cache-64").mkdir()
    entries, missing = read_work(tmp_path)
    assert [entry.row.row_id for entry in entries] == ["full"]
    assert missing == ["other: no row.json", "taq: no pictures.npy"]


def test_rows_that_cannot_be_compared_are_refused(tmp_path: Path, pictures: Pictures) -> None:
    """More pictures than the full precision has, or of another size."""
    write_row(tmp_path, "full", pictures[:10])
    write_row(tmp_path, "taq", pictures)
    with pytest.raises(InvalidInput, match="taq: 20 pictures, but the full precision has 10"):
        _score(tmp_path, ColourScorer())
    np.save(tmp_path / "taq" / "pictures.npy", pictures[:10, :32])
    with pytest.raises(InvalidInput, match="taq: pictures of"):
        _score(tmp_path, ColourScorer())


def test_exactly_one_row_is_the_full_precision(tmp_path: Path, pictures: Pictures) -> None:
    """Without it nothing can be compared."""
    write_row(tmp_path, "taq", pictures)
    with pytest.raises(InvalidInput, match="not: none"):
        full_precision(read_work(tmp_path)[0])


def test_wrong_files_are_refused_by_name(tmp_path: Path, pictures: Pictures) -> None:
    """The folder and what is wrong with it."""
    write_row(tmp_path, "full", pictures.astype(np.float32))
    with pytest.raises(InvalidInput, match=r"full/pictures\.npy is float32"):
        read_work(tmp_path)
    write_row(tmp_path, "a", pictures, table=3)
    with pytest.raises(InvalidInput, match=r"a/row\.json: table"):
        read_work(tmp_path)
    write_row(tmp_path, "0", pictures, row_id="1")
    with pytest.raises(InvalidInput, match="row_id is '1'"):
        read_work(tmp_path)
