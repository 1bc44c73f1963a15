"""Notebooks: cell by cell, with shared names, magics and everything else kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mindferry.convert import convert_project


def code(source: str | list[str], count: int = 1, **more: Any) -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": ["torch\n"]}]
    return {"cell_type": "code", "execution_count": count, "metadata": {}, "outputs": outputs, "source": source, **more}


def convert(
    tmp_path: Path, *cells: dict[str, Any], text: str = "", **metadata: Any
) -> tuple[dict[str, Any], list[str], str]:
    (tmp_path / "p").mkdir()
    body = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "p/net.ipynb").write_text(text or json.dumps(body, indent=1, ensure_ascii=False) + "\n", "utf-8")
    result = convert_project(tmp_path / "p", tmp_path / "out")
    written = (tmp_path / "out/net.ipynb").read_text("utf-8")
    return (json.loads(written) if written.startswith("{") else {}), [str(each) for each in result.findings], written


def test_names_of_one_cell_are_known_in_the_next(tmp_path: Path) -> None:
    body, findings, _ = convert(
        tmp_path,
        code("import torch\nimport torch.nn as nn"),
        {"cell_type": "markdown", "metadata": {}, "source": "# torch"},
        code("class Net(nn.Module):\n    def forward(self, x):\n        return x.view(x.size(0), -1)"),
        code("y = Net()(torch.zeros(2, 3))\ny.size()"),
    )
    sources = [cell["source"] for cell in body["cells"]]
    assert sources[2] == "class Net(nn.Cell):\n    def construct(self, x):\n        return x.view(x.shape[0], -1)"
    assert sources[3] == "y = Net()(ops.zeros((2, 3)))\ny.shape"
    assert sources[1] == "# torch" and findings == []
    scope: dict[str, Any] = {}
    for source in (sources[0], *sources[2:]):
        exec(source, scope)
    assert scope["y"].shape == (2, 3)


def test_magics_stay_and_the_lines_around_them_are_converted(tmp_path: Path) -> None:
    lines = [
        "%matplotlib inline\n",
        "!pip install tqdm \\\n",
        "    rich\n",
        "files = !ls\n",
        "import torch\n",
        "if files:\n",
        "    !echo $HOME\n",
        "    cd data/My\\ Folder\n",
        "    x = torch.zeros(2)\n",
        "text = '''\n",
        "%s torch\n",
        "'''\n",
        "pip install rich\n",
        "torch.zeros?",
    ]
    body, findings, _ = convert(
        tmp_path, code(lines), code("%%time\ny = torch.ones(3)"), code("%%bash\nimport torch\n")
    )
    first = "".join(body["cells"][0]["source"])
    assert first == "".join(lines).replace("import torch\n", "from mindspore import ops\n").replace(
        "torch.zeros(2)", "ops.zeros((2,))"
    )
    assert body["cells"][1]["source"] == "%%time\ny = ops.ones((3,))"
    assert body["cells"][2]["source"] == "%%bash\nimport torch\n" and findings == []


def test_code_that_a_magic_runs_is_converted_behind_it(tmp_path: Path) -> None:
    lines = [
        "import torch\n",
        "%time  y = torch.ones(3).view(1, -1)  # once\n",
        "for n in (2, 3):\n",
        "    %timeit -n 10 -r3 torch.zeros(n)\n",
        "found = %timeit -o torch.zeros(4)\n",
        "print(y.size(1))",
    ]
    body, findings, _ = convert(tmp_path, code(lines), code("%%timeit x = torch.ones(2)\nx.add(1)"))
    assert "".join(body["cells"][0]["source"]).splitlines() == [
        "from mindspore import ops",
        "%time  y = ops.ones((3,)).view(1, -1)  # once",
        "for n in (2, 3):",
        "    %timeit -n 10 -r3 ops.zeros((n,))",
        "found = %timeit -o torch.zeros(4)",
        "print(y.shape[1])",
    ]
    assert body["cells"][1]["source"] == "%%timeit x = ops.ones((2,))\nops.add(x, 1)"
    assert [each.partition(" a magic")[0] for each in findings] == ["net.ipynb:cell 1:5:1 MF102"]


def test_outputs_of_changed_cells_go_and_all_else_is_kept_byte_for_byte(tmp_path: Path) -> None:
    custom = {"tags": ["é"], "zeta": 1, "alpha": [1.5, None]}
    body, _, written = convert(
        tmp_path,
        code("import torch\nx = torch.zeros(1)", 4, id="a1"),
        code("print(1)", 5, metadata=custom),
        other={"b": 1, "a": 2},
    )
    assert (
        body["cells"][0]["outputs"] == []
        and body["cells"][0]["execution_count"] is None
        and body["cells"][0]["id"] == "a1"
    )
    assert body["cells"][1] == code("print(1)", 5, metadata=custom)
    before = (tmp_path / "p/net.ipynb").read_text("utf-8")
    assert written[written.index('"print(1)"') :] == before[before.index('"print(1)"') :]
    assert list(body["cells"][1]["metadata"]) == ["tags", "zeta", "alpha"]


def test_findings_name_the_cell_and_the_line_in_it(tmp_path: Path) -> None:
    _, findings, _ = convert(
        tmp_path,
        code("import torch"),
        {"cell_type": "raw", "metadata": {}, "source": "torch"},
        code("x = 1\ny = torch.ops.aten.add(x)"),
        code("def broken(:\n    torch.zeros(1)"),
        code("!pip install torch==2.0"),
    )
    assert findings[0].startswith("net.ipynb:cell 4:1:12 MF900 not valid Python 3")
    assert findings[1].startswith("net.ipynb:cell 5:1:1 MF151 still installs torch")
    assert findings[2].startswith("net.ipynb:cell 3:2:5 MF100 torch.ops.aten.add")


def test_a_cell_that_does_not_parse_stays_while_the_others_are_converted(tmp_path: Path) -> None:
    body, _, _ = convert(
        tmp_path, code("import torch"), code("def broken(:\n    torch.zeros(1)\n"), code("await f(torch.zeros(1))")
    )
    assert body["cells"][1] == code("def broken(:\n    torch.zeros(1)\n")
    assert body["cells"][2]["source"] == "await f(ops.zeros((1,)))"


def test_a_cell_that_cannot_be_parsed_at_all_is_a_finding(tmp_path: Path) -> None:
    lone = json.dumps({"cells": [code('import torch\nx = "\ud800"'), code("y = 2")], "metadata": {}, "nbformat": 4})
    _, findings, written = convert(tmp_path, text=lone)
    assert "import torch" in written
    assert len(findings) == 1 and "net.ipynb:cell 1:1:1" in findings[0] and "cannot be parsed" in findings[0]


def test_a_cell_whose_lines_are_no_texts_is_no_notebook(tmp_path: Path) -> None:
    _, findings, written = convert(tmp_path, text=json.dumps({"cells": [code([["import torch"]])], "nbformat": 4}))  # type: ignore[list-item]
    assert "import torch" in written and len(findings) == 1 and "not a notebook" in findings[0]


def test_a_notebook_gets_its_helpers_beside_it(tmp_path: Path) -> None:
    (tmp_path / "p/books").mkdir(parents=True)
    body = {
        "cells": [code("import torch\ntorch.topk(torch.ones(3), 1)")],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (tmp_path / "p/books/a.ipynb").write_text(json.dumps(body))
    convert_project(tmp_path / "p", tmp_path / "out")
    assert "import ms_compat" in (tmp_path / "out/books/a.ipynb").read_text()
    assert (tmp_path / "out/books/ms_compat.py").is_file()


def test_notebooks_of_other_languages_are_copied(tmp_path: Path) -> None:
    _, findings, written = convert(tmp_path, code("library(torch)"), kernelspec={"language": "R", "name": "ir"})
    assert findings == [] and written == (tmp_path / "p/net.ipynb").read_text()


def test_what_is_no_notebook_is_a_finding(tmp_path: Path) -> None:
    _, findings, written = convert(tmp_path, text='{"worksheets": [], "torch": 1}')
    assert findings[0].startswith("net.ipynb:1:1 MF900 not a notebook of format 4") and written.startswith(
        '{"worksheets"'
    )


def _notebook(*cells: str) -> dict:
    made = [
        {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": 1} for text in cells
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}


def _converted(tmp_path, body, encoding="utf-8") -> tuple[bytes, dict]:
    import json

    from mindferry.convert import convert_project

    (tmp_path / "in").mkdir(exist_ok=True)
    (tmp_path / "in" / "a.ipynb").write_bytes(json.dumps(body, ensure_ascii=False, indent=1).encode(encoding))
    convert_project(tmp_path / "in", tmp_path / "out")
    raw = (tmp_path / "out" / "a.ipynb").read_bytes()
    return raw, json.loads(raw.decode(encoding))


def test_a_cell_may_hold_the_marks_that_stand_for_cells(tmp_path):
    cells = [
        "import torch\n# mindferry cell 99\nx = torch.ones(2)",
        "# mindferry cell 1\ny = 3",
        "# mindferry magic 0\n!ls",
    ]
    _, body = _converted(tmp_path, _notebook(*cells))
    texts = [each["source"] for each in body["cells"]]
    assert "# mindferry cell 99" in texts[0] and "x = " in texts[0] and "import torch" not in texts[0]
    assert texts[1:] == cells[1:]


def test_a_notebook_in_utf_16_stays_in_utf_16(tmp_path):
    _, body = _converted(tmp_path, _notebook("import torch\nx = torch.ones(2)  # é漢"), "utf-16")
    assert "é漢" in body["cells"][0]["source"] and "import torch" not in body["cells"][0]["source"]


def test_a_cell_with_windows_line_ends_keeps_them_and_its_outputs(tmp_path):
    cells = ["import torch\r\nx = torch.ones(2)\r\n", "%time\r\ny = 3\r\n"]
    _, body = _converted(tmp_path, _notebook(*cells))
    assert body["cells"][1]["source"] == cells[1] and body["cells"][1]["execution_count"] == 1
    assert body["cells"][0]["source"].count("\r\n") == body["cells"][0]["source"].count("\n") == 2


def test_a_cell_of_thousands_of_magics_is_parsed_a_few_times_only(tmp_path, monkeypatch):
    import ast

    from mindferry.convert.render import notebook

    count = []
    parse = ast.parse
    monkeypatch.setattr(notebook.ast, "parse", lambda *a, **k: (count.append(1), parse(*a, **k))[1])
    lines = "".join(f"x{n} = {n}\n!echo {n}\n" for n in range(3000))
    _, body = _converted(tmp_path, _notebook("import torch\nx = torch.ones(2)", lines))
    assert body["cells"][1]["source"] == lines and len(count) < 50


def test_a_cell_may_begin_with_an_import_from_the_future(tmp_path: Path) -> None:
    body, findings, _ = convert(
        tmp_path, code("import torch\n"), code("from __future__ import division, print_function\ny = torch.ones(3)")
    )
    assert findings == []
    assert body["cells"][1]["source"] == "from __future__ import division, print_function\ny = ops.ones((3,))"
