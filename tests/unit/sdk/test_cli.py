"""The command line without a stack: help, mistakes, files."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from support.safetensors_files import unet_lora, write_safetensors
from support.scripted_services import Script, serve_script
from support.tiny_sd import TRIGGER, make_lora, make_tiny_sd

from personalq.sdk.cli.commands import hoist


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own."""
    return subprocess.run(
        [Path(sys.executable).with_name("personalq"), *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )


def test_the_version_is_printed() -> None:
    """`--version` needs no stack."""
    done = _run("--version")
    assert (done.returncode, done.stdout) == (0, "personalq 0.1.0\n")


def test_help_lists_every_command_and_the_exit_codes() -> None:
    """What a stranger reads first."""
    done = _run("--help")
    assert done.returncode == 0
    for command in ("up", "publish", "inspect", "select", "render", "generate", "checkpoints"):
        assert command in done.stdout
    assert "Exit codes" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["selct", "a bear"], ["select"], ["render", "a", "b", "--steps", "many"], ["--bogus"]],
)
def test_a_mistake_ends_in_one_line_and_code_2(arguments: list[str]) -> None:
    """No traceback, no box; a way to help."""
    done = _run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "--help" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["select", "a bear", "--checkin", "127.0.0.1:1"], "check-in at 127.0.0.1:1"),
        (["checkpoints", "list", "--catalog", "127.0.0.1:1"], "catalog at 127.0.0.1:1"),
        (["render", "bear", "a bear", "--renderer", "127.0.0.1:1"], "renderer at 127.0.0.1:1"),
        (["events", "dead", "list", "--nats", "nats://127.0.0.1:1"], "NATS at nats://127.0.0.1:1"),
    ],
)
def test_a_stack_that_is_not_there_is_named_with_the_remedy(
    arguments: list[str], says: str
) -> None:
    """Code 1: a service is out of reach."""
    done = _run(*arguments)
    assert done.returncode == 1
    assert (
        f"cannot reach {says}: start the stack with `personalq up` or set PERSONALQ_" in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_a_tenant_may_stand_anywhere() -> None:
    """Options of the whole command need not come first."""
    assert hoist(["select", "a bear", "--tenant", "acme"]) == [
        *("--tenant", "acme"),
        *("select", "a bear"),
    ]
    assert hoist(["select", "--nats=nats://x:1", "--", "--tenant"]) == [
        "--nats=nats://x:1",
        *("select", "--", "--tenant"),
    ]
    assert hoist(["select", "--tenant"]) == ["--tenant", "select"]


def test_a_malformed_tenant_is_bad_input() -> None:
    """Nothing is asked of any service."""
    done = _run("select", "a bear", "--tenant", "No Such")
    assert done.returncode == 2
    assert "a-z" in done.stderr


async def test_an_empty_list_tells_whether_nothing_fits_or_nothing_is_there() -> None:
    """The way to add a checkpoint is of no help to one who looked for some."""
    async with serve_script(Script()) as target:
        command = ("checkpoints", "list", "--catalog", target)
        everything = await asyncio.to_thread(_run, *command)
        failed = await asyncio.to_thread(_run, *command, "--state", "failed")
        refused = await asyncio.to_thread(_run, *command, "--state", "gone")
    assert everything.stdout.startswith("no checkpoints: `personalq publish")
    assert failed.stdout.startswith("no such checkpoints: ")
    assert (refused.returncode, "choose one of registered" in refused.stderr) == (2, True)


def test_publish_refuses_a_file_that_is_not_there() -> None:
    """Before anything is sent."""
    done = _run("publish", "gone.safetensors", "--trigger", "<a>", "--subject", "bear")
    assert done.returncode == 2
    assert "gone.safetensors" in done.stderr


def test_publish_refuses_a_time_that_is_none(tmp_path: Path) -> None:
    """The right form is in the message."""
    done = _run(
        *("publish", tmp_path / "x", "--trigger", "<a>", "--subject", "bear"),
        *("--created-at", "last spring"),
    )
    assert done.returncode == 2
    assert "2026-04-12" in done.stderr


def test_inspect_tells_what_a_lora_is(tmp_path: Path) -> None:
    """As lines and as JSON."""
    file = make_lora(
        make_tiny_sd(tmp_path / "base"), tmp_path / "bear.safetensors", trigger_embedding=TRIGGER
    )
    done = _run("inspect", file)
    assert done.returncode == 0
    assert "rank" in done.stdout
    found = json.loads(_run("inspect", file, "--json").stdout)
    assert found["format"] == "lora"
    assert found["rank"] == 2
    assert found["cross_attention_width"] == 32
    assert TRIGGER in found["trigger_candidates"]
    assert found["problems"] == []


def test_inspect_tells_where_it_has_it_from(tmp_path: Path) -> None:
    """Base, triggers and family: what is said, where it is said, and what is only guessed."""
    shapes = unet_lora("lora_unet_{layer}.lokr_w1_a", "lora_unet_{layer}.lokr_w1_b", separator="_")
    shapes |= {key.replace("w1", "w2"): (8, 4) if key.endswith("a") else (4, 8) for key in shapes}
    metadata = {
        "ss_sd_model_name": "v1-5-pruned.safetensors",
        "modelspec.trigger_phrase": "zwx cat",
        "ss_tag_frequency": '{"10_zwx": {"whiskers": 12, "night": 1}}',
    }
    file = write_safetensors(tmp_path / "cat.safetensors", shapes, metadata)
    done = _run("inspect", file)
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for line in (
        "base model v1-5-pruned.safetensors (from ss_sd_model_name)",
        "kind LyCORIS LoKr",
        "trigger zwx cat (from modelspec.trigger_phrase)",
        "trigger zwx (from ss_tag_frequency, a folder of training pictures)",
        "trigger whiskers (from ss_tag_frequency, a tag of 12 pictures)",
    ):
        assert line in lines, done.stdout
    found = json.loads(_run("inspect", file, "--json").stdout)
    assert found["base_model_from"] == "ss_sd_model_name"
    assert list(found["trigger_origins"]) == found["trigger_candidates"]


def test_inspect_reads_the_values(tmp_path: Path) -> None:
    """One number that is none is a problem with its tensor's name, and code 2."""
    tensors = {key: torch.zeros(shape) for key, shape in unet_lora().items()}
    bad = min(tensors)
    tensors[bad][0, 0] = torch.nan
    save_file(tensors, tmp_path / "cat.safetensors")
    done = _run("inspect", tmp_path / "cat.safetensors")
    assert done.returncode == 2
    assert "the training diverged" in done.stderr
    assert bad in " ".join(done.stderr.split())
    assert "(a guess from the shapes)" in done.stdout


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"ab", "2 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 5\n", "LFS"),
        (b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07pickled\x94.", "pickle"),
    ],
    ids=["two bytes", "LFS pointer", "pickle"],
)
def test_inspect_refuses_a_broken_file_with_the_reason(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    """Code 2; JSON holds the same reason."""
    file = tmp_path / "bear.safetensors"
    file.write_bytes(content)
    done = _run("inspect", file, "--json")
    assert done.returncode == 2
    assert reason.lower() in done.stderr.lower()
    assert reason.lower() in json.loads(done.stdout)["problems"][0].lower()


@pytest.mark.parametrize("command", ["render", "generate"])
def test_a_picture_that_cannot_be_saved_is_not_rendered(command: str) -> None:
    """The folder is tried before any service is asked."""
    arguments = ["bear", "a bear"] if command == "render" else ["a bear"]
    done = _run(command, *arguments, "--out", "/proc/none/bear.png", "--renderer", "127.0.0.1:1")
    assert done.returncode == 2
    assert "/proc/none/bear.png cannot be written" in done.stderr


@pytest.mark.parametrize(
    ("failure", "says"),
    [("OSError(28, 'No space left on device')", "No space left"), ("BrokenPipeError()", "")],
)
def test_a_demo_that_breaks_off_leaves_no_traceback(failure: str, says: str) -> None:
    """A full disk is said in a line; when nobody reads any more, nothing is."""
    script = f"""
import sys
import personalq.sdk.demo.__main__ as demo
async def run_demo(**_: object) -> None:
    raise {failure}
demo.run_demo = run_demo
sys.argv = ["demo", "--port-base", "9000"]
sys.exit(demo.main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert says in done.stderr


@pytest.mark.parametrize("command", ["replay", "discard"])
def test_dead_letters_are_chosen_not_guessed(command: str) -> None:
    """Neither nothing nor everything by accident."""
    done = _run("events", "dead", command)
    assert done.returncode == 2
    assert "--all" in done.stderr


def test_the_command_line_loads_neither_torch_nor_grpc() -> None:
    """Help and mistakes answer at once."""
    probe = (
        "import sys; from personalq.sdk.cli.commands import app; "
        "print([m for m in ('torch', 'grpc', 'nats', 'google.protobuf') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"


def test_the_client_loads_no_torch() -> None:
    """A backend installs the SDK without it."""
    probe = "import sys, personalq.sdk.client, personalq.sdk.sync; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"
