"""requirements.txt, pyproject.toml, setup.cfg and environment.yml name MindSpore afterwards; comments stay."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize(
    "line",
    [
        "-e git+https://github.com/a/b#egg=torch",
        "--editable=git+https://github.com/a/b#subdirectory=c&egg=torchvision",
        "git+https://github.com/pytorch/vision.git@v0.20",
        "https://download.pytorch.org/whl/cpu/torch-2.5.0-cp311-none-any.whl",
        "./wheels/torchaudio-2.5.0.tar.gz",
    ],
)
def test_torch_from_an_egg_a_file_or_a_repository_goes_too(line: str) -> None:
    assert rewritten("requirements.txt", f"{line}\nscipy\n") == "mindspore==2.10.0\nnumpy<2\nscipy\n"


@pytest.mark.parametrize(
    "line",
    [
        "-e .",
        "requests  # see github.com/pytorch/pytorch#egg=torch",
        "https://example.org/torch_scatter-2.0.whl",
        "git+https://github.com/pytorch/ignite",
    ],
)
def test_what_only_looks_like_torch_stays(line: str) -> None:
    assert rewritten("requirements.txt", f"{line}\n") == f"{line}\n"


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


HASHED = """\
# pip-compile --generate-hashes
certifi==2024.2.2 \\
    --hash=sha256:0569859f95fc761b18b45ef421b1290a0f65f147e92a1e5eb3e635f9a5e4e66f
numpy==2.1.0 \\
    --hash=sha256:1111111111111111111111111111111111111111111111111111111111111111
torch==2.3.0 \\
    --hash=sha256:2222222222222222222222222222222222222222222222222222222222222222 \\
    --hash=sha256:3333333333333333333333333333333333333333333333333333333333333333  # the one for CUDA
    # via -r requirements.in
torchvision==0.18.0 \\
    --hash=sha256:4444444444444444444444444444444444444444444444444444444444444444
"""


READ = """import json, sys
from pip._internal.network.session import PipSession
from pip._internal.req import parse_requirements
from pip._internal.req.constructors import install_req_from_parsed_requirement

with PipSession() as session:
    found = [install_req_from_parsed_requirement(each) for each in parse_requirements(sys.argv[1], session)]
rows = [[each.name, str(each.req.specifier), str(each.markers or ""), bool(each.hash_options)] for each in found]
print(json.dumps(rows))
"""


def _parsed(text: str, tmp_path: Path) -> list[list[Any]]:
    """(name, versions, marker, whether it has hashes), as pip reads it; in a process of its own, whose distutils it may replace."""
    (tmp_path / "r.txt").write_text(text)
    done = subprocess.run([sys.executable, "-c", READ, tmp_path / "r.txt"], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def test_requirements_with_hashes_stay_valid(tmp_path):
    from mindferry.convert.dependencies import rewrite_dependencies

    data, message = rewrite_dependencies("requirements.txt", HASHED.encode())
    found = _parsed(data.decode(), tmp_path)
    assert [name for name, *_ in found] == ["certifi", "numpy"] and all(has_hashes for *_, has_hashes in found)
    assert "# with its hash: mindspore==2.10.0" in data.decode() and "# the one for CUDA" in data.decode()
    assert "hash" in message


def test_requirements_that_go_on_in_the_next_line_stay_valid(tmp_path):
    from mindferry.convert.requirements import rewrite_requirements

    text = "numpy \\\n  >=1.20 ; \\\n  python_version > '3.8'\ntorch \\\n  ==2.3.0 \\\n  ; sys_platform == 'linux'\nrequests\\\n>=2\n# torch \\\nclick\n"
    found = _parsed(rewrite_requirements(text), tmp_path)
    names = {name: versions for name, versions, *_ in found}
    assert names == {"numpy": "<2", "mindspore": "==2.10.0", "requests": ">=2", "click": ""}
    assert found[0][2] == 'python_version > "3.8"'
