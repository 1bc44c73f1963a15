"""A project that trains over several processes gets a launch script with msrun's plain line, and README lines about it."""

from __future__ import annotations

from pathlib import PurePosixPath

from ..apis import framework
from ..artifacts import FileConversion
from ..errors import printable
from ..read.source import is_script
from ..read.uses import Use

SCRIPT = "run_distributed.sh"
README = "README.md"

SHELL = """#!/bin/sh
# Trains with several processes on this machine: sh run_distributed.sh 2 [arguments of {shown}]
# Each rank's output is in msrun_log/worker_RANK.log.
workers=${{1:-2}}
[ $# -gt 0 ] && shift
exec msrun --worker_num="$workers" --local_worker_num="$workers" --master_addr=127.0.0.1 --master_port=8118 --log_dir=msrun_log --join=True {entry} "$@"
"""

LINES = """
## Several processes

`msrun`, which comes with MindSpore, starts the processes and tells each its rank; torchrun is no longer used.

    sh run_distributed.sh 2        two processes on this machine

The same by hand, here with two machines of four devices each, on the first one (on the second `--node_rank=1`):

    msrun --worker_num=8 --local_worker_num=4 --master_addr=ADDRESS --master_port=8118 --node_rank=0 --log_dir=msrun_log --join=True {entry}

One process alone: `python {entry}`.
"""


def is_distributed(files: list[FileConversion]) -> bool:
    return any(framework().uses.has(Use.LAUNCH, rewrite.rule) for file in files for rewrite in file.rewrites)


def entry_of(files: list[FileConversion], texts: dict[str, bytes], preferred: str) -> str:
    """The script to launch: the one that mindferry.toml names, or one that joins the group; '' in a library, which has none."""
    if preferred:
        return preferred
    packages = {PurePosixPath(file.path).parent for file in files if PurePosixPath(file.path).name == "__init__.py"}
    scripts = [file for file in files if file.path.endswith(".py") and is_script(texts.get(file.path, b""))]
    loose = [file for file in files if file.path.endswith(".py") and PurePosixPath(file.path).parent not in packages]
    joining = [file for file in (*scripts, *loose) if is_distributed([file])]
    found = sorted((file.path for file in joining or scripts), key=lambda path: (path.count("/"), path))
    return found[0] if found else ""


def launch_script(entry: str) -> bytes:
    return SHELL.format(entry=_shell(entry), shown=printable(entry)).encode("utf-8", "surrogateescape")


def readme(existing: bytes, entry: str) -> bytes:
    """The project's README with a section more."""
    text = LINES.format(entry=printable(entry))
    head = existing.rstrip() + b"\n" if existing.strip() else f"# {printable(PurePosixPath(entry).stem)}\n".encode()
    return head + text.encode()


def _shell(path: str) -> str:
    return path if all(each.isalnum() or each in "/._-" for each in path) else "'" + path.replace("'", "'\\''") + "'"
