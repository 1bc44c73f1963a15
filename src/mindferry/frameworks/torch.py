"""The torch side: build the model, load its weights, record what it computes in a golden file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import MindferryError, OtherNetworkError
from ..verify.far_weights import all_variants, far_weights
from ..verify.goldenfile import RecordError, UnfitError
from ..verify.initial import initial_errors
from ..verify.named import build, find, load_weights, make_inputs, shake, source_of
from ..verify.nested_inputs import call
from ..verify.nesting import leaves
from ..verify.noise import measure_noise
from ..verify.predict import batches, save
from ..verify.surroundings import Starts, computed_buffers, starts_of
from ..verify.trace import save as save_trace
from ..verify.trace import traced
from ..verify.tried_methods import calling
from ..verify.turned_settings import turned
from ..verify.variants import is_typed, variants
from .requests import (
    BuildRequest,
    CellRequest,
    Found,
    PredictRequest,
    RecordRequest,
    SourceText,
    Traced,
    TraceRequest,
    VariantsRequest,
)
from .worker import Link


def record(request: RecordRequest, link: Link) -> None:
    """In the worker: write the golden file that the request names."""
    from ..verify.recorder import record as write

    try:
        if not (request.variant and "model" in link.state):  # the same model on other inputs
            made = build_with_starts(request.model, request.weights, request.seed, link)
            link.state["model"], link.state["starts"] = made
        model, starts = link.state["model"], link.state["starts"]
        is_first = not (request.variant or request.weights)
        inputs = _inputs(request, model, link)
        with as_asked(model, request):
            write(
                model,
                inputs,
                Path(request.golden),
                modes=request.modes,
                seed=request.seed,
                title=request.model,
                inside=request.inside,
                loss=find(request.loss) if request.loss else None,
                targets=make_inputs(request.targets, request.seed + 1),
                optimizer=find(request.optimizer) if request.optimizer else None,
                steps=request.steps,
                starts=starts if is_first else Starts(starts.buffers, {}, {}, {}),
                is_quick=request.is_quick,
                has_weights=request.has_weights,
                is_rough=request.is_rough,
                is_watched=request.is_watched,
                is_typed=is_typed(request.variant),
                remake=lambda: build(request.model),
                note=lambda run: link.doing(f"{run} on {', '.join(request.inputs)}"),
            )
    except UnfitError as error:
        raise OtherNetworkError(str(error)) from None
    except RecordError as error:
        raise MindferryError(str(error)) from None


def float32_errors(request: RecordRequest, link: Link) -> dict[str, float]:
    """In the worker, after `record` with the same request: how far torch's own float32 is off."""
    link.doing("the run in float64")
    model = link.state["model"]
    inputs = _inputs(request, model, link)
    with as_asked(model, request):
        return measure_noise(model, inputs, Path(request.golden), request.seed)


@contextlib.contextmanager
def as_asked(model: Any, request: RecordRequest) -> Iterator[None]:
    """With the weights, the attributes and the method that a variant is about."""
    modules = list(model.named_modules())
    with (
        far_weights(model, request.variant),
        turned(modules, request.turned),
        calling(model, modules, request.variant, "forward"),
    ):
        yield


def _inputs(request: RecordRequest, model: Any, link: Link) -> list[tuple[str, Any]]:
    inputs = make_inputs(request.inputs, request.seed)
    if not request.variant or request.turned:
        return inputs
    known = link.state.get("variants", {})
    if request.variant not in known:  # this worker took the place of one that is gone
        known = {said: given for group in all_variants(model, inputs) for said, given in group}
    if request.variant not in known:
        raise MindferryError(f"no inputs for {request.variant}")
    return list(known[request.variant])


def other_sizes(request: VariantsRequest, link: Link) -> tuple[tuple[str, ...], ...]:
    """In the worker: groups of descriptions."""
    try:
        model, inputs = link.state.get("model"), make_inputs(request.inputs, request.seed)
        groups = all_variants(model, inputs, request.methods) if model is not None else variants(inputs)
        link.state["variants"] = {said: given for group in groups for said, given in group}
        return tuple(tuple(said for said, _ in group) for group in groups)
    except RecordError as error:
        raise MindferryError(str(error)) from None


def buffer_errors(request: BuildRequest, link: Link) -> dict[str, float]:
    """In the worker: how far the buffers that the constructor computes may be off; inf if they are random."""
    link.doing(f"building {request.model}")
    made = computed_buffers(build(request.model))
    return initial_errors(lambda: build(request.model), made, request.seed)


def predict(request: PredictRequest, link: Link) -> Found:
    """In the worker, after `record`: the saved predictions."""
    import torch

    model = link.state["model"].eval()

    def scored() -> Iterator[tuple[Any, Any]]:
        with torch.no_grad():
            for inputs, labels in batches(request.data, request.samples):
                link.doing("predicting")
                yield leaves(model(*inputs), torch.is_tensor)[0].numpy(), labels

    return Found(str(save(scored(), link.scratch, lambda count: link.say(f"{count} samples"))))


def source(request: CellRequest, link: Link) -> SourceText:
    """In the worker, after `record`: a module's forward."""
    module = dict(link.state["model"].named_modules()).get(request.path)
    return SourceText(*source_of(getattr(type(module), "forward", None)))


def trace(request: TraceRequest, link: Link) -> Traced:
    """In the worker, after `record`: what each line of one module's forward assigns."""
    import torch

    from ..verify.dropout import without_dropout
    from ..verify.state import same_state

    model = link.state["model"]
    inputs = make_inputs(request.inputs, request.seed)
    positional, named = [value for name, value in inputs if not name], {n: v for n, v in inputs if n}
    module = model.get_submodule(request.path)
    was_training = model.training
    model.train(request.mode == "train")
    with (
        torch.no_grad(),
        same_state(model),
        without_dropout(model),
        traced(module, request.call, "forward", _plain) as found,
    ):
        call(model, positional, named)
    model.train(was_training)
    path = link.scratch / "trace.npz"
    return Traced(save_trace(found, path), str(path))


def _plain(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy().copy()
    return value if isinstance(value, bool | int | float) else None


def build_module(spec: str, weights: str, seed: int, link: Link) -> Any:
    return build_with_starts(spec, weights, seed, link)[0]


def build_with_starts(spec: str, weights: str, seed: int, link: Link) -> tuple[Any, Starts]:
    """The model with its weights, and what its constructor made."""
    import torch

    link.doing(f"building {spec}")
    torch.manual_seed(seed)
    model = build(spec)
    if not isinstance(model, torch.nn.Module):
        raise UnfitError(f"{spec} gave a {type(model).__name__}, not a torch.nn.Module; check --model")
    starts = starts_of(model, None if weights else lambda: build(spec))
    if weights:
        load_weights(model, weights)
    else:
        shake(model, seed)
    return model, starts
