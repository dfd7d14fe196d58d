"""How like in meaning what a person said is to the labels that cards carry: looks, places, things.

A look has a name ("woodcut") and things people say instead ("printed from a carved block"), a thing
has definitions; which of many labels a phrase means is told by its nearest wording. Labels come
again in request after request, so the vectors of their wordings are kept.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from personalq.catalog.cards import MAX_PHRASE
from personalq.catalog.ports import Embedder
from personalq.chassis.errors import InvalidInput, PersonalQError

log = logging.getLogger(__name__)

#: Most texts of one comparison.
MAX_TEXTS = 8
#: Most wordings of all its labels, and characters of one.
MAX_WORDINGS = 1000
MAX_WORDING = 100
#: Wordings whose vectors are kept, the latest ones; some 0.8 kB each of 384 dimensions.
_REMEMBERED = 32_000
#: Wordings embedded at a time: what is done stays done when a caller has no time for the rest.
_AT_A_TIME = 32

Likeness = list[list[float]]


class Comparer:
    """Compares texts with labels by an embedding model."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._wordings: OrderedDict[str, NDArray[np.float16]] = OrderedDict()

    async def compare(self, texts: Sequence[str], labels: Sequence[Sequence[str]]) -> Likeness:
        """For each text and each label the cosine of the likest wording, -1 to 1.

        Returns:
            Nothing where there is no model, or none that answers.

        Raises:
            InvalidInput: there are too many texts or wordings, one is empty or too long, or a label
                has none.
        """
        _check(texts, labels)
        if self._embedder is None or not texts or not labels:
            return []
        try:
            found = await self._embedder.embed_queries(texts)
            known = await self._vectors(
                dict.fromkeys(word for label in labels for word in label), self._embedder
            )
        except PersonalQError as error:
            log.warning("nothing compared", extra={"action": "compare", "problem": error.message})
            return []
        said = np.array([each.vector for each in found], np.float32)
        wordings = np.stack([known[word] for label in labels for word in label])
        starts = np.cumsum([0, *(len(label) for label in labels[:-1])])
        likest = np.maximum.reduceat(said @ wordings.astype(np.float32).T, starts, axis=1)
        likeness: Likeness = likest.tolist()
        return likeness

    async def _vectors(
        self, wordings: dict[str, None], embedder: Embedder
    ) -> dict[str, NDArray[np.float16]]:
        """The vectors of wordings; only new ones are embedded."""
        known: dict[str, NDArray[np.float16]] = {}
        for word in wordings:
            if word in self._wordings:
                self._wordings.move_to_end(word)
                known[word] = self._wordings[word]
        new = [word for word in wordings if word not in known]
        for start in range(0, len(new), _AT_A_TIME):
            part = new[start : start + _AT_A_TIME]
            for word, each in zip(part, await embedder.embed_documents(part), strict=True):
                known[word] = self._wordings[word] = np.array(each.vector, np.float16)
            while len(self._wordings) > _REMEMBERED:
                self._wordings.popitem(last=False)
        return known


def _check(texts: Sequence[str], labels: Sequence[Sequence[str]]) -> None:
    if len(texts) > MAX_TEXTS:
        raise InvalidInput(
            f"there are {len(texts)} texts, at most {MAX_TEXTS} are compared", field="texts"
        )
    wordings = sum(map(len, labels))
    if wordings > MAX_WORDINGS:
        raise InvalidInput(
            f"the labels have {wordings} wordings, at most {MAX_WORDINGS} are compared",
            field="labels",
        )
    for place, text in enumerate(texts):
        _check_text(text, MAX_PHRASE, field=f"texts[{place}]")
    for place, label in enumerate(labels):
        if not label:
            raise InvalidInput("the label has no wordings", field=f"labels[{place}]")
        for word in label:
            _check_text(word, MAX_WORDING, field=f"labels[{place}].wordings")


def _check_text(text: str, longest: int, *, field: str) -> None:
    if not text.strip():
        raise InvalidInput("the text is empty", field=field)
    if len(text) > longest:
        raise InvalidInput(
            f"the text has {len(text)} characters, at most {longest} are compared", field=field
        )
