"""Two processes under msrun: the weights of one with the doubled batch; failures end everything and training resumes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from .support import PROJECTS, converted, processes_of, run

# Ten steps with the project's own Trainer; one process reads the same samples as two.
TEN_STEPS = """
import sys

import mindspore as ms
import ms_compat
import numpy as np

import main

rank, size = main.setup()
ms.set_seed(0)
dataset = main.MyTrainDataset(320)
ms.set_seed(rank)  # DistributedDataParallel has to make the weights equal
_, model, optimizer = main.load_train_objs()
if size == 1:
    ms.load_param_into_net(model, ms.load_checkpoint("first.ckpt"))
elif rank == 0:
    ms.save_checkpoint(model, "first.ckpt")
sampler = ms_compat.DistributedSampler(dataset, num_replicas=size, rank=rank)
loader = ms_compat.DataLoader(dataset, batch_size=32 // size, sampler=sampler)
trainer = main.Trainer(model, loader, optimizer, rank, size, 1, "snapshot.ckpt")
trainer.train(1)
np.savez(f"weights_{rank}_of_{size}.npz", **{p.name: p.asnumpy() for p in model.get_parameters()})
"""


def test_ten_steps_with_two_workers_equal_one_with_the_doubled_batch(tmp_path: Path) -> None:
    source = (PROJECTS / "ddp_classifier" / "main.py").read_text()
    project = converted(tmp_path, {"main.py": source})
    (project / "ten_steps.py").write_text(TEN_STEPS)
    for workers in ("2", "1"):
        result = run(project, "ten_steps.py", "--workers", workers)
        assert result.returncode == 0, result.stderr
    one, first, second = (dict(np.load(project / f"weights_{name}.npz")) for name in ("0_of_1", "0_of_2", "1_of_2"))
    assert len(one) == 4
    for name, value in one.items():
        assert np.array_equal(first[name], second[name])
        assert np.abs(first[name] - value).max() <= 1e-6
        assert np.abs(value - value.mean()).max() > 1e-3
    assert processes_of(project) == []


COLLECTIVES = """
import torch
import torch.distributed as dist

dist.init_process_group('gloo')
rank, size = dist.get_rank(), dist.get_world_size()
x = torch.tensor([1.0, 5.0]) * (rank + 1)
dist.all_reduce(x)
count = torch.tensor([rank + 1, 3])
dist.all_reduce(count, op=dist.ReduceOp.MAX)
least = torch.tensor(2.5 - rank)
dist.all_reduce(least, op=dist.ReduceOp.MIN)
total = torch.tensor(7 + rank)
dist.all_reduce(total)
first = torch.tensor([10.0 + rank])
dist.broadcast(first, src=0)
parts = [torch.zeros(2) for _ in range(size)]
dist.all_gather(parts, torch.tensor([rank, rank + 0.5]))
names = [None] * size
dist.all_gather_object(names, {'rank': rank})
told = [rank, 'a' * rank]
dist.broadcast_object_list(told, src=1)
dist.barrier()
print('result', x.tolist(), count.tolist(), least.item(), total.item(), first.tolist(), [p.tolist() for p in parts], names, told)
dist.destroy_process_group()
"""
RESULT = "result [3.0, 15.0] [2, 3] 1.5 15 [10.0] [[0.0, 0.5], [1.0, 1.5]] [{'rank': 0}, {'rank': 1}] [1, 'a']"


@pytest.mark.slow
def test_collectives_give_every_rank_what_torch_gives(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "train.py"]
    project = converted(tmp_path, {"train.py": COLLECTIVES})
    theirs = subprocess.run(command, cwd=tmp_path / "source", capture_output=True, text=True, timeout=300)
    assert theirs.stdout.splitlines().count(RESULT) == 2, theirs.stderr
    result = run(project, "train.py", "--workers", "2", "--logs", str(tmp_path / "logs"))
    assert result.returncode == 0, result.stderr
    for rank in range(2):
        assert RESULT in (tmp_path / "logs" / "start-1" / f"worker_{rank}.log").read_text().splitlines()


TRAINER = """
import argparse
import os
import signal
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument('--resume', default='')
parser.add_argument('--die', default='')
args = parser.parse_args()

dist.init_process_group('gloo')
rank = dist.get_rank()
torch.manual_seed(1)
x = torch.arange(320).reshape(64, 5).float() / 100 % 1
y = (x.sum(dim=1) > 2.2).long()
model = DistributedDataParallel(nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 2)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
start = 0
if args.resume:
    state = torch.load(args.resume)
    model.load_state_dict(state['model'])
    optimizer.load_state_dict(state['optimizer'])
    start = state['epoch'] + 1
dataset = TensorDataset(x, y)
sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=8, sampler=sampler)
for epoch in range(start, 5):
    sampler.set_epoch(epoch)
    for step, (inputs, labels) in enumerate(loader):
        if epoch == 3 and step == 1 and rank == 1 and args.die and not args.resume:
            if args.die == 'killed':
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError('step 3 of rank 1')
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        print(f'epoch {epoch} step {step} loss {loss.item():.7f}')
    if rank == 0:
        torch.save({'model': model.state_dict(), 'optimizer': optimizer.state_dict(), 'epoch': epoch}, 'last.pth')
dist.destroy_process_group()
"""


def losses(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("epoch ")]


@pytest.mark.slow
def test_a_killed_worker_ends_all_and_training_resumes_to_the_same_losses(tmp_path: Path) -> None:
    project = converted(tmp_path, {"train.py": TRAINER})
    whole = run(project, "train.py", "--workers", "2")
    assert whole.returncode == 0, whole.stderr
    expected = losses(whole.stdout)
    assert len(expected) == 20
    (project / "last.ckpt").unlink()
    before = sorted(path.name for path in project.iterdir())
    resumed = run(
        project,
        "train.py",
        "--workers",
        "2",
        "--restarts",
        "1",
        "--resume",
        "--resume {checkpoint}",
        "--",
        "--die",
        "killed",
    )
    assert resumed.returncode == 0, resumed.stderr
    assert "rank 1 failed: killed by SIGKILL; starting again from last.ckpt (1 of 1)" in resumed.stderr
    assert losses(resumed.stdout)[-8:] == expected[-8:]
    assert losses(resumed.stdout)[:12] == expected[:12]
    assert processes_of(project) == []
    assert sorted(path.name for path in project.iterdir()) == sorted([*before, "last.ckpt"])


@pytest.mark.slow
def test_a_script_that_raises_is_one_sentence_and_no_process_stays(tmp_path: Path) -> None:
    project = converted(tmp_path, {"train.py": TRAINER})
    begin = time.monotonic()
    result = run(project, "train.py", "--workers", "2", "--json", "--", "--die", "raised")
    assert time.monotonic() - begin < 120
    outcome = json.loads(result.stdout)
    assert result.returncode == 1 and outcome["failed_rank"] == 1 and not outcome["passed"]
    assert outcome["error"].startswith("train.py:") and outcome["error"].endswith("ValueError: step 3 of rank 1")
    message = result.stderr.splitlines()[-1]
    assert message.startswith("mindferry: rank 1 failed: train.py:") and "every process has ended" in message
    assert "Traceback" not in result.stderr
    assert processes_of(project) == []


ALONE = """
import os
import sys

assert "MS_ROLE" not in os.environ
with open("runs.txt", "a") as file:
    file.write("once\\n")
print("trained on", sys.argv[1:])
if "fail" in sys.argv:
    raise ValueError("no data")
"""


def test_a_script_for_one_process_runs_once_and_its_error_is_a_sentence(tmp_path: Path) -> None:
    """msrun would run it twice: in its scheduler too."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(ALONE)
    (project / "mindferry.toml").write_text('[train]\nscript = "train.py"\nargs = ["--lr", "1"]\n')
    result = run(tmp_path, str(project))
    assert result.returncode == 0 and result.stdout == "trained on ['--lr', '1']\n", result.stderr
    assert (project / "runs.txt").read_text() == "once\n"
    failed = run(tmp_path, str(project), "--", "fail")
    assert failed.returncode == 1 and failed.stderr.splitlines()[-1].startswith(
        "mindferry: rank 0 failed: train.py:10: ValueError: no data;"
    )
    assert sorted(path.name for path in project.iterdir()) == [".mindferry", "mindferry.toml", "runs.txt", "train.py"]
    assert processes_of(project) == []


@pytest.mark.slow
def test_within_a_minute_of_a_kill_every_process_is_gone(tmp_path: Path) -> None:
    project = converted(tmp_path, {"train.py": TRAINER})
    command = [sys.executable, "-m", "mindferry", "launch", "train.py", "--workers", "2", "--", "--die", "killed"]
    process = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    last = time.monotonic()
    for line in process.stdout:  # rank 0's: rank 1 dies right after the step that the last line is about
        last = time.monotonic() if line.startswith("epoch ") else last
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - last < 60
    assert process.returncode == 1 and "rank 1 failed: killed by SIGKILL; every process has ended" in errors
    assert processes_of(project) == []


@pytest.mark.slow
def test_when_launch_is_told_to_end_no_process_stays(tmp_path: Path) -> None:
    script = tmp_path / "wait.py"
    script.write_text("import time\nprint('started', flush=True)\ntime.sleep(300)\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "mindferry", "launch", str(script), "--workers", "2"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    assert len(processes_of(script)) >= 3
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 130
    assert processes_of(script) == []
