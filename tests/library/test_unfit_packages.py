"""Libraries that can't come along as they are: other versions than were asked for, compiled code, files that nobody can read."""

from __future__ import annotations

from pathlib import Path

import pytest
from installed_packages import install, project, run_without

from mindferry.artifacts import Finding
from mindferry.convert import convert_project
from mindferry.convert.brought_libraries import as_library
from mindferry.convert.one_file import failed
from mindferry.convert.settings import Settings
from mindferry.layout import ProjectFile
from mindferry.read.source import Unreadable

NETWORK = (
    "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
)


def left_behind(tmp_path: Path, *libraries: str) -> list[Finding]:
    settings = Settings(packages=libraries, sites=(str(tmp_path / "site"),))
    result = convert_project(tmp_path / "project", tmp_path / "out", settings=settings)
    return [each for each in result.findings if each.code == "MF152"]


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("requirements.txt", "numpy\ngadget>=1.0,<1.2  # not newer\n", 2),
        ("pyproject.toml", '[project]\nname = "x"\ndependencies = ["gadget ~= 2.0"]\n', 3),
    ],
)
def test_a_version_that_the_project_does_not_ask_for_is_named(tmp_path: Path, file: str, text: str, line: int) -> None:
    install(tmp_path / "site", "gadget", {"__init__.py": NETWORK})
    project(tmp_path / "project", {"net.py": "from gadget import Net\n\nnet = Net()\n", file: text})
    (found,) = left_behind(tmp_path, "gadget")
    assert (found.severity, found.path, found.line) == ("warning", file, line)
    assert "asks for gadget" in found.message and "1.2.3 is installed" in found.message and "--site" in found.advice


def test_a_version_that_fits_is_no_finding(tmp_path: Path) -> None:
    install(tmp_path / "site", "gadget", {"__init__.py": NETWORK})
    files = {"net.py": "from gadget import Net\n\nnet = Net()\n", "requirements.txt": "gadget>=1.2,!=1.2.2\n"}
    project(tmp_path / "project", files)
    assert left_behind(tmp_path, "gadget") == []


def test_a_library_that_asks_for_another_version_of_a_second_is_named(tmp_path: Path) -> None:
    install(tmp_path / "site", "gadget", {"__init__.py": NETWORK})
    install(tmp_path / "site", "upper", {"__init__.py": "from gadget import Net\n"}, requires="gadget (>=4)")
    project(tmp_path / "project", {"net.py": "from upper import Net\n\nnet = Net()\n"})
    (found,) = left_behind(tmp_path, "upper", "gadget")
    assert found.message.startswith("upper 1.2.3 asks for gadget>=4, but 1.2.3 is installed")


def test_compiled_code_inside_is_named_and_raises_where_it_is_used(tmp_path: Path) -> None:
    ops = "from . import _kernels\n\ndef fast(x):\n    return _kernels.run(x)\n"
    net = NETWORK + "\n    def faster(self, x):\n        from .ops import fast\n        return fast(x)\n"
    install(tmp_path / "site", "gadget", {"__init__.py": "from .net import Net\n", "net.py": net, "ops.py": ops})
    (tmp_path / "site/gadget/_kernels.cpython-311-x86_64-linux-gnu.so").write_bytes(b"\x7fELF")
    project(tmp_path / "project", {"net.py": "from gadget import Net\n\n\ndef run(x):\n    return Net().faster(x)\n"})
    (found,) = left_behind(tmp_path, "gadget")
    assert found.severity == "warning"
    assert "gadget._kernels, which gadget.ops uses, was left behind: it is compiled code" in found.message
    said = run_without(
        {"gadget"},
        tmp_path / "out",
        """
        import mindspore as ms
        from net import Net, run
        print(Net()(ms.Tensor([1.0])).asnumpy().tolist())
        try:
            run(ms.Tensor([1.0]))
        except Exception as error:
            print(type(error).__name__, error)
        """,
    )
    assert said.startswith("[2.0]\n") and "compiled code" in said


def test_a_module_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    init = NETWORK + "\ndef extra(x):\n    from .broken import more\n    return more(x)\n"
    install(tmp_path / "site", "gadget", {"__init__.py": init, "broken.py": "def more(x:\n"})
    project(tmp_path / "project", {"net.py": "from gadget import Net, extra\n\nnet = Net()\n"})
    (found,) = left_behind(tmp_path, "gadget")
    assert "gadget.broken" in found.message and "it can't be read" in found.message


def test_compiled_code_that_the_package_itself_imports_is_named(tmp_path: Path) -> None:
    package = NETWORK + "\nfrom . import _C\n\ndef fast(x):\n    return _C.run(x)\n"
    install(tmp_path / "site", "gadget", {"__init__.py": package})
    (tmp_path / "site/gadget/_C.cpython-311-x86_64-linux-gnu.so").write_bytes(b"\x7fELF")
    project(tmp_path / "project", {"net.py": "from gadget import Net, fast\n\nnet = Net()\n"})
    (found,) = left_behind(tmp_path, "gadget")
    assert "gadget._C" in found.message and "it is compiled code" in found.message


def test_a_library_file_that_stays_as_it_was_is_an_error(tmp_path: Path) -> None:
    """It would import torch from within a project that was said to be clean."""
    file = ProjectFile(tmp_path / "net.py", "ported/gadget/net.py", "ported.gadget.net")
    (found,) = as_library(failed(file, Unreadable("nested too deeply to be read"), NETWORK.encode())).record.findings
    assert found.severity == "error"


OLD_NAMES = {
    "__init__.py": "from gadget.util.deprecated import install_old_names\n\ninstall_old_names()\n",
    "util/__init__.py": "",
    "util/deprecated.py": """
import sys

MOVED = {"gadget.models": "gadget.inner.parts", "gadget.models.nets": "gadget.inner.parts.nets"}


def install_old_names():
    for old, new in MOVED.items():
        sys.modules[old] = __import__(new, fromlist=["x"])
""",
    "inner/__init__.py": "",
    "inner/parts/__init__.py": "from ..parts import nets\nfrom .nets import Net\n",
    "inner/parts/nets.py": NETWORK,
}


def test_a_module_that_a_package_gives_under_an_older_name_comes_along_under_it(tmp_path: Path) -> None:
    install(tmp_path / "site", "gadget", OLD_NAMES)
    project(tmp_path / "project", {"net.py": "from gadget.models import Net\n\nnet = Net()\n"})
    assert left_behind(tmp_path, "gadget") == []
    said = run_without({"gadget"}, tmp_path / "out", "import mindspore as ms, net\nprint(net.net(ms.Tensor([2.0])))")
    assert "4" in said


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import torch\nfrom gadget.inner.parts.nets import Gone\n\nnet = Gone()\n", 2),
        ("import torch\nfrom gadget.inner.gone import Net\n\nnet = Net()\n", 2),
        ("import torch\n\ntry:\n    from gadget.inner.gone import Net\nexcept ImportError:\n    Net = None\n", 0),
    ],
)
def test_a_name_that_the_installed_version_does_not_have_is_told(tmp_path: Path, text: str, line: int) -> None:
    install(tmp_path / "site", "gadget", OLD_NAMES)
    project(tmp_path / "project", {"net.py": text})
    found = [(each.path, each.line) for each in left_behind(tmp_path, "gadget") if each.severity == "error"]
    assert found == ([("net.py", line)] if line else [])
