"""Where only numpy's or Python's numbers are seeded, what MindSpore draws is set apart."""

from __future__ import annotations

import pytest

from mindferry.convert import convert_source

HEAD = "import random\nimport numpy as np\nimport torch\nfrom torch import nn\n"
TAIL = "net = nn.Linear(2, 3)\norder = np.random.permutation(9)\n"


@pytest.mark.parametrize(
    "before, after",
    [
        ("np.random.seed(3)\n", "np.random.seed(3)\nms_compat.seed_apart()\n"),
        (
            "random.seed(3); np.random.seed(3)  # both\n",
            "random.seed(3); ms_compat.seed_apart(); np.random.seed(3)  # both\n",
        ),
        ("def f():\n    np.random.seed(3)\n", "def f():\n    np.random.seed(3)\n    ms_compat.seed_apart()\n"),
    ],
)
def test_a_seed_of_numpys_alone_is_followed_by_the_separation(before: str, after: str) -> None:
    assert after in convert_source(HEAD + before + TAIL).main


@pytest.mark.parametrize(
    "seeding",
    ["np.random.seed(3)\ntorch.manual_seed(3)\n", "rng = np.random.RandomState(3)\nrng.seed(4)\n", "game.seed(3)\n"],
)
def test_other_seeds_stay_alone(seeding: str) -> None:
    assert "seed_apart" not in convert_source(HEAD + seeding + TAIL).main


def test_nothing_is_set_apart_where_nothing_is_drawn() -> None:
    assert "seed_apart" not in convert_source(HEAD + "np.random.seed(3)\nnet = nn.Linear(2, 3)\n").main
