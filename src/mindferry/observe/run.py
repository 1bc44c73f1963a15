"""Runs the reference's commands, watched, and makes one Observation of what their processes noted."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from ..errors import MindferryError
from ..files import write_text
from ..frameworks.mirror import listed
from ..frameworks.watched import TO_END, Run, Watch, run_watched
from ..layout import Layout, find_files, is_nameless_script
from ..observation import Observation
from .gather import gather_observation
from .sites import unclear_sites
from .use import assignments, notebook_of

SEPARATOR = "&&"
LOG_HEAD = "mindferry observe: all that the command printed"

Write = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Observed:
    """An observation, the runs that it was made from, and the files that go with it."""

    observation: Observation
    runs: tuple[Run, ...]
    parts: dict[str, Path]


class CommandFailed(MindferryError):
    """The user's command ended with an error, which it has printed itself."""


def observe(
    project: Path,
    commands: Sequence[Sequence[str]],
    scratch: Path,
    *,
    steps: int = 20,
    seconds: float = 600.0,
    log: Path | None = None,
    write: Write = lambda data: None,
) -> Observed:
    """Run the commands one after another in the project's folder. `scratch` receives arrays and weights.

    The last one is stopped after so many steps; those before it run to their end, because it needs what they write.
    """
    layout = find_files(project, ())
    if not commands:
        raise MindferryError("which command runs the project? Give it after --, as in `-- python train.py`")
    for command in commands:
        _check_script(command, layout)
    sites = unclear_sites(layout)
    before = [_stamps(layout.root)]
    wanted = {path: sorted(spans) for path, spans in sites.items()}
    watch = Watch(layout.root, "observe", 0, seconds, TO_END, sites=wanted, began=time.time())
    runs: list[Run] = []
    for number, command in enumerate(commands):
        limited = replace(watch, steps=steps if number == len(commands) - 1 else 0)
        run = run_watched(runnable(command), layout.root, limited, scratch / f"run-{number}", write=write)
        run = replace(run, command=tuple(command))  # as the user wrote it
        if not run.is_well:
            raise CommandFailed(_why(run, runs, _write_log(log, (*runs, run)) if log is not None else None))
        runs.append(run)
        before.append(_stamps(layout.root))
    observation, parts = gather_observation(layout, runs, sites)
    written = tuple(path for path in before[-1] if path not in before[0])
    commands_seen = tuple(
        replace(seen, written=tuple(path for path in new if path not in old and before[-1].get(path) == new[path]))
        for seen, (old, new) in zip(observation.runs, pairwise(before), strict=True)
    )
    return Observed(replace(observation, runs=commands_seen, written=written), tuple(runs), parts)


def _stamps(root: Path) -> dict[str, tuple[int, int]]:
    """What the project holds, and what changes of a file when it is written; a folder stays itself."""
    found = {}
    for path in listed(root):
        with contextlib.suppress(OSError):
            told = (root / path).stat()
            found[path] = (0, 0) if stat.S_ISDIR(told.st_mode) else (told.st_mtime_ns, told.st_size)
    return found


def _check_script(command: Sequence[str], layout: Layout) -> None:
    """A script without an ending is read where it looks like Python and no other file has its module's name."""
    words = command[len(assignments(command)) :]
    if len(words) < 2 or not Path(words[0]).name.startswith("python"):
        return
    script = layout.root / words[1]
    if not script.suffix and not words[1].startswith("-") and script.is_file() and not is_nameless_script(script):
        raise MindferryError(
            f"{words[1]} has no ending and does not look like Python, or {words[1]}.py stands beside it: "
            "give it an ending and a name of its own"
        )


def _write_log(log: Path, runs: Sequence[Run]) -> Path:
    """Where it was written: a file of that name that is not an earlier log stays, as of `mindferry migrate … > out.log`."""
    if log.exists() and not log.read_bytes().startswith(LOG_HEAD.encode()):
        log = log.with_name(f"{log.stem}.command.log")
    write_text(log, LOG_HEAD + "\n" + "\n".join(each.output for each in runs))
    return log


def _why(run: Run, before: Sequence[Run], log: Path | None) -> str:
    how = {"killed": f"was ended by signal {-run.code}"}.get(run.ended, f"ended with exit code {run.code}")
    where = f"; all that it printed is in {log}" if log is not None else ""
    cut = next((each for each in before if each.ended == "seconds"), None)
    if cut is not None:
        how += f", after `{shlex.join(cut.command)}` had been stopped by --seconds at {cut.seconds:.0f} s"
        return f"`{shlex.join(run.command)}` {how}; let the first one do less, or give it more --seconds{where}"
    return f"`{shlex.join(run.command)}` {how}; mend it until it runs, then observe again{where}"


def split_commands(arguments: Sequence[str]) -> list[list[str]]:
    """`python train.py '&&' python sample.py`, as words or as one text, is two commands."""
    words = shlex.split(arguments[0]) if len(arguments) == 1 and " " in arguments[0] else list(arguments)
    commands: list[list[str]] = [[]]
    for word in words:
        if word == SEPARATOR:
            commands.append([])
        else:
            commands[-1].append(word)
    return [command for command in commands if command]


def runnable(command: Sequence[str]) -> list[str]:
    """The command, or what stands for it: a notebook is run cell by cell, a script by Python."""
    first = command[0]
    if assignments(command):  # as a shell reads it
        return ["env", *command]
    if notebook := notebook_of(command):
        from ..frameworks.watched import WATCH

        return ["python", str(WATCH / "mindferry_watch" / "notebook.py"), notebook]
    if first.endswith(".py") and shutil.which(first) is None:
        return ["python", *command]
    return list(command)
