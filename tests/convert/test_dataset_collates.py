"""Datasets that make their own batches by a method."""

from __future__ import annotations

import pytest
from two_frameworks import Both, same

OWN_COLLATES = {
    "a static method of another name": """
class Pairs(Spread):
    @staticmethod
    def make(samples):
        longest = max(len(each[2]) for each in samples)
        padded = torch.zeros(len(samples), longest).long()
        for k, each in enumerate(samples):
            padded[k, : len(each[2])] = torch.tensor(each[2])
        return torch.stack([each[0] for each in samples]), torch.cat([each[1] for each in samples]), padded

def run():
    return [plain(batch) for batch in DataLoader(Pairs(5), batch_size=3, collate_fn=Pairs.make)]
""",
    "a bound method": """
class Pairs(Spread):
    def together(self, samples):
        return [torch.stack([each[0] for each in samples]), torch.stack([each[1] for each in samples]).softmax(-1)]
    def loader(self, size):
        return DataLoader(self, batch_size=size, collate_fn=self.together)

def run():
    return [plain(batch) for batch in Pairs(3).loader(2)]
""",
    "a class method": """
class Pairs(Spread):
    @classmethod
    def collate(cls, samples):
        return torch.stack([each[1] for each in samples]).cumsum(0)

def run():
    return [plain(batch) for batch in DataLoader(Pairs(3), 2, collate_fn=Pairs.collate)]
""",
}
SPREAD = """
from torch.utils.data import DataLoader, Dataset

class Spread(Dataset):
    def __init__(self, n):
        self.n = n
        self.noise = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        return torch.LongTensor((i, i + 1)), self.noise.log_prob(torch.tensor([0.1 * i, 1.0])), [i] * (i + 1)
"""


@pytest.mark.parametrize("name", OWN_COLLATES)
def test_a_method_that_makes_batches_gets_tensors_where_its_dataset_computes_with_mindspore(
    name: str, both: Both
) -> None:
    ours, theirs = both(SPREAD + OWN_COLLATES[name])
    assert same(ours, theirs), (ours, theirs)
