"""What a watched process notes, when it writes it down, and how it is stopped."""

from __future__ import annotations

import atexit
import json
import multiprocessing.util
import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from types import CodeType, TracebackType
from typing import Any

SNAPSHOT = 3.0  # seconds between records, so that a killed process leaves one
FILES = 1000  # names kept of what was opened, lines of what was read
GRACE = 15.0  # seconds that a script has to end after its last step
MORE = 10  # times as many steps as were asked for that a script may make if it soon ends by itself


class Enough(SystemExit):
    """Ends a script that has made enough steps; a SystemExit, so that nothing is printed and the exit code is 0."""


@dataclass(frozen=True)
class WatchRequest:
    """What the parent asks for."""

    folder: str  # where records go
    root: str  # the project
    role: str  # observe, seed, plain
    steps: int = 0  # 0: no limit
    seconds: float = 0.0
    to_end: float = 0.0  # seconds after the last step in which the script may end by itself
    seed: int = 0  # added to every seed
    blocked: tuple[str, ...] = ()  # packages that are not in reach
    sites: dict[str, list[list[int]]] = field(default_factory=dict)  # file -> line, column, end line, end column
    began: float = 0.0  # when the first of the commands did: what is newer is theirs

    @classmethod
    def read(cls, path: str) -> WatchRequest:
        with open(path, encoding="utf-8") as file:
            body = json.load(file)
        return cls(**{each.name: body[each.name] for each in fields(cls) if each.name in body})


def is_data(arguments: tuple[Any, ...]) -> bool:
    """Whether a file is opened to be read, and is neither code nor the machine's own."""
    path, mode = arguments[0], arguments[1] if len(arguments) > 1 else "r"
    if not isinstance(path, str) or (isinstance(mode, str) and not mode.startswith("r")):
        return False
    flags = arguments[2] if len(arguments) > 2 and isinstance(arguments[2], int) else 0
    parts = path.split(os.sep)
    is_code = path.endswith((".py", ".pyc", ".so", ".pth", ".egg-link", ".ipynb")) and "site-packages" in parts
    is_machine = path.startswith(("/proc", "/sys", "/dev", "/etc", sys.prefix, sys.base_prefix, "<"))
    is_machine |= path.endswith(os.path.join(".keras", "keras.json"))  # the framework's own settings
    is_machine |= any(part.endswith((".dist-info", ".egg-info")) for part in parts)  # what a package says of itself
    return not (is_code or is_machine or flags & os.O_WRONLY or path.endswith((".py", ".pyc")))


class Listener:
    """A standard input that remembers what was read from it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.heard: list[str] = []

    def _hear(self, text: str) -> str:
        if len(self.heard) < FILES:
            self.heard.append(text)
        return text

    def readline(self, *args: Any) -> str:
        return self._hear(self.stream.readline(*args))

    def read(self, *args: Any) -> str:
        return self._hear(self.stream.read(*args))

    def isatty(self) -> bool:
        return False  # else input() asks the terminal itself

    def __iter__(self) -> Any:
        return iter(self.readline, "")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _add(body: dict[str, Any], facts: dict[str, Any]) -> None:
    """A process may hold two frameworks, as where torch's tensorboard imports TensorFlow: what both saw is kept."""
    for name, value in facts.items():
        known = body.get(name)
        if isinstance(known, list) and isinstance(value, list):
            body[name] = [*known, *value]
        elif isinstance(known, dict) and isinstance(value, dict):
            body[name] = {**known, **value}
        else:
            body[name] = value


class Session:
    """One process. Watchers add to `facts` and register what they gather at the end with `at_end`."""

    def __init__(self, settings: WatchRequest) -> None:
        self.settings = settings
        self.began = time.monotonic()
        self.facts: dict[str, Any] = {"argv": sys.orig_argv, "pid": os.getpid(), "rank": os.environ.get("RANK", "0")}
        self.steps: list[dict[str, float]] = []
        self.last_step_at = 0.0  # when the last step was made that is wanted
        self.ended = ""
        self._gather: list[Callable[[bool], dict[str, Any]]] = []
        self._gather_in_forks: list[Callable[[bool], dict[str, Any]]] = []
        self._lock = threading.RLock()
        self._process = os.getpid()
        self.traced: dict[str, set[int]] = {}  # file -> lines of functions that a framework ran in a form of its own
        self.arrays: dict[str, Any] = {}  # inputs and batches, of all frameworks that the process holds
        self.watched_steps: Any = None  # MindSpore's, for the helpers that are imported later

    def install(self) -> None:
        atexit.register(self.write, "itself")
        if self.settings.role == "observe":
            self._listen()
            multiprocessing.util.register_after_fork(self, Session.begin_in_fork)
        threading.Thread(target=self._keep_time, daemon=True).start()
        previous = sys.excepthook

        def excepthook(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
            self.facts["error"] = self.describe(error)
            while at is not None and at.tb_frame.f_code.co_filename == "<frozen runpy>" and at.tb_next is not None:
                at = at.tb_next  # the watch's own way of starting the script
            (sys.excepthook if sys.excepthook is not excepthook else previous)(kind, error.with_traceback(at), at)

        sys.excepthook = excepthook

    def begin_in_fork(self) -> None:
        """A worker that was forked has a record of its own, with what it reached; the rest is its parent's."""
        self._process, self.ended, self.steps = os.getpid(), "", []
        self._lock = (
            threading.RLock()
        )  # the parent's may have been held when it forked, and nobody is here to release it
        self.facts = {"argv": sys.orig_argv, "pid": self._process, "rank": "worker"}
        self._gather = [each for each in self._gather if each in self._gather_in_forks]
        multiprocessing.util.Finalize(None, self.write, args=("itself",), exitpriority=100)

    def _is_made(self, path: str) -> bool:
        """Whether the commands themselves have written the file by now, such as a checkpoint that is loaded again."""
        try:
            return bool(self.settings.began) and os.stat(path).st_mtime >= self.settings.began
        except (OSError, ValueError):
            return False

    def _listen(self) -> None:
        """Which files the script reads, and what it is told on its standard input."""
        opened: dict[str, None] = {}

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "open" and len(opened) < FILES and is_data(arguments) and not self._is_made(arguments[0]):
                opened[os.path.abspath(arguments[0])] = None

        sys.addaudithook(hook)
        self.at_end(lambda is_last: {"opened": [self._name(path) for path in opened if os.path.isfile(path)]})
        if sys.stdin is not None:
            given = Listener(sys.stdin)
            sys.stdin = given
            self.at_end(lambda is_last: {"stdin": "".join(given.heard)})

    def _name(self, path: str) -> str:
        return self.relative(path) if path.startswith(self.settings.root + os.sep) else path

    def describe(self, error: BaseException) -> dict[str, Any]:
        """The error, with the lines of the project that it passed, outermost first."""
        frames, at = [], error.__traceback__
        while at is not None:
            name = os.path.realpath(at.tb_frame.f_code.co_filename)
            if name.startswith(self.settings.root + os.sep) and os.path.isfile(name):
                frames.append([self.relative(name), at.tb_lineno, at.tb_frame.f_code.co_name])
            at = at.tb_next
        return {"type": type(error).__name__, "message": str(error)[:4000], "frames": frames[-20:]}

    def relative(self, path: str) -> str:
        return os.path.relpath(path, self.settings.root).replace(os.sep, "/")

    def is_own(self, path: str) -> bool:
        """Whether a file is the project's own, and not of an environment that lies inside of it."""
        if not path.startswith(self.settings.root + os.sep):
            return False
        parts = path[len(self.settings.root) :].split(os.sep)
        return not {"site-packages", "dist-packages", ".venv", "venv"}.intersection(parts)

    def trace(self, code: CodeType) -> None:
        """Note that a function ran whose probes can't: all its lines count."""
        path = os.path.realpath(code.co_filename)
        if self.is_own(path):
            self.traced.setdefault(self.relative(path), set()).update(line for *_, line in code.co_lines() if line)
            for each in code.co_consts:
                if isinstance(each, CodeType):
                    self.trace(each)

    def at_end(self, gather: Callable[[bool], dict[str, Any]], in_forks: bool = False) -> None:
        """`gather(is_last)` returns facts; it is also asked now and then while the script runs."""
        self._gather.append(gather)
        if in_forks:
            self._gather_in_forks.append(gather)

    def step(self, entry: dict[str, float]) -> None:
        """Note a training step; the last one that is wanted ends the script, unless it soon ends by itself.

        What a script does after its training, such as to evaluate and to save, is reached by that.
        """
        self.steps.append(entry)
        wanted = self.settings.steps
        if not wanted or len(self.steps) < wanted:
            return
        if len(self.steps) == wanted and not self.last_step_at:
            self.last_step_at = time.monotonic()
        if len(self.steps) >= MORE * wanted or self._is_overdue():
            self.stop()

    def _is_overdue(self) -> bool:
        return bool(self.last_step_at) and time.monotonic() - self.last_step_at >= self.settings.to_end

    def stop(self) -> None:
        if self.ended:  # the script caught the first request to end
            self.leave()
        self.write("steps")
        timer = threading.Timer(GRACE, self.leave)
        timer.daemon = True
        timer.start()
        raise Enough(0)

    def leave(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                continue
        os._exit(0)

    def write(self, ended: str) -> None:
        """The record, whole or not at all. The first ending counts."""
        if os.getpid() != self._process:  # a forked child has its own ending
            return
        with self._lock:
            if self.ended:
                return
            is_last = ended != "running"
            if ended == "steps":
                del self.steps[self.settings.steps :]  # those after were only made because it might have ended
            body = {**self.facts, "steps": list(self.steps), "ended": ended, "seconds": time.monotonic() - self.began}
            body["peak_memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            for gather in self._gather:
                try:
                    _add(body, gather(is_last))
                except Exception as error:  # what can't be gathered must not break the script
                    body.setdefault("lost", []).append(f"{type(error).__name__}: {error}")
            self.ended = ended if is_last else ""
            self._replace(f"part-{self._process}.json", json.dumps(body))

    def _replace(self, name: str, text: str) -> None:
        target = os.path.join(self.settings.folder, name)
        try:
            with open(f"{target}.new", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(f"{target}.new", target)
        except OSError:
            return  # the parent has given up on this run

    def _keep_time(self) -> None:
        while True:
            left = self.settings.seconds - (time.monotonic() - self.began) if self.settings.seconds else SNAPSHOT
            time.sleep(max(0.0, min(SNAPSHOT, left)))
            if self.settings.seconds and time.monotonic() - self.began >= self.settings.seconds:
                self.write("seconds")
                self.leave()
            if (
                self._is_overdue() and not self.ended
            ):  # no further step comes: it evaluates, or has begun something else
                self.write("steps")
                self.leave()
            self.write("running")
