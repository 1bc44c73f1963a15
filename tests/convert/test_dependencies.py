"""requirements.txt, pyproject.toml, setup.cfg and environment.yml name MindSpore afterwards; comments stay."""

from __future__ import annotations

import tomllib

from mindferry.convert.dependencies import rewrite_dependencies


def rewritten(name: str, text: str) -> str:
    data, message = rewrite_dependencies(name, text.encode())
    assert message == ""
    return data.decode()


def test_requirements_lose_the_index_of_torch_and_keep_comments() -> None:
    text = "# runtime\n--extra-index-url https://download.pytorch.org/whl/cu118\ntorch>=2.0  # framework\ntorchvision\nnumpy>=1.20  # arrays\n"
    assert rewritten("requirements-dev.txt", text) == "# runtime\n# framework\nmindspore==2.10.0\nnumpy<2  # arrays\n"
    assert rewritten("requirements/base.txt", "torch\r\ntqdm\r\n") == "mindspore==2.10.0\r\nnumpy<2\r\ntqdm\r\n"
    assert rewritten("notes.txt", "torch\n") == "torch\n"


PYPROJECT = """[build-system]
requires = ["setuptools>=61", "torch"]  # for the extension

[project]
name = "torch-thing"
description = "a torch model"  # torch
dependencies = [
    "tqdm",  # bars
    "torch>=2.0",  # the framework
    "torchvision>=0.15",  # images
    'torchmetrics; python_version > "3.8"',
]
keywords = ["torch", "vision"]

[project.optional-dependencies]
gpu = ["torch[cuda]>=2 ; python_version > '3.8'", "x"]
dev = ["pytest", "torch", "torchaudio"]

[tool.poetry.dependencies]
python = "^3.9"
torch = { version = "^2.0", source = "pt" }  # framework
torchvision = "*"

[tool.ruff]
line-length = 100
"""


def test_pyproject_lists_and_poetry_tables() -> None:
    new = rewritten("pyproject.toml", PYPROJECT)
    body = tomllib.loads(new)
    assert body["build-system"]["requires"] == ["setuptools>=61", "mindspore==2.10.0", "numpy<2"]
    assert body["project"]["dependencies"] == [
        "tqdm",
        "mindspore==2.10.0",
        "numpy<2",
        'torchmetrics; python_version > "3.8"',
    ]
    assert body["project"]["keywords"] == ["torch", "vision"] and body["project"]["name"] == "torch-thing"
    assert body["project"]["optional-dependencies"] == {
        "gpu": ["mindspore==2.10.0", "numpy<2", "x"],
        "dev": ["pytest", "mindspore==2.10.0", "numpy<2"],
    }
    assert body["tool"]["poetry"]["dependencies"] == {"python": "^3.9", "mindspore": "2.10.0", "numpy": "<2"}
    for comment in ("# for the extension", "# bars", "# the framework", "# images", "# framework", "# torch"):
        assert comment in new


def test_numpy_is_named_once() -> None:
    body = tomllib.loads(rewritten("pyproject.toml", '[project]\ndependencies = ["torch", "numpy>=1.24"]\n'))
    assert body["project"]["dependencies"] == ["mindspore==2.10.0", "numpy<2"]


def test_a_pyproject_that_is_not_understood_is_copied_with_a_finding() -> None:
    text = '[project]\ndependencies = ["torch"\n'
    assert rewrite_dependencies("pyproject.toml", text.encode())[0] == text.encode()
    assert "not understood" in rewrite_dependencies("pyproject.toml", text.encode())[1]


def test_setup_cfg() -> None:
    text = "[metadata]\nname = torch\n\n[options]\ninstall_requires =\n    torch>=1.8  # fw\n    tqdm\npython_requires = >=3.8\n\n[options.extras_require]\ndev =\n    pytest\n    torchaudio\n"
    new = rewritten("setup.cfg", text)
    assert "install_requires =\n    # fw\n    mindspore==2.10.0\n    numpy<2\n    tqdm\npython_requires" in new
    assert new.endswith("dev =\n    pytest\n    mindspore==2.10.0\n    numpy<2\n") and "name = torch\n" in new


def test_conda_environments_get_mindspore_from_pip() -> None:
    text = "name: torch\nchannels:\n  - pytorch\n  - conda-forge\ndependencies:\n  - python=3.9\n  - pytorch::pytorch=2.0  # fw\n  - cudatoolkit=11\n  - numpy\n  - pip:\n    - timm\n"
    expected = "name: torch\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.9\n  # fw\n  - numpy<2\n  - pip:\n    - mindspore==2.10.0\n    - timm\n"
    assert rewritten("environment.yml", text) == expected
    assert (
        rewritten("environment.yml", "dependencies:\n- pytorch\n- tqdm")
        == "dependencies:\n- tqdm\n- pip\n- pip:\n  - mindspore==2.10.0\n  - numpy<2\n"
    )
    assert rewritten("environment.yml", "dependencies:\n- tqdm\n") == "dependencies:\n- tqdm\n"
