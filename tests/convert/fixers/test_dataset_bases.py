"""The base class of a project's datasets: it goes where nobody asks for it, and stays where somebody does."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.convert import convert_project

CLASS = """
class Digits(Dataset):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def __getitem__(self, index):
        return index

    def __len__(self):
        return self.n
"""
HEAD = "from torch.utils.data import DataLoader, Dataset\n"
RUN = "\nif __name__ == '__main__':\n    train_set = Digits(4)\n"


def converted(folder: Path, text: str, other: str = "") -> str:
    source = folder / "source"
    source.mkdir()
    (source / "main.py").write_text(text)
    if other:
        (source / "other.py").write_text(other)
    convert_project(source, folder / "out")
    return (folder / "out" / "main.py").read_text()


def test_a_dataset_that_is_only_read_needs_no_base(tmp_path: Path) -> None:
    text = converted(tmp_path, f"{HEAD}{CLASS}{RUN}    print([x for x in DataLoader(train_set, batch_size=2)])\n")
    assert "class Digits:\n    def __init__(self, n):\n        super().__init__()\n" in text
    assert "Dataset" not in (tmp_path / "out" / "ms_compat.py").read_text()


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("    both = train_set + Digits(2)\n    train_set += both\n    print(len(train_set + other_set))", ""),
        ("    print(isinstance(train_set, Dataset))", ""),
        ("    print(len(train_set))", "def join(train_set, extra_set):\n    return train_set + extra_set\n"),
        ("    print(len(train_set))", "from torch.utils.data import Dataset\nKINDS = {'plain': Dataset}\n"),
        ("    print(sum([train_set, other_set]))", ""),
    ],
)
def test_it_stays_where_it_is_asked_for_or_datasets_are_added(tmp_path: Path, line: str, other: str) -> None:
    assert "class Digits(ms_compat.Dataset):" in converted(tmp_path, f"{HEAD}{CLASS}{RUN}{line}\n", other)


def test_a_class_without_items_of_its_own_keeps_its_base(tmp_path: Path) -> None:
    text = f"{HEAD}\n\nclass Base(Dataset):\n    def __len__(self):\n        return 1\n{RUN.replace('Digits(4)', 'Base()')}"
    assert "class Base(ms_compat.Dataset):" in converted(tmp_path, text)
