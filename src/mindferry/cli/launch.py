"""`mindferry launch`: a converted script on several processes or machines, through msrun."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from .. import artifacts
from ..launch import launch, msrun_lines, plan
from ._say import say


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("script", metavar="SCRIPT", type=click.Path(path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.option("--workers", default=1, show_default=True, help="Processes on each host.")
@click.option(
    "--hosts", default="", help="All machines, the first one coordinates: node1,node2. Run the same command on each."
)
@click.option("--port", default=0, help="Port of the first host. [default: a free one; 8118 with several hosts]")
@click.option("--timeout", default=300, show_default=True, help="Seconds in which every process must have joined.")
@click.option(
    "--logs",
    type=click.Path(path_type=Path),
    help="Folder for each rank's output. [default: .mindferry/launch beside the script]",
)
@click.option("--restarts", default=0, show_default=True, help="Starts more after a failure.")
@click.option(
    "--checkpoints", default="*.ckpt", show_default=True, help="Where the script saves; the newest one is {checkpoint}."
)
@click.option("--resume", default="", help="Arguments for starts after a failure: '--resume {checkpoint}'.")
@click.option("--print", "only_print", is_flag=True, help="Print the plain msrun line for each host; start nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON; the script's output goes to stderr.")
def command(
    script: Path,
    args: tuple[str, ...],
    workers: int,
    hosts: str,
    port: int,
    timeout: int,
    logs: Path | None,
    restarts: int,
    checkpoints: str,
    resume: str,
    only_print: bool,
    as_json: bool,
) -> None:
    """Run a converted training script with several processes. MindSpore's msrun starts them.

    \b
    mindferry launch train.py --workers 2 -- --epochs 5
    mindferry launch train.py --workers 8 --hosts 10.0.0.1,10.0.0.2       on both machines
    mindferry launch train.py --workers 2 --restarts 3 --resume '--resume {checkpoint}'
    mindferry launch train.py --workers 2 --print                         the msrun line alone
    mindferry launch build/resnet50_ms --workers 2                        a converted project: script and arguments of mindferry.toml, in its folder

    Shows rank 0's output. When one process fails, all are ended and its error is printed; exit code 1.
    """
    if script.is_dir():
        script, args, logs = _enter(script, args, logs)
    named = tuple(name.strip() for name in hosts.split(",") if name.strip())
    job = plan(script, args, workers=workers, hosts=named, port=port, logs=logs, timeout=timeout, is_run=not only_print)
    if only_print:
        for line in msrun_lines(job):
            say(line)
        return
    outcome = launch(
        job,
        restarts=restarts,
        resume=tuple(shlex.split(resume)),
        checkpoints=checkpoints,
        show=lambda text: click.echo(text, err=as_json),
        note=lambda text: say(f"mindferry: {text}", err=True),
    )
    if as_json:
        say(artifacts.dumps(outcome), nl=False)
    elif outcome.passed:
        say(f"{job.total} processes ended well after {outcome.seconds:.0f} s; logs in {outcome.logs}", err=True)
    if not outcome.passed:
        say(
            f"mindferry: rank {outcome.failed_rank} failed: {outcome.error}; every process has ended, logs in {outcome.logs}",
            err=True,
        )
    raise click.exceptions.Exit(0 if outcome.passed else 1)


def _enter(project: Path, args: tuple[str, ...], logs: Path | None) -> tuple[Path, tuple[str, ...], Path | None]:
    """The project's training script, with its own arguments unless others are given. They are relative to the project, so it runs there."""
    from ..frameworks.requests import Plan
    from ..tune.workload import find_workload

    workload = find_workload(project)
    logs = logs.resolve() if logs is not None else None
    os.chdir(project)
    return Path(workload.script), args or workload.request("mindspore", Plan()).args, logs
