"""What trainers write beside the weights: base model, triggers, date.

Sources of the keys: sd-scripts and LyCORIS (`ss_*`), the Stability model metadata standard
(`modelspec.*`), diffusers (`lora_adapter_metadata`), PEFT (`adapter_config.json`),
cloneofsimo/lora (`<token>: <embed>`), and PersonalQ's own (`trigger`, `base_model`, `created_at`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

MAX_TRIGGER_CHARACTERS = 64
FREQUENT_TAGS = 3

_BASE_MODEL_KEYS = (
    "base_model",
    "base_model_name_or_path",
    "ss_sd_model_name",
    "ss_base_model_version",
    "modelspec.architecture",
)
_TRIGGER_KEYS = ("trigger", "trigger_word", "instance_token")
_TRIGGER_LIST_KEYS = (
    "triggers",
    "trigger_words",
    "trainedWords",
    "activation text",
    "modelspec.trigger_phrase",
)
_PROMPT_KEYS = ("instance_prompt", "ss_instance_prompt")
_COMMENT_KEYS = ("ss_training_comment", "modelspec.usage_hint", "modelspec.description")
_DATE_KEYS = (
    "trained_at",
    "created_at",
    "ss_training_finished_at",
    "ss_training_started_at",
    "modelspec.date",
    "date",
)
_NO_VALUE = frozenset({"", "none", "null", "unknown"})
_COMMENT = re.compile(
    r"(?:trigger|activation)(?:\s+(?:word|phrase|token|tag)s?)?\s*(?:is|are|=|:)\s*([^.;\n]{1,80})",
    re.IGNORECASE,
)
_REPEATS = re.compile(r"\d+_\s*(?P<concept>.+)")
_PROMPT_START = re.compile(
    r"\A(?:an?\s+)?(?:photo|picture|image|painting|drawing)\s+of\s+", re.IGNORECASE
)
_ARTICLE = re.compile(r"\A(?:an?|the|my)\s+", re.IGNORECASE)


def base_model_of(
    metadata: Mapping[str, str], config: Mapping[str, Any], *, config_name: str
) -> tuple[str, str]:
    """The base model that the trainer names, and where it does; ("", "") when it names none.

    `config` is an `adapter_config.json` or `model_index.json`. Paths of the trainer's own machine
    are reduced to what names the model.
    """
    candidates = [(metadata.get(key, ""), key) for key in _BASE_MODEL_KEYS]
    candidates[1:1] = [
        (str(config.get(key) or ""), config_name)
        for key in ("base_model_name_or_path", "_name_or_path")
    ]
    for candidate, where in candidates:
        if name := _model_name(candidate):
            return name, where
    return "", ""


def _model_name(value: str) -> str:
    """`owner/name` of a Hub id or of a path into its cache; else the last name of a path."""
    value = value.strip().replace("\\", "/").rstrip("/")
    if value.lower() in _NO_VALUE:
        return ""
    if cached := re.search(r"models--([^/]+?)--([^/]+)", value):
        return f"{cached[1]}/{cached[2]}"
    is_path = value.startswith(("/", ".", "~")) or ":" in value[:6] or value.count("/") > 1
    return PurePosixPath(value).name if is_path else value


def triggers_of(
    metadata: Mapping[str, str], tokens: Iterable[str], *, prompts: Mapping[str, str]
) -> Mapping[str, str]:
    """Texts that may call the concept, each with where it is said, the most explicit first.

    Args:
        tokens: names of embeddings that lie in the file.
        prompts: of the training pictures, by where they stand.
    """
    found: dict[str, tuple[str, str]] = {}
    for candidate, where in _trigger_texts(metadata, tokens, prompts):
        text = " ".join(candidate.split())
        if text.lower() not in _NO_VALUE and len(text) <= MAX_TRIGGER_CHARACTERS:
            # CLIP lower-cases: two spellings that differ in case are one trigger.
            found.setdefault(text.lower(), (text, where))
    return dict(found.values())


def _trigger_texts(
    metadata: Mapping[str, str], tokens: Iterable[str], prompts: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for key in _TRIGGER_KEYS:
        yield from ((text, key) for text in _texts(metadata.get(key, ""), separator=""))
    for key in _TRIGGER_LIST_KEYS:
        yield from ((text, key) for text in _texts(metadata.get(key, ""), separator=","))
    yield from ((token, "a trained token in the file") for token in tokens)
    told = {key: metadata.get(key, "") for key in _PROMPT_KEYS}
    for where, prompt in (told | dict(prompts)).items():
        yield _subject_of(prompt.strip()), where
    for key in _COMMENT_KEYS:
        for match in _COMMENT.finditer(metadata.get(key, "")):
            yield match[1].replace("\\", "").strip(" \"'`"), key
    yield from _concept_folders(metadata)
    yield from _frequent_tags(metadata)


def _subject_of(prompt: str) -> str:
    """The token in `prompt`, or what it says after "a photo of a"."""
    if token := re.search(r"<[^<>]+>", prompt):
        return token[0]
    return _ARTICLE.sub("", _PROMPT_START.sub("", prompt, count=1), count=1)


def _texts(value: str, *, separator: str) -> Iterator[str]:
    """The texts in `value`: a JSON list, a JSON string, or plain text."""
    parsed = parse_json(value) if value.lstrip().startswith(("[", '"')) else None
    if isinstance(parsed, list):
        yield from (text for text in parsed if isinstance(text, str))
    elif isinstance(parsed, str):
        yield parsed
    else:
        yield from value.split(separator) if separator else [value]


def _frequent_tags(metadata: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The tags that most of the training pictures have in sd-scripts' captions."""
    counts: Counter[str] = Counter()
    folders = parse_json(metadata.get("ss_tag_frequency", ""))
    for tags in folders.values() if isinstance(folders, dict) else ():
        for tag, count in tags.items() if isinstance(tags, dict) else ():
            if isinstance(count, int):
                counts[tag.replace("\\", "").strip()] += count
    for tag, count in counts.most_common(FREQUENT_TAGS):
        if count > 1:
            yield tag, f"ss_tag_frequency, a tag of {count} pictures"


def _concept_folders(metadata: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Concept names in sd-scripts' folder names, "16_smf girl" → "smf girl"."""
    folders: list[tuple[str, str]] = []
    for key in ("ss_tag_frequency", "ss_dataset_dirs"):
        parsed = parse_json(metadata.get(key, ""))
        if isinstance(parsed, dict):
            folders += [(folder, key) for folder in parsed]
    datasets = parse_json(metadata.get("ss_datasets", ""))
    for dataset in datasets if isinstance(datasets, list) else []:
        if not isinstance(dataset, dict):
            continue
        for subset in _list(dataset.get("subsets")):
            if isinstance(subset, dict) and isinstance(subset.get("class_tokens"), str):
                yield subset["class_tokens"], "ss_datasets"
        if isinstance(dataset.get("tag_frequency"), dict):
            folders += [(folder, "ss_datasets") for folder in dataset["tag_frequency"]]
    for folder, key in folders:
        if match := _REPEATS.fullmatch(folder.strip()):
            yield match["concept"], f"{key}, a folder of training pictures"


def trained_at(metadata: Mapping[str, str]) -> datetime | None:
    """When the training ended (or began, or the file was written), in UTC."""
    for key in _DATE_KEYS:
        value = metadata.get(key, "").strip()
        try:
            if re.fullmatch(r"\d{9,10}(\.\d+)?", value):
                return datetime.fromtimestamp(float(value), UTC)
            if re.match(r"\d{4}-\d{2}-\d{2}", value):
                parsed = datetime.fromisoformat(value)
                return parsed.replace(tzinfo=parsed.tzinfo or UTC).astimezone(UTC)
        except (ValueError, OverflowError, OSError):
            continue
    return None


def alpha_of(metadata: Mapping[str, str], config: Mapping[str, Any]) -> float:
    """The LoRA alpha that the trainer names; 0 when it names none."""
    adapter = parse_json(metadata.get("lora_adapter_metadata", ""))
    values: list[Any] = [config.get("lora_alpha")]
    if isinstance(adapter, dict):
        values += [adapter.get("unet.lora_alpha"), adapter.get("lora_alpha")]
    values += [metadata.get("lora_alpha"), metadata.get("ss_network_alpha"), metadata.get("alpha")]
    for value in values:
        if number := _number(value):
            return number
    return 0.0


def rank_of(metadata: Mapping[str, str], config: Mapping[str, Any]) -> int:
    """The rank that the trainer names, for files whose shapes do not show it; 0 when unknown."""
    for value in (config.get("r"), metadata.get("ss_network_dim"), metadata.get("rank")):
        if number := _number(value):
            return int(number)
    return 0


def parse_json(text: str) -> Any:
    """The JSON value in `text`, None when it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _number(value: Any) -> float | None:
    """A positive number below a million, as text or number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 < number < 1e6 else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
