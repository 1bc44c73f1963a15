"""Watches one process: which code it reaches, what its framework does, how it ends. Needs the standard library alone."""

from __future__ import annotations

import contextlib
from typing import Any

from .code import Watcher
from .session import Session, WatchRequest


def start(path: str) -> None:
    """Begin to watch as the settings at `path` say. A watch that can't start leaves the script alone."""
    with contextlib.suppress(OSError, ValueError):
        session = Session(WatchRequest.read(path))
        session.install()
        watched = {"torch": _torch, "tensorflow": _tensorflow, "keras": _tensorflow, "mindspore": _mindspore}
        Watcher(session, {**watched}).install()


def _torch(session: Session, module: Any) -> None:
    from .torch_run import watch_torch

    watch_torch(session)


def _tensorflow(session: Session, module: Any) -> None:
    from .tensorflow_run import watch_tensorflow

    watch_tensorflow(session, module.__name__)


def _mindspore(session: Session, module: Any) -> None:
    from .mindspore_run import watch_mindspore

    watch_mindspore(session)
