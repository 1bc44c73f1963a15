"""`mindferry weights`: convert, inspect and compare parameter files. Nothing in a file is ever executed."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from ..artifacts import WeightsReport, dumps
from ..errors import MindferryError, printable
from ._say import say

FILE = click.Path(path_type=Path)
ALLOW = "Read objects of this class as inert data instead of refusing them; still nothing is run. Repeatable."
SHOWN = 10


@click.group()
def command() -> None:
    """Carry parameters over: any format, either direction, executing nothing.

    \b
    mindferry weights convert resnet50.pth -o resnet50.ckpt --model resnet:resnet50 --project build/resnet_ms
    mindferry weights convert resnet50.ckpt -o resnet50.pth --reverse
    mindferry weights inspect resnet50.pth
    mindferry weights diff resnet50.pth resnet50.ckpt
    """


@command.command()
@click.argument("source", type=FILE)
@click.option(
    "-o", "--output", type=FILE, required=True, help="Where to write: .ckpt, .safetensors, .pth or .weights.h5."
)
@click.option("--model", metavar="PKG.MOD:FACTORY", help="The MindSpore model; its cells tell the names.")
@click.option("--project", type=FILE, help="The converted project: root of --model, and its conversion record.")
@click.option("--names", type=FILE, help="Your own map of names, in TOML.")
@click.option("--key", help="Which part of a training checkpoint, such as model_ema.")
@click.option("--reverse", is_flag=True, help="From MindSpore to torch.")
@click.option(
    "--whole",
    is_flag=True,
    help="Everything that a training checkpoint holds, under torch's names, as the converted project's own load reads it.",
)
@click.option("--strict/--no-strict", default=True, help="Write only if everything found its place (default).")
@click.option("--shard", metavar="SIZE", help="Split safetensors into files of at most this size, such as 5GB.")
@click.option("--allow", multiple=True, metavar="NAME", help=ALLOW)
@click.option("--force", is_flag=True, help="Replace the output file if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def convert(
    source: Path, output: Path, shard: str | None, allow: tuple[str, ...], as_json: bool, whole: bool, **options: Any
) -> None:
    """Write SOURCE in the other framework's names and format.

    \b
    mindferry weights convert model.pth -o model.ckpt --model models:Net --project build/net_ms
    mindferry weights convert model.safetensors -o model_ms.safetensors
    mindferry weights convert trained.ckpt -o trained.pth --reverse --model models:Net --project build/net_ms
    mindferry weights convert big/ -o big_ms.safetensors --shard 5GB
    mindferry weights convert last.pt -o build/net_ms/last.pt --whole
    """
    from ..weights.convert import convert_weights
    from ..weights.outcome import WeightsMismatchError

    if whole:
        _carry_whole(source, output, shard, allow, as_json, options)
        return

    shard_bytes = _bytes(shard) if shard else 0
    try:
        with _progress("convert", source) as advance:
            report = convert_weights(source, output, shard_bytes=shard_bytes, allowed=allow, advance=advance, **options)
    except WeightsMismatchError as error:
        say(dumps(error.report) if as_json else _text(error.report, wrote=False), nl=not as_json)
        sys.exit(1)
    say(dumps(report) if as_json else _text(report, wrote=True), nl=not as_json)
    sys.exit(0 if report.complete else 1)


def _carry_whole(
    source: Path, output: Path, shard: str | None, allow: tuple[str, ...], as_json: bool, options: dict[str, Any]
) -> None:
    """All of a checkpoint: there is nothing to choose or to match."""
    from ..weights.whole import carry_whole

    given = [name for name in ("model", "names", "key", "reverse") if options[name]] + ["shard"] * bool(shard)
    if given:
        raise MindferryError(f"--whole carries a checkpoint as it is; leave --{given[0]} out")
    with _progress("convert", source) as advance:
        report = carry_whole(source, output, allowed=frozenset(allow), force=options["force"], advance=advance)
    say(dumps(report) if as_json else _text(report, wrote=True), nl=not as_json)


@command.command()
@click.argument("file", type=FILE)
@click.option("--key", help="Which part of a training checkpoint.")
@click.option("--quick", is_flag=True, help="Names, shapes and types only; read no values.")
@click.option("--allow", multiple=True, metavar="NAME", help=ALLOW)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def inspect(file: Path, key: str | None, quick: bool, allow: tuple[str, ...], as_json: bool) -> None:
    """List FILE's tensors with their statistics. Exit code 1 if any holds NaN or infinity.

    \b
    mindferry weights inspect model.pth
    mindferry weights inspect --quick model.safetensors.index.json
    """
    from ..weights.inspect import inspect_weights

    with _progress("inspect", file) as advance:
        found = inspect_weights(file, key=key, values=not quick, allowed=allow, advance=advance)
    if as_json:
        say(json.dumps(dataclasses.asdict(found), indent=1))
        sys.exit(1 if found.broken else 0)
    width = max((len(tensor.name) for tensor in found.tensors), default=0)
    for tensor in found.tensors:
        line = f"{tensor.name:{width}}  {tensor.dtype:9} {tensor.shape!s:20}"
        if (figures := tensor.statistics) is not None:
            line += f" min {figures.minimum:<10.4g} max {figures.maximum:<10.4g} mean {figures.mean:<10.4g}"
            line += f" std {figures.std:<10.4g}"
            line += f" NaN {figures.nan}, infinite {figures.inf}" if figures.nan or figures.inf else ""
        say(line.rstrip())
    size = sum(tensor.nbytes for tensor in found.tensors)
    say(f"{len(found.tensors)} tensors, {found.parameters} values, {size / 1e6:.1f} MB ({found.format})")
    _tell_key(found.key, found.others)
    if found.extras:
        say(f"not tensors: {_listed(found.extras)}")
    if found.broken:
        say(f"NaN or infinity in {_listed(tuple(tensor.name for tensor in found.broken))}")
    sys.exit(1 if found.broken else 0)


@command.command()
@click.argument("one", type=FILE)
@click.argument("other", type=FILE)
@click.option("--tolerance", default=0.0, show_default=True, help="Largest absolute difference that counts as equal.")
@click.option("--key", help="Which part of a training checkpoint.")
@click.option("--allow", multiple=True, metavar="NAME", help=ALLOW)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def diff(one: Path, other: Path, tolerance: float, key: str | None, allow: tuple[str, ...], as_json: bool) -> None:
    """Compare two files by mapped name, shape and value. Exit code 1 if they differ.

    \b
    mindferry weights diff model.pth model.ckpt
    mindferry weights diff before.safetensors after.safetensors --tolerance 1e-6
    """
    from ..weights.diff import diff_weights

    found = diff_weights(one, other, tolerance=tolerance, key=key, allowed=allow)
    if as_json:
        say(json.dumps(dataclasses.asdict(found), indent=1))
    else:
        for change in found.changed[:SHOWN]:
            say(f"{change.name}: {change.reason}")
        if len(found.changed) > SHOWN:
            say(f"and {len(found.changed) - SHOWN} more")
        for path, names in ((found.one, found.only_one), (found.other, found.only_other)):
            if names:
                say(f"only in {printable(str(path))}: {_listed(names)}")
        say(f"{found.equal} equal, {len(found.changed)} differ")
    sys.exit(0 if found.same else 1)


def _text(report: WeightsReport, wrote: bool) -> str:
    counts = Counter(entry.how for entry in report.entries)
    by = ", ".join(f"{count} {how}" for how, count in counts.items())
    lines = [f"{printable(report.source)} -> {printable(report.output)}: {len(report.entries)} tensors ({by})"]
    by_design = (("dropped by design", report.dropped), ("kept as the model has it", report.kept))
    lines += [f"{kind}: {_listed(names, 3)}" for kind, names in by_design if names]
    lines += [f"{kind}: {_listed(names, len(names))}" for kind, names in _findings(report) if names]
    if counts["pattern"]:
        guessed = tuple(f"{e.source} -> {e.target}" for e in report.entries if e.how == "pattern")
        lines.append(f"named by pattern, which can be wrong (--model makes sure): {_listed(guessed)}")
    _tell_key(report.key, report.others)
    if not wrote:
        lines.append("nothing was written; give --model or --names, or take what fits with --no-strict")
    return "\n".join(lines)


def _findings(report: WeightsReport) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("missing from the file", report.missing),
        ("unexpected in the file", report.unexpected),
        ("wrong shape or value", report.mismatched),
    )


def _tell_key(key: str, others: tuple[str, ...]) -> None:
    if key or others:
        also = f"; also there: {_listed(others)} (choose with --key)" if others else ""
        say(f"took {key or 'the tensors at the top'}{also}", err=True)


def _listed(names: tuple[str, ...], limit: int = SHOWN) -> str:
    more = f" and {len(names) - limit} more (--json lists all)" if len(names) > limit else ""
    return f"{len(names)}: {', '.join(names[:limit])}{more}"


def _bytes(text: str) -> int:
    units = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
    number, unit = text[:-2], text[-2:].upper()
    if unit not in units or not number.isdigit() or not int(number):
        raise MindferryError(f"--shard {text!r} is no size; write it as 500MB or 5GB")
    return int(number) * units[unit]


@contextlib.contextmanager
def _progress(title: str, path: Path) -> Iterator[Callable[[int], None]]:
    """A bar in megabytes, where a person watches and the file is worth one: loading it costs a tenth of a second."""
    size = path.stat().st_size if path.is_file() else 0
    if size < 1 << 28 or not sys.stderr.isatty():
        yield lambda _: None
        return
    from ..progress import progress

    with progress(title, size >> 20) as advance:
        yield lambda nbytes: advance(steps=nbytes >> 20)
