"""`mindferry observe`: the reference's own command, run once, watched."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..as_json import laid_out, plain
from ..errors import printable
from ..frameworks.watched import scratch_folder
from ..observation import Observation, save_observation
from ._say import say


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("project", type=click.Path(path_type=Path))
@click.argument("tail", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The observation to write.  [default: PROJECT.observed, here]",
)
@click.option(
    "--steps",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Stop after so many training steps, unless it soon ends; 0: never.",
)
@click.option("--seconds", type=float, default=600.0, show_default=True, help="Stop after so many seconds.")
@click.option("--json", "as_json", is_flag=True, help="Print the observation as JSON.")
def command(
    project: Path, tail: tuple[str, ...], output: Path | None, steps: int, seconds: float, as_json: bool
) -> None:
    """Run the project's own command once, watched, and keep what it shows.

    The command runs as you would run it, in the project's folder; its messages go to stderr. What it shows (types,
    networks with their inputs, batches, losses, lines reached) is one file, which `convert --observed` uses,
    here or on another machine. Nothing is written into the project but what the command
    writes itself. A command that fails ends this one with exit code 2.

    \b
    mindferry observe my_project -- python train.py --epochs 1
    mindferry observe my_project --steps 5 -- python -m package.train
    mindferry observe my_project -- torchrun --nproc_per_node 2 train.py
    mindferry observe my_project -- python train.py '&&' python sample.py
    mindferry observe my_project -- demo.ipynb
    """
    from ..observe import observe, split_commands

    target = output or Path(f"{project.resolve().stem}.observed")
    with scratch_folder() as scratch:
        found = observe(
            project,
            split_commands(tail),
            scratch,
            steps=steps,
            seconds=seconds,
            log=target.with_name(f"{target.name}.log"),
            write=_write,
        )
        save_observation(found.observation, target, found.parts)
    if as_json:
        say(laid_out({"kind": "Observation", **plain(found.observation)}))
    else:
        print_observation(found.observation)
        say(f"written to {printable(str(target))}")


def _write(data: bytes) -> None:
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def print_observation(observation: Observation) -> None:
    for run in observation.runs:
        losses = f", loss {run.losses[0]:.4g} to {run.losses[-1]:.4g}" if run.losses else ""
        how = {"itself": "ended by itself", "steps": "stopped after its steps", "seconds": "stopped by the clock"}
        say(f"{printable(' '.join(run.command))}: {how.get(run.ended, run.ended)}, {len(run.losses)} steps{losses}")
    for network in observation.networks:
        made = next((maker for maker in network.makers if maker.is_plain), None)
        call = made.text if made else network.name
        say(f"network {call}: {network.calls} calls with {network.shapes[0] if network.shapes else 'nothing'}")
    for loader in observation.loaders:
        say(f"loader of {loader.dataset} at {printable(loader.path)}:{loader.line}: batches of {loader.batch_size}")
    sites = sum(len(file.sites) for file in observation.files)
    lines, all_lines = (sum(len(each) for each in of) for of in _lines(observation))
    say(f"{sites} unclear places seen; {lines} of {all_lines} statements reached in {len(observation.files)} files")


def _lines(observation: Observation) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    return [file.lines for file in observation.files], [file.statements for file in observation.files]
