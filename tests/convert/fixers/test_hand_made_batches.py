"""What a collate function and a data set give outside of a loader is tensors, in whatever file they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from mindferry.convert import convert_project

DATA = """
    import numpy as np
    import torch
    from torch.utils.data import Dataset


    class Rows(Dataset):
        def __init__(self):
            self.x = np.arange(24).reshape(6, 4)
            self.mean = torch.tensor([1.5, 2.5])

        def __len__(self):
            return 6

        def __getitem__(self, i):
            return {"ids": torch.tensor(self.x[i]), "y": torch.tensor(i % 2)}

        def weights(self):
            return torch.tensor([1.0, 3.0])

        @staticmethod
        def collate_rows(batch):
            return torch.stack([each["ids"] for each in batch])


    class Plain(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return np.float32([i, 1])


    def pad(batch):
        ids = torch.zeros(len(batch), 5, dtype=torch.long)
        for i, each in enumerate(batch):
            ids[i, : len(each["ids"])] = each["ids"]
        return {"ids": ids, "y": torch.stack([each["y"] for each in batch])}


    class Padder:
        def __init__(self, size):
            self.size = size

        def __call__(self, batch):
            ids = torch.zeros(len(batch), self.size, dtype=torch.long)
            for i, each in enumerate(batch):
                ids[i, :4] = each["ids"]
            return ids


    def collate_names(rows):
        return np.array([len(each) for each in rows])
    """

MAIN = """
    import torch
    from torch.utils.data import DataLoader

    from data import Padder, Plain, Rows, collate_names, pad

    rows, put = Rows(), Padder(6)
    found = [batch["ids"].float().unsqueeze(0).sum().item() for batch in DataLoader(rows, batch_size=3, collate_fn=pad)]
    found += [batch.float().sum().item() for batch in DataLoader(rows, batch_size=4, collate_fn=put)]
    found.append(rows[1]["ids"].unsqueeze(0).float().mean().item())
    by_hand = pad([rows[i] for i in range(3)])
    found += [by_hand["ids"].float().unsqueeze(0).mean().item(), by_hand["y"].float().unsqueeze(-1).sum().item()]
    found.append(put([rows[0], rows[5]]).float().unsqueeze(1).mean().item())
    found.append(rows.collate_rows([rows[2], rows[3]]).float().unsqueeze(1).mean().item())
    found += [rows.weights().unsqueeze(0).sum().item(), rows.mean.unsqueeze(0).sum().item()]
    found += [type(Plain()[0]).__name__, type(collate_names(["a", "bc"])).__name__]
    print(found)
    """


def test_what_leaves_the_data_code_is_tensors_where_torchs_is(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "data.py").write_text(dedent(DATA))
    (source / "main.py").write_text(dedent(MAIN))
    made = convert_project(source, target)
    assert [each.message for file in made.files for each in file.findings if each.severity == "error"] == []
    said = [
        subprocess.run([sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, check=False)
        for folder in (source, target)
    ]
    assert said[0].stdout.strip().splitlines() == said[1].stdout.strip().splitlines()[-1:], said[1].stderr
