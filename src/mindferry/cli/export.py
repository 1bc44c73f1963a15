"""`mindferry export`: a converted model as MindIR (and ONNX), reloaded in a fresh process and compared."""

from __future__ import annotations

from pathlib import Path

import click

from .. import artifacts
from ..errors import MindferryError
from ._say import say


@click.command()
@click.argument("converted", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for the files. [default: CONVERTED/export]"
)
@click.option("--model", default="", metavar="MODULE:FACTORY", help="What makes the model.")
@click.option(
    "--input", "inputs", multiple=True, metavar="SPEC", help="Such as 'float32[1,3,224,224]', in the model's order."
)
@click.option(
    "--weights",
    default="",
    metavar="FILE",
    help="A .ckpt, .safetensors or .pth file; else the model's initial weights.",
)
@click.option(
    "--batch",
    type=click.Choice(["both", "static", "dynamic"]),
    default="both",
    show_default=True,
    help="Batch sizes of the MindIR.",
)
@click.option("--onnx", is_flag=True, help="An ONNX file too, where MindSpore's exporter can; checked in onnxruntime.")
@click.option("--name", default="", help="Name of the files. [default: the factory's]")
@click.option(
    "--enc-key",
    "key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Encrypt with the key in this file: 16, 24 or 32 bytes.",
)
@click.option(
    "--enc-mode", "mode", type=click.Choice(["AES-GCM", "AES-CBC", "SM4-CBC"]), default="AES-GCM", show_default=True
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    converted: Path,
    output: Path | None,
    model: str,
    inputs: tuple[str, ...],
    weights: str,
    batch: str,
    onnx: bool,
    name: str,
    key: Path | None,
    mode: str,
    as_json: bool,
) -> None:
    """Export a converted model for offline inference. What is written was reloaded and gave the cell's own outputs.

    \b
    mindferry export build/resnet50_ms                       model and inputs from mindferry.toml
    mindferry export build/net --model net:Net --input 'float32[1,3,32,32]' --weights net.ckpt --onnx
    python build/net/export/infer.py                         runs it, and measures how long a call takes

    Exit code 1: a file could not be made, or gives other numbers. An ONNX file that MindSpore can't make is only said.
    """
    from ..export.run import export_model
    from ..progress import progress

    chosen = _settings(converted, model, inputs, weights)
    folder = output or converted / "export"
    with progress("export") as advance:
        result = export_model(
            converted,
            *chosen[:2],
            folder,
            weights=chosen[2],
            name=name,
            batch=batch,
            onnx=onnx,
            key=_key(key),
            mode=mode,
            show=advance,
        )
    artifacts.save(result, converted, "export")
    if as_json:
        say(artifacts.dumps(result), nl=False)
    else:
        for file in result.files:
            if file.path:
                say(
                    f"{file.path}: {file.size / 2**20:.1f} MiB, {file.inputs} inputs compared, largest error {file.worst:.1e} of the largest output"
                )
            else:
                say(f"no {file.form}: {file.reason}")
        if any(file.path for file in result.files):
            say(f"run it: python {folder / 'infer.py'}")
    raise click.exceptions.Exit(0 if result.passed else 1)


def _settings(converted: Path, model: str, inputs: tuple[str, ...], weights: str) -> tuple[str, tuple[str, ...], str]:
    """Options win over the mindferry.toml of the converted project, or of the one that it was converted from."""
    from ..config import Config, read_config

    if not converted.is_dir():
        raise MindferryError(f"no converted project in {converted}; give the folder that `mindferry convert` wrote")
    homes = [converted]
    if (converted / artifacts.STATE / "convert.json").is_file():
        source = Path(artifacts.load(artifacts.ProjectConversion, converted, "convert").source)
        homes.append(source if source.is_dir() else source.parent)
    home = next((folder for folder in homes if (folder / "mindferry.toml").is_file()), None)
    config = read_config(home) if home is not None else Config()
    model = model or config.verify.mindspore_model or config.verify.model
    inputs = inputs or config.verify.inputs
    if not model:
        raise MindferryError("which model? Name its factory with --model, for instance --model model:resnet50")
    if not inputs:
        raise MindferryError("which input? Describe it with --input, for instance --input 'float32[1,3,224,224]'")
    if weights and not Path(weights).is_file():
        raise MindferryError(f"no weights file {weights}")
    named = home / config.weights.file if home is not None and config.weights.file else None
    return (
        model,
        inputs,
        str(Path(weights).resolve())
        if weights
        else str(named.resolve())
        if named is not None and named.is_file()
        else "",
    )


def _key(path: Path | None) -> bytes:
    if path is None:
        return b""
    try:
        return path.read_bytes()
    except OSError as error:
        raise MindferryError(f"cannot read the key {path}: {error.strerror}") from None
