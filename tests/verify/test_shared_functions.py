"""What a network draws by any of torch's random functions, the conversion is given; what it can't be given is never called different."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mindferry.artifacts import Comparison, load
from mindferry.cli import cli
from mindferry.verify.randomness import mask_shape

NETWORK = """
import torch
import torch.nn.functional as F
from torch import nn


class Drawing(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.act = nn.RReLU()

    def forward(self, x):
        h = self.act(self.fc(x))
        h = h[torch.randint(x.shape[0], (5,))][:, torch.randperm(6)]
        columns = torch.randint(2, HIGH, (3, 4))
        odds = F.softmax(h, -1)
        one, many = torch.multinomial(odds, 2), torch.multinomial(odds, 4, replacement=True)
        shift = h.gather(1, one).sum(1, keepdim=True) + h[:3].gather(1, columns).mean()
        h = h.gather(1, many)
        waits = torch.empty_like(h).exponential_(2.0)
        whole = torch.zeros_like(h).random_(1, 9) + torch.randint_like(h, 3)
        return F.gumbel_softmax(h, tau=0.7) + F.gumbel_softmax(h, hard=True) * waits + whole + shift


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        h = self.drop(x + torch.poisson(x.abs()))
        return self.drop(torch.relu(self.fc(h)))
"""


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("drawing")
    source, converted = folder / "source", folder / "converted"
    source.mkdir()
    (source / "net.py").write_text(NETWORK.replace("HIGH", "6"))
    result = CliRunner().invoke(cli, ["convert", str(source), "-o", str(converted)])
    assert result.exit_code == 0, result.output
    return source, converted


def verdict(source: Path, converted: Path, name: str) -> Comparison:
    asked = ["--torch", str(source), "--model", f"net:{name}", "--input", "float32[4,6]"]
    CliRunner().invoke(cli, ["verify", str(converted), *asked])
    return load(Comparison, converted, "verify")


def test_whatever_is_drawn_is_shared(projects: tuple[Path, Path]) -> None:
    found = verdict(*projects, "Drawing")
    assert found.outcome == "same", (found.coverage, found.culprits)


def test_another_range_is_found_all_the_same(projects: tuple[Path, Path]) -> None:
    text = (projects[1] / "net.py").read_text()
    assert "(2, 6, (3, 4))" in text
    (projects[1] / "net.py").write_text(text.replace("(2, 6, (3, 4))", "(0, 6, (3, 4))"))
    try:
        assert verdict(*projects, "Drawing").outcome == "different"
    finally:
        (projects[1] / "net.py").write_text(text)


def test_a_module_that_hands_on_what_is_random_is_not_called_different(projects: tuple[Path, Path]) -> None:
    """In eval mode the dropout returns its input, which was written down as an input alone."""
    found = verdict(*projects, "Counting")
    assert found.outcome == "same as far as compared", [row for row in found.differences if not row.passed]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("dropout", 3),
        *((f"dropout{rank}d", axes) for rank in (1, 2, 3) for axes in (2, 3, 4, 5) if rank > 1 or axes < 4),
    ],
)
def test_a_mask_shares_its_numbers_as_torch_does_on_any_number_of_axes(name: str, axes: int) -> None:
    import torch

    torch.manual_seed(0)
    shape = (6, 5, 4, 3, 2)[:axes]
    drop = getattr(torch.nn.functional, name)
    drawn = torch.stack([drop(torch.ones(shape), 0.5, True) for _ in range(30)])
    firsts = [drawn.select(axis + 1, 0).unsqueeze(axis + 1) for axis in range(axes)]
    found = tuple(1 if bool((drawn == first).all()) else size for first, size in zip(firsts, shape, strict=True))
    assert mask_shape(name, shape) == found
