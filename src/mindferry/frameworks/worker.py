"""The child side of process.py: reads calls from a pipe, runs them, answers on another pipe.

Started as `python -P -m mindferry.frameworks.worker REQUESTS REPLIES FRAMEWORK PROJECT`, never forked. What the
user's code prints goes to the log, which is this process's stdout and stderr; the protocol has pipes of its own.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import importlib
import json
import os
import queue
import signal
import sys
import threading
import traceback
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

from ..as_json import build
from ..errors import MindferryError, OtherNetworkError
from .remains import MARK, end_marked

Json = Any  # what json.dumps takes


@dataclass(slots=True)
class Link:
    """What a function running in the worker may use: `def function(request: SomeRequest, link: Link) -> SomeAnswer`."""

    replies: int
    framework: str
    project: Path | None
    scratch: Path
    state: dict[str, Any] = field(default_factory=dict)  # lives as long as the worker: the built model, for instance

    def say(self, text: str) -> None:
        """Stream a line about the progress to the caller's `show`."""
        self.report(text)

    def report(self, message: Json) -> None:
        """The same for `Worker.call`, in plain JSON."""
        self._send({"message": message})

    def doing(self, what: str) -> None:
        """Say what runs next, so that a crash or a hang is reported with its name."""
        self._write(b'{"doing": %s}\n' % encode_basestring_ascii(what).encode())  # at every module, twice

    def _send(self, message: dict[str, Json]) -> None:
        self._write(json.dumps(message, default=fields).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.replies, data) :]


def main() -> None:
    requests, replies, framework, project = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    for descriptor in (requests, replies):
        os.set_inheritable(descriptor, False)
    _stay_behind_a_guard()
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    folder = Path(project) if project else None
    if folder is not None:
        sys.path.insert(0, str(folder))
    link = Link(replies, framework, folder, Path.cwd().parents[2])
    calls: queue.SimpleQueue[dict[str, Json]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, calls), daemon=True).start()
    _prepare(framework)
    while True:
        call = calls.get()
        link._send(_answer(call["function"], call["payload"], call["is_typed"], link))


def _read(requests: int, calls: queue.SimpleQueue[dict[str, Json]]) -> None:
    """Queue the calls; when the parent is gone, go too, with every process started here."""
    with os.fdopen(requests) as lines:
        for line in lines:
            calls.put(json.loads(line))
    end_marked(os.environ.get(MARK, ""))
    os.killpg(0, signal.SIGKILL)


def _stay_behind_a_guard() -> None:
    """Go on in a child: code that ends its parent ends a process that does nothing but wait, and that is a sentence."""
    child = os.fork()
    if not child:
        return
    signal.signal(signal.SIGUSR1, lambda *_: os.kill(child, signal.SIGUSR1))
    while True:
        try:
            status = os.waitpid(child, 0)[1]
            break
        except InterruptedError:
            continue
    if os.WIFSIGNALED(status):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL) if os.WTERMSIG(status) != signal.SIGKILL else None
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _prepare(framework: str) -> None:
    if framework == "mindspore":
        import mindspore

        # Without this a kernel's error surfaces at some later, unrelated operator.
        mindspore.runtime.launch_blocking()


def fields(value: Any) -> Json:
    """A dataclass as JSON holds it, floats that are no numbers included."""
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}


def request_type(function: Callable[..., Any]) -> Any:
    """What its first parameter is annotated with."""
    return next(iter(typing.get_type_hints(function).values()))


def answer_type(function: Callable[..., Any]) -> Any:
    return typing.get_type_hints(function)["return"]


def _answer(function: str, payload: Json, is_typed: bool, link: Link) -> dict[str, Json]:
    try:
        module, name = function.split(":")
        run = getattr(importlib.import_module(module), name)
        return {"result": run(build(request_type(run), payload) if is_typed else payload, link)}
    except MindferryError as error:
        return {"refused": str(error), "is_other": isinstance(error, OtherNetworkError)}
    except BaseException as error:
        traceback.print_exc()
        sys.stderr.flush()
        return {"error": _sentence(error), "where": _where(error, link.project)}


def _sentence(error: BaseException) -> str:
    """MindSpore appends its C++ call stack to a message; the first paragraph holds what the user needs.

    Where the user's code failed in a data worker, both frameworks quote its traceback; then its last line does.
    """
    text = str(error).strip()
    quoted = text.partition("Traceback (most recent call last)")[2]
    said = quoted.split("\n\n---")[0].strip().splitlines()[-1] if quoted else f"{type(error).__name__}: {text}"
    return " ".join(said.split("\n\n")[0].split("\n----")[0].split())[:600]


def _where(error: BaseException, project: Path | None) -> str:
    """The innermost line of the user's own project, or of anything else if none of it was involved."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if project is not None and Path(frame.filename).is_relative_to(project)]
    if not own:
        return ""
    return f"{Path(own[-1].filename).relative_to(project or '/')} line {own[-1].lineno}"


if __name__ == "__main__":
    main()
