"""Third-party packages: those that need torch are findings, einops is written into the project."""

from __future__ import annotations

import numpy as np
import pytest

from mindferry.convert import convert_project, convert_source


@pytest.mark.parametrize("line", ["import mmcv", "from mmcv.ops import nms", "import numpy, mmcv.cnn as cnn"])
def test_an_import_that_needs_torch_is_a_finding(line):
    conversion = convert_source(f"import torch\n{line}\n")
    assert [finding.code for finding in conversion.findings] == ["MF150"]
    assert "mmcv needs torch itself" in conversion.findings[0].message and conversion.findings[0].advice
    assert "mmcv" in conversion.main and "Missing" in conversion.main


def test_a_file_can_be_imported_without_a_package_that_needs_torch(tmp_path, monkeypatch):
    conversion = convert_source(
        "import mmcv.runner\nfrom mmcv.ops import nms, roi_align as align\nimport numpy, mmcv.cnn as cnn\nimport torch\n\n\n"
        "@cnn.LAYERS.register_module()\nclass Head(cnn.Base):\n    pass\n\n\n"
        "def boxes(x):\n    return nms(torch.relu(x))\n\n\n"
        "def late():\n    from mmcv.more import other\n    return other\n"
    )
    (tmp_path / "with_mmcv.py").write_text(conversion.code)
    monkeypatch.syspath_prepend(tmp_path)
    import with_mmcv

    assert with_mmcv.numpy is np and with_mmcv.align is not None
    with pytest.raises(NotImplementedError, match="mmcv needs torch itself"):
        with_mmcv.boxes(with_mmcv.ops.ones((1,)))
    with pytest.raises(ModuleNotFoundError, match="mmcv"):
        with_mmcv.late()
    assert convert_source(conversion.code).code == conversion.code


def test_a_package_that_is_there_is_imported_as_before(tmp_path, monkeypatch):
    conversion = convert_source("from mmcv.ops import nms\nimport torch\n")
    (tmp_path / "mmcv").mkdir()
    (tmp_path / "mmcv/__init__.py").write_text("")
    (tmp_path / "mmcv/ops.py").write_text("nms = 5\n")
    (tmp_path / "has_mmcv.py").write_text(conversion.code)
    monkeypatch.syspath_prepend(tmp_path)
    import has_mmcv

    assert has_mmcv.nms == 5


def test_an_import_relative_to_the_project_is_no_package():
    assert not convert_source("import torch\nfrom . import mmcv\n").findings


def test_einops_patterns_stay_and_its_functions_come_along(tmp_path, monkeypatch):
    conversion = convert_source(
        "from einops import rearrange\n\n\ndef flip(x):\n    return rearrange(x, 'a b -> b a')\n"
    )
    assert not conversion.findings and "einops import" not in conversion.code
    (tmp_path / "flipped.py").write_text(conversion.code)
    monkeypatch.syspath_prepend(tmp_path)
    import flipped

    array = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(flipped.flip(array), array.T)  # einops takes numpy arrays as well


def test_a_mapped_lambda_in_a_network_is_a_list_of_tensors():
    code = convert_source(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        q, k = map(lambda t: t.reshape(2, self.heads, -1), x.chunk(2, dim=-1))\n        return q @ k.transpose(-2, -1)\n"
    ).main
    assert "q, k = [t.reshape(2, self.heads, -1) for t in ops.chunk(x, 2, axis=-1)]" in code
    assert "k.swapaxes(-2, -1)" in code


def test_an_import_that_may_fail_needs_nothing():
    assert not convert_source("import torch\n\ntry:\n    import apex\nexcept ImportError:\n    apex = None\n").findings


def test_a_pair_of_dimensions_changes_places_in_a_network_only():
    body = "def f(self, album):\n        return album.transpose(1, 2), album.transpose(0, 1)\n"
    assert (
        "album.swapaxes(1, 2), ms_compat.any_transpose(album, 0, 1)"
        in convert_source(f"from torch import nn\n\n\nclass Net(nn.Module):\n    {body}").main
    )
    assert "swapaxes" not in convert_source(f"from torch import nn\n\n\nclass Thing:\n    {body}").main


def test_a_file_that_is_left_out_is_no_package_that_needs_torch(tmp_path):
    """By its name it could be one, and it is not installed: it is the project's own."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/torch_nowhere_parts.py").write_text("import torch\n")
    (tmp_path / "in/main.py").write_text("import torch\nimport torch_nowhere_parts\n\nx = torch.ones(2)\n")
    (tmp_path / "in/mindferry.toml").write_text('[convert]\nexclude = ["torch_nowhere_parts.py"]\n')
    assert "MF150" not in [each.code for each in convert_project(tmp_path / "in", tmp_path / "out").findings]
