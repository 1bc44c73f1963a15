"""Files converted in several processes. Each starts from the same reading of the project, so the result is the same for any number."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

from ..errors import MindferryError
from ..layout import Layout, ProjectFile
from ..read.symbols import Symbols
from .one_file import Written, convert_one
from .settings import Settings

BATCHES = 8  # for each process: files differ in size
WORTH_A_POOL = 60  # files of code; below that the processes take longer to start than they save


def convert_files(
    files: list[ProjectFile], layout: Layout, symbols: Symbols, settings: Settings, workers: int
) -> Iterator[Written]:
    """In the order of `files`. `workers` 0: as many as there are cores, if there are enough files."""
    code = sum(file.is_code for file in files)
    workers = min(workers or (len(os.sched_getaffinity(0)) if code >= WORTH_A_POOL else 1), max(code, 1))
    if workers == 1:
        with quietly():
            for file in files:
                yield convert_one(file, layout, symbols, settings)
        return
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(workers, context) as pool:
            # Each batch brings the project's facts along: a worker process keeps nothing from one to the next.
            size = max(4, len(files) // (workers * BATCHES))
            batches = [files[start : start + size] for start in range(0, len(files), size)]
            task = partial(_convert_batch, layout=layout, symbols=symbols, settings=settings)
            for made in pool.map(task, batches):
                yield from made
    except BrokenProcessPool:
        raise MindferryError(
            "a worker process ended by itself, perhaps for lack of memory; run again with -j 1"
        ) from None


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without the garbage collector: syntax trees hold no cycles, and looking for them takes a fifth of the time. Without the sources' warnings."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if was_on:
            gc.enable()


def _convert_batch(files: list[ProjectFile], layout: Layout, symbols: Symbols, settings: Settings) -> list[Written]:
    with quietly():
        return [convert_one(file, layout, symbols, settings) for file in files]
