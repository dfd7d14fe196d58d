"""`personalq bench`: measurements; the package that makes them is imported when they run."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from personalq.chassis.errors import PersonalQError

app = typer.Typer(help="Measure what PersonalQ promises.", no_args_is_help=True)

Json = Annotated[
    bool, typer.Option("--json", help="The summary as one JSON object on the last line.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A small sample, for a first look.")]


def check_installed() -> None:
    """Raise PersonalQError when the benchmarks are not installed."""
    if find_spec("personalq.bench") is None:
        raise PersonalQError(
            "the benchmarks are not installed: `pip install personalq-bench`, or `pip install -e "
            "bench` in a checkout"
        )


@app.command("repo-prompts")
def repo_prompts(
    cards: Annotated[
        Path | None, typer.Option(help="Cards, one JSON object per line; our own when absent.")
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(help="Queries, one JSON object per line; our test half when absent."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write a line of JSON per query here.")] = None,
    target: Annotated[
        str,
        typer.Option(
            metavar="HOST:PORT[,HOST:PORT]",
            help="Catalog and check-in of a running stack (one address when both answer there).",
        ),
    ] = "",
    base_model: Annotated[
        str,
        typer.Option(help="With --target: base model to register the cards under, where several."),
    ] = "",
    results_dir: Annotated[
        Path | None,
        typer.Option(
            help="Measure baselines and ablations too; write repo-prompts.json, .md, .png here."
        ),
    ] = None,
    reranker: Annotated[
        str,
        typer.Option(help="Folder or Hub id of a CrossEncoder for the Reranker baseline."),
    ] = "",
    judge_url: Annotated[
        str,
        typer.Option(help="OpenAI-compatible endpoint of an LLM judge, up to and including /v1."),
    ] = "",
    judge_model: Annotated[str, typer.Option(help="The judge's model.")] = "",
    judge_key: Annotated[
        str, typer.Option(envvar="PERSONALQ_BENCH_JUDGE_KEY", help="The judge's key.")
    ] = "",
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """How often is the checkpoint that somebody means the one they get?

    Starts PostgreSQL, NATS, catalog and check-in with data of their own in a temporary folder,
    registers every card, asks every query through gRPC one at a time, answers a question with the
    instance's answer, and scores. Nothing is quantized or rendered.

    With --target the cards go into a new tenant of a running stack and are withdrawn at the end.
    Its quantizer must be stopped meanwhile: it would refuse their weights, which are a stand-in.
    """
    check_installed()
    from personalq.bench.repo_prompts.run import Options, run

    code = run(
        Options(
            cards=cards,
            queries=queries,
            out=out,
            as_json=as_json,
            target=target,
            base_model=base_model,
            quick=quick,
            results_dir=results_dir,
            reranker=reranker,
            judge_url=judge_url,
            judge_model=judge_model,
            judge_key=judge_key,
        )
    )
    raise typer.Exit(code)


@app.command("fidelity")
def fidelity(
    model: Annotated[
        Path | None,
        typer.Option(
            help="Diffusers folder of another base: Stable Diffusion, SDXL. The miniature when "
            "absent; otherwise --checkpoints, --prompts and --clip are needed too."
        ),
    ] = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            help="A folder per checkpoint id: pytorch_lora_weights.safetensors or unet/, and "
            "references/ with pictures of the subject."
        ),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="One JSON object per line: checkpoint_id, prompt, trigger, noun; if you like "
            "plain_prompt, seed."
        ),
    ] = None,
    clip: Annotated[
        Path | None, typer.Option(help="Folder of a CLIP of transformers, which judges.")
    ] = None,
    inception: Annotated[
        Path | None,
        typer.Option(help="TorchScript of Inception, for Fréchet distances; CLIP when absent."),
    ] = None,
    world: Annotated[
        Path | None,
        typer.Option(help="Folder of real pictures, for fd_world; not measured when absent."),
    ] = None,
    device: Annotated[str, typer.Option(help="Where pictures are drawn: cpu or cuda.")] = "cpu",
    images: Annotated[
        int, typer.Option(help="Pictures of each row; of --prompts the first so many.")
    ] = 500,
    steps: Annotated[int, typer.Option(min=1, help="Denoising steps.")] = 10,
    guidance: Annotated[
        float,
        typer.Option(min=0, help="Classifier-free guidance; of at most 1 there is none."),
    ] = 3.0,
    work: Annotated[
        Path | None,
        typer.Option(help="Keep the pictures here, and go on with those that are here already."),
    ] = None,
    results_dir: Annotated[
        Path, typer.Option(help="Write summary.json, fidelity.md, sensitivity.json, plots here.")
    ] = Path("bench/results/fidelity"),
    table: Annotated[
        list[str] | None, typer.Option(help="Only this table; may be given several times.")
    ] = None,
    width: Annotated[
        list[str] | None,
        typer.Option(help='Only these bits, as "W4A8"; may be given several times.'),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that draw, one thread each.")] = 2,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Does a quantized checkpoint still show its subject?

    Draws the miniature's ten personalized checkpoints, or those of another model, with TAQ and with
    the methods it is compared with, from the same prompts, noise and weights, and measures the
    pictures. The table "sensitivity" is of tokens instead: how far the picture moves when one's
    rows are quantized.
    """
    check_installed()
    from personalq.bench.fidelity.inputs import given_inputs
    from personalq.bench.fidelity.run import Options, run

    inputs = given_inputs(
        model=model,
        checkpoints=checkpoints,
        prompts=prompts,
        clip=clip,
        inception=inception,
        world=world,
    )
    code = run(
        Options(
            inputs=inputs,
            device=device,
            images=images,
            steps=steps,
            guidance=guidance,
            work=work,
            results_dir=results_dir,
            tables=tuple(table or ()),
            widths=tuple(width or ()),
            workers=workers,
            quick=quick,
            as_json=as_json,
        )
    )
    raise typer.Exit(code)


@app.command("scale")
def scale(
    cards: Annotated[int, typer.Option(help="How many cards in all.")] = 1_000,
    tenants: Annotated[int, typer.Option(help="Whose they are.")] = 1,
    largest: Annotated[
        int, typer.Option(help="Cards of the largest tenant; the others share the rest evenly.")
    ] = 0,
    data: Annotated[
        Path | None,
        typer.Option(help="Keep the database here, and go on with one that is here already."),
    ] = None,
    results_dir: Annotated[
        Path | None, typer.Option(help="Write scale-CARDS.json and .md here.")
    ] = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Does a selection stay fast and right where there are very many cards?

    Starts PostgreSQL, NATS, catalog and check-in, loads synthetic cards by COPY (row for row what
    registering them leaves there), indexes them, and asks through gRPC with 1, 8 and 32 clients,
    also while cards are being registered. Compares what the indexes find with exact search.
    """
    check_installed()
    from personalq.bench.scale.run import Options, run

    code = run(
        Options(
            cards=cards,
            tenants=tenants,
            largest=largest or (cards if tenants == 1 else -(-cards // tenants)),
            data=data,
            results_dir=results_dir,
            quick=quick,
            as_json=as_json,
        )
    )
    raise typer.Exit(code)


@app.command("speed")
def speed(
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    threads: Annotated[int, typer.Option(help="Threads of each contender on a CPU.")] = 2,
    rounds: Annotated[int, typer.Option(help="Steps of each contender, taken in turn.")] = 5,
    results_dir: Annotated[
        Path | None, typer.Option(help="Write speed-DEVICE.json and .md here.")
    ] = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """How fast is a denoising step, and how small are the weights?

    An SD1.5 UNet with random weights at 512×512, batch 2: diffusers in fp32 and bf16, torchao,
    optimum-quanto (the last two where they are installed) and TAQ, each in a process of its own,
    asked for a step in turn. 16 GB of memory and some minutes; --quick takes a narrow UNet.
    """
    check_installed()
    if device not in ("cpu", "cuda"):
        raise typer.BadParameter("cpu or cuda", param_hint="--device")
    from personalq.bench.speed.run import Options, run

    code = run(
        Options(
            device=device,
            threads=threads,
            rounds=rounds,
            results_dir=results_dir,
            quick=quick,
            as_json=as_json,
        )
    )
    raise typer.Exit(code)
