"""Files that are hard to read: a finding for that file, the rest converted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.artifacts import ProjectConversion
from mindferry.convert import convert_project, convert_source

GOOD = "import torch\nx = torch.zeros(2)\n"
FUZZER = Path(__file__).parents[2] / "fuzz" / "convert.py"


def convert(tmp_path: Path, name: str, raw: bytes) -> tuple[ProjectConversion, bytes]:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/good.py").write_text(GOOD)
    (tmp_path / "p" / name).write_bytes(raw)
    result = convert_project(tmp_path / "p", tmp_path / "out")
    assert (tmp_path / "out/good.py").read_text() == "from mindspore import ops\nx = ops.zeros((2,))\n"
    return result, (tmp_path / "out" / name).read_bytes()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"exec 'x = 1'\nimport torch\n", "Missing parentheses"),
        (b"try:\n    import torch\nexcept ImportError, e.args:\n    raise\n", "multiple exception types"),
        (b"import torch\nx = 0777\n", "leading zeros"),
        (b"import torch\nif x:\n\ty = 1\n    z = 2\n", "unindent does not match|inconsistent use of tabs"),
        (b"import torch\n\xff\xfe\n", "cannot decode it"),
        (b"# coding: klingon\nimport torch\n", "unknown encoding"),
        (b"import torch\nx = '\x00'\n", "null bytes"),
        (b"import torch\nreturn 1\n", "'return' outside function"),
        (b"import torch\nf(a=1, a=torch.zeros(1))\n", "keyword argument repeated"),
        (b"\xef\xbb\xbf\xef\xbb\xbfimport torch\n", "two byte-order marks"),
        (b"import torch\nx = " + b"(" * 300 + b")" * 300 + b"\n", "too many nested parentheses"),
        (b"import torch\nx = " + b"-" * 40000 + b"1\n", "nested too deeply|cannot be parsed|too complex|memory"),
    ],
)
def test_what_can_not_be_read_is_copied_with_a_finding(tmp_path: Path, raw: bytes, message: str) -> None:
    result, written = convert(tmp_path, "bad.py", raw)
    (finding,) = result.findings
    assert finding.code == "MF900" and finding.path == "bad.py" and written == raw
    assert any(each in finding.message for each in message.split("|")), finding


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="is read there")
@pytest.mark.parametrize("line", ["type X = int", "def f[T](x: T) -> T: return x", "class A[T]: pass", 'x = f"{"a"}"'])
def test_syntax_of_python_3_12_is_named_where_it_can_not_be_read(tmp_path: Path, line: str) -> None:
    result, _ = convert(tmp_path, "new.py", f"import torch\n{line}\n".encode())
    assert "run mindferry with Python 3.12" in result.findings[0].message and result.findings[0].line == 2


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (
            b"\xef\xbb\xbfimport torch\nx = torch.zeros(1)  # \xc3\xa9\n",
            b"\xef\xbb\xbffrom mindspore import ops\nx = ops.zeros((1,))  # \xc3\xa9\n",
        ),
        (
            b"# -*- coding: latin-1 -*-\nimport torch\nx = torch.zeros(1)  # \xe9\n",
            b"# -*- coding: latin-1 -*-\nfrom mindspore import ops\nx = ops.zeros((1,))  # \xe9\n",
        ),
        (
            b"import torch\r\n\x0c\r\nif 1:\r\n\tx = torch.zeros(1)\r\n",
            b"from mindspore import ops\r\n\x0c\r\nif 1:\r\n\tx = ops.zeros((1,))\r\n",
        ),
        (b"import torch\nx = torch.zeros(1)", b"from mindspore import ops\nx = ops.zeros((1,))"),
        (b"import torch\rx = torch.zeros(1)\r", b"from mindspore import ops\rx = ops.zeros((1,))\r"),
    ],
)
def test_encodings_marks_line_ends_tabs_and_form_feeds_stay(tmp_path: Path, raw: bytes, expected: bytes) -> None:
    result, written = convert(tmp_path, "odd.py", raw)
    assert written == expected and result.findings == ()


def test_a_file_of_fifty_thousand_lines(tmp_path: Path) -> None:
    block = "class N{0}(nn.Module):\n    def forward(self, x):\n        x.add_(1)\n        with torch.no_grad():\n            y = F.relu(x.view(x.size(0), -1))  # {0}\n        return torch.cat([x, y], 1)\n\n\n"
    text = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n" + "".join(
        block.format(i) for i in range(6300)
    )
    assert text.count("\n") > 50_000
    result, written = convert(tmp_path, "large.py", text.encode())
    assert result.findings == () or {each.severity for each in result.findings} == {"note"}
    assert written.count(b"ops.stop_gradient(ops.relu(x.view(x.shape[0], -1)))  # ") == 6300 and b"torch" not in written


def test_links_pipes_and_unreadable_files(tmp_path: Path) -> None:
    root = tmp_path / "p"
    root.mkdir()
    (root / "good.py").write_text(GOOD)
    (root / "loop.py").symlink_to("pool.py")
    (root / "pool.py").symlink_to("loop.py")
    (root / "gone.py").symlink_to("nowhere.py")
    (root / "self").symlink_to(".")
    (root / "up").symlink_to("..")
    os.mkfifo(root / "pipe.py")
    (root / "folder.py").mkdir()
    result = convert_project(root, tmp_path / "out")
    assert {finding.path for finding in result.findings} == {"loop.py", "pool.py", "gone.py", "self", "up", "pipe.py"}
    unreadable = {finding.path for finding in result.findings if finding.code == "MF900"}
    assert unreadable == {"loop.py", "pool.py", "gone.py"}
    assert (tmp_path / "out/good.py").read_text().startswith("from mindspore")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/good.py").write_text(GOOD)
    (tmp_path / "p/secret.py").write_text(GOOD)
    (tmp_path / "p/secret.py").chmod(0)
    result = convert_project(tmp_path / "p", tmp_path / "out")
    assert "cannot be read: Permission denied" in result.findings[0].message


def test_decorators_without_a_counterpart_do_not_break_the_import() -> None:
    source = 'import torch\n\n\n@torch.library.custom_op("my::op",  # name\n                         mutates_args=())\ndef f(x):\n    return x\n\n\nclass A:\n    @staticmethod\n    @torch.library.register_fake("my::op")\n    def g(x):\n        return x\n'
    result = convert_source(source)
    scope: dict[str, object] = {}
    exec(compile(result.main, "<converted>", "exec"), scope)
    assert scope["f"](3) == 3 and scope["A"].g(4) == 4  # type: ignore[operator,attr-defined]
    assert (
        '# @torch.library.custom_op("my::op",  # name\n                         # mutates_args=())\ndef f(x):'
        in result.main
    )
    assert len(result.findings) == 2 and result.main.count("# mindferry:") == 2


def test_comments_inside_a_call_that_is_written_anew_move_above_it() -> None:
    source = "import torch\n\nw = torch.full(\n    (3,),  # three\n    2.0,  # twos\n    device='cuda',  # there\n)\n@torch.no_grad()  # cheap\ndef f():\n    pass\n"
    main = convert_source(source).main
    assert all(main.count(comment) == 1 for comment in ("# three", "# twos", "# there", "# cheap"))


def test_methods_taken_from_their_class_are_left_or_converted_as_functions() -> None:
    result = convert_source(
        "import torch\ny = torch.Tensor.view(x, 2)\nz = torch.Tensor.add(x, 1)\nw = map(torch.Tensor.float, x)\n"
    )
    assert "y = torch.Tensor.view(x, 2)" in result.main and "z = ops.add(x, 1)" in result.main
    assert [finding.line for finding in result.findings] == [2, 4]


def test_nested_blocks_without_gradients() -> None:
    source = 'import torch\nwith torch.no_grad():\n    a = 1\n    with torch.autocast("cuda"):\n        if a:\n            c = torch.zeros(1)\n    d = 1\n'
    assert convert_source(source).main == "from mindspore import ops\na = 1\nif a:\n    c = ops.zeros((1,))\nd = 1\n"


def test_a_setting_may_be_a_statement_or_a_context() -> None:
    source = "import torch\ntorch.autograd.set_detect_anomaly(True)\nwith torch.autograd.set_detect_anomaly(True):\n    x = 1\n"
    assert convert_source(source).main == "import contextlib\nwith contextlib.nullcontext():\n    x = 1\n"


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndef f(x) -> tuple[()]:\n    return torch.relu(x)\n",
        "import torch\nw = torch.nn.Parameter(x, False, 1)\n",
        "@wrapped\ndef f(x):\n    return x\nfor x in y:\n    loss = f(x)\n    opt.zero_grad(); loss.backward()\nimport torch\n",
        "@wrapped\ndef f(x: torch.Tensor):\n    return torch.relu(x)\nimport torch\n",
        "import torch\nfor x in y:\n    loss = f(x); loss.backward()\nnet = torch.nn.DataParallel(net)\n",
        "import torch\ndef f(x: torch.Tensor):\n    return not x.fill_(t for t in y) and x.mul_(\n        t for t in y)\n",
        "import torch\nx = torch.autograd.Variable(\n    'a'\n    'b'\n)\n",  # strings under each other, without their brackets
        "import torch\nx = torch.stack(y).mean(axis=0, dim=-1)\n",
        "import torch\nwith torch.autocast('cuda'):\n    for x in y:\n        loss = f(x)\n        loss.backward()\n        opt.step()\n",
        "import torch\nx = torch.autograd.Variable(\n    y.loss()\n    .mean\n)\n",
    ],
)
def test_what_the_fuzzer_found_stays_found(source: str) -> None:
    result = convert_source(source)
    compile(result.main, "<converted>", "exec")
    assert not [finding for finding in result.findings if finding.code == "MF901"]


def test_generated_and_mutated_sources_never_break_it(tmp_path: Path) -> None:
    """A few files from a fixed seed; `make test` runs a minute's worth, `make fuzz` an hour."""
    command = [sys.executable, str(FUZZER), "--files", "600", "--seed", "20", "--keep", str(tmp_path / "kept")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'converted'" in done.stdout and not (tmp_path / "kept").exists()
