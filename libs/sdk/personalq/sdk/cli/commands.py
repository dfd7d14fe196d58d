"""All commands of `personalq`; what they do is imported when they run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from personalq.sdk.cli import bench
from personalq.sdk.endpoints import variable

_EXITS = (
    "Exit codes: 0 done · 1 a service failed or is out of reach · 2 bad input · "
    "3 a question is open · 4 nothing matches."
)

app = typer.Typer(
    help="PersonalQ: find the personalized checkpoint you mean, and render it quantized.",
    epilog=_EXITS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
checkpoints = typer.Typer(help="The cards in the catalog.", no_args_is_help=True)
events = typer.Typer(help="Events between the services.", no_args_is_help=True)
dead = typer.Typer(help="Events nobody could handle.", no_args_is_help=True)
app.add_typer(checkpoints, name="checkpoints")
app.add_typer(events, name="events")
app.add_typer(bench.app, name="bench")
events.add_typer(dead, name="dead")

# Options of the whole command that may stand anywhere, each with its variable.
_ENDPOINTS = ("catalog", "checkin", "renderer", "nats", "tenant")

Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Trigger = Annotated[
    list[str] | None,
    typer.Option(
        help="Trigger token, for example '<bear-v4>', if it was trained on one; repeat for more, "
        "canonical first."
    ),
]
Profile = Annotated[str, typer.Option(help="Serving profile: w8a8, w4a8 or full.")]
Steps = Annotated[int | None, typer.Option(help="Denoising steps, 1-200.")]
Seed = Annotated[int | None, typer.Option(help="Seed of the first picture; random when absent.")]
Guidance = Annotated[float | None, typer.Option(help="Guidance scale, 0-50.")]
Count = Annotated[int, typer.Option(help="Pictures, 1-8.")]
Out = Annotated[Path | None, typer.Option(help="File to write; made from the checkpoint's id.")]
Answers = Annotated[
    list[str] | None,
    typer.Option("--answer", help="Answer to a question, in your words; repeat for the next one."),
]
Owner = Annotated[str, typer.Option(help='Who "my" is.')]


def hoist(arguments: Sequence[str]) -> list[str]:
    """Move the options of the whole command to its beginning, where the parser wants them."""
    flags = {f"--{name}" for name in _ENDPOINTS}
    front: list[str] = []
    rest: list[str] = []
    pending = iter(arguments)
    for argument in pending:
        if argument == "--":
            rest += [argument, *pending]
        elif argument in flags:
            front += [argument, *([value] if (value := next(pending, None)) is not None else [])]
        elif argument.split("=", 1)[0] in flags:
            front.append(argument)
        else:
            rest.append(argument)
    return [*front, *rest]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"personalq {version('personalq')}")
        raise typer.Exit


@app.callback()
def whole(
    context: typer.Context,
    catalog: Annotated[
        str, typer.Option(envvar=variable("catalog"), help="HOST:PORT of the catalog.")
    ] = "",
    checkin: Annotated[
        str, typer.Option(envvar=variable("checkin"), help="HOST:PORT of check-in.")
    ] = "",
    renderer: Annotated[
        str, typer.Option(envvar=variable("renderer"), help="HOST:PORT of the renderer.")
    ] = "",
    nats: Annotated[str, typer.Option(envvar=variable("nats"), help="URL of the event bus.")] = "",
    tenant: Annotated[str, typer.Option(envvar=variable("tenant"), help="Whose catalog.")] = "",
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print and exit.")
    ] = False,
) -> None:
    """Set where the services are."""
    chosen = (catalog, checkin, renderer, nats, tenant)
    for name, value in zip(_ENDPOINTS, chosen, strict=True):
        if value:
            os.environ[variable(name)] = value


@app.command()
def up(
    port_base: Annotated[int, typer.Option(help="First of six neighbouring ports.")] = 7400,
    data: Annotated[
        Path | None, typer.Option(help="Where everything is kept; your data folder when absent.")
    ] = None,
    miniature: Annotated[
        bool, typer.Option(help="Publish the checkpoints of the miniature.")
    ] = True,
    base_model: Annotated[
        list[str] | None,
        typer.Option(metavar="ID=FOLDER", help="Serve this base model too; repeat for more."),
    ] = None,
) -> None:
    """Start everything on this machine: PostgreSQL, NATS, the four services.

    Prints a line per endpoint and READY when it serves. Ctrl-C stops it.
    """
    from personalq.sdk.cli.up import run

    code = run(
        port_base=port_base, data=data, with_miniature=miniature, base_models=base_model or []
    )
    raise typer.Exit(code)


@app.command()
def publish(
    source: Annotated[
        str, typer.Argument(metavar="PATH_OR_URI", help="Checkpoint file, folder or URI.")
    ],
    trigger: Trigger = None,
    subject: Annotated[list[str] | None, typer.Option(help="What it pictures: bear.")] = None,
    style: Annotated[list[str] | None, typer.Option(help="How it looks: watercolor.")] = None,
    description: Annotated[str, typer.Option(help="What it renders, in plain words.")] = "",
    checkpoint_id: Annotated[
        str, typer.Option("--id", help="Unique id; made from the file's name when absent.")
    ] = "",
    name: Annotated[str, typer.Option(help="Display name.")] = "",
    alias: Annotated[
        list[str] | None,
        typer.Option(help="What people call the thing pictured: Biscuit; repeat for more."),
    ] = None,
    created_at: Annotated[
        str,
        typer.Option(help="When it was trained (ISO 8601, UTC); the file's time when absent."),
    ] = "",
    version: Annotated[int | None, typer.Option(help="Version within its concept.")] = None,
    environment: Annotated[
        list[str] | None, typer.Option(help="Environment of the training pictures: forest.")
    ] = None,
    owner: Annotated[str, typer.Option(help="Person or team it belongs to.")] = "",
    base_model: Annotated[str, typer.Option(help="Base model it was trained from.")] = "",
    sha256: Annotated[str, typer.Option(help="Of what a remote URI holds.")] = "",
    check: Annotated[
        bool, typer.Option(help="Look into a local file first and refuse a broken one.")
    ] = True,
    wait: Annotated[bool, typer.Option("--wait", help="Until it is servable.")] = False,
    timeout: Annotated[float, typer.Option(help="With --wait: seconds.")] = 600.0,
    as_json: Json = False,
) -> None:
    """Announce a trained checkpoint, as a training pipeline does."""
    from personalq.sdk.cli.publish import run

    run(
        source,
        trigger=trigger or [],
        subject=subject or [],
        check=check,
        wait=wait,
        timeout_s=timeout,
        as_json=as_json,
        created_at=created_at,
        fields={
            "style": style or [],
            "description": description,
            "checkpoint_id": checkpoint_id,
            "name": name,
            "alias": alias or [],
            "version": version,
            "environment": environment or [],
            "owner": owner,
            "base_model": base_model,
            "sha256": sha256,
        },
    )


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="Checkpoint file or folder.")],
    as_json: Json = False,
) -> None:
    """Say what a checkpoint file is; exit with 2 on one that PersonalQ refuses."""
    from personalq.sdk.cli.inspect import run

    raise typer.Exit(run(file, as_json=as_json))


@app.command()
def select(
    prompt: Annotated[str, typer.Argument(help="What you want, in plain words.")],
    answer: Answers = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why, and what came next.")
    ] = False,
    owner: Owner = "",
    profile: Profile = "",
    time_zone: Annotated[str, typer.Option(help="IANA name, for 'yesterday'.")] = "",
    as_json: Json = False,
) -> None:
    """Ask Check-in which checkpoint is meant; asks back at a terminal, else exits with 3."""
    from personalq.sdk.cli.select import run
    from personalq.sdk.results import SelectionRequest

    request = SelectionRequest(
        prompt=prompt, explain=explain, owner=owner, profile=profile, time_zone=time_zone
    )
    raise typer.Exit(run(request, answers=answer or [], as_json=as_json))


@app.command()
def render(
    checkpoint: Annotated[str, typer.Argument(help="Id of the checkpoint.")],
    prompt: Annotated[str, typer.Argument(help="Prompt with the trigger in place.")],
    out: Out = None,
    profile: Profile = "",
    steps: Steps = None,
    seed: Seed = None,
    guidance: Guidance = None,
    negative: Annotated[str, typer.Option(help="What to steer away from.")] = "",
    sampler: Annotated[str, typer.Option(help="ddim or euler.")] = "",
    count: Count = 1,
    as_json: Json = False,
) -> None:
    """Render a picture with one checkpoint."""
    from personalq.sdk.cli.render import run_render

    run_render(
        checkpoint,
        prompt,
        out=out,
        as_json=as_json,
        options={
            "profile": profile,
            "steps": steps,
            "seed": seed,
            "guidance": guidance,
            "negative_prompt": negative,
            "sampler": sampler,
            "count": count,
        },
    )


@app.command()
def generate(
    prompt: Annotated[str, typer.Argument(help="What you want, in plain words.")],
    answer: Answers = None,
    owner: Owner = "",
    out: Out = None,
    profile: Profile = "",
    steps: Steps = None,
    seed: Seed = None,
    guidance: Guidance = None,
    count: Count = 1,
    as_json: Json = False,
) -> None:
    """Select, ask and render in one."""
    from personalq.sdk.cli.render import run_generate

    raise typer.Exit(
        run_generate(
            prompt,
            answers=answer or [],
            owner=owner,
            out=out,
            as_json=as_json,
            options={
                "profile": profile,
                "steps": steps,
                "seed": seed,
                "guidance": guidance,
                "count": count,
            },
        )
    )


@checkpoints.command("list")
def checkpoints_list(
    state: Annotated[
        list[str] | None, typer.Option(help="registered, servable, failed or archived.")
    ] = None,
    subject: Annotated[list[str] | None, typer.Option(help="Only these subjects.")] = None,
    as_json: Json = False,
) -> None:
    """List cards, newest first."""
    from personalq.sdk.cli.checkpoints import run_list

    run_list(states=state or [], subjects=subject or [], as_json=as_json)


@checkpoints.command("show")
def checkpoints_show(
    checkpoint_id: Annotated[str, typer.Argument(metavar="ID")], as_json: Json = False
) -> None:
    """Show a card and its artifacts."""
    from personalq.sdk.cli.checkpoints import run_show

    run_show(checkpoint_id, as_json=as_json)


@checkpoints.command("archive")
def checkpoints_archive(
    checkpoint_id: Annotated[str, typer.Argument(metavar="ID")], as_json: Json = False
) -> None:
    """Withdraw a checkpoint: it is kept, but never selected again."""
    from personalq.sdk.cli.checkpoints import run_archive

    run_archive(checkpoint_id, as_json=as_json)


@dead.command("list")
def dead_list(as_json: Json = False) -> None:
    """List the events nobody could handle, and why."""
    from personalq.sdk.cli.events import run_list

    run_list(as_json=as_json)


@dead.command("replay")
def dead_replay(
    sequence: Annotated[
        int | None, typer.Argument(help="Number of the dead letter, from `list`.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
) -> None:
    """Send an event again, after its cause is gone."""
    from personalq.sdk.cli.events import run_replay

    run_replay(sequence, everything=everything)


@dead.command("discard")
def dead_discard(
    sequence: Annotated[
        int | None, typer.Argument(help="Number of the dead letter, from `list`.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
) -> None:
    """Drop an event for good."""
    from personalq.sdk.cli.events import run_discard

    run_discard(sequence, everything=everything)
