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
FIRST_BATCH = 5  # a seed


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

    chance = np.random.default_rng(int(os.environ.get("LIBRARIES_BATCH", FIRST_BATCH)))
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
    stir(model)
    batch = {key: torch.from_numpy(value) for key, value in arrays(module.BATCH).items()}
    if hasattr(module, "DETECTS"):
        spread_scores(model, [batch["image"]])
    mend_batch_norm(model)
    kept = {f"w/{key}": value.detach().numpy().copy() for key, value in model.state_dict().items()}
    kept["out"], gradients = differentiated(module, model, batch)
    kept |= {f"g/{key}": value for key, value in gradients.items()}
    if hasattr(module, "tokens"):
        with torch.no_grad():
            kept["tokens"] = module.tokens(model, batch).numpy()
    kept |= exactly(module, model, batch)
    np.savez(results / f"{name}.torch.npz", **kept)


def stir(model: Any) -> None:
    """Values other than 0 and 1, so that mistakes in them show, but no weights so large that a deep network explodes."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            spread = float(parameter.std()) if parameter.numel() > 1 else 0.0
            is_matrix = parameter.ndim > 1 and spread > 0
            parameter.add_(torch.randn_like(parameter) * (min(0.05, spread / 4) if is_matrix else 0.05))


def differentiated(module: Any, model: Any, batch: Any) -> tuple[Any, dict[str, Any]]:
    """The network's output, and the gradients of a sum of it with given factors."""
    import numpy as np
    import torch

    model.train().eval()  # what a network keeps from an earlier evaluation has no gradient
    model.zero_grad()
    found = module.outputs(model, batch)
    scale = np.random.default_rng(7).standard_normal(found.shape).astype(np.float32)
    (found * torch.from_numpy(scale).to(found.dtype)).sum().backward()
    made = {key: value.grad.numpy().copy() for key, value in model.named_parameters() if value.grad is not None}
    return found.detach().numpy(), made


def exactly(module: Any, model: Any, batch: Any) -> dict[str, Any]:
    """The same in float64, as x/…; nothing where the network can't be run so."""
    import torch
    from conformance.zoo_run import cast

    try:
        cast(model, torch.float64)
        wide = {key: value.double() if value.is_floating_point() else value for key, value in batch.items()}
        found, gradients = differentiated(module, model, wide)
    except Exception:
        return {}
    finally:
        torch.set_default_dtype(torch.float32)
    return {"exact": found} | {f"x/{key}": value for key, value in gradients.items()}


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
    exact = {key[2:]: given[key] for key in given.files if key.startswith("x/")}
    model = module.build()
    model.set_train(False)
    report = load_torch_weights(model, weights, strict=False)
    batch = {key: ms.Tensor(value) for key, value in arrays(module.BATCH).items()}
    scale = ms.Tensor(np.random.default_rng(7).standard_normal(given["out"].shape).astype(np.float32))
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
    kept = {"complete": np.array(report.complete), "gradients": np.array([len(moves), len(gradients)])}

    def loss() -> Any:
        found = module.outputs(model, batch)
        kept["out"] = found.asnumpy()
        return (found * scale).sum()

    try:
        # First of all: what a network keeps from an earlier evaluation has no gradient.
        made = ms.value_and_grad(loss, None, ms.ParameterTuple(parameters))()[1]
        for move, value in zip(moves, made, strict=True):
            kept[f"g/{move.path}"] = value.asnumpy()
            for kind, known in (("r", gradients), ("x", exact)):
                if known:
                    parts = [known[each] for each in move.sources]
                    kept[f"{kind}/{move.path}"] = combine(move.fold, parts, move.path).reshape(slots[move.path].shape)
        if "tokens" in given.files:
            try:
                kept["tokens"] = module.tokens(model, batch).asnumpy()
            except Exception as error:
                (results / f"{name}.tokens").write_text(f"generate: {type(error).__name__}: {str(error)[:300]}")
    finally:
        if "out" in kept:
            np.savez(results / f"{name}.mindspore.npz", **kept)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5:])
