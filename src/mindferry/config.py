"""mindferry.toml: what a project tells mindferry about itself. Every key is optional."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from .errors import MindferryError, brief

NAME = "mindferry.toml"
MODULE = "-m "  # before the name of a module that is run as `python -m` runs it
CODE = "-c "  # before code that is run as `python -c` runs it
NOTEBOOK = ".ipynb"
WORDS: dict[type, str] = {
    str: "a text",
    tuple: "a list of texts",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


@dataclass(frozen=True, slots=True)
class Convert:
    exclude: tuple[str, ...] = ()  # files with no meaning after the migration; imports of them go too
    packages: tuple[str, ...] = ()  # `with = ["timm"]`: libraries that are brought along
    record_graphs: bool = False  # where a backward() can't be lifted, record graphs as the code runs


@dataclass(frozen=True, slots=True)
class Weights:
    file: str = ""
    create: tuple[str, ...] = ()  # script and arguments that write `file`, run once if it is not there


@dataclass(frozen=True, slots=True)
class Verify:
    model: str = ""  # "module:factory", on both sides
    inputs: tuple[Any, ...] = ()  # "float32[4,3,224,224]"; or lists of them, one for each set of inputs
    test_data: str = ""  # "module:function" that returns batches of (inputs, labels)
    mindspore_model: str = ""  # only if the factory has another name there
    modes: str = ""  # eval, train, jit, amp
    loss: str = ""
    targets: tuple[str, ...] = ()
    optimizer: str = ""
    steps: int = 0  # real training steps, with `loss` and `optimizer`
    dropout: str = "shared"  # the reference's masks on both sides; kept for older files, and without effect
    samples: int = 1000
    k: float = 4.0
    floor: float = 5e-6
    timeout: float = 600.0  # seconds without a sign of life after which a side hangs
    seed: int = 0  # of inputs and of the order of samples
    data: tuple[
        str, ...
    ] = ()  # "module:function" that returns a loader, or "script.py arguments": compared batch by batch
    shards: int = 0  # ranks to compare: the functions in `data` take rank= and world_size=


@dataclass(frozen=True, slots=True)
class Train:
    script: str = ""
    args: tuple[str, ...] = ()
    steps: int = 20
    tolerance: float = 1e-3

    @property
    def command(self) -> list[str]:
        """As one would type it."""
        start = next((each for each in (MODULE, CODE) if self.script.startswith(each)), "")
        words = [start.strip(), self.script.removeprefix(start)] if start else [self.script]
        return ["python", *words, *self.args]


@dataclass(frozen=True, slots=True)
class Config:
    convert: Convert = Convert()
    weights: Weights = Weights()
    verify: Verify = Verify()
    train: Train = Train()


_SPELLED = {"packages": "with"}  # keys that are words of Python's own
_SECTIONS: dict[str, type] = {"convert": Convert, "weights": Weights, "verify": Verify, "train": Train}


def read_config(project: Path) -> Config:
    """The project's mindferry.toml, or the defaults if it has none."""
    path = (project if project.is_dir() else project.parent) / NAME
    if not path.is_file():
        if path.exists() or path.is_symlink():  # a link that leads nowhere is a mistake, not a project without settings
            raise MindferryError(f"{path} is no file; mend it or move it away")
        return Config()
    try:
        body = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise MindferryError(f"cannot read {path}: {brief(str(error))}; mend it or move it away") from None
    unknown = sorted(set(body) - set(_SECTIONS))
    if unknown:
        raise MindferryError(
            f"{path}: no section [{brief(unknown[0])}]; there are {', '.join(f'[{name}]' for name in _SECTIONS)}"
        )
    return Config(**{name: _section(path, name, kind, body.get(name, {})) for name, kind in _SECTIONS.items()})


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _section(path: Path, name: str, kind: type, values: Any) -> Any:
    known = {_SPELLED.get(field.name, field.name): field for field in fields(kind)}
    chosen = {}
    if not isinstance(values, dict):
        raise MindferryError(f"{path}: {name} has to be one section, [{name}]")
    for key, value in values.items():
        if key not in known:
            raise MindferryError(f"{path}: no key {brief(repr(key))} in [{name}]; there are {', '.join(known)}")
        default = known[key].default
        if isinstance(default, tuple):
            value = tuple(value) if isinstance(value, list) else (value,) if isinstance(value, str) else value
            is_sets = (
                key == "inputs" and isinstance(value, tuple) and all(isinstance(each, str | list) for each in value)
            )
            if isinstance(value, tuple) and not is_sets and not all(isinstance(each, str) for each in value):
                raise MindferryError(f"{path}: {name}.{key} should be {WORDS[tuple]}, not {brief(repr(value))}")
        elif isinstance(default, float) and type(value) is int:
            value = _as_float(value)
        if type(value) is not type(default) or (isinstance(value, float) and not math.isfinite(value)):
            raise MindferryError(f"{path}: {name}.{key} should be {WORDS[type(default)]}, not {brief(repr(value))}")
        chosen[known[key].name] = value
    return kind(**chosen)
