"""Groups of some ranks: every collective gives each rank what torch's processes get."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .support import converted, run

GROUPS = """
import torch
import torch.distributed as dist

def gather_all(data, group=None):
    if dist.get_world_size(group) == 1:
        return [data]
    sizes = [torch.zeros(1, dtype=torch.int64) for _ in range(dist.get_world_size(group=group))]
    dist.all_gather(sizes, torch.tensor([len(data)]), group=group)
    return [int(each) for each in sizes]


dist.init_process_group('gloo')
rank, size = dist.get_rank(), dist.get_world_size()
pair = dist.new_group([0, 2], backend='gloo')
single = dist.new_group(ranks=[1])
everyone = dist.new_group(backend='gloo')
told = [dist.get_rank(pair), dist.get_world_size(pair), dist.get_rank(group=single), dist.get_world_size(everyone)]
if rank in (0, 2):
    x = torch.tensor([1.0, 5.0]) * (rank + 1)
    dist.all_reduce(x, group=pair)
    count = torch.tensor([rank + 1, 3])
    dist.all_reduce(count, op=dist.ReduceOp.MAX, group=pair)
    first = torch.tensor([10.0 + rank])
    dist.broadcast(first, src=2, group=pair)
    parts = [torch.zeros(2) for _ in range(2)]
    dist.all_gather(parts, torch.tensor([rank, rank + 0.5]), group=pair)
    names = [None] * 2
    dist.all_gather_object(names, {'rank': rank}, group=pair)
    words = [rank, 'a' * rank]
    dist.broadcast_object_list(words, src=2, group=pair)
    dist.barrier(group=pair)
    told += [x.tolist(), count.tolist(), first.tolist(), [p.tolist() for p in parts], names, words]
    told += [dist.get_process_group_ranks(pair), dist.get_group_rank(pair, 2), dist.get_global_rank(pair, 1)]
told.append(gather_all('abc' * rank, everyone))
told.append(gather_all('ab' * rank, dist.group.WORLD))
told.append(gather_all('ab' * rank))
sums = torch.tensor([1.5 * rank])
dist.all_reduce(sums, group=everyone)
rows = [torch.zeros(1) for _ in range(size)] if rank == 1 else []
dist.gather(sums + rank, rows if rank == 1 else None, dst=1)
later = [torch.zeros(1) for _ in range(size)]
works = [dist.all_gather(later, torch.tensor([float(rank)]), async_op=True)]
for work in works:
    work.wait()
told.append([each.item() for each in later])
with open(f'rank_{rank}.txt', 'w') as out:
    print(told, sums.tolist(), [each.tolist() for each in rows], file=out)
dist.destroy_process_group()
"""
RANKS = 3


def test_groups_of_some_ranks_get_what_torch_gives_them(tmp_path: Path) -> None:
    project = converted(tmp_path, {"train.py": GROUPS})
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={RANKS}", "train.py"]
    theirs = subprocess.run(command, cwd=tmp_path / "source", capture_output=True, text=True, timeout=600)
    assert theirs.returncode == 0, theirs.stderr
    result = run(project, "train.py", "--workers", str(RANKS), "--logs", str(tmp_path / "logs"))
    assert result.returncode == 0, result.stderr
    for rank in range(RANKS):
        expected = (tmp_path / "source" / f"rank_{rank}.txt").read_text()
        assert (project / f"rank_{rank}.txt").read_text() == expected
