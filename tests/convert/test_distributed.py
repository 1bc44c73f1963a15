"""torch.distributed in a project: collectives become assignments, torchrun's environment msrun's, and a launch script is written."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mindferry import convert_source
from mindferry.convert import convert_project
from mindferry.convert.launch_files import launch_script, readme

HEAD = "import os\nimport torch\nimport torch.distributed as dist\n"


def body(source: str) -> str:
    return convert_source(HEAD + source).code


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = torch.ones(2)\ndist.all_reduce(x)\nprint(x)\n", "x = all_reduce(x)\n"),
        (
            "x = torch.ones(2)\ndist.all_reduce(x, dist.ReduceOp.MAX)\nprint(x)\n",
            "x = all_reduce(x, ops.ReduceOp.MAX)\n",
        ),
        (
            "x = torch.ones(2)\ndist.reduce(x, 0, dist.ReduceOp.SUM)\nprint(x)\n",
            "x = all_reduce(x, op=ops.ReduceOp.SUM)\n",
        ),
        ("x = torch.ones(2)\ndist.broadcast(x, src=0)\nprint(x)\n", "x = broadcast(x, src=0)\n"),
        ("x = torch.ones(2)\nparts = [x, x]\ndist.all_gather(parts, x)\n", "\nall_gather(parts, x)\n"),
        (
            "model = torch.nn.Linear(2, 2)\nfor p in model.parameters():\n    dist.all_reduce(p.grad)\n",
            "    p.grad = all_reduce(p.grad)\n",
        ),
        (
            "model = torch.nn.Linear(2, 2)\nfor p in model.parameters():\n    dist.broadcast(p.data, 0)\n",
            "    p.set_data(broadcast(p, 0))\n",
        ),
    ],
)
def test_a_collective_in_place_becomes_an_assignment(before: str, after: str) -> None:
    assert after in body(before).replace("ms_compat.", "")


def test_a_call_that_ends_later_stays_with_a_finding() -> None:
    call = "work = dist.all_reduce(x, async_op=True)"
    result = convert_source(f"{HEAD}x = torch.ones(2)\n{call}\n")
    assert call in result.code
    assert any(each.rule == "torch.distributed.all_reduce" and each.severity == "error" for each in result.findings)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("'LOCAL_RANK' in os.environ", "'RANK_ID' in os.environ"),
        ('os.environ["RANK"]', 'os.environ["RANK_ID"]'),
        ("int(os.environ['LOCAL_RANK'])", "int(os.environ.get('DEVICE_ID', '0'))"),
        ("int(os.environ.get('WORLD_SIZE', 1))", "int(os.environ.get('RANK_SIZE', 1))"),
        ("os.getenv('LOCAL_RANK', -1)", "os.getenv('DEVICE_ID', os.getenv('RANK_ID', -1))"),
    ],
)
def test_torchruns_environment_becomes_msruns(before: str, after: str) -> None:
    assert f"value = {after}\n" in body(f"value = {before}\n")


@pytest.mark.parametrize(
    "text", ["os.environ['MASTER_ADDR'] = 'localhost'\n", "names = {'RANK': 3}['RANK']\n", "title = 'WORLD_SIZE'\n"]
)
def test_what_is_no_question_to_the_environment_stays(text: str) -> None:
    assert text in body(text)


def test_local_rank_as_an_argument_is_warned_of() -> None:
    source = f"{HEAD}import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--local_rank', default=-1)\ndist.barrier()\n"
    assert any(each.code == "MF250" and each.severity == "warning" for each in convert_source(source).findings)


TRAIN = f"{HEAD}\n\ndef main():\n    dist.init_process_group('gloo')\n\n\nif __name__ == '__main__':\n    main()\n"


def test_a_distributed_project_gets_a_launch_script_and_readme_lines(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "tools").mkdir(parents=True)
    (source / "tools" / "train.py").write_text(TRAIN)
    (source / "README.md").write_text("# mine\n\nText.\n")
    convert_project(source, tmp_path / "out")
    script = (tmp_path / "out" / "run_distributed.sh").read_text()
    assert 'msrun --worker_num="$workers" --local_worker_num="$workers" --master_addr=127.0.0.1' in script
    assert ' tools/train.py "$@"\n' in script
    assert subprocess.run(["sh", "-n", tmp_path / "out" / "run_distributed.sh"]).returncode == 0
    told = (tmp_path / "out" / "README.md").read_text()
    assert told.startswith("# mine\n\nText.\n") and "sh run_distributed.sh 2" in told
    assert (source / "README.md").read_text() == "# mine\n\nText.\n"


@pytest.mark.parametrize(
    "files",
    [
        {"lib/__init__.py": "", "lib/comm.py": TRAIN.partition("\n\nif")[0]},
        {"train.py": "import torch\nx = torch.ones(2)\n"},
    ],
)
def test_a_library_and_a_project_of_one_process_get_none(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    convert_project(tmp_path / "source", tmp_path / "out")
    assert not (tmp_path / "out" / "run_distributed.sh").exists() and not (tmp_path / "out" / "README.md").exists()


def test_a_name_with_lines_in_it_runs_nothing_in_the_launch_script(tmp_path):
    name = "a\ntouch executed #.py"
    script = launch_script(name)
    (tmp_path / "run.sh").write_bytes(script)
    path = f"{tmp_path}:{os.environ['PATH']}"
    (tmp_path / "msrun").write_text('#!/bin/sh\nfor each; do last=$each; done; printf %s "$last" > started\n')
    (tmp_path / "msrun").chmod(0o755)
    assert subprocess.run(["sh", "run.sh"], cwd=tmp_path, env={"PATH": path}).returncode == 0
    assert not (tmp_path / "executed").exists() and (tmp_path / "started").read_text() == name
    assert b"\ntouch" not in readme(b"", name) and launch_script(os.fsdecode(b"caf\xe9.py")).count(b"caf\xe9.py") == 1
