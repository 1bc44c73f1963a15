"""`mindferry record`: what a torch model computes, in one file, to be compared on another machine."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import printable
from ._say import say


@click.command()
@click.argument("project", default=".", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The golden file, or the script.")
@click.option("--script", is_flag=True, help="Write the recorder itself, as a script that needs nothing but torch.")
@click.option("--model", default="", metavar="MODULE:FACTORY", help="What makes the model.")
@click.option("--input", "inputs", multiple=True, metavar="SPEC", help="Such as 'float32[4,3,224,224]', or a file.")
@click.option("--weights", default="", metavar="FILE", help="Its checkpoint; else initial weights, with spread.")
@click.option("--modes", default="", help="eval, train; by default both.")
@click.option("--seed", default=0, help="Of the inputs.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    project: Path,
    output: Path,
    script: bool,
    model: str,
    inputs: tuple[str, ...],
    weights: str,
    modes: str,
    seed: int,
    as_json: bool,
) -> None:
    """Record a torch or Keras model's outputs and gradients in a golden file.

    \b
    mindferry record my_project --model model:resnet50 --input 'float32[4,3,224,224]' -o resnet50.golden
    mindferry verify my_project_ms --golden resnet50.golden

    \b
    On a machine that has torch but not mindferry:
    mindferry record --script -o record.py                         here
    python record.py --model … --input … -o resnet50.golden        there
    """
    import json
    import os

    from ..files import write_text
    from ..progress import progress
    from ..verify.run import record
    from ..verify.settings import settings
    from ..verify.standalone import standalone

    if script:
        write_text(output, standalone())
        say(json.dumps({"script": str(output)}) if as_json else f"Written to {printable(str(output))}")
        return
    chosen = settings(project, reference=project, model=model, inputs=inputs, weights=weights, modes=modes, seed=seed)
    with progress("record") as advance:
        golden = record(chosen, output, advance)
    size, modules = os.path.getsize(output), len(next(iter(golden.modes.values())).calls)
    reference = next(iter(golden.modes.values())).reference
    facts = {"golden": str(output), "bytes": size, "module_calls": modules, "reference": reference}
    text = f"Written to {output}: {modules} module calls, reference in {reference}, {size / 2**20:.1f} MiB"
    say(json.dumps(facts) if as_json else text)
