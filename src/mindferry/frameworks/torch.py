"""The torch side: build the model, load its weights, record what it computes in a golden file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MindferryError
from ..verify.goldenfile import RecordError
from ..verify.named import build, find, load_weights, make_inputs, shake
from ..verify.nesting import leaves
from ..verify.predict import batches, save
from ..verify.trace import save as save_trace
from ..verify.trace import traced

if TYPE_CHECKING:
    from .worker import Json, Link


def record(payload: Json, link: Link) -> Json:
    """In the worker: the payload of run.py's `_record` -> the golden file that it names."""
    from ..verify.recorder import record as write

    try:
        model = build_module(payload["model"], payload["weights"], payload["seed"], link)
        inputs = make_inputs(payload["inputs"], payload["seed"])
        path, modes, title = Path(payload["golden"]), payload["modes"], payload["model"]
        write(
            model,
            inputs,
            path,
            modes=modes,
            seed=payload["seed"],
            title=title,
            inside=payload["inside"],
            loss=find(payload["loss"]) if payload["loss"] else None,
            targets=make_inputs(payload["targets"], payload["seed"] + 1),
            optimizer=find(payload["optimizer"]) if payload["optimizer"] else None,
            steps=payload["steps"],
            shared_dropout=payload["shared_dropout"],
            note=lambda run: link.doing(f"{run} on {', '.join(payload['inputs'])}"),
        )
    except RecordError as error:
        raise MindferryError(str(error)) from None
    link.state["model"] = model


def predict(payload: Json, link: Link) -> Json:
    """In the worker, after `record`: {"data", "samples"} -> path of the saved predictions."""
    import torch

    model = link.state["model"].eval()

    def scored() -> Iterator[tuple[Any, Any]]:
        with torch.no_grad():
            for inputs, labels in batches(payload["data"], payload["samples"]):
                link.doing("predicting")
                yield leaves(model(*inputs), torch.is_tensor)[0].numpy(), labels

    return str(save(scored(), link.scratch, lambda count: link.report({"samples": count})))


def trace(payload: Json, link: Link) -> Json:
    """In the worker, after `record`: what each line of one module's forward assigns."""
    import torch

    from ..verify.buffers import same_buffers
    from ..verify.dropout import without_dropout

    model = link.state["model"]
    inputs = make_inputs(payload["inputs"], payload["seed"])
    positional, named = [value for name, value in inputs if not name], {n: v for n, v in inputs if n}
    module = model.get_submodule(payload["path"])
    was_training = model.training
    model.train(payload["mode"] == "train")
    with (
        torch.no_grad(),
        same_buffers(model),
        without_dropout(model),
        traced(module, payload["call"], "forward", _plain) as found,
    ):
        model(*positional, **named)
    model.train(was_training)
    path = link.scratch / "trace.npz"
    return {"lines": save_trace(found, path), "arrays": str(path)}


def _plain(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy().copy()
    return value if isinstance(value, bool | int | float) else None


def build_module(spec: str, weights: str, seed: int, link: Link) -> Any:
    import torch

    link.doing(f"building {spec}")
    torch.manual_seed(seed)
    model = build(spec)
    if not isinstance(model, torch.nn.Module):
        raise RecordError(f"{spec} gave a {type(model).__name__}, not a torch.nn.Module; check --model")
    if weights:
        load_weights(model, weights)
    else:
        shake(model, seed)
    return model
