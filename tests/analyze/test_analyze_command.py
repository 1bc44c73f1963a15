"""`mindferry analyze` from the command line: formats, exit codes, nothing imported or run."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from mindferry.artifacts import Inventory, load
from mindferry.cli.analyze import command

EXAMPLE = Path(__file__).parents[2] / "examples" / "resnet50_cifar10"


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout


def test_the_summary_fits_in_80_columns() -> None:
    code, text = run(str(EXAMPLE))
    assert code == 0 and "100 % of" in text and "measured by converting" in text
    assert max(len(line) for line in text.splitlines()[:-1]) <= 80  # the last is a command to copy


def test_the_last_line_is_the_next_command(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch\ny = torch.no_such_thing(3)\n")
    *_, first, last = run(str(tmp_path), "--quick")[1].splitlines()
    assert first == "First of 1 things to do: torch.no_such_thing at net.py:2"
    assert last == f"Next: mindferry migrate {tmp_path} -o {tmp_path.name}_ms"
    assert run(str(EXAMPLE), "--quick")[1].endswith(" -o resnet50_cifar10_ms\n")


def test_a_terminal_gets_colours_and_lines_and_a_pipe_gets_neither() -> None:
    from io import StringIO

    from rich.console import Console

    from mindferry.analyze import analyze_project
    from mindferry.analyze.text import show

    output = StringIO()
    show(Console(file=output, force_terminal=True, color_system="standard", width=100), analyze_project(EXAMPLE))
    assert "\x1b[" in output.getvalue() and "─" in output.getvalue()
    piped = run(str(EXAMPLE), "--quick")[1]
    assert "\x1b[" not in piped and "─" not in piped


def test_json_reads_back_as_the_inventory(tmp_path: Path) -> None:
    _, text = run(str(EXAMPLE), "--quick", "--json")
    (tmp_path / ".mindferry").mkdir()
    (tmp_path / ".mindferry" / "analyze.json").write_text(text)
    inventory = load(Inventory, tmp_path, "analyze")
    assert inventory.effort is not None and not inventory.effort.is_measured
    assert {trick.name for trick in inventory.tricks} >= {"Adam", "Bottleneck"}


@pytest.mark.parametrize("form", ["markdown", "html", "sarif", "text"])
def test_hostile_names_stay_text_in_every_format(tmp_path: Path, form: str) -> None:
    code = "import torch\nopt = torch.optim.SGD([torch.zeros(1)], lr='<script>alert(1)</script>|[bold]x[/nope]')\ny = torch.nonzero(torch.zeros(2)[f'<img>':])\n"
    (tmp_path / "main.py").write_text(code)
    output = tmp_path / "out" / "report"
    run(str(tmp_path / "main.py"), "--quick", "--format", form, "-o", str(output))
    text = output.read_text()
    if form in ("markdown", "html"):
        assert "<script>" not in text and "<img" not in text and "alert(1)" in text
    if form == "html":
        HTMLParser().feed(text)
        style = text.partition("<style>")[2].partition("</style>")[0]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'"
        assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in text


def test_sarif_names_rule_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\n\n\nx = torch.nonzero(torch.zeros(3))\ny = torch.no_such_thing(x)\n"
    )
    code, text = run(str(tmp_path), "--quick", "--format", "sarif")
    results = json.loads(text)["runs"][0]["results"]
    places = {(each["ruleId"], each["locations"][0]["physicalLocation"]["region"]["startLine"]) for each in results}
    assert code == 1 and {("missing-api", 5), ("dynamic-shape", 4)} <= places


def test_a_target_without_the_operator_counts_as_missing(tmp_path: Path) -> None:
    from mindferry.apis import table

    rule = next(
        each for each in table() if each.platforms == ("Ascend",) and not each.missing and each.api.count(".") == 1
    )
    (tmp_path / "net.py").write_text(f"import torch\nf = {rule.api}(torch.zeros(2))\n")
    kinds = {}
    for target in ("CPU", "Ascend"):
        _, text = run(str(tmp_path), "--quick", "--json", "--target", target)
        kinds[target] = next(use["kind"] for use in json.loads(text)["apis"] if use["api"] == rule.api)
    assert kinds["CPU"] == "missing" and kinds["Ascend"] != "missing"


def test_nothing_of_the_project_is_imported_or_run(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(f"import torch\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    script = f"import sys; from mindferry.analyze import analyze_project; from pathlib import Path; analyze_project(Path({str(tmp_path)!r})); print('torch' in sys.modules, 'numpy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "False"] and not (tmp_path / "ran").exists()


def test_a_large_project_is_estimated_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import torch\nx = torch.zeros(2)\n" + "\n" * 20_001)
    assert "estimated from the API table" in run(str(tmp_path))[1]
    assert "measured by" in run(str(tmp_path), "--measure")[1]
