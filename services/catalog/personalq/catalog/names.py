"""Names of single checkpoints: ids, triggers, aliases, display names.

Check-in holds those of a tenant that has few. A tenant may have a hundred thousand; then it asks
which of the words of a prompt are names. Words are compared by their key
(`personalq.chassis.names`); whether a name *is* meant is decided there, by the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from personalq.catalog.cards import Card
from personalq.catalog.ports import CardReader
from personalq.chassis.errors import InvalidInput
from personalq.chassis.names import fold, name_key

#: Most names asked for at once.
MAX_NAMES = 1000
#: Longest name that is compared; a card's texts are shorter.
MAX_CHARACTERS = 128


class NameKind(StrEnum):
    """What a name is to its checkpoint."""

    CHECKPOINT_ID = "id"
    TRIGGER = "trigger"
    ALIAS = "alias"
    NAME = "name"


@dataclass(frozen=True, kw_only=True, slots=True)
class Name:
    """A name of a card, as the catalog spells it, and the forms it is compared in."""

    kind: NameKind
    spelling: str

    @property
    def key(self) -> str:
        """What requests are compared with."""
        return name_key(self.spelling)

    @property
    def folded(self) -> str:
        """The spelling without case: filters tell `<toy>` from "toy" by it."""
        return fold(self.spelling)


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """A name that was asked for and found."""

    #: As it was asked for.
    asked: str
    name: Name


def names_of(card: Card) -> tuple[Name, ...]:
    """Every name of a card."""
    return all_names(card.checkpoint_id, card.name, card.aliases, card.triggers)


def all_names(
    checkpoint_id: str, name: str, aliases: Iterable[str], triggers: Iterable[str]
) -> tuple[Name, ...]:
    """The names that these make; a display name that only repeats the id is none."""
    names = [Name(kind=NameKind.CHECKPOINT_ID, spelling=checkpoint_id)]
    names += [Name(kind=NameKind.TRIGGER, spelling=trigger) for trigger in triggers]
    names += [Name(kind=NameKind.ALIAS, spelling=alias) for alias in aliases]
    if name_key(name) != name_key(checkpoint_id):
        names.append(Name(kind=NameKind.NAME, spelling=name))
    return tuple(names)


async def resolve_names(names: Sequence[str], *, tenant: str, reader: CardReader) -> list[Resolved]:
    """Which of the words name a checkpoint that can be selected, in the order asked for.

    A name that is several things, or that cards spell in several ways, comes once for each.

    Raises:
        InvalidInput: too many names, or one that is too long.
        Unavailable: the database is out of reach.
    """
    if len(names) > MAX_NAMES:
        raise InvalidInput(
            f"{len(names)} names were sent, at most {MAX_NAMES} are allowed", field="names"
        )
    keys: dict[str, list[str]] = {}
    for index, name in enumerate(dict.fromkeys(names)):
        if len(name) > MAX_CHARACTERS:
            raise InvalidInput(
                f"a name has {len(name)} characters, at most {MAX_CHARACTERS} are allowed",
                field=f"names[{index}]",
            )
        keys.setdefault(name_key(name), []).append(name)
    keys.pop("", None)
    if not keys:
        return []
    found = await reader.names(tenant, list(keys))
    by_key: dict[str, list[Name]] = {}
    for each in found:
        by_key.setdefault(each.key, []).append(each)
    return [
        Resolved(asked=asked, name=each)
        for key, spellings in keys.items()
        for asked in spellings
        for each in by_key.get(key, ())
    ]
