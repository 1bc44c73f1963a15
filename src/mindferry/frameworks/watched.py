"""A user's command in a process of its own, watched: its messages passed on, stopped after enough steps or seconds.

    run = run_watched(["python", "train.py", "--epochs", "1"], folder, Watch(root, "observe", steps=20))

The command runs as the user would run it. What watches it is a `sitecustomize` on its PYTHONPATH (`watch/`), so every
Python that the command starts is watched too: modules, torchrun's ranks, tests. Each process writes what it noted
as one JSON file; nothing is written into the project.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from ..apis import SOURCES
from ..errors import MindferryError

WATCH = Path(__file__).parent / "watch"
GRACE = 30.0  # seconds that a process has to write its record after its time is over
TAIL = 200_000  # characters of output kept
TO_END = 10.0  # seconds after its last step in which a script may end by itself
PYTHONS = ("python", "python3")

Write = Callable[[bytes], None]
Span = tuple[int, int, int, int]  # line, column, end line, end column


@dataclass(frozen=True, slots=True)
class Watch:
    """What to note, and when to stop."""

    root: Path  # the project whose code is watched
    role: str = "observe"  # observe: everything; seed: steps alone, with other seeds; plain: steps alone
    steps: int = 0  # 0: no limit
    seconds: float = 0.0
    to_end: float = 0.0  # seconds after the last step in which the script may end by itself
    seed: int = 0
    blocked: tuple[str, ...] = ()  # packages that must not be found
    sites: dict[str, list[Span]] = field(default_factory=dict)
    began: float = 0.0  # when the first of several commands did; files that are newer are not what they were given


@dataclass(frozen=True, slots=True)
class Run:
    """How a watched command ended, and what its processes noted, the one that trained first."""

    command: tuple[str, ...]
    code: int
    ended: str  # itself, steps, seconds, error, killed, interrupted
    seconds: float
    output: str  # the last of what it printed
    records: tuple[dict[str, Any], ...]
    folder: Path  # arrays and weights that it left; lives as long as `run_watched`'s scratch

    @property
    def main(self) -> dict[str, Any]:
        return self.records[0] if self.records else {}

    @property
    def losses(self) -> tuple[float, ...]:
        return tuple(float(step["loss"]) for step in self.main.get("steps", []))

    @property
    def rates(self) -> tuple[float, ...]:
        """Of the first group of the optimizer that made each step; not a number where nothing tells it."""
        return tuple(float(step.get("lr", math.nan)) for step in self.main.get("steps", []))

    @property
    def is_whole(self) -> bool:
        """Whether it came to its own end."""
        return self.ended == "itself"

    @property
    def is_well(self) -> bool:
        return self.ended in ("itself", "steps", "seconds", "interrupted")


def run_watched(
    command: Sequence[str],
    cwd: Path,
    watch: Watch,
    scratch: Path,
    *,
    write: Write = lambda data: None,
    environment: dict[str, str] | None = None,
    stdin: int | IO[bytes] | None = None,
) -> Run:
    """Run the command in `cwd` until it ends or is stopped. Records stay in `scratch`."""
    scratch.mkdir(parents=True, exist_ok=True)
    settings = scratch / "settings.json"
    body = asdict(watch) | {"root": str(watch.root.resolve()), "folder": str(scratch)}
    settings.write_text(json.dumps(body), "utf-8")
    started = time.monotonic()
    process = _start(_with_watch(command), cwd, _environment(settings, environment or {}), stdin)
    kept = bytearray()
    reader = threading.Thread(target=_pass_on, args=(process.stdout, write, kept), daemon=True)
    reader.start()
    is_late = is_interrupted = False
    try:
        process.wait(watch.seconds + GRACE if watch.seconds else None)
    except subprocess.TimeoutExpired:
        is_late = True
    except KeyboardInterrupt:
        is_interrupted = True
        _interrupt(process)
    finally:
        _end_group(process)
    reader.join(5.0)
    records = tuple(_records(scratch))
    ended = "interrupted" if is_interrupted else "seconds" if is_late else _ending(process.returncode, records)
    if ended in ("error", "killed") and _has_made_its_steps(records, watch):
        ended = "steps"  # what is wanted of it was seen before it failed
    output = kept[-TAIL:].decode("utf-8", "replace")
    return Run(tuple(command), process.returncode, ended, time.monotonic() - started, output, records, scratch)


def _with_watch(command: Sequence[str]) -> list[str]:
    """`env PYTHONPATH=. python train.py`: a path of the command's own keeps what watches it."""
    count = next((index for index, word in enumerate(command[1:], 1) if "=" not in word), len(command))
    if command[0] != "env":
        return list(command)
    start = "PYTHONPATH="
    added = [
        f"{start}{WATCH}{os.pathsep}{each.removeprefix(start)}" if each.startswith(start) else each
        for each in command[:count]
    ]
    return [*added, *command[count:]]


def joined(runs: Sequence[Run]) -> Run:
    """Several commands one after another as one run: it ends as the last one ends."""
    if len(runs) == 1:
        return runs[0]
    steps = [step for run in runs for step in run.main.get("steps", [])]
    main = {**runs[-1].main, "steps": steps, "stdin": "".join(run.main.get("stdin", "") for run in runs)}
    words = [word for run in runs for word in ("&&", *run.command)][1:]
    return Run(
        tuple(words),
        runs[-1].code,
        runs[-1].ended,
        sum(run.seconds for run in runs),
        "".join(run.output for run in runs)[-TAIL:],
        (main, *runs[-1].records[1:]),
        runs[-1].folder,
    )


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mindferry-run-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _start(
    command: Sequence[str], cwd: Path, environment: dict[str, str], stdin: int | IO[bytes] | None
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(command),
            cwd=cwd,
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that it can be ended together with what it started
        )
    except OSError as error:
        raise MindferryError(
            f"cannot run `{' '.join(command)}` in {cwd}: {error.strerror}; check the command"
        ) from None


def _environment(settings: Path, more: dict[str, str]) -> dict[str, str]:
    path = os.environ.get("PATH", "")
    if any(
        importlib.util.find_spec(name) is not None for name in SOURCES
    ):  # `python` and `torchrun` are those that stand beside mindferry
        path = os.pathsep.join([str(Path(sys.executable).parent), path])
    libraries = [str(WATCH), *(os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": os.pathsep.join(each for each in libraries if each),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "MINDFERRY_WATCH": str(settings),
        **more,
    }


def _pass_on(stream: IO[bytes] | None, write: Write, kept: bytearray) -> None:
    assert stream is not None
    while data := stream.read1(1 << 16):  # type: ignore[attr-defined]
        write(data)
        kept += data
        del kept[: -2 * TAIL]


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired, KeyboardInterrupt):
        os.killpg(process.pid, signal.SIGINT)
        process.wait(GRACE)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _records(folder: Path) -> list[dict[str, Any]]:
    found = []
    for path in sorted(folder.glob("part-*.json")):
        with contextlib.suppress(OSError, ValueError):
            found.append(json.loads(path.read_text("utf-8")))
    return sorted(found, key=lambda record: (-len(record.get("steps", [])), record.get("rank", "0"), record["pid"]))


def _has_made_its_steps(records: tuple[dict[str, Any], ...], watch: Watch) -> bool:
    """Whether it failed only after the steps that were asked for; those beyond don't count then."""
    if not (watch.to_end and watch.steps and records) or len(records[0].get("steps", [])) < watch.steps:
        return False
    for record in records:
        del record["steps"][watch.steps :]
    return True


def _ending(code: int, records: tuple[dict[str, Any], ...]) -> str:
    told = {str(record.get("ended", "")) for record in records}
    if code < 0:
        return "killed"
    if code:
        return "error"
    return next((each for each in ("seconds", "steps") if each in told), "itself")
