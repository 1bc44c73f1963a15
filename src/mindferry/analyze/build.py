"""Builds networks in a worker process, only on request, and counts their parameters. All else in analyze reads and runs nothing."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from ..artifacts import Inventory, Part
from ..config import read_config
from ..errors import MindferryError
from ..frameworks.requests import CountRequest, ParameterCount
from ..frameworks.worker import Link
from ..layout import SECOND, source_framework

PATIENCE = 120.0  # seconds without a word
SPEC = re.compile(r"[\w.]+:\w+(\(.*\))?")


def built_networks(path: Path, spec: str, inventory: Inventory) -> list[Part]:
    """The network that `spec` names (module:factory), or the one of mindferry.toml, or every network that needs no arguments."""
    from ..frameworks.process import Worker, WorkerError

    specs = _specs(path, spec, inventory)
    parts = []
    source = source_framework(path, next(iter(specs)).partition(":")[0])
    counted = count_keras if source == SECOND else count
    with Worker(source, path if path.is_dir() else path.parent, silence=PATIENCE) as worker:
        for name, where in specs.items():
            try:
                found = worker.ask(counted, CountRequest(name))
            except WorkerError as error:
                if error.kind != "error":
                    raise
                hint = "" if "(" in name else f"; give its arguments: --build '{name}(...)'"
                found = ParameterCount(name, (f"not built: {error.detail}{hint}",))
            parts.append(Part("as built", found.name, where.path, where.line, "", found.lines))
    return parts


def _specs(path: Path, spec: str, inventory: Inventory) -> dict[str, Part]:
    """module:factory -> where it is defined, as far as the inventory tells."""
    chosen = spec or read_config(path).verify.model
    if chosen and not SPEC.fullmatch(chosen):
        raise MindferryError(
            f"--build {chosen}: write module:factory, for instance --build model:resnet50, after the path"
        )
    networks = {f"{_module(part.path)}:{part.name}": part for part in inventory.parts if part.kind == "network"}
    if not chosen and not networks:
        raise MindferryError(
            f"no network was found in {path}; name what builds it, for instance --build model:resnet50"
        )
    if not chosen:
        return networks
    file = chosen.partition(":")[0].replace(".", "/") + ".py"
    return {chosen: networks.get(chosen.partition("(")[0], Part("network", chosen, file, 1))}


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def count(request: CountRequest, link: Link) -> ParameterCount:
    """In the worker: the network's class, and how many parameters it and its children hold."""
    import torch

    from ..verify.goldenfile import RecordError
    from ..verify.named import build

    link.doing(f"building {request.model}")
    try:
        model = build(request.model)
    except RecordError as error:
        raise MindferryError(str(error)) from None
    if not isinstance(model, torch.nn.Module):
        raise MindferryError(
            f"{request.model} gave a {type(model).__name__}, not a network; name its class or a function that returns it"
        )
    trained = sum(each.numel() for each in model.parameters() if each.requires_grad)
    buffers = sum(each.numel() for each in model.buffers())
    total = f"{_size(model):,} parameters, {trained:,} of them trained, {buffers:,} values in buffers"
    children = [f"{name}: {type(child).__name__} {_size(child):,}" for name, child in model.named_children()]
    return ParameterCount(type(model).__name__, (total, *children))


def count_keras(request: CountRequest, link: Link) -> ParameterCount:
    """In TensorFlow's worker; a network that was never called may have no weights yet."""
    from ..frameworks.tensorflow import build_network
    from ..verify.goldenfile import RecordError

    link.doing(f"building {request.model}")
    try:
        model = build_network(request.model)
    except RecordError as error:
        raise MindferryError(str(error)) from None
    if not getattr(model, "built", True):
        return ParameterCount(type(model).__name__, ("its layers get their weights when it is first called",))
    sizes = {id(each): math.prod(each.shape) for each in model.trainable_variables}
    total = sum(math.prod(each.shape) for each in model.variables)
    layers = [each for each in getattr(model, "layers", ()) if each.weights]
    parts = [f"{each.name}: {type(each).__name__} {each.count_params():,}" for each in layers]
    return ParameterCount(
        type(model).__name__, (f"{total:,} parameters, {sum(sizes.values()):,} of them trained", *parts)
    )


def _size(module: Any) -> int:
    return sum(each.numel() for each in module.parameters())
