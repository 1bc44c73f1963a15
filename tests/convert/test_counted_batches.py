"""A norm of the project's own that counts its batches, and a batch of named values that is taken apart."""

from __future__ import annotations

from two_frameworks import Both, same

from mindferry.convert import convert_source

NORM = """
import torch.nn.functional as F


class NormAct(nn.BatchNorm2d):
    def forward(self, x):
        factor = self.momentum
        if self.training and self.track_running_stats:
            if self.num_batches_tracked is not None:
                {count}
                factor = 1.0 / float(self.num_batches_tracked)
        x = F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, self.training, factor, self.eps)
        return F.relu(x)

    def seen(self):
        return int(self.num_batches_tracked)


def run():
    net = NormAct(2)
    net.train()
    for scale in (1.0, 2.0, 5.0):
        y = net(torch.from_numpy(X.reshape(2, 2, 3, 2) * scale))
    return plain(y), plain(net.running_mean), plain(net.running_var), net.seen()
"""


def test_a_norm_counts_its_own_batches(both: Both) -> None:
    for count in (
        "self.num_batches_tracked.add_(1)",
        "self.num_batches_tracked += 1",
        "self.num_batches_tracked = self.num_batches_tracked + 1",
    ):
        theirs, ours = both(NORM.format(count=count))
        assert same(ours, theirs) and theirs[3] == 3


def test_a_norm_that_also_lets_torch_count_is_a_finding() -> None:
    text = """
import torch
class Counted(torch.nn.BatchNorm1d):
    def forward(self, x):
        self.num_batches_tracked += 1
        return super().forward(x) / float(self.num_batches_tracked)
"""
    assert {each.code for each in convert_source(text).findings if each.severity == "error"} == {"MF101"}


def test_a_batch_that_is_asked_for_items_is_no_tensor() -> None:
    text = """
import torch
from torch.utils.data import DataLoader
def run(model, data, device):
    for batch in DataLoader(data, batch_size=2):
        batch = {k: v.to(device) for k, v in batch.items()}
        model(**batch)
"""
    conversion = convert_source(text)
    assert conversion.findings == () and "batch = dict(batch)" in conversion.main
