"""A project with an `ms_compat` of its own keeps it, and the helpers get another name."""

from __future__ import annotations

import ast

import pytest

from mindferry.convert import convert_project

NET = "import torch\nfrom torch import nn\n\n\ndef f(x, opt):\n    return torch.linalg.lu_factor(x), nn.Embedding(3, 4, max_norm=1.0)\n"
USER = NET.replace("import torch\n", "import torch\nimport ms_compat\n", 1).replace(
    "return ", "return ms_compat.mine, "
)


@pytest.mark.parametrize("own", ["ms_compat.py", "pkg/ms_compat.py", "ms_compat/__init__.py"])
@pytest.mark.parametrize("text", [NET, USER], ids=["unused", "imported"])
def test_the_helpers_get_another_name(own, text, tmp_path):
    root = tmp_path / "in"
    (root / own).parent.mkdir(parents=True)
    (root / own).write_text("mine = 3\n")
    (root / "net.py").write_text(text)
    result = convert_project(root, tmp_path / "out")
    assert (tmp_path / "out" / own).read_text() == "mine = 3\n"
    assert [each.path for each in result.files if each.status == "helpers"] == ["ms_compat_2.py"]
    tree = ast.parse((tmp_path / "out" / "net.py").read_text())
    names = {a.name: a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    bound = names["ms_compat_2"]
    used = {n.value.id for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
    assert bound in used
    if text is USER:
        assert names["ms_compat"] == "ms_compat" != bound


@pytest.mark.parametrize("own", ["MS_Compat.py", "Ms_compat.PY", "pkg/MS_COMPAT/a.py"])
def test_a_name_that_differs_in_its_case_alone_is_taken_too(own, tmp_path):
    """A disk that doesn't tell them apart would write the helpers over the project's own file."""
    root = tmp_path / "in"
    (root / own).parent.mkdir(parents=True)
    (root / own).write_text("mine = 3\n")
    (root / "net.py").write_text(NET)
    result = convert_project(root, tmp_path / "out")
    assert [each.path for each in result.files if each.status == "helpers"] == ["ms_compat_2.py"]
    assert (tmp_path / "out" / own).read_text() == "mine = 3\n"
