"""`personalq select` as a person meets it: a question at a terminal, an explanation, JSON."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import sys
from functools import partial
from pathlib import Path

from support.polling import eventually
from support.scripted_services import Script, serve_script

from personalq.v1 import checkin_pb2, types_pb2

COMMAND = str(Path(sys.executable).with_name("personalq"))
QUESTION = checkin_pb2.SelectResponse(
    clarification=checkin_pb2.Clarification(
        question_id="q1",
        question="Which month do you mean, April or May?",
        options=[checkin_pb2.Option(label="April"), checkin_pb2.Option(label="May")],
    )
)
LONG = "trained on 12 May 2026, not “April”; no “red scarf”; watercolor, not “photorealistic”"
CHOSEN = checkin_pb2.SelectResponse(
    selection=checkin_pb2.Selection(
        checkpoint=types_pb2.Checkpoint(checkpoint_id="bear-v4", triggers=["<bear-v4>"]),
        rewritten_prompt="the April <bear-v4>",
        render_prompt="the <bear-v4>",
        trigger_spans=[types_pb2.TextSpan(start=10, end=19)],
        replaced=[checkin_pb2.Replacement(span=types_pb2.TextSpan(start=10, end=14), text="bear")],
        confidence=0.97,
        reasons=["“April”: trained in April 2026", LONG],
        runners_up=[
            checkin_pb2.ScoredCheckpoint(checkpoint_id="bear-v5", probability=0.03, reasons=[LONG])
        ],
    ),
    intent=types_pb2.Intent(
        constraints=[
            types_pb2.Constraint(
                attribute=types_pb2.ATTRIBUTE_CREATED_AT,
                span=types_pb2.TextSpan(start=4, end=9),
                text="April",
                hard=True,
            )
        ]
    ),
)


async def test_one_interrupt_at_the_question_ends_the_command() -> None:
    """The first Ctrl-C leaves with 130, and no traceback."""
    async with serve_script(Script(select=lambda _: QUESTION)) as target:
        master, slave = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            COMMAND,
            "select",
            "a bear",
            "--checkin",
            target,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        shown = ""
        while "> " not in shown:  # what a line editor sends may follow
            shown += (await asyncio.to_thread(os.read, master, 1024)).decode()
        await eventually(partial(_is_asleep, process.pid))
        process.send_signal(signal.SIGINT)
        rest = asyncio.create_task(asyncio.to_thread(_drain, master))
        code = await asyncio.wait_for(process.wait(), timeout=30)
        await rest
        os.close(master)
    assert code == 130
    assert "April or May?" in shown
    assert "Traceback" not in rest.result()


async def _is_asleep(pid: int) -> bool:
    """Whether the process waits for the line, where a signal finds it."""
    return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "S"


def _drain(terminal: int) -> str:
    """What is still printed: a terminal that nobody reads would hold the command up."""
    read = b""
    while True:
        try:
            read += os.read(terminal, 1024)
        except OSError:  # its other end is closed
            return read.decode()


async def _select(*arguments: str, columns: int = 80) -> str:
    """What the command prints on a terminal of some width."""
    async with serve_script(Script(select=lambda _: CHOSEN)) as target:
        process = await asyncio.create_subprocess_exec(
            COMMAND,
            "select",
            "the April bear",
            "--checkin",
            target,
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "COLUMNS": str(columns)},
        )
        printed, _ = await process.communicate()
    assert process.returncode == 0
    return printed.decode()


async def test_an_explanation_names_the_others_by_id() -> None:
    """Each reason stands on lines of its own; each runner-up has its id and what it lacks."""
    lines = (await _select("--explain")).splitlines()
    assert "  because     “April”: trained in April 2026" in lines
    assert any(line.startswith("   3.0%  bear-v5  trained on 12 May 2026") for line in lines)
    assert all(len(line) <= 160 for line in lines)


async def test_json_has_all_of_the_answer() -> None:
    """Places in the prompt, the intent and the runners-up are in the JSON."""
    document = json.loads(await _select("--explain", "--json"))
    assert document["outcome"] == "selection"
    assert document["trigger_spans"] == [{"start": 10, "end": 19}]
    assert document["replaced"] == ["bear"]
    assert document["replaced_spans"] == [{"start": 10, "end": 14}]
    assert document["intent"]["constraints"][0]["span"] == {"start": 4, "end": 9}
    assert document["runners_up"][0]["checkpoint_id"] == "bear-v5"
    assert document["runners_up"][0]["reasons"] == [LONG]


async def test_a_profile_without_an_artifact_is_named() -> None:
    """It may be one that is never made, so nothing is said to be under way."""
    assert "  artifact    none for w9 yet" in (await _select("--profile", "w9")).splitlines()
