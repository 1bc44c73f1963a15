"""Kinds of network that a project's texts name: a folder with a config.json, or a name on the hub, "bert-base-uncased"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
LARGEST = 2**20  # bytes of a configuration
SHORT = 4  # letters of a kind that must stand between other signs: "vit", "led", "opt"
# What is published under names that don't say what it is.
PUBLISHED = {
    "minilm": "bert",
    "bge": "bert",
    "e5": "bert",
    "gte": "bert",
    "mpnet": "mpnet",
    "deberta-v3": "deberta_v2",
    "pythia": "gpt_neox",
    "dialogpt": "gpt2",
    "gpt-neo": "gpt_neo",
    "gpt-j": "gptj",
    "opus-mt": "marian",
    "flan": "t5",
    "codebert": "roberta",
    "dino-": "vit",
    "segformer": "segformer",
    "mit-b": "segformer",
    "vicuna": "llama",
    "zephyr": "mistral",
}


def config_beside(text: str, folders: Iterable[Path]) -> dict[str, Any]:
    """The config.json in a folder that a text names, seen from these folders; {} where there is none."""
    found = _read_beside(text, folders, "config.json")
    return found if isinstance(found, dict) else {}


def parts_beside(text: str, folders: Iterable[Path]) -> list[str]:
    """The classes that the modules.json in such a folder puts a network together from."""
    found = _read_beside(text, folders, "modules.json")
    kinds = [each.get("type") for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return [each for each in kinds if isinstance(each, str) and NAME.fullmatch(each)]


def _read_beside(text: str, folders: Iterable[Path], name: str) -> Any:
    if not text or len(text) > 300 or "\0" in text:
        return None
    for folder in folders:
        for place in (folder / text / name, folder / text):
            try:
                if place.suffix == ".json" and place.is_file() and place.stat().st_size < LARGEST:
                    return json.loads(place.read_bytes())
            except (OSError, ValueError, RecursionError):
                continue
    return None


def kinds_of(config: dict[str, Any]) -> Iterator[str]:
    """Its model_type, and those of the parts that it is composed of."""
    for key, value in config.items():
        if key == "model_type" and isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from kinds_of(value)


def kind_named(text: str, kinds: Iterable[str]) -> str:
    """The kind of network that a name on the hub speaks of, or ''. A guess: a wrong one brings a module too many along."""
    lowered = text.lower()
    if not NAME.fullmatch(text) or len(text) > 100:
        return ""
    for part, kind in PUBLISHED.items():
        if part in lowered and ("/" in text or "-" in text):
            return kind
    for kind in sorted(kinds, key=lambda each: (-len(each), each)):
        for spelled in {kind, kind.replace("_", "-"), kind.replace("_", "")}:
            pattern = rf"(?<![a-z]){spelled}(?![a-z])" if len(spelled) <= SHORT else spelled
            if re.search(pattern, lowered) and (lowered == spelled or "/" in text or "-" in text):
                return kind
    return ""
