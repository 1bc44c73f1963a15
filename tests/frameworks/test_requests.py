"""Requests and answers are dataclasses that come out of JSON as they went in, and no worker function takes anything else."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import json
import math
import typing
from pathlib import Path
from typing import Any

import pytest

from mindferry.as_json import build
from mindferry.frameworks import requests
from mindferry.frameworks.requests import (
    BatchPlaces,
    Cipher,
    ExportRequest,
    LoaderRun,
    Plan,
    Trained,
    TrainStep,
    TuneRequest,
)
from mindferry.frameworks.worker import Link, answer_type, fields, request_type

SOURCE = Path(__file__).parents[2] / "src"


def worker_functions() -> list[tuple[str, str]]:
    """(module, function) of everything at a module's top that takes a Link second, as worker.py calls it."""
    found = []
    for path in sorted((SOURCE / "mindferry").rglob("*.py")):
        text = path.read_text("utf-8")
        if "link: Link" not in text:
            continue
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and [each.arg for each in node.args.args][1:] == ["link"]:
                found.append((module, node.name))
    return found


def is_plain_type(kind: Any) -> bool:
    """Text, numbers, nothing, tuples of what is plain, and dataclasses of it: what a type checker can follow."""
    if dataclasses.is_dataclass(kind):
        return all(is_plain_type(hint) for hint in typing.get_type_hints(kind).values())
    if kind in (str, int, float, bool, type(None)) or (isinstance(kind, type) and issubclass(kind, str)):
        return True
    arguments = [each for each in typing.get_args(kind) if each is not Ellipsis]
    return bool(arguments) and all(is_plain_type(each) for each in arguments)


@pytest.mark.parametrize(("module", "name"), worker_functions(), ids=lambda each: each.removeprefix("mindferry."))
def test_a_worker_function_takes_a_request_and_gives_an_answer_that_are_typed(module: str, name: str) -> None:
    function = getattr(importlib.import_module(module), name)
    assert dataclasses.is_dataclass(request_type(function))
    assert is_plain_type(request_type(function))
    if name != "settings_of":  # a layer's own settings, whatever they are
        assert is_plain_type(answer_type(function))


def test_every_stage_with_workers_is_among_them() -> None:
    stages = {module.split(".")[1] for module, _ in worker_functions()}
    assert stages >= {"analyze", "apis", "export", "frameworks", "train", "tune", "verify"}


def test_nobody_in_the_package_asks_by_name_or_takes_a_dictionary() -> None:
    for path in sorted((SOURCE / "mindferry").rglob("*.py")):
        if path.parts[-2:] in (("frameworks", "process.py"), ("frameworks", "worker.py")):
            continue
        text = path.read_text("utf-8")
        assert "payload" not in text, path
        assert "link.report(" not in text, path


@pytest.mark.parametrize(
    "value",
    [
        Trained((TrainStep(math.inf, 0.1, 2.0, 1e-3, "fc.weight"), TrainStep(-math.inf, 0.1, 2.0)), True),
        TuneRequest(Plan(warm=1), "train.py", ("--epochs", "2"), environment={"A": None, "B": "1"}),
        ExportRequest("net:Net", "p.ckpt", "in.npz", "mindir", "out.mindir", Cipher("00ff", "AES-GCM")),
        LoaderRun("train", "b.npz", (3, 3), (BatchPlaces(0, 1, ("image", "target/boxes")),), None),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_is_asked_and_answered_comes_out_of_json_as_it_went_in(value: Any) -> None:
    assert build(type(value), json.loads(json.dumps(value, default=fields))) == value


def test_a_loss_that_is_not_a_number_arrives_as_one() -> None:
    step = build(TrainStep, json.loads(json.dumps(TrainStep(math.nan, 0.1, 1.0), default=fields)))
    assert math.isnan(step.loss)


def test_requests_are_frozen() -> None:
    kinds = [each for each in vars(requests).values() if dataclasses.is_dataclass(each)]
    assert kinds
    assert all(kind.__dataclass_params__.frozen for kind in kinds)  # type: ignore[union-attr]


def count_letters(request: CountedText, link: Link) -> int:
    return len(request.text)


@dataclasses.dataclass(frozen=True)
class CountedText:
    text: str


def test_types_are_read_from_the_functions_annotations() -> None:
    assert request_type(count_letters) is CountedText
    assert answer_type(count_letters) is int
