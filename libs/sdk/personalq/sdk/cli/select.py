"""`personalq select`: Check-in from a shell."""

from __future__ import annotations

import signal
import sys
import textwrap
from collections.abc import Sequence

from rich.console import Console

from personalq.sdk.cli.connecting import with_client
from personalq.sdk.cli.console import err, out, print_json
from personalq.sdk.cli.failing import Exit
from personalq.sdk.client import MAX_QUESTIONS, AsyncPersonalQ
from personalq.sdk.results import (
    Candidate,
    Clarification,
    NoMatch,
    Outcome,
    Selection,
    SelectionRequest,
)


def run(request: SelectionRequest, *, answers: Sequence[str], as_json: bool) -> Exit:
    """Ask Check-in, answer its questions from `answers`, then from the terminal."""
    outcome = with_client(lambda client: dialogue(client, request, answers=answers))
    if as_json:
        print_json({"outcome": word(outcome), **vars(outcome)})
    else:
        show(outcome, explain=request.explain)
    return code(outcome)


async def dialogue(
    client: AsyncPersonalQ, request: SelectionRequest, *, answers: Sequence[str]
) -> Outcome:
    """Ask until it is clear, until nobody answers, or too often."""
    outcome = await client.select(request)
    given = iter(answers)
    for _ in range(MAX_QUESTIONS):
        if not isinstance(outcome, Clarification):
            break
        text = next(given, None) or ask(outcome)
        if text is None:
            break
        outcome = await client.answer(outcome, text)
    return outcome


def ask(clarification: Clarification) -> str | None:
    """The answer from the terminal: an option's number or any words; None where there is none.

    Raises:
        KeyboardInterrupt: at the first Ctrl-C; an event loop's own handler would wait for the line.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    console = err()
    show_question(clarification, console)
    labels = [option.label for option in clarification.options]
    while True:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            text = console.input("> ").strip()
        except EOFError:
            return None
        finally:
            signal.signal(signal.SIGINT, before)
        if text.isdecimal() and 1 <= int(text) <= len(labels):
            return labels[int(text) - 1]
        if text:
            return text


def show_question(clarification: Clarification, console: Console) -> None:
    """The question and its numbered options."""
    console.print(clarification.question)
    for number, option in enumerate(clarification.options, 1):
        console.print(f"  {number}  {option.label}")


def show(outcome: Outcome, *, explain: bool) -> None:
    """Print an outcome for a person."""
    console = out()
    match outcome:
        case Selection():
            console.print(outcome.checkpoint.checkpoint_id)
            console.print(f"  prompt      {outcome.rewritten_prompt}")
            console.print(f"  to render   {outcome.render_prompt}")
            console.print(f"  confidence  {outcome.confidence:.0%}")
            if outcome.artifact is None:
                profile = outcome.request.profile
                console.print(f"  artifact    none{f' for {profile}' if profile else ''} yet")
            else:
                digest = outcome.artifact.digest[:12]
                console.print(f"  artifact    {outcome.artifact.profile} {digest}")
            for reason in outcome.reasons if explain else ():
                _print("  because     ", reason, console)
            if outcome.runners_up:
                console.print("  others      (the id in the prompt selects one)")
            _show_candidates(outcome.runners_up, console)
        case Clarification():
            show_question(outcome, console)
            _show_candidates(outcome.candidates, console)
            err().print(
                f"answer with --answer '{outcome.options[0].label if outcome.options else '…'}'"
            )
        case NoMatch():
            _print("no match: ", outcome.explanation, console)
            _show_candidates(outcome.alternatives, console)


def _show_candidates(candidates: Sequence[Candidate], console: Console) -> None:
    widest = max((len(each.checkpoint_id) for each in candidates), default=0)
    for each in candidates:
        odds = f"{each.probability:5.1%}" if each.probability else "    –"
        head = f"  {odds}  {each.checkpoint_id:<{min(widest, 30)}}  "
        _print(head, "; ".join(each.reasons), console)


def _print(head: str, text: str, console: Console) -> None:
    """A line, and the rest of a long text below its beginning."""
    room = max(console.width - len(head), 20)
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        console.print(f"{' ' * len(head) if number else head}{line}".rstrip(), soft_wrap=True)


def word(outcome: Outcome) -> str:
    """The outcome's name, as in the contract."""
    match outcome:
        case Selection():
            return "selection"
        case Clarification():
            return "clarification"
        case NoMatch():
            return "no_match"


def code(outcome: Outcome) -> Exit:
    """The exit code of an outcome."""
    match outcome:
        case Selection():
            return Exit.OK
        case Clarification():
            return Exit.CLARIFICATION
        case NoMatch():
            return Exit.NO_MATCH
