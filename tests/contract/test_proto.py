"""The contract: stubs match their sources, and everything in it is explained."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from google.protobuf import descriptor_pb2

ROOT = Path(__file__).parents[2] / "proto"

# Field numbers of FileDescriptorProto and its parts, as used in SourceCodeInfo paths.
_MESSAGE, _ENUM, _SERVICE, _FIELD, _VALUE, _METHOD, _ONEOF = 4, 5, 6, 2, 2, 2, 8


def test_stubs_are_what_their_sources_generate(tmp_path: Path) -> None:
    """Regenerating the stubs gives the committed files."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    subprocess.run(
        [sys.executable, ROOT / "generate.py", tmp_path],
        check=True,
        env={"PATH": path},
        capture_output=True,
    )
    generated = {file.name: file.read_text() for file in tmp_path.glob("personalq/v1/*")}
    committed = {file.name: file.read_text() for file in ROOT.glob("personalq/v1/*_pb2*")}
    assert generated, "protoc wrote nothing"
    assert generated == committed, "run `make proto` and commit what it writes"


def test_everything_in_the_contract_has_a_comment(tmp_path: Path) -> None:
    """Every message, field, enum value, service and method says what it means."""
    silent = []
    for file in _descriptors(tmp_path).file:
        if not file.name.startswith("personalq/"):
            continue
        commented = {
            tuple(location.path)
            for location in file.source_code_info.location
            if location.leading_comments.strip()
        }
        silent += [f"{file.name}: {name}" for name, path in _parts(file) if path not in commented]
    assert silent == []


def _descriptors(folder: Path) -> descriptor_pb2.FileDescriptorSet:
    output = folder / "descriptors.bin"
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={ROOT}"),
            f"--proto_path={files('grpc_tools') / '_proto'}",
            *("--include_source_info", f"--descriptor_set_out={output}"),
            *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("personalq/v1/*.proto"))),
        ],
        check=True,
    )
    return descriptor_pb2.FileDescriptorSet.FromString(output.read_bytes())


def _parts(file: descriptor_pb2.FileDescriptorProto) -> list[tuple[str, tuple[int, ...]]]:
    parts: list[tuple[str, tuple[int, ...]]] = []
    for i, message in enumerate(file.message_type):
        parts.append((message.name, (_MESSAGE, i)))
        parts += [
            (f"{message.name}.{field.name}", (_MESSAGE, i, _FIELD, j))
            for j, field in enumerate(message.field)
        ]
        parts += [
            (f"{message.name}.{oneof.name}", (_MESSAGE, i, _ONEOF, j))
            for j, oneof in enumerate(message.oneof_decl)
            if not oneof.name.startswith("_")  # made by protoc for `optional`
        ]
    for i, enum in enumerate(file.enum_type):
        parts.append((enum.name, (_ENUM, i)))
        parts += [(value.name, (_ENUM, i, _VALUE, j)) for j, value in enumerate(enum.value)]
    for i, service in enumerate(file.service):
        parts.append((service.name, (_SERVICE, i)))
        parts += [
            (f"{service.name}.{method.name}", (_SERVICE, i, _METHOD, j))
            for j, method in enumerate(service.method)
        ]
    return parts
