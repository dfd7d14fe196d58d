"""Regenerate the Python stubs beside the .proto files: `python proto/generate.py [OUTPUT]`."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parent


def generate(output: Path) -> None:
    """Write *_pb2.py, *_pb2_grpc.py and their .pyi for every .proto into `output`.

    Raises:
        SystemExit: protoc refused a file; it has printed why.
    """
    sources = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("personalq/v1/*.proto"))
    status = protoc.main(
        [
            "protoc",
            f"--proto_path={ROOT}",
            f"--proto_path={files('grpc_tools') / '_proto'}",
            f"--python_out={output}",
            f"--grpc_python_out={output}",
            f"--mypy_out={output}",
            f"--mypy_grpc_out={output}",
            *sources,
        ]
    )
    if status:
        raise SystemExit(status)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
