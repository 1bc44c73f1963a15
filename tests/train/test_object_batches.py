"""Batches that are objects of the project's own: they have tensors, and their class, as in torch."""

from __future__ import annotations

import pytest

from .both_ways import Ran, run_both

ROWS = """
from dataclasses import dataclass, field
from typing import NamedTuple
from torch.utils.data import DataLoader, Dataset

class Row(NamedTuple):
    values: torch.Tensor
    label: int

class Rows(Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return Row(torch.from_numpy(array(i, 3 + i % 3)), i % 3)

def pad(rows):
    values = torch.zeros(len(rows), 5)
    mask = torch.zeros(len(rows), 5, dtype=torch.bool)
    for i, row in enumerate(rows):
        values[i, :row.values.size(0)] = row.values
        mask[i, :row.values.size(0)] = True
    return values, mask, torch.tensor([row.label for row in rows])

class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = start(nn.Linear(5, 3))
    def forward(self, values, mask):
        return self.a(values.masked_fill(~mask, 0.5)) / mask.sum(1, keepdim=True).float()

def fit(collate, take, **options):
    net = Scores()
    opt = torch.optim.Adam(net.parameters(), lr=0.05)
    for batch in DataLoader(Rows(), batch_size=4, collate_fn=collate, **options):
        values, mask, labels = take(batch)
        opt.zero_grad()
        loss = criterion(net(values, mask), labels)
        loss.backward()
        opt.step()
        record(loss, values.mean(1), float(mask.dtype == torch.bool))
    weights(net)
"""
SCRIPTS = {
    "data_class": """
@dataclass
class Batch:
    values: torch.Tensor
    mask: torch.Tensor
    labels: torch.Tensor
    names: list = field(default_factory=list)
    weight: torch.Tensor = None
    def to(self, device):
        return Batch(self.values.to(device), self.mask.to(device), self.labels.to(device), self.names, self.weight)
    def lengths(self):
        return self.mask.sum(dim=1).clamp(min=1)
    def __len__(self):
        return self.labels.shape[0]

def take(batch):
    batch = batch.to(torch.device("cpu"))
    record(len(batch), batch.lengths().float(), len(batch.names), float(batch.weight is None))
    return batch.values, batch.mask, batch.labels

fit(lambda rows: Batch(*pad(rows), ["a"]), take)
""",
    "frozen_and_nested": """
@dataclass(frozen=True)
class Targets:
    labels: torch.Tensor

@dataclass(frozen=True)
class Batch:
    inputs: tuple
    targets: Targets

def make(rows):
    values, mask, labels = pad(rows)
    return Batch((values, mask), Targets(labels))

fit(make, lambda batch: (*batch.inputs, batch.targets.labels))
""",
    "slots": """
class Batch:
    __slots__ = ("values", "mask", "labels")
    def __init__(self, values, mask, labels):
        self.values, self.mask, self.labels = values, mask, labels
    def __iter__(self):
        return iter((self.values, self.mask, self.labels))

fit(lambda rows: Batch(*pad(rows)), tuple)
""",
    "an_object_that_holds_itself": """
class Batch:
    def __init__(self, rows):
        self.values, self.mask, self.labels = pad(rows)
        self.same, self.whole = self.values, self
    def pin_memory(self):
        self.values = self.values.pin_memory()
        return self

def take(batch):
    assert batch.same is batch.values or torch.equal(batch.same, batch.values)
    return batch.whole.values, batch.whole.mask, batch.labels

fit(Batch, take)
""",
    "names_in_a_space": """
from types import SimpleNamespace

fit(lambda rows: SimpleNamespace(x=pad(rows)), lambda batch: batch.x)
""",
    "a_dictionary_of_ones_own": """
class Batch(dict):
    def to(self, device):
        return Batch({key: value.to(device) for key, value in self.items()})
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)

def make(rows):
    values, mask, labels = pad(rows)
    return Batch(values=values, mask=mask, labels=labels)

def take(batch):
    record(float(isinstance(batch, Batch)))
    batch = batch.to("cpu")
    return batch["values"], batch.mask, batch.labels

fit(make, take)
""",
    "samples_of_a_dictionary_of_ones_own": """
class Sample(dict):
    def pair(self):
        return self["x"], self["y"]

class Samples(Dataset):
    def __len__(self):
        return 6
    def __getitem__(self, i):
        return Sample(x=torch.from_numpy(array(i, 4)), y=i % 3)

net = network()
for batch in DataLoader(Samples(), batch_size=3):
    x, y = batch.pair()
    record(criterion(net(x), y))
""",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    return run_both(tmp_path_factory.mktemp("batches"), {name: ROWS + text for name, text in SCRIPTS.items()})


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_batches_are_what_torch_hands_out(ran: dict[str, Ran], name: str) -> None:
    ran[name].check()
