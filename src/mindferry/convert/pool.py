"""Files converted in several processes. Each starts from the same reading of the project, so the result is the same for any number."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import warnings
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

from ..files import read_regular
from ..layout import Layout, ProjectFile, Sources
from ..read.source import Unreadable
from ..read.symbols import Symbols
from .one_file import Written, convert_one, failed
from .settings import Settings

AHEAD = 4  # batches that wait for each process
BATCHES = 8  # for each process: files differ in size
WORTH_A_POOL = 60  # files of code; below that the processes take longer to start than they save


def convert_files(
    files: list[ProjectFile], layout: Layout, symbols: Symbols, settings: Settings, workers: int, sources: Sources
) -> Iterator[Written]:
    """In the order of `files`. `workers` 0: as many as there are cores, if there are enough files.

    Other processes read the files anew: a tree takes longer to send than to parse.
    """
    code = sum(file.is_code for file in files)
    workers = min(workers or (len(os.sched_getaffinity(0)) if code >= WORTH_A_POOL else 1), max(code, 1))
    if workers == 1:
        with quietly():
            for file in files:
                yield convert_one(file, layout, symbols, settings, sources)
        return
    done = 0
    try:
        for written in _in_pool(files, layout, symbols, settings, workers):
            yield written
            done += 1
    except BrokenProcessPool:  # one of the files being converted ended its process; which one, only trying can tell
        for file in files[done:]:
            yield from _alone(file, layout, symbols, settings)


def _in_pool(
    files: list[ProjectFile], layout: Layout, symbols: Symbols, settings: Settings, workers: int
) -> Iterator[Written]:
    """A few batches ahead of what is taken, so that results don't pile up."""
    context = multiprocessing.get_context("spawn")
    # Each batch brings the project's facts along: a worker process keeps nothing from one to the next.
    size = max(4, len(files) // (workers * BATCHES))
    task = partial(_convert_batch, layout=layout, symbols=symbols, settings=settings)
    with _safe_path(), ProcessPoolExecutor(workers, context) as pool:
        waiting: deque[Future[list[Written]]] = deque()
        try:
            for start in range(0, len(files), size):
                waiting.append(pool.submit(task, files[start : start + size]))
                if len(waiting) > AHEAD * workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _alone(file: ProjectFile, layout: Layout, symbols: Symbols, settings: Settings) -> Iterator[Written]:
    try:
        yield from _in_pool([file], layout, symbols, settings, 1)
    except BrokenProcessPool:
        reason = Unreadable("the process that converted it ended by itself, perhaps for lack of memory")
        yield failed(file, reason, read_regular(file.path))


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Without the current folder on the path of the processes that start meanwhile: it may hold a random.py of anybody's."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


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
    sources = Sources()
    with quietly():
        return [convert_one(file, layout, symbols, settings, sources) for file in files]
