"""What an observation tells the later stages: which networks to compare on which inputs, which script trains."""

from __future__ import annotations

import ast
import itertools
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..apis import framework
from ..config import CODE, MODULE, NOTEBOOK, Train
from ..errors import MindferryError, brief
from ..foreign import BROKEN, text_of, tree_of
from ..frameworks.watch.mindferry_watch.written_values import MAPPINGS, RECORDS
from ..observation import UNREADABLE, Input, Maker, Network, Observation, Value, extract_part
from ..read.uses import Use

NOT_FACTORIES = {"main", "train", "run", "fit", "test", "evaluate", "cli"}
LAUNCHERS = {"torchrun"}
LEAVES = ("array", "plain", "other")
QUOTED = re.compile(r"'([^']+)'")
SWITCHES = ("True", "False", "None")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
PLAIN = (
    *(ast.Expression, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Name),
    *(ast.UnaryOp, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Sub, ast.expr_context),
)


@dataclass(frozen=True, slots=True)
class Comparable:
    """A network that both sides can build, its real inputs, and its own state."""

    network: Network
    model: str  # module:factory(arguments)
    inputs: tuple[str, ...]
    weights: str
    around: tuple[str, ...] = ()  # calls around that one, innermost first: what they return may have other layers


def training_of(command: Sequence[str], steps: int, tolerance: float = 1e-3) -> Train | None:
    """`python train.py --epochs 1` as the [train] section would say it; None for what is not one Python process."""
    words = [*command][len(assignments(command)) :]
    if notebook := notebook_of(words):
        return Train(notebook, (), steps, tolerance)
    is_python = bool(words) and Path(words[0]).name.startswith("python")
    if words and Path(words[0]).name in LAUNCHERS:
        words = _without_launcher(words)
    elif is_python:
        words = words[1:]
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
        words = words[2 if words[0] in ("-W", "-X") else 1 :]  # -u, -O, -W ignore
    if len(words) >= 2 and words[0] == "-m" and not _runs_others(words[1]):
        return Train(f"{MODULE}{words[1]}", tuple(words[2:]), steps, tolerance)
    if len(words) >= 2 and words[0] == "-c":
        return Train(f"{CODE}{words[1]}", tuple(words[2:]), steps, tolerance)
    is_script = bool(words) and (words[0].endswith(".py") or (is_python and "." not in Path(words[0]).name))
    return Train(words[0], tuple(words[1:]), steps, tolerance) if is_script else None


def trained_by(observation: Observation) -> tuple[int, tuple[str, ...]] | None:
    """The first command that trains, and the files that those before it made for it; None if they are no longer as it found them."""
    number = next((index for index, run in enumerate(observation.runs) if run.losses), 0)
    if len(observation.runs) > 1 and not observation.runs[number].losses:
        return None
    made = tuple(path for run in observation.runs[:number] for path in run.written)
    kept = {path for run in observation.runs for path in run.written}
    return (number, made) if not number or kept.issuperset(observation.written) else None


def written_since(observation: Observation | None) -> tuple[str, ...]:
    """What the commands left in the project and the one that trains did not find."""
    found = trained_by(observation) if observation is not None else None
    left = observation.written if observation is not None else ()
    return tuple(path for path in left if found is None or path not in found[1])


def notebook_of(words: Sequence[str]) -> str:
    """The notebook that a command runs, by itself or by a program that runs such; '' if none."""
    found = next((each for each in words if each.endswith(NOTEBOOK)), "")
    return found if found and (words[0] == found or Path(words[0]).name in ("jupyter", "papermill", "ipython")) else ""


def assignments(command: Sequence[str]) -> dict[str, str]:
    """What stands before the program: CUDA_VISIBLE_DEVICES=0 python train.py."""
    found = itertools.takewhile(ASSIGNMENT.match, command)
    return {name: value for name, _, value in (each.partition("=") for each in found)}


def _runs_others(module: str) -> bool:
    return module in ("pytest", "unittest") or framework().uses.has(Use.LAUNCHER, module)


def _without_launcher(words: list[str]) -> list[str]:
    """The script of a launcher, if it starts one process."""
    count = next(
        (each.partition("=")[2] for each in words if each.startswith(("--nproc_per_node=", "--nproc-per-node="))), "1"
    )
    script = next((index for index, each in enumerate(words) if each.endswith(".py")), len(words))
    is_many = any(a in ("--nproc_per_node", "--nproc-per-node") and b != "1" for a, b in pairwise(words))
    return words[script:] if count == "1" and not is_many else []


def comparables(observation: Observation, archive: Path, folder: Path) -> tuple[list[Comparable], list[str]]:
    """(networks that can be compared, why others can't); arrays and weights are laid out in `folder`."""
    found: list[Comparable] = []
    missing: list[str] = []
    seen: set[tuple[str, str, tuple[tuple[str, ...], ...]]] = set()
    root = Path(observation.project)
    for number, network in enumerate(observation.networks):
        makers = [each for each in network.makers if is_factory(each, root) and not _files_named(each, observation)]
        if not makers:
            missing.append(f"{network.name}: {_why_not(network, observation)}")
            continue
        spec, *around = (f"{_module(maker)}:{maker.text}" for maker in makers)
        weights = ""
        for index, (way, calls) in enumerate(_ways(network).items()):
            if (spec, way, network.structure) in seen:  # made again, or copied, and called as before
                continue
            inputs = _inputs(calls, archive, folder / str(number) / str(index))
            if inputs is None and not index:
                missing.append(f"{network.name}: its inputs are not plain arrays")
                break
            if inputs is not None:
                seen.add((spec, way, network.structure))
                weights = weights or _weights(network, archive, folder / str(number))
                found.append(Comparable(network, spec, inputs, weights, tuple(around)))
    return found, missing


def _weights(network: Network, archive: Path, folder: Path) -> str:
    return str(extract_part(archive, network.state, folder)) if network.state else ""


def _files_named(maker: Maker, observation: Observation) -> list[str]:
    """Files that the commands wrote and that an argument names: they are the reference's, and gone in another run."""
    quoted = (each for given in maker.arguments.values() for each in QUOTED.findall(given))
    return [
        each
        for each in quoted
        if os.path.relpath(Path(observation.project, each), observation.project) in observation.written
    ]


def _why_not(network: Network, observation: Observation) -> str:
    """Why no call that made the network can be repeated outside of the script."""
    root = Path(observation.project)
    makers = [each for each in network.makers if not Path(each.file).is_absolute()]
    if not makers:
        return "the script makes it itself, without a class or function of the project"
    if any(each.module == "__main__" and not _is_importable(root / each.file) for each in makers):
        return f"it is made in {makers[0].file}, which can't be imported without being run"
    if not any(each.is_plain for each in makers):
        odd = [name for name, value in makers[0].arguments.items() if value.startswith("<")]
        told = f" ({', '.join(odd)})" if odd else ""
        return f"it is made of more than plain values{told}"
    files = [name for each in makers if each.is_plain for name in _files_named(each, observation)]
    if files:
        return f"it is made of {', '.join(dict.fromkeys(files))}, which the command itself wrote"
    return "no function or class at the top of a file makes it, and it alone"


def _is_importable(path: Path) -> bool:
    """Whether importing the script is not running it."""
    return "__main__" in text_of(path)


def is_factory(maker: Maker, root: Path) -> bool:
    """Whether calling it anew makes the network and nothing else."""
    path = root / maker.file
    if not maker.is_plain or maker.name in NOT_FACTORIES or "." in maker.name or not path.is_file():
        return False
    if Path(maker.file).is_absolute() or not all(part.isidentifier() for part in _module(maker).split(".")):
        return False
    tree = tree_of(path)
    if tree is None or not all(
        name.isidentifier() and makes_records(text, root) for name, text in maker.arguments.items()
    ):
        return False
    if maker.module == "__main__" and not _is_importable(path):
        return False
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == maker.name:
            return True
        if isinstance(node, ast.FunctionDef) and node.name == maker.name:
            returned = [each for each in ast.walk(node) if isinstance(each, ast.Return)]
            return bool(returned) and not any(isinstance(each.value, ast.Tuple | type(None)) for each in returned)
    return False


def makes_records(text: str, root: Path) -> bool:
    """Whether an argument is made of plain values, and calls no more than the project's own classes and known records."""
    try:
        tree = ast.parse(text, mode="eval")
    except BROKEN:
        return False
    inside = {id(part) for node in ast.walk(tree) for part in _names_in(node)}
    for node in ast.walk(tree):
        if id(node) in inside or isinstance(node, (ast.keyword, *PLAIN)):
            continue
        names = ast.unparse(node.func if isinstance(node, ast.Call) else node).split(".")
        if not isinstance(node, ast.Call | ast.Attribute) or not (
            names == ["object"] or _is_known(names, root, isinstance(node, ast.Call))
        ):
            return False
    return True


def _names_in(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a dotted name that is looked at as a whole."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
        yield node.func
    if isinstance(node, ast.Attribute):
        yield node.value


def _is_known(names: list[str], root: Path, is_called: bool) -> bool:
    """Whether it is a record's class, or something at the top of one of the project's files; not called, a class's member too."""
    dotted = ".".join(names)
    if dotted in {*RECORDS.values(), *MAPPINGS, "torch.device"} or re.fullmatch(
        r"torch\.b?float\d+|torch\.u?int\d+|torch\.bool", dotted
    ):
        return True
    for count in range(len(names) - 1, 0, -1):
        for path in (root.joinpath(*names[:count]).with_suffix(".py"), root.joinpath(*names[:count], "__init__.py")):
            tree = tree_of(path) if path.is_file() else None
            if tree is not None:
                found = [node for node in tree.body if getattr(node, "name", "") == names[count]]
                kinds = ast.ClassDef if is_called or len(names) > count + 1 else ast.ClassDef | ast.FunctionDef
                deepest = count + (1 if is_called else 2)
                return len(names) <= deepest and any(isinstance(node, kinds) for node in found)
    return False


def _is_plain(text: str) -> bool:
    """Whether an argument is a value and runs nothing, whatever the archive says of it."""
    try:
        return all(isinstance(node, PLAIN) for node in ast.walk(ast.parse(text, mode="eval")))
    except BROKEN:
        return False


def _module(maker: Maker) -> str:
    dotted = maker.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return maker.module if maker.module.replace(".", "/") == maker.file.removesuffix(".py") else dotted


def _ways(network: Network) -> dict[str, tuple[Input, ...]]:
    """The calls that were kept, by how the network was called: with a flag and without, with a state and before there is one."""
    found: dict[str, list[Input]] = {}
    for call in network.inputs:
        given = [*enumerate(call.positional), *sorted(call.named.items())]
        way = repr([(name, value.text if value.text in SWITCHES else "") for name, value in given])
        found.setdefault(way, []).append(call)
    return {way: tuple(calls) for way, calls in found.items()} or {"": ()}


def _inputs(calls: Sequence[Input], archive: Path, folder: Path) -> tuple[str, ...] | None:
    """The arguments of one of the calls as verify's inputs; None where one holds what is neither an array nor a plain value."""
    if not calls:
        return None
    call = _telling_call(calls, archive)
    given = [("" if value.kind in LEAVES else f"*{index}", value) for index, value in enumerate(call.positional)]
    given += [(name, value) for name, value in call.named.items() if value.text != "None"]
    specs = [_spec(way, leaf, archive, folder) for name, value in given for way, leaf in _leaves(name, value)]
    return tuple(each for each in specs if each is not None) if None not in specs else None


def _telling_call(calls: Sequence[Input], archive: Path) -> Input:
    """The first call that was kept, unless a later one has numbers where it has zeros, as a state that begins at zero."""
    zeros = [_zeros(call, archive) for call in calls]
    return calls[zeros.index(min(zeros))]


def _zeros(call: Input, archive: Path) -> int:
    """How many of a call's arrays hold nothing but zeros."""
    values = [*call.positional, *call.named.values()]
    leaves = [leaf for value in values for _, leaf in _leaves("", value) if leaf.kind == "array"]
    arrays = [_array(leaf, archive) for leaf in leaves]
    return sum(each.dtype.kind == "f" and not each.any() for each in arrays)


def _leaves(way: str, value: Value) -> Iterator[tuple[str, Value]]:
    """What lies in lists, tuples and dictionaries, with the way to each."""
    if value.kind in LEAVES:
        yield way, value
    elif not value.items:
        yield (
            "" if way.startswith("*") and way[1:].isdigit() else way,
            Value("plain", {"list": "[]", "tuple": "()"}.get(value.kind, "{}")),
        )
    for index, item in enumerate(value.items):
        if value.keys and "'" in value.keys[index].removeprefix("['").removesuffix("']"):  # keys stand in quotes
            item = Value("other")
        key = value.keys[index] if value.keys else ""
        steps = {"list": f"[{index}]", "tuple": f"({index})", "object": f"{{{value.text}{key}}}"}
        step = steps.get(value.kind) or f"{{'{key}'}}"
        yield from _leaves(f"{way}{step}", item)


def _spec(name: str, value: Value, archive: Path, folder: Path) -> str | None:
    if value.kind == "plain" and _is_plain(value.text):
        return f"{name}={value.text}" if name else value.text
    if value.kind != "array":
        return None
    import numpy

    key = value.text.partition(":")[2]
    if not re.fullmatch(r"[\w-][\w.-]*", key):  # it becomes a file's name
        return None
    array = _array(value, archive)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (f"{key}.npz" if name else f"{key}.npy")
    if name:
        numpy.savez(target, **{name: array})
    else:
        numpy.save(target, array)
    return str(target)


def _array(value: Value, archive: Path) -> Any:
    import numpy

    part, _, key = value.text.partition(":")
    try:
        with zipfile.ZipFile(archive) as held, held.open(part) as file:
            return numpy.load(file, allow_pickle=False)[key]
    except (*UNREADABLE, MemoryError) as error:
        raise MindferryError(
            f"cannot read {brief(part)} in {archive} ({brief(str(error))}); run `mindferry observe` again"
        ) from None
