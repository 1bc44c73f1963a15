"""A launcher of torch's that Python code starts is named; other programs, and texts that start nothing, are left alone."""

from __future__ import annotations

import pytest

import mindferry
from mindferry import findings


@pytest.mark.parametrize(
    "line",
    [
        'os.system("torchrun --nproc_per_node=2 train.py")',
        'subprocess.run(["torchrun", "--nproc_per_node", str(n), "train.py"], check=True)',
        'subprocess.Popen([sys.executable, "-m", "torch.distributed.launch", "train.py"])',
        'cmd = f"python -m torch.distributed.run --nproc_per_node={n} train.py"; subprocess.call(cmd, shell=True)',
        'cmd = ["accelerate", "launch"] + args; subprocess.check_call(cmd)',
    ],
)
def test_a_launcher_that_the_code_starts_is_named(line: str) -> None:
    source = f"import os\nimport subprocess\nimport sys\n\nimport torch\n\n\ndef go(n, args):\n    {line}\n"
    found = [each for each in mindferry.convert_source(source).findings if each.code == findings.MF909]
    assert [each.line for each in found] == [9]


def test_other_commands_and_texts_are_left_alone() -> None:
    source = (
        'import subprocess\n\nimport torch\n\nUSAGE = "torchrun train.py"\nprint(USAGE)\n'
        'subprocess.run(["python", "train.py", "--torch"])\n'
    )
    assert not mindferry.convert_source(source).findings
