"""How sure a likeness is, fitted: `python -m personalq.bench.repo_prompts.calibrate`.

Requests worded by hand (bench/repo_prompts/written/, and the development half) are parsed and
searched by the real services. What a request describes and no word of a card explains is an
example: how like each card is, which cards share a detail, which are left by what words do explain,
and which of these may be meant. The numbers of `personalq.checkin.reasoning.meaning` maximize the
likelihood of all; what they are worth is measured on each set, with those of the others.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from zoneinfo import ZoneInfo

import torch
from torch import Tensor

from personalq.bench.repo_prompts.files import OWN, Query, read_cards, read_queries
from personalq.bench.repo_prompts.loading import register_all, write_weights
from personalq.bench.repo_prompts.services import Quiet
from personalq.chassis.rpc import open_channel
from personalq.chassis.tenancy import tenant_scope
from personalq.checkin.cards import Hit
from personalq.checkin.catalog_client import CatalogClient
from personalq.checkin.intent import Attribute, Intent
from personalq.checkin.ports import Ranking
from personalq.checkin.reasoning.descriptions.described import answers, shared_details
from personalq.checkin.reasoning.descriptions.fits import is_explained
from personalq.checkin.reasoning.descriptions.wishes import is_bare, place_of, wishes
from personalq.checkin.reasoning.meaning import Likeness, Place, compare
from personalq.checkin.reasoning.plausible import PLAUSIBLE
from personalq.checkin.reasoning.profiles.profile import profile
from personalq.checkin.reasoning.reason import DeterministicReasoner
from personalq.checkin.request import Request
from personalq.checkin.select import select
from personalq.checkin.settings import CheckinSettings
from personalq.sdk.embedded.temporary import temporary_stack
from personalq.v1 import catalog_pb2_grpc

LIKENESSES = ("whole", "detail", "look", "thing")
PLACES = (Place.BEFORE, Place.BEHIND, Place.DOES)
NUMBERS = (*LIKENESSES, *PLACES, "bare", "shared", "sharing")
#: Keeps numbers finite where a set is told apart perfectly.
_RIDGE = 2e-3


@dataclass(frozen=True, kw_only=True)
class Example:
    """One thing described, and the cards it could mean."""

    of: str
    """The set it is from."""
    place: Place
    bare: bool
    by_words: Likeness
    by_phrases: Likeness
    shared: tuple[tuple[int, ...], ...]
    """Places of the cards of each detail that several have."""
    left: tuple[int, ...]
    """Places of the cards that best answer to what words explain."""
    meant: tuple[int, ...]
    """Places, among those left, of the card that is meant, or of all that may be."""


async def examples(sets: Iterable[tuple[str, Path, Path]]) -> list[Example]:
    """Examples of sets (name, cards, queries), through a catalog of their own."""
    found: list[Example] = []
    async with temporary_stack(("catalog",), report=Quiet()) as stack:
        with tempfile.TemporaryDirectory(prefix="personalq-bench-") as folder:
            weights = write_weights(Path(folder) / "bench.safetensors")
            async with open_channel(stack.endpoints.catalog) as channel:
                for name, cards_file, queries_file in sets:
                    cards = read_cards(cards_file)
                    queries = read_queries(queries_file, cards)
                    with tenant_scope(name):
                        stub = catalog_pb2_grpc.CatalogServiceStub(channel)
                        await register_all(
                            cards, stub, source=weights, base_model=None, done=lambda: None
                        )
                        async with CatalogClient(channel, ttl_s=3600) as catalog:
                            for query in queries:
                                found += await _of_query(query, catalog, name)
    return found


class _Listening(DeterministicReasoner):
    """The reasoner of Check-in; keeps what it was asked first."""

    def __init__(self) -> None:
        self.asked: tuple[Intent, Sequence[Hit]] | None = None

    async def rank(self, intent: Intent, hits: Sequence[Hit], zone: ZoneInfo) -> Ranking:
        """As Check-in does."""
        ranking = await super().rank(intent, hits, zone)
        if self.asked is None:
            self.asked = intent, [candidate.hit for candidate in ranking.candidates]
        return ranking


async def _of_query(query: Query, catalog: CatalogClient, name: str) -> list[Example]:
    reasoner = _Listening()
    request = Request(
        prompt=query.query, reference_time=query.now, candidate_ids=query.candidate_pool or ()
    )
    await select(request, catalog=catalog, reasoner=reasoner, settings=CheckinSettings())
    if reasoner.asked is None or reasoner.asked[0].order is not None:
        return []
    intent, hits = reasoner.asked
    truth = query.ground_truth
    wanted = {truth.checkpoint_id} if query.kind == "single" else set(truth.acceptable_ids)
    left = _left(intent, hits)
    meant = tuple(place for place in left if hits[place].card.checkpoint_id in wanted)
    if not meant:
        return []
    shared = shared_details([profile(hit.card) for hit in hits])
    found = {}
    for wish in wishes(intent):
        if wish.vague or not wish.said or is_explained(wish, hits):
            continue
        by_words = compare(wish.said, hits)
        by_phrases = compare(wish.said, [replace(hit, word_likeness={}) for hit in hits])
        if by_words is None or by_phrases is None:
            continue
        found[wish.said] = Example(
            of=name,
            place=place_of(wish, intent),
            bare=is_bare(wish),
            by_words=by_words,
            by_phrases=by_phrases,
            shared=shared,
            left=left,
            meant=meant,
        )
    return list(found.values())


def _left(intent: Intent, hits: Sequence[Hit]) -> tuple[int, ...]:
    """Places of the cards that best answer to what cards say in words."""
    told = tuple(
        each
        for each in intent.constraints
        if each.attribute is not Attribute.DESCRIPTION
        or all(is_explained(wish, hits) for wish in wishes(replace(intent, constraints=(each,))))
    )
    weights = [fit.weight for fit in answers(replace(intent, constraints=told), hits)]
    least = max(weights, default=0.0) - 1e-6
    return tuple(place for place, weight in enumerate(weights) if weight >= least)


@dataclass(frozen=True)
class Prepared:
    """An example as tensors."""

    likeness: Tensor
    """(cards, 4): whole text, detail, look, thing."""
    stands: Tensor
    """(4,): one of the places, and whether it is bare."""
    shared: Tensor
    """(details, cards): one over their number for the cards that share a detail."""
    left: Tensor
    """Places of the cards left by what words explain."""
    meant: Tensor
    """Places among those left."""


def prepared(example: Example, *, words: bool) -> Prepared:
    """Choose by words or by phrases."""
    like = example.by_words if words else example.by_phrases
    shared = torch.zeros(len(example.shared), len(like.whole))
    for row, places in zip(shared, example.shared, strict=True):
        row[list(places)] = 1 / len(places)
    return Prepared(
        likeness=torch.tensor([like.whole, like.detail, like.look, like.thing]).T,
        stands=torch.tensor([*(example.place is p for p in PLACES), example.bare]).float(),
        shared=shared,
        left=torch.tensor(example.left),
        meant=torch.tensor([example.left.index(place) for place in example.meant]),
    )


def _log_probabilities(numbers: Tensor, of: Prepared) -> Tensor:
    """Of each card left, (cards left,); as `meaning.probabilities` has it."""
    told, stands = len(LIKENESSES), len(LIKENESSES) + len(PLACES) + 1
    logits = of.likeness @ numbers[:told]
    nobody = of.stands @ numbers[told:stands]
    details = numbers[stands] * (of.shared @ logits) + numbers[stands + 1]
    top = torch.cat([logits, details, nobody[None]]).max()
    odds = (logits - top).exp() + (details - top).exp() @ of.shared
    odds = odds + (nobody - top).exp() / len(logits)
    return torch.log(odds[of.left] / odds[of.left].sum())


def fit(of: Sequence[Prepared]) -> Tensor:
    """The numbers that make what was meant likeliest, in the order of `NUMBERS`; (10,)."""
    numbers = torch.zeros(len(NUMBERS))
    numbers[NUMBERS.index("shared")], numbers[NUMBERS.index("sharing")] = 1.0, -3.0
    numbers.requires_grad_()
    optimizer = torch.optim.LBFGS([numbers], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        total = _RIDGE * (numbers**2).sum()
        for each in of:
            total = total - _log_probabilities(numbers, each)[each.meant].mean()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return numbers.detach()


def report(found: Sequence[Example]) -> str:
    """Numbers of both models, and what they are worth on sets they were not fitted to; Markdown."""
    lines = [f"{len(found)} descriptions: {_counts(found)}.", ""]
    for words in (True, False):
        tensors = [prepared(example, words=words) for example in found]
        numbers = [f"{number:.1f}" for number in fit(tensors).tolist()]
        lines += [
            "## " + ("By words" if words else "By phrases"),
            "",
            ", ".join(f"{name} {number}" for name, number in zip(NUMBERS, numbers, strict=True)),
            "",
            *_held_out(found, tensors),
            "",
        ]
    return "\n".join(lines)


def _counts(found: Sequence[Example]) -> str:
    counts = Counter(example.place for example in found)
    return ", ".join(f"{counts[place]} {place}" for place in PLACES)


def _held_out(found: Sequence[Example], tensors: Sequence[Prepared]) -> list[str]:
    """Outcomes on each set with numbers fitted to the others; how often the likeliest is right."""
    outcomes: Counter[str] = Counter()
    bins: dict[int, list[bool]] = {}
    entropy = 0.0
    for name in sorted({example.of for example in found}):
        others = [p for p, e in zip(tensors, found, strict=True) if e.of != name]
        numbers = fit(others)
        for each in (p for p, e in zip(tensors, found, strict=True) if e.of == name):
            cards = _log_probabilities(numbers, each).exp()
            entropy -= float(cards[each.meant].log().mean())
            likeliest = int(cards.argmax())
            asks = int((cards >= PLAUSIBLE * cards.max()).sum()) > 1
            several = len(each.meant) > 1
            right = likeliest in each.meant.tolist()
            outcomes[_outcome(several=several, asks=asks, right=right)] += 1
            if not several:
                bins.setdefault(min(int(cards.max() * 10), 9), []).append(right)
    table = [f"Cross entropy {entropy / len(found):.3f}. " + _told(outcomes), ""]
    table += ["| said to be right | right | of |", "|---|---|---|"]
    table += [
        f"| {low / 10:.1f}-{(low + 1) / 10:.1f} | {sum(of) / len(of):.2f} | {len(of)} |"
        for low, of in sorted(bins.items())
    ]
    return table


def _outcome(*, several: bool, asks: bool, right: bool) -> str:
    if several:
        return "several meant, asked" if asks else "several meant, chosen"
    if asks:
        return "one meant, asked"
    return "one meant, right" if right else "one meant, wrong"


def _told(outcomes: Counter[str]) -> str:
    return "; ".join(f"{name}: {count}" for name, count in sorted(outcomes.items())) + "."


def own_sets(chosen: Sequence[str]) -> list[tuple[str, Path, Path]]:
    """The sets of a checkout: the development half, and those under written/, or some by name.

    A set without cards of its own is about those of Repo-Prompts.
    """
    sets = [("dev", OWN / "cards.jsonl", OWN / "queries-dev.jsonl")]
    for queries in sorted((OWN / "written").glob("*/queries.jsonl")):
        own = queries.with_name("cards.jsonl")
        sets.append((queries.parent.name, own if own.exists() else OWN / "cards.jsonl", queries))
    return [each for each in sets if not chosen or each[0] in chosen]


def main() -> None:
    """Print the report, and write it where asked."""
    parser = argparse.ArgumentParser(description="Fit how sure a likeness is.")
    parser.add_argument("--out", type=Path, help="a Markdown file for the report")
    parser.add_argument("sets", nargs="*", help="only these, such as 58 or dev")
    chosen = parser.parse_args()
    told = report(asyncio.run(examples(own_sets(chosen.sets))))
    print(told)
    if chosen.out is not None:
        command = " ".join(["python -m personalq.bench.repo_prompts.calibrate", *chosen.sets])
        chosen.out.write_text(f"# Calibration of descriptions\n\n`{command}`\n\n{told}")


if __name__ == "__main__":
    main()
