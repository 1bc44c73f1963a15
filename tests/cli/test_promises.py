"""What the command promises: a sentence and exit code 2 for bad input, 3 for a defect of its own, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.config import read_config
from mindferry.errors import MindferryError

NET = "import torch\n\nx = torch.ones(2)\n"


def mindferry(*words: str, cwd: Path, code: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "mindferry"]
    return subprocess.run([*command, *words], cwd=cwd, capture_output=True, text=True, errors="surrogateescape")


@pytest.mark.parametrize(
    "text",
    [
        "[convert]\nexclude = [1]\n",
        "[train]\nargs = [1]\n",
        "[convert]\nexclude = [['a']]\n",
        "[verify]\ninputs = [{a = 1}]\n",
        "convert = 3\n",
        "[[train]]\n",
        "a = " + "[" * 5000 + "]" * 5000 + "\n",
        "[verify]\nsteps = 1.5\n",
        "[verify]\nseed = " + "9" * 5000 + "\n",
        "\ufeff[train",
    ],
)
def test_a_configuration_that_makes_no_sense_is_a_sentence(text, tmp_path):
    (tmp_path / "mindferry.toml").write_text(text)
    with pytest.raises(MindferryError) as caught:
        read_config(tmp_path)
    assert "mindferry.toml" in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "body", ["[" * 100_000, '{"a":' * 100_000, "[]", '{"mindferry": 1, "kind": "Inventory", "apis": 3}']
)
def test_a_record_that_makes_no_sense_is_a_sentence(body, tmp_path):
    from mindferry.artifacts import Inventory, load

    (tmp_path / ".mindferry").mkdir()
    (tmp_path / ".mindferry" / "analyze.json").write_text(body)
    with pytest.raises(MindferryError):
        load(Inventory, tmp_path, "analyze")


def test_a_defect_of_our_own_has_code_3_and_a_file_to_report(tmp_path):
    code = (
        "import sys\nfrom mindferry import cli\nfrom mindferry.cli import convert\n"
        "def fail(*a, **k): raise LookupError('a\\x1b[31mb')\n"
        "convert.convert_project = fail\nsys.argv = ['mindferry', 'convert', '.', '-o', 'out']\ncli.main()"
    )
    (tmp_path / "net.py").write_text(NET)
    done = mindferry(cwd=tmp_path, code=code)
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and "\x1b" not in done.stderr
    report = Path(done.stderr.rpartition("with ")[2].strip())
    assert "LookupError" in report.read_text() and "Traceback" not in done.stderr
    report.unlink()


def test_a_hostile_click_in_the_current_folder_is_not_imported(tmp_path):
    for name in ("click", "rich", "numpy", "random", "tokenize", "multiprocessing", "secrets"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write({name!r})\n")
    (tmp_path / "net.py").write_text(NET)
    done = mindferry("convert", "net.py", "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = mindferry("convert", ".", "-o", "out", "-j", "2", cwd=tmp_path)
    assert done.returncode in (0, 1) and not (tmp_path / "executed").exists(), done.stderr


def test_names_on_the_terminal_do_nothing_there(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a\x1b[2Jb.py", "two\nlines.py", "[red]x.py", os.fsdecode(b"caf\xe9.py")):
        (tmp_path / "in" / name).write_text("import torch\n\nx = torch.foo_bar(2)\n")
    done = mindferry("convert", "in", "-o", "out", cwd=tmp_path)
    assert done.returncode == 1 and "\x1b" not in done.stdout + done.stderr, done.stderr
    findings = [line for line in done.stdout.splitlines() if " MF100 " in line]
    assert len(findings) == 4 and any("two\\nlines.py:3" in line for line in findings)
    done = mindferry("analyze", "in", cwd=tmp_path)
    assert "Traceback" not in done.stderr and "\x1b" not in done.stdout + done.stderr, done.stderr


def test_a_name_that_is_no_text_stops_no_package(tmp_path):
    """Files beside an __init__.py are looked for in each other's imports, by name."""
    (tmp_path / "in").mkdir()
    for name in ("__init__.py", os.fsdecode(b"caf\xe9.py")):
        (tmp_path / "in" / name).write_text(NET)
    done = mindferry("migrate", "in", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert b"torch" not in (tmp_path / "out" / os.fsdecode(b"caf\xe9.py")).read_bytes()
    for words in (("analyze", "in"), ("migrate", "in", "-o", "out"), ("report", "out")):
        assert mindferry(*words, cwd=tmp_path).returncode == 0, words


def test_a_checkpoint_is_named_on_one_line(tmp_path):
    import torch

    torch.save({"fc.weight": torch.ones(2, 3)}, tmp_path / "a.pth")
    (tmp_path / "a.pth").rename(tmp_path / "two\nlines.pth")
    done = mindferry("weights", "convert", "two\nlines.pth", "-o", "other\nlines.ckpt", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "two\\nlines.pth -> other\\nlines.ckpt: 1 tensors (1 pattern)", done


@pytest.mark.parametrize("text", ["[1]", '{"convert": 3}', '{"convert": {"key": 1}}', "[" * 100_000, "\xff", "{}{"])
def test_a_migration_takes_up_no_record_that_makes_no_sense(text, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "net.py").write_text(NET)
    assert mindferry("migrate", "in", "-o", "out", cwd=tmp_path).returncode == 0
    (tmp_path / "out" / ".mindferry" / "migrate.json").write_text(text, "latin-1")
    for words in (("migrate", "in", "-o", "out"), ("report", "out")):
        done = mindferry(*words, cwd=tmp_path)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("module", ["click", "mindferry.cli.convert", "mindferry.convert.engine"])
def test_an_interrupt_during_start_up_is_no_traceback(module, tmp_path):
    code = (
        "import sys\nclass Interrupts:\n    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\nsys.argv = ['mindferry', 'convert', 'net.py', '--check']\n"
        "from mindferry.__main__ import run\nrun()"
    )
    (tmp_path / "net.py").write_text(NET)
    done = mindferry(cwd=tmp_path, code=code)
    assert done.returncode == 130 and not done.stderr.strip()


def test_the_destination_is_neither_the_source_nor_replaced_unasked(tmp_path):
    import torch

    torch.save({"fc.weight": torch.ones(2, 3)}, tmp_path / "a.pth")
    before = (tmp_path / "a.pth").read_bytes()
    for words in (["a.pth", "-o", "a.pth"], ["a.pth", "-o", "./a.pth", "--force"]):
        done = mindferry("weights", "convert", *words, cwd=tmp_path)
        assert done.returncode == 2 and "being converted" in done.stderr
    (tmp_path / "link.pth").symlink_to("a.pth")
    assert mindferry("weights", "convert", "a.pth", "-o", "link.pth", "--force", cwd=tmp_path).returncode == 2
    (tmp_path / "b.ckpt").write_text("precious")
    done = mindferry("weights", "convert", "a.pth", "-o", "b.ckpt", cwd=tmp_path)
    assert done.returncode == 2 and "--force" in done.stderr and (tmp_path / "b.ckpt").read_text() == "precious"
    assert mindferry("weights", "convert", "a.pth", "-o", "b.ckpt", "--force", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.pth").read_bytes() == before and (tmp_path / "b.ckpt").read_bytes() != b"precious"
