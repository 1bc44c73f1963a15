"""In a worker: run a data pipeline and write its batches to a file, as arrays under the names of their places."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MindferryError

if TYPE_CHECKING:
    from .backends.worker import Json, Link


def collect(payload: Json, link: Link) -> Json:
    """{"function", "epochs", "batches", "seed"} -> {"file", "lengths", "places"}: what each epoch gave."""
    import numpy as np

    from .goldenfile import RecordError

    try:
        seed(link.framework, payload["seed"])
        loader = make(payload["function"])
    except RecordError as error:
        raise MindferryError(str(error)) from None
    arrays: dict[str, Any] = {}
    lengths, places = [], []
    for epoch in range(payload["epochs"]):
        count = 0
        for count, batch in enumerate(loader, 1):
            link.doing(f"batch {count} of epoch {epoch + 1}")
            if count <= payload["batches"]:
                found = flat(batch)
                arrays.update({f"{epoch}/{count - 1}/{place}": value for place, value in found.items()})
                places.append([epoch, count - 1, list(found)])
        lengths.append(count)
    path = Path(link.scratch) / "batches.npz"
    np.savez(path, **arrays)
    return {"file": str(path), "lengths": lengths, "places": places, "announced": len(loader) if hasattr(loader, "__len__") else None}


def make(spec: str) -> Any:
    """`data:test_loader` or `data:test_loader(batch_size=8)` -> what the function returns."""
    from .named import find

    match = re.fullmatch(r"([\w.]+:\w+)(\(.*\))?", spec.strip(), re.DOTALL)
    if match is None:
        raise MindferryError(f"{spec!r} names no function; write module:function, for instance data:test_loader(batch_size=8)")
    try:
        call = ast.parse(f"f{match[2] or '()'}", mode="eval").body
        assert isinstance(call, ast.Call)
        positional = [ast.literal_eval(each) for each in call.args]
        named = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError):
        raise MindferryError(f"the arguments in {spec!r} must be plain values") from None
    return find(match[1])(*positional, **named)


def seed(framework: str, number: int) -> None:
    import random

    import numpy as np

    random.seed(number)
    np.random.seed(number)
    if framework == "torch":
        import torch

        torch.manual_seed(number)
    else:
        import mindspore

        mindspore.set_seed(number)


def flat(value: Any, place: str = "") -> dict[str, Any]:
    """The arrays of a batch by their places: '0', 'image', 'target/boxes'."""
    import numpy as np

    if isinstance(value, dict):
        items = [(str(key), each) for key, each in value.items()]
    elif isinstance(value, list | tuple) and not all(isinstance(each, str | bytes) for each in value):
        items = [(str(index), each) for index, each in enumerate(value)]
    else:
        return {place: np.asarray(to_numpy(value))}
    return {name: leaf for key, each in items for name, leaf in flat(each, f"{place}/{key}" if place else key).items()}


def to_numpy(value: Any) -> Any:
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value
