"""One side: builds each network of a folder, runs it, and writes what came out. `python worker.py torch|mindspore FOLDER RESULTS SITE NAME…`."""

from __future__ import annotations

import importlib
import importlib.abc
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIBRARIES = (
    "torch",
    "torchvision",
    "transformers",
    "timm",
    "diffusers",
    "accelerate",
    "peft",
    "einx",
    "segmentation_models_pytorch",
    "x_transformers",
    "torch_einops_utils",
)


class Blocked(importlib.abc.MetaPathFinder):
    """torch and what stands on it, where the converted code runs."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in LIBRARIES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main(side: str, folder: Path, results: Path, site: str, names: list[str]) -> None:
    sys.path.insert(0, str(folder))
    sys.path.append(site)
    if side == "mindspore":
        os.environ.setdefault("GLOG_v", "4")
        os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
        sys.meta_path.insert(0, Blocked())
    else:
        sys.path.append(str(Path(__file__).parents[1]))
        from conformance.zoo_models import declare_missing_operators

        declare_missing_operators()
    run: Callable[[Any, str, Path], None] = run_torch if side == "torch" else run_mindspore
    for name in names:
        path = results / f"{name}.{side}"
        (results / f"{name}.begun").write_text(side)
        try:
            run(importlib.import_module(f"net_{name}"), name, results)
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-4:]
            where = " < ".join(f"{Path(each.filename).name}:{each.lineno} {each.name}" for each in reversed(last))
            path.with_suffix(f".{side}.error").write_text(f"{type(error).__name__}: {str(error)[:600]}\n{where}\n")
            if not isinstance(error, Exception):
                raise


def arrays(batch: dict[str, str]) -> dict[str, Any]:
    import numpy as np

    chance = np.random.default_rng(5)
    made: dict[str, Any] = {}
    for key, text in batch.items():
        kind, _, rest = text.partition("[")
        shape = [int(each) for each in rest.rstrip("]").split(",")]
        made[key] = chance.integers(3, 90, shape) if kind == "int" else chance.standard_normal(shape).astype(np.float32)
    return made


def run_torch(module: Any, name: str, results: Path) -> None:
    import numpy as np
    import torch
    from conformance.zoo_run import mend_batch_norm, spread_scores

    torch.manual_seed(0)
    model = module.build().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    batch = {key: torch.from_numpy(value) for key, value in arrays(module.BATCH).items()}
    if hasattr(module, "DETECTS"):
        spread_scores(model, [batch["image"]])
    mend_batch_norm(model)
    found = module.outputs(model, batch)
    scale = torch.from_numpy(np.random.default_rng(7).standard_normal(found.shape).astype(np.float32))
    (found * scale).sum().backward()
    made = {}
    if hasattr(module, "tokens"):
        with torch.no_grad():
            made["tokens"] = module.tokens(model, batch).numpy()
    kept = {f"w/{key}": value.detach().numpy() for key, value in model.state_dict().items()}
    kept |= {f"g/{key}": value.grad.numpy() for key, value in model.named_parameters() if value.grad is not None}
    np.savez(results / f"{name}.torch.npz", out=found.detach().numpy(), **made, **kept)


def run_mindspore(module: Any, name: str, results: Path) -> None:
    import mindspore as ms
    import numpy as np

    from mindferry.weights.load import load_torch_weights
    from mindferry.weights.match import match
    from mindferry.weights.transforms import combine
    from mindferry.weights.tree import describe

    given = np.load(results / f"{name}.torch.npz")
    weights = {key[2:]: given[key] for key in given.files if key.startswith("w/")}
    gradients = {key[2:]: given[key] for key in given.files if key.startswith("g/")}
    model = module.build()
    model.set_train(False)
    report = load_torch_weights(model, weights, strict=False)
    batch = {key: ms.Tensor(value) for key, value in arrays(module.BATCH).items()}
    scale = ms.Tensor(np.random.default_rng(7).standard_normal(given["out"].shape).astype(np.float32))
    found = module.outputs(model, batch)
    kept = {"out": found.asnumpy(), "complete": np.array(report.complete)}
    if "tokens" in given.files:
        try:
            kept["tokens"] = module.tokens(model, batch).asnumpy()
        except Exception as error:
            (results / f"{name}.tokens").write_text(f"generate: {type(error).__name__}: {str(error)[:300]}")
    np.savez(results / f"{name}.mindspore.npz", **kept)
    tree = describe(model)
    slots = {slot.path: slot for slot in tree.slots}
    plan = match(tree, {key: tuple(value.shape) for key, value in weights.items()})
    places = model.state_dict()
    moves = [
        move
        for move in plan.moves
        if all(each in gradients for each in move.sources) and isinstance(places[move.path], ms.Parameter)
    ]
    parameters = [places[move.path] for move in moves]
    step = ms.value_and_grad(lambda: (module.outputs(model, batch) * scale).sum(), None, ms.ParameterTuple(parameters))
    made = step()[1]
    for move, value in zip(moves, made, strict=True):
        wanted = combine(move.fold, [gradients[each] for each in move.sources], move.path).reshape(
            slots[move.path].shape
        )
        kept[f"g/{move.path}"] = value.asnumpy()
        kept[f"r/{move.path}"] = wanted
    kept["gradients"] = np.array([len(moves), len(gradients)])
    np.savez(results / f"{name}.mindspore.npz", **kept)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5:])
