"""Starts msrun, shows rank 0's output, ends every process when one fails, and starts again from the last checkpoint."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from ..artifacts import STATE
from ..errors import MindferryError
from ..frameworks.process import settings
from ..weights.formats.files import open_checkpoint
from .job import Job, free_port, options
from .litter import swept
from .logs import Tail, ending, error_of, failed_worker
from .processes import MARK, end_all, members

POLL = 0.3
DISTRIBUTED = re.compile(r"\bcommunication\b|\bdistributed\b")
LEAVING = 20.0  # seconds for the scheduler once all workers are gone; msrun itself would wait for up to a minute

Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the job ended."""

    passed: bool
    starts: int
    seconds: float
    logs: str
    failed_rank: int = -1
    error: str = ""
    checkpoint: str = ""  # what the last start resumed from


@dataclass(frozen=True, slots=True)
class Failure:
    rank: int
    error: str


def launch(
    job: Job,
    *,
    restarts: int = 0,
    resume: tuple[str, ...] = (),
    checkpoints: str = "",
    show: Show = print,
    note: Show = lambda text: None,
) -> Outcome:
    """Run the job; after a failure up to `restarts` times more, with `resume` after its arguments."""
    begin, checkpoint, failure = time.monotonic(), "", None
    for start in range(1, restarts + 2):
        logs = job.logs / f"start-{start}"
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True, exist_ok=True)
        checkpoint = newest(checkpoints) if start > 1 else ""
        arguments = tuple(part.replace("{checkpoint}", checkpoint) for part in resume) if checkpoint else ()
        current = replace(job, args=(*job.args, *arguments), logs=logs)
        failure = run_once(current, show)
        if failure is None:
            return Outcome(True, start, time.monotonic() - begin, str(logs), checkpoint=checkpoint)
        if start <= restarts:
            where = (
                f"from {newest(checkpoints)}"
                if newest(checkpoints)
                else "from the beginning: there is no checkpoint yet"
            )
            note(f"rank {failure.rank} failed: {failure.error}; starting again {where} ({start} of {restarts})")
            job = replace(job, port=free_port()) if len(job.hosts) == 1 else job  # the old port may need a moment
    assert failure is not None
    return Outcome(False, restarts + 1, time.monotonic() - begin, str(logs), failure.rank, failure.error, checkpoint)


def newest(pattern: str) -> str:
    """The checkpoint that was written last, unless its writer was killed over it."""
    folder = Path(Path(pattern).anchor)
    found = [path for path in folder.glob(str(Path(pattern).relative_to(folder))) if path.is_file()] if pattern else []
    return str(next((path for path in sorted(found, key=lambda path: -path.stat().st_mtime_ns) if is_whole(path)), ""))


def is_whole(path: Path) -> bool:
    """Whether every record of a checkpoint ends within the file; other formats are taken as they are."""
    if path.suffix != ".ckpt":
        return path.stat().st_size > 0
    try:
        with open_checkpoint(path):
            return True
    except MindferryError:
        return False


def run_once(job: Job, show: Show) -> Failure | None:
    """One run of msrun; when it returns, no process of it is left."""
    mark, msrun_log = uuid.uuid4().hex, job.logs / "msrun.log"
    command = [
        _msrun(),
        *options(job, job.node, job.logs),
        f"--tail_worker_log={job.total}",
        str(job.script),
        *job.args,
    ]
    output_log = msrun_log
    if job.total == 1 and not is_distributed(job.script):
        command, output_log = [sys.executable, str(job.script), *job.args], job.logs / "worker_0.log"
    with swept(job.logs), stoppable(), output_log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=_environment(mark),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            ranks = _watch(process, job, mark, msrun_log, show)
        finally:
            end_all(mark)
            process.wait()
    return _failure(process.returncode, job, msrun_log, ranks)


def is_distributed(script: Path) -> bool:
    """Whether the project may speak to other processes. msrun's scheduler runs the script too, up to where it does: all of it, if it never does."""
    sources = (path for path in sorted(script.resolve().parent.rglob("*.py")) if STATE not in path.parts)
    return any(DISTRIBUTED.search(path.read_text("utf-8", "replace")) for path in sources)


def _watch(process: subprocess.Popen[bytes], job: Job, mark: str, msrun_log: Path, show: Show) -> dict[int, int]:
    """Until msrun is done or a worker failed: rank 0's lines. Returns the rank of each process."""
    tail = Tail(job.logs / f"worker_{job.ranks[0]}.log")
    ranks: dict[int, int] = {}
    alone_since = 0.0
    while process.poll() is None and failed_worker(msrun_log) is None:
        workers = [each for each in members(mark) if each.role == "MS_WORKER" and each.parent == process.pid]
        ranks |= {each.pid: each.rank for each in workers}
        if workers or not ranks:
            alone_since = 0.0
        else:
            alone_since = alone_since or time.monotonic()
            if time.monotonic() - alone_since > LEAVING:
                break
        for line in tail.lines():
            show(line)
        time.sleep(POLL)
    for line in tail.lines(is_last=True):
        show(line)
    return ranks


def _failure(code: int, job: Job, msrun_log: Path, ranks: dict[int, int]) -> Failure | None:
    failed = failed_worker(msrun_log)
    if failed is None and code == 0:
        return None
    if failed is None:
        rank = job.ranks[0]
        others = [(each, error_of(job.logs / f"worker_{each}.log", job.script)) for each in job.ranks]
        rank, error = next(((each, text) for each, text in others if text), (rank, ""))
        return Failure(rank, error or _scheduler(job) or f"it ended with {ending(code)}")
    pid, exit_code = failed
    rank = ranks.get(pid, job.ranks[0])
    error = error_of(job.logs / f"worker_{rank}.log", job.script) if exit_code > 0 else ""
    return Failure(rank, _joining(job, error) or error or ending(exit_code))


def _joining(job: Job, error: str) -> str:
    """A process that never came: MindSpore says it in many words."""
    log = (job.logs / "scheduler.log").read_text("utf-8", "replace") if (job.logs / "scheduler.log").is_file() else ""
    if (
        ("cluster" in error.lower() and "tim" in error.lower())
        or "Failed to register" in error
        or "build timed out" in error
    ):
        return f"not all {job.total} processes joined within {job.timeout} s; run the same command on every host ({', '.join(job.hosts)})"
    return _scheduler(job) if not error and "Traceback" in log else ""


def _scheduler(job: Job) -> str:
    return error_of(job.logs / "scheduler.log", job.script)


def _environment(mark: str) -> dict[str, str]:
    """`python` is this interpreter; msrun's own error lines are wanted, MindSpore's warnings are not."""
    here = str(Path(sys.executable).parent)
    return {
        **os.environ,
        **settings("mindspore"),
        MARK: mark,
        "PATH": f"{here}{os.pathsep}{os.environ.get('PATH', '')}",
        "GLOG_v": "3",
    }


def _msrun() -> str:
    beside = Path(sys.executable).parent / "msrun"
    found = str(beside) if beside.is_file() else shutil.which("msrun")
    if not found:
        raise MindferryError("msrun was not found; it comes with MindSpore: pip install mindspore==2.10.0")
    return found


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM and SIGHUP end the job like Ctrl-C, so that nothing is left behind."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        previous = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
