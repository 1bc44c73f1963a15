"""Cases of the yardstick, run in a process that they share with the others of their network.

Starting MindSpore takes longer than most cases. After one in which an operator failed the process is replaced: MindSpore's gradients
can't be trusted from there on, and neither could the verdicts of the cases behind it.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

Case = tuple[str, int]  # what to run: first, open, sealed, attacks or right, and its number there
Run = Callable[[Case], tuple[list[object], bool]]  # its result, and whether an operator failed
LIMIT = 300.0  # seconds a case


class Separate:
    """A process for one network; it starts with the first case."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._group = ""

    def ask(self, case: Case, group: str) -> list[object] | None:
        """The result; None if the case crashed or took too long."""
        if group != self._group or self._process is None or not self._process.is_alive():
            self.close()
            self._start()
            self._group = group
        assert self._pipe is not None
        self._pipe.send(case)
        if not self._pipe.poll(LIMIT):
            self.close()
            return None
        try:
            result, is_spoilt = self._pipe.recv()
        except EOFError:
            self.close()
            return None
        if is_spoilt:
            self.close()
        return list(result)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _start(self) -> None:
        os.environ["OMP_NUM_THREADS"] = "1"  # it is made to be run beside other work
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._run), daemon=True)
        self._process.start()
        theirs.close()


def _serve(pipe: Connection, run: Run) -> None:
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            return
        pipe.send(run(case))
