"""Findings: each code stands once in findings.py, some code makes it, and its page is up to date."""

from __future__ import annotations

import ast
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mindferry import convert_project, convert_source, findings
from mindferry.artifacts import Finding, ProjectConversion
from mindferry.convert.settings import Settings
from mindferry.frameworks.watched import Run
from mindferry.observation import CommandRun, Observation, SeenFile, digest_of
from mindferry.train.plain import judge

ROOT = Path(__file__).parents[1]
HEAD = "import torch\nfrom torch import nn\n"
NET = "net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"

# A few lines of code -> the finding that they must make.
SNIPPETS = {
    findings.MF100: "x = torch.ops.aten.add(1)\n",
    findings.MF101: "x = torch.nested.nested_tensor([])\n",
    findings.MF102: "print(nn)\n",
    findings.MF110: "net = nn.DataParallel(nn.Linear(3, 3))\n",
    findings.MF120: "class Net(nn.Module):\n    def forward(this, x):\n        return x\n",
    findings.MF121: (
        "class N(nn.Module):\n    def forward(self, x, m):\n        if isinstance(m, (nn.BatchNorm2d, nn.Linear)):\n"
        "            x = x + m.weight\n        return x\n"
    ),
    findings.MF122: "a = nn.LeakyReLU(0.1)\na.negative_slope = 0.3\n",
    findings.MF123: "def f(thing):\n    return thing.to_mkldnn()\n",
    findings.MF124: "def f(x: torch.Tensor):\n    return map(x.view, [1, 2])\n",
    findings.MF130: (
        "class Set(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n"
        "        return torch.fft.fft(torch.arange(4.0))\n"
    ),
    findings.MF131: "def f(rows, cfg):\n    return torch.utils.data.DataLoader(rows, 2, collate_fn=cfg.joiner)\n",
    findings.MF140: "def f(g, x: torch.Tensor):\n    g(x.add_(1), x.mul_(2))\n",
    findings.MF141: "def f(a):\n    x = torch.zeros(4) + a\n    y = x.view(2, 2)\n    y.add_(1)\n    return x\n",
    findings.MF142: "x = torch.zeros(3)\nz = x * 2\nprint(z.grad)\n",
    findings.MF150: "import mmcv\nx = torch.zeros(3)\n",
    findings.MF201: "def f(loss: torch.Tensor):\n    loss.backward()\n",
    findings.MF202: (
        NET + "out = net(torch.ones(2, 3))\nprint(out.sum().item())\nloss = out.sum()\nloss.backward()\nopt.step()\n"
        "loss2 = out.mean()\nloss2.backward()\nopt.step()\n"
    ),
    findings.MF203: NET + "with torch.autocast('cuda'):\n    y = net(torch.ones(2, 3))\n",
    findings.MF204: (
        NET + "torch.set_grad_enabled(False)\ny = net(torch.ones(2, 3))\ntorch.set_grad_enabled(True)\n"
        "loss = net(torch.ones(2, 3)).sum()\nloss.backward()\nopt.step()\n"
    ),
    findings.MF205: "def f(y: torch.Tensor, x: torch.Tensor):\n    return torch.autograd.grad(y, x)[0]\n",
    findings.MF207: "net = nn.SyncBatchNorm(3)\n",
    findings.MF208: (
        "class N(nn.Module):\n    def forward(self, x):\n        return x.view(-1)\n\n\ndef f(net: N, x):\n    x.requires_grad_()\n"
        "    g = torch.autograd.grad(net(x).sum(), x, create_graph=True)[0]\n"
        "    return torch.autograd.grad(g.sum(), x, create_graph=True)[0]\n"
    ),
    findings.MF250: (
        "import argparse\nimport torch.distributed as dist\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--local_rank', type=int)\ndist.init_process_group('nccl')\n"
    ),
    findings.MF401: "torch.save({}, 'model.pth')\n",
    findings.MF900: "def broken(:\n",
}


def convert(folder: Path, settings: Settings | None = None, **files: str) -> ProjectConversion:
    source = folder / "source"
    source.mkdir(exist_ok=True)
    for name, text in files.items():
        (source / name.replace("__", ".")).write_text(text)
    return convert_project(source, folder / "out", settings=settings or Settings())


def _skipped(folder: Path) -> ProjectConversion:
    return convert(folder, Settings(skip=("torch.relu",)), a__py=HEAD + "x = torch.relu(torch.zeros(3))\n")


def _ascend_only(folder: Path) -> ProjectConversion:
    return convert(folder, a__py=HEAD + "x = torch.zeros(3)\nx.record_stream(torch.cuda.Stream())\n")


def _notebook_installs(folder: Path) -> ProjectConversion:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for source in ("!pip install torch\n", "import torch\nx = torch.zeros(3)\n")
    ]
    return convert(folder, a__ipynb=json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def _not_in_style(folder: Path) -> ProjectConversion:
    code = (
        NET + "loader = torch.utils.data.DataLoader([])\nfor x, y in loader:\n    opt.zero_grad()\n    out = net(x)\n"
    )
    code += "    loss = (out - y).pow(2).mean() + out.sum()\n    loss.backward()\n    opt.step()\n"
    return convert(folder, Settings(style="model"), a__py=HEAD + code)


def _recorded(folder: Path) -> ProjectConversion:
    toml = "[convert]\nrecord_graphs = true\n"
    return convert(folder, a__py=HEAD + SNIPPETS[findings.MF201], mindferry__toml=toml)


def _native_instead(folder: Path) -> ProjectConversion:
    return convert(folder, Settings(prefer="native"), a__py=HEAD + "x = torch.tanh(torch.zeros(3))\n")


def _sometimes_unreached(folder: Path) -> ProjectConversion:
    code = NET + "other = nn.Linear(3, 3)\nfor i in range(3):\n    opt.zero_grad()\n    h = net(torch.ones(2, 3))\n"
    code += "    if i:\n        h = other(h)\n    loss = h.sum()\n    loss.backward()\n    opt.step()\n"
    return convert(folder, Settings(jit=True), a__py=HEAD + code)


def _not_copied(folder: Path) -> ProjectConversion:
    return convert(folder, model__pth="x", a__py=HEAD)


def _edited(folder: Path) -> ProjectConversion:
    convert(folder, a__py=HEAD + "x = torch.zeros(3)\n")
    (folder / "out" / "a.py").write_text("mine = 1\n")
    return convert(folder, a__py=HEAD + "x = torch.ones(3)\n")


def _edited_and_gone(folder: Path) -> ProjectConversion:
    convert(folder, a__py=HEAD + "x = torch.zeros(3)\n", b__py=HEAD)
    (folder / "out" / "a.py").write_text("mine = 1\n")
    (folder / "source" / "a.py").unlink()
    return convert(folder)


def _odd_requirements(folder: Path) -> ProjectConversion:
    return convert(folder, pyproject__toml='[tool.poetry.dependencies]\ntorch = [\n  {version = "2"},\n]\n', a__py=HEAD)


def _observed_before_a_change(folder: Path) -> ProjectConversion:
    source = folder / "source"
    source.mkdir()
    (source / "a.py").write_text(HEAD + "x = torch.zeros(3)\n")
    run = CommandRun(("python", "a.py"), "itself", 1.0)
    told = Observation(str(source), (run,), (SeenFile("a.py", digest_of(b"other text")),))
    return convert_project(source, folder / "out", observation=told)


def _too_large_a_library(folder: Path) -> ProjectConversion:
    (folder / "site/large").mkdir(parents=True)
    (folder / "site/large/__init__.py").write_text("import torch\nfrom .other import net\n")
    (folder / "site/large/other.py").write_text("import torch\nnet = torch.nn.Linear(2, 2)\n")
    settings = Settings(packages=("large",), sites=(str(folder / "site"),), most_modules=1)
    return convert(folder, settings, a__py="from large import net\n")


def _older_python(folder: Path) -> ProjectConversion:
    return convert(folder, a__py=HEAD + "print 'loss', torch.zeros(3)\n")


def _torch_s_launcher(folder: Path) -> ProjectConversion:
    return convert(folder, a__py=HEAD + "x = torch.zeros(3)\n", run__sh="torchrun --rdzv_backend=c10d a.py\n")


PROJECTS: dict[findings.Code, Callable[[Path], ProjectConversion]] = {
    findings.MF103: _skipped,
    findings.MF104: _ascend_only,
    findings.MF151: _notebook_installs,
    findings.MF152: _too_large_a_library,
    findings.MF206: _sometimes_unreached,
    findings.MF209: _recorded,
    findings.MF210: _not_in_style,
    findings.MF211: _native_instead,
    findings.MF902: _not_copied,
    findings.MF903: _edited,
    findings.MF904: _edited_and_gone,
    findings.MF905: _odd_requirements,
    findings.MF907: _observed_before_a_change,
    findings.MF908: _older_python,
    findings.MF909: _torch_s_launcher,
}


def ended(losses: list[float], how: str, printed: str = "", rate: float = 0.1) -> Run:
    steps = [{"loss": loss, "lr": rate} for loss in losses]
    return Run(("python", "train.py"), int(how == "error"), how, 1.0, printed, ({"steps": steps, "pid": 1},), Path())


RUNS = {
    findings.MF230: ended([], "error"),
    findings.MF231: ended([1.0, 0.9], "itself"),
    findings.MF232: ended([1.0, 0.9, 7.0], "itself"),
    findings.MF233: ended([], "itself", "class 3: 0.71"),
    findings.MF234: ended([1.0, 0.9, 0.8], "itself", rate=0.05),
}


def only(found: list[Finding] | tuple[Finding, ...], code: str) -> Finding:
    assert code in {each.code for each in found}, [str(each) for each in found]
    return next(each for each in found if each.code == code)


@pytest.mark.parametrize("code", SNIPPETS)
def test_a_snippet_makes_the_finding(code: findings.Code, tmp_path: Path) -> None:
    found = convert(tmp_path, a__py=HEAD + SNIPPETS[code]).findings
    assert only(found, code).severity in list(findings.Severity)


@pytest.mark.parametrize("code", PROJECTS)
def test_a_project_makes_the_finding(code: findings.Code, tmp_path: Path) -> None:
    assert only(PROJECTS[code](tmp_path).findings, code).severity == code.severity


def test_a_rule_that_writes_nonsense_leaves_the_file_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """No code is known to make MF901; a broken rule makes it."""
    from mindferry.apis import table

    monkeypatch.setattr(table().calls["torch.relu"], "to", "mindspore.ops.(")
    code = HEAD + "x = torch.relu(torch.zeros(3))\n"
    result = convert_source(code)
    assert only(result.findings, findings.MF901).severity == "error" and result.main == code


@pytest.mark.parametrize("code", RUNS)
def test_a_plain_run_makes_the_finding(code: findings.Code) -> None:
    """Real runs are in tests/train/test_plain.py; these are the endings that a run may have."""
    is_silent = code != findings.MF233  # what is printed counts where nobody trains
    theirs = ended([1.0, 0.9, 0.8] if is_silent else [], "itself", "class 2: 0.71")
    assert judge(theirs, [theirs, theirs]).finding is None
    made = judge(RUNS[code], [theirs, theirs]).finding
    assert made is not None and made.code == code


def test_two_fixers_that_write_the_same_place_are_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """No fixers are known to make MF906; two that don't know of each other make it."""
    from mindferry.convert import engine
    from mindferry.convert.fixers import Fixer
    from mindferry.convert.plan import ReplaceNode

    first = Fixer("first", lambda facts: iter([ReplaceNode(facts.source.tree.body[-1], "y = 1")]), ())
    second = Fixer("second", lambda facts: iter([ReplaceNode(facts.source.tree.body[-1].value, "2")]), ())
    monkeypatch.setattr(engine, "FIXERS", (first, second))
    monkeypatch.delenv("MINDFERRY_CONFLICTS")
    assert only(convert_source(HEAD + "y = 0\n").findings, findings.MF906).line == 3


def test_each_code_is_made_by_a_test_above() -> None:
    assert {*SNIPPETS, *PROJECTS, *RUNS, findings.MF901, findings.MF906} == set(findings.CODES)


def test_a_code_stands_once_and_nowhere_else_as_text() -> None:
    tree = ast.parse((ROOT / "src/mindferry/findings.py").read_text())
    names = [
        node.targets[0].id for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
    ]
    assert names == list(findings.CODES) == sorted(findings.CODES), "each once, in order, named as it reads"
    for path in (ROOT / "src/mindferry").rglob("*.py"):
        if path.name != "findings.py":
            assert not re.findall(r"[\"']MF\d{3}[\"']", path.read_text()), f"{path}: write findings.MF..."


def test_each_code_has_a_family_and_sentences() -> None:
    for code in findings.CODES.values():
        assert code.family in findings.FAMILIES
        assert code.meaning.endswith(".") and code.advice.endswith(".") and not code.heading.endswith(".")


def test_the_page_is_up_to_date() -> None:
    page = ROOT / "docs/reference/findings.md"
    assert page.read_text() == findings.page(), "run: python -m mindferry.findings docs/reference/findings.md"


def test_a_code_travels_as_plain_text() -> None:
    assert type(pickle.loads(pickle.dumps(findings.MF101))) is str
    assert json.dumps(findings.MF101) == '"MF101"' and f"{findings.MF101}" == "MF101"
