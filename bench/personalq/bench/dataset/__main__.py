"""Write the files of Repo-Prompts: `python -m personalq.bench.dataset [FOLDER]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from personalq.bench.dataset.files import make_files

FOLDER = Path(__file__).resolve().parents[3] / "repo_prompts"


def main() -> None:
    """Writes cards and both halves of the requests."""
    parser = argparse.ArgumentParser(prog="python -m personalq.bench.dataset", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="where to write")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in make_files().items():
        (folder / name).write_text(text, encoding="utf-8")
        print(f"{folder / name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main()
