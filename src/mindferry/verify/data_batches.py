"""In a worker: run a project's data pipelines and write their batches to files, as arrays under the names of their places."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import MindferryError
from ..frameworks.entry import run_entry
from ..frameworks.helper_modules import helpers_of
from ..frameworks.requests import BatchesRequest, BatchPlaces, LoaderRun
from ..frameworks.worker import Link
from .data_order import is_keras, share_order
from .keras_pipelines import watch_pipelines
from .nesting import DEEPEST, held_in

ENDLESS = -1  # stands for the length of an epoch whose end is not waited for
FUNCTION = re.compile(r"([\w.]+):(\w+)(\(.*\))?", re.DOTALL)


class LoadersFound(BaseException):
    """Ends the script; not an Exception, so that its own handlers let it pass."""


def collect(request: BatchesRequest, link: Link) -> tuple[LoaderRun, ...]:
    """What each loader gave."""
    from .goldenfile import RecordError

    try:
        seed(link.framework, request.seed + request.offset)
        if request.offset:
            move_seeds(link.framework, request.offset)
        helpers = helpers_of(request.helpers) if link.framework == "mindspore" else []
        if FUNCTION.fullmatch(request.data.strip()):
            loaders = named(
                make(request.data, lambda module: share_order(link.framework, request.seed, [*helpers, module]))
            )
            return tuple(read(name, loader, request, link) for name, loader in loaders)
        share_order(link.framework, request.seed, helpers)
        return of_script(request, link, helpers)
    except RecordError as error:
        raise MindferryError(str(error)) from None


def move_seeds(framework: str, offset: int) -> None:
    """Seeds that the project sets itself are other ones in this run of the original."""
    import random

    import numpy as np

    def moved(original: Callable[..., Any]) -> Callable[..., Any]:
        def seeded(number: Any = None, *args: Any, **kwargs: Any) -> Any:
            return original(number + offset if isinstance(number, int) else number, *args, **kwargs)

        return seeded

    owners: list[tuple[Any, str]] = [(random, "seed"), (np.random, "seed"), (np.random, "default_rng")]
    more = _torch_seeds(offset) if framework == "torch" else _tensorflow_seeds()
    for owner, name in [*owners, *more]:
        setattr(owner, name, moved(getattr(owner, name)))


def _torch_seeds(offset: int) -> list[tuple[Any, str]]:
    import torch

    class Generator(torch.Generator):  # type: ignore[misc]
        def manual_seed(self, number: int) -> Any:
            return super().manual_seed(number + offset)

    torch.Generator = Generator
    return [(torch, "manual_seed")]


def _tensorflow_seeds() -> list[tuple[Any, str]]:
    import keras
    import tensorflow as tf

    return [(tf.random, "set_seed"), (keras.utils, "set_random_seed")]


def make(spec: str, prepare: Callable[[ModuleType], None] = lambda module: None) -> Any:
    """`data:test_loader` or `data:test_loader(batch_size=8)` -> what the function returns."""
    from .arguments import read_arguments
    from .named import find

    match = FUNCTION.fullmatch(spec.strip())
    if match is None:
        raise MindferryError(
            f"{spec!r} names no function; write module:function, for instance data:test_loader(batch_size=8)"
        )
    positional, keywords = read_arguments(spec, match[3] or "")
    function = find(f"{match[1]}:{match[2]}")
    prepare(sys.modules[match[1]])
    return function(*positional, **keywords)


def named(made: Any) -> list[tuple[str, Any]]:
    """One loader, or several in a dict, list or tuple."""
    if isinstance(made, dict):
        return [(str(name), loader) for name, loader in made.items()]
    return (
        [(str(number), loader) for number, loader in enumerate(made)]
        if isinstance(made, list | tuple)
        else [("", made)]
    )


def of_script(request: BatchesRequest, link: Link, helpers: list[ModuleType]) -> tuple[LoaderRun, ...]:
    """Run a script until it reads from a loader, then read all loaders that it has made so far."""
    assert link.project is not None
    script, *arguments = shlex.split(request.data)
    results: list[LoaderRun] = []
    try:
        watch_all_loaders(
            link, helpers, lambda loaders: results.extend(read(name, each, request, link) for name, each in loaders)
        )
        run_entry(link.project, script, arguments)
    except LoadersFound:
        return tuple(results)
    except Exception as error:
        if not _is_after_loaders(error):
            raise
        return tuple(results)
    except SystemExit as error:
        if error.code not in (0, None):
            raise MindferryError(
                f"{script} ended with {error.code!r}; check its arguments in {request.data!r}"
            ) from None
    raise MindferryError(
        f"{script} read from no loader; name a function that returns one, as module:function, with --data"
    )


def _is_after_loaders(error: BaseException | None) -> bool:
    """Whether what a library does when a script is ended, Lightning's teardown for one, failed after the loaders were read."""
    while error is not None and not isinstance(error, LoadersFound):
        error = error.__context__
    return error is not None


def watch_all_loaders(
    link: Link, helpers: list[ModuleType], found: Callable[[Iterable[tuple[str, Any]]], None]
) -> None:
    """Those of torch and of what was converted from it, or Keras' data sets; `found` gets them by name."""

    def ended(loaders: Iterable[tuple[str, Any]]) -> None:
        found(loaders)
        raise LoadersFound

    if is_keras(link.framework, helpers):
        watch_pipelines(link, helpers, ended)
    else:
        watch_loaders(link, helpers, lambda loaders: ended((f"loader {n}", each) for n, each in loaders))


def watch_loaders(link: Link, helpers: list[ModuleType], found: Callable[[Iterable[tuple[int, Any]]], None]) -> None:
    """Note each loader that the script makes; when it begins to read one, call `found` with all of them and end it."""
    loaders: list[Any] = []
    state = {"reading": False}

    def noted(original: Any) -> Any:
        def start(loader: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(loader, *args, **kwargs)
            if not state["reading"]:
                loaders.append(loader if result is None else result)  # __init__, or batch()
            return result

        return start

    def begun(original: Any) -> Any:
        def iterate(loader: Any, *args: Any, **kwargs: Any) -> Any:
            if state["reading"] or not loaders:
                return original(loader, *args, **kwargs)
            state["reading"] = True
            found(enumerate(loaders, 1))

        return iterate

    for kind in loader_classes(link.framework, helpers):
        kind.__init__, kind.__iter__ = noted(kind.__init__), begun(kind.__iter__)
    if link.framework == "mindspore":
        from mindspore import dataset

        kinds = dataset.GeneratorDataset.__mro__
        for name, wrap in (
            ("batch", noted),
            ("create_tuple_iterator", begun),
            ("create_dict_iterator", begun),
            ("__iter__", begun),
        ):
            owner = next(each for each in kinds if name in vars(each))
            setattr(owner, name, wrap(getattr(owner, name)))


def loader_classes(framework: str, helpers: list[ModuleType]) -> list[Any]:
    if framework == "mindspore":
        return [helper.DataLoader for helper in helpers if hasattr(helper, "DataLoader")]
    from torch.utils.data import DataLoader

    return [DataLoader]


def read(name: str, loader: Any, request: BatchesRequest, link: Link) -> LoaderRun:
    import numpy as np

    arrays: dict[str, Any] = {}
    lengths, places = [], []
    for epoch in range(request.epochs):
        count = 0
        link.doing(" ".join(f"batch 1 of epoch {epoch + 1} {name and 'of'} {name}".split()))
        is_endless = (length(loader) or 0) > request.longest
        for count, batch in enumerate(in_turn(loader), 1):
            if count > (request.batches if is_endless else request.longest):
                count = ENDLESS
                break
            link.doing(" ".join(f"batch {count + 1} of epoch {epoch + 1} {name and 'of'} {name}".split()))
            if count <= request.batches:
                found = flat(batch)
                arrays.update({f"{epoch}/{count - 1}/{place}": value for place, value in found.items()})
                places.append(BatchPlaces(epoch, count - 1, tuple(found)))
        lengths.append(count)
    path = Path(link.scratch) / f"batches{len(list(Path(link.scratch).glob('batches*.npz')))}.npz"
    np.savez(path, **arrays)
    return LoaderRun(name, str(path), tuple(lengths), tuple(places), length(loader))


def in_turn(loader: Any) -> Iterable[Any]:
    """Its batches; a Keras Sequence has them by number, and is told of the epoch's end."""
    if hasattr(loader, "__iter__"):
        yield from loader
        return
    yield from (loader[number] for number in range(len(loader)))
    if hasattr(loader, "on_epoch_end"):
        loader.on_epoch_end()


def length(loader: Any) -> int | None:
    try:
        return len(loader)
    except TypeError:  # torch's loader over an IterableDataset has __len__ and no length
        return None


def seed(framework: str, number: int) -> None:
    import random

    import numpy as np

    random.seed(number)
    np.random.seed(number)
    if framework == "torch":
        import torch

        torch.manual_seed(number)
    elif framework == "tensorflow":
        import tensorflow as tf

        tf.random.set_seed(number)
    else:
        import mindspore

        mindspore.set_seed(number)


def flat(value: Any, place: str = "", depth: int = 0) -> dict[str, Any]:
    """The arrays of a batch by their places: '0', 'image', 'target/boxes'; an object of somebody's own class by its attributes."""
    items = [] if _is_leaf(value) or depth > DEEPEST else held_in(value, objects=True)
    if not items:
        return {} if isinstance(value, dict | list | tuple) and not value else {place: as_array(value)}
    return {
        name: leaf
        for key, each in items
        for name, leaf in flat(each, f"{place}/{key}" if place else key, depth + 1).items()
    }


def _is_leaf(value: Any) -> bool:
    """A tensor, an array, a picture, words."""
    if hasattr(type(value), "dtype") or hasattr(type(value), "__array_interface__"):
        return True
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, str | bytes) for each in value)


def as_array(value: Any) -> Any:
    """What no array holds is compared as text: None, a set, an object of which only the class is told."""
    import numpy as np

    array = np.asarray(to_numpy(value))
    if array.dtype.kind != "O":
        return array
    text = repr(value)
    return np.asarray(
        type(value).__name__ if " object at 0x" in text else text
    )  # an address is another one in each run


def to_numpy(value: Any) -> Any:
    if hasattr(type(value), "asnumpy"):
        return value.asnumpy()
    if hasattr(type(value), "numpy") and not hasattr(type(value), "detach"):
        value = value.numpy()
    if getattr(getattr(value, "dtype", None), "kind", "") in ("O", "S"):  # words: TensorFlow has them as bytes
        return as_texts(value)
    return value.detach().cpu().numpy() if hasattr(type(value), "detach") else value


def as_texts(values: Any) -> Any:
    import numpy as np

    texts = [each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each) for each in values.reshape(-1)]
    return np.array(texts).reshape(values.shape)
