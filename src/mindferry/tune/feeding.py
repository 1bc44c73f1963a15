"""How the loop is fed: time spent waiting for each batch, rows that were ready, and what each operation of the pipeline costs."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterator
from typing import Any

from ..tune_record import PipelineStage
from .clock import WARM, Clock

LONGEST = 1.0  # seconds to time one operation of a pipeline
ROWS = 96


class Feeding:
    """Wraps the iterators of mindspore.dataset, and the converted project's own DataLoader where it has one."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.rows = 0  # produced by the source
        self.row_seconds = 0.0
        self.taken = 0  # rows that the loop got
        self.queued: list[int] = []
        self.pipelines: list[Any] = []  # in the order in which loops over them began
        self.waits: list[tuple[Any, float]] = []
        self._sources: set[type] = set()
        self._inside = False

    def install(self, helpers: list[Any]) -> None:
        from mindspore import dataset

        base: Any = next(each for each in dataset.GeneratorDataset.__mro__ if "create_tuple_iterator" in vars(each))
        for name in ("create_tuple_iterator", "create_dict_iterator"):
            setattr(base, name, self._watched(getattr(base, name)))
        for helper in helpers:
            keras = getattr(helper, "Dataset", None)  # what tf.data became, if it is that one
            loaders = [getattr(helper, "DataLoader", None), keras if hasattr(keras, "from_tensor_slices") else None]
            for loader in filter(None, loaders):
                loader.__iter__ = self._watched(loader.__iter__)

    def _watched(self, original: Any) -> Any:
        @functools.wraps(original)
        def iterate(loader: Any, *args: Any, **kwargs: Any) -> Any:
            if self._inside or self.clock.depth:  # a loader made of another one, or a pipeline being timed
                return original(loader, *args, **kwargs)
            self.clock.step.is_border = True
            self._count_rows(loader)
            self.pipelines.append(loader)
            self._inside = True
            try:
                return _Batches(original(loader, *args, **kwargs), loader, self)
            finally:
                self._inside = False

        return iterate

    def next_batch(self, batches: Any, loader: Any) -> Any:
        if self.clock.stage != WARM and self.rows:
            self.queued.append(self.rows - self.taken)
        start = time.perf_counter()
        self._inside = True
        try:
            with self.clock.span("waiting for data"):
                batch = next(batches)
        finally:
            self._inside = False
        rows = _rows(batch)
        self.taken += rows
        self.clock.step.batch = max(self.clock.step.batch, rows)
        self.waits.append((loader, time.perf_counter() - start))
        return batch

    def _count_rows(self, loader: Any) -> None:
        """A source is counted by its class, whose __getitem__ the pipeline's threads call."""
        self.rows = self.taken = 0
        source = getattr(chain(loader)[0], "source", None) or getattr(loader, "dataset", None)
        kind: Any = type(source)
        if source is None or kind in self._sources or "__getitem__" not in dir(kind) or kind.__module__ == "builtins":
            return
        original, feeding = kind.__getitem__, self

        def get(dataset: Any, index: Any) -> Any:
            start = time.perf_counter()
            row = original(dataset, index)
            feeding.row_seconds += time.perf_counter() - start
            feeding.rows += 1
            return row

        try:
            kind.__getitem__ = get
        except TypeError:
            return
        self._sources.add(kind)

    def stages(self) -> tuple[PipelineStage, ...]:
        """The training pipeline, operation by operation: what each adds to the time of a batch when nothing else runs."""
        steps = [step.batch for step in self.clock.steps if step.batch]
        if not self.pipelines or not steps:
            return ()
        loader, batch = (
            max(self.pipelines, key=lambda each: sum(w for owner, w in self.waits if owner is each)),
            max(steps),
        )
        self._inside = True
        try:
            return self._time_each(chain(loader), batch)
        finally:
            self._inside = False

    def _time_each(self, nodes: list[Any], batch: int) -> tuple[PipelineStage, ...]:
        """Rows that wait are those of the whole pipeline, so they stand at its end."""
        from mindspore import dataset

        queued = sum(self.queued) / len(self.queued) if self.queued else math.nan
        room, before, found = 0.0, 0.0, list[PipelineStage]()
        for node in nodes:
            is_native, is_last = hasattr(node, "create_tuple_iterator"), node is nodes[-1]
            workers = getattr(node, "num_parallel_workers", None) or (
                dataset.config.get_num_parallel_workers() if is_native else 1
            )
            room += (
                dataset.config.get_prefetch_size() * workers * (batch if _is_batched(node) else 1) if is_native else 0
            )
            total = seconds_a_row(node) * batch
            name = type(node).__name__.removesuffix("Dataset") or type(node).__name__
            capacity = room if is_last and is_native and queued == queued else math.nan
            found.append(
                PipelineStage(name, max(0.0, total - before), workers, queued if is_last else math.nan, capacity)
            )
            before = max(before, total)
        return tuple(found)


class _Batches:
    """The loader's own iterator with a clock around each batch."""

    def __init__(self, batches: Any, loader: Any, feeding: Feeding) -> None:
        self._batches, self._loader, self._feeding = batches, loader, feeding
        self._started: Any = None

    def __iter__(self) -> Iterator[Any]:
        self._started = iter(self._batches)
        return self

    def __next__(self) -> Any:
        return self._feeding.next_batch(self._started or self._batches, self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batches, name)


def chain(loader: Any) -> list[Any]:
    """The operations of a pipeline from the source to the end, along the first child of each."""
    nodes = [loader]
    while getattr(nodes[-1], "children", None):
        nodes.append(nodes[-1].children[0])
    return nodes[::-1]


def seconds_a_row(node: Any) -> float:
    """Of a pipeline that ends here, running alone and with nothing prepared."""
    began, rows, first = time.perf_counter(), 0, 0.0
    batches = (
        node.create_tuple_iterator(num_epochs=1, output_numpy=True)
        if hasattr(node, "create_tuple_iterator")
        else iter(node)
    )
    for item in batches:
        if first:
            rows += _rows(item) if _is_batched(node) else 1
        first = first or time.perf_counter()
        if rows >= ROWS or time.perf_counter() - began > LONGEST:
            break
    return (time.perf_counter() - first) / rows if rows else 0.0


def _is_batched(node: Any) -> bool:
    return any("Batch" in type(each).__name__ for each in chain(node)) or not hasattr(node, "create_tuple_iterator")


def _rows(batch: Any) -> int:
    values = (
        list(batch.values()) if isinstance(batch, dict) else list(batch) if isinstance(batch, list | tuple) else [batch]
    )
    shape: Any = getattr(values[0], "shape", ()) if values else ()
    return int(shape[0]) if len(shape) else 1
