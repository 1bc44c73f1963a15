"""One framework in one worker process: start it, call functions in it, stream their messages, survive its death.

    with Worker("mindspore", project=Path("build/resnet50_ms")) as worker:
        curve = worker.ask(replay, ReplayRequest("train.py", steps=20), show)

- The function runs in the worker. It takes a request and a `Link` and returns an answer: frozen dataclasses of
  requests.py, which travel as JSON; a type checker sees that the three belong together. In it, `link.say(text)`
  streams a line to `show`, `link.doing("layer1.0.conv1")` says what runs next (a crash or a hang is then reported
  with it), `link.scratch` is a folder for arrays that goes when the worker goes, `link.state` is a dictionary that
  lives from call to call (keep the built model there).
- `pending = worker.start(...)` then `pending.result()` are the two halves of `ask`: start both frameworks, then wait
  for both. `worker.call("module:function", value)` is for functions that only the worker can import, and takes and
  gives plain JSON.
- The project folder comes first on the worker's sys.path. Its working directory is scratch, with links to the
  project's own files, to data of the `reference` that it was converted from, and to its neighbours: relative paths work
  (`../data`), and what MindSpore drops there (kernel_meta, rank_0) is thrown away.
- MindferryError in the function reaches the caller with its own words. Anything else becomes a WorkerError, which is a
  MindferryError: one sentence with `kind` ("error", "crash", "hang"), `doing`, and the worker's last lines in `log`.
- A worker that says nothing (no message, no `doing`) for `silence` seconds hangs, and is ended. No process stays
  behind: a worker and all that it started end with `close`, and also when this process is killed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

from ..as_json import build
from ..errors import MindferryError, OtherNetworkError
from .mirror import link_entries
from .remains import MARK, end_marked, new_scratch
from .worker import Json, Link, answer_type, fields

OnMessage = Callable[[Json], None]
Show = Callable[[str], None]
Request = TypeVar("Request")
Answer = TypeVar("Answer")

TITLES = {"torch": "torch", "tensorflow": "TensorFlow", "mindspore": "MindSpore"}
SILENCE = 600.0


class WorkerError(MindferryError):
    """The worker's function raised, or the worker crashed or hung."""

    keeps_lines = True

    def __init__(self, message: str, *, kind: str, framework: str, doing: str, detail: str, log: str) -> None:
        super().__init__(message)
        self.kind, self.framework, self.doing, self.detail, self.log = kind, framework, doing, detail, log

    @property
    def sentence(self) -> str:
        """Without the worker's last lines."""
        return str(self).partition("\n")[0]


class Worker:
    """See the module's docstring."""

    def __init__(
        self,
        framework: str,
        project: Path | None = None,
        *,
        silence: float = SILENCE,
        environment: Mapping[str, str] | None = None,
        reference: Path | None = None,
    ) -> None:
        if importlib.util.find_spec(framework) is None:
            wanted = "tensorflow-cpu keras" if framework == "tensorflow" else f"'mindferry[{framework}]'"
            raise MindferryError(f"{TITLES[framework]} is not installed here; run `pip install {wanted}`")
        self.framework, self.silence = framework, silence
        self.project = project.resolve() if project is not None else None
        self.reference = reference.resolve() if reference is not None else self.project
        self.scratch = new_scratch()
        self._log = self.scratch / "log"
        self._doing, self._buffer, self._function = "", b"", ""
        self._mark = self.scratch.name
        # list(set(words)) comes in the same order on both sides
        shared = {"PYTHONHASHSEED": "0", **os.environ, **settings(framework), **(environment or {}), MARK: self._mark}
        self._process = self._spawn(shared)

    def _spawn(self, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        cwd = self.scratch / "place" / "near" / "cwd"
        cwd.mkdir(parents=True)
        for folder in dict.fromkeys((self.project, self.reference)):
            link_entries(folder, cwd, is_code_wanted=folder == self.project)
        if self.reference is not None:
            link_entries(self.reference.parent, cwd.parent)  # ../data
            link_entries(self.reference.parent.parent, cwd.parent.parent)  # ../../data
        request_end, self._requests = os.pipe()
        self._replies, reply_end = os.pipe()
        command = [sys.executable, "-P", "-m", f"{__package__}.worker", str(request_end), str(reply_end)]
        try:
            with self._log.open("wb") as log:
                return subprocess.Popen(
                    [*command, self.framework, str(self.project or "")],
                    cwd=cwd,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(request_end, reply_end),
                    start_new_session=True,  # so that it can be ended together with what it started
                )
        finally:
            os.close(request_end)
            os.close(reply_end)

    def ask(self, function: Callable[[Request, Link], Answer], request: Request, show: Show | None = None) -> Answer:
        """Run `function` in the worker and return its answer."""
        return self.start(function, request).result(show)

    def start(self, function: Callable[[Request, Link], Answer], request: Request) -> Pending[Answer]:
        """Begin to; one at a time."""
        self._begin(f"{function.__module__}:{function.__name__}", request, is_typed=True)
        return Pending(self, answer_type(function))

    def call(self, function: str, payload: Json = None, on_message: OnMessage | None = None) -> Json:
        """The same by name and in plain JSON: run `module:function` in the worker and return its result."""
        self._begin(function, payload, is_typed=False)
        return self.result(on_message)

    def _begin(self, function: str, payload: Any, is_typed: bool) -> None:
        self._function, self._doing = function, ""
        message = {"function": function, "payload": payload, "is_typed": is_typed}
        data = json.dumps(message, default=fields).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):  # it died: result() says how
            while data:
                data = data[os.write(self._requests, data) :]

    def result(self, on_message: OnMessage | None = None) -> Json:
        """Wait for what was begun."""
        while True:
            reply = self._receive()
            if "doing" in reply:
                self._doing = reply["doing"]
            elif "message" in reply:
                if on_message is not None:
                    on_message(reply["message"])
            elif "refused" in reply:
                raise (OtherNetworkError if reply["is_other"] else MindferryError)(reply["refused"])
            elif "error" in reply:
                raise self._failure("error", reply["error"], reply["where"])
            else:
                return reply["result"]

    def close(self) -> None:
        """End the worker and whatever it started, and remove its scratch folder."""
        self._end()
        for descriptor in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _receive(self) -> dict[str, Json]:
        deadline = time.monotonic() + self.silence
        while b"\n" not in self._buffer:
            ended = self._process.poll() is not None  # asked before looking, so that its last words are read
            # Short waits: a process forked by the worker may hold the pipe open after the worker has died.
            ready, _, _ = select.select([self._replies], [], [], 0.5)
            data = os.read(self._replies, 1 << 16) if ready else b""
            if data:
                self._buffer += data
                deadline = time.monotonic() + self.silence
            elif ended:
                raise self._failure("crash", _ending(self._process.returncode), self._fatal_frame())
            elif time.monotonic() > deadline:
                raise self._hang()
        line, _, self._buffer = self._buffer.partition(b"\n")
        reply: dict[str, Json] = json.loads(line)
        return reply

    def _hang(self) -> WorkerError:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGUSR1)  # faulthandler writes the Python stack to the log
        time.sleep(1.0)
        self._end()
        return self._failure("hang", f"said nothing for {self.silence:.0f} s", self._fatal_frame())

    def _failure(self, kind: str, detail: str, where: str) -> WorkerError:
        if kind != "error":
            self._end()
        verb = {"error": "failed", "crash": "died", "hang": "hung"}[kind]
        place = f" in {self._doing}" if self._doing else ""
        line = f" ({where})" if where else ""
        log = self._tail(20)
        last = "".join(f"\n  {text}" for text in _without_stack(self._tail(200)).splitlines()[-8:])
        shown = f"\nIts last lines:{last}" if last and kind != "error" else ""
        message = f"the {TITLES[self.framework]} worker {verb}{place}{line}: {detail}{shown}"
        return WorkerError(message, kind=kind, framework=self.framework, doing=self._doing, detail=detail, log=log)

    def _fatal_frame(self) -> str:
        """From faulthandler's stack in the log: the innermost call, and the innermost line of the user's project."""
        log = self._tail(200)
        stack = log[log.rfind("Current thread" if "Current thread" in log else "Thread 0x") :]
        frames = [line.strip() for line in stack.splitlines() if line.strip().startswith('File "')]
        own = [frame for frame in frames if self.project is not None and str(self.project) in frame]
        chosen = "; ".join(dict.fromkeys([*frames[:1], *own[:1]]))
        return chosen.replace("File ", "").replace(f"{self.project}/", "").replace('"', "")

    def _tail(self, lines: int) -> str:
        try:
            with self._log.open("rb") as log:
                log.seek(max(0, self._log.stat().st_size - (1 << 16)))
                return "\n".join(log.read().decode("utf-8", "replace").splitlines()[-lines:])
        except OSError:
            return ""

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        end_marked(self._mark)


@dataclass(frozen=True, slots=True)
class Pending(Generic[Answer]):
    """What a worker was asked and has not answered yet."""

    worker: Worker
    kind: Any  # the answer's type

    def result(self, show: Show | None = None) -> Answer:
        """Wait for the answer."""
        made: Answer = build(self.kind, self.worker.result(show))
        return made


def _without_stack(log: str) -> str:
    """What was printed before faulthandler wrote its stack, which is shown as the innermost lines already."""
    return re.split(r"^(?:Fatal Python error: |Current thread |Thread 0x)", log, maxsplit=1, flags=re.MULTILINE)[
        0
    ].strip()


def settings(framework: str) -> dict[str, str]:
    """The environment that makes `framework` usable in a worker; what the user has set stays."""
    wanted = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    if framework == "mindspore":
        wanted["GLOG_v"] = "4"
        if _has_avx512():
            # The bundled oneDNN falls back to its reference convolution there: 365 ms instead of 5 ms.
            wanted["ONEDNN_MAX_CPU_ISA"] = "AVX2"
    if framework == "tensorflow":
        wanted |= {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "KERAS_BACKEND": "tensorflow"}
    return {name: value for name, value in wanted.items() if name not in os.environ}


def _has_avx512() -> bool:
    try:
        return "avx512f" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def _ending(code: int) -> str:
    if code < 0:
        name = signal.Signals(-code).name
        return f"{name} (out of memory?)" if name == "SIGKILL" else f"{name} in native code"
    return f"it left with exit code {code}"
