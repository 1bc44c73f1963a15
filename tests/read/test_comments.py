"""Comments and docstrings are no facts: they change no byte of the code that is produced."""

from __future__ import annotations

import pytest

from mindferry import convert_source
from mindferry.read.source import Source, is_script

WORDS = (
    "complex fft polar( -inf float('-inf') torch.load output_size torch backward autograd distributed multiprocessing "
    "mindspore ms_compat ToTensor transform where nonzero requires_grad SyncBatchNorm import numpy __main__ "
    "tensor([]) empty(0) no_grad detach in_place jit DataLoader .pth RANK cuda"
)
SNIPPETS = {
    "concatenation": "import torch\n\ny = torch.cat([torch.ones(2), torch.ones(3)])\n",
    "absolute value": "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.abs(x)\n",
    "softmax": "import torch\nfrom torch import nn\n\nlayer = nn.Softmax(dim=1)\ny = torch.softmax(torch.ones(2, 3), dim=1)\n",
    "functional softmax": "import torch.nn.functional as F\n\n\ndef f(x):\n    return F.softmax(x, dim=-1)\n",
    "transposed convolution": "from torch import nn\n\nlayer = nn.ConvTranspose2d(3, 8, 2, 2)\n",
    "saved network": "import torch\nfrom torch import nn\n\nnet = nn.Linear(2, 3)\ntorch.save(net, 'net.ckpt')\n",
    "no torch": "def f(x, device):\n    return x.to(device).detach().cpu()\n\n\nPATH = 'model.pth'\n",
    "unknown network": "def f(thing):\n    thing.eval()\n    thing.train()\n",
    "environment": "import os\n\nimport torch\n\nrank = os.environ['RANK']\nx = torch.zeros(3)\n",
    "several on a line": "import torch\n\nx = torch.zeros(3); y = x.grad; z = torch.ones(3)\n",
    "training": (
        "import torch\nfrom torch import nn\n\nnet = nn.Linear(2, 3)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for i in range(3):\n    opt.zero_grad()\n    loss = net(torch.ones(4, 2) * i).sum()\n    loss.backward()\n    opt.step()\n"
    ),
}


def without(code: str, comment: str) -> str:
    return "".join(line for line in code.splitlines(keepends=True) if comment not in line)


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_comment_changes_no_code(name: str) -> None:
    code, comment = SNIPPETS[name], f"# note: {WORDS}"
    plain = convert_source(code).main
    for text in (f"{comment}\n{code}", f"{code}{comment}\n"):
        assert without(convert_source(text).main, comment) == plain


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_docstring_changes_no_code(name: str) -> None:
    docstring = f'"""Note: {WORDS.replace("-inf", "(0/-inf)")}."""\n'
    plain = convert_source(f'"""Note."""\n{SNIPPETS[name]}').main
    assert convert_source(docstring + SNIPPETS[name]).main == plain.replace('"""Note."""\n', docstring, 1)


@pytest.mark.parametrize(
    "code",
    [
        "-inf",
        "x - np.inf",
        "-math.inf",
        "-float('inf')",
        'float("-inf")',
        "float('-Infinity')",
        "-1 * torch.inf",
        "np.NINF",
    ],
)
def test_negative_infinity_is_found_in_code(code: str) -> None:
    assert Source(f"y = f({code})\n".encode()).writes_negative_infinity


@pytest.mark.parametrize("code", ["float('inf')", "best = np.inf", "info - 1", "'-info'", "x - inference", "1  # -inf"])
def test_other_infinities_are_not_negative(code: str) -> None:
    assert not Source(f"y = f(0)\n{code}\n".encode()).writes_negative_infinity


@pytest.mark.parametrize(
    "code",
    [
        "import torchvision",
        "from a.torch_b import c",
        "def f(x: 'torch.Tensor'): ...",
        "f(torch=1)",
        "def torch_of(x): ...",
        "y = lib.torch",
        "getattr(lib, 'torch')",
    ],
)
def test_names_are_mentioned_wherever_code_has_them(code: str) -> None:
    assert Source(f"{code}\n".encode()).mentions("torch")


@pytest.mark.parametrize("code", ["# torch", "'''uses torch'''", "print('like torch does')"])
def test_prose_mentions_nothing(code: str) -> None:
    assert not Source(f"{code}\n".encode()).mentions("torch")


def test_a_complex_literal_tells_complex_numbers() -> None:
    code = "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.abs(x * {})\n"
    assert "ms_compat.absolute" in convert_source(code.format("2j")).main
    assert "ops.abs" in convert_source(code.format("2")).main


def test_a_script_is_told_by_its_last_lines() -> None:
    assert is_script(b"def main(): ...\n\n\nif __name__ == '__main__':\n    main()\n")
    assert not is_script(b"# not __main__\nNAME = '__main__'\n")
