"""Records, observations, notebooks and lists of dependencies that were forged: a sentence, and never minutes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mindferry import artifacts
from mindferry.analyze import analyze_project
from mindferry.artifacts import FileConversion, Inventory, Part, ProjectConversion, Rewrite, load, save
from mindferry.config import read_config
from mindferry.convert import convert_project
from mindferry.convert.dependencies import rewrite_dependencies
from mindferry.convert.one_file import convert_one
from mindferry.convert.settings import Settings
from mindferry.convert.snippet import framework
from mindferry.errors import MindferryError
from mindferry.layout import Layout, ProjectFile, Sources
from mindferry.observation import (
    CommandRun,
    Input,
    Maker,
    Network,
    Observation,
    Value,
    extract_part,
    load_observation,
    save_observation,
)
from mindferry.observe.commands import propose_commands
from mindferry.observe.use import comparables, is_factory
from mindferry.read.symbols import Symbols
from mindferry.report import content, render
from mindferry.weights.formats.files import open_checkpoint
from mindferry.weights.usermap import read_user_map

NET = "import torch\n\n\ndef net(x):\n    return torch.relu(x.view(-1))\n"
LIMITED = "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_CPU, (20, 20)); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.py").write_text(NET)
    return tmp_path / "in"


def packed(path: Path, record: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("observation.json", record)
    return path


def observed(**fields: object) -> bytes:
    return json.dumps(
        {"mindferry": 1, "kind": "Observation", "project": "/x", "runs": [], "files": [], **fields}
    ).encode()


@pytest.mark.parametrize(
    "record",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        observed(versions="none"),
        observed(versions=[1]),
        observed(runs=[{"command": [], "ended": "itself", "seconds": 1, "processes": 1e999}]),
        observed(files=[{"path": "a.py", "digest": "", "lines": 3}]),
        b" " * (65 << 20),
    ],
    ids=["nested lists", "nested objects", "text", "list", "infinite", "number", "bomb"],
)
def test_an_observation_that_makes_no_sense_is_a_sentence(record, tmp_path):
    with pytest.raises(MindferryError) as caught:
        load_observation(packed(tmp_path / "o.zip", record))
    assert len(str(caught.value)) < 500


def test_an_observation_that_is_a_pipe_or_no_archive_is_a_sentence(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "text").write_text("PK")
    (tmp_path / "damaged.zip").write_bytes(
        packed(tmp_path / "o.zip", observed()).read_bytes().replace(b"\x08\0", b"\x63\0")
    )
    for name in ("pipe", "text", "damaged.zip", "nothing"):
        with pytest.raises(MindferryError):
            load_observation(tmp_path / name)


def test_arrays_of_an_observation_are_not_written_outside(project, tmp_path):
    """The name of an array becomes that of a file."""
    import numpy

    made = io.BytesIO()
    numpy.savez(made, **{"../../../victim": numpy.zeros(2)})
    (tmp_path / "arrays.npz").write_bytes(made.getvalue())
    call = Input((Value("array", "arrays.npz:../../../victim"),), {}, False)
    network = Network("Net", (Maker("a", "net", "a.py", {}, True, "a.py", 4),), 1, (), (call,), (), 1)
    seen = Observation(str(project), (CommandRun(("python", "a.py"), "itself", 1.0),), (), networks=(network,))
    save_observation(seen, tmp_path / "o.zip", {"arrays.npz": tmp_path / "arrays.npz"})
    found, missing = comparables(load_observation(tmp_path / "o.zip"), tmp_path / "o.zip", tmp_path / "a" / "b" / "c")
    assert not found and missing
    assert not list(tmp_path.rglob("victim*"))


def test_arguments_of_an_observation_that_run_something_make_no_network(project, tmp_path):
    """They would be evaluated by the tests that are written from it."""
    for arguments, is_taken in (
        ({"n": "-1.5"}, True),
        ({"n": "__import__('os').abort()"}, False),
        ({"n=f()": "1"}, False),
    ):
        made = Maker("a", "net", "a.py", arguments, True, "a.py", 4)
        assert is_factory(made, project) is is_taken


def test_a_part_that_an_observation_has_not_is_a_sentence(tmp_path):
    with pytest.raises(MindferryError, match="nothing"):
        extract_part(packed(tmp_path / "o.zip", observed()), "nothing.npz", tmp_path)


@pytest.mark.parametrize("source", ["/\0", "\ud800", "/" + "x" * 5000, "/" + "x" * 300])
def test_a_record_of_a_folder_that_can_not_be_one_is_a_sentence(source, project, tmp_path):
    out = tmp_path / "out"
    save(ProjectConversion(source, str(out), (FileConversion("a.py", "converted", "0" * 64),)), out, "convert")
    for attempt in (lambda: convert_project(project, out), lambda: content(out)):
        with pytest.raises(MindferryError):
            attempt()


@pytest.mark.parametrize("name", ["x" * 300, "a/" * 3000 + "b", "\ud800.py"])
def test_a_record_of_a_file_that_can_not_be_one_is_a_sentence(name, project, tmp_path):
    out = tmp_path / "out"
    save(ProjectConversion(str(project), str(out), (FileConversion(name, "converted", "0" * 64),)), out, "convert")
    with pytest.raises(MindferryError, match="damaged or forged"):
        convert_project(project, out)


def test_a_record_that_is_nested_without_end_is_a_sentence(tmp_path):
    """A list that a loader gave holds others."""
    first = '{"kind": "list", "items": [' * 300 + "]}" * 300
    fields = {
        "dataset": "",
        "batch_size": 1,
        "batches": 1,
        "sampler": "",
        "workers": 0,
        "path": "",
        "line": 1,
        "first": 0,
    }
    body = observed(loaders=[fields]).replace(b'"first": 0', f'"first": {first}'.encode())
    (tmp_path / ".mindferry").mkdir()
    (tmp_path / ".mindferry" / "observe.json").write_bytes(body)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # other tests' packages raise it
    try:
        with pytest.raises(MindferryError):
            load(Observation, tmp_path, "observe")
    finally:
        sys.setrecursionlimit(limit)


def test_a_count_that_no_float_can_hold_is_a_sentence(project, tmp_path):
    out = tmp_path / "out"
    rewrite = (Rewrite(10**400, 1, "torch.ones", "a", "b"),)
    save(
        ProjectConversion(str(project), str(out), (FileConversion("a.py", "converted", "0" * 64, rewrite),)),
        out,
        "convert",
    )
    with pytest.raises(MindferryError, match="64 bits"):
        load(ProjectConversion, out, "convert")


def test_a_report_on_a_forged_record_shows_code_and_lists_alone(tmp_path):
    """The page is mailed: a record that names a key file must not bring it along."""
    home, out = tmp_path / "home", tmp_path / "out"
    home.mkdir()
    (home / "id_rsa").write_text("PRIVATE KEY")
    rewrite = (Rewrite(1, 1, "torch.ones", "a", "b"),)
    save(
        ProjectConversion(str(home), str(out), (FileConversion("id_rsa", "converted", "0" * 64, rewrite),)),
        out,
        "convert",
    )
    assert "PRIVATE" not in render(content(out), "html")


@pytest.mark.parametrize("line", [-(2**63), -1, 0, 2, 2**63])
def test_a_report_on_a_line_that_the_file_does_not_have_shows_the_others(line, tmp_path):
    home, out = tmp_path / "home", tmp_path / "out"
    for folder, text in ((home, "x = a\n"), (out, "x = b\n")):
        folder.mkdir()
        (folder / "m.py").write_text(text)
    rewrites = tuple(Rewrite(number, 1, f"torch.rule{number}", "a", "b") for number in (line, 1))
    save(
        ProjectConversion(str(home), str(out), (FileConversion("m.py", "converted", "0" * 64, rewrites),)),
        out,
        "convert",
    )
    page = render(content(out), "html")
    assert "torch.rule1" in page


def test_a_kind_of_part_that_nobody_knows_is_shown_last(tmp_path):
    parts = tuple(Part(kind, "n", "a.py", 1) for kind in ("oddity", "network"))
    save(Inventory("in", ("a.py",), (), 1, (), (), (), parts=parts), tmp_path, "analyze")
    assert "oddity" in render(content(tmp_path), "html")


@pytest.mark.parametrize("value", ["9" * 400, "-" + "9" * 400, "inf", "nan", "true"])
def test_numbers_without_bounds_in_a_configuration_are_a_sentence(value, tmp_path):
    (tmp_path / "mindferry.toml").write_text(f"[verify]\nk = {value}\n")
    with pytest.raises(MindferryError, match=r"verify\.k"):
        read_config(tmp_path)


@pytest.mark.parametrize(
    ("pattern", "template"),
    [("(." * 2000 + ")" * 2000, "x"), ("a{99999999999}", "x"), ("a", "\\" + "9" * 5000), ("a", "\\1"), ("(a", "x")],
    ids=["nested", "repeated", "a number without end", "a group that is not there", "open"],
)
def test_a_pattern_of_a_map_that_is_none_is_a_sentence(pattern, template, tmp_path):
    (tmp_path / "map.toml").write_text(f"[patterns]\n'{pattern}' = '{template}'\n")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # other tests' packages raise it
    try:
        with pytest.raises(MindferryError, match=r"no regular expression|names a group") as told:
            read_user_map(tmp_path / "map.toml")
    finally:
        sys.setrecursionlimit(limit)
    assert len(str(told.value)) < 600


def test_an_index_that_names_a_file_of_any_length_is_a_sentence(tmp_path):
    (tmp_path / "a.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": "a" * 70_000}}))
    with pytest.raises(MindferryError, match="points to"):
        open_checkpoint(tmp_path / "a.safetensors.index.json")


@pytest.mark.parametrize(
    "text",
    [
        "project = 1\n",
        "[project]\nscripts = 1\ndependencies = 'x'\n",
        "a = " + "[" * 5000 + "]" * 5000 + "\n[project]\nname = 1\n",
    ],
    ids=["number", "numbers", "nested"],
)
def test_a_pyproject_of_other_kinds_is_read_as_none(text, project):
    (project / "pyproject.toml").write_text(text + 'dependencies = ["torch"]\n' * ("name" in text))
    assert analyze_project(project).packages == ()
    propose_commands(project)
    convert_project(project, project.parent / "out")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["torch", "x"' + " " * 200_000 + "\n]\n"),
        ("pyproject.toml", "[" + " " * 200_000 + "\n"),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\n" + 'torch = "1"\n[project]\n[tool.poetry.dependencies]\n' * 20_000,
        ),
        ("requirements.txt", "numpy" + " " * 200_000 + "x\n"),
    ],
    ids=["spaces", "header", "tables", "numpy"],
)
def test_a_list_of_dependencies_takes_no_more_time_than_its_length(name, text, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        f"from mindferry.convert.dependencies import *\nrewrite_dependencies({name!r}, open({str(tmp_path / name)!r}, 'rb').read())\n"
    )
    (tmp_path / name).write_text(text)
    done = subprocess.run([sys.executable, "-c", LIMITED, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]


def test_numpy_keeps_its_marker_and_comment():
    new, _ = rewrite_dependencies(
        "requirements.txt", b'torch\nnumpy >=1.2  ; python_version > "3"  # arrays\n"numpy"\n'
    )
    assert new == b'mindspore==2.10.0\nnumpy<2  ; python_version > "3"  # arrays\n"numpy"\n'


def notebook(*cells: object) -> bytes:
    return json.dumps(
        {"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": each} for each in cells]}
    ).encode()


NOTEBOOKS = {
    "the word that marks cells, ever longer": notebook(
        "import torch\n", *("# mindferry" + "_" * 4000 for _ in range(400))
    ),
    "all numbers of that word": notebook("import torch\n" + "".join(f"# mindferry_{n}\n" for n in range(100_000))),
    "a line of spaces": notebook("import torch\nx = = 1\n" + " " * 300_000 + "\n"),
    "installs": notebook("import torch\n# " + "pip install " * 40_000),
    "shell values": notebook("import torch\n" + "x = !ls\n" * 20_000),
    "questions": notebook("import torch\n" + "x?\n" * 20_000),
    "cells": notebook(*(["import torch\nx = torch.nosuch(1)\n"] * 1_500)),
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_takes_no_more_time_than_its_length(name, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.ipynb").write_bytes(NOTEBOOKS[name])
    script = tmp_path / "run.py"
    script.write_text(
        f"from pathlib import Path\nfrom mindferry.convert import convert_project\nconvert_project(Path({str(tmp_path / 'in')!r}), Path({str(tmp_path / 'out')!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", LIMITED, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]


def test_a_cell_that_names_the_mark_keeps_its_text(tmp_path):
    cells = [
        "import torch\n# mindferry_1_ mindferry cell 1\nx = torch.ones(2)\n",
        "# mindferry_2\ny = x.view(-1)\n!ls\n",
    ]
    (tmp_path / "a.ipynb").write_bytes(notebook(*cells))
    file = ProjectFile(tmp_path / "a.ipynb", "a.ipynb", "")
    written = convert_one(file, Layout(tmp_path, (file,), ()), Symbols(framework()), Settings(), Sources())
    first, second = (each["source"] for each in json.loads(written.content())["cells"])
    assert (
        "# mindferry_1_ mindferry cell 1\n" in first
        and second.startswith("# mindferry_2\n")
        and second.endswith("!ls\n")
    )


def test_a_notebook_with_numbers_for_lines_stops_no_library(tmp_path, project):
    from mindferry.library.bring import project_modules

    (project / "b.ipynb").write_bytes(notebook([1, "import torch"], 3, {"a": 1}, "(" * 5000))
    assert project_modules(ProjectFile(project / "b.ipynb", "b.ipynb", ""))


def test_every_kind_of_record_is_refused_by_its_stage(tmp_path):
    (tmp_path / artifacts.STATE).mkdir()
    for body in ("[]", "{}", '{"mindferry": 1, "kind": "Inventory"}', "null"):
        (tmp_path / artifacts.STATE / "analyze.json").write_text(body)
        with pytest.raises(MindferryError):
            load(Inventory, tmp_path, "analyze")


def test_a_version_of_any_length_is_read(project):
    (project / "requirements.txt").write_text(f"torch=={'9' * 5000}.1\nnumpy=={'1.' * 5000}0\n")
    assert {each.name for each in analyze_project(project).packages} == {"torch", "numpy"}
