"""Tensor maths in datasets and collate functions becomes numpy, with torch's values and types."""

from __future__ import annotations

import numpy as np
import pytest
from data_pairs import Both, assert_equal

from mindferry import convert_source

HEAD = """import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self):
        self.images = np.random.RandomState(0).randint(0, 256, (6, 4, 5, 3)).astype(np.uint8)
        self.rows = torch.tensor([[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]] * 2)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, row = self.images[i], self.rows[i]
        return {0}


def loader():
    return DataLoader(Samples(), batch_size=4)
"""

EXPRESSIONS = [
    "torch.from_numpy(image).permute(2, 0, 1).float().div(255), int(i)",
    "torch.from_numpy(image.transpose(2, 0, 1)).float() / 255.0, torch.tensor(i)",
    "torch.tensor(image, dtype=torch.float32).transpose(0, 2).contiguous()",
    "torch.as_tensor([i, i + 1]), torch.as_tensor([0.5, i])",
    "torch.FloatTensor([1.5, i]), torch.LongTensor([i, 2])",
    "torch.zeros(2, 3), torch.ones((2, i * 0 + 2), dtype=torch.int64), torch.arange(4), torch.arange(0.0, 1.0, 0.25)",
    "torch.stack([torch.from_numpy(image), torch.from_numpy(image)], dim=1), torch.cat([row, row])",
    "torch.from_numpy(image).unsqueeze(0).squeeze(0).view(-1).long().clone()",
    "torch.from_numpy(image).double().mean(), torch.from_numpy(image).float().sum(dim=0), row.max().item()",
    "torch.clamp(row, min=1.0), torch.where(row > 1, row, -row), torch.abs(-row), row.sum(0, keepdim=True)",
    "F.one_hot(torch.tensor(i), num_classes=6), torch.from_numpy(image).size(0), list(row.size()), row.numel(), row.dim()",
    "row.repeat(2, 3), torch.flip(row, [0]), row.to(torch.float64), row.detach().cpu().numpy()",
    "{'x': row.half(), 'y': torch.from_numpy(image).bool(), 'z': row.tolist()}",
    "torch.zeros_like(row), row.reshape(2, 1).t(), row.add(1).mul(2).sub(0.5)",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_dataset_computes_the_same_with_numpy(both: Both, expression: str) -> None:
    source = HEAD.replace("{0}", expression)
    theirs, ours = both(source)
    assert_equal(list(theirs.loader()), list(ours.loader()))
    sample = ours.Samples()[1]
    leaves = sample.values() if isinstance(sample, dict) else sample if isinstance(sample, tuple) else [sample]
    assert not any(type(each).__name__ == "Tensor" for each in leaves), "MindSpore is left out of the workers"
    assert "ms." not in convert_source(source).main.replace("ms_compat.", "")


COLLATE = """import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Words(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, i):
        return torch.arange(i + 1), i


def collate_fn(batch):
    words, labels = zip(*batch)
    lengths = torch.tensor([len(each) for each in words])
    return pad_sequence(words, batch_first=True, padding_value=-1), torch.LongTensor(labels), lengths


class PadCollate:
    def __call__(self, batch):
        return to_batch([each[0] for each in batch])


def to_batch(words):
    return torch.stack([each.float().sum() for each in words]), pad_sequence(words)


def loader(collate):
    return DataLoader(Words(), batch_size=2, collate_fn=collate)
"""


def test_collate_functions_and_what_only_they_call_become_numpy(both: Both) -> None:
    theirs, ours = both(COLLATE)
    assert_equal(list(theirs.loader(theirs.collate_fn)), list(ours.loader(ours.collate_fn)))
    assert_equal(list(theirs.loader(theirs.PadCollate())), list(ours.loader(ours.PadCollate())))
    assert isinstance(ours.to_batch([np.arange(2), np.arange(3)])[1], np.ndarray)


def test_a_dataset_that_numpy_cannot_express_stays_with_mindspore_and_says_so() -> None:
    source = HEAD.replace("{0}", "torch.fft.rfft(torch.from_numpy(image).float()), torch.tensor(i)")
    conversion = convert_source(source)
    warnings = [each for each in conversion.findings if each.code == "MF130"]
    assert len(warnings) == 1 and "torch.fft.rfft" in warnings[0].message and "numpy" in warnings[0].advice
    assert "np.array(i)" not in conversion.main


def test_tensor_maths_outside_of_datasets_is_left_to_mindspore() -> None:
    conversion = convert_source(
        "import torch\n\n\ndef scale(x):\n    return torch.stack([torch.tensor(1.0), torch.tensor(2.0)])\n"
    )
    assert "numpy" not in conversion.main


INFERENCE = """import torch
import torchvision.transforms.functional as TF
from torchvision import transforms


def predict(image):
    transform = transforms.Compose([transforms.CenterCrop(8), transforms.ToTensor()])
    batch = transform(image).unsqueeze(0)
    other = transforms.ToTensor()(image).unsqueeze(0)
    third = TF.to_tensor(image).unsqueeze(0)
    return batch, other, third
"""


def test_an_image_transformed_outside_of_a_dataset_becomes_a_tensor(both: Both) -> None:
    from data_pictures import picture

    theirs, ours = both(INFERENCE)
    assert_equal(theirs.predict(picture()), ours.predict(picture()))


def test_what_a_loader_is_given_as_collate_fn_is_data_code_whatever_its_name() -> None:
    source = (
        "import torch\nfrom functools import partial\nfrom torch.utils.data import DataLoader\n"
        "def make_batch(samples):\n    xs, ys = zip(*samples)\n    return torch.stack(xs), torch.tensor(ys)\n"
        "def padded(pad, samples):\n    return torch.stack(samples) + pad\n"
        "def train(loader: DataLoader, xs: torch.Tensor):\n    return torch.stack([xs, xs])\n"
        "a = DataLoader([], collate_fn=make_batch)\nb = DataLoader([], collate_fn=partial(padded, 2.0))\n"
    )
    code = convert_source(source).main
    assert "np.stack(xs), ms_compat.array_of(ys)" in code and "np.stack(samples) + pad" in code
    assert "ops.stack([xs, xs])" in code
