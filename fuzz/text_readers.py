"""What `fuzz/texts.py` feeds: for each kind of text, sound ones to start from and what reads them."""

from __future__ import annotations

import dataclasses
import enum
import io
import json
import shutil
import tomllib
import types
import typing
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindferry.analyze import analyze_project
from mindferry.artifacts import (
    FORMAT,
    STATE,
    Comparison,
    Curves,
    FileConversion,
    Finding,
    Inventory,
    PlainRun,
    ProjectConversion,
    Rewrite,
    WeightsReport,
    dumps,
    load,
)
from mindferry.config import read_config
from mindferry.convert import convert_project
from mindferry.convert.dependencies import rewrite_dependencies
from mindferry.convert.one_file import convert_one
from mindferry.convert.output import Unfinished
from mindferry.convert.settings import Settings
from mindferry.convert.snippet import framework
from mindferry.errors import MindferryError
from mindferry.export.result import Export
from mindferry.layout import Layout, ProjectFile, Sources
from mindferry.observation import RECORD as OBSERVED
from mindferry.observation import Observation, load_observation
from mindferry.observe.commands import propose_commands
from mindferry.read.symbols import Symbols
from mindferry.report import content, render
from mindferry.tune_record import TuneRecord
from mindferry.verify.data import Pipelines
from mindferry.weights.formats.files import open_checkpoint
from mindferry.weights.usermap import read_user_map

NET = "import torch\n\n\ndef net(x):\n    return torch.relu(x.view(-1))  # why\n"
DEEPEST = 8
KINDS = {
    "analyze": Inventory,
    "convert": ProjectConversion,
    "weights": WeightsReport,
    "data": Pipelines,
    "verify": Comparison,
    "train": Curves,
    "plain": PlainRun,
    "tune": TuneRecord,
    "export": Export,
    "observe": Observation,
    "unfinished": Unfinished,
}


def sample(kind: Any, depth: int = 0) -> Any:
    """A value of an annotated type, with one item in every collection."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        made: Any = kind
        return made(**{each.name: sample(hints[each.name], depth + 1) for each in dataclasses.fields(made)})
    if origin in (tuple, list, dict) and depth > DEEPEST:  # some kinds hold others of their own
        return origin()
    if origin is tuple:
        return tuple(sample(each, depth + 1) for each in args if each is not Ellipsis)
    if origin is list:
        return [sample(args[0], depth + 1)]
    if origin is dict:
        return {"a": sample(args[1], depth + 1)}
    if origin in (typing.Union, types.UnionType):
        return sample(next(each for each in args if each is not type(None)), depth + 1)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind))
    return {int: 1, float: 0.5, str: "a.py", bool: True}.get(kind, "a")


def recorded() -> tuple[str, ...]:
    texts = [dumps(sample(kind)) for kind in KINDS.values()]
    finding = Finding("MF900", "error", "b/c.py", 1, 1, "m", "a")
    files = (
        FileConversion("a.py", "converted", "0" * 64, (Rewrite(1, 1, "torch.ones", "a", "b"),), (), "k", ("h",)),
        FileConversion("b/c.py", "failed", "", (), (finding,)),
    )
    return (
        *texts,
        dumps(ProjectConversion("/in", "/out", files, ("h",), {"mindspore.nn.Dense": {"weight": "weight"}})),
    )


def read_record(folder: Path, text: bytes) -> None:
    (folder / STATE).mkdir(exist_ok=True)
    for stage, kind in KINDS.items():
        if f'"{kind.__name__}"'.encode() in text:
            (folder / STATE / f"{stage}.json").write_bytes(text)
            load(kind, folder, stage)


def read_reported(folder: Path, text: bytes) -> None:
    """A page of the records: whatever stands in them, it is made or refused."""
    out = folder / "reported"
    shutil.rmtree(out, ignore_errors=True)
    (out / STATE).mkdir(parents=True)
    for stage, kind in KINDS.items():
        if f'"{kind.__name__}"'.encode() in text:
            (out / STATE / f"{stage}.json").write_bytes(text)
    render(content(out), "html")


def read_before(folder: Path, text: bytes) -> None:
    """Converting again over a record: nothing outside of the output changes."""
    source, out, victim = folder / "in", folder / "out", folder / "victim"
    shutil.rmtree(out, ignore_errors=True)
    source.mkdir(exist_ok=True)
    (source / "a.py").write_text(NET)
    victim.write_text("precious")
    (out / STATE).mkdir(parents=True)
    for stage in ("convert", "unfinished"):
        if f'"{KINDS[stage].__name__}"'.encode() in text:
            body = text.replace(b'"/in"', json.dumps(str(source)).encode())
            (out / STATE / f"{stage}.json").write_bytes(body)
    try:
        convert_project(source, out)
    finally:
        if victim.read_text() != "precious" or (source / "a.py").read_text() != NET:
            raise AssertionError("it wrote outside of the output")


def read_observation(folder: Path, text: bytes) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(OBSERVED, text)
    (folder / "observed.zip").write_bytes(packed.getvalue())
    source = folder / "seen"
    source.mkdir(exist_ok=True)
    (source / "a.py").write_text(NET)
    convert_project(source, folder / "unwritten", check=True, observation=load_observation(folder / "observed.zip"))


def read_notebook(folder: Path, text: bytes) -> None:
    (folder / "a.ipynb").write_bytes(text)
    file = ProjectFile(folder / "a.ipynb", "a.ipynb", "")
    written = convert_one(file, Layout(folder, (file,), ()), Symbols(framework()), Settings(), Sources())
    defects = [finding.message for finding in written.record.findings if finding.code == "MF901"]
    if defects:
        raise AssertionError(defects[0])
    if written.record.status == "failed":
        raise MindferryError(written.record.findings[0].message)
    if written.record.status == "converted":
        json.loads(written.content())


def analyze_notebook(folder: Path, text: bytes) -> None:
    _analyze(folder / "books", "a.ipynb", text)


def _analyze(folder: Path, name: str, text: bytes) -> None:
    """As `analyze` does, and as `observe` looks for a command."""
    folder.mkdir(exist_ok=True)
    (folder / "a.py").write_text(NET)
    (folder / name).write_bytes(text)
    analyze_project(folder)
    propose_commands(folder)


def read_toml(folder: Path, text: bytes) -> None:
    (folder / "mindferry.toml").write_bytes(text)
    read_config(folder)


def read_map(folder: Path, text: bytes) -> None:
    (folder / "map.toml").write_bytes(text)
    read_user_map(folder / "map.toml")


def read_index(folder: Path, text: bytes) -> None:
    (folder / "a.safetensors.index.json").write_bytes(text)
    header = b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'
    (folder / "a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    with open_checkpoint(folder / "a.safetensors.index.json"):
        pass


def read_requirements(folder: Path, text: bytes) -> None:
    rewrite_dependencies("requirements.txt", text)
    _analyze(folder / "requirements", "requirements.txt", text)


def read_pyproject(folder: Path, text: bytes) -> None:
    new, _ = rewrite_dependencies("pyproject.toml", text)
    _analyze(folder / "pyproject", "pyproject.toml", text)
    try:
        tomllib.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        return
    if new != text:
        tomllib.loads(new.decode("utf-8"))


def read_setup(folder: Path, text: bytes) -> None:
    rewrite_dependencies("setup.cfg", text)
    _analyze(folder / "setup", "setup.cfg", text)


def read_environment(folder: Path, text: bytes) -> None:
    rewrite_dependencies("environment.yml", text)
    _analyze(folder / "environment", "environment.yml", text)


NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "metadata": {"language_info": {"name": "python"}},
        "cells": [
            {
                "cell_type": "code",
                "source": ["import torch\n", "x = torch.ones(2)"],
                "outputs": [],
                "execution_count": 1,
            },
            {"cell_type": "markdown", "source": "# text"},
            {"cell_type": "code", "source": "%time x.view(-1)\n!ls\ny = x?\n", "outputs": []},
            {"cell_type": "code", "source": "%%time\nfor i in range(3):\n    !echo $i\n    z = !ls\n", "outputs": []},
        ],
    },
    indent=1,
)
CONFIG = """[convert]
exclude = ["tests/*"]
with = ["timm"]
[weights]
file = "a.pth"
create = ["make.py", "--small"]
[verify]
model = "net:Net"
inputs = ["float32[2,3]"]
steps = 3
k = 4.0
floor = 1e-6
timeout = 60.0
seed = 1
data = ["net:loader"]
[train]
script = "train.py"
args = ["--epochs", "1"]
steps = 3
tolerance = 1e-3
"""
MAP = """drop = ["head\\\\..*"]
[names]
"a.weight" = "b.weight"
[patterns]
'layer(\\d)\\.(.*)' = 'block\\1.\\2'
[transforms]
"a.weight" = "permute:1,0"
"""
INDEX = json.dumps({"metadata": {"total_size": 8}, "weight_map": {"a": "a.safetensors"}})
REQUIREMENTS = """# what it needs
torch>=2.0 \\
    --hash=sha256:aaaa \\
    --hash=sha256:bbbb
torchvision==0.15; python_version < "3.12"  # pictures
-r other.txt
--extra-index-url https://download.pytorch.org/whl/cu118
numpy
git+https://github.com/x/y.git#egg=y
"""
PYPROJECT = """[build-system]
requires = ["setuptools", "torch"]
[project]
name = "a"
dependencies = [
  "torch>=2",  # the framework
  'numpy',
]
[project.optional-dependencies]
dev = ["pytest", "torchvision"]
[tool.poetry.dependencies]
python = "^3.11"
torch = { version = "2.0", source = "pytorch" }
[project.scripts]
run = "a:main"
"""
SETUP = "[metadata]\nname = a\n[options]\ninstall_requires =\n    torch>=2  # why\n    numpy\n[options.extras_require]\nx = torchvision\n"
CONDA = "name: a\nchannels:\n  - pytorch\ndependencies:\n  - python=3.11\n  - pytorch::pytorch=2\n  - pip:\n    - torchvision\n"


@dataclass(frozen=True, slots=True)
class Reader:
    read: Callable[[Path, bytes], None]
    seeds: tuple[str, ...]
    shape: str  # json, toml, text: how values inside are changed


def _again(text: str) -> str:
    return text.replace('"source": "a.py"', '"source": "/in"')


RECORDS = recorded()
OBSERVATIONS = tuple(text for text in RECORDS if '"Observation"' in text and f'"mindferry": {FORMAT}' in text)
READERS: dict[str, Reader] = {
    "record": Reader(read_record, RECORDS, "json"),
    "report": Reader(read_reported, RECORDS, "json"),
    "again": Reader(
        read_before,
        tuple(_again(text) for text in RECORDS if '"ProjectConversion"' in text or '"Unfinished"' in text),
        "json",
    ),
    "observation": Reader(read_observation, OBSERVATIONS, "json"),
    "notebook": Reader(read_notebook, (NOTEBOOK,), "json"),
    "analyzed": Reader(analyze_notebook, (NOTEBOOK,), "json"),
    "configuration": Reader(read_toml, (CONFIG,), "toml"),
    "map": Reader(read_map, (MAP,), "toml"),
    "index": Reader(read_index, (INDEX,), "json"),
    "requirements": Reader(read_requirements, (REQUIREMENTS,), "text"),
    "pyproject": Reader(read_pyproject, (PYPROJECT,), "toml"),
    "setup": Reader(read_setup, (SETUP,), "text"),
    "environment": Reader(read_environment, (CONDA,), "text"),
}
