"""What tells that an argument is a tensor: not what the name holds once something else was put into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry import convert_project, convert_source

KEPT = {
    "a picture that becomes a tensor": (
        "        img = img.resize((4, 4))\n        img = self.to_tensor(img)\n        img.sub_(0.5)\n        return img\n",
        "img = img.resize((4, 4))",
    ),
    "an array that becomes a tensor": (
        "        img = img.transpose((2, 0, 1))\n        img = torch.from_numpy(img)\n        return img.unsqueeze(0)\n",
        "img = img.transpose((2, 0, 1))",
    ),
    "one of two names that are bound anew": (
        "        small = img.resize((4, 4))\n        img, scale = self.fit(small, 2)\n        return img.unsqueeze(0)\n",
        "small = img.resize((4, 4))",
    ),
    "one that only some are": (
        "        wide = img.resize((4, 4))\n        if wide:\n            img = self.to_tensor(wide)\n        return img.unsqueeze(0)\n",
        "wide = img.resize((4, 4))",
    ),
}


@pytest.mark.parametrize(("body", "line"), KEPT.values(), ids=KEPT.keys())
def test_what_is_made_a_tensor_was_none_before(body: str, line: str) -> None:
    conversion = convert_source(f"import torch\n\n\nclass Prepare:\n    def __call__(self, img):\n{body}")
    assert [each for each in conversion.findings if each.severity != "note"] == []
    assert line in conversion.code


@pytest.mark.parametrize(
    "line", ["x = x.float()", "x = x / 2", "x = F.relu(x)", "x = model(x)", "x = x.float() if x.dim() == 3 else x"]
)
def test_what_stays_a_tensor_was_one_before(line: str) -> None:
    text = f"import torch.nn.functional as F\n\n\ndef f(x, model):\n    b = x.size(0)\n    {line}\n    return x.unsqueeze(b)\n"
    assert "b = x.shape[0]" in convert_source(text).code


def test_a_layer_gets_tensors_and_another_method_may_get_anything() -> None:
    text = "from torch import nn\n\n\nclass {0}:\n    def encode(self, x):\n        b = x.repeat(2)\n        x = self.part(x)\n        return x.unsqueeze(b)\n"
    assert "any_repeat" not in convert_source(text.format("Net(nn.Module)")).code
    assert "any_repeat" in convert_source(text.format("Net")).code


def test_a_list_that_is_stacked_is_a_tensor_behind() -> None:
    text = "import torch\n\n\ndef grid(x):\n    if isinstance(x, list):\n        x = torch.stack(x, dim=0)\n    y = x.clone()\n    return y, x.unsqueeze(0)\n"
    assert "any_clone" not in convert_source(text).code


@pytest.mark.parametrize("module", ["torchvision.transforms.functional", "kornia.filters"])
def test_another_module_called_f_takes_pictures(module: str) -> None:
    text = f"import torch\nimport {module} as F\n\n\ndef crop(img):\n    w, h = img.size\n    img = img.convert('L').resize((w, h))\n    return F.hflip(img)\n"
    conversion = convert_source(text)
    assert "img.convert('L').resize((w, h))" in conversion.code
    assert not [each for each in conversion.findings if "Tensor" in each.message]


def test_a_dictionary_that_held_tensors_and_is_given_arrays_holds_either() -> None:
    text = (
        "import numpy as np\nimport torch\n\n\ndef f(names, depth):\n    rows = {}\n    for name in names:\n        rows[name] = torch.zeros(3)\n"
        "    rows['a'] = np.expand_dims(depth, 0)\n    return torch.from_numpy(rows['a'].astype('float32'))\n"
    )
    conversion = convert_source(text)
    assert not conversion.findings and "rows['a'].astype('float32')" in conversion.code


def test_names_with_an_underscore_that_all_lists_come_with_the_star(tmp_path: Path) -> None:
    package = tmp_path / "source" / "nets"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .basic import *\n")
    (package / "basic.py").write_text(
        "from torch import nn\n\n__all__ = ['_C_norm']\n\n\nclass _C_norm(nn.Module):\n    def forward(self, x):\n        return x.view(-1)\n"
    )
    (tmp_path / "source" / "use.py").write_text("import torch\nfrom nets import _C_norm\n\nnet = _C_norm()\n")
    assert not convert_project(tmp_path / "source", tmp_path / "out").findings
