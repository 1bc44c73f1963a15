"""What to verify: from the options, the project's mindferry.toml and the record of its conversion."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..artifacts import STATE, ProjectConversion, load
from ..config import Config, read_config
from ..errors import MindferryError
from ..frameworks.process import SILENCE
from ..layout import SECOND, source_framework
from .golden import open_golden
from .judge import Rule

MODES = ("eval", "train", "jit", "amp")


@dataclass(frozen=True, slots=True)
class Verification:
    reference: Path | None  # the torch project; None with a golden file
    converted: Path
    model: str
    converted_model: str
    inputs: tuple[str, ...]
    weights: str = ""
    test_data: str = ""
    samples: int = 1000
    modes: tuple[str, ...] = ("eval", "train")
    seed: int = 0
    rule: Rule = field(default_factory=Rule)
    golden: Path | None = None
    loss: str = ""
    targets: tuple[str, ...] = ()
    optimizer: str = ""
    steps: int = 0
    more_inputs: tuple[tuple[str, ...], ...] = ()  # further sets
    timeout: float = SILENCE
    notes: tuple[str, ...] = ()
    source: str = "torch"  # the reference's framework: torch, tensorflow


def settings(
    converted: Path | None,
    *,
    reference: Path | None = None,
    model: str = "",
    inputs: tuple[str, ...] = (),
    weights: str = "",
    test_data: str = "",
    modes: str = "",
    seed: int | None = None,
    k: float | None = None,
    timeout: float | None = None,
    golden: Path | None = None,
) -> Verification:
    """Options win over mindferry.toml, which wins over what the conversion recorded."""
    converted = _folder(converted or Path(), "MindSpore project")
    if reference is None and golden is None:
        reference = _converted_from(converted)
    reference = _folder(reference, "torch project") if reference is not None else None
    reference, single = _project_of(reference)
    home = next((f for f in (reference, converted) if f is not None and (f / "mindferry.toml").is_file()), None)
    config = read_config(home) if home is not None else Config()
    known = config.verify
    chosen = model or known.model
    if not chosen and golden is None:
        hint = f"{single}:Net" if single else "model:resnet50"
        raise MindferryError(f"which model? Name its factory with --model, for instance --model {hint}")
    wanted, *more = [inputs] if inputs else input_sets(known.inputs) or [()]
    if not wanted and golden is None:
        raise MindferryError("which input? Describe it with --input, for instance --input 'float32[4,3,224,224]'")
    source = open_golden(golden).source if golden is not None else source_framework(reference, chosen.partition(":")[0])
    asked = _modes(modes or known.modes or "eval,train")
    if source == SECOND:
        _refuse_for_keras(asked)
    weights, notes = _weights(weights, config.weights.file, home)
    notes += _dropout_notes(known.dropout)
    return Verification(
        reference,
        converted,
        chosen,
        model or known.mindspore_model or chosen,
        wanted,
        weights,
        test_data or known.test_data,
        known.samples,
        asked,
        seed if seed is not None else known.seed,
        Rule(known.k if k is None else k, known.floor),
        golden.resolve() if golden is not None else None,
        known.loss,
        known.targets,
        known.optimizer,
        known.steps,
        tuple(more),
        known.timeout if timeout is None else timeout,
        notes,
        source,
    )


@dataclass(frozen=True, slots=True)
class DataVerification:
    reference: Path
    converted: Path
    data: tuple[str, ...]
    helpers: tuple[str, ...]  # modules of the converted project in which its samplers are
    seed: int
    shards: int
    source: str = "torch"  # the reference's framework


def data_settings(converted: Path | None, *, reference: Path | None = None, data: str = "") -> DataVerification:
    """What `--data` compares: what it names, or [verify] data, or the loaders of the training script."""
    converted = _folder(converted or Path(), "MindSpore project")
    reference, _ = _project_of(_folder(reference or _converted_from(converted), "torch project"))
    assert reference is not None
    home = next((folder for folder in (reference, converted) if (folder / "mindferry.toml").is_file()), reference)
    config = read_config(home)
    script = " ".join(map(shlex.quote, [config.train.script, *config.train.args])) if config.train.script else ""
    chosen = (data,) if data else config.verify.data or ((script,) if script else ())
    if not chosen:
        raise MindferryError(
            "which data? Name what makes a loader, for instance --data data:train_loader, or a script: --data train.py"
        )
    named = chosen[0].partition(":")[0] if ".py" not in chosen[0] else shlex.split(chosen[0])[0].removesuffix(".py")
    source = source_framework(reference, named.replace("/", "."))
    known = config.verify
    return DataVerification(reference, converted, chosen, _helpers(converted), known.seed, known.shards, source)


def _helpers(converted: Path) -> tuple[str, ...]:
    if not (converted / STATE / "convert.json").is_file():
        is_there = any((converted / name).is_file() for name in ("ms_compat.py", "ms_compat/__init__.py"))
        return ("ms_compat",) if is_there else ()
    return load(ProjectConversion, converted, "convert").helper_modules


def _converted_from(converted: Path) -> Path:
    if not (converted / STATE / "convert.json").is_file():
        raise MindferryError(f"{converted} has no record of its conversion; name the torch project with --torch DIR")
    source = Path(load(ProjectConversion, converted, "convert").source)
    if not source.exists():
        raise MindferryError(f"{converted} was converted from {source}, which is not there; name it with --torch")
    return source


def _weights(option: str, named: str, home: Path | None) -> tuple[str, tuple[str, ...]]:
    if option:
        if not Path(option).is_file():
            raise MindferryError(f"no weights file {option}")
        return str(Path(option).resolve()), ()
    if not named or home is None:
        return "", ()
    if (home / named).is_file():
        return str((home / named).resolve()), ()
    return "", (f"{home / named} is not there: both sides run with the model's initial weights, with spread",)


def _refuse_for_keras(modes: tuple[str, ...]) -> None:
    compiled = [mode for mode in modes if mode in ("jit", "amp")]
    if compiled:
        raise MindferryError(
            f"--modes {compiled[0]}: a converted Keras network runs as it is, neither compiled nor in float16; choose eval, train"
        )


def _modes(text: str) -> tuple[str, ...]:
    chosen = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [mode for mode in chosen if mode not in MODES]
    if unknown or not chosen:
        raise MindferryError(f"no mode {', '.join(unknown) or text!r}; choose from {', '.join(MODES)}")
    return tuple(mode for mode in MODES if mode in chosen)


def _dropout_notes(text: str) -> tuple[str, ...]:
    if text not in ("off", "shared"):
        raise MindferryError(
            f"[verify] dropout is {text!r}; choose off, or shared for the reference's own masks on both sides"
        )
    return ('dropout is compared with shared masks; `dropout = "off"` has no effect any more',) if text == "off" else ()


def input_sets(inputs: tuple[Any, ...]) -> list[tuple[str, ...]]:
    """One set, or a list of them: `inputs = [["float32[4,3,32,32]"], ["float32[1,3,33,31]"]]`."""
    if not any(isinstance(item, list) for item in inputs):
        return [inputs] if inputs else []
    sets = [tuple(item) if isinstance(item, list) else (item,) for item in inputs]
    if not all(isinstance(item, str) for each in sets for item in each):
        raise MindferryError("[verify] inputs is a list of texts, or a list of such lists, one for each set of inputs")
    return sets


def _folder(path: Path, what: str) -> Path:
    if not path.exists():
        raise MindferryError(f"no {what} in {path}")
    return path.resolve()


def _project_of(path: Path | None) -> tuple[Path | None, str]:
    """A single file stands for its folder and names its module."""
    return (path.parent, path.stem) if path is not None and path.is_file() else (path, "")
