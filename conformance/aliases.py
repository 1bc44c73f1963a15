"""`python -m conformance.aliases`: writes apis/torch/aliases.tsv, the places where torch exports again what the table has."""

from __future__ import annotations

import importlib
import pkgutil
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mindferry.apis import table

from .zoo_models import declare_missing_operators

TSV = Path(__file__).parents[1] / "src/mindferry/apis/torch/aliases.tsv"
HEAD = """# Where else torch and torchvision export what the table has: the name as written, the name in the table.
# Written by `python -m conformance.aliases`.
"""
PACKAGES = ("torch", "torchvision")
# Parts of torch that no project imports names of other parts from, or that can't be imported here.
LEFT_OUT = tuple(
    "torch._ torch.ao torch.backends torch.contrib torch.cuda torch.distributed. torch.export torch.fx torch.jit torch.masked "
    "torch.monitor torch.mps torch.mtia torch.nested torch.onnx torch.package torch.quantization torch.testing torch.utils._ "
    "torch.utils.benchmark torch.utils.bottleneck torch.utils.data.datapipes torch.utils.hipify torch.utils.model_dump "
    "torch.utils.tensorboard torch.utils.viz torch.xpu".split()
)
WITH = ("torch.distributed.distributed_c10d", "torch.cuda.amp", "torch.cuda.amp.grad_scaler")


def main() -> None:
    warnings.simplefilter("ignore")
    declare_missing_operators()
    places: dict[int, list[str]] = {}
    for module in _modules():
        for name, value in vars(module).items():
            if not name.startswith("_") and callable(value) and not isinstance(value, types.ModuleType):
                places.setdefault(id(value), []).append(f"{module.__name__}.{name}")
    rows = sorted(row for names in places.values() for row in _aliases(names))
    TSV.write_text(HEAD + "".join(f"{written}\t{home}\n" for written, home in rows), "utf-8")
    print(f"{len(rows)} names in {TSV}")


def _modules() -> Iterator[Any]:
    names = {*PACKAGES, *WITH}
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        found = pkgutil.walk_packages(path, f"{package}.", onerror=lambda name: None)
        names |= {each.name for each in found if not each.name.startswith(LEFT_OUT)}
    for name in sorted(names):
        try:
            yield importlib.import_module(name)
        except Exception:  # needs something that is not here
            continue


def _aliases(names: list[str]) -> Iterator[tuple[str, str]]:
    rules = table().calls
    known = [name for name in names if name in rules]
    if not known:
        return
    home = min(known, key=lambda name: (bool(rules[name].missing), name.count("."), name))
    for name in names:
        is_passing = name.endswith(".Tensor")  # nearly every module of torch's imports it for its annotations
        if name not in rules and not is_passing:
            yield name, home


if __name__ == "__main__":
    main()
