"""Shell scripts that start a training: torch's launchers become msrun, and what has no counterpart there is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry import convert_project

CODE = "import torch\nx = torch.zeros(3)\n"
LOGS = "--log_dir=msrun_log --join=True"


def converted(text: str, folder: Path, name: str = "run.sh") -> tuple[str, list[tuple[str, int]]]:
    (folder / "source").mkdir()
    (folder / "source" / "a.py").write_text(CODE)
    (folder / "source" / name).write_text(text)
    result = convert_project(folder / "source", folder / "out")
    return (folder / "out" / name).read_text(), [(each.code, each.line) for each in result.findings]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "torchrun --nproc_per_node=4 a.py --lr 1\n",
            f"msrun --worker_num=4 --local_worker_num=4 {LOGS} a.py --lr 1\n",
        ),
        (
            "X=1 python -m torch.distributed.launch --nproc-per-node 2 --master_port $P --use_env a.py > log\n",
            f"X=1 msrun --worker_num=2 --local_worker_num=2 --master_port=$P {LOGS} a.py > log\n",
        ),
        (
            'torchrun \\\n  --standalone \\\n  --nnodes=2 --nproc_per_node "$N" \\\n  a.py \\\n  --x\n',
            f'msrun --worker_num=$((N * 2)) --local_worker_num="$N" {LOGS} \\\n  a.py \\\n  --x\n',
        ),
        ("torchrun a.py\n", f"msrun --worker_num=1 --local_worker_num=1 {LOGS} a.py\n"),
    ],
)
def test_torch_s_launcher_becomes_msrun(before: str, after: str, tmp_path: Path) -> None:
    assert converted(before, tmp_path) == (after, [])


@pytest.mark.parametrize(
    "text",
    [
        "torchrun --nproc_per_node=gpu a.py\n",
        "torchrun --rdzv_id=3 a.py\n",
        "\taccelerate launch a.py\n",
        "deepspeed a.py\n",
    ],
)
def test_what_msrun_has_no_option_for_is_said_and_stays(text: str, tmp_path: Path) -> None:
    assert converted(f"all:\n{text}", tmp_path, "Makefile") == (f"all:\n{text}", [("MF909", 2)])


@pytest.mark.parametrize(
    "text", ["# torchrun a.py\n", "python a.py\n", "echo my-torchrun a.py\n", "./torchrun.sh a.py\n"]
)
def test_other_commands_stay_as_they_are(text: str, tmp_path: Path) -> None:
    assert converted(text, tmp_path) == (text, [])
